"""Hand-over: the orders that wait for their customers, where their goods lie, and what a customer does not want.

`job.py` is the job and the list of orders, `order_pages.py` has the pages of one order. `hand_over_state_and_writes.py`
has its state and goods, and says what is sent and taken back.
"""
