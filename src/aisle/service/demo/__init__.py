"""Demo store: invented products, stock, orders and three weeks of work.

It writes to the database only through the handlers, as requests do. Start reading at `seed`; the rows are in `data/`.
"""
