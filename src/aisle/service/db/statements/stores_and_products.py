"""Statements on stores and their locations, on the catalogue, and on the products of a store."""

from __future__ import annotations

from aisle.service.db.list_query_builder import upsert_statement

STORE_ORDINALS = "SELECT store_number, ordinal, data FROM store WHERE store_number = ANY($1)"
STORE_SET = upsert_statement(
    "store",
    "store_number",
    "store_name, is_warehouse, is_active, area_id, secondary_key, search, item, data, cost_center",
    kept="ordinal",
)

STORE_LIST = "SELECT s.item, s.store_number FROM store s"
STORE_COUNT = "SELECT count(*) FROM store s"
STORE_SORT = "ORDER BY s.store_number"
STORE_FILTERS = {
    "is_warehouse": "s.is_warehouse = $?",
    "after": "s.store_number > $?",
    "search": "s.search LIKE $? ESCAPE '\\'",
    "search_typed": "(s.store_name LIKE $? ESCAPE '\\' OR s.store_number LIKE $? ESCAPE '\\')",
    "secondary_key": "s.secondary_key = $?",
    "token": "s.store_number IN (SELECT ts.store_number FROM token_store ts WHERE ts.token_id = $?)",
}

FIRST_STORES_OF_TOKEN = "SELECT store_number FROM token_store WHERE token_id = $1 ORDER BY store_number LIMIT $2"
# Number of a token's stores that have a counter, and its highest value.
COUNTER_RANGE_OF_TOKEN = """
    SELECT count(*), COALESCE(MAX(c.value), 0) FROM counter c
    WHERE c.name = $2 AND c.store_number IN (SELECT ts.store_number FROM token_store ts WHERE ts.token_id = $1)"""

STORE_DATA = "SELECT data FROM store WHERE store_number = $1"
STORE_NUMBERS = "SELECT store_number FROM store ORDER BY store_number"
# Reasons against deleting a store: stock, open orders, tokens that name it, except those of its people.
STORES_IN_USE = """
    SELECT b.store_number FROM balance b WHERE b.store_number = ANY($1) AND b.quantity <> 0
    UNION SELECT o.store_number FROM customer_order o WHERE o.store_number = ANY($1) AND o.is_active = 1
    UNION SELECT ts.store_number FROM token_store ts JOIN token t ON t.token_id = ts.token_id
        WHERE ts.store_number = ANY($1) AND t.parent_id = ''
    ORDER BY 1"""
# In order of the foreign keys. Ledger, logs and request keys stay.
STORE_DELETES = (
    "DELETE FROM assignment WHERE store_number = ANY($1)",
    "DELETE FROM shipment_line WHERE store_number = ANY($1)",
    "DELETE FROM delivery_line WHERE store_number = ANY($1)",
    "DELETE FROM delivery WHERE store_number = ANY($1)",
    "DELETE FROM carried_pick WHERE store_number = ANY($1)",
    "DELETE FROM order_line WHERE store_number = ANY($1)",
    "DELETE FROM customer_order WHERE store_number = ANY($1)",
    "DELETE FROM line_origin WHERE store_number = ANY($1)",
    "DELETE FROM put_back WHERE store_number = ANY($1)",
    "DELETE FROM balance WHERE store_number = ANY($1)",
    "DELETE FROM last_count WHERE store_number = ANY($1)",
    "DELETE FROM latest_write WHERE store_number = ANY($1)",
    "DELETE FROM store_product WHERE store_number = ANY($1)",
    "DELETE FROM location WHERE store_number = ANY($1)",
    "DELETE FROM token_store WHERE store_number = ANY($1)",
    "DELETE FROM sign_in_failure WHERE store_number = ANY($1)",
    "DELETE FROM recount WHERE store_number = ANY($1)",
    "DELETE FROM person WHERE store_number = ANY($1)",
    """DELETE FROM counter WHERE store_number = ANY($1)
        AND name IN ('store_product', 'store_product_gone', 'location')""",
    "DELETE FROM store WHERE store_number = ANY($1)",
)

