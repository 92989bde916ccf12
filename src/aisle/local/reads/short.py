"""What a shortage asks: where else some of a product lies that no order holds, why lines were short before, and what
the service understands beyond the interface.

interface: Store product stock entry, Line location, Customer order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

import apsw

from aisle.jobs.base import Json
from aisle.local.db import fetch
from aisle.local.reads.overlay import Row, decimal
from aisle.local.reads.overlay_goods import Pending, lay_held
from aisle.local.reads.places import began_of
from aisle.local.reads.rows import Result, loaded, place_entries, pools
from aisle.local.reads.walk import Walk
from aisle.local.session.people import announced

RECENT = 300
"""So many orders of each state are looked through for reasons."""

_HELD = """
SELECT l.order_number, l.line_number, l.raw FROM line l JOIN orders o ON o.order_number = l.order_number
WHERE l.product_number = ? AND o.state < 2 AND instr(l.raw, '"customer_order_number"')
ORDER BY l.order_number, l.line_number
"""

_ORDER_REASONS = """
SELECT raw ->> 'rejection_reason_code', raw ->> 'rejection_reason_code_description' FROM (
  SELECT raw FROM orders WHERE state = ? ORDER BY pickup DESC LIMIT ?
) WHERE raw ->> 'rejection_reason_code' <> '' AND raw ->> 'rejection_reason_code_description' <> ''
"""

_LINE_REASONS = """
SELECT l.raw ->> 'rejection_reason_code', l.raw ->> 'rejection_reason_code_description' FROM (
  SELECT order_number FROM orders WHERE state = ? ORDER BY pickup DESC LIMIT ?
) o JOIN line l ON l.order_number = o.order_number
WHERE instr(l.raw, '"rejection_reason_code"') AND l.raw ->> 'rejection_reason_code' <> ''
  AND l.raw ->> 'rejection_reason_code_description' <> ''
"""


def elsewhere(
    cache: apsw.Connection,
    pending: Pending,
    walk: Walk,
    row: Row | None,
    args: Mapping[str, Json],
) -> Result:
    """The other places where some of a product belongs to no order, the nearest to `place` first.

    `row` is the product's answer of the read `product`; `pools` says from which it may be taken, none: from any. Each
    with `location_code`, the free `quantity` in these pools, and `pool`: the first of them that has some; 0 where
    nobody keeps pools. What is picked and not yet told to the service is taken off in `row`.
    """
    if row is None:
        return [], 0
    number, allowed = str(row["product_number"]), [str(pool) for pool in args.get("pools") or ()]
    held = _held(cache, number)
    began = began_of(cache, pending.get(number, ()))
    found: list[Row] = []
    for place in row["places"]:
        code = str(place["location_code"])
        kept = held.get(code, [])
        still = lay_held([dict(one) for one in kept], code, number, pending.get(number, ()), began)
        if place["quantity"] is None:
            continue  # nobody says whether any of it lies there
        whole = decimal(place["quantity"]) - sum((one["quantity"] for one in still), Decimal(0))
        pool, free = _free(place, kept, allowed, whole)
        if free > 0 and code.casefold() != str(args.get("place") or "").casefold():
            found.append({"location_code": code, "quantity": free, "pool": pool})
    steps = _steps(walk, str(args.get("place") or ""), [str(one["location_code"]) for one in found])
    found.sort(key=lambda one: steps[one["location_code"]])
    return found, len(found)


def _free(place: Row, kept: Iterable[Row], allowed: Sequence[str], whole: Decimal) -> tuple[int, Decimal]:
    """(pool, quantity) of what lies at a place for nobody and may be taken; `whole` is what lies there for nobody."""
    there = {str(pool): decimal(quantity) for pool, quantity in place["pools"].items()}
    if not there:
        return 0, whole
    for one in kept:
        for pool, quantity in one["pools"].items():
            if pool in there:
                there[pool] -= decimal(quantity)
    own = str(int(decimal(place.get("default_stock_pool"))))
    wanted = allowed or sorted(there, key=lambda pool: (pool != own, int(pool)))
    having = [pool for pool in wanted if there.get(pool, Decimal(0)) > 0]
    if not having:
        return 0, Decimal(0)
    return int(having[0]), min(whole, sum((there[pool] for pool in having), Decimal(0)))


def _held(cache: apsw.Connection, number: str) -> dict[str, list[Row]]:
    """What of a product is held for order lines, by place."""
    held: defaultdict[str, list[Row]] = defaultdict(list)
    for order, line, raw in fetch(cache, _HELD, number):
        for entry in place_entries(loaded(raw)):
            if str(entry.get("customer_order_number") or "") != order or not entry.get("location_code"):
                continue
            if decimal(entry.get("customer_order_line_number") or line) == line:
                one = {"order_number": order, "line_number": line, "quantity": decimal(entry.get("quantity"))}
                held[str(entry["location_code"])].append({**one, "pools": pools(entry, "most_likely_pool_")})
    return held


def _steps(walk: Walk, here: str, codes: Sequence[str]) -> dict[str, tuple[int, int]]:
    """How far these places are from here in the order of feet, those ahead before those behind; without a here, their
    order."""
    at = walk.at_folded
    start = at.get(here.casefold())
    far = {code: at.get(code.casefold(), len(at)) - (start or 0) for code in codes}
    return {code: (abs(steps), int(steps < 0)) for code, steps in far.items()}


def short_reasons(cache: apsw.Connection) -> Result:
    """The reasons that orders and their lines have named lately: `code` and `words`, each code once."""
    found: dict[str, str] = {}
    for sql in (_ORDER_REASONS, _LINE_REASONS):
        for state in (2, 1, 0):
            for code, words in fetch(cache, sql, state, RECENT):
                found.setdefault(str(code), str(words))
    rows: list[Row] = [{"code": code, "words": found[code]} for code in sorted(found)]
    return rows, len(rows)


def features(cache: apsw.Connection) -> Result:
    """One row with the words by which the service announces what it understands; none while it was never heard of."""
    words = announced(cache)
    return ([], 0) if words is None else ([{"features": list(words)}], 1)
