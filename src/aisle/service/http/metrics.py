"""Metrics for Prometheus: requests of one process or all workers, and sizes of the tables that grow with time.

Labels are names of operations, methods, statuses and tokens, whose number is limited. There is nothing about people or
customers. The names of tokens tell operators which host is away.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from time import monotonic
from types import MappingProxyType

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
    multiprocess,
)
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.requests import Request

from aisle import __version__
from aisle.caller_addresses import is_loopback
from aisle.contract.operations import EXTENSIONS, OPERATIONS
from aisle.errors import AisleError
from aisle.service.db.database_interface import Database, Transaction
from aisle.service.db.statements import people_and_tokens as tokens_sql
from aisle.service.http.access_and_service_logs import RequestRecord
from aisle.service.http.worker_processes import METRICS_FOLDER_VARIABLE

disable_created_metrics()  # type: ignore[no-untyped-call]  # Several workers have none; one worker uses the same names.

CONTENT_TYPE = CONTENT_TYPE_LATEST
NO_OPERATION = "none"
_OPERATION_NAMES = frozenset({*OPERATIONS, *EXTENSIONS})
_METHODS = frozenset({"GET", "POST", "PUT", "DELETE"})
_NOTHING: Mapping[str, int] = MappingProxyType({})
_MINIMUM_METRICS = frozenset({"process_start_time_seconds", "process_max_fds"})
_BUCKET_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
# With one of these headers the request comes from a proxy on this machine.
_PROXY_HEADERS = ("forwarded", "x-forwarded-for", "x-real-ip", "via")


class Metrics:
    """Metrics of this process; with `METRICS_FOLDER_VARIABLE` in the environment, of all workers."""

    def __init__(self) -> None:
        self._folder = os.environ.get(METRICS_FOLDER_VARIABLE)
        self._registry = CollectorRegistry()
        registry = None if self._folder else self._registry
        self._requests = Counter(
            "aisle_requests", "Requests that were answered.", ["operation", "method", "status"], registry=registry
        )
        self._seconds = Histogram(
            "aisle_request_seconds", "How long they took.", ["operation"], buckets=_BUCKET_SECONDS, registry=registry
        )
        self._bytes = Counter("aisle_answer_bytes", "Bytes of the answers.", ["operation"], registry=registry)
        gauge = partial(Gauge, registry=registry)
        self._running = gauge("aisle_requests_running", "Requests that run now.", multiprocess_mode="livesum")
        minimum = partial(gauge, multiprocess_mode="livemin")
        self._database_up = minimum("aisle_database_up", "1 while the database can be used.")
        self._database_up.set(1)
        self._database_losses = Counter("aisle_database_losses", "Times that the database was lost.", registry=registry)
        self._full_disks = Counter(
            "aisle_full_disk_refusals",
            "Requests that were refused because the disk of the database is full.",
            registry=registry,
        )
        self._database_waits = Histogram(
            "aisle_database_wait_seconds",
            "Waits for a connection (pool), and for a lock that another writer holds (lock).",
            ["what"],
            buckets=_BUCKET_SECONDS,
            registry=registry,
        )
        for what in ("pool", "lock"):
            self._database_waits.labels(what)
        self._access_log_up = minimum("aisle_access_log_up", "1 while the access log can be written.")
        self._access_log_up.set(1)
        self._replays = Counter(
            "aisle_replays", "Writes that were answered from what was stored under their key.", registry=registry
        )
        self._refused_tokens = Counter(
            "aisle_refused_tokens",
            "Requests with a token that was revoked or has expired, by its name; of unknown tokens without a name.",
            ["token"],
            registry=registry,
        )
        worker_restart_counter(registry)
        self._minimum = minimum

    @cached_property
    def _certificate(self) -> Gauge:
        """Gauge that is made with its first value: where there is no TLS, no alert looks at it."""
        return self._minimum(
            "aisle_certificate_until_seconds",
            "Until when the certificate is good, in seconds since 1970; 0 for one that is not.",
        )

    def start_request(self) -> None:
        """Count a request that started."""
        self._running.inc()

    def finish_request(self, record: RequestRecord) -> None:
        """Count a finished request. `record` is its line of the access log."""
        self._running.dec()
        name = record.get("operation")
        operation = name if name in _OPERATION_NAMES else NO_OPERATION
        method = record["method"] if record["method"] in _METHODS else "other"
        self._requests.labels(operation, method, str(record["status"])).inc()
        self._seconds.labels(operation).observe(record["ms"] / 1000)
        self._bytes.labels(operation).inc(record["bytes"])
        if record["status"] == 401:
            self._refused_tokens.labels(record.get("refused_token", "")).inc()
        if record.get("replayed"):
            self._replays.inc()

    def set_database_up(self, *, up: bool) -> None:
        """Implement `DatabaseMetrics.set_database_up`."""
        self._database_up.set(up)
        if not up:
            self._database_losses.inc()

    def count_full_disk(self) -> None:
        """Implement `DatabaseMetrics.count_full_disk`."""
        self._full_disks.inc()

    def observe_database_wait(self, kind: str, seconds: float) -> None:
        """Implement `DatabaseMetrics.observe_database_wait`."""
        self._database_waits.labels(kind).observe(seconds)

    def set_access_log_up(self, is_up: bool) -> None:
        """Record that lines of the access log are lost, or written again."""
        self._access_log_up.set(is_up)

    def set_certificate_expiry(self, until: float) -> None:
        """Set the end of the certificate's validity, in seconds since 1970."""
        self._certificate.set(until)

    def render(self, database_bytes: int | None = None, seen: Mapping[str, float] = _NOTHING) -> bytes:
        """Return the text for a scrape, with the size of the database and the last use of each token."""
        registry, processes = CollectorRegistry(), [os.getpid()]
        if self._folder:
            processes = _living_workers(Path(self._folder))
            multiprocess.MultiProcessCollector(registry, path=self._folder)  # type: ignore[no-untyped-call]
        else:
            registry.register(_FunctionCollector(self._registry.collect))
        registry.register(_FunctionCollector(partial(_process_metrics, processes)))
        registry.register(_FunctionCollector(partial(_database_metrics, database_bytes, seen)))
        PlatformCollector(registry=registry)
        return generate_latest(registry)


