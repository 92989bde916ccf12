"""Reads of one topic: an order, a product with its stock, a location. `cache_update` writes it to the cache.

Topics that are whole lists, and deliveries, have readers of their own; `read_topic` calls them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

from aisle.cache.writer import ABSENT_TOPIC
from aisle.client import Client
from aisle.client.client import pages_by_count
from aisle.client.paging import Row
from aisle.client.responses_and_errors import ClientError, InvalidResponse, Response, message_of, status_error
from aisle.contract.request_encoding import QueryValue, encode_segment
from aisle.courier import notify
from aisle.courier.link_state import OperatorNotices
from aisle.courier.notify import Topic, notification_topics
from aisle.courier.pull.cache_update import STOCK, CacheUpdate, Notify, ReadOvertaken
from aisle.courier.pull.list_readers import (
    PERMANENT_STATUSES,
    DeliveryReader,
    LogReader,
    OwnListReader,
    StoreReader,
    replace_assignments,
)
from aisle.courier.service_features_and_lists import ServiceCheck, read_extension
from aisle.errors import SettingsError, StorageError
from aisle.host.notify_sockets import format_topic

Query = dict[str, QueryValue]
MAX_CHANGED_PRODUCTS = 200
"""Number of products that one list of changed stock returns at most."""
MAX_AUDIT_ENTRIES = 500
"""Number of changes of an order that are read at most."""


@dataclass(eq=False)
class SingleReads:
    """Reads of single things. All reads, also of lists, write by `cache_update`."""

    client: Client
    cache_update: CacheUpdate
    store: str
    _: KW_ONLY
    operator_notices: OperatorNotices
    notify: Notify
    now: Callable[[], float]
    """Clock: seconds since 1970. Read it before a request is sent."""

    def __post_init__(self) -> None:
        self.cache = self.cache_update.cache
        parts = self.client, self.cache, self.store, self.cache_update.record_written
        self.log_reader = LogReader(*parts, self.operator_notices, self.now)
        self.store_reader = StoreReader(*parts, self.now)
        own_list = partial(OwnListReader, self.client, self.store, self.cache_update.record_written, self.now)
        self.people_reader = own_list(notify.PERSON, "people", lambda rows, _: self.cache.write_people(rows))
        self.recount_reader = own_list(notify.RECOUNT, "recounts", lambda rows, _: self.cache.write_recounts(rows))
        self.assignment_reader = own_list(
            notify.ASSIGNMENT, "assignments", partial(replace_assignments, self.cache), is_supported=False
        )
        self.delivery_reader = DeliveryReader(
            self.client, self.cache_update, self.store, self.operator_notices, self.notify, self.now
        )
        self.service_check = ServiceCheck(self.client, self.store)
        self._readers: dict[str, Callable[[str], Awaitable[Any]]] = {
            notify.ORDER: self.read_order,
            notify.PRODUCT: self.read_product,
            notify.CATALOGUE: self.read_catalogue_entry,
            notify.LOCATION: self.read_location,
            notify.DELIVERY: self.delivery_reader.read,
            notify.RECOUNT: self.recount_reader.read,
            notify.ASSIGNMENT: self.assignment_reader.read,
            notify.STORE: self.store_reader.read,
            notify.LOG: self.log_reader.read,
            notify.SURROUNDING: self.read_surrounding,
            notify.AUDIT: self.read_audit,
        }
        self.can_name_orders = False
        """True if several orders can be requested at once."""
        self.can_list_audit = False
        """True if the service lists who changed an order."""
        self.can_list_changed = False
        """True for our own service: it filters the catalogue by product, and stock by the exact time of its last
        change.
        """
        self._server_time = self._marked_time = self._previous_marked_time = ""
        """The service's own time: last seen, at the last read of changes, and at the one before."""

    @property
    def store_path(self) -> dict[str, str]:
        """Path parameters of the store's operations."""
        return {"store_number": self.store}

    async def read_topic(self, topic: Topic) -> Sequence[Row]:
        """Read one topic again. Return the row of an order, if there is one; otherwise nothing."""
        with unforeseen_is_invalid(f"{topic.name} {topic.key}"):
            found = await self._readers[topic.name](topic.key)
            return found if topic.name == notify.ORDER else ()

    async def read_log(self) -> None:
        """Read the new entries of the log."""
        with unforeseen_is_invalid("the log"):
            await self.log_reader.read()

    async def read_order(self, number: str) -> list[Row]:
        """Read one order with its lines and their locations. A finished or missing order leaves the cache's list."""
        with unforeseen_is_invalid(f"order {number}"):
            return await self._read_order(number)

    async def _read_order(self, number: str) -> list[Row]:
        began = self.now()
        rows = await self._request_order(number, {})
        if not rows:
            rows = await self._request_order(number, {"is_active": False})
        if rows:
            with self.cache_update.require_valid_rows(notify.ORDER, number):
                self.cache_update.put_orders(rows, began)
        else:
            self._forget_orders([number], began)
        return rows

    def _forget_orders(self, numbers: Sequence[str], began: float) -> None:
        """Record that the service does not have these orders any more."""
        changed = self.cache.delete_absent_orders(numbers, read_began=began)
        self.notify([*notification_topics(notify.ORDER, changed), *notification_topics(ABSENT_TOPIC, numbers)])

    async def read_orders(self, numbers: Sequence[str]) -> dict[str, Row]:
        """Read several orders in one request, each as `read_order` does. Return those that exist, by number.

        The numbers contain no line breaks.
        """
        began = self.now()
        path = f"/aisle/v1/stores/{encode_segment(self.store)}/orders"
        envelope, read = await read_extension(
            self.client,
            "list-named-orders",
            path,
            lambda body: (body, {str(row["order_number"]): row for row in body["list"]}),
            {"numbers": "\n".join(numbers)},
        )
        self.record_server_time(envelope)
        found = {number: read[number] for number in numbers if number in read}
        which = ", ".join(numbers)
        with unforeseen_is_invalid(f"orders {which}"), self.cache_update.require_valid_rows(notify.ORDER, which):
            self.cache_update.put_orders(list(found.values()), began)
        if gone := [number for number in numbers if number not in read]:
            self._forget_orders(gone, began)
        return found

    async def _request_order(self, number: str, extra: Query) -> list[Row]:
        query: Query = {"order_number": number, "show_lines": True, "include_locations": True, **extra}
        rows = await self._read_first_page("list-customer-orders", query, self.store_path)
        return [row for row in rows if str(row.get("order_number")) == number]

    async def read_product(self, number: str) -> None:
        """Read the stock of one product with its locations. Raise ReadOvertaken."""
        query: Query = {"store_number": self.store, "product_number": number, "include_locations": True}
        began = self.now()
        with self.cache_update.read_sequence.start_read() as read_number:
            rows = await self._read_first_page("list-store-products-stock", query)
            with self.cache_update.require_valid_rows(STOCK, number):
                self.cache_update.put_stock(
                    [row for row in rows if str(row.get("product_number")) == number], read_number, began
                )
        if Topic(notify.PRODUCT, number) in self.cache_update.overtaken:
            raise ReadOvertaken

    def record_server_time(self, envelope: Row) -> None:
        """Record the time that a response of the service states."""
        self._server_time = str(envelope.get("server_time") or self._server_time)

    def mark_server_time(self) -> None:
        """Mark the server time before changes are read; `read_changed_products` begins at the mark before this one."""
        self._previous_marked_time, self._marked_time = self._marked_time, self._server_time

    async def read_changed_products(self, numbers: Collection[str]) -> set[str]:
        """Read recently changed stock, and write it for these products. Return the numbers that were written."""
        if not self._previous_marked_time:
            return set()
        query: Query = {"store_number": self.store, "include_locations": True, "page_size": MAX_CHANGED_PRODUCTS}
        query["last_stock_modified_datetime"] = self._previous_marked_time
        began = self.now()
        with self.cache_update.read_sequence.start_read() as read_number:
            rows = await self._read_first_page("list-store-products-stock", query)
            return set(
                self.cache_update.put_stock(
                    [row for row in rows if str(row.get("product_number")) in numbers], read_number, began
                )
            )

    async def read_catalogue_entry(self, number: str) -> None:
        """Read the catalogue entry of one product. Only our own service has this filter; the interface shows no
        parameters.
        """
        if not self.can_list_changed:
            return
        with self.cache_update.read_sequence.start_read() as read_number:
            rows = await self._read_first_page("list-products", {"product_number": number})
            with self.cache_update.require_valid_rows(notify.PRODUCT, number):
                self.cache_update.put_products(
                    [row for row in rows if str(row.get("product_number")) == number], read_number
                )

    async def read_surrounding(self, number: str) -> None:
        """Read the stock of a product in surrounding stores and warehouses; record if the service has no such data."""
        began = self.now()
        name, path = "retrieve-store-product-surrounding", {**self.store_path, "product_number": number}
        response = await self.client.request(name, path=path)
        if response.status in PERMANENT_STATUSES:
            self.cache.write_surrounding(number, (), began, message_of(response) or str(response.status))
        elif not response.is_success:
            raise status_error(name, response)
        else:
            self.cache.write_surrounding(number, _rows_of_response(response, name), began)
        self.notify([format_topic(notify.SURROUNDING, number)])

    async def read_audit(self, number: str) -> None:
        """Read who changed an order, if the service lists that for the token of this host."""
        if not self.can_list_audit:
            return
        began = self.now()
        path = f"/aisle/v1/stores/{encode_segment(self.store)}/audit"
        query: Query = {"subject": notify.ORDER, "key": number, "limit": MAX_AUDIT_ENTRIES}
        response = await self.client.request_extension("GET", path, query=query)
        if response.status in PERMANENT_STATUSES:
            return
        if not response.is_success:
            raise status_error("list-audit", response)
        try:
            entries = [dict(entry) for entry in response.json()["audit"]]
        except (ValueError, TypeError, LookupError) as error:
            raise InvalidResponse("The answer to list-audit holds no audit.") from error
        if self.cache.write_order_audit(number, entries, began):
            self.notify([format_topic(notify.ORDER, number)])

    async def read_location(self, code: str) -> None:
        """Read one location. The search also matches parts of codes, so all pages are searched."""
        query: Query = {"search_text": code, "page_size": 200}
        with self.cache_update.read_sequence.start_read() as read_number:
            async with aclosing(
                pages_by_count(self.client, "list-locations", path=self.store_path, query=query)
            ) as pages:
                async for rows, _ in pages:
                    found = [row for row in rows if str(row.get("location_code")) == code]
                    if found:
                        with self.cache_update.require_valid_rows(notify.LOCATION, code):
                            self.cache_update.put_locations(found, read_number)
                        return

    async def _read_first_page(self, name: str, query: Query, path: dict[str, str] | None = None) -> list[Row]:
        rows, envelope = await self.client.first_page(name, path=path, query=query)
        self.record_server_time(envelope)
        return rows


@contextmanager
def unforeseen_is_invalid(what: str) -> Iterator[None]:
    """Raise InvalidResponse for an error that nothing foresaw: the other reads have to go on."""
    try:
        yield
    except (ClientError, SettingsError, StorageError, ReadOvertaken):
        raise
    except Exception as error:
        raise InvalidResponse(f"The answer for {what} cannot be used ({type(error).__name__}).") from error


def _rows_of_response(response: Response, name: str) -> list[Row]:
    """Return the rows of a response that is a plain list. Raise InvalidResponse otherwise."""
    try:
        rows = response.json()
    except ValueError as error:
        raise InvalidResponse(f"The answer to {name} cannot be read.") from error
    if not isinstance(rows, list):
        raise InvalidResponse(f"The answer to {name} is no list.")
    return rows
