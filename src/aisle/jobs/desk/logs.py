"""The store's log for supervisors: every entry, filtered; one of them; a CSV file of them; losses by reason and week.

Interface: List store product logs. The last week is always here; what is older is asked for at the service.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.jobs import window
from aisle.jobs.amounts import number, said
from aisle.jobs.base import (
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Export,
    Opened,
    Query,
    Resumed,
    Rows,
    Start,
    Turn,
    Wish,
)
from aisle.jobs.count.losing import Reason, reasons
from aisle.jobs.desk import logs_view
from aisle.jobs.desk.logs_filter import FIELDS, KEPT, TYPED, Filter, arguments, bounds, since, values_of
from aisle.jobs.desk.logs_state import Entry, Logs, Loss
from aisle.jobs.numbers import what_is
from aisle.jobs.sheet import day_of
from aisle.jobs.view import GOOD, INFO, WRONG, Verdict, View, msg
from aisle.jobs.window import leafed, room
from aisle.scan.meaning import (
    LOCATION,
    PERSON,
    PRODUCT,
    Back,
    Choice,
    Command,
    Meaning,
    Move,
    Open,
    Text,
    Thing,
    Unknown,
)

COLUMNS = (
    "id",
    "at",
    "product_number",
    "description",
    "location_code",
    "stock_pool",
    "quantity",
    "counted_quantity",
    "expected_quantity",
    "reason_code",
    "reason_code_description",
    "source",
    "reference",
    "customer_order_number",
    "customer_order_line_number",
    "app_user_name",
    "review_status",
    "price",
)
"""The columns of a file."""

FIELD_OF = {PRODUCT: "product", PERSON: "user", LOCATION: "place"}
"""The part of the filter that a scan sets, wherever it is scanned; in the order in which a code is taken for one."""

Result = Turn[Logs]


class LogsJob:
    """The log."""

    name = "logs"
    steps: tuple[str, ...] = (
        *("logs", "logs.entry", "logs.filter", "logs.value"),
        *("logs.export", "logs.sure", "logs.losses"),
    )
    version = 5
    journalled = True

    def begin(self) -> Logs:
        """The last week."""
        return Logs()

    def open(self, state: Logs) -> Open:
        """Rows and parts of the filter are numbered; letters filter, export and draw."""
        if state.phase == "list":
            return Open(choices=window.numbered_rows(state), letters=f"feg{window.letters(state)}", finds=True)
        typed = state.phase == "export" or (state.phase == "value" and state.field in TYPED)
        letters = {"losses": window.LETTERS, "entry": f"{window.LETTERS}e", "filter": "x"}.get(state.phase, "")
        return Open(choices=len(logs_view.choices(state)), letters=letters, text=typed, by_hand=state.phase == "sure")

    def prefers(self, state: Logs) -> tuple[str, ...]:
        """Products filter, and so do people and places."""
        wanted = [kind for kind, field in FIELD_OF.items() if field == state.field]
        return (*wanted, *(kind for kind in FIELD_OF if kind not in wanted))

    def at(self, state: Logs) -> str:
        """One of `steps`."""
        return "logs" if state.phase == "list" else f"logs.{state.phase}"

    def view(self, state: Logs) -> View:
        """The page that is open."""
        return logs_view.view(state)

    def step(self, state: Logs, event: Event, context: Context) -> Result:
        """See the functions below for each page."""
        match event:
            case Opened(args):
                return _opened(state, args, context)
            case Rows():
                return _rows(state, event, context)
            case Resumed() | Closed() | Changed("log" | "outbox" | "product"):
                return Turn(state, _refresh(state, context))
            case Back():
                return _back(state, context)
            case Thing(meanings):
                return _thing(state, meanings, context)
        match state.phase:
            case "list":
                return _list(state, event, context)
            case "filter" | "value":
                return _filter(state, event, context)
            case "export":
                return _export(state, event)
            case "sure":
                return _sure(state, event, context)
        return _read(state, event)


# The store's data


def _opened(state: Logs, args: Mapping[str, Any], context: Context) -> Result:
    filter_ = Filter(product=str(args.get("product_number") or ""), reference=str(args.get("reference") or ""))
    state = state._replace(filter=filter_, reasons=reasons(context.policy.reasons), day=day_of(context.now))
    codes = ",".join(str(reason.code) for reason in state.reasons)
    wishes = (Wish("logs"), Wish("logs", f"losses/{codes}"))
    return Turn(state, (*_refresh(state, context), *wishes))


def _refresh(state: Logs, context: Context) -> tuple[Effect, ...]:
    effects: list[Effect] = [_query(state, context), Query("reasons", "reasons", {}, live=True)]
    if state.phase == "losses":
        effects.append(Query("losses", "losses", {"now": context.now}, live=True))
    if state.entry:
        effects.append(Query("entry", "logs", {"key": state.entry.key}))
    return tuple(effects)


def _query(state: Logs, context: Context) -> Query:
    args = {**arguments(state.filter, context.now), "search": state.typed or state.search}
    return Query("logs", "logs", {**args, "first": state.first, "size": room(context)}, live=True)


def _rows(state: Logs, answer: Rows, context: Context) -> Result:
    rows = answer.rows
    match answer.id:
        case "logs":
            words = {reason.code: reason.words for reason in state.reasons}
            state = state._replace(partial=answer.partly)
            return window.answered(state, answer, tuple(_entry(row, words) for row in rows), context, _query)
        case "entry" if rows:
            words = {reason.code: reason.words for reason in state.reasons}
            return Turn(state._replace(phase="entry", entry=_entry(rows[0], words)))
        case "reasons":
            return Turn(state._replace(reasons=reasons(context.policy.reasons, rows)))
        case "losses":
            return Turn(state._replace(losses=tuple(_loss(row, state.reasons) for row in rows)))
        case "may" if rows and rows[0].get("why") == logs_view.NO_FILES and state.phase == "export":
            return _not_written(state, rows[0], phase="list")
        case "file" if rows:
            return _found(state, rows[0])
        case "exported" if rows:
            return _exported(state, rows[0])
    return Turn(state)


def _entry(row: Mapping[str, Any], words: Mapping[int, str]) -> Entry:
    code = row.get("reason_code")
    known = "" if code is None else words.get(int(number(code)), str(code))
    return Entry(
        key=str(row["key"]),
        at=str(row.get("at") or ""),
        user=str(row.get("app_user_name") or ""),
        product=str(row.get("product_number") or ""),
        label=str(row.get("description") or row.get("product_number") or ""),
        place=str(row.get("location_code") or ""),
        pool=str(row.get("stock_pool") or ""),
        quantity=said(row.get("difference")),
        counted=None if row.get("counted_quantity") is None else number(row["counted_quantity"]),
        expected=None if row.get("expected_quantity") is None else number(row["expected_quantity"]),
        reason=str(row.get("reason_code_description") or known),
        source=str(row.get("source") or ""),
        reference=str(row.get("reference") or ""),
        order=str(row.get("customer_order_number") or ""),
        review=str(row.get("review_status") or ""),
        who=str(row.get("user_name") or ""),
        work=str(row.get("work") or ""),
    )


def _loss(row: Mapping[str, Any], known: tuple[Reason, ...]) -> Loss:
    words = {str(reason.code): reason.words for reason in known}
    code = str(row["reason_code"])
    weeks = tuple(number(week) for week in row.get("weeks") or ())
    return Loss(str(row.get("description") or words.get(code) or code), weeks, number(row.get("total")))


# The list


def _list(state: Logs, event: Event, context: Context) -> Result:
    match event:
        case Text(text) | Unknown(text):
            found = state._replace(search=text, typed="", first=0, cursor=-1)
            return Turn(found, (_query(found, context),))
        case Command("f"):
            return Turn(state._replace(phase="filter"))
        case Command("e"):
            return Turn(state._replace(phase="export"), (Query("may", "file", {"file": logs_view.file_name(state)}),))
        case Command("g"):
            asked = Query("losses", "losses", {"now": context.now}, live=True)
            return Turn(state._replace(phase="losses", page=0), (asked,))
    return window.said(state, event, context, _query, _open, "feg")


def _open(state: Logs, entry: Entry, context: Context) -> Result:
    """Asked for by its number: what a window has shown is no part of the journal."""
    return Turn(state._replace(page=0), (Query("entry", "logs", {"key": entry.key}),))


def _thing(state: Logs, meanings: tuple[Meaning, ...], context: Context) -> Result:
    """A product, a person or a place filters, on every page; a reference is whatever it looks like, and where numbers
    of entries are asked, an order's number is one."""
    first = next((each for each in meanings if each.kind in FIELD_OF), None)
    code = meanings[0].code or meanings[0].key
    if state.field == "reference" or (state.field == "ids" and first is None and bounds(code)):
        return _filtered(state, state.field, code, context)
    if first is None:
        return Turn(state, (), Verdict(WRONG, msg("logs.not_this", what=what_is(meanings[0]))))
    return _filtered(state, FIELD_OF[first.kind], first.key, context)


