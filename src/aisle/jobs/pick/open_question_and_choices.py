"""Open question of a pick, kept, postponed or dropped without an answer; choices offered and their letters."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs import typed_numbers_dates_and_letters
from aisle.jobs.job import Close, Event, Query, Start, reply
from aisle.jobs.pick.location_questions import (
    CHANGE_LOCATION,
    PICKED_FROM,
    product_in_question,
    repeat_location_question,
)
from aisle.jobs.pick.pick_line import PickLine
from aisle.jobs.pick.pick_state import PickChoice, PickState, Result
from aisle.jobs.pick.stops_and_goods_in_hand import has_goods_to_put_down, pieces_in_hand
from aisle.jobs.typed_numbers_dates_and_letters import assign_letters
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Verdict, msg
from aisle.scan.grammar_and_meaning_types import Command, Match, Quantity, Scan, UnknownCode

ASSIGNED_CHOICES = ("take_in", "later")
"""Kinds of choices offered when a supervisor has assigned an order to this picker."""


def is_number_asked(state: PickState) -> bool:
    """Return True if the question is about a number: a large quantity, or digits that are also a record's number."""
    return any(choice.kind == "amount" for choice in state.choices)


def postpone_questions(before: PickState, state: PickState, event: Event) -> PickState:
    """Postpone the open question if the picker scans or types a quantity instead of answering it. Digits typed later
    are quantities again and answer nothing."""
    is_new = not set(state.take_over_choices) <= set(before.take_over_choices)
    is_postponed = (
        bool(state.take_over_choices) and not is_new and (state.is_postponed or isinstance(event, Scan | Quantity))
    )
    return state if is_postponed == state.is_postponed else state._replace(is_postponed=is_postponed)


def keep_choice_order(before: PickState, state: PickState) -> PickState:
    """Keep the choices of the older question in front, so that their numbers do not change."""
    appeared = bool(state.take_over_choices and not before.take_over_choices)
    is_after = bool(
        state.take_over_choices and state.choices and (before.choices if appeared else before.is_after_choices)
    )
    return state if is_after == state.is_after_choices else state._replace(is_after_choices=is_after)


def remove_answered(state: PickState, choice: PickChoice) -> PickState:
    """Remove the answered question from those that stay open."""
    is_assignment = choice.kind in ASSIGNED_CHOICES
    others = tuple(each for each in state.take_over_choices if (each.kind in ASSIGNED_CHOICES) != is_assignment)
    unanswered = tuple(
        each
        for each in state.take_over_choices
        if choice.kind == "take_in" and each.kind == "take_in" and each != choice
    )
    return state._replace(take_over_choices=(*others, *unanswered, *((PickChoice("later"),) if unanswered else ())))


def ask_postponed(state: PickState) -> Result:
    """Ask the postponed question again; a number now answers it."""
    state_asked = state._replace(is_postponed=False, is_quantity_open=False, choices=())
    return reply(state_asked, ASK, "pick.question_repeated", order=state.take_over_choices[0].key)


GOODS_QUESTIONS = (PICKED_FROM, "this_one", "reopen")
"""Kinds of choices that pick the goods scanned last."""


def is_about_goods(state: PickState) -> bool:
    """Return True if the open question is what becomes of the goods scanned last. A product that was refused is offered
    for look-up; its goods are put back."""
    is_refused = any(choice.kind == "look_up" for choice in state.choices)
    is_asked = any(
        choice.kind in GOODS_QUESTIONS or (choice.kind == "take_rest" and choice.quantity) for choice in state.choices
    )
    return state.is_pack_asked or (is_asked and not is_refused)


def goods_choices(state: PickState) -> tuple[PickChoice, ...]:
    """Return the choices of the open question about scanned goods."""
    return tuple(
        choice
        for choice in state.choices
        if choice.kind in GOODS_QUESTIONS or (choice.kind == "take_rest" and choice.quantity)
    )


def number_in_question(state: PickState) -> Decimal:
    """Return the typed or scanned number that the open question is about; 0 if it is about none."""
    return next(
        (
            choice.typed or choice.quantity
            for choice in state.choices
            if choice.kind in ("amount", "set", "reopen", "take_rest")
        ),
        Decimal(0),
    )


def note_untaken(state: PickState, event: Event) -> PickState:
    """Note the number in question if an input comes that may not answer it."""
    is_answer = not isinstance(event, Scan | Command | UnknownCode | Quantity)
    return state if is_answer else state._replace(untaken=number_in_question(state))


def report_untaken(turn: Result) -> Result:
    """Add to the verdict, or to that of a job that starts, that a number is not taken; unless it is still in
    question."""
    state, verdict = turn.state, turn.verdict
    if not state.untaken or (verdict is None and any(isinstance(effect, Query) for effect in turn.effects)):
        return turn
    number, turn = state.untaken, turn._replace(state=state._replace(untaken=Decimal(0)))
    if number_in_question(state) == number or (verdict and verdict.text.id == "session.dropped"):
        return turn
    if verdict is None:
        ignored = msg("session.input_not_applied", count=1, why=msg("number", value=number))
        effects = (each._replace(not_done=ignored) if isinstance(each, Start) else each for each in turn.effects)
        return turn._replace(effects=tuple(effects))
    return turn._replace(verdict=verdict.wrap("session.number_not_applied", why=msg("number", value=number)))


def report_dropped(before: PickState, turn: Result) -> Result:
    """Add to the verdict on a change by others that it has dropped the open question."""
    is_left = any(isinstance(effect, Close) for effect in turn.effects)
    if is_left or not before.choices or turn.state.choices:
        return turn
    dropped, verdict = msg("pick.question_dropped"), turn.verdict
    if verdict is None:
        return turn._replace(verdict=Verdict(INFO, dropped))
    if verdict.kind == GOOD or verdict.text.id == "pick.changed_question_dropped":
        return turn  # it answers the question, or says so
    return turn._replace(verdict=verdict._replace(text=msg("pick.join", what=verdict.text, more=dropped)))


def outlasts_unknown_code(state: PickState) -> bool:
    """Return True if the open question stays when an unknown code comes: it is about scanned goods, or a location."""
    return is_about_goods(state) or any(choice.kind == CHANGE_LOCATION for choice in state.choices)


def products_of_goods_question(state: PickState) -> set[str]:
    """Return the products that the open question about the scanned goods is about."""
    products = {
        choice.key
        for choice in state.choices
        if choice.kind in ("this_one", "reopen") or (choice.kind == "take_rest" and choice.quantity)
    }
    return products | ({state.current_line.product} if state.is_pack_asked and state.current_line else set())


def reject_other_scan(state: PickState, match: Match) -> Result:
    """Reject a scan, because the question about the goods scanned before would be lost."""
    return reply(state, WRONG, "count.answer_first", what=typed_numbers_dates_and_letters.name_of(match))


def repeat_goods_question(state: PickState) -> Result:
    """Refuse a command, because scanned goods would be lost, and keep the question about them."""
    if product_in_question(state):
        return repeat_location_question(state)
    return reply(state, WRONG, "pick.goods_first")


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
