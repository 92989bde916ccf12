"""Receiving of deliveries: counting what arrives and putting it away.

It turns inputs and cached rows into a new state, receipt operations and a view. It does no I/O and knows neither the
cache, the service nor the terminal. Start in `job.py` (`ReceiveJob.handle`): `open_delivery_and_put_away.py` finds the
delivery and books goods, `handle_scans_and_quantities.py` handles scans, `receive_state_and_differences.py` holds the
state and builds operations, `view.py` the page.
"""