# The filter


def _filter(state: Logs, event: Event, context: Context) -> Result:
    if state.phase == "filter":
        match event:
            case Choice(choice) if choice <= len(FIELDS):
                return Turn(state._replace(phase="value", field=FIELDS[choice - 1]))
            case Command("x"):
                return _shown(state._replace(filter=Filter(), search=""), context)
        return Turn(state)
    match event:
        case Choice(choice):
            values = values_of(state.field, state.reasons, context.user)
            return _filtered(state, state.field, values[choice - 1], context) if choice <= len(values) else Turn(state)
        case Text(text) | Unknown(text) if state.field in TYPED:
            if state.field == "ids" and bounds(text) is None:
                return Turn(state, (), Verdict(WRONG, msg("logs.no_ids", text=text)))
            return _filtered(state, state.field, text, context)
    return Turn(state)


def _filtered(state: Logs, field: str, value: str, context: Context) -> Result:
    return _shown(state._replace(filter=state.filter._replace(**{field: value})), context)


def _shown(state: Logs, context: Context) -> Result:
    """The list with another filter; what is older than what is here is asked for."""
    state = state._replace(phase="list", field="", first=0, cursor=-1, entry=None)
    wish = () if state.filter.days in ("today", KEPT) else (Wish("logs", f"since/{since(state.filter, context.now)}"),)
    return Turn(state, (_query(state, context), *wish), Verdict(INFO, logs_view.filter_text(state)))


