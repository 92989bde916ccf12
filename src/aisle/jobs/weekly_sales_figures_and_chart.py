"""Sales and forecast of a product by week: parsed from what services write, and their chart."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple, NoReturn

from aisle.jobs.row_types.products import StoreProductRow
from aisle.jobs.view import Chart, Series, msg, raw
from aisle.row_values import to_decimal

SERIES = {"history": msg("store_product.history"), "forecast": msg("store_product.forecast")}
"""Series on the common axis: what was sold, then what will be."""

MAX_FIGURES = 400
"""Most figures of a series."""

_SEPARATOR = re.compile(r"[;,|\s]+")
_PAIR = re.compile(r"[=:]")


class Figure(NamedTuple):
    """Figure with its key (for example a week); empty if unknown."""

    key: str
    value: Decimal


def parse_figures(value: Any) -> tuple[Figure, ...]:
    """Parse the figures of a series, in order; empty if they are invalid."""
    found = _parse_text(value) if isinstance(value, str) else value
    if isinstance(found, dict):
        return _make_figures(found.items())
    if isinstance(found, list):
        return _make_figures(("", each) for each in found)
    return ()


def _parse_text(text: str) -> Any:
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return _split_text(text)


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no figure")


def _split_text(text: str) -> Any:
    parts = [_PAIR.split(part, maxsplit=1) for part in _SEPARATOR.split(text.strip(" []{};,|\n\t")) if part]
    values = [part[-1] for part in parts]
    if not all(re.fullmatch(r"-?\d+(\.\d+)?", value) for value in values):
        return None
    if all(len(part) == 2 for part in parts):
        return {part[0].strip("\"'"): part[1] for part in parts}
    return values if all(len(part) == 1 for part in parts) else None


def _make_figures(pairs: Iterable[tuple[Any, Any]]) -> tuple[Figure, ...]:
    return tuple(Figure(str(key), to_decimal(value)) for key, value in pairs)[:MAX_FIGURES]


FiguresByName = tuple[tuple[str, tuple[Figure, ...]], ...]
"""Series of figures, each with its name."""


def parse_sales(row: StoreProductRow) -> FiguresByName:
    """Return sold quantities and forecast of a product, without series that the service does not tell."""
    return tuple((name, found) for name in SERIES if (found := parse_figures(row.get(f"{name}_array"))))


def sales_chart(figures_of: FiguresByName) -> Chart | None:
    """Return sales and forecast on one axis, a position for each week; None without figures.

    Figures without a week follow each other.
    """
    found: dict[str, dict[str, Decimal]] = {name: {} for name in SERIES}
    count = 0
    for name, figures in figures_of:
        for figure in figures if name in found else ():
            count += 1
            found[name][figure.key or str(count)] = figure.value
    keys = dict.fromkeys(key for values in found.values() for key in values)
    if not keys:
        return None
    series = tuple(
        Series(label, tuple(found[name].get(key, Decimal(0)) for key in keys)) for name, label in SERIES.items()
    )
    return Chart(
        name="store_product.sales",
        title=msg("store_product.sales"),
        prompt=raw(""),
        series=series,
        axis=tuple(raw(key) for key in keys),
    )
