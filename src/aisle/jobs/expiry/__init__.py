"""Expiry checks: the products of today in walking order, and the nearest expiry date of each.

`job.py` is the job, `expiry_state.py` its state and the day of the next check. `due_list_and_date_pages.py` has the
list, and the questions about one product. `send_and_undo_check.py` says what is sent, taken back, and refused.
"""
