"""Question of a page that a detour or a question about a number covers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aisle.jobs import DETOURS
from aisle.jobs.view import ASK, Verdict
from aisle.session.job_stack import StackedJob, page_identity
from aisle.session.page import Page
from aisle.session.pending_question import PendingQuestion
from aisle.session.shown_verdict_and_bells import Verdicts, without_report


class CoveredQuestion:
    """Question of the page that is under a detour, and that of the page under a question about a number."""

    def __init__(self, page: Page, verdicts: Verdicts) -> None:
        self._page = page
        self._verdicts = verdicts
        self._page_under_detour: tuple[Any, ...] = ()
        """Identity of the page that asks it; empty without a question."""
        self._question_under_detour: Verdict | None = None
        self._question_under_number: tuple[tuple[Any, ...], PendingQuestion, Verdict] | None = None
        """The last question of a page, with what identifies it."""

    def note(self) -> None:
        """Note the question on the screen before an input, unless it is one about a number."""
        verdict = self._verdicts.current
        if verdict and verdict.kind == ASK and not self._page.asked_number.text:
            self._question_under_number = *self._page_and_question(), without_report(verdict)
        elif self._question_under_number and self._question_under_number[:2] != self._page_and_question():
            self._question_under_number = None

    def question_of_page(self) -> Verdict | None:
        """Return the question of the page that a question about a number covers; None if the page asks nothing."""
        is_asked = self._question_under_number and self._question_under_number[:2] == self._page_and_question()
        return self._question_under_number[2] if self._question_under_number and is_asked else None

    def _page_and_question(self) -> tuple[tuple[Any, ...], PendingQuestion]:
        return self._page.identity, self._page.question._replace(passed=0, has_refused_scan=False)

    def after_input(self, jobs_before: Sequence[StackedJob], verdict_before: Verdict | None) -> None:
        """Note the question that an input has covered, or show it again on its page if the input has no answer."""
        is_covered = len(self._page.stack.jobs) > len(jobs_before) and self._page.top.job.name in DETOURS
        is_of_job = bool(jobs_before) and jobs_before[-1].job.journalled
        if is_covered and is_of_job and verdict_before and verdict_before.kind == ASK:
            self._page_under_detour, self._question_under_detour = page_identity(jobs_before), verdict_before
        elif self._question_under_detour and len(self._page.stack.jobs) <= self._page_under_detour[0]:
            if self._verdicts.current is None and self._page.identity == self._page_under_detour:
                self._verdicts.current = self._question_under_detour
            self._question_under_detour = None
