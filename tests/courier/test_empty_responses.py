"""The document service: movements of several items, and empty responses."""

import json
from decimal import Decimal
from typing import Any

import httpx
import pytest

from aisle.cli.print_rows_and_messages import reason_text
from aisle.courier.push.decide_arrival_from_lookup import is_empty_response_final
from aisle.jobs.job import Write
from aisle.outbox.operation_queue import split_movement
from aisle.outbox.operation_record import CREATE_LOGS, CREATE_MOVEMENT, UPDATE_ORDER
from tests.courier.document_host import LOG, MOVE, PUT, Shop, loss
from tests.courier.fake_service import Fake, Fault, answer_lost, not_applied
from tests.courier.writes import movement, update

EMPTY: tuple[dict[str, Any], ...] = ({}, {"success": None, "data": None})


def cart(*products: str) -> Write:
    """Goods of several products that are carried from A-1 to B-1 at once."""
    writes = [movement(product, 1, "A-1", "B-1") for product in products]
    items = [item for write in writes for item in write.body]
    return writes[0]._replace(lanes=tuple(sorted({lane for write in writes for lane in write.lanes})), body=items)


def wordless(body: Any, status: int = 200) -> Fault:
    """Carried out, and answered in no words."""

    def fault(fake: Fake, request: httpx.Request) -> httpx.Response:
        fake.answer(request)
        return httpx.Response(status, json=body) if status != 204 else httpx.Response(204)

    return fault


def nothing(fake: Fake, request: httpx.Request) -> httpx.Response:
    """Not carried out, and answered in no words all the same."""
    return httpx.Response(200, json={})


def refusing(fake: Fake, request: httpx.Request) -> httpx.Response:
    """The service's own no."""
    return httpx.Response(409, json={"success": False, "message": "A-1 has none of it."})


# Several items


async def test_movement_is_split_into_one_operation_per_item(shop: Shop) -> None:
    (op_id,) = shop.desk.write(cart("P1", "P2", "P3"))
    (behind,) = shop.desk.write(loss("P2"))
    async with shop.working():
        await shop.until(behind, "done")
        await shop.time.until(lambda: all(op.state == "done" for op in shop.desk.all() if op.op_id != op_id), 60)
    whole, *items = sorted(shop.desk.all(), key=lambda op: op.op_id != op_id)
    assert whole.state == "closed"
    moved = [op for op in items if op.operation == MOVE]
    assert whole.superseded_by == moved[-1].op_id
    assert [op.body[0]["product_number"] for op in moved] == ["P1", "P2", "P3"]
    assert [op.lanes for op in moved] == [(f"product/P{n}",) for n in (1, 2, 3)]
    sent = [
        json.loads(each.content) for each in shop.fake.requests if each.method == "POST" and "movement" in each.url.path
    ]
    assert [len(body) for body in sent] == [1, 1, 1]
    order = [name for name, entry in shop.fake.applied if entry.get("product_number") == "P2"]
    assert order == [MOVE, LOG], "what was said later of the same goods stays behind"


async def test_our_own_service_gets_the_movement_whole(shop: Shop) -> None:
    shop.fake.features = "idempotency=30d"
    async with shop.working():
        (op_id,) = shop.desk.write(cart("P1", "P2"))
        await shop.until(op_id, "done")
    assert shop.desk.states() == ["done"]


async def test_refused_item_of_movement_is_reported_alone(shop: Shop) -> None:
    async with shop.working():
        await shop.prove()
        shop.fake.fail(MOVE, refusing)
        shop.desk.write(cart("P1", "P2"))
        await shop.time.until(lambda: shop.desk.states()[-3:] == ["rejected", "done", "closed"], 60)
    assert [shop.applied(MOVE, product) for product in ("P1", "P2")] == [0, 1]


