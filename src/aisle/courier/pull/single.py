"""Single reads: one order, one product, one place, the stores, the people. Each ends in the cache, or in ClientError.

Rows go as they come from JSON into the cache, which judges them; no model stands between.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from datetime import UTC, datetime
from typing import Any

from aisle.client import Client
from aisle.client.answer import Answer
from aisle.client.errors import (
    AnswerError,
    RateLimited,
    ServerError,
    StatusError,
    TransportError,
    Unauthorized,
    message_of,
    status_error,
)
from aisle.contract.wire import QueryValue, encode_segment
from aisle.courier.notices import Notices
from aisle.courier.pull.assignments import AssignmentReader
from aisle.courier.pull.counting import counted
from aisle.courier.pull.freshness import Freshness
from aisle.courier.pull.logs import LogReader
from aisle.courier.pull.recounts import RecountReader
from aisle.courier.pull.stores import StoreReader
from aisle.courier.ringing import places_of, topics_of
from aisle.courier.send.parcel import (
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
from aisle.local.cache.writer import Cache, Written
from aisle.local.host.signals import topic_of

Row = dict[str, Any]
Query = dict[str, QueryValue]
UnderWay = Callable[[float], frozenset[str]]
"""Products that something was on its way for since a moment (seconds since 1970), or still is."""
Tell = Callable[[Iterable[str]], None]
"""Rings at the sessions: these topics changed."""

STOCK, PERSON = "stock", "person"
_NAMED_BAD_ROWS = 5
SEVERAL = 200
"""Products that are asked for together."""
DELIVERY_DAYS = 60
"""Deliveries that have not changed for so many days are asked for by their number alone."""
RECEIPT_TYPES = (1, 2)
"""Types of receipts that are asked for, beside those of the deliveries that are known: purchases and transfers."""
_ANYBODYS = (*range(200, 400), 400, 404, 405, 406, 410, 413, 414, 415, 421, 422, 431, 451)
"""Answers that mean nothing without the service's own words: a gateway or a guest network gives them too."""
_LASTING = (400, 403, 404, 405, 410, 422, 501)
"""Answers that asking again does not change."""


class Overtaken(Exception):
    """While something was read, something that changes it was on its way: nobody knows whether the answer has it."""


