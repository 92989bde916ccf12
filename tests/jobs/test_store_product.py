"""A product as the store keeps it, by itself: no terminal, no file, no network."""

from __future__ import annotations

import itertools
from collections import deque
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from aisle import named_tuple_json
from aisle.jobs.job import Changed, Close, Closed, Context, Event, Opened, Query, Refresh, Resumed, Rows, Start, Write
from aisle.jobs.product_rows_and_weekly_sales import MAX_FIGURES, parse_figures
from aisle.jobs.supervisor import service_fields_and_values
from aisle.jobs.supervisor.service_fields_and_values import field_label, parse_codes, parse_day
from aisle.jobs.supervisor.store_product import StoreProductJob
from aisle.jobs.supervisor.store_product_limits_and_objections import change_text, level_range
from aisle.jobs.supervisor.store_product_page import StoreProductState
from aisle.jobs.view import WRONG, Block, Chart, DetailView, Frame, LinkState, Step, Verdict, msg, raw
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    PRODUCT,
    Back,
    Choice,
    Command,
    CursorKey,
    Match,
    Quantity,
    Scan,
    Text,
    TypedText,
    UnknownCode,
)
from aisle.store_product_settings import FIELDS, plain_text
from aisle.tui.layout.screen import layout_screen
from aisle.tui.layout.styled_lines_and_page_parts import plain_lines
from aisle.tui.message_text import MessageWriter

CONTEXT = Context(store="0001", user="fred", now="2026-11-20T10:00:00+00:00")
NUMBERS = {field.name: number for number, field in enumerate(FIELDS, 1)}

Row = dict[str, Any]


def row(**fields: Any) -> Row:
    """A product as the read has it."""
    return {
        "product_number": "P1", "product_name": "Tea", "is_ranged": True, "may_edit": True,
        "read_at": "2026-11-20T09:00:00+00:00",
        "most_likely_quantity": 7, "min": 4, "max": 10, "original_min": 4, "original_max": 10,
        "edit_min_max_percentage": 50, "is_replenishment": False, "price": Decimal("2.5"), "said": [], **fields,
    }  # fmt: skip


def said(word: str, op_id: str = "A", why: str = "") -> Row:
    """A change from this host."""
    return {
        "op_id": op_id,
        "outcome": word,
        "fields": [("min", "4", "5")],
        "user": "fred",
        "user_name": "fred",
        "at": "2026-11-20",
        "why": why,
    }


class Hand:
    """Somebody at the page of P1."""

    def __init__(self, found: Row | None = None, context: Context = CONTEXT, **args: Any) -> None:
        self.context = context
        self.job = StoreProductJob()
        self.state: StoreProductState = self.job.begin()
        self.row = found
        self.effects: list[Any] = []
        self.verdict: Verdict | None = None
        self.feed(Opened({"product_number": "P1", **args}))

    def feed(self, *events: Event) -> str:
        """Events and their answers; the id of the last verdict."""
        self.effects, self.verdict = [], None
        queue: deque[Event] = deque(events)
        while queue:
            turn = self.job.handle(self.state, queue.popleft(), self.context)
            self.state, self.verdict = turn.state, turn.verdict or self.verdict
            self.effects += turn.effects
            queue.extend(
                Rows(each.id, (self.row,) if self.row else (), int(bool(self.row)))
                for each in turn.effects
                if isinstance(each, Query) and each.name in ("store_product", "product")
            )
            assert self.job.view(self.state).name == self.job.step_name(self.state)
        return self.verdict.text.id if self.verdict else ""

    def pick(self, name: str) -> None:
        """Opens a field by its number."""
        self.feed(Choice(NUMBERS[name]))
        assert self.job.step_name(self.state) == "store_product.value"

    def sent(self, *events: Event) -> dict[str, Any]:
        """What is sent when that was said and found right."""
        self.feed(*events)
        assert self.job.step_name(self.state) == "store_product.confirm", self.verdict
        assert self.feed(Choice(1)) == "store_product.queued"
        (write,) = [each for each in self.effects if isinstance(each, Write)]
        assert (write.operation, write.lanes) == ("update-store-products", ("product/P1",))
        (item,) = write.body
        assert item["product_number"] == "P1"
        return {name: value for name, value in item.items() if name != "product_number"}

    @property
    def view(self) -> Any:
        """What is on the screen."""
        return self.job.view(self.state)


