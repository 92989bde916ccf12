"""Pages of lists, as the envelope of the interface in bytes (interface: Paged list envelope).

A page is named by its number, or by the `scroll_id` of the page before it. Then it is found by the key of the last row:
rows that come and go meanwhile make none appear twice or be left out, and the last page costs what the first one does.
"""

from __future__ import annotations

import json
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from aisle.contract.operations import Param
from aisle.service.context import Context, OperationCall
from aisle.service.db import Transaction
from aisle.service.db.queries import Query, count_query
from aisle.service.domain.quantities import INT64_LIMIT
from aisle.service.errors import Refusal, bad_request, to_json_bytes
from aisle.service.http.request import MAX_PAGE_NUMBER, parse_integer

DEFAULT_PAGE_SIZE = 100
MAX_PAGE_SIZE = 1000
MAX_PAGE_CHARACTERS = 16 << 20
"""Characters of the rows of a page, unless it is one row."""
_MAX_SCROLL_ID = 2000
SCROLL_PARAM = Param("scroll_id", "query", "string", max_length=_MAX_SCROLL_ID, assumed=True)
"""What every list with the common envelope takes beside the document's parameters."""

MAX_COUNTED = MAX_PAGE_SIZE
"""Over several stores, a list of more rows is not counted to its end, and its pages have no `total_count`."""

RowKey = tuple[int | str, ...]
"""Of a row: what its list is ordered by."""

_T = TypeVar("_T")
_PAGING_PARAMETERS = frozenset({"page_size", "page_start", "page_number", "scroll_id"})
# What changes how rows are shown and not which.
_DISPLAY_PARAMETERS = frozenset({"show_lines", "include_locations", "accept_language", "app_username"})


class Page(NamedTuple):
    """Which page of a list, counted from 1, how long pages are, and the key of the row before it if that is known."""

    number: int
    size: int
    after_key: RowKey | None = None

    @property
    def offset(self) -> int:
        """How many rows have to be passed over."""
        return 0 if self.after_key else (self.number - 1) * self.size

    @property
    def limit(self) -> int:
        """How many rows have to be read: one more than is shown, which tells that there is a next page."""
        return self.size + 1

    def split_rows(self, rows: list[_T]) -> tuple[list[_T], bool]:
        """The rows to show, of those that were read, and whether there are more behind them."""
        return rows[: self.size], len(rows) > self.size

    def add_to_filters(self, filters: Mapping[str, object]) -> dict[str, object]:
        """These filters, and the row that the page begins behind."""
        return {**filters, "after": self.after_key} if self.after_key else dict(filters)


def parse_page(query: Mapping[str, Any], number_parameter: str = "page_start") -> Page:
    """The page a query asks for: the first, of 100, when it says nothing; of 1,000 at most. Raises Refusal (400)."""
    number = _positive(query, number_parameter, 1)
    size = _positive(query, "page_size", DEFAULT_PAGE_SIZE)
    return Page(number, min(size, MAX_PAGE_SIZE))


def parse_scroll_page(call: OperationCall, key_types: Sequence[type]) -> Page:
    """The page that a call asks for, perhaps by `scroll_id`; rows have a key of these kinds. Raises Refusal (400)."""
    page = parse_page(call.query)
    if "scroll_id" not in call.query:
        return page
    try:
        text = call.query["scroll_id"].encode("ascii")
        print_, number, *key = json.loads(urlsafe_b64decode(text + b"=" * (-len(text) % 4)))
        good = (
            [type(part) for part in key] == list(key_types) and type(number) is int and print_ == _list_checksum(call)
        )
        good = good and 0 < number <= MAX_PAGE_NUMBER and all(map(_is_possible_key, key))
    except (ValueError, TypeError, RecursionError):
        good = False
    if not good:
        raise bad_request("This belongs to another list, or to none.", "scroll_id")
    return page._replace(number=number, after_key=tuple(key))


def _is_possible_key(part: int | str) -> bool:
    """Whether a row can have this in its key: nobody has to have it from us. Raises ValueError for broken Unicode."""
    return -INT64_LIMIT <= part <= INT64_LIMIT if isinstance(part, int) else b"\0" not in part.encode()


def _list_checksum(call: OperationCall) -> int:
    """What a scroll_id is good for: the same list with the same filters."""
    asked = sorted((name, str(value)) for name, value in call.query.items() if name not in _PAGING_PARAMETERS)
    return zlib.crc32(json.dumps([sorted(call.path.items()), asked]).encode())


def _positive(query: Mapping[str, Any], name: str, default: int) -> int:
    value = query.get(name, default)
    number = parse_integer(value, name) if isinstance(value, str) else value
    if number < 1:
        raise bad_request("Pages and their sizes are counted from 1.", name)
    return int(number)


async def count_and_read(
    tx: Transaction,
    all_rows: Query,
    page: Page,
    read: Callable[[], Awaitable[list[_T]]],
    max_counted: int | None = None,
) -> tuple[int | None, list[_T]]:
    """How many rows a list over several stores has, None when they are more than it counts, and those of a page.

    `every` are all of its rows, in any order; `read` reads the page. Where it tells how many there are none is counted,
    and what is asked for to see whether there is anything at all is counted first: mostly there is nothing to read.
    `most` is what it counts up to where counting is dear: then nothing is counted first.
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
        known = _is_last_page(page, found) or (bool(found) and reached > max_counted)
        if page.after_key or not known:
            reached = await count_query(all_rows, max_counted + 1).fetch_count(tx)
        total = reached
    return (total if total <= max_counted else None), found


def _is_last_page(page: Page, rows: Sequence[object]) -> bool:
    """Whether a list is known to end on this page."""
    return len(rows) <= page.size and bool(rows or not page.offset)


def check_page_length(rows: Iterable[str], page: Page) -> list[str]:
    """The encoded rows of a page. Raises Refusal (413) as soon as they are too long for one answer."""
    kept: list[str] = []
    length = 0
    for row in rows:
        kept.append(row)
        length += len(row)
        if length > MAX_PAGE_CHARACTERS and page.size > 1:
            raise Refusal(
                413, f"This page is too long for one answer. Ask for less than {page.size} rows.", "page_size"
            )
    return kept


def reduced_envelope(rows: Iterable[str], page: Page, total: int | None, *, has_more: bool) -> bytes:
    """The reduced envelope of the receipt lists around encoded rows."""
    return (
        b'{"list":['
        + ",".join(check_page_length(rows, page)).encode()
        + b"],"
        + to_json_bytes(_page_members(page, total, has_more))[1:]
    )


def _page_members(page: Page, total: int | None, has_more: bool) -> dict[str, Any]:
    numbers = {
        "next_page": page.number + 1 if has_more else None,
        "previous_page": _previous_page(page, total),
        "page_size": page.size,
        "page_start": page.number,
    }
    return numbers if total is None else numbers | {"total_count": total}


def _previous_page(page: Page, total: int | None) -> int | None:
    """The nearest page before this one that has rows; where rows are not counted, the one before it."""
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
    """The common envelope around encoded rows. `more`: rows follow this page; `last` is the key of its last row."""
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
        # One that would not be taken is not told; the next page has its number, too.
        tail |= {"scroll_id": scroll} if len(scroll) <= _MAX_SCROLL_ID else {}
    tail |= {"sort_column": sort_column, "sort_order": "asc"}
    return b'{"list":[' + ",".join(check_page_length(rows, page)).encode() + b"]," + to_json_bytes(tail)[1:]


def _filter_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
