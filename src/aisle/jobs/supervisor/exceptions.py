"""Job of exceptions: the number of each kind, and the way to what a supervisor has to resolve."""

from __future__ import annotations

from decimal import Decimal

from aisle.browser_addresses_and_packets import PageAddress
from aisle.jobs import list_cursor_and_search, list_page_base_class
from aisle.jobs.job import (
    Args,
    Context,
    Effect,
    Event,
    Refresh,
    Rows,
    Turn,
    money_message,
    reply,
)
from aisle.jobs.names_in_messages import awaited_list
from aisle.jobs.pages_and_page_job import Page, PageJob
from aisle.jobs.store_time import store_day
from aisle.jobs.supervisor.exception_decisions import (
    EXCEPTION_KINDS,
    KIND_NAMES,
    LIST_OF_KIND,
    MANY,
    ONE,
    ExceptionsState,
    Result,
    apply_decision,
    decide_opened,
    is_unknown,
    keep_opened,
    opened_rows,
    shown_counts,
    update_opened,
)
from aisle.jobs.supervisor.exception_lists import (
    DIFFERENCES,
    LISTS,
    mark_scanned,
    open_kind,
    open_order,
    query_scanned,
    summary_queries,
)
from aisle.jobs.supervisor.log_list import superseded_message
from aisle.jobs.typed_numbers_dates_and_letters import name_of, not_an_order
from aisle.jobs.view import (
    BACK,
    INFO,
    NEXT_PAGE,
    WRONG,
    ListView,
    Msg,
    Row,
    Verdict,
    msg,
    number_message,
    raw,
)
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    ORDER,
    PRODUCT,
    REFERENCE,
    Accepts,
    Choice,
    Command,
    CursorKey,
    Match,
)

_KIND_TEXTS = {
    "differences": "exceptions.about_differences",
    "negative_stock": "exceptions.about_negative_stock",
    "stuck": "exceptions.about_stuck",
    "entries_to_review": "exceptions.about_entries_to_review",
}


def _about(state: ExceptionsState, kind: str) -> Msg:
    """Return what the name of a kind of exceptions leaves open, such as the value of all differences."""
    if is_unknown(state, kind):
        return awaited_list(LIST_OF_KIND[kind])
    value, stuck_s = money_message(state.difference_value), str(state.stuck_minutes * 60)
    return msg(_KIND_TEXTS[kind], value=value, seconds=stuck_s) if kind in _KIND_TEXTS else raw("")


def _count_message(state: ExceptionsState, kind: str, count: int) -> Msg:
    """Return the number of exceptions of a kind; `?` if it is not known yet."""
    return number_message(None if is_unknown(state, kind) else Decimal(count))


class Summary(Page[ExceptionsState]):
    """Number of exceptions of each kind."""

    name = "exceptions"

    def view(self, state: ExceptionsState) -> ListView:
        counts = dict(state.counts)
        rows = tuple(
            Row(kind, (msg(KIND_NAMES[kind]), _count_message(state, kind, counts[kind]), _about(state, kind)))
            for kind in state.visible_kinds
            if kind in counts
        )
        return ListView(
            name=self.name,
            title=msg("home.exceptions"),
            prompt=msg(
                "unconfirmed.prompt_none"
                if state.is_loaded and not state.unread_lists and not any(counts.values())
                else "unconfirmed.choose"
            ),
            column_heads=(msg("unconfirmed.head_what"), msg("exceptions.head_count"), msg("deliveries.about")),
            rows=rows,
            first=state.first,
            total=len(counts),
            cursor=state.cursor,
            numbered_rows=len(rows),
            empty=msg("stores.loading"),
            key_hints=(NEXT_PAGE, BACK) if self._has_more(state) else (BACK,),
        )

    def accepts(self, state: ExceptionsState) -> Accepts:
        return Accepts(choices=len(state.visible_kinds), command_letters="n" if self._has_more(state) else "")

    def _has_more(self, state: ExceptionsState) -> bool:
        return len(state.visible_kinds) < len(EXCEPTION_KINDS)

    def handle_other_input(self, state: ExceptionsState, event: Event, context: Context) -> Result:
        match event:
            case Choice(number) if number <= len(state.visible_kinds):
                return open_kind(state, state.visible_kinds[number - 1], context)
            case CursorKey("enter") if 0 <= state.cursor < len(EXCEPTION_KINDS):
                return open_kind(state, EXCEPTION_KINDS[state.cursor], context)
            case CursorKey(key):
                cursor, first = list_cursor_and_search.scroll_window(
                    state.cursor, state.first, len(EXCEPTION_KINDS), state.size, key
                )
                return Turn(state._replace(cursor=cursor, first=first))
            case Command("n"):
                first = list_cursor_and_search.scroll_rows(state.first, len(EXCEPTION_KINDS), state.size, "n")
                return Turn(state._replace(first=first, cursor=-1))
        return super().handle_other_input(state, event, context)