def block(hand: Hand, title: str) -> Block | None:
    return next((each for each in hand.view.blocks if each.title.id == title), None)


def test_it_is_shown_and_the_service_is_asked_anew() -> None:
    hand = Hand(row(ordering_datetimes=["2026-11-21T15:00", "2026-11-23T15:00"], next_delivery_datetime="2026-11-22"))
    assert Refresh("product", "P1") in hand.effects
    assert isinstance(hand.view, DetailView)
    assert hand.view.blocks[0].numbered_rows == len(FIELDS)
    moments = block(hand, "store_product.ordering_and_delivery")
    assert moments is not None
    assert [cells[0].id for cells in moments.rows] == [
        "look_up.ordering",
        "store_product.later_ordering",
        "look_up.delivery",
    ]


def test_what_is_not_known_yet_and_what_the_store_does_not_have_is_said() -> None:
    loading = (
        StoreProductJob().handle(StoreProductState(), Opened({"product_number": "P1", "label": "Tea"}), CONTEXT).state
    )
    assert StoreProductJob().view(loading).lines[-1].text.id == "stores.loading"  # type: ignore[union-attr]
    assert Hand(None).view.lines[-1].text.id == "look_up.unknown"
    bare = Hand(row(is_ranged=False))
    assert bare.view.lines[-1].text.id == "store_product.not_ranged"
    assert bare.job.accepts(bare.state).choices == 0


@pytest.mark.parametrize(
    ("name", "events", "expected"),
    [
        ("min", (Quantity(Decimal(6)),), {"min": Decimal(6), "base": {"min": "4"}}),
        ("max", (UnknownCode("5-12"),), {"min": Decimal(5), "max": Decimal(12), "base": {"min": "4", "max": "10"}}),
        ("order_level", (Quantity(Decimal("5.5")),), {"order_level": Decimal("5.5"), "base": {"order_level": ""}}),
        ("is_replenishment", (Choice(1),), {"is_replenishment": True, "base": {"is_replenishment": "no"}}),
        (
            "attention_codes",
            (Text("cold, glass cold"),),
            {"attention_codes": ["cold", "glass"], "base": {"attention_codes": ""}},
        ),
        (
            "expiry_date_time",
            (UnknownCode("+14"),),
            {"expiry_date_time": "2026-12-04T00:00:00Z", "base": {"expiry_date_time": ""}},
        ),
        (
            "validate_expiry_date_time",
            (Text("1.2"),),
            {"validate_expiry_date_time": "2027-02-01T00:00:00Z", "base": {"validate_expiry_date_time": ""}},
        ),
        (
            "validate_expiry_date_time",
            (UnknownCode("15270201"),),
            {"validate_expiry_date_time": "2027-02-01T00:00:00Z", "base": {"validate_expiry_date_time": ""}},
        ),
        (
            "expiry_date_time",
            (Text("soon"), UnknownCode("(17)261204")),
            {"expiry_date_time": "2026-12-04T00:00:00Z", "base": {"expiry_date_time": ""}},
        ),
        ("is_promotion", (Choice(1),), {"is_promotion": True, "base": {"is_promotion": ""}}),
        ("price", (Quantity(Decimal("2.25")),), {"price": Decimal("2.25"), "base": {"price": "2.5"}}),
        (
            "discount_price",
            (Quantity(Decimal("1.99")),),
            {"discount_price": Decimal("1.99"), "base": {"discount_price": ""}},
        ),
    ],
)
def test_each_field_is_typed_looked_over_and_sent(name: str, events: tuple[Event, ...], expected: Any) -> None:
    hand = Hand(row())
    hand.pick(name)
    assert hand.sent(*events) == expected
    assert hand.job.step_name(hand.state) == "store_product"


