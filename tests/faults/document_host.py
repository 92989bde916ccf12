"""Hosts at a service of the document alone: what they said is held against what that service really did.

async with foreign(folder, seed=7) as shop:
    shop.host.line.plan = …
    await shop.quiet()      # faults end, a supervisor works off the list of doubts, all that waits is delivered
    shop.check()            # nothing lost, nothing doubled, the rest is on the list with its evidence
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import httpx

from aisle.cache.unconfirmed_operation_queries import items_of_operation
from aisle.courier.push.outgoing_request import PushSettings
from aisle.host.database import fetch, transaction
from aisle.jobs.job import ARRIVED, CLOSED_BY_HAND, RESEND, Resolve
from aisle.outbox.operation_record import (
    CLOSED,
    CONFIRMED,
    IN_DOUBT,
    NEEDS_PERSON,
    QUEUED,
    REFUSED,
    SENDING,
    UPDATE_ORDER,
    Operation,
    parse_entry_numbers,
)
from tests.faults.checker import journalled, untroubled
from tests.faults.document_service import COPY, OP, PARTS, Document, Ways, chosen
from tests.faults.goods import CODES, GOODS, PICK_UP, SHELVES, STOCK
from tests.faults.host import Host
from tests.faults.link import DOUBLED, Fault, Line
from tests.faults.shop import Shop

ORDER = "W-0"
"""An order that is there from the beginning: of P1 and P2."""
SETTLE_S = PushSettings().settling_s
_SLOW_S = 1000.0
"""In which every courier has made its slow round."""


class Named(Line):
    """A line that says on each write which operation it is, so that the service can be asked what became of it."""

    def __init__(self, shop: Foreign, host: Host) -> None:
        super().__init__(shop.transport, shop.time.sleep, shop.crash_in)
        self._shop = shop
        self._host = host

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.method != "GET":
            self._name(request)
        self._shop.time.wake_due()  # what was late has arrived by now, though people were at work all the time
        await asyncio.sleep(0)  # as on every wire: else who asks without end would let nobody else go on
        return await super().handle_async_request(request)

    def _name(self, request: httpx.Request) -> None:
        """Raises AssertionError for a write that is not durably on its way."""
        sql = "SELECT op_id, parts FROM operation WHERE live = 1 AND state = 'sending' AND sent_body = ?"
        found = fetch(self._host._db, sql, request.content)
        assert len(found) == 1, f"{len(found)} operations are being sent with these bytes: {request.content[:200]!r}"
        request.headers[OP] = found[0][0]
        entries = len(items_of_operation(self._host.outbox.get(found[0][0])))
        request.headers[PARTS] = ",".join(map(str, parse_entry_numbers(found[0][1]) or range(1, entries + 1)))

    async def _met(self, request: httpx.Request, fault: Fault) -> httpx.Response:
        """A request that is delivered twice arrives twice at once: a copy that comes hours later, after other writes,
        is beyond every sender's help where no keys are kept."""
        if fault.kind != DOUBLED:
            return await super()._met(request, fault)
        answer = await self._deliver(request)
        headers = {**request.headers, COPY: "1"}
        await self._deliver(httpx.Request(request.method, request.url, headers=headers, content=request.content))
        return answer


