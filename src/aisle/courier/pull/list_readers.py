"""Readers of lists: the store's log, deliveries with their receipts, and lists that are always read whole.

Interface: List store product logs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from aisle.cache.row_parsing_and_writing import WriteResult
from aisle.cache.store_lists_writer import ASSIGNMENTS_TOPIC
from aisle.cache.writer import CacheWriter
from aisle.client import Client
from aisle.client.client import pages_by_count
from aisle.client.paging import Row
from aisle.client.responses_and_errors import (
    ClientError,
    InvalidRequest,
    InvalidResponse,
    NotFound,
    NotSent,
    RateLimited,
    StatusError,
    Unauthorized,
    message_of,
    status_error,
    to_int64,
)
from aisle.contract.request_encoding import QueryValue, encode_segment
from aisle.courier.link_state import OperatorNotices
from aisle.courier.notify import DELIVERY, ENTRY_PREFIX, Topic
from aisle.courier.pull.cache_update import CacheUpdate, Notify, ReadOvertaken
from aisle.courier.service_features_and_lists import read_extension_list
from aisle.host.notify_sockets import format_topic

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
"""Prefixes of a read request: a first day (`since/2026-09-01`), or reason codes (`losses/1,2,3`). One entry has
`ENTRY_PREFIX`."""


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
        elif wanted.startswith(ENTRY_PREFIX):
            await self._read_entry(int(wanted.removeprefix(ENTRY_PREFIX)))
        else:
            await self._read_entries(wanted.removeprefix(SINCE_PREFIX) if wanted.startswith(SINCE_PREFIX) else "")

    def forget_position(self) -> None:
        """Forget what was read, so that the next read brings all entries again: too many have changed."""
        with self.cache.transaction():
            self.cache.set_cursor(_LAST_ID_CURSOR, None)
            self.cache.set_cursor(_LOSSES_CURSOR, None)

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
        if not isinstance(last, int) or (isinstance(span, dict) and str(span["since"]) > since):
            last = None
        await self._read_new(query, since, lambda reached: self.cache.set_cursor(_LAST_ID_CURSOR, reached), last)
        if requested_day or not isinstance(span, dict) or str(span["since"]) != since:
            self.cache.set_cursor(_SPAN_CURSOR, {"since": since, "asked": self.now() if requested_day else 0.0})

    async def _read_entry(self, id_: int) -> None:
        """Read an entry again: its review has changed, and reads of new entries leave it out.

        If the log was never read, its first read brings the entry.
        """
        if self.cache.cursor(_LAST_ID_CURSOR) is None:
            return
        query: dict[str, QueryValue] = {"store_number": self.store, "from_id": id_, "to_id": id_, "page_size": 1}
        await self._read_pages(query, self._first_day(), lambda _: None)

    async def _read_losses(self, codes: list[str]) -> None:
        """Read the entries of each reason code; the whole log of some weeks would be too long."""
        reached = self.cache.cursor(_LOSSES_CURSOR)
        last_ids: dict[str, int] = dict(reached) if isinstance(reached, dict) else {}
        for code in codes:
            query: dict[str, QueryValue] = {"store_number": self.store, "reason_code": int(code), "page_size": 500}
            query["last_modified_date"] = self._date_before(LOSS_DAYS)
            last = await self._read_new(query, self._first_day(), lambda _: None, last_ids.pop(code, None))
            if last is not None:
                last_ids[code] = last
            self.cache.set_cursor(_LOSSES_CURSOR, last_ids)

    async def _read_new(
        self, query: dict[str, QueryValue], since: str, save_last_id: Callable[[int | None], None], last: int | None
    ) -> int | None:
        """Read the entries from the last known one on. Return the highest id.

        If the log does not have that one, its number was wrong, and all entries are read.
        """
        if last is not None:
            reached = await self._read_pages({**query, "from_id": last}, since, save_last_id)
            if reached is not None:
                return reached
        return await self._read_pages(query, since, save_last_id)

    async def _read_pages(
        self, query: dict[str, QueryValue], since: str, save_last_id: Callable[[int | None], None]
    ) -> int | None:
        """Read page after page into the cache. Return the highest id; None if there is none."""
        read, last = 0, None
        async with aclosing(self.client.pages(LOG_LIST, query=query)) as pages:
            async for rows, _ in pages:
                ids = (to_int64(row.get("id")) for row in rows if isinstance(row.get("id"), int))
                last = max((id_ for id_ in ids if id_ is not None), default=last)
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


Query = dict[str, QueryValue]
DELIVERY_DAYS = 60
"""Days without a change after which a delivery is read only by its number."""
RECEIPT_TYPES = (1, 2)
"""Receipt types that are requested besides those of known deliveries: purchases and transfers."""


class ReceiptsResult(NamedTuple):
    """Result of a read of receipts."""

    delivery_numbers: set[str] | None
    """Numbers of the deliveries with receipts; None if not all could be read."""
    error: ClientError | None
    """Reason for which the list, or a part of it, cannot be read."""


@dataclass(eq=False)
class DeliveryReader:
    """Reader of one store's deliveries and receipts."""

    client: Client
    cache_update: CacheUpdate
    store: str
    operator_notices: OperatorNotices
    notify: Notify
    clock: Callable[[], float]

    def __post_init__(self) -> None:
        self._cache = self.cache_update.cache
        self._store_path = {"store_number": self.store}

    async def read(self, number: str) -> None:
        """Read one delivery with its lines and receipts; a missing one is deleted. Raise ReadOvertaken."""
        began = self.clock()
        query: Query = {"store_number": self.store, "order_number": number}
        rows, _ = await self.client.first_page("list-deliveries", path=None, query=query)
        found = [row for row in rows if str(row.get("order_number")) == number]
        if not found:
            self._cache.delete_deliveries([number])
            self.notify([format_topic(DELIVERY, number)])
            return
        with self.cache_update.require_valid_rows(DELIVERY, number):
            self.cache_update.put_deliveries(found, began)
        kind = str(found[0].get("order_type") or "")
        received = await self._read_receipt_types(
            {"order_number": number}, [int(kind)] if kind.isdecimal() else RECEIPT_TYPES
        )
        if received.error is not None and not isinstance(received.error, StatusError):
            raise received.error
        if Topic(DELIVERY, number) in self.cache_update.overtaken:
            raise ReadOvertaken

    async def read_receipts(self) -> None:
        """Read the receipts of the last weeks, type by type; delete older ones.

        Raise ClientError after all types were requested.
        """
        since: Query = {"last_modified_date": self.first_day(), "page_size": 100}
        received = await self._read_receipt_types(since, sorted({*RECEIPT_TYPES, *self._cache.delivery_types()}))
        if received.error is not None:
            raise received.error
        if received.delivery_numbers is not None:
            self._cache.delete_unseen_receipts(received.delivery_numbers)

    def first_day(self) -> str:
        """Return the first day from which deliveries are requested."""
        return datetime.fromtimestamp(self.clock() - DELIVERY_DAYS * 86400, UTC).date().isoformat()

    async def _read_receipt_types(self, query: Query, types: Iterable[int]) -> ReceiptsResult:
        """Read receipts of these types; a type that cannot be read does not stop the others."""
        seen: set[str] | None = set()
        failed: list[ClientError] = []
        read = 0
        for kind in types:
            type_query: Query = {**query, "receipt_type": kind}
            try:
                async for rows, _ in self.client.pages("list-store-receipts", path=self._store_path, query=type_query):
                    written = self._cache.write_receipts(rows)
                    self.cache_update.record_written(DELIVERY, "list-store-receipts", written)
                    seen = None if seen is None or written.skipped else seen | set(written.keys)
                read += 1
            except (Unauthorized, NotSent, RateLimited):
                raise
            except ClientError as error:
                self.operator_notices.add(f"Receipts of type {kind} cannot be read: {error}")
                failed.append(error)
        expected = NotFound | InvalidRequest if read else ()  # a service need not have receipts of every type
        cause = next((each for each in failed if not isinstance(each, expected)), None)
        return ReceiptsResult(None if failed else seen, cause)


