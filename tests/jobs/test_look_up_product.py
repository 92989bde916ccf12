"""The lookup and the browse job by themselves: no terminal, no file, no network."""

from __future__ import annotations

import ast
import inspect
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aisle import named_tuple_json
from aisle.jobs import location_list_and_page, look_up_product
from aisle.jobs.job import (
    Changed,
    Close,
    Closed,
    Context,
    Event,
    Job,
    Opened,
    Query,
    Refresh,
    Resumed,
    Rows,
    Start,
    Write,
)
from aisle.jobs.list_cursor_and_search import scroll_window, with_typed_search
from aisle.jobs.location_list_and_page import LocationsJob, LocationsState
from aisle.jobs.look_up_product import LookUpJob
from aisle.jobs.product_rows_and_weekly_sales import parse_nearby, parse_product
from aisle.jobs.store_time import UNKNOWN_AGE, due_message, seconds_since, store_day
from aisle.jobs.view import ASK, INFO, WRONG, DetailView, Msg, Verdict, msg, numbered_rows, raw
from aisle.scan.grammar_and_meaning_types import (
    DELIVERY,
    LOCATION,
    ORDER,
    PERSON,
    PRODUCT,
    REFERENCE,
    Back,
    Choice,
    Command,
    CursorKey,
    Match,
    Scan,
    Text,
    TypedText,
    UnknownCode,
)
from tests.run_length import tries
from tests.samples.look_up import location_row, product_here

CONTEXT = Context(store="0001", user="ann", now="2026-11-20T10:00:00Z", window_rows=4)

PRODUCTS: list[dict[str, Any]] = [
    {"product_number": f"P{n}", "product_name": f"Tea {n}", "brand_description": "Leaf", "most_likely_quantity": n}
    for n in range(1, 13)
]
SHEET: dict[str, Any] = {
    **PRODUCTS[0],
    "price": Decimal("1.5"),
    "unit": "kg",
    "allow_decimal": True,
    "attention_codes": "A2",
    "most_likely_datetime": "2026-11-20T09:58:00Z",
    "last_counted_datetime": "2026-11-18T09:00:00",
    "next_delivery_datetime": "2026-11-21T07:00:00",
    "referral_product": "P2",
    "deprecation_date": "20261101",
    "barcodes_array": "111, 222",
    "barcode": "111",
    "units": [{"unit_name": "Box of 6", "unit_quantity": 6, "unit_barcode": "666"}],
    "purchase_unit_quantity": 12,
    "pools": [{"pool": 1, "name": "Floor", "quantity": 3}, {"pool": 4, "name": "", "quantity": 2}],
    "locations": [
        {"location_code": "A-1", "quantity": 3, "pools": {"1": 1, "4": 2}},
        {"location_code": "A-2", "quantity": 2, "pools": {"1": 2}},
    ],
}
COMING: list[dict[str, Any]] = [
    {"order_number": "7005", "missing": Decimal(6), "datetime_expected": "2026-11-26T07:00:00Z"},
    {"order_number": "7001", "missing": Decimal(2), "datetime_expected": ""},
]
AROUND: dict[str, Any] = {
    "stores": [{"store_name": "Fernhill", "quantity": 4, "is_warehouse": False}],
    "read_at": "2026-11-20T09:00:00Z",
    "refused": "",
}
HOLDERS: list[dict[str, Any]] = [
    {"order_number": number, "customer_name": "Ada", "pickup_date": "2026-11-20", "needed": need, "held": 1}
    for number, need in (("41", 2), ("42", 1), ("43", 1), ("44", 1), ("45", 0))
]
PLACES: list[dict[str, Any]] = [
    {
        "location_code": f"A-{n}",
        "location_order": n,
        "default_stock_pool": 0,
        "products": n % 3,
        "quantity": Decimal(n),
        "tags": ["cold"] if n == 1 else [],
    }
    for n in range(1, 13)
]


