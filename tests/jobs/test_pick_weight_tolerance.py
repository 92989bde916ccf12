"""A weighed line that lacks no more than the tolerance of the store is picked, with the weight that was scanned."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from aisle.jobs.job import Policy
from aisle.scan.grammar_and_meaning_types import Choice, Command, Quantity
from aisle.session.profile import profile_from_settings
from aisle.settings.setting_definitions import Settings
from tests.jobs.pick_runner import Hand, line, order, picked

CHEESE, BREAD = "880007", "880001"

WEIGHED = {"allow_decimal": True, "unit": "kg"}


def picker(ordered: str, tolerance: str, orders: int, **more: Any) -> Hand:
    """A line of cheese, with bread behind it: one order, or a batch of two."""
    goods = line(1, CHEESE, Decimal(ordered), **(WEIGHED | more))
    batch = {"1042": [goods, line(2, BREAD, 2)], "1043": [line(1, BREAD, 1)]}
    if orders > 1:
        return Hand(orders=batch, weight_tolerance=Decimal(tolerance))
    return Hand(*batch["1042"], weight_tolerance=Decimal(tolerance))


def weigh(hand: Hand, *weights: str) -> str:
    """Scan labels, type totals (`=`), or type the weight of a pack (`+`); return what the last one is answered with."""
    told = ""
    for weight in weights:
        if weight[0] == "=":
            told = hand.feed(Quantity(Decimal(weight[1:])))
        elif weight[0] == "+":
            hand.scan(CHEESE)
            told = hand.feed(Quantity(Decimal(weight[1:])))
        else:
            told = hand.scan(CHEESE, weight)
    return told


def cheese(hand: Hand) -> tuple[Decimal, bool]:
    """What was picked of the cheese, and whether more is asked for."""
    (line,) = (line for line in hand.state.lines if line.product == CHEESE)
    return line.picked, line.is_open


BOOKED = [
    ("0.8", "5", ("0.3", "0.49"), "0.79", False),
    ("0.8", "5", ("0.3", "0.46"), "0.76", False),
    ("0.8", "5", ("0.3", "0.459"), "0.759", True),
    ("0.5", "5", ("0.48",), "0.48", False),
    ("0.5", "5", ("+0.48",), "0.48", False),
    ("0.5", "5", ("0.1", "=0.475"), "0.475", False),
    ("0.5", "5", ("0.1", "=0.474"), "0.474", True),
    ("0.5", "0", ("0.499",), "0.499", True),
    ("0.5", "0", ("0.5",), "0.5", False),
    ("0.5", "0.5", ("0.498",), "0.498", False),
    ("0.5", "50", ("0.25",), "0.25", False),
    ("0.5", "50", ("0.249",), "0.249", True),
    ("250", "5", ("240",), "240", False),
    ("250", "5", ("237",), "237", True),
    ("20", "5", ("19",), "19", False),
    ("0.001", "50", ("0.001",), "0.001", False),
]
"""Ordered, per cent, weights, what is booked, and whether more is asked for."""


@pytest.mark.parametrize("orders", [1, 2])
@pytest.mark.parametrize(("ordered", "tolerance", "weights", "booked", "is_open"), BOOKED)
def test_the_weight_that_was_scanned_is_booked(
    ordered: str, tolerance: str, weights: tuple[str, ...], booked: str, is_open: bool, orders: int
) -> None:
    hand = picker(ordered, tolerance, orders)
    weigh(hand, *weights)
    assert cheese(hand) == (Decimal(booked), is_open)
    assert hand.all_sent["1042", 1] == Decimal(booked), "never rounded to the order"
    (last,) = (each for each in hand.updates[-1]["order_lines"] if each["line_number"] == 1)
    assert last["is_picked"] is not is_open
    current = hand.state.current_line
    assert current is not None
    assert (current.product == CHEESE) is is_open


@pytest.mark.parametrize("orders", [1, 2])
@pytest.mark.parametrize("weight", ["0.501", "0.52", "0.6"])
def test_too_much_is_said_at_any_tolerance(weight: str, orders: int) -> None:
    """The service books no more than was ordered."""
    hand = picker("0.5", "5", orders)
    assert weigh(hand, weight) == "pick.more_than_ordered"
    assert cheese(hand) == (Decimal(0), True)


@pytest.mark.parametrize("ordered", [20, 100])
def test_goods_in_pieces_are_all_needed(ordered: int) -> None:
    hand = picker(str(ordered), "50", 1, allow_decimal=False, unit="")
    weigh(hand, str(ordered - 1))
    assert cheese(hand) == (Decimal(ordered - 1), True)


@pytest.mark.parametrize("orders", [1, 2])
def test_the_sums_are_said_and_nothing_is_called_short(orders: int) -> None:
    hand = picker("0.8", "5", orders)
    assert weigh(hand, "0.3", "0.49").startswith("pick.picked")
    assert "0.79 of 0.8" in hand.told
    assert weigh(hand, "0.1") == "pick.full"
    assert "0.79 of 0.8" in hand.told
    for _ in range(orders + 1):
        hand.scan(BREAD)
    assert hand.view.name == "pick.done"
    assert "short" not in hand.told.casefold()
    assert not any("short" in shown.text.id for shown in hand.view.lines)
    assert hand.updates[-1].get("is_picked", True) is True


@pytest.mark.parametrize("orders", [1, 2])
def test_undo_opens_the_line_again_and_says_the_weights(orders: int) -> None:
    hand = picker("0.8", "5", orders)
    weigh(hand, "0.3", "0.49")
    assert hand.feed(Command("u")) in ("pick.undone", "pair")
    assert "back from 0.79 to 0.3" in hand.told
    assert cheese(hand) == (Decimal("0.3"), True)
    assert hand.updates[-1]["order_lines"][0]["is_picked"] is False
    weigh(hand, "=0.78")
    assert cheese(hand) == (Decimal("0.78"), False)


def test_a_lower_total_that_is_undone_is_picked_again() -> None:
    hand = picker("0.8", "5", 1)
    weigh(hand, "0.79")
    hand.feed(Command("u"))
    weigh(hand, "0.3", "=0.77")
    assert cheese(hand) == (Decimal("0.77"), False)
    hand.feed(Command("u"))
    assert cheese(hand) == (Decimal("0.3"), True)
    assert "short" not in hand.told.casefold()


def test_the_answer_of_the_service_changes_nothing() -> None:
    hand = picker("0.8", "5", 1)
    weigh(hand, "0.79")
    before = [(each.picked, each.is_open) for each in hand.state.lines]
    row = line(1, CHEESE, Decimal("0.8"), picked_quantity=Decimal("0.79"), is_picked=True, **WEIGHED)
    assert hand.feed(order(row, line(2, BREAD, 2))) == ""
    assert [(each.picked, each.is_open) for each in hand.state.lines] == before


def test_two_lines_of_one_product_are_each_completed() -> None:
    rows = [line(n, CHEESE, Decimal("0.5"), **WEIGHED) for n in (1, 2)]
    hand = Hand(*rows, line(3, BREAD, 1), weight_tolerance=Decimal(5))
    weigh(hand, "0.48", "0.49")
    assert picked(hand) == {1: Decimal("0.48"), 2: Decimal("0.49"), 3: 0}
    assert hand.state.current_line is not None
    assert hand.state.current_line.product == BREAD


def test_a_changed_tolerance_is_in_force_once_the_order_is_read_again() -> None:
    hand = picker("0.8", "0", 1)
    weigh(hand, "0.5")
    hand.context = hand.context._replace(policy=Policy(weight_tolerance=Decimal(5)))
    row = line(1, CHEESE, Decimal("0.8"), picked_quantity=Decimal("0.5"), **WEIGHED)
    hand.feed(order(row, line(2, BREAD, 2)))
    weigh(hand, "0.27")
    assert cheese(hand) == (Decimal("0.77"), False)


def test_the_rest_is_still_taken_by_a_choice() -> None:
    hand = picker("0.5", "5", 1)
    weigh(hand, "0.52")
    hand.feed(Choice(1))
    assert cheese(hand) == (Decimal("0.5"), False)


def test_a_store_without_the_setting_has_five_per_cent() -> None:
    assert profile_from_settings(Settings()).policy.weight_tolerance == 5
