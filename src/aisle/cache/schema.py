"""Tables of cache.db, their indexes, and the triggers that keep counts."""

from __future__ import annotations

from aisle.cache.log_schema import LOG_TABLES

ORDER_OPEN, ORDER_PICKED, ORDER_CLOSED = 0, 1, 2
"""States of an order in the table: to be picked; picked; finished or rejected."""

MIN_SEARCH_PART = 2
"""Shortest part of a word in the index of orders, in letters."""


def number_sql(name: str, row: str = "raw") -> str:
    """Return the SQL for a number of a row, which some services write as text."""
    return f"CAST({row} ->> '{name}' AS REAL)"


_PICKED_SQL = f"""coalesce(picked_quantity, iif(ifnull(raw ->> 'is_picked', 0) IN (1, 'true'),
  {number_sql("total_quantity")}, {number_sql("total_delivery_quantity")}))"""
"""Picked quantity of an order; as long as its lines are unread, its header states it (see `picked_quantity`)."""

STATUS_SQL = f"""
CASE state WHEN 1 THEN 'picked' WHEN 0 THEN CASE WHEN {_PICKED_SQL} > 0 THEN 'partial' ELSE 'open' END
ELSE CASE WHEN ifnull(raw ->> 'is_active', 1) IN (1, 'true') AND ifnull(raw ->> 'is_rejected', 0) IN (1, 'true')
  THEN 'rejected' ELSE 'finished' END END
"""
"""State of an order in the words of our own service (`fulfillment_status`), computed from what every service sends.

It is no generated column: SQLite does not use an index on such a column as a covering index.
"""

IS_CLAIMED_SQL = "ifnull(raw ->> 'is_claimed', 0) IN (1, 'true')"

CLAIMANT_SQL = f"CASE WHEN {IS_CLAIMED_SQL} THEN lower(ifnull(raw ->> 'claimed_by', '')) ELSE '~' END"
"""Claimant of an order; a sort value after all names for an order that nobody has claimed."""

PROGRESS_SQL = f"ifnull(min(1.0, {_PICKED_SQL} / nullif({number_sql('total_quantity')}, 0)), 0.0)"
"""Picked share of an order, from 0 to 1."""

IS_SHORT_SQL = f"(raw ->> 'is_picked') IN (1, 'true') AND {number_sql('picked_quantity')} < {number_sql('quantity')}"
"""Condition for a line closed short of the ordered quantity."""


def is_over_picked_or_moved_sql(row: str = "raw") -> str:
    """Return the condition for a line with excess picks or with goods at locations, to compare the two."""
    picked, ordered, moved = (number_sql(f"{name}quantity", row) for name in ("picked_", "", "moved_"))
    return f"({picked} > {ordered} OR {moved} > 0)"


def _tally(name: str, column: str, table: str) -> str:
    """Return a table with the number of rows for each value of a column, and the triggers that keep it."""
    more = f"INSERT INTO {name} VALUES (new.{column}, 1) ON CONFLICT DO UPDATE SET n = n + 1;"  # noqa: S608 - names of our own
    fewer = f"UPDATE {name} SET n = n - 1 WHERE {column} = old.{column};"  # noqa: S608 - names of our own
    changed = f"new.{column} <> old.{column}"
    return f"""
CREATE TABLE {name} ({column} PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
CREATE TRIGGER {name}_in AFTER INSERT ON {table} BEGIN {more} END;
CREATE TRIGGER {name}_out AFTER DELETE ON {table} BEGIN {fewer} END;
CREATE TRIGGER {name}_on AFTER UPDATE OF {column} ON {table} WHEN {changed} BEGIN {fewer} {more} END;
"""


