"""Job that shows the store's log: filtered entries, one entry, CSV export, losses by reason and week.

Interface: List store product logs. The last week is always cached; older entries are requested from the service.
"""

from __future__ import annotations

from decimal import Decimal
from functools import partial

from aisle.jobs.adjust_state_view_and_undo import parse_reasons
from aisle.jobs.job import Args, Close, Context, Effect, Export, Query, Refresh, Rows, Start, Turn, reply
from aisle.jobs.pages_and_page_job import Action, DetailPage, FormPage, Page, PagedPage, PageJob, refuse
from aisle.jobs.row_types.log import LogRow, LossesRow
from aisle.jobs.row_types.operations_and_session_answers import FileRow
from aisle.jobs.store_time import store_day
from aisle.jobs.supervisor.exception_decisions import write_at_store
from aisle.jobs.supervisor.log_list import (
    CACHED_PERIOD,
    FILTER_FIELDS,
    LIST,
    REVIEW_NAMES,
    REVIEWED,
    TO_REVIEW,
    TYPED_FIELDS,
    LogFilter,
    LogState,
    Result,
    change_message,
    entry_label,
    field_text,
    file_name,
    filter_text,
    filter_values,
    first_day,
    parse_id_range,
    query_arguments,
    query_entry,
    query_losses,
    reason_text,
    superseded_message,
    value_name,
)
from aisle.jobs.typed_numbers_dates_and_letters import name_of
from aisle.jobs.view import BACK, GOOD, INFO, PAGE_HINTS, Block, Chart, KeyHint, Line, Msg, Series, Verdict, msg, raw
from aisle.scan.codes_of_store_and_suppliers import is_foreign_qr_code
from aisle.scan.grammar_and_meaning_types import LOCATION, PERSON, PRODUCT, Accepts, Match

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

MAX_PEOPLE = 500
"""Most people whose names the filter shows."""

MIN_FILE_NAME_LETTERS = 3
"""Letters from which a word may be a file name. A shorter word needs a `.` or `/`."""

FILES_FORBIDDEN = "log.files_forbidden"
"""Reason given for every file if the session writes none: in a browser and in a kiosk."""


# Filter


class LogQuestion(FormPage[LogState]):
    """Question over the list. Text is no answer, and Back returns to the list."""

    def handle_text(self, state: LogState, text: str, context: Context) -> Result:
        return Turn(state)

    def go_back(self, state: LogState, context: Context) -> Result:
        return close_page(state, context)


class FilterPage(LogQuestion):
    """Choice of the field to edit."""

    name = "log.filter"
    title_text = msg("hint.filter")
    prompt_text = msg("unconfirmed.choose")

    def lines(self, state: LogState) -> tuple[Line, ...]:
        """Return the filter without the fields that the choices name."""
        listed = LogFilter(period=state.filter.period, location=state.filter.location)
        return (Line("note", filter_text(state._replace(filter=listed))),)

    def actions(self, state: LogState) -> Actions:
        fields = (Action(field_text(state, field), partial(_edit_field, field)) for field in FILTER_FIELDS)
        return (*fields, Action(msg("log.clear"), _clear_filter, "x"))


def _edit_field(field: str, state: LogState, context: Context) -> Result:
    return Turn(state._replace(phase="value", field=field))


def _clear_filter(state: LogState, context: Context) -> Result:
    return _show_list(state._replace(filter=LogFilter(), search=""), context)


class ValuePage(LogQuestion):
    """Choice of a value for the field; some are typed or scanned."""

    name = "log.value"
    title_text = msg("hint.filter")

    def prompt(self, state: LogState) -> Msg:
        return msg("log.prompt_typed" if state.field in TYPED_FIELDS else "unconfirmed.choose")

    def lines(self, state: LogState) -> tuple[Line, ...]:
        return (Line("note", field_text(state, state.field)),)

    def actions(self, state: LogState) -> Actions:
        names = tuple(value_name(state, state.field, value) for value in filter_values(state.field, state.reasons))
        if state.field == "user":
            names = (msg("orders.any"), msg("log.mine"))
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
    return turn._replace(
        verdict=Verdict(
            INFO,
            msg(
                "log.filtered", period=value_name(state, "period", state.filter.period), filter=field_text(state, field)
            ),
        )
    )


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


