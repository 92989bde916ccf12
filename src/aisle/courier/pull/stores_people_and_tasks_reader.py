"""Readers of whole lists: the stores of the chain, and the people, recounts and assignments of a store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from aisle.cache.store_lists_writer import ASSIGNMENTS_TOPIC
from aisle.cache.writer import CacheWriter
from aisle.client import Client
from aisle.client.client import pages_by_count
from aisle.client.errors import InvalidResponse, message_of, status_error
from aisle.contract.request_encoding import QueryValue, encode_segment
from aisle.courier.pull.log_reader import OnWritten
from aisle.courier.service_features import read_extension_list

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
            rows = await read_extension_list(self.client, self._path, "recounts")
            self.on_written("recount", RECOUNT_LIST, self.cache.write_recounts(rows))


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
            rows = {str(row.get("id")): row for row in await read_extension_list(self.client, path, "assignments")}
            with self.cache.transaction():
                self.on_written("assignment", ASSIGNMENT_LIST, self.cache.write_assignments(list(rows.values())))
                self.cache.set_cursor(ASSIGNMENTS_TOPIC, began)
            return set(rows)


PERSON = "person"


class PeopleReader(NamedTuple):
    """Reader of one store's people. Only our own service has them."""

    client: Client
    cache: CacheWriter
    store: str
    on_written: OnWritten

    async def read(self) -> None:
        """Read the people of the store, which replace those in the cache. Raise ClientError."""
        path = f"/aisle/v1/stores/{encode_segment(self.store)}/people"
        people = await read_extension_list(self.client, path, "people")
        self.on_written(PERSON, "list-people", self.cache.write_people(people))
