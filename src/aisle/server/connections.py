"""Connections with limits: who asks for nothing, or only drips, is not kept, so that nobody shuts others out.

uvicorn by itself waits for a request for ever, and takes connections until no descriptor is left.
"""

from __future__ import annotations

import asyncio
import logging
import resource
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from ipaddress import IPv4Network, IPv6Network, ip_address
from time import monotonic

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from aisle.tuples import NamedTuple

log = logging.getLogger("aisle.server")

Network = IPv4Network | IPv6Network

_MOST = 10_000
LARGEST_BACKLOG = 2048
_IN_A_ROW = 64
"""Connections that are taken in one round of the loop at most: those that are there wait for it."""
_RESERVE = 100
_ROUNDS = 4
"""Rounds of taking connections that may pass before the first of them is counted."""
_LOOKS = 32
"""So often in the time of a body one is looked at that is not taken."""
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_SMALL_BODY = 1 << 20
_READ_BYTES = 16 << 10
"""So much is read at once, so that who sends many requests in a row has no more of them here; of a body that is awaited
_READ_BODY_BYTES."""
_READ_BODY_BYTES = 64 << 10
_SHORT_HEAD = 4 << 10
"""A head that has come so far is refused by no limit of all: it is an ordinary one."""
_SHARE = 4
"""One address gets this part of all connections at most, where nobody says."""


class ConnectionLimits(NamedTuple):
    """Limits of the connections of one server."""

    head_seconds: float = 15.0
    """For the head of a request, from its first byte, and from the begin of a connection."""
    body_seconds: float = 30.0
    """For a body, and what `body_rate` allows besides."""
    body_rate: int = 16 << 10
    """Bytes of a body that buy one more second."""
    large_body_rate: int = 64 << 10
    """The same, beyond the first MiB: who sends one so large holds up others that do."""
    connections: int = _MOST
    per_address: int = 0
    """Connections from one address; 0 for any number."""
    proxies: Collection[Network] = ()
    """Addresses that speak for many, so that `per_address` does not hold for them."""
    backlog: int = _IN_A_ROW
    """Connections that are taken in a row."""
    unfinished_bytes: int = 16 << 20
    """Bytes that all connections hold of what has not come to its end: heads, above all."""

    def seconds_for_body(self, received: int) -> float:
        """Return how long a body may take of which so many bytes have come."""
        small = min(received, _SMALL_BODY)
        return self.body_seconds + small / self.body_rate + (received - small) / self.large_body_rate


def connection_limits(per_address: int | None = None, proxies: Collection[Network] = ()) -> ConnectionLimits:
    """Allow as many connections as this process has descriptors for, less some for the database and files."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    connections, backlog = _MOST, _IN_A_ROW
    if limit != resource.RLIM_INFINITY:
        backlog = max(1, min(_IN_A_ROW, limit // 16))
        spare = limit - min(_RESERVE, limit // 4) - _ROUNDS * backlog
        connections = max(1, min(_MOST, spare))
    share = max(1, connections // _SHARE) if per_address is None else per_address
    return ConnectionLimits(connections=connections, per_address=share, proxies=proxies, backlog=backlog)


def limited(limits: ConnectionLimits) -> type[H11Protocol]:
    """Make the protocol of a server with these limits."""
    state: dict[str, object] = {
        "limits": limits,
        "by_address": Counter[str](),
        "unfinished": {},
        "idle": {},
        "unread": {},
    }
    state |= {"held": HeldBytes(limits.unfinished_bytes), "room": memoryview(bytearray(_READ_BODY_BYTES))}
    return type("Connection", (LimitedConnection,), state)


class HeldBytes:
    """What all connections of a server hold of what has not come to its end."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._sum = 0

    def change(self, by: int) -> bool:
        """Note that it is so much more, or less. Whether it is too much now."""
        self._sum += by
        return self._sum > self.most


