"""Statements on balances, legs of the ledger, origins of picked goods, lists of stock, assigned moves, and recounts."""

from __future__ import annotations

BALANCES_OF_PRODUCTS = """
    SELECT product_number, location_code, pool, order_number, line_number, quantity FROM balance
    WHERE store_number = $1 AND product_number = ANY($2)"""
FREE_OF_PRODUCTS = """
    SELECT product_number, location_code, pool, quantity FROM balance
    WHERE store_number = $1 AND product_number = ANY($2) AND order_number = ''"""
BALANCE_ADD = """
    INSERT INTO balance (store_number, product_number, location_code, pool, order_number, line_number, quantity)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (store_number, product_number, location_code, pool, order_number, line_number)
    DO UPDATE SET quantity = balance.quantity + excluded.quantity"""
BALANCE_DELETE = """
    DELETE FROM balance
    WHERE store_number = $1 AND product_number = $2 AND location_code = $3 AND pool = $4 AND order_number = $5
      AND line_number = $6 AND quantity = $7"""
LEG_ADD = """
    INSERT INTO leg (store_number, op_id, leg, kind, product_number, location_code, pool, order_number, line_number,
        quantity, recorded_on, occurred_on)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"""
LEGS_AFTER = """
    SELECT location_code, pool, CAST(SUM(quantity) AS BIGINT) FROM leg
    WHERE store_number = $1 AND product_number = $2 AND occurred_on > $3
    GROUP BY location_code, pool"""
# Goods that had left a location at a moment, by movements that end later.
LEGS_UNDER_WAY = """
    SELECT l.occurred_on, l.location_code, l.pool, l.quantity FROM leg l
    WHERE l.store_number = $1 AND l.product_number = $2 AND l.occurred_on <= $3 AND l.kind = 'move' AND l.op_id IN (
        SELECT a.op_id FROM leg a
        WHERE a.store_number = $1 AND a.product_number = $2 AND a.occurred_on > $3 AND a.kind = 'move')"""
HELD_FOR_LINE = """
    SELECT location_code, pool, quantity FROM balance
    WHERE store_number = $1 AND order_number = $2 AND line_number = $3 AND order_number <> ''"""
HELD_FOR_ACTIVE_ORDERS = """
    SELECT b.product_number, b.location_code, b.pool, b.order_number, b.line_number, b.quantity
    FROM balance b JOIN customer_order o ON o.store_number = b.store_number AND o.order_number = b.order_number
    WHERE b.store_number = $1 AND b.order_number <> '' AND o.is_active = 1
    ORDER BY o.seq, b.line_number, b.location_code, b.pool"""
HELD_FOR_ORDER = """
    SELECT line_number, product_number, location_code, pool, quantity FROM balance
    WHERE store_number = $1 AND order_number = $2 AND order_number <> ''
    ORDER BY line_number, location_code, pool"""

LAST_COUNT_SET = """
    INSERT INTO last_count (store_number, product_number, location_code, pool, counted_on) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (store_number, product_number, location_code, pool) DO UPDATE SET counted_on = excluded.counted_on
    WHERE excluded.counted_on > last_count.counted_on"""
LAST_COUNT_TAKE_BACK = """
    UPDATE last_count SET counted_on = $1
    WHERE store_number = $2 AND product_number = $3 AND location_code = $4 AND pool = $5 AND counted_on = $6"""
# What counts absorbed of late messages of this time. What they absorbed of earlier counts stays, unless those are
# undone.
ABSORBED_BETWEEN = """
    SELECT occurred_on, CAST(SUM(CASE WHEN kind = 'absorbed' THEN quantity ELSE 0 END) AS BIGINT) FROM leg
    WHERE store_number = $1 AND product_number = $2 AND location_code = $3 AND pool = $4
        AND occurred_on >= $5 AND occurred_on < $6 AND order_number = ''
    GROUP BY occurred_on
    HAVING SUM(CASE WHEN kind = 'absorbed' THEN quantity ELSE 0 END) <> 0
        AND (SUM(CASE WHEN kind = 'count' THEN 1 ELSE 0 END) = 0
            OR SUM(CASE WHEN kind = 'undo' THEN 1 ELSE 0 END) > 0)
    ORDER BY occurred_on"""
