"""The move job by itself: no terminal, no file, no network."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from aisle.jobs.job import Changed, Close, Opened, Query, Refresh, Resumed, Rows, Start
from aisle.jobs.move.job import with_suggested_locations
from aisle.jobs.move.move_state_and_rows import Goods, MoveState, parse_held_goods, parse_unlocated_stock
from aisle.jobs.move.query_stock_here import MAX_PRODUCTS
from aisle.jobs.view import ASK, GOOD, WRONG, msg
from aisle.scan.grammar_and_meaning_types import PERSON, Back, Choice, UnknownCode
from aisle.tui.message_text import MessageWriter
from tests.jobs.move_runner import BAG, Hand, Store, small_store


def test_one_product_takes_three_scans_and_the_next_from_there_two() -> None:
    hand = Hand()
    assert hand.say("A-1", "P1") == "move.taken"
    assert not hand.sent
    assert hand.say("B-1") == "move.moved"
    assert hand.items == [("P1", 1, ("A-1", 1, "", 0), ("B-1", 0, "", 0))]
    assert hand.sent[0].lanes == ("product/P1",)
    assert hand.sent[0].body[0]["source"] == "aisle"
    assert "allow_overage" not in hand.sent[0].body[0]
    hand.say("P3", "A-2")
    assert hand.items == [("P3", 1, ("A-1", 1, "", 0), ("A-2", 0, "", 0))]
    assert len(hand.sent) == 2


def test_quantities_are_scanned_typed_or_all() -> None:
    hand = Hand()
    hand.say("A-1", "P1", "P1")
    assert hand.held == {"P1": 2}
    hand.say("=4")
    assert hand.held == {"P1": 4}
    hand.say("a")
    assert hand.held == {"P1": 5}
    hand.scan("P3", "0.5")
    assert hand.held == {"P1": 5, "P3": Decimal("0.5")}
    assert hand.scan("P1", "0.5") == "input.whole_number_only"
    hand.say("B-1")
    assert len(hand.sent) == 1
    assert [item[:2] for item in hand.items] == [("P1", 5), ("P3", Decimal("0.5"))]


def test_goods_of_two_pools_leave_both_and_come_back_to_both() -> None:
    hand = Hand()
    hand.say("A-1", "P2", "a", "B-1")
    assert [item[1:3] for item in hand.items] == [(2, ("A-1", 1, "", 0)), (3, ("A-1", 2, "", 0))]
    assert hand.say("u") == "move.undone"
    assert +hand.store.goods == +small_store().goods


def test_after_too_many_any_other_number_is_how_many() -> None:
    hand = Hand()
    hand.say("A-1")
    assert hand.scan("P1", "12") == "move.exceeds_expected"
    assert (hand.held, hand.view.prompt.id) == ({}, "prompt.choose_or_type")
    assert hand.say("=9") == "move.exceeds_expected"
    assert hand.say("=4") == "move.taken"
    assert hand.held == {"P1": 4}
    assert hand.say("=7") == "move.exceeds_expected"
    hand.say("=5")
    assert (hand.held, hand.choices) == ({"P1": 5}, [])


def test_more_than_the_books_have_is_refused_with_the_count_offered() -> None:
    hand = Hand()
    hand.say("A-1", "P1")
    assert hand.say("=7") == "move.exceeds_expected"
    assert hand.verdict is not None
    assert hand.verdict.kind == ASK
    assert hand.held == {"P1": 1}
    assert hand.choices == ["goods.only", "move.choice_count", "goods.all_anyway"]
    hand.say("r")
    assert hand.held == {"P1": 5}
    assert hand.scan("P1") == "move.exceeds_expected"
    hand.say("v")
    assert hand.effects[-1] == Start("count", {"location_code": "A-1"})
    hand.scan("P1", "2")
    hand.say("y")
    assert hand.held == {"P1": 7}
    hand.say("B-1")
    assert hand.sent[-1].body[0]["allow_overage"] is True


def test_a_whole_place_is_two_scans_and_a_letter() -> None:
    hand = Hand()
    assert hand.say("A-1", "w") == "move.whole_location"
    hand.say("A-2")
    assert hand.store.there("P1", "A-2") == 5
    assert hand.store.there("P2", "A-2") == 5
    assert hand.store.there("P3", "A-2") == 4
    assert len(hand.sent) == 1
    assert hand.say("w") == "move.nothing_here"


def test_what_is_held_stays_held_wherever_it_goes() -> None:
    hand = Hand()
    hand.say("PU", "P4", "a", "B-1")
    assert hand.items == [("P4", 2, ("PU", 0, "4101", 2), ("B-1", 0, "4101", 2))]
    assert set(hand.sent[0].lanes) == {"product/P4", "order/4101"}
    hand.say("B-1", "w", "PU")
    assert hand.store.goods["P4", "PU", 1, "4101", 2] == 2
    assert hand.store.there("P1", "PU") == 7


def test_goods_come_from_an_order_by_their_product() -> None:
    hand = Hand()
    assert hand.say("4101") == "move.from_order"
    assert hand.scan("P9") == "move.not_of_order"
    hand.say("P4", "P4")
    assert hand.say("P4") == "move.exceeds_held"
    assert hand.choices == ["goods.only", "move.choice_count"]
    hand.feed(Back())
    hand.say("A-2")
    assert hand.items == [("P4", 2, ("PU", 0, "4101", 2), ("A-2", 0, "", 0))]
    hand.say("P5", "A-2")
    assert hand.items == [("P5", 1, ("", 0, "4101", 3), ("A-2", 0, "", 0))]


def test_goods_go_to_an_order_and_then_to_its_place() -> None:
    hand = Hand()
    hand.say("A-1", "P1", "P1")
    assert hand.say("4101") == "move.where_put"
    assert hand.view.name == "move.where"
    assert hand.say("PU") == "move.moved"
    assert hand.items == [("P1", 2, ("A-1", 1, "", 0), ("PU", 0, "4101", 1))]
    hand.say("P1", "P1")
    assert hand.say("4101") == "move.order_full"
    assert hand.say("r") == "move.where_put"
    hand.say("k")
    assert hand.items == [("P1", 1, ("A-1", 1, "", 0), ("", 0, "4101", 1))]
    assert hand.held == {"P1": 1}
    hand.say("P3")
    assert hand.say("4101") == "move.order_full"
    hand.say("A-2", "P3")
    assert hand.say("4101") == "pick.not_here"
    assert hand.held == {"P3": 1}


def test_cart_is_loaded_at_many_locations_and_put_away_in_walk_order() -> None:
    hand = Hand()
    hand.say("c", "A-1", "P3", "P1", "P1", "B-1", "P1")
    assert hand.view.name == "move.load"
    assert [f"{stop.location} {stop.quantity}" for stop in hand.view.upcoming] == ["A-1 1", "A-1 2"]
    hand.say("d")
    assert hand.view.name == "move.put"
    assert not hand.sent
    part = hand.state.current_goods
    assert part is not None
    assert (part.product, part.location, part.suggested_location) == ("P1", "B-1", "A-1")
    hand.say("P3", "PU")
    assert hand.items == [("P3", 1, ("A-1", 1, "", 0), ("PU", 0, "", 0))]
    hand.say("A-2")
    assert hand.items == [("P1", 1, ("B-1", 1, "", 0), ("A-2", 0, "", 0))]
    assert hand.say("=1") == "move.portion"
    hand.say("A-2")
    assert hand.held == {"P1": 1}
    assert hand.say("PU") == "move.cart_empty"
    assert hand.view.name == "move.load"
    assert len(hand.sent) == 4


@pytest.mark.parametrize("said", ["=1", "=2", "=0", "2*"])
def test_undo_while_putting_away_takes_back_the_quantity_said(said: str) -> None:
    hand = Hand()
    hand.say("c", "A-1", "P1", "P1", "P3", "P3", "d", "P1")
    hand.say(said) if said[0] == "=" else hand.scan("P1", said[0])
    assert hand.say("u") == "move.current_goods"
    assert (hand.held, hand.state.goods_to_put_down[0].product) == ({"P1": 2, "P3": 2}, "P1")
    assert hand.state.goods_to_put_down[0].quantity == 2


@pytest.mark.parametrize(("said", "left"), [
    ("c A-1 P3 P1 =2 d P3 A-2 A-2", 0),
    ("c A-1 P3 P1 =2 d P3 A-2 P1 =1 PU A-2", 0),
    ("c A-1 P3 P1 =2 d P1 A-2", 1),
    ("c A-1 P3 P1 =2 d P1 A-2 c", 1),
    ("A-1 P1 =2 A-2 c", 0),
])  # fmt: skip
def test_goods_put_down_by_mistake_go_from_the_cart_to_the_next_location(said: str, left: int) -> None:
    hand = Hand()
    hand.say(*said.split())
    quantity = hand.items[0][1]
    assert hand.say("u") == "move.undone"
    assert hand.view.name == "move.put"
    assert hand.say("B-1") == ("move.put" if left else "move.cart_empty")
    assert hand.items == [("P1", quantity, ("A-1", 1, "", 0), ("B-1", 0, "", 0))]


def test_a_cart_takes_the_next_scan_where_the_title_says() -> None:
    hand = Hand()
    hand.say("c", "A-1", "P3", "B-1", "P1")
    for letters in ("", "n", "n", "d", "c"):
        hand.say(*letters)
        title = hand.view.lines[0].text
        if hand.view.name == "move.load":
            assert title == msg("move.from_location", place="B-1"), letters
    hand.say("n")
    assert hand.view.lines[2].text.id == "move.quantity_from"
    hand.say("P1")
    in_hand = {part.product: (part.location, int(part.quantity)) for part in hand.state.in_hand}
    assert in_hand == {"P3": ("A-1", 1), "P1": ("B-1", 2)}


def test_from_pool_to_pool_at_one_place() -> None:
    hand = Hand()
    hand.say("A-1", "P2")
    assert hand.say("A-1") == "move.same_location"
    hand.feed(Back())
    hand.say("k", "2", "1")
    assert hand.say("a", "d") == "move.moved"
    assert hand.items == [("P2", 3, ("A-1", 2, "", 0), ("A-1", 1, "", 0))]
    hand.say("u")
    assert hand.items == [("P2", 3, ("A-1", 1, "", 0), ("A-1", 2, "", 0))]
    hand.say("A-1", "y")
    assert hand.items == [("P2", 3, ("A-1", 2, "", 0), ("A-1", 1, "", 0))]


def test_a_store_without_places_moves_between_pools_and_orders() -> None:
    goods: dict[Any, int] = {("P1", "", 1, "", 0): 5, ("P1", "", 2, "", 0): 2}
    hand = Hand(Store(goods, {("4101", 1): ("P1", 3)}, ()))
    assert hand.view.name == "move.take"
    hand.say("P1", "=3")
    assert hand.say("d") == "move.note_from_pool"
    hand.say("1", "2", "d")
    assert hand.items == [("P1", 3, ("", 1, "", 0), ("", 2, "", 0))]
    hand.say("P1", "4101")
    assert hand.items[0][0:2] == ("P1", 1)
    assert hand.items[0][3][2:] == ("4101", 1)
    hand.feed(Back())
    assert isinstance(hand.effects[-1], Close)


def test_a_product_that_is_scanned_first_finds_its_place_or_asks() -> None:
    hand = Hand()
    assert hand.say("P3") == "move.taken"
    assert hand.state.location == "A-1"
    hand = Hand()
    assert hand.say("P1") == "move.where_from"
    assert hand.choices == ["move.choice_from", "move.choice_from"]
    hand.say("2")
    assert (hand.state.location, hand.held) == ("B-1", {"P1": 1})
    hand = Hand(product_number="P1")
    assert hand.say("A-1") == "move.taken"
    hand = Hand()
    assert hand.say("P6", "A-2") == "move.moved"
    assert hand.items == [("P6", 1, ("", 1, "", 0), ("A-2", 0, "", 0))]
    assert Hand().say("P8") == "move.no_known_location"


@pytest.mark.parametrize(
    ("product", "before", "quantity"),
    [
        ("P1", ("1",), "1"),  # one of two locations is chosen
        ("P1", ("A-1",), "1"),
        ("P1", ("A-1",), "3"),
        ("P3", (), "1"),  # it lies at one location
        ("P3", (), "1.25"),
        ("P3", (), "0.5"),
        ("P4", (), "1"),  # an order holds it
        ("P6", (), "1"),  # it lies at no location
        ("P6", (), "4"),
    ],
)
def test_the_first_scan_of_a_named_product_is_the_piece_in_hand(
    product: str, before: tuple[str, ...], quantity: str
) -> None:
    hand = Hand(product_number=product)
    hand.say(*before)
    hand.scan(product, quantity)
    assert hand.held == {product: Decimal(quantity)}
    hand.scan(product)
    assert hand.held == {product: Decimal(quantity) + 1}


def test_the_first_scan_of_a_named_product_while_its_location_is_asked_is_that_piece() -> None:
    hand = Hand(product_number="P1")
    assert hand.say("P1") == "move.where_from_quantity"
    hand.say("A-1")
    assert hand.held == {"P1": 1}
    hand.say("P1")
    assert hand.held == {"P1": 2}


@pytest.mark.parametrize(("inputs", "held"), [(("=3",), 4), (("A-2", "A-1"), 1), (("u",), 1), (("P2",), 1)])
def test_a_scan_of_a_named_product_is_one_more_after_anything_else(inputs: tuple[str, ...], held: int) -> None:
    hand = Hand(product_number="P1")
    hand.say("A-1", *inputs, "P1")
    assert hand.held["P1"] == held


def test_a_refused_scan_is_not_the_piece_in_hand() -> None:
    hand = Hand(product_number="P1")
    hand.say("A-1")
    assert hand.scan("P1", "0.5") == "input.whole_number_only"
    hand.say("P1")
    assert hand.held == {"P1": 1}


def test_a_product_that_does_not_lie_here_says_why_and_offers_ways() -> None:
    hand = Hand()
    hand.say("A-2")
    assert hand.say("P1") == "move.not_here"
    assert hand.choices == ["goods.all_anyway", "move.choice_count", "move.choice_from", "move.choice_from"]
    hand.say("f")
    assert (hand.state.location, hand.held) == ("B-1", {"P1": 1})
    hand = Hand()
    hand.say("A-2", "P1", "y", "B-1")
    assert hand.sent[0].body[0]["allow_overage"] is True


def test_undo_takes_back_step_by_step() -> None:
    hand = Hand()
    hand.say("A-1", "P1", "=3", "B-1")
    assert hand.say("u") == "move.undone"
    assert hand.items == [("P1", 3, ("B-1", 1, "", 0), ("A-1", 0, "", 0))]
    assert hand.held == {"P1": 3}
    assert hand.say("A-2") == "move.after_undo"
    assert hand.choices == ["move.choice_take_there", "move.choice_put"]
    hand.say("y")
    assert hand.store.there("P1", "A-2") == 3
    hand.say("u")
    assert hand.say("u") == "move.take_undone"
    assert hand.held == {"P1": 1}
    hand.say("u")
    assert hand.held == {}
    assert hand.say("u") == "pick.nothing_to_undo"
    assert +hand.store.goods == +small_store().goods


def test_a_place_after_an_undo_moves_nothing_that_was_put_back() -> None:
    hand = Hand()
    hand.say("A-1", "P1", "=3", "B-1", "u")
    sent = len(hand.sent)
    assert hand.say("A-2") == "move.after_undo"
    hand.say("l")
    assert (hand.state.location, hand.held, len(hand.sent)) == ("A-2", {}, sent)
    assert +hand.store.goods == +small_store().goods
    assert hand.say("u") == "pick.nothing_to_undo"


@pytest.mark.parametrize("scans", [("P1",), ("P2",), ("4101",), ("P1", "P1")])
def test_scan_keeps_the_question_about_a_location_after_an_undo(scans: tuple[str, ...]) -> None:
    hand = Hand()
    hand.say("A-1", "P1", "=3", "B-1", "u", "A-2")
    sent = len(hand.sent)
    assert hand.say(*scans) == "count.answer_first"
    assert (hand.choices, hand.held) == (["move.choice_take_there", "move.choice_put"], {"P1": 3})
    hand.say("l")
    assert (hand.state.location, hand.held, len(hand.sent)) == ("A-2", {}, sent)


def test_number_changes_the_quantity_of_the_question_after_an_undo() -> None:
    hand = Hand()
    hand.say("A-1", "P1", "=3", "B-1", "u", "A-2")
    assert hand.say("=2") == "move.after_undo"
    assert hand.choices == ["move.choice_take_there", "move.choice_put"]
    hand.say("y")
    assert hand.store.there("P1", "A-2") == 2


def test_a_product_after_an_undo_says_that_it_is_in_hand() -> None:
    hand = Hand()
    hand.say("A-1", "P1", "=3", "B-1", "u")
    assert hand.say("P1") == "move.taken"
    hand.say("A-2")
    assert hand.store.there("P1", "A-2") == 4


def test_undo_says_when_it_is_too_late() -> None:
    hand = Hand()
    hand.say("A-1", "P3", "=3", "A-2")
    hand.store.goods["P3", "A-2", 1, "", 0] -= 2
    assert hand.say("u") == "move.partly_moved_on"
    assert hand.say("y") == "move.undone"
    assert hand.items == [("P3", 1, ("A-2", 1, "", 0), ("A-1", 0, "", 0))]
    assert hand.held == {"P3": 1}
    hand.say("A-2", "y")
    hand.store.goods["P3", "A-2", 1, "", 0] = 0
    assert hand.say("u") == "move.moved_on"
    assert hand.say("u") == "pick.nothing_to_undo"
    hand = Hand()
    hand.say("A-1", "w", "A-2")
    hand.store.goods["P3", "A-2", 1, "", 0] -= 1
    assert hand.say("u") == "move.partly_moved_on_many"
    assert hand.verdict
    assert "Not all" in MessageWriter().write(hand.verdict.text)
    assert dict(hand.verdicts[-1].text.args)["label"] == "Product P3"


TAKEN_ON = [
    ({"P3": 4}, {"P1": 5, "P2": 5}, "move.partly_moved_on_many"),
    ({"P3": 1}, {"P1": 5, "P2": 5, "P3": 3}, "move.partly_moved_on_many"),
    ({"P1": 5, "P2": 5, "P3": 3}, {"P3": 1}, "move.partly_moved_on_many"),
    ({"P1": 5, "P2": 5, "P3": 4}, {}, "move.moved_on_many"),
]


@pytest.mark.every_case
@pytest.mark.parametrize(("gone", "back", "told"), TAKEN_ON)
def test_what_is_left_of_a_whole_location_is_moved_back_if_asked(
    gone: dict[str, int], back: dict[str, int], told: str
) -> None:
    hand = Hand()
    hand.say("A-1", "w", "A-2")
    for spot, quantity in [*hand.store.goods.items()]:
        product, place, *_ = spot
        if place == "A-2" and gone.get(product):
            taken = min(quantity, gone[product])
            hand.store.goods[spot] -= taken
            gone = gone | {product: gone[product] - taken}
    there = +hand.store.goods
    assert hand.say("u") == told
    if not back:
        assert hand.say("u") == "pick.nothing_to_undo"
        return
    assert hand.choices == ["move.choice_undo_rest"]
    assert (hand.say("u"), +hand.store.goods) == ("session.dropped", there)
    hand.say("u", "y")
    assert hand.held == back
    assert {product: hand.store.there(product, "A-1") for product in back} == back
    assert not any(hand.store.there(product, "A-2") for product in back)


def test_goods_taken_at_several_times_share_what_is_left_of_them() -> None:
    hand = Hand()
    hand.say("A-1", "P1", "=2")
    hand.minute = 5
    hand.say("=5", "A-2")
    hand.minute = 6
    hand.store.goods["P1", "A-2", 1, "", 0] -= 2
    assert hand.say("u") == "move.partly_moved_on"
    assert dict(hand.verdicts[-1].text.args)["left"] == 3
    hand.say("y")
    assert hand.held == {"P1": 3}
    assert hand.store.there("P1", "A-1") == 3


@pytest.mark.parametrize("place", ["A-1", "A-2", "A-3"])
def test_goods_that_somebody_counted_since_stay_as_counted(place: str) -> None:
    hand = Hand()
    hand.say("A-1", "P3", "=3", "A-2")
    hand.store.counted["P3", place, 1] = 7
    written = len(hand.items)
    if place == "A-3":
        assert hand.say("u") == "move.undone"
        return
    assert hand.say("u") == "move.counted_since"
    assert dict(hand.verdicts[-1].text.args) == {"label": "Product P3", "place": place, "counted": 7}
    assert len(hand.items) == written
    assert hand.say("u") == "pick.nothing_to_undo"


def test_undo_waits_for_the_lines_of_an_order_and_can_be_said_again() -> None:
    hand = Hand(Store({("P1", "", 1, "", 0): 5}, {("4101", 1): ("P1", 3)}, ()))
    hand.feed(Rows("locations", (), 0))
    assert hand.say("P1", "4101") == "move.moved"
    hand.store.awaited = True
    assert hand.say("u") == "pick.waiting"
    assert hand.effects[-1] == Refresh("order", "4101")
    assert hand.say("u") == "move.undone"
    assert +hand.store.goods == {("P1", "", 1, "", 0): 5}


def test_goods_in_hand_are_not_left_without_a_word() -> None:
    hand = Hand()
    hand.say("A-1", "P1")
    assert hand.feed(Back()) == "move.leave"
    hand.say("k")
    assert hand.held == {"P1": 1}
    hand.feed(Back())
    assert hand.say("x") == ""
    assert isinstance(hand.effects[-1], Close)
    assert not hand.sent


def test_what_does_not_belong_here_says_so() -> None:
    hand = Hand()
    assert hand.scan("bob", kind=PERSON) == "page.not_this"
    assert hand.feed(UnknownCode("4711")) == "count.unknown"
    assert hand.say("4109") == "move.no_known_location"
    hand = Hand()
    hand.say("A-1", "P1")
    assert hand.say("d") == "move.scan_target"
    assert hand.verdict is not None
    assert hand.verdict.kind == WRONG
    hand = Hand()
    hand.say("c")
    assert hand.say("d") == "move.nothing_on_cart"
    hand.say("A-1", "P1", "d")
    assert hand.say("P3") == "move.not_on_cart"
    assert hand.say("=3") == "move.not_so_many"


def test_what_the_books_say_is_read_again_when_it_changes() -> None:
    hand = Hand()
    hand.say("A-1", "P1")
    hand.store.goods["P1", "A-1", 1, "", 0] = 9
    hand.feed(Changed("outbox", ""))
    hand.say("a")
    assert hand.held == {"P1": 9}
    hand.store.goods["P1", "A-1", 1, "", 0] = 4
    hand.feed(Resumed())
    assert hand.say("B-1") == "move.exceeds_expected"
    assert hand.say("r", "B-1") == "move.moved"
    assert hand.items[0][1] == 4


def test_a_refusal_is_told_once() -> None:
    hand = Hand()
    hand.say("A-1", "P1", "B-1", "P3", "B-1", "P3")
    body = hand.sent[0].body
    row = {"op_id": "X", "user": "ann", "why": "None can be moved.", "label": "P1", "body": body}
    refused = Rows("refused_operations", (row,), 1)
    assert hand.feed(Rows("refused_operations", ({**row, "user": "ben"},), 1)) == "", "that of another person"
    assert hand.feed(refused) == "receive.refused"
    assert hand.feed(refused) == ""
    assert hand.say("u", "u", "u") == "move.take_undone"
    assert hand.say("u") == "pick.nothing_to_undo"


@pytest.mark.parametrize("refused", [0, 1, 2])
def test_a_refused_move_leaves_the_undo_of_the_others(refused: int) -> None:
    hand = Hand()
    hand.say("A-1", "P1", "B-1", "P3", "A-2", "P2", "A-2")
    body = hand.sent[refused].body
    row = {"op_id": "X", "user": "ann", "why": "None can be moved.", "label": "P", "body": body}
    assert hand.feed(Rows("refused_operations", (row,), 1)) == "receive.refused"
    products = [write.body[0]["product_number"] for write in hand.sent]
    told = [hand.say("u") for _ in range(6)]
    assert told.count("move.undone") == 2
    undone = [write.body[0]["product_number"] for write in hand.sent[3:]]
    assert undone == [each for each in reversed(products) if each != products[refused]]
    assert told[-1] == "pick.nothing_to_undo"
    assert not hand.held


def test_refusal_during_question_leaves_question_open() -> None:
    """Its answer would be a quantity else."""
    hand = Hand()
    hand.store.codes = (*hand.store.codes, "2")
    hand.say("A-1", "P1", "B-1", "A-1", "P1")
    assert hand.say("=2") == "move.number_of"
    asked = hand.state.choices
    body = hand.sent[0].body
    row = {"op_id": "X", "user": "ann", "why": "None can be moved.", "label": "P1", "body": body}
    refused = Rows("refused_operations", (row,), 1)
    assert hand.feed(refused) == "receive.refused"
    assert (hand.state.choices, hand.job.accepts(hand.state).choices) == (asked, 2)
    assert hand.feed(Choice(1)) == "move.taken"
    assert hand.held == {"P1": 2}


def test_it_opens_at_a_place() -> None:
    hand = Hand(location_code="A-1")
    assert hand.verdict is not None
    assert hand.verdict.kind == GOOD
    assert hand.view.name == "move.take"
    hand.feed(Back())
    assert hand.view.name == "move.from"
    hand.feed(Opened({}))


def test_what_a_place_has_is_said_whole_when_a_part_of_it_came_back() -> None:
    hand = Hand()
    hand.say("c", "A-1", "P1", "d", "A-2", "u")
    part = hand.state.current_goods
    assert part is not None
    assert (part.quantity, part.available) == (Decimal(1), hand.store.there("P1", "A-1"))
    assert part.available > 1


def test_a_place_that_was_moved_as_a_whole_says_that_nothing_is_left() -> None:
    hand = Hand()
    hand.say("A-1", "w", "A-2")
    assert [line.text.id for line in hand.view.lines] == ["move.from_location", "move.note_empty"]
    assert not hand.view.upcoming


def test_goods_in_hand_for_an_order_are_not_offered_as_lying_at_no_place() -> None:
    row: Any = {
        "product_number": "P1",
        "most_likely_quantity": Decimal(12),
        "pools": [{"pool": 1, "quantity": Decimal(12)}],
        "locations": [{"location_code": "A-1", "quantity": Decimal(10), "pools": {"1": Decimal(10)}}],
    }
    assert parse_unlocated_stock(row).free == 2
    assert parse_unlocated_stock(row | {"in_hand": Decimal(2)}).free == 0
    assert parse_unlocated_stock(row | {"in_hand": Decimal(3)}).free == 0


def test_where_it_comes_from_is_no_target_but_how_many_stays_open() -> None:
    hand = Hand()
    hand.say("A-1", "P1")
    assert hand.scan("A-1") == "move.same_location"
    assert (hand.choices, hand.view.prompt.id) == (["move.put_back"], "prompt.choose_or_many")
    assert hand.say("=4") == "move.taken"
    assert hand.held == {"P1": 4}


def test_what_no_stock_is_kept_of_is_not_moved() -> None:
    hand = Hand()
    assert hand.say("A-1", BAG) == "move.no_stock"
    assert hand.verdict is not None
    assert (hand.verdict.kind, hand.verdict.text.id) == (WRONG, "move.no_stock")
    assert not hand.state.in_hand
    assert hand.state.pending_scan is None


def test_an_order_has_nothing_to_move_of_what_no_stock_is_kept_of() -> None:
    lines = [{"line_number": 1, "product_number": "BAG", "picked_quantity": 2, "is_stock": False}]
    order: Any = {"order_number": "O1", "lines": lines}
    (bag,) = parse_held_goods(order, "")
    assert not bag.held


def test_back_from_the_question_about_goods_in_hand_leads_out() -> None:
    hand = Hand()
    hand.say("A-1", "P1")
    assert hand.feed(Back()) == "move.leave"
    hand.feed(Back())
    assert isinstance(hand.effects[-1], Close)
    assert not hand.sent


def test_order_without_goods_at_scanned_location_clears_location() -> None:
    hand = Hand()
    assert hand.say("A-2", "4101") == "move.from_order"
    assert hand.state.location == ""
    hand = Hand()
    hand.say("PU", "4101")
    assert hand.state.location == "PU"


def test_suggested_destination_is_first_on_walk_then_largest_stock() -> None:
    def row(code: str, order: int, quantity: int) -> Any:
        return {"product_number": "P1", "location_code": code, "location_order": order, "quantity": Decimal(quantity)}

    part = Goods("P1", "Product P1", Decimal(1), "A-1")
    rows = (row("A-1", 1, 90), row("A-2", 2, 5), row("B-1", 3, 40), row("B-2", 4, 40), row("B-9", 9, 0))
    part = with_suggested_locations(MoveState(in_hand=(part,)), rows).in_hand[0]
    assert (part.suggested_location, part.largest_stock_at, part.largest_stock) == ("A-2", "B-1", Decimal(40))
    part = with_suggested_locations(MoveState(in_hand=(part,)), (rows[0], rows[4])).in_hand[0]
    assert (part.suggested_location, part.largest_stock_at, part.largest_stock) == ("B-9", "", Decimal(0))


@pytest.mark.parametrize("short", [-1, -3])
def test_what_the_books_have_less_than_none_of_is_asked_about_like_none(short: int) -> None:
    hand = Hand(Store({("P1", "A-1", 1, "", 0): short, ("P1", "B-1", 1, "", 0): 4}, {}, ("A-1", "B-1")))
    hand.scan("A-1")
    assert hand.scan("P1") == "move.none_left"
    held = {("P1", "A-1", 1, "", 0): short, ("P1", "A-1", 1, "4101", 1): 5}
    hand = Hand(Store(held, {("4101", 1): ("P1", 5)}, ("A-1", "B-1")))
    hand.say("A-1", "k", "1", "2")
    assert hand.scan("P1") == "move.none_left_in_pool"


def test_undo_of_pool_change_reverts_each_location() -> None:
    goods: dict[Any, int] = {("P1", "A-1", 1, "", 0): 2, ("P7", "B-1", 1, "", 0): 3}
    hand = Hand(Store(goods, {}, ("A-1", "B-1")))
    hand.say("A-1", "k", "1", "2", "P1")
    assert hand.say("P7") == "move.not_here"
    hand.say("e")
    assert hand.say("d") == "move.moved_many"
    assert hand.items == [
        ("P1", 1, ("A-1", 1, "", 0), ("A-1", 2, "", 0)),
        ("P7", 1, ("B-1", 1, "", 0), ("B-1", 2, "", 0)),
    ]
    assert hand.say("u") == "move.undone"
    assert hand.items == [
        ("P1", 1, ("A-1", 2, "", 0), ("A-1", 1, "", 0)),
        ("P7", 1, ("B-1", 2, "", 0), ("B-1", 1, "", 0)),
    ]
    assert hand.held == {"P1": 1, "P7": 1}
    hand.say("d")
    hand.store.goods["P7", "B-1", 2, "", 0] = 0
    assert hand.say("u") == "move.moved_on_many"


def test_large_location_reads_only_touched_products() -> None:
    goods: dict[Any, int] = {(f"G{n:03}", "S-1", 1, "", 0): 3 for n in range(MAX_PRODUCTS + 50)}
    hand = Hand(Store({**goods, ("P1", "B-1", 1, "", 0): 2}, {}, ("S-1", "B-1")))
    assert hand.scan("S-1") == "count.at_location"
    assert dict(hand.verdicts[-1].text.args)["count"] == MAX_PRODUCTS + 50
    assert hand.scan("G240") == "move.taken"
    assert hand.say("=4") == "move.exceeds_expected"
    hand.feed(Changed("location", "S-1"))
    assert hand.say("r") == "move.taken"
    assert [(part.product, part.quantity, part.available) for part in hand.state.in_hand] == [
        ("G240", Decimal(3), Decimal(3))
    ]
    assert hand.scan("P1") == "move.not_here"
    hand.feed(Back())
    hand.feed(Changed("outbox", ""))
    assert hand.state.in_hand[0].available == 3
    asked = [effect.args for effect in hand.effects if isinstance(effect, Query) and effect.name == "location"]
    assert all(args.get("size") == MAX_PRODUCTS or "product_number" in args for args in asked)
    hand.say("B-1", "S-1")
    assert hand.say("w") == "move.whole_location"
    assert hand.say("B-1") == "move.moved_many"
    assert len(hand.sent[-1].body) == MAX_PRODUCTS + 49


def test_numbers_of_products_and_undo_agree_when_something_was_in_hand_before() -> None:
    hand = Hand()
    hand.say("A-1")
    hand.scan("P3", "1.5")
    assert hand.say("w") == "move.whole_location"
    writer = MessageWriter()
    assert hand.verdict
    told = writer.write(hand.verdict.text)
    note = next(line.text for line in hand.view.lines if line.text.id == "move.note_hand")
    products = len({part.product for part in hand.state.in_hand})
    assert told == f"Everything here: {products} products", "different units have no sum"
    assert writer.write(note) == f"{products} products in hand"
    hand.say("u")
    assert {part.product: part.quantity for part in hand.state.in_hand} == {"P3": Decimal("1.5")}
    assert writer.write(hand.verdict.text).endswith("still in hand: 1.5 × Product P3")


@pytest.mark.parametrize("number", ["1", "2", "5", "7", "12", "40", "99", "100", "250", "999"])
@pytest.mark.parametrize("before", [(), ("A-1",), ("A-1", "P1", "B-1")], ids=["at first", "at a place", "after a move"])
def test_a_number_where_no_quantity_is_open_is_told_as_one(number: str, before: tuple[str, ...]) -> None:
    hand = Hand()
    hand.say(*before)
    assert hand.feed(UnknownCode(number)) == "pick.no_quantity"
    assert hand.feed(UnknownCode(f"{number}0000")) == "count.unknown"


@pytest.mark.parametrize("again", [("P1", "P1", "P1", "P1", "P1"), ("=6",), ("=30",)])
def test_undo_takes_back_the_consent_to_more_than_the_books_have(again: tuple[str, ...]) -> None:
    hand = Hand()
    hand.say("A-1", "P1", "=7", "y")
    assert hand.held == {"P1": 7}
    hand.say("u")
    assert hand.held == {"P1": 1}
    assert hand.say(*again) == "move.exceeds_expected"


def test_undo_keeps_the_consent_that_what_remains_needs() -> None:
    hand = Hand()
    hand.say("A-1", "P1", "=7", "y", "P1", "u")
    assert hand.held == {"P1": 7}
    assert hand.say("P1") == "move.taken"


def test_a_number_after_none_is_not_for_other_goods() -> None:
    hand = Hand()
    hand.say("A-1", "P1", "P3", "=0")
    assert not hand.job.accepts(hand.state).quantity
    assert [part.product for part in hand.state.in_hand] == ["P1"]


def list_of_order(hand: Hand) -> dict[str, Decimal | None]:
    """What the page says of the goods of an order, and of the goods on the screen."""
    stops = {stop.label: stop.quantity for stop in hand.view.upcoming if stop.quantity}
    return {**stops, **{part.label: part.available for part in hand.state.in_hand}}


OWN_MOVE = ("P6", "P6", "A-2")

BY_OTHERS: dict[str, tuple[dict[Any, int], int]] = {
    "fewer": ({("P6", "", 1, "4101", 4): -2}, 1),
    "none": ({("P6", "", 1, "4101", 4): -3}, 0),
    "more": ({("P6", "", 1, "4101", 4): 2}, 5),
    "more of it elsewhere": ({("P6", "A-1", 1, "4101", 4): 2}, 5),
    "none, but of other goods": ({("P6", "", 1, "4101", 4): -3, ("P4", "PU", 1, "4101", 2): 1}, 0),
}
"""What others do with three pieces that an order has in hand, and how many it holds then."""


def with_three_in_hand() -> Hand:
    """The small store with an order that also has three pieces of P6 in hand."""
    store = small_store()
    store.lines["4101", 4] = ("P6", 9)
    store.goods["P6", "", 1, "4101", 4] = 3
    hand = Hand(store)
    assert hand.say("4101") == "move.from_order"
    return hand


@pytest.mark.parametrize("topic", ["order", "outbox", "product", ""])
@pytest.mark.parametrize("change", BY_OTHERS)
@pytest.mark.parametrize("before", [(), ("P6",), OWN_MOVE], ids=["at first", "in hand", "after a move"])
def test_goods_of_an_order_follow_what_others_do_with_them(topic: str, change: str, before: tuple[str, ...]) -> None:
    hand = with_three_in_hand()
    changes, left = BY_OTHERS[change]
    if before == OWN_MOVE and left < 3:
        return
    hand.say(*before)
    for spot, quantity in changes.items():
        hand.store.goods[spot] += quantity
    hand.feed(Changed(topic, "") if topic else Resumed())
    left -= 2 if before == OWN_MOVE else 0
    shown = list_of_order(hand)
    assert shown.get("Product P6", 0) in (left, left - 2 if "elsewhere" in change else left)
    hand.say("w")
    assert hand.held["P6"] == (max(left, 1) if before == ("P6",) else left)


def test_only_goods_that_an_order_has_are_listed() -> None:
    hand = with_three_in_hand()
    assert {stop.label for stop in hand.view.upcoming} == {"Product P4", "Product P5", "Product P6"}
    hand.say("w", "A-2")
    assert hand.view.upcoming == ()
    assert hand.view.lines[-1].text.id == "move.note_empty"


@pytest.mark.parametrize("scans", [("P6",), ("w",), ("P6", "a")])
def test_own_moves_from_an_order_count_at_once(scans: tuple[str, ...]) -> None:
    hand = with_three_in_hand()
    hand.say(*OWN_MOVE)
    assert list_of_order(hand)["Product P6"] == 1
    hand.say(*scans)
    assert hand.held["P6"] == 1


def test_an_undone_move_is_the_orders_again() -> None:
    hand = with_three_in_hand()
    assert hand.say(*OWN_MOVE, "u") == "move.undone"
    assert hand.say("P6") == "move.taken"
    assert hand.held["P6"] == 3
    assert hand.say("P6") == "move.exceeds_held"


def test_a_question_about_goods_that_are_gone_is_still_answered() -> None:
    hand = with_three_in_hand()
    assert hand.say("P6", "=9") == "move.exceeds_held"
    hand.store.goods["P6", "", 1, "4101", 4] = 0
    hand.feed(Changed("order", "4101"))
    hand.say("r")
    assert hand.say("A-2") == "move.exceeds_held"
    assert not hand.sent


def test_an_order_that_is_handed_over_meanwhile_has_nothing_left() -> None:
    hand = with_three_in_hand()
    hand.store.lines.clear()
    hand.feed(Changed("order", "4101"))
    assert hand.view.upcoming == ()
    assert hand.say("w") == "move.nothing_here"
    assert hand.say("P6") == "move.not_of_order"


ORDER_AFTER_PRODUCT = {
    "one": (("P6",), "move.taken", 1),
    "several": (("P6", "P6"), "move.taken", 2),
    "all": (("P6", "P6", "P6"), "move.taken", 3),
    "more than it holds": (("P6", "P6", "P6", "P6"), "move.exceeds_held", 0),
    "on a cart": (("c", "P6"), "move.taken", 1),
}
"""What is scanned before the order, the answer to the order, and what is in hand then."""


@pytest.mark.parametrize("case", ORDER_AFTER_PRODUCT)
def test_an_order_answers_where_a_product_comes_from(case: str) -> None:
    scans, told, quantity = ORDER_AFTER_PRODUCT[case]
    hand = with_three_in_hand()
    hand.store.goods["P6", "A-1", 1, "", 0] = 5
    hand = Hand(hand.store)
    assert hand.say(*scans).startswith("move.where_from")
    assert hand.say("4101") == told
    assert hand.held["P6"] == quantity
    if quantity:
        hand.say("A-2") if case != "on a cart" else hand.say("d", "A-2")
        assert hand.items == [("P6", quantity, ("", 0, "4101", 4), ("A-2", 0, "", 0))]


@pytest.mark.parametrize(("product_", "order", "told"), [
    ("P1", "4101", "move.not_of_order"),
    ("P6", "4102", "move.order_has_nothing"),
])  # fmt: skip
def test_an_order_without_the_product_leaves_the_question(product_: str, order: str, told: str) -> None:
    store = with_three_in_hand().store
    store.goods["P6", "A-1", 1, "", 0] = 5
    hand = Hand(store)
    assert hand.say(product_) == "move.where_from"
    asked = hand.choices
    assert hand.say(order) == told
    assert hand.choices == asked
    assert hand.say("1") == "move.taken"
    assert hand.held[product_] == 1


def test_an_order_without_goods_leaves_the_location() -> None:
    hand = Hand()
    hand.say("A-1")
    assert hand.say("4102") == "move.order_has_nothing"
    assert (hand.state.location, hand.say("P1")) == ("A-1", "move.taken")
    assert hand.state.in_hand[0].location == "A-1"
