"""Rows of figures as a service writes them into one text: `{"W41":3,"W42":5}`, `[3,5]`, `3;5` or `W41=3;W42=5`.

Interface: history_array, average_array and forecast_array of a store product stock entry, which say not how.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NoReturn

from aisle.jobs.amounts import number
from aisle.tuples import NamedTuple

MOST = 400
"""Figures of a row at most."""

_PARTS = re.compile(r"[;,|\s]+")
_PAIR = re.compile(r"[=:]")


class Figure(NamedTuple):
    """One figure, and what it is of; empty where nobody says."""

    key: str
    value: Decimal


def figures(given: Any) -> tuple[Figure, ...]:
    """The figures of a row, in their order; nothing where they cannot be read."""
    found = _loaded(given) if isinstance(given, str) else given
    if isinstance(found, dict):
        return _kept(found.items())
    if isinstance(found, list):
        return _kept(("", each) for each in found)
    return ()


def _loaded(text: str) -> Any:
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return _split(text)


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no figure")


def _split(text: str) -> Any:
    """Figures with something between them; none of them where one is no figure."""
    parts = [_PAIR.split(part, maxsplit=1) for part in _PARTS.split(text.strip(" []{};,|\n\t")) if part]
    values = [part[-1] for part in parts]
    if not all(_is_figure(value) for value in values):
        return None
    if all(len(part) == 2 for part in parts):
        return {part[0].strip("\"'"): part[1] for part in parts}
    return values if all(len(part) == 1 for part in parts) else None


def _is_figure(text: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?", text) is not None


def _kept(pairs: Iterable[tuple[Any, Any]]) -> tuple[Figure, ...]:
    return tuple(Figure(str(key), number(value)) for key, value in pairs)[:MOST]