LAST_COUNTS_OF_PRODUCTS = """
    SELECT product_number, location_code, pool, counted_on FROM last_count
    WHERE store_number = $1 AND product_number = ANY($2)"""

ORIGINS_OF_LINE = """
    SELECT n, location_code, pool, held_location, held_pool, quantity, named_location FROM line_origin
    WHERE store_number = $1 AND order_number = $2 AND line_number = $3 ORDER BY n"""
ORIGINS_OF_ORDER = """
    SELECT line_number, n, location_code, pool, held_location, held_pool, quantity, named_location FROM line_origin
    WHERE store_number = $1 AND order_number = $2 ORDER BY line_number, n"""
ORIGINS_OF_ORDER_IN_HAND = """
    SELECT line_number, location_code, pool, quantity FROM line_origin
    WHERE store_number = $1 AND order_number = $2 AND held_location = '' ORDER BY line_number, n"""
ORIGINS_IN_HAND = """
    SELECT order_number, line_number, location_code, pool, quantity FROM line_origin
    WHERE store_number = $1 AND held_location = '' ORDER BY order_number, line_number, n"""
ORIGIN_ADD = """
    INSERT INTO line_origin (store_number, order_number, line_number, n, location_code, pool, held_location, held_pool,
        quantity, named_location)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"""
ORIGIN_SET = """
    UPDATE line_origin SET quantity = $5
    WHERE store_number = $1 AND order_number = $2 AND line_number = $3 AND n = $4"""
ORIGIN_DELETE = "DELETE FROM line_origin WHERE store_number = $1 AND order_number = $2 AND line_number = $3 AND n = $4"
ORIGINS_OF_LINE_DELETE = "DELETE FROM line_origin WHERE store_number = $1 AND order_number = $2 AND line_number = $3"
ORIGINS_DELETE = "DELETE FROM line_origin WHERE store_number = $1"
ORIGINS_OF_ORDER_DELETE = "DELETE FROM line_origin WHERE store_number = $1 AND order_number = $2"

PUT_BACK_ADD = """
    INSERT INTO put_back (store_number, seq, product_number, location_code, pool, quantity, order_number, line_number,
        created_on)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"""
PUT_BACKS = """
    SELECT pb.seq, pb.product_number, p.product_name, pb.location_code, pb.pool, pb.quantity, pb.order_number,
        pb.line_number, pb.created_on
    FROM put_back pb JOIN product p ON p.product_number = pb.product_number
    WHERE pb.store_number = $1 AND pb.seq > $2 ORDER BY pb.seq LIMIT $3"""
PUT_BACKS_OF_PRODUCT = """
    SELECT seq, quantity FROM put_back WHERE store_number = $1 AND product_number = $2 ORDER BY seq"""
PUT_BACK_SET = "UPDATE put_back SET quantity = $3 WHERE store_number = $1 AND seq = $2"
PUT_BACK_DELETE = "DELETE FROM put_back WHERE store_number = $1 AND seq = $2"

# Lists of stock: first a page of keys, which an index has in this order, then their rows. The order is undefined; the
# reader sorts by key. Outer joins start at a table that is sharded too, not at the page.
STOCK_KEYS = "SELECT sp.store_number, sp.seq FROM store_product sp"
# Lists of the chain are ordered by the last columns.
STOCK_CHAIN_KEYS = "SELECT sp.store_number, sp.seq, sp.ordinal FROM store_product sp"
STOCK_KEYS_CATALOGUE = """
    SELECT sp.store_number, sp.seq
    FROM product p CROSS JOIN store_product sp"""
STOCK_COUNT = "SELECT count(*) FROM store_product sp"
STOCK_COUNT_CATALOGUE = """
    SELECT count(*) FROM product p CROSS JOIN store_product sp"""
