"""Statements on what is old: ledger and log are summed up, all else is forgotten."""

LEDGER_PRODUCTS = """
    SELECT DISTINCT product_number FROM leg
    WHERE store_number = $1 AND product_number > $2 AND occurred_on < $3
    ORDER BY product_number LIMIT $4"""
LEDGER_SUMS = """
    SELECT product_number, location_code, pool, order_number, line_number, CAST(SUM(quantity) AS BIGINT), count(*),
        max(recorded_on), max(occurred_on)
    FROM leg
    WHERE store_number = $1 AND product_number = ANY($2) AND occurred_on < $3 AND recorded_on < $3
    GROUP BY product_number, location_code, pool, order_number, line_number"""
LEDGER_DROP = """
    DELETE FROM leg
    WHERE store_number = $1 AND product_number = ANY($2) AND occurred_on < $3 AND recorded_on < $3"""
LOG_ENTRIES = "seq, ordinal, product_number, created_on, item FROM stock_log WHERE store_number = $1"
LOG_OLDEST = f"SELECT {LOG_ENTRIES} AND seq > $2 ORDER BY seq LIMIT $3"
LOG_OPENINGS = f"SELECT {LOG_ENTRIES} AND product_number = ANY($2) AND seq <= $3"
LOG_FIRST_ONES = f"SELECT {LOG_ENTRIES} AND seq < $2 ORDER BY seq"
LOG_DROP = "DELETE FROM stock_log WHERE store_number = $1 AND seq = ANY($2)"
AUDIT_DROP = """
    DELETE FROM audit WHERE store_number = $1 AND seq IN (
        SELECT a.seq FROM audit a WHERE a.store_number = $1 AND a.recorded_on < $2 ORDER BY a.seq LIMIT $3)
    RETURNING seq"""
