"""Samples of a product's data and settings in the store."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from aisle.jobs.product_rows_and_weekly_sales import ExpectedDelivery
from aisle.jobs.supervisor.store_product import StoreProductJob
from aisle.jobs.supervisor.store_product_limits_and_objections import parse_store_product
from aisle.jobs.supervisor.store_product_page import CHART, CONFIRM, VALUE, StoreProductState
from aisle.jobs.view import GOOD, INFO, WRONG, Frame, LinkState, Verdict, msg

NOW = "2026-11-20T10:00:00+00:00"

HISTORY = {
    f"W{week}": sold for week, sold in zip(range(36, 48), (31, 28, 35, 40, 22, 19, 44, 38, 36, 29, 33, 41), strict=True)
}
FORECAST = {f"W{week}": sold for week, sold in zip(range(48, 53), (38, 40, 55, 72, 24), strict=True)}


def _row(text: str, **fields: Any) -> Any:
    """Return a row of the query `store_product`."""
    return {
        "product_number": text or "4001",
        "product_name": text or "Cola Zero 33 cl can, tray of 24",
        "is_ranged": True,
        "may_edit": True,
        "read_at": "2026-11-20T09:58:00+00:00",
        "most_likely_quantity": 34,
        "min": 12,
        "max": 48,
        "original_min": 12,
        "original_max": 40,
        "order_level": 18,
        "is_replenishment": True,
        "storeproduct_attention_codes": text or "COLD,HEAVY",
        "last_expiry_datetime": "2026-12-24T00:00:00.000Z",
        "is_promotion": False,
        "price": 18.95,
        "edit_min_max_percentage": 50,
        "adjusted_order_level": 24,
        "demand_until_delivery": 6,
        "forecast": 38,
        "purchase_unit_name": text or "tray",
        "purchase_unit_quantity": 24,
        "last_minmax_updatedby": text or "U6",
        "ordering_datetimes": ["2026-11-20T15:00:00+00:00", "2026-11-23T15:00:00+00:00"],
        "next_delivery_datetime": "2026-11-21T06:30:00+00:00",
        "pools": [
            {"pool": 1, "name": text or "Shop", "quantity": 10},
            {"pool": 2, "name": text or "Back room", "quantity": 24},
        ],
        "history_array": HISTORY,
        "average_array": dict.fromkeys(HISTORY, 33),
        "forecast_array": FORECAST,
        **fields,
    }


def _change_row(text: str, word: str, why: str = "") -> dict[str, Any]:
    fields = [("min", "12", "8")]
    return {
        "op_id": "A",
        "outcome": word,
        "fields": fields,
        "user_name": text or "U6",
        "at": "2026-11-20T09:59:00Z",
        "why": why,
    }


def _state(text: str, given: Any = None, **fields: Any) -> StoreProductState:
    found = parse_store_product(given or _row(text), NOW)
    coming = (ExpectedDelivery(text or "7005", Decimal(6), msg("moment", at="2026-11-26T08:00:00")),)
    return StoreProductState(found.number, found.name, is_loaded=True, product=found, deliveries=coming)._replace(
        **fields
    )


def _frame(
    state: StoreProductState, verdict: Verdict | None, link: LinkState, serial: int = 0, typed: str = ""
) -> Frame:
    return Frame(StoreProductJob().view(state), link, verdict, typed, "0042", "Fred", serial)


def _all(text: str) -> Frame:
    return _frame(_state(text), None, LinkState("live", 4.0))


def _noted(text: str) -> Frame:
    state = _state(text, _row(text, min=8, said=[_change_row(text, "queued")]))
    what = msg("store_product.change", what=msg("store_product.of_min"), before="12", after="8")
    return _frame(state, Verdict(GOOD, msg("store_product.queued", what=what)), LinkState("offline", 900.0, 1), 2)


def _refused(text: str) -> Frame:
    why = text or "min was 12; by at most 50 % it may be 6 to 18."
    state = _state(text, _row(text, said=[_change_row(text, "refused", why)]))
    return _frame(state, Verdict(WRONG, msg("store_product.refused", why=why)), LinkState("live", 4.0, 0, 1), 3)


def _staff(text: str) -> Frame:
    return _frame(_state(text, _row(text, may_edit=False)), None, LinkState("live", 4.0))


def _fixed_fields(text: str) -> Frame:
    row = _row(
        text, is_edit_min_max=False, is_edit_replenishment=False, history_array="", forecast_array="", average_array=""
    )
    return _frame(_state(text, row), None, LinkState("partial", 5.0, missing_lists=("stock",)))


def _not_ranged(text: str) -> Frame:
    row = {"product_number": text or "4009", "product_name": text or "Gouda, mature, in one piece", "is_ranged": False}
    return _frame(_state(text, row), None, LinkState("live", 4.0))


def _loading(text: str) -> Frame:
    return _frame(
        StoreProductState(text or "4001", text or "Cola Zero 33 cl can"),
        None,
        LinkState("syncing", 30.0, done=4, total=90),
    )


def _unknown(text: str) -> Frame:
    return _frame(StoreProductState(text or "4999", is_loaded=True), None, LinkState("offline", 7200.0))


def _value(name: str) -> Callable[[str], Frame]:
    return lambda text: _frame(_state(text, phase=VALUE, field=name), None, LinkState("live", 4.0))


def _write_only_field(text: str) -> Frame:
    return _frame(
        _state(text, _row(text, keeps_all=False), phase=VALUE, field="discount_price"), None, LinkState("live", 4.0)
    )


def _out_of_range(text: str) -> Frame:
    verdict = Verdict(WRONG, msg("store_product.out_of_range", low=6, high=18, percentage=50))
    return _frame(_state(text, phase=VALUE, field="min"), verdict, LinkState("live", 4.0), 4)


def _confirm(text: str) -> Frame:
    changes = (("min", Decimal(8)), ("max", Decimal(60)))
    return _frame(_state(text, phase=CONFIRM, field="min", changes=changes), None, LinkState("live", 4.0))


def _confirm_codes(text: str) -> Frame:
    changes = (("attention_codes", [text or "HEAVY", "GLASS"]),)
    return _frame(
        _state(text, phase=CONFIRM, field="attention_codes", changes=changes), None, LinkState("offline", 60.0)
    )


def _chart(text: str) -> Frame:
    return _frame(_state(text, phase=CHART), None, LinkState("live", 4.0))


def _year(text: str) -> Frame:
    row = _row(text, history_array=[week * 7 % 23 for week in range(53)], average_array="", forecast_array="4;5;6")
    return _frame(
        _state(text, row, phase=CHART),
        Verdict(INFO, msg("raw.cut", text=text or "Cola")),
        LinkState("live", 4.0),
        5,
    )


STORE_PRODUCT_SAMPLES: tuple[tuple[str, str, Callable[[str], Frame]], ...] = (
    ("store_product", "all", _all),
    ("store_product", "noted", _noted),
    ("store_product", "refused", _refused),
    ("store_product", "staff", _staff),
    ("store_product", "bound", _fixed_fields),
    ("store_product", "not_ranged", _not_ranged),
    ("store_product", "loading", _loading),
    ("store_product", "unknown", _unknown),
    ("store_product.value", "level", _value("min")),
    ("store_product.value", "no_room", _out_of_range),
    ("store_product.value", "flag", _value("is_replenishment")),
    ("store_product.value", "hidden", _write_only_field),
    ("store_product.value", "codes", _value("attention_codes")),
    ("store_product.value", "day", _value("expiry_date_time")),
    ("store_product.confirm", "levels", _confirm),
    ("store_product.confirm", "codes", _confirm_codes),
    ("store_product.chart", "all", _chart),
    ("store_product.chart", "year", _year),
)
"""Screen, state and builder of each sample."""
