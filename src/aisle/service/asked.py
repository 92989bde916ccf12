"""What a request is on its way through the service: an operation, what was asked, and what is answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from aisle.contract.operation import Param
from aisle.service.answers import Refusal
from aisle.service.context import Call, Replay
from aisle.service.handlers import Handler
from aisle.tuples import NamedTuple


class Operation(NamedTuple):
    """An operation as the gate needs it, of the contract or our own."""

    name: str
    params: Sequence[Param]
    adapter: TypeAdapter[Any] | None
    write: bool
    handler: Handler


class Asked(NamedTuple):
    """A request, read as far as it could be; `problem` waits until it is known who asks."""

    secret: str
    call: Call
    problem: Refusal | None
    now: float
    key: str | None = None
    fingerprint: str = ""
    occurred_on: str = ""
    app_user: str | None = None
    terminal: str | None = None
    if_match: frozenset[str] | None = None
    ahead: float = 0.0
    """Seconds that the clock of who asks is ahead of ours."""
    follows: tuple[str, ...] = ()
    """Keys that were confirmed to who asks: a database without them was put back from an earlier copy."""
    replay: Replay | None = None


class Answer(NamedTuple):
    """What goes back."""

    status: int
    body: bytes
    replayed: bool = False
    headers: Mapping[str, str] = {}