def place(code: str, *products: str) -> dict[str, Any]:
    """A row of the read `place`."""
    at = int(code[2:])
    return {
        "location_code": code,
        "location_order": at,
        "default_stock_pool": 1,
        "tags": ["cold"],
        "is_stock_unknown": False,
        "unnamed": False,
        "total": len(products),
        "quantity": None,
        "products": [
            {
                "product_number": number,
                "description": f"Tea {number}",
                "quantity": Decimal(3),
                "pools": {"1": Decimal(1), "4": Decimal(2)},
                "held": [{"order_number": "41", "line_number": 1, "quantity": Decimal(2)}],
                "allow_decimal": True,
                "unit": "kg",
                "price": Decimal(1),
            }
            for number in products
        ],
        "before": f"A-{at - 1}" if at > 1 else "",
        "after": f"A-{at + 1}" if at < 12 else "",
    }


def answer(query: Query) -> Rows:
    """The store that these tests play."""
    args = query.args
    words = str(args.get("search") or "").casefold()
    if query.name == "search":
        found = [
            row for row in PRODUCTS if words and words in f"{row['product_name']} {row['product_number']}".casefold()
        ]
    elif query.name == "locations":
        found = [row for row in PLACES if words in row["location_code"].casefold()]
    elif query.name == "product":
        found = [{**SHEET, **row} for row in PRODUCTS if row["product_number"] == args["product_number"]]
    elif query.name == "location":
        known = [row["location_code"] for row in PLACES]
        found = [place(args["location_code"], "P1", "P2")] if args["location_code"] in known else []
        only = args.get("product_number")
        lying = [each for row in found for each in row["products"] if only in (None, each["product_number"])]
        found = [{**row, "products": lying[: args.get("size")]} for row in found]
        args = {}
    else:
        rows = {
            "surrounding": [AROUND],
            "orders_with_product": HOLDERS,
            "held_goods": [],
            "next_deliveries": COMING,
            "store": [{"pools": {"1": "Floor"}}],
            "order": [],
        }
        found = rows[query.name]
    first, size = int(args.get("first") or 0), int(args.get("size") or 50)
    return Rows(query.id, tuple(found[first : first + size]), len(found))


class Hand:
    """Runs a job as a session does: questions are answered at once, and journalled events are kept."""

    def __init__(self, job: Job[Any], **args: Any) -> None:
        self.job = job
        self.state = job.begin()
        self.effects: list[Any] = []
        self.journal: list[Event] = []
        self.verdict: Verdict | None = None
        self.feed(Opened(args))

    def feed(self, event: Event, live: bool = False) -> str:
        """The message id of the verdict to one event."""
        before = self.state
        turn = self.job.handle(before, event, CONTEXT)
        self.state = turn.state
        if not live and not isinstance(event, TypedText | CursorKey):
            self.journal.append(event)
        told = turn.verdict
        for effect in turn.effects:
            self.effects.append(effect)
            if isinstance(effect, Query):
                self.feed(answer(effect), effect.is_live)
                told = self.verdict if self.verdict is not None else told
        self.verdict = turn.verdict or self.verdict
        return told.text.id if told else ""

    def say(self, event: Event) -> str:
        """What somebody says, and the answer; a line that is ended is not being typed any more."""
        if self.state.typed and not isinstance(event, TypedText | CursorKey):
            self.feed(TypedText(""))
        self.verdict = None
        self.effects = []
        return self.feed(event)

    def scan(self, key: str, kind: str = PRODUCT) -> str:
        """A code that means one thing."""
        return self.say(Scan((Match(kind, key, f"Thing {key}", code=key),)))

    def replayed(self) -> Hand:
        """The job as another session finds it."""
        again = Hand(self.job)
        again.state = self.job.begin()
        for event in self.journal:
            again.state = again.job.handle(again.state, event, CONTEXT).state
        again.feed(Resumed())
        return again

    @property
    def view(self) -> Any:
        """What is on the screen."""
        return self.job.view(self.state)

    def did(self, kind: type) -> list[Any]:
        """The effects of a kind since the last thing that was said."""
        return [effect for effect in self.effects if isinstance(effect, kind)]


def texts(view: DetailView) -> str:
    """All ids and arguments of a page."""
    return repr(view)


# Look up


