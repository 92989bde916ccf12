"""Questions of the log: the fields of its filter and their values, and the file of an export."""

from __future__ import annotations

from functools import partial

from aisle.jobs.job import Context, Export, Query, Refresh, Turn
from aisle.jobs.page_job import Action, FormPage, refuse
from aisle.jobs.row_types.operations import FileRow
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
from aisle.jobs.supervisor.log_list import (
    LIST,
    LogState,
    Result,
    field_text,
    file_name,
    filter_text,
    value_name,
)
from aisle.jobs.view import GOOD, INFO, Line, Msg, Verdict, msg, raw
from aisle.scan.meaning import Accepts
from aisle.scan.qr_payloads import is_qr_payload

Actions = tuple[Action[LogState], ...]

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

MIN_FILE_NAME_LETTERS = 3
"""Letters from which a word may be a file name. A shorter word needs a `.` or `/`."""

FILES_FORBIDDEN = "log.files_forbidden"
"""Reason given for every file if the session writes none: in a browser and in a kiosk."""


# Filter


class FilterPage(FormPage[LogState]):
    """Choice of the field to edit."""

    name = "log.filter"
    title_text = msg("log.title_filter")
    prompt_text = msg("log.prompt_filter")

    def lines(self, state: LogState) -> tuple[Line, ...]:
        """Return the filter without the fields that the choices name."""
        listed = LogFilter(period=state.filter.period, location=state.filter.location)
        return (Line("note", filter_text(state._replace(filter=listed))),)

    def actions(self, state: LogState) -> Actions:
        fields = (Action(field_text(state, field), partial(_edit_field, field)) for field in FILTER_FIELDS)
        return (*fields, Action(msg("log.clear"), _clear_filter, "x"))

    def handle_text(self, state: LogState, text: str, context: Context) -> Result:
        return Turn(state)

    def go_back(self, state: LogState, context: Context) -> Result:
        return close_page(state, context)


def _edit_field(field: str, state: LogState, context: Context) -> Result:
    return Turn(state._replace(phase="value", field=field))


def _clear_filter(state: LogState, context: Context) -> Result:
    return _show_list(state._replace(filter=LogFilter(), search=""), context)


class ValuePage(FormPage[LogState]):
    """Choice of a value for the field; some are typed or scanned."""

    name = "log.value"
    title_text = msg("log.title_filter")

    def prompt(self, state: LogState) -> Msg:
        return msg("log.prompt_typed" if state.field in TYPED_FIELDS else "count.prompt_number")

    def lines(self, state: LogState) -> tuple[Line, ...]:
        return (Line("note", field_text(state, state.field)),)

    def actions(self, state: LogState) -> Actions:
        names = tuple(value_name(state, state.field, value) for value in filter_values(state.field, state.reasons))
        if state.field == "user":
            names = (msg("log.any"), msg("log.mine"))
        return tuple(Action(name, partial(_choose_value, index)) for index, name in enumerate(names))

    def accepts(self, state: LogState) -> Accepts:
        return super().accepts(state)._replace(text=state.field in TYPED_FIELDS)

    def handle_text(self, state: LogState, text: str, context: Context) -> Result:
        if state.field not in TYPED_FIELDS:
            return Turn(state)
        if state.field == "ids" and parse_id_range(text) is None:
            return refuse(state, msg("log.no_range", text=text))
        return set_filter(state, state.field, text, context)

    def go_back(self, state: LogState, context: Context) -> Result:
        return Turn(state._replace(phase="filter", field=""))


def _choose_value(index: int, state: LogState, context: Context) -> Result:
    return set_filter(state, state.field, filter_values(state.field, state.reasons, context.user)[index], context)


def set_filter(state: LogState, field: str, value: str, context: Context) -> Result:
    """Set a field of the filter and show the list; of several fields the verdict names this one."""
    state = state._replace(filter=state.filter._replace(**{field: value}))
    turn, text = _show_list(state, context), filter_text(state)
    if text.id != "log.filtered_several" or field == "period" or not value:
        return turn
    named = msg(
        "log.filtered", period=value_name(state, "period", state.filter.period), filter=field_text(state, field)
    )
    return turn._replace(verdict=Verdict(INFO, named))


