"""What the gathering of a round shows."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs import numbers
from aisle.jobs.choice_keys import keys_of
from aisle.jobs.pick.gather_state import Chosen, Gathering, Way
from aisle.jobs.pick.picking import LETTERS
from aisle.jobs.view import BACK, PAGES, Block, Detail, Hint, Line, Msg, msg, raw
from aisle.scan.meaning import Meaning

WAYS = {
    "out": "walk.way_out",
    "all_the_same": "walk.way_all_the_same",
    "is_tote": "walk.way_is_tote",
    "look_up": "pick.way_look_up",
    "leave": "walk.way_leave",
    "many": "walk.way_many",
}

COMMANDS = "gtunp"
"""The letters of the page that choose nothing."""


def view(state: Gathering) -> Detail:
    """The totes with their orders, what they make together, and what the one walk saves."""
    return Detail(
        name="walk",
        title=msg("walk.title"),
        prompt=_prompt(state),
        lines=_lines(state),
        blocks=(_totes(state),) if state.chosen else (),
        page=state.page,
        choices=tuple(_way(way) for way in choices(state)),
        keys=keys(state),
        hints=_hints(state),
    )


def keys(state: Gathering) -> str:
    """The letters of what is asked: a number says how many orders; totes to be taken out are numbered."""
    return "" if state.taking_out else keys_of((way.kind for way in state.ways), COMMANDS)


def choices(state: Gathering) -> tuple[Way, ...]:
    """What is asked; that for which there are no letters left waits until the rest is answered."""
    return state.ways if state.taking_out else state.ways[: len(keys(state))]


def _prompt(state: Gathering) -> Msg:
    if state.taking_out:
        return msg("walk.prompt_out")
    if state.ways:
        return numbers.prompt_letter(keys(state))
    return msg("walk.prompt_more") if state.chosen else msg("walk.prompt")


def _lines(state: Gathering) -> tuple[Line, ...]:
    if not state.chosen:
        return (Line("note", msg("walk.note")),)
    stops, single = state.stops
    lines = sum(each.lines for each in state.chosen)
    pieces = sum((each.pieces for each in state.chosen), Decimal(0))
    total = msg("walk.total", count=len(state.chosen), lines=lines, pieces=pieces)
    if not stops:
        return (Line("quantity", total),)
    if len(state.chosen) < 2 or single == stops:
        return (Line("quantity", total), Line("note", msg("walk.stops", stops=stops)))
    return (Line("quantity", total), Line("note", msg("walk.saved", stops=stops, single=single, saved=single - stops)))


def _totes(state: Gathering) -> Block:
    """The tote that was added last comes first; numbered, they stand in their order."""
    rows = [_row(LETTERS[index], each) for index, each in enumerate(state.chosen)]
    if state.taking_out:
        return Block(msg("walk.totes"), tuple(rows), numbered=len(rows))
    return Block(msg("walk.totes"), tuple(reversed(rows)))


def _row(letter: str, chosen: Chosen) -> tuple[Msg, ...]:
    name = msg("walk.tote_row", tote=letter, order=chosen.order)
    lines = msg("walk.lines", count=chosen.lines) if chosen.known else msg("walk.not_here")
    cells = [name, lines, msg("moment", at=chosen.pickup), raw(chosen.who)]
    return (*cells, raw(chosen.code)) if chosen.code else tuple(cells)


def _way(way: Way) -> Msg:
    if way.kind in numbers.NUMBER_OF:
        return numbers.way_other(Meaning(way.kind[3:], way.key, way.key))
    return msg(WAYS[way.kind], key=way.key)


def _hints(state: Gathering) -> tuple[Hint, ...]:
    hints = []
    if state.chosen and not state.taking_out:
        hints = [Hint("g", msg("hint.go")), Hint("t", msg("hint.take_out"))]
    return (*hints, *PAGES, BACK)
