"""HTTP server in this process: uvicorn with limited connections, drain after SIGTERM, and certificate reload.

It finishes requests in progress before it ends (`HttpServer.drain`).
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import threading
from asyncio import sslproto
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp

from aisle.errors import UsageError
from aisle.server.caller_turns import FairStarts, KnownClients
from aisle.server.connections import LARGEST_BACKLOG, ConnectionLimits, LimitedConnection, limited
from aisle.server.tls_certificates_and_handshakes import (
    TLS_BUFFER_BYTES,
    WATCH_S,
    CertificateWatch,
    Handshakes,
    good_until,
    renewed,
    stamp_of,
    take,
    tls_context,
)

_KEEP_ALIVE_SECONDS = 75
_SEND_BYTES = 128 << 10


def server_config(
    app: ASGIApp,
    limits: ConnectionLimits,
    *,
    longest_head: int,
    certificate: Path | None = None,
    private_key: Path | None = None,
    finish_seconds: int,
    **more: Any,
) -> uvicorn.Config:
    """Configure uvicorn without a request log and with the caller's logging.

    At the end, running requests have `finish_seconds`.
    """
    known = KnownClients()
    return uvicorn.Config(
        FairStarts(app, known),
        **{"lifespan": "off", "ws": "none", "proxy_headers": False, **more},
        http=limited(limits, known),
        backlog=limits.backlog,
        h11_max_incomplete_event_size=longest_head,
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=finish_seconds,
        ssl_certfile=certificate,
        ssl_keyfile=private_key,
        ssl_context_factory=(lambda *_: tls_context(certificate, private_key)) if certificate else None,
    )


def listening(host: str, port: int) -> socket.socket:
    """Open a socket that several processes can accept connections from. Raise UsageError if that is impossible.

    Its connections send small parts at once. Otherwise a client's delayed acknowledgement holds up each answer by
    40 ms; asyncio prevents that only for sockets that it opens itself. The kernel buffers little of an answer that
    nobody reads.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        sock = socket.create_server((host, port), family=family, backlog=LARGEST_BACKLOG)
    except OSError as problem:
        raise UsageError(f"{host} port {port} cannot be listened at: {problem.strerror or problem}.") from problem
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # Accepted sockets inherit both.
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BYTES)
    return sock


def url_of(sock: socket.socket, *, tls: bool) -> str:
    """Return the URL of a socket."""
    host, port = sock.getsockname()[:2]
    return f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"


