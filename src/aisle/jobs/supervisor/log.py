"""Job that shows the store's log: filtered entries, one entry, CSV export, losses by reason and week.

Interface: List store product logs. The last week is always cached; older entries are requested from the service.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from aisle.jobs import pages
from aisle.jobs.adjust_state import Reason, parse_reasons
from aisle.jobs.job import (
    Args,
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Export,
    Job,
    Opened,
    Query,
    Refresh,
    Resumed,
    Rows,
    Start,
    Turn,
)
from aisle.jobs.pages import page_size, turn_page
from aisle.jobs.product_page import store_day
from aisle.jobs.quantities import name_of, to_decimal, to_decimal_or_none
from aisle.jobs.supervisor import log_view
from aisle.jobs.supervisor.log_filter import (
    CACHED_PERIOD,
    FILTER_FIELDS,
    TYPED_FIELDS,
    LogFilter,
    filter_values,
    first_day,
    parse_id_range,
    query_arguments,
)
from aisle.jobs.supervisor.log_view import LogEntry, LogState, LossSeries
from aisle.jobs.view import GOOD, INFO, WRONG, Verdict, View, msg
from aisle.scan.meaning import (
    LOCATION,
    PERSON,
    PRODUCT,
    Accepts,
    Back,
    Choice,
    Command,
    CursorKey,
    Match,
    Scan,
    Text,
    UnknownCode,
)

if TYPE_CHECKING:
    from aisle.jobs.row_types.log import LogRow, LossesRow
    from aisle.jobs.row_types.operations import FileRow

EXPORT_COLUMNS = (
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
"""Columns of the exported file."""

FILTER_FIELD_OF = {PRODUCT: "product", PERSON: "user", LOCATION: "location"}
"""Filter field of each kind of scan, on every page, in the order in which a code's meanings are tried."""

Result = Turn[LogState]


class LogJob(Job[LogState]):
    """Job that shows and exports the log."""

    name = "log"
    steps: tuple[str, ...] = (
        *("log", "log.entry", "log.filter", "log.value"),
        *("log.export", "log.confirm", "log.losses"),
    )
    version = 1
    journalled = True

    def begin(self) -> LogState:
        """Return the state with the last week."""
        return LogState()

    def accepts(self, state: LogState) -> Accepts:
        """Accept numbers for rows and filter fields, and letters for filter, export and chart."""
        if state.phase == "list":
            return Accepts(
                choices=pages.numbered_rows(state),
                command_letters=f"feg{pages.page_letters(state)}",
                follows_typing=True,
            )
        typed = state.phase == "export" or (state.phase == "value" and state.field in TYPED_FIELDS)
        letters = {"losses": pages.PAGE_LETTERS, "entry": f"{pages.PAGE_LETTERS}e", "filter": "x"}.get(state.phase, "")
        return Accepts(
            choices=len(log_view.page_choices(state)),
            command_letters=letters,
            text=typed,
            typed_only=state.phase == "confirm",
        )

    def prefers(self, state: LogState) -> tuple[str, ...]:
        """Prefer the kind of the field being edited, then products, people and locations."""
        wanted = [kind for kind, field in FILTER_FIELD_OF.items() if field == state.field]
        return (*wanted, *(kind for kind in FILTER_FIELD_OF if kind not in wanted))

    def step_name(self, state: LogState) -> str:
        """Return one of `steps`."""
        return "log" if state.phase == "list" else f"log.{state.phase}"

    def view(self, state: LogState) -> View:
        """Return the screen of the open page."""
        return log_view.page_view(state)

    def handle(self, state: LogState, event: Event, context: Context) -> Result:
        """Return the next state. Each page has its own functions below."""
        match event:
            case Opened(args):
                return _handle_opened(state, args, context)
            case Rows():
                return _handle_rows(state, event, context)
            case Resumed() | Closed() | Changed("log" | "outbox" | "product"):
                return Turn(state, _refresh(state, context))
            case Back():
                return _go_back(state, context)
            case Scan(meanings):
                return _handle_scan(state, meanings, context)
        match state.phase:
            case "list":
                return _handle_list_input(state, event, context)
            case "filter" | "value":
                return _handle_filter_input(state, event, context)
            case "export":
                return _handle_file_name(state, event)
            case "confirm":
                return _handle_confirmation(state, event, context)
        return _handle_page_input(state, event)


# Queries and answers


def _handle_opened(state: LogState, args: Args, context: Context) -> Result:
    filter_ = LogFilter(product=str(args.get("product_number") or ""), reference=str(args.get("reference") or ""))
    state = state._replace(
        filter=filter_, reasons=parse_reasons(context.policy.adjustment_reasons), today=store_day(context.now)
    )
    codes = ",".join(str(reason.code) for reason in state.reasons)
    refreshes = (Refresh("logs"), Refresh("logs", f"losses/{codes}"))
    return Turn(state, (*_refresh(state, context), *refreshes))


