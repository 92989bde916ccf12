"""What a look proves: the table of operations, and the judge, without a service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from aisle.contract.wire import OPERATIONS
from aisle.courier.features import Features
from aisle.courier.send.judging import (
    ABSENT,
    BY_LOG,
    BY_NUMBER,
    BY_ORDER,
    BY_PRODUCT,
    CHANGED,
    FOUND,
    NOT_AT_ALL,
    PARTLY,
    STANDS,
    UNREADABLE,
    WAYS,
    Judgement,
    Seen,
    judge,
    state_of,
    way_of,
)
from aisle.courier.send.marks import OFF, REFERENCE, SOURCE, marks
from aisle.courier.send.parcel import body_of
from aisle.jobs.base import Write
from aisle.jobs.count.counting import logs
from aisle.local.outbox.operation import Operation
from tests.courier.kit import STORE, Desk, movement, update

PLAIN = Features()
Row = dict[str, Any]


@pytest.fixture
def desk(aisle_home: Path) -> Desk:
    return Desk(aisle_home, lambda: 0.0)


def sent(desk: Desk, write: Write, where: str = REFERENCE, before: Mapping[str, Any] | None = None) -> Operation:
    """The operation as it was sent to a service of the document alone."""
    (op_id,) = desk.write(write)
    op = desk.outbox.get(op_id)
    evidence = {"before": before} if before else {}
    return op._replace(frozen=body_of(op, PLAIN, where), evidence=evidence)


def loss(*products: str, **fields: Any) -> Write:
    entries = [{"product_number": p, "quantity": Decimal(-1), "source": "aisle", **fields} for p in products]
    return logs(entries, products, STORE, "U1")


def entry(op: Operation, number: int, **fields: Any) -> Row:
    """An entry of the service's log, as it was sent."""
    mark = marks(op)[number - 1]
    return {
        "id": number, "reference": mark.reference, "source": mark.source, "product_number": mark.product,
        "quantity": mark.quantity, **fields,
    }  # fmt: skip


def test_every_operation_of_the_table_is_one_of_the_interface() -> None:
    assert set(WAYS) <= set(OPERATIONS)
    assert set(WAYS.values()) <= {BY_LOG, BY_ORDER, BY_NUMBER, BY_PRODUCT, NOT_AT_ALL}


@pytest.mark.parametrize("where", [REFERENCE, SOURCE])
@pytest.mark.parametrize("write", [loss("P1", "P2"), loss("P1", "P2", reference="RMA 7")], ids=["none", "typed"])
def test_the_name_goes_out_and_comes_back(desk: Desk, where: str, write: Write) -> None:
    op = sent(desk, write, where)
    assert way_of(op) == BY_LOG
    assert [mark.number for mark in marks(op)] == [1, 2]
    rows = [entry(op, 1), entry(op, 2)]
    assert judge(op, Seen(log=rows, proven=True)) == Judgement(FOUND)
    assert judge(op, Seen(log=rows[1:], proven=True)) == Judgement(PARTLY, (0,))
    assert judge(op, Seen(log=[], proven=True)) == Judgement(ABSENT)


def test_names_fit_into_any_field(desk: Desk) -> None:
    op = sent(desk, loss("P1"))
    assert marks(op)[0].reference == op.op_id
    assert len(op.op_id) <= 26
    assert op.op_id.isalnum()
    assert op.op_id.isupper()


def test_without_a_name_nothing_can_be_looked_for(desk: Desk) -> None:
    op = sent(desk, loss("P1"), OFF)
    assert way_of(op) == NOT_AT_ALL
    assert judge(op, Seen(log=[], proven=True)) == Judgement(UNREADABLE)


def others(op: Operation) -> list[Row]:
    """Entries that are not the operation's, however much they look like it."""
    name = op.op_id
    return [
        entry(op, 1, reference=f"{name}X"), entry(op, 1, reference=name[:-1]), entry(op, 1, reference=None),
        entry(op, 1, reference=name.lower()), {"id": 9},
    ]  # fmt: skip


def test_what_a_loose_filter_lets_through_is_not_believed(desk: Desk) -> None:
    op = sent(desk, loss("P1"))
    assert judge(op, Seen(log=others(op), proven=True)) == Judgement(ABSENT)
    assert judge(op, Seen(log=[*others(op), entry(op, 1)], proven=True)) == Judgement(FOUND)


