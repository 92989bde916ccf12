"""Statements on recounts: counts that were ordered of a product at a place ('' for the whole store)."""

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
RECOUNT_LIST = """
    SELECT r.seq, r.product_number, p.product_name, r.location_code, r.log_seq, r.note, r.state, r.ordered_by,
        r.ordered_on, r.ended_by, r.ended_on, r.count_seq
    FROM recount r JOIN product p ON p.product_number = r.product_number"""
RECOUNT_FILTERS = {
    "store": "r.store_number = $?",
    "state": "r.state = $?",
    "after": "r.seq > $?",
}
RECOUNT_ORDER = "ORDER BY r.seq"
"""In which they were ordered."""
