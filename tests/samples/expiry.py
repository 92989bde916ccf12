"""Samples of the expiry checks."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from aisle.jobs.expiry.expiry_state import (
    CONFIRM,
    DATE,
    EXPIRY,
    PRICE,
    CheckedProduct,
    ExpiryState,
    SentCheck,
    day_message,
)
from aisle.jobs.expiry.job import ExpiryJob
from aisle.jobs.row_types.products import ExpiryCheckRow
from aisle.jobs.view import ASK, GOOD, INFO, Frame, LinkState, Verdict, msg
from aisle.scan.grammar_and_meaning_types import ORDER, Match

NAMES = (
    "Beekeeper's Honey Heather 250 g",
    "Skimmed milk 1 l",
    "Crème fraîche 30 % 200 ml",
    "Gouda, mature, in one piece",
)
LIVE = LinkState("live", 4.0)


def _rows(text: str) -> tuple[ExpiryCheckRow, ...]:
    return tuple(
        {
            "product_number": f"40{at:02}",
            "product_name": text or name,
            "location_code": text or f"A-{at + 1:02}-2",
            "due": "2026-11-19" if at == 1 else "2026-11-20",
            "expiry": "" if at == 2 else f"2026-11-{22 + at}",
            "most_likely_quantity": Decimal(at * 3),
        }
        for at, name in enumerate(NAMES)
    )


def _product(text: str, **fields: Any) -> CheckedProduct:
    known = ((EXPIRY, "2026-11-22"), ("validate_expiry_date_time", "2026-11-20"))
    return CheckedProduct(
        "4000", text or NAMES[0], text or "A-02-2", known, price=Decimal("3.49"), keeps_all=True
    )._replace(**fields)


def _sent(text: str) -> tuple[SentCheck, ...]:
    return (SentCheck("4001", text or NAMES[1], (), ()),)


def _frame(state: ExpiryState, verdict: Verdict | None, link: LinkState = LIVE, typed: str = "") -> Frame:
    return Frame(ExpiryJob().view(state), link, verdict, typed, "0042", "Anna", 2)


def _list(text: str) -> Frame:
    return _frame(ExpiryState(rows=_rows(text)[:4], total=31), None)


def _saved(text: str) -> Frame:
    days = {"day": day_message("2026-12-07"), "check": day_message("2026-12-04")}
    verdict = Verdict(GOOD, msg("expiry.saved", label=text or NAMES[0], **days), detail=msg("expiry.discount_due"))
    state = ExpiryState(rows=_rows(text)[1:4], total=3, sent=_sent(text))
    return _frame(state, verdict, LinkState("offline", 900.0, 3))


def _nothing_due(text: str) -> Frame:
    return _frame(ExpiryState(), None, LinkState("partial", 5.0, missing_lists=("stock",)))


def _question(phase: str, **fields: Any) -> Callable[[str], ExpiryState]:
    return lambda text: ExpiryState(phase=phase, total=31, product=_product(text), sent=_sent(text))._replace(**fields)


def _date(text: str) -> Frame:
    return _frame(_question(DATE)(text), Verdict(GOOD, msg("expiry.which_date", label=text or NAMES[0])), typed="07")


def _document_service(text: str) -> Frame:
    state = _question(DATE)(text)._replace(product=_product(text, keeps_all=False, location=""))
    verdict = Verdict(GOOD, msg("expiry.instead", label=text or NAMES[0], left=text or NAMES[1]))
    return _frame(state, verdict)


def _rest(text: str) -> Frame:
    loss = msg("adjust.lost", quantity=Decimal(2), label=text or NAMES[0], reason=text or "Expired")
    return _frame(_question(DATE, found_expired="2026-11-20")(text), Verdict(GOOD, loss))


def _unlikely(text: str) -> Frame:
    day = day_message("2026-11-12")
    verdict = Verdict(ASK, msg("expiry.is_past", day=day, label=text or NAMES[0]))
    return _frame(_question(CONFIRM, day="2026-11-12")(text), verdict)


def _number(text: str) -> Frame:
    other = Match(ORDER, text or "0712", text or "0712", code="0712")
    what = msg("record_name.order", what=other.key)
    verdict = Verdict(ASK, msg("expiry.number_of", code="0712", day=day_message("2026-12-07"), what=what))
    return _frame(_question(CONFIRM, day="2026-12-07", other=other)(text), verdict)


def _price(text: str) -> Frame:
    verdict = Verdict(ASK, msg("expiry.which_discount", label=text or NAMES[0]))
    return _frame(_question(PRICE, day="2026-11-22")(text), verdict)


def _undone(text: str) -> Frame:
    verdict = Verdict(INFO, msg("expiry.undone_partly", label=text or NAMES[1]), is_multiline=True)
    return _frame(ExpiryState(rows=_rows(text)[:4], total=4), verdict)


EXPIRY_SAMPLES = (
    ("expiry", "due", _list),
    ("expiry", "saved", _saved),
    ("expiry", "nothing", _nothing_due),
    ("expiry", "undone", _undone),
    ("expiry.date", "known", _date),
    ("expiry.date", "document", _document_service),
    ("expiry.date", "rest", _rest),
    ("expiry.confirm", "past", _unlikely),
    ("expiry.confirm", "number", _number),
    ("expiry.price", "asked", _price),
)