def test_absence_counts_only_where_something_was_found_before(desk: Desk) -> None:
    op = sent(desk, loss("P1"))
    assert judge(op, Seen(log=[])) == Judgement(UNREADABLE)
    assert judge(op, Seen(log=[entry(op, 1)])) == Judgement(FOUND), "to find it proves it anywhere"
    assert judge(op, Seen()) == Judgement(UNREADABLE)


@pytest.mark.parametrize(
    ("rows", "missing"),
    [
        ([("P1", -1), ("P2", -1)], ()),
        ([("P2", -1)], (0,)),
        ([("P1", "-1.000")], (1,)),
        ([("P1", None), ("P1", 7)], (1,)),
        ([("P3", -1)], None),
    ],
)
def test_without_sources_products_and_quantities_tell(
    desk: Desk, rows: Sequence[tuple[str, Any]], missing: tuple[int, ...] | None
) -> None:
    op = sent(desk, loss("P1", "P2"))
    seen = [entry(op, 1, source=None, product_number=product, quantity=quantity) for product, quantity in rows]
    judged = judge(op, Seen(log=seen, proven=True))
    if missing is None:
        assert judged == Judgement(ABSENT)
    else:
        assert judged == (Judgement(PARTLY, missing) if missing else Judgement(FOUND))


def test_both_legs_of_a_movement_are_one_item(desk: Desk) -> None:
    op = sent(desk, movement("P1", 2, "A-1", "B-1"))
    legs = [entry(op, 1, quantity=-2), entry(op, 1, quantity=2)]
    assert judge(op, Seen(log=legs, proven=True)) == Judgement(FOUND)


def pair(desk: Desk, first: int, second: int) -> Operation:
    """A movement of one product in two items."""
    one, other = movement("P1", first, "A-1", "B-1"), movement("P1", second, "A-1", "B-2")
    return sent(desk, one._replace(body=[*one.body, *other.body]))


@pytest.mark.parametrize(
    ("items", "legs", "missing"),
    [
        ((2, 2), (-2, 2), (1,)),
        ((2, 2), (2, -2, 2, -2), ()),
        ((2, 2), (-2, -2), ()),
        ((2, 3), (-2, 2), (1,)),
        ((2, 3), (-3, 3), (0,)),
        ((2, 3), (-2, 2, -3), ()),
        ((2, 3), (None, None), None),
        ((2, 3), (-5, 5), None),
    ],
)
def test_without_sources_a_row_is_one_leg_of_one_item(
    desk: Desk, items: tuple[int, int], legs: Sequence[Any], missing: tuple[int, ...] | None
) -> None:
    op = pair(desk, *items)
    judged = judge(op, Seen(log=[entry(op, 1, source=None, quantity=leg) for leg in legs], proven=True))
    if missing is None:
        assert judged == Judgement(ABSENT)
    else:
        assert judged == (Judgement(PARTLY, missing) if missing else Judgement(FOUND))


def test_a_log_without_quantities_shows_the_one_item_of_its_product(desk: Desk) -> None:
    op = sent(desk, movement("P1", 2, "A-1", "B-1"))
    rows = [entry(op, 1, source=None, quantity=None)]
    assert judge(op, Seen(log=rows, proven=True)) == Judgement(FOUND)


def order(picked: Mapping[int, Any], **head: Any) -> Row:
    lines = [{"line_number": n, "picked_quantity": value, "quantity": 3} for n, value in picked.items()]
    return {"order_number": "O1", "is_active": True, "lines": lines, **head}


BEFORE = {"order": state_of(order({1: 0, 2: 1}))}


@pytest.mark.parametrize(
    ("there", "verdict"),
    [
        ([order({1: 2, 2: 3})], FOUND),
        ([order({1: "2.0", 2: Decimal("3.00")})], FOUND),
        ([order({1: 0, 2: 1})], ABSENT),
        ([order({1: 2, 2: 1})], PARTLY),
        ([order({1: 1, 2: 1})], CHANGED),
        ([order({1: 2, 2: 2})], CHANGED),
        ([order({1: 2})], CHANGED),
        ([{"order_number": "O1"}], CHANGED),
        ([], CHANGED),
    ],
)
def test_orders_are_compared_with_ours_and_with_what_stood_there(desk: Desk, there: list[Row], verdict: str) -> None:
    op = sent(desk, update("O1", {1: 2, 2: 3}), before=BEFORE)
    assert judge(op, Seen(orders=there)).verdict == verdict