ORDER_TABLES = f"""
CREATE TABLE orders (
  id INTEGER PRIMARY KEY,
  order_number TEXT NOT NULL UNIQUE,
  state INTEGER NOT NULL,
  pickup TEXT NOT NULL,
  sort TEXT NOT NULL,
  text TEXT NOT NULL,
  label TEXT NOT NULL,
  reference TEXT NOT NULL,
  picked_quantity NUMERIC,
  header_read_began REAL NOT NULL,
  lines_read_began REAL,
  raw TEXT NOT NULL,
  first_read_began REAL NOT NULL DEFAULT 0,
  status TEXT NOT NULL DEFAULT '',
  claimed INTEGER NOT NULL DEFAULT 0,
  customer TEXT NOT NULL DEFAULT '',
  claimant TEXT NOT NULL DEFAULT '~',
  progress REAL NOT NULL DEFAULT 0
);
CREATE INDEX orders_pickup ON orders (pickup, sort, order_number, status);
CREATE INDEX orders_age ON orders (first_read_began, sort, order_number, status);
CREATE INDEX orders_number ON orders (sort, order_number, status);
CREATE INDEX orders_customer ON orders (customer, sort, order_number, status);
CREATE INDEX orders_claimant ON orders (claimant, pickup, sort, order_number, status);
CREATE INDEX orders_progress ON orders (progress, sort, order_number, status);
CREATE INDEX orders_status ON orders (status, pickup, sort, order_number);
CREATE INDEX orders_at_work ON orders (status, claimed, order_number) WHERE state = 0;
CREATE INDEX orders_list
  ON orders (state, pickup, sort, order_number, text, status, claimed, reference, first_read_began);
CREATE VIRTUAL TABLE order_search USING fts5 (
  parts, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0'
);
CREATE TRIGGER orders_gone AFTER DELETE ON orders BEGIN
  DELETE FROM order_search WHERE rowid = old.id;
END;
CREATE TABLE line (
  order_number TEXT NOT NULL,
  line_number INTEGER NOT NULL,
  product_number TEXT NOT NULL,
  raw TEXT NOT NULL,
  in_hand NUMERIC NOT NULL,
  is_inconsistent INTEGER NOT NULL,
  PRIMARY KEY (order_number, line_number)
) WITHOUT ROWID;
CREATE INDEX line_product ON line (product_number);
CREATE INDEX line_in_hand ON line (product_number) WHERE in_hand > 0;
CREATE INDEX line_short ON line (order_number) WHERE {IS_SHORT_SQL};
CREATE INDEX line_inconsistent ON line (order_number, line_number) WHERE is_inconsistent;
CREATE INDEX line_over_picked ON line (order_number) WHERE {is_over_picked_or_moved_sql()};
CREATE TABLE put_down (
  order_number TEXT NOT NULL,
  line_number INTEGER NOT NULL,
  location_code TEXT NOT NULL,
  product_number TEXT NOT NULL,
  quantity TEXT NOT NULL,
  PRIMARY KEY (order_number, line_number, location_code)
) WITHOUT ROWID;
CREATE INDEX put_down_location ON put_down (location_code, product_number, order_number, line_number, quantity);
CREATE TRIGGER line_out AFTER DELETE ON line BEGIN
  DELETE FROM put_down WHERE order_number = old.order_number AND line_number = old.line_number;
END;
CREATE TABLE order_audit (
  order_number TEXT PRIMARY KEY,
  read_began REAL NOT NULL,
  raw TEXT NOT NULL
) WITHOUT ROWID;
{_tally("status_tally", "status", "orders")}
"""  # noqa: S608 - conditions of our own


SCHEMA_VERSION = 46
"""Version of the schema; increase it with every change below."""

ABSENT_ORDERS = "orders_absent"
"""Row of `sync` with the orders that the service lacked: number and time of the question, last one last."""
FEED_ENTRIES = 5000
"""Greatest number of entries in the change feed."""

MAX_KEYED_CHANGES = 100
"""Number of changes at once beyond which one entry without a key covers the whole topic."""

CHANGE_TOPICS = (
    "order",
    "product",
    "surrounding",
    "location",
    "person",
    "store",
    "log",
    "delivery",
    "recount",
    "assignment",
    "absent",
)
"""Topics of the change feed."""

IS_WAREHOUSE_SQL = "ifnull(raw ->> 'isWarhouse', 0) IN (1, 'true')"
AREA_SQL = "ifnull(raw ->> 'areaId', '')"
"""Conditions on warehouse and area of a store; each has an index."""

IS_MISSING_SQL = "received IS NULL OR quantity IS NULL OR received < quantity"
"""Condition for a delivery line that may still expect goods."""

IS_EXCESS_SQL = "received > quantity"
"""Condition for a delivery line of which more was received than announced."""


def _facet_triggers(column: str) -> str:
    """Return the triggers that count the products with each value of a column."""
    into = f"""
  INSERT INTO facet SELECT '{column}', new.{column}, 1 WHERE new.{column} <> '' ON CONFLICT DO UPDATE SET n = n + 1;"""
    out = f"""
  UPDATE facet SET n = n - 1 WHERE kind = '{column}' AND code = old.{column};"""  # noqa: S608 - names of our own
    return f"""
CREATE TRIGGER {column}_in AFTER INSERT ON product WHEN new.{column} <> '' BEGIN{into}
END;
CREATE TRIGGER {column}_out AFTER DELETE ON product WHEN old.{column} <> '' BEGIN{out}
END;
CREATE TRIGGER {column}_on AFTER UPDATE OF {column} ON product WHEN new.{column} <> old.{column} BEGIN{out}{into}
END;
"""


