"""Request bodies of the interface as TypedDicts, one module an area. `contract.answer_schemas` has the answers.

Import a type from its area: `from aisle.contract.request_bodies.stores import StoreCreate`. Areas are imported and
validators built on first use, so reading one resource does not cost all. A session imports none of them. Unknown fields
are refused, null counts as not given. "number" covers integers and decimals (interface: Conventions). Times stay
strings, because the interface mostly does not state their format.
"""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from importlib import import_module
from types import GenericAlias
from typing import Annotated, Any, Required, TypeVar

from pydantic import ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler, Strict, TypeAdapter, with_config
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema
from typing_extensions import TypedDict

from aisle.contract.operations import Operation
from aisle.errors import ContractError

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


class _NumberSchema:
    """Schema of an exact number: an integer stays one, a Decimal keeps all digits, and a boolean is no number."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        integer = core_schema.int_schema(strict=True)
        decimal = core_schema.float_schema(strict=True, allow_inf_nan=False)
        # A Decimal is tried first, because a float would lose digits. JSON has none.
        exact = core_schema.is_instance_schema(Decimal)
        return core_schema.json_or_python_schema(
            _number_union(integer, decimal),
            _number_union(exact, integer, decimal),
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "number"}


def _number_union(*choices: CoreSchema) -> CoreSchema:
    message = "Input should be a number"
    return core_schema.union_schema(
        list(choices), mode="left_to_right", custom_error_type="number_type", custom_error_message=message
    )


ExactNumber = Annotated[int | float | Decimal, _NumberSchema()]
StrictBool = Annotated[bool, Strict()]


class _OrNull:
    """Schema that accepts null, too."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.nullable_schema(handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        found = handler(schema)  # a number has its own schema, without null
        return found if "anyOf" in found else {"anyOf": [found, {"type": "null"}]}


_T = TypeVar("_T")
OrNull = Annotated[_T, _OrNull()]
"""Field of a request that may be null, which counts as not given."""


_CLOSED = with_config(ConfigDict(extra="forbid"))


@_CLOSED
class RequestBody(TypedDict):
    """Base of everything that a client sends."""


def list_body(name: str, array: str, item: type, *, required: bool = False) -> Any:
    """Return the type of a body that is an object with one array of these items."""
    items: Any = GenericAlias(list, (item,))
    field: Any = Required[items] if required else OrNull[items]  # type: ignore[misc]
    create_type: Any = TypedDict
    body = _CLOSED(create_type(name, {array: field}, total=False))
    body.__module__ = item.__module__
    return body


class StockPoolsRequest(RequestBody, total=False):
    """Quantities of each pool in a log entry to create: `stock_pool_n`."""

    stock_pool_1: OrNull[ExactNumber]
    stock_pool_2: OrNull[ExactNumber]
    stock_pool_3: OrNull[ExactNumber]
    stock_pool_4: OrNull[ExactNumber]
    stock_pool_5: OrNull[ExactNumber]
    stock_pool_6: OrNull[ExactNumber]
    stock_pool_7: OrNull[ExactNumber]
    stock_pool_8: OrNull[ExactNumber]
    stock_pool_9: OrNull[ExactNumber]
    stock_pool_10: OrNull[ExactNumber]


class PoolNamesRequest(RequestBody, total=False):
    """Names of a store's pools on a store to create: `store_stock_pool_n`."""

    store_stock_pool_1: OrNull[str]
    store_stock_pool_2: OrNull[str]
    store_stock_pool_3: OrNull[str]
    store_stock_pool_4: OrNull[str]
    store_stock_pool_5: OrNull[str]
    store_stock_pool_6: OrNull[str]
    store_stock_pool_7: OrNull[str]
    store_stock_pool_8: OrNull[str]
    store_stock_pool_9: OrNull[str]
    store_stock_pool_10: OrNull[str]


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
