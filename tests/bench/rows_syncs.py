"""Rows about a full sync as its store grows: what a product costs stays the same, and so does the memory it takes."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.bench.bench import Bench
from tests.bench.prepare import environment
from tests.bench.rows_growth import curve
from tests.bench.rows_pages import grown_homes
from tests.bench.service import elsewhere, served
from tests.bench.table import Pair, Row, measures
from tests.grow.store import FIRST


class Cost(NamedTuple):
    """What a full sync took: on the clock, of processor here and at the service, at most of memory, and on the disk."""

    took_s: float
    used_ms: float
    service_ms: float
    peak_mb: float
    disk_mb: float


@measures(
    "syncs",
    Row("full sync, its processor time for a product, 1,000,000 products", "ms", "10,000 products", at_most=1.5),
    Row("full sync, the service's for a product, 1,000,000 products", "ms", "10,000 products", at_most=1.5),
    Row("full sync, memory at most, 1,000,000 products", "MB", "10,000 products", at_most=1.5),
    Row("full sync, all of it, 1,000,000 products", "s", "10,000 products"),
    Row("a store on this host's disk, 1,000,000 products", "MB", "10,000 products"),
)
def syncs(bench: Bench) -> Sequence[Pair]:
    """`aisle sync --full` into an empty home, from a service in a process of its own."""
    sizes, homes = grown_homes(bench)
    costs = [_synced(bench, home, size) for home, size in zip(homes, sizes, strict=True)]
    each = list(zip(costs, sizes, strict=True))
    return [
        curve(bench, "full sync, a product", sizes, [cost.used_ms / size for cost, size in each]),
        curve(bench, "full sync, a product at the service", sizes, [cost.service_ms / size for cost, size in each]),
        curve(bench, "full sync, memory at most", sizes, [cost.peak_mb for cost in costs], unit="MB"),
        curve(bench, "full sync, all of it", sizes, [cost.took_s for cost in costs], unit="s"),
        curve(bench, "a store on disk", sizes, [cost.disk_mb for cost in costs], unit="MB"),
    ]


def _synced(bench: Bench, home: Path, size: int) -> Cost:
    assert bench.aisle is not None, "this group measures aisle"
    with served(bench, {**bench.aisle.env, "AISLE_HOME": str(home)}) as service:
        env = {**elsewhere(bench, service, f"syncs-{size}"), "AISLE_STORE": FIRST}
        before, began = service.used_ms(), time.monotonic()
        used_ms, peak_mb, said = _run(env)
        took_s = time.monotonic() - began
        if f" {size} products" not in said:
            raise AssertionError(f"aisle sync was to bring {size} products; it says: {said}")
        files = (bench.scratch / f"syncs-{size}").rglob("cache.db*")
        disk_mb = sum(file.stat().st_size for file in files) / 2**20
        return Cost(took_s, used_ms, service.used_ms() - before, peak_mb, disk_mb)


def _run(env: Mapping[str, str | None]) -> tuple[float, float, str]:
    """Milliseconds of processor, MB at most, and what it says."""
    laid, lifeline = environment(env)
    command = [sys.executable, "-m", "aisle", "sync", "--full"]
    peak = 0
    with subprocess.Popen(command, env=laid, pass_fds=lifeline, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        while not select.select([process.stdout], [], [], 0.1)[0]:
            peak = max(peak, _peak_kb(process.pid))
        said = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise AssertionError(f"aisle sync ended with {process.returncode}: {said}")
    return (used.ru_utime + used.ru_stime) * 1000, peak / 1024, said


def _peak_kb(pid: int) -> int:
    """What a process has had at most; its `ru_maxrss` would be that of this one, which it began as."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)