def test_a_letter_leads_to_what_the_store_says_of_it() -> None:
    hand = Hand(LookUpJob(), product_number="P1")
    hand.feed(Command("e"))
    assert hand.did(Start) == [Start("store_product", {"product_number": "P1", "label": "Tea 1"})]


def test_page_says_what_is_held_at_locations() -> None:
    hand = Hand(LookUpJob(), product_number="P1")
    held = [{"location_code": "PU-1", "order_number": "9295", "line_number": n, "quantity": Decimal(n)} for n in (1, 2)]
    hand.feed(Rows("held_goods", tuple(held), 2))
    assert msg("product.held_for", count=Decimal(3), orders="9295") in [line.text for line in hand.view.lines]


def test_one_scan_brings_the_page_from_the_cache_and_asks_for_more() -> None:
    hand = Hand(LookUpJob(), product_number="P1")
    assert hand.view.name == "look_up.product"
    assert hand.did(Refresh) == [Refresh("product", "P1"), Refresh("surrounding", "P1")]
    ids = [block.title.id for block in hand.view.blocks]
    assert ids == [
        *(
            "home.locations",
            "look_up.pools",
            "look_up.with_age",
            "look_up.orders",
            "look_up.expected_deliveries",
            "deliveries.about",
        ),
        "look_up.codes",
    ]
    shown = texts(hand.view)
    for text in (
        "Tea 1",
        "1.5",
        "A2",
        "Floor",
        "A-1",
        "Floor 1, 4 2",
        "Fernhill",
        "41",
        "P2",
        "222",
        "Box of 6",
        "kg",
        "label.estimated",
    ):
        assert f"'{text}'" in shown, text
    assert all(query.is_live for query in hand.did(Query))


PRICE_LABELS = ("label.price", "product.special_price", "store_product.of_discount", "product.old_price")


@pytest.mark.parametrize(
    ("prices", "shown"),
    [
        ({"price": 2}, {"label.price": "2"}),
        (
            {"price": 2, "promotion_price": Decimal("1.5"), "old_price": 3, "special_price": 0},
            {"label.price": "2", "store_product.of_discount": "1.5", "product.old_price": "3"},
        ),
        (
            {"price": 2, "special_price": Decimal("1.8"), "promotion_price": 1, "discount_price": Decimal("1.2")},
            {"label.price": "2", "product.special_price": "1.8", "store_product.of_discount": "1.2"},
        ),
        *(({"price": Decimal("1.95"), "old_price": old}, {"label.price": "1.95"}) for old in (0, 1, Decimal("1.95"))),
        ({"price": 2, "discount_price": 1, "is_promotion": False, "promotion_price": 1}, {"label.price": "2"}),
    ],
)
def test_each_price_is_shown_with_its_label(prices: dict[str, Any], shown: dict[str, str]) -> None:
    sheet: Any = SHEET | prices
    facts = look_up_product._fact_rows(parse_product(sheet, CONTEXT.now), "P1")
    assert {row[0].id: str(dict(row[1].args)["value"]) for row in facts if row[0].id in PRICE_LABELS} == shown


def test_ages_are_those_of_the_data() -> None:
    sheet: Any = SHEET
    around: Any = AROUND
    known = parse_product(sheet, CONTEXT.now)
    assert (known.estimate_age_s, known.is_discontinued, known.discontinued_since) == (Decimal(120), True, "2026-11-01")
    assert parse_nearby((around,), CONTEXT.now).age_s == 3600
    assert parse_nearby((), CONTEXT.now).age_s == UNKNOWN_AGE
    assert seconds_since("2026-11-20T10:00:05Z", CONTEXT.now) == 0
    assert seconds_since("nonsense", CONTEXT.now) == seconds_since(None, CONTEXT.now) == UNKNOWN_AGE
    assert [store_day(at) for at in ("0001-01-01T00:00:00+14:00", "soon")] == ["0001-01-01", "soon"]
    later = parse_product(sheet | {"deprecation_date": "20991231"}, CONTEXT.now)
    assert (later.is_discontinued, later.discontinued_since) == (False, "2099-12-31")
    today = parse_product(sheet | {"deprecation_date": CONTEXT.now[:11] + "23:59:00"}, CONTEXT.now)
    assert (today.is_discontinued, today.discontinued_since) == (True, CONTEXT.now[:10])