# Stores of the own area first, then other warehouses. All stores are near to one without an area. Near stores are found
# first, since all stores of a chain may have the product.
SURROUNDING_STOCK = """
    WITH near AS (
        SELECT n.store_number FROM store s JOIN store n ON n.area_id = s.area_id WHERE s.store_number = $1
        UNION SELECT n.store_number FROM store n WHERE n.is_warehouse = 1
        UNION SELECT n.store_number FROM store s CROSS JOIN store n WHERE s.store_number = $1 AND s.area_id = ''
    )
    SELECT o.store_number, o.store_name, o.is_warehouse, o.area_id, o.item, b.pool, SUM(b.quantity)
    FROM store s
    CROSS JOIN near
    CROSS JOIN store o
    CROSS JOIN store_product sp
    LEFT JOIN balance b ON b.store_number = sp.store_number AND b.product_number = sp.product_number
    WHERE s.store_number = $1 AND o.store_number = near.store_number AND o.store_number <> s.store_number
        AND o.is_active = 1 AND sp.store_number = o.store_number AND sp.product_number = $2
    GROUP BY o.store_number, o.store_name, o.is_warehouse, o.area_id, s.area_id, o.item, b.pool
    ORDER BY CASE WHEN o.area_id = s.area_id THEN 0 ELSE 1 END, o.is_warehouse, o.store_number, b.pool"""


LOCATIONS = """
    SELECT location_code, seq, location_order, default_stock_pool, sort_key, tags FROM location
    WHERE store_number = $1 AND location_code = ANY($2)"""

LOCATION_EXISTS = "SELECT 1 FROM location WHERE store_number = $1 LIMIT 1"

LOCATION_SETTINGS = """
    SELECT location_code, seq, location_order, default_stock_pool, tags, carrier_code FROM location
    WHERE store_number = $1 AND location_code = ANY($2)"""

LOCATION_SET = upsert_statement(
    "location",
    "store_number, location_code",
    "location_order, default_stock_pool, tags, search, carrier_code",
    kept="seq, sort_key, created_on",
)

LOCATION_KEYS = """
    SELECT l.store_number, l.location_code, l.seq, l.location_order, l.default_stock_pool, l.tags, l.created_on,
        l.sort_key
    FROM location l"""

LOCATION_COUNT = "SELECT count(*) FROM location l"

LOCATION_SORT = "ORDER BY l.location_order, l.sort_key, l.location_code"

LOCATION_FILTERS = {
    "store": "l.store_number = $?",
    "after": "(l.location_order, l.sort_key, l.location_code) > ($?, $?, $?)",
    "search": "l.search LIKE $? ESCAPE '\\'",
    "search_typed": "l.location_code LIKE $? ESCAPE '\\'",
}

LOCATION_PAGE = """
    SELECT page.location_code, page.seq, page.location_order, page.default_stock_pool, page.tags, page.created_on,
        page.sort_key, b.product_number, p.product_name, b.order_number, b.line_number, b.pool, b.quantity,
        sl.shipment_number, sl.shipment_line
    FROM page
    LEFT JOIN balance b
        ON b.store_number = page.store_number AND b.location_code = page.location_code AND b.quantity <> 0
    LEFT JOIN product p ON p.product_number = b.product_number
    LEFT JOIN shipment_line sl
        ON sl.store_number = b.store_number AND sl.order_number = b.order_number AND sl.line_number = b.line_number"""


PRODUCTS_BY_NUMBER = "SELECT product_number, item FROM product WHERE product_number = ANY($1) AND deleted_on IS NULL"
PRODUCT_SET = (
    upsert_statement(
        "product",
        "product_number",
        "product_name, barcode, category_code, parent_category_code, is_active, is_stock, allow_decimal, "
        "price, attention_code, search, entry, item, modified_on, group_code, detail",
    )
    + ", deleted_on = NULL"
)
CODES_DELETE = "DELETE FROM product_code WHERE product_number = ANY($1)"
CODE_ADD = "INSERT INTO product_code (code, product_number) VALUES ($1, $2) ON CONFLICT DO NOTHING"

PRODUCT_LIST = "SELECT p.item FROM product p"
PRODUCT_COUNT = "SELECT count(*) FROM product p"
PRODUCT_SORT = "ORDER BY p.product_number"
PRODUCT_FILTERS = {
    "known": "p.deleted_on IS NULL",
    "product_number": "p.product_number = $?",
    "barcode": "p.product_number IN (SELECT c.product_number FROM product_code c WHERE c.code = ANY($?))",
    "search": "p.search LIKE $? ESCAPE '\\'",
    "search_typed": "(p.product_name LIKE $? ESCAPE '\\' OR p.product_number LIKE $? ESCAPE '\\')",
    "category_code": "p.category_code = $?",
    "is_active": "p.is_active = $?",
    "modified": "p.modified_on >= $?",
    "store": "p.product_number IN (SELECT sp.product_number FROM store_product sp WHERE sp.store_number = $?)",
}

