"""SQL statements. Values are `$1` parameters only; texts are constants or composed of constants.

One text serves SQLite, PostgreSQL and sharded PostgreSQL. So the primary key of each table of stores begins with
`store_number`. Each statement on one names it, except a few lists over the chain. Ids come from counters, and there are
no triggers. Quantities are integer thousandths. `''` means no location or no order.
"""
