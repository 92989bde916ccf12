"""State and screens of the log."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

from aisle.jobs import pages
from aisle.jobs.adjust_state import Reason
from aisle.jobs.count.count_state import LOG_SOURCE
from aisle.jobs.product_page import store_day
from aisle.jobs.supervisor.log_filter import FILTER_FIELDS, TYPED_FIELDS, LogFilter, filter_values
from aisle.jobs.view import (
    BACK,
    PAGE_HINTS,
    Block,
    Chart,
    DetailView,
    KeyHint,
    Line,
    ListView,
    Msg,
    Row,
    Series,
    Step,
    View,
    msg,
    number_message,
    raw,
    signed_message,
)
from aisle.undo_reference import UNDO_PREFIX


class LogEntry(NamedTuple):
    """Entry of the log."""

    key: str
    at: str = ""
    user: str = ""
    product: str = ""
    label: str = ""
    location: str = ""
    pool: str = ""
    change: Decimal | None = Decimal(0)
    """Change of the stock; None if unknown."""
    counted: Decimal | None = None
    expected: Decimal | None = None
    reason: str = ""
    source: str = ""
    reference: str = ""
    order: str = ""
    review_status: str = ""
    user_name: str = ""
    """Name of `user`, if known."""
    activity: str = ""
    """Activity, in the vocabulary of sources. Entries sent by aisle have `aisle` as their `source`."""


class LossSeries(NamedTuple):
    """Losses for one reason, week by week."""

    reason: str
    weeks: tuple[Decimal, ...]
    total: Decimal


class LogState(NamedTuple):
    """State of the window on the log and of the pages over it."""

    phase: str = "list"
    """`list`, `entry`, `filter`, `value`, `export`, `sure` or `losses`."""
    filter: LogFilter = LogFilter()
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[LogEntry, ...] = ()
    total: int = 0
    is_loading_older: bool = False
    """True while requested older entries have not come yet."""
    entry: LogEntry | None = None
    field: str = ""
    """Filter field that is being edited."""
    reasons: tuple[Reason, ...] = ()
    losses: tuple[LossSeries, ...] = ()
    page: int = 0
    today: str = ""
    """Date of today, for the file name."""
    file_path: str = ""
    """Whole path of the file to write."""


FIELD_NAMES = {
    "period": "logs.of_days",
    "reason": "logs.of_reason",
    "review": "logs.of_review",
    "product": "logs.of_product",
    "user": "logs.of_user",
    "reference": "logs.of_reference",
    "source": "logs.of_source",
    "ids": "logs.of_ids",
    "location": "logs.of_place",
}
"""Names of the filter fields, with their values."""

PERIOD_NAMES = {
    "today": "logs.today",
    "week": "logs.week",
    "month": "logs.month",
    "weeks": "logs.weeks",
    "year": "logs.year",
}
REVIEW_NAMES = {"1": "logs.to_review", "2": "logs.reviewed", "0": "logs.not_to_review"}
"""Names of the review states."""

NARROWED_TITLES = {
    (True, False): ("logs.placed", "logs.placed_filtered"),
    (False, True): ("logs.narrowed", "logs.narrowed_filtered"),
    (True, True): ("logs.both", "logs.both_filtered"),
}
"""Titles of a log narrowed by (location, words), without and with other filter fields."""

MIN_FILE_NAME_LETTERS = 3
"""Letters from which a word may be a file name. A shorter word needs a `.` or `/`."""

SOURCE_NAMES = {
    "count": "logs.kind_count",
    "change": "logs.kind_change",
    "receipt": "logs.kind_receipt",
    "movement": "logs.kind_movement",
    "pick": "logs.kind_pick",
    "unpick": "logs.kind_unpick",
    "short": "logs.kind_short",
    "rejected": "logs.kind_rejected",
    "in_hand": "logs.kind_in_hand",
    "finish": "logs.kind_finish",
    "late": "logs.kind_late",
    "opening": "logs.kind_opening",
    LOG_SOURCE: "logs.kind_aisle",
}
"""Names of the entries of each source."""

GENERATED_REFERENCE = re.compile(
    rf"(?s){UNDO_PREFIX}.*|[A-Z2-7]{{26}}|(?i:[0-9a-f]{{8}}(?:-?[0-9a-f]{{4}}){{3}}-?[0-9a-f]{{12}})"
)
"""Pattern of references that a program generated. A list does not show them, because they mean nothing to people."""

FILES_FORBIDDEN = "logs.why_here"
"""Reason given for every file if the session writes none: in a browser and in a kiosk."""


def page_view(state: LogState) -> View:
    """Return the screen of the open page."""
    match state.phase:
        case "entry" if state.entry:
            return _entry_view(state, state.entry)
        case "filter" | "value" | "export" | "sure":
            return _question_step(state)
        case "losses":
            return _losses_view(state)
    return _list_view(state)


def page_choices(state: LogState) -> tuple[Msg, ...]:
    """Return the numbered choices of the page, if any."""
    match state.phase:
        case "filter":
            return tuple(msg(FIELD_NAMES[field], value=_field_value(state, field)) for field in FILTER_FIELDS)
        case "value":
            return _value_choices(state)
        case "export":
            return (msg("logs.file", file=file_name(state)),)
        case "sure":
            return (msg("logs.write"),)
    return ()


def file_name(state: LogState) -> str:
    """Return the default file name."""
    return f"aisle-log-{state.today}.csv"


def is_file_name(text: str) -> bool:
    """Return True if the text looks like a file name."""
    return "." in text or "/" in text or sum(letter.isalpha() for letter in text) >= MIN_FILE_NAME_LETTERS


def filter_text(state: LogState) -> Msg:
    """Return the filter in one line. Location and words are part of it as long as they narrow the list."""
    others, period = state.filter.active_count, msg(PERIOD_NAMES[state.filter.period])
    place, search = state.filter.location, state.search
    if place or search:
        id_ = NARROWED_TITLES[bool(place), bool(search)][bool(others)]
        return msg(id_, place=place, what=search, period=period, count=others)
    return msg("logs.filtered", period=period, count=others) if others else msg("logs.unfiltered", period=period)


def _narrowing_text(state: LogState, search: str) -> str:
    """Return the location and the words that narrow the list."""
    return " ".join(each for each in (state.filter.location, search) if each)


def _field_value(state: LogState, field: str) -> Msg:
    """Return the value of a filter field in words."""
    value = str(getattr(state.filter, field))
    return _value_name(state, field, value)


def _value_name(state: LogState, field: str, value: str) -> Msg:
    if field == "period":
        return msg(PERIOD_NAMES[value])
    if not value:
        return msg("logs.any")
    if field == "review":
        return msg(REVIEW_NAMES.get(value, "logs.not_to_review"))
    if field == "reason":
        return raw(next((each.text for each in state.reasons if str(each.code) == value), value))
    return msg(SOURCE_NAMES[value]) if field == "source" and value in SOURCE_NAMES else raw(value)


def _value_choices(state: LogState) -> tuple[Msg, ...]:
    if state.field == "user":
        return (msg("logs.any"), msg("logs.mine"))
    return tuple(_value_name(state, state.field, value) for value in filter_values(state.field, state.reasons))


# Pages


def _list_view(state: LogState) -> ListView:
    text = _narrowing_text(state, state.typed or state.search)
    return pages.list_view(
        state,
        "logs",
        filter_text(state),
        msg("logs.prompt"),
        (
            msg("head.product"),
            msg("head.change"),
            msg("head.why"),
            msg("head.time"),
            msg("doubts.head_who"),
            msg("head.place"),
            msg("head.reference"),
            msg("head.review"),
        ),
        tuple(_entry_row(each, state.today) for each in state.rows),
        KeyHint("f", msg("hint.filter")),
        KeyHint("g", msg("hint.losses")),
        KeyHint("e", msg("hint.export")),
        empty=msg("logs.older")
        if state.is_loading_older
        else msg("logs.none", text=text)
        if text
        else msg("logs.empty"),
        may_have_more=state.is_loading_older,
    )


def _entry_row(entry: LogEntry, today: str) -> Row:
    return Row(
        entry.key,
        (
            raw(entry.label),
            _change_message(entry),
            _reason_message(entry),
            _time_message(entry, today),
            raw(entry.user_name or entry.user),
            raw(entry.location),
            raw(entry.order or ("" if GENERATED_REFERENCE.fullmatch(entry.reference) else entry.reference)),
            msg(REVIEW_NAMES[entry.review_status]) if entry.review_status in ("1", "2") else raw(""),
        ),
    )


def _change_message(entry: LogEntry) -> Msg:
    """Return the change of the stock; `?` if unknown."""
    return number_message(None) if entry.change is None else signed_message(entry.change)


def _reason_message(entry: LogEntry) -> Msg:
    """Return the given reason, else the kind of entry."""
    if entry.reason:
        return raw(entry.reason)
    return msg(SOURCE_NAMES[entry.activity]) if entry.activity in SOURCE_NAMES else raw(entry.activity)


def _time_message(entry: LogEntry, today: str) -> Msg:
    """Return the time; for entries of today without the date."""
    return msg("logs.at_time" if store_day(entry.at) == today else "moment", at=entry.at)


def _entry_view(state: LogState, entry: LogEntry) -> DetailView:
    texts = [
        (msg("head.number"), entry.key),
        (msg("doubts.head_who"), entry.user_name or entry.user),
        (msg("head.place"), entry.location),
        (msg("fact.pool"), entry.pool),
        (msg("head.reason"), entry.reason),
        (msg("head.source"), entry.source),
        (msg("head.reference"), entry.reference),
        (msg("head.order"), entry.order),
        (msg("fact.product_number"), entry.product),
    ]
    rows = [(label, raw(text)) for label, text in texts if text]
    rows.insert(1, (msg("head.time"), msg("moment", at=entry.at)))
    if entry.counted is not None:
        rows.append((msg("head.counted"), msg("number", value=entry.counted)))
    if entry.expected is not None:
        rows.append((msg("head.expected"), msg("number", value=entry.expected)))
    if entry.review_status:
        rows.append((msg("head.review"), msg(REVIEW_NAMES.get(entry.review_status, "logs.not_to_review"))))
    return DetailView(
        name="logs.entry",
        title=msg("count_log.title_entry"),
        prompt=msg("count_log.prompt_entry"),
        lines=(Line("product", raw(entry.label)), Line("quantity", _change_message(entry))),
        blocks=(Block(msg("logs.about"), tuple(rows), is_compact=True),),
        page=state.page,
        key_hints=(
            *PAGE_HINTS,
            KeyHint("e", msg("hint.store_product")),
            BACK,
        ),
    )


def _question_step(state: LogState) -> Step:
    prompts = {"filter": "logs.prompt_filter", "export": "logs.prompt_export", "sure": "logs.prompt_sure"}
    value = "logs.prompt_typed" if state.field in TYPED_FIELDS else "count.prompt_number"
    into = msg("logs.title_export", count=state.total)
    title = {"filter": msg("logs.title_filter"), "export": into, "sure": into}
    now = (
        msg(FIELD_NAMES[state.field], value=_field_value(state, state.field))
        if state.phase == "value"
        else filter_text(state)
    )
    lines = (Line("note", raw(state.file_path)),) if state.phase == "sure" else ()
    return Step(
        name=f"logs.{state.phase}",
        title=title.get(state.phase, msg("logs.title_filter")),
        prompt=msg(prompts.get(state.phase, value)),
        lines=lines or (Line("note", now),),
        choices=page_choices(state),
        key_hints=(KeyHint("x", msg("logs.clear")), BACK) if state.phase == "filter" else (BACK,),
    )


def _losses_view(state: LogState) -> Chart:
    count = max((len(each.weeks) for each in state.losses), default=0)
    axis = tuple(
        msg("logs.weeks_ago", count=count - 1 - at) if at < count - 1 else msg("logs.now") for at in range(count)
    )
    total = sum((each.total for each in state.losses), Decimal(0))
    return Chart(
        name="logs.losses",
        title=msg("logs.title_losses"),
        prompt=msg("count_log.prompt_entry"),
        lines=(Line("note", msg("logs.lost", quantity=total, count=count)),) if state.losses else (),
        series=tuple(Series(raw(each.reason), each.weeks, each.total) for each in state.losses),
        axis=axis,
        page=state.page,
        empty=msg("logs.no_losses"),
        key_hints=(*PAGE_HINTS, BACK),
    )