class Foreign(Shop):
    """The document's service and its hosts. Made by `foreign`."""

    transport: Document

    def __init__(self, folder: Path, seed: int, make: Callable[[Ways, Callable[[], float]], Document]) -> None:
        super().__init__(folder, seed)
        self.transport = make(chosen(Random(f"{seed}/ways")), self.time.clock)
        self.settled: Counter[str] = Counter()
        """What a supervisor said of doubts, by what."""
        for number, code in {**CODES, **GOODS}.items():
            self.transport.add_product(number, code, STOCK.get(number) or dict.fromkeys(SHELVES, 30))
        for place in (*SHELVES, PICK_UP):
            self.transport.add_place(place)
        self.transport.add_order(ORDER, (("P1", 4), ("P2", 3)))

    def line(self, host: Host) -> Line:
        """See Shop."""
        return Named(self, host)

    def crash_in(self, statements: int | None) -> None:
        """See Shop."""
        self.transport.crash_in = statements

    # The list of doubts

    def work_off(self) -> int:
        """A supervisor settles what the machine has given up, as it really was; how many."""
        count = 0
        for host in self.hosts:
            for op in host.outbox.live_operations():
                settled_at = (op.in_doubt_at or 0) + SETTLE_S
                if op.state == NEEDS_PERSON and self.time.now > max(op.absence_final_at or 0, settled_at):
                    self.is_listed(host, op)
                    how = self._truth(op)
                    with transaction(host._db):
                        assert host.outbox.resolve(Resolve(op.op_id, how, "looked there"), "sue")
                    self.settled[how] += 1
                    count += 1
            host.wake()
        return count

    def _truth(self, op: Operation) -> str:
        """What somebody finds who goes there and looks."""
        missing = self.missing(op)
        if not missing:
            return ARRIVED
        if len(missing) == len(_names(op)) or op.operation == UPDATE_ORDER:
            return RESEND
        return CLOSED_BY_HAND

    def missing(self, op: Operation) -> list[int]:
        """The positions of what of an operation's body was not carried out."""
        did = self.transport.did.get(op.op_id, Counter())
        return [at for at, name in enumerate(_names(op)) if not did[name]]

    def is_listed(self, host: Host, op: Operation) -> None:
        """An operation that a person has to settle is on the list, with what both sides say. Raises AssertionError."""
        (shown,) = host.query("unconfirmed", op_id=op.op_id)
        assert shown["outcome"] == "in_doubt"
        assert shown["asked"]
        assert ARRIVED in shown["ways"]
        assert shown["why"]
        assert shown["sides"] or not items_of_operation(op), (
            f"{op.op_id} is listed without evidence: {op.operation} {dict(op.evidence)}, {op.last_error}"
        )

    # The end

    async def quiet(self) -> None:
        """The faults end; time passes until nothing is on its way any more and every screen shows it."""
        self.transport.rages = 0.0
        for host in self.hosts:
            host.line.still()
            await host.settle()
        while True:
            await self.time.until(lambda: all(self.rests(host) and not host.line.stray for host in self.hosts), 90_000)
            await self.time.pass_(SETTLE_S + 1)
            if not self.work_off():
                break
        for host in self.hosts:
            for person in host.people:
                person.look()
            host.wake()
        await self.time.pass_(_SLOW_S)
        await self.time.until(lambda: all(self.rests(host) for host in self.hosts), 90_000)

    def rests(self, host: Host) -> bool:
        """Whether nothing is left that a machine can do: all is delivered and read back, or waits behind a doubt."""
        ops = host.outbox.live_operations()
        held = {lane for op in ops if op.state == NEEDS_PERSON for lane in op.lanes}
        for op in ops:
            if op.state == QUEUED and not held.isdisjoint(op.lanes):
                held.update(op.lanes)
            elif op.state in (QUEUED, SENDING, IN_DOUBT, CONFIRMED):
                return False
        return True

    def check(self) -> None:
        """Everything that has to be true once it is quiet. Raises AssertionError."""
        known = {op.op_id: op for host in self.hosts for op in host.operations()}
        foreign = self.transport.did.keys() - known.keys()
        assert not foreign, f"nobody said these: {sorted(foreign)[:5]}"
        for op in known.values():
            self._once(op)
        for host in self.hosts:
            untroubled(host)
            journalled(host)
            self._shown(host)

    def _once(self, op: Operation) -> None:
        did = self.transport.did.get(op.op_id, Counter())
        if op.operation != UPDATE_ORDER:  # what is absolute may be said twice
            often = {name: times for name, times in did.items() if times > 1}
            assert not often, f"{op.op_id} was carried out more than once: {often}, {op.state}, {op.last_error}"
        if (
            op.state == CONFIRMED
        ):  # an order that stands as it was to be needs nothing; what was picked is counted up (Life)
            left = () if op.operation == UPDATE_ORDER else self.missing(op)
            assert not left, f"{op.op_id} is done here, and not there: {left} of {op.body}"
        elif op.state == REFUSED:
            assert not did, f"{op.op_id} was refused and carried out: {did}"
        elif op.superseded_by:
            assert not did, f"{op.op_id} went into another one, and was carried out too"
        else:
            assert op.state == CLOSED, f"{op.op_id} still is {op.state}: {op.last_error}"
            assert op.closed_by, f"{op.op_id} was closed by nobody"

    def _shown(self, host: Host) -> None:
        """What sessions read is what the service has."""
        for number, order in self.transport.orders.items():
            rows = host.query("order", order_number=number)
            seen = {line["line_number"]: line for row in rows for line in row["lines"]}
            for n, line in order["lines"].items():
                ours = tuple(int(seen[n].get(name) or 0) for name in ("quantity", "picked_quantity", "is_picked"))
                assert ours == (line["quantity"], line["picked_quantity"], line["is_picked"]), (number, n, host.home)
        for product in self.transport.products:
            (row,) = host.query("product", product_number=product)
            there = {each["location_code"]: int(each["quantity"]) for each in row["locations"]}
            lying = {place: self.transport.lying[product, place] for place in (*SHELVES, PICK_UP)}
            if self.transport.tells_places:
                assert {place: there.get(place, 0) for place in lying} == lying, product
            whole = sum(self.transport.lying[product, place] for place in ("", *lying))
            assert int(row["most_likely_quantity"]) == whole, product


def _names(op: Operation) -> list[str]:
    """What the service calls the parts of an operation."""
    if op.operation == UPDATE_ORDER:
        return ["head", *(str(line["line_number"]) for line in items_of_operation(op))]
    return [str(n) for n in op.parts or range(1, len(items_of_operation(op)) + 1)]


def quantity_of(entry: Any) -> int:
    """What an entry of a log says."""
    names = ("counted_quantity", "quantity", *(f"stock_pool_{n}" for n in range(1, 11)))
    return int(Decimal(next(entry[name] for name in names if name in entry)))


def live_operations(hosts: Iterable[Host]) -> list[Operation]:
    """All operations of all hosts, without those that went into others."""
    return [op for host in hosts for op in host.operations() if not op.superseded_by]


@asynccontextmanager
async def foreign(
    folder: Path, *, seed: int = 1, make: Callable[[Ways, Callable[[], float]], Document] = Document
) -> AsyncIterator[Foreign]:
    """A filled store with one host, whose courier has the store in its cache."""
    made = Foreign(folder, seed, make)
    try:
        await made.add_host()
        yield made
    finally:
        await made.close()
