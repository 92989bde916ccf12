"""What the store says while goods are moved: whether it has places, where more of them lies, what was refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.jobs.amounts import number
from aisle.jobs.base import Context, Effect, Query, Turn
from aisle.jobs.feet import LAST
from aisle.jobs.move import carrying, shelf
from aisle.jobs.move.moving import HISTORY, Moving
from aisle.jobs.move.told import told
from aisle.jobs.told import words
from aisle.jobs.view import WRONG


def with_places(state: Moving, there: bool) -> Moving:
    """A store without places moves between pools and orders: products can be scanned at once."""
    if there or state.phase not in ("from", "take") or state.place:
        return state._replace(places=there or bool(state.place))
    return state._replace(places=False, started=True, phase="take")


def with_homes(state: Moving, rows: tuple[Mapping[str, Any], ...]) -> Moving:
    """Where more of the goods in hand lies (`rows` in the order of feet); the place that they come from is none of it.

    Two questions have two answers. Where they go is the first place on the way, for feet pass it anyway, and what lies
    behind in bulk is not what somebody fills up. Where more of it is to be had is the place with the most, for whoever
    has to go there goes once; of equals the nearest.
    """
    hand = []
    for part in state.hand:
        found = [
            row
            for row in rows
            if row["product_number"] == part.product and row["location_code"].casefold() != part.place.casefold()
        ]
        first = found[0] if found else {}
        most = max(found, key=lambda row: number(row.get("quantity")), default=first)
        there = number(most.get("quantity"))
        part = part._replace(
            home=str(first.get("location_code") or ""), home_order=number(first.get("location_order"), LAST)
        )
        hand.append(part._replace(most_at=str(most["location_code"]) if there > 0 else "", most=there))
    return state._replace(hand=tuple(hand))


def look_again(state: Moving) -> Turn[Moving]:
    """What lies here may have changed; something may have been refused."""
    refusals = {"operation": "create-movement", "since": state.since}
    effects: list[Effect] = [Query("refusals", "refusals", refusals)]
    if state.place and not state.task:
        effects.append(shelf.asked_again(state))
    elif state.shelf and not state.pending:
        state = state._replace(shelf=())
    return Turn(state, tuple(effects))


def _was_in(refused: list[Any], said: list[Any]) -> bool:
    """Whether one of these was said in that movement: all of it, or one item of it."""
    return any(body and all(item in said for item in body) for body in refused)


def refused(state: Moving, rows: tuple[Mapping[str, Any], ...], context: Context) -> Turn[Moving]:
    """What the service refused has not happened: it cannot be undone, nor what was before it. A question that is open
    stays, or the number that answers it would say how many; only that about an undo is gone."""
    news = [row for row in rows if row["op_id"] not in state.told]
    if not news:
        return Turn(state)
    bodies = [row["body"] for row in news]
    history = state.history
    for index, did in enumerate(state.history):
        if did.legs and _was_in(bodies, carrying.movement(did.legs, context.store, context.user).body):
            history = state.history[index + 1 :]
    known = (*state.told, *(str(row["op_id"]) for row in news))
    ways = () if state.undoing else state.ways
    state = state._replace(told=known[-HISTORY:], history=history, undoing=False, ways=ways)
    return told(state, WRONG, "move.refused", why=words(str(news[-1]["why"])), label=str(news[-1]["label"]))