def test_without_knowing_what_stood_there_ours_may_have_stood_there_before(desk: Desk) -> None:
    op = sent(desk, update("O1", {1: 2}))
    assert judge(op, Seen(orders=[order({1: 2})])).verdict == STANDS
    assert judge(op, Seen(orders=[order({1: 0})])).verdict == CHANGED


def test_an_update_that_changes_nothing_cannot_be_seen_to_have_arrived(desk: Desk) -> None:
    op = sent(desk, update("O1", {1: 0, 2: 1}), before=BEFORE)
    assert judge(op, Seen(orders=[order({1: 0, 2: 1})])).verdict == STANDS


def test_a_line_that_was_only_said_again_is_everybodys(desk: Desk) -> None:
    op = sent(desk, update("O1", {1: 2, 2: 1}), before=BEFORE)
    assert judge(op, Seen(orders=[order({1: 2, 2: 3})])).verdict == FOUND
    assert judge(op, Seen(orders=[order({1: 0, 2: 3})])).verdict == ABSENT


def test_an_update_of_what_an_order_does_not_show_is_not_taken_for_found(desk: Desk) -> None:
    op = sent(desk, update("O1", {}, comment="late"), before=BEFORE)
    assert judge(op, Seen(orders=[order({1: 0, 2: 1})])).verdict == UNREADABLE


def test_heads_of_orders_are_compared_too(desk: Desk) -> None:
    op = sent(desk, update("O1", {}, is_active=False), before=BEFORE)
    assert judge(op, Seen(orders=[order({}, is_active=False)])).verdict == FOUND
    assert judge(op, Seen(orders=[order({})])).verdict == ABSENT


@pytest.mark.parametrize("name", ["is_claimed", "is_picked", "is_rejected"])
def test_a_no_that_a_service_leaves_out_is_a_no(desk: Desk, name: str) -> None:
    said: Row = {name: False}
    op = sent(desk, update("O1", {}, **said), before={"order": state_of(order({}, **{name: True}))})
    assert judge(op, Seen(orders=[order({})])).verdict == FOUND
    assert judge(op, Seen(orders=[order({}, **{name: True})])).verdict == ABSENT


def test_nothing_picked_may_be_left_out_and_that_an_order_is_open_may_not(desk: Desk) -> None:
    op = sent(desk, update("O1", {1: 0}), before={"order": state_of(order({1: 2}))})
    assert judge(op, Seen(orders=[order({1: None})])).verdict == FOUND
    assert judge(op, Seen(orders=[order({})])).verdict == CHANGED, "the line itself is gone"
    finished = sent(desk, update("O1", {}, is_active=False), before=BEFORE)
    assert judge(finished, Seen(orders=[{"order_number": "O1"}])).verdict == CHANGED


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ([{"order_number": "N1", "lines": [{"product_number": "P1", "quantity": 2}]}], FOUND),
        ([{"order_number": "N1", "lines": [{"product_number": "P1", "quantity": 3}]}], CHANGED),
        ([], ABSENT),
    ],
)
def test_what_makes_an_order_is_looked_for_by_its_number(desk: Desk, rows: list[Row], verdict: str) -> None:
    made = {"order_number": "N1", "lines": [{"product_number": "P1", "quantity": 2}]}
    write = Write(
        "create-customer-orders-one-store", ("order/N1",), {"store_number": STORE}, {}, {"customer_orders": [made]}
    )
    (op_id,) = desk.write(write)
    assert judge(desk.outbox.get(op_id), Seen(orders=rows, proven=True)).verdict == verdict


def test_what_has_no_way_is_never_judged(desk: Desk) -> None:
    (op_id,) = desk.write(Write("create-store-products", ("product/P1",), {}, {}, {"store_products": []}))
    op = desk.outbox.get(op_id)
    assert judge(op, Seen(log=[], orders=[], proven=True)) == Judgement(UNREADABLE)
