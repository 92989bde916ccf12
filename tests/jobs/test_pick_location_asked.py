"""What is scanned while the screen shows another place is booked where it was taken: asked where two are possible."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

import pytest

from aisle.jobs.job import Closed
from aisle.scan.grammar_and_meaning_types import LOCATION, ORDER, PERSON, PRODUCT, Back, Choice, Command, Quantity
from tests.jobs.pick_runner import Hand, line, picked

FLAKES, SPICE, SALT = "110010", "110044", "110050"


def lies(*places: str, pool: int = 1) -> dict[str, Any]:
    """Rows of places with some of a product in one pool."""
    return {"locations": [{"location_code": code, "quantity": Decimal(9), "pools": {str(pool): 9}} for code in places]}


def walk(*, spice: str = "A-04-1", flakes: str = "A-01-3", **more: Any) -> Hand:
    """Corn flakes come first, then spice."""
    here = {"preferred_location_code": flakes, "store_walking_order": 1, "stock_pool": 1}
    then = {"preferred_location_code": spice, "store_walking_order": 2, "stock_pool": 1}
    return Hand(line(1, FLAKES, 12, **here, **more), line(2, SPICE, 12, **then))


def redirected(place: str = "BR-04") -> Hand:
    """The rest of the flakes is to be taken elsewhere; the screen shows spice."""
    hand = walk()
    hand.feed(Closed("shortage", {"kind": "elsewhere", "location": place, "pool": 2}))
    return hand


def booked(hand: Hand) -> list[tuple[int, Decimal, str]]:
    """Line, quantity and place of every update."""
    return [
        (each["line_number"], each["picked_quantity"], each["preferred_location_code"])
        for body in hand.updates
        for each in body["order_lines"]
    ]


def places(hand: Hand) -> list[str]:
    """What can be chosen."""
    return [str(dict(choice.args)["place"]) for choice in hand.view.choices]


class Case(NamedTuple):
    """A scan of flakes or spice at a stop, and what it leads to."""

    name: str
    hand: Any
    before: tuple[tuple[str, str], ...] = ()
    """Scans before it: kind and key."""
    asked: tuple[str, ...] = ()
    """The places that are asked about; none: it is booked at once."""
    booked: str = ""
    product: str = FLAKES


def skipped(**more: Any) -> Hand:
    """The screen shows spice, and the flakes are still to be taken at their place."""
    hand = walk(**more)
    hand.feed(Command("n"))
    return hand


CASES = [
    Case("the stop on the screen", walk, booked="A-01-3"),
    Case("the stop on the screen, its place scanned", walk, ((LOCATION, "A-01-3"),), booked="A-01-3"),
    Case("another stop at the place on the screen", lambda: skipped(flakes="A-04-1"), booked="A-04-1"),
    Case("another stop, which lies there alone", skipped, booked="A-01-3"),
    Case("another stop, of a third place", lambda: skipped(**lies("A-01-3", "C-1")), booked="A-01-3"),
    Case(
        "some of it lies at the place on the screen",
        lambda: skipped(**lies("A-01-3", "A-04-1")),
        (),
        ("A-04-1", "A-01-3"),
    ),
    Case(
        "what lies there is of a pool that is not for it",
        lambda: skipped(picking_stock_pool_array=[1], **lies("A-04-1", pool=9)),
        booked="A-01-3",
    ),
    Case("the place on the screen was scanned", skipped, ((LOCATION, "A-04-1"),), ("A-04-1", "A-01-3")),
    Case("redirected", redirected, (), ("BR-04", "A-01-3")),
    Case(
        "redirected, and the place on the screen scanned",
        redirected,
        ((LOCATION, "A-04-1"),),
        ("A-04-1", "BR-04", "A-01-3"),
    ),
    Case("redirected, and its new place scanned", redirected, ((LOCATION, "BR-04"),), booked="BR-04"),
    Case("redirected to the place on the screen", lambda: redirected("A-04-1"), booked="A-04-1"),
]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_scan_is_booked_where_the_screen_says_or_asked(case: Case) -> None:
    hand = case.hand()
    for kind, key in case.before:
        hand.scan(key, kind=kind)
    told = hand.scan(case.product)
    if not case.asked:
        assert [place for _, _, place in booked(hand)] == [case.booked]
        assert hand.view.lines[0].text.args[0][1] == case.booked
        return
    assert told == "pick.which_location"
    assert not booked(hand)
    assert places(hand) == list(case.asked)


@pytest.mark.parametrize("choice", [1, 2])
def test_the_place_that_is_chosen_is_booked_and_shown(choice: int) -> None:
    hand = redirected()
    hand.scan(FLAKES)
    place = places(hand)[choice - 1]
    assert hand.feed(Choice(choice)) == "pair"
    assert place in hand.told
    assert booked(hand) == [(1, Decimal(1), place)]
    assert hand.view.lines[0].text.args[0][1] == place
    assert hand.scan(FLAKES) == "pick.picked"
    assert booked(hand)[-1] == (1, Decimal(2), place)


def test_scans_while_it_is_asked_are_counted() -> None:
    hand = redirected()
    hand.scan(FLAKES)
    hand.scan(FLAKES, "3")
    hand.scan(FLAKES)
    hand.feed(Choice(1))
    assert booked(hand) == [(1, Decimal(5), "BR-04")]


def test_back_books_nothing() -> None:
    hand = redirected()
    hand.scan(FLAKES)
    hand.feed(Back())
    assert not booked(hand)
    assert picked(hand) == {1: 0, 2: 0}


def test_undo_takes_the_choice_back_step_by_step() -> None:
    hand = redirected()
    hand.scan(FLAKES)
    hand.feed(Choice(2))
    hand.feed(Command("u"))
    assert booked(hand)[-1] == (1, Decimal(0), "A-01-3")
    hand.feed(Command("u"))
    assert [line.location for line in hand.state.lines if line.product == FLAKES] == ["BR-04"]


def test_a_scan_after_the_scan_of_another_place_is_asked() -> None:
    """It was asked whether the goods are taken there; a scan is no answer to that."""
    hand = walk()
    hand.books["stock_at_location BR-04"] = {"pools": {"1": Decimal(4)}}
    assert hand.scan("BR-04", kind=LOCATION) == "pick.wrong_location"
    assert hand.scan(FLAKES) == "pick.which_location"
    assert places(hand) == ["A-01-3", "BR-04"]
    hand.feed(Choice(2))
    assert booked(hand) == [(1, Decimal(1), "BR-04")]


def test_what_is_weighed_is_asked_before_its_weight() -> None:
    hand = walk(allow_decimal=True, unit="kg")
    hand.feed(Closed("shortage", {"kind": "elsewhere", "location": "BR-04", "pool": 2}))
    assert hand.scan(FLAKES) == "pick.weigh_which_location"
    assert hand.feed(Choice(1)) == "pick.weigh"
    hand.feed(Quantity(Decimal("1.5")))
    assert booked(hand) == [(1, Decimal("1.5"), "BR-04")]


def test_product_on_two_locations_asks_at_third_stop() -> None:
    hand = Hand(
        line(1, SALT, 1, preferred_location_code="A-1", store_walking_order=1),
        line(2, FLAKES, 2, preferred_location_code="B-1", store_walking_order=2),
        line(3, FLAKES, 3, preferred_location_code="C-1", store_walking_order=3),
    )
    assert hand.scan(FLAKES) == "pick.which_location"
    assert places(hand) == ["B-1", "C-1"]
    hand.feed(Choice(2))
    assert booked(hand) == [(3, Decimal(1), "C-1")]


def test_a_quantity_at_one_place_fills_no_line_of_another() -> None:
    hand = Hand(
        line(1, FLAKES, 2, preferred_location_code="A-1", store_walking_order=1),
        line(2, FLAKES, 3, preferred_location_code="B-1", store_walking_order=2),
    )
    assert hand.scan(FLAKES, "5") == "pick.more_than_needed_here"
    assert hand.feed(Choice(1)) == "pick.picked"
    assert booked(hand) == [(1, Decimal(2), "A-1")]


def test_orders_of_a_round_are_asked_alike() -> None:
    rows = {
        "O1": [line(1, SALT, 1, preferred_location_code="A-1", store_walking_order=1)],
        "O2": [line(1, FLAKES, 2, preferred_location_code="B-1", store_walking_order=2)],
    }
    hand = Hand(orders=rows)
    hand.scan("A-1", kind=LOCATION)
    assert hand.scan(FLAKES) == "pick.which_location"
    assert places(hand) == ["A-1", "B-1"]
    hand.feed(Choice(1))
    assert hand.updates[-1]["order_number"] == "O2"
    assert hand.updates[-1]["order_lines"][0]["preferred_location_code"] == "A-1"


def test_where_places_are_verified_the_scan_of_the_place_says_it() -> None:
    hand = Hand(
        line(1, SALT, 1, preferred_location_code="A-1", store_walking_order=1),
        line(2, FLAKES, 2, preferred_location_code="B-1", store_walking_order=2),
        verified=True,
    )
    assert hand.scan(FLAKES) == "pick.location_first_scan"
    assert not booked(hand)


def citrus(*, picked_quantity: int = 1, **more: Any) -> Hand:
    """The place of the stop is E-1, one of three is taken, and A-1 was scanned: it is asked if they come from there."""
    hand = Hand(line(1, FLAKES, 3, preferred_location_code="E-1", picked_quantity=0), **more)
    hand.books["stock_at_location A-1"] = {"pools": {"1": Decimal(4)}}
    hand.scan("E-1", kind=LOCATION)
    for _ in range(picked_quantity):
        hand.scan(FLAKES)
    assert hand.scan("A-1", kind=LOCATION) == "pick.wrong_location"
    return hand


@pytest.mark.parametrize("verified", [False, True])
@pytest.mark.parametrize("is_scanned", [False, True])
@pytest.mark.parametrize("total", [2, 3])
@pytest.mark.parametrize("choice", [1, 2])
def test_a_total_is_kept_for_the_place_that_is_chosen(
    verified: bool, is_scanned: bool, total: int, choice: int
) -> None:
    hand = citrus(verified=verified)
    if is_scanned:
        assert hand.scan(FLAKES) == "pick.which_location"
    before = booked(hand)
    assert hand.feed(Quantity(Decimal(total))) == "pick.total_which_location"
    assert str(total) in hand.told
    assert booked(hand) == before, "a number chooses no place"
    place = places(hand)[choice - 1]
    assert hand.feed(Choice(choice)) == "pair"
    assert place in hand.told
    assert booked(hand)[len(before) :] == [(1, Decimal(total), place)]


@pytest.mark.parametrize("verified", [False, True])
@pytest.mark.parametrize("is_scanned", [False, True])
@pytest.mark.parametrize("value", [0, 1, 4, 12, 4102, 8888888])
def test_a_total_that_cannot_be_leaves_the_question(verified: bool, is_scanned: bool, value: int) -> None:
    hand = citrus(verified=verified)
    if is_scanned:
        hand.scan(FLAKES)
    before, view = booked(hand), hand.view.choices
    assert hand.feed(Quantity(Decimal(value))) == "pick.location_first_number"
    assert booked(hand) == before
    assert hand.view.choices == view


def test_the_last_total_wins() -> None:
    hand = citrus()
    hand.feed(Quantity(Decimal(2)))
    hand.feed(Quantity(Decimal(3)))
    hand.feed(Choice(2))
    assert booked(hand)[-1] == (1, Decimal(3), "A-1")


def test_a_total_is_of_the_product_that_is_asked_about() -> None:
    """Spice is on the screen and in hand; flakes were scanned last."""
    hand = skipped(**lies("A-01-3", "A-04-1"))
    hand.scan(SPICE)
    hand.scan(FLAKES)
    before = booked(hand)
    hand.feed(Quantity(Decimal(3)))
    assert booked(hand) == before
    hand.feed(Choice(2))
    assert booked(hand)[len(before) :] == [(1, Decimal(3), "A-01-3")]


@pytest.mark.parametrize("place", ["A-04-1", "A-01-3", "a-01-3", "C-1"])
@pytest.mark.parametrize("scans", [1, 2])
def test_the_scan_of_a_place_answers(place: str, scans: int) -> None:
    hand = skipped(**lies("A-01-3", "A-04-1"))
    hand.books["stock_at_location C-1"] = {"pools": {"1": Decimal(4)}}
    for _ in range(scans):
        hand.scan(FLAKES)
    assert hand.scan(place, kind=LOCATION) == "pair"
    assert [(number, quantity, at.casefold()) for number, quantity, at in booked(hand)] == [
        (1, Decimal(scans), place.casefold())
    ]


def test_a_place_where_nothing_of_it_is_booked_is_asked_too() -> None:
    hand = skipped(**lies("A-01-3", "A-04-1"))
    hand.scan(FLAKES)
    assert hand.scan("C-1", kind=LOCATION) == "pick.no_stock_which_location"
    assert places(hand) == ["A-04-1", "A-01-3", "C-1"]
    hand.feed(Choice(3))
    assert booked(hand) == [(1, Decimal(1), "C-1")]


@pytest.mark.parametrize(
    ("reads", "is_booked"),
    [
        ("01", False),
        ("0111", False),
        ("0246", False),
        ("04", True),
        ("0248", True),
    ],
)
def test_repeated_read_of_location_without_stock_is_no_answer(reads: str, is_booked: bool) -> None:
    """`reads`: second of each read; a scanner that stays on the label reads it again and again."""
    hand = skipped(**lies("A-01-3", "A-04-1"))
    hand.scan(FLAKES)
    for second in reads:
        hand.context = hand.context._replace(now=f"2026-11-20T10:00:0{second}Z")
        said = hand.scan("C-1", kind=LOCATION)
        assert (said == "pick.no_stock_which_location") is not (is_booked and second == reads[-1])
    assert bool(booked(hand)) is is_booked
    assert is_booked or places(hand) == ["A-04-1", "A-01-3", "C-1"]


def test_location_without_known_stock_is_not_said_to_be_where_it_is_booked() -> None:
    """The service books such a pick at no location."""
    hand = skipped(stock={"A-01-3": Decimal(9), "A-04-1": Decimal(9)}, **lies("A-01-3", "A-04-1"))
    hand.scan(FLAKES)
    hand.scan("C-1", kind=LOCATION)
    assert hand.feed(Choice(3)) == "pick.picked"
    assert hand.verdict
    assert hand.verdict.detail
    assert hand.verdict.detail.id == "pick.booked_nowhere"
    assert booked(hand) == [(1, Decimal(1), "C-1")]


def test_location_with_goods_held_for_another_order_names_it() -> None:
    hand = Hand(line(1, FLAKES, 3, preferred_location_code="E-1"))
    held = [{"order_number": number, "line_number": 1, "quantity": Decimal(2)} for number in ("1042", "9295")]
    hand.books["stock_at_location PU-1"] = {"pools": {"1": Decimal(4)}, "held_goods": held}
    assert hand.scan("PU-1", kind=LOCATION) == "pick.held_location"
    assert "2 × " in hand.told
    assert "held for 9295. Pick it here?" in hand.told
    hand.feed(Choice(1))
    assert hand.state.current_line
    assert hand.state.current_line.location == "PU-1"


def test_a_place_of_a_pool_that_is_not_for_it_leaves_the_question() -> None:
    hand = skipped(picking_stock_pool_array=[1], **lies("A-01-3", "A-04-1"))
    hand.books["stock_at_location C-1"] = {"pools": {"9": Decimal(4)}}
    hand.scan(FLAKES)
    assert hand.scan("C-1", kind=LOCATION) == "pick.wrong_pool"
    assert places(hand) == ["A-04-1", "A-01-3"]
    assert not booked(hand)


@pytest.mark.parametrize(("kind", "key"), [(PRODUCT, SPICE), (PRODUCT, "999999"), (ORDER, "4102"), (PERSON, "U1")])
def test_any_other_scan_leaves_the_question(kind: str, key: str) -> None:
    hand = skipped(**lies("A-01-3", "A-04-1"))
    hand.scan(FLAKES)
    assert hand.scan(key, kind=kind) == "pick.location_first"
    assert not booked(hand)
    hand.feed(Choice(2))
    assert booked(hand) == [(1, Decimal(1), "A-01-3")]


def test_a_scan_after_another_place_is_asked_where_places_are_verified() -> None:
    hand = citrus(verified=True)
    before = booked(hand)
    assert hand.scan(FLAKES) == "pick.which_location"
    assert booked(hand) == before
    assert hand.feed(Choice(2)) == "pair"
    assert booked(hand)[-1] == (1, Decimal(2), "A-1")


@pytest.mark.parametrize("value", ["1.5", "0.25"])
def test_a_weight_is_kept_for_the_place_that_is_chosen(value: str) -> None:
    hand = walk(allow_decimal=True, unit="kg")
    hand.feed(Closed("shortage", {"kind": "elsewhere", "location": "BR-04", "pool": 2}))
    hand.scan(SPICE)
    assert hand.scan(FLAKES) == "pick.weigh_which_location"
    before = booked(hand)
    assert hand.feed(Quantity(Decimal(value))) == "pick.which_location"
    assert booked(hand) == before
    hand.feed(Choice(1))
    assert booked(hand)[-1] == (1, Decimal(value), "BR-04")


HELD = {"held_goods": [{"location_code": "PU-2", "order_number": "9481", "line_number": 1, "quantity": Decimal(3)}]}


def held_elsewhere() -> Hand:
    """Flakes are at E-1, and three at PU-2 are held for another order."""
    hand = Hand(line(1, FLAKES, 5, preferred_location_code="E-1", stock={"E-1": Decimal(9), "PU-2": 0}, **HELD))
    hand.books["stock_at_location PU-2"] = {"pools": {"1": Decimal(3)}, **HELD}
    return hand


def place_first(hand: Hand) -> None:
    """The place is scanned, and then the goods."""
    assert hand.scan("PU-2", kind=LOCATION) == "pick.held_location"
    assert hand.scan(FLAKES, "3") == "pick.which_location"


def place_of_the_line_before(hand: Hand) -> None:
    """The goods are scanned at another stop than theirs, with one more place to choose."""
    hand.scan("X-1", kind=LOCATION)
    assert hand.scan(FLAKES, "3") == "pick.which_location"


@pytest.mark.parametrize("before", [place_first, place_of_the_line_before])
@pytest.mark.parametrize("is_scanned", [True, False])
def test_held_goods_are_asked_about_however_the_place_is_named(before: Any, is_scanned: bool) -> None:
    hand = held_elsewhere()
    hand.books["stock_at_location X-1"] = {"pools": {"1": Decimal(3)}}
    before(hand)
    for _ in range(2 if is_scanned else 0):
        assert hand.scan("PU-2", kind=LOCATION) == "pick.held_location"
        assert "are held for 9481. Pick it here?" in hand.told
        assert not booked(hand)
    if not is_scanned and before is place_first:
        assert hand.feed(Choice(places(hand).index("PU-2") + 1)) == "pick.held_location"
        assert not booked(hand)
    elif not is_scanned:
        hand.scan("PU-2", kind=LOCATION)
    assert hand.feed(Choice(places(hand).index("PU-2") + 1)) == "pair"
    assert booked(hand) == [(1, Decimal(3), "PU-2")]
    assert hand.verdict
    assert hand.verdict.detail
    assert dict(hand.verdict.detail.args) == {
        "nowhere": 3,
        "left": 0,
        "place": "PU-2",
        "count": 3,
        "orders": "9481",
    }


@pytest.mark.parametrize("before", [place_first, place_of_the_line_before])
def test_held_goods_among_places_are_taken_with_y(before: Any) -> None:
    hand = held_elsewhere()
    before(hand)
    hand.scan("PU-2", kind=LOCATION)
    assert hand.view.choice_letters.endswith("y")
    hand.feed(Choice(len(hand.view.choice_letters)))
    assert booked(hand) == [(1, Decimal(3), "PU-2")]


def test_after_yes_the_stock_of_held_goods_is_true() -> None:
    hand = held_elsewhere()
    hand.scan("PU-2", kind=LOCATION)
    hand.feed(Choice(1))
    assert hand.scan(FLAKES, "3") == "pick.picked"
    assert hand.verdict
    assert hand.verdict.detail
    assert hand.verdict.detail.id == "pick.more_than_free"


@pytest.mark.parametrize(("free", "taken", "nowhere"), [(0, 3, "3"), (2, 3, "1"), (2, 2, "")])
def test_the_screen_says_what_of_held_goods_is_booked_at_no_location(free: int, taken: int, nowhere: str) -> None:
    flakes = line(1, FLAKES, 5, preferred_location_code="E-1", stock={"E-1": 9, "PU-2": free}, **HELD)
    hand = Hand(flakes)
    hand.books["stock_at_location PU-2"] = {"pools": {"1": Decimal(3)}, **HELD}
    hand.scan("PU-2", kind=LOCATION)
    hand.feed(Choice(1))
    assert any(each.text.id == "pick.note_all_held" for each in hand.view.lines) is not bool(free)
    hand.scan(FLAKES, str(taken))
    assert hand.verdict
    warning = hand.verdict.detail
    assert str(dict(warning.args)["nowhere"] if warning else "") == nowhere
    hand.feed(Command("u"))
    where = f"{nowhere} without location" if nowhere == str(taken) else f"PU-2; {nowhere} without location"
    assert hand.told.endswith(f"0, {where}" if nowhere else ", PU-2")


@pytest.mark.parametrize("is_batch", [True, False])
@pytest.mark.parametrize(("free", "stop"), [(0, "E-1"), (2, "PU-2")])
@pytest.mark.parametrize("is_asked_first", [True, False])
def test_after_an_undo_no_page_sends_to_held_goods(is_batch: bool, is_asked_first: bool, free: int, stop: str) -> None:
    stock = {"E-1": Decimal(9), "PU-2": Decimal(free)}
    flakes = line(1, FLAKES, 5, preferred_location_code="E-1", stock=stock, **HELD)
    hand = Hand(orders={"1042": [flakes], "1043": [flakes]}) if is_batch else Hand(flakes)
    hand.books["stock_at_location PU-2"] = {"pools": {"1": Decimal(3)}, **HELD}
    hand.scan("PU-2", kind=LOCATION)
    if is_asked_first:
        hand.feed(Choice(1))
        assert hand.scan(FLAKES, "3").startswith("pick.picked")
    else:
        hand.scan(FLAKES, "3")
        hand.scan("PU-2", kind=LOCATION)
        hand.feed(Choice(places(hand).index("PU-2") + 1))
    assert booked(hand)[-1] == (1, Decimal(3), "PU-2")
    assert hand.feed(Command("u")).startswith(("pick.", "pair"))
    assert hand.state.current_line
    assert (hand.state.current_line.location, hand.state.current_line.picked) == (stop, Decimal(0))
