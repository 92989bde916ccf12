"""Options of the service, and its limits of headers, queries and stored answers."""

from __future__ import annotations

import math
from decimal import Decimal
from time import time
from typing import TYPE_CHECKING, NamedTuple

from aisle.service.domain.quantities_times_and_json import HOST_TIME_ZONE, Clock, TimeZones
from aisle.service.http.access_and_service_logs import RequestRecorder

if TYPE_CHECKING:
    from aisle.service.http.metrics import Metrics

MAX_HEADERS = 100
MAX_HEADER_BYTES = 32 << 10
MAX_QUERY_BYTES = 16 << 10
KEYS_KEPT_DAYS = 30
"""Minimum days that answers are stored under their keys. Hosts rely on it."""
_FOR_EVER_DAYS = 36_500


def keys_kept(days: Decimal) -> int:
    """Return the days that answers are stored under keys for a setting of `days`; 0 is for ever."""
    return max(KEYS_KEPT_DAYS, math.ceil(days)) if days else _FOR_EVER_DAYS


class RateLimits(NamedTuple):
    """Requests per second in the long run, with bursts of ten seconds; 0 is no limit."""

    token: float = 300.0
    unauthenticated: float = 20.0
    sign_in: float = 1.0
    token_bytes: float = 8.0 * (1 << 20)
    """Bytes of bodies per second; no limit if requests have none."""


class ServiceOptions(NamedTuple):
    """Options of the service."""

    clock: Clock = time
    rate_limits: RateLimits = RateLimits()
    record_request: RequestRecorder | None = None
    """Callback that receives a record of each request."""
    metrics: Metrics | None = None
    """Metrics that count requests and are served at `/metrics`."""
    time_zones: TimeZones = HOST_TIME_ZONE
    """Time zones by which dates and times without a zone are read."""
    lenient: bool = False
    """True if unknown query parameters are ignored."""
    keys_days: int = KEYS_KEPT_DAYS
    """Days that answers are stored under keys."""
    has_demo_store: bool = False
    """True if the database has the demo store, which the service announces."""


DEFAULT_OPTIONS = ServiceOptions()