class ExportPage(LogQuestion):
    """Question for the name of the file."""

    name = "log.export"
    prompt_text = msg("log.prompt_export")

    def title(self, state: LogState) -> Msg:
        return msg("log.title_export", count=state.total)

    def lines(self, state: LogState) -> tuple[Line, ...]:
        return (Line("note", filter_text(state)),)

    def actions(self, state: LogState) -> Actions:
        name = file_name(state)
        return (Action(msg("raw", text=name), lambda state, _: _query_file(state, name)),)

    def accepts(self, state: LogState) -> Accepts:
        return super().accepts(state)._replace(text=True)

    def handle_text(self, state: LogState, text: str, context: Context) -> Result:
        """Handle a typed file name. Text that does not look like one may be a key meant for the list."""
        if _is_file_name(text):
            return _query_file(state, text.strip())
        return refuse(state, msg("log.no_name", text=text))


def _is_file_name(text: str) -> bool:
    if is_foreign_qr_code(text):
        return False
    return "." in text or "/" in text or sum(letter.isalpha() for letter in text) >= MIN_FILE_NAME_LETTERS


def _query_file(state: LogState, file: str) -> Result:
    return Turn(state, (Query("file", "file", {"file": file}),))


class ConfirmPage(LogQuestion):
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

    def go_back(self, state: LogState, context: Context) -> Result:
        return Turn(state._replace(phase="export", file_path=""))


def _export(state: LogState, context: Context) -> Result:
    args = {**query_arguments(state.filter, context.now), "search": state.search}
    return Turn(state, (Export("exported", state.file_path, "log", args, EXPORT_COLUMNS),))


def is_code(search: str) -> bool:
    """Return True if a search looks like a scanned code, and not like words."""
    return " " not in search and any(map(str.isdigit, search))


def handle_file_answer(state: LogState, id_: str, row: FileRow) -> Result:
    """Handle what became of the file: it may be written, it can be written there, it is written."""
    if id_ == "may":
        is_forbidden = row["why"] == FILES_FORBIDDEN and state.phase == "export"
        return _report_not_written(state._replace(phase="list"), row) if is_forbidden else Turn(state)
    if row["why"]:
        return _report_not_written(state._replace(phase="export"), row)
    if id_ == "file":
        return Turn(state._replace(phase="confirm", file_path=row["file"]))
    listed = state._replace(phase="list", file_path="")
    return reply(listed, GOOD, "list.exported", count=row["count"], file=row["file"])


def _report_not_written(state: LogState, row: FileRow) -> Result:
    why = msg(row["why"], count=row["count"])
    return refuse(state._replace(file_path=""), msg("log.not_exported", file=row["file"], why=why))


FILTER_FIELD_OF = {PRODUCT: "product", PERSON: "user", LOCATION: "location"}
"""Filter field of each kind of scan, on every page, in the order in which a code's meanings are tried."""


class EntryPage(DetailPage[LogState]):
    """Page of one entry."""

    name = "log.entry"
    title_text = msg("my_entries.title_entry")
    prompt_text = msg("order.prompt_read")

    def lines(self, state: LogState) -> tuple[Line, ...]:
        entry = state.entry
        if entry is None:
            return ()
        lines = (Line("product", raw(entry_label(entry))), Line("quantity", change_message(entry)))
        return (*lines, Line("note", superseded_message(entry, state.today))) if entry["superseded_at"] else lines

    def blocks(self, state: LogState) -> tuple[Block, ...]:
        return (Block(msg("deliveries.about"), _entry_rows(state), is_compact=True),)

    def actions(self, state: LogState) -> tuple[Action[LogState], ...]:
        review = (Action(msg("log.mark_reviewed"), _mark_reviewed, "r"),) if _can_review(state) else ()
        return (*review, Action(msg("hint.store_product"), _start_store_product, "e"))

    def key_hints(self, state: LogState) -> tuple[KeyHint, ...]:
        own = (KeyHint(action.letter, action.text) for action in self.actions(state))
        return (*PAGE_HINTS, *own, BACK)

    def go_back(self, state: LogState, context: Context) -> Result:
        return Turn(state, (Close(),)) if state.is_alone else close_page(state, context)


