"""Picking of one order, or of a batch of up to 20 orders in one walk.

It turns inputs and cached rows into a new state, operations and a view. It does no I/O and knows neither the cache, the
service nor the terminal. Start in `job.py` (`PickJob.handle`); `pick_state.py` holds the state,
`stops_and_goods_in_hand.py` finds the way through it, `picked_quantities_and_operations.py` changes its lines,
`view.py` shows the page. `shortage.py` is the job for a stop with too little stock.
"""
