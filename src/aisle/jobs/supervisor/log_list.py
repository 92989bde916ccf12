"""List of the log, its filter, and the state that all pages of the log share.

The filter has the parameters of the interface's list, and the person. Interface: List store product logs
(article_number, from_id, to_id, is_historic, is_reviewed, last_modified_date, to_modified_date, reason_code, reference,
review_status).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from operator import itemgetter
from typing import NamedTuple

from aisle.jobs.adjust_state_view_and_undo import Reason
from aisle.jobs.job import Args, Close, Context, Json, Query, Rows, Turn, money_message
from aisle.jobs.list_cursor_and_search import ListOptions
from aisle.jobs.list_page_base_class import Column, ListFilter, ListPage
from aisle.jobs.log_writes_and_refusals import LOG_SOURCE
from aisle.jobs.pages_and_page_job import Action
from aisle.jobs.row_types.log import LogRow, LogSumsRow, LossesRow
from aisle.jobs.row_types.people_stores_and_features import PeopleRow
from aisle.jobs.store_time import start_of_day, time_message
from aisle.jobs.view import Msg, join_messages, msg, number_message, raw, signed_message
from aisle.operation_body_types import UNDO_PREFIX
from aisle.row_values import to_decimal

PERIOD_DAYS: Mapping[str, int] = {"today": 0, "week": 7, "month": 28, "weeks": 56, "year": 365}
"""Days that each period goes back. More than a week must first be requested from the service."""

TO_REVIEW, REVIEWED = "1", "2"

REVIEW_STATUSES = ("1", "2", "0")
"""To review, reviewed, nothing to review. Interface: review_status."""

LOSS = "loss"
"""Source that stands for all losses, whatever made them. A chip chooses it."""

SOURCES = (
    "count",
    "change",
    "receipt",
    "movement",
    "pick",
    "unpick",
    "in_hand",
    "finish",
    "short",
    "rejected",
    "late",
    "aisle",
)
"""Sources of entries as aisle's own service names them. Others are typed."""

FILTER_FIELDS = ("period", "reason", "review", "product", "user", "reference", "source", "ids", "location")
"""Fields of a filter, in the order of their numbers."""

TYPED_FIELDS = ("product", "user", "reference", "source", "ids", "location")
"""Fields whose value is typed or scanned. The others are chosen."""

CACHED_PERIOD = "week"
"""Period that is always cached."""


class LogFilter(NamedTuple):
    """Filter with a value for each field; empty for any."""

    period: str = CACHED_PERIOD
    reason: str = ""
    review: str = ""
    product: str = ""
    user: str = ""
    reference: str = ""
    source: str = ""
    ids: str = ""
    """Range of entry numbers: `4000-4200`, `4000-` or `-4200`."""
    location: str = ""
    """Code of a location, or the prefix of several codes."""

    def value(self, field: str) -> str:
        """Return the value of a field."""
        return str(self._asdict()[field])


def filter_values(field: str, reasons: Sequence[Reason], user: str = "") -> tuple[str, ...]:
    """Return the values of a filter field to choose from, in the order of their numbers; empty means any."""
    known: dict[str, tuple[str, ...]] = {
        "period": tuple(PERIOD_DAYS),
        "reason": ("", *(str(reason.code) for reason in reasons)),
        "review": ("", *REVIEW_STATUSES),
        "source": ("", *SOURCES),
        "user": ("", user),
    }
    return known.get(field, ("",))


def parse_id_range(ids: str) -> tuple[str, str] | None:
    """Parse (from_id, to_id) from typed numbers; None if they are invalid."""
    low, dash, high = (part.strip() for part in ids.partition("-"))
    low, high = low, (high if dash else low)
    fits = all(not part or part.isdecimal() for part in (low, high)) and (low or high)
    return (low, high) if fits else None


def first_day(filter_: LogFilter, now: str) -> date:
    """Return the first day of the filter's period in the zone of the store."""
    return datetime.fromisoformat(now).astimezone().date() - timedelta(days=PERIOD_DAYS[filter_.period])


