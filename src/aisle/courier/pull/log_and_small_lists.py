"""Reads of whole lists: the store's log, the chain's stores, recounts and assignments.

interface: List store product logs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from aisle.cache.store_lists_writer import ASSIGNMENTS_TOPIC
from aisle.cache.writer import CacheWriter, WriteResult
from aisle.client import Client
from aisle.client.client import pages_by_count
from aisle.client.errors import InvalidResponse, message_of, status_error
from aisle.client.paging import Row
from aisle.contract.wire import QueryValue, encode_segment
from aisle.courier.operator_notices import OperatorNotices
from aisle.courier.service_features import read_extension

LOG_DAYS = 7
"""Days of the store's log that are kept."""
LOSS_DAYS = 63
"""Days of losses and finds (entries with a reason) that are kept."""
HISTORIC_DAYS = 80
"""Days after which the service may treat entries as historic; those must be requested as such."""
LONGER_LOG_KEPT_S = 86400.0
"""Seconds for which older days are kept after somebody looked at them."""
MAX_LOG_PAGES = 200
"""Pages of a log that are read in one go."""

LOG_LIST = "list-store-product-logs"
SINCE_PREFIX, LOSSES_PREFIX = "since/", "losses/"
"""Prefixes of a read request: a first day (`since/2026-09-01`), or reason codes (`losses/1,2,3`)."""

_LAST_ID_CURSOR, _SPAN_CURSOR, _LOSSES_CURSOR = "logs", "logs_span", "logs_losses"

OnWritten = Callable[[str, str, WriteResult], Any]


class LogReader(NamedTuple):
    """Reader of one store's log."""

    client: Client
    cache: CacheWriter
    store: str
    on_written: OnWritten
    """Callback with the topic, the operation and what was written."""
    operator_notices: OperatorNotices
    now: Callable[[], float]

    async def read(self, wanted: str = "") -> None:
        """Read what is requested (see the prefixes above); by default the entries since the last read."""
        if wanted.startswith(LOSSES_PREFIX):
            codes = [code for code in wanted.removeprefix(LOSSES_PREFIX).split(",") if code.isdecimal()]
            await self._read_losses(codes)
        else:
            await self._read_entries(wanted.removeprefix(SINCE_PREFIX) if wanted.startswith(SINCE_PREFIX) else "")

    def _date_before(self, days_back: float) -> str:
        """Return the UTC date of so many days ago."""
        return datetime.fromtimestamp(self.now() - days_back * 86400, UTC).date().isoformat()

    def _first_day(self, requested_day: str = "") -> str:
        """Return the first day of the log to keep; an earlier one for a day after somebody looked at it."""
        span = self.cache.cursor(_SPAN_CURSOR)
        usual = self._date_before(LOG_DAYS)
        if requested_day:
            return min(requested_day, usual)
        kept = isinstance(span, dict) and self.now() - float(span["asked"]) < LONGER_LOG_KEPT_S
        return min(str(span["since"]), usual) if kept else usual

    async def _read_entries(self, requested_day: str) -> None:
        since, span = self._first_day(requested_day), self.cache.cursor(_SPAN_CURSOR)
        query: dict[str, QueryValue] = {"store_number": self.store, "last_modified_date": since, "page_size": 500}
        if since < self._date_before(HISTORIC_DAYS):
            query["is_historic"] = True
        last = self.cache.cursor(_LAST_ID_CURSOR)
        if isinstance(last, int) and (not isinstance(span, dict) or str(span["since"]) <= since):
            query["from_id"] = last + 1
        last = await self._read_pages(
            query, since, lambda reached: self.cache.set_cursor(_LAST_ID_CURSOR, reached), last
        )
        if requested_day or not isinstance(span, dict) or str(span["since"]) != since:
            self.cache.set_cursor(_SPAN_CURSOR, {"since": since, "asked": self.now() if requested_day else 0.0})

    async def _read_losses(self, codes: list[str]) -> None:
        """Read the entries of each reason code; the whole log of some weeks would be too long."""
        reached = self.cache.cursor(_LOSSES_CURSOR)
        last_ids: dict[str, int] = dict(reached) if isinstance(reached, dict) else {}
        for code in codes:
            query: dict[str, QueryValue] = {"store_number": self.store, "reason_code": int(code), "page_size": 500}
            query["last_modified_date"] = self._date_before(LOSS_DAYS)
            if code in last_ids:
                query["from_id"] = last_ids[code] + 1
            last = await self._read_pages(query, self._first_day(), lambda _: None, last_ids.get(code))
            if last is not None:
                last_ids[code] = last
                self.cache.set_cursor(_LOSSES_CURSOR, last_ids)

    async def _read_pages(
        self, query: dict[str, QueryValue], since: str, save_last_id: Callable[[int | None], None], last: Any
    ) -> Any:
        """Read page after page into the cache. Return the highest id."""
        read = 0
        async with aclosing(self.client.pages(LOG_LIST, query=query)) as pages:
            async for rows, _ in pages:
                last = max([row["id"] for row in rows if isinstance(row.get("id"), int)], default=last)
                with self.cache.transaction():
                    self.on_written("log", LOG_LIST, self.cache.write_logs(rows, since, self._date_before(LOSS_DAYS)))
                    save_last_id(last)
                read += 1
                if read >= MAX_LOG_PAGES:
                    self.operator_notices.add(
                        f"The log is longer than {MAX_LOG_PAGES} pages; it was read up to entry {last}."
                    )
                    break
        return last


