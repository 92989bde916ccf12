"""Orders that are picked, and of which goods are in somebody's hand and at no place yet: home lists them until they are
put down, though they are open no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import islice

import apsw

from aisle.jobs.base import Json
from aisle.jobs.codec import to_text
from aisle.jobs.pick.walk import all_in_hand, takes
from aisle.local.cache.schema_orders import SHORTEST
from aisle.local.db import fetch
from aisle.local.reads.laid import Pending
from aisle.local.reads.orders import Shift, order
from aisle.words import fold

MOST = 5
"""So many of them are listed; whoever looks for another finds it by its words."""

_FOUND = """
SELECT o.order_number FROM orders o WHERE o.id IN (SELECT rowid FROM order_search WHERE order_search MATCH ? LIMIT 500)
AND o.state = 1 AND EXISTS (SELECT 1 FROM line l WHERE l.order_number = o.order_number AND l.in_hand > 0)
ORDER BY o.pickup, o.sort, o.order_number LIMIT 20
"""

_KEYS = """
SELECT order_number, pickup, sort, text, state FROM orders
WHERE order_number IN (SELECT value FROM json_each(?)) AND state < 2
"""


def lying(
    cache: apsw.Connection, pending: Pending, shift: Shift, args: Mapping[str, Json], left: Sequence[str]
) -> tuple[Shift, dict[str, Decimal]]:
    """The list of open orders with those of these that were `left` here, or that are searched for; and how many pieces
    of each are in hand."""
    hidden, extra = shift
    words = fold(str(args.get("search") or "")).split()
    parts = " AND ".join(f'"{word}"*' for word in words if len(word) >= SHORTEST)
    named = [str(row[0]) for row in fetch(cache, _FOUND, parts)] if parts else []
    keys = {
        str(number): (pickup, sort, str(number))
        for number, pickup, sort, text, state in fetch(cache, _KEYS, to_text([*left, *named]))
        if (state or number in hidden) and all(word in text for word in words)
    }
    counts = ((number, _in_hand(cache, pending, number)) for number in dict.fromkeys((*left, *named)) if number in keys)
    found = dict(islice(((number, count) for number, count in counts if count), MOST))
    listed = {key[2] for key in extra}
    more = [keys[number] for number in found if number not in hidden and number not in listed]
    return (hidden.difference(found), sorted([*extra, *more])), found


def _in_hand(cache: apsw.Connection, pending: Pending, number: str) -> Decimal:
    """Where nobody keeps places nothing is ever put down."""
    rows, _ = order(cache, pending, number)
    if not rows or rows[0]["is_rejected"] or not rows[0]["is_active"]:
        return Decimal(0)
    lines = takes(rows[0]["lines"])
    return all_in_hand(lines) if any(line.place for line in lines) else Decimal(0)
