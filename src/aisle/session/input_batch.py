"""What of one drained queue was not taken, and would be covered by the answer to what came after it: a screen has room
for one verdict, and whoever scans several things in a row sees only the last.

A part of aisle.session.session.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from aisle.jobs.view import ASK, WRONG, Msg, Verdict, msg
from aisle.scan.meaning import PRODUCT, Ambiguous, Meaning, Quantity, RefusedInput, Scan, Text, UnknownCode
from aisle.session.job_stack import StackedJob
from aisle.session.pending_question import NO_QUESTION, PendingQuestion, page_key


class RefusedInputs(NamedTuple):
    """How many lines of a queue were refused, and why the first of them was."""

    lines: int = 0
    reason: Msg | None = None
    is_last: bool = False
    """Whether the last line was one of them: its own words are on the screen."""
    question: Msg | None = None
    """What a scan was answered with that still waits for a number, with so many choices."""
    choices: int = 0
    is_scan_refused: bool = False
    """Whether the last scan was refused: a number after it was meant for that."""

    def add(self, meaning: Meaning, verdict: Verdict | None, choices: int) -> RefusedInputs:
        """One more line, what it was answered with, and how many choices there are now. A question that another scan
        has taken the place of leaves its own scan untaken."""
        kind = verdict.kind if verdict else ""
        is_scan = isinstance(meaning, Scan | UnknownCode | Text)
        known, question = self._replace(is_last=False), None
        if is_scan or isinstance(meaning, Ambiguous):
            known = known._replace(is_scan_refused=kind == WRONG)
        if self.question and is_scan and (kind == ASK or choices != self.choices):
            known = known._with_refusal(self.question)
        if verdict and kind == WRONG:
            known = known._with_refusal(verdict.text)._replace(is_last=True)
            question = self.question if choices == self.choices else None
        elif verdict and kind == ASK and choices and is_scan:
            question = verdict.text
        return known._replace(question=question, choices=choices)

    def final_verdict(self, verdict: Verdict | None) -> Verdict | None:
        """What the screen says at the end of the queue: the last refusal first where choices are open, for they are its
        own."""
        if not self.reason or self.lines == int(self.is_last):
            return verdict
        if verdict is None or verdict == Verdict(WRONG, self.reason):  # the same is not said twice
            return Verdict(WRONG, msg("session.not_taken", count=self.lines, why=self.reason))
        if verdict.kind == ASK and not self.is_last:  # what is asked now comes first
            return verdict._replace(text=msg("session.taken_not", count=self.lines, why=self.reason, said=verdict.text))
        told = msg("session.not_all", count=self.lines, why=self.reason, said=verdict.text)
        if self.is_last and self.choices:
            told = msg("session.not_all", count=self.lines, why=verdict.text, said=self.reason)
        return Verdict(ASK if verdict.kind == ASK else WRONG, told)

    def _with_refusal(self, reason: Msg) -> RefusedInputs:
        return self._replace(lines=self.lines + 1, reason=self.reason or reason)


MIN_CODE = 5
"""Characters of a code that is refused as such; fewer were typed."""


class RejectedScan(NamedTuple):
    """A scan that was not taken, and the goods whose quantity was open then."""

    page: tuple[int, str, str] = (0, "", "")
    product: str = ""


NO_REJECTED_SCAN = RejectedScan()


def remember_rejected_scan(
    before: RejectedScan, meaning: Meaning, verdict: Verdict | None, stacked_jobs: Sequence[StackedJob]
) -> RejectedScan:
    """What is kept in mind after an input, which was answered with this."""
    if verdict is not None and (verdict.kind, verdict.text.id) == (WRONG, "session.taken_not"):
        product, _ = stacked_jobs[-1].job.quantity_product(stacked_jobs[-1].state)
        return (
            RejectedScan(page_key(stacked_jobs), product) if product else NO_REJECTED_SCAN
        )  # it was for the scan that nobody answered
    if isinstance(meaning, Quantity) or (isinstance(meaning, RefusedInput) and len(meaning.text) < MIN_CODE):
        return (
            NO_REJECTED_SCAN if isinstance(meaning, RefusedInput) and meaning.reason == "input.after" else before
        )  # that asks it back
    if isinstance(meaning, Text) and not _is_code(meaning.text):
        return NO_REJECTED_SCAN
    if (
        not isinstance(meaning, Scan | UnknownCode | Text | RefusedInput | Ambiguous)
        or verdict is None
        or verdict.kind != WRONG
    ):
        return NO_REJECTED_SCAN
    if isinstance(meaning, UnknownCode | Text | RefusedInput) and stacked_jobs[-1].job.name == "pick":
        return (
            NO_REJECTED_SCAN  # what is to be taken stands on the page: a label that cannot be read is told by a number
        )
    product, _ = stacked_jobs[-1].job.quantity_product(stacked_jobs[-1].state)
    things = (meaning,) if isinstance(meaning, Scan) else meaning.scans if isinstance(meaning, Ambiguous) else ()
    goods = [each.key for thing in things for each in thing.matches if each.kind == PRODUCT]
    if isinstance(meaning, Scan) and not goods:
        return before if before == RejectedScan(page_key(stacked_jobs), product) else NO_REJECTED_SCAN
    if not product or product in goods:
        return NO_REJECTED_SCAN
    return RejectedScan(page_key(stacked_jobs), product)


def _is_code(text: str) -> bool:
    """Whether words look like something that was scanned."""
    return len(text) >= MIN_CODE and " " not in text and any(map(str.isdigit, text))


def ask_if_for_rejected_scan(rejected: RejectedScan, text: str, stacked_jobs: Sequence[StackedJob]) -> Verdict | None:
    """What is asked of a number that was typed; None where it is for nothing else than what is on the page."""
    product, label = stacked_jobs[-1].job.quantity_product(stacked_jobs[-1].state)
    if not rejected.product or rejected != RejectedScan(page_key(stacked_jobs), product):
        return None
    return Verdict(ASK, msg("input.astray", text=text, label=label))


class InputBatch(NamedTuple):
    """How far one drained queue has come."""

    at: float = 0.0
    """The moment of all that is in it, in seconds since 1970."""
    page_before: tuple[Any, ...] = ()
    """The page that was on the screen before it."""
    question_before: PendingQuestion = NO_QUESTION
    """What the session itself asked, or kept in mind, before it."""
    uncommitted: int = 0
    """Its lines since the last commit."""
    refused: RefusedInputs = RefusedInputs()
    """What of it was not taken."""
    failed: bool = False
    """Whether a part of it could not be kept: the rest of it must not happen."""
