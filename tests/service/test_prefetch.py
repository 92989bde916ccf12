"""What a write will ask is asked at once where the database is far, and is the same answer as if it were asked then."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import asyncpg
import pytest
import pytest_asyncio

from aisle.service.db import ConstraintViolated, Statement, Transaction
from aisle.service.db.postgres import PostgresDatabase
from aisle.service.db.postgres_transaction import PostgresTransaction
from aisle.service.db.statements import access
from aisle.service.domain.timestamps import format_timestamp
from aisle.service.handlers.write_prefetch import prefetch_statements
from aisle.service.operation_context import OperationCall
from tests.service import postgres
from tests.service.world import LOGS, START, World

ADD = "INSERT INTO counter (store_number, name, value) VALUES ($1, $2, $3)"
UP = "UPDATE counter SET value = value + 1 WHERE store_number = $1 AND name = $2"
VALUE = (access.COUNTER_VALUE, ("S1", "ours"))
NAMES = (
    "SELECT name FROM counter WHERE store_number = $1 AND name = ANY($2) ORDER BY name DESC",
    ("S1", ["a", "ours"]),
)
KEY = {"Idempotency-Key": f'"{"k" * 16}"', "Aisle-Occurred-At": format_timestamp(START - 60)}


@pytest_asyncio.fixture
async def far(_shared: tuple[str, PostgresDatabase]) -> AsyncIterator[World]:
    """The filled service over PostgreSQL, with goods and two orders."""
    url, storage = _shared
    postgres.emptied(storage)
    world = World(url, storage)
    await world.fill()
    await world.count("P1", "A1", quantity=9)
    await world.count("P2", "A2", quantity=9)
    await world.order("O1", {"product_number": "P1", "quantity": 3})
    await world.order("O2", {"product_number": "P1", "quantity": 3}, {"product_number": "P2", "quantity": 3})
    yield world
    await world.close()


@contextmanager
def ways(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The statements that go to the server, those that are sent together as one."""
    sent: list[str] = []

    def told(inner: Callable[..., Any]) -> Callable[..., Any]:
        async def tell(self: object, sql: str, *args: Any, **options: Any) -> Any:
            sent.append(" ".join(sql.split())[:60])
            return await inner(self, sql, *args, **options)

        return tell

    with monkeypatch.context() as patch:
        for name in ("execute", "executemany", "fetch"):
            patch.setattr(asyncpg.Connection, name, told(getattr(asyncpg.Connection, name)))
        yield sent


def line(number: int, product: str, place: str) -> dict[str, Any]:
    """One more of an order's line, from a place."""
    said = {"line_number": number, "product_number": product, "preferred_location_code": place}
    return said | {"base_picked_quantity": 0, "picked_quantity": 1}


def pick(order: str, *lines: dict[str, Any]) -> tuple[str, str, Any]:
    """One piece of each of these lines, from a place."""
    body = {"order_number": order, "order_lines": list(lines)}
    return "PUT", "/stores/S1/orders/customerorder", {"orders": body}


def moved(*, line_of: str = "") -> tuple[str, str, Any]:
    """One piece of P1 to another place."""
    held = {"customer_order_number": line_of, "customer_order_line_number": 1} if line_of else {}
    source = held or {"location_code": "A1", "stock_pool": 1}
    item = {"product_number": "P1", "quantity": 1, "from_location": source}
    return (
        "POST",
        "/stores/S1/storeproductlocation/movement",
        [item | {"to_location": {"location_code": "DESK", **held}}],
    )


COUNT = ("POST", LOGS, {"storeproductlog": [{"product_number": "P1", "location_code": "A1", "counted_quantity": 4}]})


@pytest.mark.parametrize(
    ("most", "request_"),
    [
        (5, pick("O1", line(1, "P1", "A1"))),
        (5, pick("O2", line(1, "P1", "A1"), line(2, "P2", "A2"))),
        (5, moved()),
        (6, COUNT),
    ],
)
async def test_number_of_round_trips_of_a_write(
    far: World, monkeypatch: pytest.MonkeyPatch, most: int, request_: tuple[str, str, Any]
) -> None:
    method, path, body = request_
    await far.get("/stores")  # the token's use is noted
    with ways(monkeypatch) as sent:
        answer = await far.send(method, path, body, headers=KEY)
    assert answer.status_code == 200, answer.text
    knocked = next(n for n, said in enumerate(sent) if "READ COMMITTED" in said)
    assert len(sent[knocked:]) == most, sent[knocked:]
    with ways(monkeypatch) as sent:
        assert (await far.send(method, path, body, headers=KEY)).headers["Idempotency-Replayed"] == "true"
    assert len(sent) == 3, "it begins, looks and ends"


