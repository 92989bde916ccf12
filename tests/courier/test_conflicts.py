"""The card of every kind of conflict: what happened, what both sides say, and that each way out does what it says.

Each case is brought about by a real sequence: outbox, courier, and our own service or one of the document alone.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from aisle.cli.print_rows_and_messages import reason_text
from aisle.client import Client, Response, RetryPolicy
from aisle.client.transport import asgi_transport
from aisle.courier.courier import Courier
from aisle.host.database import transaction
from aisle.jobs.job import Context, Effect, Event, Query, Refresh, Resolve, Rows, Start, Write
from aisle.jobs.log_writes_and_refusals import log_write
from aisle.jobs.supervisor.unconfirmed import UnconfirmedJob, operation_choices
from aisle.jobs.view import DetailView, Frame, LinkState
from aisle.outbox.operation_record import Operation
from aisle.scan.grammar_and_meaning_types import Choice
from aisle.service.app_options_and_limits import ServiceOptions
from aisle.service.open_service_and_admin_token import open_service
from aisle.tui.layout.screen import layout_screen
from aisle.tui.layout.styled_lines_and_page_parts import plain_lines
from tests.courier.document_host import LOG, MOVE, PUT
from tests.courier.document_service import Plain
from tests.courier.fake_service import answer_lost, not_applied, says
from tests.courier.host import URL, Host
from tests.courier.test_rebase import based
from tests.courier.writes import STORE, movement


def count(product: str, place: str, counted: int, expected: int) -> Write:
    """Somebody counted a place."""
    entry: Any = {"product_number": product, "location_code": place, "counted_quantity": Decimal(counted)}
    more = {"expected_quantity": Decimal(expected), "source": "aisle"}
    return log_write([entry | more], [product], STORE, "U1", is_count=True)


class World(ABC):
    """A host with its courier, and what a test does on the service's side of it."""

    own = False
    host: Host
    courier: Courier

    @abstractmethod
    async def begin(self) -> None:
        """Two products, two places with ten of P1 at the first, and an order of three of it."""

    @abstractmethod
    async def other(self, **said: Any) -> None:
        """Somebody else writes to the order."""

    @abstractmethod
    async def picked(self) -> Decimal:
        """What the service says of the order's line."""

    @abstractmethod
    async def stock(self, place: str) -> int:
        """What the service says of P1 there."""

    @abstractmethod
    def close(self) -> None:
        """Lets go of everything."""

    async def send(self, *writes: Write) -> list[str]:
        """Notes them, and lets the courier work until nothing more comes of it."""
        ids = list(self.host.desk.write(*writes))
        await self.work()
        return ids

    async def work(self) -> None:
        for _ in range(3):
            await self.courier.push_once()
            await self.host.time.pass_(1)

    async def settle(self, op_id: str, how: str, note: str = "") -> None:
        """What a person says on the card."""
        with transaction(self.host.desk.db):
            assert self.host.desk.outbox.resolve(Resolve(op_id, how, note), "U2")
        await self.work()

    def card(self, op_id: str) -> dict[str, Any]:
        """The card as a session reads it."""
        (row,) = self.host.reads.query("unconfirmed", {"op_id": op_id})[0]
        return dict(row)

    def cards(self) -> list[dict[str, Any]]:
        """All that wait for a person."""
        return [dict(row) for row in self.host.reads.query("unconfirmed", {})[0] if row["asked"]]

    def op(self, op_id: str) -> Operation:
        return self.host.desk.outbox.get(op_id)


