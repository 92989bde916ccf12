"""Statements on deliveries, their lines and receipts."""

from aisle.service.db.list_query_builder import upsert_statement

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
