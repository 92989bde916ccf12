"""The pick job by itself: no terminal, no file, no network."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aisle import named_tuple_json
from aisle.jobs import JOBS
from aisle.jobs.job import Changed, Close, Event, Query, Rows, Start, Write
from aisle.jobs.pick.pick_state import PickState
from aisle.jobs.view import ASK, GOOD, INFO, WRONG
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    ORDER,
    PERSON,
    PRODUCT,
    Back,
    Choice,
    Command,
    Match,
    Quantity,
    Scan,
    UnknownCode,
)
from aisle.tui.message_text import MessageWriter
from tests.jobs.pick_runner import Hand, line, order, picked


def test_five_lines_take_five_scans() -> None:
    hand = Hand(*(line(n, f"P{n}", 1, preferred_location_code=f"A-{n}") for n in range(1, 6)))
    for n in range(1, 6):
        assert hand.verdict is not None
        assert hand.verdict.kind == GOOD
        hand.scan(f"P{n}")
    assert hand.view.name == "pick.done"
    assert hand.verdict is not None
    assert hand.verdict.text.id == "pick.all_picked"
    last = [effect for effect in hand.effects if isinstance(effect, Write)][-1]
    assert last.body["orders"]["is_picked"] is True
    assert "is_active" not in last.body["orders"]
    assert hand.sent == dict.fromkeys(range(1, 6), Decimal(1))


def test_walk_order_sorts_by_walking_order_location_order_and_code() -> None:
    places = [{"location_code": "Z-1", "location_order": 1, "quantity": 3}]
    hand = Hand(
        line(1, "P1", 1, preferred_location_code="A-10"),
        line(2, "P2", 1, preferred_location_code="A-2"),
        line(3, "P3", 1, store_walking_order=5, preferred_location_code="B-1"),
        line(4, "P4", 1, locations=places),
    )
    assert [each.product for each in hand.state.lines] == ["P3", "P4", "P2", "P1"]
    assert [stop.location for stop in hand.view.upcoming] == ["Z-1", "A-2", "A-10"]


def test_a_place_with_stock_is_preferred_to_an_empty_one() -> None:
    places = [
        {"location_code": "A-1", "location_order": 1, "quantity": 0},
        {"location_code": "A-2", "location_order": 2, "quantity": 4},
    ]
    assert Hand(line(1, "P1", 1, locations=places)).state.lines[0].location == "A-2"


def test_everything_works_without_locations_and_optional_fields() -> None:
    bare = {"line_number": 1, "product_number": "P1", "quantity": 2}
    hand = Hand(bare, verified=True)
    assert hand.view.name == "pick.product"
    assert hand.scan("P1") == "pick.picked"
    assert hand.scan("P1") == "pick.all_picked"


def test_verified_mode_takes_ten_scans_for_five_lines() -> None:
    hand = Hand(*(line(n, f"P{n}", 1, preferred_location_code=f"A-{n}") for n in range(1, 6)), verified=True)
    assert hand.view.name == "pick.location"
    assert hand.scan("P1") == "pick.location_first_scan"
    for n in range(1, 6):
        assert hand.scan(f"a-{n}", kind=LOCATION) == "pick.at_location"
        assert hand.view.name == "pick.product"
        hand.scan(f"P{n}")
    assert hand.view.name == "pick.done"


def test_a_typed_quantity_sets_what_is_open() -> None:
    hand = Hand(line(1, "P1", 12), line(2, "P2", 1))
    assert not hand.job.accepts(hand.state).quantity
    hand.scan("P1")
    assert hand.job.accepts(hand.state).quantity
    assert hand.feed(Quantity(Decimal(5))) == "pick.picked"
    assert hand.state.current_line is not None
    assert hand.state.current_line.picked == 5
    hand.feed(Quantity(Decimal(12)))
    assert hand.state.current_line.product == "P2"
    assert hand.sent == {1: Decimal(12)}


def test_more_than_ordered_is_refused_with_the_rest_offered() -> None:
    hand = Hand(line(1, "P1", 4), line(2, "P2", 1))
    hand.scan("P1")
    assert hand.scan("P1", "12") == "pick.more_than_ordered"
    assert hand.verdict is not None
    assert hand.verdict.kind == ASK
    assert picked(hand)[1] == 1
    assert [choice.id for choice in hand.view.choices] == ["pick.choice_pick_rest"]
    hand.feed(Choice(1))
    assert picked(hand)[1] == 4
    assert hand.scan("P1") == "pick.full"
    assert picked(hand)[1] == 4


def test_undo_takes_back_the_number_that_is_too_many() -> None:
    hand = Hand(line(1, "P1", 3))
    hand.scan("P1")
    assert hand.feed(Quantity(Decimal(5))) == "pick.total_more_than_ordered"
    assert hand.feed(Command("u")) == "session.dropped"
    assert picked(hand) == {1: 1}
    assert hand.feed(Command("u")) == "pick.undone"


def test_after_too_many_any_other_number_is_how_many() -> None:
    hand = Hand(line(1, "P1", 4), line(2, "P2", 3))
    assert hand.scan("P2", "12") == "pick.more_than_ordered"
    open_ = hand.job.accepts(hand.state)
    assert (open_.quantity, open_.choices) == (True, 1)
    assert hand.view.prompt.id == "prompt.choose_or_many"
    assert hand.feed(Quantity(Decimal(2))) == "pick.picked"
    assert picked(hand) == {1: 0, 2: 2}
    assert hand.feed(Quantity(Decimal(9))) == "pick.total_more_than_ordered"
    assert hand.feed(Quantity(Decimal(3))) == "pick.picked"
    hand.scan("P9")
    open_ = hand.job.accepts(hand.state)
    assert (open_.quantity, open_.choices) == (False, 1)


def test_typed_product_number_is_product_while_quantity_is_open() -> None:
    hand = Hand(line(1, "110001", 2), line(2, "110002", 3))
    hand.numbers = {"110001": [("product", "110001")], "110002": [("product", "110002")]}
    hand.scan("110001")
    assert hand.feed(Quantity(Decimal(110002))) == "pick.picked"
    assert picked(hand) == {1: 1, 2: 1}
    assert hand.feed(Quantity(Decimal(110001))) == "pick.picked"
    assert picked(hand) == {1: 2, 2: 1}


def test_a_question_stands_when_an_order_joins() -> None:
    hand = Hand(line(1, "P1", 3))
    hand.scan("P1")
    hand.scan("1043", kind=ORDER)
    hand.feed(Choice(hand.choices().index("pick.choice_add_order") + 1))
    assert hand.feed(Quantity(Decimal(5))) == "pick.total_more_than_ordered"
    assert hand.feed(order(line(1, "P9", 1), number="1043")) == "pick.joined"
    assert hand.choices() == ["pick.choice_pick_rest"]


def test_one_product_on_two_lines_fills_the_first_then_the_second() -> None:
    hand = Hand(line(1, "P1", 2), line(2, "P1", 3))
    hand.scan("P1", "4")
    assert picked(hand) == {1: Decimal(2), 2: Decimal(2)}
    assert hand.sent == {1: Decimal(2), 2: Decimal(2)}
    hand.scan("P1")
    assert hand.view.name == "pick.done"
    assert hand.scan("P1") == "pick.full"


def test_a_scan_at_a_wrong_place_offers_to_take_it_from_there() -> None:
    hand = Hand(line(1, "P1", 2, preferred_location_code="A-1"), verified=True)
    assert hand.scan("B-9", kind=LOCATION) == "pick.wrong_location"
    hand.feed(Choice(1))
    assert hand.view.name == "pick.product"
    hand.scan("P1", "2")
    assert hand.updates[0]["order_lines"][0]["preferred_location_code"] == "B-9"


def test_goods_that_are_put_back_go_where_they_came_from() -> None:
    """The rest of the line is taken elsewhere by now."""
    hand = Hand(line(1, "P1", 3, preferred_location_code="A-1"))
    hand.scan("P1", "2")
    hand.scan("B-9", kind=LOCATION)
    hand.feed(Choice(1))
    hand.feed(Quantity(Decimal(1), "1"))
    (back,) = hand.updates[-1]["order_lines"]
    assert back["picked_quantity"] - back["base_picked_quantity"] == -1
    assert back["preferred_location_code"] == "A-1"


def from_two_places(**more: Any) -> Hand:
    """Two pieces from A-1, and one from B-9."""
    hand = Hand(line(1, "P1", 4, preferred_location_code="A-1"), **more)
    hand.scan("P1", "2")
    hand.scan("B-9", kind=LOCATION)
    hand.feed(Choice(1))
    hand.scan("P1")
    hand.effects.clear()
    return hand


def changes_sent(hand: Hand) -> list[tuple[str, Any]]:
    """What was picked at each place, in the order of the updates."""
    lines = (each for body in hand.updates for each in body["order_lines"])
    return [(each["preferred_location_code"], each["picked_quantity"] - each["base_picked_quantity"]) for each in lines]


def test_a_lower_total_says_where_the_goods_go_back_and_an_undo_takes_them_from_there() -> None:
    hand = from_two_places()
    hand.feed(Quantity(Decimal(1), "1"))
    assert hand.verdict
    assert hand.verdict.detail
    assert MessageWriter().write(hand.verdict.detail) == "B-9: +1, A-1: +1"
    assert changes_sent(hand) == [("B-9", -1), ("A-1", -1)]
    assert hand.feed(Command("u")) == "pick.undone"
    assert hand.told == "Undone: Product P1 back from 1 to 3, B-9: -1, A-1: -1"
    assert changes_sent(hand)[2:] == [("B-9", 1), ("A-1", 1)]
    hand.feed(Command("u"))
    assert hand.told == "Undone: Product P1 back from 3 to 2, B-9"


def test_no_stock_of_locations_is_named_that_the_service_does_not_learn() -> None:
    hand = from_two_places(learns_locations=False)
    hand.feed(Quantity(Decimal(1), "1"))
    assert hand.verdict
    assert hand.verdict.detail
    assert MessageWriter().write(hand.verdict.detail) == "B-9, A-1"
    hand.feed(Command("u"))
    assert hand.told == "Undone: Product P1 back from 1 to 3, B-9, A-1"


@pytest.mark.parametrize("totals", [(1, 3), (0, 2, 3), (2, 0, 1, 3), (2, 3, 1, 3)])
def test_totals_typed_again_leave_each_place_as_the_last_one_alone(totals: tuple[int, ...]) -> None:
    hand = from_two_places()
    for total in totals:
        hand.feed(Quantity(Decimal(total), str(total)))
    net: dict[str, Decimal] = {}
    for place, change in changes_sent(hand):
        net[place] = net.get(place, Decimal(0)) + change
    assert not any(net.values())
    for _ in totals:
        hand.feed(Command("u"))
    assert picked(hand) == {1: 3}


def test_a_full_line_is_sent_as_picked_only_by_its_last_update() -> None:
    """A total in between would close it short."""
    hand = from_two_places()
    hand.feed(Quantity(Decimal(1), "1"))
    hand.effects.clear()
    hand.feed(Quantity(Decimal(4), "4"))
    closed = [(each["is_picked"], body.get("is_picked")) for body in hand.updates for each in body["order_lines"]]
    assert closed == [(False, None), (True, True)]


def test_an_undo_beside_another_picker_puts_back_at_the_own_place() -> None:
    hand = Hand(line(1, "P1", 4, preferred_location_code="A-1"), at_work=[{"user": "ben", "name": "Ben"}])
    hand.scan("P1")
    others = line(1, "P1", 4, preferred_location_code="A-1", picked_quantity=2)
    hand.feed(order(others, at_work=[{"user": "ben", "name": "Ben"}]))
    hand.scan("B-9", kind=LOCATION)
    hand.feed(Choice(1))
    hand.feed(order({**others, "picked_quantity": 3}, at_work=[{"user": "ben", "name": "Ben"}]))
    hand.effects.clear()
    hand.feed(Command("u"))
    hand.feed(Command("u"))
    assert changes_sent(hand) == [("A-1", -1)]
    assert hand.told == "Undone: Product P1 back from 3 to 2, A-1"


def test_a_place_later_in_the_walk_moves_the_picker_there() -> None:
    hand = Hand(line(1, "P1", 1, preferred_location_code="A-1"), line(2, "P2", 1, preferred_location_code="A-2"))
    hand.scan("A-2", kind=LOCATION)
    assert hand.state.current_line is not None
    assert hand.state.current_line.product == "P2"


def test_things_that_do_not_belong_here_say_why() -> None:
    hand = Hand(line(1, "P1", 1))
    assert hand.scan("P9") == "pick.not_here"
    assert hand.scan("bob", kind=PERSON) == "pick.person"
    assert hand.feed(UnknownCode("47110815")) == "count.unknown"
    assert hand.scan("1042", kind=ORDER) == "pick.this_order"
    assert hand.scan("P1", "1.5") == "input.whole_number_only"
    assert hand.verdict is not None
    assert hand.verdict.kind == WRONG
    assert not hand.sent


def test_another_order_is_opened_only_when_chosen() -> None:
    hand = Hand(line(1, "P1", 2))
    assert hand.scan("2000", kind=ORDER) == "pick.other_order"
    hand.feed(Choice(1))
    assert hand.effects[-1] == Close(start=Start("pick", {"order_number": "2000"}))


def test_next_leaves_a_line_for_later_and_comes_round_again() -> None:
    hand = Hand(line(1, "P1", 1), line(2, "P2", 1))
    assert hand.feed(Command("n")) == "pick.later"
    hand.scan("P2")
    assert hand.state.current_line is not None
    assert hand.state.current_line.product == "P1"
    assert hand.feed(Command("n")) == "locations.last_location"


def test_undo_goes_back_step_by_step_and_says_when_there_is_nothing_left() -> None:
    hand = Hand(line(1, "P1", 2), line(2, "P2", 1))
    for _ in range(2):
        hand.scan("P1")
    hand.scan("P2")
    assert hand.view.name == "pick.done"
    assert hand.feed(Command("u")) == "pick.undone"
    assert hand.view.name == "pick.product"
    assert hand.sent == {1: Decimal(2), 2: Decimal(0)}
    hand.feed(Command("u"))
    hand.feed(Command("u"))
    assert hand.sent == {1: Decimal(0), 2: Decimal(0)}
    assert hand.feed(Command("u")) == "pick.nothing_to_undo"


def test_pickup_location_scan_puts_down_goods_and_undo_reverts() -> None:
    hand = Hand(line(1, "P1", 1), line(2, "P2", 2, picked_quantity=2, moved_quantity=2))
    hand.scan("P1")
    assert hand.scan("PU-1", kind=LOCATION) == "pick.put_down"
    assert hand.moves() == [("P1", Decimal(1), "", "PU-1")]
    assert hand.view.name == "pick.done"
    assert hand.scan("PU-1", kind=LOCATION) == "pick.nothing_in_hand"
    assert hand.feed(Command("u")) == "pick.put_down_undone"
    assert hand.moves()[1:] == [("P1", Decimal(1), "PU-1", "")]
    assert hand.feed(Command("u")) == "pick.undone"
    assert hand.sent[1] == 0


def test_a_shelf_of_the_order_is_no_pick_up_place_without_being_asked() -> None:
    hand = Hand(line(1, "P1", 1, preferred_location_code="A-1"))
    hand.scan("P1")
    assert hand.scan("A-1", kind=LOCATION) == "pick.put_down_at_source"
    assert not hand.moves()
    assert hand.feed(Choice(1)) == "pick.put_down"
    assert hand.moves() == [("P1", Decimal(1), "", "A-1")]


def test_undo_drops_the_question_about_a_location_to_put_down_at() -> None:
    hand = Hand(line(1, "P1", 1, preferred_location_code="A-1"))
    hand.scan("P1")
    hand.scan("A-1", kind=LOCATION)
    assert hand.feed(Command("u")) == "session.dropped"
    assert hand.sent[1] == 1
    assert hand.feed(Command("u")) == "pick.undone"


def test_loose_goods_ask_how_much() -> None:
    hand = Hand(line(1, "P1", 2, allow_decimal=True, unit="kg"))
    assert hand.scan("P1") == "pick.weigh"
    assert not hand.sent
    assert hand.feed(Quantity(Decimal("0.75"))) == "pick.picked"
    assert hand.scan("P1", "1.25") == "pick.all_picked"


def test_the_bar_counts_what_is_measured_as_one_piece_and_the_note_names_its_weight() -> None:
    """Kilos and pieces have no sum."""
    loose = {**line(2, "P2", 0, allow_decimal=True, unit="kg"), "quantity": Decimal("0.25")}
    hand = Hand(line(1, "P1", 2), loose)
    assert [hand.view.done, hand.view.total] == [0, 3]
    hand.scan("P1")
    hand.scan("P2", "0.15")
    assert [hand.view.done, hand.view.total] == [1, 3]
    hand.scan("P2", "0.1")
    assert [hand.view.done, hand.view.total] == [2, 3]
    hand.scan("P1")
    note = next(line.text for line in hand.view.lines if line.text.id == "pick.note_done")
    assert MessageWriter().write(note) == "All picked: 2 lines, 2 pieces, 0.25 kg in all."


def test_number_without_open_quantity_differs_from_unknown_code() -> None:
    hand = Hand(line(1, "P1", 2))
    assert hand.feed(UnknownCode("5")) == "pick.no_quantity"
    assert hand.feed(UnknownCode("47110815")) == "count.unknown"


def test_a_refresh_keeps_the_walk_and_the_open_question() -> None:
    lines = [line(n, f"P{n}", 3, store_walking_order=n, preferred_location_code=f"A-{n}") for n in (1, 2)]
    hand = Hand(*lines)
    hand.scan("P1", "2")
    hand.scan("P1", "12")
    turned = [
        line(n, f"P{n}", 3, store_walking_order=9 - n, picked_quantity=2 if n == 1 else 0, preferred_location_code="Z")
        for n in (1, 2)
    ]
    assert hand.feed(order(*turned)) == ""
    assert [each.line for each in hand.state.lines] == [1, 2]
    assert hand.job.accepts(hand.state).choices == 1
    hand.feed(Choice(1))
    assert picked(hand)[1] == 3


def test_an_order_that_left_the_cache_is_picked_on() -> None:
    hand = Hand(line(1, "P1", 2))
    hand.scan("P1")
    assert hand.feed(Rows("order/1042", (), 0)) == ""
    assert not any(isinstance(effect, Close) for effect in hand.effects)
    assert hand.scan("P1") == "pick.all_picked"


def test_the_order_is_called_picked_only_by_the_take_that_ends_it() -> None:
    hand = Hand(line(1, "P1", 1), line(2, "P2", 1))
    for event in ("P1", "P2"):
        hand.scan(event)
    hand.feed(Command("u"))
    assert [body.get("is_picked") for body in hand.updates] == [None, True, False]


def test_moved_goods_are_not_taken_back_by_quantity_or_undo() -> None:
    hand = Hand(line(1, "P1", 5, picked_quantity=3, moved_quantity=3))
    hand.scan("P1")
    assert hand.feed(Quantity(Decimal(2))) == "pick.moved"
    hand.feed(Command("u"))
    assert hand.feed(Command("u")) == "pick.nothing_to_undo"
    assert picked(hand)[1] == 3


def test_a_change_made_elsewhere_is_taken_over_and_told() -> None:
    hand = Hand(line(1, "P1", 2, preferred_location_code="A-1"), line(2, "P2", 1))
    hand.feed(Changed("order", "1042"))
    assert isinstance(hand.effects[-1], Query)
    assert hand.feed(order(line(1, "P1", 2, preferred_location_code="A-1"), line(2, "P2", 1))) == ""
    assert hand.feed(order(line(1, "P1", 2, picked_quantity=2), line(2, "P2", 1))) == "pick.changed"
    assert hand.state.current_line is not None
    assert hand.state.current_line.product == "P2"


def test_lines_that_are_not_here_yet_are_waited_for() -> None:
    hand = Hand()
    hand.feed(order(lines_known=False))
    assert hand.view.name == "pick.wait"
    assert hand.scan("P1") == "pick.waiting"
    assert hand.feed(order(line(1, "P1", 1))) == "pick.opened"


@pytest.mark.parametrize(
    ("head", "told"),
    [({"is_rejected": True}, "pick.rejected"), ({"is_active": False}, "pick.handed_over_now"), ({}, "pick.empty")],
)
def test_orders_that_cannot_be_picked_close_with_the_reason(head: dict[str, Any], told: str) -> None:
    hand = Hand()
    hand.feed(order(**head))
    close = hand.effects[-1]
    assert isinstance(close, Close)
    assert close.verdict is not None
    assert close.verdict.text.id == told


def test_back_drops_a_question_before_it_leaves_the_order() -> None:
    hand = Hand(line(1, "P1", 1))
    hand.scan("P1", "3")
    assert hand.feed(Back()) == "session.dropped"
    hand.feed(Back())
    close = hand.effects[-1]
    assert isinstance(close, Close)
    assert close.verdict is not None
    assert (close.verdict.kind, close.verdict.text.id) == (INFO, "pick.left")


events = st.one_of(
    st.builds(
        lambda kind, key, quantity: Scan((Match(kind, key, key, Decimal(quantity), True, key),)),
        st.sampled_from([PRODUCT, LOCATION, ORDER, PERSON]),
        st.sampled_from(["P1", "P2", "P3", "A-1", "A-2", "1042", "77"]),
        st.sampled_from(["1", "2", "0.5", "12"]),
    ),
    st.builds(Quantity, st.integers(0, 9).map(Decimal)),
    st.builds(Choice, st.integers(1, 3)),
    st.builds(Command, st.sampled_from("nuz")),
    st.just(Changed("order", "1042")),
    st.just(UnknownCode("?")),
    st.just(Back()),
)


@given(st.lists(events, max_size=40), st.booleans())
def test_any_sequence_stays_within_ordered_and_state_survives_journal(sequence: list[Event], verified: bool) -> None:
    lines = [
        line(1, "P1", 3, preferred_location_code="A-1"),
        line(2, "P2", 1),
        line(3, "P1", 2, preferred_location_code="A-2", allow_decimal=True),
    ]
    hand = Hand(*lines, verified=verified)
    for event in sequence:
        hand.feed(event)
        for each in hand.state.lines:
            assert 0 <= each.picked <= each.ordered
        assert hand.view.prompt.id
        assert hand.view.name == hand.job.step_name(hand.state)
        assert hand.view.name in hand.job.steps
        assert (hand.view.name == "pick.done") == all(not each.is_open for each in hand.state.lines)
        assert named_tuple_json.from_text(PickState, named_tuple_json.to_text(hand.state)) == hand.state
        assert hand.sent == {line: value for line, value in picked(hand).items() if line in hand.sent}


def test_every_job_is_registered_under_its_own_name() -> None:
    assert all(name == job.name for name, job in JOBS.items())


def test_what_no_stock_is_kept_of_is_picked_but_never_moved() -> None:
    bag = line(2, "BAG", 1, is_stock=False)
    hand = Hand(line(1, "P1", 1), bag)
    hand.scan("P1")
    assert hand.scan("BAG") == "pick.all_picked"
    assert hand.scan("PU-1", kind=LOCATION) == "pick.put_down"
    assert hand.moves() == [("P1", Decimal(1), "", "PU-1")]
    assert hand.view.prompt.id == "pick.prompt_done_put_down"
    hand.feed(Command("u"))
    assert hand.moves()[1:] == [("P1", Decimal(1), "PU-1", "")]
    alone = Hand(bag)
    alone.scan("BAG")
    assert alone.scan("PU-1", kind=LOCATION) == "pick.nothing_in_hand"
    alone.feed(order(bag, is_rejected=True))
    assert isinstance(alone.effects[-1], Close)
    assert not alone.state.to_return


def test_a_round_leaves_what_no_stock_is_kept_of_out_of_every_movement() -> None:
    hand = Hand(orders={"O1": [line(1, "P1", 1), line(2, "BAG", 1, is_stock=False)], "O2": [line(1, "P1", 1)]})
    hand.scan("P1", "2")
    hand.scan("BAG")
    assert hand.scan("PU-1", kind=LOCATION) == "pick.put_down_totes"
    assert {product for product, *_ in hand.moves()} == {"P1"}
    assert not any(each.in_hand for each in hand.state.lines)


def test_a_number_at_a_weight_that_is_too_much_is_the_weight() -> None:
    hand = Hand(line(1, "P3", Decimal("1.5"), allow_decimal=True, unit="kg"))
    hand.scan("P3")
    assert hand.feed(Quantity(Decimal("1.65"))) == "pick.more_than_ordered"
    open_ = hand.job.accepts(hand.state)
    assert (open_.quantity, open_.decimals, open_.choice_letters, hand.view.choice_letters) == (True, True, "r", "r")
    assert hand.feed(Quantity(Decimal(1))) == "pick.picked"
    assert picked(hand) == {1: Decimal(1)}


@pytest.mark.parametrize(("kind", "way"), [("product", "count.choice_product"),
    ("location", "locations.title_location"),
    ("order", "order.title"), ("reference", "order.title"), ("delivery", "count.choice_other"),
    ("person", "count.choice_other")])  # fmt: skip
def test_a_number_of_the_store_that_could_be_picked_is_asked_about(kind: str, way: str) -> None:
    hand = Hand(line(1, "P1", 5000))
    hand.scan("P1")
    hand.numbers = {"4101": [(kind, "4101")]}
    hand.feed(Quantity(Decimal(4101)))
    assert (hand.choices(), hand.view.choice_letters) == (["count.choice_quantity", way], "yx")
    assert hand.feed(Quantity(Decimal(3))) == "pick.picked", "the last number wins"
    assert picked(hand) == {1: 3}
    hand.feed(Quantity(Decimal(4101)))
    assert hand.feed(Choice(1)) == "pick.picked"
    assert picked(hand) == {1: 4101}


def test_the_number_on_a_tote_is_asked_about_where_it_could_be_picked() -> None:
    hand = Hand(orders={"4101": [line(1, "P1", 500)], "4102": [line(1, "P1", 2)]})
    hand.state = hand.state._replace(
        totes=tuple(tote._replace(code="17") for tote in hand.state.totes[:1]) + hand.state.totes[1:]
    )
    hand.scan("P1")
    assert hand.feed(Quantity(Decimal(17))) == "pick.number_of_tote"
    assert hand.view.choice_letters == "yx"
    assert hand.feed(Choice(1)) == "pick.set_totes"
    assert hand.feed(Quantity(Decimal(17))) == "pick.number_of_tote"
    assert hand.feed(Choice(2)) == "batch.already_in_batch"
