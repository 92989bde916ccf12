"""Putting away of received goods: booking at a location, and undo of the last step."""

from __future__ import annotations

from aisle.jobs import name_goods_and_locations
from aisle.jobs.job import Context, Json, Refresh, Turn, reply
from aisle.jobs.receive.handle_scans_and_quantities import ask_received_meanwhile, book_goods, quantity_in_hand
from aisle.jobs.receive.receive_state_and_differences import (
    ZERO,
    GoodsInHand,
    ReceiveState,
    Result,
    UndoStep,
    add_received,
    add_undo_step,
    announced_and_received,
    receipt_write,
    without_consent,
)
from aisle.jobs.view import ASK, GOOD, WRONG, Msg, msg, raw, undo_verdict


def booked_before(state: ReceiveState, goods: GoodsInHand, location: str) -> Msg:
    """Return which goods were booked before others were taken, where, and how often `u` takes them back."""
    args: dict[str, Json] = {"quantity": goods.quantity, "label": goods.label}
    if location:
        return msg("receive.put", place=location, **args)
    steps = next((n for n, step in enumerate(reversed(state.history), 1) if step.entries), 0)
    if not steps or not state.delivery_number:
        return msg("receive.put_nowhere", **args)
    return msg("receive.put_nowhere_undo", keys=" ".join("u" * steps), **args)


def put_away(state: ReceiveState, location: str, context: Context) -> Result:
    """Book the goods in hand at a location; with nothing in hand, make it the receiving location."""
    item = state.in_hand
    if item is None or not item.quantity:
        return reply(state._replace(receiving_location=location), GOOD, "receive.location_set", place=location)
    if asked := ask_received_meanwhile(state):
        return asked
    booked = book_goods(state, location, context)
    has_open_lines = any(line.is_open for line in booked.state.lines)
    id_ = "receive.put" if has_open_lines else "receive.put_last"
    args: dict[str, Json] = {"place": location, "quantity": item.quantity, "label": item.label}
    turn = reply(booked.state, GOOD, id_, *booked.effects, Refresh("location", location), **args)
    return turn._replace(verdict=turn.verdict and turn.verdict._replace(detail=_usual_location(state, item, location)))


def _usual_location(state: ReceiveState, goods: GoodsInHand, location: str) -> Msg | None:
    """Return where the goods usually lie if they were put away at another location; None at the receiving location."""
    known = [place.casefold() for place in (*goods.usual_locations, state.receiving_location)]
    if not goods.usual_locations or location.casefold() in known:
        return None
    return msg("receive.suggested_location", place=goods.suggested_location)


def undo_step(state: ReceiveState, context: Context) -> Result:
    """Undo the last step. A scan is subtracted from the goods in hand. A booking is reversed by an opposite entry, and
    its goods are in hand again. Goods that were set aside are in question again."""
    if not state.history:
        return reply(state, WRONG, "pick.nothing_to_undo")
    step, state = state.history[-1], state._replace(history=state.history[:-1])
    if step.choices:
        return _ask_again(state, step)
    if not step.entries:
        item = state.in_hand
        before = step.before if step.before and step.before.quantity else None
        quantity = before.quantity if before else ZERO
        state = _drop_unused_consent(state._replace(in_hand=before), item)
        was = item.quantity if item else ZERO
        return Turn(state, (), undo_verdict(msg("pick.undone", label=step.label, was=was, now=quantity, where=raw(""))))
    quantity = sum((entry.quantity for entry in step.entries), ZERO)
    state = add_received(state, step.entries, step.label, sign=-1)
    if step.before:
        taken = UndoStep(step.label, step.before._replace(quantity=ZERO), at=context.now)
        state = add_undo_step(state._replace(in_hand=step.before), taken)
    write = receipt_write(state, step.entries, context, sign=-1)
    where = name_goods_and_locations.at_location(step.entries[0].location)
    return Turn(state, (write,), undo_verdict(msg("receive.undone", label=step.label, quantity=quantity, where=where)))


def _ask_again(state: ReceiveState, step: UndoStep) -> Result:
    """Ask the question again that was answered with "set aside"."""
    asked = state._replace(choices=step.choices, pending_scan=step.pending_scan, pending_goods=step.pending_goods)
    return reply(asked, ASK, "receive.undone_set_aside", label=step.label)


def _drop_unused_consent(state: ReceiveState, goods: GoodsInHand | None) -> ReceiveState:
    """Drop the consent to more than is announced if what remains after an undo does not exceed it."""
    if goods is None:
        return state
    announced, received = announced_and_received(state, goods.product)
    if received + quantity_in_hand(state, goods.product) > announced:
        return state
    return without_consent(state, goods.product)
