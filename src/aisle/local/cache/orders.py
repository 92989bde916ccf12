"""Orders and their lines into the cache."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from aisle.code_forms import index_keys
from aisle.local.cache.codes import add_codes, drop_codes
from aisle.local.cache.order_rows import NO_DATE, LineRow, OrderRow, pickup_of
from aisle.local.cache.products import chunks, names
from aisle.local.cache.rows import forms
from aisle.local.cache.schema_orders import CLAIMED, SHORTEST, STATUS
from aisle.local.db import fetch
from aisle.scan.meaning import ORDER, PRODUCT, REFERENCE
from aisle.tuples import NamedTuple


class Read(NamedTuple):
    """One order of an answer."""

    header: OrderRow
    lines: list[LineRow] | None
    """None where the answer had headers only."""


class _Known(NamedTuple):
    """What the cache has of an order."""

    header_began: float
    lines_began: float | None
    raw: str
    reference: str
    pickup: str
    text: str


PART = 5000
"""So many rows are in memory at once when all are looked through."""

LONGEST = 40
"""Letters of a word of which parts are kept: a number is shorter."""


def parts_of(text: str) -> str:
    """All that the words of a text end with, as words: what begins one of these is somewhere in the text."""
    words = dict.fromkeys(text.split())
    return " ".join(word[at:] for word in words for at in range(max(1, min(len(word), LONGEST) - SHORTEST + 1)))


_UPSERT = """
INSERT INTO orders (order_number, state, pickup, sort, text, label, reference, picked_quantity, raw, header_began,
  lines_began, first_began)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (order_number) DO UPDATE SET
  state = excluded.state, pickup = excluded.pickup, sort = excluded.sort, text = excluded.text, label = excluded.label,
  reference = excluded.reference, raw = excluded.raw, header_began = excluded.header_began,
  picked_quantity = ifnull(excluded.picked_quantity, picked_quantity),
  lines_began = ifnull(excluded.lines_began, lines_began)
"""


def write_orders(connection: apsw.Connection, reads: Sequence[Read], began: float) -> tuple[str, ...]:
    """Writes orders inside a transaction; the numbers of those that changed.

    `began` is the moment at which the read began. What a later read has brought is never overwritten by an earlier one.
    """
    changed: list[str] = []
    for chunk in chunks(reads):
        known = _known(connection, [read.header.order_number for read in chunk])
        bulk = _Orders(connection, began)
        for read in {read.header.order_number: read for read in chunk}.values():
            if bulk.add(read, known.get(read.header.order_number)):
                changed.append(read.header.order_number)
        bulk.write()
    return tuple(changed)


_STATED = f"""
UPDATE orders SET status = {STATUS}, claimed = {CLAIMED}
WHERE order_number IN (SELECT value FROM json_each(?)) AND (status <> {STATUS} OR claimed <> {CLAIMED})
"""  # noqa: S608 - conditions of our own


_SOUGHT = """
INSERT OR REPLACE INTO order_search (rowid, parts) SELECT o.id, t.parts FROM (SELECT ? AS parts, ? AS number) t
JOIN orders o ON o.order_number = t.number
"""


_HELD = '"customer_order_number"'
"""Stands in every line whose goods lie somewhere for an order."""


class _Orders:
    """Orders gathered for a bulk write."""

    def __init__(self, connection: apsw.Connection, began: float) -> None:
        self._db = connection
        self._began = began
        self._headers: list[tuple[Any, ...]] = []
        self._touched: list[tuple[float, float | None, int | float | None, str]] = []
        self._lines: list[tuple[Any, ...]] = []
        self._held: list[tuple[Any, ...]] = []
        self._carried: list[tuple[str, int]] = []
        """Lines whose goods lay somewhere and may lie elsewhere now."""
        self._relined: list[tuple[str]] = []
        self._codes: list[tuple[str, str, str]] = []
        self._gone_lines: list[tuple[str, int]] = []
        self._found: set[tuple[str, str]] = set()
        """Numbers and barcodes, and the products that lines say they are of."""
        self._gone_codes: list[tuple[str, str, str]] = []
        self._before: dict[str, list[tuple[int, str]]] = {}
        self._texts: list[tuple[str, str]] = []

    def add(self, read: Read, old: _Known | None) -> bool:
        """True when the order says something new."""
        header, lines = read
        if old is not None and lines is not None and self._began < (old.lines_began or 0):
            lines = None
        relined = lines is not None and self._reline(header.order_number, lines, old)
        lines_began = None if lines is None else self._began
        stale = old is not None and self._began < old.header_began
        if stale or (old is not None and old.raw == header.raw):
            began = old.header_began if old is not None and stale else self._began
            self._touched.append(
                (began, lines_began, None if lines is None else header.picked_quantity, header.order_number)
            )
            return relined
        if old is not None and header.pickup == NO_DATE:
            header = header._replace(pickup=old.pickup)
        self._headers.append((*header, self._began, lines_began, self._began))
        self._name(header, old)
        return True

    def _reline(self, number: str, lines: list[LineRow], old: _Known | None) -> bool:
        """Replaces the lines of an order that differ: each is in indexes, and mostly it is one that somebody picks."""
        known = old is not None and old.lines_began is not None
        before: dict[int, str] = {}
        if known:
            before = dict(fetch(self._db, "SELECT line_number, raw FROM line WHERE order_number = ?", number))
        else:
            self._relined.append((number,))
        fresh = [line for line in lines if before.get(line.line_number) != line.raw]
        gone = before.keys() - {line.line_number for line in lines}
        if known and not (fresh or gone):
            return False
        self._gone_lines += [(number, line_number) for line_number in gone]
        self._carried += [(number, line.line_number) for line in fresh if _HELD in before.get(line.line_number, "")]
        self._lines += [line[:6] for line in fresh]
        self._held += [(number, line.line_number, line.product_number, *spot) for line in fresh for spot in line.held]
        self._found.update((line.product_number, line.product_number) for line in lines if line.product_number)
        self._found.update((line.barcode, line.product_number) for line in lines if line.barcode)
        return True

    def _name(self, header: OrderRow, old: _Known | None) -> None:
        number = header.order_number
        if old is None or old.text != header.text:
            self._texts.append((parts_of(header.text), number))
        if old is None:
            self._codes += [(code, ORDER, number) for code in index_keys(number)]
        elif old.reference != header.reference:
            self._gone_codes += [(code, REFERENCE, number) for code in index_keys(old.reference)]
        if old is None or old.reference != header.reference:
            self._codes += [(code, REFERENCE, number) for code in index_keys(header.reference)]

    def _product_codes(self) -> list[tuple[str, str, str]]:
        """What a line says of its product's codes: with it an order can be picked before the catalogue is here."""
        return sorted((code, PRODUCT, number) for text, number in self._found for code in forms(text))

    def write(self) -> None:
        """All at once."""
        many = self._db.executemany
        many(_UPSERT, self._headers)
        many(_SOUGHT, self._texts)
        many(
            "UPDATE orders SET header_began = ?, lines_began = ifnull(?, lines_began),"
            " picked_quantity = ifnull(?, picked_quantity) WHERE order_number = ?",
            self._touched,
        )
        self._db.execute(_STATED, (names([*(row[0] for row in self._headers), *(row[3] for row in self._touched)]),))
        many("DELETE FROM line WHERE order_number = ?", self._relined)
        many("DELETE FROM line WHERE order_number = ? AND line_number = ?", self._gone_lines)
        many("DELETE FROM held WHERE order_number = ? AND line_number = ?", self._carried)
        many(
            "INSERT OR REPLACE INTO line (order_number, line_number, product_number, raw, in_hand, wrong)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            self._lines,
        )
        many(
            "INSERT OR REPLACE INTO held (order_number, line_number, product_number, location_code, quantity)"
            " VALUES (?, ?, ?, ?, ?)",
            self._held,
        )
        drop_codes(self._db, self._gone_codes)
        many("INSERT OR IGNORE INTO code (code, kind, key, factor) VALUES (?, ?, ?, '1')", self._product_codes())
        add_codes(self._db, self._codes)


