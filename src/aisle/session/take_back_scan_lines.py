"""Undo of the first lines of a scan, which turned out to be no code by itself when its next line came.

A page that such a line opened is closed again, and each job goes back to its state before that line. A job that has
written undoes its steps first, as after `u`; an order that the line opened is left as after `b`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from aisle.jobs import COUNTS_SCANS
from aisle.scan.grammar_and_meaning_types import Back, Command
from aisle.session.apply_input import InputHandler
from aisle.session.job_stack import StackedJob
from aisle.session.page import Page, PageSnapshot
from aisle.session.store_connection import StoreConnection

_LONG_HISTORY = 50
"""Steps from which a job may drop the oldest one."""


class AppliedLine(NamedTuple):
    """What a line did."""

    before: PageSnapshot
    has_written: bool
    job_id: str
    """Job on the page after it."""
    history: Any
    """Steps of that job after it."""
    step_count: int
    """Number of them that the line added."""


class ScanUndo:
    """Record of what lines do, with which it is taken back."""

    def __init__(self, page: Page, store: StoreConnection, inputs: InputHandler) -> None:
        self._page = page
        self._store = store
        self._inputs = inputs
        self._before = page.snapshot()
        self._written_before = 0

    def begin_line(self) -> None:
        """Remember what is before a line."""
        self._before, self._written_before = self._page.snapshot(), self._store.unit_of_work.written

    def end_line(self) -> AppliedLine:
        """Return what the line did."""
        top, has_written = self._page.top, self._store.unit_of_work.written != self._written_before
        earlier = next((each for each in self._before.jobs if each.job_id == top.job_id), None)
        before, after = _history(earlier) if earlier else (), _history(top)
        count = _count_new_steps(before, after) if has_written and top.job.name in COUNTS_SCANS else 0
        return AppliedLine(self._before, has_written, top.job_id, after, count)

    def take_back(self, lines: Sequence[AppliedLine]) -> bool:
        """Take back what lines did, the last one first; return False if other inputs came since."""
        if not lines or not self._can_go_back(lines):
            return False
        undone: set[str] = set()
        for line in reversed(lines):
            if line.has_written:
                self._undo_steps(line)
            if line.has_written and not self._is_as_before(line.before):
                undone.add(line.job_id)
            self._go_back(line.before, undone)
        return True

    def _can_go_back(self, lines: Sequence[AppliedLine]) -> bool:
        """Return whether the person is the same, and the job that wrote has done nothing since."""
        first, last, now = lines[0].before.jobs[0], lines[-1], self._page.top
        is_last_step = now.job_id == last.job_id and _history(now) == last.history
        return self._page.stack.jobs[0].job is first.job and (is_last_step or not last.has_written)

    def _undo_steps(self, line: AppliedLine) -> None:
        """Undo what the job on the page has written; leave it if the line opened it."""
        for _ in range(line.step_count):
            self._inputs.take_back(Command("u"))
        if all(line.job_id != each.job_id for each in line.before.jobs):
            self._inputs.take_back(Back())

    def _is_as_before(self, before: PageSnapshot) -> bool:
        """Return whether the job on the page has as many steps as before, so that it may go back to that state."""
        top, count = self._page.top, len(_history(self._page.top))
        return any(each.job_id == top.job_id and len(_history(each)) == count for each in before.jobs)

    def _go_back(self, before: PageSnapshot, undone: set[str]) -> None:
        """Put the page back as it was, but for the jobs that have undone their own steps."""
        now = {each.job_id: each for each in self._page.stack.jobs}
        jobs = [now.get(each.job_id, each) if each.job_id in undone else each for each in before.jobs]
        self._store.unit_of_work.go_back(jobs)
        self._page.question = before.question


def _history(stacked_job: StackedJob) -> Any:
    """Return the steps of a job that counts goods; none for another one."""
    return getattr(stacked_job.state, "history", ())


def _count_new_steps(before: Sequence[Any], after: Sequence[Any]) -> int:
    """Return how many steps a line added: one, or two if it booked the goods in hand before it took others."""
    if before == after or len(before) >= _LONG_HISTORY:  # the oldest step may be gone
        return int(before != after)
    kept = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
    return min(2, len(after) - kept)
