"""Page of a list over several stores: merged from the lists of a few, or read from the index of the chain."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from aisle.service.auth.authorization import authorize_stores
from aisle.service.db.database_interface import Transaction
from aisle.service.db.list_query_builder import Query, count_query, page_query
from aisle.service.db.statements import stores_and_locations as stores_sql
from aisle.service.handlers.list_page import MAX_PAGE_SIZE, Page
from aisle.service.operation_context import Context

_T = TypeVar("_T")

MAX_COUNTED = MAX_PAGE_SIZE
"""Rows up to which a list over several stores is counted. Pages of longer lists have no `total_count`."""


async def count_and_read(
    tx: Transaction,
    all_rows: Query,
    page: Page,
    read: Callable[[], Awaitable[list[_T]]],
    max_counted: int | None = None,
) -> tuple[int | None, list[_T]]:
    """Return the number of rows of a list over several stores (None above the limit), and the rows of a page.

    `all_rows` selects all rows in any order; `read` reads the page. A page that ends the list gives the number without
    a count. Queries without a stable plan, which often find nothing, are counted first. `max_counted` limits the count
    where counting is expensive; then nothing is counted first.
    """
    total = None
    if max_counted is None:
        max_counted = MAX_COUNTED
        total = (
            None
            if all_rows.has_stable_plan or page.offset
            else await count_query(all_rows, max_counted + 1).fetch_count(tx)
        )
    if total == 0:
        return 0, []
    found = await read()
    if total is None:
        reached = page.offset + len(found)
        known = (len(found) <= page.size and bool(found or not page.offset)) or (bool(found) and reached > max_counted)
        if page.after_key or not known:
            reached = await count_query(all_rows, max_counted + 1).fetch_count(tx)
        total = reached
    return (total if total <= max_counted else None), found


MAX_MERGED_STORES = 8
"""Maximum number of stores in a merged statement; each number of stores is another statement."""

MAX_SEARCHED_STORES = 100
"""Number of stores above which a token's list uses the chain's index, unless more rows are to be read."""

_GROWTH = 4


class _PageSpan(NamedTuple):
    """Filters to query, and the number of rows before the page."""

    filters: dict[str, object]
    offset: int


class MultiStoreList(NamedTuple):
    """List over stores: the counter of its rows, the query for keys in any order, and the one in list order.

    Filters may have `beyond` (exclusive) and `until` (inclusive), which limit the numbers. Keys end with the columns of
    `after`. `key_query` also takes a few stores to merge.
    """

    counter: str
    unordered_query: Callable[[Mapping[str, object]], Query]
    key_query: Callable[[Mapping[str, object], Sequence[str]], Query]


async def page_key_query(
    ctx: Context, page: Page, filters: Mapping[str, object], multi_store_list: MultiStoreList
) -> Query | None:
    """Return the query for the keys of a page; None if the list ends before it.

    Rows to skip are skipped in a query of their own, so that the page has the same plan as a first page.
    """
    stores = await _stores_to_merge(ctx, filters, multi_store_list)
    span = await (
        _span_of_merged(ctx, page, filters, multi_store_list, stores)
        if stores
        else _search_span(ctx, page, filters, multi_store_list)
    )
    keys = multi_store_list.key_query(span.filters, stores)
    if not span.offset or not keys.has_stable_plan:
        return page_query(keys, page.limit, span.offset)
    before = await page_query(keys, 1, span.offset - 1).all(ctx.tx)
    return (
        page_query(multi_store_list.key_query({**span.filters, "after": before[0][-2:]}, stores), page.limit, 0)
        if before
        else None
    )


async def _stores_to_merge(ctx: Context, filters: Mapping[str, object], multi_store_list: MultiStoreList) -> list[str]:
    """Return the token's stores, authorized, if they are few and an index has the list of each in order."""
    if "token" not in filters or not multi_store_list.key_query(filters, ()).has_stable_plan:
        return []
    rows = await ctx.tx.all(stores_sql.FIRST_STORES_OF_TOKEN, ctx.principal.token_id, MAX_MERGED_STORES + 1)
    if len(rows) > MAX_MERGED_STORES:
        return []
    stores = [row[0] for row in rows]
    await authorize_stores(ctx.tx, ctx.principal, stores)
    return stores


async def _span_of_merged(
    ctx: Context, page: Page, filters: Mapping[str, object], multi_store_list: MultiStoreList, stores: Sequence[str]
) -> _PageSpan:
    """Return the span of a page in the merged list of these stores."""
    behind = page.add_to_filters(filters)
    low, offset = await _skip_rows(ctx, page, multi_store_list, behind, len(stores))
    of_each = {name: value for name, value in behind.items() if name != "token"}
    return _PageSpan(of_each | ({"beyond": low} if offset < page.offset else {}), offset)


async def _skip_rows(
    ctx: Context, page: Page, multi_store_list: MultiStoreList, filters: Mapping[str, object], stores: int
) -> tuple[int, int]:
    """Return a number before the page, and the rows to skip from there."""
    low = _lowest_number(filters) - 1
    if page.offset < stores:
        return low, page.offset
    # No store has a number twice, so at most this many rows lie below the number.
    mark = low + page.offset // stores
    return mark, page.offset - await _count_between(
        ctx, page, multi_store_list, {**filters, "beyond": low, "until": mark}
    )


async def _count_between(
    ctx: Context, page: Page, multi_store_list: MultiStoreList, filters: Mapping[str, object]
) -> int:
    """Count the rows, at most up to the end of the page, which suffices to find its position."""
    rows = multi_store_list.unordered_query(filters)
    return await count_query(rows._replace(has_stable_plan=False), page.offset + page.limit).fetch_count(ctx.tx)


async def _search_span(
    ctx: Context, page: Page, filters: Mapping[str, object], multi_store_list: MultiStoreList
) -> _PageSpan:
    """Return the span of a page among some stores; for more stores, or all, the filters alone."""
    behind = page.add_to_filters(filters)
    if "token" not in filters:
        return _PageSpan(behind, page.offset)
    stores, last = await ctx.tx.one(
        stores_sql.COUNTER_RANGE_OF_TOKEN, ctx.principal.token_id, multi_store_list.counter
    ) or (0, 0)
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
    """Return the lowest number that a row can have."""
    bounds = (bound for name in ("after", "from_id") if isinstance(bound := filters.get(name), tuple))
    return max([1, *(int(bound[0]) for bound in bounds)])