def query_arguments(filter_: LogFilter, now: str) -> dict[str, Json]:
    """Return the filter as arguments of the query `log`."""
    low, high = parse_id_range(filter_.ids) or ("", "")
    return {
        "since": start_of_day(first_day(filter_, now)).isoformat(),
        "product_number": filter_.product,
        "app_user_name": filter_.user,
        "reason_code": filter_.reason,
        "review_status": filter_.review,
        "reference": filter_.reference,
        "source": filter_.source,
        "from_id": low,
        "to_id": high,
        "location_code": filter_.location,
    }


class LogState(NamedTuple):
    """State of the window on the log and of the pages over it."""

    phase: str = "list"
    """`list`, `entry`, `filter`, `value`, `export`, `confirm` or `losses`."""
    filter: LogFilter = LogFilter()
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    options: ListOptions = ListOptions()
    rows: tuple[LogRow, ...] = ()
    total: int = 0
    is_loading_older: bool = False
    """True while requested older entries have not come yet."""
    entry: LogRow | None = None
    is_alone: bool = False
    """True if the page of one entry was opened directly. Back then leaves the job."""
    field: str = ""
    """Filter field that is being edited."""
    reasons: tuple[Reason, ...] = ()
    losses: tuple[LossesRow, ...] = ()
    page: int = 0
    today: str = ""
    """Date of today, for the file name."""
    file_path: str = ""
    """Whole path of the file to write."""
    sums: LogSumsRow | None = None
    """Sums over the filter."""
    people: tuple[PeopleRow, ...] = ()
    reviewed: tuple[str, ...] = ()
    """Entries that were marked as reviewed here; the cache may not know it yet."""
    features: tuple[str, ...] = ()
    """Features that the service announces."""


Result = Turn[LogState]

FIELD_NAMES = {
    "period": "log.period",
    "reason": "head.reason",
    "review": "head.review",
    "product": "head.product",
    "user": "unconfirmed.head_user",
    "reference": "orders.head_reference",
    "source": "head.source",
    "ids": "head.number",
    "location": "head.location",
}
"""Names of the filter fields."""

PERIOD_NAMES = {
    "today": "log.today",
    "week": "log.week",
    "month": "log.month",
    "weeks": "log.weeks",
    "year": "log.year",
}
REVIEW_NAMES = {"1": "log.to_review", "2": "log.reviewed", "0": "log.not_to_review"}
"""Names of the review states."""

UNDONE = "undo"
"""Source of an entry of ours that undoes another one."""

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
    UNDONE: "log.kind_undo",
    LOSS: "log.kind_loss",
}
"""Names of the entries of each source."""

GENERATED_REFERENCE = re.compile(
    rf"(?s){UNDO_PREFIX}.*|[A-Z2-7]{{26}}|(?i:[0-9a-f]{{8}}(?:-?[0-9a-f]{{4}}){{3}}-?[0-9a-f]{{12}})"
)
"""Pattern of references that a program generated. A list does not show them, because they mean nothing to people."""


def filter_text(state: LogState) -> Msg:
    """Return the filter in one line, by name. Location and words are part of it as long as they narrow the list."""
    period = msg(PERIOD_NAMES[state.filter.period])
    fields = [field for field in FILTER_FIELDS if field not in ("period", "location") and state.filter.value(field)]
    narrowed = [raw(each) for each in (state.filter.location, state.search) if each]
    others = [field_text(state, field) for field in fields]
    if narrowed and others:
        what, text = join_messages(narrowed), join_messages(others)
        return msg("log.narrowed_filtered", what=what, filter=text, period=period, count=len(others))
    if len(others) > 1:
        return msg("log.filtered_several", period=period, filter=join_messages(others), count=len(others))
    if narrowed or others:
        return msg("log.filtered", period=period, filter=join_messages([*narrowed, *others]))
    return msg("log.unfiltered", period=period)


def field_text(state: LogState, field: str) -> Msg:
    """Return a filter field with its value."""
    value = value_name(state, field, state.filter.value(field))
    return msg("pair", name=msg(FIELD_NAMES[field]), value=value)


