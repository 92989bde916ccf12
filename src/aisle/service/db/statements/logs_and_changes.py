"""Statements on the log of a store's stock, the audit, numbered changes, the history of writes, and stored answers."""

from __future__ import annotations

from aisle.service.db.list_query_builder import upsert_statement

LOG_ADD = """
    INSERT INTO stock_log (store_number, seq, ordinal, op_id, product_number, reference, reason_code, review_status,
        created_on, updated_on, item, data)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"""
LOG_ITEMS = "SELECT seq, item, created_on FROM stock_log WHERE store_number = $1 AND seq = ANY($2)"
LOG_ENTRY = """
    SELECT seq, ordinal, review_status, updated_on, item, data FROM stock_log WHERE store_number = $1 AND seq = $2"""
LOG_DATA_OF_REFERENCE = """
    SELECT data FROM stock_log WHERE store_number = $1 AND reference = $2 AND product_number = $3 ORDER BY seq"""
LOG_PRODUCTS_SINCE = """
    SELECT DISTINCT product_number FROM stock_log WHERE store_number = $1 AND product_number = ANY($2) AND seq > $3
    ORDER BY product_number LIMIT 20"""
LOG_COUNTS_AND_UNDOS = """
    SELECT seq, item FROM stock_log
    WHERE store_number = $1 AND product_number = $2 AND created_on >= $3
        AND (reference LIKE 'undo-%' OR item LIKE '%"counted_quantity":%' OR item LIKE '%"source":"late"%')
    ORDER BY seq"""
LOG_FIRST = "SELECT seq FROM stock_log WHERE store_number = $1 ORDER BY seq LIMIT 1"
LOG_REVIEW_STATES = "SELECT seq, review_status, created_on FROM stock_log WHERE store_number = $1 AND seq = ANY($2)"
LOG_REVIEW_STATE_SET = "UPDATE stock_log SET review_status = $3, updated_on = $4 WHERE store_number = $1 AND seq = $2"
# Entries of a store are numbered in order of time, so no older entry is read.
LOG_FIRST_SINCE = """
    SELECT seq FROM stock_log WHERE store_number = $1 AND substr(created_on, 1, 7) >= $2
    ORDER BY substr(created_on, 1, 7), seq LIMIT 1"""
LOG_LIST = "SELECT g.seq, g.ordinal, g.review_status, g.updated_on, g.item FROM stock_log g"
# Lists of the chain: first a page of keys, which an index has in this order, then their rows. The order is undefined.
LOG_KEYS = "SELECT g.store_number, g.seq, g.ordinal FROM stock_log g"
LOG_PAGE = """
    SELECT g.seq, g.ordinal, g.review_status, g.updated_on, g.item
    FROM page JOIN stock_log g ON g.store_number = page.store_number AND g.seq = page.seq"""
LOG_COUNT = "SELECT count(*) FROM stock_log g"
LOG_SORT_STORE = "ORDER BY g.seq"
LOG_SORT_CHAIN = "ORDER BY seq, ordinal"
# Filters that the indexes by month have as columns.
LOG_MONTH_FILTERS = frozenset({"token", "from_id", "to_id", "article_number"})
LOG_FILTERS = {
    "store": "g.store_number = $?",
    "token": "g.store_number IN (SELECT ts.store_number FROM token_store ts WHERE ts.token_id = $?)",
    "after": "(g.seq, g.ordinal) > ($?, $?)",
    "from_id": "(g.seq, g.ordinal) >= ($?, $?)",
    "to_id": "(g.seq, g.ordinal) <= ($?, $?)",
    "beyond": "g.seq > $?",
    "until": "g.seq <= $?",
    "article_number": "g.product_number = $?",
    "since": "g.created_on >= $?",
    "months": "substr(g.created_on, 1, 7) = ANY($?)",
    "month": "substr(g.created_on, 1, 7) = $?",
    # The index has only these rows; the condition allows its use.
    "reviewed": "g.review_status = $? AND g.review_status <> 0",
    "review_status": "g.review_status = $? AND g.review_status <> 0",
    "nothing_to_review": "g.review_status = $?",
    "reason_code": "g.reason_code = $?",
    "reference": "g.reference = $? AND g.reference <> ''",
    "modified_from": "g.updated_on >= $?",
    "modified_before": "g.updated_on < $?",
}


AUDIT_ADD = """
    INSERT INTO audit (store_number, seq, recorded_on, token_id, token_name, app_user, subject, item_key, value_before,
        value_after)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"""
AUDIT_LIST = """
    SELECT seq, recorded_on, token_id, token_name, app_user, subject, item_key, value_before, value_after
    FROM audit
    WHERE store_number = $1 AND seq > $2 AND recorded_on >= $3 AND ($4 = '' OR subject = $4)
        AND ($5 = '' OR item_key = $5)
    ORDER BY seq LIMIT $6"""


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
