"""Domain rules: stock as a ledger of balances and legs, orders, deliveries, counts and the audit.

It must not know HTTP or a database engine; it runs statements of `db.statements` in a `Context`. Start reading at
`ledger`, then `picking_and_moves` and `order_line` (README: Stock).
"""
