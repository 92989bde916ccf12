"""A supervisor at one terminal, pickers at others: a walk is reprioritised and split, and everybody is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.terminal.picker import START_S, Picker
from tests.terminal.shop import Shop
from tests.terminal.test_entry_counts import open_job
from tests.terminal.test_order_board import numbered
from tests.terminal.test_take_over import settled

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]


def desk(picker: Pick, name: str = "grace", terminal: str = "desk") -> Picker:
    """A supervisor at the order board."""
    app = picker(columns=80, rows=24, env={"AISLE_TERMINAL": terminal})
    app.sign_in(name)
    open_job(app, "More", "home")
    app.take(numbered(app, "Orders"), "orders", "")
    return app


@pytest.mark.full
def test_a_walk_is_split_and_reprioritised_and_both_pickers_are_told(shop: Shop, demo_home: Path, picker: Pick) -> None:
    goods = shop.goods(3)
    for at, row in enumerate(goods, 1):
        shop.add_order(f"WALK-{at}", [(row["product_number"], 2)])
    anna = picker(columns=80, rows=24)
    anna.sign_in("anna")
    anna.shows("WALK-1", "WALK-3")
    anna.take(numbered(anna, "Batch"), "batch", "")
    for at in (1, 2, 3):
        anna.take(f"WALK-{at}", "batch", "batch.added")
    anna.enter("g")
    anna.shows("Batch of 3")
    second = shop.lines("WALK-2")[0].code
    anna.enter(second)
    ben = picker(env={"AISLE_TERMINAL": "handheld-2"})
    ben.sign_in("ben")
    grace = desk(picker)
    grace.take("WALK-3", "order", "")
    grace.shows("In Anna Berg's batch")
    grace.take(numbered(grace, "Prioritise"), "order", "order_actions.done_priority")
    anna.shows("Tote C, WALK-3, comes first")
    grace.take("u", "order", "pick.no_priority")
    anna.shows("WALK-3 no longer has priority")
    grace.take("WALK-2", "order", "")
    grace.take(numbered(grace, "Give to another"), "order_actions.person", "")
    grace.take("ben", "order", "order_actions.done_split")
    anna.shows("Tote B, WALK-2, was given to Ben Okafor", "1 in it")
    ben.shows("gave you order WALK-2")
    ben.take("1", "pick.product", "pick.join")
    ben.shows("WALK-2", "Anna Berg")
    anna.take("o", "pick.product", "pick.handed_over")
    ben.shows("has left order WALK-2")
    ben.enter(second)
    ben.terminal.wait_for(lambda _: sum(shop.picked("WALK-2").values()) == 2, START_S)
    settled(ben, demo_home)
    assert shop.order("WALK-2")["claimed_by"] == "U2"
    shop.balances()
