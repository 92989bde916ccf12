"""Connections with limits, so that idle or slow clients cannot exclude others.

uvicorn alone waits for a request for ever, and accepts connections until no file descriptor is left.
"""

from __future__ import annotations

import asyncio
import logging
import re
import resource
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any, Literal, NamedTuple

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from aisle.caller_addresses import Network, address_key, is_in
from aisle.server.caller_turns import FairRounds, KnownClients
from aisle.server.limited_websocket import LimitedWebSocket

log = logging.getLogger("aisle.server")


_MOST = 10_000
_MOST_TLS = 1_500
"""The same with TLS, where each takes some 30 KiB of memory."""
_MOST_UNREAD_TLS = 200
"""Maximum number of `ConnectionLimits.unread` with TLS, where each takes some 100 KiB."""
LARGEST_BACKLOG = 2048
WRITE_BYTES = 16 << 10
"""Bytes of an answer that wait for their reader before the next part of it is written."""
_IN_A_ROW = 64
"""Maximum number of connections accepted in one iteration of the loop, since the existing ones wait for it."""
_RESERVE = 100
_ROUNDS = 4
"""Iterations of accepting connections until the first of them is counted."""
_LOOKS = 32
"""Checks per `body_seconds` of a connection whose body the application does not read."""
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_LONGEST_HEAD = 16 << 10
"""Bytes of a head if the configuration names no limit."""
_MAX_LINES = 100
"""Maximum number of lines of a head or trailer. h11 takes 50 ms and a megabyte for thousands of short ones."""
_BLANK_LINE = re.compile(rb"\n\r?\n")
_LINE_END = re.compile(rb"\r?\n")
_CHUNK_SIZE = re.compile(rb"\r?\n?(?P<number>[0-9A-Fa-f]+)[^\n]*\n")
"""Line with the size of a chunk, and before it what is left of the end of the last one."""
_SMALL_BODY = 1 << 20
_READ_BYTES = 16 << 10
"""Bytes of a read, so that a client that sends many requests in a row buffers few here; `_READ_BODY_BYTES` for a body.
"""
_READ_BODY_BYTES = 64 << 10
_EVENTS = 32
"""Heads and parts of bodies that one step reads. Further ones wait, since each takes time however short it is."""
_SHORT_HEAD = 1 << 10
"""Length of an ordinary head. Up to it the common limit closes no connection."""
_REQUEST_BYTES, _LINE_BYTES = 12 << 10, 160
"""Memory of a request whose body is awaited, and of each line of its head, beside the text of the head."""
_SHARE = 4
"""Divisor of all connections for the default limit of one address."""


class ConnectionLimits(NamedTuple):
    """Limits of the connections of one server."""

    head_seconds: float = 15.0
    """Seconds for the head of a request, counted from its first byte, and from the start of a connection."""
    body_seconds: float = 30.0
    """Seconds for a body, in addition to what `body_rate` allows."""
    body_rate: int = 16 << 10
    """Bytes of a body that extend its time by one second."""
    large_body_rate: int = 64 << 10
    """The same for bytes after the first MiB. It is stricter, since a large body delays other large ones."""
    connections: int = _MOST
    per_address: int = 0
    """Maximum number of connections from one address; 0 is no limit."""
    proxies: Collection[Network] = ()
    """Networks of proxies, to which `per_address` does not apply."""
    backlog: int = _IN_A_ROW
    """Maximum number of connections accepted in a row."""
    unfinished_bytes: int = 8 << 20
    """Bytes of incomplete requests that all connections together may buffer, mainly heads."""
    awaited_bytes: int = 16 << 20
    """Memory of all requests whose bodies are awaited."""

    unread: int = 512
    """Maximum number of connections that do not read their answers. Each takes some 50 KiB of memory."""

    def seconds_for_body(self, received: int) -> float:
        """Return the seconds that a body may take when this many of its bytes have arrived."""
        small = min(received, _SMALL_BODY)
        return self.body_seconds + small / self.body_rate + (received - small) / self.large_body_rate

    def limited_address(self, host: str) -> str:
        """Return the address that a connection is counted for; '' if the limit of an address does not apply."""
        return "" if is_in(host, self.proxies) else address_key(host)


