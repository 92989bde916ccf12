"""The async HTTP client over the contract: `async with Client(base_url, token) as client: await client.list_stores()`.

Reads are tried again within bounds; a write is sent once, and its fate (`classify`) is for the outbox to settle.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aisle.client.answer import Answer
from aisle.client.areas.customer_orders import CustomerOrderCalls
from aisle.client.areas.deliveries import DeliveryCalls
from aisle.client.areas.locations import LocationCalls
from aisle.client.areas.logs import LogCalls
from aisle.client.areas.products import ProductCalls
from aisle.client.areas.store_products import StoreProductCalls
from aisle.client.areas.stores import StoreCalls
from aisle.client.fate import Fate, classify
from aisle.client.retry import RetryPolicy

if TYPE_CHECKING:
    from aisle.client.http import Timeouts, Transport, asgi_transport

__all__ = ["Answer", "Client", "Fate", "RetryPolicy", "Timeouts", "Transport", "asgi_transport", "classify"]


class Client(CustomerOrderCalls, StoreProductCalls, DeliveryCalls, LocationCalls, LogCalls, StoreCalls, ProductCalls):
    """One service, one token: a typed method for each operation, `pages` and `items` for lists, `request` for bytes."""


def __getattr__(name: str) -> Any:
    """What only exists with httpx, which is loaded when the first client is made: who waits for office has none."""
    if name in ("Timeouts", "Transport", "asgi_transport"):
        return getattr(import_module("aisle.client.http"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