def _known(connection: apsw.Connection, numbers: Iterable[str]) -> dict[str, _Known]:
    rows = fetch(
        connection,
        "SELECT o.order_number, o.header_began, o.lines_began, o.raw, o.reference, o.pickup, o.text"
        " FROM json_each(?) e JOIN orders o ON o.order_number = e.value",
        names(numbers),
    )
    return {number: _Known(*rest) for number, *rest in rows}


_DATED = """
SELECT o.id, o.pickup, o.raw ->> 'pickup_date',
  (SELECT json_group_array(l.raw ->> 'pickup_date') FROM line l WHERE l.order_number = o.order_number)
FROM orders o WHERE o.id > ? ORDER BY o.id LIMIT ?
"""


def date_orders(connection: apsw.Connection) -> int:
    """Computes anew when orders are picked up, in the zone in which this process works; how many are different."""
    last, count = 0, 0
    while rows := fetch(connection, _DATED, last, PART):
        last = rows[-1][0]
        found = ((pickup_of(_text(said), map(_text, json.loads(lines))), old, id_) for id_, old, said, lines in rows)
        changed = [(new, id_) for new, old, id_ in found if new != old]
        connection.executemany("UPDATE orders SET pickup = ? WHERE id = ?", changed)
        count += len(changed)
    return count


def _text(said: object) -> str:
    return "" if said is None else str(said)


def drop_orders(connection: apsw.Connection, numbers: Sequence[str]) -> tuple[str, ...]:
    """Deletes orders with all that hangs on them; those that were there."""
    rows = fetch(
        connection,
        "SELECT order_number, reference FROM orders WHERE order_number IN (SELECT value FROM json_each(?))",
        names(numbers),
    )
    codes = [(code, ORDER, number) for number, _ in rows for code in index_keys(number)]
    codes += [(code, REFERENCE, number) for number, reference in rows for code in index_keys(reference)]
    gone = [(number,) for number, _ in rows]
    drop_codes(connection, codes)
    connection.executemany("DELETE FROM line WHERE order_number = ?", gone)
    connection.executemany("DELETE FROM orders WHERE order_number = ?", gone)
    return tuple(str(number) for number, _ in rows)


def unseen_orders(connection: apsw.Connection, generation: int) -> tuple[str, ...]:
    """The open and picked orders in the cache that a pass has not seen."""
    rows = fetch(
        connection,
        "SELECT o.order_number FROM orders o WHERE o.state < 2 AND NOT EXISTS (SELECT 1 FROM seen s"
        " WHERE s.topic = 'order' AND s.generation = ? AND s.key = o.order_number) ORDER BY o.sort",
        generation,
    )
    return tuple(str(number) for (number,) in rows)
