"""Server of the service: waits for the database, serves in this process or by workers.

The end after SIGTERM, when requests in progress are finished: `server/http_server`.

The loss of the database and its return are logged once each.
"""

from __future__ import annotations

import logging
import os
import random
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, time
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import uvicorn

from aisle.caller_addresses import Network, is_loopback
from aisle.errors import AisleError, UsageError
from aisle.parent_pipe import watch_parent_pipe
from aisle.server.connections import connection_limits, repeats_filtered
from aisle.server.http_server import HttpServer, listening, return_freed_memory, server_config, url_of
from aisle.server.tls_certificates_and_handshakes import CertificateFiles, tls_context
from aisle.service.app_options_and_limits import (
    KEYS_KEPT_DAYS,
    MAX_HEADER_BYTES,
    MAX_QUERY_BYTES,
    RateLimits,
    ServiceOptions,
)
from aisle.service.db import open_database, parse_database_url
from aisle.service.db.database_interface import Busy, Database, DatabaseUnreachable
from aisle.service.domain.quantities_times_and_json import HOST_TIME_ZONE, Clock, TimeZones
from aisle.service.http.access_and_service_logs import AccessLog, log_as_json
from aisle.service.http.worker_processes import (
    CANNOT_START,
    DRAIN,
    LEAVE,
    METRICS_FOLDER_VARIABLE,
    Commands,
    run_workers,
)
from aisle.service.open_service_and_admin_token import Service, open_service

if TYPE_CHECKING:
    from aisle.service.http.metrics import Metrics


T = TypeVar("T")

log = logging.getLogger("aisle.service")

_METRICS_BYTES = 1 << 18
"""Bytes of a file of metrics, about twice of what all operations and statuses take."""

MIN_PAUSE_S: Final = 0.5
MAX_PAUSE_S: Final = 15.0
"""Maximum seconds between two attempts. Pauses double, each shortened by a random part."""


def wait_for_database(open_database: Callable[[], T], commands: Commands) -> T | None:
    """Return the result of `open_database` once it stops raising DatabaseUnreachable; None after a command to end."""
    pause, began, waited = MIN_PAUSE_S, monotonic(), False
    while True:
        try:
            opened = open_database()
        except DatabaseUnreachable as problem:
            if not waited:
                log.error("database lost: %s The service waits for it.", problem)
            waited = True
        else:
            if waited:
                log.warning("database regained after %.0f s", monotonic() - began)
            return opened
        until = monotonic() + pause * random.uniform(0.5, 1.0)
        while monotonic() < until:
            if commands.wait(until, []) & {DRAIN, LEAVE}:
                return None
        pause = min(2 * pause, MAX_PAUSE_S)


_FINISH_SECONDS = 20
_SWITCH_SECONDS = 0.001
"""Seconds after which a thread that computes lets others compute, a fifth of the default.

SQLite's writer and the event loop each wait for the other as long as this, several times in a request.
"""


