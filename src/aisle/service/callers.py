"""Connections of callers: those that ask for nothing are not kept, so that nobody needs a token to shut others out.

uvicorn waits for the rest of a request's head for ever, and takes connections until no descriptor is left.
"""

from __future__ import annotations

import asyncio
import logging
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from aisle.tuples import NamedTuple

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol as _Http
else:
    _Http = asyncio.Protocol

log = logging.getLogger("aisle.service")

_MOST = 10_000
LARGEST_BACKLOG = 2048
_RESERVE = 100
_ROUNDS = 4
"""Rounds of taking connections that may pass before the first of them is counted."""


class Manners(NamedTuple):
    """What callers may do: seconds for the head of a request, connections at once, and how many are taken in a row."""

    head_seconds: float = 15.0
    connections: int = _MOST
    backlog: int = LARGEST_BACKLOG


def manners() -> Manners:
    """As many connections as this process has descriptors for, with some left for the database and files."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return Manners()
    backlog = max(1, min(LARGEST_BACKLOG, limit // 16))
    spare = limit - min(_RESERVE, limit // 4) - _ROUNDS * backlog
    return Manners(connections=max(1, min(_MOST, spare)), backlog=backlog)


class Caller(_Http):
    """A connection, over either of uvicorn's protocols. While no request of it is being answered it has so long to send
    the head of the next one."""

    manners = Manners()
    _due: asyncio.TimerHandle | None = None
    _unsent = 0
    _since = 0.0

    @property
    def is_answered(self) -> bool:
        """Whether a request of it is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """It has begun: for one too many, the one that has asked for nothing for longest goes."""
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > self.manners.connections:
            log.warning("Over %d connections: those that ask for nothing are closed.", self.manners.connections)
            waiting = [one for one in self.connections if isinstance(one, Caller) and one._may_go]
            min(waiting, key=lambda one: (one.cycle is not None, one._since)).transport.abort()

    def data_received(self, data: bytes) -> None:
        """Drops of a head, or of a body that nobody wants any more, buy no time."""
        super().data_received(data)
        if self.is_answered or self.transport.is_closing():
            self._wait_no_more()
        elif self._due is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """It has ended."""
        self._wait_no_more()
        super().connection_lost(exc)

    def timeout_keep_alive_handler(self) -> None:
        """Nothing was asked for a while: it ends, also when nobody reads the last answer."""
        unsent = self.transport.get_write_buffer_size()
        if not unsent:
            super().timeout_keep_alive_handler()
        elif unsent == self._unsent:
            self.transport.abort()
        else:
            self._unsent = unsent
            again = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)
            self.timeout_keep_alive_task = again

    @property
    def _may_go(self) -> bool:
        return not self.is_answered and not self.transport.is_closing()

    def _wait(self) -> None:
        self._since = self.loop.time()
        self._due = self.loop.call_later(self.manners.head_seconds, self._late)

    def _wait_no_more(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def _late(self) -> None:
        self._due = None
        if self._may_go:
            self.transport.abort()


_OFTEN = ("Over ", "Invalid HTTP", "socket.accept()", "Unsupported upgrade", "No supported WebSocket")
_PERIOD = 60.0


class Seldom(logging.Filter):
    """Lets what anybody can make us say through once a minute, with how often it was left out before."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        super().__init__()
        self._now = now
        self._said: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether this is said."""
        text = record.getMessage()
        kind = next((often for often in _OFTEN if text.startswith(often)), None)
        if kind is None:
            return True
        then, left_out = self._said.get(kind, (-_PERIOD, 0))
        if self._now() - then < _PERIOD:
            self._said[kind] = (then, left_out + 1)
            return False
        self._said[kind] = (self._now(), 0)
        if left_out:
            record.msg, record.args = f"{text} ({left_out} times more since it was said last)", None
        return True


@contextmanager
def seldom() -> Iterator[None]:
    """Nobody fills our log meanwhile."""
    loggers = [logging.getLogger(name) for name in ("aisle.service", "uvicorn.error", "asyncio")]
    sieve = Seldom()
    for logger in loggers:
        logger.addFilter(sieve)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(sieve)
