"""Statements on the catalogue and on the products of a store."""

from aisle.service.db.list_query_builder import upsert_statement

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
