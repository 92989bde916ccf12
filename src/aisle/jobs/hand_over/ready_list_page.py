"""List of the orders that wait for their customers. A search finds orders that are not picked yet, too."""

from __future__ import annotations

from operator import attrgetter

from aisle.jobs.hand_over.hand_over_state import HandOverState, Result
from aisle.jobs.hand_over.order_pages import ask_undo, open_order
from aisle.jobs.job import Args, Context, Rows
from aisle.jobs.list_page_base_class import Column, SearchPage
from aisle.jobs.pages_and_page_job import Action
from aisle.jobs.supervisor.order_rows import STATUS_NAMES, BoardOrder, parse_order_row
from aisle.jobs.view import WRONG, Msg, Verdict, msg, raw

MIN_PHONE_DIGITS = 7
"""Digits from which a search may be a phone number."""


class ReadyList(SearchPage[HandOverState, BoardOrder]):
    """List of the picked orders by their pick-up date."""

    name = "hand_over"
    query_name = "order_board"
    title_text = msg("order_actions.hand_over")
    prompt_text = msg("hand_over.prompt_list")
    columns = (
        Column(msg("head.order"), lambda order: raw(order.number)),
        Column(msg("head.location"), lambda order: _where(order)),
        Column(msg("head.customer"), lambda order: raw(order.customer)),
        Column(msg("head.pickup"), lambda order: order.due),
    )
    no_match_id = "home.no_match"
    no_rows_text = msg("list.empty")
    key = attrgetter("number")

    def arguments(self, state: HandOverState, context: Context) -> Args:
        searched = ("open", "partial") if state.typed or state.search else ()
        return {"status": ["picked", *searched], "now": context.now}

    def parse_rows(self, answer: Rows, context: Context) -> tuple[BoardOrder, ...]:
        return tuple(parse_order_row(row, context) for row in answer.rows)

    def actions(self, state: HandOverState) -> tuple[Action[HandOverState], ...]:
        return (Action(msg("hint.undo"), ask_undo, "u", is_hinted=bool(state.put_back)),)

    def open_row(self, state: HandOverState, row: BoardOrder, context: Context) -> Result:
        return open_order(state, row.number, context)

    def handle_rows(self, state: HandOverState, answer: Rows, context: Context) -> Result:
        """Show the rows. A search without a hit says so, and what this service cannot know."""
        turn = super().handle_rows(state, answer, context)
        if not state.open_single_hit or answer.total:
            return turn
        digits = "".join(filter(str.isdecimal, state.search))
        is_phone = len(digits) >= MIN_PHONE_DIGITS and not any(map(str.isalpha, state.search))
        hides_phones = is_phone and not state.knows_phones
        text = msg("hand_over.no_phones") if hides_phones else msg("hand_over.nobody", text=state.search)
        restarted = self.restart(turn.state._replace(search="", open_single_hit=False), context)
        return restarted._replace(verdict=Verdict(WRONG, text))


def _where(order: BoardOrder) -> Msg:
    """Return where the goods lie; the state of an order that is not picked."""
    if order.put_down_at:
        return raw(", ".join(order.put_down_at))
    return msg(STATUS_NAMES[order.status]) if order.status != "picked" else raw("")


READY_LIST = ReadyList()
