"""One coroutine for each operation, and the table that says who may call it and how much it may carry.

Every operation of the contract is here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aisle.service.context import Call, Context, Role
from aisle.service.handlers import (
    catalogue,
    clearance,
    deliveries,
    locations,
    logs,
    movement,
    order_create,
    order_update,
    orders,
    products,
    receipts,
    stock,
    store_products,
    stores,
)
from aisle.service.handlers.preparing import Prepare
from aisle.service.tokens import ROLES
from aisle.service.turns import MIB
from aisle.tuples import NamedTuple

Run = Callable[[Context, Call], Awaitable[bytes]]

EVERYONE = frozenset(ROLES) - {"metrics"}
"""All who work with the service; who may only read its figures does not."""
BULK = 16 * MIB
MOST_ITEMS = 50_000
BULK_ROLES = frozenset({"integration", "admin"})
"""Who loads stores and catalogues."""


class Handler(NamedTuple):
    """What answers an operation: bytes of JSON, or a Refusal."""

    run: Run
    roles: frozenset[Role] = EVERYONE
    body_limit: int = MIB
    chain: bool = False
    """Whether it is the whole chain's, and needs a token for all stores."""
    prepare: Prepare | None = None
    """What is done with the request before its transaction."""
    secret: bool = False
    """Whether request or answer hold what is stored nowhere: they are not kept under a key."""
    guessed: bool = False
    """Whether it is worth guessing at, and therefore slow for each token."""

    def limit_of(self, role: str) -> int:
        """How many bytes a body may have: who works on the floor sends nothing in bulk."""
        return self.body_limit if role in BULK_ROLES else min(self.body_limit, MIB)

    def most_items(self, role: str) -> int:
        """How many rows and lines one request may hold."""
        return MOST_ITEMS if self.limit_of(role) > MIB else MOST_ITEMS // 10


_INTEGRATION: frozenset[Role] = frozenset({"integration", "admin"})
_SUPERVISION: frozenset[Role] = frozenset({"supervisor", "integration", "admin"})

HANDLERS: dict[str, Handler] = {
    "list-customer-orders": Handler(orders.list_customer_orders),
    "create-customer-orders-one-store": Handler(order_create.create_in_one_store, _INTEGRATION, BULK),
    "create-customer-orders-several-stores": Handler(order_create.create_in_several_stores, _INTEGRATION, BULK),
    "update-customer-order": Handler(order_update.update_customer_order),
    "create-customer-order-clearance": Handler(
        clearance.create_customer_order_clearance, frozenset({"supervisor", "admin"})
    ),
    "list-store-products-stock": Handler(stock.list_store_products_stock),
    "retrieve-store-product-stock": Handler(stock.retrieve_store_product_stock),
    "retrieve-store-product-surrounding": Handler(stock.retrieve_store_product_surrounding),
    "update-store-products": Handler(store_products.update_store_products, _SUPERVISION, BULK),
    "create-store-products": Handler(store_products.create_store_products, _INTEGRATION, BULK),
    "list-deliveries": Handler(deliveries.list_deliveries),
    "create-store-deliveries": Handler(deliveries.create_store_deliveries, _INTEGRATION, BULK),
    "create-multi-store-deliveries": Handler(deliveries.create_multi_store_deliveries, _INTEGRATION, BULK),
    "list-receipts": Handler(receipts.list_receipts),
    "list-store-receipts": Handler(receipts.list_store_receipts),
    "list-locations": Handler(locations.list_locations),
    "list-location-products": Handler(locations.list_location_products),
    "list-store-product-logs": Handler(logs.list_store_product_logs),
    "create-store-product-logs": Handler(logs.create_store_product_logs, EVERYONE, BULK),
    "list-stores": Handler(stores.list_stores),
    "create-stores": Handler(stores.create_stores, frozenset({"admin"}), BULK, chain=True),
    "create-or-update-products": Handler(products.create_or_update_products, _INTEGRATION, BULK, chain=True),
    "list-products": Handler(products.list_products),
    "delete-products": Handler(catalogue.delete_products, _INTEGRATION, BULK, chain=True),
    "update-product-attributes": Handler(catalogue.update_product_attributes, _INTEGRATION, BULK, chain=True),
    "create-prices": Handler(catalogue.create_prices, _INTEGRATION, BULK),
    "create-discount-prices": Handler(catalogue.create_discount_prices, _INTEGRATION, BULK),
    "create-product-free-fields": Handler(catalogue.create_product_free_fields, _INTEGRATION, BULK, chain=True),
    "create-movement": Handler(movement.create_movement),
}