def test_no_codes_is_a_choice() -> None:
    hand = Hand(row(storeproduct_attention_codes="COLD"))
    hand.pick("attention_codes")
    assert hand.sent(Choice(1)) == {"attention_codes": [], "base": {"attention_codes": "COLD"}}


@pytest.mark.parametrize(
    ("name", "event", "why"),
    [
        ("min", Quantity(Decimal(7)), "store_product.out_of_range"),
        ("min", Quantity(Decimal("4.5")), "input.whole_number_only"),
        ("max", Quantity(Decimal(16)), "store_product.out_of_range"),
        ("max", UnknownCode("6-5"), "store_product.min_above_max"),
        ("max", UnknownCode("often"), "count.unknown"),
        ("price", Quantity(Decimal(99_999_999)), "store_product.out_of_limits"),
        ("expiry_date_time", Text("soon"), "count.unknown"),
        ("attention_codes", Text("x" * 21), "count.unknown"),
        ("min", Scan((Match(PRODUCT, "P2", "Cola", code="P2"),)), "store_product.finish_change_first"),
        ("min", Scan((Match(LOCATION, "A-1", "A-1", code="A-1"),)), "page.not_this"),
    ],
)
def test_what_cannot_be_is_said_before_it_is_sent(name: str, event: Event, why: str) -> None:
    hand = Hand(row(max=5, original_max=10) if why == "store_product.min_above_max" else row())
    hand.pick(name)
    assert hand.feed(event) == why
    assert hand.job.step_name(hand.state) == "store_product.value"


def test_a_scan_while_a_typed_value_is_confirmed_asks_for_the_answer() -> None:
    hand = Hand(row())
    hand.pick("min")
    hand.feed(Quantity(Decimal(6)))
    assert hand.job.step_name(hand.state) == "store_product.confirm"
    assert hand.feed(Scan((Match(PRODUCT, "P2", "Cola", code="P2"),))) == "count.answer_first"
    assert hand.job.step_name(hand.state) == "store_product.confirm"


def test_what_is_so_already_is_not_sent() -> None:
    hand = Hand(row())
    hand.pick("min")
    assert hand.feed(Quantity(Decimal(4))) == "store_product.unchanged"
    assert hand.job.step_name(hand.state) == "store_product"


def test_without_a_percentage_or_a_start_nothing_binds() -> None:
    assert level_range(None, Decimal(50)) is None
    assert level_range(Decimal(4), Decimal(0)) is None
    room = level_range(Decimal(5), Decimal(30))
    assert room is not None
    assert [room.low, room.high] == [3, 7], "as our own service rounds"
    hand = Hand(row(edit_min_max_percentage=0))
    hand.pick("max")
    assert hand.sent(Quantity(Decimal(500)))["max"] == 500


def test_staff_look_and_change_nothing() -> None:
    hand = Hand(row(may_edit=False))
    assert hand.job.accepts(hand.state).choices == 0
    assert hand.view.lines[-1].text.id == "clearance.role_denied"
    assert Hand(row()).job.accepts(hand.state).choices == 0
    assert len(Hand(row()).state.product.editable_fields) == len(FIELDS)  # type: ignore[union-attr]


def test_what_the_product_does_not_allow_is_shown_with_the_reason() -> None:
    hand = Hand(row(is_edit_min_max=False, is_edit_replenishment=False))
    assert hand.view.blocks[0].numbered_rows == len(FIELDS) - 3
    fixed = block(hand, "store_product.fixed_levels")
    assert fixed is not None
    assert len(fixed.rows) == 2


def test_what_a_service_of_the_document_alone_may_not_show_is_said() -> None:
    for keeps, notes in ((True, []), (False, ["store_product.write_only"])):
        hand = Hand(row(keeps_all=keeps))
        hand.pick("discount_price")
        assert [line.text.id for line in hand.view.lines if line.role == "note"] == notes


def test_who_lost_the_right_meanwhile_sends_nothing() -> None:
    hand = Hand(row())
    hand.pick("price")
    hand.feed(Quantity(Decimal(3)))
    hand.row = row(may_edit=False)
    assert hand.feed(Choice(1)) == "clearance.role_denied"
    assert not any(isinstance(each, Write) for each in hand.effects)


