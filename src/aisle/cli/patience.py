"""How long a sync waits for a service that says nothing, and what it says meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from aisle.client.answer import Answer
from aisle.client.retry import read_retry_after
from aisle.errors import AisleError
from aisle.settings import EMBEDDED

T = TypeVar("T")

LOOK_S = 0.2
"""How often it is looked how long nothing was heard."""

SAY_S = 15.0
"""After so long without an answer it is said that it is waited for, and again each time."""

SILENT_S = 45.0
"""After so long without any answer nobody waits on: longer than three tries take of a request that nothing comes back
for. One whose answers drip in may take twice as long, and is not waited for to its end."""


class Patience:
    """What is said, line by line, and when it ends; `tell` prints a line."""

    def __init__(self, url: str, tell: Callable[[str], None]) -> None:
        self._whom = "service that aisle brings along" if url == EMBEDDED else f"service at {url}"
        self._tell = tell
        self._said = 0.0

    def look(self, silent: float, *, is_down: bool = True) -> None:
        """Nothing was heard for so many seconds; `is_down`: nor is anything to be expected. Raises AisleError."""
        if is_down and silent >= SILENT_S:
            raise AisleError(
                f"The {self._whom} has not answered for {silent:.0f} s, so nothing more could be read or sent; what"
                " waits is kept. See that it runs and can be reached from here, then sync again."
            )
        if silent < SAY_S:
            self._said = 0.0
        elif silent - self._said >= SAY_S:
            self._said = silent
            self._tell(f"Waiting for the {self._whom}: no answer for {silent:.0f} s.")


class Silence:
    """How long this process has waited for an answer. What it was busy with itself does not count, nor what a service
    has asked it to wait."""

    def __init__(self, clock: Callable[[], float], wall: Callable[[], float]) -> None:
        """`clock` tells seconds that pass, whatever is set; `wall` Unix time, by which a service says until when."""
        self._clock = clock
        self._wall = wall
        self._looked = clock()
        self._held_until = 0.0
        self.lasted = 0.0

    def heard(self, answer: Answer) -> None:
        """Any answer, refusals too."""
        self.lasted = 0.0
        asked = read_retry_after(answer.headers.get("retry-after"), self._wall())
        self._held_until = self._clock() + (asked or 0.0)

    def moved(self) -> None:
        """Work has gone on."""
        self.lasted = 0.0

    def look(self) -> None:
        """Another look; the one before was not long ago, or nobody could look."""
        now, before = self._clock(), self._looked
        self._looked = now
        if now >= self._held_until:
            self.lasted += min(max(0.0, now - before), 2 * LOOK_S)


async def attended(
    work: Awaitable[T],
    silence: Silence,
    patience: Patience,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> T:
    """Waits for this work for as long as it gets answers. Raises AisleError, and what the work raises."""
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            pause = asyncio.ensure_future(sleep(LOOK_S))
            await asyncio.wait((task, pause), return_when=asyncio.FIRST_COMPLETED)
            pause.cancel()
            silence.look()
            if not task.done():
                patience.look(silence.lasted)
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait((task,))
