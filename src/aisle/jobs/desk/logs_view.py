"""What the log shows supervisors, page by page."""

from __future__ import annotations

import re
from decimal import Decimal

from aisle.jobs import window
from aisle.jobs.count.counting import SOURCE
from aisle.jobs.desk.logs_filter import FIELDS, TYPED, values_of
from aisle.jobs.desk.logs_state import Entry, Logs
from aisle.jobs.sheet import day_of
from aisle.jobs.view import (
    BACK,
    PAGES,
    Block,
    Chart,
    Detail,
    Hint,
    Line,
    ListWindow,
    Msg,
    Row,
    Series,
    Step,
    View,
    amount,
    msg,
    raw,
    signed,
)
from aisle.undone import UNDO

NAMES = {
    "days": "logs.of_days",
    "reason": "logs.of_reason",
    "review": "logs.of_review",
    "product": "logs.of_product",
    "user": "logs.of_user",
    "reference": "logs.of_reference",
    "source": "logs.of_source",
    "ids": "logs.of_ids",
    "place": "logs.of_place",
}
"""What the parts of the filter are called, with their values."""

DAYS = {
    "today": "logs.today",
    "week": "logs.week",
    "month": "logs.month",
    "weeks": "logs.weeks",
    "year": "logs.year",
}
REVIEWS = {"1": "logs.to_review", "2": "logs.reviewed", "0": "logs.not_to_review"}
"""What the states of a review are called."""

NARROWED = {
    (True, False): ("logs.placed", "logs.placed_filtered"),
    (False, True): ("logs.narrowed", "logs.narrowed_filtered"),
    (True, True): ("logs.both", "logs.both_filtered"),
}
"""What a log is called that is narrowed by (a place, words), without and with other parts of the filter."""

LETTERS = 3
"""A word of so many letters may be the name of a file, a shorter one without `.` and `/` is none."""

KINDS = {
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
    SOURCE: "logs.kind_aisle",
}
"""What the entries of each source are called."""

MADE_UP = re.compile(rf"(?s){UNDO}.*|[A-Z2-7]{{26}}|(?i:[0-9a-f]{{8}}(?:-?[0-9a-f]{{4}}){{3}}-?[0-9a-f]{{12}})")
"""References that a program made up for itself: they tell nobody anything in a list."""

NO_FILES = "logs.why_here"
"""What the session says of every file where none is written: in a browser, and in a kiosk."""


def view(state: Logs) -> View:
    """The page that is open."""
    match state.phase:
        case "entry" if state.entry:
            return _entry(state, state.entry)
        case "filter" | "value" | "export" | "sure":
            return _step(state)
        case "losses":
            return _losses(state)
    return _list(state)


def choices(state: Logs) -> tuple[Msg, ...]:
    """The numbered choices of the pages that have some."""
    match state.phase:
        case "filter":
            return tuple(msg(NAMES[field], value=_value(state, field)) for field in FIELDS)
        case "value":
            return _values(state)
        case "export":
            return (msg("logs.file", file=file_name(state)),)
        case "sure":
            return (msg("logs.write"),)
    return ()


def file_name(state: Logs) -> str:
    """The name that is offered for a file."""
    return f"aisle-log-{state.day}.csv"


def is_file_name(text: str) -> bool:
    """Whether this is meant to be the name of a file."""
    return "." in text or "/" in text or sum(letter.isalpha() for letter in text) >= LETTERS


def filter_text(state: Logs) -> Msg:
    """What is listed, in a line; a place and words narrow it for as long as they are named there."""
    others, period = state.filter.others, msg(DAYS[state.filter.days])
    place, words = state.filter.place, state.search
    if place or words:
        id_ = NARROWED[bool(place), bool(words)][bool(others)]
        return msg(id_, place=place, what=words, period=period, count=others)
    return msg("logs.filtered", period=period, count=others) if others else msg("logs.unfiltered", period=period)


def _narrowed(state: Logs, words: str) -> str:
    """The place and the words that narrow what is listed."""
    return " ".join(each for each in (state.filter.place, words) if each)