def test_what_becomes_of_a_change_is_told() -> None:
    hand = Hand(row(said=[said("queued")]))
    assert hand.view.blocks[0].rows[0][2].id == "operation_state.queued"
    hand.row = row(said=[said("confirmed")])
    assert hand.feed(Changed("outbox", "")) == "store_product.confirmed"
    hand.row = row(said=[said("queued", "B"), said("confirmed")])
    assert hand.feed(Changed("outbox", "")) == ""
    hand.row = row(said=[said("refused", "B", "min is above max."), said("confirmed")])
    assert hand.feed(Changed("outbox", "")) == "store_product.refused"
    assert hand.view.lines[-1].text.id == "store_product.refused"
    hand.feed(Command("d"))
    assert hand.effects == [Start("unconfirmed", {})]
    hand.row = row(said=[said("in_doubt", "B")])
    hand.feed(Closed("unconfirmed"))
    assert hand.view.lines[-1].text.id == "store_product.in_doubt"


@pytest.mark.parametrize("outcome", ["confirmed", "refused"])
def test_what_becomes_of_the_change_of_another_person_is_no_answer(outcome: str) -> None:
    hand = Hand(row(said=[said("queued") | {"user": "anna"}]))
    hand.row = row(said=[said(outcome) | {"user": "anna"}])
    assert hand.feed(Changed("outbox", "")) == ""


def test_figures_are_drawn_with_their_keys() -> None:
    hand = Hand(row(history_array='{"W1":3,"W2":4.5}', average_array="[4,4]", forecast_array="6;7;8"))
    hand.feed(Command("g"))
    chart = hand.view
    assert isinstance(chart, Chart)
    assert [(len(one.values), one.total) for one in chart.series] == [(2, Decimal("7.5")), (2, None), (3, 21)]
    assert [dict(key.args)["text"] for key in chart.series[0].axis] == ["W1", "W2"]
    assert [dict(key.args)["text"] for key in chart.series[2].axis] == ["1", "2", "3"]
    hand.feed(Back())
    assert isinstance(hand.view, DetailView)
    bare = Hand(row())
    bare.feed(Command("g"))
    assert isinstance(bare.view, DetailView)


@pytest.mark.parametrize(
    "wild", ["[3, NaN]", "[3, 1e9999999]", '{"a": Infinity}', "[1e9999999, -1e9999999]", '["sNaN", 2]']
)
def test_figures_that_are_none_end_nothing(wild: str) -> None:
    numbers = {"min": "1e9999999", "max": "NaN", "price": float("inf"), "original_min": "-1e9999999"}
    hand = Hand(row(history_array=wild, forecast_array="[3, 4]", average_array=wild, forecast="1e9999999", **numbers))
    for command in ("g", "n"):
        for columns, rows in ((20, 16), (80, 24)):
            assert layout_screen(Frame(hand.view, LinkState("live")), columns, rows).lines
        hand.feed(Command(command))


@pytest.mark.parametrize(
    ("event", "named"),
    [
        (UnknownCode("1.234,50"), "1.234,50"),
        (Text("tea"), "tea"),
        (Choice(2), ""),
        (CursorKey("enter"), ""),
        (Command("x"), ""),
    ],
)
def test_whatever_is_said_instead_of_a_yes_is_answered(event: Event, named: str) -> None:
    hand = Hand(row())
    hand.pick("price")
    hand.feed(Quantity(Decimal("2.25")))
    assert hand.job.step_name(hand.state) == "store_product.confirm"
    before = hand.state
    hand.feed(event)
    assert hand.verdict
    value = service_fields_and_values.format_value("price", "2.25")
    what_to_do = msg("store_product.confirm_or_back", value=value)
    refused = Verdict(WRONG, what_to_do)
    if named:
        refused = Verdict(WRONG, msg("count.unknown", code=named), detail=what_to_do)
    assert hand.verdict == refused
    assert (hand.state, hand.effects) == (before, [])
    assert not hand.feed(TypedText("1"))


