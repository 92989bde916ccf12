"""Pages of lists, as the envelope of the interface in bytes (interface: Paged list envelope).

A page is named by its number, or by the `scroll_id` of the page before it. Then it is found by the key of the last row:
rows that come and go meanwhile make none appear twice or be left out, and the last page costs what the first one does.
"""

from __future__ import annotations

import json
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from aisle.contract.operation import Param
from aisle.service.amounts import LARGEST
from aisle.service.answers import Refusal, dumps, malformed
from aisle.service.context import Call, Context
from aisle.service.request import LARGEST_PAGE, whole
from aisle.service.sql.compose import Query, counted
from aisle.service.storage import Tx
from aisle.tuples import NamedTuple

DEFAULT_SIZE = 100
LARGEST_SIZE = 1000
LONGEST_PAGE = 16 << 20
"""Characters of the rows of a page, unless it is one row."""
_LONGEST_SCROLL = 2000
SCROLL = Param("scroll_id", "query", "string", max_length=_LONGEST_SCROLL, assumed=True)
"""What every list with the common envelope takes beside the document's parameters."""

MOST_COUNTED = LARGEST_SIZE
"""Over several stores, a list of more rows is not counted to its end, and its pages have no `total_count`."""

Key = tuple[int | str, ...]
"""Of a row: what its list is ordered by."""

_T = TypeVar("_T")
_PAGING = frozenset({"page_size", "page_start", "page_number", "scroll_id"})
# What changes how rows are shown and not which.
_SHOWING = frozenset({"show_lines", "include_locations", "accept_language", "app_username"})


class Page(NamedTuple):
    """Which page of a list, counted from 1, how long pages are, and the key of the row before it if that is known."""

    number: int
    size: int
    after: Key | None = None

    @property
    def offset(self) -> int:
        """How many rows have to be passed over."""
        return 0 if self.after else (self.number - 1) * self.size

    @property
    def limit(self) -> int:
        """How many rows have to be read: one more than is shown, which tells that there is a next page."""
        return self.size + 1

    def cut(self, rows: list[_T]) -> tuple[list[_T], bool]:
        """The rows to show, of those that were read, and whether there are more behind them."""
        return rows[: self.size], len(rows) > self.size

    def behind(self, asked: Mapping[str, object]) -> dict[str, object]:
        """These filters, and the row that the page begins behind."""
        return {**asked, "after": self.after} if self.after else dict(asked)


def asked_page(query: Mapping[str, Any], start: str = "page_start") -> Page:
    """The page a query asks for: the first, of 100, when it says nothing; of 1,000 at most. Raises Refusal (400)."""
    number = _positive(query, start, 1)
    size = _positive(query, "page_size", DEFAULT_SIZE)
    return Page(number, min(size, LARGEST_SIZE))


def scrolled_page(call: Call, kinds: Sequence[type]) -> Page:
    """The page that a call asks for, perhaps by `scroll_id`; rows have a key of these kinds. Raises Refusal (400)."""
    page = asked_page(call.query)
    if "scroll_id" not in call.query:
        return page
    try:
        text = call.query["scroll_id"].encode("ascii")
        print_, number, *key = json.loads(urlsafe_b64decode(text + b"=" * (-len(text) % 4)))
        good = [type(part) for part in key] == list(kinds) and type(number) is int and print_ == _print(call)
        good = good and 0 < number <= LARGEST_PAGE and all(map(_can_be, key))
    except (ValueError, TypeError, RecursionError):
        good = False
    if not good:
        raise malformed("This belongs to another list, or to none.", "scroll_id")
    return page._replace(number=number, after=tuple(key))


def _can_be(part: int | str) -> bool:
    """Whether a row can have this in its key: nobody has to have it from us. Raises ValueError for broken Unicode."""
    return -LARGEST <= part <= LARGEST if isinstance(part, int) else b"\0" not in part.encode()


