"""The demo store: made-up products, stock, orders and three weeks of work."""
