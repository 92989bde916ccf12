"""Question of a job that a look-up covers: it is shown again when the page of the job is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aisle.jobs import DETOURS
from aisle.jobs.view import ASK, Verdict
from aisle.session.job_stack import StackedJob, page_identity
from aisle.session.page_with_question import Page
from aisle.session.shown_verdict import Verdicts


class CoveredQuestion:
    """Question that was on the screen when a detour was opened over its page."""

    def __init__(self, page: Page, verdicts: Verdicts) -> None:
        self._page = page
        self._verdicts = verdicts
        self._page_covered: tuple[Any, ...] = ()
        """Identity of the page that asks it; empty without a question."""
        self._question: Verdict | None = None

    def after_input(self, jobs_before: Sequence[StackedJob], verdict_before: Verdict | None) -> None:
        """Note the question that an input has covered, or show it again on its page if the input has no answer."""
        is_covered = len(self._page.stack.jobs) > len(jobs_before) and self._page.top.job.name in DETOURS
        is_of_job = bool(jobs_before) and jobs_before[-1].job.journalled
        if is_covered and is_of_job and verdict_before and verdict_before.kind == ASK:
            self._page_covered, self._question = page_identity(jobs_before), verdict_before
        elif self._question and len(self._page.stack.jobs) <= self._page_covered[0]:
            if self._verdicts.current is None and self._page.identity == self._page_covered:
                self._verdicts.current = self._question
            self._question = None
