"""What a supervisor has to look at: differences of counts, stock that cannot be, orders on which nothing happens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import apsw

from aisle.jobs.base import Json
from aisle.local.cache.logs import utc
from aisle.local.db import fetch
from aisle.local.outbox.remarks import remarks
from aisle.local.reads.goods import prices_of
from aisle.local.reads.logs import is_gone, taken_back
from aisle.local.reads.overlay import Row, decimal
from aisle.local.reads.rows import kept_places, loaded, moment
from aisle.local.reads.silence import last_heard

REVIEWED = "2"
"""interface: review_status, in the numbers of our own service."""

_COUNTED = """
SELECT l.key, l.at, l.product_number, l.app_user_name, l.raw, p.name, m.name FROM log l INDEXED BY log_counted
LEFT JOIN product p ON p.product_number = l.product_number LEFT JOIN person m ON m.user = l.app_user_name
WHERE instr(l.raw, '"counted_quantity"')
"""

_BELOW = """
SELECT p.product_number, p.name, s.raw FROM stock s INDEXED BY stock_below JOIN product p ON p.id = s.id
WHERE instr(s.raw, ':-') ORDER BY p.name, p.product_number
"""

_TOO_MUCH = """
SELECT l.order_number, l.line_number, l.product_number, l.raw, p.name FROM line l INDEXED BY line_too_much
JOIN orders o ON o.order_number = l.order_number LEFT JOIN product p ON p.product_number = l.product_number
WHERE ((l.raw ->> 'picked_quantity') > (l.raw ->> 'quantity') OR (l.raw ->> 'moved_quantity') > 0) AND o.state < 2
ORDER BY l.order_number, l.line_number
"""

_AT_WORK = """
SELECT order_number, CASE WHEN claimed THEN raw ->> 'claimed_on' END, first_began FROM orders INDEXED BY orders_at_work
WHERE state = 0 AND (status = 'partial' OR (status = 'open' AND claimed = 1))
"""


def differences(cache: apsw.Connection, outbox: apsw.Connection) -> list[Row]:
    """Counts of the last days that found something else than the books had, and that nobody has approved or taken back;
    those of the highest value first. `value` is the difference at the price of the product, `known` whether there is
    one."""
    seen = remarks(outbox, "review")
    found = [row for entry in fetch(cache, _COUNTED) if (row := _difference(*entry)) and row["key"] not in seen]
    if dated := [row["at"] for row in found if row["at"]]:
        gone = taken_back(cache, outbox, min(dated))
        found = [row for row in found if not is_gone(row, gone)]
    prices = prices_of(cache, [row["product_number"] for row in found if row["price"] is None])
    for row in found:
        price = prices.get(row["product_number"]) if row["price"] is None else row["price"]
        row["known"] = price is not None
        row["value"] = row["difference"] * (price or Decimal(0))
    return sorted(found, key=lambda row: (-abs(row["value"]), -abs(row["difference"]), row["key"]))


def _difference(
    key: str, at: str, product: str, user: str, raw: str, name: str | None, person: str | None
) -> Row | None:
    entry = loaded(raw)
    if entry.get("counted_quantity") is None or str(entry.get("review_status")) == REVIEWED:
        return None
    counted, expected = decimal(entry["counted_quantity"]), entry.get("expected_quantity")
    difference = decimal(entry.get("quantity")) if expected is None else counted - decimal(expected)
    if not difference or (not user and expected is not None and not decimal(expected)):
        return None  # stock that came with a load of the store was counted by nobody
    price = next((entry[each] for each in ("store_products_price", "price") if entry.get(each)), None)
    return {
        "key": str(key),
        "id": "" if str(key).startswith("#") else str(key),
        "at": str(at),
        "said": str(at),
        "who": str(person or user),
        "app_user_name": str(user),
        "product_number": str(product),
        "label": str(name or product),
        "location_code": str(entry.get("location_code") or ""),
        "counted": counted,
        "expected": None if expected is None else decimal(expected),
        "difference": difference,
        "price": None if price is None else decimal(price),
        "review_status": str(entry.get("review_status") or ""),
    }


def impossible(cache: apsw.Connection) -> list[Row]:
    """Stock that cannot be: `below` none at a place (empty: in all of the store), and more `picked` of a line than was
    ordered, or than its places hold."""
    return [*_below(cache), *_too_much(cache)]


def _below(cache: apsw.Connection) -> Iterator[Row]:
    for product, name, raw in fetch(cache, _BELOW):
        entry = loaded(raw)
        spots: list[tuple[str, Decimal]] = []
        places = entry.get("store_locations")
        for place in places if isinstance(places, list) else ():
            spots.append((str(place.get("store_location_code") or ""), decimal(place.get("quantity"))))
        at_places = sum((quantity for _, quantity in spots), Decimal(0))
        whole = decimal(entry.get("most_likely_quantity"))
        if whole < at_places or (whole < 0 and not spots):
            spots.insert(0, ("", whole - at_places))
        for place, quantity in spots:
            if quantity < 0:
                yield _cannot("below", str(product), str(name or product), place, quantity)


def _too_much(cache: apsw.Connection) -> Iterator[Row]:
    for order, line, product, raw, name in fetch(cache, _TOO_MUCH):
        entry = loaded(raw)
        picked, moved = decimal(entry.get("picked_quantity")), decimal(entry.get("moved_quantity"))
        ordered = decimal(entry.get("quantity"))
        kept = sum((decimal(place["quantity"]) for place in kept_places(entry)), Decimal(0))
        told = isinstance(entry.get("store_locations"), list) and bool(entry["store_locations"])
        label = str(entry.get("description") or name or product)
        said = {"order_number": str(order), "line_number": int(line), "picked": picked}
        if picked > ordered:
            yield {**_cannot("more", str(product), label, "", picked - ordered), **said, "of": ordered}
        elif told and moved > kept:
            yield {**_cannot("missing", str(product), label, "", moved - kept), **said, "of": kept}


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
