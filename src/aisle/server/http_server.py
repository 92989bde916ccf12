"""An HTTP server in this process: uvicorn with limited connections, started and ended from here."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp

from aisle.errors import UsageError
from aisle.server.certificates import CertificateWatch, good_until, renewed, stamp_of, take
from aisle.server.connections import LARGEST_BACKLOG, ConnectionLimits, LimitedConnection, limited
from aisle.server.fair_starts import FairStarts
from aisle.server.handshakes import Handshakes

_KEEP_ALIVE_SECONDS = 75
WATCH_S = 60.0
"""So often the files of a certificate are looked at."""


def server_config(
    app: ASGIApp,
    limits: ConnectionLimits,
    *,
    longest_head: int,
    certificate: Path | str | None = None,
    private_key: Path | str | None = None,
    finish_seconds: int,
    **more: Any,
) -> uvicorn.Config:
    """Configure uvicorn: it logs no requests, and those that run have `finish_seconds` when it ends."""
    return uvicorn.Config(
        FairStarts(app),
        **{"lifespan": "off", "ws": "none", "proxy_headers": False, **more},
        http=limited(limits),
        backlog=limits.backlog,
        h11_max_incomplete_event_size=longest_head,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=finish_seconds,
        ssl_certfile=certificate,
        ssl_keyfile=private_key,
    )


def listening(host: str, port: int) -> socket.socket:
    """Open a socket that several processes may take connections from. Raises UsageError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=LARGEST_BACKLOG)
    except OSError as problem:
        raise UsageError(f"{host} port {port} cannot be listened at: {problem.strerror or problem}.") from problem


def url_of(sock: socket.socket, *, tls: bool) -> str:
    """Tell the URL of a socket."""
    host, port = sock.getsockname()[:2]
    return f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"


class HttpServer(uvicorn.Server):
    """Server of uvicorn that says when it is ready, can say that it is leaving before it stops listening, and takes a
    renewed certificate on SIGHUP and within a minute by itself. What comes after it in a worker no signal kills."""

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
        """`ready` hears the URL; `leaving` is called when it is told to leave, `before_end` when it listens no more.
        `certificate_until` hears each `watch_seconds` until when the certificate in the files is good, 0.0 for not.

        Who starts a worker says whether a renewed certificate is good, and keeps signals from it when it ends.
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
        self._taken = stamp_of(*self._files()) if config.ssl_certfile else ()

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until it is told to leave."""
        limits = cast("type[LimitedConnection]", self.config.http).limits
        with asyncio.Runner(loop_factory=partial(_Loop, limits)) as runner:
            runner.run(self.serve(sockets))

    def leave(self) -> None:
        """Stop taking requests and finish those that run."""
        self._leaving()
        self.should_exit = True

    def drain(self) -> None:
        """Say that it is leaving, and leave a while later; at once when it is told again."""
        if self._is_draining or not self._drain_seconds:
            self.leave()
            return
        self._is_draining = True
        self._leaving()
        asyncio.get_running_loop().call_later(self._drain_seconds, self.leave)

    def _files(self) -> tuple[Path, Path | None]:
        private_key = self.config.ssl_keyfile
        return Path(str(self.config.ssl_certfile)), Path(str(private_key)) if private_key else None

    def _reload(self) -> None:
        if self._is_worker or renewed(*self._files()):
            self._take()

    def _take(self) -> None:
        assert self.config.ssl is not None
        self._taken = stamp_of(*self._files())
        take(self.config.ssl, *self._files())

    async def _watch_certificate(self) -> None:
        """Nobody may have said that it was renewed."""
        files = self._files()
        watch = CertificateWatch(partial(good_until, *files), self._certificate_until)
        while True:
            is_good = await asyncio.to_thread(watch.look)
            if is_good and stamp_of(*files) != self._taken and await asyncio.to_thread(renewed, *files):
                self._take()
            await asyncio.sleep(self._watch_seconds)

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
            taken = next(one for server in self.servers for one in server.sockets)
            self._ready(url_of(taken, tls=self.config.is_ssl))

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
        hang_up = self._reload if self.config.is_ssl else self.drain
        signals = {signal.SIGINT: self.leave, signal.SIGTERM: self.drain, signal.SIGHUP: hang_up}
        for one, obey in signals.items():
            loop.add_signal_handler(one, obey)
        try:
            yield
        finally:
            for one in signals:
                loop.remove_signal_handler(one)
                if self._is_worker:
                    signal.signal(one, signal.SIG_IGN)


class _Loop(asyncio.SelectorEventLoop):
    """Loop whose servers limit handshakes, too, and whose callers wait in a long queue, however few of them are taken
    from it in a row."""

    def __init__(self, limits: ConnectionLimits) -> None:
        super().__init__()
        self._limits = limits

    async def create_server(self, protocol_factory: Any, *args: Any, **options: Any) -> asyncio.Server:
        if context := options.pop("ssl", None):
            protocol_factory = Handshakes(protocol_factory, context, self._limits).begin
        server = await super().create_server(protocol_factory, *args, **options)
        for listener in server.sockets:
            with socket.socket(fileno=os.dup(listener.fileno())) as same:
                same.listen(LARGEST_BACKLOG)
        return server