class Own(World):
    """Our own service."""

    own = True

    def __init__(self, root: Path) -> None:
        self.host = Host(root / "own")
        self.service = open_service(root / "service.db", ServiceOptions(self.host.time.clock))
        self.token = self.service.ensure_admin_token(root / "token")
        self.host.connect = self.client  # type: ignore[method-assign]

    def client(self, observe: Callable[[Response], None] = lambda _: None) -> Client:
        transport, retry = asgi_transport(self.service.app), RetryPolicy(tries=1)
        return Client(
            URL, self.token, transport=transport, on_response=observe, retry=retry, sleep=self.host.time.sleep
        )

    async def begin(self) -> None:
        store = {"store_number": STORE, "store_name": "S", "is_active": True, "is_active_data_exchange": True}
        goods = [{"product_number": f"P{n}", "product_name": f"Tea {n}", "barcode": f"{n}"} for n in (1, 2)]
        places = [{"store_number": STORE, "location_code": code, "default_stock_pool": "1"} for code in ("A-1", "B-1")]
        stock = [{"product_number": "P1", "location_code": "A-1", "counted_quantity": 10}]
        order = {"order_number": "O1", "order_lines": [{"line_number": 1, "product_number": "P1", "quantity": 3}]}
        async with self.client() as client:
            await client.call("create-stores", {"stores": [{**store, "is_warehouse": False}]})
            await client.call("create-or-update-products", {"products": goods})
            await client.request_extension("POST", "/aisle/v1/locations", body={"locations": places})
            await client.call(
                "create-store-product-logs", {"storeproductlog": stock}, store_number=STORE, is_counted_quantity=True
            )
            await client.call("create-customer-orders-one-store", {"orders": [order]}, store_number=STORE)

    async def other(self, **said: Any) -> None:
        async with self.client() as client:
            await client.call("update-customer-order", {"orders": {"order_number": "O1", **said}}, store_number=STORE)

    async def rows(self, name: str, **query: Any) -> list[dict[str, Any]]:
        path = {"store_number": STORE} if name == "list-customer-orders" else {}
        async with self.client() as client:
            return [row async for rows, _ in client.pages(name, path=path, query=query) for row in rows]

    async def picked(self) -> Decimal:
        query = {"order_number": "O1", "show_lines": True}
        found = [await self.rows("list-customer-orders", is_active=active, **query) for active in (True, False)]
        return Decimal(str(next(row for rows in found for row in rows)["lines"][0]["picked_quantity"]))

    async def stock(self, place: str) -> int:
        query = {"store_number": STORE, "product_number": "P1", "include_locations": True}
        (row,) = await self.rows("list-store-products-stock", **query)
        found = [each for each in row["store_locations"] if each["store_location_code"] == place]
        return int(found[0].get("quantity") or found[0].get("stock_pool_1")) if found else 0

    def close(self) -> None:
        self.host.close()
        self.service.close()


class Document(World):
    """A service of the document alone."""

    def __init__(self, root: Path) -> None:
        self.fake = Plain()
        self.host = Host(root / "document", self.fake)
        self.fake.time = self.host.time

    async def begin(self) -> None:
        self.fake.add_products(["P1", "P2"])
        self.fake.add_locations("A-1", "B-1")
        self.fake.add_order("O1", lines=1)

    async def other(self, **said: Any) -> None:
        order = self.fake.orders["O1"]
        for line in said.pop("order_lines", ()):
            order["lines"][line["line_number"] - 1].update(line)
        order.update(said)

    async def picked(self) -> Decimal:
        return Decimal(str(self.fake.orders["O1"]["lines"][0]["picked_quantity"]))

    async def stock(self, place: str) -> int:
        return int(self.fake._place("P1", place)["quantity"])

    def close(self) -> None:
        self.host.close()


Happening = Callable[[Any], Awaitable[str]]
After = Callable[[Any, str], Awaitable[None]]


class Case(NamedTuple):
    """One kind of conflict, and all that its card says."""

    name: str
    world: type[World]
    happens: Happening
    """Brings it about; the op_id of the card."""
    word: str = "refused"
    why: str = ""
    """A pattern."""
    sides: tuple[tuple[Any, ...], ...] = ()
    """(of, place, before, what we said, now) each."""
    ways: tuple[str, ...] = ("put_back", "other_order", "close_by_hand", "open_order")
    after: Mapping[str, After] = MappingProxyType({})
    """What is so when a way was taken; for all others it is closed, and nothing is changed."""


# A: two pickers on one line


async def _two_pickers(world: World) -> str:
    await world.other(order_lines=[{"line_number": 1, "product_number": "P1", "picked_quantity": 2}])
    await world.send(based("O1", 0, 2))
    (card,) = world.cards()
    assert await world.picked() == 3
    return str(card["op_id"])


# B: somebody else was done with the order


def _order_is(**said: Any) -> Happening:
    async def happens(world: World) -> str:
        await world.other(**said)
        (op_id,) = await world.send(based("O1", 0, 2))
        return op_id

    return happens


