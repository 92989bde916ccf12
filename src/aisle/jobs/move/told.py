"""How the parts of the move job answer."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs.base import Effect, Turn
from aisle.jobs.move.moving import Moving
from aisle.jobs.view import Msg, Verdict, msg


def told(state: Moving, kind: str, id_: str, *effects: Effect, **args: str | int | Decimal | Msg) -> Turn[Moving]:
    """A turn that says something."""
    return Turn(state, effects, Verdict(kind, msg(id_, **args)))
