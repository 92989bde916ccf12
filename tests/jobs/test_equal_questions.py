"""Two equal questions name what tells them apart (the stock pool), and a question is asked once a product."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import pytest

from aisle.jobs.job import Policy, Rows
from aisle.jobs.view import ListView
from aisle.scan.grammar_and_meaning_types import LOCATION, Choice, Command, Quantity
from aisle.tui.message_text import MessageWriter
from tests.jobs import pick_runner, test_adjust
from tests.jobs.test_count import LOOSE, Hand, product

POOLS = {"1": "Shop", "2": "Web", "3": "Reserve"}
STRICT = Policy(recount_units=Decimal(1), recount_value=Decimal(0))


def several(number: str, **pools: int) -> dict[str, Any]:
    """A product that lies at a place in several pools (`p1=5`)."""
    return product(number, sum(pools.values()), pools={name[1:]: Decimal(have) for name, have in pools.items()})


def counting(*products: dict[str, Any], policy: Policy = LOOSE, **more: Any) -> Hand:
    """A count of the place A-1."""
    hand = Hand({"A-1": list(products)}, policy=policy, pools=POOLS, default=1, **more)
    hand.scan("A-1", kind=LOCATION)
    return hand


def texts(hand: Any) -> str:
    """The lines of the screen, its rows and the verdict, as long as they can be."""
    voice, view = MessageWriter(), hand.job.view(hand.state)
    found = [line.text for line in view.lines] if not isinstance(view, ListView) else []
    rows = [cell for row in view.rows for cell in row.cells] if isinstance(view, ListView) else []
    said = [hand.verdict.text] if hand.verdict else []
    return "\n".join(voice.write(text) for text in (*found, *rows, *said))


def questions(hand: Hand) -> Iterable[str]:
    """The texts of the question that is open, until none is."""
    while hand.step == "count.missing":
        yield texts(hand)
        hand.feed(Choice(1))


@pytest.mark.parametrize(
    ("pools", "names"),
    [
        ({"p1": 5}, []),
        ({"p2": 5}, []),
        ({"p1": 5, "p2": 3}, ["Shop, Web"]),
        ({"p1": 5, "p2": 3, "p3": 1}, ["Shop, Web, Reserve"]),
        ({"p2": 3, "p3": 1}, ["Web, Reserve"]),
        ({"p1": 5, "p9": 2}, ["Shop, 9"]),
    ],
)
def test_what_is_not_scanned_is_asked_once_a_product_with_its_pools(pools: dict[str, int], names: list[str]) -> None:
    hand = counting(several("P1", **pools), several("P2", p1=1, p2=1))
    hand.feed(Command("d"))
    asked = list(questions(hand))
    assert len(asked) == 2
    assert all(name in asked[0] for name in names)
    assert f"{next(iter(pools.values()))} expected" in asked[0], "a number sets the first pool"
    hand.feed(Choice(1))
    booked = {
        (entry["product_number"], name)
        for entry in hand.entries
        for name in entry
        if name.startswith("stock_pool_") or name == "counted_quantity"
    }
    assert {number for number, _ in booked} == {"P1", "P2"}
    assert len([entry for entry in hand.entries if entry["product_number"] == "P1"]) == len(pools)


@pytest.mark.parametrize("choice", [2, 4])
def test_leaving_it_leaves_all_its_pools(choice: int) -> None:
    hand = counting(several("P1", p1=5, p2=3), several("P2", p1=1, p2=1))
    hand.feed(Command("d"))
    hand.feed(Choice(choice))
    if choice == 2:
        assert "Product P2" in texts(hand)
        hand.feed(Choice(2))
    assert hand.step != "count.missing"
    assert not hand.entries


def test_how_many_are_left_counts_products() -> None:
    hand = counting(several("P1", p1=5, p2=3), several("P2", p1=1, p2=1))
    hand.feed(Command("d"))
    assert "2" in MessageWriter().write(hand.job.view(hand.state).choices[3])


def test_a_pool_that_is_left_after_another_was_counted_is_named() -> None:
    hand = counting(several("P1", p1=5, p2=3))
    hand.scan("P1", "5")
    hand.feed(Command("d"))
    assert "Product P1 (Web)" in texts(hand)


def test_a_second_count_names_its_pool() -> None:
    hand = counting(several("P1", p1=5, p2=9), policy=STRICT)
    hand.scan("P1", "2")
    hand.feed(Command("d"))
    hand.feed(Choice(1))
    assert hand.step == "count.recount"
    assert "Product P1 (Shop)" in texts(hand)
    hand.feed(Quantity(Decimal(2)))
    assert "Product P1 (Web)" in texts(hand)


def test_none_the_second_time_is_said_once_a_product() -> None:
    hand = counting(several("P1", p1=5, p2=9), policy=STRICT)
    hand.feed(Command("d"))
    hand.feed(Choice(1))
    assert hand.step == "count.recount"
    hand.feed(Quantity(Decimal(0)))
    assert hand.step == "count.summary"


def test_rows_of_what_differs_name_their_pools() -> None:
    hand = counting(several("P1", p1=5, p2=9))
    hand.feed(Command("d"))
    hand.feed(Choice(1))
    assert "Product P1 (Shop)" in texts(hand)
    assert "Product P1 (Web)" in texts(hand)


def test_what_is_scanned_of_a_product_of_two_pools_names_the_pool() -> None:
    hand = counting(several("P1", p1=5, p2=9))
    hand.scan("P1")
    assert "Product P1 (Shop)" in texts(hand)
    hand = counting(several("P1", p1=5))
    hand.scan("P1")
    assert "(Shop)" not in texts(hand)


def test_places_of_a_loss_name_their_pools(monkeypatch: pytest.MonkeyPatch) -> None:
    place = {"location_code": "A-1", "quantity": 8, "pools": {"1": 5, "3": 3}}
    row = {"product_number": "P7", "product_name": "Product P7", "locations": [place], "pools": []}
    monkeypatch.setitem(test_adjust.PRODUCTS, "P7", row)
    hand = test_adjust.Hand()
    assert hand.scan("P7") == "adjust.which_location"
    assert "A-1 (Web)" in texts(hand)
    hand = test_adjust.Hand()
    hand.scan("A-1", kind=LOCATION)
    assert hand.scan("P7") == "adjust.which_pool"
    assert "A-1 (Web)" in texts(hand)
    hand.feed(Choice(2))
    hand.feed(Command("d"))
    hand.feed(Choice(1))
    assert [entry["stock_pool_3"] for entry in hand.entries] == [-1]


def test_two_stops_of_one_product_at_one_place_name_their_pools() -> None:
    lines = [pick_runner.line(n, "P1", 2, preferred_location_code="A-1", stock_pool=n) for n in (1, 2)]
    hand = pick_runner.Hand(*lines)
    hand.feed(Rows("store", ({"pools": POOLS},), 1))
    assert "Product P1 (Shop)" in texts(hand)
    assert [stop.label for stop in hand.view.upcoming] == ["Product P1 (Web)"]
