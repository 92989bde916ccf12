"""Two pickers on one line from two hosts: picks are added up and excess is reported."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest

from aisle.cli.print_rows_and_messages import reason_text
from aisle.client import Client, Response, RetryPolicy
from aisle.client.transport import asgi_transport
from aisle.courier.courier import Courier
from aisle.courier.push.outgoing_request import request_body, request_headers
from aisle.courier.push.pre_push_checks import adapt_to_lines, needs_adapting
from aisle.courier.service_features_and_lists import Features
from aisle.host.database import transaction
from aisle.jobs.job import CLOSED_BY_HAND, RESEND, Resolve, Write
from aisle.outbox.merge_and_rebase import EXCESS, parse_excess
from aisle.outbox.operation_record import Operation
from aisle.service.app_options_and_limits import ServiceOptions
from aisle.service.open_service_and_admin_token import Service, open_service
from tests.courier.document_host import PUT, Shop
from tests.courier.fake_service import Fake, answer_lost
from tests.courier.host import URL, Host
from tests.courier.writes import STORE, update

OF = 3
"""Pieces of the line that two people pick."""


def based(order: str, base: Any, picked: Any, **header: Any) -> Write:
    """Somebody found so much on line 1 and made it so much."""
    write = update(order, {1: picked}, **header)
    write.body["orders"]["order_lines"][0] |= {
        "base_picked_quantity": Decimal(base),
        "is_picked": Decimal(picked) >= OF,
    }
    return write


def operation(write: Write, **more: Any) -> Operation:
    """A row of the outbox with this write."""
    fields = dict.fromkeys(Operation._fields)
    said = {"operation": write.operation, "body": write.body, "op_id": "OP", "app_user": "U1", "terminal": "dock"}
    return Operation(**{**fields, **said, **more})


def there(picked: int, *, number: int = 1, **more: Any) -> dict[str, Any]:
    """A line as the service says it."""
    return {"line_number": number, "quantity": OF, "picked_quantity": picked, "is_picked": picked >= OF, **more}


# One operation

OWN = Features(idempotency=True, pick_location=True, pick_base=True, claims=True, app_user=True)


def test_a_base_and_a_terminal_go_only_where_they_are_understood() -> None:
    op = operation(based("O1", 0, 1))
    assert b"base_picked_quantity" in request_body(op, OWN)
    assert b"base_picked_quantity" not in request_body(op, Features())
    assert request_headers(op, OWN)["Aisle-Terminal"] == "dock"
    assert "Aisle-Terminal" not in request_headers(op, OWN._replace(claims=False))
    assert needs_adapting(op, Features())
    assert not needs_adapting(op, OWN)
    assert not needs_adapting(operation(update("O1", {1: 2})), Features())


@pytest.mark.parametrize(
    ("base", "picked", "stands", "comes", "left"),
    [(0, 1, 0, 1, 0), (0, 1, 1, 2, 0), (0, 2, 2, 3, 1), (0, 3, 3, 3, 3), (2, 1, 3, 2, 0), (1, 0, 0, 0, -1)],
)
def test_an_update_is_fitted_to_what_was_read(base: int, picked: int, stands: int, comes: int, left: int) -> None:
    fit = adapt_to_lines(operation(based("O1", base, picked)), [there(stands, picked_username="ben")])
    (line,) = fit.op.body["orders"]["order_lines"]
    assert (line["picked_quantity"], line["is_picked"]) == (comes, comes == OF)
    assert "base_picked_quantity" not in line
    assert [row["left"] for row in fit.excess_lines] == ([left] if left else [])
    assert all(row["picked_username"] == "ben" for row in fit.excess_lines)


def test_an_order_is_called_picked_when_all_its_lines_are() -> None:
    last = operation(based("O1", 2, 3, is_picked=True))
    assert adapt_to_lines(last, [there(2), there(1, number=2)]).op.body["orders"]["is_picked"] is False
    assert adapt_to_lines(last, [there(2), there(3, number=2)]).op.body["orders"]["is_picked"] is True
    unaware = operation(based("O1", 0, 1))
    assert adapt_to_lines(unaware, [there(2)]).op.body["orders"]["is_picked"] is True
    assert "is_picked" not in adapt_to_lines(unaware, [there(0)]).op.body["orders"]


def test_update_is_sent_unchanged_when_lines_are_unread() -> None:
    order = adapt_to_lines(operation(based("O1", 0, 1, is_picked=False)), []).op.body["orders"]
    assert order["order_lines"][0]["picked_quantity"] == 1
    assert order["is_picked"] is False


SILENT = [
    b"",
    b"[]",
    b"{}",
    b'{"left": 3}',
    b'{"left": [{"left": 0, "line_number": 1}]}',
    b'{"left": [{"left": 2, "line_number": 1}]}',
]


@pytest.mark.parametrize("body", SILENT)
def test_an_answer_that_says_nothing_leaves_nothing(body: bytes) -> None:
    assert parse_excess(body) == ()


# Two hosts


class Two:
    """Two hosts at one service, each with a courier that works when it is told to."""

    def __init__(self, hosts: tuple[Host, Host], stands: Callable[[str], Any], add: Callable[[str], Any]) -> None:
        self.hosts = hosts
        self.stands = stands
        self.add = add
        self.couriers: tuple[Courier, ...] = ()
        self.shares: list[Decimal] = []

    def pick(self, who: int, order: str, share: int) -> None:
        """Somebody takes so many more (or puts so many back), as far as the screen has room for it."""
        stands = self.hosts[who].line(order)["picked_quantity"]
        picked = min(Decimal(OF), max(Decimal(0), stands + share))
        if picked != stands:
            self.hosts[who].desk.write(based(order, stands, picked))
            self.shares.append(picked - stands)

    def left(self, order: str) -> Decimal:
        """What both hosts keep for their people: it found no room."""
        rows = [row for host in self.hosts for row in host.reads.query("refused_operations", REFUSALS)[0]]
        mine = [row for row in rows if row["body"]["orders"]["order_number"] == order]
        return sum((Decimal(row["left"]["left"]) for row in mine), Decimal(0))

    async def play(self, order: str, steps: tuple[tuple[int, int], ...]) -> None:
        """Each step is (host, share); a share of 0 lets the courier of that host work."""
        self.add(order)
        self.shares.clear()
        for courier in self.couriers:
            await courier.single_reads.read_order(order)
        for who, share in steps:
            if share:
                self.pick(who, order, share)
            else:
                await self.couriers[who].push_once()
        for courier in (*self.couriers, *self.couriers):
            await courier.push_once()
            await courier.single_reads.read_order(order)
        stands = self.stands(order)
        assert 0 <= stands <= OF
        assert stands + self.left(order) == sum(self.shares), (order, steps)
        for host in self.hosts:
            assert host.line(order)["picked_quantity"] == stands, (order, steps)
            assert {op.state for op in host.desk.all()} <= {"done", "closed", "rejected"}


REFUSALS = {"operation": "update-customer-order", "since": ""}

TAKES = (1, 0, 1, 0)
"""Take one, let it go out, take one more, let it go out."""
BACK = (2, 0, -1, 0)


def interleaved(mine: tuple[int, ...], theirs: tuple[int, ...]) -> Iterator[tuple[tuple[int, int], ...]]:
    """All ways to put the steps of two people one after another, each one's in order."""
    count = len(mine) + len(theirs)
    for places in itertools.combinations(range(count), len(mine)):
        first, second = iter(mine), iter(theirs)
        yield tuple((0, next(first)) if at in places else (1, next(second)) for at in range(count))