def test_number_instead_of_yes_is_new_value_and_asked_again() -> None:
    hand = Hand(row())
    hand.pick("price")
    hand.feed(Quantity(Decimal("2.25")))
    assert (hand.job.accepts(hand.state).quantity, hand.job.accepts(hand.state).choice_letters) == (True, "y")
    hand.feed(Quantity(Decimal(1)))
    assert hand.job.step_name(hand.state) == "store_product.confirm"
    assert not any(isinstance(effect, Write) for effect in hand.effects)
    assert dict(hand.state.changes) == {"price": Decimal(1)}


@pytest.mark.parametrize(("field", "levels"), [("min", [6, 13]), ("max", [5, 6])])
def test_a_number_instead_of_both_levels_keeps_the_other(field: str, levels: list[int]) -> None:
    hand = Hand(row())
    hand.pick(field)
    for event in (Text("5-13"), Scan((Match(PRODUCT, "P2", "Cola", code="P2"),)), Quantity(Decimal(6))):
        hand.feed(event)
    assert hand.job.step_name(hand.state) == "store_product.confirm"
    assert [dict(hand.state.changes)[name] for name in ("min", "max")] == levels


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("price", "0", "store_product.price_zero"),
        ("price", "2.345", "store_product.fractions_of_cent"),
        ("discount_price", "2.60", "store_product.discount_above_price"),
        ("price", "1.10", "store_product.discount_above_price"),
        ("price", "2.60", ""),
        ("discount_price", "2.50", ""),
        ("min", "5", ""),
    ],
)
def test_prices_that_are_seldom_meant_are_asked_about(name: str, value: str, told: str) -> None:
    hand = Hand(row(discount_price=Decimal("1.20")))
    hand.pick(name)
    assert hand.feed(Quantity(Decimal(value))) == told
    assert hand.verdict is None or hand.verdict.kind == "ask"
    view = hand.job.view(hand.state)
    assert isinstance(view, Step)
    assert (view.name, not told or told in [line.text.id for line in view.lines]) == ("store_product.confirm", True)
    assert hand.feed(Choice(1)) == "store_product.queued"


def test_another_product_is_scanned_and_back_leaves() -> None:
    hand = Hand(row())
    assert hand.feed(Scan((Match(PRODUCT, "P2", "Cola", code="P2"),))) == "raw.cut"
    assert hand.state.number == "P2"
    hand.feed(Back())
    assert hand.effects == [Close()]
    hand.feed(Resumed())
    assert Refresh("product", "P2") in hand.effects


def test_back_leads_through_the_change() -> None:
    hand = Hand(row())
    hand.pick("min")
    hand.feed(Quantity(Decimal(5)))
    for step in ("store_product.value", "store_product"):
        hand.feed(Back())
        assert hand.job.step_name(hand.state) == step


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"W1":3,"W2":4}', [("W1", 3), ("W2", 4)]),
        ("[3, 4.5]", [("", 3), ("", Decimal("4.5"))]),
        ("3;4", [("", 3), ("", 4)]),
        pytest.param("W1=3,W2=4", [("W1", 3), ("W2", 4)], marks=pytest.mark.drawn),
        ("12", []),
        ("3;W1=4", []),
        ("[null,2]", [("", 0), ("", 2)]),
        ("soon", []),
        ("", []),
        (None, []),
        ([1, 2], [("", 1), ("", 2)]),
        ("[" * 100_000, []),
        ("[3, NaN]", []),
        ("[3, Infinity]", []),
        ('["NaN", 3, "sNaN"]', [("", 0), ("", 3), ("", 0)]),
        ("[3, 1e9999999]", [("", 3), ("", 0)]),
        ("[3, -1e-9999999]", [("", 3), ("", 0)]),
        ('{"W1":3,"W2":"1e9999999"}', [("W1", 3), ("W2", 0)]),
        ([3, Decimal("1e9999999"), float("inf")], [("", 3), ("", 0), ("", 0)]),
    ],
)
def test_figures_are_read_however_they_are_written(text: Any, found: list[Any]) -> None:
    assert [tuple(each) for each in parse_figures(text)] == found
    assert len(parse_figures([1] * 1000)) == MAX_FIGURES


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("+0", "2026-11-20"), ("24.12", "2026-12-24"), ("1-2", "2027-02-01"), ("20/11", "2026-11-20"),
        ("1.12.27", "2027-12-01"), ("2026-2-3", "2026-02-03"), ("31.2", ""), ("+99999", ""), ("13", ""), ("", ""),
        ("29.2", ""),
    ],
)  # fmt: skip
def test_days_as_people_type_them(text: str, day: str) -> None:
    assert parse_day(text, CONTEXT.now) == day


