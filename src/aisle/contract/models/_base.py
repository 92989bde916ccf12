"""What all models share: answers are read with tolerance, requests are written with strictness.

* Answers keep fields that the document does not know, take "12" where a number is documented, and require only what the
  document requires. They are never changed, so they dump to what came in.
* Requests refuse unknown fields and dump only what was set; a None that was set is sent as null.

"number" covers integers and decimals (interface: Conventions): an integer stays one, and a boolean is never a number.
Times stay strings, because their format is mostly not stated.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, Strict
from pydantic_core import CoreSchema, core_schema

NumberFormat = Literal["int32", "int64", "double"]


def _number_from_text(text: str) -> int | float:
    """A number that came as text. Raises ValueError for anything else; pydantic adds the field's place."""
    try:
        return int(text)
    except ValueError:
        number = float(text)
    if number != number or number in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is not a finite number")
    return number


def _union(*choices: CoreSchema) -> CoreSchema:
    message = "Input should be a number"
    return core_schema.union_schema(
        list(choices), mode="left_to_right", custom_error_type="number_type", custom_error_message=message
    )


def _json_number(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


class _NumberSchema:
    """The schema of a number: without Decimal and with text for answers, with Decimal and without text for requests."""

    __slots__ = ("format", "lax")

    def __init__(self, *, lax: bool, format: NumberFormat | None = None) -> None:  # noqa: A002
        self.lax = lax
        self.format = format

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        integer = core_schema.int_schema(strict=True)
        decimal = core_schema.float_schema(strict=True, allow_inf_nan=False)
        if not self.lax:
            # A Decimal is looked for first: as a float it would lose digits. JSON has none.
            exact = core_schema.is_instance_schema(Decimal)
            return core_schema.json_or_python_schema(
                _union(integer, decimal),
                _union(exact, integer, decimal),
                # JSON that pydantic itself writes has a number too; only `wire.encode_body` keeps every digit.
                serialization=core_schema.plain_serializer_function_ser_schema(_json_number, when_used="json"),
            )
        text = core_schema.str_schema(strict=True, strip_whitespace=True)
        return _union(integer, decimal, core_schema.no_info_after_validator_function(_number_from_text, text))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"type": "number"} if self.format is None else {"type": "number", "format": self.format}


Number = Annotated[int | float, _NumberSchema(lax=True)]
Int32 = Annotated[int | float, _NumberSchema(lax=True, format="int32")]
Int64 = Annotated[int | float, _NumberSchema(lax=True, format="int64")]
Double = Annotated[int | float, _NumberSchema(lax=True, format="double")]
DateTime = Annotated[str, Field(json_schema_extra={"format": "date-time"})]

Exact = Annotated[int | float | Decimal, _NumberSchema(lax=False)]
Flag = Annotated[bool, Strict()]


class AnswerModel(BaseModel):
    """Something the service sends."""

    model_config = ConfigDict(
        extra="allow",
        coerce_numbers_to_str=True,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        defer_build=True,
    )


class RequestModel(BaseModel):
    """Something a client sends."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    def wire(self) -> dict[str, Any]:
        """The fields that were set, under their wire names, with Decimals kept: what `wire.encode_body` takes."""
        return self.model_dump(exclude_unset=True, by_alias=True)
