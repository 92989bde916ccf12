"""Merged operations keep the final lines, and their order where it matters."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aisle.jobs.job import Write
from aisle.outbox.merge_operations import can_merge, merge_batch, merge_writes
from tests.writes import movement, picked, update

WRITES = st.lists(
    st.one_of(
        st.builds(
            update,
            st.sampled_from("AB"),
            st.dictionaries(st.integers(1, 3), st.integers(0, 9), max_size=3),
            merge=st.booleans(),
            is_picked=st.booleans(),
        ),
        st.builds(movement, st.sampled_from("AB"), st.sampled_from("PQ"), st.integers(1, 3)),
    ),
    max_size=12,
)


def applied(writes: Sequence[Write]) -> Mapping[str, list[Any]]:
    """What each order has seen at the end: its header, its lines, and each movement with the lines before it."""
    seen: dict[str, list[Any]] = {}
    for write in writes:
        if write.operation == "create-movement":
            order = write.body[0]["to_location"]["customer_order_number"]
            state = seen.setdefault(order, [{}, {}, []])
            state[2].append((write.body[0], dict(state[1])))
        else:
            order = write.body["orders"]["order_number"]
            state = seen.setdefault(order, [{}, {}, []])
            state[0].update({key: value for key, value in write.body["orders"].items() if key != "order_lines"})
            state[1].update(picked(write.body))
    return seen


@given(WRITES)
def test_folding_changes_nothing_for_the_service(writes: list[Write]) -> None:
    kept, _ = merge_batch(writes)
    assert applied(kept) == applied(writes)


@given(WRITES)
def test_every_write_has_a_carrier_and_what_cannot_be_merged_stays(writes: list[Write]) -> None:
    kept, carriers = merge_batch(writes)
    assert len(carriers) == len(writes)
    assert set(carriers) == set(range(len(kept)))
    for write, carrier in zip(writes, carriers, strict=True):
        assert set(write.lanes) <= set(kept[carrier].lanes)
        assert write.operation == kept[carrier].operation
        if not write.merge_key:
            assert kept[carrier] == write


def test_a_hundred_scans_of_one_order_are_one_write() -> None:
    kept, carriers = merge_batch([update("A", {1: scan}) for scan in range(1, 101)])
    assert [picked(write.body) for write in kept] == [{1: Decimal(100)}]
    assert set(carriers) == {0}


def test_lines_lie_over_each_other_field_by_field() -> None:
    earlier = update("A", {1: 1, 2: 5}, is_claimed=True)
    later = update("A", {3: 7, 1: 2})
    later.body["orders"]["order_lines"][1]["preferred_location_code"] = "A-1"
    order = merge_writes(earlier, later).body["orders"]
    assert [line["line_number"] for line in order["order_lines"]] == [1, 2, 3]
    assert order["order_lines"][0] == {
        "line_number": 1,
        "product_number": "P1",
        "picked_quantity": Decimal(2),
        "preferred_location_code": "A-1",
    }
    assert order["is_claimed"] is True
    assert picked(earlier.body) == {1: 1, 2: 5}


def test_other_bodies_are_replaced() -> None:
    first = Write("update-store-products", ("product/P",), {}, {}, [{"product_number": "P", "max": 1}], merge_key="P")
    second = first._replace(body=[{"product_number": "P", "max": 2}])
    assert can_merge(first, second)
    assert merge_writes(first, second).body == second.body
    assert not can_merge(first, second._replace(query={"x": 1}))
