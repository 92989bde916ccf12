"""Refusals of a batch of inputs: those that the last verdict must not hide, and the scan whose number is asked."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from aisle.jobs.view import ASK, WRONG, Msg, Verdict, msg
from aisle.scan.grammar_and_meaning_types import (
    PRODUCT,
    Ambiguous,
    Meaning,
    Quantity,
    RefusedInput,
    Scan,
    Text,
    UnknownCode,
)
from aisle.session.ask_if_number_is_quantity import AskedNumber
from aisle.session.job_stack import StackedJob, page_identity, page_key
from aisle.session.pending_question import NO_QUESTION, PendingQuestion
from aisle.session.shown_verdict_and_bells import NOT_APPLIED, without_reports


class RefusedInputs(NamedTuple):
    """Lines of a batch that were refused, which the verdict on the last line would hide."""

    lines: int = 0
    reason: Msg | None = None
    is_last: bool = False
    """Whether the last line was refused, so that its verdict is on the screen."""
    question: Msg | None = None
    """Question of a scan that still waits for one of `choices`."""
    choices: int = 0
    is_scan_refused: bool = False
    """Whether the last scan was refused: a number after it was meant for it."""

    def add(self, meaning: Meaning, verdict: Verdict | None, choices: int) -> RefusedInputs:
        """Add a line with its verdict and the number of choices after it. A question replaced by that of another scan
        counts as a refusal."""
        kind = verdict.kind if verdict else ""
        is_scan = isinstance(meaning, Scan | UnknownCode | Text)
        refused, question = self._replace(is_last=False), None
        if is_scan or isinstance(meaning, Ambiguous):
            refused = refused._replace(is_scan_refused=kind == WRONG)
        is_replaced = kind == ASK or choices != self.choices
        is_kept = verdict is not None and self.question is not None and _keeps_answer(self.question, verdict.text)
        if self.question and is_scan and is_replaced and not is_kept:
            refused = _add_refusal(refused, self.question)
        if verdict and kind == WRONG:
            refused = _add_refusal(refused, verdict.text)._replace(is_last=True)
            question = self.question if choices == self.choices else None
        elif verdict and kind == ASK and choices and is_scan:
            question = without_reports(verdict.text)
        return refused._replace(question=question, choices=choices)

    def final_verdict(self, verdict: Verdict | None) -> Verdict | None:
        """Return the verdict at the end of the batch, with the refusals that it would hide."""
        if not self.reason or self.lines == int(self.is_last):
            return verdict
        if verdict is None or verdict == Verdict(WRONG, self.reason):  # one message is enough
            return Verdict(WRONG, msg("session.input_not_applied", count=self.lines, why=self.reason))
        if verdict.kind == ASK and not self.is_last:  # what is asked now comes first
            return verdict._replace(
                text=msg("session.not_applied", count=self.lines, why=self.reason, said=verdict.text)
            )
        text = msg("session.not_applied_first", count=self.lines, why=self.reason, said=verdict.text)
        if self.is_last and self.choices:
            text = msg("session.not_applied_first", count=self.lines, why=verdict.text, said=self.reason)
        return Verdict(ASK if verdict.kind == ASK else WRONG, text)


def is_named_not_taken(text: Msg, number: str) -> bool:
    """Return whether a message says of this number that it is not taken."""
    why = dict(text.args)["why"] if text.id in NOT_APPLIED else None
    return isinstance(why, Msg) and number in (str(value) for _, value in why.args)


_KEEPS_LOCATION = ("pick.which_location", "pick.weigh_which_location")
"""Questions that offer a location which was scanned before."""


def _keeps_answer(question: Msg, next_question: Msg) -> bool:
    """Return whether a question takes up what the question before it was about."""
    is_location_kept = question.id == "pick.wrong_location" and without_reports(next_question).id in _KEEPS_LOCATION
    return is_location_kept or _counts_on(question, next_question)


def _counts_on(question: Msg, next_question: Msg) -> bool:
    """Return whether a question is the same for more: the next scan was added to the one in question."""
    next_question = without_reports(next_question)
    before, after = dict(question.args), dict(next_question.args)
    if question.id != next_question.id or before.keys() != after.keys():
        return False
    changed = [(before[name], after[name]) for name in before if before[name] != after[name]]
    numbers = [(old, new) for old, new in changed if isinstance(old, int | Decimal) and isinstance(new, int | Decimal)]
    return bool(changed) and len(numbers) == len(changed) and any(new > old for old, new in numbers)


def _add_refusal(refused: RefusedInputs, reason: Msg) -> RefusedInputs:
    return refused._replace(lines=refused.lines + 1, reason=refused.reason or reason)


REACTION_S = 1.0
"""Seconds after a change by others in which a choice may be meant for the page before it."""


class InputBatch:
    """Progress of the batch of inputs that is handled now. The session has one object, restarted for each batch."""

    def __init__(self) -> None:
        self.serial = 0
        """Number of lines handled since the session started."""
        self.page_before: tuple[Any, ...] = ()
        """Identity of the page that was on the screen before the batch."""
        self.question_before: PendingQuestion = NO_QUESTION
        self.changed_page: tuple[Any, ...] = ()
        """Identity of the page before a change by others, while a person may still answer what it showed."""
        self._changed_at = 0.0
        """Moment of that change, in seconds since 1970."""
        self.uncommitted = 0
        """Lines since the last commit."""
        self.refused = RefusedInputs()
        self.has_failed = False
        """Whether a commit failed: the rest of the batch must not happen."""
        self._rejected_scan = NO_REJECTED_SCAN
        self._unknown_number = ""
        """Number that was said to be unknown after a refused scan."""

    def restart(self, page_before: tuple[Any, ...], question: PendingQuestion, at: float) -> None:
        """Begin the next batch, at this moment."""
        if abs(at - self._changed_at) >= REACTION_S:
            self.changed_page = ()
        self.page_before, self.question_before = page_before, question
        self.uncommitted, self.refused, self.has_failed = 0, RefusedInputs(), False

    def note_changed_page(self, page_before: tuple[Any, ...], at: float) -> None:
        """Note the page that was on the screen before a change by others."""
        self.changed_page, self._changed_at = page_before, at

    def record(
        self, meaning: Meaning, verdict: Verdict | None, choices: int, stacked_jobs: Sequence[StackedJob]
    ) -> None:
        """Record the verdict on a line, with the number of choices and the page after it."""
        self._rejected_scan = keep_rejected_scan(self._rejected_scan, meaning, verdict, stacked_jobs)
        self.refused = self.refused.add(meaning, verdict, choices)

    def _is_after_rejected_scan(self, stacked_jobs: Sequence[StackedJob]) -> bool:
        """Return whether a scan was refused while the quantity of this product was open on this page."""
        product, _ = stacked_jobs[-1].job.quantity_product(stacked_jobs[-1].state)
        rejected = self._rejected_scan
        return bool(rejected.product) and rejected == RejectedScan(page_key(stacked_jobs), product)

    def is_first_unknown_number(self, text: str, stacked_jobs: Sequence[StackedJob]) -> bool:
        """Return whether a number at the pace of a scanner follows a refused scan, and not itself."""
        is_first = self._is_after_rejected_scan(stacked_jobs) and text != self._unknown_number
        self._unknown_number = text if is_first else ""
        return is_first

    def ask_for_rejected_scan(
        self, text: str, quantity: Quantity | None, stacked_jobs: Sequence[StackedJob]
    ) -> AskedNumber | None:
        """Return the number to ask about if it may be meant for a refused scan, once; None if only the page fits."""
        if not self._is_after_rejected_scan(stacked_jobs):
            return None
        self._rejected_scan = NO_REJECTED_SCAN
        return AskedNumber(text, quantity, page_identity(stacked_jobs), _quantity_label(stacked_jobs))

    def take_rejected_scan(self, stacked_jobs: Sequence[StackedJob]) -> bool:
        """Return whether a scan was refused before this input on this page, and forget it."""
        is_after = self._is_after_rejected_scan(stacked_jobs)
        self._rejected_scan = NO_REJECTED_SCAN
        return is_after

    def forget_rejected_scan(self) -> None:
        """Ask about no number because of a refused scan: another scan came since."""
        self._rejected_scan = NO_REJECTED_SCAN

    def is_scan_rejected_on(self, stacked_jobs: Sequence[StackedJob]) -> bool:
        """Return whether a number on this page would be asked about because of a refused scan."""
        return bool(self._rejected_scan.product) and self._rejected_scan.page == page_key(stacked_jobs)

    def restore(self, stacked_jobs: Sequence[StackedJob]) -> None:
        """Restore that a scan was refused on this page."""
        product, _ = stacked_jobs[-1].job.quantity_product(stacked_jobs[-1].state)
        self._rejected_scan = RejectedScan(page_key(stacked_jobs), product)


MIN_CODE = 5
"""Length of the shortest text that is taken for a scanned code."""


def _quantity_label(stacked_jobs: Sequence[StackedJob]) -> str:
    """Return the name of the goods whose quantity is open on the page."""
    return stacked_jobs[-1].job.quantity_product(stacked_jobs[-1].state)[1]


class RejectedScan(NamedTuple):
    """Page and product whose quantity was open when a scan was refused."""

    page: tuple[int, str, str] = (0, "", "")
    product: str = ""


NO_REJECTED_SCAN = RejectedScan()


def keep_rejected_scan(
    before: RejectedScan, meaning: Meaning, verdict: Verdict | None, stacked_jobs: Sequence[StackedJob]
) -> RejectedScan:
    """Return what is kept of a refused scan after an input and its verdict."""
    if verdict is not None and verdict.kind == WRONG and verdict.text.id in NOT_APPLIED:
        product, _ = stacked_jobs[-1].job.quantity_product(stacked_jobs[-1].state)
        return (
            RejectedScan(page_key(stacked_jobs), product) if product else NO_REJECTED_SCAN
        )  # it was meant for the scan that nobody answered
    if isinstance(meaning, Quantity) or (isinstance(meaning, RefusedInput) and len(meaning.text) < MIN_CODE):
        return (
            NO_REJECTED_SCAN
            if isinstance(meaning, RefusedInput) and meaning.reason == "input.after_refused_scan"
            else before
        )  # that asks it back
    if isinstance(meaning, Text) and not _is_code(meaning.text):
        return NO_REJECTED_SCAN
    if not _is_refused(meaning, verdict):
        return NO_REJECTED_SCAN
    product, _ = stacked_jobs[-1].job.quantity_product(stacked_jobs[-1].state)
    scans = (meaning,) if isinstance(meaning, Scan) else meaning.scans if isinstance(meaning, Ambiguous) else ()
    products = [match.key for scan in scans for match in scan.matches if match.kind == PRODUCT]
    if not product or product in products:
        return NO_REJECTED_SCAN
    return RejectedScan(page_key(stacked_jobs), product)


def _is_refused(meaning: Meaning, verdict: Verdict | None) -> bool:
    """Return whether a scan of any form was refused. The own badge is, though its verdict is no error."""
    if not isinstance(meaning, Scan | UnknownCode | Text | RefusedInput | Ambiguous) or verdict is None:
        return False
    return verdict.kind == WRONG or verdict.text.id == "sign_in.already"


def _is_code(text: str) -> bool:
    """Return whether a text looks like a scanned code."""
    return len(text) >= MIN_CODE and " " not in text and any(map(str.isdigit, text))
