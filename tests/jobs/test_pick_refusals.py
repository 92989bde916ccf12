"""Every why-not of picking: it says what was scanned, what it is and why not, and each way on is a number."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from aisle.jobs.job import Close, Query, Rows, Start
from aisle.jobs.view import WRONG
from aisle.scan.grammar_and_meaning_types import LOCATION, ORDER, Choice, Command, Quantity, UnknownCode
from aisle.tui.message_text import MessageWriter
from tests.jobs.pick_runner import Hand, line


def one() -> Hand:
    """An order with two lines at two places, from pools 1 and 2."""
    return Hand(
        line(1, "P1", 3, preferred_location_code="A-1", stock_pool=1, picking_stock_pool_array=["1", "2"]),
        line(2, "P2", 1, preferred_location_code="A-2"),
    )


def round_of_two() -> Hand:
    """The same, with a second order."""
    orders = {
        "O1": [line(1, "P1", 3, preferred_location_code="A-1")],
        "O2": [line(1, "P2", 1, preferred_location_code="A-2")],
    }
    return Hand(orders=orders)


def told(hand: Hand, product: str = "P9", **row: Any) -> str:
    """What is said of a product of no order, when this is known of it."""
    hand.books[f"unexpected_product {product}"] = row
    return hand.scan(product)


def test_a_foreign_product_is_asked_about_once_and_can_be_looked_up() -> None:
    hand = one()
    assert told(hand) == "pick.not_here"
    asked = [effect for effect in hand.effects if isinstance(effect, Query) and effect.name == "unexpected_product"]
    assert [effect.args for effect in asked] == [{"product_number": "P9", "orders": ["1042"], "products": ["P1", "P2"]}]
    assert hand.choices() == ["look_up.title"]
    hand.feed(Choice(1))
    assert hand.effects[-1] == Start("look_up", {"product_number": "P9"})


def test_what_fits_asks_no_book() -> None:
    hand = one()
    hand.scan("A-1", kind=LOCATION)
    hand.scan("P1", "3")
    hand.scan("P2")
    assert {effect.name for effect in hand.effects if isinstance(effect, Query) and not effect.is_live} == {
        "order_to_pick"
    }


def test_a_finished_order_says_that_it_is_not_on_it_and_offers_the_look() -> None:
    hand = one()
    hand.scan("P1", "3")
    hand.scan("P2")
    assert hand.view.name == "pick.done"
    assert told(hand) == "pick.not_here"
    assert "Put it back" not in hand.told
    assert hand.choices() == ["look_up.title"]


def test_a_product_that_another_open_order_needs() -> None:
    hand = one()
    needing = [{"order_number": "O7", "customer_name": "Ms Bell"}]
    assert told(hand, orders=needing) == "pick.for_other"
    assert hand.told == "Product P9 is not needed here; O7 needs it"
    assert hand.choices() == ["pick.choice_leave_for", "pick.choice_add_order", "look_up.title"]
    hand.feed(Choice(1))
    assert hand.effects[-1] == Close(start=Start("pick", {"order_number": "O7"}))
    hand = round_of_two()
    told(hand, orders=needing)
    assert hand.choices() == ["pick.choice_add_order", "look_up.title"]
    hand.feed(Choice(1))
    assert hand.state.totes[-1].order == "O7"


def test_a_product_of_another_order_of_the_round_is_just_taken() -> None:
    hand = round_of_two()
    assert hand.scan("P2") == "pick.tote_full"
    assert hand.told == "1 → B, 1 of 1 · Product P2. B is complete."


@pytest.mark.parametrize(
    ("row", "id_", "ways"),
    [
        ({"is_template": True}, "pick.template", ["look_up.title"]),
        ({"deprecation_date": "20261101"}, "pick.ended", ["look_up.title"]),
        ({"deprecation_date": "2026-11-01T00:00:00"}, "pick.ended", ["look_up.title"]),
        ({"deprecation_date": "2026-11-20T23:59:00"}, "pick.ended", ["look_up.title"]),
        ({"is_active": False}, "pick.not_sold", ["look_up.title"]),
        ({"deprecation_date": "20261201"}, "pick.not_here", ["look_up.title"]),
        (
            {"deprecation_date": "20261101", "referral": "P10", "referral_label": "New"},
            "pick.replaced",
            ["shortage.choice_product", "look_up.title"],
        ),
        (
            {"wholes": [{"product_number": "P2", "label": "Gift box"}]},
            "pick.part_of",
            ["pick.choice_this_one", "look_up.title"],
        ),
        (
            {"parts": [{"product_number": "P1", "label": "Cup"}]},
            "pick.is_set",
            ["pick.choice_this_one", "look_up.title"],
        ),
    ],
)
def test_what_a_product_is_says_why_it_is_not_wanted(row: dict[str, Any], id_: str, ways: list[str]) -> None:
    hand = one()
    assert told(hand, **row) == id_
    assert hand.verdict is not None
    assert hand.verdict.kind == WRONG
    assert hand.choices() == ways


def test_the_referral_product_is_looked_up() -> None:
    hand = one()
    told(hand, is_active=False, referral="P10", referral_label="New")
    assert hand.told == "Product P9 is no longer sold; it is replaced by New"
    hand.feed(Choice(1))
    assert hand.effects[-1] == Start("look_up", {"product_number": "P10"})


def test_a_part_of_a_set_is_taken_as_the_set_when_that_is_meant() -> None:
    hand = one()
    told(hand, wholes=[{"product_number": "P2", "label": "Gift box"}])
    assert hand.feed(Choice(1)) == "pick.picked"
    assert hand.sent == {2: 1}


def test_picking_from_other_location_works_unless_pool_forbids() -> None:
    hand = one()
    hand.books["stock_at_location B-9"] = {"pools": {"3": 5}, "quantity": 5}
    assert hand.scan("B-9", kind=LOCATION) == "pick.wrong_pool"
    assert hand.told == "Product P1 at B-9 is in pool 3; this order is picked from 1, 2"
    assert hand.choices() == ["look_up.title"]
    hand.books["stock_at_location B-8"] = {"pools": {"2": 5, "3": 1}, "quantity": 6}
    assert hand.scan("B-8", kind=LOCATION) == "pick.wrong_location"
    hand.feed(Choice(1))
    hand.scan("P1")
    sent = hand.updates[-1]["order_lines"][0]
    assert (sent["preferred_location_code"], sent["stock_pool"]) == ("B-8", 2)


def test_a_line_without_a_place_goes_where_it_may_be_taken() -> None:
    places = [
        {"location_code": "A-1", "location_order": 1, "quantity": 5, "pools": {"3": 5}},
        {"location_code": "A-2", "location_order": 2, "quantity": 5, "pools": {"2": 5}},
    ]
    hand = Hand(line(1, "P1", 1, stock_pool=1, picking_stock_pool_array=["2"], locations=places))
    assert hand.state.lines[0].location == "A-2"
    hand = Hand(line(1, "P1", 1, stock_pool=1, locations=places))
    assert hand.state.lines[0].location == "A-1"
    assert not any(each.text.id == "pick.note_pool" for each in hand.view.lines)


def test_a_stop_with_nothing_in_the_pools_of_the_order_says_so() -> None:
    places = [{"location_code": "A-1", "location_order": 1, "quantity": 5, "pools": {"3": 5}}]
    hand = Hand(line(1, "P1", 1, stock_pool=1, picking_stock_pool_array=["2"], locations=places))
    assert hand.state.lines[0].barred_pools == (3,)
    note = next(each.text for each in hand.view.lines if each.role == "note")
    assert dict(note.args) == {"pool": "3", "allowed": "1, 2"}
    hand.scan("B-1", kind=LOCATION)
    hand.feed(Choice(1))
    assert not any(each.role == "note" for each in hand.view.lines)


def test_verified_mode_needs_location_scan_for_another_order_too() -> None:
    orders = {
        "O1": [line(1, "P1", 3, preferred_location_code="A-1")],
        "O2": [line(1, "P2", 1, preferred_location_code="A-2")],
    }
    hand = Hand(orders=orders, verified=True)
    assert hand.scan("P2") == "pick.location_first_scan"
    assert hand.told == "Scan location A-2 first, then Product P2"
    assert hand.scan("A-2", kind=LOCATION) == "pick.at_location"
    assert hand.scan("P2") == "pick.tote_full"


def test_quantities_that_cannot_be() -> None:
    hand = one()
    assert hand.scan("P1", "0.5") == "input.whole_number_only"
    assert hand.scan("P1", "4") == "pick.more_than_ordered"
    assert hand.feed(UnknownCode("4")) == "pick.no_quantity"
    hand.scan("P1", "3")
    assert hand.scan("P1") == "pick.full"


# Where goods are put down


def in_hand() -> Hand:
    """Everything is picked, nothing put down."""
    hand = one()
    hand.scan("P1", "3")
    hand.scan("P2")
    return hand


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"tags": [], "goods": 0, "is_used": False},
        {"tags": ["Pickup"], "goods": 3, "is_used": False},
        {"tags": ["click-and-collect"], "goods": 3, "is_used": False},
        {"tags": [], "goods": 3, "is_used": True},
    ],
)
def test_an_empty_place_or_one_where_orders_wait_is_taken_at_once(row: dict[str, Any]) -> None:
    hand = in_hand()
    hand.books["location_use X-1"] = row
    assert hand.scan("X-1", kind=LOCATION) == "pick.put_down"


def test_a_shelf_is_asked_about_once() -> None:
    hand = in_hand()
    hand.books["location_use X-1"] = {"tags": ["cold"], "goods": Decimal(2), "is_used": False}
    assert hand.scan("X-1", kind=LOCATION) == "pick.put_down_at_stock"
    assert not hand.moves()
    assert hand.told == "X-1 has stock of 2 products. Put it down here?"
    assert hand.feed(Choice(1)) == "pick.put_down"
    hand.feed(Command("u"))
    assert hand.scan("X-1", kind=LOCATION) == "pick.put_down_at_stock"


def test_another_order_is_not_opened_on_the_way() -> None:
    hand = round_of_two()
    assert hand.scan("O9", kind=ORDER) == "pick.not_in_batch"
    assert hand.choices() == ["pick.choice_add_order"]


def test_one_scan_takes_goods_of_one_place_alone() -> None:
    lines = (line(1, "P1", 2, preferred_location_code="A-1"), line(2, "P1", 3, preferred_location_code="B-1"))
    hand = Hand(*lines, verified=True)
    hand.scan("A-1", kind=LOCATION)
    assert hand.scan("P1", "5") == "pick.more_than_needed_here"
    assert "only 2 more of Product P1 needed from A-1" in hand.told
    assert hand.feed(Choice(1)) == "pick.picked"
    assert hand.sent == {1: 2}
    assert hand.scan("P1", "3") == "pick.location_first_scan"
    hand.scan("B-1", kind=LOCATION)
    assert hand.scan("P1", "4") == "pick.more_than_ordered"
    assert hand.feed(Choice(1)) == "pick.all_picked"
    hand = Hand(*lines)
    assert hand.scan("P1", "5") == "pick.more_than_needed_here"
    assert hand.feed(Choice(1)) == "pick.picked"
    assert hand.sent == {1: 2}
    assert hand.scan("P1", "3") == "pick.all_picked"
    assert hand.sent == {1: 2, 2: 3}


def test_product_needed_at_other_locations_is_not_shown_as_ordered_here_only() -> None:
    lines = (line(1, "P1", 2, preferred_location_code="A-1"), line(2, "P1", 3, preferred_location_code="B-1"))
    hand = Hand(*lines)
    hand.scan("P1")
    assert hand.feed(Quantity(Decimal(5))) == "pick.more_than_needed_here"
    assert hand.told == "5 is too many: only 2 more of Product P1 needed from A-1"
    assert hand.feed(Choice(1)) == "pick.picked"
    assert hand.sent == {1: 2}


def test_pools_are_called_as_the_store_calls_them_where_it_does() -> None:
    def pool(hand: Hand) -> str:
        return next(
            MessageWriter().write(fact.value) for fact in hand.view.labelled_values if fact.label.id == "label.pool"
        )

    hand = one()
    assert any(isinstance(effect, Query) and effect.name == "store" and effect.is_live for effect in hand.effects)
    assert pool(hand) == "1"
    hand.feed(Rows("store", ({"pools": {"1": "Shop floor", "2": "Reserve", "3": ""}},), 1))
    assert pool(hand) == "Shop floor"
    hand.books["stock_at_location B-9"] = {"pools": {"3": 5}}
    assert hand.scan("B-9", kind=LOCATION) == "pick.wrong_pool"
    assert "is in pool 3; this order is picked from Shop floor, Reserve" in hand.told


def test_skipped_line_keeps_location_verified_for_other_lines() -> None:
    lines = [line(n, f"P{n}", 1, preferred_location_code=place) for n, place in enumerate(("A-1", "A-1", "B-1"), 1)]
    hand = Hand(*lines, verified=True)
    hand.scan("A-1", kind=LOCATION)
    assert hand.feed(Command("n")) == "pick.later"
    assert hand.view.name == "pick.product"
    assert hand.scan("P2") == "pick.picked"
    assert hand.view.name == "pick.location", "another place"
