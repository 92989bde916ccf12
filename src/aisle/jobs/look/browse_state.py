"""What browsing the places keeps: the list, and the page of one over it."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs import window
from aisle.tuples import NamedTuple


class Listed(NamedTuple):
    """One place of the list."""

    code: str
    products: int
    quantity: Decimal | None
    """None where nobody says it."""
    tags: str


class Held(NamedTuple):
    """Goods on a place that are kept for a line of an order."""

    order: str
    line: int
    quantity: Decimal


class Lying(NamedTuple):
    """One product on a place; `quantity` is all of it, held goods included. Pieces go without a unit."""

    product: str
    label: str
    quantity: Decimal | None
    """None where nobody says it."""
    unit: str
    pools: tuple[tuple[str, Decimal], ...]
    held: tuple[Held, ...]


class Place(NamedTuple):
    """One place, with its neighbours in the order of feet."""

    code: str
    pool: int
    tags: tuple[str, ...]
    lying: tuple[Lying, ...]
    """The first of them, by name."""
    before: str
    after: str
    total: int = 0
    """How many products there are in all."""
    unnamed: bool = False
    """The service has not said of any goods at which place they lie."""


class Way(NamedTuple):
    """One numbered way on: `product` to be looked up, `order` to be handed to the job below."""

    kind: str
    key: str
    label: str = ""


class Browse(NamedTuple):
    """The list of places, and the page of one over it."""

    code: str = ""
    """The place whose page is open; empty for the list."""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[Listed, ...] = ()
    total: int = 0
    place: Place | None = None
    names: tuple[tuple[str, str], ...] = ()
    """The pools of the store, by number."""
    aisle: tuple[Listed, ...] = ()
    page: int = 0
    asked: Way | None = None
    """What was scanned and is offered as a choice."""
    sought: str = ""
    """Words whose answer is on its way."""
    over_list: bool = False
    """The page was opened from the list: back leads there."""

    @property
    def listing(self) -> bool:
        """True while the list is on the screen."""
        return bool(self.typed) or not self.code

    @property
    def numbered(self) -> int:
        """So many rows of what is on the screen are choices; what a scan led to is offered behind them."""
        if self.listing:
            return window.numbered_rows(self)
        return min(window.NUMBERED, len(self.place.lying)) if self.place else 0
