"""Samples of shortages."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from aisle.jobs.pick.shortage import OrderShortage, ShortageJob, ShortageState
from aisle.jobs.pick.shortage_choices import OtherLocation, list_choices, parse_reasons
from aisle.jobs.product_rows_and_weekly_sales import ExpectedDelivery, NearbyStock, NearbyStore, PoolStock, Product
from aisle.jobs.typed_numbers_dates_and_letters import OfferedChoice
from aisle.jobs.view import ASK, INFO, WRONG, Frame, LinkState, Verdict, msg
from aisle.settings.setting_definitions import SHORTAGE_REASONS

LABEL = "Cola Zero 33 cl can, tray of 24"


def _frame(state: ShortageState, verdict: Verdict, link: LinkState, serial: int = 0) -> Frame:
    return Frame(ShortageJob().view(state), link, verdict, "", "0042", "Anna", serial)


def _state(text: str, locations: int, orders: int = 1) -> ShortageState:
    needs = tuple(
        OrderShortage(text or f"1000{42 + n}", 1, (text or f"Tote {n + 1}") if orders > 1 else "", Decimal(4 - n))
        for n in range(orders)
    )
    codes = ("A-03-14", "A-05-02", "BR-02", "BR-07", "C-01-03", "D-11-10", "R-01-01", "R-01-02", "R-02-01", "R-02-02")
    spots = tuple(
        OtherLocation(
            text + str(n) if text else codes[n % len(codes)] + "B" * (n // len(codes)), 1 + n % 2, Decimal(12 - n)
        )
        for n in range(locations)
    )
    stores = (NearbyStore(text or "Millbrook Station", Decimal(12)), NearbyStore(text or "Fernhill", Decimal(3)))
    warehouse = (NearbyStore(text or "Millbrook Depot", Decimal(480), True),)
    state = ShortageState(
        needs=needs,
        product="4001",
        label=text or LABEL,
        location=text or "A-03-12",
        pool=1,
        ordered=Decimal(6),
        missing=Decimal(4),
        other_locations=spots,
        reasons=parse_reasons(SHORTAGE_REASONS),
        is_loaded=True,
        product_details=Product(
            name=text or LABEL,
            estimate_age_s=Decimal(180),
            next_delivery="2026-11-21T07:00:00",
            next_ordering="2026-11-20T15:00:00",
            pools=(PoolStock(1, text or "Shop floor", Decimal(18)), PoolStock(2, "", Decimal(6))),
        ),
        nearby=NearbyStock((*stores, *warehouse), Decimal(7300)),
        deliveries=(ExpectedDelivery(text or "7005", Decimal(6), msg("moment", at="2026-11-26T08:00:00")),),
    )
    return _with_choices(state)


def _with_choices(state: ShortageState) -> ShortageState:
    return state._replace(choices=list_choices(state.other_locations, state.reasons, may_reject=True))


def _opened(text: str) -> Verdict:
    return Verdict(INFO, msg("shortage.opened", rest=Decimal(4), label=text or LABEL))


def _three_locations(text: str) -> Frame:
    return _frame(_state(text, 3), _opened(text), LinkState("live", 12.0, 1), 14)


def _many(text: str) -> Frame:
    return _frame(_state(text, 12, 2), _opened(text), LinkState("offline", 300.0, 2), 15)


def _nothing_known(text: str) -> Frame:
    """Show a shortage without locations, nearby orders or other data, at a service without reasons."""
    state = ShortageState(
        needs=(OrderShortage(text or "100042", 1, "", Decimal(1)),),
        product="4001",
        label=text or LABEL,
        ordered=Decimal(1),
        missing=Decimal(1),
        reasons=tuple(reason for reason in parse_reasons(SHORTAGE_REASONS) if not reason.is_location_empty),
        nearby=NearbyStock(is_refused=True),
        keeps_reasons=False,
    )
    return _frame(_with_choices(state), _opened(text), LinkState("none"), 1)


def _scanned(text: str) -> Frame:
    place = text or "D-01-01"
    message = msg("shortage.no_stock_there", place=place, label=text or LABEL)
    state = _state(text, 2)._replace(offered=OfferedChoice("location", place))
    return _frame(state, Verdict(ASK, message), LinkState("live", 3.0), 16)


def _choose_order(text: str) -> Frame:
    state = _state(text, 1, 3)._replace(phase="which_order")
    return _frame(state, Verdict(INFO, msg("shortage.which_order")), LinkState("live", 3.0), 17)


def _choose_reason(text: str) -> Frame:
    state = _state(text, 1)._replace(phase="which_reason", order=text or "100042")
    message = msg("count.answer_first", what=text or "A-03-14")
    return _frame(state, Verdict(WRONG, message), LinkState("live", 3.0), 18)


def _confirm_reject(text: str) -> Frame:
    state = _state(text, 1)._replace(phase="which_reason", order=text or "100042")
    state = state._replace(offered=OfferedChoice("reject", state.reasons[0].code))
    message = msg("shortage.confirm_reject", order=state.order, words=text or state.reasons[0].text)
    return _frame(state, Verdict(ASK, message), LinkState("live", 3.0), 19)


SHORTAGE_SAMPLES: tuple[tuple[str, str, Callable[[str], Frame]], ...] = (
    ("shortage.choices", "usual", _three_locations),
    ("shortage.choices", "many", _many),
    ("shortage.choices", "bare", _nothing_known),
    ("shortage.choices", "scanned", _scanned),
    ("shortage.which_order", "orders", _choose_order),
    ("shortage.which_reason", "reasons", _choose_reason),
    ("shortage.which_reason", "sure", _confirm_reject),
)
"""Screen, state and builder of each sample."""
