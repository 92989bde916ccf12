"""The service on a socket: uvicorn, started and ended from here."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import time
from typing import TYPE_CHECKING, Any

import uvicorn

from aisle.errors import AisleError, UsageError
from aisle.lifeline import follow_lifeline
from aisle.server.certificates import CertificateWatch, good_until, renewed, take, tls_context
from aisle.service.access import AccessLog
from aisle.service.callers import LARGEST_BACKLOG, manners, seldom
from aisle.service.factory import Service, open_service
from aisle.service.limits import LONGEST_HEADERS, LONGEST_QUERY, Rates
from aisle.service.logs import json_logs
from aisle.service.parsers import callers
from aisle.service.storage import Busy, Storage, named_database, open_storage
from aisle.service.times import Clock
from aisle.service.waiting import when_reached
from aisle.service.workers import CANNOT_START, LEAVE, SHARED_FIGURES, Commands, listening, run_workers
from aisle.service.zones import HOST, Zones
from aisle.tuples import NamedTuple

if TYPE_CHECKING:
    from aisle.service.app import App
    from aisle.service.metrics import Metrics

log = logging.getLogger("aisle.service")

_KEEP_ALIVE_SECONDS = 75
_DRAIN_SECONDS = 20
_CERTIFICATE_SECONDS = 60


def serve(
    database: str,
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    demo: bool = False,
    token_file: Path | None = None,
    allow_plain_http: bool = False,
    certificate: Path | None = None,
    private_key: Path | None = None,
    rate: float = Rates().token,
    access_file: Path | None = None,
    workers: int = 1,
    json_logs: bool = False,
    zones: Zones = HOST,
    lenient: bool = False,
    proxies: Sequence[str] = (),
    drain_seconds: float = 0.0,
    clock: Clock = time,
    ready: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve until SIGINT, SIGTERM or the end of the lifeline; requests that run are finished first.

    SIGTERM lets it say for `drain_seconds` that it is leaving, and go on answering, before it stops listening. SIGHUP
    has it take the certificate anew; without one it is like SIGTERM.

    `database` is `sqlite:///path` or `postgresql://host/name`; `port` 0 takes any free one. `ready` hears the URL when
    requests are answered. `token_file` gets an admin token. `rate` is how many requests a second a token may send in
    the long run, 0 for any number; `access_file` gets a line of each request, `-` is the standard error. `workers` is
    how many processes answer; with `json_logs` what the service says of itself are lines of JSON too. A `lenient`
    service ignores parameters that an operation does not have. What `proxies` say of whom they speak for is believed,
    and what others say of it is not. Dates and times that name no time zone are read by `zones`.

    Raises UsageError for a database we do not know, for a certificate that cannot be used and for plain HTTP to other
    machines that was not asked for by `allow_plain_http`, StorageError when the database cannot be used. One that
    cannot be reached is waited for.
    """
    named = named_database(database)
    at = _Address(
        named,
        host,
        port,
        certificate,
        private_key,
        rate,
        access_file,
        json_logs,
        zones,
        lenient,
        proxies,
        drain_seconds,
    )
    if not certificate and not allow_plain_http and not _loopback(host):
        raise UsageError(
            f"On {host} others could read tokens: give a certificate, or allow plain HTTP behind a proxy of your own."
        )
    if certificate:
        tls_context(certificate, private_key)

    def opened() -> Service:
        service = open_service(at.database, demo=demo, clock=clock)
        try:
            if token_file:
                service.admin_token(token_file)
        except BaseException:
            service.close()
            raise
        return service

    commands = Commands()
    follow_lifeline(os.environ, partial(commands.give, LEAVE))
    with commands.by_signals():
        service = when_reached(opened, commands)
    if service is None:
        return
    with closing(service):
        if workers == 1:
            at.serve(service.storage, clock, ready, partial(follow_lifeline, os.environ))
            return
    _serve_by_workers(at, workers, ready)


class _Address(NamedTuple):
    """What is served where; also what each worker is told."""

    database: Path | str
    host: str
    port: int
    certificate: Path | None
    private_key: Path | None
    rate: float
    access_file: Path | None
    json_logs: bool
    zones: Zones
    lenient: bool
    proxies: Sequence[str]
    """Addresses and networks whose X-Forwarded-For is believed."""
    drain_seconds: float

    def serve(
        self,
        storage: Storage,
        clock: Clock,
        ready: Callable[[str], None],
        follow: Callable[[Callable[[], None]], object],
        sockets: list[socket.socket] | None = None,
    ) -> None:
        """Serve in this process; `follow` gets what makes it leave."""
        with ExitStack() as opened:
            opened.enter_context(seldom())
            if self.json_logs:
                opened.enter_context(json_logs())
            access = opened.enter_context(closing(AccessLog(self.access_file))) if self.access_file else None
            metrics = _metrics()
            storage.watch.figures = metrics
            service = Service(storage, clock, Rates(self.rate), access, metrics, self.zones, lenient=self.lenient)
            server = _Server(
                _config(service, self.host, self.port, self.certificate, self.private_key, self.proxies),
                service.app,
                ready,
                self._certificate_watch(metrics),
                drain_seconds=self.drain_seconds,
                is_worker=sockets is not None,
            )
            follow(server.leave)
            server.run(sockets)
            log.info("It has left; every request was answered.")

    def _certificate_watch(self, metrics: Metrics) -> CertificateWatch | None:
        if self.certificate is None:
            return None
        return CertificateWatch(partial(good_until, self.certificate, self.private_key), metrics.certificate_until)