class HttpServer(uvicorn.Server):
    """uvicorn server that reports when it is ready and when it is about to stop.

    It loads a renewed certificate on SIGHUP, and within a minute without a signal. Signals do not end the shutdown of a
    worker.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        ready: Callable[[str], None],
        *,
        leaving: Callable[[], None] = lambda: None,
        before_end: Callable[[], Awaitable[None]] | None = None,
        drain_seconds: float = 0.0,
        is_worker: bool = False,
        certificate_until: Callable[[float], None] = lambda until: None,
        watch_seconds: float = WATCH_S,
    ) -> None:
        """Prepare the server.

        `ready` receives the URL. `leaving` is called when a stop is requested, `before_end` when the server no longer
        listens. `certificate_until` receives, every `watch_seconds` and after a reload, the end of the certificate's
        validity; 0.0 if it is unusable.

        For a worker, its parent process checks a renewed certificate, and ignores further signals for it at the end.
        """
        super().__init__(config)
        self._ready = ready
        self._leaving = leaving
        self._before_end = before_end
        self._drain_seconds = drain_seconds
        self._is_worker = is_worker
        self._is_draining = False
        self._certificate_until = certificate_until
        self._watch_seconds = watch_seconds
        self._reloaded = asyncio.Event()
        self._taken = stamp_of(*self._files()) if config.ssl_certfile else ()

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until a stop is requested."""
        connection = cast("type[LimitedConnection]", self.config.http)
        with asyncio.Runner(loop_factory=partial(_Loop, connection.limits, connection.known)) as runner:
            runner.run(self.serve(sockets))

    def leave(self) -> None:
        """Stop accepting requests and finish the running ones."""
        self._leaving()
        self.should_exit = True

    def drain(self) -> None:
        """Announce the stop and stop after `drain_seconds`; a second call stops at once."""
        if self._is_draining or not self._drain_seconds:
            self.leave()
            return
        self._is_draining = True
        self._leaving()
        asyncio.get_running_loop().call_later(self._drain_seconds, self.leave)

    def _files(self) -> tuple[Path, Path | None]:
        private_key = self.config.ssl_keyfile
        return Path(str(self.config.ssl_certfile)), Path(str(private_key)) if private_key else None

    def reload(self) -> None:
        """Load a renewed certificate and report its end."""
        if self._is_worker or renewed(*self._files()):
            self._take()
            self._reloaded.set()

    def _take(self) -> None:
        assert self.config.ssl is not None
        self._taken = stamp_of(*self._files())
        take(self.config.ssl, *self._files())

    async def _watch_certificate(self) -> None:
        """Load a renewed certificate even if no signal announces it."""
        files = self._files()
        watch = CertificateWatch(partial(good_until, *files), self._certificate_until, is_quiet=self._is_worker)
        is_usable = partial(renewed, *files, is_quiet=self._is_worker)
        while True:
            is_good = await asyncio.to_thread(watch.look)
            if is_good and stamp_of(*files) != self._taken and await asyncio.to_thread(is_usable):
                self._take()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._reloaded.wait(), self._watch_seconds)
            self._reloaded.clear()

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """See uvicorn.Server."""
        watching = asyncio.create_task(self._watch_certificate()) if self.config.ssl_certfile else None
        try:
            await super().serve(sockets)
        finally:
            if watching is not None:
                watching.cancel()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """See uvicorn.Server."""
        await super().startup(sockets)
        if self.started:
            listening_socket = next(one for server in self.servers for one in server.sockets)
            self._ready(url_of(listening_socket, tls=self.config.is_ssl))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """See uvicorn.Server."""
        if self._before_end is not None:
            for server in self.servers:
                server.close()
            await self._before_end()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """See uvicorn.Server."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        on_hangup = self.reload if self.config.is_ssl else self.drain
        signals = {signal.SIGINT: self.leave, signal.SIGTERM: self.drain, signal.SIGHUP: on_hangup}
        for one, handler in signals.items():
            loop.add_signal_handler(one, handler)
        try:
            yield
        finally:
            for one in signals:
                loop.remove_signal_handler(one)
                if self._is_worker:
                    signal.signal(one, signal.SIG_IGN)


class _Loop(asyncio.SelectorEventLoop):
    """Event loop whose servers limit handshakes and have a long listen queue.

    The queue's length is independent of the number of connections that are accepted in a row.
    """

    def __init__(self, limits: ConnectionLimits, known: KnownClients) -> None:
        super().__init__()
        self._limits = limits
        self._known = known

    async def create_server(self, protocol_factory: Any, *args: Any, **options: Any) -> asyncio.Server:
        if context := options.pop("ssl", None):
            sslproto.SSLProtocol.max_size = TLS_BUFFER_BYTES
            protocol_factory = Handshakes(protocol_factory, context, self._limits, self._known).begin
        server = await super().create_server(protocol_factory, *args, **options)
        for listener in server.sockets:
            with socket.socket(fileno=os.dup(listener.fileno())) as same:
                same.listen(LARGEST_BACKLOG)
        return server


_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""Numbers of glibc's options (malloc.h)."""
_OPTIONS = ((_ARENA_MAX, 1), (_MMAP_THRESHOLD, 256 << 10), (_TRIM_THRESHOLD, 1 << 20))


def return_freed_memory() -> None:
    """Let the allocator return freed memory to the system; call it before threads start.

    By default each thread has an arena of its own, and after the first large block that is freed, further ones come
    from the arenas, which keep the memory of the largest bodies and answers for ever. Other C libraries are left alone.
    """
    if sys.platform != "linux":
        return
    with suppress(ImportError, OSError, AttributeError):  # another C library, without mallopt
        import ctypes

        library = ctypes.CDLL(None)
        for option, value in _OPTIONS:
            library.mallopt(option, value)