def _value(state: Logs, field: str) -> Msg:
    """The value of a part of the filter in words."""
    value = str(getattr(state.filter, field))
    return _named(state, field, value)


def _named(state: Logs, field: str, value: str) -> Msg:
    if field == "days":
        return msg(DAYS[value])
    if not value:
        return msg("logs.any")
    if field == "review":
        return msg(REVIEWS.get(value, "logs.not_to_review"))
    if field == "reason":
        return raw(next((each.words for each in state.reasons if str(each.code) == value), value))
    return msg(KINDS[value]) if field == "source" and value in KINDS else raw(value)


def _values(state: Logs) -> tuple[Msg, ...]:
    if state.field == "user":
        return (msg("logs.any"), msg("logs.mine"))
    return tuple(_named(state, state.field, value) for value in values_of(state.field, state.reasons))


# Pages


def _list(state: Logs) -> ListWindow:
    text = _narrowed(state, state.typed or state.search)
    return window.shown(
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
        tuple(_row(each, state.day) for each in state.rows),
        Hint("f", msg("hint.filter")),
        Hint("g", msg("hint.losses")),
        Hint("e", msg("hint.export")),
        empty=msg("logs.older") if state.partial else msg("logs.none", text=text) if text else msg("logs.empty"),
        more=state.partial,
    )


def _row(each: Entry, day: str) -> Row:
    return Row(
        each.key,
        (
            raw(each.label),
            _changed(each),
            _why(each),
            _when(each, day),
            raw(each.who or each.user),
            raw(each.place),
            raw(each.order or ("" if MADE_UP.fullmatch(each.reference) else each.reference)),
            msg(REVIEWS[each.review]) if each.review in ("1", "2") else raw(""),
        ),
    )


def _changed(each: Entry) -> Msg:
    """What it changed the stock by, as far as anybody says it."""
    return amount(None) if each.quantity is None else signed(each.quantity)


def _why(each: Entry) -> Msg:
    """The reason that somebody gave, else what it was that was booked."""
    if each.reason:
        return raw(each.reason)
    return msg(KINDS[each.work]) if each.work in KINDS else raw(each.work)


def _when(each: Entry, day: str) -> Msg:
    """Of today the time alone."""
    return msg("logs.at_time" if day_of(each.at) == day else "moment", at=each.at)


def _entry(state: Logs, entry: Entry) -> Detail:
    texts = [
        (msg("head.number"), entry.key),
        (msg("doubts.head_who"), entry.who or entry.user),
        (msg("head.place"), entry.place),
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
    if entry.review:
        rows.append((msg("head.review"), msg(REVIEWS.get(entry.review, "logs.not_to_review"))))
    return Detail(
        name="logs.entry",
        title=msg("count_log.title_entry"),
        prompt=msg("count_log.prompt_entry"),
        lines=(Line("product", raw(entry.label)), Line("quantity", _changed(entry))),
        blocks=(Block(msg("logs.about"), tuple(rows), tight=True),),
        page=state.page,
        hints=(
            *PAGES,
            Hint("e", msg("hint.store_product")),
            BACK,
        ),
    )


def _step(state: Logs) -> Step:
    prompts = {"filter": "logs.prompt_filter", "export": "logs.prompt_export", "sure": "logs.prompt_sure"}
    value = "logs.prompt_typed" if state.field in TYPED else "count.prompt_number"
    into = msg("logs.title_export", count=state.total)
    title = {"filter": msg("logs.title_filter"), "export": into, "sure": into}
    now = msg(NAMES[state.field], value=_value(state, state.field)) if state.phase == "value" else filter_text(state)
    lines = (Line("note", raw(state.file)),) if state.phase == "sure" else ()
    return Step(
        name=f"logs.{state.phase}",
        title=title.get(state.phase, msg("logs.title_filter")),
        prompt=msg(prompts.get(state.phase, value)),
        lines=lines or (Line("note", now),),
        choices=choices(state),
        hints=(Hint("x", msg("logs.clear")), BACK) if state.phase == "filter" else (BACK,),
    )


def _losses(state: Logs) -> Chart:
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
        hints=(*PAGES, BACK),
    )
