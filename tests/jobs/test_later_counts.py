"""A count that is not used because somebody counted the same goods later: it is said, whatever opened the count."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

import pytest

from aisle.jobs.job import Changed, Close
from aisle.jobs.view import ListView, Msg, Verdict, msg
from tests.jobs.test_count import LATER_AT, Hand, product, wide


class Opened(NamedTuple):
    """Way to open a count."""

    args: dict[str, Any]
    scans: tuple[str, ...] = ()
    """Locations or letters after it is opened."""
    later: tuple[str, str] = ("P1", "A-1")
    """Product and location that Ben counts, too."""
    label: str = "Product P1"
    """Name of what is not used."""
    is_listed: bool = False
    """True if another location is counted afterwards."""


OPENED = {
    "menu": Opened({}, ("A-1",)),
    "location page": Opened({"location_code": "A-1"}),
    "product page": Opened({"product_number": "W"}, (), ("W", "A-1"), "A-1"),
    "count list": Opened({}, ("3", "A-1", "A-2", "d"), is_listed=True),
}


def opened(way: Opened) -> Hand:
    """A count of two lines, both with a difference."""
    hand = Hand(
        {"A-1": [product("P1", 5), product("P2", 5)], "A-2": [product("P3", 5)]},
        {"W": wide({"A-1": 5, "A-2": 5}, 10)},
        **way.args,
    )
    for text in way.scans:
        if text.isdigit():
            hand.type(text)
        elif len(text) == 1:
            hand.say(text)
        else:
            hand.place(text)
    if "product_number" in way.args:
        for place in ("A-1", "A-2"):
            hand.place(place)
            hand.type(3)
    else:
        for number in ("P1", "P2"):
            hand.scan(number, "3")
    return hand


def count_later(hand: Hand, way: Opened) -> None:
    """Ben counts one of the lines."""
    number, location = way.later
    row = {"product_number": number, "location_code": location, "pool": 1, "counted_quantity": Decimal(4)}
    hand.later = ({**row, "user_name": "Ben", "at": LATER_AT},)


def verdicts(hand: Hand) -> list[Verdict]:
    """What the page says, and what the page below says if the count closes."""
    closed = [effect.verdict for effect in hand.effects if isinstance(effect, Close)]
    return [verdict for verdict in (hand.verdict, *closed) if verdict]


def not_used(way: Opened) -> Msg:
    return msg("count.left_out", label=way.label, name="Ben", counted=Decimal(4))


@pytest.mark.parametrize("name", OPENED)
def test_count_that_is_not_used_is_said_at_the_end(name: str) -> None:
    way = OPENED[name]
    hand = opened(way)
    assert hand.say("d") == "count.differ_value"
    count_later(hand, way)
    hand.say("y")
    assert len(hand.entries) == 1
    assert [verdict.detail for verdict in verdicts(hand)] == [not_used(way)] * len(verdicts(hand))


@pytest.mark.parametrize("name", OPENED)
def test_count_of_which_nothing_is_used_says_so_and_not_that_nothing_was_counted(name: str) -> None:
    way = OPENED[name]
    hand = opened(way)
    for _ in range(2):
        hand.say("u")
    if "product_number" in way.args:
        hand.place("A-1")
        hand.type(3)
    else:
        hand.scan("P1", "3")
    count_later(hand, way)
    assert hand.say("d").startswith("count.missing")
    assert hand.verdict
    assert hand.verdict.detail == not_used(way)
    while hand.state.phase == "missing" and not any(isinstance(effect, Close) for effect in hand.effects):
        hand.say("k")
    assert not hand.entries
    for verdict in verdicts(hand):
        assert not_used(way) in (verdict.text, verdict.detail)


def test_location_where_a_product_is_new_takes_no_figure_of_another_location() -> None:
    """The location that was counted before was read again, and Ben counted there."""
    way = OPENED["product page"]
    hand = opened(way)
    hand.place("A-1")
    count_later(hand, way)
    hand.feed(Changed("product", "W"))
    hand.place("B-9")
    line = hand.state.lines[-1]
    assert (line.location, line.latest, line.later) == ("B-9", None, None)


@pytest.mark.parametrize("name", OPENED)
def test_open_sheet_marks_what_will_not_be_used(name: str) -> None:
    way = OPENED[name]
    hand = opened(way)
    hand.say("d")
    before = hand.job.view(hand.state)
    count_later(hand, way)
    hand.feed(Changed("log", ""))
    sheet = hand.job.view(hand.state)
    assert isinstance(before, ListView)
    assert isinstance(sheet, ListView)
    (marked,) = [row.cells for row in sheet.rows if row.cells[0] == not_used(way)]
    assert not any(dict(cell.args).get("text") for cell in marked[1:]), "its figures are not sent"
    assert len(sheet.rows) == len(before.rows) == 2
