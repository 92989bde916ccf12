"""Choices offered during a pick: their order and letters, and the line whose quantity is open."""

from __future__ import annotations

from aisle.jobs.choice_letters import assign_letters
from aisle.jobs.pick.goods_in_hand import has_goods_to_put_down, pieces_in_hand
from aisle.jobs.pick.location_questions import product_in_question
from aisle.jobs.pick.pick_line import PickLine
from aisle.jobs.pick.pick_state import PickChoice, PickState

COMMAND_LETTERS = "nsuiw"
"""Letters that are commands at a stop and therefore choose nothing."""


def is_quantity_open(state: PickState) -> bool:
    """Return True if a number sets the total of the stop, or of the goods whose location is asked for."""
    is_open = state.is_quantity_open or bool(product_in_question(state))
    return state.current_line is not None and is_open and not state.to_return and not state.asks_for_tote


def quantity_line(state: PickState) -> PickLine | None:
    """Return the line whose quantity a number sets while one is open."""
    product = product_in_question(state)
    return next((line for line in state.lines if line.is_open and line.product == product), state.current_line)


def choice_letters(state: PickState) -> str:
    """Return the letters of the choices; empty where choices are numbered. Letters are used while goods are picked or
    in hand, because digits are quantities there."""
    kinds = (_kind_for_letter(choice, state) for choice in _all_choices(state))
    return assign_letters(kinds, COMMAND_LETTERS) if _use_letters(state) else ""


def _kind_for_letter(choice: PickChoice, state: PickState) -> str:
    """Return the kind that gives a choice its letter. A location is one among equals, but "Take it here?" has a yes."""
    is_asked = choice.is_held_known and choice == state.choices[-1]
    return "take_here" if is_asked else choice.kind


def _use_letters(state: PickState) -> bool:
    return bool(state.to_return) or state.asks_for_tote or (state.current_line is not None and state.phase != "wait")


def return_choices(state: PickState) -> tuple[PickChoice, ...]:
    """Return the choices for goods in hand of orders that have left the pick."""
    goods = PickChoice("put_back")
    return (PickChoice("handed_over"), goods) if any(each.is_for_other_picker for each in state.to_return) else (goods,)


def open_choices(state: PickState) -> tuple[PickChoice, ...]:
    """Return the choices open now; those for which no letter is left wait until others are answered."""
    choices = _all_choices(state)
    return choices[: len(choice_letters(state))] if _use_letters(state) else choices


def _all_choices(state: PickState) -> tuple[PickChoice, ...]:
    if state.to_return:
        return (*return_choices(state), *state.choices)
    questions = () if state.is_postponed else state.take_over_choices
    if state.asks_for_tote:
        return (*questions, PickChoice("label_unreadable", state.totes_to_verify[0]))
    if state.choices or questions:
        return (*state.choices, *questions) if state.is_after_choices else (*questions, *state.choices)
    if state.phase == "wait":
        return (PickChoice("go_on"),) if any(tote.has_lines for tote in state.totes) else ()
    if can_be_handed_over(state):
        return (PickChoice("finish", state.order),)
    if state.phase != "done" or not state.is_batch or state.only_order:
        return ()
    to_put_down = [tote.order for tote in state.totes if has_goods_to_put_down(state, tote.order)]
    return tuple(PickChoice("tote", order) for order in to_put_down) if len(to_put_down) > 1 else ()


def can_be_handed_over(state: PickState) -> bool:
    """Return True if the single order is picked and can be handed over. Its goods are put down, or the store keeps no
    locations."""
    if state.phase != "done" or state.is_batch or len(state.totes) != 1 or not any(line.picked for line in state.lines):
        return False
    return not pieces_in_hand(state) or not any(line.location or line.put_down_at for line in state.lines)