def connection_limits(
    per_address: int | None = None, proxies: Collection[Network] = (), *, tls: bool = False
) -> ConnectionLimits:
    """Return limits that fit memory and the file descriptors of this process, minus a reserve for other files."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    connections, backlog = _MOST_TLS if tls else _MOST, _IN_A_ROW
    if limit != resource.RLIM_INFINITY:
        backlog = max(1, min(_IN_A_ROW, limit // 16))
        spare = limit - min(_RESERVE, limit // 4) - _ROUNDS * backlog
        connections = max(1, min(connections, spare))
    share = max(1, connections // _SHARE) if per_address is None else per_address
    limits = ConnectionLimits(connections=connections, per_address=share, proxies=proxies, backlog=backlog)
    return limits._replace(unread=_MOST_UNREAD_TLS) if tls else limits


def limited(limits: ConnectionLimits, known: KnownClients) -> type[H11Protocol]:
    """Create the protocol class of a server with these limits and known clients."""
    state: dict[str, object] = {
        "limits": limits,
        "by_address": Counter[str](),
        "unfinished": {},
        "idle": {},
        "unread": {},
        "bodies": {},
    }
    state |= {
        "held": HeldBytes(limits.unfinished_bytes),
        "awaited": HeldBytes(limits.awaited_bytes),
        "room": memoryview(bytearray(_READ_BODY_BYTES)),
        "known": known,
        "rounds": FairRounds(known),
    }
    return type("Connection", (LimitedConnection,), state)


class HeldBytes:
    """Number of bytes of incomplete requests that all connections of a server buffer."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._sum = 0

    @property
    def is_much(self) -> bool:
        """True if half of the limit is used."""
        return self._sum > self.most // 2

    def change(self, by: int) -> bool:
        """Add to the number. Return True if it exceeds the limit."""
        self._sum += by
        return self._sum > self.most


class _Events(h11.Connection):
    """Parser that says after some events that it needs more data.

    It takes at most `_MAX_LINES` as a head or trailer.
    """

    left = _EVENTS
    _next_in_body: Literal["content", "size", "trailer"] = "content"
    """Next part of a body; sizes are those of its chunks."""

    def __init__(self, longest_head: int) -> None:
        super().__init__(h11.SERVER, longest_head)

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """See h11.Connection."""
        if not self.left:
            return h11.NEED_DATA
        self.left -= 1
        self._limit_lines()
        event = super().next_event()
        if isinstance(event, h11.Request):
            is_chunked = any(name == b"transfer-encoding" for name, _ in event.headers)
            self._next_in_body = "size" if is_chunked else "content"
        elif isinstance(event, h11.Data) and event.chunk_end:
            self._next_in_body = "size"
        return event

    def _limit_lines(self) -> None:
        """Raise RemoteProtocolError if the received data have too many lines before they come to a blank one."""
        data, start = self.trailing_data[0], 0
        if self.their_state is h11.SEND_BODY:
            if self._next_in_body == "size" and (size := _CHUNK_SIZE.match(data)):
                self._next_in_body = "content" if size["number"].strip(b"0") else "trailer"
                start = size.end()
            if self._next_in_body != "trailer" or _LINE_END.match(data, start):
                return
        elif self.their_state is not h11.IDLE:
            return
        end = _BLANK_LINE.search(data, start)
        if data.count(b"\n", start, end.start() + 1 if end else None) > _MAX_LINES:
            raise h11.RemoteProtocolError("Too many lines", error_status_hint=431)


class _Flow(FlowControl):
    """Flow control that reads nothing while received data wait for their turn."""

    is_waiting = False

    def wait(self) -> None:
        """Stop reading until `go_on`, whatever else resumes it."""
        self.is_waiting = self.read_paused = True
        self._transport.pause_reading()

    def go_on(self) -> None:
        """Read again."""
        self.is_waiting = False
        self.resume_reading()

    def resume_reading(self) -> None:
        """See FlowControl."""
        if not self.is_waiting:
            super().resume_reading()


