"""Statements on the log of a store's stock, and on the audit."""

from __future__ import annotations

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
