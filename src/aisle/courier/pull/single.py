"""Single reads: an order, a product, a place, the stores, the people. Each ends in the cache, or in ClientError."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

from aisle.client import Client
from aisle.client.answer import Answer
from aisle.client.errors import (
    AnswerError,
    ClientError,
    NotFound,
    NotSent,
    RateLimited,
    Refused,
    StatusError,
    Unauthorized,
    message_of,
    status_error,
)
from aisle.contract.wire import QueryValue, encode_segment
from aisle.courier.counting import counted
from aisle.courier.notices import Notices
from aisle.courier.pull.assignments import AssignmentReader
from aisle.courier.pull.intake import STOCK, Intake, Row, Tell
from aisle.courier.pull.lists import PROBED_LISTS, ask
from aisle.courier.pull.logs import LogReader
from aisle.courier.pull.recounts import RecountReader
from aisle.courier.pull.stores import StoreReader
from aisle.courier.ringing import topics_of
from aisle.courier.topics import (
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
from aisle.local.cache.writer import ABSENT_TOPIC
from aisle.local.host.signals import topic_of
from aisle.tuples import NamedTuple

Query = dict[str, QueryValue]
PERSON = "person"
SEVERAL = 200
"""Products that one list of what has changed brings, at most."""
DELIVERY_DAYS = 60
"""Deliveries that have not changed for so many days are asked for by their number alone."""
RECEIPT_TYPES = (1, 2)
"""Types of receipts that are asked for, beside those of the deliveries that are known: purchases and transfers."""
_LASTING = (400, 403, 404, 405, 410, 422, 501)
"""Answers that asking again does not change."""


class Overtaken(Exception):
    """While something was read, something that changes it was on its way: nobody knows whether the answer has it."""


class Received(NamedTuple):
    """What became of asking for receipts."""

    seen: set[str] | None
    """The numbers of the deliveries that they are of; None where not all could be read."""
    error: ClientError | None
    """Why the list, or a part of it, cannot be read."""


class Pull:
    """Reads of single things; `into` is their way into the cache, and that of all lists."""

    def __init__(
        self, client: Client, into: Intake, store: str, *, notices: Notices, tell: Tell, clock: Callable[[], float]
    ) -> None:
        cache = into.cache
        self.client = client
        self.into = into
        self.cache = cache
        self.store = store
        self._notices = notices
        self._tell = tell
        self._clock = clock
        self.log = LogReader(client, cache, store, self.into.took, notices, self.now)
        self.recounts = RecountReader(client, cache, store, self.into.took)
        self.assignments = AssignmentReader(client, cache, store, self.into.took, self.now)
        self.chain = StoreReader(client, cache, store, self.into.took, self.now)
        self.named_orders = False
        """Whether several orders can be asked for in one request."""
        self.lists_changed = False
        """Whether it is our own service: the catalogue can be asked for one product, and stock for what has changed
        since a moment, to the moment."""
        self._answers = PROBED_LISTS[0]
        """The list that answered the last knock: it is asked first."""
        self._heard_at = self._marked_at = self._since = ""
        """The service's own time: when it was last heard, at the last look at what changed, and at the one before."""

    @property
    def path(self) -> dict[str, str]:
        """The path values of the store's operations."""
        return {"store_number": self.store}

    def now(self) -> float:
        """Seconds since 1970, to be taken before a read leaves."""
        return self._clock()

    async def topic(self, wanted: Topic) -> Sequence[Row]:
        """Reads one thing again, whatever it is; of an order its row, if there is one."""
        if wanted.topic == ORDER:
            return await self.order(wanted.key)
        if wanted.topic == PRODUCT:
            await self.product(wanted.key)
        elif wanted.topic == CATALOGUE:
            await self.catalogue(wanted.key)
        elif wanted.topic == LOCATION:
            await self.location(wanted.key)
        elif wanted.topic == DELIVERY:
            await self.delivery(wanted.key)
        elif wanted.topic == RECOUNT:
            await self.recounts.read()
        elif wanted.topic == ASSIGNMENT:
            await self.assignments.read()
        elif wanted.topic == STORE:
            await self.stores(wanted.key)
        elif wanted.topic == LOG:
            await self.log.read(wanted.key)
        elif wanted.topic == SURROUNDING:
            await self.surrounding(wanted.key)
        return ()

    async def knock(self) -> None:
        """Asks for next to nothing of this store, to know whether the service is there and lets us in.

        A list that fails says nothing of the others: the next one is asked, until one answers. Raises what the first
        ended in where none does; the token and the way to the service are the same for all.
        """
        first: ClientError | None = None
        for name in (self._answers, *(other for other in PROBED_LISTS if other != self._answers)):
            try:
                await ask(self.client, name, self.store)
            except (Unauthorized, NotSent):
                raise
            except ClientError as error:
                first = first or error
            else:
                self._answers = name
                return
        assert first is not None
        raise first

    # One thing

    async def order(self, number: str) -> list[Row]:
        """One order with its lines and their places; one that is finished or gone leaves the cache's list."""
        began = self.now()
        rows = await self._orders(number, {})
        if not rows:
            rows = await self._orders(number, {"is_active": False})
        if rows:
            with self.into.understood(ORDER, number):
                self.into.put_orders(rows, began)
        else:
            self._forget_orders([number], began)
        return rows

    def _forget_orders(self, numbers: Sequence[str], began: float) -> None:
        """The service does not have these, or not any more."""
        news = self.cache.forget_orders(numbers, read_began=began)
        self._tell([*topics_of(ORDER, news), *topics_of(ABSENT_TOPIC, numbers)])

    async def orders(self, numbers: Sequence[str]) -> dict[str, Row]:
        """Several orders in one request, each as `order` reads it; by number, those that are there.

        Their numbers have no line ends in them.
        """
        began = self.now()
        path = f"/aisle/v1/stores/{encode_segment(self.store)}/orders"
        answer = await self.client.extension("GET", path, query={"numbers": "\n".join(numbers)})
        if not answer.is_success:
            raise status_error("list-named-orders", answer)
        try:
            envelope = answer.json()
            read = {str(row["order_number"]): row for row in envelope["list"]}
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise AnswerError("The answer to list-named-orders holds no orders.") from error
        self.heard(envelope)
        found = {number: read[number] for number in numbers if number in read}
        with self.into.understood(ORDER, ", ".join(numbers)):
            self.into.put_orders(list(found.values()), began)
        if gone := [number for number in numbers if number not in read]:
            self._forget_orders(gone, began)
        return found

    async def _orders(self, number: str, further: Query) -> list[Row]:
        query: Query = {"order_number": number, "show_lines": True, "include_locations": True, **further}
        rows = await self._first_page("list-customer-orders", query, self.path)
        return [row for row in rows if str(row.get("order_number")) == number]

    async def product(self, number: str) -> None:
        """The stock of one product, with its places. Raises Overtaken."""
        query: Query = {"store_number": self.store, "product_number": number, "include_locations": True}
        began = self.now()
        with self.into.fresh.reading() as ticket:
            rows = await self._first_page("list-store-products-stock", query)
            with self.into.understood(STOCK, number):
                self.into.put_stock([row for row in rows if str(row.get("product_number")) == number], ticket, began)
        if Topic(PRODUCT, number) in self.into.overtaken:
            raise Overtaken

    def heard(self, envelope: Mapping[str, Any]) -> None:
        """The service has said what time it is."""
        self._heard_at = str(envelope.get("server_time") or self._heard_at)

    def mark(self) -> None:
        """It is about to be asked what changed: `changed_products` looks from the mark before this one on."""
        self._since, self._marked_at = self._marked_at, self._heard_at

    async def changed_products(self, numbers: Collection[str]) -> set[str]:
        """Stock of those of these products that the list of what changed lately brings; the numbers of those."""
        if not self._since:
            return set()
        query: Query = {"store_number": self.store, "include_locations": True, "page_size": SEVERAL}
        query["last_stock_modified_datetime"] = self._since
        began = self.now()
        with self.into.fresh.reading() as ticket:
            rows = await self._first_page("list-store-products-stock", query)
            return set(
                self.into.put_stock([row for row in rows if str(row.get("product_number")) in numbers], ticket, began)
            )

    async def catalogue(self, number: str) -> None:
        """What the catalogue says of one product, where it can be asked for it; the document shows no parameters."""
        if not self.lists_changed:
            return
        with self.into.fresh.reading() as ticket:
            rows = await self._first_page("list-products", {"product_number": number})
            with self.into.understood(PRODUCT, number):
                self.into.put_products([row for row in rows if str(row.get("product_number")) == number], ticket)

    async def surrounding(self, number: str) -> None:
        """What the stores around and the warehouses have of a product; a service that does not say is noted as such."""
        began = self.now()
        name, path = "retrieve-store-product-surrounding", {**self.path, "product_number": number}
        answer = await self.client.request(name, path=path)
        if answer.status in _LASTING:
            self.cache.put_surrounding(number, (), began, message_of(answer) or str(answer.status))
        elif not answer.is_success:
            raise status_error(name, answer)
        else:
            self.cache.put_surrounding(number, _rows_of(answer, name), began)
        self._tell([topic_of(SURROUNDING, number)])

    async def location(self, code: str) -> None:
        """One place; its code may be a part of many others, so that it is looked for page by page."""
        query: Query = {"search_text": code, "page_size": 200}
        with self.into.fresh.reading() as ticket:
            async with aclosing(counted(self.client, "list-locations", path=self.path, query=query)) as pages:
                async for rows, _ in pages:
                    found = [row for row in rows if str(row.get("location_code")) == code]
                    if found:
                        with self.into.understood(LOCATION, code):
                            self.into.put_locations(found, ticket)
                        return

    async def stores(self, number: str = "") -> None:
        """One store, or all of the chain."""
        await self.chain.read(number)

    async def delivery(self, number: str) -> None:
        """One delivery with its lines, and what was received of it; one that is gone leaves. Raises Overtaken."""
        began = self.now()
        query: Query = {"store_number": self.store, "order_number": number}
        rows = await self._first_page("list-deliveries", query)
        found = [row for row in rows if str(row.get("order_number")) == number]
        if not found:
            self.cache.forget_deliveries([number])
            self._tell([topic_of(DELIVERY, number)])
            return
        with self.into.understood(DELIVERY, number):
            self.into.put_deliveries(found, began)
        kind = str(found[0].get("order_type") or "")
        received = await self._receipts({"order_number": number}, [int(kind)] if kind.isdecimal() else RECEIPT_TYPES)
        if received.error is not None and not isinstance(received.error, StatusError):
            raise received.error
        if Topic(DELIVERY, number) in self.into.overtaken:
            raise Overtaken

    async def receipts(self) -> None:
        """What came of the deliveries of the last weeks, type by type; what is older leaves. Raises ClientError, after
        all types were asked for."""
        since: Query = {"last_modified_date": self.deliveries_since(), "page_size": 100}
        received = await self._receipts(since, sorted({*RECEIPT_TYPES, *self.cache.delivery_types()}))
        if received.error is not None:
            raise received.error
        if received.seen is not None:
            self.cache.keep_receipts(received.seen)

    def deliveries_since(self) -> str:
        """The day from which on deliveries are asked for."""
        return _day(self.now() - DELIVERY_DAYS * 86400)

    async def _receipts(self, query: Query, types: Iterable[int]) -> Received:
        """Receipts of these types; one that cannot be read keeps no other from being read."""
        seen: set[str] | None = set()
        failed: list[ClientError] = []
        read = 0
        for kind in types:
            asked: Query = {**query, "receipt_type": kind}
            try:
                async for rows, _ in self.client.pages("list-store-receipts", path=self.path, query=asked):
                    written = self.cache.put_receipts(rows)
                    self.into.took(DELIVERY, "list-store-receipts", written)
                    seen = None if seen is None or written.skipped else seen | set(written.keys)
                read += 1
            except (Unauthorized, NotSent, RateLimited):
                raise
            except ClientError as error:
                self._notices.add(f"Receipts of type {kind} cannot be read: {error}")
                failed.append(error)
        unlisted = NotFound | Refused if read else ()  # a service need not have receipts of every type
        blamed = next((each for each in failed if not isinstance(each, unlisted)), None)
        return Received(None if failed else seen, blamed)

    async def people(self) -> None:
        """The people of the store; only our own service has them."""
        answer = await self.client.extension("GET", f"/aisle/v1/stores/{encode_segment(self.store)}/people")
        if not answer.is_success:
            raise status_error("list-people", answer)
        try:
            people = answer.json()["people"]
        except (ValueError, TypeError, KeyError) as error:
            raise AnswerError("The answer to list-people holds no people.") from error
        self.into.took(PERSON, "list-people", self.cache.put_people(people))

    async def _first_page(self, name: str, query: Query, path: dict[str, str] | None = None) -> list[Row]:
        rows, envelope = await self.client.first_page(name, path=path, query=query)
        self.heard(envelope)
        return rows


def _rows_of(answer: Answer, name: str) -> list[Row]:
    """The rows of an answer that is a plain list."""
    try:
        rows = answer.json()
    except ValueError as error:
        raise AnswerError(f"The answer to {name} cannot be read.") from error
    if not isinstance(rows, list):
        raise AnswerError(f"The answer to {name} is no list.")
    return rows


def _day(seconds: float) -> str:
    """The UTC date of a moment."""
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()
