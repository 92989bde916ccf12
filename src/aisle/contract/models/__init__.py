"""Resources of the interface as pydantic models and bodies as TypedDicts, one module an area.

Import a type from its area: `from aisle.contract.models.stores import StoreCreate`. Areas are imported and validators
built on first use, so reading one resource does not cost all. A session imports none of them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from pydantic import BaseModel, TypeAdapter

from aisle.contract.models.base import ExactNumber, OrNull, RequestBody, ResponseModel, StrictBool, list_body
from aisle.contract.operations import Operation
from aisle.errors import ContractError

__all__ = [
    "ExactNumber",
    "OrNull",
    "RequestBody",
    "ResponseModel",
    "StrictBool",
    "body_adapter",
    "body_type",
    "list_body",
    "result_adapter",
    "result_model",
]

# Modules with the models of each area of the interface; modules of several areas come last.
_MODULES = {
    "Customer orders": ("orders", "base"),
    "Store products": ("stock", "base"),
    "Deliveries": ("deliveries", "base"),
    "Receipts": ("deliveries",),
    "Locations": ("stock",),
    "Store product logs": ("stock",),
    "Stores": ("stores", "base"),
    "Products": ("products", "base"),
    "Movement": ("stock", "base"),
}


def result_model(op: Operation) -> type[BaseModel]:
    """Return the model of the operation's result, or of its items if the result is a bare array."""
    model: type[BaseModel] = _find_type(op.area, op.result)
    return model


def body_type(op: Operation) -> Any:
    """Return the TypedDict of the operation's body, or of its items. Raise ContractError if it has no body."""
    if op.body is None:
        raise ContractError(f"{op.name} has no body.")
    return _find_type(op.area, op.body)


@cache
def result_adapter(op: Operation) -> TypeAdapter[Any]:
    """Return the adapter for the operation's whole result: a model, or a list of models."""
    return _adapter(result_model(op), op.result_array)


@cache
def body_adapter(op: Operation) -> TypeAdapter[Any]:
    """Return the adapter for the operation's whole body. Raise ContractError if it has no body."""
    return _adapter(body_type(op), op.body_array)


def _adapter(kind: Any, array: bool) -> TypeAdapter[Any]:
    return TypeAdapter(list[kind] if array else kind)


def _find_type(area: str, name: str) -> Any:
    for module in _MODULES[area]:
        found = getattr(import_module(f"{__name__}.{module}"), name, None)
        if found is not None:
            return found
    raise ContractError(f"The contract has no model {name!r} for {area}.")
