"""Pure layout: turns a frame into lines of text with roles, for a screen of any size, without a terminal.

It knows views and messages, but no session and no Textual. Start reading at `screen.layout_parts`, then the body of
each kind of view: `step_view`, `list_with_chips_and_pane` (rows: `list_table`), `detail_view` (blocks:
`detail_blocks_and_tables`), `chart_view`. A form is a `Step`. `header_verdict_and_status_lines` stand around the body.
`styled_lines_and_page_parts` and `choices_and_key_hints` hold the parts that they share.
"""
