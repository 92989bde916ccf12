"""Counting of locations and products.

It turns inputs and cached rows into a new state, log operations and a view. It does no I/O and knows neither the cache,
the service nor the terminal.
Start in `job.py` (`CountJob.handle`): the `handle_….py` handle inputs and rows, `count_plan.py` the list of targets,
`finish_count.py` the end of a count and its operations, `undo_sent_count.py` reverses it, `count_state.py` holds the
state, `count_lines.py` changes its lines. `jobs/undo_todays_entries.py` lists what was counted today.
"""
