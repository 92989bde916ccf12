"""Response of the service, before it is judged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

MAX_VALUES = 1_000_000
MAX_CONTAINERS = 250_000
_SMALL = 1 << 20
"""Bytes of a body whose values need not be counted."""
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
        """Return the body as JSON. Raise ValueError if it is none, has too many values, or contains NaN or Infinity."""
        check_shape(self.content)
        if self.content[:1] in (b"{", b"[") and self.content[1:2] != b"\0":  # UTF-8, as nearly always
            return _DECODER.decode(self.content.decode("utf-8", "surrogatepass"))
        return json.loads(self.content, parse_constant=_refuse_constant)


def check_shape(content: bytes) -> None:
    """Raise ValueError if JSON has more values than a list can have. Each takes many times its bytes in memory."""
    if len(content) > _SMALL:
        containers = content.count(b"[") + content.count(b"{")
        if containers > MAX_CONTAINERS or containers + content.count(b",") > MAX_VALUES:
            raise ValueError(f"it has more than {MAX_VALUES:,} values, or {MAX_CONTAINERS:,} lists and objects")


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
