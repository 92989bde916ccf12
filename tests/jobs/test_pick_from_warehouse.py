"""Lines whose goods are picked in the warehouse: shown, but no stop of the walk; picked by hand if a person insists."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from aisle.jobs.pick.pick_line import parse_lines
from aisle.jobs.printed_pick_list import BOX, printed_pick_list
from aisle.jobs.view import msg
from aisle.scan.grammar_and_meaning_types import Choice
from tests.jobs.pick_runner import Hand, line, order

AWAITED = "pick.from_warehouse"


def from_warehouse(number: int, product: str, quantity: int, *, is_in_extension: bool = False) -> dict[str, Any]:
    """A line of the warehouse that has stock on a shelf of the store too."""
    flag: dict[str, Any] = {"is_picked_from_warehouse": True}
    places = [{"location_code": "A-01-1", "quantity": Decimal(16)}]
    more = {"aisle": flag} if is_in_extension else flag
    return line(number, product, quantity, preferred_location_code="A-01-1", locations=places, **more)


def notes(hand: Hand) -> list[str]:
    return [each.text.id for each in hand.view.lines if each.role == "note"]


@pytest.mark.parametrize("is_in_extension", [True, False])
def test_a_line_from_the_warehouse_is_shown_and_is_no_stop(is_in_extension: bool) -> None:
    first = from_warehouse(1, "P1", 3, is_in_extension=is_in_extension)
    hand = Hand(first, line(2, "P2", 1, preferred_location_code="B-01-1"))
    assert (hand.view.lines[0].text, hand.view.upcoming) == (msg("raw", text="B-01-1"), ())
    assert AWAITED in notes(hand)
    assert hand.scan("P2") == "pick.picked", "the order is not all picked"
    assert (hand.state.step_name, hand.sent) == ("pick.done", {2: Decimal(1)})
    assert AWAITED in notes(hand)
    assert not any(update.get("is_picked") for update in hand.updates)


def test_an_order_of_the_warehouse_alone_has_no_walk() -> None:
    hand = Hand(from_warehouse(1, "P1", 3))
    assert (hand.state.step_name, hand.verdict and hand.verdict.text.id) == ("pick.done", AWAITED)


def test_who_insists_picks_it_by_hand() -> None:
    hand = Hand(from_warehouse(1, "P1", 3), line(2, "P2", 1, preferred_location_code="B-01-1"))
    assert hand.scan("P1") == AWAITED
    assert [choice.id for choice in hand.view.choices] == ["pick.choice_reopen"]
    assert hand.sent == {}
    assert hand.feed(Choice(1)) == "pick.picked"
    assert hand.sent == {1: 1}
    assert hand.scan("P1") == "pick.picked"
    hand.feed(order(from_warehouse(1, "P1", 3) | {"picked_quantity": 2}, line(2, "P2", 1)))
    assert hand.scan("P1") == "pick.picked", "it stays a stop of this pick"
    assert hand.scan("P2") == "pick.all_picked"


def test_goods_that_came_are_no_longer_awaited() -> None:
    hand = Hand(from_warehouse(1, "P1", 3), line(2, "P2", 1))
    hand.feed(order(from_warehouse(1, "P1", 3) | {"picked_quantity": 3, "moved_quantity": 3}, line(2, "P2", 1)))
    assert AWAITED not in notes(hand)
    assert hand.scan("P2") == "pick.all_picked"


def test_it_is_named_on_the_printed_list() -> None:
    row = {"order_number": "1", "lines": [from_warehouse(1, "P1", 3)]}
    table = printed_pick_list([{"order": row, "barcodes": {}}])  # type: ignore[typeddict-item]
    assert table.rows[0][:2] == (BOX, msg("stores.warehouse"))


def test_a_line_of_the_store_has_its_shelf() -> None:
    (parsed,) = parse_lines([line(1, "P1", 3, preferred_location_code="A-01-1", is_picked_from_warehouse=False)])  # type: ignore[list-item]
    assert (parsed.location, parsed.is_open) == ("A-01-1", True)
