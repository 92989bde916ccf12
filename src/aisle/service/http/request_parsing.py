"""Parsing of an HTTP request into validated values: path, query, body and headers."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any, NamedTuple, NoReturn
from urllib.parse import parse_qsl, unquote_to_bytes

from pydantic import TypeAdapter
from pydantic_core import ErrorDetails
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive

from aisle.contract.operations import Param
from aisle.service.domain.quantities import INT64_LIMIT
from aisle.service.domain.timestamps import format_timestamp, parse_timestamp, subtract_seconds
from aisle.service.errors import Refusal, bad_request
from aisle.service.http.rate_and_body_limits import MIB, SMALL
from aisle.service.http.value_checks_and_unknown_names import (
    MAX_ITEMS,
    MAX_TEXT_LENGTH,
    check_values,
    describe_unknown_field,
    nesting_refusal,
    too_many_items,
    unknown_parameter_refusal,
    validation_errors,
)
from aisle.service.operation_context import ParamValues, Replay, WriteHeaders

_PARSER = ThreadPoolExecutor(1, "aisle-parse")
"""Executor for large bodies. It has one thread, since parsing competes with the event loop for the interpreter."""
MOST_BODY_BYTES = MIB
"""Maximum length of a body. It is one transaction, for which other writers wait."""
_MOST_DISCARDED = 16 * MIB
MOST_VALUES, MOST_LISTS = 150_000, 25_000
"""Maximum number of values, and of lists and objects, in a large body: 30 and 5 for each row.

