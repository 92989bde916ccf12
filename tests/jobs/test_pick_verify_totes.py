"""Totes that are verified by a scan after each take of a batch."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aisle.jobs.job import Changed, Event, Policy, Resumed
from aisle.jobs.pick.open_question_and_choices import open_choices
from aisle.jobs.view import GOOD, INFO, WRONG
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    ORDER,
    PRODUCT,
    REFERENCE,
    Back,
    Choice,
    Command,
    CursorKey,
    Match,
    Quantity,
    Scan,
    Text,
    UnknownCode,
)
from tests.jobs.pick_runner import Hand, order
from tests.jobs.test_pick_batch import three, totes
from tests.run_length import tries

LABELS = {"O1": ("A", "T-1"), "O2": ("B", "T-2"), "O3": ("C", "4711")}
"""Letter and label of each order's tote."""


def batch(*, verify_totes: bool = True) -> Hand:
    """A batch of three orders whose totes have labels."""
    hand = Hand(orders=three())
    labelled = (tote._replace(code=LABELS[tote.order][1]) for tote in hand.state.totes)
    hand.state = hand.state._replace(totes=tuple(labelled))
    hand.context = hand.context._replace(policy=Policy(verify_totes=verify_totes))
    return hand


def scanned(kind: str, key: str, quantity: str = "1") -> Scan:
    return Scan((Match(kind, key, key, Decimal(quantity), quantity != "1", key),))


def test_no_tote_is_asked_for_without_the_setting_or_a_batch() -> None:
    hand = batch(verify_totes=False)
    hand.scan("P1")
    assert hand.state.step_name == "pick.product"
    single = Hand(orders={"O1": three()["O1"]})
    single.context = single.context._replace(policy=Policy(verify_totes=True))
    single.scan("P1")
    assert single.state.step_name == "pick.product"


def test_each_tote_of_a_take_is_asked_for() -> None:
    hand = batch()
    assert hand.scan("P1", "7") == "pick.picked_for_totes"
    assert hand.all_sent == {("O1", 1): 3, ("O2", 1): 4}, "the take is booked at once"
    for letter, quantity, label in (("A", 3, "T-1"), ("B", 4, "t-2")):
        assert hand.state.step_name == "pick.tote"
        shown = {each.role: each.text for each in hand.view.lines}
        assert dict(shown["location"].args)["text"] == f"{letter} {label.upper()}"
        assert dict(shown["quantity"].args)["value"] == quantity
        assert hand.feed(UnknownCode(label)) == "pick.in_tote"
        assert hand.verdict
        assert hand.verdict.kind == GOOD
    assert hand.state.step_name == "pick.product"
    assert totes(hand) == {"A": 3, "B": 4, "C": 0}


@pytest.mark.every_case
@pytest.mark.parametrize(
    "event",
    [
        scanned(PRODUCT, "P1"),
        scanned(PRODUCT, "P2"),
        scanned(LOCATION, "A-1"),
        scanned(ORDER, "O2"),
        scanned(ORDER, "O9"),
        UnknownCode("T-2"),
        UnknownCode("B"),
        UnknownCode("99999"),
        Text("words"),
        Quantity(Decimal(3)),
        Command("n"),
        Command("s"),
        Command("y"),
        CursorKey("enter"),
        Back(),
        Choice(2),
    ],
)
def test_nothing_but_the_tote_is_taken(event: Event) -> None:
    hand = batch()
    hand.scan("P1")
    before = hand.state
    assert hand.feed(event) in ("pick.verify_tote_first", "pick.prompt_verify_tote")
    assert hand.verdict
    assert hand.verdict.kind == WRONG
    assert dict(hand.verdict.text.args)["tote"] == "A T-1"
    assert hand.state == before


@pytest.mark.parametrize(
    "event", [UnknownCode("A"), UnknownCode("*T-1*"), Text("T-1"), scanned(ORDER, "O1"), scanned(REFERENCE, "O1")]
)
def test_letter_label_and_order_name_the_tote(event: Event) -> None:
    hand = batch()
    hand.scan("P1")
    assert hand.feed(event) == "pick.in_tote"
    assert hand.state.step_name == "pick.product"


def test_a_label_that_is_also_a_record_names_the_tote() -> None:
    hand = batch()
    hand.scan("P4")
    assert hand.feed(scanned(PRODUCT, "4711")) == "pick.in_tote"


def test_an_unreadable_label_is_told() -> None:
    hand = batch()
    hand.scan("P1")
    assert hand.view.choice_letters == "l"
    assert hand.feed(Choice(1)) == "pair"
    assert hand.verdict
    assert hand.verdict.kind == INFO
    assert hand.told == "A T-1: Label unreadable"
    assert hand.state.step_name == "pick.product"


