"""What a place is used for, asked when goods of orders are to be laid down there: only as far as that needs.

A place where goods wait for customers mostly holds many of them. Its own tags say so, or the first goods that lie there
for an order do; only where neither does, what lies there is for sale, and is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

import apsw

from aisle.jobs.base import Json
from aisle.jobs.codec import to_text
from aisle.jobs.pick.put import waits
from aisle.local.db import fetch
from aisle.local.reads.overlay import Row
from aisle.local.reads.overlay_goods import Goods, lay_held, lay_stock
from aisle.local.reads.places import Lying, began_of, head, held_at, lying_of
from aisle.local.reads.rows import Result, loaded
from aisle.local.reads.walk import Walk

Gone = Callable[[Iterable[str]], Set[str]]
"""Those of these orders that were rejected or finished here."""

AT_ONCE = 10
"""Products whose lines are asked for at once: the first of a place that is used mostly says so."""

FEW = 10
"""Lines of these that are looked at before all others."""

_NUMBERS = """
SELECT p.product_number FROM place x JOIN product p ON p.id = x.id WHERE x.location_code = ? ORDER BY x.id
"""

_STOCK = """
SELECT p.product_number, s.raw, s.began FROM json_each(?) e
JOIN product p ON p.product_number = e.value JOIN stock s ON s.id = p.id ORDER BY p.name, p.product_number
"""


def spot(cache: apsw.Connection, goods: Goods, walk: Walk, gone: Gone, args: Mapping[str, Json]) -> Result:
    """What a place is used for (location_code): its `tags`; whether it `is_used` for goods of orders already, not asked
    where its own tags say that it waits for them; how many `goods` lie there for sale, where it is neither."""
    code = str(args["location_code"])
    if code not in walk.at:
        return [], 0
    tags: list[str] = head(cache, code, None)["tags"]
    if waits(tags):
        return _told(tags)
    place = _Place(cache, goods, gone, code)
    if place.is_used():
        return _told(tags, is_used=True)
    lying = list(place.lying(place.numbers))
    tags = tags or next((each.tags for each in lying if each.tags), [])
    return _told(tags, sum(each.quantity is None or each.quantity > 0 for each in lying))


def _told(tags: list[str], goods: int = 0, *, is_used: bool = False) -> Result:
    return [{"tags": tags, "goods": goods, "is_used": is_used}], 1


class _Place:
    """What lies at one place, with what is on its way laid over it."""

    def __init__(self, cache: apsw.Connection, goods: Goods, gone: Gone, code: str) -> None:
        self._cache, self._pending, self._gone, self._code = cache, goods.pending(), gone, code
        known = [str(number) for (number,) in fetch(cache, _NUMBERS, code)]
        self.numbers = list(dict.fromkeys([*goods.coming(code), *known]))
        """What comes is first: to a place that is used mostly for an order."""

    def is_used(self) -> bool:
        """Whether anything lies here for an order."""
        firsts = range(0, len(self.numbers), AT_ONCE)
        return any(self._is_held(self.numbers[first : first + AT_ONCE]) for first in firsts)

    def _is_held(self, numbers: Sequence[str]) -> bool:
        few = held_at(self._cache, self._code, numbers, FEW)
        if self._holds(numbers, few):
            return True
        is_all = sum(map(len, few.values())) < FEW
        return not is_all and self._holds(numbers, held_at(self._cache, self._code, numbers))

    def _holds(self, numbers: Sequence[str], held: Mapping[str, list[Row]]) -> bool:
        """Whether these lines, or what is on its way, say that something lies here for an order."""
        operations = {number: self._pending.get(number, ()) for number in numbers}
        began = began_of(self._cache, [each for mine in operations.values() for each in mine])
        orders: dict[str, set[str]] = {}
        for number, mine in operations.items():
            rows = lay_held(held.get(number, []), self._code, number, mine, began)
            orders[number] = {str(row["order_number"]) for row in rows}
        gone = self._gone({order for mine in orders.values() for order in mine})
        return any(self.lying([number for number, mine in orders.items() if mine - gone]))

    def lying(self, numbers: Sequence[str]) -> Iterator[Lying]:
        """What of these products the stock list has here, by name; of each reckoned when its turn has come."""
        found = (
            lying_of(lay_stock(loaded(raw), number, self._pending.get(number, ()), began), self._code)
            for number, raw, began in (fetch(self._cache, _STOCK, to_text(list(numbers))) if numbers else ())
        )
        return (each for each in found if each.quantity is None or each.quantity or each.pools)