# Numbers given, less those of deleted products.
STOCK_COUNT_OF_STORE = """
    SELECT SUM(CASE name WHEN 'store_product' THEN value ELSE -value END) FROM counter
    WHERE store_number = $1 AND (name = 'store_product' OR name = 'store_product_gone')"""
# Numbers given, and those of deleted products.
STOCK_NUMBERS_OF_STORE = """
    SELECT SUM(CASE name WHEN 'store_product' THEN value END), SUM(CASE name WHEN 'store_product_gone' THEN value END)
    FROM counter WHERE store_number = $1 AND (name = 'store_product' OR name = 'store_product_gone')"""
STOCK_SORT_STORE = "ORDER BY sp.seq"
STOCK_SORT_CHAIN = "ORDER BY seq, ordinal"
STOCK_FILTERS = {
    "catalogue": "p.product_number = sp.product_number",
    "store": "sp.store_number = $?",
    "token": "sp.store_number IN (SELECT ts.store_number FROM token_store ts WHERE ts.token_id = $?)",
    "beyond": "sp.seq > $?",
    "until": "sp.seq <= $?",
    "from_id": "(sp.seq, sp.ordinal) >= ($?, $?)",
    "after": "(sp.seq, sp.ordinal) > ($?, $?)",
    "to_id": "(sp.seq, sp.ordinal) <= ($?, $?)",
    "product_number": "sp.product_number = $?",
    "article_no": "sp.product_number = $?",
    "barcode": "sp.product_number IN (SELECT c.product_number FROM product_code c WHERE c.code = ANY($?))",
    "category_code": "p.category_code = $?",
    "parent_category_code": "p.parent_category_code = $?",
    "search": "p.search LIKE $? ESCAPE '\\'",
    "search_typed": "(p.product_name LIKE $? ESCAPE '\\' OR p.product_number LIKE $? ESCAPE '\\')",
    "modified": "(sp.modified_on >= $? OR p.modified_on >= $?)",
    "modified_of_few": "(sp.modified_on >= $? OR sp.product_number = ANY($?))",
    "modified_here": """sp.seq IN (
        SELECT m.seq FROM store_product m WHERE m.store_number = $? AND m.modified_on >= $?
        UNION SELECT m.seq FROM store_product m WHERE m.store_number = $? AND m.product_number = ANY($?))""",
    "stock_modified": "sp.stock_modified_on >= $? AND sp.stock_modified_day >= substr($?, 1, 10)",
}
STOCK_CATALOGUE_FILTERS = frozenset({"category_code", "parent_category_code", "search", "search_typed", "modified"})

_ENTRY_COLUMNS = """
    sp.store_number, sp.ordinal, sp.seq, sp.product_number, sp.is_stock, p.is_stock, sp.is_replenishment, p.price,
    sp.price, p.attention_code, sp.attention_codes, p.entry, sp.item,
    sp.stock_modified_on, sp.counted_on, sp.loss_by, sp.receipt_by"""
_FROM_PAGE = """
    FROM page
    JOIN store_product sp ON sp.store_number = page.store_number AND sp.seq = page.seq
    JOIN product p ON p.product_number = sp.product_number
    LEFT JOIN balance b ON b.store_number = sp.store_number AND b.product_number = sp.product_number"""
STOCK_PAGE = "SELECT" + _ENTRY_COLUMNS + ", b.pool, b.quantity, b.order_number" + _FROM_PAGE
STOCK_PAGE_WITH_LOCATIONS = (
    "SELECT"
    + _ENTRY_COLUMNS
    + ", b.pool, b.quantity, b.order_number, b.location_code, l.default_stock_pool, l.tags, l.location_order,"
    + " l.sort_key, l.carrier_code"
    + _FROM_PAGE
    + " LEFT JOIN location l ON l.store_number = b.store_number AND l.location_code = b.location_code"
)

