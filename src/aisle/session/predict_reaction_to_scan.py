"""Predicts what the page on the screen would do with a scan. Jobs are pure, so a scan is fed and taken back."""

from __future__ import annotations

from collections.abc import Iterable

from aisle.barcode_numbers import has_valid_check_digit
from aisle.jobs import COUNTS_SCANS
from aisle.jobs.job import SignIn
from aisle.jobs.quantity_or_record import with_distinct_names
from aisle.jobs.view import ASK, GOOD, WRONG
from aisle.scan.grammar_and_meaning_types import COMMAND, LOCATION, ORDER, PERSON, PRODUCT, REFERENCE, Match, Scan
from aisle.session import ask_measured_quantity
from aisle.session.job_context import SessionContext
from aisle.session.job_stack import JobResult, StackedJob, receiving_job
from aisle.session.page import Page

WORK = COUNTS_SCANS | {"batch", "shortage"}
"""Jobs that a guessed code never leaves without a question."""


MIN_GTIN = 12
"""Digits from which a number with a valid check digit is hardly ever one of an order."""


class PageReactions:
    """Reactions of the page on the screen to scans that are only tried."""

    def __init__(self, page: Page, context: SessionContext) -> None:
        self._page = page
        self._context = context

    def _try(self, scan: Scan) -> tuple[JobResult, StackedJob]:
        """Return what a scan would do, and the job that would be on the screen then."""
        stack = self._page.stack
        before = stack.snapshot()
        result, after = stack.feed(scan, self._context.current()), stack.top
        stack.restore(before)
        return result, after

    def is_taken(self, scan: Scan) -> bool:
        """Return whether the page has a use for a scan: it refuses nothing, and something happens."""
        top = self._page.top
        result, after = self._try(scan)
        if result.verdict is None:
            return bool(result.session_effects) or after != top
        return result.verdict.kind != WRONG

    def readings(self, scan: Scan) -> tuple[Scan, ...]:
        """Return the readings of a code of several kinds that may be meant here, goods last, of products one each.

        These are the ones that the page has a use for; it is one reading if it refuses all. A location that it refuses
        may be meant as well where goods are counted, because a label may come while something has to be answered.
        """
        ways = _readings_by_kind(scan)
        if len(ways) < 2 or scan.matches[0].kind == PERSON or any(map(_is_label_of_goods, scan.matches)):
            return (scan,)
        taken = tuple(ways) if scan.is_look_up else tuple(each for each in ways if self.is_taken(each))
        if (goods := self._goods_of_gtin(taken)) is not None:
            return (goods,)
        is_location_refused = LOCATION in _kinds(ways) and LOCATION not in _kinds(taken)
        if is_location_refused and any(self._counts(each) for each in taken):
            return tuple(each for each in ways if each in taken or each.matches[0].kind == LOCATION)
        return taken or (scan,)

    def _goods_of_gtin(self, ways: tuple[Scan, ...]) -> Scan | None:
        """Return the goods that are counted here, if the code is a GTIN and also the number of an order that would only
        be asked about; else None.

        Otherwise each piece of these goods would have to be asked about.
        """
        orders, goods = ways[:-1], ways[-1] if ways else None
        if goods is None or _kinds(orders) != {ORDER} or not _is_gtin(goods.matches[0].code):
            return None
        is_asked_only = all(self._is_asked_only(each) for each in orders)
        return goods if is_asked_only and not goods.is_look_up and self._counts(goods) else None

    def _is_asked_only(self, scan: Scan) -> bool:
        """Return whether the page only asks what a scan means for it."""
        result, _ = self._try(scan)
        return result.verdict is not None and result.verdict.kind == ASK and not result.session_effects

    def _counts(self, scan: Scan) -> bool:
        """Return whether a scan of goods is counted here."""
        receiver = receiving_job(self._page.stack.jobs, scan)
        if scan.matches[0].kind != PRODUCT or receiver.job.name not in COUNTS_SCANS:
            return False
        verdict = self._try(scan)[0].verdict
        return verdict is not None and verdict.kind == GOOD

    def leaves_by_guess(self, scan: Scan) -> bool:
        """Return whether a guessed code signs somebody else in, or opens something else than the work on the page."""
        match = scan.matches[0]
        if match.kind == PRODUCT or not (match.is_guess or match.has_other_zeros):
            return False
        receiver = receiving_job(self._page.stack.jobs, scan)
        result, after = self._try(scan)
        signs_in = any(isinstance(each, SignIn) for each in result.session_effects)
        is_work = receiver.job.name in WORK and receiver.job_id != after.job_id
        return (signs_in and bool(self._context.user.user)) or is_work

    def opens_only(self, scan: Scan) -> bool:
        """Return whether a scan opens something where its quantity is counted later, or only shows the product."""
        stack = self._page.stack
        receiver = receiving_job(stack.jobs, scan)
        is_opening = receiver.job.step_name(receiver.state) in ask_measured_quantity.OPENING_STEPS
        if receiver is stack.top and not is_opening:
            return False
        _, after = self._try(scan)
        return after.job.step_name(after.state) != "count.product" if is_opening else after.job_id != receiver.job_id


def _readings_by_kind(scan: Scan) -> list[Scan]:
    """Return the scan of each kind of record that has the code, goods last; of products one each."""
    groups: dict[str, list[Match]] = {}
    for each in scan.matches:
        if each.kind != COMMAND:
            groups.setdefault(ORDER if each.kind == REFERENCE else each.kind, []).append(each)
    if len(groups) < 2:
        return [scan]
    goods = with_distinct_names(groups.pop(PRODUCT, []))
    others = [Scan(tuple(each), scan.is_look_up) for each in groups.values()]
    return [*others, *(Scan((each,), scan.is_look_up) for each in goods)]


def _is_label_of_goods(match: Match) -> bool:
    """Return whether a code has data that only the label of goods has, such as a weight, a price or a lot."""
    has_data = bool(match.batch or match.expiry or match.serial or match.measure or match.needs_quantity)
    return match.kind == PRODUCT and (has_data or match.price is not None or match.divided_price is not None)


def _is_gtin(code: str) -> bool:
    """Return whether a code is a GTIN by its check digit; a short one may be any number."""
    return len(code) >= MIN_GTIN and has_valid_check_digit(code)


def _kinds(scans: Iterable[Scan]) -> set[str]:
    return {scan.matches[0].kind for scan in scans}
