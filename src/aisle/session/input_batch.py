"""Batch of inputs: its progress, and refusals in it that the verdict on the last line must not hide."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from aisle.jobs.name_goods_and_locations import plain_amount
from aisle.jobs.view import ASK, WRONG, Msg, Verdict, msg
from aisle.scan.grammar_and_meaning_types import Ambiguous, Meaning, Scan, Text, UnknownCode
from aisle.session.job_stack import StackedJob
from aisle.session.pending_question import NO_QUESTION, PendingQuestion
from aisle.session.refused_scan import LastRefusedScan
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
