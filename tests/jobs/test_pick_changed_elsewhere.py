""" "Changed elsewhere" is said only of what somebody else can have changed."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.jobs.pick_runner import Hand, line, order

LINE: dict[str, Any] = {"preferred_location_code": "A-1", "stock_pool": 1, "unit": "", "price": Decimal(2)}


def picking() -> Hand:
    """One piece of five is picked here."""
    hand = Hand(line(1, "P1", 5, **LINE))
    hand.scan("P1")
    return hand


def again(hand: Hand, picked: int, *, unsure: bool = False, quantity: int = 5, **more: Any) -> str:
    """The order is read again; what is said of it."""
    return hand.feed(order(line(1, "P1", quantity, **{**LINE, "picked_quantity": picked, **more}), unsure=unsure))


OTHERS: list[dict[str, Any]] = [
    {"picked": 2},
    {"picked": 0},
    {"picked": 1, "quantity": 4},
    {"picked": 1, "quantity": 6},
    {"picked": 1, "is_picked": True},
    {"picked": 1, "moved_quantity": 1},
]


@pytest.mark.parametrize("change", OTHERS)
def test_what_somebody_else_changed_is_said(change: dict[str, Any]) -> None:
    assert again(picking(), **change) == "pick.changed"


OWN: list[dict[str, Any]] = [
    {},
    {"price": Decimal(3)},
    {"unit": "kg"},
    {"stock": {"A-1": Decimal(4)}},
    {"stock": {}},
    {"locations": [{"location_code": "A-2", "quantity": Decimal(3), "pools": {}}]},
    {"put_down": [{"location_code": "PU-1", "quantity": Decimal(1)}]},
    {"picking_stock_pool_array": [1, 2]},
    {"is_stock": True},
    {"store_walking_order": 7},
    {"preferred_location_code": "A-9"},
    {"description": "Another name"},
]


@pytest.mark.parametrize("change", OWN)
def test_product_and_location_changes_are_no_order_change(change: dict[str, Any]) -> None:
    assert again(picking(), 1, **change) == ""


@pytest.mark.parametrize("off", [{"picked": 2}, {"picked": 0}, {"picked": 1, "moved_quantity": 1}])
def test_figure_off_during_push_is_no_change_by_others(off: dict[str, Any]) -> None:
    hand = picking()
    assert again(hand, unsure=True, **off) == ""
    assert again(hand, 1) == "", "it is put right"
    assert again(hand, 3) == "pick.changed", "after that others are heard of again"


def test_others_are_heard_of_after_a_read_that_was_right() -> None:
    hand = picking()
    assert again(hand, 2, unsure=True) == ""
    assert again(hand, 2) == ""
    assert again(hand, 3) == "pick.changed"
