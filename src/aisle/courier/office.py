"""Being the courier of this host: won by the lock, held while there is work or anybody to work for, handed on."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable

from aisle.courier.alarm import Sleep
from aisle.courier.courier import Courier
from aisle.courier.grounds import FILES_GONE, lost
from aisle.courier.link import REFUSED
from aisle.courier.steps import is_off
from aisle.courier.upkeep import BEAT_S
from aisle.errors import StorageError
from aisle.local.host.home import Home
from aisle.local.host.lock import Election, Holder
from aisle.local.host.program import is_newer
from aisle.local.host.pulse import beat
from aisle.local.host.signals import LEAVE, OFFER, CourierSocket, ask_to_leave, offer_token

ALONE_S = 120.0
"""So long without a session, and with nothing to send, it stays: for whoever comes back at once."""
LAST_FLIGHT_S = 5.0
"""What a request under way gets when the courier has to go."""
CLOCK_SET = "the clock was set"
"""Ends a term that goes on at once."""
LOCK_GONE = "its lock is gone"
"""Ends a term for good: by the file that is there now, or will be, somebody else comes into office."""
ZONE_SET = "the time zone was set"
"""Ends a term that goes on at once: what the cache keeps in the time of the store is computed anew."""
GOES_ON = (CLOCK_SET, FILES_GONE, ZONE_SET)
_LOOK_S = 30.0
_TRY_S = 0.2
_TRIES = 75
"""A newer program waits for the older courier's last flight, and a little longer."""


async def win(election: Election, home: Home, me: Holder, sleep: Sleep) -> bool:
    """Becomes the courier, or finds that there is one. An older program's is asked to leave, and waited for; one that
    goes by another token, too, which leaves where it is let in by nobody."""
    if election.try_win(me):
        return True
    holder = election.holder()
    if holder is None:
        return False
    if is_newer(me.version, holder.version):
        ask_to_leave(home, me.version)
    elif me.token_file not in ("", holder.token_file):
        offer_token(home, me.version, me.token_file)
    else:
        return False
    for _ in range(_TRIES):
        await sleep(_TRY_S)
        if election.try_win(me):
            return True
    return False


class Office:
    """One term: runs the courier until somebody or something says that it is over."""

    def __init__(
        self,
        courier: Courier,
        socket: CourierSocket,
        election: Election,
        *,
        version: str,
        clock: Callable[[], float],
        sleep: Sleep,
        zone_set: Callable[[], bool] = lambda: False,
    ) -> None:
        """`election` is the one that it has won; `zone_set` says that this process works in another time zone now."""
        self.why = ""
        """Why it ended."""
        self._courier = courier
        self._socket = socket
        self._election = election
        self._version = version
        self._clock = clock
        self._sleep = sleep
        self._zone_set = zone_set
        self._over = asyncio.Event()

    def leave(self, why: str) -> None:
        """Ends the term; may be called from a signal handler of the loop."""
        self.why = self.why or why
        self._over.set()

    async def hold(self, lifeline: int = -1) -> str:
        """Works until the term is over, lets the last flight land, and says why it left."""
        loop = asyncio.get_running_loop()
        loop.add_reader(self._socket.fileno(), self._rung)
        if lifeline >= 0:
            loop.add_reader(lifeline, self._tug, lifeline)
        tasks = (self._courier.run(), self._watch(), self._hear())
        working = [asyncio.create_task(task) for task in tasks]
        over = asyncio.create_task(self._over.wait())
        try:
            await asyncio.wait([over, *working], return_when=asyncio.FIRST_COMPLETED)
            await self._courier.settle(LAST_FLIGHT_S)
        finally:
            if lifeline >= 0:
                loop.remove_reader(lifeline)
            loop.remove_reader(self._socket.fileno())
            await _end([over, *working])
        return self.why

    def _rung(self) -> None:
        said = self._socket.drain()
        for word in said:
            if word.startswith(LEAVE) and is_newer(word.removeprefix(LEAVE), self._version):
                self.leave("a newer program takes over")
            if word.startswith(OFFER) and self._gives_way(word.removeprefix(OFFER)):
                self.leave("it is let in by nobody, and another token is tried")
        if said:  # else a session has only told what it shows
            self._courier.heard(said)
            self._courier.wake()

    def _gives_way(self, offer: str) -> bool:
        """Whether another token may do better than the one that this courier goes by; never for an older program."""
        version, _, path = offer.partition(" ")
        me = self._election.holder()
        is_another = me is not None and path != me.token_file
        return is_another and self._courier.link.state == REFUSED and not is_newer(self._version, version)

    def _tug(self, lifeline: int) -> None:
        """The lifeline is only ever readable when its other end is closed."""
        if os.read(lifeline, 1) == b"":
            self.leave("the lifeline was cut")

    async def _hear(self) -> None:
        """Hangs the doorbell again when it is gone: else nobody could ring, and nobody could ask it to leave.

        Looks, too, whether it still stands on what it began with; and shows that it is alive.
        """
        loop = asyncio.get_running_loop()
        while True:
            beat(self._courier.home.lock)
            await self._sleep(BEAT_S)
            if why := self._over_by_itself():
                self.leave(why)
            if self._socket.hangs or not self._election.stands:
                continue
            loop.remove_reader(self._socket.fileno())
            try:
                self._socket.hang_again()
            except (OSError, StorageError) as error:
                self._courier.notices.add(f"The doorbell cannot be hung again: {error}")
            loop.add_reader(self._socket.fileno(), self._rung)
            self._courier.wake()

    def _over_by_itself(self) -> str:
        """Why this term is over by what has become of the lock, zone, clock or files; empty where it is not."""
        if not self._election.stands:
            return LOCK_GONE
        if self._zone_set():
            return ZONE_SET
        return CLOCK_SET if is_off(self._clock) else lost(self._courier.grounds)

    async def _watch(self) -> None:
        """Leaves when there is nobody and nothing to work for."""
        last_seen = self._clock()
        while True:
            await self._sleep(_LOOK_S)
            self._socket.take_down_dead()
            if self._socket.sessions() or not self._courier.idle:
                last_seen = self._clock()
            elif self._clock() - last_seen >= ALONE_S:
                self.leave("nobody is left to work for")


async def _end(tasks: Iterable[asyncio.Task[object]]) -> None:
    """Cancels what still runs. Raises what ended a task that should not have ended."""
    waiting = list(tasks)
    for task in waiting:
        task.cancel()
    for ended in await asyncio.gather(*waiting, return_exceptions=True):
        if isinstance(ended, Exception):
            raise ended
