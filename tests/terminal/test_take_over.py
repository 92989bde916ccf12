"""Two real terminals on one order: two people, one person twice, and two hosts; asked, told, and no pick lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.terminal.picker import START_S, Picker
from tests.terminal.service_process import plain_service
from tests.terminal.shop import Shop, door, made_once, on_this_host, settle

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]

ORDER = "BOTH-1"


@pytest.fixture
def codes(shop: Shop) -> list[str]:
    """An order of three and of two; what is scanned for its lines."""
    shop.add_order(ORDER, [(row["product_number"], 3 - n) for n, row in enumerate(shop.goods(2))])
    return [line.code for line in shop.lines(ORDER)]


def counts(shop: Shop) -> list[int]:
    """How much is ordered of each line, in the order of the walk."""
    return [line.quantity for line in shop.lines(ORDER)]


def settled(app: Picker, home: Path) -> None:
    """Waits until nothing of this host waits any more, on its disk and on the screen; each operation arrived."""
    states = "SELECT state FROM operation WHERE superseded_by = ''"
    app.terminal.wait_for(lambda _: {state for (state,) in on_this_host(home, states)} == {"done"}, START_S)
    app.shows("all sent")


def test_two_people_one_order_both_are_told_and_all_picks_are_there(
    shop: Shop, demo_home: Path, codes: list[str], picker: Pick
) -> None:
    first, second = codes
    anna = picker(columns=80, rows=24)
    anna.sign_in("anna")
    anna.shows(ORDER)
    anna.take(ORDER, "pick.product", "pick.opened")
    anna.take(first, "pick.product")
    ben = picker(columns=80, rows=24, env={"AISLE_TERMINAL": "handheld-2"})
    ben.sign_in("ben")
    ben.shows("Anna Berg has it")
    ben.take(ORDER, "pick.wait", "pick.claimed_at")
    ben.shows("Anna Berg has been picking", "on dock: 1 of 5 picked")
    ben.take("1", "pick.product", "pick.join")
    ben.shows("Anna Berg is picking order", "Anna Berg is picking it too", "2 lines to pick")
    ben.take(second, "pick.product")
    anna.shows("Ben Okafor took over order", "You have 1 in hand", "y Carry on: we both pick it")
    anna.shows("Ben Okafor is picking it too")
    anna.take("y", "pick.product", "pick.both_pick")
    anna.enter(first)
    ben.enter(first)
    anna.terminal.wait_for(lambda _: sum(shop.picked(ORDER).values()) >= 4, START_S)
    settled(ben, demo_home)
    picked = {line.code: line.picked for line in shop.lines(ORDER)}
    assert picked[second] == 1
    assert picked[first] == 3
    assert shop.order(ORDER)["claimed_by"] == "U2"
    anna.shows("4 of 5", "1 of 2", "all sent")  # what Ben picked moves her page no more
    anna.take("b", "home", "pick.left")
    ben.shows("Anna Berg has left order")
    shop.balances()


@pytest.mark.full
def test_two_hosts_pick_one_line_at_the_same_moment(
    shop: Shop, demo_home: Path, tmp_path: Path, codes: list[str], picker: Pick
) -> None:
    """Each takes all of the line before hearing of the other: no more is booked than was ordered, the loser is told."""
    order = counts(shop)[0]
    with plain_service() as service:
        arguments = ("--base-url", service.url, "--token-file", str(demo_home / "embedded.token"))
        other = tmp_path / "other"
        settle(made_once(tmp_path / "made", ["sync", *arguments]), other)
        door("sync", *arguments)
        anna = picker(*arguments, columns=80, rows=24)
        ben = picker(*arguments, columns=80, rows=24, env={"AISLE_HOME": str(other), "AISLE_TERMINAL": "handheld-2"})
        anna.sign_in("anna")
        ben.sign_in("ben")
        anna.shows(ORDER, "live")
        ben.shows(ORDER, "live")
        anna.take(ORDER, "pick.product", "pick.opened")
        ben.shows("Anna Berg has it")
        ben.take(ORDER, "pick.wait", "pick.claimed_at")
        ben.take("1", "pick.product", "pick.join")
        ben.shows("Anna Berg had order", "may still be picking it")
        anna.shows("Ben Okafor took over")
        for app in (anna, ben):
            app.terminal.write(f"{order}*{codes[0]}\r".encode())
        anna.terminal.wait_for(lambda _: shop.lines(ORDER)[0].picked == order, START_S)
        winner = next(row["picked_username"] for row in shop.order(ORDER)["lines"] if row["picked_quantity"])
        loser = ben if winner == "U1" else anna
        name = "Anna Berg" if winner == "U1" else "Ben Okafor"
        loser.shows(f"{order} of {order}", f"some by {name}", f"{order} too many", "y It is back")
        assert shop.lines(ORDER)[0].picked == order
        loser.enter("y")
        loser.shows("all sent")
        shop.balances()
