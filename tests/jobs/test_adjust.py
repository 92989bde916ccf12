"""The loss job by itself: no terminal, no file, no network."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from aisle import named_tuple_json
from aisle.jobs.adjust import AdjustJob
from aisle.jobs.adjust_state_view_and_undo import AdjustState, Reason, parse_reasons
from aisle.jobs.job import Changed, Close, Closed, Context, Event, Opened, Policy, Query, Resumed, Rows, Start, Write
from aisle.jobs.names_in_messages import plain_amount
from aisle.jobs.store_time import to_utc_text
from aisle.jobs.view import WRONG, ListView, Step, Verdict, msg
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    ORDER,
    PRODUCT,
    Back,
    Choice,
    Command,
    CursorKey,
    Match,
    Quantity,
    Scan,
    UnknownCode,
)
from aisle.settings.setting_definitions import LOSS_REASONS
from aisle.tui.message_text import MessageWriter
from tests.run_length import tries

CONTEXT = Context(store="0001", user="ann", now="2026-11-20T10:00:00Z")

Row = dict[str, Any]


def product(number: str, places: dict[str, int], **more: Any) -> Row:
    """A product as the read `product` gives it."""
    total = Decimal(sum(places.values()))
    spots = [{"location_code": code, "quantity": have, "pools": {"2": have}} for code, have in places.items() if code]
    return {
        "product_number": number,
        "product_name": f"Product {number}",
        "most_likely_quantity": total,
        "locations": spots,
        "pools": [{"pool": 2, "name": "Shop", "quantity": total}],
        **more,
    }


PRODUCTS = {
    "P1": product("P1", {"A-1": 5}),
    "P2": product("P2", {"A-1": 5, "A-2": 3, "": 4}),
    "P3": product("P3", {"": 4}, allow_decimal=True, unit="kg"),
    "P4": {"product_number": "P4"},
    "P5": product("P5", {"A-5": 150}),
    "P6": {
        **product("P6", {}),
        "locations": [{"location_code": "A-1", "quantity": 5, "pools": {"1": 2, "3": 3}}],
    },
}


NUMBERS = [(LOCATION, "7"), (PRODUCT, "305"), (PRODUCT, "110002"), (ORDER, "1"), (ORDER, "4101")]
"""What is known by digits alone."""


class Hand:
    """Runs the job as a session does: its questions about the store are answered at once, the last one first."""

    def __init__(self, learnt: tuple[Row, ...] = (), policy: Policy | None = None, rows: int = 12, **args: Any) -> None:
        self.job = AdjustJob()
        self.state: AdjustState = self.job.begin()
        self.context = CONTEXT._replace(policy=policy or Policy(), window_rows=rows)
        self.learnt = learnt
        self.refused: tuple[Row, ...] = ()
        """What the service refused."""
        self.logged: tuple[Row, ...] = ()
        """Entries of the day in the service's log."""
        self.effects: list[Any] = []
        self.verdict: Verdict | None = None
        self.feed(Opened(args))

    def feed(self, event: Event) -> str:
        """The message id of the last verdict that one event leads to."""
        told = ""
        events: list[Event] = [event]
        while events:
            turn = self.job.handle(self.state, events.pop(), self.context)
            self.state = turn.state
            self.effects += turn.effects
            self.verdict = turn.verdict or self.verdict
            told = turn.verdict.text.id if turn.verdict else told
            events += [self._answer(effect) for effect in turn.effects if isinstance(effect, Query)]
        return told

    def _answer(self, query: Query) -> Rows:
        if query.name == "records_by_number":
            rows = tuple({"kind": kind, "key": key, "label": key} for kind, key in NUMBERS if key == query.args["code"])
            return Rows(query.id, rows, len(rows))
        if query.name == "store":
            return Rows(query.id, ({"pools": {"1": "Web", "2": "Shop"}},), 1)
        if query.name == "refused_operations":
            return Rows(query.id, self.refused, len(self.refused))
        if query.name == "my_entries":
            return Rows(query.id, self.logged, len(self.logged))
        if query.name == "reasons":
            return Rows(query.id, self.learnt, len(self.learnt))
        if query.name == "location":
            return Rows(query.id, ({**query.args, "default_stock_pool": 2, "products": []},), 1)
        known = PRODUCTS.get(query.args["product_number"])
        return Rows(query.id, (known,), 1) if known else Rows(query.id, (), 0)

    def scan(self, key: str, quantity: str = "1", kind: str = PRODUCT) -> str:
        """A code that means one thing."""
        return self.feed(Scan((Match(kind, key, key, Decimal(quantity), quantity != "1", key),)))

    @property
    def entries(self) -> list[Row]:
        """All entries that were sent."""
        writes = [effect for effect in self.effects if isinstance(effect, Write)]
        return [entry for write in writes for entry in write.body["storeproductlog"]]


def test_product_quantity_reason_is_all_there_is_to_a_loss() -> None:
    hand = Hand()
    assert hand.scan("P1") == "count.counted"
    assert hand.feed(Quantity(Decimal(3))) == "adjust.which_reason"
    assert hand.feed(Choice(1)) == "adjust.lost"
    write = next(effect for effect in hand.effects if isinstance(effect, Write))
    assert write.operation == "create-store-product-logs"
    assert write.query == {"appUserName": "ann", "is_counted_quantity": False}
    assert (write.lanes, write.merge_key) == (("product/P1",), "")
    assert hand.entries == [
        {
            "product_number": "P1",
            "location_code": "A-1",
            "stock_pool_2": Decimal(-3),
            "reason_code": 1,
            "loss_comment": "Damaged",
            "scanned_datetime": "2026-11-20T10:00:00Z",
            "app_user_name": "ann",
            "source": "aisle",
        }
    ]
    assert hand.job.step_name(hand.state) == "adjust.product"


