"""Body of a request: read within limits, parsed, and validated against the contract, with its error described.

Handlers validate the meaning of fields.
"""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any, NoReturn

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails
from starlette.requests import ClientDisconnect
from starlette.types import Receive

from aisle.service.domain.quantities_times_and_json import INT64_LIMIT, NUMBER_LIMIT
from aisle.service.errors import Refusal, bad_request, unprocessable
from aisle.service.http.parameters_and_headers import MAX_DIGITS, MAX_TEXT_LENGTH, nearest_name
from aisle.service.http.rate_limit_and_turns_of_large_bodies import MIB, SMALL

_PARSER = ThreadPoolExecutor(1, "aisle-parse")
"""Executor for large bodies. It has one thread, since parsing competes with the event loop for the interpreter."""
MOST_BODY_BYTES = MIB
"""Maximum length of a body. It is one transaction, for which other writers wait."""
_MOST_DISCARDED = 16 * MIB
MOST_VALUES, MOST_LISTS = 150_000, 25_000
"""Maximum number of values, and of lists and objects, in a large body: 30 and 5 for each row.

The JSON parser blocks other threads, and more values would take much memory. Empty lists cost most.
"""
_MOST_NAMES = 1000


async def read_body(
    receive: Receive, headers: Mapping[str, str], took: Callable[[int], None], begin: Callable[[int], None]
) -> bytes:
    """Read the body, and report the size of each part to `took`.

    `begin` is told how many bytes will be read. The connection limits the time of the sender. Raise Refusal: 413 as
    soon as it is too long, 415 if it is compressed; ClientDisconnect if the sender ends before its end.
    """
    if headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise Refusal(415, "Bodies are taken as they are, without a Content-Encoding.")
    length = headers.get("content-length", "")
    declared = int(length[:MAX_DIGITS]) if length.isascii() and length.isdecimal() else 0
    if declared > MOST_BODY_BYTES:
        await _discard(receive, took, 0 if "expect" in headers else declared)
        raise _too_large()
    begin(declared)
    body, size, more = bytearray(), 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        part, more = message.get("body", b""), message.get("more_body", False)
        size += len(part)
        took(len(part))
        if size > MOST_BODY_BYTES:
            await _discard(receive, took, _MOST_DISCARDED if more else 0)
            raise _too_large()
        body += part
        if size > declared:
            begin(size)
    return bytes(body)


async def _discard(receive: Receive, took: Callable[[int], None], size: int) -> None:
    """Receive the rest of a body that is refused, if its size is at most `_MOST_DISCARDED`.

    A sender that is still sending when the connection ends does not hear the answer.
    """
    left, more = _MOST_DISCARDED, 0 < size <= _MOST_DISCARDED
    while more and left > 0:
        message = await receive()
        part, more = message.get("body", b""), message.get("more_body", False)
        took(len(part))
        left -= len(part)


def _too_large() -> Refusal:
    return Refusal(413, f"At most {MOST_BODY_BYTES // MIB} MiB are taken in one request.")


async def parsed_body(raw: bytes, adapter: TypeAdapter[Any], *, needed: bool = False) -> Any:
    """Call `parse_body`; for large bodies one after the other, in a thread."""
    if len(raw) <= SMALL:
        return parse_body(raw, adapter, is_required=needed)
    parse = partial(parse_body, raw, adapter, is_required=needed)
    return await asyncio.get_running_loop().run_in_executor(_PARSER, parse)


def parse_body(raw: bytes, adapter: TypeAdapter[Any], *, is_required: bool = False) -> Any:
    """Parse the body into values that fit the contract's model. Decimals keep every digit.

    A missing body is an empty object, unless `is_required`. Raise Refusal: 400 if it is not JSON or does not fit, 413
    if it has too many rows or values, 422 if a number or text cannot be stored.
    """
    if not raw.strip():
        return _empty_body(adapter, is_required=is_required)
    if len(raw) > SMALL:
        _check_shape(raw)
    try:
        with _uncollected():
            value = json.loads(
                raw,
                parse_float=_fraction,
                parse_int=_parse_json_integer,
                parse_constant=_no_constant,
                object_hook=_names_counted(),
            )
    except ArithmeticError:
        raise bad_request("The body holds a number that is none.") from None
    except RecursionError:
        raise nesting_refusal() from None
    except UnicodeDecodeError:
        raise bad_request("The body is not JSON: it is no valid UTF-8.") from None
    except ValueError as problem:
        raise bad_request(f"The body is not JSON: {problem}.") from None
    if check_values(value) > MAX_ITEMS:
        raise too_many_items()
    if errors := validation_errors(adapter, value, is_large=len(raw) > SMALL):
        raise validation_refusal(adapter, errors)
    return _without_nulls(value) if b"null" in raw else value