class LimitedConnection(H11Protocol, asyncio.BufferedProtocol):
    """A connection whose requests have to come in time. `unfinished`, `idle` and `unread` are those of its server that
    may be closed when there are too many, those that are waited for longest first.

    It reads little at a time, and nothing more while there is a whole request behind the one that is answered.
    """

    limits: ConnectionLimits
    by_address: Counter[str]
    unfinished: dict[LimitedConnection, None]
    """Of whom a request, or the rest of one, is awaited."""
    idle: dict[LimitedConnection, None]
    """Who was answered and has asked for nothing since."""
    unread: dict[LimitedConnection, None]
    """Of whom it is awaited that more of an answer is read."""
    held: HeldBytes
    room: memoryview
    """What is read goes here first: only one connection reads at a time."""

    _address = ""
    _due: asyncio.TimerHandle | None = None
    _body: RequestResponseCycle | None = None
    """The request whose body is awaited."""
    _began = 0.0
    _received = 0
    _unsent = 0
    _held = 0
    """Bytes that have come and are no part of a request yet."""
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count it; where it is one too many, close one that is waited for."""
        super().connection_made(transport)
        self._address = self._limited_address()
        self.by_address[self._address] += 1
        self._await_head()
        if len(self.connections) > self.limits.connections:
            log.warning("Over %d connections: those that ask for nothing are closed.", self.limits.connections)
            self._make_room(None)
        elif self._address and 0 < self.limits.per_address < self.by_address[self._address]:
            log.warning(
                "Over %d connections from one address: those of it that ask for nothing are closed.",
                self.limits.per_address,
            )
            self._make_room(self._address)

    def get_buffer(self, sizehint: int) -> memoryview:
        """See asyncio.BufferedProtocol."""
        return self.room if self._body is not None else self.room[:_READ_BYTES]

    def buffer_updated(self, nbytes: int) -> None:
        """See asyncio.BufferedProtocol."""
        self.data_received(bytes(self.room[:nbytes]))

    def data_received(self, data: bytes) -> None:
        """Hear a part; drops of a head, or of a body, buy no time."""
        if self._body is not None:
            self._received += len(data)
        super().data_received(data)
        self._look(heard=True)
        if self._hold(len(self.conn.trailing_data[0])) and self._held > _SHORT_HEAD and self in self.unfinished:
            log.warning("Over %d bytes of heads without their end: further ones are closed.", self.held.most)
            self._close()

    def on_response_complete(self) -> None:
        """Note that an answer is out."""
        super().on_response_complete()
        self._hold(len(self.conn.trailing_data[0]))
        self._look(heard=False)
        if self.transport.is_closing() and self.transport.get_write_buffer_size():
            self._watch_reader()

    def connection_lost(self, exc: Exception | None) -> None:
        """Count it no more."""
        self._forget()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: object) -> None:
        """Leave it to another protocol."""
        self._forget()
        super().handle_websocket_upgrade(event)  # type: ignore[arg-type]

    def timeout_keep_alive_handler(self) -> None:
        """End it, for nothing was asked for a while; also when nobody reads the last answer."""
        if self.transport.get_write_buffer_size():
            self._watch_reader()
        else:
            super().timeout_keep_alive_handler()

    def pause_writing(self) -> None:
        """Watch the reader, for whom much of an answer waits."""
        super().pause_writing()
        self._watch_reader()

    def resume_writing(self) -> None:
        """Note that most of an answer was read."""
        super().resume_writing()
        self.unread.pop(self, None)

    # What is awaited

    def _look(self, *, heard: bool) -> None:
        """See what is awaited now."""
        cycle = self.cycle
        if self.transport.is_closing() or self not in self.connections:
            self._await_nothing()
        elif cycle is None or cycle.response_complete:
            if heard or self.conn.trailing_data[0]:
                self._await_head()
            else:
                self._await_nothing()
                self.idle[self] = None
        elif cycle.more_body:
            self._await_body(cycle)
        else:
            self._await_nothing()

    def _await_head(self) -> None:
        if self._due is None or self._body is not None:
            self._await_nothing()
            self.unfinished[self] = None
            self._due = self.loop.call_later(self.limits.head_seconds, self._late)

    def _await_body(self, cycle: RequestResponseCycle) -> None:
        if self._body is not cycle:
            self._await_nothing()
            self.unfinished[self] = None
            self._body, self._began, self._received = cycle, self.loop.time(), 0
            self._due = self.loop.call_later(self.limits.body_seconds, self._late)

    def _await_nothing(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None
        self._body = None
        self.unfinished.pop(self, None)
        self.idle.pop(self, None)

    def _late(self) -> None:
        now = self.loop.time()
        if self._body is not None:
            if self._is_held_up():
                self._began, self._received = now, 0
                self._due = self.loop.call_later(self.limits.body_seconds / _LOOKS, self._late)
                return
            until = self._began + self.limits.seconds_for_body(self._received)
            if now < until:
                self._due = self.loop.call_at(until, self._late)
                return
            if not self._body.response_started:
                self.transport.write(_TOO_SLOW)
        self._end()

    def _end(self) -> None:
        """Close it, once what is to be said is out; at once where that would have to wait for its reader."""
        self._await_nothing()
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()

    def _is_held_up(self) -> bool:
        """Whether nobody takes the body that is awaited: it is not its sender who is slow."""
        return self._body is not None and (self.flow.read_paused or self._body.waiting_for_100_continue)

    # Room

    def _limited_address(self) -> str:
        """Tell the address that it counts for; '' where the limit of an address does not hold."""
        try:
            address = ip_address(self.client[0].partition("%")[0]) if self.client else None
        except ValueError:
            return ""
        if address is None:
            return ""
        address = getattr(address, "ipv4_mapped", None) or address
        return "" if any(address in network for network in self.limits.proxies) else str(address)

    def _make_room(self, address: str | None) -> None:
        """Close the one of this address, or of any, that is waited for longest; this one where there is no other."""
        for waiting in (self.unfinished, self.idle, self.unread):
            for one in waiting:
                if one is not self and address in (None, one._address) and not one._is_held_up():
                    one._close()
                    return
        self._close()

    def _hold(self, size: int) -> bool:
        """Note how many bytes it holds; whether all hold too many."""
        by, self._held = size - self._held, size
        return self.held.change(by)

    def _close(self) -> None:
        self._await_nothing()
        self.transport.abort()

    def _forget(self) -> None:
        self._await_nothing()
        self._hold(0)
        self.unread.pop(self, None)
        if self._unread is not None:
            self._unread.cancel()
        self.by_address[self._address] -= 1
        if not self.by_address[self._address]:
            del self.by_address[self._address]

    # Readers

    def _watch_reader(self) -> None:
        self.unread[self] = None
        if self._unread is None:
            self._unsent = self.transport.get_write_buffer_size()
            self._unread = self.loop.call_later(self.timeout_keep_alive, self._look_at_reader)

    def _look_at_reader(self) -> None:
        """End it where nothing of what waits was read in all that time: nobody is there."""
        self._unread = None
        unsent = self.transport.get_write_buffer_size()
        if unsent and unsent == self._unsent:
            self.transport.abort()
        elif unsent:
            self._watch_reader()
        else:
            self.unread.pop(self, None)
            if self.cycle is not None and self.cycle.response_complete and self in self.idle:
                super().timeout_keep_alive_handler()


_OFTEN = (
    "Over ",
    "Invalid HTTP",
    "socket.accept()",
    "Unsupported upgrade",
    "No supported WebSocket",
    "opening handshake failed",
    "Fatal error: protocol.",
)
_PERIOD = 60.0


class RepeatFilter(logging.Filter):
    """Filter of a log: what anybody can make a server say passes once a minute, with how often it was left out."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        super().__init__()
        self._now = now
        self._said: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether this passes."""
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
def repeats_filtered() -> Iterator[None]:
    """Filter what repeats in the logs meanwhile."""
    loggers = [logging.getLogger(name) for name in ("aisle.server", "uvicorn.error", "asyncio")]
    repeats = RepeatFilter()
    for logger in loggers:
        logger.addFilter(repeats)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(repeats)