def _refresh(state: LogState, context: Context) -> tuple[Effect, ...]:
    effects: list[Effect] = [_query(state, context), Query("reasons", "reasons", {}, is_live=True)]
    if state.phase == "losses":
        effects.append(Query("losses", "losses", {"now": context.now}, is_live=True))
    if state.entry:
        effects.append(Query("entry", "log", {"key": state.entry.key}))
    return tuple(effects)


def _query(state: LogState, context: Context) -> Query:
    args = {**query_arguments(state.filter, context.now), "search": state.typed or state.search}
    return Query("log", "log", {**args, "first": state.first, "size": page_size(context)}, is_live=True)


def _handle_rows(state: LogState, answer: Rows, context: Context) -> Result:
    rows = answer.rows
    match answer.id:
        case "log":
            reason_texts = {reason.code: reason.text for reason in state.reasons}
            state = state._replace(is_loading_older=answer.may_have_more)
            return pages.handle_rows(
                state, answer, tuple(_parse_entry(row, reason_texts) for row in rows), context, _query
            )
        case "entry" if rows:
            reason_texts = {reason.code: reason.text for reason in state.reasons}
            return Turn(state._replace(phase="entry", entry=_parse_entry(rows[0], reason_texts)))
        case "reasons":
            return Turn(state._replace(reasons=parse_reasons(context.policy.adjustment_reasons, rows)))
        case "losses":
            return Turn(state._replace(losses=tuple(_parse_loss(row, state.reasons) for row in rows)))
        case "may" if rows and rows[0].get("why") == log_view.FILES_FORBIDDEN and state.phase == "export":
            return _report_not_written(state, rows[0], phase="list")
        case "file" if rows:
            return _confirm_file(state, rows[0])
        case "exported" if rows:
            return _report_export(state, rows[0])
    return Turn(state)


def _parse_entry(row: LogRow, reason_texts: Mapping[int, str]) -> LogEntry:
    code = row.get("reason_code")
    known = "" if code is None else reason_texts.get(int(to_decimal(code)), str(code))
    return LogEntry(
        key=str(row["key"]),
        at=str(row.get("at") or ""),
        user=str(row.get("app_user_name") or ""),
        product=str(row.get("product_number") or ""),
        label=str(row.get("description") or row.get("product_number") or ""),
        location=str(row.get("location_code") or ""),
        pool=str(row.get("stock_pool") or ""),
        change=to_decimal_or_none(row.get("difference")),
        counted=None if row.get("counted_quantity") is None else to_decimal(row["counted_quantity"]),
        expected=None if row.get("expected_quantity") is None else to_decimal(row["expected_quantity"]),
        reason=str(row.get("reason_code_description") or known),
        source=str(row.get("source") or ""),
        reference=str(row.get("reference") or ""),
        order=str(row.get("customer_order_number") or ""),
        review_status=str(row.get("review_status") or ""),
        user_name=str(row.get("user_name") or ""),
        activity=str(row.get("work") or ""),
    )


def _parse_loss(row: LossesRow, reasons: tuple[Reason, ...]) -> LossSeries:
    reason_texts = {str(reason.code): reason.text for reason in reasons}
    code = str(row["reason_code"])
    weeks = tuple(to_decimal(week) for week in row.get("weeks") or ())
    return LossSeries(
        str(row.get("description") or reason_texts.get(code) or code), weeks, to_decimal(row.get("total"))
    )


# List


def _handle_list_input(state: LogState, event: Event, context: Context) -> Result:
    match event:
        case Text(text) | UnknownCode(text):
            found = state._replace(search=text, typed="", first=0, cursor=-1)
            return Turn(found, (_query(found, context),))
        case Command("f"):
            return Turn(state._replace(phase="filter"))
        case Command("e"):
            return Turn(state._replace(phase="export"), (Query("may", "file", {"file": log_view.file_name(state)}),))
        case Command("g"):
            query = Query("losses", "losses", {"now": context.now}, is_live=True)
            return Turn(state._replace(phase="losses", page=0), (query,))
    return pages.handle_list_input(state, event, context, _query, _open_entry, "feg")


def _open_entry(state: LogState, entry: LogEntry, context: Context) -> Result:
    """Query an entry by its number, because the rows of a window are not journalled."""
    return Turn(state._replace(page=0), (Query("entry", "log", {"key": entry.key}),))


def _handle_scan(state: LogState, matches: tuple[Match, ...], context: Context) -> Result:
    """Filter by a scanned product, person or location on every page.

    A reference may look like any code. If entry numbers are asked for, an order number counts as one.
    """
    first = next((each for each in matches if each.kind in FILTER_FIELD_OF), None)
    code = matches[0].code or matches[0].key
    if state.field == "reference" or (state.field == "ids" and first is None and parse_id_range(code)):
        return _set_filter(state, state.field, code, context)
    if first is None:
        return Turn(state, (), Verdict(WRONG, msg("log.not_this", what=name_of(matches[0]))))
    return _set_filter(state, FILTER_FIELD_OF[first.kind], first.key, context)


