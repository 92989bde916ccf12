"""What the pages of the chain's catalogue keep."""

from __future__ import annotations

from typing import Any

from aisle.jobs.chain.catalogue_sheet import Page
from aisle.tuples import NamedTuple


class Catalogue(NamedTuple):
    """The list with its filter, and over it the categories or suppliers, or the page of one product."""

    show: str = "all"
    category: str = ""
    category_name: str = ""
    supplier: str = ""
    supplier_name: str = ""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[Any, ...] = ()
    """Products, or what they are gathered by while that is chosen."""
    total: int = 0
    kind: str = ""
    """`category` or `supplier` while one of them is chosen."""
    number: str = ""
    """The product whose page is open."""
    trail: tuple[str, ...] = ()
    """The products whose pages lie below it."""
    among: tuple[str, ...] = ()
    """The list has these alone: parts and variants of the last of `trail`. The filter is that of the list below."""
    sheet: Page | None = None
    page: int = 0
    opening: bool = False
    """A search was ended with Enter: a single hit opens at once."""
    partly: bool = False
    """There may be more than `total` that are searched for."""

    def bare(self, **fields: Any) -> Catalogue:
        """The list with this filter, at its beginning, and nothing over it."""
        kept = (self.show, self.category, self.category_name, self.supplier, self.supplier_name, self.search)
        return Catalogue(*kept)._replace(**fields)
