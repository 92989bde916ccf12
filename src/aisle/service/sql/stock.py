"""Statements on balances, legs of the ledger, where goods in hand came from, and the stock lists."""

BALANCES = """
    SELECT location_code, pool, order_number, line_number, quantity FROM balance
    WHERE store_number = $1 AND product_number = $2"""
FREE_OF_PRODUCTS = """
    SELECT product_number, location_code, pool, quantity FROM balance
    WHERE store_number = $1 AND product_number = ANY($2) AND order_number = ''"""
BALANCE_ADD = """
    INSERT INTO balance (store_number, product_number, location_code, pool, order_number, line_number, quantity)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (store_number, product_number, location_code, pool, order_number, line_number)
    DO UPDATE SET quantity = balance.quantity + excluded.quantity"""
BALANCE_DROP = """
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
HELD_OF_LINE = """
    SELECT location_code, pool, quantity FROM balance
    WHERE store_number = $1 AND order_number = $2 AND line_number = $3 AND order_number <> ''"""
HELD_OF_ORDER = """
    SELECT line_number, product_number, location_code, pool, quantity FROM balance
    WHERE store_number = $1 AND order_number = $2 AND order_number <> ''
    ORDER BY line_number, location_code, pool"""

ANCHOR_SET = """
    INSERT INTO anchor (store_number, product_number, location_code, pool, counted_on) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (store_number, product_number, location_code, pool) DO UPDATE SET counted_on = excluded.counted_on
    WHERE excluded.counted_on > anchor.counted_on"""
ANCHORS_OF_PRODUCTS = """
    SELECT product_number, location_code, pool, counted_on FROM anchor
    WHERE store_number = $1 AND product_number = ANY($2)"""

TAKEN_OF_LINE = """
    SELECT n, location_code, pool, held_place, held_pool, quantity FROM taken
    WHERE store_number = $1 AND order_number = $2 AND line_number = $3 ORDER BY n"""
TAKEN_OF_ORDER = """
    SELECT line_number, location_code, pool, quantity FROM taken
    WHERE store_number = $1 AND order_number = $2 AND held_place = '' ORDER BY line_number, n"""
TAKEN_ADD = """
    INSERT INTO taken (store_number, order_number, line_number, n, location_code, pool, held_place, held_pool, quantity)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"""
TAKEN_SET = """
    UPDATE taken SET quantity = $5 WHERE store_number = $1 AND order_number = $2 AND line_number = $3 AND n = $4"""
TAKEN_DROP = "DELETE FROM taken WHERE store_number = $1 AND order_number = $2 AND line_number = $3 AND n = $4"
TAKEN_DROP_LINE = "DELETE FROM taken WHERE store_number = $1 AND order_number = $2 AND line_number = $3"
TAKEN_DROP_ORDER = "DELETE FROM taken WHERE store_number = $1 AND order_number = $2"

PUT_BACK_ADD = """
    INSERT INTO put_back (store_number, seq, product_number, location_code, pool, quantity, order_number, line_number,
        created_on)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"""
PUT_BACKS = """
    SELECT pb.seq, pb.product_number, p.product_name, pb.location_code, pb.pool, pb.quantity, pb.order_number,
        pb.line_number, pb.created_on
    FROM put_back pb JOIN product p ON p.product_number = pb.product_number
    WHERE pb.store_number = $1 ORDER BY pb.seq"""
PUT_BACKS_OF_PRODUCT = """
    SELECT seq, quantity FROM put_back WHERE store_number = $1 AND product_number = $2 ORDER BY seq"""
PUT_BACK_SET = "UPDATE put_back SET quantity = $3 WHERE store_number = $1 AND seq = $2"
PUT_BACK_DROP = "DELETE FROM put_back WHERE store_number = $1 AND seq = $2"

# Lists of stock: a page of keys first, which the indexes of their order hold, then all that belongs to them. No order
# is promised, the reader sorts by key. What may be missing is joined to a table that is split too, not to the page.
STOCK_KEYS = "SELECT sp.store_number, sp.seq FROM store_product sp"
# Over the chain the numbers that they are ordered by come last.
STOCK_CHAIN_KEYS = "SELECT sp.store_number, sp.seq, sp.ordinal FROM store_product sp"
STOCK_KEYS_CATALOGUE = """
    SELECT sp.store_number, sp.seq
    FROM product p CROSS JOIN store_product sp"""
STOCK_COUNT = "SELECT count(*) FROM store_product sp"
STOCK_COUNT_CATALOGUE = """
    SELECT count(*) FROM product p CROSS JOIN store_product sp"""
# How many numbers were given, less those whose products are deleted.
STOCK_COUNT_ONE = """
    SELECT SUM(CASE name WHEN 'store_product' THEN value ELSE -value END) FROM counter
    WHERE store_number = $1 AND (name = 'store_product' OR name = 'store_product_gone')"""
# How many numbers were given, and of how many the products are deleted.
STOCK_NUMBERS = """
    SELECT SUM(CASE name WHEN 'store_product' THEN value END), SUM(CASE name WHEN 'store_product_gone' THEN value END)
    FROM counter WHERE store_number = $1 AND (name = 'store_product' OR name = 'store_product_gone')"""
STOCK_ORDER_STORE = "ORDER BY sp.seq"
STOCK_ORDER_CHAIN = "ORDER BY seq, ordinal"
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

_ENTRY = """
    sp.store_number, sp.ordinal, sp.seq, sp.product_number, sp.is_stock, p.is_stock, sp.is_replenishment, p.price,
    sp.price, p.attention_code, sp.attention_codes, p.entry, sp.item,
    sp.stock_modified_on, sp.counted_on, sp.loss_by, sp.receipt_by"""
_ENTRY_OF_PAGE = """
    FROM page
    JOIN store_product sp ON sp.store_number = page.store_number AND sp.seq = page.seq
    JOIN product p ON p.product_number = sp.product_number
    LEFT JOIN balance b ON b.store_number = sp.store_number AND b.product_number = sp.product_number"""
STOCK_PAGE = "SELECT" + _ENTRY + ", b.pool, b.quantity, b.order_number" + _ENTRY_OF_PAGE
STOCK_PAGE_PLACES = (
    "SELECT"
    + _ENTRY
    + ", b.pool, b.quantity, b.order_number, b.location_code, l.default_stock_pool, l.tags, l.location_order,"
    + " l.sort_key, l.carrier_code"
    + _ENTRY_OF_PAGE
    + " LEFT JOIN location l ON l.store_number = b.store_number AND l.location_code = b.location_code"
)

RESERVED = """
    SELECT product_number, stock_pool, SUM(quantity - picked)
    FROM order_line
    WHERE store_number = $1 AND product_number = ANY($2) AND is_open = 1 AND is_picked = 0 AND from_warehouse = 0
    GROUP BY product_number, stock_pool"""

SINGLE_STOCK = """
    SELECT sp.data, p.item, b.pool, b.quantity, b.order_number, b.location_code, l.default_stock_pool, l.tags,
        l.location_order, l.sort_key, l.carrier_code
    FROM store_product sp
    JOIN product p ON p.product_number = sp.product_number
    LEFT JOIN balance b ON b.store_number = sp.store_number AND b.product_number = sp.product_number
    LEFT JOIN location l ON l.store_number = b.store_number AND l.location_code = b.location_code
    WHERE sp.store_number = $1 AND sp.product_number = $2"""

# When goods were picked for a line, or put back, after a moment.
PICKED_LATER = """
    SELECT max(occurred_on) FROM leg
    WHERE store_number = $1 AND product_number = $2 AND occurred_on > $3 AND order_number = $4 AND line_number = $5
        AND kind IN ('pick', 'unpick')"""