STORE_LIST, STORE_READ = "list-stores", "retrieve-store"
_PERMANENT_STATUSES = (400, 403, 404, 405, 410, 422, 501)
"""Statuses that do not change when the request is repeated."""


@dataclass
class StoreReader:
    """Reader of the chain's stores."""

    client: Client
    cache: CacheWriter
    store: str
    on_written: OnWritten
    now: Callable[[], float]
    has_details: bool = False
    """True if the service has more details of a store than the list."""
    opened_stores: set[str] = field(default_factory=set)
    """Stores whose page somebody has opened."""

    async def read(self, number: str = "") -> None:
        """Read one store, or all of the chain; delete those that the list no longer has. Raise ClientError."""
        query: dict[str, QueryValue] = {"search_text": number} if number else {"page_size": "500"}
        seen: set[str] = set()
        whole = True
        async for rows, _ in pages_by_count(self.client, STORE_LIST, query=query):
            written = self.cache.write_stores(rows)
            self.on_written("store", STORE_LIST, written)
            seen |= set(written.keys)
            whole = whole and not written.skipped
        if whole and seen and not number:
            self.cache.delete_unseen_stores({*seen, self.store})
        if number and self.has_details and (number in self.opened_stores or self.cache.has_store_details(number)):
            await self._read_details(number)

    async def _read_details(self, number: str) -> None:
        began = self.now()
        response = await self.client.request_extension("GET", f"/aisle/v1/stores/{encode_segment(number)}")
        if response.status in _PERMANENT_STATUSES:
            written = self.cache.write_store_details(number, None, began, message_of(response) or str(response.status))
        elif not response.is_success:
            raise status_error(STORE_READ, response)
        else:
            try:
                details = dict(response.json())
            except (ValueError, TypeError) as error:
                raise InvalidResponse(f"The answer to {STORE_READ} cannot be read.") from error
            written = self.cache.write_store_details(number, details, began)
        self.on_written("store", STORE_READ, written)


RECOUNT_LIST = "list-recounts"


@dataclass(eq=False)
class RecountReader:
    """Reader of one store's recounts. Reads run one after the other, so the last one begun decides."""

    client: Client
    cache: CacheWriter
    store: str
    on_written: OnWritten

    def __post_init__(self) -> None:
        self._path = f"/aisle/v1/stores/{encode_segment(self.store)}/recounts"
        self._lock = asyncio.Lock()

    async def read(self) -> None:
        """Read all open recounts, which replace those in the cache. Raise ClientError."""
        async with self._lock:
            rows: list[Row] = []
            more = True
            while more:
                query = {"after": rows[-1]["id"]} if rows else {}
                page, more = await read_extension(self.client, RECOUNT_LIST, self._path, _parse_recounts, query)
                if more and page[-1]["id"] == query.get("after"):
                    raise InvalidResponse("The recounts do not end.")
                rows += page
            self.on_written("recount", RECOUNT_LIST, self.cache.write_recounts(rows))


def _parse_recounts(body: Any) -> tuple[list[Row], bool]:
    """Return the rows of a page, and True if there are more; each page before the last has a row with an id."""
    rows, more = [dict(row) for row in body["recounts"]], bool(body["more"])
    if more and "id" not in rows[-1]:
        raise ValueError("the last row has no id")
    return rows, more


ASSIGNMENT_LIST = "list-assignments"


@dataclass
class AssignmentReader:
    """Reader of one store's assignments. Reads run one after the other, so the last one begun decides."""

    client: Client
    cache: CacheWriter
    store: str
    on_written: OnWritten
    clock: Callable[[], float]
    is_supported: bool = False
    """True if the service announces the list; it is not requested otherwise."""
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def cached_ids(self) -> set[str]:
        """Return the ids of the assignments in the cache."""
        return self.cache.assignment_ids()

    async def read(self) -> set[str] | None:
        """Read all open assignments, which replace those in the cache. Return their ids; None if unsupported.

        Raise ClientError.
        """
        if not self.is_supported:
            return None
        path = f"/aisle/v1/stores/{encode_segment(self.store)}/assignments"
        async with self._lock:
            began = self.clock()
            rows = await read_extension(self.client, ASSIGNMENT_LIST, path, _parse_assignments)
            with self.cache.transaction():
                self.on_written("assignment", ASSIGNMENT_LIST, self.cache.write_assignments(list(rows.values())))
                self.cache.set_cursor(ASSIGNMENTS_TOPIC, began)
            return set(rows)


def _parse_assignments(body: Any) -> dict[str, Row]:
    return {str(row["id"]): dict(row) for row in body["assignments"]}
