"""Products in several pools of one location: scans and numbers count in the pool that is asked, and texts name it."""

from __future__ import annotations

from decimal import Decimal

import pytest

from aisle.jobs.count.changes_since_count import change_since
from aisle.jobs.job import Changed, Closed
from aisle.jobs.view import Msg, Step
from aisle.scan.grammar_and_meaning_types import LOCATION, PRODUCT
from aisle.tui.message_text import MessageWriter
from tests.jobs.test_count import Hand, loss, product

POOLS = {"1": "Shop", "2": "Backroom"}


def hand_at_location(*more: str) -> Hand:
    """A count of a location where one product lies in two pools, and products in one pool beside it."""
    rows = [product("P1", 20, allow_decimal=True, pools={"1": 18, "2": 2})]
    rows += [product(number, 1) for number in more]
    hand = Hand({"A-1": rows}, pools=POOLS, default=1)
    hand.place("A-1")
    return hand


def counted(hand: Hand, number: str = "P1") -> dict[int, Decimal | None]:
    """Quantities of a product, by pool."""
    return {item.pool: item.counted for item in hand.state.lines if item.product == number}


def told(hand: Hand) -> str:
    """The verdict as it is written."""
    assert hand.verdict
    text = hand.verdict.text
    assert isinstance(text, Msg)
    return MessageWriter().write(text)


@pytest.mark.parametrize("emptied", ["0", None])
@pytest.mark.parametrize("entry", ["scan", "number", "check"])
def test_pool_is_named_when_picks_emptied_the_usual_one(emptied: str | None, entry: str) -> None:
    pools = {"1": emptied, "2": 5} if emptied else {"2": 5}
    hand = Hand({"A-1": [product("P1", 5, pools=pools), product("P2", 3, pools={"1": 3})]}, pools=POOLS, default=1)
    hand.place("A-1")
    if entry == "check":
        assert hand.say("d") == "count.missing"
        assert "Backroom" in told(hand)
        return
    hand.scan("P1")
    assert "Backroom" in told(hand)
    if entry == "number":
        hand.type(4)
        assert "Backroom" in told(hand)
    assert counted(hand) == {2: Decimal(4 if entry == "number" else 1)}
    hand.scan("P2")
    assert "Shop" not in told(hand)


@pytest.mark.parametrize("answer", ["c", ""], ids=["count it now", "scan at the question"])
@pytest.mark.parametrize("quantity", ["1.25", "1"])
def test_scan_counts_in_the_pool_that_is_asked(answer: str, quantity: str) -> None:
    hand = hand_at_location()
    hand.scan("P1", "17")
    assert hand.say("d") == "count.missing"
    assert "Backroom" in told(hand)
    if answer:
        assert hand.say(answer) == "goods.how_many"
        assert "Backroom" in told(hand)
    hand.scan("P1", quantity)
    assert "Backroom" in told(hand)
    hand.scan("P1", quantity)
    assert counted(hand) == {1: Decimal(17), 2: 2 * Decimal(quantity)}
    hand.type(3)
    assert counted(hand) == {1: Decimal(17), 2: Decimal(3)}


@pytest.mark.parametrize("answer", ["c", ""], ids=["count it now", "number at the question"])
def test_number_counts_in_the_pool_that_is_asked(answer: str) -> None:
    hand = hand_at_location()
    hand.scan("P1", "17")
    hand.say("d")
    if answer:
        hand.say(answer)
    hand.type("1.25")
    assert counted(hand) == {1: Decimal(17), 2: Decimal("1.25")}


def test_asked_pool_comes_before_the_chosen_one() -> None:
    hand = hand_at_location()
    hand.say("k")
    hand.type(1)
    hand.scan("P1", "17")
    hand.say("d")
    hand.say("c")
    hand.scan("P1")
    assert counted(hand) == {1: Decimal(17), 2: Decimal(1)}
    hand.say("k")
    hand.type(1)
    hand.scan("P1")
    assert counted(hand) == {1: Decimal(18), 2: Decimal(1)}, "the pool that was chosen last"


def test_scan_at_a_question_about_both_pools_counts_in_the_first_one() -> None:
    hand = hand_at_location("P2")
    hand.scan("P2")
    hand.say("d")
    assert "Shop, Backroom" in told(hand)
    hand.scan("P1", "5")
    assert counted(hand) == {1: Decimal(5), 2: None}


