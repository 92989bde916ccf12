"""All that a session asks at once, as the journal keeps it for a session that resumes the work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from aisle.session.ask_if_number_is_quantity import NO_NUMBER, AskedNumber
from aisle.session.job_stack import StackedJob, page_identity, page_key
from aisle.session.pending_question import NO_QUESTION, PendingQuestion


class OpenQuestions(NamedTuple):
    """Question of the session or its multiplier, a number asked about over it, and whether a scan was refused."""

    question: PendingQuestion = NO_QUESTION
    number: AskedNumber = NO_NUMBER
    is_scan_rejected: bool = False
    """Whether a number would be asked about because of a refused scan."""

    def without_pages(self) -> OpenQuestions:
        """Return them for the journal: a session that resumes the work has pages of its own."""
        question = self.question._replace(page=NO_QUESTION.page)
        number = self.number._replace(page=NO_NUMBER.page) if self.number.text else NO_NUMBER
        return self._replace(question=question if question.is_pending else NO_QUESTION, number=number)

    def on_page(self, stacked_jobs: Sequence[StackedJob]) -> OpenQuestions:
        """Return them for the page on the screen."""
        question = self.question._replace(page=page_key(stacked_jobs)) if self.question.is_pending else NO_QUESTION
        number = self.number._replace(page=page_identity(stacked_jobs)) if self.number.text else NO_NUMBER
        return self._replace(question=question, number=number)


NO_OPEN_QUESTIONS = OpenQuestions()