async def _rejected_too_late(world: World) -> str:
    """Somebody else has handed it over meanwhile."""
    await world.other(is_active=False)
    write = based("O1", 0, 2)
    write.body["orders"] = {"order_number": "O1", "is_rejected": True}
    (op_id,) = await world.send(write)
    return op_id


async def _handed_over_twice(world: World) -> str:
    """Somebody else has handed it over meanwhile; no answer of the service says so."""
    await world.other(is_active=False)
    write = based("O1", 0, 2)
    write.body["orders"] = {"order_number": "O1", "is_active": False}
    (op_id,) = await world.send(write)
    return op_id


async def _other_line(world: World) -> str:
    """The order was deleted and made anew; to our own service it is the same that P2 was picked for a line of P1."""
    write = based("O1", 0, 2)
    if isinstance(world, Own):
        write.body["orders"]["order_lines"][0]["product_number"] = "P2"
    else:
        await world.other(order_lines=[{"line_number": 1, "product_number": "P2"}])
    (op_id,) = await world.send(write)
    return op_id


async def _doubted_claim(world: Document) -> str:
    world.fake.fail(PUT, not_applied)
    write = based("O1", 0, 1)
    del write.body["orders"]["order_lines"]
    write.body["orders"]["is_claimed"] = True
    (op_id,) = await world.send(write)
    await world.host.time.pass_(3)
    await world.work()
    return op_id


# C: counts and movements


async def _count_behind_a_doubt(world: Document) -> str:
    world.fake.logs_movements = False
    world.fake.fail(MOVE, answer_lost)
    moved, counted = await world.send(movement("P1", 2, "A-1", "B-1"), count("P1", "A-1", 8, 8))
    await world.host.time.until(lambda: world.op(moved).state != "sending", 60)
    return counted


async def _doubted_count(world: Document) -> str:
    """Nobody can look for it, and a piece was lost since."""
    world.fake.keeps_reference = world.fake.keeps_source = False
    world.fake.fail(LOG, not_applied)
    (op_id,) = await world.send(count("P1", "A-1", 12, 10))
    for _ in range(40):
        await world.host.time.pass_(60)
        await world.work()
    world.fake._place("P1", "A-1")["quantity"] -= 1
    return op_id


# D, E: what cannot be moved


async def _too_many(world: World) -> str:
    if isinstance(world, Document):
        world.fake.fail(MOVE, says(409, body={"success": False, "message": "A-1 has 10 of P1, 20 are asked for"}))
    (op_id,) = await world.send(movement("P1", 20, "A-1", "B-1"))
    return op_id


async def _no_such_place(world: World) -> str:
    if isinstance(world, Document):
        world.fake.fail(MOVE, *[says(404, body={"success": False, "message": "There is no X-9"})] * 2)
    (op_id,) = await world.send(movement("P1", 2, "A-1", "X-9"))
    return op_id


# What the ways lead to


async def _counted_again(world: World, op_id: str) -> None:
    assert await world.stock("A-1") == 12


async def _difference(world: World, op_id: str) -> None:
    assert await world.stock("A-1") == 11, "what was lost meanwhile stays lost"
    assert world.op(op_id).state == "closed"


async def _moved_anyway(world: World, op_id: str) -> None:
    assert (await world.stock("A-1"), await world.stock("B-1")) == (-10, 20)
    new = world.op(world.op(op_id).superseded_by)
    assert (new.state, new.app_user, new.query["AppUserName"]) == ("done", "U2", "U2")


async def _done(world: World, op_id: str) -> None:
    assert world.op(op_id).state == "done"


DONE_WITH = (("P1", "", "0", "2", "0"),)


def _moved(quantity: int, to: str, *before: str | None) -> tuple[tuple[Any, ...], ...]:
    """What both sides say of a movement from A-1."""
    here, there = before or (None, None)
    return (("P1", "A-1", here, f"-{quantity}", "10"), ("P1", to, there, f"+{quantity}", "0"))


GOODS = ("overage", "close_by_hand", "count")
ANYWAY = {"overage": _moved_anyway}

SHOWN = {"in_doubt": "in doubt", "queued": "saved"}
"""States that a screen calls by another word."""