async def test_item_in_doubt_needs_person_while_others_finish(shop: Shop) -> None:
    shop.fake.logs_movements = False
    async with shop.working():
        await shop.prove()
        shop.fake.fail(MOVE, answer_lost)
        shop.desk.write(cart("P1", "P2"))
        await shop.time.until(lambda: shop.desk.states()[-3:] == ["needs_person", "done", "closed"], 400)
        await shop.time.pass_(2000)
    assert [shop.applied(MOVE, product) for product in ("P1", "P2")] == [1, 1]


async def test_operation_without_lane_rows_is_sent_whole(shop: Shop) -> None:
    (other,) = shop.desk.write(movement("P3", 1, "A-1", "B-1"))
    (op_id,) = shop.desk.write(cart("P1", "P2"))
    shop.desk.db.execute("DELETE FROM operation_lane WHERE n = 1")
    shop.desk.db.execute("UPDATE operation SET n = 3 WHERE op_id = ?", (other,))  # just before the movement
    shop.desk.db.execute("INSERT INTO operation_lane VALUES ('product/P3', 3)")
    async with shop.working():
        await shop.until(op_id, "done")
    assert [shop.applied(MOVE, f"P{n}") for n in (1, 2, 3)] == [1, 1, 1]


def test_an_item_keeps_the_lanes_of_what_it_names() -> None:
    ends = [{"customer_order_number": number, "customer_order_line_number": 1} for number in ("O1", "O2")]
    items = [{"product_number": f"P{n}", "quantity": Decimal(1), "to_location": end} for n, end in enumerate(ends, 1)]
    write = Write(CREATE_MOVEMENT, ("order/O1", "order/O2", "product/P1", "product/P2", "store"), {}, {}, items)
    assert [each.lanes for each in split_movement(write)] == [
        ("order/O1", "product/P1", "store"),
        ("order/O2", "product/P2", "store"),
    ]
    assert split_movement(update("O1", {1: 2})) == [update("O1", {1: 2})]


# No words


@pytest.mark.parametrize("answer", [*(wordless(body) for body in EMPTY), wordless(None, 204)])
@pytest.mark.parametrize("write", [movement("P1", 2, "A-1", "B-1"), loss("P1")], ids=["movement", "loss"])
async def test_an_answer_in_no_words_is_looked_for_before_it_is_believed(
    shop: Shop, write: Write, answer: Fault
) -> None:
    async with shop.working():
        await shop.prove()
        shop.fake.fail(write.operation, answer)
        (op_id,) = shop.desk.write(write)
        op = await shop.until(op_id, "done", within_s=30)
        assert op.answer == "found"
        assert shop.applied(write.operation) == 1


@pytest.mark.parametrize("write", [movement("P1", 2, "A-1", "B-1"), loss("P1")], ids=["movement", "loss"])
async def test_empty_response_without_effect_needs_person(shop: Shop, write: Write) -> None:
    async with shop.working():
        await shop.prove()
        shop.fake.fail(write.operation, nothing)
        (op_id,) = shop.desk.write(write)
        op = await shop.until(op_id, "needs_person")
        assert "empty answer" in reason_text(op.last_error)
        await shop.time.pass_(2000)
        assert shop.applied(write.operation) == 0, "somebody has said yes to it: the machine does not say it again"
        assert shop.settle(op_id, "resend")
        await shop.until(op_id, "done")
        assert shop.applied(write.operation) == 1


async def test_empty_response_counts_as_done_when_no_lookup_is_possible(shop: Shop) -> None:
    shop.fake.logs_movements = False
    async with shop.working():
        await shop.prove()
        shop.fake.fail(MOVE, wordless({}))
        (op_id,) = shop.desk.write(movement("P1", 1, "A-1", "B-1"))
        op = await shop.until(op_id, "done", within_s=30)
        assert op.answer == "{}"


async def test_unanswered_operation_is_sent_again(shop: Shop) -> None:
    async with shop.working():
        await shop.prove()
        shop.fake.fail(MOVE, not_applied, wordless({}))
        (op_id,) = shop.desk.write(movement("P1", 1, "A-1", "B-1"))
        await shop.until(op_id, "done")
        assert shop.applied(MOVE) == 1


