"""Single reads: an order, a product, a place, the stores, the people. Each ends in the cache, or in ClientError."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any, NamedTuple

from aisle.cache.writer import ABSENT_TOPIC
from aisle.client import Client
from aisle.client.errors import (
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
)
from aisle.client.response import Response
from aisle.contract.wire import QueryValue, encode_segment
from aisle.courier.list_requests import CHECKED_LISTS, pages_by_count, request_one_row
from aisle.courier.notify import notification_topics
from aisle.courier.operator_log import OperatorLog
from aisle.courier.pull.cache_update import STOCK, CacheUpdate, Notify, Row
from aisle.courier.pull.list_reads import AssignmentReader, LogReader, RecountReader, StoreReader
from aisle.courier.read_topics import (
    ASSIGNMENT,
    CATALOGUE,
    DELIVERY,
    LOCATION,
    LOG,
    ORDER,
    PRODUCT,
    RECOUNT,
    STORE,
    SURROUNDING,
    Topic,
)
from aisle.host.notify_sockets import format_topic

Query = dict[str, QueryValue]
PERSON = "person"
MAX_CHANGED_PRODUCTS = 200
"""Products that one list of what has changed brings, at most."""
DELIVERY_DAYS = 60
"""Deliveries that have not changed for so many days are asked for by their number alone."""
RECEIPT_TYPES = (1, 2)
"""Types of receipts that are asked for, beside those of the deliveries that are known: purchases and transfers."""
_PERMANENT_STATUSES = (400, 403, 404, 405, 410, 422, 501)
"""Answers that asking again does not change."""


class ReadOvertaken(Exception):
    """While something was read, something that changes it was on its way: nobody knows whether the answer has it."""


class ReceiptsResult(NamedTuple):
    """What became of asking for receipts."""

    delivery_numbers: set[str] | None
    """The numbers of the deliveries that they are of; None where not all could be read."""
    error: ClientError | None
    """Why the list, or a part of it, cannot be read."""


class SingleReads:
    """Reads of single things; `into` is their way into the cache, and that of all lists."""

    def __init__(
        self,
        client: Client,
        cache_update: CacheUpdate,
        store: str,
        *,
        operator_log: OperatorLog,
        notify: Notify,
        clock: Callable[[], float],
    ) -> None:
        cache = cache_update.cache
        self.client = client
        self.cache_update = cache_update
        self.cache = cache
        self.store = store
        self._operator_log = operator_log
        self._notify = notify
        self._clock = clock
        self.log_reader = LogReader(client, cache, store, self.cache_update.record_written, operator_log, self.now)
        self.recount_reader = RecountReader(client, cache, store, self.cache_update.record_written)
        self.assignment_reader = AssignmentReader(client, cache, store, self.cache_update.record_written, self.now)
        self.store_reader = StoreReader(client, cache, store, self.cache_update.record_written, self.now)
        self.can_name_orders = False
        """Whether several orders can be asked for in one request."""
        self.can_list_changed = False
        """Whether it is our own service: the catalogue can be asked for one product, and stock for what has changed
        since a moment, to the moment."""
        self._answering_list = CHECKED_LISTS[0]
        """The list that answered the last knock: it is asked first."""
        self._server_time = self._marked_time = self._previous_marked_time = ""
        """The service's own time: when it was last heard, at the last look at what changed, and at the one before."""

    @property
    def store_path(self) -> dict[str, str]:
        """The path values of the store's operations."""
        return {"store_number": self.store}

    def now(self) -> float:
        """Seconds since 1970, to be taken before a read leaves."""
        return self._clock()

    async def read_topic(self, topic: Topic) -> Sequence[Row]:
        """Reads one thing again, whatever it is; of an order its row, if there is one."""
        if topic.name == ORDER:
            return await self.read_order(topic.key)
        if topic.name == PRODUCT:
            await self.read_product(topic.key)
        elif topic.name == CATALOGUE:
            await self.read_catalogue_entry(topic.key)
        elif topic.name == LOCATION:
            await self.read_location(topic.key)
        elif topic.name == DELIVERY:
            await self.read_delivery(topic.key)
        elif topic.name == RECOUNT:
            await self.recount_reader.read()
        elif topic.name == ASSIGNMENT:
            await self.assignment_reader.read()
        elif topic.name == STORE:
            await self.read_stores(topic.key)
        elif topic.name == LOG:
            await self.log_reader.read(topic.key)
        elif topic.name == SURROUNDING:
            await self.read_surrounding(topic.key)
        return ()

    async def check_service(self) -> None:
        """Asks for next to nothing of this store, to know whether the service is there and lets us in.

        A list that fails says nothing of the others: the next one is asked, until one answers. Raises what the first
        ended in where none does; the token and the way to the service are the same for all.
        """
        first: ClientError | None = None
        for name in (self._answering_list, *(other for other in CHECKED_LISTS if other != self._answering_list)):
            try:
                await request_one_row(self.client, name, self.store)
            except (Unauthorized, NotSent):
                raise
            except ClientError as error:
                first = first or error
            else:
                self._answering_list = name
                return
        assert first is not None
        raise first

    # One thing

    async def read_order(self, number: str) -> list[Row]:
        """One order with its lines and their places; one that is finished or gone leaves the cache's list."""
        began = self.now()
        rows = await self._request_order(number, {})
        if not rows:
            rows = await self._request_order(number, {"is_active": False})
        if rows:
            with self.cache_update.require_valid_rows(ORDER, number):
                self.cache_update.put_orders(rows, began)
        else:
            self._forget_orders([number], began)
        return rows

    def _forget_orders(self, numbers: Sequence[str], began: float) -> None:
        """The service does not have these, or not any more."""
        news = self.cache.delete_absent_orders(numbers, read_began=began)
        self._notify([*notification_topics(ORDER, news), *notification_topics(ABSENT_TOPIC, numbers)])

    async def read_orders(self, numbers: Sequence[str]) -> dict[str, Row]:
        """Several orders in one request, each as `order` reads it; by number, those that are there.

        Their numbers have no line ends in them.
        """
        began = self.now()
        path = f"/aisle/v1/stores/{encode_segment(self.store)}/orders"
        answer = await self.client.request_extension("GET", path, query={"numbers": "\n".join(numbers)})
        if not answer.is_success:
            raise status_error("list-named-orders", answer)
        try:
            envelope = answer.json()
            read = {str(row["order_number"]): row for row in envelope["list"]}
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise InvalidResponse("The answer to list-named-orders holds no orders.") from error
        self.record_server_time(envelope)
        found = {number: read[number] for number in numbers if number in read}
        with self.cache_update.require_valid_rows(ORDER, ", ".join(numbers)):
            self.cache_update.put_orders(list(found.values()), began)
        if gone := [number for number in numbers if number not in read]:
            self._forget_orders(gone, began)
        return found

    async def _request_order(self, number: str, extra: Query) -> list[Row]:
        query: Query = {"order_number": number, "show_lines": True, "include_locations": True, **extra}
        rows = await self._read_first_page("list-customer-orders", query, self.store_path)
        return [row for row in rows if str(row.get("order_number")) == number]

    async def read_product(self, number: str) -> None:
        """The stock of one product, with its places. Raises Overtaken."""
        query: Query = {"store_number": self.store, "product_number": number, "include_locations": True}
        began = self.now()
        with self.cache_update.read_sequence.start_read() as ticket:
            rows = await self._read_first_page("list-store-products-stock", query)
            with self.cache_update.require_valid_rows(STOCK, number):
                self.cache_update.put_stock(
                    [row for row in rows if str(row.get("product_number")) == number], ticket, began
                )
        if Topic(PRODUCT, number) in self.cache_update.overtaken:
            raise ReadOvertaken

    def record_server_time(self, envelope: Mapping[str, Any]) -> None:
        """The service has said what time it is."""
        self._server_time = str(envelope.get("server_time") or self._server_time)

    def mark_server_time(self) -> None:
        """It is about to be asked what changed: `changed_products` looks from the mark before this one on."""
        self._previous_marked_time, self._marked_time = self._marked_time, self._server_time

    async def read_changed_products(self, numbers: Collection[str]) -> set[str]:
        """Stock of those of these products that the list of what changed lately brings; the numbers of those."""
        if not self._previous_marked_time:
            return set()
        query: Query = {"store_number": self.store, "include_locations": True, "page_size": MAX_CHANGED_PRODUCTS}
        query["last_stock_modified_datetime"] = self._previous_marked_time
        began = self.now()
        with self.cache_update.read_sequence.start_read() as ticket:
            rows = await self._read_first_page("list-store-products-stock", query)
            return set(
                self.cache_update.put_stock(
                    [row for row in rows if str(row.get("product_number")) in numbers], ticket, began
                )
            )

    async def read_catalogue_entry(self, number: str) -> None:
        """What the catalogue says of one product, where it can be asked for it; the document shows no parameters."""
        if not self.can_list_changed:
            return
        with self.cache_update.read_sequence.start_read() as ticket:
            rows = await self._read_first_page("list-products", {"product_number": number})
            with self.cache_update.require_valid_rows(PRODUCT, number):
                self.cache_update.put_products(
                    [row for row in rows if str(row.get("product_number")) == number], ticket
                )

    async def read_surrounding(self, number: str) -> None:
        """What the stores around and the warehouses have of a product; a service that does not say is noted as such."""
        began = self.now()
        name, path = "retrieve-store-product-surrounding", {**self.store_path, "product_number": number}
        answer = await self.client.request(name, path=path)
        if answer.status in _PERMANENT_STATUSES:
            self.cache.write_surrounding(number, (), began, message_of(answer) or str(answer.status))
        elif not answer.is_success:
            raise status_error(name, answer)
        else:
            self.cache.write_surrounding(number, _rows_of_response(answer, name), began)
        self._notify([format_topic(SURROUNDING, number)])

    async def read_location(self, code: str) -> None:
        """One place; its code may be a part of many others, so that it is looked for page by page."""
        query: Query = {"search_text": code, "page_size": 200}
        with self.cache_update.read_sequence.start_read() as ticket:
            async with aclosing(
                pages_by_count(self.client, "list-locations", path=self.store_path, query=query)
            ) as pages:
                async for rows, _ in pages:
                    found = [row for row in rows if str(row.get("location_code")) == code]
                    if found:
                        with self.cache_update.require_valid_rows(LOCATION, code):
                            self.cache_update.put_locations(found, ticket)
                        return

    async def read_stores(self, number: str = "") -> None:
        """One store, or all of the chain."""
        await self.store_reader.read(number)

    async def read_delivery(self, number: str) -> None:
        """One delivery with its lines, and what was received of it; one that is gone leaves. Raises Overtaken."""
        began = self.now()
        query: Query = {"store_number": self.store, "order_number": number}
        rows = await self._read_first_page("list-deliveries", query)
        found = [row for row in rows if str(row.get("order_number")) == number]
        if not found:
            self.cache.delete_deliveries([number])
            self._notify([format_topic(DELIVERY, number)])
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
        """What came of the deliveries of the last weeks, type by type; what is older leaves. Raises ClientError, after
        all types were asked for."""
        since: Query = {"last_modified_date": self.deliveries_since(), "page_size": 100}
        received = await self._read_receipt_types(since, sorted({*RECEIPT_TYPES, *self.cache.delivery_types()}))
        if received.error is not None:
            raise received.error
        if received.delivery_numbers is not None:
            self.cache.delete_unseen_receipts(received.delivery_numbers)

    def deliveries_since(self) -> str:
        """The day from which on deliveries are asked for."""
        return _utc_date(self.now() - DELIVERY_DAYS * 86400)

    async def _read_receipt_types(self, query: Query, types: Iterable[int]) -> ReceiptsResult:
        """Receipts of these types; one that cannot be read keeps no other from being read."""
        seen: set[str] | None = set()
        failed: list[ClientError] = []
        read = 0
        for kind in types:
            asked: Query = {**query, "receipt_type": kind}
            try:
                async for rows, _ in self.client.pages("list-store-receipts", path=self.store_path, query=asked):
                    written = self.cache.write_receipts(rows)
                    self.cache_update.record_written(DELIVERY, "list-store-receipts", written)
                    seen = None if seen is None or written.skipped else seen | set(written.keys)
                read += 1
            except (Unauthorized, NotSent, RateLimited):
                raise
            except ClientError as error:
                self._operator_log.add(f"Receipts of type {kind} cannot be read: {error}")
                failed.append(error)
        unlisted = NotFound | InvalidRequest if read else ()  # a service need not have receipts of every type
        blamed = next((each for each in failed if not isinstance(each, unlisted)), None)
        return ReceiptsResult(None if failed else seen, blamed)

    async def read_people(self) -> None:
        """The people of the store; only our own service has them."""
        answer = await self.client.request_extension("GET", f"/aisle/v1/stores/{encode_segment(self.store)}/people")
        if not answer.is_success:
            raise status_error("list-people", answer)
        try:
            people = answer.json()["people"]
        except (ValueError, TypeError, KeyError) as error:
            raise InvalidResponse("The answer to list-people holds no people.") from error
        self.cache_update.record_written(PERSON, "list-people", self.cache.write_people(people))

    async def _read_first_page(self, name: str, query: Query, path: dict[str, str] | None = None) -> list[Row]:
        rows, envelope = await self.client.first_page(name, path=path, query=query)
        self.record_server_time(envelope)
        return rows


def _rows_of_response(response: Response, name: str) -> list[Row]:
    """The rows of an answer that is a plain list."""
    try:
        rows = response.json()
    except ValueError as error:
        raise InvalidResponse(f"The answer to {name} cannot be read.") from error
    if not isinstance(rows, list):
        raise InvalidResponse(f"The answer to {name} is no list.")
    return rows


def _utc_date(seconds: float) -> str:
    """The UTC date of a moment."""
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()