def test_values_are_compared_however_a_service_writes_them() -> None:
    of = {field.name: field for field in FIELDS}
    assert plain_text(of["min"], "4.0") == plain_text(of["min"], 4) == "4"
    assert plain_text(of["is_promotion"], "True") == plain_text(of["is_promotion"], True) == "yes"
    assert plain_text(of["expiry_date_time"], "2026-12-24T01:00:00+02:00") == "2026-12-23"
    assert plain_text(of["expiry_date_time"], "0001-01-01T00:00:00+01:00") == "0001-01-01T00:00:00+01:00"
    assert plain_text(of["attention_codes"], "A; B") == plain_text(of["attention_codes"], ["A", "B"]) == "A,B"
    assert plain_text(of["price"], "dear") == plain_text(of["price"], True) == plain_text(of["price"], None) == ""
    assert parse_codes(" ") is None


@pytest.mark.parametrize("text", ["https://shop.example/a", "WIFI:S:shop;T:WPA;P:x1;;", "www.a.example", "tel:+4930"])
def test_the_content_of_a_qr_code_is_no_attention_code(text: str) -> None:
    hand = Hand(row())
    hand.feed(Choice(NUMBERS["attention_codes"]))
    assert hand.state.phase == "value"
    assert hand.feed(Text(text)) == "input.qr_payload"
    assert hand.feed(UnknownCode(text)) == "input.qr_payload"
    assert not hand.state.changes


EVENTS: tuple[Event, ...] = (
    *(Choice(number) for number in (1, 2, 4, 5, 9)),
    *(Command(letter) for letter in "gdnp"),
    *(Quantity(Decimal(number)) for number in (0, 5, 9999)),
    Text("4-8"), UnknownCode("1.12"), TypedText("x"), CursorKey("down"), Back(), Resumed(), Changed("product", "P1"),
    Scan((Match(PRODUCT, "P1", "Tea", code="P1"),)),
)  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_said_every_page_can_be_drawn(seed: int) -> None:
    random = Random(seed)
    rows = (row(), row(may_edit=False), row(is_ranged=False), row(history_array="1;2", said=[said("refused")]), None)
    hand = Hand(rows[0])
    for _ in range(60):
        hand.row = random.choice(rows)
        hand.feed(random.choice(EVENTS))
        assert isinstance(hand.view, DetailView | Step | Chart)
        open_ = hand.job.accepts(hand.state)
        numbered = sum(each.numbered_rows for each in hand.view.blocks) if isinstance(hand.view, DetailView) else 0
        assert open_.choices == numbered + len(hand.view.choices)


def test_a_value_in_hand_is_there_again_when_the_journal_is_read() -> None:
    """What is live is not in it: the events and the answers that were kept lead to the very question."""
    hand, kept = StoreProductJob(), list[Event]()
    queue, typed = deque[Event]([Opened({"product_number": "P1"})]), deque[Event]([Choice(1), Quantity(Decimal(6))])
    state = hand.begin()
    while queue or typed:
        event = (queue or typed).popleft()
        turn = hand.handle(state, event, CONTEXT)
        state = turn.state
        asked = [each for each in turn.effects if isinstance(each, Query) and each.name != "next_deliveries"]
        queue.extend(Rows(each.id, (row(),), 1) for each in asked)
        if not isinstance(event, Rows) or event.id != "product":
            kept.append(named_tuple_json.from_text(type(event), named_tuple_json.to_text(event)))
    again = hand.begin()
    for event in kept:
        again = hand.handle(again, event, CONTEXT).state
    assert hand.step_name(again) == hand.step_name(state) == "store_product.confirm"
    assert (again.field, again.changes) == (state.field, state.changes) == ("min", (("min", Decimal(6)),))
    assert named_tuple_json.from_text(StoreProductState, named_tuple_json.to_text(again)) == again
    sent = hand.handle(again, Rows("chosen", (row(),), 1), CONTEXT)
    assert [each.body[0]["min"] for each in sent.effects if isinstance(each, Write)] == [Decimal(6)]


