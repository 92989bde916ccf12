"""What the pages of the chain's stores keep."""

from __future__ import annotations

from aisle.jobs.chain.store_sheet import Listed, Sheet
from aisle.tuples import NamedTuple


class Stores(NamedTuple):
    """The list, and over it the page of one store, or the question whether to work there."""

    show: str = "all"
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[Listed, ...] = ()
    total: int = 0
    number: str = ""
    """The store whose page is open; empty for the list."""
    sheet: Sheet | None = None
    page: int = 0
    changes: bool = False
    """It was opened to change the store: what is chosen from the list is asked about at once."""
    asking: bool = False
    """Whether to work in the store is asked."""
    opening: bool = False
    """A search was ended with Enter: a single hit, and a store of that very number, opens at once."""
    partly: bool = False
    """There may be more than `total` that are searched for."""