SUMMARY = Summary()


class ExceptionsJob(PageJob[ExceptionsState]):
    """Job that leads from the summary to the page on which an exception is resolved."""

    name = "exceptions"
    lists = ("headers", "lines", "stock", "stock_changes", "deliveries", "logs", "recounts", "changes")
    state_type = ExceptionsState
    steps: tuple[str, ...] = (
        "exceptions", "exceptions.differences", "exceptions.negative_stock", "exceptions.stuck", "exceptions.recounts",
        "exceptions.excess_receipts", "exceptions.entries_to_review", "exceptions.uncollected",
        "exceptions.one", "exceptions.many",
    )  # fmt: skip
    journalled = False
    topics = ("order", "product", "log", "person", "recount", "delivery", "outbox", "link")
    preferred_kinds = (ORDER, REFERENCE, PRODUCT, LOCATION)

    def page(self, state: ExceptionsState) -> Page[ExceptionsState]:
        if state.question in ("approve", "recount"):
            return MANY
        if state.question and opened_rows(state):
            return ONE
        return LISTS[state.kind] if state.kind else SUMMARY

    def main_list(self, state: ExceptionsState) -> str:
        return LIST_OF_KIND.get(state.kind, "")

    def address(self, state: ExceptionsState) -> PageAddress:
        return PageAddress("exceptions", filter=(("kind", state.kind),) if state.kind else ())

    def handle_opened(self, state: ExceptionsState, args: Args, context: Context) -> Result:
        kind = str(args.get("kind") or "")
        kind = kind if kind in LISTS else ""
        turn = self.query_again(state._replace(kind=kind, opened_directly=bool(kind)), context)
        return turn._replace(effects=(*turn.effects, Refresh("logs"), Refresh("orders")))

    def query_again(self, state: ExceptionsState, context: Context) -> Result:
        return super().query_again(state._replace(size=list_cursor_and_search.page_size(context)), context)

    def queries(self, state: ExceptionsState, context: Context) -> tuple[Effect, ...]:
        listed = (LISTS[state.kind].query(state, context),) if state.kind else ()
        return (*summary_queries(context), *listed)

    def handle_rows(self, state: ExceptionsState, answer: Rows, context: Context) -> Result:
        match answer:
            case Rows("summary", (row, *_)):
                counts = tuple((kind, row[kind]) for kind in EXCEPTION_KINDS)
                state = state._replace(counts=counts, difference_value=row["value"], is_loaded=True)
                state = state._replace(unread_lists=row["unread_lists"])
                state = state._replace(stuck_minutes=context.policy.stuck_minutes)
                shown = shown_counts(state) if context.is_desk else ()
                return Turn(DIFFERENCES.with_options(state, counts=shown))
            case Rows("features", rows):
                return Turn(state._replace(features=tuple(rows[0]["features"]) if rows else ()))
            case Rows("marked", rows):
                return apply_decision(state, rows, context, state.question)
            case Rows("all", rows, total):
                keys = tuple(row["key"] for row in rows)
                return list_page_base_class.mark_all(
                    state, keys, msg("exceptions.all_marked", count=len(keys), total=total)
                )
            case Rows("scanned", rows):
                return mark_scanned(state._replace(scanned=()), rows, state.scanned)
            case Rows(id_) if id_ == state.kind:
                turn = LISTS[state.kind].handle_rows(state, answer, context)
                return keep_opened(turn.state, state) if self.page(state) is ONE else turn
            case Rows("approve" | "recount" as decision, rows) if self.page(state) is ONE:
                return decide_opened(state, rows, context, decision)
            case Rows("opened", rows) if self.page(state) is ONE:
                return update_opened(state, rows)
            case Rows("settled", (entry,)) if entry["superseded_at"] and state.is_settled:
                return Turn(state, (), Verdict(INFO, superseded_message(entry, store_day(context.now))))
        return Turn(state)

    def handle_scan(self, state: ExceptionsState, matches: tuple[Match, ...], context: Context) -> Result:
        """Mark the scanned rows while rows are marked, else open the scanned record: an order, product or location."""
        kind, key, label = matches[0].kind, matches[0].key, matches[0].label
        if self.page(state) in (MANY, ONE):
            return reply(state, WRONG, "count.answer_first", what=name_of(matches[0]))
        if state.is_marking or state.marked:
            return query_scanned(state, matches)
        if kind in (ORDER, REFERENCE):
            return open_order(state, key)
        if start := list_cursor_and_search.open_record(kind, key, label):
            return Turn(state, (start,))
        return Turn(state, (), Verdict(INFO, not_an_order(matches[0])))
