"""Settings that change while a job is open are in force at once, or from its next stop on; what is asked stays."""

from __future__ import annotations

from decimal import Decimal

import pytest

from aisle.jobs.job import Policy, Resumed
from aisle.scan.grammar_and_meaning_types import LOCATION, ORDER, Choice, Command, Match, Quantity, Scan, UnknownCode
from tests.jobs import test_adjust, test_hand_over
from tests.jobs.move_runner import Hand as Mover
from tests.jobs.pick_runner import Hand as Picker
from tests.jobs.pick_runner import line, picked
from tests.jobs.receive_runner import Hand as Receiver
from tests.jobs.test_count import Hand as Counter
from tests.jobs.test_count import product


def picker(*, verified: bool) -> Picker:
    """Two stops, as the settings were when the order was opened."""
    lines = [line(n, f"P{n}", 2, preferred_location_code=f"A-{n}", store_walking_order=n) for n in (1, 2)]
    return Picker(*lines, verified=verified)


def change(hand: Picker | Counter | test_adjust.Hand | test_hand_over.Hand, policy: Policy) -> None:
    """The settings are changed."""
    hand.context = hand.context._replace(policy=policy)


@pytest.mark.parametrize("on", [True, False])
def test_verified_picking_is_in_force_from_the_next_stop_on(on: bool) -> None:
    hand = picker(verified=not on)
    if not on:
        hand.scan("A-1", kind=LOCATION)
    change(hand, Policy(verified=on))
    assert hand.view.name == "pick.product"
    hand.scan("P1", "2")
    assert hand.view.name == ("pick.location" if on else "pick.product")


def test_a_stop_that_is_begun_goes_on_as_it_was() -> None:
    hand = picker(verified=False)
    hand.scan("P1")
    change(hand, Policy(verified=True))
    hand.feed(Resumed())
    assert hand.view.name == "pick.product"
    assert hand.scan("P1") == "pick.picked"
    assert hand.view.name == "pick.location"
    assert picked(hand) == {1: 2, 2: 0}


@pytest.mark.parametrize("on", [True, False])
def test_an_order_that_is_taken_up_again_is_verified_as_the_settings_say(on: bool) -> None:
    hand = picker(verified=not on)
    change(hand, Policy(verified=on))
    hand.feed(Resumed())
    assert hand.view.name == ("pick.location" if on else "pick.product")


def test_a_scan_before_that_is_no_wrong_scan() -> None:
    """The screen asked for the product."""
    hand = picker(verified=False)
    change(hand, Policy(verified=True))
    assert hand.scan("P1") == "pick.picked"


@pytest.mark.parametrize("way", ["n", "u"])
def test_letters_that_lead_to_another_stop_do_too(way: str) -> None:
    hand = picker(verified=False)
    if way == "u":
        hand.scan("P1", "2")
    change(hand, Policy(verified=True))
    hand.feed(Command(way))
    assert hand.view.name == "pick.location"


@pytest.mark.parametrize("on", [True, False])
def test_a_blind_count_is_in_force_from_the_next_place_on(on: bool) -> None:
    hand = Counter({"A-1": [product("P1", 5)], "A-2": [product("P2", 5)]}, policy=Policy(blind_counts=not on))
    hand.scan("A-1", kind=LOCATION)
    hand.scan("P1", "5")
    change(hand, Policy(blind_counts=on))
    hand.scan("P1")
    assert hand.state.is_blind is not on
    hand.scan("A-2", kind=LOCATION)
    if hand.step == "count.summary":
        hand.feed(Choice(1))
    hand.scan("P2")
    assert hand.verdict is not None
    assert hand.verdict.text.id == ("count.counted" if on else "count.counted_of")


@pytest.mark.parametrize("on", [True, False])
def test_empty_count_takes_blind_setting_when_resumed(on: bool) -> None:
    hand = Counter({"A-1": [product("P1", 5)]}, policy=Policy(blind_counts=not on))
    hand.scan("A-1", kind=LOCATION)
    change(hand, Policy(blind_counts=on))
    hand.feed(Resumed())
    assert hand.state.is_blind is on


def test_the_start_of_counting_opens_a_place_as_the_settings_say() -> None:
    hand = Counter({"A-1": [product("P1", 5)]})
    change(hand, Policy(blind_counts=True))
    hand.scan("A-1", kind=LOCATION)
    assert hand.state.is_blind


