"""Figures for Prometheus: how many requests, how long, how large, how many at once; of one process or of all workers.

Labels are the names of operations, methods and statuses, of which there are only so many. Nothing of stores, people,
tokens or customers is in them.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
    multiprocess,
)
from starlette.requests import Request

from aisle import __version__
from aisle.contract.wire import OPERATIONS
from aisle.service.extensions import EXTENSIONS
from aisle.service.workers import SHARED_FIGURES

KIND = CONTENT_TYPE_LATEST
NO_OPERATION = "none"
_NAMES = frozenset({*OPERATIONS, *(extension.name for extension in EXTENSIONS)})
_METHODS = frozenset({"GET", "POST", "PUT", "DELETE"})
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
# A proxy on this machine asks for others.
_PROXIED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")


class Metrics:
    """The figures of this process; with `SHARED_FIGURES` in the environment they are told for all workers."""

    def __init__(self) -> None:
        self._folder = os.environ.get(SHARED_FIGURES)
        self._own = CollectorRegistry()
        registry = None if self._folder else self._own
        self._requests = Counter(
            "aisle_requests", "Requests that were answered.", ["operation", "method", "status"], registry=registry
        )
        self._seconds = Histogram(
            "aisle_request_seconds", "How long they took.", ["operation"], buckets=_SECONDS, registry=registry
        )
        self._bytes = Counter("aisle_answer_bytes", "Bytes of the answers.", ["operation"], registry=registry)
        self._running = Gauge(
            "aisle_requests_running", "Requests that run now.", registry=registry, multiprocess_mode="livesum"
        )
        if not self._folder:
            Gauge("aisle_info", "The version that runs.", ["version"], registry=registry).labels(__version__).set(1)
            ProcessCollector(registry=self._own)
            PlatformCollector(registry=self._own)

    def begin(self) -> None:
        """A request came."""
        self._running.inc()

    def end(self, record: Mapping[str, Any]) -> None:
        """It was answered; `record` is a line of the access log."""
        self._running.dec()
        name = record.get("operation")
        operation = name if name in _NAMES else NO_OPERATION
        method = record["method"] if record["method"] in _METHODS else "other"
        self._requests.labels(operation, method, str(record["status"])).inc()
        self._seconds.labels(operation).observe(record["ms"] / 1000)
        self._bytes.labels(operation).inc(record["bytes"])

    def text(self) -> bytes:
        """What a scrape gets."""
        if not self._folder:
            return generate_latest(self._own)
        _forget_dead(Path(self._folder))
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry, path=self._folder)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


def _forget_dead(folder: Path) -> None:
    """What workers that are gone had running runs no more; what they counted stays."""
    for file in folder.glob("gauge_live*_*.db"):
        pid = int(file.stem.rpartition("_")[2])
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            multiprocess.mark_process_dead(pid, path=str(folder))  # type: ignore[no-untyped-call]


def from_here(request: Request) -> bool:
    """Whether a request comes from this machine itself, and not through a proxy that runs on it."""
    if request.client is None or any(name in request.headers for name in _PROXIED):
        return False
    try:
        return ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False
