"""Statements on locations and their settings."""

from __future__ import annotations

from aisle.service.db.list_query_builder import upsert_statement

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

# Numbers given, less those of a store that was deleted and created again.
LOCATION_COUNT_OF_STORE = """
    SELECT SUM(CASE name WHEN 'location' THEN value ELSE -value END) FROM counter
    WHERE store_number = $1 AND (name = 'location' OR name = 'location_gone')"""

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
