"""Row about the courier of a host whose service is elsewhere."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

from tests.bench.bench import Bench
from tests.bench.prepare import door, environment
from tests.bench.service import elsewhere, served, until
from tests.bench.session import pss_mb
from tests.bench.table import Pair, Row, measures
from tests.terminal.lifeline import processes_under


@measures("courier", Row("memory of the courier with its standby, after a full sync (PSS)", "MB", most=50))
def memory(bench: Bench) -> Sequence[Pair]:
    """One leading courier that has read the whole store; `aisle sync` waits for that."""
    if bench.aisle is None:
        return [Pair(None, None)]
    with served(bench) as service:
        env = elsewhere(bench, service, "courier")
        laid, lifeline = environment(env)
        command = [sys.executable, "-m", "aisle", "courier"]
        _end_others(bench)
        with subprocess.Popen(command, env=laid, pass_fds=lifeline, stdout=subprocess.DEVNULL) as courier:
            try:
                until(lambda: len(_couriers(bench)) == 2, courier)  # it and its heir: it is in office
                said = door(env, "sync", "--full")
                held = [pss_mb(pid) for pid in _couriers(bench)]
            finally:
                courier.terminate()
    if f" {bench.products} products" not in said:
        raise AssertionError(f"the courier was to bring {bench.products} products; it says: {said}")
    return [Pair(sum(held), None)]


def _end_others(bench: Bench) -> None:
    """Couriers of other homes, which stay for minutes, would be counted, and share pages with this one."""
    for pid in _couriers(bench):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + 30
    while others := _couriers(bench):
        assert time.monotonic() < deadline, f"couriers of other homes do not leave: {others}"
        time.sleep(0.05)


def _couriers(bench: Bench) -> list[int]:
    return [pid for pid, line in processes_under(bench.scratch).items() if " courier" in line]