def run_server(
    options: ServerOptions,
    *,
    demo: bool = False,
    token_file: Path | None = None,
    allow_plain_http: bool = False,
    workers: int = 1,
    clock: Clock = time,
    ready: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve until SIGINT, SIGTERM or the end of the parent's pipe. Running requests are finished first.

    On SIGTERM the service announces its end and goes on answering for the drain time before it stops listening. SIGHUP
    reloads the certificate; without one it acts like SIGTERM.

    `token_file` gets an admin token; `workers` is the number of processes; `ready` receives the URL.

    Raise UsageError for an unknown database, an unusable certificate, or plain HTTP to other machines without
    `allow_plain_http`. Raise StorageError if the database cannot be used; one that cannot be reached is awaited.
    """
    return_freed_memory()
    database_address = options.database_address
    if not options.certificate and not allow_plain_http and not is_loopback(options.host):
        raise UsageError(
            f"On {options.host} others could read tokens: give a certificate, or allow plain HTTP behind a proxy of"
            " your own."
        )
    if options.certificate:
        tls_context(options.certificate, options.private_key)

    def opened() -> Service:
        service = open_service(database_address, ServiceOptions(clock), demo=demo)
        try:
            if token_file:
                service.ensure_admin_token(token_file)
        except BaseException:
            service.close()
            raise
        return service

    commands = Commands()
    watch_parent_pipe(os.environ, partial(commands.give, LEAVE))
    with commands.by_signals():
        service = wait_for_database(opened, commands)
    if service is None:
        return
    options = options._replace(has_demo_store=service.options.has_demo_store)
    with closing(service):
        if workers == 1:
            options.serve(service.database, clock, ready, partial(watch_parent_pipe, os.environ))
            return
    _serve_by_workers(options, workers, ready)


class ServerOptions(NamedTuple):
    """Options of the server, which each worker receives."""

    database_url: str
    """`sqlite:///path` or `postgresql://host/name`."""
    host: str = "127.0.0.1"
    port: int = 8000
    """Port to listen on; 0 selects a free one."""
    certificate: Path | None = None
    private_key: Path | None = None
    rate_limits: RateLimits = RateLimits()
    access_file: Path | None = None
    """File that gets a line per request; `-` is the standard error."""
    json_logs: bool = False
    """True if the service's own messages are JSON, too."""
    time_zones: TimeZones = HOST_TIME_ZONE
    lenient: bool = False
    """True if unknown query parameters are ignored."""
    keys_days: int = KEYS_KEPT_DAYS
    """Days that answers are stored under keys."""
    proxies: Sequence[Network] = ()
    """Networks whose X-Forwarded-For is trusted."""
    drain_seconds: float = 0.0
    workers: int = 1
    """Number of processes that serve, which share the growth of the access log."""
    per_address: int | None = None
    """Maximum number of connections of one address except the proxies; 0 is no limit, None a share of all."""
    has_demo_store: bool = False

    @property
    def database_address(self) -> Path | str:
        """File or address of the database. Raise UsageError if it is neither."""
        return parse_database_url(self.database_url)

    def serve(
        self,
        storage: Database,
        clock: Clock,
        ready: Callable[[str], None],
        register_stop: Callable[[Callable[[], None]], object],
        sockets: list[socket.socket] | None = None,
    ) -> None:
        """Serve in this process. `register_stop` receives the function that stops it."""
        sys.setswitchinterval(_SWITCH_SECONDS)
        with ExitStack() as opened:
            opened.enter_context(repeats_filtered())
            if self.json_logs:
                opened.enter_context(log_as_json())
            metrics = _create_metrics()
            access = None
            if self.access_file:
                log_file = AccessLog(self.access_file, writers=self.workers, on_change=metrics.set_access_log_up)
                access = opened.enter_context(closing(log_file))
            storage.monitor.metrics = metrics
            settings = self.time_zones, self.lenient, self.keys_days, self.has_demo_store
            service_options = ServiceOptions(clock, self.rate_limits, access, metrics, *settings)
            service = Service(storage, service_options)
            server = self.server(service, ready, metrics.set_certificate_expiry, is_worker=sockets is not None)
            register_stop(server.leave)
            server.run(sockets)
            log.info("Stopped; all requests were answered.")

    def server(
        self,
        service: Service,
        ready: Callable[[str], None],
        certificate_until: Callable[[float], None] = lambda until: None,
        *,
        is_worker: bool = False,
    ) -> HttpServer:
        """Create the server."""
        return HttpServer(
            self.config(service),
            ready,
            leaving=service.app.leave,
            drain_seconds=self.drain_seconds,
            is_worker=is_worker,
            certificate_until=certificate_until,
        )

    def config(self, service: Service) -> uvicorn.Config:
        """Return uvicorn's configuration."""
        return server_config(
            service.app,
            connection_limits(self.per_address, self.proxies, tls=bool(self.certificate)),
            longest_head=MAX_HEADER_BYTES + MAX_QUERY_BYTES,
            certificate=self.certificate,
            private_key=self.private_key,
            finish_seconds=_FINISH_SECONDS,
            host=self.host,
            port=self.port,
            proxy_headers=bool(self.proxies),
            forwarded_allow_ips=list(map(str, self.proxies)),
        )


def _create_metrics() -> Metrics:
    reserve_metrics_files("counter", "histogram", "gauge_livemin", "gauge_livesum")
    from aisle.service.http.metrics import Metrics  # The import decides how metrics are stored.

    return Metrics()


def _serve_by_workers(options: ServerOptions, count: int, ready: Callable[[str], None]) -> None:
    commands = Commands()
    signals = commands.by_signals(reloads=options.certificate is not None)
    certificate = CertificateFiles(options.certificate, options.private_key) if options.certificate else None
    watched = certificate.watched() if certificate else nullcontext()
    with listening(options.host, options.port) as sock, signals, _shared_metrics_folder(), watched:
        watch_parent_pipe(os.environ, partial(commands.give, LEAVE))
        reserve_metrics_files("counter")
        from aisle.service.http.metrics import worker_restart_counter

        url = url_of(sock, tls=options.certificate is not None)
        run_workers(
            partial(_worker, options._replace(workers=count)),
            count,
            sock,
            lambda: ready(url),
            commands=commands,
            restarted=worker_restart_counter(None).inc,
            may_reload=certificate.renewed if certificate else lambda: False,
            drain_seconds=options.drain_seconds,
        )


@contextmanager
def _shared_metrics_folder() -> Iterator[None]:
    """Provide a folder for the workers' metrics, so that each worker can report those of all."""
    with ExitStack() as opened:
        try:
            folder = opened.enter_context(TemporaryDirectory(prefix="aisle-metrics-"))
        except OSError as problem:
            _log_metrics_loss(problem)
        else:
            os.environ[METRICS_FOLDER_VARIABLE] = folder
        try:
            yield
        finally:
            os.environ.pop(METRICS_FOLDER_VARIABLE, None)


def reserve_metrics_files(*kinds: str) -> None:
    """Make files of this process in the folder of metrics, with all their bytes.

    The library maps sparse files into memory, and on a full disk the first access to a missing page ends the process
    (SIGBUS). If there is no room, this process has metrics of its own.
    """
    folder = os.environ.get(METRICS_FOLDER_VARIABLE)
    if folder is None:
        return
    try:
        for kind in kinds:
            Path(folder, f"{kind}_{os.getpid()}.db").write_bytes(bytes(_METRICS_BYTES))
    except OSError as problem:
        _log_metrics_loss(problem)
        del os.environ[METRICS_FOLDER_VARIABLE]


def _log_metrics_loss(problem: OSError) -> None:
    log.error("metrics lost: %s; each scrape has those of one worker", problem.strerror or type(problem).__name__)


def _worker(
    options: ServerOptions,
    sock: socket.socket,
    ready: Callable[[], None],
    register_stop: Callable[[Callable[[], None]], None],
) -> None:
    """Run one worker process."""
    return_freed_memory()
    with log_as_json() if options.json_logs else nullcontext():
        commands = Commands()
        register_stop(partial(commands.give, LEAVE))
        try:
            opened = wait_for_database(partial(open_database, options.database_address), commands)
            if opened is None:
                return
            with closing(opened) as storage:
                options.serve(storage, time, lambda _: ready(), register_stop, [sock])
        except AisleError as problem:
            log.critical("%s", problem)
            raise SystemExit(1 if isinstance(problem, Busy) else CANNOT_START) from None
        except Exception:
            log.critical("a worker ended by a failure", exc_info=True)
            raise SystemExit(1) from None
