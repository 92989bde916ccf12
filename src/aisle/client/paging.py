"""Paging through lists: pure cursors that receive each page and give the next query.

A list is never trusted to end. A repeated page, or several empty pages, are an error and not the end, because ending
too early makes rows look deleted (interface: Paged list envelope, Limits).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from marshal import dumps
from reprlib import repr as short_repr
from typing import Any, Protocol

from aisle.client.responses_and_errors import InvalidResponse, PagingLoop, TooManyRows, to_int64
from aisle.contract.operations import Operation
from aisle.contract.request_encoding import QueryValue

Row = dict[str, Any]
"""Object of an answer of the service, as sent: it may lack any field and have others."""
Envelope = Row
"""Fields of a page beside its rows."""
_MAX_EMPTY_PAGES = 3
MAX_PAGES = 20_000
"""Pages that are read of one list; more do not end."""
THIN_PAGES, MIN_PAGE_ROWS = 1_000, 5
"""Pages after which a list ends that has fewer rows a page: small pages take hours before other limits end them."""
MAX_ROWS = 1_000_000
"""Rows that are read of one list; one with more has no end, and would fill the disk."""

_MAX_ROWS_BY_LIST = {"list-locations": 50_000}
"""Lists of which sessions keep all rows, with the rows that are read."""
_MAX_CURSOR = 1_000
"""Characters of a cursor, which the next request repeats."""


class PageCursor(Protocol):
    """Position in a list: the query of the next request."""

    query: dict[str, QueryValue]
    scroll_id: str | None
    """Scroll id of the next page, if the service gave one (interface: Paged list envelope)."""

    def advance(self, rows: Sequence[Row], envelope: Envelope) -> bool:
        """Take in a page and set the next query. Return True if there is a next page."""


class PageNumberCursor:
    """Cursor by page number: follows `next_page` if given, otherwise the total, otherwise until a page is not full."""

    def __init__(self, op: Operation, query: Mapping[str, QueryValue]) -> None:
        self._op = op
        self._param = "page_number" if op.paging == "products" else "page_start"
        self._page = to_int64(query.get(self._param)) or 1
        self._empty = 0
        self._seen_digests: set[bytes] = set()
        """Digests of the pages that were read."""
        self._rows = 0
        self.scroll_id: str | None = None
        self.query: dict[str, QueryValue] = {**query, self._param: self._page}

    def advance(self, rows: Sequence[Row], envelope: Envelope) -> bool:
        """Advance as PageCursor. Raise PagingLoop or TooManyRows if pages repeat or never end."""
        self._rows += len(rows)
        check_row_count(self._op, self._rows)
        following = self._next_page(rows, envelope)
        if following is None:
            return False
        scroll_id = envelope.get("scroll_id")
        if isinstance(scroll_id, str):
            check_cursor(self._op.name, scroll_id)
        self.scroll_id = scroll_id if isinstance(scroll_id, str) and scroll_id else None
        digest = page_digest(rows) if rows else None
        repeated = digest in self._seen_digests
        if digest is not None:
            self._seen_digests.add(digest)
        self._empty = 0 if rows else self._empty + 1
        check_page_count(self._op, len(self._seen_digests), self._rows)
        has_no_end = self._empty >= _MAX_EMPTY_PAGES
        if repeated or following <= self._page or has_no_end:
            where = f"page {self._page} leads to page {following}"
            raise PagingLoop(f"The pages of {self._op.name} do not end: {where}.", rows)
        self._page = following
        self.query = {**self.query, self._param: following}
        return True

    def _next_page(self, rows: Sequence[Row], envelope: Envelope) -> int | None:
        if "next_page" in envelope:
            next_page = envelope["next_page"]
            if next_page is not None and to_int64(next_page) is None:
                raise PagingLoop(f"{self._op.name} names {short_repr(next_page)} as its next page.", rows)
            return to_int64(next_page)
        if not rows:
            return None
        size = to_int64(envelope.get("page_size")) or to_int64(self.query.get("page_size"))
        total = to_int64(envelope.get("total_record_count", envelope.get("total_count")))
        if total is not None and size:
            return self._page + 1 if self._page * size < total else None
        return self._page + 1 if len(rows) == size else None  # more than a page: the service does not page


class IdCursor:
    """Cursor by id: each request asks for ids above the last one, so rows that come or go do not shift the pages.

    Only for lists with `from_id` and rows with `id`; rows that are not in ascending order are an error.
    """

    def __init__(self, op: Operation, query: Mapping[str, QueryValue]) -> None:
        self._op = op
        self._from = to_int64(query.get("from_id"))
        self._rows = self._pages = 0
        self.scroll_id: str | None = None
        self.query: dict[str, QueryValue] = dict(query)

    def advance(self, rows: Sequence[Row], envelope: Envelope) -> bool:
        """Advance as PageCursor. Raise InvalidResponse if ids are missing, unordered or below the requested one."""
        if not rows:
            return False
        self._rows += len(rows)
        self._pages += 1
        check_row_count(self._op, self._rows)
        check_page_count(self._op, self._pages, self._rows)
        last = self._from - 1 if self._from is not None else None
        for row in rows:
            number = to_int64(row.get("id"))
            if number is None or (last is not None and number <= last):
                raise InvalidResponse(
                    f"{self._op.name} cannot be read by id: {short_repr(row.get('id'))} follows {last}."
                )
            last = number
        self._from = (last or 0) + 1
        self.query = {**self.query, "from_id": self._from}
        if "next_page" in envelope:
            return envelope["next_page"] is not None
        size = to_int64(self.query.get("page_size"))
        return size is None or len(rows) >= size


def check_cursor(name: str, cursor: str) -> None:
    """Raise InvalidResponse if what the next request has to repeat is too long."""
    if len(cursor) > _MAX_CURSOR:
        raise InvalidResponse(f"The answer to {name} has a cursor of {len(cursor):,} characters.")


def check_page_count(op: Operation, count: int, rows: int) -> None:
    """Raise TooManyRows above MAX_PAGES, or above THIN_PAGES that have too few rows."""
    if count > MAX_PAGES:
        raise TooManyRows(f"The pages of {op.name} do not end: there are more than {MAX_PAGES:,}.")
    if count > THIN_PAGES and rows < count * MIN_PAGE_ROWS:
        raise TooManyRows(
            f"The pages of {op.name} do not end: there are more than {THIN_PAGES:,} with few rows ({rows:,} in all)."
        )


def check_row_count(op: Operation, count: int) -> None:
    """Raise TooManyRows above MAX_ROWS, or above the limit of this list."""
    most = _MAX_ROWS_BY_LIST.get(op.name, MAX_ROWS)
    if count > most:
        raise TooManyRows(f"The rows of {op.name} do not end: there are more than {most:,}.")


def smaller_pages(op: Operation, query: Mapping[str, QueryValue]) -> list[dict[str, QueryValue]]:
    """Return queries of smaller pages that together have the rows of one page; empty if it cannot be divided.

    By id it is one query: the next request asks for ids above its last row.
    """
    size = to_int64(query.get("page_size"))
    if size is None or size < 2:
        return []
    if query.get("from_id") is not None:
        return [{**query, "page_size": size // 2}]
    number = "page_number" if op.paging == "products" else "page_start"
    parts = next((factor for factor in range(2, size) if size % factor == 0), size)
    first = ((to_int64(query.get(number)) or 1) - 1) * parts + 1
    return [{**query, "page_size": size // parts, number: first + part} for part in range(parts)]


def rows_of(op: Operation, body: Any) -> list[Row]:
    """Return the rows of a page. Raise InvalidResponse if the body is no page: it must not look like an empty list."""
    name = "records" if op.paging == "products" else "list"
    rows = body.get(name) if isinstance(body, dict) else None
    if rows is None and isinstance(body, dict) and _may_lack_rows(op, body):
        return []
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InvalidResponse(f"The answer to {op.name} is no page: {name} has to be an array of objects.")
    return rows


def _may_lack_rows(op: Operation, body: Row) -> bool:
    """Return True if rows may be missing: order list and catalogue, with a count of 0."""
    counted = body.get("total_record_count" if op.paging == "products" else "total_count")
    return op.name in ("list-customer-orders", "list-products") and type(counted) is int and counted == 0


def page_digest(rows: Any) -> bytes | None:
    """Return a digest that identifies a page; None if it is nested too deeply."""
    try:
        content = dumps(rows, 2)  # later versions of marshal depend on reference counts
    except ValueError:
        return None
    return blake2b(content, digest_size=16).digest()
