"""Pure layout: turns a frame into lines of text with roles, for a screen of any size, without a terminal.

It knows views and messages, but no session and no Textual. Start reading at `screen.layout_parts`, then the body of
each kind of view: `step_view`, `list_with_chips_and_pane` (rows: `list_table`), `detail_view` (blocks:
`detail_blocks`), `chart_view`. A form is a `Step`. Around the body stand `header_lines`, `verdict_lines` and
`status_line`. `styled_lines`, `table_columns` and `choices_and_key_hints` hold
the parts that they share.
"""
