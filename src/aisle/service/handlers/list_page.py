"""Page of a list: its number or scroll id, and its rows in the interface's envelope; also over several stores.

A page has a number, or the `scroll_id` of the page before it, which names the key of its last row. With the latter,
rows that are added or removed meanwhile cause no repetition and no gap. Every page costs the same.

A list over stores is ordered by their own numbers. The chain's index has this order, but with the rows of all other
stores between; the index of a store has its own rows only. So a few stores are merged by their own indexes, no further
than the page. For more stores, the range of numbers of the page is searched first, and only this range is read.
"""

from __future__ import annotations

import json
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from aisle.contract.operations import SCROLL_PARAM
from aisle.service.auth.authorization import authorize_stores
from aisle.service.db.database_interface import ResultTooLong, Row, Transaction
from aisle.service.db.list_query_builder import Query, count_query, page_query
from aisle.service.db.statements import stores_and_products as stores_sql
from aisle.service.domain.quantities_times_and_json import INT64_LIMIT
from aisle.service.errors import Refusal, bad_request, to_json_bytes
from aisle.service.http.parameters_and_headers import MAX_PAGE_NUMBER, parse_integer
from aisle.service.operation_context import Context, OperationCall, ParamValues, split_wire_id

DEFAULT_PAGE_SIZE = 100
MAX_PAGE_SIZE = 1000
MAX_PAGE_BYTES = 8 << 20
"""Maximum number of bytes of the rows of a page, unless it is one row."""
_FEWER_ROWS = 8
"""Factor by which fewer rows are read after a result that is too long."""


RowKey = tuple[int | str, ...]
"""Key of a row, by which its list is ordered."""

_T = TypeVar("_T")
_PAGING_PARAMETERS = frozenset({"page_size", "page_start", "page_number", "scroll_id"})
# Parameters that change the form of the rows, and not their selection.
_DISPLAY_PARAMETERS = frozenset({"show_lines", "include_locations", "accept_language", "app_username"})


class Page(NamedTuple):
    """Page of a list: its number from 1, its size, and the key of the row before it, if known."""

    number: int
    size: int
    after_key: RowKey | None = None

    @property
    def offset(self) -> int:
        """Number of rows to skip."""
        return 0 if self.after_key else (self.number - 1) * self.size

    @property
    def limit(self) -> int:
        """Number of rows to read: one more than the page has, which shows that there is a next page."""
        return self.size + 1

    def split_rows(self, rows: list[_T]) -> tuple[list[_T], bool]:
        """Return the rows of the page, and True if more rows follow."""
        return rows[: self.size], len(rows) > self.size

    def add_to_filters(self, filters: Mapping[str, object]) -> dict[str, object]:
        """Return the filters with the row after which the page begins."""
        return {**filters, "after": self.after_key} if self.after_key else dict(filters)


def parse_page(query: ParamValues, number_parameter: str = "page_start") -> Page:
    """Return the requested page: the first by default, of 100 rows, at most 1,000.

    Raise Refusal (400) if it is invalid.
    """
    number = _positive(query.get(number_parameter, 1), number_parameter)
    size = _positive(query.get("page_size", DEFAULT_PAGE_SIZE), "page_size")
    return Page(number, min(size, MAX_PAGE_SIZE))


def parse_scroll_page(call: OperationCall, key_types: Sequence[type]) -> Page:
    """Return the requested page, perhaps by `scroll_id` with a key of these types.

    Raise Refusal (400) if it is invalid.
    """
    page = parse_page(call.query)
    if "scroll_id" not in call.query:
        return page
    try:
        text = call.query["scroll_id"].encode("ascii")
        print_, number, *key = json.loads(urlsafe_b64decode(text + b"=" * (-len(text) % 4)))
        is_valid = (
            [type(part) for part in key] == list(key_types) and type(number) is int and print_ == _list_checksum(call)
        )
        is_valid = is_valid and 0 < number <= MAX_PAGE_NUMBER and all(map(_is_possible_key, key))
    except (ValueError, TypeError, RecursionError):
        is_valid = False
    if not is_valid:
        raise bad_request("This belongs to another list, or to none.", "scroll_id")
    return page._replace(number=number, after_key=tuple(key))


def _is_possible_key(part: int | str) -> bool:
    """Return True if a row can have this part of a key; clients may send invented keys.

    Raise ValueError for invalid Unicode.
    """
    return -INT64_LIMIT <= part <= INT64_LIMIT if isinstance(part, int) else b"\0" not in part.encode()


def _list_checksum(call: OperationCall) -> int:
    """Return a checksum of the list and its filters, to which a `scroll_id` belongs."""
    filters = sorted((name, str(value)) for name, value in call.query.items() if name not in _PAGING_PARAMETERS)
    return zlib.crc32(json.dumps([sorted(call.path.items()), filters]).encode())