def _print(call: Call) -> int:
    """What a scroll_id is good for: the same list with the same filters."""
    asked = sorted((name, str(value)) for name, value in call.query.items() if name not in _PAGING)
    return zlib.crc32(json.dumps([sorted(call.path.items()), asked]).encode())


def _positive(query: Mapping[str, Any], name: str, default: int) -> int:
    value = query.get(name, default)
    number = whole(value, name) if isinstance(value, str) else value
    if number < 1:
        raise malformed("Pages and their sizes are counted from 1.", name)
    return int(number)


async def over_stores(
    tx: Tx, every: Query, page: Page, read: Callable[[], Awaitable[list[_T]]], most: int | None = None
) -> tuple[int | None, list[_T]]:
    """How many rows a list over several stores has, None when they are more than it counts, and those of a page.

    `every` are all of its rows, in any order; `read` reads the page. Where it tells how many there are none is counted,
    and what is asked for to see whether there is anything at all is counted first: mostly there is nothing to read.
    `most` is what it counts up to where counting is dear: then nothing is counted first.
    """
    total = None
    if most is None:
        most = MOST_COUNTED
        total = None if every.plain or page.offset else await counted(every, most + 1).total(tx)
    if total == 0:
        return 0, []
    found = await read()
    if total is None:
        reached = page.offset + len(found)
        known = _ends(page, found) or (bool(found) and reached > most)
        if page.after or not known:
            reached = await counted(every, most + 1).total(tx)
        total = reached
    return (total if total <= most else None), found


def _ends(page: Page, found: Sequence[object]) -> bool:
    """Whether a list is known to end on this page."""
    return len(found) <= page.size and bool(found or not page.offset)


def bounded(rows: Iterable[str], page: Page) -> list[str]:
    """The encoded rows of a page. Raises Refusal (413) as soon as they are too long for one answer."""
    kept: list[str] = []
    length = 0
    for row in rows:
        kept.append(row)
        length += len(row)
        if length > LONGEST_PAGE and page.size > 1:
            raise Refusal(
                413, f"This page is too long for one answer. Ask for less than {page.size} rows.", "page_size"
            )
    return kept


def reduced(rows: Iterable[str], page: Page, total: int | None, *, more: bool) -> bytes:
    """The reduced envelope of the receipt lists around encoded rows."""
    return b'{"list":[' + ",".join(bounded(rows, page)).encode() + b"]," + dumps(_numbers(page, total, more))[1:]


def _numbers(page: Page, total: int | None, more: bool) -> dict[str, Any]:
    numbers = {
        "next_page": page.number + 1 if more else None,
        "previous_page": _previous(page, total),
        "page_size": page.size,
        "page_start": page.number,
    }
    return numbers if total is None else numbers | {"total_count": total}


def _previous(page: Page, total: int | None) -> int | None:
    """The nearest page before this one that has rows; where rows are not counted, the one before it."""
    last = page.number - 1 if total is None else -(-total // page.size)
    return min(page.number - 1, last) or None


def envelope(
    ctx: Context,
    call: Call,
    rows: Iterable[str],
    page: Page,
    total: int | None,
    *,
    more: bool,
    sort: str,
    last: Key | None = None,
) -> bytes:
    """The common envelope around encoded rows. `more`: rows follow this page; `last` is the key of its last row."""
    filters = {name: [_text(value)] for name, value in call.query.items() if name not in _PAGING | _SHOWING}
    tail = _numbers(page, total, more) | {"server_time": ctx.now}
    if filters:
        tail["list_filters"] = filters
    if last and tail["next_page"]:
        text = json.dumps([_print(call), page.number + 1, *last], ensure_ascii=False).encode()
        scroll = urlsafe_b64encode(text).decode().rstrip("=")
        # One that would not be taken is not told; the next page has its number, too.
        tail |= {"scroll_id": scroll} if len(scroll) <= _LONGEST_SCROLL else {}
    tail |= {"sort_column": sort, "sort_order": "asc"}
    return b'{"list":[' + ",".join(bounded(rows, page)).encode() + b"]," + dumps(tail)[1:]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
