"""What came back: a status, headers and bytes, before anyone judges them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn


class Response(NamedTuple):
    """An HTTP answer. Header names are in lower case; the bytes are as the service sent them."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def is_success(self) -> bool:
        """Whether the status is a 2xx; the body may still say `success: false`."""
        return 200 <= self.status < 300

    @property
    def is_json_object(self) -> bool:
        """Whether the body is a JSON object, as the service's own words always are; a gateway's page is not."""
        try:
            return isinstance(self.json(), dict)
        except (ValueError, RecursionError):
            return False

    def json(self) -> Any:
        """The body as JSON. Raises ValueError when it is none, or is NaN or infinite somewhere."""
        if self.content[:1] in (b"{", b"[") and self.content[1:2] != b"\0":  # UTF-8, as nearly always
            return _DECODER.decode(self.content.decode("utf-8", "surrogatepass"))
        return json.loads(self.content, parse_constant=_refuse_constant)


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