@pytest.mark.every_case
@pytest.mark.parametrize("first", ["product", "location"])
@pytest.mark.parametrize("default", [1, 2])
def test_question_about_several_pools_asks_for_the_one_that_a_number_sets(first: str, default: int) -> None:
    pools, names = {"1": 10, "2": 3, "3": 6}, {"1": "Shop", "2": "Backroom", "3": "Promotion"}
    if first == "location":
        hand = Hand({"A-1": [product("P1", 19, pools=pools)]}, pools=names, default=default)
        hand.place("A-1")
        hand.scan("P9")
    else:
        places = [
            {"location_code": code, "quantity": Decimal(19), "pools": pools, "default_stock_pool": default}
            for code in ("A-1", "A-2")
        ]
        known = {"product_name": "Screws", "locations": places, "most_likely_quantity": Decimal(38)}
        hand = Hand(products={"P1": known}, pools=names, default=default)
        hand.scan("P1", kind=PRODUCT)
        hand.place("A-2")
        hand.scan("P1")
    hand.say("d")
    assert hand.step == "count.missing"
    for pool, expected in ((1, 10), (2, 3), (3, 6)):
        before = hand.state.lines[hand.state.question_index]
        step = hand.job.view(hand.state)
        assert isinstance(step, Step)
        shown = [MessageWriter().write(line.text) for line in step.lines]
        assert names[str(pool)] in shown[1]
        assert not any(name in shown[1] for number, name in names.items() if number != str(pool))
        assert str(expected) in shown[2]
        assert before.expected == expected
        open_pools = [name for number, name in names.items() if int(number) >= pool]
        for choice in step.choices[:2]:
            assert (", ".join(open_pools) in MessageWriter().write(choice)) is (len(open_pools) > 1)
        hand.type(expected)
        if hand.state.question:
            hand.say("y")
    at = [(item.pool, item.counted) for item in hand.state.lines if (item.location, item.product) == ("A-1", "P1")]
    assert at in ([(1, Decimal(10)), (2, Decimal(3)), (3, Decimal(6))], []), "nothing differs: it may be sent"


def test_scan_of_another_product_ends_the_question() -> None:
    hand = hand_at_location("P2")
    hand.scan("P1", "17")
    hand.say("d")
    hand.say("c")
    hand.scan("P2")
    hand.scan("P1")
    assert counted(hand) == {1: Decimal(18), 2: None}


def test_undo_names_the_pool() -> None:
    hand = hand_at_location()
    hand.scan("P1", "17")
    hand.say("d")
    hand.say("c")
    hand.scan("P1", "2")
    hand.scan("P1", "2")
    for letter, pool in (("u", "Backroom"), ("u", "Backroom"), ("u", "Shop")):
        assert hand.say(letter) in ("pick.undone", "count.undone_all")
        assert pool in told(hand)


def test_location_of_a_product_stays_in_the_pool_that_is_asked() -> None:
    places = [
        {"location_code": code, "quantity": Decimal(20), "pools": {"1": 18, "2": 2}, "default_stock_pool": 1}
        for code in ("A-1", "A-2")
    ]
    known = {"product_name": "Cheese", "locations": places, "most_likely_quantity": Decimal(40)}
    hand = Hand(products={"P1": known}, pools=POOLS, default=1)
    hand.scan("P1", kind=PRODUCT)
    hand.scan("P1", "18")
    assert hand.say("n") == "clearance_tasks.started"
    assert "A-1 (Backroom)" in told(hand)
    hand.scan("A-1", kind=LOCATION)
    assert "A-1 (Backroom)" in told(hand)
    hand.scan("P1", "2")
    at = {(item.location, item.pool): item.counted for item in hand.state.lines if item.location}
    assert at == {("A-1", 1): 18, ("A-1", 2): 2, ("A-2", 1): None, ("A-2", 2): None}
    hand.say("u")
    assert "A-1 (Backroom)" in told(hand)