The JSON parser blocks other threads, and more values would take much memory. Empty lists cost most.
"""
_MAX_ERRORS = 50
_MOST_NAMES = 1000
_INTEGER = re.compile(r"([+-]?)([0-9]+)(\.0*)?", re.ASCII)
_DAYS_KEPT = 7
_REPLAY_DAYS_KEPT = 31
# Headers that change the effect of a request.
_FINGERPRINT_HEADERS = ("container_override", "if-match", "aisle-occurred-at", "aisle-app-user", "aisle-terminal")
# Longest query that is cached; most requests use the same few.
_CACHED_LENGTH = 64
_MAX_DIGITS = 20
"""Maximum number of digits that are parsed; a longer number exceeds every limit."""
MAX_PAGE_NUMBER = 1 << 40
_MAX_VALUES = {"page_start": MAX_PAGE_NUMBER, "page_number": MAX_PAGE_NUMBER}
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def bearer_token(headers: Mapping[str, str]) -> str:
    """Return the token of the Authorization header. The word Bearer before it is optional."""
    value = headers.get("authorization", "").strip()
    scheme, _, rest = value.partition(" ")
    return rest.strip() if scheme.lower() == "bearer" else value


class HeaderRule(NamedTuple):
    """Header whose value has a pattern, and the message for another value."""

    name: str
    pattern: str
    message: str

    def match(self, headers: Mapping[str, str]) -> re.Match[str] | None:
        """Return the match of the value; None without the header. Raise Refusal (400) if it is malformed."""
        value = headers.get(self.name.lower())
        if value is None:
            return None
        match = re.fullmatch(self.pattern, value.strip())
        if match is None:
            raise bad_request(self.message, self.name)
        return match


IDEMPOTENCY_KEY = HeaderRule(
    "Idempotency-Key", '"?([A-Za-z0-9_-]{16,64})"?', 'The key is 16 to 64 of A-Z a-z 0-9 _ -, in quotes: "…".'
)
CLOCK_AHEAD = HeaderRule(
    "Aisle-Clock-Ahead",
    r"[+-]?[0-9]{1,10}(\.[0-9]{1,6})?",
    "How far a clock is ahead is a number of seconds, such as -20.5.",
)
CONFIRMED_KEYS = HeaderRule(
    "Aisle-Follows",
    "[A-Za-z0-9_-]{16,64}(,[A-Za-z0-9_-]{16,64}){0,7}",
    "These are up to 8 keys, with commas between them.",
)
REPLAY = HeaderRule(
    "Aisle-Replay",
    r"(all|[0-9]{1,9}:-?[0-9]{1,9}(\.[0-9]{1,3})?(,[0-9]{1,9}:-?[0-9]{1,9}(\.[0-9]{1,3})?)*)",
    'This is "all", or what found no room by line: "1:2,3:-1".',
)
IF_MATCH = HeaderRule("If-Match", r'"[^",]*"( *, *"[^",]*")*', 'A version is written in quotes, as ETag has it: "12".')


def write_headers(headers: Mapping[str, str], now: float) -> WriteHeaders:
    """Return the headers of a write. Raise Refusal (400) if one is malformed."""
    key, ahead, follows = (rule.match(headers) for rule in (IDEMPOTENCY_KEY, CLOCK_AHEAD, CONFIRMED_KEYS))
    skew = float(ahead[0]) if ahead else 0.0
    return WriteHeaders(
        key[1] if key else None,
        _occurred_on(headers, now, skew),
        _header_text(headers, "Aisle-App-User"),
        _header_text(headers, "Aisle-Terminal"),
        _accepted_versions(headers),
        skew,
        tuple(follows[0].split(",")) if follows else (),
        _replay(headers),
    )


def _occurred_on(headers: Mapping[str, str], now: float, clock_skew: float) -> str:
    """Return the time of the event, limited to the last week; the current time by default."""
    value = headers.get("aisle-occurred-at")
    if value is None:
        return format_timestamp(now)
    timestamp = parse_timestamp(value, "Aisle-Occurred-At", UTC)
    return clamp_occurred_on(timestamp, now, clock_skew, is_replay="aisle-replay" in headers)


def clamp_occurred_on(timestamp: str, now: float, clock_skew: float = 0.0, *, is_replay: bool = False) -> str:
    """Correct a time by the clock skew and limit it to the last week; after a restore, to the last month."""
    timestamp = subtract_seconds(timestamp, clock_skew) if clock_skew else timestamp
    days = _REPLAY_DAYS_KEPT if is_replay else _DAYS_KEPT
    return min(max(timestamp, format_timestamp(now - days * 86400)), format_timestamp(now))


def _replay(headers: Mapping[str, str]) -> Replay | None:
    """Return the data of a write that is repeated after a restore."""
    match = REPLAY.match(headers)
    if match is None:
        return None
    pairs = () if match[0] == "all" else (pair.split(":") for pair in match[0].split(","))
    return Replay({int(line): int(Decimal(unapplied) * 1000) for line, unapplied in pairs})


def _accepted_versions(headers: Mapping[str, str]) -> frozenset[str] | None:
    """Return the versions of `If-Match`; None is any."""
    match = IF_MATCH.match(headers) if headers.get("if-match", "*").strip() != "*" else None
    return frozenset(part.strip().strip('"') for part in match[0].split(",")) if match else None


def _header_text(headers: Mapping[str, str], name: str) -> str | None:
    """Return the text of a header: UTF-8 if it is valid, otherwise Latin-1. Raise Refusal (400) if it is too long."""
    value = headers.get(name.lower(), "").strip()
    with suppress(UnicodeError):
        value = value.encode("latin-1").decode()
    _check_length(value, name, MAX_TEXT_LENGTH)
    return value or None


def _check_length(text: str, name: str, max_length: int) -> None:
    """Raise Refusal (400) if the text of a header or parameter is too long."""
    if len(text) > max_length:
        raise bad_request(f"This has {len(text):,} characters; at most {max_length:,} are taken here.", name)


def fingerprint(request: Request, body: bytes, headers: Mapping[str, str]) -> str:
    """Return a hash of all that changes the effect of a request, including headers; empty for one without a key."""
    if "idempotency-key" not in headers:
        return ""
    pairs = sorted(parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True))
    sent_headers = [(name, headers[name]) for name in _FINGERPRINT_HEADERS if name in headers]
    head = json.dumps([request.method, request.scope["path"], pairs, sent_headers])
    return hashlib.sha256(head.encode() + b"\0" + body).hexdigest()


def path_values(request: Request) -> dict[str, str]:
    """Return the path's parameters, each decoded once. The middleware has checked that they can be decoded."""
    return {name: unquote_to_bytes(value).decode() for name, value in request.path_params.items()}