class Pull:
    """Reads of single things, and the way of all rows into the cache."""

    def __init__(
        self,
        client: Client,
        cache: Cache,
        store: str,
        *,
        fresh: Freshness,
        notices: Notices,
        tell: Tell,
        under_way: UnderWay,
        clock: Callable[[], float],
    ) -> None:
        self.client = client
        self.cache = cache
        self.store = store
        self.fresh = fresh
        self._notices = notices
        self._tell = tell
        self._under_way = under_way
        self._clock = clock
        self._left_out = 0
        """Rows that made no sense, so far."""
        self.overtaken: dict[Topic, None] = {}
        """Products and deliveries that were read while a write of them was on its way: to be read once more."""
        self.log = LogReader(client, cache, store, self._took, notices, self.now)
        self.recounts = RecountReader(client, cache, store, self._took)
        self.assignments = AssignmentReader(client, cache, store, self._took, self.now)
        self.chain = StoreReader(client, cache, store, self._took, self.now)
        self.lists_changed = False
        """Whether it is our own service: the catalogue can be asked for one product, and stock for what has changed
        since a moment, to the moment."""
        self._heard_at = self._marked_at = self._since = ""
        """The service's own time: when it was last heard, at the last look at what changed, and at the one before."""

    @property
    def path(self) -> dict[str, str]:
        """The path values of the store's operations."""
        return {"store_number": self.store}

    def now(self) -> float:
        """Seconds since 1970, to be taken before a read leaves."""
        return self._clock()

    def take_overtaken(self) -> list[Topic]:
        """What was overtaken and whose writes have come to an end: until then no answer could be made use of."""
        moving = self._under_way(self.now()) if self.overtaken else ()
        ended = [topic for topic in self.overtaken if _sent_as(topic) not in moving]
        for topic in ended:
            del self.overtaken[topic]
        return ended

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
        """Asks for next to nothing of this store, once, to know whether the service is there and lets us in."""
        answer = await self.client.request("list-customer-orders", path=self.path, query={"page_size": 1})
        if not answer.is_worded and answer.status in _ANYBODYS:
            raise TransportError(f"Something else answers where the service should be: status {answer.status}.")
        if not answer.is_success:
            raise status_error("list-customer-orders", answer)

    # One thing

    async def order(self, number: str) -> list[Row]:
        """One order with its lines and their places; one that is finished or gone leaves the cache's list."""
        began = self.now()
        rows = await self._orders(number, {})
        if not rows:
            rows = await self._orders(number, {"is_active": False})
        if rows:
            with self._understood(ORDER, number):
                self.put_orders(rows, began)
        else:
            self.cache.forget_orders([number])
            self._tell([topic_of(ORDER, number)])
        return rows

    async def _orders(self, number: str, further: Query) -> list[Row]:
        query: Query = {"order_number": number, "show_lines": True, "include_locations": True, **further}
        rows = await self._first_page("list-customer-orders", query, self.path)
        return [row for row in rows if str(row.get("order_number")) == number]

    async def product(self, number: str) -> None:
        """The stock of one product, with its places. Raises Overtaken."""
        query: Query = {"store_number": self.store, "product_number": number, "include_locations": True}
        began = self.now()
        with self.fresh.reading() as ticket:
            rows = await self._first_page("list-store-products-stock", query)
            with self._understood(STOCK, number):
                self.put_stock([row for row in rows if str(row.get("product_number")) == number], ticket, began)
        if Topic(PRODUCT, number) in self.overtaken:
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
        with self.fresh.reading() as ticket:
            rows = await self._first_page("list-store-products-stock", query)
            return set(
                self.put_stock([row for row in rows if str(row.get("product_number")) in numbers], ticket, began)
            )

    async def catalogue(self, number: str) -> None:
        """What the catalogue says of one product, where it can be asked for it; the document shows no parameters."""
        if not self.lists_changed:
            return
        with self.fresh.reading() as ticket:
            rows = await self._first_page("list-products", {"product_number": number})
            with self._understood(PRODUCT, number):
                self.put_products([row for row in rows if str(row.get("product_number")) == number], ticket)

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
        with self.fresh.reading() as ticket:
            async with aclosing(counted(self.client, "list-locations", path=self.path, query=query)) as pages:
                async for rows, _ in pages:
                    found = [row for row in rows if str(row.get("location_code")) == code]
                    if found:
                        with self._understood(LOCATION, code):
                            self.put_locations(found, ticket)
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
        with self._understood(DELIVERY, number):
            self.put_deliveries(found, began)
        kind = str(found[0].get("order_type") or "")
        await self._receipts({"order_number": number}, [int(kind)] if kind.isdecimal() else RECEIPT_TYPES)
        if Topic(DELIVERY, number) in self.overtaken:
            raise Overtaken

    async def receipts(self) -> None:
        """What came of the deliveries of the last weeks, type by type; what is older leaves."""
        since: Query = {"last_modified_date": self.deliveries_since(), "page_size": 100}
        seen = await self._receipts(since, sorted({*RECEIPT_TYPES, *self.cache.delivery_types()}))
        if seen is not None:
            self.cache.keep_receipts(seen)

    def deliveries_since(self) -> str:
        """The day from which on deliveries are asked for."""
        return _day(self.now() - DELIVERY_DAYS * 86400)

    async def _receipts(self, query: Query, types: Iterable[int]) -> set[str] | None:
        """Receipts of these types; a service that does not list one of them is left alone with it. The numbers of the
        deliveries that they are of; None where not all could be read."""
        seen: set[str] | None = set()
        for kind in types:
            asked: Query = {**query, "receipt_type": kind}
            try:
                async for rows, _ in self.client.pages("list-store-receipts", path=self.path, query=asked):
                    written = self.cache.put_receipts(rows)
                    self._took(DELIVERY, "list-store-receipts", written)
                    seen = None if seen is None or written.skipped else seen | set(written.keys)
            except (ServerError, Unauthorized, RateLimited):
                raise
            except StatusError as error:
                self._notices.add(f"Receipts of type {kind} cannot be read: {error}")
                seen = None
        return seen

    async def people(self) -> None:
        """The people of the store; only our own service has them."""
        answer = await self.client.extension("GET", f"/aisle/v1/stores/{encode_segment(self.store)}/people")
        if not answer.is_success:
            raise status_error("list-people", answer)
        try:
            people = answer.json()["people"]
        except (ValueError, TypeError, KeyError) as error:
            raise AnswerError("The answer to list-people holds no people.") from error
        self._took(PERSON, "list-people", self.cache.put_people(people))

    async def _first_page(self, name: str, query: Query, path: dict[str, str] | None = None) -> list[Row]:
        async with aclosing(self.client.pages(name, path=path, query=query)) as pages:
            rows, envelope = await anext(pages)
            self.heard(envelope)
            return rows

    # Into the cache

    def put_orders(
        self, rows: Sequence[Row], began: float, generation: int = 0, *, with_lines: bool = True
    ) -> tuple[str, ...]:
        """Orders with lines, or headers alone; the numbers of those that changed.

        A service may leave `lines` out although they were asked for: then these are headers too.
        """
        whole = [row for row in rows if with_lines and has_lines(row)]
        bare = [row for row in rows if not (with_lines and has_lines(row))]
        changed: list[str] = []
        for part, known in ((whole, True), (bare, False)):
            if part:
                written = self.cache.put_orders(part, known, began, generation)
                changed += self._took(ORDER, "list-customer-orders", written)
        return tuple(changed)

    def put_stock(self, rows: Sequence[Row], ticket: int, began: float, generation: int = 0) -> tuple[str, ...]:
        """Stock entries, except those that a younger read has brought, and those of `overtaken` products; the numbers
        of those that are in the cache now.

        What moves goods adds up: laid over an answer that has it already it would be there twice.
        """
        moving = self._under_way(began)
        if moving:
            rows, late = _parted(rows, moving)
            self.overtaken.update((Topic(PRODUCT, number), None) for number in late)
            if generation and late:
                self.cache.note_seen(STOCK, generation, late)
        kept = self._newest(rows, ticket, STOCK, "product_number", generation)
        written = self.cache.put_stock(kept, generation, began)
        self._took(PRODUCT, "list-store-products-stock", written, places_of(kept, written.changed))
        return written.keys

    def put_deliveries(self, rows: Sequence[Row], began: float, generation: int = 0) -> None:
        """Deliveries, except those that something was on its way for: what came adds up, as goods do."""
        moving = self._under_way(began)
        late = [number for row in rows if f"{DELIVERY}/{(number := str(row.get('order_number')))}" in moving]
        if late:
            self.overtaken.update((Topic(DELIVERY, number), None) for number in late)
            rows = [row for row in rows if str(row.get("order_number")) not in late]
            if generation:
                self.cache.note_seen(DELIVERY, generation, late)
        self._took(DELIVERY, "list-deliveries", self.cache.put_deliveries(rows, began, generation))

    def put_products(self, rows: Sequence[Row], ticket: int, generation: int = 0) -> None:
        """Catalogue entries, except those that a younger read has brought."""
        kept = self._newest(rows, ticket, PRODUCT, "product_number", generation)
        self._took(PRODUCT, "list-products", self.cache.put_products(kept, generation))

    def put_locations(self, rows: Sequence[Row], ticket: int, generation: int = 0) -> None:
        """Places, except those that a younger read has brought."""
        kept = self._newest(rows, ticket, LOCATION, "location_code", generation)
        self._took(LOCATION, "list-locations", self.cache.put_locations(kept, generation))

    def _newest(self, rows: Sequence[Row], ticket: int, topic: str, name: str, generation: int) -> Sequence[Row]:
        if not self.fresh.contended:
            return rows
        keys = [str(row.get(name)) for row in rows]
        newest = self.fresh.newest(ticket, topic, keys)
        if generation and len(newest) < len(keys):
            self.cache.note_seen(topic, generation, set(keys) - newest)
        return [row for row, key in zip(rows, keys, strict=True) if key in newest]

    @contextmanager
    def _understood(self, topic: str, key: str) -> Iterator[None]:
        """Nothing may pass for read whose row makes no sense: what lies over the cache would leave, and leave nothing.

        Raises AnswerError at the end.
        """
        before = self._left_out
        yield
        if self._left_out > before:
            raise AnswerError(f"The answer for {topic} {key} makes no sense.")

    def _took(self, topic: str, name: str, written: Written, also: Sequence[str] = ()) -> tuple[str, ...]:
        """Tells the sessions what is new (and `also` these), and the operator what could not be read."""
        self._left_out += len(written.skipped)
        for skipped in written.skipped[:_NAMED_BAD_ROWS]:
            self._notices.add(f"A row of {name} was left out: {skipped.why}. It begins {str(skipped.row)[:120]}")
        if len(written.skipped) > _NAMED_BAD_ROWS:
            self._notices.add(f"{len(written.skipped)} rows of one page of {name} were left out.")
        if written.changed:
            self._tell([*topics_of(topic, written.changed), *also])
        return written.changed


def _parted(rows: Sequence[Row], moving: frozenset[str]) -> tuple[list[Row], list[str]]:
    """The rows of other products, and the numbers of these."""
    late = [str(row.get("product_number")) for row in rows if str(row.get("product_number")) in moving]
    return [row for row in rows if str(row.get("product_number")) not in moving], late


def _sent_as(topic: Topic) -> str:
    """What stands for it among what is under way (see Outbox.under_way)."""
    return f"{DELIVERY}/{topic.key}" if topic.topic == DELIVERY else topic.key


def has_lines(row: Row) -> bool:
    """Whether an order came with its lines, or has none."""
    return isinstance(row.get("lines"), list) or not row.get("total_lines")


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
