"""Products of which orders have more in hand than the stock of the store holds beside its places.

Only our own service is known to count goods in hand in `most_likely_quantity`. At any other service that number may
leave out what is picked, and then only stock below none is certain.
"""

from __future__ import annotations

import apsw

from aisle.jobs.codec import to_text
from aisle.local.db import fetch, fetch_one
from aisle.tuples import NamedTuple

SETTLED_S = 120
"""Seconds in which stock and orders that changed are both read again."""

_LYING = "(SELECT ifnull(sum(max(0, quantity)), 0) FROM place WHERE id = s.id)"
_MORE = f"round(sum(l.in_hand) - s.quantity + {_LYING}, 6)"
"""Behind six digits, what adding fractions leaves says nothing."""
_OF_STOCK = "ifnull(s.raw ->> 'is_stock', ifnull(nullif(p.raw, '') ->> 'is_stock', 1)) NOT IN (0, 'false')"
_OF_STORE = " AND ".join(
    f"ifnull(l.raw ->> '{path}', 0) NOT IN (1, 'true')"
    for path in ("$.is_picked_from_warehouse", "$.aisle.is_picked_from_warehouse")
)

_ALL = f"""
SELECT p.product_number FROM (
  SELECT l.product_number, sum(l.in_hand) AS hand FROM line l INDEXED BY line_in_hand
  JOIN orders o ON o.order_number = l.order_number WHERE l.in_hand > 0 AND o.state < 2 GROUP BY l.product_number
) h JOIN product p ON p.product_number = h.product_number JOIN stock s ON s.id = p.id
WHERE round(h.hand - s.quantity + {_LYING}, 6) > 0
"""  # noqa: S608
"""The candidates, found without a look into any JSON text."""
_OF_ORDERS = """
SELECT DISTINCT l.product_number FROM json_each(?) e JOIN line l ON l.order_number = e.value WHERE l.in_hand > 0
"""
_FOUND = f"""
SELECT product_number, name, more FROM (
  SELECT l.product_number, p.name, s.began, max(o.lines_began) AS seen, {_MORE} AS more
  FROM json_each(?) e JOIN line l INDEXED BY line_in_hand ON l.product_number = e.value
  JOIN orders o ON o.order_number = l.order_number
  JOIN product p ON p.product_number = l.product_number JOIN stock s ON s.id = p.id
  WHERE l.in_hand > 0 AND o.state < 2 AND {_OF_STORE} AND {_OF_STOCK} GROUP BY l.product_number
)
WHERE more > 0 AND (began >= seen OR seen < ifnull((SELECT last_ok FROM link), 0) - {SETTLED_S})
AND product_number NOT IN (SELECT product_number FROM below) ORDER BY name, product_number
"""  # noqa: S608
"""Goods in hand are of the stock, at no place. Stock and orders are read one after the other: stock that was read
before its picks is believed once both must have been read again."""
_LIKELY = f"""
SELECT product_number FROM (
  SELECT l.product_number, {_MORE} AS more
  FROM json_each(?) e JOIN line l INDEXED BY line_in_hand ON l.product_number = e.value
  JOIN orders o ON o.order_number = l.order_number
  JOIN product p ON p.product_number = l.product_number JOIN stock s ON s.id = p.id
  WHERE l.in_hand > 0 AND o.state < 2 GROUP BY l.product_number
) WHERE more > 0
"""  # noqa: S608


class Overdraw(NamedTuple):
    """A product, and how much more of it is in hand than there was."""

    product_number: str
    name: str
    more: float


class Overdrawn:
    """Finds them. Which products they can be is kept, and brought up to date with what the change feed names."""

    def __init__(self) -> None:
        self._cache: apsw.Connection | None = None
        self._position = 0
        self._candidates: set[str] = set()

    def of(self, cache: apsw.Connection) -> list[Overdraw]:
        """All of them, by name; none where the service is not known to count goods in hand."""
        if not _counts_in_hand(cache):
            return []
        self._renew(cache)
        if not self._candidates:
            return []
        found = fetch(cache, _FOUND, to_text(sorted(self._candidates)))
        return [Overdraw(str(number), str(name or number), float(more)) for number, name, more in found]

    def _renew(self, cache: apsw.Connection) -> None:
        ((first, last),) = fetch(cache, "SELECT ifnull(min(seq), 0), ifnull(max(seq), 0) FROM change")
        is_known = cache is self._cache and first - 1 <= self._position <= last and self._position > 0
        changed = _changed(cache, self._position) if is_known and last > self._position else set[str]()
        self._cache = None  # what breaks off below is found out anew
        if not is_known or changed is None:
            self._candidates = {str(number) for (number,) in fetch(cache, _ALL)}
        elif changed:
            looked_at = to_text(sorted(self._candidates | changed))
            self._candidates = {str(number) for (number,) in fetch(cache, _LIKELY, looked_at)}
        self._cache, self._position = cache, last


def _counts_in_hand(cache: apsw.Connection) -> bool:
    row = fetch_one(cache, "SELECT features FROM link")
    return bool(row and row[0])


def _changed(cache: apsw.Connection, since: int) -> set[str] | None:
    """Products of which stock or goods in hand may have changed since a position; None where it may be all."""
    sql = "SELECT DISTINCT topic, key FROM change WHERE seq > ? AND topic IN ('order', 'product')"
    found = fetch(cache, sql, since)
    if any(not key for _, key in found):
        return None
    orders = to_text([str(key) for topic, key in found if topic == "order"])
    return {str(key) for topic, key in found if topic == "product"} | {
        str(number) for (number,) in fetch(cache, _OF_ORDERS, orders)
    }