def _show_list(state: LogState, context: Context) -> Result:
    """Show the list with another filter. Request entries that are older than the cached ones."""
    turn = LIST.restart(state._replace(phase="list", field="", entry=None), context, filter_text(state))
    if state.filter.period in ("today", CACHED_PERIOD):
        return turn
    older = Refresh("logs", f"since/{first_day(state.filter, context.now)}")
    return turn._replace(effects=(*turn.effects, older))


def close_page(state: LogState, context: Context) -> Result:
    """Return to the list."""
    closed = state._replace(phase="list", entry=None)
    return Turn(closed, (LIST.query(closed, context),))


# Export


class ExportPage(FormPage[LogState]):
    """Question for the name of the file."""

    name = "log.export"
    prompt_text = msg("log.prompt_export")

    def title(self, state: LogState) -> Msg:
        return msg("log.title_export", count=state.total)

    def lines(self, state: LogState) -> tuple[Line, ...]:
        return (Line("note", filter_text(state)),)

    def actions(self, state: LogState) -> Actions:
        name = file_name(state)
        return (Action(msg("log.file", file=name), lambda state, _: _query_file(state, name)),)

    def accepts(self, state: LogState) -> Accepts:
        return super().accepts(state)._replace(text=True)

    def handle_text(self, state: LogState, text: str, context: Context) -> Result:
        """Handle a typed file name. Text that does not look like one may be a key meant for the list."""
        if _is_file_name(text):
            return _query_file(state, text.strip())
        return refuse(state, msg("log.no_name", text=text))

    def go_back(self, state: LogState, context: Context) -> Result:
        return close_page(state, context)


def _is_file_name(text: str) -> bool:
    if is_qr_payload(text):
        return False
    return "." in text or "/" in text or sum(letter.isalpha() for letter in text) >= MIN_FILE_NAME_LETTERS


def _query_file(state: LogState, file: str) -> Result:
    return Turn(state, (Query("file", "file", {"file": file}),))


class ConfirmPage(FormPage[LogState]):
    """Question before the file is written, with its whole path."""

    name = "log.confirm"
    prompt_text = msg("log.prompt_confirm")
    typed_only = True

    def title(self, state: LogState) -> Msg:
        return msg("log.title_export", count=state.total)

    def lines(self, state: LogState) -> tuple[Line, ...]:
        return (Line("note", raw(state.file_path)),)

    def actions(self, state: LogState) -> Actions:
        return (Action(msg("log.write"), _export),)

    def handle_text(self, state: LogState, text: str, context: Context) -> Result:
        return Turn(state)

    def go_back(self, state: LogState, context: Context) -> Result:
        return Turn(state._replace(phase="export", file_path=""))


def _export(state: LogState, context: Context) -> Result:
    args = {**query_arguments(state.filter, context.now), "search": state.search}
    return Turn(state, (Export("exported", state.file_path, "log", args, EXPORT_COLUMNS),))


def handle_file_answer(state: LogState, id_: str, row: FileRow) -> Result:
    """Handle what became of the file: it may be written, it can be written there, it is written."""
    if id_ == "may":
        is_forbidden = row["why"] == FILES_FORBIDDEN and state.phase == "export"
        return _report_not_written(state._replace(phase="list"), row) if is_forbidden else Turn(state)
    if row["why"]:
        return _report_not_written(state._replace(phase="export"), row)
    if id_ == "file":
        return Turn(state._replace(phase="confirm", file_path=row["file"]))
    verdict = Verdict(GOOD, msg("log.exported", count=row["count"], file=row["file"]))
    return Turn(state._replace(phase="list", file_path=""), (), verdict)


def _report_not_written(state: LogState, row: FileRow) -> Result:
    why = msg(row["why"], count=row["count"])
    return refuse(state._replace(file_path=""), msg("log.not_exported", file=row["file"], why=why))
