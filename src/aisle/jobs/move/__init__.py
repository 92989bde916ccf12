"""Moving of goods between locations, pools and orders, and the list of clearance tasks.

It turns inputs and cached rows into a new state, movements and a view. It does no I/O and knows neither the cache, the
service nor the terminal. Start in `job.py` (`MoveJob.handle`): `take_goods.py` takes goods into hand, `put_goods.py`
puts them down, `goods_in_hand.py` keeps quantities, `query_stock_here.py` reads the stock and what others counted,
`movement_write_and_undo.py` makes the operation and reverses steps, `move_state_and_rows.py` holds the state.
`clearance_tasks.py` is the job for the list.
"""
