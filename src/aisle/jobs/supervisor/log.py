"""Job that shows the store's log: filtered entries, one entry, CSV export, losses by reason and week.

Interface: List store product logs. The last week is always cached; older entries are requested from the service.
"""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs.adjust_state import parse_reasons
from aisle.jobs.job import Args, Context, Effect, Query, Refresh, Rows, Start, Turn
from aisle.jobs.page_job import Action, DetailPage, Page, PagedPage, PageJob, refuse
from aisle.jobs.product_page import store_day
from aisle.jobs.quantities import name_of
from aisle.jobs.row_types.log import LossesRow
from aisle.jobs.supervisor.log_filter import LogFilter, parse_id_range
from aisle.jobs.supervisor.log_list import (
    LIST,
    REVIEW_NAMES,
    LogState,
    Result,
    change_message,
    entry_label,
    query_entry,
    query_losses,
    reason_text,
)
from aisle.jobs.supervisor.log_questions import (
    ConfirmPage,
    ExportPage,
    FilterPage,
    ValuePage,
    close_page,
    handle_file_answer,
    set_filter,
)
from aisle.jobs.view import BACK, PAGE_HINTS, Block, Chart, KeyHint, Line, Msg, Series, msg, raw
from aisle.scan.meaning import LOCATION, PERSON, PRODUCT, Match

FILTER_FIELD_OF = {PRODUCT: "product", PERSON: "user", LOCATION: "location"}
"""Filter field of each kind of scan, on every page, in the order in which a code's meanings are tried."""


class EntryPage(DetailPage[LogState]):
    """Page of one entry."""

    name = "log.entry"
    title_text = msg("my_entries.title_entry")
    prompt_text = msg("my_entries.prompt_entry")

    def lines(self, state: LogState) -> tuple[Line, ...]:
        entry = state.entry
        return (Line("product", raw(entry_label(entry))), Line("quantity", change_message(entry))) if entry else ()

    def blocks(self, state: LogState) -> tuple[Block, ...]:
        return (Block(msg("log.about"), _entry_rows(state), is_compact=True),)

    def actions(self, state: LogState) -> tuple[Action[LogState], ...]:
        return (Action(msg("hint.store_product"), _start_store_product, "e"),)

    def key_hints(self, state: LogState) -> tuple[KeyHint, ...]:
        return (*PAGE_HINTS, KeyHint("e", msg("hint.store_product")), BACK)

    def handle_text(self, state: LogState, text: str, context: Context) -> Result:
        return refuse(state, msg("log.unknown", code=text))

    def go_back(self, state: LogState, context: Context) -> Result:
        return close_page(state, context)


def _entry_rows(state: LogState) -> tuple[tuple[Msg, ...], ...]:
    """Return the fields of the entry that have a value."""
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
        (msg("head.source"), raw(entry["source"])),
        (msg("head.reference"), raw(entry["reference"])),
        (msg("head.order"), raw(entry["customer_order_number"])),
        (msg("label.product_number"), raw(entry["product_number"])),
        (msg("head.counted"), raw("") if counted is None else msg("number", value=counted)),
        (msg("head.expected"), raw("") if expected is None else msg("number", value=expected)),
        (msg("head.review"), msg(REVIEW_NAMES.get(review, "log.not_to_review")) if review else raw("")),
    )
    return tuple(row for row in rows if row[1] != raw(""))


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
            title=msg("log.title_losses"),
            prompt=msg("my_entries.prompt_entry"),
            lines=(Line("note", msg("log.lost", quantity=total, count=count)),) if state.losses else (),
            series=tuple(self._series(state, row) for row in state.losses),
            axis=(*ago, msg("log.now")) if count else (),
            page=state.page,
            empty=msg("log.no_losses"),
            key_hints=self.key_hints(state),
        )

    def _series(self, state: LogState, row: LossesRow) -> Series:
        reason = reason_text(row["reason_code"], row["description"], state.reasons)
        return Series(raw(reason), tuple(row["weeks"]), row["total"])

    def handle_text(self, state: LogState, text: str, context: Context) -> Result:
        return refuse(state, msg("log.unknown", code=text))

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
    steps: tuple[str, ...] = tuple(page.name for page in PAGES.values())
    version = 1
    journalled = True
    topics = ("log", "outbox", "product")

    def begin(self) -> LogState:
        return LogState()

    def page(self, state: LogState) -> Page[LogState]:
        return PAGES[state.phase]

    def prefers(self, state: LogState) -> tuple[str, ...]:
        """Prefer the kind of the field being edited, then products, people and locations."""
        return tuple(sorted(FILTER_FIELD_OF, key=lambda kind: FILTER_FIELD_OF[kind] != state.field))

    def handle_opened(self, state: LogState, args: Args, context: Context) -> Result:
        filter_ = LogFilter(product=str(args.get("product_number") or ""), reference=str(args.get("reference") or ""))
        reasons = parse_reasons(context.policy.adjustment_reasons)
        state = state._replace(filter=filter_, reasons=reasons, today=store_day(context.now))
        codes = ",".join(str(reason.code) for reason in reasons)
        return Turn(state, (*self.queries(state, context), Refresh("logs"), Refresh("logs", f"losses/{codes}")))

    def queries(self, state: LogState, context: Context) -> tuple[Effect, ...]:
        losses = (query_losses(context),) if state.phase == "losses" else ()
        entry = (query_entry(state.entry["key"]),) if state.entry else ()
        return (LIST.query(state, context), Query("reasons", "reasons", {}, is_live=True), *losses, *entry)

    def handle_rows(self, state: LogState, answer: Rows, context: Context) -> Result:
        rows = answer.rows
        match answer.id:
            case "log":
                return LIST.handle_rows(state, answer, context)
            case "entry" if rows:
                return Turn(state._replace(phase="entry", entry=rows[0]))
            case "reasons":
                return Turn(state._replace(reasons=parse_reasons(context.policy.adjustment_reasons, rows)))
            case "losses":
                return Turn(state._replace(losses=rows))
            case "may" | "file" | "exported" if rows:
                return handle_file_answer(state, answer.id, rows[0])
        return Turn(state)

    def handle_scan(self, state: LogState, matches: tuple[Match, ...], context: Context) -> Result:
        """Filter by a scanned product, person or location on every page.

        A reference may look like any code. If entry numbers are asked for, an order number counts as one.
        """
        first = next((each for each in matches if each.kind in FILTER_FIELD_OF), None)
        code = matches[0].code or matches[0].key
        if state.field == "reference" or (state.field == "ids" and first is None and parse_id_range(code)):
            return set_filter(state, state.field, code, context)
        if first is None:
            return refuse(state, msg("log.not_this", what=name_of(matches[0])))
        return set_filter(state, FILTER_FIELD_OF[first.kind], first.key, context)
