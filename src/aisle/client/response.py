"""Response of the service, before it is judged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn


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
        """Return the body as JSON. Raise ValueError if it is none, or contains NaN or Infinity."""
        if self.content[:1] in (b"{", b"[") and self.content[1:2] != b"\0":  # UTF-8, as nearly always
            return _DECODER.decode(self.content.decode("utf-8", "surrogatepass"))
        return json.loads(self.content, parse_constant=_refuse_constant)


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
