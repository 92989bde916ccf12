"""Page that inputs are meant for: the job on top of the stack, and the session's own questions over it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from aisle.jobs import COUNTS_SCANS
from aisle.jobs.view import View
from aisle.scan.grammar_and_meaning_types import COMMAND, PERSON, PRODUCT, Accepts, Ambiguous, Scan, scans_of
from aisle.session.ask_if_number_is_quantity import NO_NUMBER, AskedNumber
from aisle.session.job_stack import JobStack, StackedJob, is_secret_text, page_identity, page_key
from aisle.session.pending_question import NO_QUESTION, PendingQuestion
from aisle.session.renamed_keys import rename_keys


class PageSnapshot(NamedTuple):
    """Jobs with their states, and the question over them."""

    jobs: tuple[StackedJob, ...]
    question: PendingQuestion


class Page:
    """Open jobs and the pending question, as one page that inputs are meant for."""

    def __init__(self, stack: JobStack) -> None:
        self.stack = stack
        self.question = NO_QUESTION
        self.asked_number = NO_NUMBER
        """Number that the last line made a question of."""
        self._cached_accepts: tuple[StackedJob, Accepts] | None = None
        self._cached_view: tuple[StackedJob, Mapping[str, str], View] | None = None

    @property
    def top(self) -> StackedJob:
        """Return the job on the screen."""
        return self.stack.jobs[-1]

    @property
    def topics(self) -> frozenset[str]:
        """Return the topics of what the page shows."""
        return self.top.topics

    @property
    def main_list(self) -> str:
        """Return the list of the service that the page lists; empty for other data."""
        return self.top.job.main_list(self.top.state)

    @property
    def key(self) -> tuple[int, str, str]:
        """Return a key of the job on the screen that differs from those of all jobs before and after it."""
        return page_key(self.stack.jobs)

    @property
    def identity(self) -> tuple[Any, ...]:
        """Return what of the page decides on the meaning of a typed text."""
        return page_identity(self.stack.jobs)

    def accepts(self) -> Accepts:
        """Return what an input may be here. A job is asked once for each of its states."""
        top = self.top
        if self._cached_accepts is None or self._cached_accepts[0] is not top:
            self._cached_accepts = top, top.job.accepts(top.state)
        accepts = self._cached_accepts[1]
        return self.question.accepts(accepts) if self._has_question else accepts

    def preferred_kinds(self) -> tuple[str, ...]:
        """Return the kinds of things that the job prefers to scan."""
        return self.top.job.prefers(self.top.state)

    def is_secret(self, text: str) -> bool:
        """Return whether a text is a secret here."""
        return is_secret_text(self.stack.jobs, text)

    @property
    def _has_question(self) -> bool:
        return self.question is not NO_QUESTION

    def shown_text(self, typed: str) -> str:
        """Return the open line with the multiplier before it; of a secret, only its length."""
        text = self.question.with_multiplier(typed) if self._has_question else typed
        return "*" * len(text) if self.is_secret(text) else text

    def take_question(self) -> PendingQuestion:
        """Remove the pending question and return it."""
        question, self.question = self.question, NO_QUESTION
        return question

    def take_asked_number(self) -> AskedNumber:
        """Remove the number that the last line made a question of, and return it."""
        asked, self.asked_number = self.asked_number, NO_NUMBER
        return asked

    def refuses_scan(self, meaning: Scan | Ambiguous) -> bool:
        """Return whether the question about a scan must be answered before this one, in a job that counts scans.

        A location or an order would leave the goods in question. After one was refused, other goods are refused too:
        they may lie there. A look-up or a badge concerns no goods.
        """
        if not self.question.is_asked or self.top.job.name not in COUNTS_SCANS:
            return False
        matches = [match for scan in scans_of(meaning) if not scan.is_look_up for match in scan.matches]
        asked = {(match.kind, match.key) for match in self.question.matches}
        if not matches or not asked.isdisjoint((match.kind, match.key) for match in matches):
            return False
        return matches[0].kind not in (PRODUCT, PERSON, COMMAND) or self.question.has_refused_scan

    def note_refused_scan(self) -> None:
        """Note that a scan was refused because of the question about another one."""
        if self.question.is_asked:
            self.question = self.question._replace(has_refused_scan=True)

    def drop_left_question(self) -> None:
        """Drop the question if another job is on the screen now."""
        if self._has_question:
            self.question = self.question.still_on_page(self.stack.jobs)

    def view(self, names_by_letter: Mapping[str, str]) -> View:
        """Return the view of the job with the keys as they are named here, under the session's last question."""
        view = self._view_of_job(names_by_letter)
        if self.asked_number.text and self.asked_number.page == self.identity:
            return self.asked_number.show_on(view)
        if not (self._has_question and self.question.is_pending):
            return view
        return self.question.show_on(view, self.top.job.accepts(self.top.state))

    def _view_of_job(self, names_by_letter: Mapping[str, str]) -> View:
        """Return the view of the job on the screen. It is asked once for each of its states."""
        top, cached = self.top, self._cached_view
        if cached is None or cached[0] is not top or cached[1] != names_by_letter:
            view = top.job.view(top.state)
            cached = top, names_by_letter, rename_keys(view, names_by_letter) if names_by_letter else view
            self._cached_view = cached
        return cached[2]

    def snapshot(self) -> PageSnapshot:
        """Return the state to go back to with `restore`."""
        return PageSnapshot(self.stack.snapshot(), self.question)

    def restore(self, snapshot: PageSnapshot) -> None:
        """Go back to a snapshot."""
        self.stack.restore(snapshot.jobs)
        self.question = snapshot.question
