"""The tables of cache.db. It can be rebuilt, so there is one version: a file of another one is emptied first."""

from __future__ import annotations

from aisle.local.cache.schema_log import LOG
from aisle.local.cache.schema_orders import ORDERS

VERSION = 29
"""Counted up with every change below."""

ABSENT = "orders_absent"
"""The row of `sync` with the orders that the service did not have: number and when it was asked, the last one last."""
FEED = 5000
"""Entries of the change feed that are kept."""

MANY = 100
"""More changes than this at once are one entry without a key: everything of that topic."""

TOPICS = ("order", "product", "surrounding", "location", "person", "store", "log", "delivery", "recount", "assignment")
"""Topics of the change feed."""

WAREHOUSE = "ifnull(raw ->> 'isWarhouse', 0) IN (1, 'true')"
AREA = "ifnull(raw ->> 'areaId', '')"
"""What a store is, and where, as conditions that have an index."""

MISSING = "received IS NULL OR quantity IS NULL OR received < quantity"
"""A line of a delivery of which something may have to come yet."""


def _faceted(column: str) -> str:
    """Triggers that keep how many products have each value of a column."""
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


CACHE = f"""
CREATE TABLE store (
  store_number TEXT PRIMARY KEY,
  text TEXT NOT NULL,
  raw TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX store_words ON store (store_number, text);
CREATE INDEX store_area ON store ({AREA});
CREATE INDEX store_warehouse ON store (store_number) WHERE {WAREHOUSE};
CREATE TABLE store_said (
  store_number TEXT PRIMARY KEY,
  began REAL NOT NULL,
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
{_faceted("category")}
{_faceted("supplier")}
CREATE VIRTUAL TABLE search USING fts5 (
  text, content = 'product', content_rowid = 'id', columnsize = 0, tokenize = 'trigram case_sensitive 1'
);
CREATE VIRTUAL TABLE search_piece USING fts5vocab (search, instance);
CREATE TABLE stock (
  id INTEGER PRIMARY KEY,
  began REAL NOT NULL,
  quantity NUMERIC NOT NULL,
  barcode TEXT NOT NULL,
  raw TEXT NOT NULL
);
CREATE INDEX product_beginning ON product (substr(text, 1, 24));
CREATE TABLE below (
  id INTEGER NOT NULL,
  n INTEGER NOT NULL,
  name TEXT NOT NULL,
  product_number TEXT NOT NULL,
  location_code TEXT NOT NULL,
  quantity TEXT NOT NULL,
  PRIMARY KEY (id, n)
) WITHOUT ROWID;
CREATE INDEX below_list ON below (name, product_number, n, location_code, quantity);
CREATE TABLE below_tally (n INTEGER NOT NULL);
INSERT INTO below_tally VALUES (0);
CREATE TRIGGER below_in AFTER INSERT ON below BEGIN UPDATE below_tally SET n = n + 1; END;
CREATE TRIGGER below_out AFTER DELETE ON below BEGIN UPDATE below_tally SET n = n - 1; END;
CREATE TRIGGER product_named AFTER UPDATE OF name ON product WHEN new.name <> old.name BEGIN
  UPDATE below SET name = new.name WHERE id = new.id;
END;
CREATE TABLE place (
  id INTEGER NOT NULL,
  n INTEGER NOT NULL,
  location_code TEXT NOT NULL,
  quantity REAL,
  lies INTEGER NOT NULL,
  PRIMARY KEY (id, n)
) WITHOUT ROWID;
CREATE INDEX place_location ON place (location_code, id);
CREATE TABLE place_tally (
  location_code TEXT PRIMARY KEY,
  products INTEGER NOT NULL,
  quantity REAL NOT NULL,
  unsaid INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TRIGGER place_in AFTER INSERT ON place WHEN new.lies AND new.location_code <> '' BEGIN
  INSERT INTO place_tally VALUES (new.location_code, 1, ifnull(new.quantity, 0), new.quantity IS NULL)
  ON CONFLICT DO UPDATE SET products = products + 1, quantity = quantity + excluded.quantity,
    unsaid = unsaid + excluded.unsaid;
END;
CREATE TRIGGER place_out AFTER DELETE ON place WHEN old.lies BEGIN
  UPDATE place_tally SET products = products - 1, quantity = quantity - ifnull(old.quantity, 0),
    unsaid = unsaid - (old.quantity IS NULL)
  WHERE location_code = old.location_code;
  DELETE FROM place_tally WHERE location_code = old.location_code AND products = 0;
END;

CREATE TABLE surrounding (
  product_number TEXT PRIMARY KEY,
  began REAL NOT NULL,
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
CREATE TABLE tag_tally (tag TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
CREATE TRIGGER tag_in AFTER INSERT ON tag BEGIN
  INSERT INTO tag_tally VALUES (new.tag, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER tag_out AFTER DELETE ON tag BEGIN
  UPDATE tag_tally SET n = n - 1 WHERE tag = old.tag;
END;

{ORDERS}
CREATE TABLE delivery (
  id INTEGER PRIMARY KEY,
  order_number TEXT NOT NULL UNIQUE,
  expected TEXT NOT NULL,
  due TEXT NOT NULL,
  sort TEXT NOT NULL,
  text TEXT NOT NULL,
  codes TEXT NOT NULL,
  began REAL NOT NULL,
  raw TEXT NOT NULL,
  came INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX delivery_list ON delivery (came, due, sort, order_number, text);
CREATE INDEX delivery_came ON delivery (expected, sort, order_number, text) WHERE came = 1;
CREATE TABLE delivery_tally (came INTEGER PRIMARY KEY, n INTEGER NOT NULL);
INSERT INTO delivery_tally VALUES (0, 0), (1, 0);
CREATE TRIGGER delivery_in AFTER INSERT ON delivery BEGIN
  UPDATE delivery_tally SET n = n + 1 WHERE came = new.came;
END;
CREATE TRIGGER delivery_out AFTER DELETE ON delivery BEGIN
  UPDATE delivery_tally SET n = n - 1 WHERE came = old.came;
END;
CREATE TRIGGER delivery_on AFTER UPDATE OF came ON delivery WHEN new.came <> old.came BEGIN
  UPDATE delivery_tally SET n = n - 1 WHERE came = old.came;
  UPDATE delivery_tally SET n = n + 1 WHERE came = new.came;
END;
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
CREATE INDEX delivery_line_missing ON delivery_line (product_number) WHERE {MISSING};
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
CREATE TABLE receipt_tally (kind TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
CREATE TRIGGER receipt_in AFTER INSERT ON receipt BEGIN
  INSERT INTO receipt_tally VALUES (new.kind, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER receipt_out AFTER DELETE ON receipt BEGIN
  UPDATE receipt_tally SET n = n - 1 WHERE kind = old.kind;
END;
CREATE TRIGGER receipt_on AFTER UPDATE OF kind ON receipt WHEN new.kind <> old.kind BEGIN
  UPDATE receipt_tally SET n = n - 1 WHERE kind = old.kind;
  INSERT INTO receipt_tally VALUES (new.kind, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;

CREATE TABLE person (
  user TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  badge TEXT NOT NULL,
  text TEXT NOT NULL,
  raw TEXT NOT NULL
) WITHOUT ROWID;

{LOG}
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
CREATE TABLE seen (
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