def _metrics() -> Metrics:
    from aisle.service.metrics import Metrics  # how figures are kept is settled when it is imported

    return Metrics()


def _serve_by_workers(at: _Address, count: int, ready: Callable[[str], None]) -> None:
    commands = Commands()
    signals = commands.by_signals(reloads=at.certificate is not None)
    with listening(at.host, at.port) as sock, signals, _figures_together():
        follow_lifeline(os.environ, partial(commands.give, LEAVE))
        from aisle.service.metrics import worker_restarts

        url = _url(sock, tls=at.certificate is not None)
        run_workers(
            partial(_worker, at),
            count,
            sock,
            lambda: ready(url),
            commands=commands,
            restarted=worker_restarts(None).inc,
            may_reload=lambda: at.certificate is not None and renewed(at.certificate, at.private_key),
            drain_seconds=at.drain_seconds,
        )


@contextmanager
def _figures_together() -> Iterator[None]:
    """A folder in which the workers keep their figures, so that whoever of them is asked tells all of them."""
    with TemporaryDirectory(prefix="aisle-figures-") as folder:
        os.environ[SHARED_FIGURES] = folder
        try:
            yield
        finally:
            del os.environ[SHARED_FIGURES]


def _worker(
    at: _Address,
    sock: socket.socket,
    ready: Callable[[], None],
    follow: Callable[[Callable[[], None]], None],
) -> None:
    """One process of several."""
    with json_logs() if at.json_logs else nullcontext():
        commands = Commands()
        follow(partial(commands.give, LEAVE))
        try:
            opened = when_reached(partial(open_storage, at.database), commands)
            if opened is None:
                return
            with closing(opened) as storage:
                at.serve(storage, time, lambda _: ready(), follow, [sock])
        except AisleError as problem:
            log.critical("%s", problem)
            raise SystemExit(1 if isinstance(problem, Busy) else CANNOT_START) from None
        except Exception:
            log.critical("a worker ended by a failure", exc_info=True)
            raise SystemExit(1) from None


def _config(
    service: Service,
    host: str,
    port: int,
    certificate: Path | None,
    private_key: Path | None,
    proxies: Sequence[str] = (),
) -> uvicorn.Config:
    """What uvicorn is told: no start and end of its own, and nothing of requests in its log."""
    allowed = manners()
    return uvicorn.Config(
        service.app,
        host=host,
        port=port,
        lifespan="off",
        http=callers(allowed),
        ws="none",
        backlog=allowed.backlog,
        h11_max_incomplete_event_size=LONGEST_HEADERS + LONGEST_QUERY,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_DRAIN_SECONDS,
        ssl_certfile=certificate,
        ssl_keyfile=private_key,
    )


def _url(sock: socket.socket, *, tls: bool) -> str:
    host, port = sock.getsockname()[:2]
    return f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _Loop(asyncio.SelectorEventLoop):
    """A loop whose servers do not wait long for a caller to agree on keys, either; and callers wait in a long queue,
    however few of them are taken from it in a row."""

    async def create_server(self, *args: Any, **options: Any) -> asyncio.Server:
        if options.get("ssl"):
            options["ssl_handshake_timeout"] = manners().head_seconds
        server = await super().create_server(*args, **options)
        for listener in server.sockets:
            with socket.socket(fileno=os.dup(listener.fileno())) as same:
                same.listen(LARGEST_BACKLOG)
        return server


class _Server(uvicorn.Server):
    """uvicorn, but it says when it is ready, and a signal ends it without killing what comes after."""

    def __init__(
        self,
        config: uvicorn.Config,
        app: App,
        ready: Callable[[str], None],
        certificate: CertificateWatch | None = None,
        *,
        drain_seconds: float = 0.0,
        is_worker: bool = False,
    ) -> None:
        """Who starts a worker says whether a renewed certificate is good, and keeps signals from it when it ends."""
        super().__init__(config)
        self._certificate = certificate
        self._drain_seconds = drain_seconds
        self._is_worker = is_worker
        app.load()  # before anybody can call: a request that is not one of ours holds up no other
        self._app = app
        self._ready = ready

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        with asyncio.Runner(loop_factory=_Loop) as runner:
            runner.run(self._serve_watched(sockets))

    async def _serve_watched(self, sockets: list[socket.socket] | None) -> None:
        watching = asyncio.create_task(self._watch_certificate())
        try:
            await self.serve(sockets)
        finally:
            watching.cancel()

    async def _watch_certificate(self) -> None:
        while self._certificate is not None:
            await asyncio.to_thread(self._certificate.look)
            await asyncio.sleep(_CERTIFICATE_SECONDS)

    def leave(self) -> None:
        """Stop taking requests and finish those that run."""
        self._app.leaving = True
        self.should_exit = True

    def drain(self) -> None:
        """Say that it is leaving, and leave a while later; at once when it is told again."""
        if self._app.leaving or not self._drain_seconds:
            self.leave()
            return
        self._app.leaving = True
        asyncio.get_running_loop().call_later(self._drain_seconds, self.leave)

    def _reload(self) -> None:
        certificate, private_key = Path(str(self.config.ssl_certfile)), self.config.ssl_keyfile
        files = certificate, Path(str(private_key)) if private_key else None
        assert self.config.ssl is not None
        if self._is_worker or renewed(*files):
            take(self.config.ssl, *files)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            taken = next(one for server in self.servers for one in server.sockets)
            self._ready(_url(taken, tls=self.config.is_ssl))

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
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
