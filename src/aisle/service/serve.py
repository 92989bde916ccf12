"""The service on a socket: uvicorn, started and ended from here."""

from __future__ import annotations

import ipaddress
import logging
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import time
from typing import TYPE_CHECKING

import uvicorn

from aisle.errors import AisleError, UsageError
from aisle.lifeline import follow_lifeline
from aisle.server.certificates import renewed, tls_context
from aisle.server.connections import connection_limits, repeats_filtered
from aisle.server.http_server import HttpServer, listening, server_config, url_of
from aisle.service.access import AccessLog
from aisle.service.factory import Service, open_service
from aisle.service.limits import KEYS_KEPT_DAYS, LONGEST_HEADERS, LONGEST_QUERY, Rates
from aisle.service.logs import json_logs
from aisle.service.storage import Busy, Storage, named_database, open_storage
from aisle.service.times import Clock
from aisle.service.waiting import when_reached
from aisle.service.workers import CANNOT_START, LEAVE, SHARED_FIGURES, Commands, run_workers
from aisle.service.zones import HOST, Zones
from aisle.tuples import NamedTuple

if TYPE_CHECKING:
    from aisle.service.metrics import Metrics

log = logging.getLogger("aisle.service")

_FINISH_SECONDS = 20


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
    rate_bytes: float = Rates().token_bytes,
    access_file: Path | None = None,
    workers: int = 1,
    json_logs: bool = False,
    zones: Zones = HOST,
    lenient: bool = False,
    keys_days: int = KEYS_KEPT_DAYS,
    proxies: Sequence[str] = (),
    drain_seconds: float = 0.0,
    per_address: int | None = None,
    clock: Clock = time,
    ready: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve until SIGINT, SIGTERM or the end of the lifeline; requests that run are finished first.

    SIGTERM lets it say for `drain_seconds` that it is leaving, and go on answering, before it stops listening. SIGHUP
    has it take the certificate anew; without one it is like SIGTERM.

    One address has `per_address` connections at most (0: any number), but for the `proxies`.
    `database` is `sqlite:///path` or `postgresql://host/name`; `port` 0 takes any free one. `ready` hears the URL when
    requests are answered. `token_file` gets an admin token. `rate` is how many requests a second a token may send in
    the long run, 0 for any number, and `rate_bytes` how many bytes of bodies; `access_file` gets a line of each
    request, `-` is the standard error. `workers` is how many processes answer; with `json_logs` what the service says
    of itself are lines of JSON too. A `lenient` service ignores parameters that an operation does not have. What
    `proxies` say of whom they speak for is believed, and what others say of it is not. Dates and times that name no
    time zone are read by `zones`. Answers under keys are kept for `keys_days`.

    Raises UsageError for a database we do not know, for a certificate that cannot be used and for plain HTTP to other
    machines that was not asked for by `allow_plain_http`, StorageError when the database cannot be used. One that
    cannot be reached is waited for.
    """
    named = named_database(database)
    at = Address(
        named,
        host,
        port,
        certificate,
        private_key,
        rate,
        rate_bytes,
        access_file,
        json_logs,
        zones,
        lenient,
        keys_days,
        proxies,
        drain_seconds,
        per_address,
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


class Address(NamedTuple):
    """What is served where; also what each worker is told."""

    database: Path | str
    host: str
    port: int
    certificate: Path | None
    private_key: Path | None
    rate: float
    rate_bytes: float
    access_file: Path | None
    json_logs: bool
    zones: Zones
    lenient: bool
    keys_days: int
    proxies: Sequence[str]
    """Addresses and networks whose X-Forwarded-For is believed."""
    drain_seconds: float
    per_address: int | None
    """Connections of one address; None for a part of all."""

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
            opened.enter_context(repeats_filtered())
            if self.json_logs:
                opened.enter_context(json_logs())
            access = opened.enter_context(closing(AccessLog(self.access_file))) if self.access_file else None
            metrics = _metrics()
            storage.watch.figures = metrics
            service = Service(
                storage,
                clock,
                Rates(self.rate, token_bytes=self.rate_bytes),
                access,
                metrics,
                self.zones,
                lenient=self.lenient,
                keys_days=self.keys_days,
            )
            server = self.server(service, ready, metrics.certificate_until, is_worker=sockets is not None)
            follow(server.leave)
            server.run(sockets)
            log.info("It has left; every request was answered.")

    def server(
        self,
        service: Service,
        ready: Callable[[str], None],
        certificate_until: Callable[[float], None] = lambda until: None,
        *,
        is_worker: bool = False,
    ) -> HttpServer:
        """What serves it: the whole application is loaded before anybody can call, so that no request that is not one
        of ours holds up another."""
        service.app.load()
        return HttpServer(
            self.config(service),
            ready,
            leaving=service.app.leave,
            drain_seconds=self.drain_seconds,
            is_worker=is_worker,
            certificate_until=certificate_until,
        )

    def config(self, service: Service) -> uvicorn.Config:
        """What the server is told."""
        networks = [ipaddress.ip_network(proxy, strict=False) for proxy in self.proxies]
        return server_config(
            service.app,
            connection_limits(self.per_address, networks),
            longest_head=LONGEST_HEADERS + LONGEST_QUERY,
            certificate=self.certificate,
            private_key=self.private_key,
            finish_seconds=_FINISH_SECONDS,
            host=self.host,
            port=self.port,
            proxy_headers=bool(self.proxies),
            forwarded_allow_ips=list(self.proxies),
        )


def _metrics() -> Metrics:
    from aisle.service.metrics import Metrics  # how figures are kept is settled when it is imported

    return Metrics()


def _serve_by_workers(at: Address, count: int, ready: Callable[[str], None]) -> None:
    commands = Commands()
    signals = commands.by_signals(reloads=at.certificate is not None)
    with listening(at.host, at.port) as sock, signals, _figures_together():
        follow_lifeline(os.environ, partial(commands.give, LEAVE))
        from aisle.service.metrics import worker_restarts

        url = url_of(sock, tls=at.certificate is not None)
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
    at: Address,
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


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
