"""States and events as JSON and back, by the type hints of their NamedTuples; used by journal and snapshot."""

from __future__ import annotations

import json
import types
from decimal import Decimal
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

_JSON_TYPES = (str, int, float, bool, type(None))
_COMMON_TYPES = frozenset(_JSON_TYPES)
"""Types of most values, checked first."""


def dump(value: Any) -> Any:
    """Return plain JSON data: a NamedTuple becomes an object with its class in `@`, a Decimal `{"@": "n", "v": text}`.

    A mapping with its own key `@`, as external rows may have, becomes `{"@": "m", "v": mapping}`. Fields with their
    default value are omitted; a job whose defaults change needs a new version.
    """
    if type(value) in _COMMON_TYPES:
        return value
    if isinstance(value, Decimal):
        return {"@": "n", "v": str(value)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        defaults: dict[str, object] = getattr(value, "_field_defaults", {})
        fields = zip(value._fields, value, strict=True)
        content = {name: dump(item) for name, item in fields if name not in defaults or defaults[name] != item}
        return {"@": type(value).__name__, **content}
    if isinstance(value, list | tuple):
        return [dump(item) for item in value]
    if isinstance(value, dict):
        content = {str(key): dump(item) for key, item in value.items()}
        return {"@": "m", "v": content} if "@" in content else content
    if isinstance(value, _JSON_TYPES):
        return value
    raise TypeError(f"{type(value).__name__} cannot be kept in the journal")


@cache
def _hints(kind: type) -> dict[str, object]:
    return get_type_hints(kind)


def _union_members(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) in (Union, types.UnionType):
        return tuple(member for part in get_args(hint) for member in _union_members(part))
    return (hint,)


def load(hint: Any, data: Any) -> Any:
    """Return the value of type `hint` from the data of `dump`. Missing fields get their defaults.

    Raise ValueError if the data do not fit the hint (a journal of another version).
    """
    if isinstance(data, dict) and data.get("@") == "n":
        return _parse_decimal(data.get("v"))
    if isinstance(data, dict) and data.get("@") == "m":
        return {key: load(Any, item) for key, item in data["v"].items()}
    if isinstance(data, dict) and "@" in data:
        return _load_record(hint, data)
    if isinstance(data, list):
        return _load_sequence(hint, data)
    if isinstance(data, dict):
        return {key: load(Any, item) for key, item in data.items()}
    return data


def _parse_decimal(text: Any) -> Decimal:
    try:
        return Decimal(text)
    except (ArithmeticError, TypeError, ValueError):
        raise ValueError(f"{text!r} is no number") from None


def _load_record(hint: Any, data: dict[str, object]) -> Any:
    for member in _union_members(hint):
        kind = get_origin(member) or member
        if isinstance(kind, type) and kind.__name__ == data["@"] and hasattr(kind, "_fields"):
            hints = _hints(kind)
            return kind(**{name: load(hints[name], item) for name, item in data.items() if name in kind._fields})
    raise ValueError(f"{data['@']} is not expected here")


def _load_sequence(hint: Any, data: list[Any]) -> Any:
    for member in _union_members(hint):
        if get_origin(member) is tuple:
            parts = get_args(member)
            if len(parts) == 2 and parts[1] is Ellipsis:
                return tuple(load(parts[0], item) for item in data)
            return tuple(load(part, item) for part, item in zip(parts, data, strict=True))
    return [load(Any, item) for item in data]


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
"""Shared encoder, because making one takes as long as encoding an event."""


def to_text(value: Any) -> str:
    """Return `dump(value)` as compact JSON text."""
    return _ENCODER.encode(dump(value))


def from_text(hint: Any, text: str) -> Any:
    """Return the value of type `hint` from a text of `to_text`."""
    if hint is not Any or '"m"' in text:
        return load(hint, json.loads(text))
    return _DECODER.decode(text) if '"@"' in text else json.loads(text)


def _load_object(data: dict[str, object]) -> Any:
    """Convert an object just decoded, whose mappings have no key `@` of their own, as `load` does for Any."""
    return load(Any, data) if "@" in data else data


_DECODER = json.JSONDecoder(object_hook=_load_object)
"""Decoder that converts numbers while reading; a second pass over the data would take longer than reading."""
