"""Statements on stores, and the condition that keeps a list inside a token's stores."""

STORE_ORDINALS = "SELECT store_number, ordinal, data FROM store WHERE store_number = ANY($1)"
STORE_SET = """
    INSERT INTO store (store_number, ordinal, store_name, is_warehouse, is_active, area_id, secondary_key, search,
        item, data, cost_center)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
    ON CONFLICT (store_number) DO UPDATE
    SET store_name = excluded.store_name, is_warehouse = excluded.is_warehouse, is_active = excluded.is_active,
        area_id = excluded.area_id, secondary_key = excluded.secondary_key, search = excluded.search,
        item = excluded.item, data = excluded.data, cost_center = excluded.cost_center"""

STORE_LIST = "SELECT s.item, s.store_number FROM store s"
STORE_COUNT = "SELECT count(*) FROM store s"
STORE_ORDER = "ORDER BY s.store_number"
STORE_FILTERS = {
    "is_warehouse": "s.is_warehouse = $?",
    "after": "s.store_number > $?",
    "search": "s.search LIKE $? ESCAPE '\\'",
    "search_typed": "(s.store_name LIKE $? ESCAPE '\\' OR s.store_number LIKE $? ESCAPE '\\')",
    "secondary_key": "s.secondary_key = $?",
    "token": "s.store_number IN (SELECT ts.store_number FROM token_store ts WHERE ts.token_id = $?)",
}

REACHED_STORES = "SELECT store_number FROM token_store WHERE token_id = $1 ORDER BY store_number LIMIT $2"
# How many of a token's stores have numbers of a kind, and how far they have come.
REACH_OF_ACCESS = """
    SELECT count(*), COALESCE(MAX(c.value), 0) FROM counter c
    WHERE c.name = $2 AND c.store_number IN (SELECT ts.store_number FROM token_store ts WHERE ts.token_id = $1)"""

STORE_SAID = "SELECT data FROM store WHERE store_number = $1"
STORES_ALL = "SELECT store_number FROM store ORDER BY store_number"
# What keeps a store from being removed: stock, open orders, tokens that name it; what its people got goes with it.
STORE_IN_USE = """
    SELECT b.store_number FROM balance b WHERE b.store_number = ANY($1) AND b.quantity <> 0
    UNION SELECT o.store_number FROM customer_order o WHERE o.store_number = ANY($1) AND o.is_active = 1
    UNION SELECT ts.store_number FROM token_store ts JOIN token t ON t.token_id = ts.token_id
        WHERE ts.store_number = ANY($1) AND t.parent_id = ''
    ORDER BY 1"""
# In this order, because of what refers to what. The ledger, the logs and the keys stay.
STORE_REMOVALS = (
    "DELETE FROM assignment WHERE store_number = ANY($1)",
    "DELETE FROM shipment_line WHERE store_number = ANY($1)",
    "DELETE FROM delivery_line WHERE store_number = ANY($1)",
    "DELETE FROM delivery WHERE store_number = ANY($1)",
    "DELETE FROM order_line WHERE store_number = ANY($1)",
    "DELETE FROM customer_order WHERE store_number = ANY($1)",
    "DELETE FROM taken WHERE store_number = ANY($1)",
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

# Own area first, then other warehouses. A store without an area is near to all. Those around are found first: in a
# chain all stores may have the product.
SURROUNDING = """
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
