"""Statements on counters, the changes that they number, the history of writes, and answers stored under keys."""

from __future__ import annotations

from aisle.service.db.list_query_builder import upsert_statement

COUNTER_NEXT = """
    INSERT INTO counter (store_number, name, value) VALUES ($1, $2, $3)
    ON CONFLICT (store_number, name) DO UPDATE SET value = counter.value + excluded.value
    RETURNING value"""


COUNTER_ADD = """
    INSERT INTO counter (store_number, name, value) VALUES ($1, $2, $3)
    ON CONFLICT (store_number, name) DO UPDATE SET value = counter.value + excluded.value"""


COUNTER_SET = upsert_statement("counter", "store_number, name", "value")


COUNTER_VALUE = "SELECT value FROM counter WHERE store_number = $1 AND name = $2"


CHANGE_SET = upsert_statement("change", "store_number, topic, change_key", "seq, changed_on")


CHANGES_SINCE = """
    SELECT seq, topic, change_key FROM change WHERE store_number = $1 AND seq > $2 ORDER BY seq LIMIT $3"""


WRITE_HISTORY_ADD = "INSERT INTO write_history (store_number, seq, op_id, written_on) VALUES ($1, $2, $3, $4)"

WRITE_AT_CHANGE = """
    SELECT op_id FROM write_history WHERE store_number = $1 AND seq >= $2 ORDER BY seq LIMIT 1"""

WRITE_HISTORY_FIRST = "SELECT seq FROM write_history WHERE store_number = $1 ORDER BY seq LIMIT 1"

# The last write of each store stays, so that a host that was offline for long still finds its position.
OLD_WRITE_HISTORY_STEP = """
    SELECT written_on FROM write_history WHERE written_on < $1 AND seq < (
        SELECT c.value FROM counter c WHERE c.store_number = write_history.store_number AND c.name = 'change')
    ORDER BY written_on LIMIT 1 OFFSET $2"""

OLD_WRITE_HISTORY_DELETE = """
    DELETE FROM write_history WHERE written_on <= $1 AND seq < (
        SELECT c.value FROM counter c WHERE c.store_number = write_history.store_number AND c.name = 'change')"""

LATEST_WRITE_SET = """
    INSERT INTO latest_write (store_number, subject, item_key, written_on) VALUES ($1, $2, $3, $4)
    ON CONFLICT (store_number, subject, item_key) DO UPDATE
    SET written_on = CASE
        WHEN excluded.written_on > latest_write.written_on THEN excluded.written_on ELSE latest_write.written_on END"""

LATER_WRITES = """
    SELECT item_key, written_on FROM latest_write
    WHERE store_number = $1 AND subject = $2 AND item_key = ANY($3) AND written_on > $4"""

# Time of the row after the first `$2` old ones.
OLD_LATEST_WRITES_STEP = (
    "SELECT written_on FROM latest_write WHERE written_on < $1 ORDER BY written_on LIMIT 1 OFFSET $2"
)

OLD_LATEST_WRITES_DELETE = "DELETE FROM latest_write WHERE written_on <= $1"


RESPONSE_OF_KEY = """
    SELECT fingerprint, status, body FROM idempotency WHERE store_number = $1 AND request_key = $2"""

# A refused request was not carried out. The ledger keeps keys whose answers were purged.
KNOWN_KEYS = """
    SELECT i.request_key FROM idempotency i WHERE i.store_number = $1 AND i.request_key = ANY($2) AND i.status < 400
    UNION SELECT l.op_id FROM leg l WHERE l.store_number = $1 AND l.op_id = ANY($2)"""

# Loads that wrote where the load wrote whose keys lie between $3 and $4, in a store or the chain ($2), since it began.
OTHER_LOADS = """
    WITH own AS (
        SELECT o.store_number, o.created_on FROM idempotency o
        WHERE (o.store_number = $1 OR o.store_number = $2) AND o.request_key > $3 AND o.request_key < $4)
    SELECT DISTINCT substr(i.request_key, 1, 21) FROM idempotency i
    WHERE i.store_number IN (SELECT store_number FROM own) AND i.request_key > 'load-' AND i.request_key < 'load.'
        AND i.request_key LIKE 'load-________________-%' AND NOT (i.request_key > $3 AND i.request_key < $4)
        AND i.status < 400 AND i.created_on > (SELECT MIN(created_on) FROM own)"""

RESPONSE_ADD = """
    INSERT INTO idempotency (store_number, request_key, fingerprint, status, body, created_on)
    VALUES ($1, $2, $3, $4, $5, $6)"""

REFUSAL_DELETE = "DELETE FROM idempotency WHERE store_number = $1 AND request_key = $2 AND status >= 400"

OLD_RESPONSES_STEP = "SELECT created_on FROM idempotency WHERE created_on < $1 ORDER BY created_on LIMIT 1 OFFSET $2"

OLD_RESPONSES_DELETE = "DELETE FROM idempotency WHERE created_on <= $1"