def test_a_confirmation_that_is_faster_than_any_look_is_told() -> None:
    hand = Hand(row(said=[said("confirmed")]))
    assert hand.verdict is None, "what was so before is no news"
    hand.row = row(said=[said("confirmed", "B"), said("confirmed")])
    assert hand.feed(Changed("outbox", "")) == "store_product.confirmed"
    assert hand.feed(Changed("outbox", "")) == "", "once"


DESK = CONTEXT._replace(is_desk=True)


def fields(hand: Hand) -> Block:
    assert isinstance(hand.view, DetailView)
    return hand.view.blocks[0]


def test_at_a_desk_a_value_is_changed_in_its_row() -> None:
    hand = Hand(row(), DESK)
    before = fields(hand)
    hand.pick("min")
    hand.feed(TypedText("6"))
    edited = fields(hand)
    assert (edited.edited_rows, edited.numbered_rows) == ((0,), 0)
    assert dict(edited.rows[0][1].args) == {"before": before.rows[0][1], "after": raw("6_")}
    assert edited.rows[0][2:] == before.rows[0][2:], "the range stays beside it"
    assert edited.rows[1:] == before.rows[1:]
    hand.feed(TypedText(""), UnknownCode("5-12"))
    assert fields(hand).edited_rows == (0, 1)
    assert hand.view.choice_letters == "y"
    assert hand.feed(Choice(1)) == "store_product.queued"
    assert fields(hand) == before


def test_the_last_change_is_undone_while_its_values_stand() -> None:
    hand = Hand(row(min=5, said=[said("confirmed")]))
    assert "u" in hand.job.accepts(hand.state).command_letters
    assert hand.sent(Command("u")) == {"min": Decimal(4), "base": {"min": "5"}}


FIRST_VALUE = said("confirmed") | {"fields": [("min", "", "5")]}


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (row(min=6, said=[said("confirmed")]), "expiry.changed_since"),
        (row(min=5, said=[FIRST_VALUE]), "expiry.none_before"),
        (row(min=5, said=[said("confirmed")], is_edit_min_max=False), "store_product.fixed_levels"),
        (row(min=5, said=[said("confirmed")], may_edit=False), "clearance.role_denied"),
        (row(min=5, said=[said("refused")]), "pick.nothing_to_undo"),
        (row(min=5), "pick.nothing_to_undo"),
        (None, "pick.nothing_to_undo"),
    ],
)
def test_why_a_change_is_not_undone_is_said(found: Row | None, why: str) -> None:
    hand = Hand(found)
    assert not any(hint.letter == "u" for hint in hand.view.key_hints)
    assert hand.feed(Command("u")) == why
    assert hand.job.step_name(hand.state) == "store_product"


@pytest.mark.parametrize(
    ("values", "now", "back"),
    [
        ("4 5 6", "6", "5"),
        ("4 5 6 5", "5", "4"),
        ("4 5 6 5 7", "7", "5"),
        ("4 5 4 5", "5", "4"),
        ("4 5 6 5 4", "4", ""),
        ("4 5 6 5", "9", ""),
    ],
)
def test_undo_goes_on_to_the_change_before(values: str, now: str, back: str) -> None:
    """Each of the values was set here; `now` is the one that the product has."""
    steps = values.split()
    changes = [
        said("confirmed", str(at)) | {"fields": [("min", before, after)]}
        for at, (before, after) in enumerate(itertools.pairwise(steps))
    ]
    hand = Hand(row(min=int(now), said=changes[::-1]))
    assert any(hint.letter == "u" for hint in hand.view.key_hints) == bool(back)
    if back:
        assert hand.sent(Command("u"))["min"] == Decimal(back)


