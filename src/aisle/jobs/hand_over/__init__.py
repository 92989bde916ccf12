"""Hand-over: the orders that wait for their customers, where their goods lie, and what a customer does not want.

`job.py` is the job, `hand_over_state.py` its state and the goods of an order. `ready_list_page.py` has the list,
`order_pages.py` the pages of one order. `writes_and_undo.py` says what is sent and taken back.
"""