def test_where_it_lay_is_asked_only_where_that_is_not_plain() -> None:
    hand = Hand()
    assert hand.scan("P2") == "adjust.which_location"
    view = hand.job.view(hand.state)
    assert isinstance(view, ListView)
    assert view.numbered_rows == 3
    assert hand.feed(Choice(2)) == "count.counted"
    hand.feed(Command("d"))
    hand.feed(Choice(2))
    assert hand.entries[-1]["location_code"] == "A-2"
    assert hand.scan("A-1", kind=LOCATION) == "adjust.at_location"
    assert hand.scan("P2") == "count.counted"
    hand.scan("P2", "2")
    hand.feed(Command("d"))
    hand.feed(Choice(1))
    assert (hand.entries[-1]["location_code"], hand.entries[-1]["stock_pool_2"]) == ("A-1", -3)
    hand = Hand()
    hand.scan("P2")
    assert hand.scan("A-9", kind=LOCATION) == "count.counted"
    hand.feed(Command("d"))
    assert hand.feed(Choice(1)) == "adjust.exceeds_expected"
    assert hand.feed(Choice(1)) == "adjust.lost"
    assert (hand.entries[-1]["location_code"], hand.entries[-1]["quantity"]) == ("A-9", -1)


def test_what_was_found_adds_and_what_nobody_knows_can_be_lost() -> None:
    hand = Hand()
    hand.scan("P3", "1.5")
    hand.feed(Command("d"))
    assert hand.feed(Choice(5)) == "adjust.found"
    assert hand.entries[-1]["stock_pool_2"] == Decimal("1.5")
    assert "location_code" not in hand.entries[-1]
    for number in ("P4", "P404"):
        hand.scan(number)
        hand.feed(Command("d"))
        assert hand.feed(Choice(4)) == "adjust.lost"
        assert (hand.entries[-1]["quantity"], hand.entries[-1]["reason_code"]) == (-1, 4)


def test_after_too_many_any_other_number_is_how_many_for_the_same_reason() -> None:
    hand = Hand()
    hand.scan("P1", "9")
    hand.feed(Command("d"))
    assert hand.feed(Choice(1)) == "adjust.exceeds_expected"
    assert hand.job.view(hand.state).prompt.id == "prompt.choose_or_many"
    assert hand.feed(Quantity(Decimal(0))) == "adjust.none"
    hand.scan("P1", "9")
    hand.feed(Command("d"))
    assert hand.feed(Choice(1)) == "adjust.exceeds_expected"
    assert hand.feed(Quantity(Decimal(8))) == "adjust.exceeds_expected"
    assert hand.feed(Quantity(Decimal(4))) == "adjust.lost"
    assert (hand.entries[-1]["stock_pool_2"], hand.entries[-1]["reason_code"]) == (-4, 1)


def test_reasons_come_from_the_table_and_from_the_logs() -> None:
    learnt: Any = (
        {"reason_code": 7, "reason_code_description": "Broken glass", "adds": False},
        {"reason_code": 11, "reason_code_description": "Chewed", "adds": False},
        {"reason_code": 12, "reason_code_description": "Late delivery", "adds": True},
    )
    table = ("11 - Damaged", "nonsense", " 12+Found ")
    found = (Reason(11, -1, "Damaged"), Reason(12, 1, "Found"), Reason(7, -1, "Broken glass"))
    assert parse_reasons(table, learnt) == found
    assert parse_reasons(()) == parse_reasons(Policy().adjustment_reasons)
    hand = Hand(learnt, Policy(adjustment_reasons=table), rows=2)
    hand.scan("P1")
    hand.feed(Command("d"))
    assert hand.job.accepts(hand.state).choices == 2
    hand.feed(Command("n"))
    assert hand.job.accepts(hand.state).choices == 1
    hand.feed(Choice(1))
    assert hand.entries[-1]["reason_code"] == 7


def test_arrow_keys_and_wheel_scroll_the_reasons() -> None:
    hand = Hand(policy=Policy(adjustment_reasons=("11 - A", "12 - B", "13 - C")), rows=2)
    hand.scan("P1")
    hand.feed(Command("d"))
    first_rows = []
    for key in ("down", "up", "pagedown", "pagedown", "scrolldown", "scrollup", "enter"):
        hand.feed(CursorKey(key))
        first_rows.append(hand.state.first_row)
    assert first_rows == [1, 0, 2, 0, 1, 0, 0]


def test_the_last_losses_are_taken_back_by_their_opposites() -> None:
    hand = Hand()
    for number, reason in (("P1", 1), ("P3", 5), ("P1", 1)):
        hand.scan(number, "2")
        hand.feed(Command("d"))
        hand.feed(Choice(reason))
    assert hand.feed(Command("u")) == "adjust.undone"
    assert hand.feed(Command("u")) == "adjust.undone"
    assert hand.feed(Command("u")) == "adjust.undone"
    assert hand.feed(Command("u")) == "pick.nothing_to_undo"
    assert [entry["stock_pool_2"] for entry in hand.entries] == [-2, 2, -2, 2, -2, 2]
    assert [entry.get("reason_code") for entry in hand.entries] == [1, 5, 1, None, None, None]
    assert [entry.get("reference") for entry in hand.entries] == [None] * 3 + ["undo-2026-11-20T10:00:00Z"] * 3


