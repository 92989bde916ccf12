"""Rows about one session: start, memory, scans spaced and in bursts, bytes to the terminal."""

import json
from collections.abc import Sequence
from pathlib import Path

from tests.bench.bench import Bench
from tests.bench.session import Session, pss_mb
from tests.bench.table import Pair, Row, measures, median, p99
from tests.terminal.lifeline import processes_under

BURST_PAUSE_S = 0.008
KEY_PAUSE_S = 0.006


@measures("start", Row("start to the first usable screen, median", "ms", "floor app", at_most=1.4))
def start(bench: Bench) -> Sequence[Pair]:
    """Spawn to the last byte of the first usable frame, in turns; the first round only warms caches."""
    found: list[list[float]] = []
    for _ in range(bench.times(20, 1) + 1):
        found.append([_once(bench, index) for index in range(len(bench.programs))])
    floor, aisle = ([times[index] for times in found[1:] if index < len(times)] for index in (0, 1))
    return [Pair(median(aisle), median(floor))]


def _once(bench: Bench, index: int) -> float:
    with Session(bench.programs[index]) as session:
        return session.ready_ms


@measures(
    "memory",
    Row("memory of the session's process (PSS), after 20 scans", "MB", "floor app", at_most=1.45),
    Row("memory of the courier with the embedded service inside (PSS)", "MB"),
)
def memory(bench: Bench) -> Sequence[Pair]:
    """Each program alone, so that neither shares pages with another of its kind."""
    found: list[list[float]] = [[], []]
    couriers: list[float] = []
    for _ in range(bench.times(3, 1)):
        for index, program in enumerate(bench.programs):
            with Session(program) as session:
                for _scan in range(bench.times(20, 2)):
                    session.scan()
                found[index].append(session.pss_mb())
                held = [pss_mb(pid) for pid, line in processes_under(bench.folder).items() if " courier" in line]
                couriers += [sum(held)] if held else []  # with its standby, which shares most of it
    return [Pair(median(found[1]), median(found[0])), Pair(median(couriers), None)]


@measures(
    "scan",
    Row("scan to verdict, spaced, median", "ms", "floor app", at_most=0.25),
    Row("scan to verdict, spaced, p99", "ms", "floor app", at_most=0.4),
)
def scan(bench: Bench) -> Sequence[Pair]:
    """From the write of 13 digits and CR to the last byte of the verdict's frame."""
    floor, aisle = ([answer.ms for answer in answers] for answers in bench.spaced)
    return [Pair(median(aisle), median(floor)), Pair(p99(aisle), p99(floor))]


@measures(
    "burst",
    Row("scans 8 ms apart, p99", "ms", "floor app's spaced median", at_most=0.5),
    Row("a code typed at 6 ms a character, median from its CR", "ms", "floor app's spaced median", at_most=0.5),
    Row("100 scans in one write, until the last verdict", "ms", "floor app's spaced median", at_most=1.0),
)
def burst(bench: Bench) -> Sequence[Pair]:
    """What a fast scanner does; the floor app merges such scans, so its one spaced scan is the yardstick."""
    apart: list[float] = []
    typed: list[float] = []
    volleys: list[float] = []
    note = ""
    if bench.aisle:
        trace = bench.scratch / "trace.jsonl"
        with Session(bench.aisle, env={"AISLE_TRACE": str(trace)}) as session:
            first = session.last + 1
            for _ in range(bench.times(10, 1)):
                apart += session.burst(bench.times(100, 10), BURST_PAUSE_S)
                typed += [session.type(KEY_PAUSE_S).ms for _code in range(bench.times(10, 1))]
                volleys.append(session.volley(100))
        note = traced(trace, [bench.aisle.code(number) for number in range(first, session.last + 1)])
    floor = bench.floor_scan_ms
    return [Pair(p99(apart), floor, note), Pair(median(typed), floor), Pair(median(volleys), floor)]


def traced(trace: Path, codes: Sequence[bytes]) -> str:
    """Fails unless the trace holds these scans, each once and in this order; says what the program itself measured."""
    inputs = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    if [each["raw"].strip().encode() for each in inputs] != list(codes):
        raise AssertionError(
            f"{len(codes)} scans were written, the trace holds {len(inputs)} inputs, not these in order"
        )
    return f"all {len(codes)} in the trace, painted p99 {p99(each['painted_ms'] for each in inputs):.1f} ms"


@measures(
    "bytes",
    Row("bytes to the terminal per scan at 40x20, median", "bytes", "floor app (lean)", at_most=0.5),
    Row("the same compressed as by ssh -C, median", "bytes", "floor app (lean)"),
)
def size(bench: Bench) -> Sequence[Pair]:
    """All bytes from the write until quiet."""
    floor, aisle = bench.spaced
    return [
        Pair(median(float(answer.size) for answer in aisle), median(float(answer.size) for answer in floor)),
        Pair(median(float(answer.packed) for answer in aisle), median(float(answer.packed) for answer in floor)),
    ]