def _without_nulls(value: Any) -> Any:
    """Return a body without the fields that are null, which count as not given."""
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    return value


def _check_shape(raw: bytes) -> None:
    """Raise Refusal (413) if the body would result in too many values, before any is created."""
    lists = raw.count(b"[") + raw.count(b"{")
    if lists + raw.count(b",") > MOST_VALUES:
        raise Refusal(413, f"At most {MOST_VALUES:,} values are taken in one request.")
    if lists > MOST_LISTS:
        raise Refusal(413, f"At most {MOST_LISTS:,} lists and objects are taken in one request.")


def _empty_body(adapter: TypeAdapter[Any], *, is_required: bool) -> Any:
    """Return the value of a missing body. Raise Refusal (400) if the operation requires one."""
    if is_required:
        raise bad_request(
            "There is no body. What it does not name is taken away here: say {} where that is all.", "body"
        )
    nothing: dict[str, object] = {}
    if errors := validation_errors(adapter, nothing):
        if errors[0]["type"] == "list_type":
            raise bad_request(f"There is no body; {EXPECTED_TYPES['list_type']}", "body")
        raise validation_refusal(adapter, errors)
    return nothing


@contextmanager
def _uncollected() -> Iterator[None]:
    """Disable the garbage collector. It would scan the many lists of a large body repeatedly."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _names_counted() -> Callable[[dict[str, object]], dict[str, object]]:
    """Return a hook for each parsed object, which also lets other threads run during the parser's C code.

    It raises Refusal (400) for more field names than all bodies have, since the parser keeps each name.
    """
    names: set[str] = set()

    def look(found: dict[str, object]) -> dict[str, object]:
        names.update(found)
        if len(names) > _MOST_NAMES:
            raise bad_request(f"No body has more than {_MOST_NAMES:,} names of fields here.")
        return found

    return look


def _fraction(text: str) -> Decimal:
    """Parse a fraction. This Python function lets other threads run, too."""
    return Decimal(text)


def _parse_json_integer(text: str) -> int | Decimal:
    """Parse an integer. Very long ones become Decimal, to avoid Python's own limit and its message."""
    return int(text) if len(text) <= MAX_DIGITS else Decimal(text)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number in JSON")


_MAX_ERRORS = 50
_MAX_DEPTH = 32
_DECIMAL_PLACES = 3
_MAX_FIELDS = 200
"""Maximum number of fields of an object."""
MAX_ITEMS = 5_000
"""Maximum number of rows and lines of a request, since other writers wait for it, and of items of a list."""
PRICE_FIELDS = frozenset({"price", "old_price", "purchase_price", "special_price", "promotion_price", "discount_price"})
"""Names of prices in bodies; none is negative."""
COUNT_FIELDS = frozenset({"edit_min_max_percentage", "no_of_containers", "purchase_unit_quantity", "unit_quantity"})
"""Names of counts in bodies; none is negative."""
ID_FIELDS = frozenset({"id", "log_id"})
"""Names of row ids in bodies. They grow with the number of writes, beyond the limit of other numbers."""
COMPUTED_FIELDS = frozenset(
    {"average_array", "demand_until_delivery", "forecast_array", "history_array", "order_level"}
)
"""Computed figures that nothing here is calculated from. Their decimal places are not limited."""
MAX_COMMENT_LENGTH = 10_000
"""Maximum number of characters of a comment."""
MAX_IMAGE_LENGTH = 256 << 10
"""Maximum number of characters of an image that is sent as text."""
TEXT_LENGTHS = dict.fromkeys(
    ("comment", "order_comment", "loss_comment", "product_details", "barcodes_array"), MAX_COMMENT_LENGTH
) | dict.fromkeys(("loss_image", "image_url"), MAX_IMAGE_LENGTH)
"""Maximum number of characters of fields with a limit of their own."""
_NOT_NEGATIVE = dict.fromkeys(PRICE_FIELDS, "A price is not below zero.") | dict.fromkeys(
    COUNT_FIELDS, "Write 0 or more."
)
_FREE_NUMBER_FIELDS = ID_FIELDS | COMPUTED_FIELDS
_CACHED_SCHEMAS = 64
"""Maximum number of cached lists of names; there are fewer bodies."""
_UNKNOWN_FIELD = "There is no such field here."


