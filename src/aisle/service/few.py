"""Lists over the stores of a token that has a few of many (interface: Paged list envelope).

Such a list is in the order of the stores' own numbers. The chain's index has them in this order, but those of all other
stores between; each store's index has its own alone. So the numbers are found between which the page lies, and of each
store no others are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from aisle.service.context import Context
from aisle.service.pages import Page
from aisle.service.sql import stores as sql
from aisle.service.sql.compose import Query

FEW = 100
"""Tokens of more stores than this, and than rows to be read, go by the chain's index."""
_WIDER = 4


class Span(NamedTuple):
    """What to ask for, and how many rows of it come before the page."""

    asked: dict[str, object]
    offset: int


async def span(
    ctx: Context, page: Page, asked: Mapping[str, object], count: Callable[[Mapping[str, object]], Query], counter: str
) -> Span:
    """Where a page lies, whoever asks for it. `count` counts the rows of some filters; `counter` numbers them.

    The filters may hold `beyond` and `until`, two numbers between which the rows are, the first one left out.
    """
    behind = page.behind(asked)
    if "token" not in asked:
        return Span(behind, page.offset)
    stores, last = await ctx.tx.one(sql.REACH_OF_ACCESS, ctx.principal.token_id, counter) or (0, 0)
    if not 0 < stores <= max(FEW, page.offset + page.limit):
        return Span(behind, page.offset)
    low, offset = _least(behind) - 1, page.offset
    if offset >= stores:
        # No store has a number twice: up to there are no more rows than have to be passed over.
        mark = low + offset // stores
        offset -= await count(behind | {"beyond": low, "until": mark}).total(ctx.tx)
        low = mark
    width = (offset + page.limit) // stores + 1
    while low + width < last:
        between = behind | {"beyond": low, "until": low + width}
        if await count(between).total(ctx.tx) >= offset + page.limit:
            return Span(between, offset)
        width *= _WIDER
    return Span(behind | {"beyond": low}, offset)


def _least(behind: Mapping[str, object]) -> int:
    """The least number that any row can have."""
    bounds = (bound for name in ("after", "from_id") if isinstance(bound := behind.get(name), tuple))
    return max([1, *(int(bound[0]) for bound in bounds)])
