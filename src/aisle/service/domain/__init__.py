"""Domain rules: stock as a ledger of balances and legs, orders, deliveries, counts and the audit.

It must not know HTTP or a database engine; it runs statements of `db.statements` in a `Context`. Start reading at
`ledger_and_held_goods`, then `picking`, `movements` and `states` (README: Stock).
"""
