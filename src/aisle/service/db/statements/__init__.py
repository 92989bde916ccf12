"""The catalogue of statements. Values travel as `$1` parameters only; texts are constants or joined from constants.

Rules that keep one text fit for SQLite, PostgreSQL and a sharded PostgreSQL: the primary key of every store's table
starts with `store_number`, every statement on one names it (but for a few lists over the whole chain), ids come from
counters, there are no triggers. Quantities are whole thousandths. `''` stands for "no place", "no order".
"""