def validation_refusal(adapter: TypeAdapter[Any], found: Sequence[ErrorDetails]) -> Refusal:
    """Return a 400 that describes these errors."""
    errors = [
        {"field": _field_path(error["loc"]), "message": _describe_error(adapter, error)}
        for error in found[:_MAX_ERRORS]
    ]
    refusal = bad_request(errors[0]["message"], errors[0]["field"])
    refusal.extra["errors"] = errors
    return refusal


EXPECTED_TYPES = {
    "dict_type": 'an object is wanted, with its fields in braces: {"…": …}.',
    "list_type": "a list is wanted, in brackets: […].",
    "string_type": 'a text is wanted, in quotes: "…".',
    "number_type": "a number is wanted, without quotes.",
    "bool_type": "true or false is wanted, without quotes.",
}
_ERROR_TEXTS = {"missing": "This field is missing, and it is required."}
"""Texts of validation errors, for callers who do not know the validator."""


def _describe_error(adapter: TypeAdapter[Any], error: ErrorDetails) -> str:
    kind = error["type"]
    if kind == "extra_forbidden":
        return describe_unknown_field(adapter, error["loc"])
    wanted = EXPECTED_TYPES.get(kind)
    return f"This is {_describe_value(error['input'])}; {wanted}" if wanted else _ERROR_TEXTS.get(kind, error["msg"])


