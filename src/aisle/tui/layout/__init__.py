"""Pure layout: turns a frame into lines of text with roles, for a screen of any size, without a terminal.

It knows views and messages, but no session and no Textual. Start reading at `screen.layout_parts`, then the body of
each kind of view: `step_view`, `list_view`, `detail_view`, `chart_view`. `styled_lines`, `table` and
`choice_lines` hold the parts that they share.
"""