def _positive(value: int | str, name: str) -> int:
    number = parse_integer(value, name) if isinstance(value, str) else value
    if number < 1:
        raise bad_request("Pages and their sizes are counted from 1.", name)
    return number


def joined_rows(head: bytes, rows: Iterable[str], page: Page, tail: bytes) -> bytes:
    """Return the encoded rows of a page between `head` and `tail`.

    Raise Refusal (413) as soon as they are too long for one answer. Few copies are made, since pages are long.
    """
    body = bytearray(head)
    for number, row in enumerate(rows):
        if number:
            body += b","
        body += row.encode()
        if len(body) > MAX_PAGE_BYTES and page.size > 1:
            raise page_too_long(page)
    body += tail
    return bytes(body)


def page_too_long(page: Page) -> Refusal:
    """Return the refusal of a page that is too long for one answer."""
    return Refusal(413, f"This page is too long for one answer. Ask for less than {page.size} rows.", "page_size")


async def extension_page(
    name: str,
    query: ParamValues,
    read: Callable[[int], Awaitable[list[Row]]],
    to_json: Callable[[Row], object],
    sort_key: Callable[[Row], Any] | None = None,
) -> bytes:
    """Return a page of a list that only this service has: rows under `name`, and `more`, if others follow.

    `read` reads up to so many rows in the order of their keys. The page has the rows up to `limit` that fit into one
    answer, sorted by `sort_key`. Raise Refusal (400) for an invalid limit.
    """
    limit = query.get("limit", MAX_PAGE_SIZE)
    if not 1 <= limit <= MAX_PAGE_SIZE:
        raise bad_request(f"limit is 1 to {MAX_PAGE_SIZE}.", "limit")
    rows, more = await _read_fitting(read, limit)
    page, size = list[tuple[Row, bytes]](), 0
    for row in rows:
        encoded = to_json_bytes(to_json(row))
        size += len(encoded)
        if page and size > MAX_PAGE_BYTES:
            more = True
            break
        page.append((row, encoded))
    if sort_key:
        page.sort(key=lambda one: sort_key(one[0]))
    listed = b",".join(encoded for _, encoded in page)
    return b'{"%s":[%s],"more":%s}' % (name.encode(), listed, b"true" if more else b"false")


async def _read_fitting(read: Callable[[int], Awaitable[list[Row]]], limit: int) -> tuple[list[Row], bool]:
    """Return up to `limit` rows, fewer if their result is too long, and True if more rows follow."""
    while True:
        try:
            rows = await read(limit + 1)
        except ResultTooLong:
            if limit == 1:
                raise
            limit = max(1, limit // _FEWER_ROWS)
        else:
            return rows[:limit], len(rows) > limit


def reduced_envelope(rows: Iterable[str], page: Page, total: int | None, *, has_more: bool) -> bytes:
    """Return encoded rows in the reduced envelope of the receipt lists."""
    return joined_rows(b'{"list":[', rows, page, b"]," + to_json_bytes(_page_members(page, total, has_more))[1:])


def _page_members(page: Page, total: int | None, has_more: bool) -> dict[str, object]:
    numbers: dict[str, object] = {
        "next_page": page.number + 1 if has_more else None,
        "previous_page": _previous_page(page, total),
        "page_size": page.size,
        "page_start": page.number,
    }
    return numbers if total is None else numbers | {"total_count": total}


def _previous_page(page: Page, total: int | None) -> int | None:
    """Return the nearest earlier page with rows; without a count, the page before this one."""
    last = page.number - 1 if total is None else -(-total // page.size)
    return min(page.number - 1, last) or None


def list_envelope(
    ctx: Context,
    call: OperationCall,
    rows: Iterable[str],
    page: Page,
    total: int | None,
    *,
    has_more: bool,
    sort_column: str,
    last_key: RowKey | None = None,
) -> bytes:
    """Return encoded rows in the common envelope. `last_key` is the key of the page's last row."""
    filters = {
        name: [_filter_text(value)]
        for name, value in call.query.items()
        if name not in _PAGING_PARAMETERS | _DISPLAY_PARAMETERS
    }
    tail = _page_members(page, total, has_more) | {"server_time": ctx.now}
    if filters:
        tail["list_filters"] = filters
    if last_key and tail["next_page"]:
        text = json.dumps([_list_checksum(call), page.number + 1, *last_key], ensure_ascii=False).encode()
        scroll = urlsafe_b64encode(text).decode().rstrip("=")
        # A longer id would be refused, so it is left out; the next page has a number, too.
        tail |= {"scroll_id": scroll} if len(scroll) <= (SCROLL_PARAM.max_length or 0) else {}
    tail |= {"sort_column": sort_column, "sort_order": "asc"}
    return joined_rows(b'{"list":[', rows, page, b"]," + to_json_bytes(tail)[1:])


def _filter_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def after_seq(call: OperationCall) -> int:
    """Return the number of the row after which a list begins."""
    return split_wire_id(call.query["after"])[0] if "after" in call.query else 0


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