CASES = (
    Case("A own", Own, _two_pickers, why="3 of 3.*Put back the extra 1", sides=(("P1", "", "3", "4", "3"),)),
    Case("A document", Document, _two_pickers, why="3 of 3.* 1 too many", sides=(("P1", "", "3", "4", "3"),)),
    Case("B finished own", Own, _order_is(is_active=False), why="O1", sides=DONE_WITH),
    Case("B finished document", Document, _order_is(is_active=False), why="handed over order O1", sides=DONE_WITH),
    Case(
        "B rejected too late own",
        Own,
        _rejected_too_late,
        why="O1 is finished",
        sides=(("is_rejected", "", None, "yes", "no"),),
        ways=("close_by_hand", "open_order"),
    ),
    Case(
        "B handed over twice document",
        Document,
        _handed_over_twice,
        why="handed over order O1",
        sides=(("is_active", "", None, "no", "no"),),
        ways=("close_by_hand", "open_order"),
    ),
    Case("B rejected own", Own, _order_is(is_rejected=True), why="O1", sides=DONE_WITH),
    Case("B rejected document", Document, _order_is(is_rejected=True), why="rejected order O1", sides=DONE_WITH),
    Case("B made anew own", Own, _other_line, why="P1", sides=(("P2", "", "0", "2", "0"),)),
    Case("B made anew document", Document, _other_line, why="Line 1 .* is P2 now, not P1", sides=DONE_WITH),
    Case(
        "B claim document",
        Document,
        _doubted_claim,
        "in_doubt",
        sides=(("is_claimed", "", "no", "yes", "no"),),
        ways=("arrived", "close_by_hand", "open_order"),
        after={"arrived": _done},
    ),
    Case("C behind a doubt document", Document, _count_behind_a_doubt, "queued", ways=("first", "count")),
    Case(
        "C count document",
        Document,
        _doubted_count,
        "in_doubt",
        why="arrived",
        sides=(("P1", "A-1", "10", "=12", "10"),),
        ways=("arrived", "resend", "difference", "close_by_hand", "count"),
        after={"arrived": _done, "resend": _counted_again, "difference": _difference},
    ),
    Case("D own", Own, _too_many, why="10", sides=_moved(20, "B-1"), ways=GOODS, after=ANYWAY),
    Case("D document", Document, _too_many, why="20 are", sides=_moved(20, "B-1", "10", "0"), ways=GOODS, after=ANYWAY),
    Case("E own", Own, _no_such_place, why="X-9", sides=_moved(2, "X-9"), ways=GOODS[1:]),
    Case("E document", Document, _no_such_place, why="X-9", sides=_moved(2, "X-9", "10", "0"), ways=GOODS[1:]),
)


