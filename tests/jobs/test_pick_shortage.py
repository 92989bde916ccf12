"""Picking where there is too little: what is asked, and what becomes of the stop when it is answered."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from aisle import named_tuple_json
from aisle.jobs.job import Close, Closed, LocalNote, Start, Write
from aisle.jobs.pick.pick_state import PickState
from aisle.jobs.store_time import to_utc_text
from aisle.jobs.view import INFO
from aisle.scan.grammar_and_meaning_types import LOCATION, Back, Choice, Command, Quantity, UnknownCode
from aisle.tui.message_text import MessageWriter
from tests.jobs.pick_runner import CONTEXT, Hand, line, order, picked
from tests.jobs.test_pick_batch import three, totes


def test_s_asks_about_the_stop_with_all_that_a_shortage_needs() -> None:
    hand = Hand(orders=three())
    hand.scan("P1", "4")
    assert "s" in hand.job.accepts(hand.state).command_letters
    hand.feed(Command("s"))
    start = hand.effects[-1]
    assert isinstance(start, Start)
    assert start.job == "shortage"
    assert start.args["orders"] == [
        {"order_number": "O2", "line_number": 1, "tote": "B", "rest": Decimal(3)},
        {"order_number": "O3", "line_number": 2, "tote": "C", "rest": Decimal(1)},
    ]
    kept = {"product_number", "location", "ordered", "rest", "decimal"}
    assert {name: start.args[name] for name in kept} == {
        "product_number": "P1",
        "location": "A-1",
        "ordered": 8,
        "rest": 4,
        "decimal": False,
    }


def test_the_rest_taken_elsewhere_is_walked_to_in_its_order() -> None:
    hand = Hand(orders=three())
    hand.scan("P1", "4")
    answer = {"kind": "elsewhere", "location": "A-5", "pool": 2}
    assert hand.feed(Closed("shortage", answer)) == "pick.comes_later"
    assert hand.told == "The rest of Product P1 is at A-5, later on your way"
    assert hand.state.current_line is not None
    assert hand.state.current_line.product == "P2"
    open_ = [(line.location, line.product) for line in hand.state.lines if line.is_open]
    assert open_ == [("A-2", "P2"), ("A-2", "P3"), ("A-5", "P1"), ("A-5", "P1"), ("A-9", "P4")]
    assert hand.scan("P1", "4") == "pick.which_location"
    hand.feed(Choice(1))
    lines = [each for body in hand.updates[-2:] for each in body["order_lines"]]
    assert {(each["preferred_location_code"], each["stock_pool"]) for each in lines} == {("A-5", 2)}
    assert totes(hand) == {"A": 3, "B": 4, "C": 1}


def test_back_from_the_offer_to_count_does_not_deny_what_was_booked() -> None:
    hand = Hand(orders=three())
    hand.scan("P1", "4")
    hand.feed(Closed("shortage", {"kind": "short", "code": "2", "text": "Not found", "empty": True}))
    booked = len(hand.updates)
    assert hand.feed(Back()) == "pick.not_counted"
    assert (hand.told, len(hand.updates)) == ("It stays short; nothing was counted", booked)


def test_closed_short_is_written_for_each_order_and_undo_opens_it_again() -> None:
    hand = Hand(orders=three())
    hand.scan("P1", "4")
    answer = {"kind": "short", "code": "2", "text": "Not found", "empty": True}
    assert hand.feed(Closed("shortage", answer)) == "pick.short"
    assert hand.told == "Short, 4 of 8 picked · Product P1"
    bodies = hand.updates[-2:]
    lines = [each for body in bodies for each in body["order_lines"]]
    assert [(each["picked_quantity"], each["is_picked"]) for each in lines] == [(1, True), (0, True)]
    assert {each["rejection_reason_code_description"] for each in lines} == {"Not found"}
    assert hand.choices() == ["move.choice_count"]
    hand.feed(Choice(1))
    args = {"location_code": "A-1", "product_number": "P1", "label": "Product P1"}
    assert hand.effects[-1] == Start("count", args)
    assert hand.scan("P1") == "pick.short"
    assert hand.feed(Back()) == "session.dropped"
    assert hand.feed(Command("u")) == "pair"
    assert [each["is_picked"] for body in hand.updates[-2:] for each in body["order_lines"]] == [False, False]
    assert hand.scan("P1") == "pick.picked_for_tote"


@pytest.mark.parametrize("booked", ["2", "-9", "0.5"])
def test_undo_of_a_count_made_from_here_reverses_what_the_service_booked(booked: str) -> None:
    hand = Hand(line(1, "P1", 3))
    said = "2026-11-20T09:00:00Z"
    hand.feed(Closed("count", {"what": "A-1", "changes": [["P1", "A-1", 0, Decimal(-7), said]]}))
    row = {"product_number": "P1", "location_code": "A-1", "said": to_utc_text(said), "pool": 1}
    booked_row = {**row, "counted_quantity": Decimal(1), "difference": Decimal(booked), "unused_before": None}
    booked_row |= {"keeps_date": False, "absorbed": Decimal(0)}
    hand.booked = ({**booked_row, "outcome": "confirmed", "later_count": None, "is_not_used": False},)
    assert hand.feed(Command("u")) == "count.sent_undone"
    (write,) = [each for each in hand.effects if isinstance(each, Write) and "storeproductlog" in each.body]
    assert write.body["storeproductlog"][0]["quantity"] == -Decimal(booked)


def test_a_count_made_from_here_is_undone_before_the_shortage() -> None:
    hand = Hand(line(1, "P1", 3), line(2, "P2", 1))
    hand.feed(Closed("shortage", {"kind": "short", "code": "2", "text": "Not found", "empty": True}))
    change = ["P1", "A-1", 1, Decimal(-7), "2026-11-20T09:00:00Z"]
    hand.feed(Closed("count", {"what": "A-1", "changes": [change]}))
    assert named_tuple_json.from_text(PickState, named_tuple_json.to_text(hand.state)) == hand.state
    assert hand.feed(Command("u")) == "count.sent_undone"
    write = hand.effects[-1]
    assert isinstance(write, Write)
    (entry,) = write.body["storeproductlog"]
    assert (entry["product_number"], entry["location_code"], entry["stock_pool_1"]) == ("P1", "A-1", 7)
    assert entry["reference"] == "undo-2026-11-20T09:00:00Z"
    assert hand.feed(Command("u")) == "pick.reopened"
    hand.feed(Closed("count", {"what": "A-1", "changes": []}))
    assert hand.feed(Command("u")) == "count.nothing_sent_to_undo"
    hand.feed(Closed("count", None))
    assert hand.feed(Command("u")) == "pick.nothing_to_undo"


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [([], "count.cannot_undo"), ([["P1", "A-1", 1, Decimal(-7), "2026-11-20T09:00:00Z"]], "count.sent_undone_partly")],
)
def test_undo_of_count_made_from_here_names_goods_without_known_stock(changes: list[Any], verdict: str) -> None:
    hand = Hand(line(1, "P1", 3))
    hand.feed(Closed("count", {"what": "A-1", "changes": changes, "unknown_count": 1}))
    assert hand.feed(Command("u")) == verdict


def test_a_number_after_a_count_made_from_here_is_no_quantity_of_the_pick() -> None:
    hand = Hand(line(1, "P1", 3))
    hand.scan("P1")
    hand.feed(Closed("count", {"what": "A-1", "changes": []}))
    assert not hand.job.accepts(hand.state).quantity


def test_what_was_closed_short_can_be_picked_after_all() -> None:
    hand = Hand(line(1, "P1", 3), line(2, "P2", 1))
    hand.feed(Closed("shortage", {"kind": "short", "code": "2", "text": "Not found", "empty": False}))
    assert hand.scan("P1") == "pick.short"
    assert hand.feed(Choice(1)) == "pick.picked"
    assert hand.sent == {1: 1}
    assert hand.updates[-1]["order_lines"][0]["is_picked"] is False
    assert hand.scan("P1", "2") == "pick.picked"
    assert hand.sent == {1: 3}


def test_scan_for_line_closed_short_reopens_and_picks_in_one_step() -> None:
    hand = Hand(line(1, "P1", 3), line(2, "P2", 1))
    hand.feed(Closed("shortage", {"kind": "short", "code": "2", "text": "Not found", "empty": False}))
    before, many = hand.state.lines, len(hand.updates)
    assert hand.scan("P1", "2") == "pick.short"
    assert hand.feed(Choice(1)) == "pick.picked"
    assert picked(hand) == {1: 2, 2: 0}
    assert len(hand.updates) == many + 1
    assert hand.feed(Command("u")) == "pick.short"
    assert hand.told == "Short, 0 of 3 picked · Product P1"
    assert (hand.state.lines, hand.updates[-1]["order_lines"][0]["is_picked"]) == (before, True)
    assert hand.feed(Command("u")) == "pick.reopened"


def test_excess_on_line_closed_short_is_asked_about() -> None:
    hand = Hand(line(1, "P1", 3), line(2, "P2", 1))
    hand.feed(Closed("shortage", {"kind": "short", "code": "2", "text": "Not found", "empty": False}))
    hand.scan("P1", "4")
    assert hand.feed(Choice(1)) == "pick.more_than_ordered"
    assert hand.updates[-1]["order_lines"][0]["is_picked"] is False
    assert hand.feed(Choice(1)) == "pick.picked"
    assert picked(hand) == {1: 3, 2: 0}
    assert hand.feed(Command("u")) == "pick.undone"
    assert hand.feed(Command("u")) == "pick.short"


def test_what_is_short_is_not_called_all_picked() -> None:
    hand = Hand(line(1, "P1", 3), line(2, "P2", 1))
    hand.feed(Closed("shortage", {"kind": "short", "code": "2", "text": "Not found", "empty": False}))
    assert hand.scan("P2") == "pick.picked_with_shortage"
    assert hand.told == "Order 1042: done, 1 line short"
    note = next(each.text for each in hand.view.lines if each.role == "note")
    assert MessageWriter().write(note) == "1 of 2 lines complete, 1 of 4 picked."


def test_a_number_after_all_is_put_down_is_no_place_of_theirs() -> None:
    hand = Hand(line(1, "P1", 1))
    hand.scan("P1")
    assert hand.feed(UnknownCode("7")) == "pick.no_quantity_put_down"
    hand.scan("PU-1", kind=LOCATION)
    assert hand.feed(UnknownCode("7")) == "pick.no_quantity_order"


def test_the_stop_that_is_next_at_the_other_place_is_gone_to_at_once() -> None:
    hand = Hand(line(1, "P1", 3, preferred_location_code="A-1"))
    answer = {"kind": "elsewhere", "location": "A-5", "pool": 2}
    assert hand.feed(Closed("shortage", answer)) == "pick.elsewhere"


def test_the_last_line_closed_short_makes_the_order_picked() -> None:
    hand = Hand(line(1, "P1", 3))
    hand.feed(Closed("shortage", {"kind": "short", "code": "2", "text": "Not found", "empty": False}))
    assert hand.view.name == "pick.done"
    assert hand.updates[-1]["is_picked"] is True
    hand.feed(Command("u"))
    assert hand.view.name == "pick.product"
    assert hand.updates[-1]["is_picked"] is False


SHORT = Closed("shortage", {"kind": "short", "code": "2", "text": "Not found", "empty": False})


def all_short(hand: Hand) -> None:
    """Whatever is to be taken is not there."""
    for _ in hand.state.lines:
        if hand.view.name != "pick.done":
            hand.feed(SHORT)
    assert hand.view.name == "pick.done"


def test_nothing_picked_leaves_no_goods_and_no_picked_order() -> None:
    lines = [line(number, f"P{number}", 2, preferred_location_code=f"A-{number}") for number in (1, 2, 3)]
    one = Hand(*lines)
    many = Hand(orders={"O1": lines, "O2": [line(1, "P9", 1)]})
    for hand, count in ((one, 3), (many, 4)):
        all_short(hand)
        assert [each.text.id for each in hand.view.lines] == ["pick.nothing_picked"]
        said = f"Nothing was picked: {count} lines are short"
        assert MessageWriter().write(hand.view.lines[0].text) == said
        assert hand.feed(UnknownCode("7")) == "pick.no_quantity_order"
        assert hand.told == "7 is not an order. Scan the next order."
        hand.feed(Back())
        (close,) = (effect for effect in hand.effects if isinstance(effect, Close))
        assert close.verdict
        assert close.verdict.kind == INFO
        assert MessageWriter().write(close.verdict.text) == said


def test_unpicked_order_says_so_when_reopened() -> None:
    hand = Hand(line(1, "P1", 3, is_picked=True))
    assert hand.verdict is not None
    assert (hand.verdict.kind, hand.verdict.text.id) == (INFO, "pick.nothing_picked")
    assert MessageWriter().write(hand.verdict.text) == "Nothing was picked: 1 line is short"


def test_where_anything_was_picked_it_is_to_be_put_down() -> None:
    hand = Hand(line(1, "P1", 1), line(2, "P2", 1))
    hand.scan("P1")
    hand.feed(SHORT)
    assert [each.text.id for each in hand.view.lines] == ["pick.note_done_short", "pick.note_put_down"]


def test_a_rejected_order_leaves_and_is_told_to_the_service() -> None:
    hand = Hand(orders=three())
    hand.scan("P1", "4")
    answer = {"kind": "reject", "code": "9", "text": "Customer called", "order_number": "O2"}
    assert hand.feed(Closed("shortage", answer)) == "pick.removed_with_goods"
    assert hand.updates[-1] == {
        "order_number": "O2",
        "is_rejected": True,
        "rejection_reason_code": "9",
        "rejection_reason_code_description": "Customer called",
    }
    assert hand.view.name == "pick.return"
    hand.feed(Choice(1))
    assert [tote.order for tote in hand.state.totes] == ["O1", "O3"]


def test_a_shortage_that_was_left_changes_nothing() -> None:
    hand = Hand(orders=three())
    before = hand.state
    assert hand.feed(Closed("shortage", None)) == ""
    assert hand.state == before


def test_undo_after_another_place_takes_that_back_and_no_pick() -> None:
    hand = Hand(
        line(1, "P1", 1, preferred_location_code="A-1", store_walking_order=1),
        line(2, "P2", 3, preferred_location_code="A-2", store_walking_order=2),
        line(3, "P3", 1, preferred_location_code="A-3", store_walking_order=3),
    )
    hand.scan("P1")
    hand.scan("P2")
    before = hand.state.lines
    answer = {"kind": "elsewhere", "location": "A-9", "pool": 2}
    assert hand.feed(Closed("shortage", answer)) == "pick.comes_later"
    updates = hand.updates
    assert hand.feed(Command("u")) == "pick.move_stop_undone"
    assert (hand.state.lines, hand.updates) == (before, updates)
    assert hand.state.current_line is not None
    assert (hand.state.current_line.product, hand.state.current_line.location) == ("P2", "A-2")
    assert hand.feed(Command("u")) == "pick.undone"
    assert hand.sent == {1: 1, 2: 0}


def test_undo_after_location_change_returns_to_previous_location() -> None:
    hand = Hand(line(1, "P1", 3, preferred_location_code="A-1"))
    hand.scan("P1")
    hand.scan("A-7", kind=LOCATION)
    assert hand.feed(Choice(1)) == "pick.location_changed"
    assert hand.feed(Command("u")) == "pick.move_stop_undone"
    assert hand.state.current_line is not None
    assert (hand.state.current_line.location, hand.state.current_line.picked) == ("A-1", Decimal(1))


def test_what_was_taken_at_the_other_place_is_undone_before_that() -> None:
    hand = Hand(line(1, "P1", 3, preferred_location_code="A-1"))
    hand.feed(Closed("shortage", {"kind": "elsewhere", "location": "A-5", "pool": 2}))
    hand.scan("P1")
    assert hand.feed(Command("u")) == "pick.undone"
    assert hand.feed(Command("u")) == "pick.move_stop_undone"
    assert hand.feed(Command("u")) == "pick.nothing_to_undo"
    hand.feed(Closed("shortage", {"kind": "elsewhere", "location": "A-5", "pool": 2}))
    hand.feed(order(line(1, "P1", 3, picked_quantity=3, preferred_location_code="A-1")))
    assert hand.feed(Command("u")) == "pick.nothing_to_undo", "others have taken the rest"


def test_a_stop_that_is_taken_elsewhere_is_so_when_its_picker_comes_back() -> None:
    lines = [line(n, f"P{n}", 2, preferred_location_code=f"A-{n}") for n in (1, 2, 3)]
    hand = Hand(*lines)
    hand.feed(Closed("shortage", {"kind": "elsewhere", "location": "B-9", "pool": 0}))
    hand.feed(Back())
    mark = next(each for each in hand.effects if isinstance(each, LocalNote))
    assert (mark.topic, mark.key) == ("redirected", "1042")
    again = Hand(*lines, redirected=mark.text)
    assert [(each.product, each.location) for each in again.state.lines] == [
        ("P2", "A-2"),
        ("P3", "A-3"),
        ("P1", "B-9"),
    ]
    assert LocalNote("redirected", "1042", "") in again.effects
    assert again.feed(Command("u")) == "pick.move_stop_undone"
    assert [each.location for each in again.state.lines] == ["A-1", "A-2", "A-3"]
    again.feed(Back())
    assert [each.text for each in again.effects if isinstance(each, LocalNote)] == [""]
    other = Hand()
    other.context = CONTEXT._replace(user="ben")
    other.feed(order(*lines, redirected=mark.text))
    assert (
        [each.location for each in other.state.lines],
        [each for each in other.effects if isinstance(each, LocalNote)],
    ) == (
        ["A-1", "A-2", "A-3"],
        [],
    )


def test_the_word_on_a_shortage_counts_what_others_picked_meanwhile() -> None:
    hand = Hand(line(1, "P1", 5))
    hand.scan("P1", "2")
    hand.feed(Closed("shortage", {"kind": "short", "code": "2", "text": "Not found", "empty": False, "rest": "1"}))
    assert "4 of 5" in hand.told


def test_a_lower_total_says_what_it_was() -> None:
    hand = Hand(line(1, "P1", 12))
    hand.scan("P1", "7")
    assert hand.feed(Quantity(Decimal(1))) == "pick.total_lowered"
    assert "1 of 12, was 7" in hand.told
    assert hand.feed(Quantity(Decimal(9))) == "pick.picked"
