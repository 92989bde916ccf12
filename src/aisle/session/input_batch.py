"""Batch of inputs: its progress, refusals in it that must not be hidden, and a scan that was refused."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from aisle.jobs import COUNTS_SCANS
from aisle.jobs.names_in_messages import plain_amount
from aisle.jobs.view import ASK, WRONG, Msg, Verdict, msg, numbered_choice
from aisle.scan.grammar_and_meaning_types import (
    PRODUCT,
    Ambiguous,
    Choice,
    Meaning,
    Quantity,
    RefusedInput,
    Scan,
    Text,
    UnknownCode,
    scans_of,
)
from aisle.scan.inputs_and_line_grouping import MIN_SCAN
from aisle.session.job_stack import StackedJob, page_identity, page_key
from aisle.session.pending_question import NO_QUESTION, QUESTIONS_AFTER_REFUSED_SCAN, AskedNumber, PendingQuestion
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
            return verdict.wrap("session.not_applied", count=self.lines, why=self.reason)
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
    amounts = [(plain_amount(old), plain_amount(new)) for old, new in changed]
    numbers = [(old, new) for old, new in amounts if isinstance(old, int | Decimal) and isinstance(new, int | Decimal)]
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
        self.handled = 0
        """Inputs of the batch that were begun."""
        self.uncommitted = 0
        """Lines since the last commit."""
        self.refused = RefusedInputs()
        self.failure: Msg | None = None
        """Why a commit failed: the rest of the batch must not happen."""
        self.refused_scan = LastRefusedScan()

    def restart(self, page_before: tuple[Any, ...], question: PendingQuestion, at: float) -> None:
        """Begin the next batch, at this moment."""
        if abs(at - self._changed_at) >= REACTION_S:
            self.changed_page = ()
        self.page_before, self.question_before = page_before, question
        self.handled, self.uncommitted, self.refused, self.failure = 0, 0, RefusedInputs(), None

    def note_changed_page(self, page_before: tuple[Any, ...], at: float) -> None:
        """Note the page that was on the screen before a change by others."""
        self.changed_page, self._changed_at = page_before, at

    def record(
        self, meaning: Meaning, verdict: Verdict | None, choices: int, stacked_jobs: Sequence[StackedJob]
    ) -> None:
        """Record the verdict on a line, with the number of choices and the page after it."""
        self.refused_scan.record(meaning, verdict, stacked_jobs, self.page_before)
        self.refused = self.refused.add(meaning, verdict, choices)


def _quantity_label(stacked_jobs: Sequence[StackedJob]) -> str:
    """Return the name of the goods whose quantity is open on the page."""
    return stacked_jobs[-1].job.quantity_product(stacked_jobs[-1].state)[1]


class RefusedScan(NamedTuple):
    """Page whose quantity or numbered question was open when a scan was refused."""

    page: tuple[Any, ...] = ()
    product: str = ""
    """Product whose quantity was open; empty for a numbered question."""
    asked: str = ""
    """Number that was asked about last since: only the same one confirms."""


NO_REFUSED_SCAN = RefusedScan()


def _open_on(stacked_jobs: Sequence[StackedJob]) -> RefusedScan:
    """Return what a number would be for on the page on the screen: a quantity, a choice or nothing."""
    top = stacked_jobs[-1]
    if product := top.job.quantity_product(top.state)[0]:
        return RefusedScan(page_key(stacked_jobs), product)
    accepts = top.job.accepts(top.state)
    is_numbered = top.job.name in COUNTS_SCANS and accepts.choices and not accepts.choice_letters
    return RefusedScan(page_identity(stacked_jobs)) if is_numbered else NO_REFUSED_SCAN


def _keep(
    before: RefusedScan,
    meaning: Meaning,
    verdict: Verdict | None,
    stacked_jobs: Sequence[StackedJob],
    page_before: tuple[Any, ...],
) -> RefusedScan:
    """Return what is kept of a refused scan after an input and its verdict.

    A scan that opens choices is answered by their numbers: only those that were there before it are asked about.
    """
    if verdict is not None and verdict.kind == WRONG and verdict.text.id in NOT_APPLIED:
        return _open_on(stacked_jobs)  # it was meant for the scan that nobody answered
    if isinstance(meaning, RefusedInput) and meaning.reason == "input.after_refused_scan":
        return _open_on(stacked_jobs)._replace(asked=meaning.text.strip(" "))  # that asks it back
    if isinstance(meaning, Quantity) or (isinstance(meaning, RefusedInput) and len(meaning.text) < MIN_SCAN):
        return before
    if isinstance(meaning, Choice) and verdict is not None and verdict.text.id in QUESTIONS_AFTER_REFUSED_SCAN:
        return before
    if isinstance(meaning, Text) and not _is_code(meaning.text):
        return NO_REFUSED_SCAN
    if not _is_refused(meaning, verdict):
        return NO_REFUSED_SCAN
    opened = _open_on(stacked_jobs)
    products = [match.key for scan in scans_of(meaning) for match in scan.matches if match.kind == PRODUCT]
    is_opened_by_it = not opened.product and opened.page != page_before
    return NO_REFUSED_SCAN if opened.product in products or is_opened_by_it else opened


def _is_refused(meaning: Meaning, verdict: Verdict | None) -> bool:
    """Return whether a scan of any form was refused. The own badge is, though its verdict is no error."""
    if not isinstance(meaning, Scan | UnknownCode | Text | RefusedInput | Ambiguous) or verdict is None:
        return False
    return verdict.kind == WRONG or verdict.text.id == "sign_in.already"


def _is_code(text: str) -> bool:
    """Return whether a text looks like a scanned code."""
    return len(text) >= MIN_SCAN and " " not in text and any(map(str.isdigit, text))


class LastRefusedScan:
    """Scan that was refused last, as long as a number after it may be meant for it."""

    def __init__(self) -> None:
        self._scan = NO_REFUSED_SCAN
        self._unknown_number = ""
        """Number that was said to be unknown after a refused scan."""

    def record(
        self,
        meaning: Meaning,
        verdict: Verdict | None,
        stacked_jobs: Sequence[StackedJob],
        page_before: tuple[Any, ...],
    ) -> None:
        """Record an input and its verdict. `page_before`: identity of the page before its batch."""
        self._scan = _keep(self._scan, meaning, verdict, stacked_jobs, page_before)

    def _is_after(self, stacked_jobs: Sequence[StackedJob]) -> bool:
        """Return whether a scan was refused while the same quantity or numbered question was open."""
        return self._scan != NO_REFUSED_SCAN and self._scan._replace(asked="") == _open_on(stacked_jobs)

    def is_first_unknown_number(self, text: str, stacked_jobs: Sequence[StackedJob]) -> bool:
        """Return whether a number at the pace of a scanner follows a refused scan, and not itself."""
        is_first = self._is_after(stacked_jobs) and text != self._unknown_number
        self._unknown_number = text if is_first else ""
        return is_first

    def ask_for(self, text: str, quantity: Quantity | None, stacked_jobs: Sequence[StackedJob]) -> AskedNumber | None:
        """Return the number to ask about if it may be meant for a refused scan; None if it is the same once more."""
        if not self._is_unconfirmed(text, stacked_jobs):
            return None
        return AskedNumber(text, quantity, page_identity(stacked_jobs), _quantity_label(stacked_jobs))

    def ask_for_choice(self, text: str, stacked_jobs: Sequence[StackedJob]) -> AskedNumber | None:
        """Return the number of a choice to ask about if it may be meant for a refused scan, as for a quantity."""
        top = stacked_jobs[-1]
        choice = numbered_choice(top.job.view(top.state), int(text)) if text.isdecimal() else None
        if choice is None or not self._is_unconfirmed(text, stacked_jobs):
            return None
        return AskedNumber(text, page=page_identity(stacked_jobs), choice=choice)

    def _is_unconfirmed(self, text: str, stacked_jobs: Sequence[StackedJob]) -> bool:
        """Return whether a number follows a refused scan, and note it; the same number once more is confirmed."""
        if not self._is_after(stacked_jobs):
            return False
        is_confirmed = text == self._scan.asked
        self._scan = NO_REFUSED_SCAN if is_confirmed else self._scan._replace(asked=text)
        return not is_confirmed

    def take(self, stacked_jobs: Sequence[StackedJob]) -> bool:
        """Return whether a scan was refused before this input on this page, and forget it."""
        is_after = self._is_after(stacked_jobs)
        self._scan = NO_REFUSED_SCAN
        return is_after

    def forget(self) -> None:
        """Ask about no number because of a refused scan: another scan came since."""
        self._scan = NO_REFUSED_SCAN

    def is_on(self, stacked_jobs: Sequence[StackedJob]) -> bool:
        """Return whether a number on this page would be asked about because of a refused scan."""
        return self._scan.page in (page_key(stacked_jobs), page_identity(stacked_jobs))

    def restore(self, stacked_jobs: Sequence[StackedJob], asked: str) -> None:
        """Restore that a scan was refused on this page, and the number that was asked about since."""
        self._scan = _open_on(stacked_jobs)._replace(asked=asked.strip(" "))
