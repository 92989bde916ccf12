"""What a lookup proves about an operation, without a service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from aisle.contract.operations import OPERATIONS
from aisle.courier.push.decide_arrival_from_lookup import (
    ABSENT,
    BY_LOG,
    BY_NOTHING,
    BY_NUMBER,
    BY_ORDER,
    BY_PRODUCT,
    CHANGED,
    FOUND,
    LOOKUP_METHODS,
    MATCHES,
    PARTLY_FOUND,
    UNREADABLE,
    Decision,
    LookupResult,
    decide,
    lookup_method,
    order_state,
)
from aisle.courier.push.outgoing_request import OFF, REFERENCE, SOURCE, entry_references, request_body
from aisle.courier.service_features_and_lists import Features
from aisle.jobs.job import Write
from aisle.jobs.log_writes_and_refusals import log_write
from aisle.outbox.operation_record import Operation
from tests.courier.session_outbox import Desk
from tests.courier.writes import STORE, movement, update

PLAIN = Features()
Row = dict[str, Any]


@pytest.fixture
def desk(aisle_home: Path) -> Desk:
    return Desk(aisle_home, lambda: 0.0)


def sent(desk: Desk, write: Write, where: str = REFERENCE, before: Mapping[str, Any] | None = None) -> Operation:
    """The operation as it was sent to a service of the document alone."""
    (op_id,) = desk.write(write)
    op = desk.outbox.get(op_id)
    evidence: Any = {"before": before} if before else {}
    return op._replace(sent_body=request_body(op, PLAIN, where), evidence=evidence)


def loss(*products: str, **fields: Any) -> Write:
    entries: list[Any] = [{"product_number": p, "quantity": Decimal(-1), "source": "aisle", **fields} for p in products]
    return log_write(entries, products, STORE, "U1")


def entry(op: Operation, number: int, **fields: Any) -> Row:
    """An entry of the service's log, as it was sent."""
    mark = entry_references(op)[number - 1]
    return {
        "id": number, "reference": mark.reference, "source": mark.source, "product_number": mark.product,
        "quantity": mark.quantity, **fields,
    }  # fmt: skip


def test_every_operation_of_the_table_is_one_of_the_interface() -> None:
    assert set(LOOKUP_METHODS) <= set(OPERATIONS)
    assert set(LOOKUP_METHODS.values()) <= {BY_LOG, BY_ORDER, BY_NUMBER, BY_PRODUCT, BY_NOTHING}


@pytest.mark.parametrize("where", [REFERENCE, SOURCE])
@pytest.mark.parametrize("write", [loss("P1", "P2"), loss("P1", "P2", reference="RMA 7")], ids=["none", "typed"])
def test_the_name_goes_out_and_comes_back(desk: Desk, where: str, write: Write) -> None:
    op = sent(desk, write, where)
    assert lookup_method(op) == BY_LOG
    assert [mark.number for mark in entry_references(op)] == [1, 2]
    rows = [entry(op, 1), entry(op, 2)]
    assert decide(op, LookupResult(log=rows, is_proven=True)) == Decision(FOUND)
    assert decide(op, LookupResult(log=rows[1:], is_proven=True)) == Decision(PARTLY_FOUND, (0,))
    assert decide(op, LookupResult(log=[], is_proven=True)) == Decision(ABSENT)


def test_names_fit_into_any_field(desk: Desk) -> None:
    op = sent(desk, loss("P1"))
    assert entry_references(op)[0].reference == op.op_id
    assert len(op.op_id) <= 26
    assert op.op_id.isalnum()
    assert op.op_id.isupper()


def test_without_a_name_nothing_can_be_looked_for(desk: Desk) -> None:
    op = sent(desk, loss("P1"), OFF)
    assert lookup_method(op) == BY_NOTHING
    assert decide(op, LookupResult(log=[], is_proven=True)) == Decision(UNREADABLE)


def others(op: Operation) -> list[Row]:
    """Entries that are not the operation's, however much they look like it."""
    name = op.op_id
    return [
        entry(op, 1, reference=f"{name}X"), entry(op, 1, reference=name[:-1]), entry(op, 1, reference=None),
        entry(op, 1, reference=name.lower()), {"id": 9},
    ]  # fmt: skip


def test_rows_of_a_loose_filter_prove_nothing(desk: Desk) -> None:
    op = sent(desk, loss("P1"))
    assert decide(op, LookupResult(log=others(op), is_proven=True)) == Decision(ABSENT)
    assert decide(op, LookupResult(log=[*others(op), entry(op, 1)], is_proven=True)) == Decision(FOUND)


def test_absence_counts_only_where_something_was_found_before(desk: Desk) -> None:
    op = sent(desk, loss("P1"))
    assert decide(op, LookupResult(log=[])) == Decision(UNREADABLE)
    assert decide(op, LookupResult(log=[entry(op, 1)])) == Decision(FOUND), "to find it proves it anywhere"
    assert decide(op, LookupResult()) == Decision(UNREADABLE)


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
    judged = decide(op, LookupResult(log=seen, is_proven=True))
    if missing is None:
        assert judged == Decision(ABSENT)
    else:
        assert judged == (Decision(PARTLY_FOUND, missing) if missing else Decision(FOUND))


def test_both_legs_of_a_movement_are_one_item(desk: Desk) -> None:
    op = sent(desk, movement("P1", 2, "A-1", "B-1"))
    legs = [entry(op, 1, quantity=-2), entry(op, 1, quantity=2)]
    assert decide(op, LookupResult(log=legs, is_proven=True)) == Decision(FOUND)


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
    judged = decide(op, LookupResult(log=[entry(op, 1, source=None, quantity=leg) for leg in legs], is_proven=True))
    if missing is None:
        assert judged == Decision(ABSENT)
    else:
        assert judged == (Decision(PARTLY_FOUND, missing) if missing else Decision(FOUND))


