"""What moving goods asks: where more of them lies, and what the service refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import apsw

from aisle.jobs.base import Json
from aisle.jobs.codec import from_text, to_text
from aisle.local.db import fetch
from aisle.local.outbox.operation import as_operation
from aisle.local.outbox.remainder import is_remainder
from aisle.local.reads.overlay import Row, decimal
from aisle.local.reads.overlay_goods import Pending, lay_stock, products_of
from aisle.local.reads.rows import Result, loaded, location_orders, stock_places, walked
from aisle.scan.meaning import Candidate

_STOCK = """
SELECT p.product_number, s.raw, s.began FROM json_each(?) e JOIN product p ON p.product_number = e.value
JOIN stock s ON s.id = p.id
"""

_PREFERRED = """
SELECT l.product_number, l.raw ->> 'preferred_location_code', count(*) FROM json_each(?) e
JOIN line l ON l.product_number = e.value WHERE l.raw ->> 'preferred_location_code' <> ''
GROUP BY 1, 2 ORDER BY 3 DESC, 2
"""

_REFUSED = """
SELECT * FROM operation WHERE live = 1 AND state = 'rejected' AND operation = ?
AND (occurred_at >= ? OR op_id IN (SELECT value FROM json_each(?))) ORDER BY n
"""


_REFUSED_OF = """
SELECT * FROM operation WHERE live = 1 AND state = 'rejected'
AND EXISTS (SELECT 1 FROM json_each(lanes) WHERE value = ?) ORDER BY n
"""


def with_refused(outbox: apsw.Connection, row: Row) -> None:
    """Adds to an order, in place, `refused_by`: by user of this host, the number of the last of his operations on it
    that the service refused, and why; without what found no room on a line (see `remainder`)."""
    found = [as_operation(each) for each in fetch(outbox, _REFUSED_OF, f"order/{row['order_number']}")]
    row["refused_by"] = {
        each.app_user: {"n": each.n, "why": each.last_error} for each in found if not is_remainder(each)
    }


def homes(cache: apsw.Connection, pending: Pending, args: Mapping[str, Json]) -> Result:
    """The places of these products, one row each: those that have some first, in the order of feet; then the places
    that order lines prefer for them, the most frequent first."""
    found: list[Row] = []
    numbers = to_text([str(each) for each in args["product_numbers"]])
    for number, raw, began in fetch(cache, _STOCK, numbers):
        known = lay_stock(loaded(raw), number, pending.get(number, ()), began)
        found += [{"product_number": number, **place} for place in stock_places(known)]
    orders = location_orders(cache, {str(place["location_code"]) for place in found})
    rows = [
        {name: place[name] for name in ("product_number", "location_code", "location_order", "quantity")}
        for place in walked(found, orders)
    ]
    rows.sort(key=lambda row: row["quantity"] is not None and decimal(row["quantity"]) <= 0)
    rows += _preferred(cache, numbers, {(row["product_number"], row["location_code"]) for row in rows})
    return rows, len(rows)


def _preferred(cache: apsw.Connection, numbers: str, known: set[tuple[str, str]]) -> list[Row]:
    """Where order lines would have these products, as far as that is not among their places already."""
    wanted = [(number, code) for number, code, _ in fetch(cache, _PREFERRED, numbers) if (number, code) not in known]
    orders = location_orders(cache, {code for _, code in wanted})
    return [
        {"product_number": number, "location_code": code, "location_order": orders.get(code), "quantity": Decimal(0)}
        for number, code in wanted
    ]


def refusals(outbox: apsw.Connection, args: Mapping[str, Json]) -> Result:
    """Operations of one kind that the service refused and nobody has settled: op_id, user, why, label, body, and of
    what found no room on an order line also what was `left` of it (see `remainder`); oldest first."""
    asked = str(args["operation"]), str(args["since"]), to_text(args.get("ops") or [])
    found = [as_operation(row) for row in fetch(outbox, _REFUSED, *asked)]
    rows: list[Row] = [
        {
            "op_id": each.op_id,
            "user": each.app_user,
            "why": each.last_error,
            "label": ", ".join(dict.fromkeys(products_of(each))),
            "body": each.body,
            "left": from_text(Any, each.answer) if each.answer else {},
        }
        for each in found
    ]
    return rows, len(rows)


def named(found: Iterable[Candidate], *, is_guess: bool = False) -> Result:
    """What a code is the number of: kind, key and label each, and whether that is a guess (`is_guess`)."""
    rows: list[Row] = [
        {"kind": each.kind, "key": each.key, "label": each.label, "is_guess": is_guess} for each in found
    ]
    return rows, len(rows)
