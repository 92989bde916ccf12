"""Request bodies of the interface as TypedDicts, one module an area. `contract.answer_schemas` has the answers.

Import a type from its area: `from aisle.contract.request_bodies.stores import StoreCreate`. Areas are imported and
validators built on first use, so reading one resource does not cost all. A session imports none of them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from pydantic import TypeAdapter

from aisle.contract.operations import Operation
from aisle.contract.request_bodies.base import ExactNumber, OrNull, RequestBody, StrictBool, list_body
from aisle.errors import ContractError

__all__ = [
    "ExactNumber",
    "OrNull",
    "RequestBody",
    "StrictBool",
    "body_adapter",
    "body_type",
    "list_body",
]

_MODULES = {
    "Customer orders": "orders",
    "Deliveries": "deliveries",
    "Movement": "store_products_logs_movements",
    "Products": "products",
    "Store product logs": "store_products_logs_movements",
    "Store products": "store_products_logs_movements",
    "Stores": "stores",
    "aisle": "extension_bodies",
}
"""Modules with the bodies of each area of the interface."""


def body_type(op: Operation) -> Any:
    """Return the TypedDict of the operation's body, or of its items. Raise ContractError if it has no body."""
    if op.body is None:
        raise ContractError(f"{op.name} has no body.")
    return getattr(import_module(f"{__name__}.{_MODULES[op.area]}"), op.body)


@cache
def body_adapter(op: Operation) -> TypeAdapter[Any]:
    """Return the adapter for the operation's whole body. Raise ContractError if it has no body."""
    kind: Any = body_type(op)
    return TypeAdapter(list[kind] if op.body_array else kind)