@pytest.mark.parametrize("verified", [0, 1, 2])
def test_undo_takes_take_and_verification_back(verified: int) -> None:
    hand = batch()
    hand.scan("P1", "7")
    for label in ("T-1", "T-2")[:verified]:
        hand.feed(UnknownCode(label))
    assert hand.feed(Command("u")) == "pair"
    assert hand.state.step_name == "pick.product"
    assert totes(hand) == {"A": 0, "B": 0, "C": 0}


def test_a_typed_total_asks_for_the_totes_that_it_adds_to() -> None:
    hand = batch()
    hand.scan("P1")
    hand.feed(UnknownCode("T-1"))
    hand.feed(Quantity(Decimal(5)))
    assert hand.state.totes_to_verify == ("O1", "O2")
    for label in ("T-1", "T-2"):
        hand.feed(UnknownCode(label))
    hand.feed(Quantity(Decimal(4)))
    hand.feed(Choice(1))
    assert totes(hand) == {"A": 3, "B": 1, "C": 0}
    assert hand.state.step_name == "pick.product", "nothing went into a tote"


def test_the_last_take_is_verified_before_goods_are_put_down() -> None:
    hand = batch()
    for product, quantity in (("P1", "8"), ("P2", "1"), ("P3", "1"), ("P4", "2")):
        hand.scan(product, quantity)
        for wanted in hand.state.totes_to_verify:
            assert hand.state.step_name == "pick.tote"
            assert hand.feed(scanned(LOCATION, "PU-1")) == "pick.verify_tote_first"
            hand.feed(UnknownCode(LABELS[wanted][1]))
    assert hand.state.step_name == "pick.done"


def test_the_tote_of_an_order_that_leaves_is_not_asked_for() -> None:
    hand = batch()
    hand.scan("P1", "7")
    hand.feed(order(*three()["O1"], number="O1", is_rejected=True))
    assert hand.state.step_name == "pick.return"
    assert hand.state.totes_to_verify == ("O2",)
    put_back = next(at for at, choice in enumerate(open_choices(hand.state), 1) if choice.kind == "put_back")
    hand.feed(Choice(put_back))
    assert hand.state.step_name == "pick.tote"
    assert hand.feed(UnknownCode("T-2")) == "pick.in_tote"


INPUTS: st.SearchStrategy[Any] = st.one_of(
    st.builds(scanned, st.just(PRODUCT), st.sampled_from(["P1", "P2", "P3", "P4"]), st.sampled_from(["1", "2", "5"])),
    st.builds(scanned, st.just(ORDER), st.sampled_from([*LABELS, "O9"])),
    st.builds(scanned, st.just(LOCATION), st.sampled_from(["A-1", "A-2", "PU-1"])),
    st.builds(UnknownCode, st.sampled_from([*(each for pair in LABELS.values() for each in pair), "D", "99999"])),
    st.builds(Quantity, st.integers(0, 9).map(Decimal)),
    st.builds(Choice, st.integers(1, 3)),
    st.sampled_from([Command("u"), Command("n"), Back(), Text("words"), Resumed(), Changed("order", "")]),
)


def names(event: Any) -> set[str]:
    """What an input names."""
    return {event.code} if isinstance(event, UnknownCode) else {each.key for each in getattr(event, "matches", ())}


@settings(max_examples=tries(60, 600), deadline=None)
@given(st.lists(INPUTS, max_size=40))
def test_no_take_is_verified_by_a_wrong_tote(events: list[Any]) -> None:
    """The quantities are those of the takes: a scan while a tote is asked for changes none."""
    hand = batch()
    for event in events:
        asked, before, quantities = hand.state.totes_to_verify, hand.state.lines, totes_of_all(hand)
        chosen = open_choices(hand.state)[event.number - 1 : event.number] if isinstance(event, Choice) else ()
        hand.feed(event)
        left = hand.state.totes_to_verify
        sent = {key: value for key, value in hand.all_sent.items() if value}
        assert sent == {line.key: line.picked for line in hand.state.lines if line.picked}
        if not asked:
            filled = {now.order for now in hand.state.lines if now.picked > quantities[now.key]}
            assert set(left) == (filled if event != Command("u") else set())
        elif event == Command("u"):
            assert not left
        elif left != asked:
            assert left == asked[1:]
            is_passed = [choice.kind for choice in chosen] == ["label_unreadable"]
            assert is_passed or names(event) & {asked[0], *LABELS[asked[0]]}
            assert hand.state.lines == before
        else:
            assert hand.state.lines == before


def totes_of_all(hand: Hand) -> dict[tuple[str, int], Decimal]:
    """The picked quantity of each line."""
    return {line.key: line.picked for line in hand.state.lines}