@pytest.mark.parametrize(
    ("most", "query"),
    [
        (4, {"order_number": "O2", "show_lines": True, "include_locations": True}),
        (3, {"order_number": "O2"}),
        (4, {"is_active": True}),
    ],
)
async def test_number_of_round_trips_of_a_read(
    far: World, monkeypatch: pytest.MonkeyPatch, most: int, query: dict[str, Any]
) -> None:
    path = "/stores/S1/orders/customerorders"
    await far.get("/stores")
    with ways(monkeypatch) as sent:
        found = await far.rows(path, **query)
    assert len([said for said in sent if said != "ROLLBACK"]) == most, sent
    with monkeypatch.context() as patch:
        patch.setattr(PostgresTransaction, "prefetch", _unheard)
        assert await far.rows(path, **query) == found
    assert [row["order_number"] for row in found][-1] == "O2"


async def poll(world: World, told: dict[str, Any], **more: Any) -> dict[str, Any]:
    """What changed since an earlier answer."""
    found = await world.get("/aisle/v1/stores/S1/changes", since=told["cursor"], mark=told["mark"], **more)
    return dict(found)


@pytest.mark.parametrize(("most", "known"), [(3, ""), (3, "k" * 16)])
async def test_a_poll_goes_to_the_database_once_where_nothing_has_changed(
    far: World, monkeypatch: pytest.MonkeyPatch, most: int, known: str
) -> None:
    assert (await far.send(*moved(), headers=KEY)).status_code == 200
    told = await far.get("/aisle/v1/stores/S1/changes")
    more = {"known": known} if known else {}
    with ways(monkeypatch) as sent:
        again = await poll(far, told, **more)
    assert again == told
    assert len([said for said in sent if said != "ROLLBACK"]) == most, sent
    with monkeypatch.context() as patch:
        patch.setattr(PostgresTransaction, "prefetch", _unheard)
        with ways(patch) as sent:
            assert await poll(far, told, **more) == told
    assert len([said for said in sent if said != "ROLLBACK"]) == most + 3 + bool(known), sent


async def test_a_poll_asks_only_where_something_has_changed(far: World, monkeypatch: pytest.MonkeyPatch) -> None:
    told = await far.get("/aisle/v1/stores/S1/changes")
    assert (await far.send(*moved())).status_code == 200
    with ways(monkeypatch) as sent:
        news = await poll(far, told)
    assert {each["chain"] for each in news["changes"]} == {False}
    own, chain = news["mark"].split(".")
    assert (own != told["mark"].split(".")[0], chain) == (True, told["mark"].split(".")[1])
    assert len([said for said in sent if said != "ROLLBACK"]) == 5, sent
    assert await poll(far, news) == {**news, "changes": []}


async def _unheard(self: PostgresTransaction, questions: object) -> None:
    """Each is asked when it is asked."""


async def test_prefetched_order_is_hidden_from_unauthorised_callers(far: World) -> None:
    client = far.open_client(far.token(stores=["S2"]))
    answer = await far.send(
        "GET", "/stores/S1/orders/customerorders", query={"order_number": "O2", "show_lines": True}, client=client
    )
    assert answer.status_code == 403


