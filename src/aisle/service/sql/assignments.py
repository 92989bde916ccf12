"""Statements on goods that a clearance has assigned to be moved."""

# Whose goods lie where, and which tags their places have. Tags are a JSON text; the reader looks into them.
HELD_AT_PLACES = """
    SELECT b.product_number, b.location_code, b.pool, b.order_number, b.line_number, b.quantity, l.tags, p.category_code
    FROM balance b
    JOIN location l ON l.store_number = b.store_number AND l.location_code = b.location_code
    JOIN product p ON p.product_number = b.product_number
    WHERE b.store_number = $1 AND b.order_number <> '' AND b.quantity > 0
    ORDER BY l.location_order, l.sort_key, b.location_code, b.product_number, b.order_number, b.line_number, b.pool"""
TAGS = "SELECT DISTINCT tags FROM location WHERE store_number = $1"
STORES_OF_ACCESS = """
    SELECT s.store_number FROM store s
    WHERE EXISTS (SELECT 1 FROM token t WHERE t.token_id = $1 AND t.all_stores = 1)
        OR EXISTS (SELECT 1 FROM token_store ts WHERE ts.token_id = $1 AND ts.store_number = s.store_number)
    ORDER BY s.store_number"""

ASSIGNMENTS_OPEN = """
    SELECT product_number, location_code, pool, order_number, line_number FROM assignment
    WHERE store_number = $1 AND done_on IS NULL"""
ASSIGNMENT_ADD = """
    INSERT INTO assignment (store_number, seq, product_number, location_code, pool, order_number, line_number, quantity,
        location_tag, created_on)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"""
ASSIGNMENT_RENEW = """
    UPDATE assignment SET quantity = $7
    WHERE store_number = $1 AND product_number = $2 AND location_code = $3 AND pool = $4 AND order_number = $5
      AND line_number = $6 AND done_on IS NULL"""
# Carried out: what was assigned has left, as far as it has.
ASSIGNMENT_CARRIED = """
    UPDATE assignment
    SET quantity = CASE WHEN quantity > $7 THEN quantity - $7 ELSE quantity END,
        done_on = CASE WHEN quantity > $7 THEN NULL ELSE $8 END
    WHERE store_number = $1 AND product_number = $2 AND location_code = $3 AND pool = $4 AND order_number = $5
      AND line_number = $6 AND done_on IS NULL"""
# Whatever became of what was held there: what comes there later is not what was assigned.
ASSIGNMENT_OVER = """
    UPDATE assignment SET done_on = $7
    WHERE store_number = $1 AND product_number = $2 AND location_code = $3 AND pool = $4 AND order_number = $5
      AND line_number = $6 AND done_on IS NULL"""
# What is no longer held there needs no moving, whoever took it.
ASSIGNMENTS = """
    SELECT a.seq, a.product_number, p.product_name, a.location_code, a.pool, a.order_number, a.line_number,
        CASE WHEN b.quantity < a.quantity THEN b.quantity ELSE a.quantity END, a.location_tag, a.created_on
    FROM assignment a
    JOIN product p ON p.product_number = a.product_number
    JOIN balance b ON b.store_number = a.store_number AND b.product_number = a.product_number
        AND b.location_code = a.location_code AND b.pool = a.pool AND b.order_number = a.order_number
        AND b.line_number = a.line_number
    LEFT JOIN location l ON l.store_number = a.store_number AND l.location_code = a.location_code
    WHERE a.store_number = $1 AND a.done_on IS NULL AND b.quantity > 0
    ORDER BY l.location_order, l.sort_key, a.location_code, a.seq"""