def test_what_is_due_is_marked_when_it_is_past() -> None:
    now = "2026-11-20T12:00:00+00:00"
    assert [due_message(at, now).id for at in (
        "2026-11-19", "2026-11-20", "2026-11-18T10:00:00", "2026-11-22T09:00:00+02:00", "2025-11-20", "2027-01-02", "",
    )] == ["moment.late", "moment", "moment.late", "moment", "moment.late", "moment", "moment"]  # fmt: skip


def test_a_service_that_does_not_tell_what_is_around_is_named_as_such() -> None:
    hand = Hand(LookUpJob(), product_number="P1")
    for rows, told in (
        ((), "stores.loading"),
        (({**AROUND, "refused": "404"},), "look_up.nearby_refused"),
        (({**AROUND, "stores": []},), "look_up.nearby_none"),
    ):
        hand.feed(Rows("surrounding", rows, len(rows)), live=True)
        assert told in texts(hand.view)


def test_a_product_that_the_cache_does_not_know_says_so() -> None:
    hand = Hand(LookUpJob(), product_number="X9")
    assert "look_up.unknown" in texts(hand.view)
    assert hand.say(Back()) == ""
    assert hand.did(Close)


def test_words_find_and_numbers_choose() -> None:
    hand = Hand(LookUpJob())
    assert hand.say(Text("tea")) == "list.found"
    assert (hand.view.numbered_rows, hand.view.total) == (5, 12)
    hand.say(Choice(3))
    assert hand.view.title == Msg("look_up.title_product", (("number", "P3"),))
    hand.say(Back())
    assert hand.view.name == "look_up.list"
    hand.say(Back())
    assert hand.did(Close)


@pytest.mark.parametrize(("total", "told", "more"), [(100, "list.found", False), (1, "list.found_more", True)])
def test_incomplete_search_says_more_may_exist_and_opens_nothing(total: int, told: str, more: bool) -> None:
    hand = Hand(LookUpJob())
    hand.say(Text("tea"))
    found = tuple(PRODUCTS[:5])
    hand.feed(Rows("hits", found, total, more), live=True)
    assert (hand.view.total, hand.view.may_have_more) == (total, more)
    sought = hand.state._replace(searched_for="tea")
    turn = hand.job.handle(sought, Rows("found", found, total, more), CONTEXT)
    assert turn.verdict is not None
    assert turn.verdict.text.id == told


def test_a_single_hit_opens_and_no_hit_changes_nothing() -> None:
    hand = Hand(LookUpJob())
    hand.say(Text("tea 12"))
    assert hand.state.product_number == "P12"
    before = hand.view
    assert hand.say(UnknownCode("0815")) == "count.unknown"
    assert hand.verdict is not None
    assert hand.verdict.kind == WRONG
    assert hand.view == before


def test_typing_lists_at_once_and_what_is_no_word_does_not() -> None:
    hand = Hand(LookUpJob(), product_number="P1")
    for text, name in (
        ("t", "list"),
        ("te", "list"),
        ("", "product"),
        ("n", "product"),
        ("3", "product"),
        ("33", "list"),
    ):
        hand.say(TypedText(text))
        assert hand.view.name == f"look_up.{name}", text
    hand.say(TypedText("tea"))
    hand.say(CursorKey("down"))
    hand.say(CursorKey("down"))
    hand.say(CursorKey("enter"))
    assert hand.state.product_number == "P2"


def test_orders_that_need_it_are_choices_for_the_job_below() -> None:
    hand = Hand(LookUpJob(), product_number="P1")
    assert [choice.args[0][1] for choice in hand.view.choices] == ["P2", "41", "42"]
    hand.say(Choice(2))
    (close,) = hand.did(Close)
    assert (close.event_for_below.matches[0].kind, close.event_for_below.matches[0].key) == (ORDER, "41")
    hand = Hand(LookUpJob(), product_number="P1")
    hand.say(Choice(1))
    assert hand.state.product_number == "P2"


