"""List of the products whose expiry date is to be checked today."""

from __future__ import annotations

from operator import itemgetter

from aisle.jobs.expiry.expiry_state import ExpiryState, Result, today_of
from aisle.jobs.expiry.send_and_undo_check import query_undo
from aisle.jobs.job import Args, Context, Effect, Query, Refresh, Start, Turn, reply
from aisle.jobs.list_page_base_class import Column, ListPage
from aisle.jobs.pages_and_page_job import Action, refuse
from aisle.jobs.row_types.products import ExpiryCheckRow
from aisle.jobs.view import WRONG, Msg, msg, raw


class DueList(ListPage[ExpiryState, ExpiryCheckRow]):
    """List of the due products in walking order."""

    name = "expiry"
    query_name = "expiry_checks"
    has_two_line_rows = True
    prompt_text = msg("expiry.prompt_list")
    no_rows_text = msg("expiry.none_due")
    columns = (
        Column(msg("head.location"), lambda row: raw(row["location_code"])),
        Column(msg("head.product"), lambda row: raw(row["product_name"] or row["product_number"])),
        Column(msg("store_product.of_expiry"), lambda row: _day(row["expiry"]), is_optional=True),
        Column(msg("expiry.head_due"), lambda row: _day(row["due"])),
    )
    key = itemgetter("product_number")

    def title(self, state: ExpiryState) -> Msg:
        return msg("expiry.title", count=state.total)

    def usual_columns(self, state: ExpiryState) -> tuple[Column[ExpiryCheckRow], ...]:
        """Return the columns to show; a handheld leaves the day of the check to the name."""
        return self.columns if state.options.is_desk else self.columns[:-1]

    def arguments(self, state: ExpiryState, context: Context) -> Args:
        return {"day": today_of(context).isoformat()}

    def actions(self, state: ExpiryState) -> tuple[Action[ExpiryState], ...]:
        return (Action(msg("hint.undo"), ask_undo, "u", is_hinted=bool(state.sent)),)

    def open_row(self, state: ExpiryState, row: ExpiryCheckRow, context: Context) -> Result:
        return Turn(state, open_product(row["product_number"], context))

    def handle_text(self, state: ExpiryState, text: str, context: Context) -> Result:
        return refuse(state, msg("count.unknown", code=text))


def _day(day: str) -> Msg:
    return msg("moment", at=day) if day else raw("")


def query_product(number: str, context: Context) -> Query:
    """Return the query for a product to check. It is journalled, so that a resumed job needs no list."""
    return Query("product", "store_product", {"product_number": number, "user": context.user})


def open_product(number: str, context: Context) -> tuple[Effect, ...]:
    """Return the query for a product to check, and a refresh, because others may check it, too."""
    return query_product(number, context), Refresh("product", number)


GIVEN_QUERY, SHOWN_QUERY = "given", "shown"
"""Ids of the queries for the product in hand: before an answer is taken, and for the screen."""


def query_again(number: str, context: Context) -> Query:
    """Return the query for the product in hand before an answer is taken. It is journalled."""
    return query_product(number, context)._replace(id=GIVEN_QUERY)


def query_shown(number: str, context: Context) -> Query:
    """Return the query for what the screen shows of the product in hand."""
    return query_product(number, context)._replace(id=SHOWN_QUERY, is_live=True)


def ask_undo(state: ExpiryState, context: Context) -> Result:
    """Query the product of the last check, to undo it; a loss is undone by the job that booked it."""
    if not state.sent:
        return reply(state, WRONG, "pick.nothing_to_undo")
    last, earlier = state.sent[-1], state.sent[:-1]
    if last.loss:
        undone = state._replace(sent=earlier, found_expired="")
        return Turn(undone, (Start("adjust", {"undo": last.loss}),))
    return Turn(state, (query_undo(state, context),))


DUE_LIST = DueList()