def _entry_rows(state: LogState) -> tuple[tuple[Msg, ...], ...]:
    entry = state.entry
    if entry is None:
        return ()
    reason = reason_text(entry["reason_code"], entry["reason_code_description"], state.reasons)
    counted, expected, review = entry["counted_quantity"], entry["expected_quantity"], entry["review_status"]
    rows = (
        (msg("head.number"), raw(entry["key"])),
        (msg("head.time"), msg("moment", at=entry["at"])),
        (msg("unconfirmed.head_user"), raw(entry["user_name"] or entry["app_user_name"])),
        (msg("head.location"), raw(entry["location_code"])),
        (msg("label.pool"), raw(entry["stock_pool"])),
        (msg("head.reason"), raw(reason)),
        (msg("head.source"), value_name(state, "source", entry["source"]) if entry["source"] else raw("")),
        (msg("orders.head_reference"), raw(entry["reference"])),
        (msg("head.order"), raw(entry["customer_order_number"])),
        (msg("label.product_number"), raw(entry["product_number"])),
        (msg("head.counted"), raw("") if counted is None else msg("number", value=counted)),
        (msg("head.expected"), raw("") if expected is None else msg("number", value=expected)),
        (msg("head.review"), msg(REVIEW_NAMES.get(review, "log.not_to_review")) if review else raw("")),
    )
    return tuple(row for row in rows if row[1] != raw(""))


def _can_review(state: LogState) -> bool:
    """Return whether the service keeps that the entry is reviewed."""
    entry = state.entry
    return bool(entry and "reviews" in state.features and entry["review_status"] == TO_REVIEW)


def _mark_reviewed(state: LogState, context: Context) -> Result:
    """Mark the entry as reviewed. The service closes the review."""
    assert state.entry is not None
    key, body = state.entry["key"], {"id": int(state.entry["key"]), "review_status": int(REVIEWED)}
    write = write_at_store("review-logs", (f"log/{key}",), context.store, {"reviews": [body]})
    entry = _as_reviewed(state.entry)
    state = state._replace(entry=entry, reviewed=(*state.reviewed, key))
    return reply(state, GOOD, "log.marked_reviewed", write, label=entry_label(entry))


def _as_reviewed(entry: LogRow) -> LogRow:
    return {**entry, "review_status": REVIEWED}


def _start_store_product(state: LogState, context: Context) -> Result:
    product = state.entry["product_number"] if state.entry else ""
    return Turn(state, (Start("store_product", {"product_number": product}),))


class LossesPage(PagedPage[LogState]):
    """Chart of losses: a row of bars for each reason, a bar for each week."""

    name = "log.losses"

    def view(self, state: LogState) -> Chart:
        count = max((len(row["weeks"]) for row in state.losses), default=0)
        ago = (msg("log.weeks_ago", count=count - 1 - at) for at in range(count - 1))
        total = sum((row["total"] for row in state.losses), Decimal(0))
        return Chart(
            name=self.name,
            title=msg("hint.losses"),
            prompt=msg("order.prompt_read"),
            lines=(Line("note", msg("log.lost", quantity=total, count=count)),) if state.losses else (),
            series=tuple(self._series(state, row) for row in state.losses),
            axis=(*ago, msg("log.now")) if count else (),
            page=state.page,
            empty=msg("list.empty"),
            key_hints=self.key_hints(state),
        )

    def _series(self, state: LogState, row: LossesRow) -> Series:
        reason = reason_text(row["reason_code"], row["description"], state.reasons)
        return Series(raw(reason), tuple(row["weeks"]), row["total"])

    def go_back(self, state: LogState, context: Context) -> Result:
        return close_page(state, context)


