"""What home shows: the open orders, and what can be done."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs import window
from aisle.jobs.house.home_state import PAGES, Home, Listed
from aisle.jobs.view import BACK, Hint, ListWindow, Msg, Row, msg, raw


def view(state: Home) -> ListWindow:
    """The orders, the numbered commands under them, and letters."""
    return ListWindow(
        name="home",
        title=msg("home.title"),
        prompt=msg("home.prompt"),
        heads=(msg("head.order"), msg("head.pickup"), msg("head.customer"), msg("head.progress")),
        rows=tuple(_row(listed) for listed in state.rows),
        first=state.first,
        total=state.total,
        cursor=state.cursor,
        empty=msg("home.no_match", text=state.typed or state.search)
        if state.typed or state.search
        else msg("home.empty"),
        choices=PAGES[state.page],
        hints=_hints(state),
        more=state.partly,
    )


def _hints(state: Home) -> tuple[Hint, ...]:
    """Letters beside the menu: its own, those that lead through a long list, and back."""
    back = (BACK,) if state.search or state.page else ()
    doubts = (Hint("d", msg("home.doubts")),) if state.doubts else ()
    out = () if state.page else (Hint("o", msg("home.sign_out")),)
    return (*_halfway(state), *doubts, *out, *window.page_hints(state), Hint("h", msg("hint.help")), *back)


def _halfway(state: Home) -> tuple[Hint, ...]:
    """The delivery that was left half way, or how many were."""
    if not state.halfway:
        return ()
    count = len(state.halfway)
    one, many = msg("home.halfway", delivery=state.halfway[0]), msg("home.halfway_many", count=count)
    return (Hint("r", one if count == 1 else many),)


def _row(listed: Listed) -> Row:
    share = listed.picked / listed.of if listed.of > 0 else Decimal(0)
    progress = msg("progress.of", done=listed.picked, total=listed.of)
    cells = (raw(listed.number), _when(listed), raw(listed.who), progress)
    return Row(listed.number, cells, min(Decimal(1), share))


def _when(listed: Listed) -> Msg:
    """When an order is due, or what matters more before it is picked: where there is room, both."""
    due = msg("home.due_too", due=listed.due) if dict(listed.due.args).get("at") else raw("")
    if listed.left:
        return msg("home.left_by", who=listed.by, at=listed.left, due=due)
    if listed.taken:
        return msg("home.taken_by", who=listed.by, due=due) if listed.by else msg("home.taken", due=due)
    if listed.lying:
        return msg("home.lying", count=listed.lying, due=due)
    if listed.given:
        return msg("home.yours", who=listed.given, due=due)
    return msg("home.urgent", due=due) if listed.urgent else listed.due