def query_values(query: bytes, params: Sequence[Param], *, lenient: bool = False) -> ParamValues:
    """Return the documented query parameters with their types. A lenient service ignores others.

    Raise Refusal (400) if one is invalid, missing or repeated.
    """
    try:
        pairs = _short_query(query) if len(query) <= _CACHED_LENGTH else _query(query)
    except ValueError:
        raise bad_request("The query is not valid UTF-8, or too long.") from None
    given: dict[str, str] = {}
    known = {param.name: param for param in params if param.where == "query"}
    for name, text in pairs:
        if name in known and name in given:
            raise bad_request("This parameter is there more than once.", name)
        given[name] = text
    if not lenient and not given.keys() <= known.keys():
        raise unknown_parameter_refusal((name for name in given if name not in known), params)
    for name, param in known.items():
        if param.required and name not in given:
            raise bad_request("This parameter is needed.", name)
    ours = {known[name]: text for name, text in given.items() if name in known}
    return {param.name: _value(param, text) for param, text in ours.items() if _is_given(param, text)}


def _query(query: bytes) -> tuple[tuple[str, str], ...]:
    return tuple(parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=100))


_short_query = lru_cache(maxsize=1000)(_query)


def header_values(headers: Mapping[str, str], params: Iterable[Param]) -> ParamValues:
    """Return the documented header parameters with their types. Raise Refusal (400) if one is invalid."""
    sent = [param for param in params if param.where == "header" and param.name.lower() in headers]
    given = {param: headers[param.name.lower()] for param in sent}
    return {param.name: _value(param, text) for param, text in given.items() if _is_given(param, text)}


def _is_given(param: Param, text: str) -> bool:
    """Return False for an empty text, which counts as absent. Empty numbers and booleans are refused later."""
    return text != "" or param.type != "string"


def _value(param: Param, text: str) -> Any:
    if "\0" in text:
        raise bad_request("A NUL character cannot be used.", param.name)
    _check_length(text, param.name, param.max_length or MAX_TEXT_LENGTH)
    if param.type == "boolean":
        if text.lower() not in _BOOLEANS:
            raise bad_request(f"{text!r} is neither true nor false.", param.name)
        return _BOOLEANS[text.lower()]
    return parse_integer(text, param.name) if param.type == "number" else text


def parse_integer(text: str, field: str) -> int:
    """Parse an integer of a query. Raise Refusal (400) if it is invalid or out of range."""
    parts = _INTEGER.fullmatch(text)
    if parts is None:
        raise bad_request(f"{text!r} is not a whole number.", field)
    sign, digits = parts[1], parts[2].lstrip("0") or "0"
    largest = _MAX_VALUES.get(field, INT64_LIMIT)
    if len(digits) <= _MAX_DIGITS and int(digits) <= largest:
        return int(sign + digits)
    if sign == "-":
        least = 1 if field in _MAX_VALUES else -INT64_LIMIT
        raise bad_request(f"This number is too small: {least} is the smallest that is taken.", field)
    raise bad_request(f"This number is too large: {largest} is the largest that is taken.", field)


async def read_body(
    receive: Receive,
    headers: Mapping[str, str],
    took: Callable[[int], None],
    begin: Callable[[int], None],
) -> bytes:
    """Read the body, and report the size of each part to `took`.

    `begin` is told how many bytes will be read. The connection limits the time of the sender. Raise Refusal: 413 as
    soon as it is too long, 415 if it is compressed; ClientDisconnect if the sender ends before its end.
    """
    if headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise Refusal(415, "Bodies are taken as they are, without a Content-Encoding.")
    length = headers.get("content-length", "")
    declared = int(length[:_MAX_DIGITS]) if length.isascii() and length.isdecimal() else 0
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
        raise _validation_refusal(adapter, errors)
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
            raise bad_request(f"There is no body; {_EXPECTED['list_type']}", "body")
        raise _validation_refusal(adapter, errors)
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
    return int(text) if len(text) <= _MAX_DIGITS else Decimal(text)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number in JSON")


def _validation_refusal(adapter: TypeAdapter[Any], found: Sequence[ErrorDetails]) -> Refusal:
    errors = [
        {"field": _field_path(error["loc"]), "message": _describe_error(adapter, error)}
        for error in found[:_MAX_ERRORS]
    ]
    refusal = bad_request(errors[0]["message"], errors[0]["field"])
    refusal.extra["errors"] = errors
    return refusal


_EXPECTED = {
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
    wanted = _EXPECTED.get(kind)
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
