"""Scan that was refused: a number typed after it may be meant for it, and is asked about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from aisle.jobs.view import WRONG, Verdict
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
from aisle.session.shown_verdict_and_bells import NOT_APPLIED

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


def _keep(
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


class LastRejectedScan:
    """Scan that was refused last, as long as a number after it may be meant for it."""

    def __init__(self) -> None:
        self._scan = NO_REJECTED_SCAN
        self._unknown_number = ""
        """Number that was said to be unknown after a refused scan."""

    def record(self, meaning: Meaning, verdict: Verdict | None, stacked_jobs: Sequence[StackedJob]) -> None:
        """Record an input and its verdict."""
        self._scan = _keep(self._scan, meaning, verdict, stacked_jobs)

    def _is_after(self, stacked_jobs: Sequence[StackedJob]) -> bool:
        """Return whether a scan was refused while the quantity of this product was open on this page."""
        product, _ = stacked_jobs[-1].job.quantity_product(stacked_jobs[-1].state)
        return bool(self._scan.product) and self._scan == RejectedScan(page_key(stacked_jobs), product)

    def is_first_unknown_number(self, text: str, stacked_jobs: Sequence[StackedJob]) -> bool:
        """Return whether a number at the pace of a scanner follows a refused scan, and not itself."""
        is_first = self._is_after(stacked_jobs) and text != self._unknown_number
        self._unknown_number = text if is_first else ""
        return is_first

    def ask_for(self, text: str, quantity: Quantity | None, stacked_jobs: Sequence[StackedJob]) -> AskedNumber | None:
        """Return the number to ask about if it may be meant for a refused scan, once; None if only the page fits."""
        if not self._is_after(stacked_jobs):
            return None
        self._scan = NO_REJECTED_SCAN
        return AskedNumber(text, quantity, page_identity(stacked_jobs), _quantity_label(stacked_jobs))

    def take(self, stacked_jobs: Sequence[StackedJob]) -> bool:
        """Return whether a scan was refused before this input on this page, and forget it."""
        is_after = self._is_after(stacked_jobs)
        self._scan = NO_REJECTED_SCAN
        return is_after

    def forget(self) -> None:
        """Ask about no number because of a refused scan: another scan came since."""
        self._scan = NO_REJECTED_SCAN

    def is_on(self, stacked_jobs: Sequence[StackedJob]) -> bool:
        """Return whether a number on this page would be asked about because of a refused scan."""
        return bool(self._scan.product) and self._scan.page == page_key(stacked_jobs)

    def restore(self, stacked_jobs: Sequence[StackedJob]) -> None:
        """Restore that a scan was refused on this page."""
        product, _ = stacked_jobs[-1].job.quantity_product(stacked_jobs[-1].state)
        self._scan = RejectedScan(page_key(stacked_jobs), product)