@pytest.mark.parametrize("said", [(), ("P1",), ("P1", "P1")], ids=["at first", "one scanned", "two scanned"])
def test_reasons_of_losses_are_those_of_the_settings_when_they_are_asked_for(said: tuple[str, ...]) -> None:
    hand = test_adjust.Hand()
    for product_ in said:
        hand.scan(product_)
    hand.context = hand.context._replace(policy=Policy(adjustment_reasons=("7 - Eaten",)))
    if not said:
        hand.scan("P1")
    assert hand.feed(Command("d")) == "adjust.which_reason"
    assert [reason.text for reason in hand.state.reasons] == ["Eaten"]


def test_reasons_that_are_shown_keep_their_numbers() -> None:
    hand = test_adjust.Hand()
    hand.scan("P1")
    hand.feed(Command("d"))
    first = hand.state.reasons[0]
    hand.context = hand.context._replace(policy=Policy(adjustment_reasons=("7 - Eaten",)))
    hand.feed(Resumed())
    hand.feed(Choice(1))
    assert hand.entries[-1]["reason_code"] == first.code


WEIGHINGS = [
    ("5", "0", "1.2", True),
    ("0", "5", "1.2", False),
    ("0", "5", "1.18", True),
    ("5", "5", "1.2", False),
    ("0.5", "50", "0.7", False),
]
"""Tolerance before and after the change, the weight of 1.25, and whether more is asked for."""


@pytest.mark.parametrize("is_line_begun", [False, True])
@pytest.mark.parametrize(("before", "after", "weight", "is_open"), WEIGHINGS)
def test_a_weighing_is_judged_by_the_tolerance_in_force(
    before: str, after: str, weight: str, is_open: bool, is_line_begun: bool
) -> None:
    weighed = line(1, "P1", Decimal("1.25"), allow_decimal=True, unit="kg")
    hand = Picker(weighed, line(2, "P2", 1), weight_tolerance=Decimal(before))
    if is_line_begun:
        hand.scan("P1", "0.1")
    change(hand, Policy(weight_tolerance=Decimal(after)))
    hand.scan("P1", str(Decimal(weight) - (Decimal("0.1") if is_line_begun else 0)))
    each = next(each for each in hand.state.lines if each.product == "P1")
    assert (each.picked, each.is_open) == (Decimal(weight), is_open)


@pytest.mark.parametrize(("before", "after"), [("10000", "50"), ("50", "10000"), ("50", "0")])
def test_a_large_quantity_is_that_of_the_settings_in_force(before: str, after: str) -> None:
    """A find of 150, and a move of 150 from a location with unknown stock."""
    old, new = (Policy(large_quantity=Decimal(value)) for value in (before, after))
    is_asked = new.large_quantity == Decimal(50)
    loss = test_adjust.Hand(policy=old)
    loss.scan("P4")
    change(loss, new)
    assert (loss.feed(Quantity(Decimal(150))) == "count.confirm_quantity") is is_asked
    move = Mover()
    move.policy = old
    move.scan("Z-9", kind=LOCATION)
    move.scan("P7")
    move.policy = new
    assert (move.feed(Quantity(Decimal(150))) == "count.confirm_quantity") is is_asked


@pytest.mark.parametrize("on", [True, False])
def test_goods_are_checked_at_hand_over_as_the_settings_say(on: bool) -> None:
    hand = test_hand_over.Hand(Policy(check_hand_over=not on))
    hand.world.closed.add(4)
    hand.scan("O1", ORDER)
    hand.later()
    change(hand, Policy(check_hand_over=on))
    hand.scan("PU-1", LOCATION)
    assert (hand.step == "hand_over.confirm") is on
    assert bool(hand.writes) is not on


@pytest.mark.parametrize("on", [True, False])
def test_totes_are_verified_from_the_next_take_on(on: bool) -> None:
    hand = Picker(orders={"O1": [line(1, "P1", 3)], "O2": [line(1, "P1", 1)]})
    change(hand, Policy(verify_totes=not on))
    hand.scan("P1")
    change(hand, Policy(verify_totes=on))
    assert (hand.state.step_name == "pick.tote") is not on, "a tote that was asked for still is"
    hand.feed(UnknownCode("A"))
    hand.scan("P1")
    assert (hand.state.step_name == "pick.tote") is on


@pytest.mark.parametrize("scanned", [True, False])
def test_receiving_location_setting_applies_from_next_product_unless_scanned(scanned: bool) -> None:
    hand = Receiver()
    hand.say("D-1")
    if scanned:
        hand.feed(Scan((Match(LOCATION, "A-1", "A-1", code="A-1"),)))
    before = hand.state.receiving_location
    hand.context = hand.context._replace(policy=Policy(receiving_location="DOCK-9"))
    hand.feed(Resumed())
    assert hand.state.receiving_location == (before if scanned else "DOCK-9")
    assert Decimal(0) == hand.state.done_total
