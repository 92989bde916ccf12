"""Product in a store as its page has it: limits of its settings, objections to changes, and pending changes.

Interface: Store product stock entry. It does not define the format of history_array, average_array and forecast_array.
Services write `{"W41":3,"W42":5}`, `[3,5]`, `3;5` or `W41=3;W42=5`.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

from aisle.jobs.job import Json, money_message
from aisle.jobs.product_rows_and_weekly_sales import FiguresByName, parse_figures
from aisle.jobs.row_types.products import PendingChangeRow, StoreProductRow
from aisle.jobs.store_time import UNKNOWN_AGE, due_message, seconds_since
from aisle.jobs.supervisor.service_fields_and_values import LEVELS, field_label, format_value
from aisle.jobs.view import Msg, join_messages, msg
from aisle.row_values import to_decimal, to_decimal_or_none
from aisle.store_product_settings import (
    FIELD_BY_NAME,
    FIELDS,
    MAX_VALUE,
    MONEY,
    WHOLE_NUMBER,
    Field,
    parse_entry_values,
    parse_update_values,
)
from aisle.stored_messages import is_stored_message, read_message

# Limits


class LevelRange(NamedTuple):
    """Range in which a level may be changed in this store."""

    low: Decimal
    high: Decimal
    original: Decimal
    percentage: Decimal


def level_range(start: Decimal | None, percentage: Decimal) -> LevelRange | None:
    """Return the range around the level before any local change; None without a percentage or start."""
    if start is None or percentage <= 0:
        return None
    span = (abs(start) * percentage / 100).to_integral_value(rounding="ROUND_CEILING")
    return LevelRange(max(Decimal(0), start - span), start + span, start, percentage)


PRICE_FIELDS = ("price", "discount_price")

SERIES_FIELDS = ("history", "average", "forecast")

WRITE_ONLY_FIELDS = ("is_promotion", "discount_price")
"""Fields of an update that are missing in the interface's stock entry."""


class StoreProduct(NamedTuple):
    """Product in this store. Fields that are missing in `values` are unknown."""

    number: str
    name: str
    unit: str = ""
    values: tuple[tuple[str, str], ...] = ()
    """Plain text of the fields, with pending changes applied."""
    is_ranged: bool = False
    """True if it is in the store's stock list."""
    age_s: Decimal = UNKNOWN_AGE
    """Seconds since the service returned it."""
    stock: Decimal = Decimal(0)
    has_no_stock: bool = False
    """True if no stock is kept of it."""
    original_min: Decimal | None = None
    original_max: Decimal | None = None
    max_change_percentage: Decimal = Decimal(0)
    may_edit_levels: bool = True
    may_edit_replenishment: bool = True
    attention: str = ""
    """Attention codes for all stores."""
    read_only_fields: tuple[tuple[str, str], ...] = ()
    """Name and text of fields that cannot be changed."""
    ordering_times: tuple[Msg, ...] = ()
    delivery_times: tuple[Msg, ...] = ()
    """Next delivery times, the earliest first."""
    pools: tuple[tuple[str, Decimal], ...] = ()
    series: FiguresByName = ()
    changes: tuple[PendingChangeRow, ...] = ()
    """Changes, the latest first."""
    shows_all_fields: bool = True
    """True if the service returns every field that it accepts. A service with only the documented fields lacks some."""
    may_edit: bool = False
    """True if the person at the terminal may change settings."""

    def value(self, name: str) -> str:
        """Return the value of a field; empty if unknown."""
        return dict(self.values).get(name, "")

    @property
    def editable_fields(self) -> tuple[Field, ...]:
        """Fields that can be changed here, in the order of their numbers."""
        return tuple(field for field in FIELDS if self.is_ranged and why_not(self, field) is None)

    def level_range(self, name: str) -> LevelRange | None:
        """Return the range of a level; None for other fields and unlimited levels."""
        if name not in LEVELS:
            return None
        return level_range(self.original_min if name == "min" else self.original_max, self.max_change_percentage)


READ_ONLY_FIELDS = {
    "original_min": msg("store_product.of_original_min"),
    "original_max": msg("store_product.of_original_max"),
    "adjusted_order_level": msg("store_product.of_adjusted"),
    "demand_until_delivery": msg("store_product.of_demand"),
    "forecast": msg("store_product.of_forecast"),
    "promotion_week": msg("product.promotion_week"),
    "purchase_unit_name": msg("store_product.of_unit"),
    "purchase_unit_quantity": msg("store_product.of_unit_quantity"),
    "last_minmax_updatedby": msg("store_product.by_levels"),
    "last_expiry_updatedby": msg("store_product.by_expiry"),
    "last_loss_updatedby": msg("store_product.by_adjust"),
    "last_receipt_updatedby": msg("store_product.by_receipt"),
    "default_salesorder_type": msg("store_product.of_order_type"),
    "referral_product": msg("label.referral"),
}
"""Fields of a stock entry that are only shown, with their names."""