class Hand:
    """A person at the card."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.job = UnconfirmedJob()
        self.state = self.job.begin()
        self.effects: list[Effect] = []
        self.does(Rows("unconfirmed", (row,), 1), Choice(1), Rows("chosen", (row,), 1))
        self.effects.clear()

    def does(self, *events: Event) -> None:
        for event in events:
            turn = self.job.handle(self.state, event, Context())
            self.state = turn.state
            self.effects += turn.effects

    @property
    def ways(self) -> tuple[str, ...]:
        assert self.state.entry is not None
        return operation_choices(self.state.entry)

    def chooses(self, way: str) -> None:
        """By its number; and says yes, or how."""
        view = self.job.view(self.state)
        assert isinstance(view, DetailView)
        assert len(view.choices) == len(self.ways)
        self.does(Choice(self.ways.index(way) + 1))
        if self.state.question:
            self.does(Choice(1))


@asynccontextmanager
async def happened(case: Case, root: Path) -> AsyncIterator[tuple[World, str]]:
    """The world after it, and the operation that the card is of."""
    world = case.world(root)  # type: ignore[call-arg]
    try:
        await world.begin()
        async with world.host.courier() as courier:
            world.courier = courier
            await courier.sync_once()
            yield world, await case.happens(world)
    finally:
        world.close()


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=pytest.mark.drawn if case.name == "B finished document" else ()) for case in CASES],
    ids=lambda case: case.name,
)
async def test_a_card_says_what_happened_and_what_both_sides_say(case: Case, aisle_home: Path) -> None:
    async with happened(case, aisle_home) as (world, op_id):
        card = world.card(op_id)
        assert card["outcome"] == case.word, card
        assert re.search(case.why, reason_text(card["why"])), card["why"]
        sides = tuple(
            tuple(side[name] for name in ("subject", "location", "before", "ours", "after")) for side in card["sides"]
        )
        assert sides == case.sides
        hand = Hand(card)
        assert hand.ways == case.ways
        for columns, rows in ((20, 16), (80, 24)):
            frame = Frame(hand.job.view(hand.state), LinkState("live", 1.0), None, "", STORE, "Anna")
            shown = "\n".join(plain_lines(layout_screen(frame, columns, rows)))
            assert SHOWN.get(case.word, case.word) in shown


def _ways() -> Iterator[Any]:
    """Each way at each service, and wherever it does something of its own."""
    seen: set[tuple[str, type[World]]] = set()
    for case in CASES:
        for way in case.ways:
            if way in case.after or (way, case.world) not in seen:
                seen.add((way, case.world))
                yield pytest.param(case, way, id=f"{case.name} {way}")


@pytest.mark.parametrize(("case", "way"), list(_ways()))
async def test_each_way_out_does_what_it_says(case: Case, way: str, aisle_home: Path) -> None:
    async with happened(case, aisle_home) as (world, op_id):
        card, before = world.card(op_id), await world.picked()
        hand = Hand(card)
        hand.chooses(way)
        (effect,) = (each for each in hand.effects if not isinstance(each, Refresh))
        if way == "first":
            assert isinstance(effect, Query)
            assert world.card(str(effect.args["op_id"]))["outcome"] == "in_doubt"
        elif way == "count":
            assert effect == Start("count", {"location_code": card["location"]})
        elif way == "open_order":
            assert effect == Start("pick", {"order_number": "O1", "view_only": True})
        else:
            assert isinstance(effect, Resolve)
            await world.settle(op_id, effect.decision, effect.note)
            if way in case.after:
                await case.after[way](world, op_id)
            else:
                op = world.op(op_id)
                assert (op.state, op.closed_by, op.last_error) == ("closed", "U2", effect.note)
                assert not world.cards()
                assert await world.picked() == before


# What asks nobody


async def test_late_movement_before_count_is_ordered_by_time_at_own_service(aisle_home: Path) -> None:
    world = Own(aisle_home)
    await world.begin()
    async with world.host.courier() as world.courier:
        await world.courier.sync_once()
        await world.host.time.pass_(3600)
        world.host.desk.write(count("P1", "A-1", 6, 10), occurred="2027-01-15T08:59:30Z")
        world.host.desk.write(movement("P1", 4, "A-1", "B-1"), occurred="2027-01-15T08:59:00Z")
        await world.work()
        assert (await world.stock("A-1"), await world.stock("B-1")) == (6, 4)
        assert not world.cards()
    world.close()


async def test_f_a_wrong_clock_is_no_conflict(aisle_home: Path) -> None:
    """`aisle doctor` tells of it; see tests/cli/test_doctor.py."""
    world = Own(aisle_home)
    await world.begin()
    async with world.host.courier() as world.courier:
        await world.courier.sync_once()
        world.host.desk.write(movement("P1", 4, "A-1", "B-1"), occurred="2031-01-15T11:59:30Z")
        world.host.desk.write(count("P1", "A-1", 6, 6), occurred="1999-01-15T11:59:00Z")
        await world.work()
        assert (await world.stock("A-1"), await world.stock("B-1")) == (6, 4)
        assert not world.cards()
    world.close()


@pytest.mark.parametrize("make", [Own, Document], ids=["own", "document"])
async def test_h_one_person_in_two_sessions_adds_up(make: type[World], aisle_home: Path) -> None:
    world = make(aisle_home)  # type: ignore[call-arg]
    await world.begin()
    async with world.host.courier() as world.courier:
        await world.courier.sync_once()
        world.host.desk.write(based("O1", 0, 1))
        world.host.desk.write(based("O1", 0, 1))
        await world.work()
        assert await world.picked() == 2
        assert not world.cards()
    world.close()
