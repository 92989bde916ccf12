"""What an operation does before its transaction: work that takes its time and changes nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from aisle.service.context import Call, Context

T = TypeVar("T")


class Reading(Protocol):
    """Reads in a transaction of its own, as whoever asks, and with his rights."""

    async def __call__(self, work: Callable[[Context], Awaitable[T]]) -> T:
        """What `work` found. Raises Refusal."""
        ...


Prepare = Callable[[Reading, Call], Awaitable[Call]]
"""The request as its handler wants it."""
