"""Statements on assignments of goods to be moved, and on recounts."""

from __future__ import annotations

ASSIGNMENTS_OPEN = """
    SELECT product_number, location_code, pool, order_number, line_number FROM assignment
    WHERE store_number = $1 AND done_on IS NULL"""

ASSIGNMENT_ADD = """
    INSERT INTO assignment (store_number, seq, product_number, location_code, pool, order_number, line_number, quantity,
        location_tag, created_on)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"""

ASSIGNMENT_QUANTITY_SET = """
    UPDATE assignment SET quantity = $7
    WHERE store_number = $1 AND product_number = $2 AND location_code = $3 AND pool = $4 AND order_number = $5
      AND line_number = $6 AND done_on IS NULL"""

# Goods were moved: reduce the assignment, or end it.
ASSIGNMENT_MOVED_SET = """
    UPDATE assignment
    SET quantity = CASE WHEN quantity > $7 THEN quantity - $7 ELSE quantity END,
        done_on = CASE WHEN quantity > $7 THEN NULL ELSE $8 END
    WHERE store_number = $1 AND product_number = $2 AND location_code = $3 AND pool = $4 AND order_number = $5
      AND line_number = $6 AND done_on IS NULL"""

# Ends the assignment, so that goods held there later are not part of it.
ASSIGNMENT_DONE_SET = """
    UPDATE assignment SET done_on = $7
    WHERE store_number = $1 AND product_number = $2 AND location_code = $3 AND pool = $4 AND order_number = $5
      AND line_number = $6 AND done_on IS NULL"""

# Goods that are no longer held there need no move, whoever moved them.
ASSIGNMENTS = """
    SELECT a.seq, a.product_number, p.product_name, a.location_code, a.pool, a.order_number, a.line_number,
        CASE WHEN b.quantity < a.quantity THEN b.quantity ELSE a.quantity END, a.location_tag, a.created_on,
        l.location_order, l.sort_key
    FROM assignment a
    JOIN product p ON p.product_number = a.product_number
    JOIN balance b ON b.store_number = a.store_number AND b.product_number = a.product_number
        AND b.location_code = a.location_code AND b.pool = a.pool AND b.order_number = a.order_number
        AND b.line_number = a.line_number
    LEFT JOIN location l ON l.store_number = a.store_number AND l.location_code = a.location_code
    WHERE a.store_number = $1 AND a.done_on IS NULL AND b.quantity > 0 AND a.seq > $2
    ORDER BY a.seq LIMIT $3"""

RECOUNT_ADD = """
    INSERT INTO recount (store_number, seq, product_number, location_code, log_seq, note, state, ordered_by, ordered_on,
        ended_by)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, '')"""

RECOUNTS_OPEN = """
    SELECT r.product_number, r.location_code, r.seq, r.ordered_on, l.default_stock_pool
    FROM recount r
    LEFT JOIN location l ON l.store_number = r.store_number AND l.location_code = r.location_code
    WHERE r.store_number = $1 AND r.state = 'open'"""

RECOUNT_STATES = "SELECT seq, state, ordered_on FROM recount WHERE store_number = $1 AND seq = ANY($2)"

RECOUNT_END = """
    UPDATE recount SET state = $3, ended_by = $4, ended_on = $5, count_seq = $6 WHERE store_number = $1 AND seq = $2"""

# The count that fulfilled it was undone. One that was ordered since replaces it.
RECOUNT_REOPEN = """
    UPDATE recount SET state = 'open', ended_by = '', ended_on = NULL, count_seq = NULL
    WHERE store_number = $1 AND seq = $2 AND count_seq = $3 AND state = 'counted' AND NOT EXISTS (
        SELECT 1 FROM recount newer WHERE newer.store_number = $1 AND newer.state = 'open'
            AND newer.product_number = recount.product_number AND newer.location_code = recount.location_code
    )"""

RECOUNT_LIST = """
    SELECT r.seq, r.product_number, p.product_name, r.location_code, r.log_seq, r.note, r.state, r.ordered_by,
        r.ordered_on, r.ended_by, r.ended_on, r.count_seq
    FROM recount r JOIN product p ON p.product_number = r.product_number"""

RECOUNT_FILTERS = {"store": "r.store_number = $?", "state": "r.state = $?", "after": "r.seq > $?"}

RECOUNT_SORT = "ORDER BY r.seq"
"""Order in which recounts were ordered."""