def test_a_desk_shows_sales_and_forecast_on_one_axis_with_orders_and_the_log() -> None:
    hand = Hand(row(history_array='{"W45":4,"W46":6}', forecast_array='{"W47":5,"W48":2}'), DESK)
    order = {
        "order_number": "4101",
        "customer_name": "Gus",
        "pickup_date": "2026-11-21",
        "needed": Decimal(2),
        "held": Decimal(0),
    }
    entry = {
        "at": "2026-11-20T09:00:00Z",
        "difference": Decimal(-2),
        "reason_code": None,
        "reason_code_description": "",
        "work": "pick",
        "user_name": "Ben Ode",
        "app_user_name": "ben",
    }
    hand.feed(Rows("waiting_orders", (order,), 1), Rows("log_of_product", (entry,), 1))
    side = hand.view.side
    assert [key.args[0][1] for key in side.chart.axis] == ["W45", "W46", "W47", "W48"]
    assert [list(map(int, one.values)) for one in side.chart.series] == [[4, 6, 0, 0], [0, 0, 5, 2]]
    lines = plain_lines(layout_screen(Frame(hand.view, LinkState("live", 3.0)), 120, 40))
    text = "\n".join(lines)
    for words in ("6 │", "3 │", "0 └─", "W45", "W48", "░ Forecast", "4101", "Gus", "Ben Ode"):
        assert words in text, words
    assert Hand(row(history_array="[4, 6]")).view.side is None, "a handheld has no room"


@pytest.mark.parametrize(
    ("label", "taken"),
    [
        (Match(PRODUCT, "P1", expiry="2026-12-24"), True),
        (Match(PRODUCT, "P2", expiry="2026-12-24"), False),
        (Match(PRODUCT, "P1"), False),
    ],
)
def test_date_on_the_label_of_the_product_is_the_value(label: Match, taken: bool) -> None:
    hand = Hand(row())
    hand.pick("expiry_date_time")
    if taken:
        assert hand.sent(Scan((label,)))["expiry_date_time"] == "2026-12-24T00:00:00Z"
    else:
        assert hand.feed(Scan((label,))) == "store_product.finish_change_first"
    hand = Hand(row())
    hand.pick("validate_expiry_date_time")
    assert hand.feed(Scan((label,))) == "store_product.finish_change_first"


@pytest.mark.parametrize(
    ("field", "first", "text", "told"),
    [
        ("min", Quantity(Decimal(5)), "4-9", ("max",)),  # the minimum is 4
        ("max", Quantity(Decimal(9)), "3 - 8", ("min", "max")),
        ("validate_expiry_date_time", Text("1.12"), "2.12", ("validate_expiry_date_time",)),
        ("attention_codes", Text("AB1"), "CD2", ("attention_codes",)),
        ("min", Quantity(Decimal(5)), "soon", ()),
        ("validate_expiry_date_time", Text("1.12"), "soon", ()),
    ],
)
@pytest.mark.parametrize("kind", [Text, UnknownCode])
def test_another_value_while_one_is_confirmed_is_taken_in_any_form_of_the_field(
    field: str, first: Event, text: str, told: tuple[str, ...], kind: type[Text]
) -> None:
    hand = Hand(row())
    hand.feed(Choice(NUMBERS[field]))
    hand.feed(first)
    before = hand.state.changes
    said = hand.feed(kind(text))
    assert hand.job.step_name(hand.state) == "store_product.confirm"
    if told:
        assert tuple(dict(hand.state.changes)) == told
        assert hand.state.changes != before
    else:
        assert (said, hand.state.changes) == ("count.unknown", before)


def test_each_field_of_a_pending_change_is_named() -> None:
    change: Any = said("queued") | {"fields": [(name, "1", "2") for name in ("min", "max", "price")]}
    text = MessageWriter().write(change_text(change))
    assert all(MessageWriter().write(field_label(name)) in text for name, _, _ in change["fields"])
