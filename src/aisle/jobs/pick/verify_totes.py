"""Scan of a tote after each take: a right tote, a wrong one, or one whose label cannot be read.

The take is booked before the tote is asked for. Which tote it went into: `inputs_at_stop`.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from aisle.jobs.job import Context, Event, reply
from aisle.jobs.pick import pick_state, undo
from aisle.jobs.pick.pick_state import PickChoice, PickState, Result
from aisle.jobs.typed_numbers_dates_and_letters import name_of
from aisle.jobs.view import GOOD, INFO, WRONG, Msg, Verdict, msg, raw
from aisle.scan.grammar_and_meaning_types import ORDER, REFERENCE, Command, Match, Quantity, Scan, Text, UnknownCode


def ask_for_totes(before: PickState, state: PickState, changes: Mapping[int, Decimal], context: Context) -> PickState:
    """Ask for a scan of each tote of a batch that goods were put into, if the store verifies totes."""
    if not (context.policy.verify_totes and state.is_batch):
        return state
    filled = {before.lines[index].order for index, picked in changes.items() if picked > before.lines[index].picked}
    return state._replace(totes_to_verify=tuple(tote.order for tote in state.totes if tote.order in filled))


def forget_removed_totes(state: PickState) -> PickState:
    """Stop asking for the totes of orders that have left the pick."""
    kept = tuple(order for order in state.totes_to_verify if pick_state.find_tote(state, order))
    return state if kept == state.totes_to_verify else state._replace(totes_to_verify=kept)


def handle_input(state: PickState, event: Event, context: Context) -> Result:
    """Handle an input while a tote is asked for. Everything but its scan and an undo of the take is refused."""
    match event:
        case Scan(matches):
            return _check_scan(state, matches)
        case UnknownCode(code) | Text(code):
            return _check_tote(state, pick_state.find_tote_by_code(state, code), raw(code))
        case Quantity(value):
            return _refuse(state, msg("number", value=value))
        case Command("u"):
            return undo.undo_step(state._replace(totes_to_verify=()), context)
    return reply(state, WRONG, "pick.prompt_verify_tote", tote=pick_state.name_of_tote(state, state.totes_to_verify[0]))


def pass_unreadable(state: PickState, choice: PickChoice) -> Result:
    """Go on without the scan of a tote whose label cannot be read, and say so."""
    turn = _verified(state, choice.key)
    unreadable = msg(
        "pair", name=raw(pick_state.name_of_tote(state, choice.key)), value=msg("pick.choice_label_unreadable")
    )
    return turn._replace(verdict=Verdict(INFO, unreadable))


def _check_scan(state: PickState, matches: tuple[Match, ...]) -> Result:
    """Check a scan of something in the store: it may be the order in the tote, or have the label of the tote."""
    orders = (pick_state.find_tote(state, each.key) for each in matches if each.kind in (ORDER, REFERENCE))
    labels = (pick_state.find_tote_by_code(state, each.code) for each in matches if each.code)
    tote = next(filter(None, (*labels, *orders)), None)
    return _check_tote(state, tote, name_of(matches[0]))


def _check_tote(state: PickState, tote: pick_state.Tote | None, scanned: Msg) -> Result:
    if tote and tote.order == state.totes_to_verify[0]:
        return _verified(state, tote.order)
    return _refuse(state, raw(pick_state.name_of_tote(state, tote.order)) if tote else scanned)


def _verified(state: PickState, order: str) -> Result:
    left = tuple(each for each in state.totes_to_verify if each != order)
    return reply(state._replace(totes_to_verify=left), GOOD, "pick.in_tote", tote=pick_state.name_of_tote(state, order))


def _refuse(state: PickState, scanned: Msg) -> Result:
    tote = pick_state.name_of_tote(state, state.totes_to_verify[0])
    return reply(state, WRONG, "pick.verify_tote_first", what=scanned, tote=tote)
