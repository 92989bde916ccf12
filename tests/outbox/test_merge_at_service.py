"""Merged or single operations leave the same stock and lines at the service."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from aisle.jobs.job import Write
from aisle.outbox.merge_operations import merge_batch
from tests.run_length import tries
from tests.service.world import World

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