def test_more_lost_than_the_books_have_is_asked() -> None:
    def lose(number: str, quantity: int) -> Hand:
        hand = Hand()
        hand.scan(number)
        hand.feed(Quantity(Decimal(quantity)))
        return hand

    hand = lose("P1", 50)
    assert hand.feed(Choice(1)) == "adjust.exceeds_expected"
    assert not hand.entries
    assert [choice.id for choice in hand.job.view(hand.state).choices] == [
        "goods.only",
        "goods.all_anyway",
        "move.choice_count",
    ]
    assert hand.feed(Back()) == "session.dropped"
    assert hand.job.accepts(hand.state).choice_letters == ""
    assert hand.feed(Quantity(Decimal(50))) == "adjust.which_reason"
    hand.feed(Choice(1))
    assert hand.job.accepts(hand.state).choice_letters == "ryc"
    assert hand.feed(Choice(1)) == "adjust.lost"
    assert hand.entries[-1]["stock_pool_2"] == -5
    hand = lose("P1", 50)
    hand.feed(Choice(1))
    assert hand.feed(Choice(2)) == "adjust.lost"
    assert hand.entries[-1]["stock_pool_2"] == -50
    assert lose("P1", 5).feed(Choice(1)) == "adjust.lost"
    assert lose("P1", 50).feed(Choice(5)) == "adjust.found"
    assert lose("P4", 500).feed(Choice(1)) == "adjust.lost"  # nobody knows how many there are


ASKS_REASON = Policy(adjustment_reasons=("1 - Expired", "2 - Expired at delivery", "3 - Damaged"))
"""Reasons of which two name expiry: then it is asked which one is meant."""

OPENED: list[tuple[Row, tuple[tuple[str, str], ...]]] = [
    ({}, ((PRODUCT, "P1"),)),
    ({}, ((LOCATION, "A-1"), (PRODUCT, "P1"))),
    ({}, ((PRODUCT, "P1"), (LOCATION, "A-1"))),
    ({"location_code": "A-1"}, ((PRODUCT, "P1"),)),
    ({"location_code": "A-1", "product_number": "P1"}, ()),
    ({"location_code": "A-1", "product_number": "P1", "expired_on": "2026-11-19", "policy": ASKS_REASON}, ()),
]
"""How a loss is opened: from the menu, in a count, from a product's page, for expired goods."""


def _lose(opened: Row, scans: tuple[tuple[str, str], ...], quantity: int) -> Hand:
    hand = Hand(**opened)
    for kind, key in scans:
        hand.scan(key, kind=kind)
    hand.feed(Quantity(Decimal(quantity)))
    return hand


