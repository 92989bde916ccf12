"""Merged operations keep the final lines, and their order where it matters."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from aisle.jobs.job import Write
from aisle.outbox.merge_and_rebase import can_merge, merge_batch, merge_writes
from tests.run_length import tries
from tests.service.world import World
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


# Merged or single operations leave the same stock and lines at the service


LINES = {1: ("P1", 4), 2: ("P2", 3)}
"""Line number to product and ordered quantity."""
SHELF = {"A1": {"stock_pool_1": 2, "stock_pool_2": 1}, "BACK": {"stock_pool_1": 2, "stock_pool_2": 3}}


class Take(NamedTuple):
    """One line brought to a quantity, from a place and a pool, if named."""

    line: int
    picked: int
    place: str | None
    pool: int | None


TAKES = st.lists(
    st.builds(
        Take,
        st.sampled_from(list(LINES)),
        st.integers(0, 3),
        st.sampled_from([None, "A1", "BACK"]),
        st.sampled_from([None, None, 1, 2]),
    ),
    min_size=2,
    max_size=5,
)


def by_hand(takes: Sequence[Take]) -> list[Take]:
    """As the picking job does it: what is put back goes back where it was taken."""
    before: dict[int, Take] = {}
    done = []
    for take in takes:
        last = before.get(take.line)
        if last and take.picked < last.picked:
            take = take._replace(place=last.place, pool=last.pool)
        before[take.line] = take
        done.append(take)
    return done


def write(take: Take) -> Write:
    """What a picking job sends for it."""
    product, quantity = LINES[take.line]
    line: dict[str, Any] = {"line_number": take.line, "product_number": product, "picked_quantity": take.picked}
    line["is_picked"] = take.picked >= quantity
    line |= {"preferred_location_code": take.place} if take.place else {}
    line |= {"stock_pool": take.pool} if take.pool else {}
    body = {"orders": {"order_number": "O1", "order_lines": [line]}}
    return Write("update-customer-order", ("order/O1",), {"store_number": "S1"}, {}, body, merge_key="order/O1")


async def after(writes: Sequence[Write]) -> tuple[dict[tuple[Any, ...], Decimal], list[Decimal]]:
    """The books and the picked quantities of a shop that got these writes."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        await world.fill()
        for product in ("P1", "P2"):
            for place, pools in SHELF.items():
                await world.count(product, place, **pools)
        await world.order("O1", *({"product_number": product, "quantity": most} for product, most in LINES.values()))
        for each in writes:
            await world.put("/stores/S1/orders/customerorder", each.body)
        lines = [Decimal(str(line["picked_quantity"])) for line in (await world.see("O1"))["lines"]]
        books = world.books()
        await world.close()
        return books, lines


def test_merge_keeps_picks_of_both_locations() -> None:
    writes = [write(Take(1, 2, "A1", None)), write(Take(1, 3, "BACK", None))]
    books, _ = asyncio.run(after(merge_batch(writes)[0]))
    assert books["P1", "BACK", 1] == 1
    assert ("P1", "A1", 1) not in books


@settings(max_examples=tries(5, 15), deadline=None)
@given(TAKES)
def test_merged_and_unmerged_writes_leave_the_same_books(takes: list[Take]) -> None:
    writes = [write(take) for take in by_hand(takes)]
    assert asyncio.run(after(merge_batch(writes)[0])) == asyncio.run(after(writes))