# Filter


def _handle_filter_input(state: LogState, event: Event, context: Context) -> Result:
    if state.phase == "filter":
        match event:
            case Choice(choice) if choice <= len(FILTER_FIELDS):
                return Turn(state._replace(phase="value", field=FILTER_FIELDS[choice - 1]))
            case Command("x"):
                return _show_list(state._replace(filter=LogFilter(), search=""), context)
        return Turn(state)
    match event:
        case Choice(choice):
            values = filter_values(state.field, state.reasons, context.user)
            return (
                _set_filter(state, state.field, values[choice - 1], context) if choice <= len(values) else Turn(state)
            )
        case Text(text) | UnknownCode(text) if state.field in TYPED_FIELDS:
            if state.field == "ids" and parse_id_range(text) is None:
                return Turn(state, (), Verdict(WRONG, msg("log.no_range", text=text)))
            return _set_filter(state, state.field, text, context)
    return Turn(state)


def _set_filter(state: LogState, field: str, value: str, context: Context) -> Result:
    return _show_list(state._replace(filter=state.filter._replace(**{field: value})), context)


def _show_list(state: LogState, context: Context) -> Result:
    """Show the list with another filter. Request entries that are older than the cached ones."""
    state = state._replace(phase="list", field="", first=0, cursor=-1, entry=None)
    refreshes = (
        ()
        if state.filter.period in ("today", CACHED_PERIOD)
        else (Refresh("logs", f"since/{first_day(state.filter, context.now)}"),)
    )
    return Turn(state, (_query(state, context), *refreshes), Verdict(INFO, log_view.filter_text(state)))


# Export


def _handle_file_name(state: LogState, event: Event) -> Result:
    """Handle a typed file name. Text that does not look like one is rejected: it may be a key meant for the list."""
    match event:
        case Choice(1):
            file = log_view.file_name(state)
        case Text(text) | UnknownCode(text) if log_view.is_file_name(text):
            file = text.strip()
        case Text(text) | UnknownCode(text):
            return Turn(state, (), Verdict(WRONG, msg("log.no_name", text=text)))
        case _:
            return Turn(state)
    return Turn(state, (Query("file", "file", {"file": file}),))


def _confirm_file(state: LogState, row: FileRow) -> Result:
    """Show the whole path before the file is written, or the reason why it cannot be written."""
    if row.get("why"):
        return _report_not_written(state, row)
    return Turn(state._replace(phase="confirm", file_path=str(row["file"])))


def _handle_confirmation(state: LogState, event: Event, context: Context) -> Result:
    if event != Choice(1):
        return Turn(state)
    args = {**query_arguments(state.filter, context.now), "search": state.search}
    return Turn(state, (Export("exported", state.file_path, "log", args, EXPORT_COLUMNS),))


def _report_export(state: LogState, row: FileRow) -> Result:
    if row.get("why"):
        return _report_not_written(state, row)
    verdict = Verdict(GOOD, msg("log.exported", count=int(to_decimal(row["count"])), file=str(row["file"])))
    return Turn(state._replace(phase="list", file_path=""), (), verdict)


def _report_not_written(state: LogState, row: FileRow, phase: str = "export") -> Result:
    """Report that no file was written. Another name can be typed, except if files are forbidden altogether."""
    why = msg(str(row["why"]), count=int(to_decimal(row.get("count"))))
    verdict = Verdict(WRONG, msg("log.not_exported", file=str(row["file"]), why=why))
    return Turn(state._replace(phase=phase, file_path=""), (), verdict)


# Entry and losses


def _handle_page_input(state: LogState, event: Event) -> Result:
    match event:
        case Command("n" | "p" as key) | CursorKey(key):
            return Turn(state._replace(page=turn_page(state.page, key)))
        case Command("e") if state.entry:
            return Turn(state, (Start("store_product", {"product_number": state.entry.product}),))
        case UnknownCode(code) | Text(code):
            return Turn(state, (), Verdict(WRONG, msg("log.unknown", code=code)))
    return Turn(state)


def _go_back(state: LogState, context: Context) -> Result:
    if state.phase in ("value", "confirm"):
        return Turn(state._replace(phase="filter" if state.phase == "value" else "export", field="", file_path=""))
    if state.phase != "list":
        closed = state._replace(phase="list", entry=None)
        return Turn(closed, (_query(closed, context),))
    if state.search or state.typed or state.filter != LogFilter():
        fresh = state._replace(search="", typed="", filter=LogFilter(), first=0, cursor=-1)
        return Turn(fresh, (_query(fresh, context),), Verdict(INFO, log_view.filter_text(fresh)))
    return Turn(state, (Close(),))
