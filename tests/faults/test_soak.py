"""Many sessions on one host, all real, for as long as it takes: nobody is locked out, nothing is lost or doubled.

How long commits take is printed beside its budget; it is the machine's business as much as ours.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from aisle.local.home import Home
from aisle.local.lock import Election
from aisle.local.outbox_state import DONE
from tests.faults import soak
from tests.local.children import Child, running

BUDGET_MS = 50.0
"""For 99 of 100 commits."""
DRAIN_S = 600.0
SEED = 50

PLANS = [
    pytest.param(soak.Plan(6, 2.0, (0.1, 0.4), 3), id="6 sessions"),
    pytest.param(soak.Plan(50, 600.0, (1.0, 3.0), 12), id="50 sessions", marks=pytest.mark.full),
]


@pytest.mark.parametrize("plan", PLANS)
def test_a_full_host(aisle_home: Path, tmp_path: Path, plan: soak.Plan, capsys: pytest.CaptureFixture[str]) -> None:
    with ExitStack() as opened:
        home, courier, _ = opened.enter_context(soak.at_work(aisle_home, tmp_path, plan, SEED))
        first = Election(home.lock).holder()
        lines = worked(home, courier, plan)
        ended = time.monotonic()
        desk = opened.enter_context(closing(soak.Desk(home)))
        soak.until(desk.drained, DRAIN_S)
        drained_s = time.monotonic() - ended
        people = [soak.watched(each) for each in lines]
        with capsys.disabled():
            tell(plan, people, drained_s, len(desk.operations()))
        taken = soak.picked([said for person in people for said in person.said])
        soak.until(lambda: soak.holds(lambda: soak.check_books(soak.database(tmp_path), taken, desk)), 60.0)
        soak.check_books(soak.database(tmp_path), taken, desk)
        journalled(desk, people)
        assert {op.state for op in desk.operations() if not op.superseded_by} == {DONE}
        assert Election(home.lock).holder() == first, "one courier did it all"
        assert len(home.courier_log.read_text().splitlines()) == 1, home.courier_log.read_text()


def worked(home: Home, courier: list[str], plan: soak.Plan) -> list[list[str]]:
    """What each session told, from its first input to its end."""
    children = [Child(soak.session(home, courier, plan, person, SEED)) for person in range(plan.sessions)]
    with running(*children):
        for child in children:
            while child.hear(len(child.lines) + 1):
                pass
        return [child.kill() for child in children]


def journalled(desk: soak.Desk, people: list[soak.Watched]) -> None:
    """No commit failed, and every input is in the journal, once and in its order."""
    assert [error for person in people for error in person.ended.errors] == []
    events = desk.events()
    for person in people:
        assert events[person.ended.session] == [said.raw for said in person.said]
    assert len(events) == len(people)


def tell(plan: soak.Plan, people: list[soak.Watched], drained_s: float, operations: int) -> None:
    """The figures of a run."""
    commits = [took for person in people for took in person.ended.commits_ms]
    frames = [said.took_ms for person in people for said in person.said]
    p99 = soak.percentile(commits, 0.99)
    verdict = "within" if p99 <= BUDGET_MS else "OVER"
    errors = [error for person in people for error in person.ended.errors]
    print(
        f"\n{plan.sessions} sessions, {plan.seconds:.0f} s, seed {SEED}: {len(frames)} inputs, {operations} operations,"
        f" all sent and read back {drained_s:.1f} s after the last input\n"
        f"commit p50 {soak.percentile(commits, 0.5):.2f} ms, p99 {p99:.1f} ms (budget {BUDGET_MS:.0f} ms: {verdict}),"
        f" longest {max(commits):.1f} ms; input to frame p50 {soak.percentile(frames, 0.5):.1f} ms,"
        f" p99 {soak.percentile(frames, 0.99):.1f} ms\n"
        f"{Counter(said.verdict for person in people for said in person.said).most_common(12)}\n"
        f"{len(errors)} commits failed: {Counter(errors)}"
    )
