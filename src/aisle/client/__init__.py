"""Async HTTP client over the contract: `async with Client(url, token) as client: await client.call("list-stores")`.

Reads are retried within limits. A write is sent once; `outcome_of` judges its result, and the outbox resolves a doubt.
Of the packages, the client imports the contract only, and httpx only in `transport`. Start reading at `client`
(requests, pages, calls) and `errors`; `load` is `aisle load`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aisle.client.client import Client, RetryPolicy
from aisle.client.errors import Outcome, outcome_of
from aisle.client.response import Response

if TYPE_CHECKING:
    from aisle.client.transport import Timeouts, Transport, asgi_transport


__all__ = ["Client", "Outcome", "Response", "RetryPolicy", "Timeouts", "Transport", "asgi_transport", "outcome_of"]


def __getattr__(name: str) -> Any:
    """Load what needs httpx on first use: a standby process of the courier must not load httpx."""
    if name in ("Timeouts", "Transport", "asgi_transport"):
        return getattr(import_module("aisle.client.transport"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