class Real(Host):
    """A host at a service of ours."""

    service: Service

    def connect(self, observe: Callable[[Response], None]) -> AbstractAsyncContextManager[Client]:
        """The client of that service."""
        token = self.service.ensure_admin_token(self.home.folder / "token")
        transport, retry = asgi_transport(self.service.app), RetryPolicy(tries=1)
        return Client(URL, token, transport=transport, on_response=observe, retry=retry, sleep=self.time.sleep)


@pytest.fixture
async def own(aisle_home: Path) -> AsyncIterator[Two]:
    """Two hosts at our own service."""
    hosts = Real(aisle_home / "own_a"), Real(aisle_home / "own_b")
    service = open_service(aisle_home / "service.db", ServiceOptions(hosts[0].time.clock))
    hosts[0].service = hosts[1].service = service
    token = service.ensure_admin_token(aisle_home / "embedded.token")
    api = "/api/v2/public"

    def call(method: str, path: str, body: Any = None, **query: Any) -> Any:
        async def run() -> Any:
            headers = {"Authorization": f"Bearer {token}"}
            transport = httpx.ASGITransport(service.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://service", headers=headers) as client:
                answer = await client.request(method, api + path, json=body, params=query)
            assert answer.status_code == 200, answer.text
            return json.loads(answer.content, parse_float=Decimal)

        return _in_a_thread(run)

    call("POST", "/stores", {"stores": [{"store_number": STORE, "store_name": "S", "is_active": True, **_STORE}]})
    call("POST", "/products", {"products": [{"product_number": "P1", "product_name": "Tea", "barcode": "1"}]})

    def add(order: str) -> None:
        line = {"line_number": 1, "product_number": "P1", "quantity": OF}
        orders = {"orders": [{"order_number": order, "order_lines": [line]}]}
        call("POST", f"/stores/{STORE}/orders/customerorders", orders)

    def stands(order: str) -> Any:
        query = {"order_number": order, "show_lines": "true"}
        (row,) = call("GET", f"/stores/{STORE}/orders/customerorders", **query)["list"]
        return row["lines"][0]["picked_quantity"]

    async with _open(Two(hosts, stands, add)) as two:
        yield two
    service.close()


_STORE = {"area_id": "A", "area_description": "A", "is_warehouse": False, "is_active_data_exchange": True}


def _in_a_thread(run: Callable[[], Any]) -> Any:
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(run())).result()


