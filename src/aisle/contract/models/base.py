"""Base of all types: responses are read tolerantly, requests are written strictly.

* Responses are models. They keep fields that the interface does not list, accept "12" for a number, and require only
  what the interface requires. They are never changed, so a dump equals the input.
* Requests are TypedDicts. Unknown fields are refused; null counts as not given.

"number" covers integers and decimals (interface: Conventions): an integer stays one, and a boolean is never a number.
Times stay strings, because the interface mostly does not state their format.
"""

from __future__ import annotations

from decimal import Decimal
from types import GenericAlias
from typing import Annotated, Any, Literal, Required, TypeVar

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, Strict, with_config
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema
from typing_extensions import TypedDict

NumberFormat = Literal["int32", "int64", "double"]


def _parse_number(text: str) -> int | float:
    """Parse a number sent as text. Raise ValueError for anything else; pydantic adds the field's name."""
    try:
        return int(text)
    except ValueError:
        number = float(text)
    if number != number or number in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is not a finite number")
    return number


def _number_union(*choices: CoreSchema) -> CoreSchema:
    message = "Input should be a number"
    return core_schema.union_schema(
        list(choices), mode="left_to_right", custom_error_type="number_type", custom_error_message=message
    )


class _NumberSchema:
    """Schema of a number: responses accept text and have no Decimal; requests accept Decimal and no text."""

    __slots__ = ("format", "lax")

    def __init__(self, *, lax: bool, format: NumberFormat | None = None) -> None:  # noqa: A002
        self.lax = lax
        self.format = format

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        integer = core_schema.int_schema(strict=True)
        decimal = core_schema.float_schema(strict=True, allow_inf_nan=False)
        if not self.lax:
            # A Decimal is tried first, because a float would lose digits. JSON has none.
            exact = core_schema.is_instance_schema(Decimal)
            return core_schema.json_or_python_schema(
                _number_union(integer, decimal),
                _number_union(exact, integer, decimal),
            )
        text = core_schema.str_schema(strict=True, strip_whitespace=True)
        return _number_union(integer, decimal, core_schema.no_info_after_validator_function(_parse_number, text))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "number"} if self.format is None else {"type": "number", "format": self.format}


Number = Annotated[int | float, _NumberSchema(lax=True)]
Int32 = Annotated[int | float, _NumberSchema(lax=True, format="int32")]
Int64 = Annotated[int | float, _NumberSchema(lax=True, format="int64")]
Double = Annotated[int | float, _NumberSchema(lax=True, format="double")]
DateTime = Annotated[str, Field(json_schema_extra={"format": "date-time"})]

ExactNumber = Annotated[int | float | Decimal, _NumberSchema(lax=False)]
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


class ResponseModel(BaseModel):
    """Base of everything that the service sends."""

    model_config = ConfigDict(
        extra="allow",
        coerce_numbers_to_str=True,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        defer_build=True,
    )


class MostLikelyPools(ResponseModel):
    """Stock of each pool on stock entries: `most_likely_pool_n`."""

    most_likely_pool_1: Double | None = None
    most_likely_pool_2: Double | None = None
    most_likely_pool_3: Double | None = None
    most_likely_pool_4: Double | None = None
    most_likely_pool_5: Double | None = None
    most_likely_pool_6: Double | None = None
    most_likely_pool_7: Double | None = None
    most_likely_pool_8: Double | None = None
    most_likely_pool_9: Double | None = None
    most_likely_pool_10: Double | None = None


class StockPools(ResponseModel):
    """Stock of each pool on locations of a product and in log entries: `stock_pool_n`."""

    stock_pool_1: Double | None = None
    stock_pool_2: Double | None = None
    stock_pool_3: Double | None = None
    stock_pool_4: Double | None = None
    stock_pool_5: Double | None = None
    stock_pool_6: Double | None = None
    stock_pool_7: Double | None = None
    stock_pool_8: Double | None = None
    stock_pool_9: Double | None = None
    stock_pool_10: Double | None = None


class LocationPools(ResponseModel):
    """Stock of each pool on a location: `mostlikelypooln`, without an underscore before the digit."""

    mostlikelypool1: Number | None = None
    mostlikelypool2: Number | None = None
    mostlikelypool3: Number | None = None
    mostlikelypool4: Number | None = None
    mostlikelypool5: Number | None = None
    mostlikelypool6: Number | None = None
    mostlikelypool7: Number | None = None
    mostlikelypool8: Number | None = None
    mostlikelypool9: Number | None = None
    mostlikelypool10: Number | None = None


class PoolNames(ResponseModel):
    """Names of a store's pools on the store list: `storeStockPooln`."""

    store_stock_pool_1: str | None = Field(default=None, alias="storeStockPool1")
    store_stock_pool_2: str | None = Field(default=None, alias="storeStockPool2")
    store_stock_pool_3: str | None = Field(default=None, alias="storeStockPool3")
    store_stock_pool_4: str | None = Field(default=None, alias="storeStockPool4")
    store_stock_pool_5: str | None = Field(default=None, alias="storeStockPool5")
    store_stock_pool_6: str | None = Field(default=None, alias="storeStockPool6")
    store_stock_pool_7: str | None = Field(default=None, alias="storeStockPool7")
    store_stock_pool_8: str | None = Field(default=None, alias="storeStockPool8")
    store_stock_pool_9: str | None = Field(default=None, alias="storeStockPool9")
    store_stock_pool_10: str | None = Field(default=None, alias="storeStockPool10")


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


class StandardResult(ResponseModel):
    """Response to most writes (interface: Standard result). A missing `success` is not a refusal."""

    success: bool | None = None
    data: str | None = None
    message: str | None = None


class ConfirmedResult(StandardResult):
    """Standard result of operations for which the interface requires `success`."""

    success: bool  # required here


class PageCounts(ResponseModel):
    """Reduced envelope of the receipt lists (interface: Paged list envelope), without its rows."""

    next_page: Number | None = None
    previous_page: Number | None = None
    page_size: Number | None = None
    page_start: Number | None = None
    total_count: Number | None = None


class PageEnvelope(PageCounts):
    """Common envelope of paged lists (interface: Paged list envelope), without its rows."""

    list_body: dict[str, object] | None = None
    list_filters: dict[str, list[str]] | None = None
    project_last_modified_date: str | None = None
    task_last_modified_date: str | None = None
    scroll_id: str | None = None
    server_time: str | None = None
    sort_column: str | None = None
    sort_order: str | None = None
