"""Async HTTP client over the contract: `async with Client(base_url, token) as client: await client.list_stores()`.

Reads are retried within limits. A write is sent once; `outcome_of` judges its result, and the outbox resolves a doubt.
Of the packages, the client imports the contract only, and httpx only in `transport`. Start reading at `base` (requests,
pages, typed calls) and `errors`; `*_calls` have a method an operation; `load` is `aisle load`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aisle.client.base import RetryPolicy
from aisle.client.catalogue_calls import ProductCalls, StoreCalls
from aisle.client.errors import Outcome, outcome_of
from aisle.client.order_calls import CustomerOrderCalls, DeliveryCalls
from aisle.client.response import Response
from aisle.client.stock_calls import LocationCalls, LogCalls, StoreProductCalls

if TYPE_CHECKING:
    from aisle.client.transport import Timeouts, Transport, asgi_transport


__all__ = ["Client", "Outcome", "Response", "RetryPolicy", "Timeouts", "Transport", "asgi_transport", "outcome_of"]


class Client(CustomerOrderCalls, StoreProductCalls, DeliveryCalls, LocationCalls, LogCalls, StoreCalls, ProductCalls):
    """Client of one service with one token: a typed method for each operation, `pages` and `items` for lists.

    `request` sends and returns bytes.
    """


def __getattr__(name: str) -> Any:
    """Load what needs httpx on first use: a standby process of the courier must not load httpx."""
    if name in ("Timeouts", "Transport", "asgi_transport"):
        return getattr(import_module("aisle.client.transport"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
