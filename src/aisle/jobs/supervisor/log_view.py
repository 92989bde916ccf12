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
    "period": "log.of_days",
    "reason": "log.of_reason",
    "review": "log.of_review",
    "product": "log.of_product",
    "user": "log.of_user",
    "reference": "log.of_reference",
    "source": "log.of_source",
    "ids": "log.of_ids",
    "location": "log.of_location",
}
"""Names of the filter fields, with their values."""

PERIOD_NAMES = {
    "today": "log.today",
    "week": "log.week",
    "month": "log.month",
    "weeks": "log.weeks",
    "year": "log.year",
}
REVIEW_NAMES = {"1": "log.to_review", "2": "log.reviewed", "0": "log.not_to_review"}
"""Names of the review states."""

NARROWED_TITLES = {
    (True, False): ("log.at_location", "log.at_location_filtered"),
    (False, True): ("log.searched", "log.searched_filtered"),
    (True, True): ("log.at_location_searched", "log.at_location_searched_filtered"),
}
"""Titles of a log narrowed by (location, words), without and with other filter fields."""

MIN_FILE_NAME_LETTERS = 3
"""Letters from which a word may be a file name. A shorter word needs a `.` or `/`."""

SOURCE_NAMES = {
    "count": "log.kind_count",
    "change": "log.kind_change",
    "receipt": "log.kind_receipt",
    "movement": "log.kind_movement",
    "pick": "log.kind_pick",
    "unpick": "log.kind_unpick",
    "short": "log.kind_short",
    "rejected": "log.kind_rejected",
    "in_hand": "log.kind_in_hand",
    "finish": "log.kind_finish",
    "late": "log.kind_late",
    "opening": "log.kind_opening",
    LOG_SOURCE: "log.kind_aisle",
}
"""Names of the entries of each source."""

GENERATED_REFERENCE = re.compile(
    rf"(?s){UNDO_PREFIX}.*|[A-Z2-7]{{26}}|(?i:[0-9a-f]{{8}}(?:-?[0-9a-f]{{4}}){{3}}-?[0-9a-f]{{12}})"
)
"""Pattern of references that a program generated. A list does not show them, because they mean nothing to people."""

FILES_FORBIDDEN = "log.files_forbidden"
"""Reason given for every file if the session writes none: in a browser and in a kiosk."""


def page_view(state: LogState) -> View:
    """Return the screen of the open page."""
    match state.phase:
        case "entry" if state.entry:
            return _entry_view(state, state.entry)
        case "filter" | "value" | "export" | "confirm":
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
            return (msg("log.file", file=file_name(state)),)
        case "confirm":
            return (msg("log.write"),)
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
    return msg("log.filtered", period=period, count=others) if others else msg("log.unfiltered", period=period)


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
        return msg("log.any")
    if field == "review":
        return msg(REVIEW_NAMES.get(value, "log.not_to_review"))
    if field == "reason":
        return raw(next((each.text for each in state.reasons if str(each.code) == value), value))
    return msg(SOURCE_NAMES[value]) if field == "source" and value in SOURCE_NAMES else raw(value)


def _value_choices(state: LogState) -> tuple[Msg, ...]:
    if state.field == "user":
        return (msg("log.any"), msg("log.mine"))
    return tuple(_value_name(state, state.field, value) for value in filter_values(state.field, state.reasons))


# Pages


def _list_view(state: LogState) -> ListView:
    text = _narrowing_text(state, state.typed or state.search)
    return pages.list_view(
        state,
        "log",
        filter_text(state),
        msg("log.prompt"),
        (
            msg("head.product"),
            msg("head.change"),
            msg("head.why"),
            msg("head.time"),
            msg("unconfirmed.head_user"),
            msg("head.location"),
            msg("head.reference"),
            msg("head.review"),
        ),
        tuple(_entry_row(each, state.today) for each in state.rows),
        KeyHint("f", msg("hint.filter")),
        KeyHint("g", msg("hint.losses")),
        KeyHint("e", msg("hint.export")),
        empty=msg("log.older_loading")
        if state.is_loading_older
        else msg("log.no_match", text=text)
        if text
        else msg("log.empty"),
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
    return msg("log.at_time" if store_day(entry.at) == today else "moment", at=entry.at)


def _entry_view(state: LogState, entry: LogEntry) -> DetailView:
    texts = [
        (msg("head.number"), entry.key),
        (msg("unconfirmed.head_user"), entry.user_name or entry.user),
        (msg("head.location"), entry.location),
        (msg("label.pool"), entry.pool),
        (msg("head.reason"), entry.reason),
        (msg("head.source"), entry.source),
        (msg("head.reference"), entry.reference),
        (msg("head.order"), entry.order),
        (msg("label.product_number"), entry.product),
    ]
    rows = [(label, raw(text)) for label, text in texts if text]
    rows.insert(1, (msg("head.time"), msg("moment", at=entry.at)))
    if entry.counted is not None:
        rows.append((msg("head.counted"), msg("number", value=entry.counted)))
    if entry.expected is not None:
        rows.append((msg("head.expected"), msg("number", value=entry.expected)))
    if entry.review_status:
        rows.append((msg("head.review"), msg(REVIEW_NAMES.get(entry.review_status, "log.not_to_review"))))
    return DetailView(
        name="log.entry",
        title=msg("my_entries.title_entry"),
        prompt=msg("my_entries.prompt_entry"),
        lines=(Line("product", raw(entry.label)), Line("quantity", _change_message(entry))),
        blocks=(Block(msg("log.about"), tuple(rows), is_compact=True),),
        page=state.page,
        key_hints=(
            *PAGE_HINTS,
            KeyHint("e", msg("hint.store_product")),
            BACK,
        ),
    )


def _question_step(state: LogState) -> Step:
    prompts = {"filter": "log.prompt_filter", "export": "log.prompt_export", "confirm": "log.prompt_confirm"}
    value = "log.prompt_typed" if state.field in TYPED_FIELDS else "count.prompt_number"
    into = msg("log.title_export", count=state.total)
    title = {"filter": msg("log.title_filter"), "export": into, "confirm": into}
    now = (
        msg(FIELD_NAMES[state.field], value=_field_value(state, state.field))
        if state.phase == "value"
        else filter_text(state)
    )
    lines = (Line("note", raw(state.file_path)),) if state.phase == "confirm" else ()
    return Step(
        name=f"log.{state.phase}",
        title=title.get(state.phase, msg("log.title_filter")),
        prompt=msg(prompts.get(state.phase, value)),
        lines=lines or (Line("note", now),),
        choices=page_choices(state),
        key_hints=(KeyHint("x", msg("log.clear")), BACK) if state.phase == "filter" else (BACK,),
    )


def _losses_view(state: LogState) -> Chart:
    count = max((len(each.weeks) for each in state.losses), default=0)
    axis = tuple(
        msg("log.weeks_ago", count=count - 1 - at) if at < count - 1 else msg("log.now") for at in range(count)
    )
    total = sum((each.total for each in state.losses), Decimal(0))
    return Chart(
        name="log.losses",
        title=msg("log.title_losses"),
        prompt=msg("my_entries.prompt_entry"),
        lines=(Line("note", msg("log.lost", quantity=total, count=count)),) if state.losses else (),
        series=tuple(Series(raw(each.reason), each.weeks, each.total) for each in state.losses),
        axis=axis,
        page=state.page,
        empty=msg("log.no_losses"),
        key_hints=(*PAGE_HINTS, BACK),
    )
