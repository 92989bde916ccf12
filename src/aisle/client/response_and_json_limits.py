"""Response of the service, before it is judged, and the memory that its JSON may need."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

MAX_JSON_MEMORY = 64 << 20
"""Bytes of memory that the text and the values of a body may need."""
_SMALL = 1 << 20
"""Bytes of a body whose values need not be counted."""
_VALUE_BYTES = 64
"""Bytes of memory of a value beside its text."""
_FIELD_BYTES = 100
"""The same of a field, whose name may occur once only."""
_CONTINUATION_BYTES = bytes(range(0x80, 0xC0))
_BEYOND_LATIN, _BEYOND_BASIC = re.compile(rb"[\xc4-\xf4]"), re.compile(rb"[\xf0-\xf4]")
_ESCAPED, _ESCAPED_SURROGATE = re.compile(rb"\\u"), re.compile(rb"\\u[dD][89abAB]")


class TooMuchMemory(ValueError):
    """The values of a body would need more than `MAX_JSON_MEMORY`."""


MAX_INT64 = (1 << 63) - 1


class Response(NamedTuple):
    """HTTP response. Header names are in lower case; the bytes are as the service sent them."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def is_success(self) -> bool:
        """True if the status is a 2xx; the body may still have `success: false`."""
        return 200 <= self.status < 300

    @property
    def is_json_object(self) -> bool:
        """True if the body is a JSON object, as the service always sends; a gateway sends HTML."""
        try:
            return isinstance(self.json(), dict)
        except (ValueError, RecursionError):
            return False

    def json(self) -> Any:
        """Return the body as JSON.

        Raise ValueError if it is none or contains NaN or Infinity, TooMuchMemory if it needs too much.
        """
        check_memory(self.content)
        if self.content[:1] in (b"{", b"[") and self.content[1:2] != b"\0":  # UTF-8, as nearly always
            return _DECODER.decode(self.content.decode("utf-8", "surrogatepass"))
        return json.loads(self.content, parse_constant=_refuse_constant)


def check_memory(content: bytes) -> None:
    """Raise TooMuchMemory if JSON needs more than `MAX_JSON_MEMORY`."""
    if len(content) > _SMALL and memory_needed(content) > MAX_JSON_MEMORY:
        raise TooMuchMemory(f"it would need more than {MAX_JSON_MEMORY >> 20} MiB of memory")


def memory_needed(content: bytes) -> int:
    """Estimate the bytes of memory of JSON as a text and as values.

    One character beyond the basic ones makes all characters of its text take four bytes, and a short one several.
    Colons in texts count as fields.
    """
    width = 4 if _BEYOND_BASIC.search(content) else 2 if _BEYOND_LATIN.search(content) else 1
    escaped = 4 if _ESCAPED_SURROGATE.search(content) else 2 if _ESCAPED.search(content) else 1
    characters = len(content) if content.isascii() else len(content.translate(None, _CONTINUATION_BYTES))
    values = content.count(b"[") + content.count(b"{") + content.count(b",")
    fields = content.count(b":")
    return characters * (width + max(width, escaped)) + values * _VALUE_BYTES + fields * _FIELD_BYTES


def to_int64(value: Any) -> int | None:
    """Return a number or its text as an integer; None if it is none, or more than databases hold."""
    try:
        number = None if value is None or isinstance(value, bool) else int(value)
    except (ValueError, TypeError, OverflowError):
        return None
    return number if number is not None and -MAX_INT64 <= number <= MAX_INT64 else None


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
