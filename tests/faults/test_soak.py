"""Many sessions on one host, all real, for as long as it takes: nobody is locked out, nothing is lost or doubled.

How long commits take is printed beside its budget; it is the machine's business as much as ours. `AISLE_SOAK=20x60` has
the long run be one of 20 sessions and 60 seconds:

    AISLE_SOAK=50x120 AISLE_FULL=1 python -m pytest -s -m full tests/faults/test_soak.py
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from aisle.host.leader_lock import LeaderLock
from aisle.host.store_and_database_folders import StoreFolder
from aisle.outbox.operation_record import CONFIRMED
from tests.faults import soak, staff
from tests.faults.host_results import Desk, Watched, check_books, percentile, picked, watched
from tests.host.child_process import Child, running

BUDGET_MS = 50.0
"""For 99 of 100 commits."""
DRAIN_S = 600.0
SEED = 50

SESSIONS, _, SECONDS = os.environ.get("AISLE_SOAK", "50x600").partition("x")

PLANS = [
    pytest.param(soak.Plan(6, 2.0, (0.1, 0.4), 3), id="6 sessions"),
    pytest.param(soak.Plan(int(SESSIONS), float(SECONDS), (1.0, 3.0), 12), id="long", marks=pytest.mark.full),
]


class Used(NamedTuple):
    """What the host was busy with while people worked, in seconds of a processor, and how long that was."""

    courier_s: float
    service_s: float
    wall_s: float


@pytest.mark.parametrize("plan", PLANS)
def test_a_full_host(aisle_home: Path, tmp_path: Path, plan: soak.Plan, capsys: pytest.CaptureFixture[str]) -> None:
    with ExitStack() as opened:
        home, courier, served = opened.enter_context(soak.at_work(aisle_home, tmp_path, plan, SEED))
        first = LeaderLock(home.lock).read_leader()
        assert first is not None
        with used(first.pid, served.pid) as busy:
            lines = worked(home, courier, plan)
        ended = time.monotonic()
        desk = opened.enter_context(closing(Desk(home)))
        soak.until(desk.drained, DRAIN_S)
        drained_s = time.monotonic() - ended
        people = [watched(each) for each in lines]
        with capsys.disabled():
            tell(plan, people, drained_s, len(desk.operations()), busy[0])
        taken = picked([said for person in people for said in person.said])
        soak.until(lambda: soak.holds(lambda: check_books(soak.database(tmp_path), taken, desk)), 60.0)
        check_books(soak.database(tmp_path), taken, desk)
        journalled(desk, people)
        assert {op.state for op in desk.operations() if not op.superseded_by} == {CONFIRMED}
        assert LeaderLock(home.lock).read_leader() == first, "one courier did it all"
        assert len(home.courier_log.read_text().splitlines()) == 1, home.courier_log.read_text()


def worked(home: StoreFolder, courier: list[str], plan: soak.Plan) -> list[list[str]]:
    """What each session told, from its first input to its end."""
    children = [Child(staff.session(home, courier, plan, person, SEED)) for person in range(plan.sessions)]
    with running(*children):
        for child in children:
            while child.hear(len(child.lines) + 1):
                pass
        return [child.kill() for child in children]


@contextmanager
def used(courier: int, service: int) -> Iterator[list[Used]]:
    """What these two processes use in the block."""
    found: list[Used] = []
    before, began = (soak.cpu_s(courier), soak.cpu_s(service)), time.monotonic()
    yield found
    found.append(Used(soak.cpu_s(courier) - before[0], soak.cpu_s(service) - before[1], time.monotonic() - began))


def journalled(desk: Desk, people: list[Watched]) -> None:
    """No commit failed, and every input is in the journal, once and in its order."""
    assert [error for person in people for error in person.ended.errors] == []
    events = desk.events()
    for person in people:
        assert events[person.ended.session] == [said.raw for said in person.said]
    assert len(events) == len(people)


def tell(plan: soak.Plan, people: list[Watched], drained_s: float, operations: int, busy: Used) -> None:
    """The figures of a run."""
    commits = [took for person in people for took in person.ended.commits_ms]
    frames = [said.took_ms for person in people for said in person.said]
    p99 = percentile(commits, 0.99)
    verdict = "within" if p99 <= BUDGET_MS else "OVER"
    errors = [error for person in people for error in person.ended.errors]
    print(
        f"\n{plan.sessions} sessions, {plan.seconds:.0f} s, seed {SEED}: {len(frames)} inputs, {operations} operations,"
        f" all sent and read back {drained_s:.1f} s after the last input\n"
        f"commit p50 {percentile(commits, 0.5):.2f} ms, p99 {p99:.1f} ms (budget {BUDGET_MS:.0f} ms: {verdict}),"
        f" longest {max(commits):.1f} ms; input to frame p50 {percentile(frames, 0.5):.1f} ms,"
        f" p99 {percentile(frames, 0.99):.1f} ms\n"
        f"{Counter(said.verdict for person in people for said in person.said).most_common(12)}\n"
        f"{len(errors)} commits failed: {dict(Counter(errors))}\n{_busy(people, len(frames), busy)}"
    )


def _busy(people: list[Watched], inputs: int, busy: Used) -> str:
    """What each process took of a core, and how much was looked at."""
    sessions_s = sum(person.ended.cpu_s for person in people)
    shares = {"the sessions": sessions_s, "the courier": busy.courier_s, "the service": busy.service_s}
    told = ", ".join(f"{who} {used / busy.wall_s:.1%}" for who, used in shares.items())
    looks = sum(person.ended.looks for person in people)
    one = sessions_s / busy.wall_s / len(people)
    return f"of a core: {told}; one session {one:.2%}, {looks / inputs:.1f} looks for each input"
