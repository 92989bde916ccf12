"""Encoding of operations: paths, queries, headers and bodies.

It imports only the standard library and nothing slow, because every session loads it. Every function raises
ContractError for a value that cannot be sent; the message names the value and, for an unknown name, the nearest one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from difflib import get_close_matches
from math import isfinite
from urllib.parse import quote

from aisle.contract.operations import OPERATIONS, Operation, Param, ParamLocation
from aisle.errors import ContractError

POOL_NUMBERS = range(1, 11)
_MAX_MAGNITUDE = 60

QueryValue = str | int | float | Decimal | bool | None


def pool_fields(prefix: str) -> tuple[str, ...]:
    """Return the ten field names with this prefix, pool 1 first: `pool_fields("mostlikelypool")`."""
    return tuple(f"{prefix}{pool}" for pool in POOL_NUMBERS)


def get_operation(name: str) -> Operation:
    """Return the operation with this name, an interface heading in kebab case: `list-customer-orders`."""
    try:
        return OPERATIONS[name]
    except KeyError:
        raise ContractError(f"There is no operation {name!r}{_suggest_nearest(name, OPERATIONS)}.") from None


def encode_segment(value: str) -> str:
    """Return one path segment, fully percent-encoded, so that `A/12` stays one segment (interface: Conventions).

    Raise ContractError for `.`, `..` and the empty string: a server would resolve them to another resource.
    """
    if not isinstance(value, str):
        raise ContractError(f"{value!r} cannot stand in a path: a string is needed.")
    if value in ("", ".", "..") or "\0" in value:
        raise ContractError(f"{value!r} cannot stand in a path: it would name another resource.")
    try:
        return quote(value, safe="")
    except UnicodeEncodeError:
        raise ContractError(f"{value!r} cannot stand in a path: it is not valid text.") from None


def build_path(op: Operation, values: Mapping[str, str]) -> str:
    """Return the operation's path with encoded parameters, without host and query."""
    params = op.params_in("path")
    _refuse_unknown(op, "path parameter", values, params)
    path = op.path
    for param in params:
        if param.name not in values:
            raise ContractError(f"{op.name} needs the path parameter {param.name}.")
        path = path.replace(f"{{{param.name}}}", encode_segment(values[param.name]), 1)
    return path


def encode_query(op: Operation, values: Mapping[str, QueryValue]) -> str:
    """Return the query string without `?`; empty if nothing is set. None counts as not set.

    Text is accepted for numbers and booleans if it reads as one, because a command line gives text.
    """
    pairs = _encode_params(op, "query", "query parameter", values)
    return "&".join(f"{name}={_quote_value(name, text)}" for name, text in pairs)


def encode_headers(op: Operation, values: Mapping[str, QueryValue]) -> dict[str, str]:
    """Return the operation's own headers (`container_override`, `Accept-Language`), ready to send."""
    headers = dict(_encode_params(op, "header", "header", values))
    for name, text in headers.items():
        if not text.isascii() or not text.isprintable():
            raise ContractError(f"{text!r} cannot be sent in the header {name}: printable ASCII is needed.")
    return headers


def encode_body(op: Operation, value: object) -> bytes:
    """Return the body as compact UTF-8 JSON. Decimals keep all digits; nothing is converted to a float."""
    if op.body is None:
        raise ContractError(f"{op.name} has no body.")
    if op.body_array and not isinstance(value, (list, tuple)):
        raise ContractError(f"The body of {op.name} is an array, not {_json_kind(value)}.")
    if not op.body_array and not isinstance(value, Mapping):
        raise ContractError(f"The body of {op.name} is an object, not {_json_kind(value)}.")
    return encode_json(value)


def encode_json(value: object) -> bytes:
    """Return any JSON value as compact UTF-8, with exact Decimals. Raise ContractError for NaN and infinities."""
    try:
        return "".join(_json_tokens(value)).encode()
    except UnicodeEncodeError:
        raise ContractError("The body holds text that is not valid Unicode.") from None


def _json_tokens(value: object) -> Iterable[str]:
    if isinstance(value, Mapping):
        separator = "{"
        for key, item in value.items():
            if not isinstance(key, str):
                raise ContractError(f"{key!r} cannot be a field name in a body.")
            yield f"{separator}{json.dumps(key, ensure_ascii=False)}:"
            yield from _json_tokens(item)
            separator = ","
        yield "}" if separator == "," else "{}"
    elif isinstance(value, (list, tuple)):
        separator = "["
        for item in value:
            yield separator
            yield from _json_tokens(item)
            separator = ","
        yield "]" if separator == "," else "[]"
    else:
        yield _json_scalar(value)


def _json_scalar(value: object) -> str:
    if value is None or isinstance(value, (str, bool, int)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float) and isfinite(value):
        return repr(value)
    if isinstance(value, Decimal) and _is_sendable(value):
        return format(value, "f")
    raise ContractError(f"{value!r} ({_json_kind(value)}) cannot be sent as JSON.")


def _encode_params(
    op: Operation, where: ParamLocation, noun: str, values: Mapping[str, QueryValue]
) -> list[tuple[str, str]]:
    params = op.params_in(where)
    _refuse_unknown(op, noun, values, params)
    pairs = []
    for param in params:
        value = values.get(param.name)
        if value is not None:
            pairs.append((param.name, _param_text(param, value)))
        elif param.required:
            raise ContractError(f"{op.name} needs the {noun} {param.name}.")
    return pairs


def _param_text(param: Param, value: QueryValue) -> str:
    text = _number_text(value) if param.type == "number" else _plain_text(value)
    if text is None or (param.type == "boolean" and text not in ("true", "false")):
        raise ContractError(f"{value!r} is no {param.type}, which {param.name} needs.")
    if param.max_length is not None and len(text) > param.max_length:
        raise ContractError(f"{param.name} takes at most {param.max_length} characters, not {len(text)}.")
    return text


def _plain_text(value: QueryValue) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else _number_text(value)


def _number_text(value: QueryValue) -> str | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = Decimal(str(value).strip())
    except ArithmeticError:
        return None
    return format(number, "f") if _is_sendable(number) else None


def _is_sendable(number: Decimal) -> bool:
    """Return True if the number is finite and short enough: 1E+999999 would be a megabyte of zeros."""
    return number.is_finite() and abs(number.adjusted()) <= _MAX_MAGNITUDE


def _quote_value(name: str, text: str) -> str:
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        raise ContractError(f"{text!r} cannot be sent as {name}: it is not valid text.") from None


def _refuse_unknown(op: Operation, noun: str, values: Mapping[str, object], params: tuple[Param, ...]) -> None:
    names = [param.name for param in params]
    for name in values:
        if name not in names:
            raise ContractError(f"{op.name} has no {noun} {name!r}{_suggest_nearest(name, names)}.")


def _suggest_nearest(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; the nearest is {close[0]}" if close else ""


def _json_kind(value: object) -> str:
    if isinstance(value, Mapping):
        return "an object"
    return "an array" if isinstance(value, (list, tuple)) else type(value).__name__
