"""Rows about a slow link between the hand and the host: 150 ms there and back, 64 kbit/s."""

from __future__ import annotations

from collections.abc import Sequence

from tests.bench.bench import Bench
from tests.bench.session import Session
from tests.bench.slow_link import FarTerminal, way_s
from tests.bench.table import Pair, Row, measures, median, p99

PAUSE_S = 0.1
SCAN_BYTES = 14


@measures(
    "radio",
    Row("scan to verdict over 150 ms and 64 kbit/s, p99", "ms", "the scan there and back", at_most=1.25),
    Row("scans 100 ms apart over that link, p99", "ms", "the scan there and back", at_most=1.25),
)
def radio(bench: Bench) -> Sequence[Pair]:
    """The floor is the link's own: the packet of a scan there, and as much back. A quarter more is for the frame."""
    spaced: list[float] = []
    apart: list[float] = []
    if bench.aisle:
        with Session(bench.aisle, terminal=FarTerminal) as session:
            session.scan()
            spaced = [session.scan().ms for _ in range(bench.times(60, 2))]
            apart = session.burst(bench.times(100, 4), PAUSE_S)
    floor = 2000 * way_s(SCAN_BYTES)
    return [Pair(p99(spaced), floor, _middle(spaced)), Pair(p99(apart), floor, _middle(apart))]


def _middle(found: Sequence[float]) -> str:
    return f"median {median(found):.0f} ms" if found else ""
