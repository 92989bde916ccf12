"""Orders and their lines in cache.db: the tables, what they are found by, and the counts that are kept of them."""

from __future__ import annotations

OPEN, PICKED, CLOSED = 0, 1, 2
"""States of an order in the table: to be picked; all picked; finished or rejected."""

SHORTEST = 2
"""Letters of a part of a word that orders are found by in their index."""

STATUS = """
CASE state WHEN 1 THEN 'picked' WHEN 0 THEN CASE WHEN picked_quantity > 0 THEN 'partial' ELSE 'open' END
ELSE CASE WHEN ifnull(raw ->> 'is_active', 1) IN (1, 'true') AND ifnull(raw ->> 'is_rejected', 0) IN (1, 'true')
  THEN 'rejected' ELSE 'finished' END END
"""
"""The words of our own service for the state of an order (`fulfillment_status`), from what every service says.

No column that SQLite itself generates: an index with such a one never stands for its table."""

CLAIMED = "ifnull(raw ->> 'is_claimed', 0) IN (1, 'true')"

_SHORT = "(raw ->> 'is_picked') IN (1, 'true') AND (raw ->> 'picked_quantity') < (raw ->> 'quantity')"
"""A line that is closed with less than was ordered."""

_TOO_MUCH = "(raw ->> 'picked_quantity') > (raw ->> 'quantity') OR (raw ->> 'moved_quantity') > 0"
"""A line of which more is picked than was ordered, or whose goods lie somewhere, where they can be compared."""


def _due(row: str, more: int) -> str:
    """Counts an order that is to be picked, or counts it no more, on its day; a day without one has no row."""
    added = f"""INSERT INTO due_tally SELECT {row}.status, substr({row}.pickup, 1, 10), {more}
  WHERE {row}.status IN ('open', 'partial') ON CONFLICT DO UPDATE SET n = n + excluded.n;"""
    swept = f"""
  DELETE FROM due_tally WHERE status = {row}.status AND day = substr({row}.pickup, 1, 10) AND n = 0;"""  # noqa: S608
    return added + (swept if more < 0 else "")


ORDERS = f"""
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
  header_began REAL NOT NULL,
  lines_began REAL,
  raw TEXT NOT NULL,
  first_began REAL NOT NULL DEFAULT 0,
  status TEXT NOT NULL DEFAULT '',
  claimed INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX orders_pickup ON orders (pickup, sort, order_number, status);
CREATE INDEX orders_age ON orders (first_began, sort, order_number, status);
CREATE INDEX orders_number ON orders (sort, order_number, status);
CREATE INDEX orders_at_work ON orders (status, claimed, order_number) WHERE state = 0;
CREATE INDEX orders_list
  ON orders (state, pickup, sort, order_number, text, status, claimed, reference, first_began);
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
  wrong INTEGER NOT NULL,
  PRIMARY KEY (order_number, line_number)
) WITHOUT ROWID;
CREATE INDEX line_product ON line (product_number);
CREATE INDEX line_in_hand ON line (product_number) WHERE in_hand > 0;
CREATE INDEX line_short ON line (order_number) WHERE {_SHORT};
CREATE INDEX line_wrong ON line (order_number, line_number) WHERE wrong;
CREATE INDEX line_too_much ON line (order_number) WHERE {_TOO_MUCH};
CREATE TABLE held (
  order_number TEXT NOT NULL,
  line_number INTEGER NOT NULL,
  location_code TEXT NOT NULL,
  product_number TEXT NOT NULL,
  quantity TEXT NOT NULL,
  PRIMARY KEY (order_number, line_number, location_code)
) WITHOUT ROWID;
CREATE INDEX held_place ON held (location_code, product_number, order_number, line_number, quantity);
CREATE TRIGGER line_out AFTER DELETE ON line BEGIN
  DELETE FROM held WHERE order_number = old.order_number AND line_number = old.line_number;
END;
CREATE TABLE due_tally (
  status TEXT NOT NULL,
  day TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (status, day)
) WITHOUT ROWID;
CREATE TABLE tally (state INTEGER PRIMARY KEY, n INTEGER NOT NULL);
INSERT INTO tally VALUES (0, 0), (1, 0), (2, 0);
CREATE TRIGGER orders_in AFTER INSERT ON orders BEGIN
  UPDATE tally SET n = n + 1 WHERE state = new.state;
END;
CREATE TRIGGER orders_out AFTER DELETE ON orders BEGIN
  UPDATE tally SET n = n - 1 WHERE state = old.state;
END;
CREATE TRIGGER orders_on AFTER UPDATE OF state ON orders WHEN new.state <> old.state BEGIN
  UPDATE tally SET n = n - 1 WHERE state = old.state;
  UPDATE tally SET n = n + 1 WHERE state = new.state;
END;
CREATE TABLE status_tally (status TEXT PRIMARY KEY, n INTEGER NOT NULL);
INSERT INTO status_tally VALUES ('open', 0), ('partial', 0), ('picked', 0), ('rejected', 0), ('finished', 0);
CREATE TRIGGER status_in AFTER INSERT ON orders BEGIN
  UPDATE status_tally SET n = n + 1 WHERE status = new.status;
END;
CREATE TRIGGER status_out AFTER DELETE ON orders BEGIN
  UPDATE status_tally SET n = n - 1 WHERE status = old.status;
END;
CREATE TRIGGER status_on AFTER UPDATE OF status ON orders WHEN new.status <> old.status BEGIN
  UPDATE status_tally SET n = n - 1 WHERE status = old.status;
  UPDATE status_tally SET n = n + 1 WHERE status = new.status;
END;
CREATE TRIGGER due_in AFTER INSERT ON orders WHEN new.status IN ('open', 'partial') BEGIN
  {_due("new", 1)}
END;
CREATE TRIGGER due_out AFTER DELETE ON orders WHEN old.status IN ('open', 'partial') BEGIN
  {_due("old", -1)}
END;
CREATE TRIGGER due_on AFTER UPDATE OF status, pickup ON orders
WHEN new.status <> old.status OR new.pickup <> old.pickup BEGIN
  {_due("old", -1)}
  {_due("new", 1)}
END;
"""  # noqa: S608 - conditions of our own
