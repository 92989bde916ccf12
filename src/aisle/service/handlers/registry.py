"""Registry of the operations: handler, roles and limits of each, and the stores that it locks.

A writer waits only for writers of the same stores.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from aisle.contract.operations import EXTENSIONS, OPERATIONS, SCROLL_PARAM, Operation, Param
from aisle.service.auth.tokens_and_pins import ROLES
from aisle.service.errors import Refusal
from aisle.service.handlers import (
    changes_lost_writes_and_audit,
    create_and_list_products,
    deliveries,
    log_create,
    log_list,
    movements_and_clearances,
    order_create_and_list,
    order_update,
    people_and_tokens,
    product_attributes_prices_and_deletion,
    recounts,
    stock_reads,
    store_product_settings,
    stores_and_locations,
)
from aisle.service.operation_context import CHAIN, BeforeTransaction, Context, OperationCall, Role, WriteHeaders

# A row that names a store belongs to it, other rows to the chain.
_STORE_IN_EACH_ROW = frozenset(
    {"create-customer-orders-several-stores", "create-multi-store-deliveries", "create-prices"}
    | {"create-discount-prices", "write-locations"}
)
# Operations whose body is one object of one store.
_STORE_IN_BODY = frozenset({"sign-in"})
# Operations that change the catalogue and no store.
_CATALOGUE_OPERATIONS = frozenset(
    {"create-or-update-products", "update-product-attributes", "create-product-free-fields"}
)
# Operations whose rows only writers of the chain change, so that those of stores need not wait.
_CHAIN_OPERATIONS = _CATALOGUE_OPERATIONS | {"create-token", "revoke-token"}


def locked_stores(operation: str, call: OperationCall) -> frozenset[str] | None:
    """Return the stores (`*` is the chain) whose rows this request may change; None if only its execution shows."""
    if "store_number" in call.path:
        return frozenset({call.path["store_number"]})
    if operation in _STORE_IN_BODY:
        return frozenset({call.body["store_number"]})
    if operation in _CHAIN_OPERATIONS:
        return frozenset({CHAIN})
    if operation == "create-stores" and not call.query.get("flush"):
        return frozenset({CHAIN, key_store(call)})
    if operation in _STORE_IN_EACH_ROW:
        # A request without stores still stores its answer under its key.
        return frozenset(number or CHAIN for number in named_stores(call)) or frozenset({CHAIN})
    return None


def named_stores(call: OperationCall) -> list[str | None]:
    """Return the store of each row of a body; None for a row of the whole chain."""
    rows = next(iter(call.body.values()), None) if isinstance(call.body, dict) else None
    return [row.get("store_number") for row in rows or () if isinstance(row, dict)]


def key_store(call: OperationCall) -> str:
    """Return the store of the key of a request whose path names none: the first in the body, otherwise the chain."""
    return min((number for number in named_stores(call) if number), default=CHAIN)


RunOperation = Callable[[Context, OperationCall], Awaitable[bytes]]

ALL_STORE_ROLES = frozenset(ROLES) - {"metrics"}
"""Roles of everybody who works with the service. The role metrics may only read its figures."""


class Handler(NamedTuple):
    """Handler of an operation, which returns JSON bytes or raises Refusal, with its permissions and limits."""

    run: RunOperation
    roles: frozenset[Role] = ALL_STORE_ROLES
    needs_all_stores: bool = False
    """True if it concerns the whole chain and needs a token for all stores."""
    before_transaction: BeforeTransaction | None = None
    """Step that processes the request before its transaction."""
    has_secrets: bool = False
    """True if request or answer have secrets, so that the answer is not stored under a key."""
    limits_attempts: bool = False
    """True if secrets could be guessed with it, so that it is limited per token."""


_handler_for_supervisors = partial(Handler, roles=frozenset({"supervisor", "integration", "admin"}))
_integration_handler = partial(Handler, roles=frozenset({"integration", "admin"}))
_catalogue_handler = partial(_integration_handler, needs_all_stores=True)
_admin_handler = partial(Handler, roles=frozenset({"admin"}), needs_all_stores=True)

HANDLERS: dict[str, Handler] = {
    "list-customer-orders": Handler(order_create_and_list.list_customer_orders),
    "create-customer-orders-one-store": _integration_handler(order_create_and_list.create_orders),
    "create-customer-orders-several-stores": _integration_handler(order_create_and_list.create_orders),
    "update-customer-order": Handler(order_update.update_customer_order),
    "create-customer-order-clearance": Handler(
        movements_and_clearances.create_customer_order_clearance, frozenset({"supervisor", "admin"})
    ),
    "list-store-products-stock": Handler(stock_reads.list_store_products_stock),
    "retrieve-store-product-stock": Handler(stock_reads.retrieve_store_product_stock),
    "retrieve-store-product-surrounding": Handler(stock_reads.retrieve_store_product_surrounding),
    "update-store-products": Handler(store_product_settings.update_store_products),
    "create-store-products": _integration_handler(store_product_settings.create_store_products),
    "list-deliveries": Handler(deliveries.list_deliveries),
    "create-store-deliveries": _integration_handler(deliveries.create_deliveries),
    "create-multi-store-deliveries": _integration_handler(deliveries.create_deliveries),
    "list-receipts": Handler(deliveries.list_receipts),
    "list-store-receipts": Handler(deliveries.list_receipts),
    "list-locations": Handler(stores_and_locations.list_locations),
    "list-location-products": Handler(stores_and_locations.list_location_products),
    "list-store-product-logs": Handler(log_list.list_store_product_logs),
    "create-store-product-logs": Handler(log_create.create_store_product_logs),
    "list-stores": Handler(stores_and_locations.list_stores),
    "create-stores": _admin_handler(stores_and_locations.create_stores),
    "create-or-update-products": _catalogue_handler(create_and_list_products.create_or_update_products),
    "list-products": Handler(create_and_list_products.list_products),
    "delete-products": _catalogue_handler(product_attributes_prices_and_deletion.delete_products),
    "update-product-attributes": _catalogue_handler(product_attributes_prices_and_deletion.update_product_attributes),
    "create-prices": _integration_handler(product_attributes_prices_and_deletion.create_prices),
    "create-discount-prices": _integration_handler(product_attributes_prices_and_deletion.create_discount_prices),
    "create-product-free-fields": _catalogue_handler(product_attributes_prices_and_deletion.create_product_free_fields),
    "create-movement": Handler(movements_and_clearances.create_movement),
    "retrieve-store": Handler(stores_and_locations.retrieve_store),
    "review-logs": _handler_for_supervisors(log_create.review_logs),
    "write-locations": _handler_for_supervisors(stores_and_locations.write_locations),
    "list-people": Handler(people_and_tokens.list_people),
    "write-people": _handler_for_supervisors(
        people_and_tokens.write_people, before_transaction=people_and_tokens.hash_pins_of_people, has_secrets=True
    ),
    "sign-in": Handler(
        people_and_tokens.sign_in,
        before_transaction=people_and_tokens.hash_pin_of_sign_in,
        has_secrets=True,
        limits_attempts=True,
    ),
    "list-recounts": Handler(recounts.list_recounts),
    "write-recounts": _handler_for_supervisors(recounts.write_recounts),
    "reject-lines": _handler_for_supervisors(order_update.reject_lines),
    "list-changes": Handler(changes_lost_writes_and_audit.list_changes),
    "list-unknown-keys": Handler(changes_lost_writes_and_audit.list_unknown_keys),
    "list-named-orders": Handler(order_create_and_list.list_orders_by_number),
    "retrieve-log-entry": Handler(log_list.retrieve_log_entry),
    "mark-deliveries": _handler_for_supervisors(deliveries.mark_deliveries),
    "list-put-backs": Handler(movements_and_clearances.list_put_backs),
    "list-assignments": Handler(movements_and_clearances.list_assignments),
    "list-tokens": _admin_handler(people_and_tokens.list_tokens),
    "create-token": _admin_handler(people_and_tokens.create_token, has_secrets=True),
    "revoke-token": _admin_handler(people_and_tokens.revoke_token),
    "list-audit": Handler(changes_lost_writes_and_audit.list_audit, frozenset({"supervisor", "admin"})),
    "list-chain-audit": _admin_handler(changes_lost_writes_and_audit.list_chain_audit),
}


class ServedOperation(NamedTuple):
    """Operation of the contract or an extension, with its handler."""

    operation: Operation
    handler: Handler

    @property
    def name(self) -> str:
        """Name of the operation."""
        return self.operation.name

    @property
    def params(self) -> Sequence[Param]:
        """Parameters of the operation, with those that only this service has."""
        own = (SCROLL_PARAM,) if self.operation.paging == "envelope" else ()
        return (*self.operation.params, *own)


def served_operations() -> list[ServedOperation]:
    """Return the operations of the contract, then the extensions."""
    return [ServedOperation(row, HANDLERS[row.name]) for row in (*OPERATIONS.values(), *EXTENSIONS.values())]


class ParsedRequest(NamedTuple):
    """Request that was parsed as far as possible. `refusal` is reported only after authentication."""

    secret: str
    received_at: float
    call: OperationCall = OperationCall({}, {})
    headers: WriteHeaders = WriteHeaders()
    fingerprint: str = ""
    refusal: Refusal | None = None


class OperationResult(NamedTuple):
    """Answer of an operation."""

    status: int
    body: bytes
    is_replayed: bool = False
    headers: Mapping[str, str] = {}