CACHE_TABLES = f"""
CREATE TABLE store (
  store_number TEXT PRIMARY KEY,
  text TEXT NOT NULL,
  raw TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX store_words ON store (store_number, text);
CREATE INDEX store_area ON store ({AREA_SQL});
CREATE INDEX store_warehouse ON store (store_number) WHERE {IS_WAREHOUSE_SQL};
CREATE TABLE store_details (
  store_number TEXT PRIMARY KEY,
  read_began REAL NOT NULL,
  refused TEXT NOT NULL,
  raw TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE product (
  id INTEGER PRIMARY KEY,
  product_number TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  brand TEXT NOT NULL,
  barcode TEXT NOT NULL,
  unit TEXT NOT NULL,
  allow_decimal INTEGER NOT NULL,
  category TEXT NOT NULL DEFAULT '',
  supplier TEXT NOT NULL DEFAULT '',
  family TEXT NOT NULL DEFAULT '',
  marks INTEGER NOT NULL DEFAULT 0,
  text TEXT NOT NULL,
  codes TEXT NOT NULL,
  raw TEXT NOT NULL
);
CREATE INDEX product_name ON product (name, product_number);
CREATE INDEX product_category ON product (category, product_number) WHERE category <> '';
CREATE INDEX product_supplier ON product (supplier, product_number) WHERE supplier <> '';
CREATE INDEX product_family ON product (family, product_number) WHERE family <> '';
CREATE INDEX product_marks ON product (product_number, marks) WHERE marks <> 0;
CREATE TABLE facet (
  kind TEXT NOT NULL,
  code TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (kind, code)
) WITHOUT ROWID;
{_facet_triggers("category")}
{_facet_triggers("supplier")}
CREATE VIRTUAL TABLE search USING fts5 (
  text, content = 'product', content_rowid = 'id', columnsize = 0, tokenize = 'trigram case_sensitive 1'
);
CREATE TRIGGER product_text_out AFTER DELETE ON product BEGIN
  INSERT INTO search (search, rowid, text) VALUES ('delete', old.id, old.text);
END;
CREATE TRIGGER product_text_on AFTER UPDATE OF text ON product WHEN new.text <> old.text BEGIN
  INSERT INTO search (search, rowid, text) VALUES ('delete', old.id, old.text);
  INSERT INTO search (rowid, text) VALUES (new.id, new.text);
END;
CREATE VIRTUAL TABLE search_piece USING fts5vocab (search, instance);
CREATE TABLE stock (
  id INTEGER PRIMARY KEY,
  read_began REAL NOT NULL,
  quantity NUMERIC NOT NULL,
  barcode TEXT NOT NULL,
  raw TEXT NOT NULL,
  expiry_check TEXT NOT NULL DEFAULT '',
  order_level REAL NOT NULL DEFAULT 0
);
CREATE INDEX stock_expiry_check ON stock (expiry_check, id) WHERE expiry_check <> '';
CREATE INDEX product_beginning ON product (substr(text, 1, 24));
CREATE TABLE negative_stock (
  id INTEGER NOT NULL,
  n INTEGER NOT NULL,
  name TEXT NOT NULL,
  product_number TEXT NOT NULL,
  location_code TEXT NOT NULL,
  quantity TEXT NOT NULL,
  PRIMARY KEY (id, n)
) WITHOUT ROWID;
CREATE INDEX negative_stock_list ON negative_stock (name, product_number, n, location_code, quantity);
CREATE TRIGGER product_named AFTER UPDATE OF name ON product WHEN new.name <> old.name BEGIN
  UPDATE negative_stock SET name = new.name WHERE id = new.id;
END;
CREATE TABLE stock_location (
  id INTEGER NOT NULL,
  n INTEGER NOT NULL,
  location_code TEXT NOT NULL,
  quantity REAL,
  has_goods INTEGER NOT NULL,
  PRIMARY KEY (id, n)
) WITHOUT ROWID;
CREATE INDEX stock_location_code ON stock_location (location_code, id);
CREATE TABLE location_tally (
  location_code TEXT PRIMARY KEY,
  products INTEGER NOT NULL,
  quantity REAL NOT NULL,
  unknown INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TRIGGER stock_location_in AFTER INSERT ON stock_location WHEN new.has_goods AND new.location_code <> '' BEGIN
  INSERT INTO location_tally VALUES (new.location_code, 1, ifnull(new.quantity, 0), new.quantity IS NULL)
  ON CONFLICT DO UPDATE SET products = products + 1, quantity = quantity + excluded.quantity,
    unknown = unknown + excluded.unknown;
END;
CREATE TRIGGER stock_location_out AFTER DELETE ON stock_location WHEN old.has_goods BEGIN
  UPDATE location_tally SET products = products - 1, quantity = quantity - ifnull(old.quantity, 0),
    unknown = unknown - (old.quantity IS NULL)
  WHERE location_code = old.location_code;
  DELETE FROM location_tally WHERE location_code = old.location_code AND products = 0;
END;

CREATE TABLE surrounding (
  product_number TEXT PRIMARY KEY,
  read_began REAL NOT NULL,
  refused TEXT NOT NULL,
  raw TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE location (
  location_code TEXT PRIMARY KEY,
  location_order NUMERIC,
  raw TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE tag (
  tag TEXT NOT NULL,
  location_code TEXT NOT NULL,
  PRIMARY KEY (tag, location_code)
) WITHOUT ROWID;
CREATE INDEX tag_location ON tag (location_code);
{_tally("tag_tally", "tag", "tag")}

{ORDER_TABLES}
CREATE TABLE delivery (
  id INTEGER PRIMARY KEY,
  order_number TEXT NOT NULL UNIQUE,
  expected TEXT NOT NULL,
  due TEXT NOT NULL,
  sort TEXT NOT NULL,
  text TEXT NOT NULL,
  codes TEXT NOT NULL,
  read_began REAL NOT NULL,
  raw TEXT NOT NULL,
  is_received INTEGER NOT NULL DEFAULT 0,
  lacks REAL NOT NULL DEFAULT 100
);
CREATE INDEX delivery_lacks ON delivery (lacks) WHERE is_received = 0;
CREATE INDEX delivery_list ON delivery (is_received, due, sort, order_number, text);
CREATE INDEX delivery_received ON delivery (expected, sort, order_number, text) WHERE is_received = 1;
{_tally("delivery_tally", "is_received", "delivery")}
CREATE TABLE delivery_line (
  order_number TEXT NOT NULL,
  line_number INTEGER NOT NULL,
  product_number TEXT NOT NULL,
  quantity NUMERIC,
  received NUMERIC,
  raw TEXT NOT NULL,
  PRIMARY KEY (order_number, line_number)
) WITHOUT ROWID;
CREATE INDEX delivery_line_product ON delivery_line (product_number);
CREATE INDEX delivery_line_barcode ON delivery_line (raw ->> 'barcode') WHERE product_number = '';
CREATE INDEX delivery_line_missing ON delivery_line (product_number) WHERE {IS_MISSING_SQL};
CREATE INDEX delivery_line_excess ON delivery_line (order_number, line_number) WHERE {IS_EXCESS_SQL};
CREATE TABLE receipt (
  id INTEGER PRIMARY KEY,
  order_number TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  import_id NUMERIC NOT NULL,
  raw TEXT NOT NULL,
  text TEXT NOT NULL
);
CREATE INDEX receipt_list ON receipt (import_id DESC, order_number, text);
CREATE INDEX receipt_kind ON receipt (kind, import_id DESC, order_number, text);
{_tally("receipt_tally", "kind", "receipt")}

CREATE TABLE person (
  user TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  badge TEXT NOT NULL,
  text TEXT NOT NULL,
  raw TEXT NOT NULL
) WITHOUT ROWID;

{LOG_TABLES}
CREATE TABLE recount (
  id TEXT PRIMARY KEY,
  product_number TEXT NOT NULL,
  location_code TEXT NOT NULL,
  raw TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE assignment (
  id TEXT PRIMARY KEY,
  n INTEGER NOT NULL,
  raw TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE code (
  code TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  factor TEXT NOT NULL,
  PRIMARY KEY (code, kind, key)
) WITHOUT ROWID;

CREATE TABLE sync (topic TEXT PRIMARY KEY, cursor TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE seen_key (
  topic TEXT NOT NULL,
  generation INTEGER NOT NULL,
  key TEXT NOT NULL,
  PRIMARY KEY (topic, generation, key)
) WITHOUT ROWID;
CREATE TABLE change (seq INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL, key TEXT NOT NULL);
CREATE TABLE link (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  state TEXT NOT NULL DEFAULT 'none',
  last_ok REAL,
  done INTEGER NOT NULL DEFAULT 0,
  total INTEGER NOT NULL DEFAULT 0,
  server TEXT NOT NULL DEFAULT '',
  features TEXT NOT NULL DEFAULT ''
);
INSERT INTO link (id) VALUES (1);
"""  # noqa: S608 - conditions of our own
