"""Reads of deliveries and receipts: one delivery with its receipts, and the receipts of the last weeks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from aisle.client import Client
from aisle.client.errors import ClientError, InvalidRequest, NotFound, NotSent, RateLimited, StatusError, Unauthorized
from aisle.contract.request_encoding import QueryValue
from aisle.courier.operator_notices import OperatorNotices
from aisle.courier.pull.cache_update import CacheUpdate, Notify, ReadOvertaken
from aisle.courier.topics import DELIVERY, Topic
from aisle.host.notify_sockets import format_topic

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
