"""The count job by itself: no terminal, no file, no network."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from aisle import named_tuple_json
from aisle.jobs.count import count_lines, count_state
from aisle.jobs.count.count_state import CountState
from aisle.jobs.count.job import CountJob
from aisle.jobs.count.sent_count_types import StockChange
from aisle.jobs.count.undo_sent_count import query_booked
from aisle.jobs.job import (
    Changed,
    Close,
    Closed,
    Context,
    Event,
    Opened,
    Policy,
    Query,
    Refresh,
    Resumed,
    Rows,
    Start,
    UndoLast,
    Write,
)
from aisle.jobs.store_time import to_utc_text
from aisle.jobs.view import ListView, Msg, Step, Verdict, msg
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    ORDER,
    PERSON,
    PRODUCT,
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
from aisle.tui.message_text import MessageWriter
from tests.run_length import tries

CONTEXT = Context(store="0001", user="ann", now="2026-11-20T10:00:00Z")
LOOSE = Policy(recount_units=Decimal(0), recount_value=Decimal(0))
"""Nothing is ever counted twice."""

Row = dict[str, Any]


def product(number: str, quantity: int | str, **more: Any) -> Row:
    """A product of a place as the read `place` gives it."""
    pools = {"pools": {"1": Decimal(quantity)}} if Decimal(quantity) else {"pools": {}}
    return {
        "product_number": number,
        "description": f"Product {number}",
        "quantity": Decimal(quantity),
        **pools,
        "held": [],
        "allow_decimal": False,
        "unit": "",
        "price": Decimal("2.50"),
        **more,
    }


STANDING = {"id": "", "is_not_used": False, "unused_before": None, "keeps_date": False, "absorbed": Decimal(0)}
"""Fields of a booked count that the service uses."""

FIVE = {"A-1": [product(f"P{n}", n + 1) for n in range(1, 6)]}


def wide(places: dict[str, int], total: int, **more: Any) -> Row:
    """A product as the read `product` gives it."""
    return {
        "product_name": "Wide",
        "price": Decimal(1),
        "locations": [
            {"location_code": code, "quantity": Decimal(have), "pools": {"1": have}} for code, have in places.items()
        ],
        "pools": [{"pool": 1, "name": "Shop", "quantity": Decimal(total)}],
        "most_likely_quantity": Decimal(total),
        **more,
    }


class Hand:
    """Runs the job as a session does: its questions about the store are answered at once."""

    def __init__(
        self,
        places: dict[str, list[Row]] | None = None,
        products: dict[str, Row] | None = None,
        policy: Policy = LOOSE,
        *,
        pools: dict[str, str] | None = None,
        default: int = 0,
        **args: Any,
    ) -> None:
        self.places = places or {}
        self.recounts: tuple[dict[str, Any], ...] = ()
        self.refused: tuple[Row, ...] = ()
        """What the service refused."""
        self.later: tuple[Row, ...] = ()
        """Counts that others made after those of this job."""
        self.booked: tuple[Row, ...] = ()
        """Entries of the day as the service booked them."""
        self.moves: tuple[Row, ...] = ()
        """What came or left otherwise."""
        self.products = products or {}
        self.pools = pools or {}
        self.default = default
        self.walk: dict[str, int] = {}
        """The walking order of the places that have one."""
        self.numbers: list[tuple[str, str]] = []
        """What is known by digits alone: kind and key."""
        self.job = CountJob()
        self.state: CountState = self.job.begin()
        self.context = CONTEXT._replace(policy=policy)
        self.effects: list[Any] = []
        self.verdict: Verdict | None = None
        self.hands = 0
        self.feed(Opened(args))

    def feed(self, event: Event) -> str:
        """The message id of the last verdict of an event, without what is not taken."""
        told = ""
        events: list[Event] = [event]
        while events:
            turn = self.job.handle(self.state, events.pop(), self.context)
            self.state = turn.state
            self.effects += turn.effects
            self.verdict = turn.verdict or self.verdict
            text = turn.verdict.text if turn.verdict else None
            said = dict(text.args).get("said") if text and text.id == "session.not_applied" else text
            told = said.id if isinstance(said, Msg) else told
            if any(isinstance(effect, UndoLast) for effect in turn.effects):
                events.append(Command("u", is_own_step=True))  # no other job has anything
            events += [self._answer(effect) for effect in turn.effects if isinstance(effect, Query)]
        return told

    def _answer(self, query: Query) -> Rows:
        if query.name == "store":
            return Rows(query.id, ({"pools": self.pools},), 1)
        if query.name == "records_by_number":
            found = [(kind, key) for kind, key in self.numbers if key == query.args["code"]]
            return Rows(query.id, tuple({"kind": kind, "key": key, "label": key} for kind, key in found), len(found))
        if query.name == "locations":
            codes = sorted(self.places)
            aisle = tuple({"location_code": code, "location_order": self.walk.get(code)} for code in codes)
            return Rows(query.id, aisle, len(codes))
        if query.name == "location":
            code = query.args["location_code"]
            rows, only, size = self.places.get(code), query.args.get("product_number"), query.args.get("size")
            shown = [row for row in rows or () if only in (None, row["product_number"])][:size]
            row = {"location_code": code, "default_stock_pool": self.default, "products": shown}
            row["total"] = len(rows or ())
            row["location_order"] = self.walk.get(code)
            return Rows(query.id, (row,), 1) if rows is not None else Rows(query.id, (), 0)
        if query.name == "later_counts":
            return Rows(query.id, self.later, len(self.later))
        if query.name == "moves_since":
            return Rows(query.id, self.moves, len(self.moves))
        if query.name == "my_entries":
            return Rows(query.id, self.booked, len(self.booked))
        if query.name == "refused_operations":
            return Rows(query.id, self.refused, len(self.refused))
        if query.name == "recounts":
            return Rows(query.id, self.recounts, len(self.recounts))
        number = query.args["product_number"]
        known = self.products.get(number)
        return Rows(query.id, ({"product_number": number, **known},), 1) if known else Rows(query.id, (), 0)

    def scan(self, key: str, quantity: str = "1", kind: str = PRODUCT) -> str:
        """A code that means one thing."""
        self.hands += 1
        label = f"Product {key}" if kind == PRODUCT else key
        return self.feed(Scan((Match(kind, key, label, Decimal(quantity), quantity != "1", key),)))

    def place(self, code: str) -> str:
        """A scan of a place."""
        return self.scan(code, kind=LOCATION)

    def type(self, value: int | str) -> str:
        """A quantity where one is open, else the number of a choice."""
        self.hands += 1
        open_ = self.job.accepts(self.state)
        if not open_.quantity and str(value).isdigit() and 1 <= int(value) <= open_.choices:
            return self.feed(Choice(int(value)))
        assert open_.quantity
        return self.feed(Quantity(Decimal(value)))

    def say(self, letter: str) -> str:
        """The letter of a choice, or a command that the step knows."""
        self.hands += 1
        open_ = self.job.accepts(self.state)
        if letter in open_.choice_letters:
            return self.feed(Choice(open_.choice_letters.index(letter) + 1))
        assert letter in open_.command_letters
        return self.feed(Command(letter))

    @property
    def step(self) -> str:
        """The step on the screen."""
        assert self.job.view(self.state).name == self.job.step_name(self.state)
        return self.job.step_name(self.state)

    @property
    def writes(self) -> list[Write]:
        """All operations so far."""
        return [effect for effect in self.effects if isinstance(effect, Write)]

    @property
    def entries(self) -> list[Row]:
        """All entries of all operations so far."""
        return [entry for write in self.writes for entry in write.body["storeproductlog"]]

    def shown(self) -> str:
        """Every message and argument of the view, to be searched."""
        return repr(self.job.view(self.state))


def count_all(hand: Hand) -> None:
    """A scan and a quantity for each product of the place, as the books have it."""
    for item in hand.state.lines:
        hand.scan(item.product)
        hand.type(int(item.expected))


def test_a_place_with_five_products_takes_its_hands_and_is_sent_at_once() -> None:
    hand = Hand(FIVE)
    assert hand.place("A-1") == "count.at_location"
    count_all(hand)
    assert hand.say("d") == "count.sent"
    assert hand.hands == 1 + 5 * (1 + 1) + 1
    assert hand.step == "count.start"
    (write,) = hand.writes
    assert write.operation == "create-store-product-logs"
    assert write.query == {"appUserName": "ann", "is_counted_quantity": True}
    assert write.path == {"store_number": "0001"}
    assert write.lanes == tuple(f"product/P{n}" for n in range(1, 6))
    assert write.merge_key == ""
    assert write.body["storeproductlog"][0] == {
        "product_number": "P1",
        "location_code": "A-1",
        "stock_pool_1": Decimal(2),
        "expected_quantity": Decimal(2),
        "scanned_datetime": "2026-11-20T10:00:00Z",
        "app_user_name": "ann",
        "source": "aisle",
    }


def test_every_difference_is_shown_before_it_is_sent() -> None:
    hand = Hand(FIVE, default=1)
    hand.place("A-1")
    count_all(hand)
    hand.scan("P3")
    assert hand.say("d") == "count.differ_value"
    assert (hand.step, hand.writes) == ("count.summary", [])
    assert hand.type(1) == "count.sent_differing"
    entry = hand.entries[2]
    assert (entry["counted_quantity"], entry["expected_quantity"]) == (Decimal(5), Decimal(4))


TWO = {"A-1": [product("P1", 2), product("P2", 3)], "A-2": [product("P2", 1), product("P3", 4)]}


@pytest.mark.parametrize("key", ["P1", "P2", "P3", "P9"])
@pytest.mark.parametrize("quantity", ["1", "1.25", "12"])
@pytest.mark.parametrize("missing", [(), ("P2",), ("P1",)])
def test_goods_of_a_scanned_location_are_not_counted_at_the_open_one(
    key: str, quantity: str, missing: tuple[str, ...]
) -> None:
    hand = Hand(TWO)
    hand.place("A-1")
    for number in ("P1", "P2"):
        if number not in missing:
            hand.scan(number)
    assert hand.place("A-2") == ("count.missing" if missing else "count.differ_value")
    lines, step = hand.state.lines, hand.step
    assert hand.scan(key, quantity) == "count.answer_first"
    assert (hand.state.lines, hand.step) == (lines, step)
    if missing:
        hand.say("k")
    assert hand.type(1) == "count.sent_and"
    assert {entry["location_code"] for entry in hand.entries} == {"A-1"}
    assert hand.state.location == "A-2"
    assert hand.scan("P3") == "count.counted_of"


@pytest.mark.parametrize("answer", ["c", "k"])
def test_a_scanned_location_opens_after_more_was_counted(answer: str) -> None:
    hand = Hand(TWO)
    hand.place("A-1")
    for number in ("P1", "P2")[answer == "c" :]:
        hand.scan(number)
    hand.place("A-2")
    hand.say(answer)
    hand.scan("P1")
    assert hand.say("d") == "count.differ_value"
    assert hand.verdict
    assert hand.verdict.detail == msg("count.opens_then", place="A-2")
    hand.type(1)
    assert hand.state.location == "A-2"


@pytest.mark.parametrize("event", [Back(), Command("u")])
def test_a_scanned_location_that_is_dropped_does_not_open(event: Event) -> None:
    hand = Hand(TWO)
    hand.place("A-1")
    hand.scan("P1")
    hand.place("A-2")
    hand.feed(event)
    assert hand.scan("P2") == "count.counted_of"
    hand.say("d")
    hand.type(1)
    assert hand.state.location == ""


@pytest.mark.parametrize("args", [{}, {"location_code": "A-1"}, {"location_code": "A-1", "product_number": "P1"}])
@pytest.mark.parametrize("losses", [1, 2])
def test_a_loss_in_a_count_is_undone_before_what_was_counted(args: dict[str, Any], losses: int) -> None:
    hand = Hand(FIVE, **args)
    if not args:
        hand.place("A-1")
    hand.scan("P1", "2")
    for number in range(losses):
        hand.say("l")
        hand.feed(Closed("adjust", {"quantity": Decimal(-2), "sent": f"loss {number}"}))
    counted = hand.state.lines[0].counted
    for number in reversed(range(losses)):
        hand.say("u")
        assert hand.effects[-1] == Start("adjust", {"undo": f"loss {number}"})
        hand.feed(Closed("adjust"))
    assert hand.state.lines[0].counted == counted
    assert hand.say("u") == "count.undone_all"


def test_a_loss_that_was_not_sent_is_not_undone() -> None:
    hand = Hand(FIVE)
    hand.place("A-1")
    hand.scan("P1")
    hand.say("l")
    hand.feed(Closed("adjust"))
    assert hand.say("u") == "count.undone_all"


@pytest.mark.parametrize("keys", ["", "d"])
def test_a_refused_scan_leaves_the_page_and_its_location(keys: str) -> None:
    hand = Hand(FIVE, default=1)
    hand.place("A-1")
    count_all(hand)
    hand.scan("P3")
    for key in keys:
        hand.say(key)
    step, line = hand.step, hand.state.current_line
    assert hand.scan("P1", "0.5") == "input.whole_number_only"
    assert (hand.step, hand.state.current_line, hand.state.location) == (step, line, "A-1")


def test_scans_add_digits_set_and_stars_multiply() -> None:
    hand = Hand(FIVE)
    hand.place("A-1")
    assert hand.scan("P5") == "count.counted_of"
    hand.scan("P5")
    hand.scan("P5", "12")
    assert hand.state.current_line is not None
    assert hand.state.current_line.counted == 14
    hand.type(6)
    hand.scan("P5")
    assert hand.state.current_line.counted == 7
    assert hand.scan("P5", "0.5") == "input.whole_number_only"
    assert hand.state.current_line.counted == 7


def test_what_is_weighed_takes_fractions() -> None:
    hand = Hand({"A-1": [product("P1", "2.5", allow_decimal=True, unit="kg")]})
    hand.place("A-1")
    view = hand.job.view(hand.state)
    assert isinstance(view, Step)
    assert [(stop.quantity, stop.unit) for stop in view.upcoming] == [(Decimal("2.5"), "kg")]
    hand.scan("P1", "1.25")
    assert hand.job.accepts(hand.state).decimals
    hand.scan("P1", "1.25")
    hand.say("d")
    assert hand.entries[0]["stock_pool_1"] == Decimal("2.50")


@pytest.mark.parametrize(
    ("units", "told"),
    [
        (("", ""), "count.differ_value"),
        (("kg", "kg"), "count.differ_value"),
        (("kg", "KG "), "count.differ_value"),
        (("kg", ""), "count.differ_several_units_value"),
        (("kg", "g"), "count.differ_several_units_value"),
        (("g", "ml"), "count.differ_several_units_value"),
        (("l", "ml"), "count.differ_several_units_value"),
        (("m", "m²"), "count.differ_several_units_value"),
        (("piece", "kg"), "count.differ_several_units_value"),
        (("g", "100 g"), "count.differ_several_units_value"),
    ],
)
@pytest.mark.parametrize("price", [Decimal("2.50"), None])
def test_only_quantities_of_one_unit_are_added_up(units: tuple[str, str], told: str, price: Decimal | None) -> None:
    rows = [product(f"P{n}", 1, unit=unit, allow_decimal=True, price=price) for n, unit in enumerate(units, 1)]
    hand = Hand({"A-1": rows}, policy=LOOSE)
    hand.place("A-1")
    for number in (1, 2):
        hand.scan(f"P{number}", "2.5")
    assert hand.say("d") == (told if price else told.removesuffix("_value"))


def test_unscanned_products_are_asked_singly_and_never_zeroed() -> None:
    hand = Hand(FIVE)
    hand.place("A-1")
    hand.scan("P1")
    hand.type(2)
    assert hand.say("d") == "count.missing"
    assert hand.step == "count.missing"
    hand.say("n")
    hand.say("k")
    assert hand.say("c") == "goods.how_many"
    hand.type(5)
    assert hand.say("d") == "count.missing"
    hand.scan("P5")
    assert hand.step == "count.product"
    assert hand.say("d") == "count.differ_value"
    assert hand.step == "count.summary"
    assert not hand.writes
    hand.type(1)
    counted = {entry["product_number"]: entry["stock_pool_1"] for entry in hand.entries}
    assert counted == {"P1": 2, "P2": 0, "P4": 5, "P5": 1}


def test_all_that_was_not_found_can_be_left_as_it_is() -> None:
    hand = Hand(FIVE)
    hand.place("A-1")
    hand.scan("P1")
    hand.type(2)
    hand.say("d")
    assert hand.say("a") == "count.sent"
    assert [entry["product_number"] for entry in hand.entries] == ["P1"]


def test_nothing_counted_sends_nothing() -> None:
    hand = Hand(FIVE)
    hand.place("A-1")
    hand.say("d")
    assert hand.say("a") == "count.nothing"
    assert not hand.writes
    assert hand.step == "count.start"


@pytest.mark.parametrize(
    ("policy", "counted", "again"),
    [
        (Policy(recount_units=Decimal(3), recount_value=Decimal(0)), 10, False),
        (Policy(recount_units=Decimal(3), recount_value=Decimal(0)), 11, True),
        (Policy(recount_units=Decimal(0), recount_value=Decimal(0), recount_percent=Decimal(50)), 10, False),
        (Policy(recount_units=Decimal(0), recount_value=Decimal(0), recount_percent=Decimal(50)), 3, True),
        (Policy(recount_units=Decimal(0), recount_value=Decimal(10)), 11, False),
        (Policy(recount_units=Decimal(0), recount_value=Decimal(10)), 12, True),
        (LOOSE, 9999, False),
    ],
)
def test_a_large_difference_is_counted_again_before_anything_is_sent(policy: Policy, counted: int, again: bool) -> None:
    hand = Hand({"A-1": [product("P1", 7)]}, policy=policy)
    hand.place("A-1")
    hand.scan("P1")
    if hand.type(counted) == "count.confirm_quantity":
        hand.say("y")
    assert (hand.say("d") == "count.recount_needed") == again
    assert not hand.writes
    if again:
        hand.scan("P1")
        hand.scan("P1")
        assert hand.say("d") == "count.differ_value"
    hand.type(1)
    assert hand.entries[0]["stock_pool_1"] == (2 if again else counted)


@pytest.mark.parametrize(("now", "is_asked"), [(27, False), (26, True), (7, True)])
def test_a_count_that_the_stock_agrees_with_meanwhile_is_not_counted_again(now: int, is_asked: bool) -> None:
    hand = Hand({"A-1": [product("P1", 7)]}, policy=Policy())
    hand.place("A-1")
    hand.scan("P1")
    hand.type(27)
    hand.places["A-1"] = [product("P1", now)]
    hand.feed(Changed("location", "A-1"))
    assert (hand.say("d") == "count.recount_needed") == is_asked


def test_the_first_count_may_be_kept_and_is_not_asked_for_again() -> None:
    hand = Hand({"A-1": [product("P1", 7)]}, policy=Policy())
    hand.place("A-1")
    hand.scan("P1")
    hand.type(70)
    assert hand.say("d") == "count.recount_needed"
    assert hand.place("A-2") == "count.answer_first"
    assert hand.scan("P2") == "count.product_first"
    hand.say("d")
    assert hand.step == "count.summary"
    hand.type(3)
    assert hand.say("d") == "count.differ_value"
    hand.type(2)
    assert hand.step == "count.recount"
    assert hand.type(7) == "count.sent"
    assert hand.entries[0]["stock_pool_1"] == 7


def test_the_summary_shows_units_and_value_the_dearest_first() -> None:
    rows = [product("P1", 10), product("P2", 10, price=Decimal(40)), product("P3", 5)]
    hand = Hand({"A-1": rows}, policy=Policy(recount_units=Decimal(100), recount_value=Decimal(0)))
    hand.place("A-1")
    for number, counted in (("P1", 7), ("P2", 9)):
        hand.scan(number)
        hand.type(counted)
    hand.say("d")
    hand.say("k")
    view = hand.job.view(hand.state)
    assert isinstance(view, ListView)
    assert [dict(row.cells[0].args)["text"] for row in view.rows] == ["Product P2", "Product P1"]
    assert [dict(row.cells[1].args)["value"] for row in view.rows] == [1, 3]
    assert [MessageWriter().write(row.cells[3]) for row in view.rows] == ["-40.00", "-7.50"]
    assert hand.verdict is not None
    assert dict(hand.verdict.text.args) == {"count": 2, "units": -4, "value": Decimal("-47.50")}


def test_blind_shows_nothing_of_the_books_until_done() -> None:
    places = {"A-1": [product("P1", 4321), product("P2", 8765, held=[{"quantity": 1234}])]}
    hand = Hand(places, policy=LOOSE._replace(blind_counts=True))
    hand.place("A-1")
    for number in ("P1", "P2"):
        assert "4321" not in hand.shown()
        hand.scan(number)
        hand.type(5)
        assert not {"4321", "8765", "1234"} & set(hand.shown().split("'"))
    assert "4321" not in repr(hand.verdict)
    hand.feed(Back())
    hand.feed(Back())
    state = hand.state
    assert hand.say("d") == "count.differ_value"
    hand.type(1)
    assert hand.entries[0]["expected_quantity"] == 4321
    hand.state = state._replace(lines=(state.lines[0]._replace(counted=None), state.lines[1]))
    hand.say("d")
    assert hand.step == "count.missing"
    assert "4321" not in hand.shown()
    hand.say("n")
    assert "4321" in hand.shown()


def test_the_next_place_sends_this_one() -> None:
    hand = Hand({**FIVE, "A-2": [product("P9", 1)]})
    hand.place("A-1")
    count_all(hand)
    assert hand.place("A-2") == "count.sent_and"
    assert (len(hand.writes), hand.state.location) == (1, "A-2")
    hand.scan("P9")
    hand.scan("P9")
    assert hand.place("A-1") == "count.differ_value"
    assert hand.type(1) == "count.sent_and"
    assert hand.place("A-2") == "count.at_location"


def test_the_next_place_waits_for_the_answers_about_this_one() -> None:
    hand = Hand({**FIVE, "A-2": [product("P9", 1)]})
    hand.place("A-1")
    hand.scan("P1")
    assert hand.place("A-2") == "count.missing"
    assert hand.say("a") == "count.differ_value"
    assert hand.type(1) == "count.sent_and"
    assert hand.state.location == "A-2"


def test_a_product_that_the_books_do_not_have_here_is_counted_too() -> None:
    hand = Hand({"A-1": []}, {"P7": wide({"B-1": 4}, 4)})
    assert hand.place("A-1") == "count.at_empty_location"
    assert hand.scan("P7", "3") == "count.counted"
    hand.say("d")
    hand.type(1)
    assert hand.entries[0]["expected_quantity"] == 0
    assert hand.entries[0]["counted_quantity"] == 3
    hand.place("Z-9")
    hand.scan("P404")
    hand.say("d")
    hand.type(1)
    assert hand.entries[1]["location_code"] == "Z-9"


def test_a_product_is_counted_over_all_its_places_and_the_rest() -> None:
    hand = Hand(products={"P1": wide({"A-1": 4, "A-2": 6}, 15)})
    assert hand.scan("P1") == "count.product_locations"
    assert (hand.step, hand.state.location) == ("count.stop", "A-1")
    assert [hand.say("n") for _ in range(3)] == ["count.later", "count.later_without_location", "count.later"]
    hand.type(5)
    assert (hand.say("n"), hand.state.location) == ("clearance_tasks.started", "A-2")
    hand.scan("P1")
    hand.scan("P1")
    assert hand.say("n") == "count.next_without_location"  # no place has no code to go to
    assert hand.state.location == ""
    assert hand.type(3) == "count.all_stops"
    assert hand.say("d") == "count.differ_value"
    assert not hand.writes
    assert hand.type(1) == "count.sent_differing"
    (write,) = hand.writes
    assert write.lanes == ("product/P1",)
    first, second, rest = hand.entries
    assert (first["location_code"], first["stock_pool_1"], first["expected_quantity"]) == ("A-1", 5, 4)
    assert (second["location_code"], second["stock_pool_1"], second["expected_quantity"]) == ("A-2", 2, 6)
    assert "location_code" not in rest
    assert (rest["stock_pool_1"], rest["expected_quantity"]) == (3 + 5 + 2, 5 + 5 + 2)


@pytest.mark.parametrize(("total", "counted"), [(13, 0), (13, 1), (13, 2)])
def test_count_tour_excludes_goods_in_hand_for_orders(total: int, counted: int) -> None:
    hand = Hand(products={"P1": wide({"A-1": 4, "A-2": 6}, total, in_hand=Decimal(2))})
    hand.scan("P1")
    hand.type(4)
    hand.say("n")
    hand.type(5)
    assert hand.type(6) == "count.corrected"
    hand.say("n")
    assert (hand.state.location, hand.state.current_line and hand.state.current_line.expected) == ("", Decimal(1))
    hand.type(counted)
    hand.say("d")
    if counted != 1:
        hand.type(1)
    rest = hand.entries[-1]
    assert (rest["stock_pool_1"], rest["expected_quantity"]) == (4 + 6 + counted + 2, 13)


@pytest.mark.parametrize("on", ["n", "A-2"])
@pytest.mark.parametrize(
    ("inputs", "counted"),
    [(("7",), 7), (("7", "6"), 6), (("7", "P1"), 8), (("P1", "7", "P1", "4"), 4), (("0", "2"), 2)],
)
def test_a_total_is_corrected_at_its_location_until_a_person_goes_on(
    inputs: tuple[str, ...], counted: int, on: str
) -> None:
    hand = Hand(products={"P1": wide({"A-1": 9, "A-2": 9}, 18)})
    hand.scan("P1")
    for each in inputs:
        hand.type(int(each)) if each.isdigit() else hand.scan(each)
    assert (hand.state.location, "count.prompt_stop_then" in hand.shown()) == ("A-1", True)
    assert (hand.say(on) if on == "n" else hand.place(on)) in ("clearance_tasks.started", "count.at_stop")
    hand.type(9)
    assert [item.counted for item in hand.state.lines][:2] == [counted, 9]


@pytest.mark.parametrize(
    ("inputs", "verdict"),
    [
        ("7", "count.counted_of"),
        ("7 7", "count.counted_of"),
        ("7 6", "count.corrected"),
        ("7 0", "count.corrected"),
        ("P1 6", "count.counted_of"),
    ],
)
def test_a_second_number_replaces_the_first_without_a_question(inputs: str, verdict: str) -> None:
    hand = Hand(products={"P1": wide({"A-1": 9, "A-2": 9}, 18)})
    hand.scan("P1")
    told = [hand.type(int(each)) if each.isdigit() else hand.scan(each) for each in inputs.split()]
    assert told[-1] == verdict
    counted = [item.counted for item in hand.state.lines[:2]]
    assert counted == [int(inputs[-1]), None]
    assert hand.state.location == "A-1"
    assert "count.prompt_stop_then" in hand.shown(), "the prompt names the next location"


def test_words_find_a_product_of_the_location() -> None:
    names = {"P1": "Long Meadow Milk", "P2": "Oat Milk", "P3": "Crème"}
    hand = Hand({"A-1": [product(number, 4, description=name) for number, name in names.items()]})
    hand.place("A-1")
    assert hand.feed(Text("creme")) == "count.how_many_at"
    assert hand.type(4) == "count.counted_of"
    assert hand.feed(Text("milk")) == "count.which_found"
    assert [each.label for each in hand.state.choices] == ["Long Meadow Milk", "Oat Milk"]
    hand.say(hand.job.accepts(hand.state).choice_letters[1])
    assert hand.type(3) == "count.counted_of"
    assert hand.feed(Text("milk")) == "count.which_found"
    assert hand.scan("P1") == "count.counted_of", "a scan goes on"
    assert hand.feed(Text("sugar")) == "count.unknown", "the session looks it up"
    assert [item.counted for item in hand.state.lines] == [1, 3, 4]


def test_a_single_product_without_stock_is_counted_in_its_unit() -> None:
    wheel = wide({}, 0, allow_decimal=True, unit="kg")
    hand = Hand({}, {"P9": wheel}, location_code="A-1", product_number="P9", label="Cheese")
    assert (hand.shown().count("Cheese") > 0, hand.job.accepts(hand.state).decimals) == (True, True)


@pytest.mark.parametrize("answer", ["missing", "recount", "next product"])
def test_a_number_after_the_page_went_on_by_itself_is_asked_about(answer: str) -> None:
    hand = Hand(
        {"A-1": [product("P1", 9), product("P2", 9)]},
        {"P3": wide({"B-1": 9, "B-2": 9}, 18)},
        LOOSE._replace(recount_units=Decimal(1 if answer == "recount" else 0)),
    )
    hand.type(3)
    hand.place("A-1")
    hand.scan("P3")
    hand.say("d")
    if answer == "recount":
        count_all_as(hand, 5)
    if answer == "next product":
        hand.scan("P1")
        hand.type(9)
    hand.say("d")
    assert hand.step == ("count.recount" if answer == "recount" else "count.missing")
    hand.type(9)
    before = hand.state.lines
    assert hand.type(7) == "count.confirm_next"
    assert hand.type(6) == "count.confirm_next"
    assert hand.state.lines == before
    hand.say("x")
    assert hand.state.lines == before
    assert hand.type(7) != "count.confirm_next", "the answer says that the page is seen"


def count_all_as(hand: Hand, counted: int) -> None:
    """A scan and the same quantity for each product of the place."""
    for item in hand.state.lines:
        hand.scan(item.product)
        hand.type(counted)


def test_rest_is_not_asked_when_all_is_in_hand_for_orders() -> None:
    pools = [{"pool": 1, "name": "", "quantity": Decimal(5)}, {"pool": 2, "name": "", "quantity": Decimal(2)}]
    for books in ({}, {"pools": pools, "in_hand": Decimal(3)}, {"pools": ()}):
        hand = Hand(products={"P1": wide({"A-1": 4}, 6, **{"in_hand": Decimal(2), **books})})
        hand.scan("P1")
        hand.type(4)
        assert hand.say("d") == "count.sent"
        assert [entry["location_code"] for entry in hand.entries] == ["A-1"]
    hand = Hand(products={"P1": wide({}, 12, in_hand=Decimal(2))})
    hand.scan("P1")
    assert hand.state.current_line
    assert (hand.state.current_line.expected, "label.held" in hand.shown()) == (Decimal(12), True)
    hand.type(12)
    hand.say("d")
    assert hand.entries[-1]["stock_pool_1"] == 12


def test_a_tour_goes_where_the_product_is_found() -> None:
    hand = Hand(products={"P1": wide({"A-1": 4, "A-2": 6}, 10), "P2": wide({"A-9": 1}, 1)})
    hand.scan("P1")
    assert hand.place("A-2") == "count.at_stop"
    hand.type(6)
    assert hand.place("Z-1") == "count.new_stop"
    hand.type(2)
    assert hand.scan("P2") == "count.other_product"
    hand.say("y")
    assert hand.step == "count.missing"
    hand.say("n")
    assert hand.type(1) == "count.sent_and"
    assert hand.state.location == "A-9"
    assert {entry["location_code"]: entry["stock_pool_1"] for entry in hand.entries} == {"A-1": 0, "A-2": 6, "Z-1": 2}


def test_a_store_without_places_counts_without_them() -> None:
    hand = Hand(products={"P1": wide({}, 12), "P2": wide({}, 3)})
    assert hand.scan("P1") == "count.counted_of"
    hand.type(11)
    hand.scan("P2")
    hand.type(3)
    hand.say("d")
    assert hand.type(1) == "count.sent_differing"
    assert [(entry["stock_pool_1"], entry["expected_quantity"]) for entry in hand.entries] == [(11, 12), (3, 3)]
    assert not any("location_code" in entry for entry in hand.entries)
    assert hand.step == "count.start"


def test_the_count_of_a_product_without_a_location_has_its_name_as_title() -> None:
    hand = Hand(products={"P1": wide({}, 12), "P2": wide({}, 3)})
    hand.scan("P1")
    assert hand.job.view(hand.state).title == msg("count.title_location", place="Wide")
    hand.scan("P2")
    assert hand.job.view(hand.state).title == msg("count.title")


def test_each_row_of_a_review_with_booked_figures_is_in_sight_on_one_of_its_pages() -> None:
    hand = Hand({"A-1": [product(f"P{at}", 5) for at in range(9)]})
    hand.place("A-1")
    for at in range(9):
        hand.scan(f"P{at}", "3")
    hand.booked = (loss(-2, product_number="P0"),)
    hand.context = hand.context._replace(window_rows=8)
    hand.feed(Closed("adjust"))
    hand.say("d")
    view = hand.job.view(hand.state)
    assert isinstance(view, ListView)
    assert view.has_two_line_rows
    seen: set[str] = set()
    for _ in range(3):
        view = hand.job.view(hand.state)
        assert isinstance(view, ListView)
        seen |= {row.key for row in view.rows[:3]}
        hand.say("n")
    assert len(seen) == 9


def test_a_store_that_says_next_to_nothing_can_be_counted() -> None:
    hand = Hand(products={"P1": {"most_likely_quantity": 5}})
    hand.scan("P1", "4")
    hand.scan("P404")
    hand.say("d")
    hand.type(1)
    assert [(entry["counted_quantity"], entry["expected_quantity"]) for entry in hand.entries] == [(4, 5), (1, 0)]


def test_a_count_without_a_place_does_not_take_a_product_that_has_places() -> None:
    hand = Hand(products={"P1": wide({}, 1), "P2": wide({"A-1": 2}, 2)})
    hand.scan("P1")
    assert hand.scan("P2") == "count.has_locations"
    assert hand.say("y") == "count.sent_and"
    assert (hand.step, hand.state.location) == ("count.stop", "A-1")


def test_pools_are_counted_apart() -> None:
    rows = [product("P1", 10, pools={"1": 6, "3": 4}), product("P2", 2, pools={"3": 2})]
    hand = Hand({"A-1": rows}, pools={"1": "Shop", "3": "Online"}, default=1)
    hand.place("A-1")
    hand.scan("P1")
    hand.type(6)
    hand.scan("P2", "2")
    assert hand.say("k") == "count.which_pool"
    assert hand.step == "count.pool"
    assert hand.type(2) == "count.no_pool"
    assert hand.say("u") == "move.go_on"
    assert hand.step == "count.product"
    hand.say("k")
    assert hand.type(3) == "count.pool_chosen"
    hand.scan("P1", "4")
    assert hand.say("d") == "count.sent"
    first, second, third = hand.entries
    assert (first["stock_pool_1"], first["expected_quantity"]) == (6, 6)
    assert (second["product_number"], second["stock_pool_3"], second["expected_quantity"]) == ("P1", 4, 4)
    assert (third["product_number"], third["stock_pool_3"]) == ("P2", 2)


def test_twenty_entries_are_one_operation() -> None:
    hand = Hand({"A-1": [product(f"P{n:02}", 1) for n in range(45)]})
    hand.place("A-1")
    for n in range(45):
        hand.scan(f"P{n:02}")
    hand.say("d")
    assert [len(write.body["storeproductlog"]) for write in hand.writes] == [20, 20, 5]
    assert sorted(lane for write in hand.writes for lane in write.lanes) == [f"product/P{n:02}" for n in range(45)]


def test_undo_goes_back_step_by_step_and_says_what_it_undid() -> None:
    hand = Hand(FIVE)
    hand.place("A-1")
    hand.scan("P1")
    hand.type(9)
    hand.scan("P2")
    assert hand.say("u") == "count.undone_all"
    assert hand.say("u") == "pick.undone"
    assert hand.state.current_line is not None
    assert (hand.state.current_line.product, hand.state.current_line.counted) == ("P1", Decimal(1))
    assert hand.say("u") == "count.undone_all"
    assert hand.say("u") == "pick.nothing_to_undo"
    assert not hand.state.counted_lines


def test_a_sent_count_is_taken_back_by_the_opposite_of_what_it_changed() -> None:
    hand = Hand(FIVE)
    hand.place("A-1")
    count_all(hand)
    hand.scan("P3")
    hand.scan("P1", "2")
    hand.say("d")
    hand.type(1)
    hand.context = hand.context._replace(now="2026-11-20T10:05:00Z")
    assert "u" in {hint.letter for hint in hand.job.view(hand.state).key_hints}
    assert hand.say("u") == "count.sent_undone"
    write = hand.writes[-1]
    assert write.query["is_counted_quantity"] is False
    undone = {each["product_number"]: each["stock_pool_1"] for each in write.body["storeproductlog"]}
    assert undone == {"P1": -2, "P2": 0, "P3": -1, "P4": 0, "P5": 0}, "the dates of all counts go back"
    assert {each["reference"] for each in write.body["storeproductlog"]} == {"undo-2026-11-20T10:00:00Z"}
    assert hand.say("u") == "pick.nothing_to_undo"
    hand.place("A-1")
    count_all(hand)
    hand.say("d")
    assert hand.say("u") == "count.sent_undone_same"
    assert len(hand.writes) == 4


def test_the_count_of_the_place_before_is_taken_back_from_the_next() -> None:
    hand = Hand({"A-1": [product("P1", 2)], "A-2": [product("P2", 1)]})
    hand.place("A-1")
    hand.scan("P1")
    hand.place("A-2")
    hand.type(1)
    hand.scan("P2")
    assert hand.say("u") == "count.undone_all"
    assert hand.say("u") == "count.sent_undone"
    assert hand.entries[-1]["stock_pool_1"] == 1
    assert hand.state.location == "A-2"


def test_recount_of_single_product_asks_its_quantity() -> None:
    args: Row = {"location_code": "A-1", "product_number": "P3", "label": "Product P3"}
    hand = Hand(FIVE, policy=Policy(recount_units=Decimal(1)), **args)
    assert hand.verdict is not None
    assert hand.verdict.text.id == "count.how_many_at"
    assert hand.job.accepts(hand.state).quantity
    assert "P2" not in hand.shown()
    assert hand.scan("P2") == "count.product_first"
    assert hand.place("A-2") == "count.product_first"
    hand.feed(Changed("product", ""))
    assert [item.product for item in hand.state.lines] == ["P3"]
    assert hand.type(0) == "count.differ_value"
    assert hand.type(3) == "move.go_on"
    assert hand.type(0) == "count.differ_value"
    assert hand.type(1) == "count.sent_differing"
    (entry,) = hand.entries
    assert (entry["product_number"], entry["stock_pool_1"], entry["location_code"]) == ("P3", 0, "A-1")
    assert isinstance(hand.effects[-1], Close)
    hand = Hand(FIVE, policy=Policy(recount_units=Decimal(1)), **args)
    assert hand.type(2) == "count.recount_needed"
    hand = Hand(FIVE, **args)
    assert hand.type(4) == "count.sent"
    hand = Hand({}, **args)
    assert hand.type(0) == "count.sent"
    hand = Hand(FIVE, **args)
    hand.feed(Back())
    assert isinstance(hand.effects[-1], Close)
    assert not hand.writes


def test_leaving_with_counts_in_hand_is_asked() -> None:
    hand = Hand(FIVE)
    hand.place("A-1")
    hand.scan("P1")
    assert hand.feed(Back()) == "count.leave"
    assert hand.scan("P2") == "count.answer_first"
    assert hand.say("k") == "move.go_on"
    hand.feed(Back())
    assert hand.say("x") == "count.thrown_away"
    assert not hand.writes
    hand.feed(Back())
    assert isinstance(hand.effects[-1], Close)


def test_opened_for_one_place_it_closes_when_that_is_sent() -> None:
    hand = Hand(FIVE, location_code="A-1")
    assert hand.step == "count.product"
    count_all(hand)
    assert hand.say("d") == "count.sent"
    assert isinstance(hand.effects[-1], Close)
    hand = Hand(products={"P1": wide({"A-1": 1}, 1)}, product_number="P1")
    assert hand.step == "count.stop"
    hand.feed(Back())
    assert isinstance(hand.effects[-1], Close)


def test_things_that_cannot_be_counted_say_why() -> None:
    hand = Hand(FIVE)
    hand.place("A-1")
    assert hand.scan("1042", kind=ORDER) == "page.not_this"
    assert hand.scan("bob", kind=PERSON) == "page.not_this"
    assert hand.feed(UnknownCode("4711")) == "count.unknown"
    assert hand.place("a-1") == "count.this_location"
    assert hand.say("k") == "count.one_pool"
    assert not hand.state.counted_lines


def test_losses_and_the_log_are_a_key_away() -> None:
    hand = Hand(FIVE)
    hand.type(1)
    assert hand.effects[-1] == Start("adjust", {})
    hand.type(2)
    assert hand.effects[-1] == Start("my_entries", {})
    hand.place("A-1")
    hand.scan("P1")
    hand.say("l")
    assert hand.effects[-1] == Start("adjust", {"location_code": "A-1", "product_number": "P1"})


def test_the_books_move_under_what_is_not_counted_yet_and_no_other() -> None:
    hand = Hand({"A-1": [product("P1", 5), product("P2", 5)]})
    hand.place("A-1")
    hand.scan("P1")
    hand.type(5)
    hand.places["A-1"] = [product("P1", 3), product("P2", 3), product("P3", 1)]
    hand.feed(Changed("product", "P1"))
    assert [item.expected for item in hand.state.lines] == [5, 3, 1]
    hand.say("d")
    assert hand.step == "count.missing"
    hand.places["A-1"] = []
    hand.feed(Changed("product", ""))
    assert hand.step == "count.start"
    assert [entry["product_number"] for entry in hand.entries] == ["P1"]


def test_count_list_follows_walk_order_and_sends_each_location() -> None:
    places = {"A-10": [product("P1", 1)], "A-2": [product("P2", 1)], "B-1": [product("P3", 1)]}
    hand = Hand(places, {"P9": wide({"B-1": 1}, 1)})
    hand.walk = {"B-1": 1}
    assert hand.type(3) == "count.to_list"
    assert hand.say("d") == "count.list_empty"
    assert [hand.scan("P9"), hand.place("A-10"), hand.place("A-2"), hand.place("B-1")] == ["count.listed"] * 4
    assert hand.place("a-2") == "count.listed_before"
    view = hand.job.view(hand.state)
    assert isinstance(view, ListView)
    assert [each.key for each in hand.state.plan] == ["B-1", "A-2", "A-10", "P9"]
    assert hand.say("d") == "count.at_location"
    for code, number in (("B-1", "P3"), ("A-2", "P2"), ("A-10", "P1")):
        assert (hand.step, hand.state.location) == ("count.product", code)
        hand.scan(number)
        assert hand.say("d") == "count.sent_and"
    assert (hand.step, hand.state.location) == ("count.stop", "B-1")
    hand.type(1)
    assert hand.say("d") == "count.sent"
    assert hand.step == "count.start"
    assert [len(write.body["storeproductlog"]) for write in hand.writes] == [1] * 4


def test_what_is_left_of_a_list_stays_on_it() -> None:
    hand = Hand({"A-1": [product("P1", 1)], "A-2": [product("P2", 1)], "A-3": []})
    hand.type(3)
    hand.place("A-2")
    assert hand.say("w") == "count.listed"
    assert [each.key for each in hand.state.plan] == ["A-1", "A-2", "A-3"]
    assert hand.say("u") == "count.removed_from_list"
    assert hand.say("w") == "count.scan_location_first"
    hand.place("A-3")
    assert hand.feed(Back()) == "count.list_kept"
    assert "count.to_list_of" in hand.shown()
    hand.type(3)
    hand.say("d")
    assert hand.state.location == "A-1"
    assert hand.say("n") == "count.at_location"
    assert (hand.state.location, [each.key for each in hand.state.plan]) == ("A-2", ["A-3", "A-1"])
    assert hand.feed(Back()) == "count.closed"
    assert (hand.step, [each.key for each in hand.state.plan]) == ("count.list", ["A-2", "A-3", "A-1"])
    hand.say("d")
    hand.scan("P2")
    hand.feed(Back())
    assert hand.say("x") == "count.thrown_away"
    assert len(hand.state.plan) == 3
    assert hand.place("A-1") == "count.listed_before"
    hand.say("d")
    hand.scan("P2")
    assert hand.say("n") == "count.sent_and"
    assert hand.place("A-1") == "count.at_location"
    assert not hand.state.plan
    assert hand.state.location == "A-1"


@pytest.mark.parametrize("locations", [("A-1", "A-2"), ("A-1", "A-2", "A-3")])
def test_an_undone_location_of_a_list_is_counted_next(locations: tuple[str, ...]) -> None:
    hand = Hand({location: [product(f"P{location}", 2)] for location in locations})
    hand.type(3)
    for location in locations:
        hand.place(location)
    hand.say("d")
    hand.scan("PA-1")
    hand.say("d")
    hand.type(1)
    assert hand.state.location == "A-2"
    assert hand.say("u") == "count.sent_undone"
    assert (hand.state.location, [each.key for each in hand.state.plan]) == ("A-2", ["A-1", *locations[2:]])


def test_uncounted_location_stays_on_count_list() -> None:
    hand = Hand({"A-1": [product("P1", 1)], "A-2": [product("P2", 1)], "A-3": []})
    hand.type(3)
    hand.place("A-1")
    hand.place("A-2")
    hand.say("d")
    assert (hand.state.location, [each.key for each in hand.state.plan]) == ("A-1", ["A-2"])
    assert hand.place("A-3") == "count.at_empty_location"
    assert [each.key for each in hand.state.plan] == ["A-1", "A-2"]


@pytest.mark.parametrize(("books", "sure"), [(0, 999), (20, 200), (99, 990), (100, 1000), (20000, 40000)])
def test_what_nobody_would_believe_is_no_count_unless_somebody_says_so(books: int, sure: int) -> None:
    hand = Hand({"A-1": [product("P1", books)] if books else []}, {"P1": wide({}, 0)})
    hand.place("A-1")
    hand.scan("P1")
    assert hand.type(sure) in ("count.counted", "count.counted_of")
    assert hand.say("u") == "pick.undone"
    doubted = 10 * books + 1 if books else 1000
    assert hand.type(doubted) == "count.confirm_quantity"
    assert hand.state.current_line is not None
    assert hand.state.current_line.counted == 1
    assert len(choices(hand)) == 2
    assert hand.type(12) in ("count.counted", "count.counted_of")
    assert hand.state.current_line.counted == 12
    hand.type(doubted)
    hand.say("y")
    assert hand.state.current_line.counted == doubted
    assert hand.type(doubted) in ("count.counted", "count.counted_of"), "that was said before"


@pytest.mark.parametrize("way", ["typed", "scanned", "scanned twice", "number of a product", "missing", "recount"])
def test_a_quantity_that_is_asked_back_is_counted_at_its_input(way: str) -> None:
    """While the question is open, ten are put there and read; they are no part of what was counted."""
    policy = Policy(recount_units=Decimal(1)) if way == "recount" else LOOSE
    hand = Hand({"A-1": [product("P1", 5), product("P2", 0)]}, policy=policy)
    hand.place("A-1")
    asked_at = "2026-11-20T10:01:00Z"
    if way == "missing":
        hand.scan("P2")
        hand.say("d")
    else:
        hand.scan("P1")
    if way == "recount":
        hand.say("d")
    if way == "number of a product":
        hand.numbers.append((PRODUCT, "9999"))
    if way == "scanned twice":
        hand.scan("P1", "5000")
    hand.context = hand.context._replace(now=asked_at)
    scans = way.startswith("scanned")
    assert (hand.scan("P1", "5000") if scans else hand.type(9999)) in (
        "count.confirm_quantity",
        "count.number_of_other",
    )
    hand.context = hand.context._replace(now="2026-11-20T10:09:00Z")
    hand.places["A-1"][0]["quantity"] = Decimal(15)
    hand.places["A-1"][0]["pools"] = {"1": Decimal(15)}
    hand.feed(Changed("location", "A-1"))
    hand.feed(Choice(1))
    (line,) = (each for each in hand.state.lines if each.product == "P1")
    assert (line.counted_at, line.expected) == (asked_at, Decimal(5))
    assert line.counted is not None
    assert line.counted >= 5000


FAR_SCANS = [
    (2, 0, 50, True),
    (2, 36, 50, True),
    (2, 36, 72, True),
    (2, 18, 6, True),
    (2, 36, 6, False),
    (2, 36, 1, False),
    (10, 95, 6, False),
    (10, 95, 12, True),
    (10, 400, 99, False),
    (10, 400, 101, True),
    (10, 0, 72, False),
]
"""Expected, counted before (confirmed if it is far more), scanned at once, and whether that is asked."""


@pytest.mark.every_case
@pytest.mark.parametrize("phase", ["count", "recount"])
@pytest.mark.parametrize(("expected", "before", "scanned", "is_asked"), FAR_SCANS)
def test_a_scan_far_over_what_is_expected_is_asked_back(
    phase: str, expected: int, before: int, scanned: int, is_asked: bool
) -> None:
    hand = Hand({"A-1": [product("P1", expected)]}, policy=Policy(recount_units=Decimal(1)))
    hand.place("A-1")
    if phase == "recount":
        hand.scan("P1")
        hand.type(expected + 5)
        assert hand.say("d") == "count.recount_needed"
    if before and hand.scan("P1", str(before)) == "count.confirm_quantity":
        hand.say("y")
    told = hand.scan("P1", str(scanned))
    assert (told == "count.confirm_quantity") == is_asked, told


def choices(hand: Hand) -> tuple[Msg, ...]:
    """What is offered by number."""
    view = hand.job.view(hand.state)
    assert isinstance(view, Step)
    return view.choices


def test_uncounted_locations_of_product_are_named() -> None:
    hand = Hand(products={"P1": wide({"A-1": 4, "A-2": 6}, 15)})
    hand.scan("P1")
    assert hand.say("d") == "count.missing_at"
    assert hand.verdict is not None
    assert dict(hand.verdict.text.args)["place"] == "A-1"
    hand.say("k")
    hand.say("n")
    assert hand.verdict.text.id == "count.missing_without_location"
    hand.say("k")
    view = hand.job.view(hand.state)
    assert isinstance(view, ListView)
    assert view.column_heads[0].id == "head.location"


# Any sequence at all

PLACES = {
    "A-1": [product("P1", 5, pools={"1": 3, "3": 2}), product("P2", 1, price=0), product("P3", 40, allow_decimal=True)],
    "A-2": [product("P1", 2)],
    "A-3": [],
}
PRODUCTS = {
    "P1": wide({"A-1": 5, "A-2": 2}, 9),
    "P2": wide({"A-1": 1}, 1),
    "P3": wide({"A-1": 40}, 40, allow_decimal=True),
    "P4": wide({}, 4),
    "P5": wide({}, 0),
}

SCANS = [
    *((PRODUCT, number) for number in ("P1", "P1", "P1", "P2", "P2", "P3", "P4", "P5", "P404")),
    *((LOCATION, code) for code in ("A-1", "A-1", "A-2", "A-3", "Z-9")),
    (ORDER, "X"),
]
OTHERS: list[Event] = [
    Changed("product", ""),
    Closed("adjust"),
    Resumed(),
    CursorKey("down"),
    UnknownCode("?"),
    Back(),
    Back(),
]
POLICIES = [LOOSE, Policy(), Policy(recount_units=Decimal(1), blind_counts=True)]


def anything(hand: Hand, random: Random) -> Event:
    """Something that the grammar could make of an input at the step on the screen, or that happens by itself."""
    open_ = hand.job.accepts(hand.state)
    ways: list[Event] = [random.choice(OTHERS)]
    for _ in range(3):
        kind, key = random.choice(SCANS)
        quantity = Decimal(random.choice(["1", "1", "2", "0.5", "12"]))
        ways.append(Scan((Match(kind, key, key, quantity, quantity != 1, key),)))
    if open_.quantity:
        item = hand.state.current_line
        books = item.expected if item and not item.expected % 1 and item.expected > 0 else Decimal(1)
        ways += [Quantity(books), Quantity(Decimal(random.choice(["0", "1", "3", "40", "99", "305", "4101", "5000"])))]
    if hand.state.choices or hand.state.question:
        ways += [Back()] * 3
    if open_.choices:
        ways += [Choice(random.randint(1, open_.choices))] * 6
    if hand.state.question:
        ways += [Choice(1)] * 4
    if hand.state.last_sent and not hand.state.last_sent.changes and "u" in open_.command_letters:
        ways += [Command("u")] * 6
    if "n" in open_.command_letters:
        ways += [Command("n")] * 2
    if open_.command_letters:
        ways += [
            Command(random.choice(open_.command_letters)),
            Command("d" if "d" in open_.command_letters else open_.command_letters[0]),
        ]
    return random.choice(ways)


def check(hand: Hand) -> None:
    """What has to hold wherever the job stands."""
    assert hand.step in hand.job.steps
    view = hand.job.view(hand.state)
    open_ = hand.job.accepts(hand.state)
    assert view.prompt.id
    assert len(view.choices) == open_.choices or hand.step == "count.pool"
    asks = view.prompt.id.startswith("prompt.choose_or_") or view.prompt.id == "count.prompt_missing"
    assert asks == bool(open_.quantity and open_.choices)
    assert open_.choice_letters == getattr(view, "choice_letters", "")
    assert len(set(open_.choice_letters)) == (open_.choices if open_.quantity or open_.choice_letters else 0)
    assert {hint.letter for hint in view.key_hints} <= {*open_.command_letters, "b"}
    assert "b" in {hint.letter for hint in view.key_hints}
    keys = [count_lines.line_key(item) for item in hand.state.lines]
    assert len(keys) == len(set(keys))
    assert all(item.counted is None or item.counted >= 0 for item in hand.state.lines)
    assert hand.state.pending_scan is None


def units(state: CountState) -> Decimal:
    """All units in hand."""
    return sum((item.counted or Decimal(0) for item in state.lines), Decimal(0))


def one_step(hand: Hand, event: Event) -> str:
    """One event; whatever was accepted is in hand or on its way, and nothing else is."""
    state, before = hand.state, len(hand.writes)
    told = hand.feed(event)
    check(hand)
    if told in ("count.counted", "count.counted_of") and isinstance(event, Scan) and state.phase != "recount":
        assert units(hand.state) == units(state) + event.matches[0].quantity
    sent = [entry for write in hand.writes[before:] for entry in write.body["storeproductlog"]]
    if told.startswith("count.sent_undone"):
        assert all(entry["reference"].startswith("undo-") for entry in sent)
    elif sent:
        assert {item.product for item in state.counted_lines} <= {entry["product_number"] for entry in sent}
        assert len(state.counted_lines) <= len(sent) <= len(state.counted_lines) + 1
    elif told != "count.thrown_away":
        assert len(hand.state.counted_lines) >= len(state.counted_lines) - 1
    return told


def test_any_sequence_loses_no_unit_and_reaches_every_step() -> None:
    reached: Counter[str] = Counter()
    for seed in range(tries(40, 850)):
        random = Random(seed)
        hand = Hand(PLACES, PRODUCTS, random.choice(POLICIES), pools={"1": "Shop", "3": "Web"})
        hand.numbers = [(LOCATION, "3"), (PRODUCT, "305"), (ORDER, "4101")]
        for _ in range(80):
            reached[one_step(hand, anything(hand, random)).replace("undone_same", "undone")] += 1
            reached[hand.step] += 1
        assert named_tuple_json.from_text(CountState, named_tuple_json.to_text(hand.state)) == hand.state
        leave(hand)
    expected = {*CountJob.steps, *VERDICTS}
    assert {name: reached[name] for name in sorted(expected) if reached[name] < tries(2, 100)} == {}


def leave(hand: Hand) -> None:
    """From anywhere there is a way out, and what is in hand is asked about on it."""
    del hand.effects[:]
    for _ in range(7):
        if not hand.effects:
            hand.feed(Choice(2) if hand.step == "count.leave" else Back())
    assert isinstance(hand.effects[-1], Close)


VERDICTS = {
    "count.recount_needed", "count.sent_undone",
    "count.list_empty", "count.list_kept", "count.listed", "count.listed_before",
    "count.to_list", "count.missing_at", "count.missing_without_location", "count.number_of_other",
    "count.removed_from_list", "count.scan_location_first", "count.all_stops",
    "count.answer_first",
    "count.at_empty_location",
    "count.at_location", "count.at_stop", "goods.how_many", "count.counted", "count.counted_of", "count.differ",
    "count.differ_value", "session.dropped", "move.go_on", "count.has_locations", "count.last_stop", "count.later",
    "count.later_without_location",
    "count.leave", "count.closed", "count.missing", "count.new_stop", "page.not_this", "count.nothing",
    "count.no_pool", "pick.nothing_to_undo", "count.other_product", "count.pool_chosen",
    "count.product_first", "count.sent", "count.confirm_quantity", "count.sent_and", "count.sent_differing",
    "count.this_location",
    "count.thrown_away", "count.product_locations", "pick.undone", "count.undone_all", "count.unknown",
    "count.which_pool",
    "input.whole_number_only",
}  # fmt: skip
"""All answers of the job, but for those to stores with one pool, to products opened without a scan, and the last."""


def test_who_opened_a_count_for_itself_learns_what_was_sent() -> None:
    hand = Hand({"A-1": [product("P1", 20)]}, policy=LOOSE, location_code="A-1", product_number="P1", empty=True)
    hand.type(18)
    assert hand.type(1) == "count.sent_differing"
    answer = next(effect.answer for effect in hand.effects if isinstance(effect, Close))
    assert answer is not None
    assert answer["what"] == "A-1"
    assert [(each[0], each[3]) for each in answer["changes"]] == [("P1", -2)]
    assert answer["unknown_count"] == 0
    hand = Hand({"A-1": [product("P1", 20)]}, policy=LOOSE, location_code="A-1", product_number="P1", empty=True)
    hand.feed(Back())
    assert [effect.answer for effect in hand.effects if isinstance(effect, Close)] == [None]


def test_recounts_that_were_asked_for_are_one_number_away() -> None:
    hand = Hand()
    assert "count.to_recounts" not in str(hand.job.view(hand.state))
    hand.recounts = ({"key": "P1/A-1"},)
    hand.feed(Changed("recount", ""))
    view = hand.job.view(hand.state)
    assert isinstance(view, Step)
    assert (view.choices[3].id, dict(view.choices[3].args)) == ("count.to_recounts", {"count": 1})
    hand.feed(Choice(4))
    assert hand.effects[-1] == Start("exceptions", {"kind": "recounts"})


def test_back_from_what_differs_says_what_was_left_and_is_no_blank_page() -> None:
    hand = Hand({"A-1": [product(f"P{n}", 20) for n in range(1, 5)]})
    hand.place("A-1")
    hand.scan("P1")
    hand.feed(Command("d"))
    hand.feed(Choice(4))
    assert hand.state.phase == "summary"
    hand.feed(Back())
    view = hand.job.view(hand.state)
    assert isinstance(view, Step)
    assert (view.done, view.total) == (Decimal(1), Decimal(1))
    assert view.lines[-1].text == msg("count.note_left", count=3)
    for n in range(2, 5):
        hand.scan(f"P{n}")
    hand.feed(Command("d"))
    hand.feed(Back())
    view = hand.job.view(hand.state)
    assert isinstance(view, Step)
    assert (view.done, view.total, view.lines[-1].text.id) == (Decimal(4), Decimal(4), "count.note_all")


def test_count_of_large_location_reads_only_touched_products() -> None:
    room = {"S-1": [product(f"G{n:03}", 2) for n in range(count_state.MAX_PRODUCTS + 50)]}
    hand = Hand(room)

    def sizes() -> list[Any]:
        asked = [effect.args for effect in hand.effects if isinstance(effect, Query) and effect.name == "location"]
        return [args.get("product_number") or args.get("size") for args in asked]

    assert hand.place("S-1") == "count.at_location"
    assert hand.verdict is not None
    assert dict(hand.verdict.text.args)["count"] == count_state.MAX_PRODUCTS + 50
    assert hand.scan("G240") == "count.counted_of"
    assert hand.scan("P404") == "count.counted"
    hand.say("u")
    hand.say("u")
    hand.feed(Changed("product", "G240"))
    item = next(item for item in hand.state.lines if item.product == "G240")
    assert (item.counted, item.expected) == (None, Decimal(2))
    assert hand.scan("G240", "2") == "count.counted_of"
    assert sizes() == [count_state.MAX_PRODUCTS, "G240", "P404", count_state.MAX_PRODUCTS]
    assert hand.say("d") == "count.missing"
    assert sizes()[-1] is None
    assert hand.say("a") == "count.sent"
    assert [(entry["product_number"], entry["expected_quantity"]) for entry in hand.entries] == [("G240", 2)]
    hand = Hand(room, location_code="S-1", product_number="G240", empty=True)
    assert hand.state.current_line
    assert hand.state.current_line.expected == 2
    hand.feed(Changed("product", "G240"))
    assert sizes() == ["G240", "G240"]


def test_the_next_place_waits_for_what_was_not_read_of_a_stockroom() -> None:
    room = [product(f"G{n:03}", 2) for n in range(count_state.MAX_PRODUCTS + 1)]
    hand = Hand({"S-1": room, "A-1": []})
    hand.place("S-1")
    hand.scan("G000", "2")
    assert hand.place("A-1") == "count.missing"
    assert hand.say("a") == "count.sent_and"
    assert hand.state.location == "A-1"


def test_of_a_count_that_was_refused_nothing_is_taken_back() -> None:
    hand = Hand({"A-1": [product("P1", 5), product("P2", 5)]})
    for refused, entries in ((0, 2), (1, 1), (2, 0)):
        hand.place("A-1")
        for number in ("P1", "P2"):
            hand.scan(number, "3")
        hand.say("d")
        hand.type(1)
        gone = [{"storeproductlog": [{**entry, "scanned_datetime": CONTEXT.now}]} for entry in hand.entries[-2:]]
        hand.refused = tuple({"body": body, "why": "No such place", "label": "P1"} for body in gone[:refused])
        before = len(hand.entries)
        assert hand.say("u") in (("count.sent_undone", "count.sent_undone") if entries else ("receive.refused",))
        assert len(hand.entries) == before + entries
        assert hand.say("u") == "pick.nothing_to_undo"


def sent_and_booked(difference: str | None, **fields: Any) -> Hand:
    """A count of three where five were expected that was sent, with its entry in the log."""
    hand = Hand({"A-1": [product("P1", 5)], "A-2": [product("P2", 5)]})
    hand.place("A-1")
    hand.scan("P1", "3")
    hand.say("d")
    hand.say("y")
    row = {"product_number": "P1", "location_code": "A-1", "said": to_utc_text(CONTEXT.now), "pool": 0}
    row["at"] = row["said"]
    entry = {**row, "counted_quantity": Decimal(3), "later_count": None, **STANDING, "outcome": "confirmed", **fields}
    hand.booked = ({**entry, "difference": None if difference is None else Decimal(difference)},)
    return hand


@pytest.mark.parametrize("outcome", ["confirmed", "queued"])
@pytest.mark.parametrize("booked", ["2", "-4", "0.5", "12", None])
def test_an_undo_reverses_what_the_service_booked(booked: str | None, outcome: str) -> None:
    """Somebody else counted the same goods meanwhile."""
    hand = sent_and_booked(booked, outcome=outcome)
    assert hand.say("u") == "count.sent_undone"
    assert hand.verdict
    assert ("≈" in MessageWriter().write(hand.verdict.text)) == (outcome == "queued")
    undo = hand.entries[-1]
    assert undo.get("quantity", undo.get("stock_pool_1")) == -Decimal(booked or -2), undo


SENT_AS: dict[str, tuple[str | None, Row, bool]] = {
    "another difference": ("-4", {}, True),
    "the other sign": ("2", {}, True),
    "none": ("0", {}, True),
    "as shown": ("-2", {}, False),
    "unknown": (None, {}, False),
    "not sent yet": ("-4", {"outcome": "queued"}, False),
    "not used": ("-4", {"is_not_used": True}, False),
}
"""Differences that the service booked for a count of three where five were expected, and whether that is said."""


@pytest.mark.every_case
@pytest.mark.parametrize("name", SENT_AS)
def test_a_difference_that_is_booked_otherwise_than_shown_is_reported_once(name: str) -> None:
    booked, fields, is_told = SENT_AS[name]
    hand = sent_and_booked(booked, **fields)
    assert hand.feed(Changed("log", "")) == ("count.booked_otherwise" if is_told else "")
    if is_told:
        assert hand.verdict
        args = dict(hand.verdict.text.args)
        written = [MessageWriter().write(text) for text in (args["booked"], args["shown"]) if isinstance(text, Msg)]
        wanted = {"2": "+2", "0": "±0"}.get(str(booked), booked)
        assert [text.replace("\u2212", "-") for text in written] == [wanted, "-2"]
    assert hand.feed(Changed("log", "")) == ""


def test_a_difference_that_is_booked_otherwise_waits_for_an_open_question() -> None:
    hand = sent_and_booked("-4")
    hand.place("A-2")
    hand.scan("P2", "3")
    hand.say("d")
    assert hand.feed(Changed("log", "")) == ""
    hand.feed(Back())
    assert hand.feed(Changed("log", "")) == "count.booked_otherwise"


def test_undo_of_large_count_reads_what_was_booked_for_all_of_it() -> None:
    changes = [StockChange(f"P{number}", "A-1", 1, Decimal(1), CONTEXT.now) for number in range(3000)]
    assert query_booked(changes, CONTEXT).args["size"] > len(changes)


@pytest.mark.parametrize("superseded", [("P1",), ("P2",), ("P1", "P2")])
def test_an_undo_leaves_goods_that_somebody_counted_since(superseded: tuple[str, ...]) -> None:
    hand = Hand({"A-1": [product("P1", 5), product("P2", 5)]})
    hand.place("A-1")
    for number in ("P1", "P2"):
        hand.scan(number, "3")
    hand.say("d")
    hand.type(1)
    row = {"location_code": "A-1", "said": to_utc_text(CONTEXT.now), "pool": 0, "counted_quantity": Decimal(3)}
    hand.booked = tuple(
        {
            **row,
            "outcome": "confirmed",
            "product_number": each,
            "difference": Decimal(-2),
            "later_count": Decimal(4) if each in superseded else None,
            **STANDING,
        }
        for each in ("P1", "P2")
    )
    before = len(hand.entries)
    told = hand.say("u")
    assert told == ("my_entries.later_count" if len(superseded) == 2 else "count.sent_undone")
    assert [entry["product_number"] for entry in hand.entries[before:]] == [
        each for each in ("P1", "P2") if each not in superseded
    ]


UNDONE_AT_SERVICES = [
    (False, "confirmed", (0, 0), "count.sent_undone_same", [0, 0], None),
    (False, "confirmed", (0, -2), "count.sent_undone", [0, 2], None),
    (False, "queued", (0, 0), "count.sent_undone_same", [0, 0], None),
    (True, "confirmed", (0, 0), "count.nothing_sent_to_undo", [], msg("count.date_stays")),
    (True, "confirmed", (-2, 0), "count.sent_undone", [2], msg("count.date_stays")),
    (True, "confirmed", (-2, -2), "count.sent_undone", [2, 2], msg("count.date_stays")),
    (True, "queued", (0, 0), "count.sent_undone_same", [0, 0], None),
]
"""Whether the service keeps the date, what became of the count, its differences, and what is told and written."""


@pytest.mark.every_case
@pytest.mark.parametrize(("keeps_date", "outcome", "differences", "told", "changes", "detail"), UNDONE_AT_SERVICES)
def test_a_count_without_a_difference_is_undone_where_that_takes_back_its_date(
    keeps_date: bool, outcome: str, differences: tuple[int, int], told: str, changes: list[int], detail: Msg | None
) -> None:
    hand = Hand({"A-1": [product("P1", 5), product("P2", 5)]})
    hand.place("A-1")
    for number, difference in zip(("P1", "P2"), differences, strict=True):
        hand.scan(number, str(5 + difference))
    if hand.say("d") != "count.sent":
        hand.type(1)
    row = {"location_code": "A-1", "said": to_utc_text(CONTEXT.now), "pool": 0, "later_count": None}
    more = {**row, **STANDING, "outcome": outcome, "keeps_date": keeps_date}
    hand.booked = tuple(
        {**more, "product_number": number, "counted_quantity": Decimal(5 + difference), "difference": difference}
        for number, difference in zip(("P1", "P2"), differences, strict=True)
    )
    before = len(hand.entries)
    assert hand.say("u") == told
    assert hand.verdict
    assert hand.verdict.detail == detail
    assert [entry["stock_pool_1"] for entry in hand.entries[before:]] == changes
    assert {entry["reference"] for entry in hand.entries[before:]} <= {f"undo-{CONTEXT.now}"}
    assert hand.say("u") == "pick.nothing_to_undo"


LATER = {"product_number": "P1", "location_code": "A-1", "pool": 1, "counted_quantity": Decimal(4), "user_name": "Ben"}
LATER_AT = "2026-11-20T10:05:00Z"


def counted_by_two(*others: str) -> Hand:
    """A count of P1 and others, after which Ben counted P1."""
    hand = Hand({"A-1": [product(number, 5) for number in ("P1", *others)]})
    hand.place("A-1")
    for number in ("P1", *others):
        hand.scan(number, "3")
    hand.later = ({**LATER, "at": LATER_AT},)
    hand.places["A-1"] = [product("P1", 4), *(product(number, 5) for number in others)]
    return hand


def test_later_count_is_shown_at_the_open_count_with_the_new_stock() -> None:
    hand = counted_by_two()
    hand.feed(Changed("log", ""))
    step = hand.job.view(hand.state)
    assert isinstance(step, Step)
    texts = [line.text for line in step.lines]
    assert msg("count.counted_later", name="Ben", counted=Decimal(4), at=LATER_AT) in texts
    assert msg("count.counted_so_far_of", counted=Decimal(3), expected=Decimal(4)) in texts
    hand.later = ()
    hand.scan("P1")
    assert hand.say("d") == "count.sent", "it is counted again, after Ben"


def test_log_is_read_at_the_begin_and_when_the_counted_goods_change() -> None:
    hand = Hand({"A-1": [product("P1", 5)]})
    hand.place("A-1")
    assert hand.effects.count(Refresh("logs")) == 1
    hand.feed(Changed("product", "P1"))
    assert hand.effects.count(Refresh("logs")) == 1, "nothing is counted yet"
    hand.scan("P1")
    hand.feed(Changed("product", "P1"))
    assert hand.effects.count(Refresh("logs")) == 2


def loss(quantity: int, **fields: Any) -> Row:
    """An entry of P1 at A-1, made after the count."""
    row = {"id": "", "product_number": "P1", "location_code": "A-1", "pool": 1, "at": LATER_AT, "outcome": "queued"}
    return {**row, "counted_quantity": None, "difference": Decimal(quantity), **fields}


CHANGES: dict[str, tuple[list[Row], int]] = {
    "lost": ([loss(-2)], -2),
    "found": ([loss(3)], 3),
    "lost twice": ([loss(-2), loss(-1, outcome="confirmed")], -3),
    "location in other case, no pool": ([loss(-2, location_code="a-1", pool=0)], -2),
    "undone": ([loss(-2), loss(2)], 0),
    "refused": ([loss(-2, outcome="refused")], 0),
    "withdrawn": ([loss(-2, outcome="resolved")], 0),
    "before the count": ([loss(-2, at="2026-11-20T09:59:00Z")], 0),
    "elsewhere": ([loss(-2, location_code="A-2")], 0),
    "another pool": ([loss(-2, pool=2)], 0),
    "another product": ([loss(-2, product_number="P2")], 0),
    "a count": ([loss(-2, counted_quantity=Decimal(3))], 0),
}
"""Entries since P1 was counted, and what they change."""


def since_message(change: int) -> Msg:
    """What is said of three that were counted, of which some were lost or found since."""
    amounts = {"counted": Decimal(3), "quantity": Decimal(abs(change)), "booked": Decimal(3 + change)}
    return msg("count.less_since" if change < 0 else "count.more_since", **amounts)


@pytest.mark.every_case
@pytest.mark.parametrize("expected", [3, 5])
@pytest.mark.parametrize("name", CHANGES)
def test_goods_lost_or_found_since_they_were_counted_are_named_with_the_booked_figure(name: str, expected: int) -> None:
    rows, change = CHANGES[name]
    hand = Hand({"A-1": [product("P1", expected)]})
    hand.place("A-1")
    hand.scan("P1", "3")
    hand.booked = tuple(rows)
    hand.feed(Closed("adjust"))
    step = hand.job.view(hand.state)
    assert isinstance(step, Step)
    assert (since_message(change) in [line.text for line in step.lines]) is bool(change)
    hand.say("d")
    assert bool(hand.entries) is (expected == 3 and not change), "nothing changes stock without a review"
    if not hand.entries:
        summary = hand.job.view(hand.state)
        assert isinstance(summary, ListView)
        assert (since_message(change) in summary.rows[0].cells) is bool(change)
        hand.say("y")
    (entry,) = hand.entries
    assert entry["stock_pool_1"] == 3
    assert entry["scanned_datetime"] < LATER_AT, "it is booked as of its time"


UNDOS: dict[str, tuple[list[Row], int]] = {
    "lost before the count": ([loss(3, reference="undo-2026-11-20T09:59:00Z")], -4),
    "found before the count": ([loss(-3, reference="undo-2026-11-20T09:59:00Z")], 2),
    "by number, long ago": ([loss(3, reference="undo-17")], -4),
    "by number, since": ([loss(-3, id="17", at=LATER_AT), loss(3, reference="undo-17")], -1),
    "refused": ([loss(3, reference="undo-17", outcome="refused")], -1),
    "of another product": ([loss(3, reference="undo-17", product_number="P2")], -1),
}
"""Undos since four of P1 were counted where five were expected, and the difference that the service will book."""


@pytest.mark.every_case
@pytest.mark.parametrize("name", UNDOS)
def test_what_is_undone_since_goods_were_counted_was_never_booked(name: str) -> None:
    rows, difference = UNDOS[name]
    hand = Hand({"A-1": [product("P1", 5)]})
    hand.place("A-1")
    hand.scan("P1", "4")
    hand.booked = tuple(rows)
    for _ in range(2):
        hand.feed(Closed("adjust"))
    hand.say("d")
    if hand.state.phase == "recount":
        hand.say("d")
    summary = hand.job.view(hand.state)
    assert isinstance(summary, ListView)
    shown = dict(summary.rows[0].cells[1].args)
    assert (shown["sign"], shown["value"]) == ("+" if difference > 0 else "-", abs(difference))
    assert "more_since" not in hand.shown()
    assert "less_since" not in hand.shown()
    hand.say("y")
    assert hand.entries[0]["expected_quantity"] == 4 - difference


def test_an_undone_count_is_compared_with_the_stock_without_what_was_undone() -> None:
    hand = Hand({"A-1": [product("P1", 5)]})
    hand.place("A-1")
    hand.scan("P1", "4")
    hand.booked = (loss(3, reference="undo-17"),)
    hand.feed(Closed("adjust"))
    hand.type(6)
    assert hand.state.lines[0].expected == 8
    hand.say("u")
    hand.say("d")
    assert hand.state.lines[0].expected == 8


def test_goods_counted_again_after_a_loss_are_booked_as_counted() -> None:
    hand = Hand({"A-1": [product("P1", 5)]})
    hand.place("A-1")
    hand.scan("P1", "3")
    hand.booked = (loss(-2),)
    hand.feed(Closed("adjust"))
    hand.context = hand.context._replace(now="2026-11-20T10:06:00Z")
    hand.type(3)
    hand.say("y")
    assert "less_since" not in hand.shown()
    hand.say("u")
    assert "less_since" in hand.shown(), "it is the count before the loss again"


def test_count_with_a_later_one_is_not_sent() -> None:
    hand = counted_by_two()
    assert hand.say("d") == "count.left_out"
    assert not hand.entries
    assert hand.state.phase == "start"


def test_count_with_a_later_one_is_left_out_of_the_others() -> None:
    hand = counted_by_two("P2")
    assert hand.say("d") == "count.differ_value"
    assert hand.verdict
    assert hand.verdict.detail == msg("count.left_out", label="Product P1", name="Ben", counted=Decimal(4))
    hand.later = ()
    assert hand.type(1) == "count.sent_differing"
    assert [entry["product_number"] for entry in hand.entries] == ["P2"]


def test_count_that_gets_a_later_one_during_the_review_is_not_sent() -> None:
    hand = counted_by_two("P2")
    later, hand.later = hand.later, ()
    hand.say("d")
    hand.later = later
    assert hand.type(1) == "count.sent_differing"
    assert hand.verdict
    assert hand.verdict.detail == msg("count.left_out", label="Product P1", name="Ben", counted=Decimal(4))
    assert [entry["product_number"] for entry in hand.entries] == ["P2"]


@pytest.mark.parametrize(
    ("fields", "told", "detail", "entries"),
    [
        ({"is_not_used": True}, "count.not_used_nothing_to_undo", None, 0),
        ({"unused_before": Decimal(9)}, "count.sent_undone", msg("count.earlier_stays_unused", counted=Decimal(9)), 1),
    ],
)
def test_an_undo_says_which_count_is_not_used(fields: Row, told: str, detail: Msg | None, entries: int) -> None:
    hand = sent_and_booked("-2", **fields)
    before = len(hand.entries)
    assert hand.say("u") == told
    assert hand.verdict
    assert hand.verdict.detail == detail
    assert len(hand.entries) - before == entries


@pytest.mark.parametrize(("absorbed", "told"), [(0, 2), (2, 0), (-1, 3)])
def test_an_undo_says_what_changes_with_what_came_late(absorbed: int, told: int) -> None:
    """Goods that were on a cart when they were counted are taken from the stock again."""
    hand = sent_and_booked("-2", absorbed=Decimal(absorbed))
    assert hand.say("u") == ("count.sent_undone" if told else "count.sent_undone_same")
    assert hand.verdict
    assert (repr(Decimal(told)) in repr(hand.verdict.text)) == bool(told)
    assert [value for name, value in hand.entries[-1].items() if name.startswith("stock_pool")] == [2]


def test_a_recount_is_compared_with_the_stock_read_last() -> None:
    """The service books a count against the stock of its time: the second count is later than the first."""
    hand = Hand({"A-1": [product("P1", 20)]}, policy=Policy(recount_units=Decimal(3)))
    hand.place("A-1")
    hand.scan("P1")
    hand.type(4)
    hand.places["A-1"] = [product("P1", 18)]
    hand.feed(Changed("product", "P1"))
    (line,) = hand.state.lines
    assert (int(line.expected), int(line.difference)) == (20, -16), "the first count was before the change"
    assert hand.say("d") == "count.recount_needed"
    hand.type(4)
    (line,) = hand.state.lines
    assert (int(line.expected), int(line.difference)) == (18, -14)
    assert hand.type(1) == "count.sent_differing"
    assert [change.quantity for change in hand.state.last_sent.changes] == [-14]  # type: ignore[union-attr]


@pytest.mark.parametrize("counted", ["60", "0", "8.5"])
@pytest.mark.parametrize("way", ["large difference", "recount from the summary"])
def test_a_first_count_that_is_kept_keeps_its_time_and_its_stock(way: str, counted: str) -> None:
    """Ben moves two between the count and the answer: the service takes them off a count that is older."""
    policy = Policy(recount_units=Decimal(1)) if way == "large difference" else LOOSE
    hand = Hand({"A-1": [product("P1", 10, allow_decimal=True)]}, policy=policy)
    hand.place("A-1")
    hand.scan("P1", counted)
    if hand.state.question:
        hand.say("y")
    if counted == "0":
        hand.scan("P1")
        hand.type(0)
    first = hand.context.now
    assert hand.say("d") == ("count.recount_needed" if way == "large difference" else "count.differ_value")
    if way == "recount from the summary":
        assert hand.say("c") == "count.recount_needed"
    hand.context = hand.context._replace(now="2026-11-20T10:06:00Z")
    hand.places["A-1"] = [product("P1", 8, allow_decimal=True)]
    hand.feed(Changed("product", "P1"))
    assert hand.say("d") == "count.differ_value"
    (line,) = hand.state.lines
    assert line.difference == Decimal(counted) - 10
    hand.say("u")
    assert hand.step == "count.recount"
    hand.say("d")
    hand.say("y")
    (entry,) = hand.entries
    assert (entry["stock_pool_1"], entry["expected_quantity"]) == (Decimal(counted), 10)
    assert entry["scanned_datetime"] == first


def test_a_first_count_that_is_kept_does_not_replace_a_later_one() -> None:
    """The service is asked for counts since the first one."""
    hand = Hand({"A-1": [product("P1", 9)]}, policy=Policy(recount_units=Decimal(1)))
    hand.place("A-1")
    hand.scan("P1", "20")
    first = hand.context.now
    hand.say("d")
    hand.context = hand.context._replace(now="2026-11-20T10:06:00Z")
    hand.say("d")
    hand.later = ({**LATER, "at": LATER_AT},)
    assert hand.say("y") == "count.left_out"
    asked = [each for each in hand.effects if isinstance(each, Query) and each.name == "later_counts"]
    assert asked[-1].args["goods"] == [["P1", "A-1", 1, first]]
    assert not hand.entries


def test_a_second_count_has_the_time_and_the_stock_of_its_last_scan() -> None:
    hand = Hand({"A-1": [product("P1", 20)]}, policy=Policy(recount_units=Decimal(3)))
    hand.place("A-1")
    hand.scan("P1", "4")
    hand.say("d")
    for second in (1, 2):
        hand.context = hand.context._replace(now=f"2026-11-20T10:06:0{second}Z")
        hand.scan("P1", "2")
    hand.context = hand.context._replace(now="2026-11-20T10:09:00Z")
    hand.places["A-1"] = [product("P1", 18)]
    hand.feed(Changed("product", "P1"))
    hand.say("d")
    hand.say("y")
    (entry,) = hand.entries
    assert (entry["stock_pool_1"], entry["expected_quantity"]) == (4, 20)
    assert entry["scanned_datetime"] == "2026-11-20T10:06:02Z"


def test_undo_at_a_recount_takes_back_the_one_before() -> None:
    hand = Hand({"A-1": [product("P1", 9), product("P2", 9)]}, policy=Policy(recount_units=Decimal(1)))
    hand.place("A-1")
    count_all_as(hand, 5)
    hand.say("d")
    assert hand.type(19) == "count.recount_needed"
    assert hand.say("u") == "pick.undone"
    line = hand.state.lines[hand.state.question_index]
    assert (hand.step, line.product, line.counted) == ("count.recount", "P1", Decimal(5))
    assert hand.type(8) == "count.recount_needed"
    assert hand.type(9) == "count.confirm_next"
    hand.say("y")
    assert {each.product: each.counted for each in hand.state.lines} == {"P1": 8, "P2": 9}


def test_an_undone_entry_is_compared_with_the_stock_of_its_time() -> None:
    hand = Hand(FIVE)
    hand.place("A-1")
    hand.scan("P1")
    hand.places["A-1"] = [product("P1", 9)]
    hand.feed(Changed("product", "P1"))
    hand.scan("P1")
    assert hand.state.lines[0].expected == 9
    hand.say("u")
    assert hand.state.lines[0].expected == 2
    hand.scan("P1")
    assert hand.state.lines[0].expected == 9
    hand.say("u")
    hand.say("u")
    assert hand.state.lines[0].expected == 9, "nothing is counted: the stock is as it is now"


def test_a_number_after_a_loss_is_asked_about() -> None:
    hand = Hand({"A-1": [product("P1", 9)]})
    hand.place("A-1")
    hand.scan("P1")
    hand.feed(Closed("adjust"))
    assert hand.type(3) == "count.confirm_next"
    assert (hand.say("y"), hand.type(4)) == ("count.counted_of", "count.corrected")


@pytest.mark.parametrize(("number", "answer"), [(10, "count.counted_of"), (4, "count.confirm_next")])
def test_the_number_in_question_typed_again_confirms_it(number: int, answer: str) -> None:
    hand = Hand({"A-1": [product("P1", 9)]})
    hand.place("A-1")
    hand.scan("P1")
    hand.feed(Closed("adjust"))
    assert hand.type(10) == "count.confirm_next"
    assert hand.type(number) == answer
    assert hand.state.lines[0].counted == (10 if number == 10 else 1)


@pytest.mark.parametrize("question", ["missing", "recount", "number"])
def test_undo_drops_the_question_of_a_line(question: str) -> None:
    hand = Hand({"A-1": [product("P1", 9), product("P2", 9)]}, policy=Policy(recount_units=Decimal(1)))
    hand.numbers = [(ORDER, "4101")]
    hand.place("A-1")
    if question == "recount":
        count_all_as(hand, 5)
        hand.say("d")
        hand.scan("P1")
        assert hand.say("u") == "receive.dropped"
        assert (hand.step, hand.state.recount_quantity) == ("count.recount", None)
        assert hand.say("u") == "move.go_on"
        return
    hand.say("d")
    hand.type(6)
    if question == "number":
        hand.say("u")
        hand.type(4101)
        assert hand.say("u") == "session.dropped"
        assert hand.step == "count.missing"
        return
    assert hand.say("u") == "count.undone_all"
    assert (hand.step, hand.state.lines[hand.state.question_index].product) == ("count.missing", "P1")


@pytest.mark.parametrize(
    ("answers", "asked"), [((2,), 1), ((4,), 1), ((2, 2), 2), ((2, 4), 2), ((1, 2), 2), ((2, 2, 2, 2), 4)]
)
def test_undo_takes_the_answer_back_that_leaves_goods_as_they_are(answers: tuple[int, ...], asked: int) -> None:
    hand = Hand({"A-1": [product(f"P{n}", n + 1) for n in range(1, 6)]})
    hand.feed(Scan((Match(LOCATION, "A-1", "A-1", code="A-1"),)))
    hand.feed(Scan((Match(PRODUCT, "P5", "P5", code="P5"),)))
    hand.feed(Command("d"))
    for number in answers:
        hand.feed(Choice(number))
    assert hand.feed(Command("u")) == "count.undone_left"
    assert (hand.state.phase, hand.state.question_index) == ("missing", asked - 1)
    assert all(line.is_missing for line in hand.state.lines[asked - 1 : 4])


def test_undo_on_the_page_of_the_count_takes_that_answer_back_too() -> None:
    hand = Hand({"A-1": [product(f"P{n}", n + 1) for n in range(1, 6)]})
    hand.feed(Scan((Match(LOCATION, "A-1", "A-1", code="A-1"),)))
    hand.feed(Scan((Match(PRODUCT, "P5", "P5", code="P5"),)))
    for event in (Command("d"), Choice(2), Choice(2), Back()):
        hand.feed(event)
    undone = [hand.feed(Command("u")) for _ in range(4)]
    assert undone == ["count.undone_left", "count.undone_left", "count.undone_all", "pick.nothing_to_undo"]


def later_context(hand: Hand, minute: int) -> str:
    """Let the clock of a count go on to a minute past ten; return the time."""
    hand.context = hand.context._replace(now=f"2026-11-20T10:{minute:02}:00Z")
    return hand.context.now


BETWEEN: dict[str, tuple[list[Row], int]] = {
    **CHANGES,
    "undone by time": ([loss(-2), loss(2, reference=f"undo-{LATER_AT}")], 0),
}
"""Entries between two scans of P1, and what they change."""


@pytest.mark.every_case
@pytest.mark.parametrize("target", ["location", "product"])
@pytest.mark.parametrize("is_known_late", [False, True])
@pytest.mark.parametrize("more", ["1", "0.25"])
@pytest.mark.parametrize("name", BETWEEN)
def test_a_scan_does_not_count_again_what_was_lost_since(
    name: str, more: str, is_known_late: bool, target: str
) -> None:
    """The figure at the scan is the one of the page; the scan adds its quantity to it, and an undo takes that away."""
    rows, change = BETWEEN[name]
    hand = Hand({"A-1": [product("P1", 9, allow_decimal=True)]}, {"P1": wide({"A-1": 9}, 9, allow_decimal=True)})
    if target == "location":
        hand.place("A-1")
    hand.scan("P1")
    hand.type(3)
    hand.booked = () if is_known_late else tuple(rows)
    hand.feed(Closed("adjust"))
    later_context(hand, 6)
    hand.scan("P1", more)
    hand.booked = tuple(rows)
    hand.feed(Changed("product", "P1"))
    line = hand.state.lines[0]
    assert line.counted == 3 + change + Decimal(more)
    hand.say("u")
    assert hand.state.lines[0].counted == 3
    hand.scan("P1", more)
    hand.say("d")
    while hand.step != "count.summary":
        hand.say("k" if hand.step == "count.missing" else "d")
    hand.say("y")
    entry = hand.entries[0]
    assert (entry["stock_pool_1"], entry["scanned_datetime"]) == (line.counted, hand.context.now)


def test_the_total_of_a_product_lacks_what_was_lost_at_a_location_before_it_was_counted() -> None:
    """The total has the time of its last part: what is lost before that is no longer part of it."""
    hand = Hand({}, {"P1": wide({"A-1": 10}, 14)})
    hand.scan("P1")
    hand.type(10)
    hand.booked = (loss(-2),)
    hand.feed(Closed("adjust"))
    later_context(hand, 6)
    hand.say("n")
    hand.type(4)
    hand.say("d")
    hand.say("y")
    assert [entry.get("counted_quantity", entry.get("stock_pool_1")) for entry in hand.entries] == [10, 12]


class CountedStock:
    """Goods of P1 that are counted while others change them, and what stands on the page."""

    def __init__(self, random: Random, *, is_typed: bool) -> None:
        self.random, self.minute = random, 0
        self.hand = Hand({"A-1": [product("P1", 40, allow_decimal=True)]})
        self.hand.place("A-1")
        self.hand.scan("P1")
        if is_typed:
            self.hand.type(9)

    def change(self, quantity: Decimal, undone_at: str = "", *, is_move: bool = False) -> None:
        """Goods are lost, found or moved, or that is undone."""
        at = self.hand.context.now
        if is_move:
            self.hand.moves += ({**loss(0, at=at), "quantity": quantity, "undone_at": undone_at},)
        else:
            reference = f"undo-{undone_at}" if undone_at else ""
            self.hand.booked += (loss(0, difference=quantity, at=at, reference=reference),)

    def act(self) -> None:
        """One thing happens, a minute after the one before."""
        self.minute += 1
        now = later_context(self.hand, self.minute)
        match self.random.choice(("scan", "scan", "type", "lose", "find", "move", "undo entry", "undo change")):
            case "scan":
                self.hand.scan("P1", self.random.choice(("1", "0.25", "12")))
            case "type":
                self.hand.state = self.hand.state._replace(has_moved_on=False)
                self.hand.type(self.random.randrange(1, 40))
            case "undo entry" if len(self.hand.state.history) > 1:
                self.hand.say("u")
            case "undo change" if changes := self.open_changes():
                row, is_move = self.random.choice(changes)
                self.change(-row["quantity" if is_move else "difference"], to_utc_text(row["at"]), is_move=is_move)
            case "lose" | "find" | "move" as kind:
                quantity = Decimal(self.random.randrange(1, 9)) / 4
                self.change(-quantity if kind == "lose" else quantity, is_move=kind == "move")
        assert self.hand.context.now == now
        self.hand.feed(Changed("product", "P1"))

    def open_changes(self) -> list[tuple[Row, bool]]:
        """What was lost, found or moved and is not undone."""
        undone = {each["reference"].removeprefix("undo-") for each in self.hand.booked if each.get("reference")}
        undone |= {each["undone_at"] for each in self.hand.moves}
        entries = [(each, False) for each in self.hand.booked if not each.get("reference")]
        moves = [(each, True) for each in self.hand.moves if not each["undone_at"]]
        return [(each, kind) for each, kind in (*entries, *moves) if to_utc_text(each["at"]) not in undone]

    def changed_after(self, moment: str) -> Decimal:
        """What the service adds to a count of this time: what is undone counts at its own time."""
        moved = [(each["undone_at"] or each["at"], each["quantity"]) for each in self.hand.moves]
        booked = [
            (str(each.get("reference") or "").removeprefix("undo-") or each["at"], each["difference"])
            for each in self.hand.booked
        ]
        later = (quantity for at, quantity in (*moved, *booked) if to_utc_text(at) > to_utc_text(moment))
        return sum(later, Decimal(0))


def shown_as_booked(hand: Hand) -> Decimal:
    """The figure that stands on the page of the count: with what left or came since, if the page names that."""
    step = hand.job.view(hand.state)
    assert isinstance(step, Step)
    for line in step.lines:
        if line.text.id in ("count.less_since", "count.more_since"):
            return Decimal(str(dict(line.text.args)["booked"]))
    return hand.state.lines[0].counted or Decimal(0)


@pytest.mark.parametrize("seed", range(40))
def test_what_stands_on_the_page_is_booked_whatever_happens_while_it_is_counted(seed: int) -> None:
    """Scans, totals, losses, found goods, moves by others and undos, in any order."""
    random = Random(seed)
    goods = CountedStock(random, is_typed=bool(seed % 2))
    hand = goods.hand
    for _ in range(14):
        before, entries = shown_as_booked(hand), len(hand.state.history)
        scanned = hand.state.lines[0].entered
        goods.act()
        line = hand.state.lines[0]
        assert line.counted is not None
        if len(hand.state.history) > entries and not line.is_typed:
            assert shown_as_booked(hand) - before == line.entered - scanned, "a scan adds its quantity"
        if line.is_typed and line.counted_at == hand.context.now:
            assert shown_as_booked(hand) == line.counted, "a total replaces all"
    shown = shown_as_booked(hand)
    hand.say("d")
    while hand.step not in ("count.summary", "count.start"):
        hand.say("k" if hand.step == "count.missing" else "d")
    if hand.step == "count.summary":
        hand.say("y")
    (entry,) = hand.entries
    assert entry["stock_pool_1"] + goods.changed_after(entry["scanned_datetime"]) == shown
