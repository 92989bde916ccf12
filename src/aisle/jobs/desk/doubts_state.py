"""What the list of what is not settled keeps, and what can be done about an entry of it."""

from __future__ import annotations

from decimal import Decimal

from aisle.tuples import NamedTuple

COUNT, LOOK = "count", "look"
"""Ways out that lead to other jobs: counting the place, and opening the order."""

SETTING = "setting"
"""The way to the product whose levels or prices it is about."""

FIRST = "first"
"""The way to what has to be settled before this one can go."""

PUT_BACK, OTHER_ORDER = "put_back", "other_order"
"""What has become of goods that an order did not get; that is how they were settled by hand."""


class Item(NamedTuple):
    """One part of what was meant."""

    product: str = ""
    label: str = ""
    quantity: Decimal | None = None
    line: int = 0
    source: str = ""
    """Where it lies, or lay."""
    target: str = ""


class Side(NamedTuple):
    """What stood at the service before, what we said, and what stands there now; None for what nobody knows."""

    of: str
    place: str = ""
    before: str | None = None
    ours: str | None = None
    after: str | None = None


class Doubt(NamedTuple):
    """One operation that is not settled."""

    op_id: str
    word: str
    """`noted`, `sent`, `confirmed`, `refused` or `unclear`."""
    asked: bool = False
    """It waits for a person; otherwise all goes on by itself."""
    kind: str = ""
    """`move`, `count`, `change`, `pick`, `setting` or `other`."""
    operation: str = ""
    who: str = ""
    at: str = ""
    why: str = ""
    verdict: str = ""
    looks: str = ""
    items: tuple[Item, ...] = ()
    sides: tuple[Side, ...] = ()
    ways: tuple[str, ...] = ()
    order: str = ""
    place: str = ""
    product: str = ""
    waits_for: str = ""
    """op_id of the doubtful one before it."""
    principal: str = ""
    """Whose token it goes with; empty for the store's."""
    pin: str = ""
    """Whose PIN it waits for."""


class Doubts(NamedTuple):
    """A window on the list; with `entry` that one alone."""

    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[Doubt, ...] = ()
    total: int = 0
    entry: Doubt | None = None
    page: int = 0
    asking: str = ""
    """`again`: whether it shall be sent again is the question; `by_hand`: how it was settled."""


def ways_of(doubt: Doubt) -> tuple[str, ...]:
    """All that can be done about it, in the order of its numbers."""
    first = (FIRST,) if doubt.waits_for else ()
    counted = (COUNT,) if doubt.place and (first or doubt.word in ("refused", "unclear")) else ()
    page = (SETTING,) if doubt.kind == "setting" and doubt.product else ()
    return (*first, *doubt.ways, *counted, *page, *((LOOK,) if doubt.order else ()))