class LimitedConnection(H11Protocol, asyncio.BufferedProtocol):
    """Connection whose requests must arrive in time.

    `unfinished`, `idle`, `unread` and `bodies` are the server's connections that may be closed when there are too many.
    Each is ordered by waiting time, the longest first. The connection reads small parts, and none while a complete
    request waits behind the one that runs. What it has read is parsed in turn with the connections of other clients.
    """

    limits: ConnectionLimits
    by_address: Counter[str]
    unfinished: dict[LimitedConnection, None]
    """Connections that have not finished a request."""
    idle: dict[LimitedConnection, None]
    """Connections that were answered and have sent nothing since."""
    unread: dict[LimitedConnection, None]
    """Connections whose client has not read its answer."""
    bodies: dict[LimitedConnection, None]
    """Connections whose request awaits the rest of its body."""
    held: HeldBytes
    awaited: HeldBytes
    known: KnownClients
    rounds: FairRounds
    room: memoryview
    """Buffer of all connections for reading, since only one reads at a time."""

    _address = ""
    _due: asyncio.TimerHandle | None = None
    _body: RequestResponseCycle | None = None
    """Request whose body is awaited."""
    _began = 0.0
    _received = 0
    _unsent = 0
    _held = 0
    """Received bytes that are not part of a request yet."""
    _awaited = 0
    """Estimated memory of the request whose body is awaited."""
    _unread: asyncio.TimerHandle | None = None
    conn: _Events
    flow: _Flow

    def __init__(self, config: Config, *args: Any, **options: Any) -> None:
        super().__init__(config, *args, **options)
        self.conn = _Events(config.h11_max_incomplete_event_size or _LONGEST_HEAD)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection. Close another one that waits if there are too many."""
        transport.set_write_buffer_limits(high=WRITE_BYTES)
        super().connection_made(transport)
        self.flow = _Flow(transport)
        self._address = self.limits.limited_address(self.client[0] if self.client else "")
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
        if self.held.is_much:
            return self.room[:_SHORT_HEAD]
        return self.room if self._body is not None else self.room[:_READ_BYTES]

    def buffer_updated(self, nbytes: int) -> None:
        """See asyncio.BufferedProtocol."""
        self.data_received(bytes(self.room[:nbytes]))

    def data_received(self, data: bytes) -> None:
        """Receive data. Parts of a head or body do not restart its timer."""
        if self._body is not None:
            self._received += len(data)
        super().data_received(data)
        self._after_events()

    def handle_events(self) -> None:
        """Handle what was received, or wait for the next turn."""
        if self.flow.is_waiting:
            return
        if self.rounds.begin(self._client_key(), self._take_turn):
            self._handle_some()
        else:
            self.flow.wait()

    def _take_turn(self) -> None:
        if self in self.connections and not self.transport.is_closing():
            self.flow.go_on()
            self._handle_some()
            self._after_events()

    def _handle_some(self) -> None:
        self.conn.left = _EVENTS
        super().handle_events()
        if not self.conn.left and self in self.connections:
            self.flow.wait()
            self.rounds.wait(self._client_key(), self._take_turn)

    def _client_key(self) -> str:
        """Return what takes turns: the address, or this connection of a proxy."""
        return self._address or str(id(self))

    def _after_events(self) -> None:
        self._look(heard=True)
        if self._body is not None and self._body.body:
            self.flow.pause_reading()  # Until the application reads it.
        is_over = self._hold(len(self.conn.trailing_data[0]))
        if is_over and self._held > _SHORT_HEAD and self in self.unfinished and not self.flow.is_waiting:
            log.warning("Over %d bytes of heads without their end: further ones are closed.", self.held.most)
            self._close()

    def send_400_response(self, msg: str) -> None:
        """Refuse invalid data in place of the answer to its request, or only close if that has begun."""
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    def on_response_complete(self) -> None:
        """Drop the head when its answer is complete, as the connection may stay open, and update the timers."""
        self.scope = self.headers = self.cycle.scope = None  # type: ignore[assignment]
        super().on_response_complete()
        self._hold(len(self.conn.trailing_data[0]))
        self._look(heard=False)
        if self.transport.is_closing() and self.transport.get_write_buffer_size():
            self._watch_reader()

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection from the count."""
        self._forget()
        self._uncount()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: object) -> None:
        """Pass the connection to the websocket protocol. It counts for its address until it is lost."""
        self._forget()
        super().handle_websocket_upgrade(event)  # type: ignore[arg-type]
        websocket = self.transport.get_protocol()
        assert isinstance(websocket, LimitedWebSocket)
        websocket.on_lost = self._uncount

    def timeout_keep_alive_handler(self) -> None:
        """Close the connection after the idle time. If the last answer is unread, watch its reader first."""
        if self.transport.get_write_buffer_size():
            self._watch_reader()
        else:
            super().timeout_keep_alive_handler()

    def pause_writing(self) -> None:
        """Watch the reader when much of an answer waits."""
        super().pause_writing()
        self._watch_reader()

    def resume_writing(self) -> None:
        """Stop counting the connection as unread."""
        super().resume_writing()
        self.unread.pop(self, None)

    # Timers

    def _look(self, *, heard: bool) -> None:
        """Start or stop the timer for what the connection waits for."""
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
            self.bodies[self] = None
            self._awaited = _REQUEST_BYTES + sum(len(name) + len(value) + _LINE_BYTES for name, value in self.headers)
            if self.awaited.change(self._awaited):
                log.warning("Over %d bytes of requests await their body: the oldest are closed.", self.awaited.most)
            while self.awaited.change(0):
                next(iter(self.bodies))._close()

    def _await_nothing(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None
        if self._body is not None:
            self.awaited.change(-self._awaited)
            self.bodies.pop(self, None)
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
        """Close the connection, at once if unsent data would have to wait for its reader."""
        self._await_nothing()
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()

    def _is_held_up(self) -> bool:
        """Return True if the application does not read the awaited body, so that its sender is not the slow side."""
        return self._body is not None and (self.flow.read_paused or self._body.waiting_for_100_continue)

    # Limits

    def _make_room(self, address: str | None) -> None:
        """Close the connection (of this address, or any) that waits longest; close this one if there is no other."""
        for waiting in (self.unfinished, self.idle, self.unread):
            for one in waiting:
                if one is not self and address in (None, one._address) and not one._is_held_up():
                    one._close()
                    return
        self._close()

    def _hold(self, size: int) -> bool:
        """Record the bytes that this connection buffers. Return True if all connections exceed their limit."""
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

    def _uncount(self) -> None:
        self.by_address[self._address] -= 1
        if not self.by_address[self._address]:
            del self.by_address[self._address]

    # Readers

    def _watch_reader(self) -> None:
        self.unread[self] = None
        if len(self.unread) > self.limits.unread:
            log.warning("Over %d connections do not read: those that wait longest are closed.", self.limits.unread)
            longest = next(iter(self.unread))
            del self.unread[longest]
            longest._close()
        if self._unread is None:
            self._unsent = self.transport.get_write_buffer_size()
            self._unread = self.loop.call_later(self.timeout_keep_alive, self._look_at_reader)

    def _look_at_reader(self) -> None:
        """Abort the connection if nothing of its answer was read since the last check."""
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
    "socket.send() raised",
    "socket.sendmsg() raised",
    "SSL connection is closed",
    "Unsupported upgrade",
    "No supported WebSocket",
    "opening handshake failed",
    "Invalid UTF-8 sequence",
    "Fatal error: protocol.",
    "Exception in ASGI application",
    "A statement reached beyond",
    "The use of a token",
)
_OFTEN_BY_ARGUMENT = ("A host of store %s", "%s failed; request %s", "unknown token refused from %s")
"""Messages of which each first argument is a kind of its own."""
_KINDS = 1_000
"""Greatest number of kinds by argument in a minute; a caller may have many addresses. Further ones are dropped."""
_PERIOD = 60.0