def _describe_value(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    kinds = ((dict, "an object"), (list, "a list"), (str, "a text"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "a number")


def _field_path(path: Sequence[int | str]) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".") or "body"


def check_values(value: Any) -> int:
    """Count the objects in the arrays of a body. Raise Refusal if a value cannot be stored or is nested too deep."""
    try:
        return _check_value(value, 0)
    except Refusal as problem:
        problem.field = (problem.field or "").removeprefix(".") or "body"
        raise


def nesting_refusal() -> Refusal:
    """Return a 400 for too deep nesting."""
    return bad_request(f"The body is nested deeper than {_MAX_DEPTH}. Look for brackets that are not closed.")


def too_many_items() -> Refusal:
    """Return a 413 for too many rows, lines or items."""
    return Refusal(413, f"At most {MAX_ITEMS} items are taken in one request.")


def _check_value(value: Any, depth: int, max_length: int = MAX_TEXT_LENGTH) -> int:
    """Check a value at this depth. Refusals name the field from here on."""
    if isinstance(value, str):
        _check_text(value, max_length)
    elif isinstance(value, int | Decimal):
        _check_number(value)
    elif isinstance(value, list | dict):
        if depth >= _MAX_DEPTH:
            raise nesting_refusal()
        return _check_parts(value, depth + 1, max_length)
    return 0


def _check_parts(value: list[object] | dict[str, object], depth: int, max_length: int) -> int:
    count, of_list = 0, isinstance(value, list)
    if len(value) > (MAX_ITEMS if of_list else _MAX_FIELDS):
        raise too_many_items() if of_list else bad_request(f"No object has more than {_MAX_FIELDS} fields here.")
    for name, item in enumerate(value) if isinstance(value, list) else value.items():
        if isinstance(name, str):
            _check_text(name, MAX_TEXT_LENGTH)
            max_length = TEXT_LENGTHS.get(name, MAX_TEXT_LENGTH)
        try:
            if name not in _FREE_NUMBER_FIELDS or not _is_free_number(name, item):
                count += _check_value(item, depth, max_length)
            if name in _NOT_NEGATIVE and isinstance(item, int | Decimal) and item < 0:
                raise unprocessable(_NOT_NEGATIVE[name])
        except Refusal as problem:
            problem.field = (f"[{name}]" if of_list else f".{name}") + (problem.field or "")
            raise
        count += of_list and isinstance(item, dict)
    return count


def _is_free_number(name: int | str, value: Any) -> bool:
    """Return True for a valid id or computed figures. Everything else is checked like other values."""
    if name in ID_FIELDS:
        return isinstance(value, int) and -INT64_LIMIT <= value <= INT64_LIMIT
    several = value if isinstance(value, list) else [value]
    return len(several) <= MAX_ITEMS and all(
        isinstance(one, int | Decimal) and -NUMBER_LIMIT <= one <= NUMBER_LIMIT for one in several
    )


def _check_number(value: int | Decimal) -> None:
    # Only compared: calculating with an exponent of a million would be expensive.
    if value > NUMBER_LIMIT or value < -NUMBER_LIMIT:
        raise unprocessable("This number is too large.")
    if isinstance(value, Decimal) and _decimal_places(value) > _DECIMAL_PLACES:
        raise unprocessable(f"{value} has more than three decimal places; round it.")


def _decimal_places(value: Decimal) -> int:
    """Return the number of significant decimal places: 1.50000 has one."""
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or not any(digits):
        return 0
    zeros = next(n for n, digit in enumerate(reversed(digits)) if digit)
    return -exponent - zeros


def _check_text(text: str, max_length: int) -> None:
    if len(text) > max_length:
        raise unprocessable(f"This has {len(text):,} characters; at most {max_length:,} are taken here.")
    if "\0" in text:
        raise unprocessable("A NUL character cannot be stored.")
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise bad_request("This is not valid Unicode.")


_FieldPath = tuple[int | str, ...]


def validation_errors(adapter: TypeAdapter[Any], value: Any, *, is_large: bool = False) -> list[ErrorDetails]:
    """Return the errors of a body; of a large one, those of its first invalid object."""
    for piece, shifts in _split_by_object(value, ()) if is_large else ((value, {}),):
        try:
            adapter.validate_python(piece)
        except ValidationError as problem:
            found = problem.errors(include_url=False, include_context=False)
            return [{**error, "loc": _original_path(error["loc"], shifts)} for error in found]
    return []


def _split_by_object(value: Any, path: _FieldPath) -> Iterator[tuple[Any, dict[_FieldPath, int]]]:
    """Yield a value once per object in its lists, with only this object, and the original indexes by list path."""
    if isinstance(value, list):
        if not any(isinstance(one, dict) for one in value):
            yield value, {}
            return
        for number, one in enumerate(value):
            for piece, shifts in _split_by_object(one, (*path, 0)):
                yield [piece], {path: number, **shifts}
        return
    lists = [name for name, part in value.items() if isinstance(part, list)] if isinstance(value, dict) else []
    several = [name for name in lists if any(isinstance(one, dict) for one in value[name])]
    if not several:
        yield value, {}
        return
    yield {**value, **{name: [] for name in several}}, {}
    bare = {**value, **{name: [] for name in lists}}
    for name in several:
        for piece, shifts in _split_by_object(value[name], (*path, name)):
            yield {**bare, name: piece}, shifts


def _original_path(path: _FieldPath, positions: dict[_FieldPath, int]) -> _FieldPath:
    """Return the path of an error in the whole body."""
    return tuple(positions.get(path[:n], part) if part == 0 else part for n, part in enumerate(path))


def describe_unknown_field(adapter: TypeAdapter[Any], path: Sequence[int | str]) -> str:
    """Describe an unknown field of a body."""
    if path and (place := _field_places(adapter).get(str(path[-1]))):
        return f"{_UNKNOWN_FIELD} It belongs into {place}."
    close = nearest_name(str(path[-1]), _field_names(adapter)) if path else None
    return (
        f"{_UNKNOWN_FIELD} The nearest is {close}."
        if close
        else f"{_UNKNOWN_FIELD} Look at its spelling, or leave it out."
    )


@lru_cache(maxsize=_CACHED_SCHEMAS)
def _field_names(adapter: TypeAdapter[Any]) -> list[str]:
    """Return the names of all fields of a body, at any depth."""
    schema = adapter.json_schema()
    objects = [schema, *schema.get("$defs", {}).values()]
    return [name for one in objects for name in one.get("properties", ())]


@lru_cache(maxsize=_CACHED_SCHEMAS)
def _field_places(adapter: TypeAdapter[Any]) -> dict[str, str]:
    """Return the place of each field of a body, as `orders[0].order_lines[0]`; of several places the outermost."""
    schema = adapter.json_schema()
    places: dict[str, str] = {}
    objects = [("", schema)]
    for place, found in objects:
        one = schema["$defs"][found["$ref"].rpartition("/")[2]] if "$ref" in found else found
        if "items" in one:
            objects.append((f"{place}[0]", one["items"]))
        objects += [(place, part) for part in one.get("anyOf", ())]
        for name, part in one.get("properties", {}).items():
            places.setdefault(name, place or "the body itself")
            objects.append((f"{place}.{name}".lstrip("."), part))
    return places