PAGES: dict[str, Page[LogState]] = {
    "list": LIST,
    "entry": EntryPage(),
    "filter": FilterPage(),
    "value": ValuePage(),
    "export": ExportPage(),
    "confirm": ConfirmPage(),
    "losses": LossesPage(),
}


class LogJob(PageJob[LogState]):
    """Job that shows and exports the log."""

    name = "log"
    lists = ("logs",)
    state_type = LogState
    steps: tuple[str, ...] = tuple(page.name for page in PAGES.values())
    topics = ("log", "outbox", "product")

    def page(self, state: LogState) -> Page[LogState]:
        return PAGES[state.phase]

    def prefers(self, state: LogState) -> tuple[str, ...]:
        """Prefer the kind of the field being edited, then products, people and locations."""
        return tuple(sorted(FILTER_FIELD_OF, key=lambda kind: FILTER_FIELD_OF[kind] != state.field))

    def handle_opened(self, state: LogState, args: Args, context: Context) -> Result:
        filter_ = LogFilter(product=str(args.get("product_number") or ""), reference=str(args.get("reference") or ""))
        reasons = parse_reasons(context.policy.adjustment_reasons)
        state = state._replace(filter=filter_, reasons=reasons, today=store_day(context.now))
        if key := str(args.get("key") or ""):
            alone = state._replace(phase="entry", is_alone=True)
            return Turn(alone, (*self.queries(alone, context), query_entry(key)))
        codes = ",".join(str(reason.code) for reason in reasons)
        return Turn(state, (*self.queries(state, context), Refresh("logs"), Refresh("logs", f"losses/{codes}")))

    def queries(self, state: LogState, context: Context) -> tuple[Effect, ...]:
        losses = (query_losses(context),) if state.phase == "losses" else ()
        entry = (query_entry(state.entry["key"]),) if state.entry else ()
        people = Query("people", "people", {"search": "", "first": 0, "size": MAX_PEOPLE}, is_live=True)
        known = (Query("reasons", "reasons", {}, is_live=True), Query("features", "features", {}, is_live=True))
        return (LIST.query(state, context), *known, people, *losses, *entry)

    def handle_rows(self, state: LogState, answer: Rows, context: Context) -> Result:
        rows = answer.rows
        match answer.id:
            case "log":
                return LIST.handle_rows(state, answer, context)
            case "entry" if rows:
                entry = _as_reviewed(rows[0]) if rows[0]["key"] in state.reviewed else rows[0]
                return Turn(state._replace(phase="entry", entry=entry))
            case "reasons":
                return Turn(state._replace(reasons=parse_reasons(context.policy.adjustment_reasons, rows)))
            case "people":
                return Turn(state._replace(people=rows))
            case "features":
                return Turn(state._replace(features=tuple(rows[0]["features"]) if rows else ()))
            case "log_sums":
                return Turn(LIST.with_sums(state, rows[0]))
            case "losses":
                return Turn(state._replace(losses=rows))
            case "may" | "file" | "exported" if rows:
                return handle_file_answer(state, answer.id, rows[0])
        return Turn(state)

    def handle_scan(self, state: LogState, matches: tuple[Match, ...], context: Context) -> Result:
        """Filter by a scanned product, person or location on every page. A reference may look like any code. If entry
        numbers are asked for, an order number counts as one."""
        first = next((each for each in matches if each.kind in FILTER_FIELD_OF), None)
        code = matches[0].code or matches[0].key
        if state.field == "reference" or (state.field == "ids" and first is None and parse_id_range(code)):
            return set_filter(state, state.field, code, context)
        if first is None:
            return refuse(state, msg("page.not_this", what=name_of(matches[0])))
        if is_code(state.search):
            state = state._replace(search="")  # an unknown scan, of which this one takes the place
        return set_filter(state, FILTER_FIELD_OF[first.kind], first.key, context)
