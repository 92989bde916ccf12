"""Number that is asked about, and the rejected scan that a number may be meant for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from aisle.jobs.view import ASK, WRONG, Verdict, msg
from aisle.scan.meaning import PRODUCT, Ambiguous, Meaning, Quantity, RefusedInput, Scan, Text, UnknownCode
from aisle.session.job_stack_and_event_run import StackedJob, page_key

MIN_CODE = 5
"""Length of the shortest text that is taken for a scanned code."""


CONFIRM_FAST_NUMBER = "input.confirm_fast_number"
"""Message id of the question whether a number at the pace of a scanner is a quantity."""


class AskedNumber(NamedTuple):
    """Number that is asked about: one at the pace of a scanner waits for `y` on its page, others to be typed again."""

    text: str = ""
    quantity: Quantity | None = None
    page: tuple[Any, ...] = ()

    @property
    def question(self) -> Verdict:
        """Return the question whether a number at the pace of a scanner is a quantity."""
        return Verdict(ASK, msg(CONFIRM_FAST_NUMBER, text=self.text.strip(" ")))


NO_NUMBER = AskedNumber()


class RejectedScan(NamedTuple):
    """Page and product whose quantity was open when a scan was refused."""

    page: tuple[int, str, str] = (0, "", "")
    product: str = ""


NO_REJECTED_SCAN = RejectedScan()


def keep_rejected_scan(
    before: RejectedScan, meaning: Meaning, verdict: Verdict | None, stacked_jobs: Sequence[StackedJob]
) -> RejectedScan:
    """Return what is kept of a refused scan after an input and its verdict."""
    if verdict is not None and (verdict.kind, verdict.text.id) == (WRONG, "session.not_applied"):
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
