"""Statements on customer orders and their lines."""

from aisle.service.db.list_query_builder import upsert_statement

ORDER_FINGERPRINTS = """
    SELECT order_number, fingerprint FROM customer_order WHERE store_number = $1 AND order_number = ANY($2)"""
ORDER_ADD = """
    INSERT INTO customer_order (store_number, order_number, seq, is_active, is_claimed, is_picked, is_rejected,
        status_id, fulfilment, reference, pickup_date, total_lines, total_quantity, total_delivered, fingerprint,
        search, item, data)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)"""
ORDER_GET = """
    SELECT order_number, is_active, is_claimed, is_picked, is_rejected, status_id, fulfilment, total_lines, item,
        version
    FROM customer_order WHERE store_number = $1 AND order_number = $2"""
ORDER_SET = """
    UPDATE customer_order
    SET is_active = $3, is_claimed = $4, is_picked = $5, is_rejected = $6, status_id = $7, fulfilment = $8, item = $9,
        pickup_date = $10, total_quantity = $11, total_delivered = $12, version = version + 1,
        finished_on = CASE WHEN $13 = '=' THEN finished_on ELSE $13 END
    WHERE store_number = $1 AND order_number = $2"""
ORDER_NUMBERS = "SELECT order_number FROM customer_order WHERE store_number = $1 ORDER BY seq"
# All orders of a store, in order of the foreign keys.
ORDER_DELETES = (
    """DELETE FROM shipment_line WHERE store_number = $1
        AND order_number IN (SELECT o.order_number FROM customer_order o WHERE o.store_number = $1)""",
    "DELETE FROM carried_pick WHERE store_number = $1",
    "DELETE FROM order_line WHERE store_number = $1",
    "DELETE FROM customer_order WHERE store_number = $1",
)

LINE_ADD = """
    INSERT INTO order_line (store_number, order_number, line_number, seq, product_number, quantity, picked, moved,
        delivered, is_picked, is_open, from_warehouse, stock_pool, pools, preferred_location_code, reference, picked_by,
        item, fulfilment)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 1, $11, $12, $13, $14, $15, $16, $17, $18)"""
# `is_open`: the order is active and not rejected. Lines have it too, so that one index has the open demand.
LINES_OPEN_SET = "UPDATE order_line SET is_open = $3 WHERE store_number = $1 AND order_number = $2"
CARRIED_PICK = """
    SELECT quantity FROM carried_pick WHERE store_number = $1 AND order_number = $2 AND line_number = $3"""
CARRIED_PICK_SET = upsert_statement("carried_pick", "store_number, order_number, line_number", "quantity")
LINES_OF_ORDER = """
    SELECT line_number, seq, product_number, quantity, picked, moved, delivered, is_picked, from_warehouse, stock_pool,
        pools, preferred_location_code, picked_by, item, is_rejected
    FROM order_line WHERE store_number = $1 AND order_number = $2 ORDER BY line_number"""
LINE_GET = LINES_OF_ORDER.replace("ORDER BY", "AND line_number = $3 ORDER BY")
LINE_SET = """
    UPDATE order_line
    SET quantity = $4, picked = $5, moved = $6, delivered = $7, is_picked = $8, from_warehouse = $9, stock_pool = $10,
        preferred_location_code = $11, picked_by = $12, item = $13, is_rejected = $14
    WHERE store_number = $1 AND order_number = $2 AND line_number = $3"""

ORDER_LIST = """
    SELECT o.store_number, o.order_number, o.seq, o.is_active, o.is_claimed, o.is_picked, o.is_rejected, o.status_id,
        o.total_lines, o.total_quantity, o.total_delivered, o.version, o.item
    FROM customer_order o"""
ORDERS_BY_NUMBER = ORDER_LIST + " WHERE o.store_number = $1 AND o.order_number = ANY($2) ORDER BY o.seq"
ORDER_COUNT = "SELECT count(*) FROM customer_order o"
ORDER_SORT = "ORDER BY o.seq"
ORDER_FILTERS = {
    "store": "o.store_number = $?",
    "is_active": "o.is_active = $?",
    "is_picked": "o.is_picked = $?",
    "order_number": "o.order_number = $?",
    "fulfilment": "o.fulfilment = $?",
    "pickup_until": "o.pickup_date <= $?",
    "reference": """(o.reference = $? OR o.order_number IN (SELECT ol.order_number FROM order_line ol
        WHERE ol.store_number = $? AND ol.reference = $? AND ol.reference <> ''))""",
    "line_fulfilment": """EXISTS (SELECT 1 FROM order_line ol
        WHERE ol.store_number = o.store_number AND ol.order_number = o.order_number AND ol.fulfilment = $?)""",
    "after": "o.seq > $?",
    "search": "o.search LIKE $? ESCAPE '\\'",
    # Punctuation without words, which the search texts do not have.
    "search_typed": "(o.order_number LIKE $? ESCAPE '\\' OR o.reference LIKE $? ESCAPE '\\')",
}
LINES_OF_ORDERS = """
    SELECT ol.order_number, ol.line_number, ol.seq, ol.product_number, ol.quantity, ol.picked, ol.moved, ol.delivered,
        ol.is_picked, ol.stock_pool, ol.pools, ol.preferred_location_code, ol.picked_by, ol.item,
        ol.is_rejected, ol.from_warehouse
    FROM order_line ol
    WHERE ol.store_number = $1 AND ol.order_number = ANY($2)
    ORDER BY ol.order_number, ol.line_number"""
LOCATIONS_OF_PRODUCTS = """
    SELECT b.product_number, b.location_code, b.pool, b.order_number, b.line_number, b.quantity, l.location_order,
        l.sort_key, l.default_stock_pool, l.tags, sl.shipment_number, sl.shipment_line
    FROM balance b
    JOIN location l ON l.store_number = b.store_number AND l.location_code = b.location_code
    LEFT JOIN shipment_line sl
        ON sl.store_number = b.store_number AND sl.order_number = b.order_number AND sl.line_number = b.line_number
    WHERE b.store_number = $1 AND b.product_number = ANY($2) AND b.quantity <> 0
    ORDER BY l.location_order, l.sort_key, l.location_code"""
LOCATION_ORDERS = (
    "SELECT location_code, location_order FROM location WHERE store_number = $1 AND location_code = ANY($2)"
)
