"""Several orders in one walk: totes, merged stops, spreading, completing, putting down, leaving the round."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from aisle.jobs.job import Changed, Close, Closed, Query, Rows, Write
from aisle.jobs.pick.pick_state import MAX_ORDERS
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, msg
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    ORDER,
    PRODUCT,
    Back,
    Choice,
    Command,
    Match,
    Quantity,
    Scan,
    Text,
    UnknownCode,
)
from aisle.tui.message_text import MessageWriter
from tests.jobs.pick_runner import Hand, line, order
from tests.jobs.test_claim import refused

Orders = dict[str, list[dict[str, Any]]]


def three() -> Orders:
    """Three orders that share a product at one place; each wants one thing more."""
    return {
        "O1": [line(1, "P1", 3, preferred_location_code="A-1"), line(2, "P2", 1, preferred_location_code="A-2")],
        "O2": [line(1, "P1", 4, preferred_location_code="A-1"), line(2, "P3", 1, preferred_location_code="A-2")],
        "O3": [line(1, "P4", 2, preferred_location_code="A-9"), line(2, "P1", 1, preferred_location_code="A-1")],
    }


def _asks_order(effect: Any) -> bool:
    return isinstance(effect, Query) and effect.name == "order_to_pick"


def totes(hand: Hand, product: str = "P1") -> dict[str, Decimal]:
    """What of a product is in each tote."""
    letters = {tote.order: tote.letter for tote in hand.state.totes}
    return {letters[line.order]: line.picked for line in hand.state.lines if line.product == product}


def test_a_round_opens_when_all_its_orders_are_here() -> None:
    hand = Hand(orders=three())
    assert hand.verdict is not None
    assert (hand.verdict.text.id, hand.verdict.kind) == ("pick.batch_opened", GOOD)
    assert hand.told == "3 orders: 6 lines to pick at 4 stops"
    assert [tote.letter for tote in hand.state.totes] == ["A", "B", "C"]


def test_queries_are_ordered_by_tote() -> None:
    hand = Hand(orders={"O1": [], "O2": []})
    asked = [effect.args["order_number"] for effect in hand.effects if _asks_order(effect)]
    assert asked == ["O2", "O1"]


def test_lines_of_all_orders_at_one_location_share_a_stop() -> None:
    hand = Hand(orders=three())
    assert [(line.location, line.product, line.order) for line in hand.state.lines] == [
        ("A-1", "P1", "O1"),
        ("A-1", "P1", "O2"),
        ("A-1", "P1", "O3"),
        ("A-2", "P2", "O1"),
        ("A-2", "P3", "O2"),
        ("A-9", "P4", "O3"),
    ]
    quantity = next(each.text for each in hand.view.lines if each.role == "quantity")
    assert dict(quantity.args) == {"rest": Decimal(8), "totes": "A3 B4 C1"}
    assert [(stop.location, stop.label, stop.quantity) for stop in hand.view.upcoming] == [
        ("A-2", "A: Product P2", Decimal(1)),
        ("A-2", "B: Product P3", Decimal(1)),
        ("A-9", "C: Product P4", Decimal(2)),
    ]
    assert (hand.view.done, hand.view.total) == (Decimal(0), Decimal(12))


def test_what_is_in_another_pool_or_weighed_is_a_stop_of_its_own() -> None:
    orders = {
        "O1": [line(1, "P1", 3, stock_pool=1), line(2, "P2", 1, allow_decimal=True)],
        "O2": [line(1, "P1", 4, stock_pool=2), line(2, "P2", 2, allow_decimal=True)],
    }
    hand = Hand(orders=orders)
    assert len({each.stop_key for each in hand.state.lines}) == 4


def test_lines_at_one_location_are_picked_together() -> None:
    orders = {
        "O1": [
            line(1, "P1", 1, store_walking_order=10, preferred_location_code="A-1"),
            line(2, "P2", 1, store_walking_order=20, preferred_location_code="B-1"),
        ],
        "O2": [line(1, "P3", 1, store_walking_order=30, preferred_location_code="a-1")],
    }
    assert [each.product for each in Hand(orders=orders).state.lines] == ["P1", "P3", "P2"]


def test_unit_scans_go_to_the_first_open_tote_and_say_which() -> None:
    hand = Hand(orders=three())
    assert hand.scan("P1") == "pick.picked_for_tote"
    assert hand.told == "1 → A, 1 of 3 · Product P1"
    hand.scan("P1", "2")
    assert totes(hand) == {"A": 3, "B": 0, "C": 0}
    hand.scan("P1")
    assert hand.told == "1 → B, 1 of 4 · Product P1"
    assert hand.view.prompt.args == (("rest", Decimal(4)),)


def test_one_scan_per_take_whatever_the_number_of_totes() -> None:
    hand = Hand(orders=three())
    assert hand.scan("P1", "7") == "pick.picked_for_totes"
    assert hand.told == "7 → A3 B4 · Product P1"
    assert totes(hand) == {"A": 3, "B": 4, "C": 0}
    assert hand.all_sent == {("O1", 1): 3, ("O2", 1): 4}
    assert [body["order_number"] for body in hand.updates] == ["O1", "O2"]


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("language", "told", "tight"),
    [
        ("en", "Pick 1.5 kg: A1.5", "1.5 kg: A1.5"),
        ("nl", "Pick 1,5 kg: A1,5", "1,5 kg: A1,5"),
        ("de", "1,5 kg nehmen: A1,5", "1,5 kg: A1,5"),
        ("fr", "Prendre 1,5 kg : A1,5", "1,5 kg : A1,5"),
    ],
)
def test_tote_amounts_of_measured_goods_use_language_format(language: str, told: str, tight: str) -> None:
    cheese = {"preferred_location_code": "A-1", "allow_decimal": True, "unit": "kg"}
    orders = {"O1": [line(1, "P1", Decimal("1.5"), **cheese)], "O2": [line(1, "P1", 2, **cheese)]}
    hand = Hand(orders=orders)
    quantity = next(each.text for each in hand.view.lines if each.role == "quantity")
    assert MessageWriter(language=language).write(quantity) == told
    assert MessageWriter(language=language).fit_line(quantity, len(tight)) == tight


def test_typed_quantity_of_stop_fills_first_tote_first() -> None:
    hand = Hand(orders=three())
    hand.scan("P1")
    assert hand.job.accepts(hand.state).quantity
    assert hand.feed(Quantity(Decimal(5))) == "pick.set_totes"
    assert totes(hand) == {"A": 3, "B": 2, "C": 0}
    assert hand.feed(Quantity(Decimal(2))) == "pick.fewer_than_picked"
    assert totes(hand) == {"A": 3, "B": 2, "C": 0}
    hand.feed(Choice(1))
    assert totes(hand) == {"A": 2, "B": 0, "C": 0}
    assert hand.all_sent == {("O1", 1): 2, ("O2", 1): 0}
    assert hand.feed(Quantity(Decimal(9))) == "pick.total_more_than_ordered"
    hand.feed(Choice(1))
    assert totes(hand) == {"A": 3, "B": 4, "C": 1}


@pytest.mark.parametrize(("before", "total", "told"), [("4", 5, "from 5 to 4"), ("1", 4, "from 4 to 1")])
def test_undo_of_a_total_names_all_its_totes(before: str, total: int, told: str) -> None:
    hand = Hand(orders=three())
    hand.scan("P1", before)
    hand.feed(Quantity(Decimal(total)))
    hand.feed(Command("u"))
    assert hand.told == f"A B C: Undone: Product P1 back {told}, A-1"
    assert sum(totes(hand).values()) == int(before)


def test_undo_takes_one_scan_back_out_of_all_its_totes() -> None:
    hand = Hand(orders=three())
    hand.scan("P1", "7")
    assert hand.feed(Command("u")) == "pair"
    assert hand.told == "A B: Undone: Product P1 back from 7 to 0, A-1"
    assert set(totes(hand).values()) == {Decimal(0)}
    assert hand.all_sent == {("O1", 1): 0, ("O2", 1): 0}


def test_a_full_order_is_named_and_called_picked_at_once() -> None:
    hand = Hand(orders=three())
    hand.scan("P1", "8")
    assert hand.scan("P2") == "pick.tote_full"
    assert hand.told == "1 → A, 1 of 1 · Product P2. A is complete."
    assert [(body["order_number"], body.get("is_picked")) for body in hand.updates] == [
        ("O1", None),
        ("O2", None),
        ("O3", None),
        ("O1", True),
    ]
    hand.scan("P3")
    assert hand.scan("P4", "2") == "pick.batch_all_picked"
    assert hand.told == "2 → C, 2 of 2 · Product P4. All 3 orders picked."
    assert hand.view.name == "pick.done"
    hand.feed(Command("u"))
    assert (hand.updates[-1]["order_number"], hand.updates[-1]["is_picked"]) == ("O3", False)


def test_each_place_is_verified_once_for_all_orders() -> None:
    hand = Hand(orders=three(), verified=True)
    assert hand.view.name == "pick.location"
    assert hand.scan("P4") == "pick.location_first_scan"
    hand.scan("A-1", kind=LOCATION)
    hand.scan("P1", "8")
    assert hand.view.name == "pick.location"
    assert hand.scan("A-2", kind=LOCATION) == "pick.at_location"
    assert hand.scan("P2") == "pick.tote_full"
    assert hand.view.name == "pick.product"
    assert hand.scan("P3") == "pick.tote_full"
    assert hand.view.name == "pick.location"


def test_a_stop_left_for_later_comes_round_again() -> None:
    hand = Hand(orders=three())
    assert hand.feed(Command("n")) == "pick.later"
    for product in ("P2", "P3"):
        hand.scan(product)
    hand.scan("P4", "2")
    assert hand.state.current_line is not None
    assert hand.state.current_line.product == "P1"
    assert hand.feed(Command("n")) == "locations.last_location"
    assert hand.scan("P1", "8") == "pick.batch_all_picked"


def finished() -> Hand:
    """A round whose orders are all picked."""
    hand = Hand(orders=three())
    for product, quantity in (("P1", "8"), ("P2", "1"), ("P3", "1"), ("P4", "2")):
        hand.scan(product, quantity)
    return hand


def test_one_place_for_all_totes_and_undo_takes_all_up_again() -> None:
    hand = finished()
    assert hand.scan("PU-1", kind=LOCATION) == "pick.put_down_totes"
    assert hand.told == "Put down at PU-1: A B C"
    moves = [effect for effect in hand.effects if isinstance(effect, Write) and effect.operation == "create-movement"]
    assert [move.lanes[0] for move in moves] == ["order/O1", "order/O2", "order/O3"]
    assert sum(quantity for _, quantity, _, _ in hand.moves()) == 12
    assert hand.scan("PU-1", kind=LOCATION) == "pick.nothing_in_hand"
    assert hand.feed(Command("u")) == "pair"
    assert sum(quantity for _, quantity, came, _ in hand.moves() if came == "PU-1") == 12
    assert hand.feed(Command("u")) == "pair"


def test_a_tote_named_first_is_put_down_alone() -> None:
    hand = finished()
    assert hand.choices() == ["pick.choice_tote"] * 3
    assert hand.feed(Choice(2)) == "pick.choice_tote"
    assert hand.view.prompt.id == "pick.prompt_tote"
    hand.scan("PU-1", kind=LOCATION)
    assert hand.told == "Put down at PU-1: B"
    assert hand.scan("O3", kind=ORDER) == "pick.choice_tote"
    assert hand.feed(Back()) == "session.dropped"
    assert hand.scan("O3", kind=ORDER) == "pick.choice_tote"
    hand.scan("PU-2", kind=LOCATION)
    assert hand.told == "Put down at PU-2: C"
    assert not hand.choices()
    hand.scan("PU-1", kind=LOCATION)
    assert {(came, to) for _, _, came, to in hand.moves()} == {("", "PU-1"), ("", "PU-2")}
    assert not any(line.in_hand for line in hand.state.lines)


def test_a_tote_label_that_is_a_location_too_is_asked() -> None:
    hand = finished()
    hand.books["location_use B"] = {"tags": ["pick-up"], "goods": 0}
    assert hand.feed(UnknownCode("B")) == "pick.tote_or_location"
    assert not hand.state.only_order
    assert hand.feed(Choice(1)) == "pick.choice_tote"
    assert hand.feed(UnknownCode("B")) == "pick.tote_or_location"
    hand.feed(Choice(2))
    assert {to for _, _, _, to in hand.moves()} == {"B"}


@pytest.mark.parametrize("label", ["A", "B"])
def test_undo_at_the_question_about_a_tote_label_undoes_no_pick(label: str) -> None:
    hand = finished()
    hand.books[f"location_use {label}"] = {"tags": ["pick-up"], "goods": 0}
    assert hand.feed(UnknownCode(label)) == "pick.tote_or_location"
    before = len(hand.updates)
    assert hand.feed(Command("u")) == "session.dropped"
    assert len(hand.updates) == before
    assert not hand.view.choices or "pick.tote_or_location" not in hand.told


def test_undo_takes_back_the_choice_of_a_tote_first() -> None:
    hand = finished()
    assert hand.feed(UnknownCode("B")) == "pick.choice_tote"
    before = len(hand.updates)
    assert hand.feed(Command("u")) == "session.dropped"
    assert not hand.state.only_order
    assert len(hand.updates) == before
    assert hand.feed(Command("u")) == "pair"


def test_the_code_of_a_tote_names_it() -> None:
    hand = Hand(orders=three())
    totes_ = (hand.state.totes[0]._replace(code="TOTE-7"), *hand.state.totes[1:])
    hand.state = hand.state._replace(totes=totes_)
    assert hand.feed(UnknownCode("TOTE-7")) == "batch.already_in_batch"
    assert hand.feed(Text("tote-7")) == "batch.already_in_batch"
    for product, quantity in (("P1", "8"), ("P2", "1"), ("P3", "1"), ("P4", "2")):
        hand.scan(product, quantity)
    assert hand.feed(UnknownCode("TOTE-7")) == "pick.choice_tote"
    assert hand.state.only_order == "O1"


def test_a_tote_that_only_others_have_in_hand_is_not_selected() -> None:
    hand = finished()
    lines = (line._replace(own_picked=Decimal(0)) if line.order == "O2" else line for line in hand.state.lines)
    totes = tuple(tote._replace(is_shared=True) for tote in hand.state.totes)
    hand.state = hand.state._replace(lines=tuple(lines), totes=totes)
    assert hand.feed(UnknownCode("B")) == "pick.tote_of_others"
    assert not hand.state.only_order


def test_the_digits_on_a_tote_name_it_while_a_quantity_is_open_too() -> None:
    hand = Hand(orders=three())
    totes_ = (hand.state.totes[0]._replace(code="0712"), *hand.state.totes[1:])
    hand.state = hand.state._replace(totes=totes_)
    hand.scan("P1")
    assert hand.feed(Quantity(Decimal(712), "0712")) == "batch.already_in_batch"
    assert hand.feed(Quantity(Decimal(712))) == "pick.total_more_than_ordered"


def test_a_tote_is_named_by_its_letter_where_it_is_asked_which() -> None:
    hand = Hand(orders=three())
    assert hand.job.accepts(hand.state).labels == "ABC"
    assert hand.feed(UnknownCode("B")) == "batch.already_in_batch"
    hand = finished()
    assert hand.feed(UnknownCode("B")) == "pick.choice_tote"
    assert hand.state.only_order == "O2"
    assert hand.feed(UnknownCode("C")) == "pick.choice_tote", "another one is meant after all"
    hand.scan("PU-1", kind=LOCATION)
    assert hand.told == "Put down at PU-1: C"
    assert hand.feed(UnknownCode("C")) == "pick.nothing_in_hand"
    assert hand.feed(UnknownCode("D")) == "count.unknown"
    alone = Hand(line(1, "P1", 1))
    alone.scan("P1")
    assert alone.job.accepts(alone.state).labels == ""
    assert alone.feed(UnknownCode("A")) == "count.unknown"


def test_leaving_unfinished_batch_needs_confirmation() -> None:
    hand = Hand(orders=three())
    assert hand.feed(Back()) == "pick.leave_batch"
    assert hand.feed(Back()) == "session.dropped"
    hand.feed(Back())
    hand.feed(Choice(1))
    assert isinstance(hand.effects[-1], Close)
    hand = finished()
    hand.feed(Back())
    assert isinstance(hand.effects[-1], Close)


# Orders come and go


def test_order_rejected_elsewhere_leaves_batch_with_put_back_list() -> None:
    hand = Hand(orders=three())
    hand.scan("P1", "6")
    assert hand.feed(order(*three()["O2"], number="O2", is_rejected=True)) == "pick.removed_with_goods"
    assert hand.told == "B: Order O2 is rejected. You have 3 in hand for that order"
    assert hand.view.name == "pick.return"
    assert [(back.location, back.quantity) for back in hand.state.to_return] == [("A-1", Decimal(3))]
    assert [(each.role, MessageWriter().write(each.text)) for each in hand.view.lines[1:3]] == [
        ("location", "A-1"),
        ("product", "Product P1"),
    ]
    assert hand.scan("P1") == "pick.prompt_return"
    assert totes(hand) == {"A": 3, "C": 0}
    assert hand.feed(Choice(1)) == "pick.choice_put_back"
    assert hand.view.name == "pick.product"
    assert [tote.letter for tote in hand.state.totes] == ["A", "C"]
    assert ("O2", 1) in hand.all_sent
    assert hand.all_sent["O2", 1] == 3


def test_goods_that_are_too_many_are_shown_and_not_picked_for_another_tote() -> None:
    at = {"preferred_location_code": "A-1"}
    hand = Hand(orders={"1042": [line(1, "P1", 1, **at)], "O2": [line(1, "P1", 1, **at), line(2, "P2", 1, **at)]})
    hand.scan("P1")
    assert hand.feed(refused("OP", 1)) == "pick.surplus_by"
    assert hand.scan("P1") == "pick.prompt_return"
    assert totes(hand) == {"A": 1, "B": 0}
    assert hand.feed(Choice(1)) == "pick.choice_put_back"
    assert hand.scan("P1") == "pick.picked_for_tote"
    assert totes(hand) == {"A": 1, "B": 1}


def test_finished_and_handed_over_orders_leave_nothing_in_hand() -> None:
    hand = Hand(orders=three())
    assert hand.feed(order(*three()["O1"], number="O1", is_active=False)) == "pair"
    claimed = {"is_claimed": True, "claimed_by": "bob", "claimed_name": "Bob", "claimed_on": "2099-01-01T00:00:00Z"}
    assert hand.feed(order(*three()["O2"], number="O2", **claimed)) == "pick.taken_over"
    assert hand.feed(Choice(2)) == "pair"
    assert hand.view.name == "pick.product"
    assert [tote.order for tote in hand.state.totes] == ["O3"]
    assert hand.scan("P1") == "pick.picked_for_tote"


def test_the_last_order_that_leaves_closes_the_round() -> None:
    hand = Hand(orders={"O1": three()["O1"], "O2": three()["O2"]})
    hand.scan("P1")
    hand.feed(order(number="O2", is_rejected=True))
    assert hand.feed(order(number="O1", is_rejected=True)) == "pick.removed_with_goods"
    assert hand.view.name == "pick.return"
    assert hand.scan("P1") == "pick.prompt_return"
    assert hand.feed(Choice(1)) == "pick.choice_put_back"
    assert hand.moves() == [("P1", Decimal(1), "", "A-1")]
    hand.feed(Back())
    assert isinstance(hand.effects[-1], Close)


def test_goods_of_rejected_order_are_put_back_and_undo_picks_them_again() -> None:
    hand = Hand(orders=three())
    hand.scan("P1", "6")
    hand.feed(order(*three()["O2"], number="O2", is_rejected=True))
    hand.feed(Choice(1))
    assert hand.moves() == [("P1", Decimal(3), "", "A-1")]
    write = hand.effects[-1]
    assert isinstance(write, Write)
    assert write.lanes == ("order/O2", "product/P1")
    assert "customer_order_number" not in write.body[0]["from_location"]
    assert hand.feed(Command("u")) == "pick.put_down_undone"
    assert hand.moves()[1:] == [("P1", Decimal(3), "A-1", "")]
    assert (hand.view.name, len(hand.state.to_return)) == ("pick.return", 1)
    hand.feed(Choice(1))
    assert hand.moves()[2:] == [("P1", Decimal(3), "", "A-1")]
    assert hand.view.name == "pick.product"


def test_undo_stays_open_after_only_order_is_put_back() -> None:
    hand = Hand(line(1, "P1", 3, preferred_location_code="A-1"))
    hand.scan("P1", "2")
    hand.feed(order(is_rejected=True))
    hand.feed(Choice(1))
    assert (hand.view.name, hand.view.prompt.id, hand.choices()) == ("pick.return", "pick.prompt_return_done", [])
    assert hand.feed(Command("u")) == "pick.put_down_undone"
    assert hand.scan("P1") == "pick.prompt_return"
    hand.feed(Choice(1))
    assert hand.moves() == [("P1", Decimal(2), "", "A-1"), ("P1", Decimal(2), "A-1", ""), ("P1", Decimal(2), "", "A-1")]
    hand.scan("O9", kind=ORDER)
    close = hand.effects[-1]
    assert isinstance(close, Close)
    assert close.event_for_below == Scan((Match(ORDER, "O9", "Product O9", Decimal(1), False, "O9"),))


def test_put_back_is_asked_and_next_page_names_no_order() -> None:
    hand = Hand(line(1, "P1", 3, preferred_location_code="A-1"))
    hand.scan("P1", "2")
    hand.feed(order(is_rejected=True))
    assert hand.feed(Back()) == "pick.leave_with_goods"
    assert hand.choices() == ["pick.choice_put_back", "pick.choice_leave_with_goods"]
    assert hand.feed(Back()) == "session.dropped"
    assert hand.view.name == "pick.return"
    hand.feed(Back())
    hand.feed(Choice(1))
    assert hand.moves() == [("P1", Decimal(2), "", "A-1")]
    hand.feed(Back())
    close = hand.effects[-1]
    assert isinstance(close, Close)
    assert close.verdict is not None
    assert (close.verdict.kind, close.verdict.text) == (GOOD, msg("pick.choice_put_back"))
    round_ = Hand(orders=three())
    round_.scan("P1", "6")
    round_.feed(order(*three()["O2"], number="O2", is_rejected=True))
    assert round_.feed(Back()) == "pick.leave_with_goods"
    round_.feed(Choice(1))
    assert round_.feed(Back()) == "pick.leave_batch"


def test_leaving_with_goods_in_hand_asks_and_explains() -> None:
    gone = (
        (order(is_rejected=True), "pick.left_with_goods_no_location"),
        (order(is_active=False), "pick.left_with_goods"),
    )
    for news, id_ in gone:
        hand = Hand(line(1, "P1", 3, preferred_location_code="A-1"))
        hand.scan("P1", "2")
        hand.feed(news)
        hand.feed(Back())
        hand.feed(Choice(2))
        close = hand.effects[-1]
        assert isinstance(close, Close)
        assert close.verdict is not None
        assert close.verdict.text == msg(id_, count=Decimal(2))
        assert hand.moves() == []


def test_goods_without_location_or_of_finished_order_need_no_move() -> None:
    hand = Hand(line(1, "P1", 3))
    hand.scan("P1", "2")
    hand.feed(order(is_rejected=True))
    hand.feed(Choice(1))
    assert isinstance(hand.effects[-1], Close)
    hand = Hand(line(1, "P1", 3, preferred_location_code="A-1"))
    hand.scan("P1", "2")
    hand.feed(order(is_active=False))
    hand.feed(Choice(1))
    assert isinstance(hand.effects[-1], Close)
    assert hand.moves() == []


def test_a_stop_partly_taken_says_how_many_are_in_the_totes() -> None:
    hand = Hand(orders=three())
    hand.scan("P1")
    quantity = next(each.text for each in hand.view.lines if each.role == "quantity")
    assert MessageWriter().write(quantity) == "1 of 8; 7 more: A2 B4 C1"


def test_less_than_in_totes_is_asked_and_may_mean_more() -> None:
    hand = Hand(orders=three())
    hand.scan("P1", "7")
    assert hand.feed(Quantity(Decimal(1))) == "pick.fewer_than_picked"
    assert hand.told == "Only 1 × Product P1 in all? 7 of 8 are in the totes."
    assert [MessageWriter().write(choice) for choice in hand.view.choices] == [
        "The total is 1",
        "The total is 8",
    ]
    assert hand.feed(Choice(2)) == "pick.set_totes"
    assert totes(hand) == {"A": 3, "B": 4, "C": 1}


def test_single_rejected_order_says_what_to_put_back() -> None:
    hand = Hand(line(1, "P1", 3, preferred_location_code="A-1"))
    hand.scan("P1", "2")
    assert hand.feed(order(is_rejected=True)) == "pick.removed_with_goods"
    assert hand.view.name == "pick.return"
    assert [(each.role, MessageWriter().write(each.text)) for each in hand.view.lines[1:3]] == [
        ("location", "A-1"),
        ("product", "Product P1"),
    ]
    assert hand.choices() == ["pick.choice_put_back"]


def test_an_order_without_lines_leaves_before_the_round_starts() -> None:
    hand = Hand(orders={"O1": three()["O1"], "O2": []})
    assert hand.verdict is not None
    assert hand.verdict.text.id == "pair"
    assert hand.view.name == "pick.product"
    assert isinstance(Hand(orders={"O1": [], "O2": []}).effects[-1], Close)


def test_going_on_without_what_is_not_here() -> None:
    hand = Hand(orders={"O1": [], "O2": []}, lines_known=False)
    assert hand.view.name == "pick.wait"
    assert not hand.choices()
    hand.feed(order(*three()["O1"], number="O1"))
    assert hand.view.name == "pick.wait"
    assert hand.scan("P1") == "pick.waiting"
    assert hand.choices() == ["pick.choice_go_on"]
    assert hand.feed(Choice(1)) == "pick.batch_opened"
    assert [tote.order for tote in hand.state.totes] == ["O1"]


def test_somebody_else_picks_it_is_asked_before_the_round_starts() -> None:
    orders = {"O1": three()["O1"], "O2": []}
    hand = Hand(orders=orders, lines_known=False)
    hand.feed(order(*three()["O1"], number="O1"))
    claimed = {"is_claimed": True, "claimed_by": "bob"}
    assert hand.feed(order(*three()["O2"], number="O2", **claimed)) == "pick.claimed"
    assert hand.choices() == ["pick.choice_take_over", "pick.choice_leave_out"]
    hand.feed(Choice(1))
    assert hand.feed(order(*three()["O2"], number="O2", **claimed)) == "pick.join"
    assert "2 orders: " in hand.told
    hand = Hand(orders=orders, lines_known=False)
    hand.feed(order(*three()["O1"], number="O1"))
    hand.feed(order(*three()["O2"], number="O2", **claimed))
    assert hand.feed(Choice(2)) == "pair"
    assert hand.view.name == "pick.product"


def test_one_claimed_order_is_asked_about_and_back_leaves_it() -> None:
    hand = Hand()
    assert hand.feed(order(line(1, "P1", 1), is_claimed=True, claimed_by="bob")) == "pick.claimed"
    assert hand.verdict is not None
    assert hand.verdict.kind == ASK
    hand.feed(Back())
    assert isinstance(hand.effects[-1], Close)
    hand = Hand()
    assert hand.feed(order(line(1, "P1", 1), is_claimed=True, claimed_by="ann")) == "pick.opened"


def test_a_second_order_can_be_taken_into_the_walk() -> None:
    hand = Hand(line(1, "P1", 2, preferred_location_code="A-1"))
    assert hand.scan("O2", kind=ORDER) == "pick.other_order"
    assert hand.choices() == ["pick.choice_leave_for", "pick.choice_add_order"]
    hand.feed(Choice(2))
    assert any(_asks_order(effect) and effect.args["order_number"] == "O2" for effect in hand.effects)
    assert hand.feed(order(*three()["O2"], number="O2")) == "pick.joined"
    assert hand.told == "Tote B, O2: 2 lines more"
    assert hand.scan("P1", "6") == "pick.tote_full"
    assert totes(hand) == {"A": 2, "B": 4}
    assert hand.scan("1042", kind=ORDER) == "batch.already_in_batch"


def test_a_full_round_takes_no_more() -> None:
    orders = {f"O{n}": [line(1, "P1", 1)] for n in range(MAX_ORDERS + 3)}
    hand = Hand(orders=orders)
    assert len(hand.state.totes) == MAX_ORDERS
    assert hand.state.totes[-1].letter == "T"
    assert hand.scan("77", kind=ORDER) == "pick.not_in_batch"
    assert not hand.choices()
    assert hand.scan("P1", "20") == "pick.batch_all_picked"


def test_lines_that_change_elsewhere_are_taken_over_and_the_walk_goes_on() -> None:
    hand = Hand(orders=three())
    hand.scan("P1", "8")
    changed = [*three()["O1"], line(3, "P9", 2, preferred_location_code="A-0")]
    changed[0] = {**changed[0], "picked_quantity": 3}
    assert hand.feed(order(*changed, number="O1")) == "pick.changed"
    assert hand.state.current_line is not None
    assert (hand.state.current_line.product, hand.state.lines[0].product) == ("P2", "P9")
    hand.feed(Changed("order", "O1"))
    assert [effect.args["order_number"] for effect in hand.effects if _asks_order(effect)][-1] == "O1"
    before = len(hand.effects)
    hand.feed(Changed("order", "O77"))
    assert len(hand.effects) == before


def test_one_barcode_of_two_products_means_the_one_that_is_ordered() -> None:
    def both(*keys: str, quantity: str = "1") -> Scan:
        meanings = (Match(PRODUCT, key, f"Product {key}", Decimal(quantity), quantity != "1", "999") for key in keys)
        return Scan(tuple(meanings))

    hand = Hand(orders=three())
    assert hand.feed(both("X9", "P1")) == "pick.picked_for_tote"
    hand.feed(Command("n"))
    hand.feed(both("P4", "P1"))
    hand = Hand(line(1, "P0", 1), line(2, "P1", 3), line(3, "P2", 3))
    assert hand.feed(both("P1", "P2", quantity="2")) == "pick.which_product"
    assert [dict(choice.args)["key"] for choice in hand.view.choices] == ["Product P1", "Product P2"]
    assert hand.feed(Choice(2)) == "pick.picked"
    assert hand.sent == {3: 2}
    hand = Hand(line(1, "P0", 1), line(2, "P1", 3), line(3, "P2", 3))
    hand.feed(Scan(tuple(Match(PRODUCT, key, "Same", Decimal(1), False, "999") for key in ("P1", "P2"))))
    assert [dict(choice.args)["key"] for choice in hand.view.choices] == ["Same P1", "Same P2"]


def test_kinds_of_verdicts_of_a_round() -> None:
    hand = Hand(orders=three())
    hand.scan("O2", kind=ORDER)
    assert hand.verdict is not None
    assert hand.verdict.kind == INFO
    hand.scan("P77")
    assert hand.verdict.kind == WRONG
    assert hand.verdict.text.id == "pick.not_in_batch"
    hand.feed(Rows("order/O9", (), 0))
    assert len(hand.state.totes) == 3


def test_goods_go_back_to_their_own_source_location() -> None:
    hand = Hand(line(1, "P1", 3, preferred_location_code="A-1", stock_pool=2))
    hand.scan("P1")
    hand.feed(Command("s"))
    hand.feed(Closed("shortage", {"kind": "elsewhere", "location": "B-6", "pool": 3}))
    hand.scan("P1")
    assert [(each.location, each.pool, each.quantity) for each in hand.state.lines[0].picked_from] == [
        ("A-1", 2, Decimal(1)),
        ("B-6", 3, Decimal(1)),
    ]
    hand.feed(order(line(1, "P1", 3, preferred_location_code="B-6", picked_quantity=2, stock_pool=3)))
    hand.feed(order(is_rejected=True))
    assert [(back.location, back.quantity) for back in hand.state.to_return] == [
        ("B-6", Decimal(1)),
        ("A-1", Decimal(1)),
    ]
    assert [(stop.location, stop.quantity) for stop in hand.view.upcoming] == [("B-6", Decimal(1)), ("A-1", Decimal(1))]
    assert hand.choices() == ["pick.choice_put_back"]
    hand.feed(Choice(1))
    assert hand.moves() == [("P1", Decimal(1), "", "B-6"), ("P1", Decimal(1), "", "A-1")]
    write = hand.effects[-1]
    assert isinstance(write, Write)
    assert [(each["from_location"], each["to_location"]) for each in write.body] == [
        ({"stock_pool": 3}, {"location_code": "B-6", "stock_pool": 3}),
        ({"stock_pool": 2}, {"location_code": "A-1", "stock_pool": 2}),
    ]


def test_what_is_taken_back_returns_to_where_it_came_from_last() -> None:
    hand = Hand(line(1, "P1", 5, preferred_location_code="A-1"))
    hand.scan("P1", "2")
    hand.feed(Command("s"))
    hand.feed(Closed("shortage", {"kind": "elsewhere", "location": "B-6"}))
    hand.scan("P1", "2")
    hand.feed(Quantity(Decimal(3)))
    hand.feed(order(is_rejected=True))
    assert [(back.location, back.quantity) for back in hand.state.to_return] == [
        ("B-6", Decimal(1)),
        ("A-1", Decimal(2)),
    ]


def test_who_is_asked_about_a_claim_is_not_told_to_wait() -> None:
    hand = Hand()
    assert hand.feed(order(line(1, "P1", 1), is_claimed=True, claimed_by="bob")) == "pick.claimed"
    assert [each.text.id for each in hand.view.lines] == ["pick.answer_first"]
    assert hand.scan("P1") == "pick.answer_first"
    assert hand.choices() == ["pick.choice_take_over"]


def test_take_over_question_ends_when_order_is_put_down() -> None:
    hand = Hand(line(1, "P1", 1))
    hand.feed(order(line(1, "P1", 1), is_claimed=True, claimed_by="bob", claimed_on="2099-01-01T00:00:00Z"))
    hand.scan("P1")
    assert "w" in hand.job.accepts(hand.state).command_letters
    assert hand.scan("PU-1", kind=LOCATION) == "pick.put_down"
    assert (hand.choices(), "w" in hand.job.accepts(hand.state).command_letters) == (
        ["order_actions.hand_over"],
        False,
    )


def test_actions_before_order_left_are_not_undone_after_return() -> None:
    orders = {"O1": [line(1, "P1", 3)], "O2": [line(1, "P2", 3)]}
    hand = Hand(orders=orders)
    hand.scan("P1")
    hand.scan("P1")
    hand.feed(order(line(1, "P1", 3, picked_quantity=2), number="O1", is_rejected=True))
    assert hand.feed(Choice(1)) == "pick.choice_put_back"
    hand.scan("O1", kind=ORDER)
    hand.feed(Choice(1))
    assert hand.feed(order(line(1, "P1", 3), number="O1")) == "pick.joined"
    before = len(hand.updates)
    while hand.feed(Command("u")) != "pick.nothing_to_undo":
        assert len(hand.updates) == before
    assert not any(each.picked for each in hand.state.lines)