def test_last_added_target_is_removed_first() -> None:
    hand = Hand({code: [] for code in ("A-1", "B-1", "C-1")})
    hand.walk = {"A-1": 3, "B-1": 1, "C-1": 2}
    hand.type(3)
    added = [("C-1", LOCATION), ("P9", PRODUCT), ("A-1", LOCATION), ("P1", PRODUCT), ("B-1", LOCATION)]
    for key, kind in added:
        hand.scan(key, kind=kind)
    for key, _ in reversed(added):
        before = {each.key for each in hand.state.plan}
        assert hand.say("u") == "count.removed_from_list"
        assert before - {each.key for each in hand.state.plan} == {key}


def hand_with_unexpected(pools: dict[str, int] | None = None, default: int = 0, quantity: str = "4") -> Hand:
    """A count of an empty location at which a product was found, to which stock has come since."""
    hand = Hand({"A-1": []}, {"P1": {"product_name": "Product P1"}}, pools=POOLS, default=default)
    hand.place("A-1")
    hand.scan("P1", quantity)
    if pools is not None:
        hand.places["A-1"] = [product("P1", 3, pools=pools)]
        hand.feed(Changed("location", "A-1"))
    return hand


@pytest.mark.parametrize("default", [0, 1, 2])
@pytest.mark.parametrize("pool", ["1", "2"])
def test_stock_that_arrives_where_goods_are_counted_without_a_pool_is_the_same_line(pool: str, default: int) -> None:
    """A line without a pool takes the one of the stock; one in the usual pool of its location keeps it."""
    hand = hand_with_unexpected({pool: 3}, default)
    line = hand.state.lines[0]
    assert line.pool == (default or int(pool))
    assert (len(hand.state.lines) == 1) is (default in (0, int(pool)))
    assert "(0)" not in hand.shown()
    hand.scan("P1")
    assert (hand.state.lines[0].counted, hand.say("u")) == (Decimal(5), "pick.undone")
    assert hand.state.lines[0].counted == 4
    if len(hand.state.lines) > 1:
        return
    assert hand.say("d") == "count.differ"
    assert "(0)" not in hand.shown()
    hand.say("y")
    (entry,) = hand.entries
    name = "counted_quantity" if default else f"stock_pool_{pool}"
    assert (entry[name], entry["expected_quantity"]) == (4, 0)
    (change,) = hand.state.last_sent.changes if hand.state.last_sent else ()
    assert (change.quantity, change.pool) == (Decimal(4), int(pool))


def test_stock_that_leaves_a_counted_location_is_the_same_line() -> None:
    hand = Hand({"A-1": [product("P1", 3, pools={"2": 3})]}, pools=POOLS)
    hand.place("A-1")
    hand.scan("P1", "4")
    hand.places["A-1"] = [product("P1", 0)]
    hand.feed(Changed("location", "A-1"))
    assert [(line.pool, line.counted) for line in hand.state.lines] == [(2, Decimal(4))]


def test_an_undone_scan_of_goods_without_a_pool_leaves_the_stock_that_arrived() -> None:
    hand = hand_with_unexpected({"2": 3})
    hand.say("u")
    assert [(line.pool, line.counted, line.expected) for line in hand.state.lines] == [(2, None, Decimal(3))]


@pytest.mark.parametrize("number", [1, 2])
def test_the_usual_pool_that_is_chosen_is_the_one_of_goods_without_a_pool(number: int) -> None:
    hand = hand_with_unexpected()
    hand.say("k")
    hand.type(number)
    hand.scan("P1")
    assert [line.counted for line in hand.state.lines] == ([5] if number == 1 else [4, 1])
    assert "(0)" not in hand.shown()
    hand.say("d")
    assert "(0)" not in hand.shown()
    hand.say("y")
    sent = [{name for name in entry if name.startswith(("stock_pool", "counted"))} for entry in hand.entries]
    assert sent == ([{"counted_quantity"}] if number == 1 else [{"stock_pool_1"}, {"stock_pool_2"}])


@pytest.mark.parametrize("pool", [1, 2])
def test_goods_without_a_pool_lose_only_what_no_other_line_loses(pool: int) -> None:
    hand = hand_with_unexpected()
    hand.say("k")
    hand.type(2)
    hand.scan("P1", "4")
    hand.booked = (loss(-2, pool=pool),)
    hand.feed(Closed("adjust"))
    changes = [change_since(hand.state, line) for line in hand.state.lines]
    assert changes == ([-2, 0] if pool == 1 else [0, -2])
