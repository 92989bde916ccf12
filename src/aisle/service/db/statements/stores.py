"""Statements on stores, and the condition that limits a list to a token's stores."""

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
# Reasons against deleting a store: stock, open orders, tokens that name it. Tokens of its people are deleted with it.
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
    "DELETE FROM order_line WHERE store_number = ANY($1)",
    "DELETE FROM customer_order WHERE store_number = ANY($1)",
    "DELETE FROM line_origin WHERE store_number = ANY($1)",
    "DELETE FROM put_back WHERE store_number = ANY($1)",
    "DELETE FROM balance WHERE store_number = ANY($1)",
    "DELETE FROM store_product WHERE store_number = ANY($1)",
    "DELETE FROM location WHERE store_number = ANY($1)",
    "DELETE FROM token_store WHERE store_number = ANY($1)",
    "DELETE FROM sign_in_failure WHERE store_number = ANY($1)",
    "DELETE FROM recount WHERE store_number = ANY($1)",
    "DELETE FROM person WHERE store_number = ANY($1)",
    """DELETE FROM counter WHERE store_number = ANY($1)
        AND name IN ('store_product', 'store_product_gone', 'location', 'location_gone')""",
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
