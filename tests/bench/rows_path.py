"""Row about the way of one scan: what each step of it takes, drawn below the table."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.bench.bench import Bench
from tests.bench.prepare import ROOT
from tests.bench.session import Session
from tests.bench.table import Pair, Row, measures, median

WIDE = 40
REST = "threads, event loop, terminal"


@measures("path", Row("scan to verdict with a clock at each step, median", "ms", "itself, without"))
def path(bench: Bench) -> Sequence[Pair]:
    """The app in a terminal, started by a program that puts clocks on its functions; spaced scans."""
    if bench.aisle is None:
        return [Pair(None, None)]
    file = bench.scratch / f"steps-{len(bench.curves)}.jsonl"
    env = {**bench.aisle.env, "PYTHONPATH": f"{bench.aisle.env.get('PYTHONPATH') or ''}:{ROOT}"}
    clocked = bench.aisle._replace(argv=(sys.executable, "-m", "tests.bench.traced_app", str(file)), env=env)
    with Session(clocked) as session:
        taken = [session.scan().ms for _ in range(bench.times(220, 4))][bench.times(20, 1) :]
    found = median(taken)
    assert found is not None
    steps = read(file)[-len(taken) :]
    bench.curves += ["", f"the way of a scan (ms, medians of {len(steps)})", *drawn(steps, found)]
    return [Pair(found, median(answer.ms for answer in bench.spaced.aisle))]


def read(file: Path) -> list[dict[str, float]]:
    """What each scan's steps took."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def drawn(scans: Sequence[Mapping[str, float]], whole: float) -> list[str]:
    """A line for each step: its median and its share of the whole, which ends with the last byte at the terminal."""
    medians = {name: median(scan[name] for scan in scans) or 0.0 for name in scans[0]}
    medians[REST] = max(0.0, whole - sum(medians.values()))
    return [
        f"{name:<30} {took:7.3f}  {took / whole:4.0%}  {'#' * round(took / whole * WIDE)}".rstrip()
        for name, took in medians.items()
    ]
