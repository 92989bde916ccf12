"""Receiving of deliveries: counting what arrives and putting it away.

It turns inputs and cached rows into a new state, receipt operations and a view. It does no I/O and knows neither the
cache, the service nor the terminal. Start in `job.py` (`ReceiveJob.handle`): `open_delivery.py` finds the delivery,
`handle_scans_and_quantities.py` handles scanned goods, `put_away_and_undo.py` books them,
`receive_state_and_differences.py` holds the state and builds operations, `view.py` the page.
"""