def value_name(state: LogState, field: str, value: str) -> Msg:
    """Return the name of a value of a filter field."""
    if field == "period":
        return msg(PERIOD_NAMES[value])
    if not value:
        return msg("orders.any")
    if field == "review":
        return msg(REVIEW_NAMES.get(value, "log.not_to_review"))
    if field == "reason":
        return raw(next((each.text for each in state.reasons if str(each.code) == value), value))
    if field == "user":
        return raw(next((each["name"] for each in state.people if each["user"] == value), value))
    return msg(SOURCE_NAMES[value]) if field == "source" and value in SOURCE_NAMES else raw(value)


def reason_text(code: object, description: str, reasons: tuple[Reason, ...]) -> str:
    """Return the description of a reason; if the service has none, that of the settings, else its code."""
    number = None if code is None else int(to_decimal(code))
    return description or next(
        (each.text for each in reasons if each.code == number), "" if code is None else str(code)
    )


def entry_label(entry: LogRow) -> str:
    """Return the name of the product, or its number."""
    return entry.get("description") or entry["product_number"]


def change_message(entry: LogRow) -> Msg:
    """Return the change of the stock; `?` if unknown."""
    return number_message(None) if entry["difference"] is None else signed_message(entry["difference"])


def why_message(entry: LogRow, reasons: tuple[Reason, ...]) -> Msg:
    """Return the given reason, else the kind of entry."""
    if text := reason_text(entry["reason_code"], entry["reason_code_description"], reasons):
        return raw(text)
    is_undo = entry["work"] == LOG_SOURCE and str(entry["reference"] or "").startswith(UNDO_PREFIX)
    work = UNDONE if is_undo else entry["work"]
    return msg(SOURCE_NAMES[work]) if work in SOURCE_NAMES else raw(work)


def superseded_message(entry: LogRow, today: str) -> Msg:
    """Return the time of the count that supersedes this one; with its date if that is not today."""
    return msg("log.superseded", at=time_message(entry["superseded_at"], today))


def _value_message(entry: LogRow) -> Msg:
    value = entry["value"]
    return raw("") if value is None else signed_message(value, money_message(abs(value)))


def _reference_text(entry: LogRow) -> str:
    reference = entry["reference"]
    return entry["customer_order_number"] or ("" if GENERATED_REFERENCE.fullmatch(reference) else reference)


CHIP_NAMES = {
    "": msg("log.all"),
    LOSS: msg("log.kind_loss"),
    "count": msg("log.kind_count"),
    "pick": msg("log.kind_pick"),
    "short": msg("log.kind_short"),
}
"""Text of each chip by the source that it filters by."""


