"""Evidence that an operation keeps: what was read of the service before and after it was sent. Types only."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from aisle.jobs.job import Json

if TYPE_CHECKING:
    from aisle.operation_bodies import LineExcess, LineUpdate


class OrderState(TypedDict):
    """Fields of an order and of its lines that updates can change; numbers as text."""

    head: dict[str, Json]
    lines: dict[str, dict[str, Json]]
    """By line number."""


class ServiceState(TypedDict, total=False):
    """State of what an operation changes; only what was read."""

    order: OrderState
    stock: dict[str, dict[str, str]]
    """Quantities by product and location; the empty location is the whole store."""
    product: dict[str, dict[str, str]]
    """Settings by product."""


class Evidence(TypedDict, total=False):
    """Evidence of one operation."""

    before: ServiceState
    after: ServiceState
    floor: int
    """Number of the youngest log entry before it was sent."""
    looks: int
    """Number of look-ups."""
    looked_at: float
    """Time of the last look-up, in seconds since 1970."""
    verdict: str
    """Result of the last look-up (aisle.courier.push.decide_arrival)."""
    blind: int
    """Number of look-ups that could read nothing."""
    denied: int
    """Number of reads that showed a confirmed operation without effect."""
    unsaid: bool
    """True after an empty answer, which confirms nothing."""
    spared: LineUpdate
    """Line that an update left out, to see whether the service keeps such lines."""
    left: list[LineExcess]
    """Excess found before it was sent."""
    status: int
    """HTTP status of the answer that refused it."""
