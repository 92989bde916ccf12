"""Expiry checks: the products of today in walking order, and the nearest expiry date of each.

`job.py` is the job, `expiry_state.py` its state and the day of the next check. `due_list_page.py` has the list,
`date_pages.py` the questions about one product. `send_and_undo_check.py` says what is sent and taken back,
`report_refused_checks.py` what the service refused.
"""
