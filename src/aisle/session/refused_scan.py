"""Scan that was refused: a number typed after it may be meant for it, and is asked about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from aisle.jobs import COUNTS_SCANS
from aisle.jobs.view import WRONG, Verdict, numbered_choice
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
from aisle.scan.inputs import MIN_SCAN
from aisle.session.ask_if_number_is_quantity import QUESTIONS_AFTER_REFUSED_SCAN, AskedNumber
from aisle.session.job_stack import StackedJob, page_identity, page_key
from aisle.session.shown_verdict_and_bells import NOT_APPLIED


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
