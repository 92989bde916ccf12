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
from aisle.service.sql.compose import Query, counted, paged

FEW = 100
"""Tokens of more stores than this, and than rows to be read, go by the chain's index."""
_WIDER = 4


class Span(NamedTuple):
    """What to ask for, and how many rows of it come before the page."""

    asked: dict[str, object]
    offset: int


class Listed(NamedTuple):
    """A list over stores: the counter that numbers its rows, their keys in any order, and in the list's.

    Both are asked with filters, which may hold `beyond` and `until`, two numbers between which the rows are, the first
    one left out. The keys end with what `after` takes.
    """

    counter: str
    rows: Callable[[Mapping[str, object]], Query]
    keys: Callable[[Mapping[str, object]], Query]


async def span(ctx: Context, page: Page, asked: Mapping[str, object], listed: Listed) -> Span | None:
    """Where a page lies, whoever asks for it; None where the list ends before it.

    What is passed over is passed over by itself: then the page is as simple to plan as a first one, which is planned
    once for all.
    """
    lies = await _span(ctx, page, asked, listed)
    keys = listed.keys(lies.asked)
    if not lies.offset or not keys.plain:
        return lies
    before = await paged(keys, 1, lies.offset - 1).all(ctx.tx)
    return Span({**lies.asked, "after": before[0][-2:]}, 0) if before else None


async def _span(ctx: Context, page: Page, asked: Mapping[str, object], listed: Listed) -> Span:
    behind = page.behind(asked)
    if "token" not in asked:
        return Span(behind, page.offset)
    stores, last = await ctx.tx.one(sql.REACH_OF_ACCESS, ctx.principal.token_id, listed.counter) or (0, 0)
    if not 0 < stores <= max(FEW, page.offset + page.limit):
        return Span(behind, page.offset)
    low, offset = _least(behind) - 1, page.offset
    most = page.offset + page.limit

    async def found_until(until: int) -> int:
        # No further than the page goes: what is asked is whether it lies before this number.
        rows = listed.rows(behind | {"beyond": low, "until": until})
        return await counted(rows._replace(plain=False), most).total(ctx.tx)

    if offset >= stores:
        # No store has a number twice: up to there are no more rows than have to be passed over.
        mark = low + offset // stores
        offset -= await found_until(mark)
        low = mark
    width, enough = (offset + page.limit) // stores + 1, False
    while low + width < last and not enough:
        found = await found_until(low + width)
        enough = found >= offset + page.limit
        if found <= offset:
            # All of them come before the page.
            low, offset = low + width, offset - found
        width *= 1 if enough else _WIDER
    width = min(width, last - low)
    while width > ((offset + page.limit) // stores + 1) * 2:
        half = width // 2
        found = await found_until(low + half)
        if found <= offset:
            low, offset, width = low + half, offset - found, width - half
        elif found >= offset + page.limit:
            width = half
        else:
            break
    upper = {"until": low + width} if low + width < last else {}
    return Span(behind | {"beyond": low} | upper, offset)


def _least(behind: Mapping[str, object]) -> int:
    """The least number that any row can have."""
    bounds = (bound for name in ("after", "from_id") if isinstance(bound := behind.get(name), tuple))
    return max([1, *(int(bound[0]) for bound in bounds)])