STORE_PRODUCTS = """
    SELECT p.product_number, p.product_name, p.barcode, p.is_stock, p.allow_decimal, sp.seq, sp.is_stock, p.price,
        sp.price, p.item, s.cost_center
    FROM product p
    JOIN store s ON s.store_number = $1
    LEFT JOIN store_product sp ON sp.store_number = $1 AND sp.product_number = p.product_number
    WHERE p.product_number = ANY($2) AND p.deleted_on IS NULL"""
STORE_PRODUCT_DATA = """
    SELECT product_number, seq, data FROM store_product WHERE store_number = $1 AND product_number = ANY($2)"""
STORE_PRODUCT_ADD = """
    INSERT INTO store_product (store_number, product_number, seq, ordinal, is_replenishment, price, attention_codes,
        item, data, modified_on)
    VALUES ($1, $2, $3, $4, 0, '', '', '{}', '{}', $5)"""
STORE_PRODUCT_SET = upsert_statement(
    "store_product",
    "store_number, product_number",
    "is_stock, is_replenishment, price, attention_codes, item, data, modified_on",
    kept="seq, ordinal",
)
STORE_PRODUCT_STOCK_CHANGED_SET = """
    UPDATE store_product SET stock_modified_on = $3, stock_modified_day = substr($3, 1, 10)
    WHERE store_number = $1 AND product_number = $2"""
STORE_PRODUCT_COUNTED_SET = """
    UPDATE store_product SET counted_on = CASE WHEN counted_on > $3 THEN counted_on ELSE $3 END
    WHERE store_number = $1 AND product_number = $2"""
STORE_PRODUCT_COUNT_TAKE_BACK = """
    UPDATE store_product SET counted_on = $3 WHERE store_number = $1 AND product_number = $2"""
STORE_PRODUCT_LOSS_BY_SET = "UPDATE store_product SET loss_by = $3 WHERE store_number = $1 AND product_number = $2"
STORE_PRODUCT_RECEIPT_BY_SET = (
    "UPDATE store_product SET receipt_by = $3 WHERE store_number = $1 AND product_number = $2"
)

PRODUCTS_MODIFIED_SINCE = "SELECT product_number FROM product WHERE modified_on >= $1 LIMIT $2"
PRODUCT_ITEM = "SELECT item FROM product WHERE product_number = $1 AND deleted_on IS NULL"
PRODUCTS_OF_CODES = """
    SELECT DISTINCT product_number FROM product_code WHERE code = ANY($1) ORDER BY product_number LIMIT 2"""
CODES_WITH_PRODUCTS = "SELECT code, product_number FROM product_code WHERE code = ANY($1)"

# Reasons against deleting a product, in any store: stock, lines of unfinished orders, expected goods.
PRODUCTS_WITH_STOCK = """
    SELECT DISTINCT sp.product_number
    FROM store_product sp
    JOIN balance b ON b.store_number = sp.store_number AND b.product_number = sp.product_number
    WHERE sp.product_number = ANY($1) AND b.quantity <> 0
    ORDER BY sp.product_number"""
# Reads the open orders of each store, and not all lines that ever existed.
PRODUCTS_IN_OPEN_ORDERS = """
    SELECT DISTINCT ol.product_number
    FROM store s
    CROSS JOIN customer_order o
    CROSS JOIN order_line ol
    WHERE o.store_number = s.store_number AND o.is_active = 1 AND ol.store_number = o.store_number
        AND ol.order_number = o.order_number AND ol.product_number = ANY($1)
    ORDER BY ol.product_number"""
PRODUCTS_IN_OPEN_DELIVERIES = """
    SELECT DISTINCT dl.product_number
    FROM delivery_line dl
    JOIN delivery d ON d.store_number = dl.store_number AND d.order_number = dl.order_number
    WHERE dl.product_number = ANY($1) AND dl.received < dl.quantity AND (d.updated_on >= $2 OR d.expected_on >= $2)
    ORDER BY dl.product_number"""
STORES_RANGING = """
    SELECT store_number, product_number FROM store_product WHERE product_number = ANY($1)
    ORDER BY store_number, product_number"""
EMPTY_BALANCES_DELETE = "DELETE FROM balance WHERE store_number = $1 AND product_number = ANY($2) AND quantity = 0"
STORE_PRODUCTS_DELETE = "DELETE FROM store_product WHERE store_number = $1 AND product_number = ANY($2)"
# Finished orders and deliveries still refer to it.
PRODUCTS_DELETE = "UPDATE product SET deleted_on = $2 WHERE product_number = ANY($1) AND deleted_on IS NULL"
