"""A take of more than lies at the place by the books says so, and is taken all the same."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from aisle.jobs.view import GOOD, Msg, msg
from aisle.scan.grammar_and_meaning_types import Command, Quantity
from tests.jobs.pick_runner import Hand, line, order


def at(stock: int | None, quantity: int = 4, **more: Any) -> dict[str, Any]:
    """A line at A-1, where so many lie."""
    lying = {} if stock is None else {"stock": {"A-1": Decimal(stock), "A-2": Decimal(9)}}
    return line(1, "P1", quantity, preferred_location_code="A-1", **lying, **more)


def told(hand: Hand) -> tuple[str, Decimal] | None:
    """The place, and what the stock was there, where that is said; the take is good."""
    assert hand.verdict is not None
    assert hand.verdict.kind == GOOD
    more = hand.verdict.detail
    return None if more is None else (str(dict(more.args)["place"]), Decimal(str(dict(more.args)["left"])))


@pytest.mark.parametrize(
    ("stock", "takes", "words"),
    [
        (4, [1, 1, 1, 1], [None] * 4),
        (4, [4], [None]),
        (3, [4], [3]),
        (3, [1, 1, 1, 1], [None, None, None, 0]),
        (3, [2, 2], [None, 1]),
        (1, [2, 1], [1, 0]),
        (0, [1, 1], [0, 0]),
        (0, [4], [0]),
        (-2, [1], [0]),
        (None, [4], [None]),
    ],
)
def test_more_than_the_stock_is_said_and_taken(stock: int | None, takes: list[int], words: list[int | None]) -> None:
    hand = Hand(at(stock))
    said = []
    for each in takes:
        hand.scan("P1", str(each))
        said.append(told(hand))
    assert said == [None if left is None else ("A-1", Decimal(left)) for left in words]
    assert hand.sent == {1: sum(takes)}


def test_capitals_of_a_location_do_not_matter() -> None:
    hand = Hand(at(3) | {"preferred_location_code": "a-1"})
    hand.scan("P1", "4")
    assert told(hand) == ("a-1", Decimal(3))


def test_a_number_says_it_too() -> None:
    hand = Hand(at(2, 4))
    hand.scan("P1")
    hand.feed(Quantity(Decimal(3)))
    assert told(hand) == ("A-1", Decimal(1))
    hand.feed(Quantity(Decimal(2)))
    assert hand.verdict
    assert hand.verdict.detail == msg("pick.at_no_location", count=Decimal(1))


def test_what_is_put_back_is_there_again() -> None:
    hand = Hand(at(2, 4))
    hand.scan("P1", "2")
    hand.feed(Command("u"))
    hand.scan("P1", "2")
    assert told(hand) is None


def test_what_was_read_again_counts_from_there() -> None:
    """The stock that comes with the line has the picks before it."""
    hand = Hand(at(3, 4))
    hand.scan("P1", "2")
    hand.feed(order(at(1, 4, picked_quantity=2)))
    hand.scan("P1")
    assert told(hand) is None
    hand.scan("P1")
    assert told(hand) == ("A-1", Decimal(0))


def test_location_that_a_later_read_no_longer_names_has_no_stock() -> None:
    """The page keeps the location of the first read."""
    hand = Hand(at(3, 4))
    hand.feed(order(line(1, "P1", 4, stock={"": Decimal(0)})))
    hand.scan("P1", "2")
    assert told(hand) == ("A-1", Decimal(0))
    hand.feed(Command("u"))
    assert hand.told == "Undone: Product P1 back from 2 to 0, 2 without location"


def test_orders_of_a_round_share_the_stock() -> None:
    hand = Hand(orders={f"O{n}": [at(3, quantity)] for n, quantity in ((1, 2), (2, 1), (3, 2))})
    hand.scan("P1", "2")
    assert told(hand) is None
    hand.scan("P1")
    assert told(hand) is None
    hand.scan("P1")
    assert told(hand) == ("A-1", Decimal(0))


def test_what_no_stock_is_kept_of_has_none_to_be_more_than() -> None:
    hand = Hand(at(0, is_stock=False))
    hand.scan("P1")
    assert told(hand) is None


def in_pools(*stock: int, quantity: int = 4, pool: int | None = 1) -> dict[str, Any]:
    """A line of `pool` at A-1, where pools 1, 2 … have this stock."""
    pools = {str(number): Decimal(each) for number, each in enumerate(stock, 1) if each}
    return at(sum(stock), quantity, stock_pool=pool, stock_by_pool={"A-1": pools})


@pytest.mark.parametrize(
    ("stock", "takes", "words"),
    [
        ((0, 4), [1, 1], [("A-1", 0, "1", "2 4")] * 2),
        ((1, 4), [1, 1], [None, ("A-1", 0, "1", "2 4")]),
        ((0, 4, 2), [1], [("A-1", 0, "1", "2 4, 3 2")]),
        ((4, 4), [4], [None]),
    ],
)
def test_stock_of_another_pool_is_no_stock_of_the_line(
    stock: tuple[int, ...], takes: list[int], words: list[tuple[str, int, str, str] | None]
) -> None:
    hand = Hand(in_pools(*stock))
    said = []
    for each in takes:
        hand.scan("P1", str(each))
        assert hand.verdict is not None
        detail = hand.verdict.detail
        args = dict(detail.args) if detail else {}
        said.append((args["place"], args["left"], args["pool"], args["others"]) if detail else None)
    assert said == words
    assert hand.sent == {1: sum(takes)}


def test_a_line_without_a_pool_has_the_stock_of_all() -> None:
    hand = Hand(in_pools(0, 4, pool=None))
    hand.scan("P1", "4")
    assert told(hand) is None


def test_lines_of_two_pools_share_no_stock() -> None:
    hand = Hand(orders={"O1": [in_pools(2, 2, quantity=2)], "O2": [in_pools(2, 2, quantity=2, pool=2)]})
    hand.scan("P1", "2")
    assert told(hand) is None
    hand.scan("P1", "2")
    assert told(hand) is None


@pytest.mark.parametrize(
    ("line_", "takes", "nowhere", "undone"),
    [
        (at(3), [4], [1], [1]),
        (at(3), [2, 2], [None, 1], [1, None]),
        (at(0), [1, 2], [1, 2], [2, 1]),
        (in_pools(1, 4), [3], [2], [2]),
        (at(4), [4], [None], [None]),
    ],
)
def test_what_is_booked_at_no_location_is_said(
    line_: dict[str, Any], takes: list[int], nowhere: list[int | None], undone: list[int | None]
) -> None:
    """Of a pick beyond the stock and of its undo. The service takes no more from the location than it has."""
    hand = Hand(line_)
    said: list[Any] = []
    for each in takes:
        hand.scan("P1", str(each))
        detail = hand.verdict.detail if hand.verdict else None
        said.append(dict(detail.args)["nowhere"] if detail else None)
    assert said == nowhere
    for count in undone:
        assert hand.feed(Command("u")) == "pick.undone"
        where = dict(hand.verdict.text.args)["where"] if hand.verdict else None
        place = dict(where.args)["place"] if isinstance(where, Msg) else None
        assert (dict(place.args)["count"] if isinstance(place, Msg) else None) == count


@pytest.mark.parametrize(
    ("stock", "takes", "told"),
    [
        (0, 2, "Undone: Product P1 back from 2 to 0, 2 without location"),
        (1, 2, "Undone: Product P1 back from 2 to 0, A-1; 1 without location"),
        (2, 2, "Undone: Product P1 back from 2 to 0, A-1"),
    ],
)
def test_undo_names_no_location_where_nothing_was_booked(stock: int, takes: int, told: str) -> None:
    hand = Hand(at(stock))
    hand.scan("P1", str(takes))
    hand.feed(Command("u"))
    assert hand.told == told