@pytest.fixture
async def document(aisle_home: Path) -> AsyncIterator[Two]:
    """Two hosts at a service that implements the interface alone."""
    fake = Fake(features="")
    fake.add_products(["P1"])

    def add(order: str) -> None:
        fake.add_order(order, lines=1)
        fake.orders[order]["lines"][0]["quantity"] = OF

    def stands(order: str) -> Any:
        return Decimal(str(fake.orders[order]["lines"][0]["picked_quantity"]))

    hosts = Host(aisle_home / "a", fake), Host(aisle_home / "b", fake)
    async with _open(Two(hosts, stands, add)) as two:
        yield two


class _open(AbstractAsyncContextManager[Two]):
    """Both couriers, opened and up to date."""

    def __init__(self, two: Two) -> None:
        self.two = two
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Two:
        opened = [await self._stack.enter_async_context(host.courier()) for host in self.two.hosts]
        self.two.couriers = tuple(opened)
        for courier in opened:
            await courier.sync_once()
        return self.two

    async def __aexit__(self, *exc: object) -> None:
        await self._stack.aclose()
        for host in self.two.hosts:
            host.close()


THEIRS = pytest.mark.parametrize("theirs", [TAKES, BACK], ids=["both take", "one puts back"])


async def played(two: Two, theirs: tuple[int, ...], every: int) -> None:
    """All ways, or some of them."""
    for n, steps in enumerate(itertools.islice(interleaved(TAKES, theirs), 0, None, every)):
        await two.play(f"O{n}", steps)


@THEIRS
async def test_in_whatever_order_nothing_is_lost_or_doubled_at_our_own_service(
    own: Two, theirs: tuple[int, ...]
) -> None:
    await played(own, theirs, 9)


@THEIRS
async def test_any_order_of_events_is_exact_at_document_service(document: Two, theirs: tuple[int, ...]) -> None:
    await played(document, theirs, 9)


@pytest.mark.full
@THEIRS
async def test_in_all_orders_nothing_is_lost_or_doubled(own: Two, document: Two, theirs: tuple[int, ...]) -> None:
    await played(own, theirs, 1)
    await played(document, theirs, 1)


