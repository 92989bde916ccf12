"""Job of the order board: all orders of the store, filtered and sorted."""

from __future__ import annotations

from aisle.browser_addresses_and_packets import PageAddress
from aisle.jobs import report_lost_assignments
from aisle.jobs.job import Args, Changed, Closed, Context, Event, Query, Refresh, Rows, Turn
from aisle.jobs.pages_and_page_job import Page, PageJob
from aisle.jobs.printed_pick_list import printed_pick_list
from aisle.jobs.supervisor.order_board_list import BOARD, OrdersState, Result, SavedView, mark_all_listed, with_pane
from aisle.jobs.supervisor.order_filter import changed_fields, parse_filter
from aisle.jobs.supervisor.order_filter_pages import MAX_SAVED_VIEWS, FieldPage, FilterPage, NamePage, ViewsPage
from aisle.scan.grammar_and_meaning_types import LOCATION, ORDER, PRODUCT, REFERENCE

PAGES: dict[str, Page[OrdersState]] = {
    "": BOARD,
    "filter": FilterPage(),
    "field": FieldPage(),
    "views": ViewsPage(),
    "name": NamePage(),
}


class OrdersJob(PageJob[OrdersState]):
    """Job that shows the order board and its filter."""

    name = "orders"
    lists = ("headers", "lines", "changes")
    own_steps = ("orders.filter", "orders.field", "orders.views")
    state_type = OrdersState
    steps: tuple[str, ...] = tuple(page.name for page in PAGES.values())
    journalled = False
    topics = ("order", "outbox", "log", "person")
    preferred_kinds = (ORDER, REFERENCE, PRODUCT, LOCATION)

    def page(self, state: OrdersState) -> Page[OrdersState]:
        return PAGES[state.page]

    def address(self, state: OrdersState) -> PageAddress:
        """Return the address with the fields of the filter that differ from the usual ones."""
        return PageAddress("orders", filter=changed_fields(state.filter))

    def handle(self, state: OrdersState, event: Event, context: Context) -> Result:
        """Return the next state. The pane follows the order in focus."""
        turn = super().handle(state, event, context)
        return with_pane(turn, context, is_changed=isinstance(event, Rows) and event.id == "order_board")

    def handle_opened(self, state: OrdersState, args: Args, context: Context) -> Result:
        state = state._replace(filter=parse_filter(args["filter"])) if args.get("filter") else state
        state = state._replace(size=BOARD.page_size(context))
        queries = (BOARD.query(state, context), _query_views(context))
        return Turn(state, (*queries, Refresh("orders"), Refresh("logs")))

    def handle_changed(self, state: OrdersState, event: Changed, context: Context) -> Result:
        board = BOARD.query_with_cursor(state, context)
        return Turn(state, (board, *report_lost_assignments.query_claims(state.claims_for_others)))

    def query_again(self, state: OrdersState, context: Context) -> Result:
        size = BOARD.page_size(context)
        is_resized = state.size != size
        board = BOARD.query_with_cursor(state, context, fill_page=is_resized)
        first_choice = 0 if is_resized else state.first_choice
        return Turn(state._replace(size=size, first_choice=first_choice), (board, _query_views(context)))

    def handle_closed(self, state: OrdersState, event: Closed, context: Context) -> Result:
        """Remove all marks after an action has run."""
        if event.job != "order_actions":
            return self.query_again(state, context)
        state = state._replace(marked=(), is_marking=False) if event.answer else state
        state = state._replace(
            claims_for_others=report_lost_assignments.with_new_claims(state.claims_for_others, event.answer)
        )
        return Turn(state, (BOARD.query_with_cursor(state, context),))

    def handle_rows(self, state: OrdersState, answer: Rows, context: Context) -> Result:
        match answer:
            case Rows("order_board"):
                return BOARD.handle_rows(state, answer, context)
            case Rows("pane", rows) if state.pane:
                details = next((row for row in rows if row["order_number"] == state.pane.number), None)
                return Turn(state._replace(pane=state.pane._replace(details=details)))
            case Rows("pane_history", rows) if state.pane:
                return Turn(state._replace(pane=state.pane._replace(history=tuple(rows))))
            case Rows("pick_list", rows):
                return Turn(state, (printed_pick_list(rows),))
            case Rows("order_counts", rows):
                return Turn(BOARD.with_options(state, counts=tuple(row["count"] for row in rows)))
            case Rows("assigned_orders"):
                kept, verdict = report_lost_assignments.report_lost_claims(state.claims_for_others, answer)
                return Turn(state._replace(claims_for_others=kept), (), verdict)
            case Rows("saved_views", rows):
                views = tuple(SavedView(row["name"], parse_filter(row["filter"])) for row in rows)
                return Turn(state._replace(views=views[:MAX_SAVED_VIEWS]))
            case Rows("all", rows, total):
                return mark_all_listed(state, tuple(row["order_number"] for row in rows), total)
        return Turn(state)


def _query_views(context: Context) -> Query:
    return Query("saved_views", "saved_views", {"user": context.user}, is_live=True)
