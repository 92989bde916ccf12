"""TLS of a server: check, reload and reported end of its certificates, and its handshakes.

A renewed certificate is loaded while the server runs. `http_server` watches the files; this module checks and loads.
Each change of its state is logged once. Handshakes have a time limit and begin in turn by address. There is a maximum
number of them; beyond it the oldest of the address with the most is cancelled. asyncio alone counts a connection only
when its handshake is complete, and begins all that arrive together.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event, Lock, Thread
from time import time
from typing import Any, cast

from aisle.errors import UsageError
from aisle.server.caller_turns import FairRounds, KnownClients
from aisle.server.connections import WRITE_BYTES, ConnectionLimits

log = logging.getLogger("aisle.server")

_GROUP = "prime256v1"
"""The only group of key exchanges; every client has it. OpenSSL's largest one costs 130 ms for each handshake."""
SOON_DAYS = 14
WATCH_S = 60.0
"""Seconds between checks of the certificate files."""
_DAY = 86400.0


def good_until(certificate: Path, private_key: Path | None) -> float:
    """Return the end of a certificate's validity in seconds since 1970.

    The check is a TLS handshake in memory with a client that trusts only this certificate. Raise OSError (ssl.SSLError
    is one) if the files cannot be used or the certificate has expired.
    """
    server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    _load(server_context, certificate, private_key)
    client_context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client_context.check_hostname = False
    client_context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    client_context.load_verify_locations(certificate)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = server_context.wrap_bio(to_server, to_client, server_side=True)
    client = client_context.wrap_bio(to_client, to_server)
    for side in (client, server, client):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    found = client.getpeercert() or {}
    return ssl.cert_time_to_seconds(str(found["notAfter"]))