@pytest.mark.parametrize("kind", [ORDER, REFERENCE])
def test_an_order_says_what_it_is_and_opens_by_its_number(kind: str) -> None:
    hand = Hand(LookUpJob(), product_number="P1")
    before = list(hand.view.choices)
    assert before
    assert hand.scan("77", kind) == "look_up.is_order"
    assert not hand.did(Start)
    *own, offered = hand.view.choices
    assert (own, offered.args) == (before, (("key", "77"),)), "what has a number keeps it"
    hand.say(Back())
    assert not hand.did(Close)
    hand.scan("77", kind)
    hand.say(Choice(len(own) + 1))
    assert hand.did(Close)[0].event_for_below.matches[0].key == "77"


def test_what_an_order_is_opened_by_keeps_its_number_while_it_is_offered() -> None:
    hand = Hand(LookUpJob(), product_number="P1")
    hand.scan("77", ORDER)
    before = hand.view.choices
    holders = [{**HOLDERS[0], "order_number": str(number)} for number in range(90, 96)]
    hand.feed(Rows("orders_with_product", (), 0), live=True)
    assert hand.view.choices == before
    hand.feed(Rows("orders_with_product", tuple(holders), len(holders)), live=True)
    assert hand.view.choices == before
    hand.say(Back())
    hand.feed(Rows("orders_with_product", tuple(holders), len(holders)), live=True)
    assert hand.view.choices != before, "the next one stands behind what there is now"


def test_a_list_stands_still_while_an_order_is_offered_behind_its_rows() -> None:
    hand = Hand(LookUpJob())
    hand.say(Text("tea"))
    hand.scan("77", ORDER)
    hand.effects.clear()
    hand.feed(Changed("product", ""))
    assert not hand.did(Query)
    hand.say(Back())
    assert [query.name for query in hand.did(Query)] == ["search"]


def test_a_place_opens_browse_and_a_badge_is_named() -> None:
    hand = Hand(LookUpJob(), product_number="P1")
    hand.scan("A-1", LOCATION)
    assert hand.did(Start) == [Start("locations", {"location_code": "A-1"})]
    assert hand.scan("ann", PERSON) == "page.not_this"


# Browse


def test_a_place_shows_what_lies_there_and_for_whom() -> None:
    hand = Hand(LocationsJob(), location_code="A-2")
    shown = texts(hand.view)
    for text in ("Tea P1", "Floor 1, 4 2", "41", "cold", "Floor"):
        assert f"'{text}'" in shown, text
    assert [mark.location for mark in hand.view.map_locations if mark.is_current] == ["A-2"]
    assert len(hand.view.map_locations) == 12
    assert hand.did(Refresh) == [Refresh("location", "A-2")]
    hand.say(Choice(2))
    assert hand.did(Start)[0].args["product_number"] == "P2"