class RepeatFilter(logging.Filter):
    """Log filter that lets messages that clients can cause pass once a minute, with the number that was dropped."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        super().__init__()
        self._now = now
        self._said: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True if the record passes."""
        text = record.getMessage()
        kind = next((often for often in _OFTEN if text.startswith(often)), None)
        if str(record.msg).startswith(_OFTEN_BY_ARGUMENT) and isinstance(record.args, tuple) and record.args:
            kind = f"{record.msg} {record.args[0]}"
        if kind is None:
            return True
        if kind not in _OFTEN and kind not in self._said and not self._has_room():
            return False
        then, left_out = self._said.get(kind, (-_PERIOD, 0))
        if self._now() - then < _PERIOD:
            self._said[kind] = (then, left_out + 1)
            return False
        self._said[kind] = (self._now(), 0)
        if left_out:
            record.msg, record.args = f"{text} ({left_out} times more since it was said last)", None
        return True

    def _has_room(self) -> bool:
        if len(self._said) >= _KINDS:
            self._said = {kind: said for kind, said in self._said.items() if self._now() - said[0] < _PERIOD}
        return len(self._said) < _KINDS


@contextmanager
def repeats_filtered() -> Iterator[None]:
    """Filter repeated messages of the servers' loggers while the context is active."""
    loggers = [logging.getLogger(name) for name in ("aisle.server", "aisle.service", "uvicorn.error", "asyncio")]
    repeats = RepeatFilter()
    for logger in loggers:
        logger.addFilter(repeats)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(repeats)
