"""What a supervisor has to look at: differences of counts, stock that cannot be, orders on which nothing happens."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import apsw

from aisle.jobs.base import Json
from aisle.jobs.codec import to_text
from aisle.jobs.store_time import utc
from aisle.local.cache.differences import difference_of, price_said
from aisle.local.cache.order_rows import wrong_of
from aisle.local.cache.prices import prices_of
from aisle.local.db import fetch
from aisle.local.outbox.remarks import remarks
from aisle.local.reads.logs import taken_back_here
from aisle.local.reads.ordered import Key, stepped
from aisle.local.reads.overdrawn import Overdraw, Overdrawn
from aisle.local.reads.overlay import Row, decimal
from aisle.local.reads.rows import Result, loaded, moment, summed, window
from aisle.local.reads.silence import last_heard
from aisle.tuples import NamedTuple

SIZE = 50
"""Rows of a window when nobody says how many."""

_ENTRIES = """
SELECT l.key, l.at, l.product_number, l.app_user_name, l.raw, p.name, m.name FROM json_each(?) e
JOIN log l ON l.key = e.value LEFT JOIN product p ON p.product_number = l.product_number
LEFT JOIN person m ON m.user = l.app_user_name ORDER BY e.key
"""
_LISTED = "SELECT key FROM difference WHERE gone = 0"
_UNSEEN = " AND key NOT IN (SELECT value FROM json_each(?))"
_BY = "ORDER BY worth {way}, size {way}, key {other}"
_SETTLED = """
SELECT d.key, d.worth FROM difference d WHERE d.gone = 0 AND d.key IN (
  SELECT value FROM json_each(?1)
  UNION SELECT n.key FROM json_each(?2) e JOIN difference n ON n.number_name = e.value AND n.number_name <> ''
  UNION SELECT n.key FROM json_each(?2) e JOIN difference n ON n.moment_name = e.value AND n.moment_name <> ''
)
"""

_BELOW = """
SELECT product_number, name, location_code, quantity FROM below
ORDER BY name {way}, product_number {way}, n {way} LIMIT ? OFFSET ?
"""
_WRONG = """
FROM line l INDEXED BY line_wrong JOIN orders o ON o.order_number = l.order_number
LEFT JOIN product p ON p.product_number = l.product_number WHERE l.wrong AND o.state < 2
"""

_AT_WORK = """
SELECT order_number, CASE WHEN claimed THEN raw ->> 'claimed_on' END, first_began FROM orders INDEXED BY orders_at_work
WHERE state = 0 AND status = 'partial'
UNION ALL
SELECT order_number, raw ->> 'claimed_on', first_began FROM orders INDEXED BY orders_at_work
WHERE state = 0 AND status = 'open' AND claimed = 1
"""
"""As two: asked for both at once, SQLite goes through all open orders."""


class Settled(NamedTuple):
    """Differences of the cache that this host knows to be settled."""

    keys: list[str]
    worth: float


def differences(cache: apsw.Connection, outbox: apsw.Connection, args: Mapping[str, Json]) -> Result:
    """Counts of the last days that found something else than the books had, and that nobody has approved or taken back;
    those of the highest value first. `value` is the difference at the price of the product, `known` whether there is
    one. A window, or those of these `keys`."""
    settled = _settled(cache, outbox)
    hidden = [to_text(settled.keys)] if settled.keys else []
    among = f"{_LISTED}{_UNSEEN if hidden else ''}"
    if args.get("keys"):
        sql = f"{among} AND key IN (SELECT value FROM json_each(?)) {_BY.format(way='DESC', other='ASC')}"  # noqa: S608
        rows = fetch(cache, sql, *hidden, to_text(list(args["keys"])))
        return _found(cache, [str(key) for (key,) in rows]), len(rows)

    def read(from_end: bool, count: int, skip: int) -> list[Key]:
        by = _BY.format(way="ASC", other="DESC") if from_end else _BY.format(way="DESC", other="ASC")
        return fetch(cache, f"{among} {by} LIMIT ? OFFSET ?", *hidden, count, skip)

    total, _ = worth(cache, settled)
    keys = stepped(read, total, *window(args, SIZE))
    return _found(cache, [str(key) for (key,) in keys]), total


def to_look_at(cache: apsw.Connection, outbox: apsw.Connection) -> tuple[int, Decimal]:
    """How many differences there are, and what they are worth together."""
    return worth(cache, _settled(cache, outbox))


def worth(cache: apsw.Connection, settled: Settled) -> tuple[int, Decimal]:
    """The same without those."""
    ((n, sum_),) = fetch(cache, "SELECT n, worth FROM difference_tally")
    return int(n) - len(settled.keys), summed(max(0.0, float(sum_ - settled.worth)))


def _settled(cache: apsw.Connection, outbox: apsw.Connection) -> Settled:
    """What was approved here, and what was taken back here and is not in the log yet."""
    ((first,),) = fetch(cache, "SELECT min(at) FROM difference WHERE gone = 0 AND at <> ''")
    back = taken_back_here(outbox, str(first)) if first else set()
    seen = remarks(outbox, "review")
    found = fetch(cache, _SETTLED, to_text(list(seen)), to_text(list(back))) if seen or back else []
    return Settled([str(key) for key, _ in found], sum(each for _, each in found))


def _found(cache: apsw.Connection, keys: list[str]) -> list[Row]:
    """The rows of these differences, in their order."""
    rows = [_difference(*entry) for entry in fetch(cache, _ENTRIES, to_text(keys))]
    prices = prices_of(cache, {row["product_number"] for row in rows if row["price"] is None})
    for row in rows:
        price = prices.get(row["product_number"]) if row["price"] is None else row["price"]
        row["known"] = price is not None
        row["value"] = row["difference"] * (price or Decimal(0))
    return rows


def _difference(key: str, at: str, product: str, user: str, raw: str, name: str | None, person: str | None) -> Row:
    entry = loaded(raw)
    price, expected = price_said(entry), entry.get("expected_quantity")
    return {
        "key": str(key),
        "at": str(at),
        "who": str(person or user),
        "product_number": str(product),
        "label": str(name or product),
        "location_code": str(entry.get("location_code") or ""),
        "counted": decimal(entry["counted_quantity"]),
        "expected": None if expected is None else decimal(expected),
        "difference": difference_of(entry, user) or Decimal(0),
        "price": None if price is None else decimal(price),
        "review_status": str(entry.get("review_status") or ""),
    }


def impossible(cache: apsw.Connection, overdrawn: Overdrawn, args: Mapping[str, Json]) -> Result:
    """Stock that cannot be: `below` none at a place (empty: in all of the store), more `picked` of a line than was
    ordered, or than its places hold, and more in hand for orders than there was (`overdrawn`). A window, or those of
    these `keys`."""
    below, wrong = _impossible(cache)
    drawn = [
        _cannot("overdrawn", each.product_number, each.name, "", decimal(each.more)) for each in overdrawn.of(cache)
    ]
    total = below + wrong + len(drawn)
    if args.get("keys"):
        all_ = (*_below(cache, 0, below, below), *_wrong(cache, 0, wrong), *drawn)
        rows = [row for row in all_ if row["key"] in args["keys"]]
        return rows, len(rows)
    first, size = window(args, SIZE)
    rows = _below(cache, first, size, below)
    rows += _wrong(cache, max(0, first - below), size - len(rows)) if len(rows) < size else []
    start = max(0, first - below - wrong)
    rows += drawn[start : start + size - len(rows)]
    return rows, total


def cannot_be(cache: apsw.Connection, overdrawn: Overdrawn) -> int:
    """How many of them there are."""
    return sum(_impossible(cache)) + len(overdrawn.of(cache))


def _impossible(cache: apsw.Connection) -> tuple[int, int]:
    ((below,),) = fetch(cache, "SELECT n FROM below_tally")
    ((wrong,),) = fetch(cache, f"SELECT count(*) {_WRONG}")
    return int(below), int(wrong)


def _below(cache: apsw.Connection, first: int, size: int, total: int) -> list[Row]:
    def read(from_end: bool, count: int, skip: int) -> list[Key]:
        return fetch(cache, _BELOW.format(way="DESC" if from_end else "ASC"), count, skip)

    return [
        _cannot("below", str(product), str(name or product), str(place), decimal(quantity))
        for product, name, place, quantity in stepped(read, total, first, size)
    ]


def _wrong(cache: apsw.Connection, first: int, size: int) -> list[Row]:
    sql = f"""SELECT l.order_number, l.line_number, l.product_number, l.raw, p.name {_WRONG}
      ORDER BY l.order_number, l.line_number LIMIT ? OFFSET ?"""
    return [_too_much(*found) for found in fetch(cache, sql, size, first)]


def _too_much(order: str, line: int, product: str, raw: str, name: str | None) -> Row:
    entry = loaded(raw)
    kind, quantity, of = wrong_of(entry) or ("more", Decimal(0), Decimal(0))
    label = str(entry.get("description") or name or product)
    said = {"order_number": str(order), "line_number": int(line), "picked": decimal(entry.get("picked_quantity"))}
    return {**_cannot(kind, str(product), label, "", quantity), **said, "of": of}


def _too_many_in_hand(found: Overdraw) -> Row:
    return _cannot("overdrawn", found.product_number, found.name, "", decimal(found.more))


def _cannot(kind: str, product: str, label: str, place: str, quantity: Decimal) -> Row:
    return {
        "key": f"{kind}/{product}/{place}",
        "kind": kind,
        "product_number": product,
        "label": label,
        "location_code": place,
        "quantity": quantity,
        "order_number": "",
        "line_number": 0,
        "picked": Decimal(0),
        "of": Decimal(0),
    }


def stuck(cache: apsw.Connection, outbox: apsw.Connection, args: Mapping[str, Json]) -> list[str]:
    """The orders that somebody has begun or claimed and of which nothing was heard for so many `minutes` at `now`, the
    longest silence first. Where nobody ever heard of one, it is as silent as it is old here."""
    since = datetime.fromisoformat(str(args["now"])).astimezone(UTC) - timedelta(minutes=float(args["minutes"]))
    found = fetch(cache, _AT_WORK)
    heard = last_heard(cache, outbox, [str(number) for number, _, _ in found])
    silent = []
    for number, claimed_on, seen in found:
        last = max(utc(str(claimed_on or "")), heard.get(number, "")) or utc(moment(seen))
        if last < utc(since.isoformat()):
            silent.append((last, str(number)))
    return [number for _, number in sorted(silent)]