STORE_LIST, STORE_READ = "list-stores", "retrieve-store"
PERMANENT_STATUSES = (400, 403, 404, 405, 410, 422, 501)
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
        if response.status in PERMANENT_STATUSES:
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


@dataclass(eq=False)
class OwnListReader:
    """Reader of a list of one store that only our own service has. Reads run in turn, so the last one begun decides."""

    client: Client
    store: str
    on_written: OnWritten
    now: Callable[[], float]
    topic: str
    name: str
    write: Callable[[list[Row], float], WriteResult]
    """Replaces the rows in the cache; the second argument is the time at which the read began."""
    is_supported: bool = True
    """True if the service announces the list; it is not requested otherwise."""

    def __post_init__(self) -> None:
        self._path = f"/aisle/v1/stores/{encode_segment(self.store)}/{self.name}"
        self._lock = asyncio.Lock()

    async def read(self, key: str = "") -> list[Row] | None:
        """Read all rows, whatever the key. Return them; None if unsupported. Raise ClientError."""
        if not self.is_supported:
            return None
        async with self._lock:
            began = self.now()
            rows = await read_extension_list(self.client, self._path, self.name)
            self.on_written(self.topic, f"list-{self.name}", self.write(rows, began))
        return rows


def replace_assignments(cache: CacheWriter, rows: Sequence[Row], began: float) -> WriteResult:
    """Replace the assignments in the cache, with the time at which their read began."""
    with cache.transaction():
        cache.set_cursor(ASSIGNMENTS_TOPIC, began)
        return cache.write_assignments({str(row.get("id")): row for row in rows}.values())
