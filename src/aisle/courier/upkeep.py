"""What a courier does beside its work so that it can go on for months: signs of life, short logs, and an outbox that
what is old has left."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable

import apsw

from aisle.courier.alarm import Sleep
from aisle.courier.link import Link
from aisle.courier.notices import Notices
from aisle.errors import StorageError
from aisle.local.db import checkpoint, fetch_one
from aisle.local.host.home import Home
from aisle.local.outbox import archive

BEAT_S = 5.0
CHECKPOINT_S = 30.0
TIDY_S, _BREATH_S = 600.0, 1.0
"""How often old rows are looked for, and the pause between two batches of them."""

_PAUSE_S = 5.0
"""After something went wrong in one part."""


async def kept_up(loop: Callable[[], Awaitable[None]], notices: Notices, sleep: Sleep) -> None:
    """Whatever goes wrong in one part, the others go on, and it tries again: work must not wait for an operator."""
    while True:
        try:
            await loop()
        except StorageError as error:
            notices.add(str(error))
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            notices.add(f"{type(error).__name__} in {where.name} ({where.filename}:{where.lineno}): {error}")
        await sleep(_PAUSE_S)


class Upkeep:
    """The two files of a courier, and its pulse. `wake` is called when somebody may have rung in vain."""

    def __init__(
        self,
        home: Home,
        cache: apsw.Connection,
        outbox: apsw.Connection,
        link: Link,
        wake: Callable[[], None],
        clock: Callable[[], float],
        sleep: Sleep,
        kept: archive.Kept = archive.USUAL,
    ) -> None:
        self._kept = kept
        self._home = home
        self._cache = cache
        self._outbox = outbox
        self._link = link
        self._wake = wake
        self._clock = clock
        self._sleep = sleep
        self._checkpointed = 0.0

    async def beat(self) -> None:
        """Shows for ever that the courier lives, hears who rang in vain, and keeps the logs short."""
        seen = None
        while True:
            self._link.beat()
            written = fetch_one(self._outbox, "PRAGMA data_version")
            if written != seen:  # a session wrote; its ring may have been lost
                seen = written
                self._wake()
            now = self._clock()
            if now - self._checkpointed >= CHECKPOINT_S:
                self._checkpointed = now
                self.checkpoint()
            await self._sleep(BEAT_S)

    async def tidy_up(self) -> None:
        """What is old leaves the outbox for ever, a little at a time."""
        while True:
            await self._sleep(TIDY_S)
            while self.tidy():
                await self._sleep(_BREATH_S)

    def tidy(self) -> int:
        """Moves one batch of what is old out of the outbox, or out of the archive; how many rows."""
        return archive.tidy(self._home.folder, self._outbox, self._clock(), self._kept)

    def checkpoint(self, *, alone: bool = False) -> None:
        """Moves both logs into their databases; alone, it leaves none behind."""
        for connection in (self._cache, self._outbox):
            checkpoint(connection, truncate=alone)
