"""The async HTTP client over the contract: `async with Client(base_url, token) as client: await client.list_stores()`.

Reads are tried again within bounds; a write is sent once, and its fate (`classify`) is for the outbox to settle.
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
    """One service, one token: a typed method for each operation, `pages` and `items` for lists, `request` for bytes."""


def __getattr__(name: str) -> Any:
    """What only exists with httpx, which is loaded when the first client is made: who waits for office has none."""
    if name in ("Timeouts", "Transport", "asgi_transport"):
        return getattr(import_module("aisle.client.transport"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
