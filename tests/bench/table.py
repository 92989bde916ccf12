"""The table of figures: each measurement registers its rows with their budgets; what it finds gets its verdict here."""

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tests.bench.bench import Bench


class Row(NamedTuple):
    """One figure and what it may be: `at_most` or `at_least` so many times its floor, or `most` of its own unit.

    With none of the three it is only reported.
    """

    figure: str
    unit: str
    floor: str = ""
    """What the floor is; empty for a figure that stands alone."""
    at_most: float | None = None
    at_least: float | None = None
    most: float | None = None


class Pair(NamedTuple):
    """What was found for one row: aisle's figure (None while only the floor was measured), the floor's, a remark."""

    figure: float | None
    floor: float | None
    note: str = ""


class Finding(NamedTuple):
    """A row with what was found."""

    group: str
    row: Row
    pair: Pair

    @property
    def ratio(self) -> float | None:
        """Figure by floor; None where either is missing."""
        if self.pair.figure is None or not self.pair.floor:
            return None
        return self.pair.figure / self.pair.floor

    @property
    def verdict(self) -> str:
        """`within`, `OVER`, or `-` where there is nothing to judge."""
        row = self.row
        judged = self.pair.figure if row.most is not None else self.ratio
        limits = [limit for limit in (row.at_least, row.at_most, row.most) if limit is not None]
        if judged is None or not limits:
            return "-"
        met = judged >= limits[0] if row.at_least is not None else judged <= limits[0]
        return "within" if met else "OVER"

    @property
    def budget(self) -> str:
        """The budget as a person reads it."""
        if self.row.most is not None:
            return f"<= {self.row.most:g} {self.row.unit}"
        if self.row.at_least is not None:
            return f">= {self.row.at_least:g} x"
        return f"<= {self.row.at_most:g} x" if self.row.at_most is not None else "reported"

    def as_json(self) -> dict[str, str | float | None]:
        """For machines."""
        return {
            "group": self.group,
            "figure": self.row.figure,
            "unit": self.row.unit,
            "value": self.pair.figure,
            "floor": self.pair.floor,
            "floor_is": self.row.floor,
            "ratio": self.ratio,
            "budget": self.budget,
            "verdict": self.verdict,
            "note": self.pair.note,
        }


Measure = Callable[["Bench"], Sequence[Pair]]


class Group(NamedTuple):
    """A measurement: its name on the command line, its rows, and the function that finds a pair for each."""

    name: str
    rows: tuple[Row, ...]
    measure: Measure


GROUPS: dict[str, Group] = {}

LONG = ("products", "goods", "orders", "sent", "waiting", "pages", "stores", "syncs", "sessions", "handhelds", "chain")
"""Groups that take long, measured when they are asked for."""


def measures(name: str, *rows: Row) -> Callable[[Measure], Measure]:
    """Registers a function that measures these rows, in their order, under a name for the command line."""

    def register(measure: Measure) -> Measure:
        if name in GROUPS:
            raise ValueError(f"two measurements are called {name!r}")
        GROUPS[name] = Group(name, rows, measure)
        return measure

    return register


def run(group: Group, bench: "Bench") -> list[Finding]:
    """Measures one group."""
    pairs = group.measure(bench)
    return [Finding(group.name, row, pair) for row, pair in zip(group.rows, pairs, strict=True)]


def median(values: Iterable[float]) -> float | None:
    """The middle one; None of nothing."""
    values = list(values)
    return statistics.median(values) if values else None


def p99(values: Iterable[float]) -> float | None:
    """The value that 99 of 100 do not exceed (nearest rank); None of nothing."""
    ordered = sorted(values)
    return ordered[math.ceil(0.99 * len(ordered)) - 1] if ordered else None


HEADS = ("group", "figure", "unit", "aisle", "floor", "ratio", "budget", "verdict", "note")


def lines(findings: Iterable[Finding]) -> list[str]:
    """The table as text, a line a row, columns aligned."""
    table = [HEADS, *(_cells(finding) for finding in findings)]
    widths = [max(len(row[column]) for row in table) for column in range(len(HEADS))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]


_ORDER = ("start", "memory", "courier", "scan", "burst", "bytes", "radio", "busy", "search", "lists", "change", "sync")
"""Groups in the order in which RESULTS.md shows them, before those that are not here."""


def markdown(findings: Iterable[Finding]) -> list[str]:
    """The rows that have a budget, as RESULTS.md shows them."""
    rows = [("Figure", "Floor", "Ratio", "Budget", "Verdict"), ("---", "---", "---:", "---:", "---")]
    names = [*_ORDER, *(name for name in GROUPS if name not in _ORDER), ""]
    for finding in sorted(findings, key=lambda each: names.index(each.group if each.group in names else "")):
        if finding.budget != "reported":
            ratio = "-" if finding.ratio is None else f"{finding.ratio:.2f} ×"
            alone = f"{_number(finding.pair.figure)} {finding.row.unit}".strip()
            found = alone if finding.row.most is not None else ratio
            verdict = {"OVER": "**missed**"}.get(finding.verdict, finding.verdict)
            budget = finding.budget.replace("<=", "≤").replace(">=", "≥").replace(" x", " ×").strip()
            rows.append((finding.row.figure, finding.row.floor, found, budget, verdict))
    return [f"| {' | '.join(row)} |" for row in rows]


def _cells(finding: Finding) -> tuple[str, ...]:
    group, row, pair = finding
    floor = _number(pair.floor) + (f" ({row.floor})" if row.floor else "")
    ratio = "-" if finding.ratio is None else f"{finding.ratio:.2f}"
    return (
        group, row.figure, row.unit, _number(pair.figure), floor, ratio, finding.budget, finding.verdict, pair.note,
    )  # fmt: skip


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