async def test_rebase_excess_is_described_and_stays_until_resolved(own: Two) -> None:
    await own.play("O1", ((0, 2), (1, 2), (0, 0), (1, 0)))
    (row,) = own.hosts[1].reads.query("refused_operations", REFUSALS)[0]
    later = {**REFUSALS, "since": "9999"}
    assert own.hosts[1].reads.query("refused_operations", later)[0] == []
    assert own.hosts[1].reads.query("refused_operations", {**later, "ops": [row["op_id"]]})[0] == [row]
    assert reason_text(row["why"]) == "Line 1 already has 3 of 3 (U1). Put back the extra 1 in your hand"
    desk = own.hosts[1].desk
    with transaction(desk.db):
        assert desk.outbox.resolve(Resolve(row["op_id"], CLOSED_BY_HAND, "put back"), "U1")
    assert own.hosts[1].reads.query("refused_operations", REFUSALS)[1] == 0


# A rebased update in doubt: no share of it is done twice or lost


async def test_arrived_update_with_ignored_field_adds_nothing_twice(shop: Shop) -> None:
    """The fake service keeps the quantities of an update and ignores its `is_claimed`."""
    async with shop.working() as courier:
        shop.fake.fail(PUT, answer_lost)
        (op_id,) = shop.desk.write(based("O1", 0, 1, is_claimed=True))
        courier.wake()
        op = await shop.until(op_id, "done")
        assert (op.attempts, shop.fake.calls[PUT]) == (2, 2)
        assert shop.fake.orders["O1"]["lines"][0]["picked_quantity"] == 1


async def test_excess_survives_reconciliation(shop: Shop) -> None:
    async with shop.working() as courier:
        shop.fake.orders["O1"]["lines"][0]["picked_quantity"] = 2
        shop.fake.fail(PUT, answer_lost)
        (op_id,) = shop.desk.write(based("O1", 0, 2, is_claimed=True))
        courier.wake()
        await shop.until(op_id, "done")
        assert shop.fake.orders["O1"]["lines"][0]["picked_quantity"] == 3
        assert [Decimal(op.evidence[EXCESS][0]["left"]) for op in shop.desk.all() if op.op_id == op_id] == [1]
        assert shop.desk.states() == ["done", "rejected"]


async def test_excess_under_key_belongs_to_sent_bytes(aisle_home: Path) -> None:
    """Sent again, they are not fitted again: what stands there may be what they have done."""
    host = Host(aisle_home, Fake("idempotency=30d"))
    try:
        host.fake.add_products(["P1", "P2"])
        host.fake.add_order("O1")
        async with host.running(host.courier()) as courier:
            await host.time.until(lambda: host.state() == "live", 60)
            host.fake.fail(PUT, answer_lost)
            (op_id,) = host.desk.write(based("O1", 0, 2))
            courier.wake()
            await host.time.until(lambda: host.desk.state(op_id) == "done", 60)
            assert host.fake.calls[PUT] == 2
            assert host.desk.states() == ["done"]
    finally:
        host.close()


async def test_resend_by_person_adds_nothing_to_arrived_line(shop: Shop) -> None:
    """Somebody else wrote on the second line meanwhile: what is seen of it fits neither what stood there nor ours."""
    write = based("O1", 0, 1)
    other = {
        "line_number": 2,
        "base_picked_quantity": Decimal(0),
        "picked_quantity": Decimal(2),
        "product_number": "P2",
    }
    write.body["orders"]["order_lines"].append({**write.body["orders"]["order_lines"][0], **other})

    def beside(fake: Fake, request: httpx.Request) -> None:
        lines = fake.orders["O1"]["lines"]
        lines[0]["picked_quantity"], lines[1]["picked_quantity"] = 1, 1
        raise httpx.ReadTimeout("no answer", request=request)

    async with shop.working() as courier:
        lines = shop.fake.orders["O1"]["lines"]
        lines[1] |= {"quantity": 5}
        shop.fake.fail(PUT, beside)
        (op_id,) = shop.desk.write(write)
        courier.wake()
        op = await shop.until(op_id, "needs_person")
        assert op.evidence["verdict"] == "changed"
        assert shop.settle(op_id, RESEND)
        courier.wake()
        await shop.until(op_id, "done")
        assert [line["picked_quantity"] for line in lines] == [1, 3]
