"""Statements on counters, and on the changes that they number."""

from aisle.service.db.list_query_builder import upsert_statement

COUNTER_NEXT = """
    INSERT INTO counter (store_number, name, value) VALUES ($1, $2, $3)
    ON CONFLICT (store_number, name) DO UPDATE SET value = counter.value + excluded.value
    RETURNING value"""


# Two counters in one round trip.
COUNTERS_NEXT = """
    INSERT INTO counter (store_number, name, value) VALUES ($1, $2, $3), ($1, $4, $5)
    ON CONFLICT (store_number, name) DO UPDATE SET value = counter.value + excluded.value
    RETURNING name, value"""


COUNTER_ADD = """
    INSERT INTO counter (store_number, name, value) VALUES ($1, $2, $3)
    ON CONFLICT (store_number, name) DO UPDATE SET value = counter.value + excluded.value"""


COUNTER_SET = upsert_statement("counter", "store_number, name", "value")


COUNTER_VALUE = "SELECT value FROM counter WHERE store_number = $1 AND name = $2"


CHANGE_SET = upsert_statement("change", "store_number, topic, change_key", "seq, changed_on")


CHANGES_SINCE = """
    SELECT seq, topic, change_key FROM change WHERE store_number = $1 AND seq > $2 ORDER BY seq LIMIT $3"""