COUNTED = {"is_counted_quantity": True}
ENTRY = {"product_number": "P1", "reference": "X", "source": "aisle/1"}
FIVE = {"expected_quantity": 5.0}
TABLE = [
    ("a movement that can be found", CREATE_MOVEMENT, {}, [ENTRY], True, False),
    ("a movement that never was", CREATE_MOVEMENT, {}, [ENTRY], False, True),
    ("a movement without our name", CREATE_MOVEMENT, {}, [{"product_number": "P1"}], True, True),
    ("a loss", CREATE_LOGS, {}, [{**ENTRY, "quantity": -1}], True, False),
    ("a count", CREATE_LOGS, COUNTED, [{**ENTRY, "counted_quantity": 4, "expected_quantity": 5}], True, False),
    ("a count of what was expected", CREATE_LOGS, COUNTED, [{**ENTRY, **FIVE, "counted_quantity": 5}], True, True),
    ("the same by pools", CREATE_LOGS, COUNTED, [{**ENTRY, **FIVE, "stock_pool_1": 2, "stock_pool_2": 3}], True, True),
    ("a count against nothing", CREATE_LOGS, COUNTED, [{**ENTRY, "counted_quantity": 5}], True, False),
    ("an update of an order", UPDATE_ORDER, {}, [], True, True),
    ("one of a product", "update-store-products", {}, [], True, True),
    ("an order", "create-customer-orders-one-store", {}, [], False, False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "operation", "query", "entries", "proven", "believed"), TABLE, ids=[row[0] for row in TABLE]
)
def test_which_empty_responses_are_looked_up(
    shop: Shop, name: str, operation: str, query: dict[str, Any], entries: Any, proven: bool, believed: bool
) -> None:
    shop.desk.write(movement("P1", 1, "A-1", "B-1"))
    (op,) = shop.desk.all()
    body = {"storeproductlog": entries} if operation == CREATE_LOGS else entries
    op = op._replace(op_id="X", operation=operation, query=query, body=body, sent_body=json.dumps(body).encode())
    assert is_empty_response_final(op, proven) is believed, name


# A service of the document alone that says rubbish of one row: what others say is delivered and looked for all the


RUBBISH = pytest.mark.parametrize("rubbish", [7, "A-1", {"A-1": 3}, ["A-1", None, 7, [], {}], [{"quantity": []}]])


@RUBBISH
async def test_of_an_order_in_doubt(shop: Shop, rubbish: Any) -> None:
    async with shop.working() as courier:
        await shop.prove()
        lines = shop.fake.orders["O1"]["lines"]
        shop.fake.fail(PUT, answer_lost)
        shop.fake.fail(LOG, answer_lost)
        first, second = shop.desk.write(update("O1", {1: 2}), loss("P1"))
        courier.wake()
        await shop.until(first, "in_doubt")
        shop.fake.orders["O1"]["lines"] = rubbish
        await shop.until(second, "done", within_s=60)
        assert shop.desk.state(first) == "in_doubt"
        shop.fake.orders["O1"]["lines"] = lines
        await shop.until(first, "done")
    assert shop.applied(LOG) == 1


@RUBBISH
@pytest.mark.parametrize("pool", [None, "3", [], "many"])
async def test_of_stock_that_is_moved(shop: Shop, rubbish: Any, pool: Any) -> None:
    async with shop.working() as courier:
        shop.fake.stock["P1"]["store_locations"] = rubbish
        shop.fake.stock["P2"]["store_locations"] = [{"store_location_code": "A-1", "stock_pool_1": pool}]
        shop.fake._shift = lambda item: None  # type: ignore[method-assign]
        shop.fake.logs_movements = False  # so that stock is looked at before each of them
        op_ids = shop.desk.write(*(movement(product, 1, "A-1", "B-1") for product in ("P1", "P2", "P3")))
        courier.wake()
        for op_id in op_ids:
            await shop.until(op_id, "done", within_s=60)
    assert [shop.applied(MOVE, product) for product in ("P1", "P2", "P3")] == [1, 1, 1]
