"""Rows about a full host: fifty real sessions at terminals, one courier, and a service in a process of its own."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.bench import generated_store
from tests.bench.bench import Bench
from tests.bench.prepare import door, program_of
from tests.bench.service import elsewhere, served
from tests.bench.session import Session, pss_mb
from tests.bench.table import Pair, Row, measures, median, p99
from tests.terminal.lifeline import processes_under

SESSIONS = 50
PACE_S = 3.0
IDLE_S = 20.0
_TICKS = os.sysconf("SC_CLK_TCK")


@measures(
    "sessions",
    Row(f"{SESSIONS} sessions, PSS of one, median", "MB"),
    Row("their courier with its standby (PSS)", "MB", most=50),
    Row("processor time of an idle session, each second", "ms"),
    Row("times an idle session wakes, each minute", ""),
    Row("scan to verdict while all scan every 3 s, p99", "ms", "floor app's spaced p99, alone", at_most=0.35),
    Row("all scan at once, until the last verdict, median", "ms"),
)
def sessions(bench: Bench) -> Sequence[Pair]:
    """Each session is another person with an order of his own; what they scan is sent while they go on."""
    if bench.aisle is None:
        return [Pair(None, None)] * 6
    with _at_work(bench) as opened:
        held = [session.pss_mb() for session in opened]
        opened[0].terminal.wait_for(lambda _: len(_couriers(bench)) == 2, 60)  # it and its heir
        courier = sum(pss_mb(pid) for pid in _couriers(bench))
        used_ms, woken = _idle(opened, IDLE_S if not bench.short else 0.5)
        times = _scanned(opened, bench.seconds)
        at_once = [_together(opened) for _ in range(bench.times(10, 1))]
        for session in opened:
            session.exact()
    return [
        Pair(median(held), None, f"{len(held)} of them, {sum(held):,.0f} MB together"),
        Pair(courier, None),
        Pair(used_ms, None),
        Pair(woken, None, "it looks for news every 5 s"),
        Pair(p99(times), p99(answer.ms for answer in bench.spaced.floor), f"{len(times):,} scans"),
        Pair(median(at_once), None),
    ]


@contextlib.contextmanager
def _at_work(bench: Bench) -> Iterator[list[Session]]:
    count = bench.times(SESSIONS, 2)
    goods = generated_store.products(bench.times(2_000, 20))
    orders = [f"{generated_store.ORDER}-{number:02}" for number in range(count)]
    assert bench.aisle is not None
    books = {**bench.aisle.env, "AISLE_HOME": str(bench.scratch / "sessions-shop")}
    door(books, "load", str(generated_store.write(bench.scratch / "sessions-files", goods, 0, endless=orders)))
    with served(bench, books) as service, contextlib.ExitStack() as held:
        env = elsewhere(bench, service, "sessions/home")
        door(env, "sync")
        opened = []
        for number, order in enumerate(orders):
            who = {"AISLE_USER": f"u{number:02}", "AISLE_TERMINAL": f"t{number:02}"}
            program = program_of(bench.folder / "site", {**env, **who}, goods[0])
            session = held.enter_context(Session(program, ready=lambda text: generated_store.ORDER in text))
            session.terminal.write(order.encode() + b"\r")
            session.shown(program.ready, 60)
            opened.append(session)
        yield opened


def _couriers(bench: Bench) -> list[int]:
    return [pid for pid, line in processes_under(bench.scratch / "sessions").items() if " courier" in line]


def _idle(opened: Sequence[Session], seconds: float) -> tuple[float, float]:
    """What one session uses while nobody does anything: milliseconds of a processor a second, and wakes a minute."""
    pids = [session.terminal.pid for session in opened]
    for session in opened:
        session.terminal.wait_quiet(200)
    before = [(_ticks(pid), _woken(pid)) for pid in pids]
    time.sleep(seconds)
    after = [(_ticks(pid), _woken(pid)) for pid in pids]
    ticks, woken = (
        sum(late[n] - early[n] for late, early in zip(after, before, strict=True)) / len(pids) for n in (0, 1)
    )
    return ticks * 1000 / _TICKS / seconds, woken * 60 / seconds


def _ticks(pid: int) -> int:
    """Ticks of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def _woken(pid: int) -> int:
    """How often its threads have waited for something and gone on."""
    found = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        lines = (task / "status").read_text(encoding="utf-8", errors="replace").splitlines()
        found += sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))
    return found


def _scanned(opened: Sequence[Session], seconds: float) -> list[float]:
    """Each scans every three seconds, one after the other; milliseconds until each verdict."""
    times: list[float] = []
    due = began = time.monotonic()
    while due - began < seconds:
        for session in opened:
            time.sleep(max(0.0, due - time.monotonic()))
            times.append(session.scan_now())
            due += PACE_S / len(opened)
    return times


def _together(opened: Sequence[Session]) -> float:
    """One scan of each, as near to each other as can be; milliseconds until the last verdict stands."""
    for session in opened:
        session.terminal.wait_quiet(40)
    began = time.perf_counter()
    for session in opened:
        session.send()
    ends = [session.answered() for session in opened]
    return (max(ends) - began) * 1000