def test_of_a_place_with_much_the_page_has_the_first_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says how many there are in all, and of any of them, when it is scanned, how much lies here."""
    monkeypatch.setattr(location_list_and_page, "MAX_PRODUCTS", 1)
    hand = Hand(LocationsJob(), location_code="A-2")
    said = [(line.text.id, dict(line.text.args)) for line in hand.view.lines]
    assert ("locations.more", {"shown": 1}) in said
    (block, *_) = hand.view.blocks
    assert [row[0] for row in block.rows] == [raw("Tea P1")]
    assert hand.scan("P2") == "locations.product_here"
    assert hand.scan("P9") == "locations.not_here"


def test_the_neighbours_are_a_letter_away() -> None:
    hand = Hand(LocationsJob(), location_code="A-11")
    hand.say(Command("n"))
    assert hand.state.code == "A-12"
    assert hand.say(Command("n")) == "locations.last_location"
    hand.scan("A-1", LOCATION)
    assert hand.say(Command("p")) == "locations.first_location"


def test_a_product_that_is_scanned_lies_here_or_not() -> None:
    hand = Hand(LocationsJob(), location_code="A-2")
    assert hand.scan("P2") == "locations.product_here"
    assert hand.scan("P9") == "locations.not_here"
    assert hand.verdict is not None
    assert hand.verdict.kind == ASK
    (block, *_) = hand.view.blocks
    assert block.numbered_rows == len(block.rows) > 0
    hand.say(Choice(block.numbered_rows + 1))
    assert hand.did(Start) == [Start("look_up", {"product_number": "P9"})]
    hand.scan("P9")
    hand.say(Choice(1))
    assert hand.did(Start)[-1].args["product_number"] == hand.state.products[0]["product_number"]
    assert hand.state.offered is None


def test_what_is_asked_over_a_list_leaves_its_rows_their_numbers() -> None:
    for job in (LookUpJob(), LocationsJob()):
        hand = Hand(job)
        hand.say(Text("tea") if job.name == "look_up" else Text("a-1"))
        rows = hand.view.numbered_rows
        assert rows > 1
        assert hand.scan("77", ORDER) == "look_up.is_order"
        assert (hand.view.numbered_rows, len(hand.view.choices)) == (rows, 1)
        hand.say(Choice(rows + 1))
        assert hand.did(Close)[0].event_for_below.matches[0].key == "77"
        hand.scan("77", ORDER)
        hand.say(Choice(1))
        assert hand.view.name != f"{job.name}.list"


def test_the_list_is_searched_and_scrolled() -> None:
    hand = Hand(LocationsJob())
    assert (hand.view.total, hand.view.numbered_rows) == (12, 5)
    hand.say(CursorKey("pagedown"))
    hand.say(CursorKey("pagedown"))
    assert hand.view.first <= hand.view.cursor < hand.view.first + len(hand.view.rows)
    hand.say(Choice(1))
    assert hand.state.code == hand.state.rows[0]["location_code"]
    hand.say(Back())
    assert hand.view.name == "locations.list"
    assert hand.say(Text("a-1")) == "list.found"
    assert hand.say(Text("zzz")) == "count.unknown"
    assert hand.view.total == 4


# The window


@given(st.integers(-1, 30), st.integers(0, 30), st.integers(0, 30), st.integers(0, 12), st.sampled_from(
    ["up", "down", "pageup", "pagedown", "home", "end", "enter", "left"]
))  # fmt: skip
def test_the_cursor_stays_in_the_window(cursor: int, first: int, total: int, size: int, key: str) -> None:
    cursor = min(cursor, total - 1)
    first = max(0, min(first, total - 1))
    after, top = scroll_window(cursor, first, total, size, key)
    if key in ("enter", "left") or not total:
        assert (after, top) == (cursor, first)
    else:
        assert 0 <= after < total
        assert top <= after < top + max(1, size)


@pytest.mark.parametrize("job", [LookUpJob(), LocationsJob()], ids=["look_up", "locations"])
def test_letters_turn_pages_and_numbers_count_from_the_top_of_each(job: Job[Any]) -> None:
    hand = Hand(job, search="-1" if isinstance(job, LocationsJob) else "tea")
    whole = hand.view.total
    seen = [row.key for row in hand.view.rows]
    while len(seen) < whole:
        hand.say(TypedText("n"))
        hand.say(Command("n"))
        assert hand.view.first == len(seen)
        assert hand.view.numbered_rows == len(hand.view.rows)
        seen += [row.key for row in hand.view.rows]
    assert len(set(seen)) == whole
    last = hand.view.rows[-1].key
    hand.say(Command("n"))
    assert hand.view.rows[0].key == seen[0]
    hand.say(Command("p"))
    assert hand.view.rows[-1].key == last
    hand.say(TypedText(str(len(hand.view.rows))))
    hand.say(Choice(len(hand.view.rows)))
    assert last in texts(hand.view)


def test_two_digit_number_selects_numbered_row_not_search() -> None:
    hand = Hand(LookUpJob())
    hand.say(Text("tea"))
    state = hand.state._replace(rows=hand.state.rows * 3, total=30)
    assert with_typed_search(state, "15") is None
    assert (typed := with_typed_search(state, "16")) is not None
    assert typed.typed == "16"


def test_window_behind_end_of_shrunk_list_is_requested_again() -> None:
    hand = Hand(LookUpJob())
    hand.say(Text("tea"))
    hand.say(Command("n"))
    hand.effects = []
    hand.feed(Rows("hits", (), 3), live=True)
    assert [query.args["first"] for query in hand.did(Query)] == [0]
    assert hand.view.first == 0
    assert hand.view.rows


# Everything at once

KINDS = (PRODUCT, PRODUCT, PRODUCT, LOCATION, LOCATION, ORDER, REFERENCE, PERSON, DELIVERY)
KEYS = ("P1", "P2", "P2", "X9", "A-1", "A-2", "A-12", "41")
TYPED = ("", "t", "tea", "a-1", "3", "n", "zz")
WORDS = ("tea", "tea 12", "a-1", "zz", "a-12")
OPENINGS: tuple[dict[str, Any], ...] = (
    {}, {"product_number": "P1", "location_code": "A-2"}, {"search": "tea"}, {"location_code": "A-12"},
    {"location_code": "A-1"},
)  # fmt: skip
TOLD: tuple[Event, ...] = (
    UnknownCode("0815"), Changed("product", "P1"), Changed("surrounding", "P1"), Closed("locations"), Resumed(),
    *[Back()] * 3,
)  # fmt: skip


def thing(kind: str, key: str) -> Scan:
    """A scan of something."""
    return Scan((Match(kind, key, key, code=key),))


def any_event(pick: Callable[[Sequence[Any]], Any]) -> Event:
    """One event of all that can happen, scans most often."""
    make: Callable[[], Event] = pick(
        (
            lambda: thing(pick(KINDS), pick(KEYS)),
            lambda: thing(pick(KINDS), pick(KEYS)),
            lambda: Choice(pick(range(1, 11))),
            lambda: Command(pick("npprz")),
            lambda: Command(pick("np")),
            lambda: CursorKey(pick(("up", "down", "pagedown", "home", "end", "enter"))),
            lambda: TypedText(pick(TYPED)),
            lambda: Text(pick(WORDS)),
            lambda: pick(TOLD),
        )
    )
    return make()


def check(hand: Hand) -> None:
    """What holds wherever the job stands."""
    view, open_ = hand.view, hand.job.accepts(hand.state)
    assert view.name == hand.job.step_name(hand.state)
    assert view.name in hand.job.steps
    assert view.prompt.id
    assert not hand.did(Write)
    assert open_.choices == numbered_rows(view) + len(view.choices)
    # At the first place and the last one these letters say so, and no hint offers them.
    silent = set("np") if view.name == "locations.location" else set()
    shown = {hint.letter for hint in view.key_hints} - {"b"}
    assert shown | silent == set(open_.command_letters) | silent
    assert named_tuple_json.from_text(type(hand.state), named_tuple_json.to_text(hand.state)) == hand.state


def verdicts(job: ModuleType) -> set[str]:
    """The ids of all that a job answers, as they stand in its source."""
    functions = [node for node in ast.walk(ast.parse(inspect.getsource(job))) if isinstance(node, ast.FunctionDef)]
    source = "\n".join(text for text in map(ast.unparse, functions) if "Verdict(" in text or "reply(" in text).replace(
        "'", '"'
    )
    ids = re.findall(r'"((?:look_up|locations|session)\.\w+)"', source)
    return set(ids) - set(LookUpJob.steps) - set(LocationsJob.steps)


def leave(hand: Hand) -> None:
    """However deep somebody has gone, three times back leads out."""
    hand.effects = []
    for _ in range(3):
        if not hand.did(Close):
            hand.say(Back())
    assert hand.did(Close)


def test_no_sequence_raises_or_leaves_a_step_without_a_way_on_and_back() -> None:
    """Each step and each answer is met often; `hypothesis` below looks for the rare."""
    pick = random.Random(7).choice
    reached: Counter[str] = Counter()
    for _ in range(tries(60, 1100)):
        job, args = pick((LookUpJob(), LocationsJob())), pick(OPENINGS)
        hand = Hand(job, **args)
        for _ in range(20):
            told = hand.say(any_event(pick))
            reached.update([hand.job.step_name(hand.state), told])
            check(hand)
            if hand.did(Close):
                hand = Hand(job, **args)
        leave(hand)
    wanted = {*LookUpJob.steps, *LocationsJob.steps, *verdicts(look_up_product), *verdicts(location_list_and_page)}
    wanted -= {"list.found_more"}  # a hundred products, see above
    assert set(reached) <= {
        *wanted,
        "look_up.not_yet_found",
        "list.found",
        "raw.cut",
        "count.unknown",
        "page.not_this",
        "",
    }  # what a short word beside others is told
    assert {name: reached[name] for name in wanted if reached[name] < tries(2, 100)} == {}


@st.composite
def sequences(draw: st.DrawFn) -> list[Event]:
    """Some events in a row."""
    return [any_event(lambda these: draw(st.sampled_from(list(these)))) for _ in range(draw(st.integers(0, 12)))]


@given(st.sampled_from([LookUpJob(), LocationsJob()]), st.sampled_from(OPENINGS), sequences())
def test_a_resume_stands_on_the_same_page(job: Job[Any], args: dict[str, Any], sequence: list[Event]) -> None:
    hand = Hand(job, **args)
    for event in sequence:
        hand.say(event)
        check(hand)
        if hand.did(Close):
            return
    if hand.state.typed:
        hand.say(TypedText(""))
    again = hand.replayed()
    assert again.job.step_name(again.state) == hand.job.step_name(hand.state)
    if isinstance(hand.view, DetailView):
        assert again.view._replace(page=0) == hand.view._replace(page=0)
    else:
        assert again.view.total == hand.view.total


def test_verdicts_of_a_look_never_claim_that_work_was_done() -> None:
    """GOOD is what tells the stack that a job below a look takes a scan."""
    for job, args in ((LookUpJob(), {"product_number": "P1"}), (LocationsJob(), {"location_code": "A-1"})):
        hand = Hand(job, **args)
        for kind, key in ((PRODUCT, "P1"), (LOCATION, "A-2"), (ORDER, "41"), (PERSON, "ann")):
            hand.scan(key, kind)
            assert hand.verdict is None or hand.verdict.kind in (INFO, ASK)


@pytest.mark.parametrize(("before", "after"), [("", "A-2"), ("A-0", ""), ("", ""), ("A-0", "A-2")])
def test_a_neighbour_is_offered_where_there_is_one(before: str, after: str) -> None:
    state = LocationsState(code="A-1", location=location_row("A-1", before=before, after=after))
    letters = {hint.letter for hint in LocationsJob().view(state).key_hints}
    assert letters & set("np") == {*("p" if before else ""), *("n" if after else "")}


def test_what_is_held_on_a_place_stands_under_its_order() -> None:
    lying = (
        product_here("P1", "Tea", Decimal(5), ("41", 1, 2), ("42", 1, 1)),
        product_here("P2", "Jam", Decimal(9), ("41", 2, 3), ("41", 3, 1)),
    )
    view = LocationsJob().view(LocationsState(code="A-1", location=location_row("A-1", *lying)))
    assert isinstance(view, DetailView)
    shown = [
        (
            dict(block.title.args)["order"],
            [(dict(name.args)["text"], dict(held.args)["quantity"]) for name, held in block.rows],
        )
        for block in view.blocks[1:]
    ]
    assert shown == [("41", [("Tea", Decimal(2)), ("Jam", Decimal(4))]), ("42", [("Tea", Decimal(1))])]


def test_look_up_at_desk_shows_the_sales_by_week() -> None:
    sales = {"history_array": '{"W45": 4, "W46": 6}', "forecast_array": '{"W47": 5}'}
    for context, weeks in ((CONTEXT._replace(is_desk=True), ["W45", "W46", "W47"]), (CONTEXT, [])):
        job = LookUpJob()
        turn = job.handle(job.begin(), Opened({"product_number": "P1"}), context)
        asked = [effect.id for effect in turn.effects if isinstance(effect, Query)]
        assert ("sales" in asked) == bool(weeks)
        state = job.handle(turn.state, Rows("product", (SHEET,), 1), context).state
        state = job.handle(state, Rows("sales", (sales,), 1), context).state if weeks else state
        view = job.view(state)
        assert isinstance(view, DetailView)
        axis = view.side.chart.axis if view.side and view.side.chart else ()
        assert [key.args[0][1] for key in axis] == weeks
