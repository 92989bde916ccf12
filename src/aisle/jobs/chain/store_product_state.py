"""What the page of a product in this store keeps: the product, and the change in hand."""

from __future__ import annotations

from aisle.jobs.base import Json
from aisle.jobs.chain.store_product_sheet import StoreProduct
from aisle.jobs.sheet import Coming
from aisle.tuples import NamedTuple

PAGE, VALUE, SURE, CHART = "page", "value", "sure", "chart"
"""The pages."""


class Page(NamedTuple):
    """The product, and the change in hand."""

    number: str = ""
    label: str = ""
    phase: str = PAGE
    loaded: bool = False
    """It was looked for in the cache."""
    product: StoreProduct | None = None
    field: str = ""
    """The name of what is being changed."""
    changes: tuple[tuple[str, Json], ...] = ()
    """What is to be sent, once that is sure."""
    page: int = 0
    coming: tuple[Coming, ...] = ()
    """The next deliveries that bring it."""

    @property
    def refused(self) -> bool:
        """Something that was said of it needs a person."""
        return self.product is not None and any(said.word in ("refused", "unclear") for said in self.product.said)
