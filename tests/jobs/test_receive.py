"""The receive job by itself: no terminal, no file, no network."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from aisle.jobs.job import Changed, Close, Closed, Policy, Refresh, Resumed, Rows, Start, Write
from aisle.jobs.names_in_messages import measured
from aisle.jobs.receive.job import ReceiveJob
from aisle.jobs.receive.receive_state_and_differences import DeliveryLine, GoodsInHand, ReceiveState
from aisle.jobs.receive.view import line_progress
from aisle.jobs.store_time import day_in_store
from aisle.jobs.supervisor.order_page import OrderPage, OrderState
from aisle.jobs.supervisor.order_rows import BoardOrder
from aisle.jobs.view import ASK, WRONG, Msg, Step, msg
from aisle.scan.grammar_and_meaning_types import (
    PERSON,
    Back,
    Choice,
    CursorKey,
    Match,
    Quantity,
    Scan,
    Text,
    TypedText,
    UnknownCode,
)
from aisle.tui.message_text import MessageWriter
from tests.jobs.receive_runner import CONTEXT, Hand, Store
from tests.samples.supervisor import line_row


def test_each_received_product_is_booked_at_next_scan() -> None:
    hand = Hand()
    assert hand.view.name == "receive.delivery"
    assert [row.key for row in hand.view.rows] == ["D-1", "D-2", "D-3"]
    assert hand.say("D-1") == "receive.opened"
    assert hand.say("P2") == "pick.picked"
    assert not hand.sent
    assert hand.say("P1", "=10") == "pick.picked"
    assert hand.entries() == [("P2", 2, 1, "DOCK")]
    assert hand.scan("P3", "0.5") == "pick.picked"
    assert hand.entries() == [("P1", 1, 6, "DOCK"), ("P1", 3, 4, "DOCK")]
    write = hand.sent[-1]
    assert write.lanes == ("delivery/D-1", "product/P1")
    assert write.query == {"appUserName": "ann", "is_counted_quantity": False, "is_from_receipt": True}
    assert {row["reference"] for row in write.body["storeproductlog"]} == {"D-1"}
    assert hand.scan("P1") == "receive.all_received"


def test_all_as_announced_closes_at_once_and_the_list_is_there_again() -> None:
    hand = Hand()
    hand.say("D-2", "P5", "=12", "P2", "=3")
    assert hand.say("d") == "receive.closed"
    assert hand.view.name == "receive.delivery"
    assert [row.key for row in hand.view.rows] == ["D-1", "D-3"]
    assert hand.store.received("D-2", "P2") == 3


def test_goods_are_put_away_at_once_by_a_scan_of_the_place() -> None:
    hand = Hand()
    hand.say("D-1", "P1", "P1")
    assert "DOCK" in str(hand.view.lines[0])
    assert hand.say("A-1") == "receive.put"
    assert hand.entries() == [("P1", 1, 2, "A-1")]
    assert hand.state.in_hand is None
    assert hand.say("A-2") == "receive.location_set"
    hand.say("P2", "P1")
    assert hand.entries() == [("P2", 2, 1, "A-2")]


def test_lines_of_the_container_that_is_unpacked_come_first() -> None:
    hand = Hand()
    assert hand.say("C-2") == "receive.container"
    assert [stop.location for stop in hand.view.upcoming][:2] == ["C-2", "C-2"]
    hand.say("P1", "=5", "A-1")
    assert hand.entries() == [("P1", 3, 4, "A-1"), ("P1", 1, 1, "A-1")]
    assert hand.say("C-1") == "receive.container"
    assert hand.say("D-1") == "receive.this_one"


def test_shared_container_and_product_before_delivery_ask_which_delivery() -> None:
    hand = Hand()
    assert hand.say("C-3") == "receive.which"
    assert hand.say("2") == "receive.container"
    assert hand.state.delivery_number == "D-3"
    hand = Hand()
    assert hand.say("P5") == "receive.which"
    assert hand.say("1") == "pick.picked"
    assert hand.state.delivery_number == "D-2"
    hand = Hand()
    assert hand.say("P3") == "pick.picked"
    assert hand.state.delivery_number == "D-1"
    assert Hand().say("P9") == "receive.no_delivery_expects"
    assert Hand().say("A-1") == "receive.delivery_first"


def test_excess_over_announced_is_asked_and_goes_to_last_line() -> None:
    hand = Hand()
    hand.say("D-1", "P1")
    assert hand.say("=12") == "receive.more_than_announced"
    assert [choice.id for choice in hand.view.choices] == [
        "goods.only",
        "goods.all_anyway",
        "receive.choice_set_aside",
    ]
    assert hand.job.accepts(hand.state).quantity
    hand.say("r")
    assert hand.state.in_hand is not None
    assert hand.state.in_hand.quantity == 10
    assert hand.scan("P1") == "receive.more_than_announced"
    assert [choice.id for choice in hand.view.choices] == ["goods.all_anyway", "receive.choice_set_aside"]
    hand.say("y")
    assert hand.scan("P1") == "pick.picked"
    hand.say("A-1")
    assert hand.entries() == [("P1", 1, 6, "A-1"), ("P1", 3, 6, "A-1")]
    assert hand.say("P2", "P2") == "receive.more_than_announced"
    hand.feed(Quantity(Decimal(1)))
    assert hand.state.in_hand is not None
    assert (hand.state.in_hand.product, hand.state.in_hand.quantity) == ("P2", Decimal(1))


@pytest.mark.parametrize("location", ["", "A-1", "A-2"])
def test_the_heading_is_where_goods_are_booked_beside_their_usual_location(location: str) -> None:
    hand = Hand(context=CONTEXT._replace(policy=Policy(receiving_location="")))
    hand.say("D-1", *filter(None, [location]), "P1")
    texts = [line.text for line in hand.view.lines]
    heading = msg("move.to", place=location) if location else msg("receive.no_location")
    assert texts[0] == heading
    assert (msg("receive.suggested_location", place="A-2") in texts) == (location != "A-2")
    hand.say("P2")
    assert hand.sent[-1].body["storeproductlog"][0].get("location_code", "") == location


@pytest.mark.parametrize(("location", "is_told"), [("A-1", True), ("A-2", False)])
def test_goods_put_where_they_never_lay_are_received_and_their_usual_location_is_said(
    location: str, is_told: bool
) -> None:
    hand = Hand()
    hand.say("D-1", "P1", location)
    said = hand.verdicts[-1]
    assert said.text.id.startswith("receive.put")
    assert said.detail == (msg("receive.suggested_location", place="A-2") if is_told else None)


def test_undo_takes_back_the_scan_that_is_asked_about() -> None:
    for goods in ("P9", "P2"):
        hand = Hand()
        hand.say("D-1")
        hand.scan(goods, "11")
        assert hand.say("u") == "receive.dropped"
        assert (hand.state.choices, hand.state.pending_scan, hand.state.in_hand) == ((), None, None)


@pytest.mark.parametrize("letter", ["d", "l"])
def test_goods_that_are_asked_about_are_not_dropped_by_a_letter(letter: str) -> None:
    for goods in ("P9", "P2"):
        hand = Hand()
        hand.say("D-1", goods)
        hand.scan(goods, "11")
        ways, pending = hand.state.choices, hand.state.pending_scan
        assert pending
        assert hand.say(letter) == "receive.answer_first"
        assert dict(hand.verdicts[-1].text.args)["quantity"] == 12
        assert (hand.state.choices, hand.state.pending_scan, hand.state.phase) == (ways, pending, "goods")
        assert hand.verdicts[-1].kind == WRONG


@pytest.mark.parametrize("goods", ["P9", "P2"])
def test_back_names_questioned_goods_before_dropping_them(goods: str) -> None:
    hand = Hand()
    hand.say("D-1")
    hand.scan(goods, "12")
    ways = hand.state.choices
    shown = {line.role: dict(line.text.args) for line in hand.view.lines}
    assert shown["quantity"] == {"quantity": Decimal(12)}
    assert goods in str(shown["product"]["text"])
    assert (hand.feed(Back()), hand.verdicts[-1].kind) == ("receive.drop", ASK)
    hand.feed(TypedText("b"))
    hand.feed(Changed("delivery", "D-1"))
    assert hand.state.choices == ways
    assert (hand.feed(Back()), hand.state.choices, hand.state.in_hand) == ("receive.dropped", (), None)
    assert dict(hand.verdicts[-1].text.args)["quantity"] == 12
    hand.scan(goods, "12")
    assert [hand.feed(Back()), hand.scan("P1")] == ["receive.drop", "receive.answer_first"]
    assert hand.feed(Back()) == "receive.drop"


def test_what_was_in_hand_before_a_question_is_still_there_after_it() -> None:
    hand = Hand()
    hand.say("D-1", "P2", "P2")
    hand.feed(Back())
    assert hand.feed(Back()) == "receive.dropped_more"
    assert hand.state.in_hand is not None
    assert (hand.state.in_hand.product, hand.state.in_hand.quantity) == ("P2", Decimal(1))


def shown_quantity(hand: Hand) -> Msg:
    shown: Msg = next(line.text for line in hand.view.lines if line.role == "quantity")
    return shown


def test_nobody_believes_a_product_number_that_was_typed_as_a_quantity() -> None:
    hand = Hand()
    hand.say("D-1")
    hand.say("P9")
    hand.say("y")
    assert hand.say("=999999") == "count.confirm_quantity"
    assert hand.state.in_hand is not None
    assert hand.state.in_hand.quantity == 1
    assert hand.say("A-1") == "receive.answer_first"
    assert hand.say("n") == "receive.dropped_more"
    assert hand.state.in_hand.quantity == 1
    assert hand.say("=999999") == "count.confirm_quantity"
    assert hand.say("y") == "receive.taken_extra"
    assert hand.state.in_hand.quantity == 999999
    hand.say("A-1")
    assert hand.entries() == [("P9", 0, 999999, "A-1")]


def test_unannounced_product_is_received_set_aside_or_moved_to_its_delivery() -> None:
    hand = Hand()
    hand.say("D-1")
    assert hand.say("P9") == "receive.not_announced"
    assert hand.say("n") == "receive.set_aside_quantity"
    hand.say("P9")
    assert hand.say("y") == "receive.taken_extra"
    assert shown_quantity(hand) == msg("receive.quantity_extra", quantity=Decimal(1))
    hand.say("A-1")
    assert hand.entries() == [("P9", 0, 1, "A-1")]
    assert hand.scan("P9", "2") == "receive.taken_extra_more"
    assert shown_quantity(hand) == msg("receive.quantity_extra_with", quantity=Decimal(2), all=Decimal(3))
    hand.feed(Changed("delivery", "D-1"))
    hand.say("A-1")
    assert hand.store.received("D-1", "P9") == 3
    assert hand.say("P5") == "receive.other_delivery_expects"
    assert hand.say("g") == "pick.picked"
    assert (hand.state.delivery_number, hand.state.in_hand and hand.state.in_hand.product) == ("D-2", "P5")


def test_another_delivery_is_asked_about_and_what_is_in_hand_is_booked() -> None:
    hand = Hand()
    hand.say("D-1", "P2")
    assert hand.say("D-2") == "receive.other_delivery"
    assert hand.say("k") == "home.partly_received"
    hand.say("C-3", "g")
    assert hand.entries() == [("P2", 2, 1, "DOCK")]
    assert hand.state.delivery_number == "D-2"


NOWHERE = CONTEXT._replace(policy=CONTEXT.policy._replace(receiving_location=""))


@pytest.mark.parametrize(
    ("words", "detail", "keys"),
    [
        (("P2",), "receive.put_nowhere_undo", "u u"),
        (("P2", "P2", "o"), "", ""),
        (("P3",), "receive.put_nowhere_undo", "u u"),
        (("P9", "y"), "receive.put_nowhere_undo", "u u"),
        (("P4", "=2"), "", ""),
        (("l", "2"), "receive.put_nowhere_undo", "u"),
        (("D-2", "g"), "receive.put_nowhere", ""),
        (("C-3", "g"), "receive.put_nowhere", ""),
        (("P5", "g"), "receive.put_nowhere", ""),
        (("b", "1"), "receive.put_nowhere", ""),
        (("d", "1"), "receive.put_nowhere", ""),
        (("A-2",), "", ""),
        (("A-1", "u"), "", ""),
        (("P1",), "", ""),
        (("C-2",), "", ""),
    ],
)
@pytest.mark.parametrize("place", ["", "DOCK"])
def test_goods_booked_by_another_scan_are_said(place: str, words: tuple[str, ...], detail: str, keys: str) -> None:
    hand = Hand(context=CONTEXT if place else NOWHERE)
    hand.say("D-1", "P1", "=2")
    for word in words:
        hand.feed(Back() if word == "b" else Choice(1)) if word in ("b", "1") else hand.say(word)
    said = hand.verdicts[-1].detail
    if not detail:
        assert said is None
        return
    assert said
    assert said.id == ("receive.put" if place else detail)
    assert dict(said.args) == {
        "quantity": Decimal(2),
        "label": "Product P1",
        **({"place": place} if place else {"keys": keys} if keys else {}),
    }
    if keys and not place:
        hand.say(*keys.split())
        assert hand.verdict == "receive.undone"
        assert hand.state.in_hand
        assert hand.state.in_hand.quantity == 2


def test_differences_are_shown_before_it_is_closed() -> None:
    hand = Hand()
    hand.say("D-1", "P1", "=11", "y", "P2")
    assert hand.say("d") == "receive.differ"
    assert [(row.key, row.cells[2].args) for row in hand.view.rows] == [
        ("P1", (("sign", "+"), ("value", Decimal(1)))),
        ("P3", (("sign", "-"), ("value", Decimal(5)))),
        ("P4", (("sign", "-"), ("value", Decimal(2)))),
    ]
    assert hand.say("k") == "home.partly_received"
    assert hand.say("d", "P3") == "pick.picked"
    assert hand.say("d", "y") == "receive.closed_short"
    assert hand.store.received("D-1", "P3") == 1
    assert hand.view.name == "receive.delivery"


@pytest.mark.parametrize(("quantity", "counts"), [("=10", [4, 3]), ("=4", [4])])
def test_sentence_about_differences_follows_another_handheld(quantity: str, counts: list[int]) -> None:
    hand = Hand()
    hand.say("D-1", "d")
    Hand(hand.store).say("D-1", "P1", quantity, "A-1")
    hand.feed(Changed("delivery", "D-1"))
    told = [each.text for each in hand.verdicts if each.text.id == "receive.differ_short"]
    assert [dict(each.args)["short"] for each in told] == counts
    assert len(hand.view.rows) == counts[-1]


def test_each_step_is_undone_by_its_opposite() -> None:
    hand = Hand()
    hand.say("D-1", "P1", "P1")
    assert hand.say("u") == "pick.undone"
    assert hand.state.in_hand is not None
    assert hand.state.in_hand.quantity == 1
    hand.say("A-1")
    assert hand.say("u") == "receive.undone"
    assert hand.entries() == [("P1", 1, -1, "A-1")]
    assert hand.store.received("D-1", "P1") == 0
    assert hand.say("u") == "pick.undone"
    assert hand.state.in_hand is None
    assert hand.say("u") == "pick.nothing_to_undo"
    hand.say("P1", "=10", "P2")
    hand.say("u", "u")
    assert hand.entries() == [("P1", 1, -6, "DOCK"), ("P1", 3, -4, "DOCK")]
    assert not any(hand.store.booked.values())


def test_undo_of_wrong_put_down_returns_goods_to_hand() -> None:
    hand = Hand()
    hand.say("D-1", "P1", "=5", "A-1")
    assert hand.say("u") == "receive.undone"
    assert hand.state.in_hand is not None
    assert (hand.state.in_hand.product, hand.state.in_hand.quantity) == ("P1", Decimal(5))
    assert hand.say("A-2") == "receive.put"
    assert hand.store.received("D-1", "P1") == 5
    assert [place for *_, place in hand.entries()] == ["A-2"]
    assert hand.say("u") == "receive.undone"
    assert hand.say("u") == "pick.undone"
    assert hand.state.in_hand is None
    assert hand.say("P1") == "pick.picked"


def test_why_not_offers_ways_on() -> None:
    hand = Hand()
    hand.say("D-1")
    assert hand.feed(UnknownCode("99999")) == "count.unknown"
    assert [choice.id for choice in hand.view.choices] == ["receive.choice_find", "receive.choice_set_aside"]
    hand.feed(Choice(1))
    assert hand.effects[-1] == Start("look_up", {"search": "99999"})
    hand.feed(UnknownCode("99999"))
    assert hand.say("n") == "receive.set_aside"
    assert hand.feed(Scan((Match(PERSON, "ben", "Ben"),))) == "page.not_this"
    assert hand.scan("P1", "0.5") == "input.whole_number_only"
    assert hand.verdicts[-1].kind == WRONG
    hand = Hand()
    assert hand.say("D-9") == "receive.received_before"
    assert hand.verdicts[-1].kind == ASK
    assert hand.say("a") == "receive.received_before"
    assert hand.view.name == "receive.delivery"
    assert hand.say("D-9", "y", "P1") == "receive.all_received"


def test_a_delivery_that_is_not_here_is_asked_for_and_opens_when_it_comes() -> None:
    hand = Hand()
    assert hand.feed(UnknownCode("D-77")) == "receive.no_delivery"
    assert Refresh("delivery", "D-77") in hand.effects
    hand.feed(Changed("delivery", "D-77"))
    assert hand.view.name == "receive.delivery"
    hand.store.deliveries["D-77"] = [dict(hand.store.deliveries["D-3"][0])]
    assert hand.feed(Changed("delivery", "D-77")) == "receive.opened"
    assert hand.state.delivery_number == "D-77"


def test_a_line_is_chosen_where_nothing_can_be_scanned() -> None:
    hand = Hand()
    hand.say("D-2", "P2", "l")
    assert hand.view.name == "receive.lines"
    assert hand.say("1") == "goods.how_many"
    assert hand.entries() == [("P2", 20, 1, "DOCK")]
    assert hand.say("=12") == "pick.picked"
    hand.say("A-1")
    assert hand.entries() == [("P5", 10, 12, "A-1")]
    hand.say("l")
    assert hand.feed(Back()) == "home.partly_received"


def test_back_asks_what_becomes_of_what_is_in_hand() -> None:
    for choice, verdict, booked in (
        ("y", "receive.left", 1),
        ("x", "receive.dropped", 0),
        ("k", "home.partly_received", 0),
    ):
        hand = Hand()
        hand.say("D-1", "P1")
        assert hand.feed(Back()) == "receive.leave"
        assert hand.say(choice) == verdict
        assert hand.store.received("D-1", "P1") == booked
        assert hand.view.name == ("receive.goods" if choice == "k" else "receive.delivery")
    hand = Hand()
    hand.say("D-1", "P1")
    hand.feed(Back())
    for other in ("P2", "D-2"):
        assert hand.say(other) == "count.answer_first"
        assert hand.view.name == "receive.leave"
        assert hand.store.received("D-1", "P1") == 0
    assert hand.say("P1") == "pick.picked"
    hand = Hand()
    hand.say("D-1")
    hand.feed(Back())
    assert hand.view.name == "receive.delivery"
    hand.feed(Back())
    assert isinstance(hand.effects[-1], Close)


def test_one_that_was_opened_for_a_delivery_closes_with_it() -> None:
    hand = Hand(deliveries=["D-3"], code="C-3")
    assert hand.state.container == "C-3"
    hand.say("P5", "=3", "d")
    assert isinstance(hand.effects[0], Write)
    assert isinstance(hand.effects[-1], Close)
    hand = Hand(deliveries=["D-2", "D-3"], code="C-3")
    assert hand.say("1") == "receive.container"


def test_words_find_deliveries() -> None:
    hand = Hand()
    hand.feed(TypedText("of d-2"))
    assert [row.key for row in hand.view.rows] == ["D-2"]
    hand.feed(Back())
    assert hand.feed(Text("supplier")) == "list.found"
    assert hand.feed(Text("zzz")) == "count.unknown"
    assert len(hand.view.rows) == 3
    assert hand.feed(Text("of d-2")) == "receive.opened"
    hand = Hand()
    hand.feed(CursorKey("down"))
    hand.feed(CursorKey("enter"))
    assert hand.state.delivery_number == "D-1"


def test_arrow_keys_scroll_the_lines() -> None:
    hand = Hand(context=CONTEXT._replace(window_rows=1))
    hand.say("D-1", "l")
    first_rows = []
    for key in ("down", "down", "up", "home", "end"):
        hand.feed(CursorKey(key))
        first_rows.append(hand.state.first)
    assert first_rows[:4] == [1, 2, 1, 0]
    assert first_rows[4] == hand.view.total - 1


def test_without_a_receiving_place_goods_lie_at_none() -> None:
    hand = Hand(context=CONTEXT._replace(policy=CONTEXT.policy._replace(receiving_location="")))
    hand.say("D-2", "P5", "P2")
    assert "location_code" not in hand.sent[-1].body["storeproductlog"][0]
    assert hand.sent[-1].body["storeproductlog"][0]["pool_location"] == 2


def test_what_the_service_refused_is_told_once_and_cannot_be_undone() -> None:
    hand = Hand()
    hand.say("D-1", "P2", "A-1")
    row = {"op_id": "X", "user": "ann", "why": "No.", "label": "P2", "body": hand.sent[-1].body}
    assert hand.feed(Rows("refused_operations", ({**row, "user": "ben"},), 1)) == "receive.put", "another receiver's"
    assert hand.feed(Rows("refused_operations", (row,), 1)) == "receive.refused"
    assert hand.say("u") == "pick.nothing_to_undo"
    count = len(hand.verdicts)
    hand.feed(Rows("refused_operations", (row,), 1))
    assert len(hand.verdicts) == count


def refuse_undo(hand: Hand) -> str:
    """The service refuses the last operation, and the delivery is read again without it."""
    body = hand.sent[-1].body
    for entry in body["storeproductlog"]:
        line = next(each for each in hand.store.deliveries["D-1"] if each["line_number"] == entry["line_number"])
        line["received"] -= entry["quantity"]
    row = {"op_id": "X", "user": "ann", "why": "Order 4101 is finished.", "label": "P4", "body": body}
    return hand.feed(Rows("refused_operations", (row,), 1)) and hand.feed(Resumed())


@pytest.mark.parametrize("scans", [0, 2])
def test_goods_whose_undo_the_service_refused_are_not_in_hand(scans: int) -> None:
    hand = Hand()
    hand.store.deliveries["D-1"][4]["quantity"] = Decimal(4)
    hand.say("D-1", "P4", "=2", "A-1", "u", *["P4"] * scans)
    assert refuse_undo(hand) == "receive.refused"
    assert hand.store.received("D-1", "P4") == 2
    assert (hand.state.in_hand.quantity if hand.state.in_hand else 0) == scans
    if scans:
        assert hand.say("u") == "pick.undone"
    assert hand.state.in_hand is None
    assert hand.say("u") == "pick.nothing_to_undo"
    sent = len(hand.sent)
    hand.say("A-2")
    assert len(hand.sent) == sent
    hand.say("P1", "A-2")
    assert hand.sent[-1].told == ("X",), "what is booked from now on does not depend on it"


def test_goods_in_question_are_asked_about_without_those_whose_undo_was_refused() -> None:
    hand = Hand()
    hand.say("D-1", "P4", "=2", "A-1", "u")
    assert hand.say("P4") == "receive.more_than_announced"
    assert refuse_undo(hand) == "receive.all_received"
    assert hand.state.in_hand is None
    assert hand.state.pending_scan is not None
    assert hand.state.pending_scan.quantity == 1


def test_goods_booked_again_before_the_refusal_leave_later_ones_in_hand() -> None:
    hand = Hand()
    hand.say("D-1", "P4", "=2", "A-1", "u")
    undo = hand.sent[-1]
    hand.say("A-2", "P1", "=3")
    row = {"op_id": "X", "user": "ann", "why": "No.", "label": "P4", "body": undo.body}
    assert hand.feed(Rows("refused_operations", (row,), 1)) == "receive.refused"
    assert hand.state.in_hand is not None
    assert (hand.state.in_hand.product, hand.state.in_hand.quantity) == ("P1", Decimal(3))


@pytest.mark.parametrize(
    ("received", "in_hand", "notes"),
    [
        ((0, 0, 0), 1, {"96002": 1}),
        ((0, 0, 0), 5, {"96002": 2}),
        ((0, 0, 0), 9, {"96002": 2, "96005": 4}),
        ((2, 0, 0), 3, {}),
        ((2, 3, 0), 4, {"96005": 4}),
        ((2, 3, 4), 2, {}),
    ],
)
def test_the_orders_that_goods_in_hand_will_fill_are_named(
    received: tuple[int, ...], in_hand: int, notes: dict[str, int]
) -> None:
    lines = tuple(
        DeliveryLine(number, "P1", "Tea", Decimal(announced), Decimal(came), order=order)
        for number, announced, came, order in zip((1, 2, 3), (2, 3, 4), received, ("96002", "", "96005"), strict=True)
    )
    goods = GoodsInHand("P1", "Tea", Decimal(in_hand))
    state = ReceiveState(phase="goods", delivery_number="D-1", lines=lines, in_hand=goods)
    page = ReceiveJob().view(state)
    assert isinstance(page, Step)
    said = [dict(line.text.args) for line in page.lines if line.text.id == "receive.note_order"]
    assert {str(each["order"]): each["quantity"] for each in said} == notes


@pytest.mark.parametrize(
    ("needs", "in_hand", "said"),
    [
        ({}, 5, [("96002", "2"), ("", "3")]),
        ({"96002": 2, "96005": 4}, 9, [("96002", "2 of 2"), ("96005", "4 of 4"), ("", "3")]),
        ({"96002": 1, "96005": 0}, 9, [("96002", "1 of 1"), ("", "8")]),
        ({"96002": 0}, 2, [("", "2")]),
    ],
)
def test_the_page_says_for_whom_goods_in_hand_are_and_what_each_order_needs(
    needs: dict[str, int], in_hand: int, said: list[tuple[str, str]]
) -> None:
    hand = Hand()
    hand.store.deliveries["D-1"] = [
        {**hand.store.deliveries["D-1"][0], "line_number": n, "quantity": Decimal(of), "customer_order_number": order}
        for n, of, order in ((1, 2, "96002"), (2, 3, ""), (3, 4, "96005"))
    ]
    hand.store.order_needs["D-1"] = [
        {"order_number": order, "product_number": "P1", "needed": Decimal(needed)} for order, needed in needs.items()
    ]
    hand.say("D-1", "P1", f"={in_hand}")
    assert owners(hand) == said


def test_an_unannounced_product_that_was_undone_is_no_line_of_the_delivery() -> None:
    hand = Hand()
    hand.say("D-1")
    lines = hand.state.lines
    hand.store.deliveries["D-1"].append({**hand.store.deliveries["D-1"][0], "line_number": 9, "quantity": Decimal(0)})
    hand.feed(Resumed())
    assert hand.state.lines == lines
    hand.store.deliveries["D-1"][-1]["received"] = Decimal(1)
    hand.feed(Resumed())
    assert len(hand.state.lines) == len(lines) + 1


@pytest.mark.parametrize("is_over", [True, False])
def test_a_delivery_that_is_closed_short_says_what_was_over_too(is_over: bool) -> None:
    hand = Hand()
    hand.say("D-1", "P2", f"={3 if is_over else 1}")
    if is_over:
        hand.say("y")
    hand.say("A-1")
    assert hand.say("d", "y") == "receive.closed_short"
    detail = hand.verdicts[-1].detail
    assert detail == (msg("receive.differ", short=3, over=1) if is_over else None)


def test_what_an_order_needs_counts_goods_that_were_just_received() -> None:
    hand = Hand()
    hand.store.order_needs["D-1"] = [{"order_number": "4101", "product_number": "P4", "needed": Decimal(1)}]
    hand.say("D-1", "P4", "A-1", "P4")
    assert owners(hand) == [("", "1")]
    hand.store.order_needs["D-1"][0]["needed"] = Decimal(0)
    hand.feed(Resumed())
    assert owners(hand) == [("", "1")]


def owners(hand: Hand) -> list[tuple[str, str]]:
    page, writer = ReceiveJob().view(hand.state), MessageWriter(today=day_in_store(CONTEXT.now))
    assert isinstance(page, Step)
    notes = [dict(line.text.args) | {"id": line.text.id} for line in page.lines if "quantity" in dict(line.text.args)]
    amounts = [(note, note["quantity"]) for note in notes if str(note["id"]).startswith("receive.note_")]
    return [
        (str(note.get("order", "")), writer.write(each) if isinstance(each, Msg) else str(each))
        for note, each in amounts
    ]


def test_the_books_are_read_again_after_a_look_and_after_a_night() -> None:
    hand = Hand()
    hand.say("D-1")
    hand.store.deliveries["D-1"][1]["received"] = Decimal(1)
    hand.feed(Resumed())
    assert hand.say("P2") == "receive.all_received"
    hand.feed(Closed("look_up"))
    assert hand.view.name == "receive.goods"


def test_questioned_goods_survive_next_scan() -> None:
    hand = Hand()
    hand.say("D-1")
    assert hand.scan("P2", "4") == "receive.more_than_announced"
    for code in ("P1", "A-1", "D-2"):
        assert hand.scan(code) == "receive.answer_first"
        assert dict(hand.verdicts[-1].text.args) == {"label": "Product P2", "quantity": Decimal(4)}
    assert hand.feed(UnknownCode("4711")) == "receive.answer_first"
    assert not hand.sent
    assert hand.scan("P2") == "receive.more_than_announced"
    assert hand.say("y") == "pick.picked"
    assert hand.state.in_hand is not None
    assert (hand.state.in_hand.product, hand.state.in_hand.quantity) == ("P2", Decimal(5))
    assert hand.scan("P9", "3") == "receive.not_announced"
    assert hand.scan("P1") == "receive.answer_first"
    assert hand.scan("P9") == "receive.not_announced"
    assert hand.say("y") == "receive.taken_extra"
    assert hand.entries() == [("P2", 2, 5, "DOCK")]
    assert hand.state.in_hand.product == "P9"
    assert hand.state.in_hand.quantity == 4


def test_what_is_in_hand_counts_in_the_list_of_lines_too() -> None:
    hand = Hand()
    hand.say("D-2", "P5", "=12", "l")
    assert [dict(row.cells[1].args) for row in hand.view.rows] == [{"done": 12, "total": 12}, {"done": 0, "total": 3}]
    hand.feed(Back())
    hand.feed(Back())
    hand.say("k", "P9", "y", "l")
    assert [row.cells[0].args[0][1] for row in hand.view.rows] == ["Product P5", "Product P2", "Product P9"]
    assert hand.say("3") == "goods.how_many"
    assert hand.state.in_hand is not None
    assert hand.state.in_hand.product == "P9"


def test_measured_goods_count_as_one_beside_pieces() -> None:
    hand = Hand()
    hand.say("D-1")
    assert hand.view.total == 6 + 1 + 4 + 1 + 2
    hand.scan("P3", "2.5")
    assert hand.view.done == 0
    hand.scan("P3", "2.5")
    assert hand.view.done == 1


def test_a_container_is_told_by_its_whole_code_or_by_its_end_with_a_mark() -> None:
    hand = Hand()
    hand.store.deliveries["D-2"][0]["container_barcode"] = "CONT-1"
    hand.store.deliveries["D-2"][1]["container_barcode"] = "00387123450000000018"
    hand.say("D-2")
    assert [stop.location for stop in hand.view.upcoming] == ["CONT-1", "…0018"]


def test_goods_in_hand_stay_when_more_is_set_aside() -> None:
    hand = Hand()
    hand.say("D-1", "P1", "=6", "P2", "P2")
    assert hand.verdict == "receive.more_than_announced"
    assert hand.say("n") == "receive.set_aside_quantity"
    assert hand.state.in_hand
    assert (hand.state.in_hand.product, hand.state.in_hand.quantity) == ("P2", Decimal(1))


def test_none_in_all_leaves_none_in_hand_whatever_is_asked() -> None:
    hand = Hand()
    hand.say("D-1", "P2", "P2")
    assert hand.say("=0") == "move.none_taken"
    hand.say("P1")
    assert not hand.sent
    hand = Hand()
    hand.say("D-1", "P1", "=10", "P1")
    assert hand.say("=0") == "move.none_taken"
    hand.say("DOCK")
    assert not hand.sent


@pytest.mark.parametrize("number", ["1", "2", "5", "7", "12", "40", "99", "100", "250", "999"])
def test_a_number_where_no_quantity_is_open_is_told_as_one(number: str) -> None:
    hand = Hand()
    hand.say("D-1")
    assert hand.feed(UnknownCode(number)) == "pick.no_quantity"
    assert not hand.view.choices
    assert hand.feed(UnknownCode(f"{number}0000")) == "count.unknown"


@pytest.mark.parametrize("again", [("P5",), ("=13",), ("=30",)])
def test_undo_takes_back_the_consent_to_more_than_is_announced(again: tuple[str, ...]) -> None:
    hand = Hand()
    hand.say("D-2", "P5", "=12", "P5", "y")
    assert hand.state.in_hand is not None
    assert hand.state.in_hand.quantity == 13
    hand.say("u")
    assert hand.state.in_hand.quantity == 12
    assert hand.say(*again) == "receive.more_than_announced"
    assert hand.state.in_hand.quantity == 12


def test_undo_keeps_the_consent_that_what_remains_needs() -> None:
    hand = Hand()
    hand.say("D-2", "P5", "=13", "y", "P5", "u")
    assert hand.say("P5") == "pick.picked"
    hand.say("DOCK", "u", "u")
    assert hand.state.in_hand is None
    assert hand.say("P5", "=30") == "receive.more_than_announced"


def test_undo_takes_back_the_consent_to_goods_that_are_not_announced() -> None:
    hand = Hand()
    hand.say("D-2", "P9", "y", "u")
    assert hand.say("P9") == "receive.not_announced"


@pytest.mark.parametrize(("places", "is_told"), [((), False), (("A-1", "DOCK"), False), (("A-1",), True)])
def test_a_configured_place_that_the_store_lacks_is_said_once(places: tuple[str, ...], is_told: bool) -> None:
    """Goods nowhere else put away are booked there; a store whose places are unknown says nothing."""
    store = Store()
    store.places = places
    hand = Hand(store, deliveries=["D-1"])
    told = []
    for product in ("P1", "P2", "P3", "P4"):
        hand.scan(product)
        detail = hand.verdicts[-1].detail
        more = dict(detail.args).get("more") if detail else None
        told.append(dict(more.args)["place"] if isinstance(more, Msg) else None)
    assert told == [None, "DOCK" if is_told else None, None, None]


def test_a_scanned_place_is_no_configured_one() -> None:
    store = Store()
    store.places = ("A-1",)
    hand = Hand(store, deliveries=["D-1"])
    hand.scan("P1")
    hand.scan("A-1")
    assert hand.verdicts[-1].detail == msg("receive.suggested_location", place="A-2"), (
        "nothing about the configured one"
    )


def test_quantities_of_measured_goods_have_their_unit() -> None:
    line = DeliveryLine(1, "P3", "Cheese", Decimal(10), Decimal(4), allows_decimals=True, unit="lb")
    assert line_progress(line) == msg("progress.of", done=Decimal(4), total=measured(Decimal(10), "lb"))
    assert line_progress(line._replace(allows_decimals=False)).id == "progress.of"
    row = line_row(1, "P3", "Cheese", 10, 4, allow_decimal=True, unit="lb")
    details: Any = {"lines": [row], "lines_known": True, "order_number": "4101"}
    blocks = OrderPage().blocks(OrderState("4101", BoardOrder("4101"), details))
    assert blocks[0].rows[0][1] == msg("progress.of", done=Decimal(4), total=measured(Decimal(10), "lb"))
