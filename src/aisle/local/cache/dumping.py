"""Compact JSON of many rows: a full sync writes each of them once more as text."""

from __future__ import annotations

from collections.abc import Callable
from json import JSONEncoder
from json import encoder as library


def encoder(default: Callable[[object], object]) -> Callable[[object], str]:
    """What writes values as JSON text; `default` makes something else of those that are none.

    The library makes the inner part of its encoder anew for each value, which takes a third of what a row does. Here it
    is made once, without a look for cycles, which no row has that was JSON.
    """
    make = getattr(library, "c_make_encoder", None)
    if make is None:  # another Python
        return JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=default).encode
    parts = make(None, default, library.encode_basestring, None, ":", ",", False, False, True)

    def encode(value: object) -> str:
        return "".join(parts(value, 0))

    return encode
