"""The supervisor's pages: what each input does, and that no sequence of them raises or leaves a page without a way."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aisle.jobs import JOBS
from aisle.jobs.job import (
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    LocalNote,
    Opened,
    Query,
    Refresh,
    Resumed,
    Rows,
    Start,
    Write,
)
from aisle.jobs.supervisor.exception_decisions import EXCEPTION_KINDS, ExceptionsState
from aisle.jobs.supervisor.exception_lists import LISTS
from aisle.jobs.supervisor.exceptions import ExceptionsJob
from aisle.jobs.supervisor.order_action_writes import ACTION_NUMBERS
from aisle.jobs.supervisor.order_filter import (
    BUILT_IN_VIEWS,
    FILTER_FIELDS,
    OrderFilter,
    filter_values,
    parse_filter,
    query_arguments,
    with_value,
)
from aisle.jobs.view import WRONG, DetailView, ListView, Msg, Step, Verdict, msg, raw
from aisle.scan.grammar import parse
from aisle.scan.grammar_and_meaning_types import (
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
    RefusedInput,
    Scan,
    Text,
    TypedText,
    UnknownCode,
)
from tests.run_length import tries
from tests.samples.log import log_row
from tests.samples.supervisor import delivery_line, line_row

NOW = Context("0001", "U1", "Anna", "2026-11-20T10:00:00.000Z", window_rows=4, terminal="desk")

MOMENT = "2026-11-20T08:00:00Z"


def order_row(number: int, **fields: Any) -> dict[str, Any]:
    usual = {"is_active": True, "is_claimed": False, "is_picked": False, "is_rejected": False, "status": "open"}
    line = line_row(1, "P1", "", 3, 1)
    known = {"total_quantity": 6, "picked_quantity": Decimal(1), "short": 0, "seen_at": MOMENT, "idle_since": ""}
    return {
        "order_number": f"O{number}", "customer_name": "Ms Okafor", "pickup_date": MOMENT, "position": number,
        "lines": [line], "lines_known": True, **usual, **known, **fields,
    }  # fmt: skip


class World:
    """Ten orders, and whatever else the pages ask for."""

    def __init__(self, orders: list[dict[str, Any]] | None = None) -> None:
        self.orders = [order_row(n) for n in range(10)] if orders is None else orders
        self.unread_lists: tuple[str, ...] = ()
        self.answered = ""
        """When the service has said that it has no such order."""

    def answer(self, query: Query) -> Rows:
        args = query.args
        rows: list[dict[str, Any]] = []
        total = -1
        match query.name:
            case "order_board":
                at = next((n for n, row in enumerate(self.orders) if row["order_number"] == args.get("anchor")), None)
                first = args.get("first", 0) if at is None else max(0, at - args["row"])
                rows = [{**row, "position": n} for n, row in enumerate(self.orders)][first:][: args["size"]]
                total = len(self.orders)
            case "orders_by_number":
                rows = [row for row in self.orders if row["order_number"] in args["orders"]]
            case "order":
                rows = [row for row in self.orders if row["order_number"] == args["order_number"]]
            case "absent_order":
                rows = [{"order_number": args["order_number"]}] if self.answered >= args["since"] else []
            case "order_outcomes":
                rows = [{"order_number": number, "outcome": "sending", "why": ""} for number in args["orders"]]
            case "people":
                known = [{"user": "U2", "name": "Ben Okafor"}, {"user": "U3", "name": "Carla Fernandes"}]
                rows = [row for row in known if str(args.get("search") or "").lower() in row["name"].lower()]
            case "order_history":
                rows = [
                    {
                        "at": MOMENT,
                        "user": "Ben",
                        "event": "pick",
                        "label": "P1",
                        "quantity": 1,
                        "location": "",
                        "why": "",
                        "outcome": "",
                    }
                ]
            case "exceptions":
                figures = {"value": Decimal(9), "unread_lists": self.unread_lists}
                rows = [{**dict.fromkeys(EXCEPTION_KINDS, 3), **figures}]
            case "features":
                rows = [{"features": ["reviews", "recounts"]}]
            case "short_reasons":
                rows = [{"code": f"9{n}", "text": f"Own reason {n}"} for n in range(8)]
            case "stuck" | "uncollected":
                rows = self.orders[:3]
            case "differences" | "negative_stock" | "recounts" | "excess_receipts" | "entries_to_review":
                rows = [self._exception(n, query.name) for n in range(3)]
                rows = [row for row in rows if row["key"] in args.get("keys", [row["key"]])]
            case "saved_views":
                rows = [{"name": "mine", "filter": {"state": "picked", "due": "never", "more": 1}}]
        return Rows(query.id, tuple(rows), len(rows) if total < 0 else total)

    def _exception(self, number: int, name: str) -> dict[str, Any]:
        said = {
            "key": str(900 + number),
            "label": "Milk",
            "product_number": "P1",
            "location_code": "A-1",
            "user_name": "Ben",
        }
        if name == "negative_stock":
            return {
                **said,
                "kind": "below",
                "quantity": Decimal(-1),
                "other_quantity": Decimal(0),
                "is_corrected": False,
                "order_number": "O1" * number,
            }
        if name == "excess_receipts":
            return {
                **delivery_line("P1", "Milk", 10, 12),
                "order_number": f"D{number}",
                "supplier_name": "Dairy",
                "note_key": f"D{number}/1",
                "to_review": ["77"] * number,
                **said,
            }
        if name == "entries_to_review":
            return {**log_row(str(900 + number), MOMENT), "description": "Milk", "review_status": "1"}
        said["kind"] = "at_service"
        known = {"difference": Decimal(-2), "counted": Decimal(3), "value": Decimal(-4), "known": number != 1}
        return {**said, **known, "review_status": "1" if number else "0", "at": MOMENT}


class Hand:
    """A supervisor at one page; what the page asks for is answered at once."""

    def __init__(self, job: str, args: dict[str, Any] | None = None, world: World | None = None) -> None:
        self.job = JOBS[job]
        self.world = world or World()
        self.state = self.job.begin()
        self.effects: list[Effect] = []
        self.verdict: Verdict | None = None
        self.does(Opened(args or {}))

    def does(self, *events: Event) -> Hand:
        for event in events:
            self.effects = []
            self._step(event, 9)
        return self

    def _step(self, event: Event, deep: int) -> None:
        turn = self.job.handle(self.state, event, NOW)
        self.state, self.verdict = turn.state, turn.verdict or self.verdict
        for effect in turn.effects:
            if isinstance(effect, Query):
                assert deep, "it asks without end"
                self._step(self.world.answer(effect), deep - 1)
            else:
                self.effects.append(effect)

    @property
    def at(self) -> str:
        view = self.job.view(self.state)
        assert view.name == self.job.step_name(self.state)
        assert view.name in self.job.steps
        return view.name

    def of(self, kind: type[Any]) -> list[Any]:
        return [effect for effect in self.effects if isinstance(effect, kind)]

    @property
    def numbers(self) -> list[str]:
        view = self.job.view(self.state)
        assert isinstance(view, ListView)
        return [row.key for row in view.rows]

    @property
    def told(self) -> str:
        return self.verdict.text.id if self.verdict else ""


# The board


def test_a_number_opens_an_order_and_words_search() -> None:
    hand = Hand("orders").does(Choice(2))
    assert hand.of(Start) == [Start("order", {"order_number": "O1"})]
    hand.does(Text("bakery"))
    assert hand.state.search == "bakery"
    hand.does(Back())
    assert hand.state.search == ""
    hand.does(Back())
    assert hand.of(Close) == [Close()]


def test_a_number_without_a_row_is_said_to_have_none_and_is_no_search() -> None:
    hand = Hand("orders")
    for _ in range(2):
        before = hand.state
        assert not hand.does(TypedText("1"), TypedText("12")).effects
        assert hand.does(UnknownCode("12")).verdict == Verdict(WRONG, msg("orders.no_row", row="12"))
        assert (hand.state.rows, hand.state.search, hand.state.typed) == (before.rows, "", "")
        hand.does(Command("m"))
    hand = Hand("orders").does(TypedText("123"), UnknownCode("123"))
    assert hand.state.search == "123"


def test_a_scan_that_a_page_of_the_filter_has_no_use_for_is_told() -> None:
    hand = Hand("orders").does(Command("f"), Scan((Match(PERSON, "U2", "Ben Okafor"),)))
    assert hand.verdict == Verdict(WRONG, msg("page.scan_not_used", what=msg("record_name.person", what="Ben Okafor")))


def test_a_reference_that_is_known_is_filtered_by_when_it_is_scanned() -> None:
    hand = Hand("orders")
    hand.state = hand.state._replace(page="field", field="reference")
    hand.does(Scan((Match(REFERENCE, "O7", code="R-1"),)))
    assert (hand.state.filter.reference, hand.state.page) == ("R-1", "filter")


def test_title_shows_search_and_scanned_row_is_visible() -> None:
    hand = Hand("orders").does(Text("40"))
    view = hand.job.view(hand.state)
    assert (view.title.id, dict(view.title.args)["text"]) == ("orders.title_searched", "40")
    hand.does(Command("m"))
    assert hand.job.view(hand.state).title.id == "orders.title_marked_searched"
    assert "O7" not in hand.numbers
    hand.does(Scan((Match(ORDER, "O7"),)))
    assert (hand.state.search, hand.state.marked, hand.told) == ("", ("O7",), "orders.marked")
    assert hand.numbers[0] == "O7"
    assert hand.job.view(hand.state).title.id == "orders.title_marked"


def test_cursor_stays_on_its_order_when_list_changes() -> None:
    hand = Hand("orders").does(CursorKey("down"), CursorKey("down"))
    assert hand.numbers[hand.state.cursor - hand.state.first] == "O1"
    hand.world.orders.insert(0, order_row(90))
    hand.does(Changed("order", "O90"))
    assert hand.numbers[hand.state.cursor - hand.state.first] == "O1"
    assert hand.state.first == 1, "it stands where it stood on the screen"
    hand.world.orders = [row for row in hand.world.orders if row["order_number"] != "O1"]
    hand.does(Changed("order", ""))
    assert hand.at == "orders"


def test_pages_and_cursor_lead_through_all_of_it() -> None:
    hand = Hand("orders")
    seen = set(hand.numbers)
    for _ in range(3):
        seen |= set(hand.does(Command("n")).numbers)
    assert len(seen) == 10
    hand.does(CursorKey("end"))
    assert "O9" in hand.numbers
    assert hand.state.rows[hand.state.cursor - hand.state.first].number == "O9"
    assert hand.does(CursorKey("enter")).of(Start) == [Start("order", {"order_number": "O9"})]


def test_marked_orders_are_what_something_is_done_to() -> None:
    hand = Hand("orders").does(Command("m"), Choice(1), Choice(3), Choice(1))
    assert hand.state.marked == ("O2",)
    hand.does(Scan((Match(ORDER, "O7"),)), Command("d"))
    assert hand.of(Start) == [Start("order_actions", {"orders": ["O2", "O7"]})]
    hand.does(Closed("order_actions", None))
    assert hand.state.marked == ("O2", "O7"), "nothing was done"
    hand.does(Closed("order_actions", {"undo": []}))
    assert hand.state.marked == ()
    hand.does(Command("a"))
    assert len(hand.state.marked) == 10
    hand.does(Command("a"))
    assert hand.state.marked == ()
    assert Hand("orders").does(Command("d")).state.is_marking, "what for has to be said first"


def test_filter_views_and_what_is_kept() -> None:
    hand = Hand("orders").does(Command("f"), Choice(1))
    assert hand.at == "orders.field"
    hand.does(Choice(2))
    assert (hand.at, hand.state.filter) == ("orders.filter", OrderFilter("to_pick"))
    hand.does(Back(), Command("v"), Command("k"), Text("mine too"))
    (kept,) = hand.of(LocalNote)
    assert (kept.topic, kept.key) == ("view", "U1/mine too")
    assert [view.name for view in hand.state.views] == ["mine", "mine too"]
    hand.does(Command("v"), Command("x"))
    assert hand.of(LocalNote) == [LocalNote("view", "U1/mine too", "")]
    hand.does(Back(), Scan((Match(REFERENCE, "O1", code="W1"), Match(REFERENCE, "O2", code="W1"))))
    assert hand.state.filter.reference == "W1"


def test_filter_words_become_arguments_and_unknown_ones_are_dropped() -> None:
    for field in FILTER_FIELDS:
        for word in filter_values(field):
            args = query_arguments(with_value(OrderFilter(), field, word))
            assert set(args["status"]) <= {"open", "partial", "picked", "rejected", "finished"}
    assert query_arguments(OrderFilter(due="tomorrow"))["pickup_offset"] == 1
    assert parse_filter({"state": "picked", "due": "never", "sort": "age", "more": 1}) == OrderFilter(
        "picked", sort="age"
    )
    assert len({filter_ for _, _, filter_ in BUILT_IN_VIEWS}) == len(BUILT_IN_VIEWS)


# One order


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"is_claimed": True, "claimed_by": "U2"},
        {"status": "picked", "is_picked": True},
        {"is_rejected": True, "status": "rejected"},
        {"is_priority": True, "picker": "U3", "picker_name": "Carla"},
    ],
)
def test_an_action_has_one_number_and_is_offered_where_it_is_possible(fields: dict[str, Any]) -> None:
    world = World([order_row(1, **fields)])
    page, many = Hand("order", {"order_number": "O1"}, world), Hand("order_actions", {"orders": ["O1"]}, world)
    offered = []
    for hand in (page, many):
        view = hand.job.view(hand.state)
        assert isinstance(view, DetailView | Step)
        kinds = [choice.id.removeprefix("order_actions.").removeprefix("order.") for choice in view.choices]
        assert [ACTION_NUMBERS[kind] for kind in kinds] == [int(key) for key in view.choice_letters]
        offered.append({*kinds} - {"pick"})
        missing = next(number for number in (8, 3) if str(number) not in view.choice_letters)
        assert hand.does(Choice(missing)).told == "order_actions.not_possible"
    assert offered[0] == offered[1]


def test_the_page_offers_what_fits_the_state() -> None:
    def ways(**fields: Any) -> list[str]:
        view = Hand("order", {"order_number": "O1"}, World([order_row(1, **fields)])).job
        hand = Hand("order", {"order_number": "O1"}, World([order_row(1, **fields)]))
        page = view.view(hand.state)
        assert isinstance(page, DetailView)
        return [choice.id for choice in page.choices]

    usual = [
        "order.pick",
        "order_actions.claim",
        "order_actions.reject",
        "order_actions.priority",
        "order_actions.hand_over",
    ]
    assert ways() == usual
    assert ways(is_priority=True) == [*usual[:3], "order_actions.hand_over", "order_actions.no_priority"]
    assert ways(picker_name="Ben") == [*usual[:4], "order_actions.split", "order_actions.hand_over"]
    assert ways(is_claimed=True) == [*usual, "order_actions.release"]
    assert ways(status="picked") == ["order_actions.claim", "order_actions.reject", "order_actions.hand_over"]
    assert ways(is_rejected=True, status="rejected") == ["order_actions.reopen"]
    assert ways(is_active=False, status="finished") == []
    assert Hand("order", {"order_number": "O1"}, World([])).state.order is None


BESIDE = {
    "customer_street": "12 Mill Lane",
    "customer_zipcode": "AB1 2CD",
    "customer_city": "Hillmoor",
    "customer_country": "GB",
    "delivery_street": "3 High Street",
    "delivery_city": "Norton",
    "customer_phone": "+44 20 7946 0123",
    "customer_email": "okafor@example.org",
    "customer_number": "C-77",
    "file_name": "orders-0412.csv",
}


@pytest.mark.parametrize(
    ("beside", "told"),
    [
        (BESIDE, {
            "order.address": "12 Mill Lane, AB1 2CD Hillmoor, GB",
            "order.delivery_address": "3 High Street, Norton",
            "order.phone": "+44 20 7946 0123",
            "order.email": "okafor@example.org",
            "order.customer_number": "C-77",
            "order.file": "orders-0412.csv",
        }),
        ({"customer_city": "Hillmoor"}, {"order.address": "Hillmoor"}),
        ({"customer_zipcode": "AB1 2CD"}, {"order.address": "AB1 2CD"}),
        ({"delivery_zipcode": "1", "delivery_city": "X"}, {"order.delivery_address": "1 X"}),
        ({"delivery_country": "NL"}, {"order.delivery_address": "NL"}),
        ({"customer_street": " ", "customer_phone": None}, {}),
        ({"customer_phone": 7}, {"order.phone": "7"}),
        ({"order_type": "unheard"}, {}),
        ({}, {}),
        ("no object", {}),
        (None, {}),
    ],
)  # fmt: skip
def test_order_page_shows_extra_customer_fields_of_own_service(beside: Any, told: dict[str, str]) -> None:
    row = order_row(1, **({} if beside is None else {"aisle": beside}))
    hand = Hand("order", {"order_number": "O1"}, World([row]))
    view = hand.job.view(hand.state)
    assert isinstance(view, DetailView)
    [facts] = [block for block in view.blocks if block.title.id == "deliveries.about"]
    named = {
        each[0].id: dict(each[1].args).get("text") for each in facts.rows if each[0].id != "orders.head_known_since"
    }
    assert named == {"head.customer": "Ms Okafor", **told}


def test_missing_order_is_requested_until_service_denies_it() -> None:
    def note(hand: Hand) -> str:
        page = hand.job.view(hand.state)
        assert isinstance(page, DetailView)
        return page.lines[-1].text.id

    world = World([])
    world.answered = "2026-11-20T09:00:00.000Z"
    hand = Hand("order", {"order_number": "O9"}, world)
    assert note(hand) == "order.unknown", "what was said an hour ago may be otherwise now"
    world.answered = NOW.now
    hand.does(Changed("order", "O9"))
    assert note(hand) == "order.absent"
    hand.does(Scan((Match(ORDER, "O8"),)))
    assert [read.key for read in hand.of(Refresh) if read.topic == "order"] == ["O8"]
    world.orders = [order_row(8)]
    hand.does(Changed("order", "O8"))
    assert note(hand) != "order.absent"


@pytest.mark.parametrize("rejected", [True, False])
def test_why_it_was_rejected_is_told_while_it_is(rejected: bool) -> None:
    fields = {"is_rejected": rejected, "status": "rejected" if rejected else "open"}
    world = World([order_row(1, rejection_reason_code_description="Damaged", **fields)])
    board, page = Hand("orders", None, world), Hand("order", {"order_number": "O1"}, world)
    for told in (str(board.job.view(board.state)), str(page.job.view(page.state))):
        assert ("Damaged" in told) is rejected


@pytest.mark.parametrize("rejected", [True, False])
def test_a_line_of_a_rejected_order_is_not_open(rejected: bool) -> None:
    fields = {"is_rejected": rejected, "status": "rejected" if rejected else "open"}
    page = Hand("order", {"order_number": "O1"}, World([order_row(1, **fields)]))
    told = str(page.job.view(page.state))
    assert ("order.line_rejected" in told, "orders.status_open" in told) == (rejected, not rejected)


@pytest.mark.parametrize("kind", ["", *LISTS])
def test_a_list_without_exceptions_asks_for_no_number(kind: str) -> None:
    state = ExceptionsState(kind, counts=((kind, 0),), is_loaded=True)
    assert ExceptionsJob().view(state).prompt.id == "unconfirmed.prompt_none"
    assert ExceptionsJob().view(state._replace(is_loaded=False)).prompt.id != "unconfirmed.prompt_none"


def test_exceptions_of_a_log_that_was_never_read_are_unknown() -> None:
    world = World()
    world.unread_lists = ("logs",)
    hand = Hand("exceptions", world=world)
    unknown: dict[str, Msg] = {}
    known: dict[str, Msg] = {}
    for figures in (unknown, known):
        for first in (0, 4, 8):
            view = hand.job.view(hand.state._replace(first=first))
            assert isinstance(view, ListView)
            figures.update({row.key: row.cells[1] for row in view.rows})
        world.unread_lists = ()
        hand.does(Changed("log", ""))
    assert {key for key in known if known[key] != unknown[key]} == {"differences", "entries_to_review"}
    state = ExceptionsState("differences", counts=(("differences", 0),), is_loaded=True, unread_lists=("logs",))
    view = ExceptionsJob().view(state)
    assert isinstance(view, ListView)
    assert view.empty == msg("stores.loading")
    assert view.prompt.id != "unconfirmed.prompt_none"


@pytest.mark.parametrize(("status", "works"), [("open", True), ("partial", True), ("picked", False)])
def test_somebody_works_on_an_order_that_is_to_be_picked(status: str, works: bool) -> None:
    world = World([order_row(1, status=status, is_claimed=True, claimed_name="Ben")])
    page = JOBS["order"].view(Hand("order", {"order_number": "O1"}, world).state)
    assert isinstance(page, DetailView)
    assert ("order.claimed_by" in [line.text.id for line in page.lines]) is works


def test_a_line_is_closed_opened_or_looked_up() -> None:
    line = order_row(1)["lines"][0]
    full, closed = {**line, "picked_quantity": 3}, {**line, "is_picked": True}
    for said, kind, keys in ((line, "close_line", []), (closed, "reopen_line", [Choice(1)])):
        hand = Hand("order", {"order_number": "O1"}, World([order_row(1, lines=[said])])).does(Command("e"), Choice(1))
        hand.does(*keys)
        (start,) = hand.of(Start)
        assert (start.job, start.args["kind"], start.args["line"]) == ("order_actions", kind, 1)
    hand = Hand("order", {"order_number": "O1"}, World([order_row(1, lines=[full])])).does(Command("e"), Choice(1))
    assert hand.of(Start)[0].job == "look_up"


def test_short_line_stays_short_unless_that_is_undone() -> None:
    closed = {**order_row(1)["lines"][0], "is_picked": True}
    hand = Hand("order", {"order_number": "O1"}, World([order_row(1, lines=[closed])])).does(Command("e"), Choice(1))
    assert (hand.at, hand.of(Start)) == ("order.short_line", [])
    assert hand.does(Choice(2)).of(Start)[0].job == "look_up"
    assert hand.does(Back()).at == "order.lines"


def test_undo_of_line_action_names_the_product() -> None:
    closed = {**order_row(1)["lines"][0], "is_picked": True, "description": "Nappies"}
    again = [{"order": "O1", "kind": "reopen_line", "line": 1}]
    hand = Hand("order_actions", {"undo": again}, World([order_row(1, lines=[closed])]))
    (close,) = hand.of(Close)
    assert close.verdict.text.id == "pick.reopened"
    assert dict(close.verdict.text.args)["label"] == "Nappies"


def test_what_was_done_from_the_page_is_undone_from_it() -> None:
    hand = Hand("order", {"order_number": "O1"}).does(
        Closed("order_actions", {"undo": [{"order": "O1", "kind": "reopen"}]})
    )
    hand.does(Command("u"))
    assert hand.of(Start) == [Start("order_actions", {"undo": [{"order": "O1", "kind": "reopen"}]})]


# What is done


def bodies(hand: Hand) -> list[dict[str, Any]]:
    return [write.body["orders"] for write in hand.of(Write)]


def test_reasons_are_leafed_through_and_the_last_can_be_chosen() -> None:
    hand = Hand("order_actions", {"orders": ["O1"], "kind": "reject"})
    seen: list[str] = []
    while len(seen) == len(set(seen)):
        shown = [str(dict(choice.args)["text"]) for choice in hand.job.view(hand.state).choices]
        assert len(shown) <= 6
        seen += shown
        hand.does(Command("n"))
    assert "Own reason 7" in seen
    hand.does(Command("p"), Command("p"))
    shown = [str(dict(choice.args)["text"]) for choice in hand.job.view(hand.state).choices]
    hand.does(Choice(shown.index("Own reason 7") + 1), Choice(1))
    assert bodies(hand)[0]["rejection_reason_code"] == "97"


def test_rejection_has_reasons_of_orders_before_those_of_shortages() -> None:
    for kind, first in (("reject", "Not collected"), ("close_line", "Location is empty")):
        hand = Hand("order_actions", {"orders": ["O1"], "kind": kind})
        assert hand.state.reasons[0].text == first
        assert "Location is empty" in {reason.text for reason in hand.state.reasons}


def test_back_from_confirmation_leads_one_step_back() -> None:
    for keys, pages in (
        ((Choice(3), Choice(1)), ["confirm", "reason", "action"]),
        ((Choice(4),), ["confirm", "action"]),
        ((Choice(2), Choice(1)), ["confirm", "person", "action"]),
    ):
        hand = Hand("order_actions", {"orders": ["O1", "O2"]}).does(*keys)
        seen = [hand.at.partition(".")[2]]
        while not hand.does(Back()).of(Close):
            seen.append(hand.at.partition(".")[2])
        assert seen == pages
    assert bodies(hand) == []


def test_one_order_leads_straight_back() -> None:
    hand = Hand("order_actions", {"orders": ["O1"], "kind": "reject"})
    assert hand.at == "order_actions.reason"
    hand.does(Text("asked for it"))
    assert (hand.at, bodies(hand)) == ("order_actions.confirm", [])
    hand.does(Choice(1))
    assert bodies(hand) == [
        {"order_number": "O1", "is_rejected": True, "rejection_reason_code_description": "asked for it"}
    ]
    (close,) = hand.of(Close)
    assert close.verdict.text.id == "order_actions.done_reject"
    assert close.answer["undo"][0]["kind"] == "reopen"
    late = Hand("order_actions", {"orders": ["O1"], "kind": "release"})
    assert late.at == "order_actions.confirm"
    late.does(Choice(1))
    assert (bodies(late), late.of(Close)[0].verdict.text.id) == ([], "order_actions.not_claimed")


def test_question_names_the_orders_and_says_who_sees_their_priority() -> None:
    hand = Hand("order_actions", {"orders": ["O1", "O2"], "kind": "priority"})
    view = hand.job.view(hand.state)
    assert isinstance(view, Step)
    texts = [line.text for line in view.lines]
    assert (msg("order_actions.warn_priority") in texts, raw("O1, O2") in texts) == (True, True)


def test_many_are_asked_about_and_each_says_what_came_of_it() -> None:
    world = World([order_row(1), order_row(2, is_active=False), order_row(3)])
    hand = Hand("order_actions", {"orders": ["O1", "O2", "O3", "O9"]}, world).does(Choice(3), Choice(1))
    assert (hand.at, bodies(hand)) == ("order_actions.confirm", [])
    hand.does(Choice(1))
    assert [body["order_number"] for body in bodies(hand)] == ["O1", "O3"]
    view = hand.job.view(hand.state)
    assert isinstance(view, ListView)
    assert [row.cells[1].id for row in view.rows] == [
        "operation_state.queued",
        "order_actions.not_done",
        "operation_state.queued",
        "order_actions.not_done",
    ]
    hand.does(Changed("outbox", ""))
    view = hand.job.view(hand.state)
    assert isinstance(view, ListView)
    assert [row.cells[1].id for row in view.rows] == [
        "operation_state.sending",
        "order_actions.not_done",
        "operation_state.sending",
        "order_actions.not_done",
    ]
    for row in world.orders:
        row["is_rejected"] = True
    hand.does(Command("u"))
    assert bodies(hand) == [{"order_number": number, "is_rejected": False} for number in ("O1", "O3")]
    view = hand.job.view(hand.state)
    assert isinstance(view, ListView)
    assert (hand.told, view.title.id) == ("order_actions.reopened_count", "order_actions.results_undone")
    assert [(row.key, row.cells[1].id) for row in view.rows] == [
        ("O1", "operation_state.queued"),
        ("O3", "operation_state.queued"),
    ]
    assert [hint.letter for hint in view.key_hints] == ["b"], "what is undone is not undone once more"
    assert "u" not in hand.job.accepts(hand.state).command_letters
    assert hand.state.done_at == NOW.now


def test_somebody_is_named_by_number_badge_or_name() -> None:
    for said in (Choice(1), Text("ben"), Text("Ben Okafor"), Scan((Match(PERSON, "U2", "Ben Okafor"),))):
        hand = Hand("order_actions", {"orders": ["O1"], "kind": "claim"}).does(said)
        assert [write.user for write in hand.of(Write)] == ["U2"], said
    hand = Hand("order_actions", {"orders": ["O1"], "kind": "claim"}).does(Text("Zed"))
    assert (hand.told, bodies(hand)) == ("order_actions.unknown_name", [])
    assert [write.user for write in hand.does(Choice(1)).of(Write)] == ["Zed"]


@pytest.mark.parametrize(
    ("job", "args", "keys"),
    [
        ("orders", {}, [Command("f")]),
        ("orders", {}, [Command("f"), Choice(1)]),
        ("orders", {}, [Command("v")]),
        ("order", {"order_number": "O1"}, []),
        ("exceptions", {}, []),
        ("exceptions", {"kind": "negative_stock"}, []),
        ("exceptions", {"kind": "differences"}, [Choice(1)]),
    ],
)
def test_what_a_page_has_no_use_for_is_answered(job: str, args: dict[str, Any], keys: list[Event]) -> None:
    hand = Hand(job, args).does(*keys)
    before = hand.state
    assert hand.does(UnknownCode("0.00")).verdict == Verdict(WRONG, msg("today.unknown", text="0.00"))
    assert (hand.state, hand.effects) == (before, [])
    for number in ("1", "2468"):  # the page that knows no order has nothing to choose
        assert hand.does(UnknownCode(number)).verdict == Verdict(WRONG, msg("input.no_choice", text=number))
    for code in ("98249824", "9520001999999"):  # two scans without Enter between them, an EAN
        assert hand.does(UnknownCode(code)).verdict == Verdict(WRONG, msg("count.unknown", code=code))


def test_people_are_shown_page_by_page_and_none_is_left_out() -> None:
    people = tuple({"user": f"U{n}", "name": f"Person {n}"} for n in range(8))
    hand = Hand("order_actions", {"orders": ["O1"], "kind": "claim"}).does(Rows("people", people, 8))
    page = hand.job.view(hand.state)
    assert isinstance(page, Step)
    assert [hint.letter for hint in page.key_hints] == ["n", "p", "b"]
    assert hand.job.accepts(hand.state).command_letters == "np"
    assert len(page.choices) == 6
    hand.does(Command("n"))
    assert hand.job.accepts(hand.state).choices == 2
    assert [write.user for write in hand.does(Choice(2)).of(Write)] == ["U7"]
    hand = Hand("order_actions", {"orders": ["O1"], "kind": "claim"}).does(
        Rows("people", people, 8), Command("p"), Command("n")
    )
    assert [write.user for write in hand.does(Choice(1)).of(Write)] == ["U0"]


def test_people_page_fills_screen_and_shows_range() -> None:
    people = tuple({"user": f"U{n}", "name": f"Person {n}"} for n in range(8))
    hand = Hand("order_actions", {"orders": ["O1"], "kind": "claim"}).does(Rows("people", people, 70), Command("n"))
    page = hand.job.view(hand.state)
    assert isinstance(page, Step)
    assert (page.first, len(page.choices), page.choice_total) == (6, 2, 70)
    hand = Hand("order_actions", {"orders": ["O1"], "kind": "claim"}).does(Rows("people", people, 8))
    wide = hand.job.handle(hand.state, Resumed(), NOW._replace(window_rows=36)).state
    page = hand.job.view(wide)
    assert isinstance(page, Step)
    assert (len(page.choices), [hint.letter for hint in page.key_hints]) == (8, ["b"])


def test_a_rejection_is_taken_back_when_that_is_sure_or_as_what_undoes_it() -> None:
    world = World([order_row(1, is_rejected=True, status="rejected")])
    back = [{"order_number": "O1", "is_rejected": False}]
    hand = Hand("order_actions", {"orders": ["O1"], "kind": "reopen"}, world)
    assert (hand.at, bodies(hand)) == ("order_actions.confirm", [])
    assert bodies(hand.does(Choice(1))) == back
    assert bodies(Hand("order_actions", {"undo": [{"order": "O1", "kind": "reopen"}]}, world)) == back


def test_the_question_names_what_is_done_to_which_orders_and_for_whom() -> None:
    hand = Hand("order_actions", {"orders": ["O1", "O2"]}).does(Choice(2), Text("ben"))
    page = hand.job.view(hand.state)
    assert isinstance(page, Step)
    told = str(page.lines[0].text)
    assert "Ben Okafor" in told
    assert "O1" in told
    hand = Hand("order_actions", {"orders": ["O1", "O2"]}).does(Choice(3), Choice(1))
    page = hand.job.view(hand.state)
    assert isinstance(page, Step)
    assert "order_actions.reject" in str(page.lines[0].text)
    assert "quantity" not in [line.role for line in page.lines], "a figure that fills the screen says of what"


@pytest.mark.parametrize("page", ["order", "orders"])
def test_a_claim_that_was_outdone_by_a_later_one_is_told_to_who_made_it(page: str) -> None:
    act = Hand("order_actions", {"orders": ["O1"], "kind": "claim"}).does(Choice(1))
    (close,) = act.of(Close)
    hand = Hand(page, {"order_number": "O1"} if page == "order" else {})
    row = hand.world.orders[1]
    row.update(is_claimed=True, claimed_by="U9", claimed_name="Old Hand")
    hand.does(Closed("order_actions", close.answer))
    assert hand.told == "", "what was claimed is not written yet"
    row.update(claimed_by="U2", claimed_name="Ben Okafor")
    assert hand.does(Changed("outbox", "")).told == ""
    row.update(claimed_by="U6", claimed_name="Fred Harper")
    assert hand.does(Changed("order", "O1")).told == "pick.claimed_now"
    assert "Fred Harper" in str(hand.verdict)
    hand.verdict = None
    assert hand.does(Changed("order", "O1")).told == "", "once"


def test_order_in_no_batch_is_not_split_before_assignee_is_asked() -> None:
    hand = Hand("order_actions", {"orders": ["O1"], "kind": "split"})
    assert [close.verdict.text.id for close in hand.of(Close)] == ["order_actions.not_in_batch"]
    walked = World([order_row(1, picker="U3", picker_name="Carla Fernandes")])
    assert Hand("order_actions", {"orders": ["O1"], "kind": "split"}, walked).at == "order_actions.person"


def test_scan_is_no_reason_and_reason_is_shown_before_confirmation() -> None:
    hand = Hand("order_actions", {"orders": ["O1"], "kind": "reject"}).does(UnknownCode("96385074"))
    assert (hand.at, hand.told) == ("order_actions.reason", "order_actions.no_reason")
    page = hand.does(Text("asked for it")).job.view(hand.state)
    assert isinstance(page, Step)
    assert any("asked for it" in str(line.text) for line in page.lines)


@pytest.mark.parametrize(
    "said", [UnknownCode("96385074"), Text("yes please"), Command("d"), CursorKey("enter"), CursorKey("down")]
)
def test_other_inputs_at_confirmation_are_answered_without_effect(said: Event) -> None:
    for args, told in (
        ({"orders": ["O1"], "kind": "hand_over"}, "order_actions.only_yes_or_no"),
        ({"orders": ["O1"]}, "order_actions.not_usable_here"),
    ):
        hand = Hand("order_actions", args)
        hand.verdict = None
        assert hand.does(said).told == told
        assert hand.effects == []


@pytest.mark.parametrize("text", ["AISLE:1", "aisle:ok", "]C0AISLE:1"])
def test_a_printed_command_confirms_nothing(text: str) -> None:
    hand = Hand("order_actions", {"orders": ["O1"], "kind": "hand_over"})
    assert parse(text, hand.job.accepts(hand.state)) == RefusedInput("input.scan_not_accepted", text)
    assert parse("1", hand.job.accepts(hand.state)) == Choice(1)
    assert parse("AISLE:BACK", hand.job.accepts(hand.state)) == Back()


def test_handing_over_is_always_asked_about() -> None:
    hand = Hand("order_actions", {"orders": ["O1"], "kind": "hand_over"})
    assert hand.at == "order_actions.confirm"
    assert isinstance(hand.job.view(hand.state), Step)
    assert hand.does(Choice(2)).of(Close)
    assert bodies(Hand("order_actions", {"orders": ["O1"], "kind": "hand_over"}).does(Choice(1))) == [
        {"order_number": "O1", "is_active": False}
    ]


# Exceptions


def test_each_kind_opens_where_it_is_settled() -> None:
    hand = Hand("exceptions")
    assert hand.does(Choice(1)).of(Start) == [Start("unconfirmed", {})]
    assert hand.does(Choice(5)).of(Start)[0].job == "orders"
    assert hand.does(Choice(4), Choice(1)).of(Start) == [Start("order", {"order_number": "O0"})]
    hand.does(Back(), Choice(3), Choice(1))
    assert hand.of(Start)[0] == Start("count", {"location_code": "A-1", "product_number": "P1", "label": "Milk"})
    assert hand.does(Choice(2)).of(Start)[0].job == "order"
    hand.does(Back(), Command("n"), Choice(1), Choice(1))
    assert hand.of(Start)[0].job == "count"


def test_what_the_lists_do_not_speak_of_is_not_read_again() -> None:
    job, state = JOBS["exceptions"], Hand("exceptions").does(Choice(2)).state
    asked = [effect.name for effect in job.handle(state, Changed("log", ""), NOW).effects if isinstance(effect, Query)]
    assert asked == ["exceptions", "features", "differences"]
    for topic in ("location", "store", "surrounding"):
        assert job.handle(state, Changed(topic, ""), NOW).effects == (), topic


def test_differences_are_approved_at_service_and_locally() -> None:
    hand = Hand("exceptions").does(Choice(2), Command("a"), Command("e"))
    assert hand.at == "exceptions.many"
    hand.does(Choice(1))
    kept = {"900": False, "901": True, "902": True}
    assert {note.key: note.mirrors_write for note in hand.of(LocalNote)} == kept
    (write,) = hand.of(Write)
    assert write.operation == "review-logs"
    assert [each["id"] for each in write.body["reviews"]] == [901, 902], "of the first there is nothing to review"
    assert hand.verdict is not None
    assert (hand.told, dict(hand.verdict.text.args)) == ("exceptions.approved_on_host", {"count": 3, "here": 1})
    hand.does(Command("u"))
    assert hand.of(LocalNote) == [LocalNote("review", key, "", True, mirrors) for key, mirrors in kept.items()]
    (write,) = hand.of(Write)
    assert write.body["reviews"] == [{"id": 901, "review_status": 1}, {"id": 902, "review_status": 1}]
    assert hand.told == "exceptions.approval_undone"
    assert hand.does(Command("u")).effects == [], "once"


@pytest.mark.parametrize(("number", "kept"), [(1, False), (2, True)])
def test_a_difference_of_which_the_service_keeps_no_review_says_so(number: int, kept: bool) -> None:
    page = JOBS["exceptions"].view(Hand("exceptions").does(Choice(2), Choice(number)).state)
    assert isinstance(page, Step)
    assert ("exceptions.kept_on_host" in [line.text.id for line in page.lines]) is not kept
    done = Hand("exceptions").does(Choice(2), Choice(number), Choice(1))
    assert (done.told, len(done.of(Write))) == (
        ("exceptions.approved", 1) if kept else ("exceptions.approved_on_host", 0)
    )


@pytest.mark.parametrize(("letter", "review"), [("e", "approved"), ("r", "recount")])
@pytest.mark.parametrize("is_marked", [True, False])
def test_a_letter_asks_for_its_action_also_for_a_difference_that_is_not_marked(
    letter: str, review: str, is_marked: bool
) -> None:
    def asked() -> Hand:
        keys = (CursorKey("down"), *((CursorKey("mark"),) if is_marked else ()))
        return Hand("exceptions").does(Choice(2), *keys, Command(letter))

    hand = asked()
    view = hand.job.view(hand.state)
    assert isinstance(view, Step)
    many = "exceptions.approve_many" if letter == "e" else "exceptions.recount_many"
    assert (hand.at, view.lines[0].text, len(view.lines)) == ("exceptions.many", msg(many, count=1), 2)
    marked = hand.state.marked
    assert hand.does(Back()).state.marked == marked
    hand = asked().does(Choice(1))
    assert [(note.topic, note.text) for note in hand.of(LocalNote)][:1] == [("review", review)]
    assert len({note.key for note in hand.of(LocalNote) if note.topic == "review"}) == 1


def test_the_question_about_many_differences_says_quantities_and_money() -> None:
    hand = Hand("exceptions").does(Choice(2), Command("a"), Command("e"))
    view = hand.job.view(hand.state)
    assert isinstance(view, Step)
    assert [set(dict(line.text.args)) for line in view.lines[1:]] == [{"label", "difference", "value"}] * 3


def test_the_counts_fit_the_rows_at_once_after_an_approval() -> None:
    hand = Hand("exceptions").does(Choice(2))
    before = dict(hand.state.counts)["differences"]
    hand.does(Command("a"), Command("e"), Choice(1))
    assert (dict(hand.state.counts)["differences"], len(hand.state.rows)) == (max(0, before - 3), 0)


@pytest.mark.parametrize(("value", "sign"), [(3, "+"), (-3, "-"), (0, "±")])
def test_difference_and_value_have_consistent_sign(value: int, sign: str) -> None:
    hand = Hand("exceptions").does(Choice(2))
    row = {**hand.state.rows[1], "difference": Decimal(value), "value": Decimal(value), "known": True}
    page = hand.job.view(hand.state._replace(rows=(row,)))
    assert isinstance(page, ListView)
    _, difference, worth, *_ = page.rows[0].cells
    assert difference == msg("count.signed", sign=sign, value=abs(Decimal(value)))
    assert worth == msg("count.signed", sign=sign, value=msg("money", value=abs(Decimal(value))))


def test_marking_differences_names_the_letters_that_are_heard_there() -> None:
    hand = Hand("exceptions").does(Choice(2), Command("m"))
    assert hand.job.view(hand.state).prompt.id == "exceptions.prompt_marking"
    assert {"e", "r"} <= set(hand.job.accepts(hand.state).command_letters)


def test_one_difference_is_counted_again_by_somebody_or_here() -> None:
    hand = Hand("exceptions").does(Choice(2), Choice(1), Choice(2))
    assert hand.of(LocalNote) == [LocalNote("review", "900", "recount", needs_supervisor=True, mirrors_write=True)]
    assert hand.of(Write)[0].body == {"recounts": [{"log_id": 900}]}
    hand = Hand("exceptions").does(Choice(2), Rows("features", ({"features": []},), 1), Choice(1), Choice(2))
    assert LocalNote("recount", "P1/A-1", "Milk", needs_supervisor=True) in hand.of(LocalNote)
    assert hand.of(Write) == []
    hand = Hand("exceptions").does(Choice(2), Choice(1), Choice(3))
    assert hand.of(Start)[0].job == "count"
    hand = Hand("exceptions").does(Choice(2), Command("m"), Choice(1), Choice(2), Choice(1), Command("r"), Choice(1))
    assert [note.key for note in hand.of(LocalNote) if note.topic == "review"] == ["901"]


@pytest.mark.parametrize(
    ("kind", "start"),
    [
        ("excess_receipts", Start("deliveries", {"order_number": "D1", "is_alone": True})),
        ("entries_to_review", Start("log", {"key": "901"})),
        ("uncollected", Start("order", {"order_number": "O1"})),
    ],
)
def test_an_exception_opens_the_page_of_its_record(kind: str, start: Start) -> None:
    number = EXCEPTION_KINDS.index(kind) + 1
    hand = Hand("exceptions").does(Command("n"), Choice(number - 5), Choice(2))
    assert hand.of(Start) == [start]
    assert Hand(start.job, dict(start.args)).does(Back()).of(Close) == [Close()]


@pytest.mark.parametrize(("number", "told"), [(0, "excess.accepted_on_host"), (1, "excess.accepted")])
def test_accepted_excess_leaves_the_list_until_undone(number: int, told: str) -> None:
    hand = Hand("exceptions").does(Command("n"), Choice(2), Command("e"))
    assert (hand.told, hand.of(LocalNote)) == ("exceptions.choose_row", [])
    hand.state = hand.state._replace(cursor=number)
    for letter, text, status in (("e", "12", 2), ("u", "", 1)):
        hand.does(Command(letter))
        note = LocalNote("accepted_excess", f"D{number}/1", text, needs_supervisor=True, mirrors_write=number > 0)
        assert hand.of(LocalNote) == [note]
        bodies = [(write.operation, write.lanes, write.body) for write in hand.of(Write)]
        review = ("review-logs", ("log/77",), {"reviews": [{"id": 77, "review_status": status}]})
        assert bodies == [review] * number
        assert hand.told == (told if text else "excess.undone")
        assert len(hand.numbers) == (2 if text else 3)


@pytest.mark.parametrize("kind", ["at_service", "queued", "local"])
def test_a_recount_is_withdrawn_where_it_is_kept(kind: str) -> None:
    hand = Hand("exceptions").does(Command("n"), Choice(1))
    assert hand.at == "exceptions.recounts"
    hand.state = hand.state._replace(rows=tuple({**row, "kind": kind} for row in hand.state.rows), cursor=1)
    hand.does(Command("w"))
    gone = [LocalNote("recount", "P1/A-1", "", needs_supervisor=True, mirrors_write=kind == "at_service")]
    assert hand.of(LocalNote) == ([] if kind == "queued" else gone)
    bodies = [write.body["recounts"] for write in hand.of(Write)]
    assert bodies == ([[{"id": 901, "state": "withdrawn"}]] if kind == "at_service" else [])
    assert len(hand.numbers) == (3 if kind == "queued" else 2)
    assert hand.told == ("exceptions.recount_not_sent" if kind == "queued" else "exceptions.withdrawn")


def test_a_service_without_extensions_is_told_nothing() -> None:
    hand = Hand("exceptions").does(Choice(2), Rows("features", (), 0), Command("a"), Command("e"))
    hand.does(Rows("features", ({"features": []},), 1), Choice(1))
    assert hand.of(LocalNote)
    assert hand.of(Write) == []


# No sequence whatever

KINDS = (ORDER, REFERENCE, PRODUCT, LOCATION, PERSON)

EVENTS = st.one_of(
    st.integers(1, 12).map(Choice),
    st.sampled_from("nplufvmadkxer").map(Command),
    st.sampled_from(["up", "down", "pageup", "pagedown", "home", "end", "enter"]).map(CursorKey),
    st.sampled_from(["ben", "O1", "W1", "why not", "7"]).map(Text),
    st.sampled_from(["o", "ba", "12", ""]).map(TypedText),
    st.just(UnknownCode("123456789")),
    st.tuples(st.sampled_from(KINDS), st.sampled_from(["O1", "O5", "P1", "A-1", "U2"])).map(
        lambda said: Scan((Match(said[0], said[1], "", code=said[1]),))
    ),
    st.sampled_from([Changed("order", "O1"), Changed("outbox", ""), Changed("log", ""), Resumed(), Back()]),
    st.sampled_from(
        [
            Closed("order_actions", None),
            Closed("order_actions", {"undo": [{"order": "O1", "kind": "release"}]}),
            Closed("pick"),
        ]
    ),
)

OPENINGS: list[tuple[str, dict[str, Any]]] = [
    ("orders", {}),
    ("orders", {"filter": {"state": "to_pick", "due": "late"}}),
    ("order", {"order_number": "O1"}),
    ("order", {"order_number": "gone"}),
    ("order_actions", {"orders": ["O1", "O2", "O3", "O4", "O5", "O6"]}),
    ("order_actions", {"orders": ["O1"], "kind": "close_line", "line": 1, "label": "Milk"}),
    ("order_actions", {"undo": [{"order": "O1", "kind": "claim", "user": "U2"}, {"order": "gone", "kind": "reject"}]}),
    ("exceptions", {}),
]


@pytest.mark.parametrize("opening", OPENINGS, ids=lambda each: "-".join((each[0], *each[1])))
@given(events=st.lists(EVENTS, max_size=25), count=st.integers(0, 10))
@settings(max_examples=tries(25, 400), deadline=None)
def test_no_sequence_raises_or_leaves_a_page_without_a_way_back(
    opening: tuple[str, dict[str, Any]], events: list[Event], count: int
) -> None:
    hand = Hand(opening[0], opening[1], World([order_row(n) for n in range(count)]))
    for event in events:
        if hand.of(Close):
            return
        hand.does(event)
        assert hand.at
        open_ = hand.job.accepts(hand.state)
        view = hand.job.view(hand.state)
        assert {hint.letter for hint in view.key_hints} - {"b"} <= set(open_.command_letters) | {"n", "p"}
        assert any(hint.letter == "b" for hint in view.key_hints)
    for _ in range(8):
        if hand.of(Close):
            return
        hand.does(Back())
    assert hand.of(Close), f"no way out of {hand.at}"


def test_a_scan_never_confirms_and_goes_on_to_its_meaning() -> None:
    hand = Hand(
        "order_actions", {"orders": ["O1"], "kind": "hand_over"}, World([order_row(1, status="picked", is_picked=True)])
    )
    assert hand.job.step_name(hand.state) == "order_actions.confirm"
    scan = Scan((Match(ORDER, "O2", "O2", code="1"),))
    hand.does(scan)
    (close,) = (effect for effect in hand.effects if isinstance(effect, Close))
    assert close.event_for_below == scan


@pytest.mark.parametrize(
    ("job", "args", "events", "kind", "refusal"),
    [
        ("order_actions", {"orders": ["O1"], "kind": "hand_over"}, (), ORDER, "order_actions.only_yes_or_no"),
        ("exceptions", {}, (Choice(2), Command("a"), Command("r")), PRODUCT, "count.answer_first"),
        ("exceptions", {}, (Choice(2), Command("a"), Command("r")), LOCATION, "count.answer_first"),
    ],
)
def test_a_scan_leaves_the_question(
    job: str, args: dict[str, Any], events: tuple[Event, ...], kind: str, refusal: str
) -> None:
    hand = Hand(job, args, World([order_row(1, status="picked", is_picked=True)])).does(*events)
    before = hand.state
    hand.does(Scan((Match(kind, "O1", "O1", code="O1"),)))
    assert (hand.told, hand.state) == (refusal, before)


class CountedAgain(World):
    """The second difference is settled since it was opened, or listed on another page."""

    superseded_at: str | None = None
    is_on_page = True

    def answer(self, query: Query) -> Rows:
        answer = super().answer(query)
        if query.name == "differences" and (self.superseded_at is not None or not self.is_on_page):
            found = [row for row in answer.rows if row["key"] == "901"] if query.args.get("keys") else []
            others = [] if query.args.get("keys") else [row for row in answer.rows if row["key"] != "901"]
            return answer._replace(rows=(*others, *(found if self.superseded_at is None else [])))
        if query.name == "log":
            return Rows(query.id, (log_row(query.args["key"], MOMENT, superseded_at=self.superseded_at or ""),), 1)
        return answer


def opened_difference(world: World) -> Hand:
    hand = Hand("exceptions", world=world).does(Choice(2), Choice(2))
    assert hand.at == "exceptions.one"
    hand.verdict = None
    return hand


@pytest.mark.parametrize("superseded_at", ["", "2026-11-20T09:31:00Z"])
def test_open_difference_that_is_settled_stays_on_the_screen_and_takes_nothing(superseded_at: str) -> None:
    """A number typed for it would otherwise open another one, and approve that."""
    world = CountedAgain()
    hand = opened_difference(world)
    world.superseded_at = superseded_at
    hand.does(Changed("log", ""))
    assert hand.told == ("log.superseded" if superseded_at else "unconfirmed.resolved_meanwhile")
    before = hand.state
    for number in (1, 2, 3):
        hand.does(Choice(number))
    assert (hand.at, hand.state) == ("exceptions.one", before)
    assert not hand.of(Write)
    assert not hand.job.accepts(hand.state).choices
    hand.verdict = None
    hand.does(Changed("log", ""))
    assert hand.verdict is None, "it is told once"
    assert hand.does(Back()).at == "exceptions.differences"


@pytest.mark.parametrize("number", [1, 2])
def test_difference_that_was_settled_while_a_pin_was_asked_for_takes_nothing(number: int) -> None:
    """The page of the PIN hides this one from changes, and gives the answer to it afterwards."""
    world = CountedAgain()
    hand = opened_difference(world)
    world.superseded_at = ""
    hand.does(Choice(number))
    assert (hand.at, hand.told) == ("exceptions.one", "unconfirmed.resolved_meanwhile")
    assert not hand.of(Write)


def test_open_difference_whose_settlement_is_undone_is_to_be_decided_again() -> None:
    world = CountedAgain()
    hand = opened_difference(world)
    world.superseded_at = "2026-11-20T09:31:00Z"
    hand.does(Changed("log", ""))
    world.superseded_at = None
    hand.does(Changed("log", ""), Choice(1))
    assert hand.told.startswith("exceptions.approved")


def test_open_difference_that_others_push_off_the_page_is_still_to_be_decided() -> None:
    world = CountedAgain()
    hand = opened_difference(world)
    world.is_on_page = False
    hand.does(Changed("log", ""))
    assert (hand.at, hand.verdict) == ("exceptions.one", None)
    hand.does(Choice(1))
    assert hand.told.startswith("exceptions.approved")
    (write,) = hand.of(Write)
    assert [each["id"] for each in write.body["reviews"]] == [901]