async def test_put_down_goods_are_prefetched_too(far: World, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (await far.send(*pick("O1", line(1, "P1", "A1")))).status_code == 200
    with ways(monkeypatch) as sent:
        assert (await far.send(*moved(line_of="O1"), headers=KEY)).status_code == 200
    alone = [said for said in sent if said.startswith("SELECT") and "token" not in said]
    assert len(alone) <= 2, alone
    assert (await far.see("O1"))["lines"][0]["moved_quantity"] == 1


async def test_a_refusal_is_kept_and_does_nothing(far: World, monkeypatch: pytest.MonkeyPatch) -> None:
    before = far.books()
    wrong = pick("O1", line(1, "P1", "A1") | {"picked_quantity": 1, "base_picked_quantity": -1})
    for replayed in (None, "true"):
        answer = await far.send(*wrong, headers=KEY)
        assert (answer.status_code, answer.headers.get("Idempotency-Replayed")) == (422, replayed)
    assert far.books() == before


async def test_prefetched_rows_are_dropped_when_their_table_changes(far: World) -> None:
    async def work(tx: Transaction) -> list[Any]:
        await tx.run(ADD, "S1", "ours", 5)
        await tx.prefetch([VALUE, NAMES, VALUE])
        seen: list[Any] = [await tx.one(VALUE[0], *VALUE[1]), await tx.all(NAMES[0], *NAMES[1])]
        await tx.run(UP, "S1", "ours")
        seen.append(await tx.one(VALUE[0], *VALUE[1]))
        await tx.prefetch([VALUE, NAMES])
        await tx.run_batch([(ADD, ("S1", "a", 1)), (UP, ("S1", "ours"))])
        seen += [await tx.one(VALUE[0], *VALUE[1]), await tx.all(NAMES[0], *NAMES[1])]
        await tx.prefetch([VALUE, NAMES])
        await tx.run_many(UP, [("S1", "ours")] * 2)
        seen.append(await tx.one(VALUE[0], *VALUE[1]))
        return seen

    assert await far.service.database.write(work, stores=["S1"]) == [
        (5,),
        [("ours",)],
        (6,),
        (7,),
        [("ours",), ("a",)],
        (9,),
    ]


async def test_rereading_prefetched_rows_costs_nothing(far: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(tx: Transaction) -> None:
        await tx.prefetch([VALUE, NAMES])
        with ways(monkeypatch) as sent:
            for sql, args in (VALUE, NAMES, VALUE):
                assert await tx.all(sql, *args) == []
            await tx.run("UPDATE put_back SET quantity = 1 WHERE store_number = $1", "S1")
            assert await tx.one(VALUE[0], *VALUE[1]) is None
            assert len(sent) == 1, "another table is none of its business"
            assert await tx.one(VALUE[0], "S1", "other") is None
        assert len(sent) == 2

    await far.service.database.write(work, stores=["S1"])


async def doubled(tx: Transaction, name: str) -> None:
    """What cannot be, in a part of a part. Raises Duplicate."""
    async with tx.savepoint():
        await tx.run(ADD, "S1", name, 1)
        async with tx.savepoint():
            await tx.run(ADD, "S1", name, 1)


async def test_a_part_that_fails_is_undone_alone_whatever_came_before_it(far: World) -> None:
    async def fails(tx: Transaction, name: str) -> None:
        with pytest.raises(ConstraintViolated):
            await doubled(tx, name)

    async def work(tx: Transaction) -> None:
        await fails(tx, "first")
        await tx.run(ADD, "S1", "a", 1)
        await fails(tx, "second")
        async with tx.savepoint():
            await tx.run(ADD, "S1", "ours", 1)
        await fails(tx, "third")

    await far.service.database.write(work, stores=["S1"])
    gone = "SELECT name FROM counter WHERE name = ANY($1) ORDER BY name"
    names = ["a", "first", "ours", "second", "third"]
    assert await far.service.database.read(lambda tx: tx.all(gone, names)) == [("a",), ("ours",)]


@pytest.mark.parametrize("text", ["", "x"])
@pytest.mark.parametrize("number", [None, 1, Decimal("1.5")])
def test_bodies_that_say_little_are_left_to_the_rules(text: str, number: int | Decimal | None) -> None:
    line = {} if number is None else {"customer_order_line_number": number}
    end: dict[str, Any] = {"location_code": text, "customer_order_number": text, **line}
    order_line = {"line_number": number or 1, "product_number": text, "preferred_location_code": text}
    order = {"order_number": text, "order_lines": [order_line]}
    bodies: dict[str, list[Any]] = {
        "update-customer-order": [{}, {"orders": {"order_number": text}}, {"orders": order}],
        "create-movement": [[], [{}], [{"product_number": text, "from_location": {}, "to_location": end}]],
        "create-store-product-logs": [{}, {"storeproductlog": [{}, {"product_number": text, **end}]}],
        "other": [{}],
    }
    for operation, body in ((name, body) for name, each in bodies.items() for body in each):
        asked = list(prefetch_statements(operation, "S1", OperationCall({}, {}, body), "1", "2"))
        assert all(_fits(one) for one in asked)


def _fits(question: Statement) -> bool:
    return all(isinstance(arg, (str, int, list)) for arg in question[1])
