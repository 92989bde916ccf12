"""Statements of the purge: ledger and log are summed up, other old rows are deleted."""

LEDGER_PRODUCTS = """
    SELECT product_number, count(*) FROM leg
    WHERE store_number = $1 AND product_number > $2 AND occurred_on < $3
    GROUP BY product_number ORDER BY product_number LIMIT $4"""
# Time of the leg after the first `$4` old ones.
LEDGER_STEP = """
    SELECT occurred_on FROM leg WHERE store_number = $1 AND product_number = $2 AND occurred_on < $3
    ORDER BY occurred_on LIMIT 1 OFFSET $4"""
LEDGER_SUMS = """
    SELECT product_number, location_code, pool, order_number, line_number, CAST(SUM(quantity) AS BIGINT), count(*),
        max(recorded_on), max(occurred_on)
    FROM leg
    WHERE store_number = $1 AND product_number = ANY($2) AND occurred_on <= $3 AND recorded_on < $4
    GROUP BY product_number, location_code, pool, order_number, line_number"""
LEDGER_DELETE = """
    DELETE FROM leg
    WHERE store_number = $1 AND product_number = ANY($2) AND occurred_on <= $3 AND recorded_on < $4"""
# Empty free balances without a leg; a location that was ever used would otherwise be read with its product for ever.
EMPTY_BALANCES_DELETE = """
    DELETE FROM balance
    WHERE store_number = $1 AND product_number = ANY($2) AND order_number = '' AND quantity = 0
        AND (product_number, location_code, pool) NOT IN (
            SELECT l.product_number, l.location_code, l.pool FROM leg l
            WHERE l.store_number = $1 AND l.product_number = ANY($2) AND l.order_number = '')"""
LOG_OLDEST = """
    SELECT seq, ordinal, product_number, created_on, item FROM stock_log
    WHERE store_number = $1 AND seq > $2 ORDER BY seq LIMIT $3"""
LOG_OPENINGS = """
    SELECT seq, ordinal, product_number, created_on, item FROM stock_log
    WHERE store_number = $1 AND product_number = ANY($2) AND seq <= $3"""
LOG_BEGINNING = """
    SELECT seq, ordinal, product_number, created_on, item FROM stock_log
    WHERE store_number = $1 AND seq < $2 ORDER BY seq"""
LOG_DELETE = "DELETE FROM stock_log WHERE store_number = $1 AND seq = ANY($2)"
# Old entries among the first ones; later entries are not read.
AUDIT_OLD = """
    SELECT f.seq FROM (SELECT a.seq, a.recorded_on FROM audit a WHERE a.store_number = $1 ORDER BY a.seq LIMIT $3) f
    WHERE f.recorded_on < $2"""
AUDIT_DELETE = "DELETE FROM audit WHERE store_number = $1 AND seq = ANY($2)"

CHANGES_OLDEST = "SELECT seq, changed_on FROM change WHERE store_number = $1 ORDER BY seq LIMIT $2"
CHANGES_DROP = "DELETE FROM change WHERE store_number = $1 AND seq <= $2"

ORDERS_OLD = """
    SELECT order_number, total_lines FROM customer_order
    WHERE store_number = $1 AND finished_on <> '' AND finished_on < $2 ORDER BY finished_on LIMIT $3"""
# In order of the foreign keys.
ORDER_REMOVALS = (
    "DELETE FROM shipment_line WHERE store_number = $1 AND order_number = ANY($2)",
    "DELETE FROM carried_pick WHERE store_number = $1 AND order_number = ANY($2)",
    "DELETE FROM balance WHERE store_number = $1 AND order_number = ANY($2) AND order_number <> '' AND quantity = 0",
    "DELETE FROM order_line WHERE store_number = $1 AND order_number = ANY($2)",
    "DELETE FROM customer_order WHERE store_number = $1 AND order_number = ANY($2)",
)
PUT_BACKS_OLD = "SELECT seq FROM put_back WHERE store_number = $1 AND created_on < $2 LIMIT $3"
PUT_BACKS_DROP = "DELETE FROM put_back WHERE store_number = $1 AND seq = ANY($2)"
ASSIGNMENTS_OLD = "SELECT seq FROM assignment WHERE store_number = $1 AND done_on < $2 LIMIT $3"
ASSIGNMENTS_DROP = "DELETE FROM assignment WHERE store_number = $1 AND seq = ANY($2)"
RECOUNTS_OLD = "SELECT seq FROM recount WHERE store_number = $1 AND state <> 'open' AND ended_on < $2 LIMIT $3"
RECOUNTS_DROP = "DELETE FROM recount WHERE store_number = $1 AND seq = ANY($2)"

DELIVERIES_OLD = """
    SELECT d.order_number, (
        SELECT count(*) FROM delivery_line dl WHERE dl.store_number = $1 AND dl.order_number = d.order_number)
    FROM delivery d
    WHERE d.store_number = $1 AND d.updated_on < $2 AND d.expected_on < $2 ORDER BY d.updated_on LIMIT $3"""
DELIVERY_REMOVALS = (
    "DELETE FROM delivery_line WHERE store_number = $1 AND order_number = ANY($2)",
    "DELETE FROM delivery WHERE store_number = $1 AND order_number = ANY($2)",
)

ANSWERS_OLD = "SELECT request_key FROM idempotency WHERE store_number = $1 AND created_on < $2 LIMIT $3"
ANSWERS_DROP = "DELETE FROM idempotency WHERE store_number = $1 AND request_key = ANY($2)"
