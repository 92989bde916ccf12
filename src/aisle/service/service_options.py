"""Options of the service, which its factory and its HTTP side share."""

from __future__ import annotations

from time import time
from typing import TYPE_CHECKING, NamedTuple

from aisle.service.domain.timestamps import HOST_TIME_ZONE, Clock, TimeZones
from aisle.service.http.json_logging import RequestRecorder
from aisle.service.rate_limits import KEYS_KEPT_DAYS, RateLimits

if TYPE_CHECKING:
    from aisle.service.http.metrics import Metrics


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