@pytest.mark.parametrize(("opened", "scans"), OPENED)
@pytest.mark.parametrize("now", [{}, {"A-1": 2}, {"A-1": 2, "A-2": 3}, {"A-2": 5}])
def test_a_loss_is_asked_from_the_stock_when_it_is_sent(
    opened: Row, scans: tuple[tuple[str, str], ...], now: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    hand, left = _lose(opened, scans, 4), now.get("A-1", 0)
    monkeypatch.setitem(PRODUCTS, "P1", product("P1", now))
    assert hand.feed(Choice(1)) == "adjust.exceeds_expected"
    assert hand.verdict
    args = dict(hand.verdict.text.args)
    assert (args["books"], args["result"]) == (left, left - 4)
    assert not hand.entries
    assert hand.feed(Choice(1)) == "adjust.lost"
    assert hand.entries[-1]["stock_pool_2"] == -(left or 4)


@pytest.mark.parametrize(("opened", "scans"), OPENED)
def test_a_loss_that_the_stock_now_has_is_not_asked(
    opened: Row, scans: tuple[tuple[str, str], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    hand = _lose(opened, scans, 20)
    monkeypatch.setitem(PRODUCTS, "P1", product("P1", {"A-1": 30}))
    assert hand.feed(Choice(1)) == "adjust.lost"
    assert hand.entries[-1]["stock_pool_2"] == -20


@pytest.mark.parametrize(
    ("answer", "now", "told", "sent"),
    [
        (1, 2, "adjust.exceeds_expected", None),
        (2, 2, "adjust.exceeds_expected", None),
        (1, 5, "adjust.lost", -5),
        (2, 5, "adjust.lost", -20),
        (1, 30, "adjust.lost", -5),
        (2, 30, "adjust.lost", -20),
    ],
)
def test_an_answer_holds_unless_the_stock_has_become_less(
    answer: int, now: int, told: str, sent: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand = _lose({}, ((PRODUCT, "P1"),), 20)
    assert hand.feed(Choice(1)) == "adjust.exceeds_expected"
    monkeypatch.setitem(PRODUCTS, "P1", product("P1", {"A-1": now}))
    assert hand.feed(Choice(answer)) == told
    assert [entry["stock_pool_2"] for entry in hand.entries] == ([sent] if sent else [])


def test_the_question_after_a_count_has_the_counted_stock(monkeypatch: pytest.MonkeyPatch) -> None:
    hand = _lose({}, ((PRODUCT, "P1"),), 20)
    hand.feed(Choice(1))
    hand.feed(Choice(3))
    assert hand.feed(Closed("count")) == "count.counted"  # the stock is read before the count is written
    monkeypatch.setitem(PRODUCTS, "P1", product("P1", {"A-1": 30}))
    hand.feed(Command("d"))
    assert hand.feed(Choice(1)) == "adjust.lost"
    assert hand.entries[-1]["stock_pool_2"] == -20


@pytest.mark.parametrize("number", ["P1", "P2", "P3", "P4", "P404"])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_loss_where_the_books_have_none_is_asked_back(number: str, is_first: bool) -> None:
    hand = Hand()
    for key, kind in (("A-9", LOCATION), (number, PRODUCT)) if is_first else ((number, PRODUCT), ("A-9", LOCATION)):
        hand.scan(key, kind=kind)
    hand.feed(Quantity(Decimal(2)))
    assert hand.feed(Choice(1)) == "adjust.exceeds_expected"
    assert hand.verdict
    args = dict(hand.verdict.text.args)
    assert (args["place"], plain_amount(args["result"])) == (msg("raw", text="A-9"), Decimal(-2))
    assert plain_amount(args["books"]) == 0
    assert hand.job.accepts(hand.state).choice_letters == "yc"
    assert not hand.entries
    assert hand.feed(Choice(1)) == "adjust.lost"
    assert hand.entries[-1]["location_code"] == "A-9"


def test_a_confirmed_quantity_is_asked_back_where_the_books_have_none() -> None:
    hand = Hand(location_code="A-9")
    hand.scan("P1")
    assert hand.feed(Quantity(Decimal(2000))) == "count.confirm_quantity"
    hand.feed(Choice(1))
    assert hand.feed(Choice(1)) == "adjust.exceeds_expected"
    assert not hand.entries


def test_what_is_found_where_the_books_have_none_is_not_asked_back() -> None:
    hand = Hand(location_code="A-9")
    hand.scan("P4")
    hand.feed(Quantity(Decimal(2)))
    assert hand.feed(Choice(5)) == "adjust.found"


def test_what_the_books_do_not_have_can_be_counted_before_it_is_lost() -> None:
    hand = Hand(location_code="A-3")
    hand.scan("P1", "2")
    hand.feed(Command("d"))
    assert hand.feed(Choice(1)) == "adjust.exceeds_expected"
    hand.feed(Choice(2))
    assert hand.effects[-1] == Start("count", {"location_code": "A-3", "product_number": "P1", "label": "Product P1"})
    assert hand.feed(Closed("count")) == "count.counted"
    assert (hand.state.quantity, hand.state.location) == (Decimal(2), "A-3")


@pytest.mark.parametrize(
    ("places", "shown"),
    [
        ({"A-1": 2, "A-2": 3, "": 4}, [4, 2, 3]),
        ({"A-2": 9}, [0, 0, 9]),
        ({"A-0": 6, "A-1": 5, "A-2": 3, "": 4}, [4, 5, 3]),
    ],
    ids=["less of it", "none left", "also elsewhere"],
)
def test_locations_that_can_be_chosen_follow_their_stock(
    monkeypatch: pytest.MonkeyPatch, places: dict[str, int], shown: list[int]
) -> None:
    hand = Hand()
    hand.scan("P2")
    before = [line.location for line in hand.state.candidates]
    monkeypatch.setitem(PRODUCTS, "P2", product("P2", places))
    assert hand.feed(Changed("product", "P2")) == ""
    assert [line.location for line in hand.state.candidates] == before
    assert sorted(line.expected for line in hand.state.candidates) == sorted(shown)


def test_pool_of_a_loss_is_named_until_its_undo() -> None:
    hand = Hand()
    assert hand.scan("P6") == "adjust.which_location"
    hand.feed(Choice(1))
    writer = MessageWriter()
    view = hand.job.view(hand.state)
    assert isinstance(view, Step)
    assert writer.write(view.lines[0].text) == "A-1 (Web)"
    hand.feed(Quantity(Decimal(4)))
    assert hand.feed(Choice(1)) == "adjust.exceeds_expected"
    assert hand.verdict
    assert writer.write(hand.verdict.text).startswith("A-1 (Web): 2 × ")
    view = hand.job.view(hand.state)
    assert isinstance(view, Step)
    assert "A-1 (Web)" in writer.write(view.choices[-1])
    hand.feed(Choice(2))
    assert hand.entries[-1]["stock_pool_1"] == -4
    hand.feed(Command("u"))
    assert hand.verdict
    assert writer.write(hand.verdict.text) == "Being undone: stock of Product P6, A-1 (Web) changes by +4"


@pytest.mark.parametrize("is_location_first", [True, False])
@pytest.mark.parametrize(("choice", "pool"), [(1, 2), (2, 3)])
def test_pool_is_asked_for_in_both_orders(
    monkeypatch: pytest.MonkeyPatch, is_location_first: bool, choice: int, pool: int
) -> None:
    """The default pool of the location is 2."""
    place = {"location_code": "A-1", "quantity": 8, "pools": {"2": 5, "3": 3}}
    monkeypatch.setitem(PRODUCTS, "P6", {**PRODUCTS["P6"], "locations": [place]})
    hand = Hand()
    scans = [("A-1", LOCATION), ("P6", PRODUCT)]
    told = [hand.scan(key, kind=kind) for key, kind in (scans if is_location_first else reversed(scans))]
    assert told[-1 if is_location_first else 0] == (
        "adjust.which_pool" if is_location_first else "adjust.which_location"
    )
    assert hand.state.phase == "location"
    hand.feed(Choice(choice))
    hand.feed(Command("d"))
    hand.feed(Choice(1))
    assert hand.entries[-1][f"stock_pool_{pool}"] == -1


def test_pool_chosen_before_a_count_is_not_asked_for_again() -> None:
    hand = Hand(location_code="A-1")
    assert hand.scan("P6") == "adjust.which_pool"
    hand.feed(Choice(2))
    hand.feed(Quantity(Decimal(4)))
    assert hand.feed(Choice(1)) == "adjust.exceeds_expected"
    hand.feed(Choice(3))
    assert hand.effects[-1].job == "count"
    assert hand.feed(Closed("count")) == "count.counted"
    assert hand.state.line is not None
    assert (hand.state.line.location, hand.state.line.pool) == ("A-1", 3)


def test_adjust_from_count_starts_with_location_and_product_and_returns() -> None:
    hand = Hand(location_code="A-2", product_number="P2")
    assert hand.job.step_name(hand.state) == "adjust.quantity"
    hand.feed(Quantity(Decimal(1)))
    hand.feed(Choice(3))
    assert (hand.entries[-1]["location_code"], hand.entries[-1]["stock_pool_2"]) == ("A-2", -1)
    assert isinstance(hand.effects[-1], Close)


def test_nothing_is_no_loss_and_one_thing_is_said_at_a_time() -> None:
    hand = Hand()
    hand.scan("P1")
    assert hand.feed(Quantity(Decimal(0))) == "adjust.none"
    assert hand.scan("P2") == "count.product_first"
    assert hand.scan("P1", "0.5") == "input.whole_number_only"
    assert hand.scan("X", kind=ORDER) == "page.not_this"
    assert hand.feed(Back()) == "session.dropped"
    assert hand.scan("P1", "0.5") == "input.whole_number_only"
    assert hand.job.step_name(hand.state) == "adjust.product"
    assert not hand.entries


def test_a_scan_that_is_dropped_leaves_no_product_open() -> None:
    hand = Hand()
    assert hand.scan("P1", "288") == "count.confirm_quantity"
    assert hand.feed(Choice(2)) == "receive.dropped"
    assert (hand.state.phase, hand.state.line) == ("product", None)
    assert hand.scan("P5") == "count.counted"
    assert hand.feed(Quantity(Decimal(9999))) == "count.confirm_quantity"
    assert hand.feed(Choice(2)) == "receive.dropped"
    assert (hand.state.phase, hand.state.quantity) == ("quantity", Decimal(1))


@pytest.mark.parametrize(("product", "books"), [("P1", 5), ("P5", 150), ("P4", 0), ("P404", 0)])
@pytest.mark.parametrize("why", ["Broken", "Found"])
def test_large_loss_or_found_asks_first(product: str, books: int, why: str) -> None:
    hand = Hand(policy=Policy(adjustment_reasons=("1 - Broken", "5 + Found")))
    reason = Choice(1 if why == "Broken" else 2)
    hand.scan(product)
    assert hand.feed(Quantity(Decimal(10 * books or 999))) == "adjust.which_reason"
    hand.feed(Back())
    doubted = Quantity(Decimal(10 * books + 1 if books else 1000))
    assert hand.feed(doubted) == "count.confirm_quantity"
    assert [choice.id for choice in hand.job.view(hand.state).choices] == [
        "count.choice_quantity",
        "order_actions.no",
    ]
    assert (hand.job.accepts(hand.state).typed_only, hand.job.accepts(hand.state).choice_letters) == (True, "yx")
    assert hand.feed(Back()) == "receive.dropped"
    assert hand.state.phase == "quantity"
    hand.feed(doubted)
    assert hand.feed(Quantity(Decimal(12))) == "adjust.which_reason", "another quantity is the answer too"
    hand.feed(Back())
    hand.feed(doubted)
    assert hand.feed(Choice(1)) == "adjust.which_reason"
    assert hand.entries == []
    assert hand.feed(reason) == ("adjust.found" if why == "Found" else "adjust.lost"), (
        "so many was said, and is asked once"
    )
    assert hand.state.question is None
    hand.scan(product)
    hand.feed(Quantity(Decimal(10 * books or 999)))
    assert (hand.feed(reason) == "adjust.exceeds_expected") == bool(why == "Broken" and books), (
        "of the next one nothing was said yet"
    )


def anything(hand: Hand, random: Random) -> Event:
    """Something that the grammar could make of an input at the step on the screen."""
    open_ = hand.job.accepts(hand.state)
    kind, key = random.choice(
        [(PRODUCT, "P1"), (PRODUCT, "P2"), (PRODUCT, "P2"), (PRODUCT, "P3"), (PRODUCT, "P404"), (LOCATION, "A-1")]
    )
    quantity = Decimal(random.choice(["1", "2", "0.5"]))
    scan: Event = Scan((Match(kind, key, key, quantity, quantity != 1, key),))
    ways = [scan] * 3
    others: list[Event] = [Resumed(), UnknownCode("?"), Back(), Scan((Match(ORDER, "X"),))]
    ways += [random.choice(others)]
    if open_.quantity:
        ways += [Quantity(Decimal(random.choice(["0", "1", "7", "305", "4101", "5000", "110002"])))] * 2
    if hand.state.question:
        ways += [Back()] * 2
    if open_.choices:
        ways += [Choice(random.randint(1, open_.choices))] * 3
    if open_.command_letters:
        ways += [Command(random.choice(open_.command_letters))]
    return random.choice(ways)


def test_no_sequence_raises_and_every_step_and_answer_is_reached() -> None:
    reached: Counter[str] = Counter()
    for seed in range(tries(20, 220)):
        random = Random(seed)
        hand = Hand(rows=random.choice([3, 12]))
        for _ in range(100):
            before, quantity, item = len(hand.entries), hand.state.quantity, hand.state.line
            doubted = hand.state.question.quantity if hand.state.question else None
            event = anything(hand, random)
            told = hand.feed(event)
            reached[told] += 1
            reached[hand.job.step_name(hand.state)] += 1
            view, open_ = hand.job.view(hand.state), hand.job.accepts(hand.state)
            assert view.name == hand.job.step_name(hand.state)
            assert {hint.letter for hint in view.key_hints} <= {*open_.command_letters, "b"}
            assert view.prompt.id.startswith("prompt.choose_or_") == bool(open_.quantity and open_.choices)
            assert (len(hand.entries) > before) == (told in ("adjust.lost", "adjust.found", "adjust.undone"))
            if told in ("adjust.lost", "adjust.found"):
                entry = hand.entries[-1]
                sent = next(entry[name] for name in ("quantity", "stock_pool_2") if name in entry)
                assert item is not None
                typed = event.value if isinstance(event, Quantity) else quantity
                assert abs(sent) in (quantity, typed, item.expected, doubted)
            assert named_tuple_json.from_text(AdjustState, named_tuple_json.to_text(hand.state)) == hand.state
        del hand.effects[:]
        for _ in range(3):
            if not hand.effects:
                hand.feed(Back())
        assert isinstance(hand.effects[-1], Close)
    answers = "at_location found lost none exceeds_expected undone"
    answers += " which_location which_reason"
    wanted = [*AdjustJob.steps, *(f"adjust.{answer}" for answer in answers.split())]
    wanted += [
        "count.answer_first",
        "session.dropped",
        "adjust.back_to_quantity",
        "page.not_this",
        "pick.nothing_to_undo",
        "count.product_first",
    ]
    wanted += ["count.number_of_other", "count.number_of_other", "count.number_of_other"]
    wanted += ["count.counted", "count.confirm_quantity", "count.unknown", "input.whole_number_only"]
    assert {name: reached[name] for name in wanted if reached[name] < tries(5, 100)} == {}


def test_of_a_loss_that_was_refused_nothing_is_taken_back() -> None:
    hand = Hand()
    hand.scan("P1")
    hand.feed(Quantity(Decimal(3)))
    hand.feed(Choice(1))
    hand.refused = ({"body": {"storeproductlog": hand.entries[:1]}, "why": "No such place", "label": "P1"},)
    assert hand.feed(Command("u")) == "receive.refused"
    assert len(hand.entries) == 1
    assert hand.feed(Command("u")) == "pick.nothing_to_undo"


@pytest.mark.parametrize(("later_count", "told"), [(Decimal(9), "my_entries.later_count"), (None, "adjust.undone")])
def test_a_loss_after_which_somebody_counted_is_not_undone(later_count: Decimal | None, told: str) -> None:
    hand = Hand()
    hand.scan("P1")
    hand.feed(Quantity(Decimal(3)))
    hand.feed(Choice(1))
    [entry] = hand.entries
    row = {"product_number": "P1", "location_code": entry["location_code"], "pool": 0, "counted_quantity": None}
    hand.logged = ({**row, "said": to_utc_text(entry["scanned_datetime"]), "later_count": later_count},)
    assert hand.feed(Command("u")) == told
    assert len(hand.entries) == (1 if later_count else 2)
    assert hand.feed(Command("u")) == "pick.nothing_to_undo"


@pytest.mark.parametrize(("quantity", "reason"), [("7", ""), ("305", ""), ("4101", ""), ("6", "2")])
def test_undo_drops_the_question(quantity: str, reason: str) -> None:
    hand = Hand()
    hand.scan("P1")
    hand.feed(Quantity(Decimal(quantity)))
    if reason:
        hand.feed(Choice(int(reason)))
    assert "u" in hand.job.accepts(hand.state).command_letters
    assert hand.feed(Command("u")) in ("session.dropped", "receive.dropped")
    assert not hand.job.accepts(hand.state).choices


@pytest.mark.parametrize(
    "before",
    [
        ("=1", "A-9", "1"),  # refused at the question for the reason
        ("=1", "A-9", "5"),  # and found
        ("=9", "1", "P4", "3", "d", "1", "1"),  # refused at the question about more than is expected, then counted
    ],
)
def test_a_location_that_nobody_named_is_not_the_next_products(before: tuple[str, ...]) -> None:
    hand = Hand()
    hand.scan("P1")
    for word in before:
        if word[0] in "AP":
            before_it = hand.state
            hand.scan(word, kind=LOCATION if word[0] == "A" else PRODUCT)
            assert hand.verdict is not None
            assert (hand.verdict.kind, hand.state) == (WRONG, before_it)
        else:
            hand.feed(
                Command("d") if word == "d" else Quantity(Decimal(word[1:])) if word[0] == "=" else Choice(int(word))
            )
        if hand.effects and isinstance(hand.effects[-1], Start):
            hand.feed(Closed("count"))
            assert hand.state.line is not None
            assert hand.state.line.location == "A-1"
    assert [entry["location_code"] for entry in hand.entries] == ["A-1"]
    assert hand.scan("P2") == "adjust.which_location"


@pytest.mark.parametrize(
    ("opened", "events", "told", "phase", "quantity"),
    [
        ({}, "P2 u", "session.dropped", "product", 0),
        ({}, "P2 c1 u", "session.dropped", "product", 0),
        ({}, "P1 u", "session.dropped", "product", 0),
        ({}, "P1 P1 P1 u", "pick.undone", "quantity", 2),
        ({}, "P1 P1 P1 u u", "pick.undone", "quantity", 1),
        ({}, "P1 P1 u u", "session.dropped", "product", 0),
        ({}, "P1 3 u", "adjust.back_to_quantity", "quantity", 3),
        ({}, "P1 3 u u", "pick.undone", "quantity", 1),
        ({"product_number": "P2"}, "u", "adjust.left", "", 0),
        ({"product_number": "P1", "expired_on": "2026-11-20"}, "u", "adjust.left", "", 0),
        ({"product_number": "P1", "expired_on": "2026-11-20"}, "P1 P1 u", "pick.undone", "quantity", 1),
        ({"product_number": "P1", "expired_on": "2026-11-20"}, "P1 P1 u u", "pick.undone", "quantity", 0),
    ],
)
def test_undo_in_any_question_takes_the_last_entry_back_or_leaves(
    opened: Row, events: str, told: str, phase: str, quantity: int
) -> None:
    hand, said = Hand(**opened), ""
    for word in events.split():
        if word == "u":
            assert "u" in hand.job.accepts(hand.state).command_letters
            said = hand.feed(Command("u"))
        elif word.isdigit():
            hand.feed(Quantity(Decimal(word)))
        else:
            hand.feed(Choice(int(word[1:]))) if word[0] == "c" else hand.scan(word)
    closed = [effect.verdict.text.id for effect in hand.effects if isinstance(effect, Close) and effect.verdict]
    assert closed == ([told] if told == "adjust.left" else [])
    assert phase in ("", hand.state.phase)
    assert (said or told, int(hand.state.quantity)) == (told, quantity)
    assert not hand.entries


BEFORE_LABEL = {
    "first": (),
    "counted": ("scan",),
    "typed": ("2",),
    "asked": ("9999",),
    "number of a product": ("305",),
}
"""Inputs at the question for the number of expired goods, before a label with a date."""


@pytest.mark.every_case
@pytest.mark.parametrize("before", BEFORE_LABEL)
@pytest.mark.parametrize("quantity", ["1", "12"])
@pytest.mark.parametrize(
    ("day", "is_counted"),
    [
        ("2026-11-20", True),
        ("2026-11-18", True),
        ("2026-11-19", True),  # not the date of the question, but expired
        ("2077-11-20", True),  # 1977
        ("1976-11-20", False),  # 2076
        ("2026-11-21", False),
        ("2027-01-10", False),
    ],
)
def test_only_expired_packs_are_counted_as_expired(day: str, is_counted: bool, quantity: str, before: str) -> None:
    hand = Hand(policy=ASKS_REASON, product_number="P5", location_code="A-5", expired_on="2026-11-19")
    label = Match(PRODUCT, "P5", "P5", Decimal(quantity), False, "8712345678910", expiry=day)
    for text in BEFORE_LABEL[before]:
        if text == "scan":
            hand.scan("P5")
        else:
            hand.feed(Quantity(Decimal(text), text))
            if not hand.job.accepts(hand.state).choices:
                hand.feed(Back())
    was = hand.state
    told = hand.feed(Scan((label,)))
    if not is_counted:
        assert (told, hand.state) == ("expiry.not_expired", was)
    elif hand.job.accepts(was).choices:
        assert told == "count.answer_first"
    else:
        assert (told, hand.state.quantity - was.quantity) == ("count.counted", Decimal(quantity))


@pytest.mark.parametrize(
    ("reasons", "learnt", "plain"),
    [
        (LOSS_REASONS, "", "Expired"),
        (("1 - Schade", "2 - Diefstal", "4 - Over datum", "5 + Gevonden"), "", "Over datum"),
        (("1 - Schade", "2 - THT verstreken"), "", "THT verstreken"),
        (("1 - Beschädigt", "7 - MHD abgelaufen"), "", "MHD abgelaufen"),
        (("1 - Cassé", "2 - Périmé"), "", "Périmé"),
        (("1 - Damaged", "3 - Theft"), "Best before passed", "Best before passed"),
        (("1 - Damaged", "3 - Theft"), "", ""),
        (("1 - Damaged", "2 - Expired", "3 - Expired in the store room"), "", ""),
        (("1 - Damaged", "2 - Expired"), "Expired at delivery", ""),
        (("1 - Damaged", "6 + Not expired"), "", ""),
    ],
)
@pytest.mark.parametrize("expired_on", ["2026-11-19", ""])
@pytest.mark.parametrize("is_scanned", [True, False])
def test_only_a_plain_reason_of_expired_goods_is_not_asked(
    reasons: tuple[str, ...], learnt: str, plain: str, expired_on: str, is_scanned: bool
) -> None:
    logged: tuple[Row, ...] = ({"reason_code": 88, "reason_code_description": learnt},) if learnt else ()
    hand = Hand(
        logged,
        policy=Policy(adjustment_reasons=reasons),
        product_number="P5",
        location_code="A-5",
        expired_on=expired_on,
    )
    if is_scanned:
        hand.scan("P5", "2")
    view = hand.job.view(hand.state)
    assert isinstance(view, Step)
    is_asked = not (plain and expired_on)
    assert view.key_hints[0].text.id == ("head.reason" if is_asked else "hint.done")
    told = hand.feed(Command("d") if is_scanned else Quantity(Decimal(2)))
    assert told == ("adjust.which_reason" if is_asked else "adjust.lost")
    if is_asked:
        assert hand.state.reasons[: len(reasons)] == parse_reasons(reasons), (
            "each reason has the number that it always has"
        )
        hand.feed(Choice(1))
    (entry,) = hand.entries
    assert entry["loss_comment"] == (parse_reasons(reasons)[0].text if is_asked else plain)
    assert hand.verdict
    assert entry["loss_comment"] in MessageWriter().write(hand.verdict.text)
    (close,) = (effect for effect in hand.effects if isinstance(effect, Close))
    assert close.answer


@pytest.mark.parametrize("answer", ["choice", "number"])
def test_more_expired_goods_than_expected_are_asked_about(answer: str) -> None:
    hand = Hand(product_number="P1", location_code="A-1", expired_on="2026-11-19")
    assert hand.feed(Quantity(Decimal(8))) == "adjust.exceeds_expected"
    assert hand.feed(Choice(1) if answer == "choice" else Quantity(Decimal(5))) == "adjust.lost"
    assert (hand.entries[-1]["stock_pool_2"], hand.entries[-1]["loss_comment"]) == (-5, "Expired")


def test_dates_on_labels_mean_nothing_to_another_loss() -> None:
    hand = Hand(product_number="P5", location_code="A-5")
    label = Match(PRODUCT, "P5", "P5", code="8712345678910", expiry="2027-01-10")
    assert hand.feed(Scan((label,))) == "count.counted"


@pytest.mark.parametrize("number", ["P1", "P2", "P3", "P4"])
@pytest.mark.parametrize("location", ["", "A-1", "A-9"])
@pytest.mark.parametrize("entries", ["scan", "scan scan", "2", "scan 5", "2 scan"])
def test_loss_of_a_product_that_a_page_names_begins_with_nothing(number: str, location: str, entries: str) -> None:
    """Somebody counts a product, or looks it up, and finds one broken: nothing was scanned for the loss yet."""
    hand = Hand(product_number=number, location_code=location)
    if hand.state.phase == "location":
        hand.feed(Choice(1))
    assert hand.verdict
    assert hand.verdict.text.id == "goods.how_many"
    assert hand.state.quantity == 0
    step = hand.job.view(hand.state)
    assert isinstance(step, Step)
    assert not [line for line in step.lines if line.role == "quantity"]
    wanted = Decimal(0)
    for entry in entries.split():
        wanted = wanted + 1 if entry == "scan" else Decimal(entry)
        if entry == "scan":
            hand.scan(number)
        else:
            hand.feed(Quantity(wanted))
            hand.feed(Back())
    assert hand.state.quantity == wanted
    while hand.state.earlier_quantities:
        hand.feed(Command("u"))
    assert hand.state.quantity == 0
    assert hand.feed(Command("d")) == "adjust.none"


NAMED_LOCATIONS: dict[str, tuple[Row, tuple[str, ...]]] = {
    "scanned": ({}, ("A-1", "P2")),
    "scanned after the product": ({}, ("P2", "A-1")),
    "chosen": ({}, ("P2", "1")),
    "chosen with its pool": ({}, ("P6", "1")),
    "of the page": ({"location_code": "A-1"}, ("P2",)),
    "of the count": ({"location_code": "A-1", "product_number": "P2"}, ("P2",)),
    "of expired goods": ({"product_number": "P2", "expired_on": "2026-11-20"}, ("1", "P2")),
    "scanned again": ({}, ("P1", "A-1")),
    "without stock": ({}, ("A-9", "P1")),
}


@pytest.mark.every_case
@pytest.mark.parametrize("more", [0, 2])
@pytest.mark.parametrize("name", NAMED_LOCATIONS)
def test_next_location_takes_no_open_loss_along(name: str, more: int) -> None:
    """Somebody has scanned what is broken, and goes on to the next location before he says why."""
    opened, inputs = NAMED_LOCATIONS[name]
    hand = Hand(**opened)
    for text in (*inputs, *[inputs[-1] if inputs[-1][0] == "P" else inputs[0]] * more):
        if text.isdigit():
            hand.feed(Choice(int(text)))
        else:
            hand.scan(text, kind=LOCATION if text[0] == "A" else PRODUCT)
    before = hand.state
    assert hand.scan("A-2", kind=LOCATION) == "count.answer_first"
    assert hand.state == before
    assert before.line is not None
    assert hand.scan(before.line.location, kind=LOCATION) == "count.at_stop"
    assert hand.state == before._replace(is_location_chosen=True)


@pytest.mark.parametrize(
    ("opened", "inputs"),
    [
        ({}, ("P1",)),  # at its only location
        ({}, ("P4",)),  # nobody knows where
        ({"location_code": "A-1", "product_number": "P2"}, ()),
        ({"product_number": "P1", "expired_on": "2026-11-20"}, ()),
    ],
)
def test_location_that_is_set_afterwards_is_said(opened: Row, inputs: tuple[str, ...]) -> None:
    hand = Hand(**opened)
    for number in inputs:
        hand.scan(number)
    quantity = hand.state.quantity
    hand.scan("A-7", kind=LOCATION)
    assert hand.verdict is not None
    assert msg("count.at_stop", place="A-7") in (hand.verdict.text, hand.verdict.detail)
    assert hand.state.line is not None
    assert (hand.state.line.location, hand.state.quantity) == ("A-7", quantity)
    hand.scan(hand.state.line.product)
    assert hand.state.quantity == quantity + 1


def test_expired_goods_have_no_quantity_in_the_question_for_their_location() -> None:
    hand = Hand(product_number="P2", expired_on="2026-11-20")
    assert hand.job.view(hand.state).title == msg("adjust.title_of_product", label="Product P2")
    hand = Hand()
    hand.scan("P2")
    assert hand.job.view(hand.state).title.id == "adjust.title_of"
