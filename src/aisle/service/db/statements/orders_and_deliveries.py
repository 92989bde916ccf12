"""Statements on customer orders, and on deliveries with their receipts."""

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


DELIVERY_FINGERPRINTS = """
    SELECT order_number, fingerprint, status FROM delivery WHERE store_number = $1 AND order_number = ANY($2)"""
DELIVERY_SET = upsert_statement(
    "delivery",
    "store_number, order_number",
    "order_type, supplier_code, supplier_search, expected_on, updated_on, fingerprint, item, data",
    kept="seq, ordinal, status",
)
DELIVERY_GET = """
    SELECT order_number, status, receipt_seq, seq FROM delivery WHERE store_number = $1 AND order_number = $2"""
DELIVERY_RECEIVED_SET = """
    UPDATE delivery SET status = $3, receipt_seq = $4, updated_on = $5 WHERE store_number = $1 AND order_number = $2"""

DELIVERY_ITEMS = "SELECT order_number, item FROM delivery WHERE store_number = $1 AND order_number = ANY($2)"
DELIVERY_ITEM_SET = "UPDATE delivery SET item = $3, updated_on = $4 WHERE store_number = $1 AND order_number = $2"
DELIVERY_LINES = """
    SELECT line_number, product_number, quantity, received, target_pool, customer_order, customer_line, data
    FROM delivery_line WHERE store_number = $1 AND order_number = $2 ORDER BY line_number"""
DELIVERY_LINE_ADD = """
    INSERT INTO delivery_line (store_number, order_number, line_number, seq, product_number, quantity, received,
        target_pool, customer_order, customer_line, updated_on, item, data)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"""
DELIVERY_LINE_RECEIVED_SET = """
    UPDATE delivery_line SET received = $4, updated_on = $5
    WHERE store_number = $1 AND order_number = $2 AND line_number = $3"""
LINES_OF_DELIVERIES_DELETE = "DELETE FROM delivery_line WHERE store_number = $1 AND order_number = ANY($2)"

# Shipment that brings goods for an order line; the one named last.
SHIPMENT_SET = upsert_statement(
    "shipment_line", "store_number, order_number, line_number", "shipment_number, shipment_line"
)
ORDER_LINES_OF_SHIPMENT = """
    SELECT sl.order_number, sl.line_number
    FROM shipment_line sl
    JOIN order_line ol ON ol.store_number = sl.store_number AND ol.order_number = sl.order_number
        AND ol.line_number = sl.line_number
    WHERE sl.store_number = $1 AND sl.shipment_number = $2 AND ol.product_number = $3
    ORDER BY sl.order_number, sl.line_number"""

DELIVERY_KEYS = "SELECT d.store_number, d.seq FROM delivery d"
# Lists of the chain are ordered by the last columns.
DELIVERY_CHAIN_KEYS = "SELECT d.store_number, d.seq, d.ordinal FROM delivery d"
RECEIPT_CHAIN_KEYS = "SELECT d.store_number, d.seq, d.receipt_seq, d.ordinal FROM delivery d"
DELIVERY_COUNT = "SELECT count(*) FROM delivery d"
DELIVERY_SORT_STORE = "ORDER BY d.seq"
DELIVERY_SORT_CHAIN = "ORDER BY seq, ordinal"
RECEIPT_SORT_STORE = "ORDER BY d.receipt_seq"
RECEIPT_SORT_CHAIN = "ORDER BY receipt_seq, ordinal"
DELIVERY_FILTERS = {
    "store": "d.store_number = $?",
    "token": "d.store_number IN (SELECT ts.store_number FROM token_store ts WHERE ts.token_id = $?)",
    "order_number": "d.order_number = $?",
    "status": "d.status = $?",
    "submitted": "d.status = $?",
    "not_submitted": "d.status <> $?",
    "supplier_code": "d.supplier_code = $?",
    "supplier_name": "d.supplier_search LIKE $? ESCAPE '\\'",
    "supplier_name_typed": "d.supplier_search LIKE $? ESCAPE '\\'",
    "expected_on": "d.expected_on = $?",
    "modified": "d.updated_on >= $?",
    "group_code": """EXISTS (SELECT 1 FROM delivery_line dl JOIN product p ON p.product_number = dl.product_number
        WHERE dl.store_number = d.store_number AND dl.order_number = d.order_number AND p.group_code = $?)""",
    "receipt_type": "d.receipt_seq IS NOT NULL AND d.order_type = $?",
    "beyond": "d.seq > $?",
    "until": "d.seq <= $?",
    "after": "(d.seq, d.ordinal) > ($?, $?)",
    "from_id": "(d.receipt_seq, d.ordinal) >= ($?, $?)",
    "to_id": "(d.receipt_seq, d.ordinal) <= ($?, $?)",
}
# Receipts have their own numbers.
RECEIPT_FILTERS = DELIVERY_FILTERS | {
    "beyond": "d.receipt_seq > $?",
    "until": "d.receipt_seq <= $?",
    "after": "(d.receipt_seq, d.ordinal) > ($?, $?)",
}
# A delivery without lines is one row with nulls. The order is undefined; the reader sorts by key.
DELIVERY_PAGE = """
    SELECT d.store_number, d.order_number, d.seq, d.ordinal, d.order_type, d.status, d.updated_on, d.receipt_seq,
        d.item, s.data, dl.line_number, dl.seq, dl.product_number, dl.quantity, dl.received,
        dl.target_pool, dl.customer_order, dl.customer_line, dl.updated_on, dl.item, p.item
    FROM page
    JOIN delivery d ON d.store_number = page.store_number AND d.seq = page.seq
    JOIN store s ON s.store_number = d.store_number
    LEFT JOIN delivery_line dl ON dl.store_number = d.store_number AND dl.order_number = d.order_number
    LEFT JOIN product p ON p.product_number = dl.product_number"""