# A file


def _export(state: Logs, event: Event) -> Result:
    """What is typed is the name of a file when it looks like one: a letter may be a key that was meant for a list."""
    match event:
        case Choice(1):
            file = logs_view.file_name(state)
        case Text(text) | Unknown(text) if logs_view.is_file_name(text):
            file = text.strip()
        case Text(text) | Unknown(text):
            return Turn(state, (), Verdict(WRONG, msg("logs.no_name", text=text)))
        case _:
            return Turn(state)
    return Turn(state, (Query("file", "file", {"file": file}),))


def _found(state: Logs, row: Mapping[str, Any]) -> Result:
    """The whole path is shown before anything is written; where nothing can be written, why."""
    if row.get("why"):
        return _not_written(state, row)
    return Turn(state._replace(phase="sure", file=str(row["file"])))


def _sure(state: Logs, event: Event, context: Context) -> Result:
    if event != Choice(1):
        return Turn(state)
    args = {**arguments(state.filter, context.now), "search": state.search}
    return Turn(state, (Export("exported", state.file, "logs", args, COLUMNS),))


def _exported(state: Logs, row: Mapping[str, Any]) -> Result:
    if row.get("why"):
        return _not_written(state, row)
    told = Verdict(GOOD, msg("logs.exported", count=int(number(row["count"])), file=str(row["file"])))
    return Turn(state._replace(phase="list", file=""), (), told)


def _not_written(state: Logs, row: Mapping[str, Any], phase: str = "export") -> Result:
    """Another name can be typed at once; where nobody writes files that is said before one is asked for."""
    why = msg(str(row["why"]), count=int(number(row.get("count"))))
    told = Verdict(WRONG, msg("logs.not_exported", file=str(row["file"]), why=why))
    return Turn(state._replace(phase=phase, file=""), (), told)


# One entry, and the losses


def _read(state: Logs, event: Event) -> Result:
    match event:
        case Command("n" | "p" as key) | Move(key):
            return Turn(state._replace(page=leafed(state.page, key)))
        case Command("e") if state.entry:
            return Turn(state, (Start("store_product", {"product_number": state.entry.product}),))
        case Unknown(code) | Text(code):
            return Turn(state, (), Verdict(WRONG, msg("logs.unknown", code=code)))
    return Turn(state)


def _back(state: Logs, context: Context) -> Result:
    if state.phase in ("value", "sure"):
        return Turn(state._replace(phase="filter" if state.phase == "value" else "export", field="", file=""))
    if state.phase != "list":
        shut = state._replace(phase="list", entry=None)
        return Turn(shut, (_query(shut, context),))
    if state.search or state.typed or state.filter != Filter():
        fresh = state._replace(search="", typed="", filter=Filter(), first=0, cursor=-1)
        return Turn(fresh, (_query(fresh, context),), Verdict(INFO, logs_view.filter_text(fresh)))
    return Turn(state, (Close(),))