class _FunctionCollector(Collector):
    """Collector that calls a function."""

    def __init__(self, collect: Callable[[], Iterable[Metric]]) -> None:
        self._collect = collect

    def collect(self) -> Iterable[Metric]:
        """See Collector."""
        return self._collect()


def _database_metrics(database_bytes: int | None, seen: Mapping[str, float]) -> Iterator[Metric]:
    yield GaugeMetricFamily("aisle_database_bytes", "Bytes of the database.", value=database_bytes)
    times = GaugeMetricFamily(
        "aisle_token_seen_seconds",
        "When a token in force was used last, by its name, in seconds since 1970; up to 5 minutes old.",
        labels=["token"],
    )
    for name, at in seen.items():
        times.add_metric([name], at)
    yield times


def _process_metrics(processes: Iterable[int]) -> Iterator[Metric]:
    """Yield the version, and the totals of all workers; of start times and limits, the minimum."""
    info = GaugeMetricFamily("aisle_info", "The version that runs.", labels=["version"])
    info.add_metric([__version__], 1)
    yield info
    found: dict[str, Metric] = {}
    for pid in processes:
        for metric in ProcessCollector(pid=partial(int, pid), registry=None).collect():
            before = found.setdefault(metric.name, metric)
            if before is metric or not metric.samples or not before.samples:
                continue
            values = before.samples[0].value, metric.samples[0].value
            value = min(values) if metric.name in _MINIMUM_METRICS else sum(values)
            kind = CounterMetricFamily if metric.type == "counter" else GaugeMetricFamily
            found[metric.name] = kind(metric.name, metric.documentation, value)
    yield from found.values()


def worker_restart_counter(registry: CollectorRegistry | None) -> Counter:
    """Create the counter of replaced workers. The parent process counts; each worker declares it."""
    return Counter("aisle_worker_restarts", "Workers that died and were replaced.", registry=registry)


def _living_workers(folder: Path) -> list[int]:
    """Return the running workers. Gauges of ended ones are removed; their counters stay."""
    living: set[int] = set()
    for file in folder.glob("gauge_live*_*.db"):
        pid = int(file.stem.rpartition("_")[2])
        try:
            os.kill(pid, 0)
            living.add(pid)
        except ProcessLookupError:
            multiprocess.mark_process_dead(pid, path=str(folder))  # type: ignore[no-untyped-call]
            _shrink_files(folder, pid)
    return sorted(living)


def _shrink_files(folder: Path, pid: int) -> None:
    """Cut the files of a process that has ended to what is used of them; the library notes that at their beginning."""
    for path in folder.glob(f"*_{pid}.db"):
        with path.open("r+b") as file:
            file.truncate(max(8, int.from_bytes(file.read(4), sys.byteorder)))


def is_local(request: Request) -> bool:
    """Return True if a request comes from this machine, and not through a proxy on it."""
    if request.client is None or any(name in request.headers for name in _PROXY_HEADERS):
        return False
    return is_loopback(request.client.host)


_TIMEOUT_S = 2.0
_READER_SECONDS = 3600.0
_MAX_READERS = 100


async def read_database_metrics(database: Database) -> tuple[int | None, Mapping[str, float]]:
    """Return the bytes of the database, and by name of the token its last use in seconds since 1970.

    Both are empty if the database does not answer within `_TIMEOUT_S`.
    """

    async def work(tx: Transaction) -> tuple[int | None, Mapping[str, float]]:
        size = await tx.one(database.bytes_statement)
        rows = await tx.all(tokens_sql.TOKENS_SEEN)
        seen = {str(name): datetime.fromisoformat(at).timestamp() for name, at in rows}
        return int(size[0]) if size else None, seen

    try:
        async with asyncio.timeout(_TIMEOUT_S):
            return await database.read(work)
    except (AisleError, TimeoutError):
        return None, {}


class RecentReaders:
    """Tokens that read the metrics within the last hour, as hashes. They read them also while the database is lost."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._read_at: dict[bytes, float] = {}

    def add(self, authorization: str) -> None:
        """Record that this header was accepted. The oldest of too many is forgotten."""
        key = _hash(authorization)
        self._read_at.pop(key, None)
        self._read_at[key] = self._now()
        if len(self._read_at) > _MAX_READERS:
            del self._read_at[next(iter(self._read_at))]

    def has(self, authorization: str) -> bool:
        """Return True if this header was accepted within the last hour."""
        return self._now() - self._read_at.get(_hash(authorization), -math.inf) < _READER_SECONDS


def _hash(authorization: str) -> bytes:
    return hashlib.sha256(authorization.encode("utf-8", "surrogateescape")).digest()
