"""The page of the store's log by itself: no terminal, no file, no network."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from aisle import named_tuple_json
from aisle.jobs.job import (
    Changed,
    Close,
    Closed,
    Context,
    Event,
    Export,
    Opened,
    Query,
    Refresh,
    Resumed,
    Rows,
    Start,
    Write,
)
from aisle.jobs.supervisor.log_job import EXPORT_COLUMNS, LogJob
from aisle.jobs.supervisor.log_list import FILTER_FIELDS, LogFilter, LogState, filter_values, query_arguments
from aisle.jobs.view import Chart, DetailView, ListView, Step, Verdict, msg, raw
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
    Scan,
    Text,
    TypedText,
    UnknownCode,
)
from aisle.scan.inputs_and_line_grouping import CHIP_KEY
from aisle.service.domain import orders
from aisle.settings.setting_definitions import LANGUAGES
from aisle.tui.message_text import MessageWriter
from tests.jobs.test_move_sequences import complete
from tests.run_length import tries
from tests.samples.log import log_row

CONTEXT = Context(store="0001", user="ann", now="2026-11-20T10:00:00Z")
WALKS, STEPS, REACHED = tries(35, 520), 30, tries(4, 100)

Row = dict[str, Any]


def row(number: int) -> Row:
    """An entry as the read has it."""
    return {
        **log_row(str(number), f"2026-11-{20 - number % 9:02}T09:00:00Z"),
        "product_number": f"P{number % 3}",
        "description": f"Product {number % 3}",
        "app_user_name": "ann" if number % 2 else "ben",
        "difference": Decimal(-number),
        "counted_quantity": Decimal(3) if number == 4 else None,
        "expected_quantity": Decimal(7) if number == 4 else None,
        "reason_code": 1 if number < 3 else None,
        "review_status": str(number % 3),
        "source": "count",
        "work": "count",
    }


class Hand:
    """Somebody at the log, with thirty entries."""

    def __init__(self, **args: Any) -> None:
        self.job = LogJob()
        self.state: LogState = self.job.begin()
        self.asked: list[Mapping[str, Any]] = []
        self.effects: list[Any] = []
        self.verdicts: list[Verdict] = []
        self.named: list[str] = []
        self.why = self.no = ""
        self.feed(Opened(args))

    def answer(self, query: Query | Export) -> Rows:
        """As the session does."""
        if isinstance(query, Export):
            return Rows(query.id, ({"file": query.file, "count": 30, "why": self.why},), 1)
        if query.name == "file":
            self.named.append(query.args["file"])
            return Rows(query.id, ({"file": f"/home/ann/{query.args['file']}", "count": 0, "why": self.no},), 1)
        rows = [row(number) for number in range(1, 31)]
        if query.name == "log" and query.args.get("key"):
            rows = [each for each in rows if each["key"] == query.args["key"]]
        elif query.name == "log":
            self.asked.append(query.args)
            rows = [each for each in rows if query.args["product_number"] in ("", each["product_number"])]
        elif query.name == "losses":
            weeks = [Decimal(0), Decimal(3)]
            rows = [{"reason_code": "1", "description": "", "weeks": weeks, "total": Decimal(3)}]
        elif query.name == "people":
            rows = [{"user": "U2", "name": "Ann", "is_badge": False}]
        elif query.name == "features":
            rows = [{"features": ()}]
        else:
            rows = [{"reason_code": 77, "reason_code_description": "Mice", "adds": False}]
        first, size = int(query.args.get("first") or 0), int(query.args.get("size") or 99)
        return Rows(query.id, tuple(rows[first : first + size]), len(rows))

    def feed(self, event: Event) -> str:
        """One event and its answers; the last verdict."""
        self.effects = []
        queue: deque[Event] = deque([event])
        while queue:
            turn = self.job.handle(self.state, queue.popleft(), CONTEXT)
            self.state = turn.state
            self.verdicts += [turn.verdict] if turn.verdict else []
            for effect in turn.effects:
                self.effects.append(effect)
                if isinstance(effect, Query | Export):
                    queue.append(self.answer(effect))
        return self.verdicts[-1].text.id if self.verdicts else ""

    @property
    def view(self) -> Any:
        """The page."""
        return self.job.view(self.state)


def test_it_opens_with_the_last_week_and_asks_for_new_entries_and_losses() -> None:
    hand = Hand()
    assert hand.asked[-1]["since"].startswith("2026-11-13T00:00:00")
    wishes = [effect for effect in hand.effects if isinstance(effect, Refresh)]
    assert wishes == [Refresh("logs"), Refresh("logs", "losses/1,2,3,4,5")]
    assert hand.view.total == 30


@pytest.mark.parametrize(("period", "since"), [("month", "10-13T00:00:00+02:00"), ("week", "11-03T00:00:00+01:00")])
def test_period_begins_with_a_day_of_the_store_across_a_clock_change(
    in_zone: Callable[[str], None], period: str, since: str
) -> None:
    in_zone("Europe/Amsterdam")
    assert query_arguments(LogFilter(period=period), "2026-11-10T12:00:00Z")["since"] == f"2026-{since}"


def test_each_part_of_the_filter_is_chosen_typed_or_scanned() -> None:
    said: dict[str, Event] = {
        "period": Choice(4),
        "reason": Choice(2),
        "review": Choice(2),
        "product": Scan((Match(PRODUCT, "P1", "Product 1"),)),
        "user": Choice(2),
        "reference": Text("PO-77"),
        "source": Choice(3),
        "ids": UnknownCode("4-9"),
        "location": Scan((Match(LOCATION, "A1", "A1"),)),
    }
    hand = Hand()
    for number, field in enumerate(FILTER_FIELDS, 1):
        hand.feed(Command("f"))
        assert hand.job.step_name(hand.state) == "log.filter"
        hand.feed(Choice(number))
        assert (hand.job.step_name(hand.state), hand.state.field) == ("log.value", field)
        assert hand.feed(said[field]) in (
            "log.filtered",
            "log.filtered_several",
            "log.unfiltered",
            "log.narrowed_filtered",
        )
        assert any(isinstance(effect, Refresh) for effect in hand.effects)
    assert hand.state.filter == LogFilter("weeks", "1", "1", "P1", "ann", "PO-77", "change", "4-9", "A1")
    args = hand.asked[-1]
    assert (args["reason_code"], args["review_status"], args["from_id"], args["to_id"]) == ("1", "1", "4", "9")
    assert Refresh("logs", "since/2026-09-25") in hand.effects
    hand.feed(Command("f"))
    assert hand.feed(Command("x")) == "log.unfiltered"
    assert hand.state.filter == LogFilter()


@pytest.mark.parametrize("kind", [ORDER, PRODUCT, LOCATION, PERSON])
def test_whatever_is_said_where_a_reference_is_asked_is_one(kind: str) -> None:
    hand = Hand()
    hand.feed(Command("f"))
    hand.feed(Choice(1 + FILTER_FIELDS.index("reference")))
    assert hand.feed(Scan((Match(kind, "4113", code="W58444"),))) == "log.filtered"
    assert (hand.state.filter, hand.asked[-1]["reference"]) == (LogFilter(reference="W58444"), "W58444")


def test_the_number_of_an_order_is_one_of_an_entry_where_that_is_asked() -> None:
    hand = Hand()
    hand.feed(Command("f"))
    hand.feed(Choice(1 + FILTER_FIELDS.index("ids")))
    assert hand.feed(Scan((Match(ORDER, "4113", code="W58444"),))) == "page.not_this"
    assert hand.feed(Scan((Match(ORDER, "4113", code="4113"),))) == "log.filtered"
    assert hand.state.filter == LogFilter(ids="4113")


def test_each_source_that_our_service_writes_of_a_line_can_be_chosen() -> None:
    assert {orders.SHORTAGE_SOURCE, orders.REJECTION_SOURCE} <= set(filter_values("source", ()))


def test_forbidden_export_is_reported_before_asking_file_name() -> None:
    hand = Hand()
    hand.no = "log.files_forbidden"
    assert hand.feed(Command("e")) == "log.not_exported"
    assert hand.job.step_name(hand.state) == "log"


def test_a_file_is_named_and_what_became_of_it_is_said() -> None:
    hand = Hand()
    hand.feed(Command("e"))
    hand.no = "log.file_exists"
    assert hand.feed(Text("mine.csv")) == "log.not_exported"
    assert hand.job.step_name(hand.state) == "log.export"
    hand.no = ""
    hand.feed(Choice(1))
    assert hand.job.step_name(hand.state) == "log.confirm"
    assert [dict(line.text.args)["text"] for line in hand.view.lines] == ["/home/ann/aisle-log-2026-11-20.csv"]
    assert not [effect for effect in hand.effects if isinstance(effect, Export)], "nothing before somebody said so"
    hand.why = "log.why_full"
    assert hand.feed(Choice(1)) == "log.not_exported"
    assert hand.job.step_name(hand.state) == "log.export"
    hand.why = ""
    hand.feed(Choice(1))
    assert hand.feed(Choice(1)) == "list.exported"
    (asked,) = [effect for effect in hand.effects if isinstance(effect, Export)]
    assert (asked.file, asked.name, asked.columns) == ("/home/ann/aisle-log-2026-11-20.csv", "log", EXPORT_COLUMNS)
    assert "first" not in asked.args
    assert hand.job.step_name(hand.state) == "log"


def test_what_is_no_name_of_a_file_becomes_none() -> None:
    hand = Hand()
    hand.feed(Command("e"))
    hand.named.clear()
    for text in ("g", "ab", "4", "4006381333931", "a1b2", "-"):
        assert hand.feed(Text(text)) == "log.no_name", text
    assert hand.named == []
    for text in ("log", "a.b", "./g", "~/g", "été", " week 7 "):
        hand.feed(Text(text))
        assert hand.job.step_name(hand.state) == "log.confirm", text
        hand.feed(Back())
        assert hand.job.step_name(hand.state) == "log.export"
    assert hand.named == ["log", "a.b", "./g", "~/g", "été", "week 7"]


def test_an_entry_is_shown_whole_and_losses_as_bars() -> None:
    hand = Hand()
    hand.feed(Choice(4))
    assert isinstance(hand.view, DetailView)
    assert ("number", Decimal(7)) in [(cell.id, dict(cell.args).get("value")) for _, cell in hand.view.blocks[0].rows]
    labels = {label.id for label, _ in hand.view.blocks[0].rows}
    assert "unconfirmed.head_user" in labels
    assert "head.user" not in labels, "who picked has counted nothing"
    hand.feed(Command("e"))
    assert hand.effects == [Start("store_product", {"product_number": "P1"})]
    hand.feed(Back())
    hand.feed(Command("g"))
    assert isinstance(hand.view, Chart)
    assert hand.view.series[0].values == (Decimal(0), Decimal(3))
    assert len(hand.view.axis) == 2


def test_a_place_that_is_scanned_is_looked_for() -> None:
    hand = Hand()
    hand.feed(Command("f"))
    assert hand.feed(Scan((Match(LOCATION, "A1", "A1"),))) == "log.filtered"
    assert (hand.state.phase, hand.asked[-1]["location_code"]) == ("list", "A1")
    hand.feed(Back())
    assert hand.asked[-1]["location_code"] == ""


@pytest.mark.parametrize(
    ("search", "kept"), [(UnknownCode("9520009999990"), ""), (Text("ABC-123"), ""), (Text("mice"), "mice")]
)
@pytest.mark.parametrize(("kind", "field"), [(PRODUCT, "product"), (LOCATION, "location")])
def test_a_scan_takes_the_place_of_an_unknown_one(search: Event, kept: str, kind: str, field: str) -> None:
    hand = Hand()
    hand.feed(search)
    hand.feed(Scan((Match(kind, "P1", "P1"),)))
    assert (hand.state.search, hand.state.filter.value(field)) == (kept, "P1")


def test_what_narrows_the_log_is_in_its_title_for_as_long_as_it_does() -> None:
    hand = Hand()
    hand.feed(Scan((Match(LOCATION, "A1", "A1"),)))
    assert hand.view.title == msg("log.filtered", period=msg("log.week"), filter=raw("A1"))
    hand.feed(Command("f"))
    assert hand.view.lines[0].text.id == "log.filtered"
    assert hand.view.choices[8] == msg("pair", name=msg("head.location"), value=raw("A1"))
    hand.feed(Back())
    hand.feed(Choice(1))
    hand.feed(Resumed())
    hand.feed(Back())
    assert hand.view.title.id == "log.filtered"
    hand.feed(Text("mature"))
    narrowed = msg("orders.join", one=raw("A1"), other=raw("mature"))
    assert hand.view.title == msg("log.filtered", period=msg("log.week"), filter=narrowed)
    hand.feed(Scan((Match(PRODUCT, "P1", "P1"),)))
    named = msg("pair", name=msg("head.product"), value=raw("P1"))
    week = msg("log.week")
    assert hand.view.title == msg("log.narrowed_filtered", what=narrowed, filter=named, period=week, count=1)
    hand.feed(Command("f"))
    hand.feed(Command("x"))
    assert hand.view.title.id == "log.unfiltered"


def test_what_has_no_entries_is_named_with_its_place() -> None:
    hand = Hand()
    hand.feed(Scan((Match(LOCATION, "A1", "A1"),)))
    hand.feed(Rows("log", (), 0))
    assert hand.view.empty == msg("look_up.no_match", text="A1")
    hand.feed(Text("mature"))
    hand.feed(Rows("log", (), 0))
    assert hand.view.empty == msg("look_up.no_match", text="A1 mature")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("events", [(), (Scan((Match(PRODUCT, "42526", "42526"),)),)])
def test_handheld_title_keeps_location_and_text_whole(language: str, events: tuple[Event, ...]) -> None:
    hand = Hand()
    for event in (Scan((Match(LOCATION, "A-01-12", "A-01-12"),)), *events):
        hand.feed(event)
    writer = MessageWriter(language=language)
    assert "A-01-12" in writer.fit_line(hand.view.title, 11)
    hand.feed(Text("cola"))
    assert "A-01-12, cola" in writer.fit_line(hand.view.title, 16)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("cells", [20, 40, 80])
@pytest.mark.parametrize(("kind", "value"), [(PRODUCT, "42526"), (PERSON, "U42526")])
def test_the_title_names_the_filter_that_a_scan_sets(kind: str, value: str, cells: int, language: str) -> None:
    hand = Hand()
    hand.feed(Scan((Match(kind, value, value, code=value),)))
    assert hand.verdicts
    writer = MessageWriter(language=language)
    for shown in (hand.view.title, hand.verdicts[-1].text):
        assert value in writer.fit_line(shown, cells)


def test_several_filters_are_named_where_there_is_room() -> None:
    hand = Hand()
    hand.feed(Scan((Match(PRODUCT, "42526", "Tea", code="42526"),)))
    hand.feed(Scan((Match(PERSON, "U2", "Ann", code="U2"),)))
    assert MessageWriter().fit_line(hand.verdicts[-1].text, 20) == "Log: Who: Ann"
    assert MessageWriter().fit_line(hand.view.title, 80) == "Log: Product: 42526, Who: Ann, 7 days"
    assert MessageWriter().fit_line(hand.view.title, 20) == "2 filters"


def test_a_place_is_a_part_of_the_filter_that_is_typed_too() -> None:
    hand = Hand()
    hand.feed(Command("f"))
    hand.feed(Choice(9))
    assert hand.job.prefers(hand.state)[0] == LOCATION
    hand.feed(Text("A-0"))
    assert (hand.state.phase, hand.asked[-1]["location_code"]) == ("list", "A-0")


def test_a_log_that_is_not_all_here_says_so() -> None:
    hand = Hand()
    assert not hand.view.may_have_more
    hand.feed(Rows("log", (row(1),), 1, may_have_more=True))
    assert hand.view.may_have_more
    hand.feed(Rows("log", (), 0, may_have_more=True))
    assert (hand.view.may_have_more, hand.view.empty.id) == (True, "log.older_loading")
    hand.feed(Rows("log", (), 0))
    assert (hand.view.may_have_more, hand.view.empty.id) == (False, "list.empty")
    hand.feed(Changed("log", ""))
    assert not hand.view.may_have_more


def test_back_clears_the_filter_before_it_leaves() -> None:
    hand = Hand(product_number="P1")
    assert hand.view.total == 10
    assert hand.feed(Back()) == "log.unfiltered"
    assert hand.view.total == 30
    hand.feed(Back())
    assert isinstance(hand.effects[-1], Close)


def an_event(random: Random, hand: Hand) -> Event:
    """What somebody might do next."""
    open_ = hand.job.accepts(hand.state)
    if open_.choices and random.random() < 0.3:
        return Choice(random.randint(1, open_.choices))
    things = [Scan((Match(kind, "P1", "P1"),)) for kind in (PRODUCT, PERSON, LOCATION, LOCATION, ORDER)]
    events: list[Event] = [
        *(Command(letter) for letter in open_.command_letters * 2),
        *(CursorKey(key) for key in ("down", "enter", "pagedown", "end")),
        *(TypedText("pro"), Text("words"), UnknownCode("999"), UnknownCode("4-9"), Back(), Back(), Choice(9)),
        *(Resumed(), Closed("look_up"), Changed("log", ""), Changed("outbox", ""), random.choice(things)),
    ]
    return random.choice(events)


def test_no_walk_raises_or_stands_without_a_way_and_all_is_met_often() -> None:
    random, seen = Random(20261120), Counter[str]()
    for walk in range(WALKS):
        hand, script = Hand(), list[Event]()
        for step in range(STEPS):
            if not script and hand.state.phase == "list" and random.random() < 0.12:
                scripts: list[list[Event]] = [[Command("f"), Choice(8), Text("words")]]
                scripts += [[Command("e"), Text("g"), Choice(1), Choice(1)]] * 2
                script = random.choice(scripts).copy()
            count = len(hand.verdicts)
            hand.why, hand.no = random.choice(["", "log.why_full"]), random.choice(["", "log.too_many_rows"])
            hand.feed(script.pop(0) if script else an_event(random, hand))
            view, open_ = hand.view, hand.job.accepts(hand.state)
            assert view.name == hand.job.step_name(hand.state)
            assert (view.numbered_rows if isinstance(view, ListView) else len(view.choices)) == open_.choices
            assert all(hint.letter == "b" or hint.letter in open_.command_letters for hint in view.key_hints)
            assert all(complete(verdict.text) for verdict in hand.verdicts[count:])
            seen.update([view.name, *(verdict.text.id for verdict in hand.verdicts[count:])])
            if (walk + step) % 7 == 0:
                said = [view.title, view.prompt, *view.choices]
                said += [line.text for line in view.lines] if isinstance(view, Step | Chart) else []
                assert all(complete(message) for message in said)
                assert named_tuple_json.from_text(LogState, named_tuple_json.to_text(hand.state)) == hand.state
            if any(isinstance(effect, Close) for effect in hand.effects):
                break
        for _ in range(5):
            hand.feed(Back())
        assert isinstance(hand.effects[-1], Close)
    wanted = {*LogJob.steps, "log.filtered", "log.unfiltered", "list.exported", "log.not_exported", "log.no_name"}
    wanted |= {"page.not_this", "today.unknown", "log.no_range"}
    assert {id_: seen[id_] for id_ in wanted if seen[id_] < REACHED} == {}


def test_log_row_shows_who_why_when_and_what() -> None:
    said = {**row(1), "reason_code": None, "user_name": "Ann Berg", "reference": "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
    rows = (
        {**said, "key": "9", "at": "2026-11-20T09:00:00Z", "source": "aisle/2", "work": "aisle"},
        {**said, "key": "8", "source": "aisle", "work": "movement", "reference": "undo-7"},
        {**said, "key": "5", "source": "aisle", "work": "aisle", "reference": "undo-6"},
        {**said, "key": "7", "source": "aisle", "counted_quantity": Decimal(3), "customer_order_number": "4106"},
        {**said, "key": "6", "source": "till", "work": "till", "reference": "D900"},
    )
    hand = Hand()
    hand.state = hand.job.handle(hand.state, Rows("log", rows, 5), CONTEXT).state
    view = hand.job.view(hand.state)
    assert isinstance(view, ListView)
    cells = [each.cells for each in view.rows]
    assert [each[2].id for each in cells] == [
        *("log.kind_aisle", "log.kind_movement", "log.kind_undo", "log.kind_count", "raw")
    ]
    assert [each[3].id for each in cells] == ["log.at_time", *(["moment"] * 4)]
    assert {dict(each[4].args)["text"] for each in cells} == {"Ann Berg"}
    assert [dict(each[6].args)["text"] for each in cells] == ["", "", "", "4106", "D900"]


def test_an_entry_of_last_evening_has_its_day_in_the_time_of_this_host(in_zone: Callable[[str], None]) -> None:
    in_zone("EST5")
    rows = ({**row(1), "at": "2026-11-20T00:30:00Z"}, {**row(2), "at": "2026-11-20T05:30:00Z"})
    hand = Hand()
    hand.state = hand.job.handle(hand.state, Rows("log", rows, 2), CONTEXT).state
    view = hand.job.view(hand.state)
    assert isinstance(view, ListView)
    assert [each.cells[3].id for each in view.rows] == ["moment", "log.at_time"]


def test_an_entry_to_review_is_marked_as_reviewed() -> None:
    job, desk = LogJob(), CONTEXT._replace(is_desk=True)
    entry = {**log_row("7", "2026-11-20T09:00:00Z"), "review_status": "1"}
    state = job.handle(job.begin(), Rows("entry", (entry,), 1), desk).state
    assert "r" not in job.accepts(state).command_letters, "the service keeps no reviews"
    state = job.handle(state, Rows("features", ({"features": ("reviews",)},), 1), desk).state
    turn = job.handle(state, Command("r"), desk)
    (write,) = turn.effects
    assert isinstance(write, Write)
    assert (write.operation, write.body, write.needs_supervisor) == (
        "review-logs",
        {"reviews": [{"id": 7, "review_status": 2}]},
        True,
    )
    again = job.handle(turn.state, Rows("entry", (entry,), 1), desk).state
    assert "r" not in job.accepts(again).command_letters, "the cache does not know it yet"


def test_a_desk_has_one_export() -> None:
    job = LogJob()
    letters = [
        job.accepts(job.handle(job.begin(), Opened({}), CONTEXT._replace(is_desk=is_desk)).state).command_letters
        for is_desk in (False, True)
    ]
    assert [("e" in each, "x" in each) for each in letters] == [(True, False), (False, True)]


def test_a_chip_leaves_the_entries_of_one_person() -> None:
    job, desk = LogJob(), CONTEXT._replace(is_desk=True)
    people = [{"user": "ben", "name": "Ben", "count": 4}]
    sums: dict[str, Any] = {"lost": Decimal(0), "value": Decimal(0), "unpriced": Decimal(0), "counts": {"": 30}}
    sums |= {"to_review": 2, "everybody": 30, "people": people}
    state = job.handle(job.handle(job.begin(), Opened({}), desk).state, Rows("log_sums", (sums,), 1), desk).state
    view = job.view(state)
    assert isinstance(view, ListView)
    assert [(chip.text, chip.total) for chip in view.chips[-2:]] == [(msg("log.everybody"), 30), (raw("Ben"), 4)]
    turn = job.handle(state, CursorKey(f"{CHIP_KEY}{len(view.chips) - 1}"), desk)
    assert turn.state.filter.user == "ben"
    view = job.view(turn.state)
    assert isinstance(view, ListView)
    assert [at for at, chip in enumerate(view.chips) if chip.is_active] == [0, len(view.chips) - 1]


@pytest.mark.parametrize(
    ("superseded_at", "when"), [("2026-11-20T09:31:00Z", "log.at_time"), ("2026-11-22T09:31:00Z", "moment"), ("", None)]
)
def test_superseded_count_names_the_count_that_is_used(superseded_at: str, when: str | None) -> None:
    hand = Hand(key="4")
    assert hand.state.entry is not None
    state = hand.state._replace(entry={**hand.state.entry, "superseded_at": superseded_at})
    page = hand.job.view(state)
    assert isinstance(page, DetailView)
    notes = [line.text for line in page.lines if line.role == "note"]
    assert notes == ([msg("log.superseded", at=msg(when, at=superseded_at))] if when else [])
