"""Readers of whole lists: the stores of the chain, and the lists of a store that only our own service has."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from aisle.cache.row_writing import WriteResult
from aisle.cache.store_lists_writer import ASSIGNMENTS_TOPIC
from aisle.cache.writer import CacheWriter
from aisle.client import Client
from aisle.client.client import pages_by_count
from aisle.client.errors import InvalidResponse, message_of, status_error
from aisle.client.paging import Row
from aisle.contract.request_encoding import QueryValue, encode_segment
from aisle.courier.pull.log_reader import OnWritten
from aisle.courier.service_features import read_extension_list

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