def test_a_log_without_quantities_shows_the_one_item_of_its_product(desk: Desk) -> None:
    op = sent(desk, movement("P1", 2, "A-1", "B-1"))
    rows = [entry(op, 1, source=None, quantity=None)]
    assert decide(op, LookupResult(log=rows, is_proven=True)) == Decision(FOUND)


def order(picked: Mapping[int, Any], **head: Any) -> Row:
    lines = [{"line_number": n, "picked_quantity": value, "quantity": 3} for n, value in picked.items()]
    return {"order_number": "O1", "is_active": True, "lines": lines, **head}


BEFORE = {"order": order_state(order({1: 0, 2: 1}))}


@pytest.mark.parametrize(
    ("there", "verdict"),
    [
        ([order({1: 2, 2: 3})], FOUND),
        ([order({1: "2.0", 2: Decimal("3.00")})], FOUND),
        ([order({1: 0, 2: 1})], ABSENT),
        ([order({1: 2, 2: 1})], PARTLY_FOUND),
        ([order({1: 1, 2: 1})], CHANGED),
        ([order({1: 2, 2: 2})], CHANGED),
        ([order({1: 2})], CHANGED),
        ([{"order_number": "O1"}], CHANGED),
        ([], CHANGED),
    ],
)
def test_orders_are_compared_with_ours_and_with_what_stood_there(desk: Desk, there: list[Row], verdict: str) -> None:
    op = sent(desk, update("O1", {1: 2, 2: 3}), before=BEFORE)
    assert decide(op, LookupResult(orders=there)).arrival == verdict


def test_matching_value_proves_nothing_without_previous_value(desk: Desk) -> None:
    op = sent(desk, update("O1", {1: 2}))
    assert decide(op, LookupResult(orders=[order({1: 2})])).arrival == MATCHES
    assert decide(op, LookupResult(orders=[order({1: 0})])).arrival == CHANGED


def test_an_update_that_changes_nothing_cannot_be_seen_to_have_arrived(desk: Desk) -> None:
    op = sent(desk, update("O1", {1: 0, 2: 1}), before=BEFORE)
    assert decide(op, LookupResult(orders=[order({1: 0, 2: 1})])).arrival == MATCHES


def test_a_line_that_was_only_said_again_is_everybodys(desk: Desk) -> None:
    op = sent(desk, update("O1", {1: 2, 2: 1}), before=BEFORE)
    assert decide(op, LookupResult(orders=[order({1: 2, 2: 3})])).arrival == FOUND
    assert decide(op, LookupResult(orders=[order({1: 0, 2: 3})])).arrival == ABSENT


def test_an_update_of_what_an_order_does_not_show_is_not_taken_for_found(desk: Desk) -> None:
    op = sent(desk, update("O1", {}, comment="late"), before=BEFORE)
    assert decide(op, LookupResult(orders=[order({1: 0, 2: 1})])).arrival == UNREADABLE


def test_heads_of_orders_are_compared_too(desk: Desk) -> None:
    op = sent(desk, update("O1", {}, is_active=False), before=BEFORE)
    assert decide(op, LookupResult(orders=[order({}, is_active=False)])).arrival == FOUND
    assert decide(op, LookupResult(orders=[order({})])).arrival == ABSENT


@pytest.mark.parametrize("name", ["is_claimed", "is_picked", "is_rejected"])
def test_a_no_that_a_service_leaves_out_is_a_no(desk: Desk, name: str) -> None:
    said: Row = {name: False}
    op = sent(desk, update("O1", {}, **said), before={"order": order_state(order({}, **{name: True}))})
    assert decide(op, LookupResult(orders=[order({})])).arrival == FOUND
    assert decide(op, LookupResult(orders=[order({}, **{name: True})])).arrival == ABSENT


def test_lookup_may_omit_zero_picked_but_not_is_active(desk: Desk) -> None:
    op = sent(desk, update("O1", {1: 0}), before={"order": order_state(order({1: 2}))})
    assert decide(op, LookupResult(orders=[order({1: None})])).arrival == FOUND
    assert decide(op, LookupResult(orders=[order({})])).arrival == CHANGED, "the line itself is gone"
    finished = sent(desk, update("O1", {}, is_active=False), before=BEFORE)
    assert decide(finished, LookupResult(orders=[{"order_number": "O1"}])).arrival == CHANGED


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ([{"order_number": "N1", "lines": [{"product_number": "P1", "quantity": 2}]}], FOUND),
        ([{"order_number": "N1", "lines": [{"product_number": "P1", "quantity": 3}]}], CHANGED),
        ([], ABSENT),
    ],
)
def test_created_order_is_looked_up_by_number(desk: Desk, rows: list[Row], verdict: str) -> None:
    made = {"order_number": "N1", "lines": [{"product_number": "P1", "quantity": 2}]}
    write = Write(
        "create-customer-orders-one-store", ("order/N1",), {"store_number": STORE}, {}, {"customer_orders": [made]}
    )
    (op_id,) = desk.write(write)
    assert decide(desk.outbox.get(op_id), LookupResult(orders=rows, is_proven=True)).arrival == verdict


def test_what_has_no_way_is_never_judged(desk: Desk) -> None:
    (op_id,) = desk.write(Write("create-store-products", ("product/P1",), {}, {}, {"store_products": []}))
    op = desk.outbox.get(op_id)
    assert decide(op, LookupResult(log=[], orders=[], is_proven=True)) == Decision(UNREADABLE)
