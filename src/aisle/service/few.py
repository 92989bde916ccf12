"""Lists over the stores of a token that has a few of many (interface: Paged list envelope).

Such a list is in the order of the stores' own numbers. The chain's index has them in this order, but those of all other
stores between; each store's index has its own alone. So a handful of stores is read side by side, each by its index and
no further than the page goes. Of more, the numbers are found between which the page lies, and of each store no others
are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from aisle.service.context import Context
from aisle.service.pages import Page
from aisle.service.sql import stores as sql
from aisle.service.sql.compose import Query, counted, paged
from aisle.service.tokens import enter_all
from aisle.tuples import NamedTuple

HANDFUL = 8
"""Of no more stores than this each is a part of the statement; for each number of them there is another statement."""
FEW = 100
"""Tokens of more stores than this, and than rows to be read, go by the chain's index."""
_WIDER = 4


class _Span(NamedTuple):
    """What to ask for, and how many rows of it come before the page."""

    asked: dict[str, object]
    offset: int


class Listed(NamedTuple):
    """A list over stores: the counter that numbers its rows, their keys in any order, and in the list's.

    Both are asked with filters, which may hold `beyond` and `until`, two numbers between which the rows are, the first
    one left out. The keys end with what `after` takes; they are asked for also with the stores, if it is a handful.
    """

    counter: str
    rows: Callable[[Mapping[str, object]], Query]
    keys: Callable[[Mapping[str, object], Sequence[str]], Query]


async def page_keys(ctx: Context, page: Page, asked: Mapping[str, object], listed: Listed) -> Query | None:
    """The keys of a page's rows, whoever asks for it; None where the list ends before it.

    What is passed over is passed over by itself: then the page is as simple to plan as a first one, which is planned
    once for all.
    """
    stores = await _handful(ctx, asked, listed)
    lies = await (_beside(ctx, page, asked, listed, stores) if stores else _span(ctx, page, asked, listed))
    keys = listed.keys(lies.asked, stores)
    if not lies.offset or not keys.plain:
        return paged(keys, page.limit, lies.offset)
    before = await paged(keys, 1, lies.offset - 1).all(ctx.tx)
    return paged(listed.keys({**lies.asked, "after": before[0][-2:]}, stores), page.limit, 0) if before else None


async def _handful(ctx: Context, asked: Mapping[str, object], listed: Listed) -> list[str]:
    """The token's stores, entered, where they are a handful and an index has what is asked for of each in order."""
    if "token" not in asked or not listed.keys(asked, ()).plain:
        return []
    rows = await ctx.tx.all(sql.REACHED_STORES, ctx.principal.token_id, HANDFUL + 1)
    if len(rows) > HANDFUL:
        return []
    stores = [row[0] for row in rows]
    await enter_all(ctx.tx, ctx.principal, stores)
    return stores


async def _beside(
    ctx: Context, page: Page, asked: Mapping[str, object], listed: Listed, stores: Sequence[str]
) -> _Span:
    """Where a page of these stores lies."""
    behind = page.behind(asked)
    low, offset = await _jump(ctx, page, listed, behind, len(stores))
    of_each = {name: value for name, value in behind.items() if name != "token"}
    return _Span(of_each | ({"beyond": low} if offset < page.offset else {}), offset)


async def _jump(ctx: Context, page: Page, listed: Listed, behind: Mapping[str, object], stores: int) -> tuple[int, int]:
    """A number that the page lies behind, and how many rows are to be passed over from there."""
    low = _least(behind) - 1
    if page.offset < stores:
        return low, page.offset
    # No store has a number twice: up to there are no more rows than have to be passed over.
    mark = low + page.offset // stores
    return mark, page.offset - await _found(ctx, page, listed, {**behind, "beyond": low, "until": mark})


async def _found(ctx: Context, page: Page, listed: Listed, between: Mapping[str, object]) -> int:
    """How many rows there are; no further than the page goes: what is asked is whether it lies before a number."""
    rows = listed.rows(between)
    return await counted(rows._replace(plain=False), page.offset + page.limit).total(ctx.tx)


async def _span(ctx: Context, page: Page, asked: Mapping[str, object], listed: Listed) -> _Span:
    """Where a page lies among a few stores; of more, or of all, what was asked for is all that is known."""
    behind = page.behind(asked)
    if "token" not in asked:
        return _Span(behind, page.offset)
    stores, last = await ctx.tx.one(sql.REACH_OF_ACCESS, ctx.principal.token_id, listed.counter) or (0, 0)
    if not 0 < stores <= max(FEW, page.offset + page.limit):
        return _Span(behind, page.offset)
    low, offset = await _jump(ctx, page, listed, behind, stores)
    width, enough = (offset + page.limit) // stores + 1, False
    while low + width < last and not enough:
        found = await _found(ctx, page, listed, {**behind, "beyond": low, "until": low + width})
        enough = found >= offset + page.limit
        if found <= offset:
            # All of them come before the page.
            low, offset = low + width, offset - found
        width *= 1 if enough else _WIDER
    width = min(width, last - low)
    while width > ((offset + page.limit) // stores + 1) * 2:
        half = width // 2
        found = await _found(ctx, page, listed, {**behind, "beyond": low, "until": low + half})
        if found <= offset:
            low, offset, width = low + half, offset - found, width - half
        elif found >= offset + page.limit:
            width = half
        else:
            break
    upper = {"until": low + width} if low + width < last else {}
    return _Span(behind | {"beyond": low} | upper, offset)


def _least(behind: Mapping[str, object]) -> int:
    """The least number that any row can have."""
    bounds = (bound for name in ("after", "from_id") if isinstance(bound := behind.get(name), tuple))
    return max([1, *(int(bound[0]) for bound in bounds)])