RESERVED_QUANTITIES = """
    SELECT product_number, stock_pool, SUM(quantity - picked)
    FROM order_line
    WHERE store_number = $1 AND product_number = ANY($2) AND is_open = 1 AND is_picked = 0 AND from_warehouse = 0
    GROUP BY product_number, stock_pool"""

STOCK_OF_PRODUCT = """
    SELECT sp.data, p.item, b.pool, b.quantity, b.order_number, b.location_code, l.default_stock_pool, l.tags,
        l.location_order, l.sort_key, l.carrier_code
    FROM store_product sp
    JOIN product p ON p.product_number = sp.product_number
    LEFT JOIN balance b ON b.store_number = sp.store_number AND b.product_number = sp.product_number
    LEFT JOIN location l ON l.store_number = b.store_number AND l.location_code = b.location_code
    WHERE sp.store_number = $1 AND sp.product_number = $2"""

# Last time after a moment at which goods were picked for a line or put back.
PICKED_LATER = """
    SELECT max(occurred_on) FROM leg
    WHERE store_number = $1 AND product_number = $2 AND occurred_on > $3 AND order_number = $4 AND line_number = $5
        AND kind IN ('pick', 'unpick')"""


# Goods held for orders, with the tags of their locations. Tags are JSON; the reader parses them.
HELD_AT_LOCATIONS = """
    SELECT b.product_number, b.location_code, b.pool, b.order_number, b.line_number, b.quantity, l.tags, p.category_code
    FROM balance b
    JOIN location l ON l.store_number = b.store_number AND l.location_code = b.location_code
    JOIN product p ON p.product_number = b.product_number
    WHERE b.store_number = $1 AND b.order_number <> '' AND b.quantity > 0
    ORDER BY l.location_order, l.sort_key, b.location_code, b.product_number, b.order_number, b.line_number, b.pool"""
LOCATION_TAGS = "SELECT DISTINCT tags FROM location WHERE store_number = $1"

GOODS_AT_LOCATION = """
    SELECT b.product_number, b.order_number, b.line_number, SUM(b.quantity), p.product_name, p.barcode, p.item,
        sl.shipment_number, sl.shipment_line
    FROM balance b
    JOIN product p ON p.product_number = b.product_number
    LEFT JOIN shipment_line sl
        ON sl.store_number = b.store_number AND sl.order_number = b.order_number AND sl.line_number = b.line_number"""

GOODS_AT_LOCATION_COUNT = """
    SELECT count(*) FROM (
        SELECT 1 FROM balance b
        JOIN product p ON p.product_number = b.product_number
        LEFT JOIN shipment_line sl
            ON sl.store_number = b.store_number AND sl.order_number = b.order_number
            AND sl.line_number = b.line_number"""

GOODS_AT_LOCATION_GROUP = """
    GROUP BY b.product_number, b.order_number, b.line_number, p.product_name, p.barcode, p.item, sl.shipment_number,
        sl.shipment_line"""

GOODS_AT_LOCATION_SORT = "ORDER BY b.product_number, b.order_number, b.line_number"

GOODS_AT_LOCATION_FILTERS = {
    "store": "b.store_number = $?",
    "place": "b.location_code = $?",
    "stocked": "b.quantity <> $?",
    "customer_order_number": "b.order_number = $?",
    "customer_order_shipment_number": "sl.shipment_number = $?",
    "after": "(b.product_number, b.order_number, b.line_number) > ($?, $?, $?)",
    "search": "p.search LIKE $? ESCAPE '\\'",
    "search_typed": "(p.product_name LIKE $? ESCAPE '\\' OR p.product_number LIKE $? ESCAPE '\\')",
    "detail": "(p.detail LIKE $? ESCAPE '\\' OR (p.detail = '' AND p.search LIKE $? ESCAPE '\\'))",
    "detail_typed": "(p.product_name LIKE $? ESCAPE '\\' OR p.product_number LIKE $? ESCAPE '\\')",
}


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
