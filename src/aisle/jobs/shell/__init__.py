"""Pages of the terminal itself: sign-in, home, PIN, help, notes, command palette and scanner test.

Like all jobs these turn inputs and rows into a state, effects and a view. They do no I/O and know neither the cache,
the service nor the terminal. Each module is one job.
Start in `home_orders_and_menu.py`, the first page after sign-in.
"""
