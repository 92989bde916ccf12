"""Body of a request, read within limits and parsed. `validate_body` says if it fits the contract."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from typing import Any, NoReturn

from pydantic import TypeAdapter
from starlette.requests import ClientDisconnect
from starlette.types import Receive

from aisle.service.errors import Refusal, bad_request
from aisle.service.http.parameter_values import MAX_DIGITS
from aisle.service.http.rate_limit_and_turns_of_large_bodies import MIB, SMALL
from aisle.service.http.validate_body import (
    EXPECTED_TYPES,
    MAX_ITEMS,
    check_values,
    nesting_refusal,
    too_many_items,
    validation_errors,
    validation_refusal,
)

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