def tls_context(certificate: Path, private_key: Path | None) -> ssl.SSLContext:
    """Create the TLS context of an https server. Raise UsageError if the files cannot be used."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ecdh_curve(_GROUP)
    try:
        _load(context, certificate, private_key)
    except (OSError, ValueError) as problem:
        files = f"{certificate} and {private_key}" if private_key else str(certificate)
        raise UsageError(f"{files} cannot be used for TLS: {problem}.") from problem
    return context


def renewed(certificate: Path, private_key: Path | None, *, is_quiet: bool = False) -> bool:
    """Return True if the files hold a usable certificate. Log the result, with the reason of a refusal."""
    try:
        until = good_until(certificate, private_key)
    except (OSError, KeyError, ValueError) as problem:
        log.log(_level(logging.ERROR, is_quiet=is_quiet), "certificate refused, the old one stays: %s", _words(problem))
        return False
    days = (until - time()) / _DAY
    log.log(_level(logging.WARNING, is_quiet=is_quiet), "certificate taken: it is good for %d days", days)
    return True


def _level(level: int, *, is_quiet: bool) -> int:
    return logging.DEBUG if is_quiet else level


def stamp_of(*files: Path | None) -> tuple[object, ...]:
    """Return a value that changes when one of the files is rewritten or replaced."""
    return tuple(_stamp(file) for file in files if file is not None)


def _stamp(file: Path) -> tuple[int, ...]:
    try:
        found = file.stat()
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns


def take(context: ssl.SSLContext, certificate: Path, private_key: Path | None) -> None:
    """Load the files that `renewed` accepted. Only new connections use the new certificate."""
    try:
        _load(context, certificate, private_key)
    except OSError as problem:
        log.error("certificate lost: %s", _words(problem))


def _load(context: ssl.SSLContext, certificate: Path, private_key: Path | None) -> None:
    """Load the files. Raise ssl.SSLError also if the key has a password, since nobody can enter one."""
    context.load_cert_chain(certificate, private_key, password="")


class CertificateWatch:
    """Watch of a certificate. Each `look` reports the end of its validity to `figure`, 0 if it is not usable."""

    def __init__(
        self,
        look: Callable[[], float],
        figure: Callable[[float], None],
        clock: Callable[[], float] = time,
        *,
        is_quiet: bool = False,
    ) -> None:
        """Create a watch. A quiet one logs for debugging only: another process logs the same."""
        self._is_quiet = is_quiet
        self._look = look
        self._figure = figure
        self._clock = clock
        self._said = ""

    def look(self) -> bool:
        """Check the files and log a change of state in one line. Return True if the certificate is usable."""
        try:
            until = self._look()
        except (OSError, KeyError, ValueError) as problem:
            self._figure(0.0)
            self._say(f"certificate lost: {_words(problem)}")
            return False
        self._figure(until)
        days = (until - self._clock()) / _DAY
        if days > SOON_DAYS:
            if self._said:
                level = _level(logging.WARNING, is_quiet=self._is_quiet)
                log.log(level, "certificate regained: it is good for %d days", days)
            self._said = ""
        elif not self._said.startswith("certificate ends"):
            self._say(f"certificate ends in {days:.0f} days")
        return True

    def _say(self, text: str) -> None:
        if text != self._said:
            self._said = text
            log.log(_level(logging.ERROR, is_quiet=self._is_quiet), "%s", text)


class CertificateFiles:
    """Certificate of several workers, as their parent sees it: the parent alone logs what becomes of it."""

    def __init__(self, certificate: Path, private_key: Path | None, watch_seconds: float = WATCH_S) -> None:
        self._files = Path(certificate), Path(private_key) if private_key else None
        self._watch_seconds = watch_seconds
        self._taken = stamp_of(*self._files)
        self._stopped = Event()
        self._lock = Lock()

    def renewed(self) -> bool:
        """Return True if the files can be used now, and log it."""
        with self._lock:
            self._taken = stamp_of(*self._files)
            return renewed(*self._files)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Log changes of the files while the context is active; the workers load them by themselves."""
        thread = Thread(target=self._watch, name="aisle-certificate", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            thread.join()

    def _watch(self) -> None:
        watch = CertificateWatch(partial(good_until, *self._files), lambda _: None)
        while True:
            is_good = watch.look()
            with self._lock:
                is_new = is_good and stamp_of(*self._files) != self._taken
            if is_new:
                self.renewed()
            if self._stopped.wait(self._watch_seconds):
                return


def _words(problem: Exception) -> str:
    """Describe an error without any path."""
    if isinstance(problem, ssl.SSLCertVerificationError):
        return problem.verify_message
    return (problem.strerror if isinstance(problem, OSError) else "") or type(problem).__name__


_SHARE = 4
"""Divisor of all connections for the maximum number of simultaneous handshakes."""

_GOODBYE_S = 1.0
"""Seconds for a client's answer to the end of TLS. Most never answer, and asyncio alone waits 30 s for each."""

TLS_BUFFER_BYTES = 2 << 10
"""Bytes of a read, which may be 75 changes of keys. asyncio's own 256 KiB are all in memory, for an idle one too."""
_UNDECRYPTED_BYTES = 16 << 10
"""Received bytes that wait while the connection reads nothing. asyncio's own limit is 256 KiB."""


class Handshakes:
    """Handshakes of one server."""

    def __init__(
        self,
        connection: Callable[[], asyncio.Protocol],
        context: ssl.SSLContext,
        limits: ConnectionLimits,
        known: KnownClients,
    ) -> None:
        self.connection = connection
        self.context = context
        self.limits = limits
        self.rounds = FairRounds(known)
        self._most = max(1, limits.connections // _SHARE)
        self._running: dict[_Handshake, asyncio.Task[None]] = {}
        self._by_client = Counter[str]()

    def begin(self) -> _Handshake:
        """Return the protocol of a new connection."""
        return _Handshake(self)

    def add(self, one: _Handshake, transport: asyncio.Transport) -> None:
        """Run one more handshake. Cancel another one if there are too many."""
        self._by_client[one.client] += 1
        task = asyncio.get_running_loop().create_task(one.shake_hands(transport))
        task.add_done_callback(partial(self._end, one, transport))
        self._running[one] = task
        if len(self._running) > self._most:
            self._cancel_oldest_of_busiest_client()

    def _cancel_oldest_of_busiest_client(self) -> None:
        busiest = max(self._by_client, key=self._by_client.__getitem__)
        oldest = next(one for one in self._running if one.client == busiest)
        self._running[oldest].cancel()
        self._remove(oldest)

    def _end(self, one: _Handshake, transport: asyncio.Transport, task: asyncio.Task[None]) -> None:
        self._remove(one)
        if task.cancelled():  # Before it began.
            transport.abort()

    def _remove(self, one: _Handshake) -> None:
        if self._running.pop(one, None) is not None:
            self._by_client[one.client] -= 1
            if not self._by_client[one.client]:
                del self._by_client[one.client]


class _Handshake(asyncio.Protocol):
    """Protocol during a handshake. It buffers data until the connection's own protocol is set."""

    def __init__(self, handshakes: Handshakes) -> None:
        self.client = ""
        self._all = handshakes
        self._heard: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio.Protocol."""
        assert isinstance(transport, asyncio.Transport)
        transport.pause_reading()
        peer = transport.get_extra_info("peername") or ("",)
        self.client = self._all.limits.limited_address(str(peer[0])) or str(id(self))
        self._all.add(self, transport)

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        self._heard.append(data)

    async def shake_hands(self, plain: asyncio.Transport) -> None:
        """Perform the handshake in its turn, then pass the connection on. Abort the connection if it fails."""
        loop = asyncio.get_running_loop()
        turn = asyncio.Event()
        plain.set_write_buffer_limits(high=WRITE_BYTES)  # TLS has its own, which the connection sets.
        try:
            if not self._all.rounds.begin(self.client, turn.set):
                await turn.wait()
            loop.call_soon(self._read_in_turn, plain)  # After `start_tls` has set its protocol.
            transport = await loop.start_tls(
                plain,
                self,
                self._all.context,
                server_side=True,
                ssl_handshake_timeout=self._all.limits.head_seconds,
                ssl_shutdown_timeout=_GOODBYE_S,
            )
        except BaseException as problem:
            plain.abort()
            if isinstance(problem, OSError | asyncio.CancelledError):
                return
            raise
        if transport is None or transport.is_closing():
            return
        cast("Any", transport).set_read_buffer_limits(high=_UNDECRYPTED_BYTES)
        connection = self._all.connection()
        transport.set_protocol(connection)
        connection.connection_made(transport)
        for data in self._heard:
            connection.data_received(data)

    def _read_in_turn(self, plain: asyncio.Transport) -> None:
        tls = plain.get_protocol()
        if isinstance(tls, asyncio.BufferedProtocol):
            plain.set_protocol(_TlsInTurn(tls, plain, partial(self._all.rounds.begin, self.client)))


class _TlsInTurn(asyncio.BufferedProtocol):
    """Protocol that passes received bytes to TLS in the client's turn.

    The connection's own turns do not count records without data, such as changes of keys.
    """

    def __init__(
        self,
        tls: asyncio.BufferedProtocol,
        plain: asyncio.Transport,
        begin: Callable[[Callable[[], None]], bool],
    ) -> None:
        self._tls = tls
        self._plain = plain
        self._begin = begin

    def get_buffer(self, sizehint: int) -> memoryview:
        """See asyncio.BufferedProtocol."""
        return cast("memoryview", self._tls.get_buffer(sizehint))

    def buffer_updated(self, nbytes: int) -> None:
        """See asyncio.BufferedProtocol. Read nothing more until these bytes have had their turn."""
        if self._begin(partial(self._take_turn, nbytes)):
            self._tls.buffer_updated(nbytes)
        else:
            self._plain.pause_reading()

    def _take_turn(self, nbytes: int) -> None:
        if not self._plain.is_closing():
            self._plain.resume_reading()  # First, since TLS may pause it.
            self._tls.buffer_updated(nbytes)

    def eof_received(self) -> bool | None:
        """See asyncio.BufferedProtocol."""
        return self._tls.eof_received()

    def pause_writing(self) -> None:
        """See asyncio.BufferedProtocol."""
        self._tls.pause_writing()

    def resume_writing(self) -> None:
        """See asyncio.BufferedProtocol."""
        self._tls.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.BufferedProtocol."""
        self._tls.connection_lost(exc)
