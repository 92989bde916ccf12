"""Undo says what was undone: which goods, how many of each, from where and to where, in every job."""

from __future__ import annotations

from decimal import Decimal

import pytest

from aisle.jobs import names_in_messages
from aisle.jobs.names_in_messages import GoodsAmount
from aisle.jobs.view import Msg, msg
from aisle.scan.grammar_and_meaning_types import LOCATION, Command, Quantity
from aisle.settings.setting_definitions import LANGUAGES
from aisle.tui.message_text import MessageWriter
from tests.jobs import pick_runner
from tests.jobs.move_runner import Hand as Mover
from tests.jobs.move_runner import Store


def mover() -> Mover:
    """Three places; one of them has several products."""
    goods_at = {("P1", "A-1"): 100, ("P2", "A-1"): 20, ("P4", "A-1"): 12, ("P5", "A-2"): 8}
    balances = {(product, code, 1, "", 0): quantity for (product, code), quantity in goods_at.items()}
    return Mover(Store(balances, {}, ("A-1", "A-2", "B-1")))


def said(hand: Mover) -> str:
    """The last verdict, as long as it can be."""
    verdict = hand.verdicts[-1]
    assert verdict is not None
    return MessageWriter().write(verdict.text)


@pytest.mark.parametrize("many", [1, 2, 3, 4])
def test_every_product_of_a_list_is_named_with_its_quantity(many: int) -> None:
    given = [GoodsAmount(f"P{n}", f"Product {n}", Decimal(n * 10)) for n in range(1, many + 1)]
    text = MessageWriter().write(names_in_messages.goods_message("move.undone", given, source="X", target="Y"))
    for each in given:
        assert f"{each.quantity} × {each.label}" in text


def test_one_product_of_several_lines_is_one_sum() -> None:
    given = [
        GoodsAmount("P1", "Soap", Decimal(2)),
        GoodsAmount("P2", "Oil", Decimal(1)),
        GoodsAmount("P1", "Soap", Decimal(3)),
    ]
    assert MessageWriter().write(names_in_messages.list_goods(given)) == "2 products: 5 × Soap, 1 × Oil"


def test_products_of_one_name_and_units_of_one_product_are_not_added_up() -> None:
    given = [
        GoodsAmount("P1", "Milk", Decimal(2)),
        GoodsAmount("P2", "Milk", Decimal(1)),
        GoodsAmount("P1", "Milk", Decimal("1.5"), "kg"),
        GoodsAmount("P1", "Milk", Decimal(3)),
    ]
    assert MessageWriter().write(names_in_messages.list_goods(given)) == "3 products: 5 × Milk, 1 × Milk, 1.5 kg × Milk"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_names_all_goods_of_a_group(language: str) -> None:
    given = [GoodsAmount("P1", "Soap", Decimal(100)), GoodsAmount("P2", "Oil", Decimal("1.5"), "kg")]
    args: dict[str, Msg] = {"source": msg("raw", text="A-02-3"), "target": msg("raw", text="A-02-2")}
    text = MessageWriter(language=language).write(names_in_messages.goods_message("move.undone", given, **args))
    assert all(part in text for part in ("100", "Soap", "Oil", "A-02-3", "A-02-2", "kg"))
    assert "101" not in text


def test_a_move_of_several_products_is_undone_by_name() -> None:
    hand = mover()
    hand.say("A-1", "w", "B-1", "u")
    assert said(hand) == (
        "Undone: 3 products: 100 × Product P1, 20 × Product P2, 12 × Product P4 from B-1 in hand, booked back at A-1"
    )
    hand.say("A-1")
    assert "132 of" not in said(hand)
    assert said(hand).startswith("The move of 3 products: 100 × Product P1, 20 × Product P2, 12 × Product P4 was")
    assert [choice.id for choice in hand.view.choices] == ["move.choice_take_there", "move.choice_put_all"]


def test_a_move_of_goods_of_two_places_names_both() -> None:
    hand = mover()
    hand.say("A-1")
    hand.scan("P1", "100")
    hand.say("P5", "e", "B-1", "u")
    assert (
        said(hand) == "Undone: 2 products: 100 × Product P1, 1 × Product P5 from B-1 in hand, booked back at A-1, A-2"
    )


def test_a_whole_place_that_is_put_back_is_named() -> None:
    hand = mover()
    hand.say("A-1", "w", "u")
    assert said(hand) == (
        "Undone: 3 products: 100 × Product P1, 20 × Product P2, 12 × Product P4 back at A-1, nothing was moved"
    )


def test_goods_that_were_put_down_are_named_when_they_are_in_hand_again() -> None:
    lines = [pick_runner.line(n, f"P{n}", n, preferred_location_code="A-1") for n in (1, 2)]
    hand = pick_runner.Hand(*lines)
    for n in (1, 2):
        hand.scan(f"P{n}", str(n))
    hand.scan("PU-1", kind=LOCATION)
    hand.feed(Command("u"))
    assert hand.told == "Undone: 2 products: 1 × Product P1, 2 × Product P2 from PU-1 in hand again"


def test_a_take_that_is_undone_names_its_place() -> None:
    hand = pick_runner.Hand(pick_runner.line(1, "P1", 3, preferred_location_code="A-1"))
    hand.scan("P1", "2")
    hand.feed(Command("u"))
    assert hand.told == "Undone: Product P1 back from 2 to 0, A-1"


STEPS = {
    "scans": ("1", "1", "1", "1", "1"),
    "several at once": ("4", "2"),
    "over two lines": ("1", "3", "2"),
    "totals": ("=4", "=1", "=6"),
    "scan, then total": ("4", "=6"),
    "total, then scans": ("=2", "1", "2"),
}
"""Quantities that are scanned, or typed as a total (`=`)."""

LINES = {
    "one line": (7,),
    "two lines": (2, 5),
    "three lines": (1, 2, 4),
}
"""Quantities of the lines of one product, with another product behind them."""


@pytest.mark.parametrize("orders", [("1042",), ("1042", "1043")])
@pytest.mark.parametrize("lines", LINES)
@pytest.mark.parametrize("steps", STEPS)
def test_an_undo_says_the_sums_that_the_page_shows(steps: str, lines: str, orders: tuple[str, ...]) -> None:
    rows = [pick_runner.line(n, "P1", of, preferred_location_code="A-1") for n, of in enumerate(LINES[lines], 1)]
    other = pick_runner.line(9, "P9", 1, preferred_location_code="B-1")
    batch = {"1042": rows, "1043": [other]}
    hand = pick_runner.Hand(orders=batch) if len(orders) > 1 else pick_runner.Hand(*rows, other)
    for step in STEPS[steps]:
        if step[0] == "=":
            hand.feed(Quantity(Decimal(step[1:])))
        else:
            hand.scan("P1", step)
    for _ in STEPS[steps]:
        before = sum(pick_runner.picked(hand).values())
        hand.feed(Command("u"))
        after = sum(pick_runner.picked(hand).values())
        assert before != after
        assert f"back from {before} to {after}, A-1" in hand.told
        shown = next(line.bar for line in hand.view.lines if line.role == "quantity")
        assert shown is not None
        assert dict(shown[1].args)["done"] == after


def test_a_line_that_was_closed_short_is_not_added_up() -> None:
    rows = [pick_runner.line(n, "P1", of, preferred_location_code="A-1") for n, of in ((1, 2), (2, 3))]
    hand = pick_runner.Hand(rows[0] | {"picked_quantity": 1, "is_picked": True}, rows[1])
    hand.scan("P1", "2")
    hand.feed(Command("u"))
    assert hand.told == "Undone: Product P1 back from 2 to 0, A-1"