class LogList(ListPage[LogState, LogRow]):
    """Filtered list of entries."""

    name = "log"
    prompt_text = msg("log.prompt")
    query_name = "log"
    indexed_sorts = ("at",)
    follows_typing = True
    key = itemgetter("key")

    def title(self, state: LogState) -> Msg:
        return filter_text(state)

    def empty_text(self, state: LogState) -> Msg:
        if state.is_loading_older:
            return msg("log.older_loading")
        text = " ".join(filter(None, (state.filter.location, state.typed or state.search)))
        return msg("look_up.no_match", text=text) if text else msg("list.empty")

    def all_columns(self, state: LogState) -> tuple[Column[LogRow], ...]:
        return (
            Column(msg("head.product"), lambda row: raw(entry_label(row)), sort="description"),
            Column(msg("head.change"), change_message, sort="difference"),
            Column(msg("head.reason"), lambda row: why_message(row, state.reasons), sort="work"),
            Column(msg("head.time"), lambda row: time_message(row["at"], state.today), sort="at"),
            Column(
                msg("unconfirmed.head_user"),
                lambda row: raw(row["user_name"] or row["app_user_name"]),
                sort="user_name",
            ),
            Column(msg("head.location"), lambda row: raw(row["location_code"]), sort="location_code"),
            Column(msg("head.value"), _value_message, is_optional=True, sort="value"),
            Column(msg("orders.head_reference"), lambda row: raw(_reference_text(row))),
            Column(
                msg("head.review"),
                lambda row: msg(REVIEW_NAMES[row["review_status"]]) if row["review_status"] in ("1", "2") else raw(""),
            ),
        )

    def may_have_more(self, state: LogState) -> bool:
        return state.is_loading_older

    def arguments(self, state: LogState, context: Context) -> Args:
        return query_arguments(state.filter, context.now)

    def actions(self, state: LogState) -> tuple[Action[LogState], ...]:
        return (
            Action(msg("hint.filter"), lambda state, _: Turn(state._replace(phase="filter")), "f"),
            Action(msg("hint.losses"), _show_losses, "g"),
            *(() if state.options.is_desk else (Action(msg("hint.export"), _ask_file, "e"),)),
        )

    def filters(self, state: LogState) -> tuple[ListFilter, ...]:
        people = [(each["user"], raw(each["name"])) for each in (state.sums["people"] if state.sums else ())]
        users = [("", msg("log.everybody")), *people] if people else []
        kinds = {kind: state.filter._replace(source=kind, review="") for kind in CHIP_NAMES}
        to_review = state.filter._replace(source="", review=TO_REVIEW)
        return (
            *(ListFilter(CHIP_NAMES[kind], {"filter": filter_}) for kind, filter_ in kinds.items()),
            ListFilter(msg("log.chip_to_review"), {"filter": to_review}),
            *(ListFilter(text, {"filter": state.filter._replace(user=user)}) for user, text in users),
        )

    def count_queries(self, state: LogState, context: Context) -> tuple[Query, ...]:
        """Return one query for the sums and all figures, because they are stored."""
        args = {**query_arguments(state.filter, context.now), "search": state.typed or state.search}
        return (Query("log_sums", "log_sums", args, is_live=True),)

    def with_sums(self, state: LogState, sums: LogSumsRow) -> LogState:
        """Return the state with the sums over the filter."""
        counted = sums["counts"]
        kinds = tuple(counted.get(source, 0) if counted else None for source in CHIP_NAMES)
        people = (sums["everybody"], *(person["count"] for person in sums["people"]))
        return self.with_options(state._replace(sums=sums), counts=(*kinds, sums["to_review"], *people))

    def sums(self, state: LogState) -> Msg | None:
        sums = state.sums
        if sums is None or not sums["lost"]:
            return None
        id_ = "log.sum_some_unpriced" if sums["unpriced"] else "log.sum"
        return msg(id_, quantity=sums["lost"], value=money_message(sums["value"]), unpriced=sums["unpriced"])

    def restart(self, state: LogState, context: Context, verdict: Msg | None = None) -> Result:
        """Show the list at its beginning, at a desk with the sums over the new filter."""
        turn = super().restart(state, context, verdict)
        sums = self.count_queries(turn.state, context) if context.is_desk else ()
        return turn._replace(effects=(*turn.effects, *sums))

    def handle_rows(self, state: LogState, answer: Rows, context: Context) -> Result:
        return super().handle_rows(state._replace(is_loading_older=answer.may_have_more), answer, context)

    def open_row(self, state: LogState, row: LogRow, context: Context) -> Result:
        return Turn(state._replace(page=0, is_alone=False), (query_entry(row["key"]),))

    def go_back(self, state: LogState, context: Context) -> Result:
        if state.search or state.typed or state.filter != LogFilter():
            state = state._replace(search="", filter=LogFilter())
            return self.restart(state, context, filter_text(state))
        return Turn(state, (Close(),))


def query_entry(key: str) -> Query:
    """Return the journalled query for an entry, because the rows of a window are not journalled."""
    return Query("entry", "log", {"key": key})


def query_losses(context: Context) -> Query:
    """Return the query for the losses by reason and week."""
    return Query("losses", "losses", {"now": context.now}, is_live=True)


def file_name(state: LogState) -> str:
    """Return the default file name."""
    return f"aisle-log-{state.today}.csv"


def _show_losses(state: LogState, context: Context) -> Result:
    return Turn(state._replace(phase="losses", page=0), (query_losses(context),))


def _ask_file(state: LogState, context: Context) -> Result:
    """Ask for the file name, and query whether files may be written at all."""
    return Turn(state._replace(phase="export"), (Query("may", "file", {"file": file_name(state)}),))


LIST = LogList()