def parse_store_product(row: StoreProductRow, now: str) -> StoreProduct:
    """Parse a row of the query `store_product`."""
    return StoreProduct(
        number=str(row["product_number"]),
        name=str(row.get("product_name") or row.get("product_description") or row["product_number"]),
        unit=str(row.get("unit") or ""),
        values=tuple(parse_entry_values(row).items()) if row.get("is_ranged") else (),
        is_ranged=bool(row.get("is_ranged")),
        age_s=seconds_since(row.get("read_at"), now),
        stock=to_decimal(row.get("most_likely_quantity")),
        has_no_stock=row.get("is_stock") is False,
        original_min=to_decimal_or_none(row.get("original_min")),
        original_max=to_decimal_or_none(row.get("original_max")),
        max_change_percentage=to_decimal(row.get("edit_min_max_percentage")),
        may_edit_levels=row.get("is_edit_min_max") is not False,
        may_edit_replenishment=row.get("is_edit_replenishment") is not False,
        attention=str(row.get("attention_code") or ""),
        read_only_fields=tuple(
            (name, _format_value(value)) for name in READ_ONLY_FIELDS if (value := row.get(name)) not in (None, "")
        ),
        ordering_times=_parse_times(row, "ordering", now),
        delivery_times=_parse_times(row, "delivery", now),
        pools=tuple(
            (str(pool["name"] or pool["pool"]), to_decimal(pool["quantity"])) for pool in row.get("pools") or ()
        ),
        series=tuple((name, found) for name in SERIES_FIELDS if (found := parse_figures(row.get(f"{name}_array")))),
        changes=tuple(row.get("said") or ()),
        shows_all_fields=row.get("keeps_all") is not False,
        may_edit=bool(row.get("may_edit")),
    )


def _format_value(value: Json) -> str:
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _parse_times(row: StoreProductRow, name: str, now: str) -> tuple[Msg, ...]:
    more = row.get(f"{name}_datetimes")
    found = [row.get(f"next_{name}_datetime"), *(more if isinstance(more, list | tuple) else ())]
    return tuple(due_message(at, now, is_moment=True) for at in dict.fromkeys(str(each) for each in found if each))


# Permissions and checks


def why_not(product: StoreProduct, field: Field) -> Msg | None:
    """Return the reason why a field cannot be changed here, or None."""
    if not product.may_edit:
        return msg("clearance.role_denied")
    if field.name in LEVELS and not product.may_edit_levels:
        return msg("store_product.fixed_levels")
    if field.name == "is_replenishment" and not product.may_edit_replenishment:
        return msg("store_product.fixed_replenishment")
    return None


def is_write_only(product: StoreProduct, name: str) -> bool:
    """Return True if the service accepts the field but may never return it. Interface: Store product stock entry."""
    return name in WRITE_ONLY_FIELDS and not product.shows_all_fields


def objection(product: StoreProduct, changes: Mapping[str, Json]) -> Msg | None:
    """Return the reason why these values cannot be sent, as far as this host knows. The service decides."""
    for name, value in changes.items():
        field, allowed = FIELD_BY_NAME[name], product.level_range(name)
        if not isinstance(value, Decimal):
            continue
        if field.kind == WHOLE_NUMBER and value != value.to_integral_value():
            return msg("input.whole_number_only", text=str(value))
        if not 0 <= value <= MAX_VALUE:
            return msg("store_product.out_of_limits")
        if allowed and value != to_decimal(product.value(name) or -1) and not allowed.low <= value <= allowed.high:
            return msg("store_product.out_of_range", low=allowed.low, high=allowed.high, percentage=allowed.percentage)
    low, high = (_new_value(product, changes, name) for name in LEVELS)
    if low is not None and high is not None and low > high and not changes.keys().isdisjoint(LEVELS):
        return msg("store_product.min_above_max", low=low, high=high)
    return None


def price_warnings(product: StoreProduct, changes: Mapping[str, Json]) -> tuple[Msg, ...]:
    """Return warnings on prices that are possible but unusual."""
    found: list[Msg] = []
    for name, value in changes.items():
        if FIELD_BY_NAME[name].kind == MONEY and isinstance(value, Decimal):
            exponent = value.normalize().as_tuple().exponent
            found += [msg("store_product.price_zero")] if not value else []
            found += (
                [msg("store_product.fractions_of_cent", value=value)]
                if isinstance(exponent, int) and exponent < -2
                else []
            )
    price, discount = (_new_value(product, changes, name) for name in PRICE_FIELDS)
    if not changes.keys().isdisjoint(PRICE_FIELDS) and price is not None and discount is not None and discount > price:
        found.append(
            msg("store_product.discount_above_price", discount=money_message(discount), price=money_message(price))
        )
    return tuple(found)


def _new_value(product: StoreProduct, changes: Mapping[str, Json], name: str) -> Decimal | None:
    value = changes.get(name, product.value(name))
    return None if value == "" else to_decimal(value)


def format_changes(product: StoreProduct, changes: Mapping[str, Json]) -> Msg:
    """Return the changes, from old to new value, in one line."""
    parts = [change_message(name, product.value(name), text) for name, text in parse_update_values(changes).items()]
    return join_messages(parts, "store_product.join")


def refusal_text(change: PendingChangeRow) -> Msg:
    """Return the reason why a change was refused: by the service, or because somebody else was faster."""
    why = read_message(change["why"])
    return why if is_stored_message(change["why"]) else msg("store_product.refused", why=why)


def change_text(change: PendingChangeRow) -> Msg:
    """Return a pending change in one line."""
    return join_messages([change_message(*each) for each in change["fields"]], "store_product.join")


def change_message(name: str, before: str, after: str) -> Msg:
    return msg(
        "store_product.change",
        what=field_label(name),
        before=format_value(name, before),
        after=format_value(name, after),
    )
