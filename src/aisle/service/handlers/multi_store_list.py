"""Lists over the stores of a token that has a few of many (interface: Paged list envelope).

Such a list is in the order of the stores' own numbers. The chain's index has them in this order, but those of all other
stores between; each store's index has its own alone. So a handful of stores is read side by side, each by its index and
no further than the page goes. Of more, the numbers are found between which the page lies, and of each store no others
are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from aisle.service.auth.tokens import authorize_stores
from aisle.service.context import Context
from aisle.service.db.queries import Query, count_query, page_query
from aisle.service.db.statements import stores as sql
from aisle.service.handlers.list_response import Page

MAX_MERGED_STORES = 8
"""Of no more stores than this each is a part of the statement; for each number of them there is another statement."""
MAX_SEARCHED_STORES = 100
"""Tokens of more stores than this, and than rows to be read, go by the chain's index."""
_GROWTH = 4


class _PageSpan(NamedTuple):
    """What to ask for, and how many rows of it come before the page."""

    filters: dict[str, object]
    offset: int


class MultiStoreList(NamedTuple):
    """A list over stores: the counter that numbers its rows, their keys in any order, and in the list's.

    Both are asked with filters, which may hold `beyond` and `until`, two numbers between which the rows are, the first
    one left out. The keys end with what `after` takes; they are asked for also with the stores, if it is a handful.
    """

    counter: str
    unordered_query: Callable[[Mapping[str, object]], Query]
    key_query: Callable[[Mapping[str, object], Sequence[str]], Query]


async def page_key_query(
    ctx: Context, page: Page, filters: Mapping[str, object], multi_store_list: MultiStoreList
) -> Query | None:
    """The keys of a page's rows, whoever asks for it; None where the list ends before it.

    What is passed over is passed over by itself: then the page is as simple to plan as a first one, which is planned
    once for all.
    """
    stores = await _stores_to_merge(ctx, filters, multi_store_list)
    lies = await (
        _span_of_merged(ctx, page, filters, multi_store_list, stores)
        if stores
        else _search_span(ctx, page, filters, multi_store_list)
    )
    keys = multi_store_list.key_query(lies.filters, stores)
    if not lies.offset or not keys.has_stable_plan:
        return page_query(keys, page.limit, lies.offset)
    before = await page_query(keys, 1, lies.offset - 1).all(ctx.tx)
    return (
        page_query(multi_store_list.key_query({**lies.filters, "after": before[0][-2:]}, stores), page.limit, 0)
        if before
        else None
    )


async def _stores_to_merge(ctx: Context, filters: Mapping[str, object], multi_store_list: MultiStoreList) -> list[str]:
    """The token's stores, entered, where they are a handful and an index has what is asked for of each in order."""
    if "token" not in filters or not multi_store_list.key_query(filters, ()).has_stable_plan:
        return []
    rows = await ctx.tx.all(sql.FIRST_STORES_OF_TOKEN, ctx.principal.token_id, MAX_MERGED_STORES + 1)
    if len(rows) > MAX_MERGED_STORES:
        return []
    stores = [row[0] for row in rows]
    await authorize_stores(ctx.tx, ctx.principal, stores)
    return stores


async def _span_of_merged(
    ctx: Context, page: Page, filters: Mapping[str, object], multi_store_list: MultiStoreList, stores: Sequence[str]
) -> _PageSpan:
    """Where a page of these stores lies."""
    behind = page.add_to_filters(filters)
    low, offset = await _skip_rows(ctx, page, multi_store_list, behind, len(stores))
    of_each = {name: value for name, value in behind.items() if name != "token"}
    return _PageSpan(of_each | ({"beyond": low} if offset < page.offset else {}), offset)


async def _skip_rows(
    ctx: Context, page: Page, multi_store_list: MultiStoreList, filters: Mapping[str, object], stores: int
) -> tuple[int, int]:
    """A number that the page lies behind, and how many rows are to be passed over from there."""
    low = _lowest_number(filters) - 1
    if page.offset < stores:
        return low, page.offset
    # No store has a number twice: up to there are no more rows than have to be passed over.
    mark = low + page.offset // stores
    return mark, page.offset - await _count_between(
        ctx, page, multi_store_list, {**filters, "beyond": low, "until": mark}
    )


async def _count_between(
    ctx: Context, page: Page, multi_store_list: MultiStoreList, filters: Mapping[str, object]
) -> int:
    """How many rows there are; no further than the page goes: what is asked is whether it lies before a number."""
    rows = multi_store_list.unordered_query(filters)
    return await count_query(rows._replace(has_stable_plan=False), page.offset + page.limit).fetch_count(ctx.tx)


async def _search_span(
    ctx: Context, page: Page, filters: Mapping[str, object], multi_store_list: MultiStoreList
) -> _PageSpan:
    """Where a page lies among a few stores; of more, or of all, what was asked for is all that is known."""
    behind = page.add_to_filters(filters)
    if "token" not in filters:
        return _PageSpan(behind, page.offset)
    stores, last = await ctx.tx.one(sql.COUNTER_RANGE_OF_TOKEN, ctx.principal.token_id, multi_store_list.counter) or (
        0,
        0,
    )
    if not 0 < stores <= max(MAX_SEARCHED_STORES, page.offset + page.limit):
        return _PageSpan(behind, page.offset)
    low, offset = await _skip_rows(ctx, page, multi_store_list, behind, stores)
    width, enough = (offset + page.limit) // stores + 1, False
    while low + width < last and not enough:
        found = await _count_between(ctx, page, multi_store_list, {**behind, "beyond": low, "until": low + width})
        enough = found >= offset + page.limit
        if found <= offset:
            # All of them come before the page.
            low, offset = low + width, offset - found
        width *= 1 if enough else _GROWTH
    width = min(width, last - low)
    while width > ((offset + page.limit) // stores + 1) * 2:
        half = width // 2
        found = await _count_between(ctx, page, multi_store_list, {**behind, "beyond": low, "until": low + half})
        if found <= offset:
            low, offset, width = low + half, offset - found, width - half
        elif found >= offset + page.limit:
            width = half
        else:
            break
    upper = {"until": low + width} if low + width < last else {}
    return _PageSpan(behind | {"beyond": low} | upper, offset)


def _lowest_number(filters: Mapping[str, object]) -> int:
    """The least number that any row can have."""
    bounds = (bound for name in ("after", "from_id") if isinstance(bound := filters.get(name), tuple))
    return max([1, *(int(bound[0]) for bound in bounds)])
