"""Rows of figures as a service writes them into one text: `{"W41":3,"W42":5}`, `[3,5]`, `3;5` or `W41=3;W42=5`.

Interface: history_array, average_array and forecast_array of a store product stock entry, which say not how.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, NamedTuple, NoReturn

from aisle.jobs import store_time
from aisle.jobs.job import Json, Write, format_number, money_message
from aisle.jobs.product_page import UNKNOWN_AGE, due_message, seconds_since
from aisle.jobs.quantities import to_decimal
from aisle.jobs.view import Msg, msg

MAX_FIGURES = 400
"""Figures of a row at most."""

_SEPARATOR = re.compile(r"[;,|\s]+")
_PAIR = re.compile(r"[=:]")


class Figure(NamedTuple):
    """One figure, and what it is of; empty where nobody says."""

    key: str
    value: Decimal


def parse_figures(value: Any) -> tuple[Figure, ...]:
    """The figures of a row, in their order; nothing where they cannot be read."""
    found = _parse_text(value) if isinstance(value, str) else value
    if isinstance(found, dict):
        return _make_figures(found.items())
    if isinstance(found, list):
        return _make_figures(("", each) for each in found)
    return ()


def _parse_text(text: str) -> Any:
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return _split_text(text)


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no figure")


def _split_text(text: str) -> Any:
    """Figures with something between them; none of them where one is no figure."""
    parts = [_PAIR.split(part, maxsplit=1) for part in _SEPARATOR.split(text.strip(" []{};,|\n\t")) if part]
    values = [part[-1] for part in parts]
    if not all(_is_figure(value) for value in values):
        return None
    if all(len(part) == 2 for part in parts):
        return {part[0].strip("\"'"): part[1] for part in parts}
    return values if all(len(part) == 1 for part in parts) else None


def _is_figure(text: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?", text) is not None


def _make_figures(pairs: Iterable[tuple[Any, Any]]) -> tuple[Figure, ...]:
    return tuple(Figure(str(key), to_decimal(value)) for key, value in pairs)[:MAX_FIGURES]


UPDATE = "update-store-products"
"""The operation, by its name in the table of operations."""

BASE_VALUES = "base"
"""In an item: what the fields stood at for the person who changes them, as `plain` has it. It is not sent."""

WHOLE_NUMBER, NUMBER, MONEY, FLAG, CODES, DAY = "whole", "number", "money", "flag", "codes", "day"
NUMERIC = (WHOLE_NUMBER, NUMBER, MONEY)


class Field(NamedTuple):
    """One thing that a store can say of a product."""

    name: str
    """In an update."""
    entry_name: str
    """In a stock entry."""
    kind: str


FIELDS = (
    Field("min", "min", WHOLE_NUMBER),
    Field("max", "max", WHOLE_NUMBER),
    Field("order_level", "order_level", NUMBER),
    Field("is_replenishment", "is_replenishment", FLAG),
    Field("attention_codes", "storeproduct_attention_codes", CODES),
    Field("expiry_date_time", "last_expiry_datetime", DAY),
    Field("validate_expiry_date_time", "validate_expiry_datetime", DAY),
    Field("is_promotion", "is_promotion", FLAG),
    Field("price", "price", MONEY),
    Field("discount_price", "discount_price", MONEY),
)
"""In the order in which they are shown."""

FIELD_BY_NAME = {field.name: field for field in FIELDS}

LEVELS = ("min", "max")
"""They hang together: one is never above the other, and both are bound by what the product allows."""

YES, NO = "yes", "no"
MAX_VALUE = Decimal(9_999_999)
MAX_CODE_LENGTH, MAX_CODES = 20, 8

_LEVEL_RANGE = re.compile(r"\s*(\d{1,7})\s*-\s*(\d{1,7})\s*")
_DAYS_AHEAD = re.compile(r"\+\s*(\d{1,4})")
_DATE = re.compile(r"(\d{1,2})[-./ ](\d{1,2})(?:[-./ ](\d{4}|\d{2}))?[-./ ]?")
_ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")


def plain_text(field: Field, value: Json) -> str:
    """A value as one text, however a service writes it; empty where nothing is said."""
    if value is None:
        return ""
    if field.kind == FLAG:
        return YES if value is True or str(value).casefold() in ("true", "1", YES) else NO
    if field.kind == CODES:
        codes = value if isinstance(value, list | tuple) else re.split(r"[,;\s]+", str(value))
        return ",".join(str(code) for code in codes if code)
    if field.kind == DAY:
        return _parse_store_day(str(value))
    if isinstance(value, bool) or to_decimal(value, MAX_VALUE + 1) > MAX_VALUE:
        return ""
    return format_number(to_decimal(value))


def parse_entry_values(row: Mapping[str, Any]) -> dict[str, str]:
    """What a stock entry says of the fields, by their names; those it says nothing of are left out."""
    return {
        field.name: plain_text(field, row[field.entry_name])
        for field in FIELDS
        if row.get(field.entry_name) is not None
    }


def parse_update_values(item: Mapping[str, Any]) -> dict[str, str]:
    """What an item of an update says of the fields."""
    return {field.name: plain_text(field, item[field.name]) for field in FIELDS if field.name in item}


def _parse_store_day(text: str) -> str:
    """The day in the store of what names one; what does not stays as it is."""
    day = store_time.named_day(text) or store_time.day_in_store(text)
    return text if day is None else day.isoformat()


def update_write(product: str, store: str, changes: Mapping[str, Json], base: Mapping[str, str]) -> Write:
    """Says these fields of the product anew; `base` is what they stood at, at nothing included."""
    known = {name: base.get(name, "") for name in changes}
    item = {"product_number": product, **changes, BASE_VALUES: known}
    return Write(UPDATE, (f"product/{product}",), {"store_number": store}, {}, [item], needs_supervisor=True)


# What is typed


def parse_level_range(text: str) -> tuple[Decimal, Decimal] | None:
    """Min and max out of `6-24`."""
    found = _LEVEL_RANGE.fullmatch(text)
    return (Decimal(found[1]), Decimal(found[2])) if found else None


def parse_codes(text: str) -> list[str] | None:
    """Attention codes as they are typed; None where they are too long or too many."""
    codes = list(dict.fromkeys(code for code in re.split(r"[,;\s]+", text.strip()) if code))
    fits = codes and len(codes) <= MAX_CODES and all(len(code) <= MAX_CODE_LENGTH for code in codes)
    return codes if fits else None


def parse_day(text: str, now: str) -> str:
    """A day as people type it, `yyyy-MM-dd`: `+14`, `1.12`, `1-12-2026`, `2026-12-01`; empty where it is none.

    Without a year it is the next such day.
    """
    today, text = store_time.day_in_store(now) or date.fromisoformat(now[:10]), text.strip()
    try:
        if days := _DAYS_AHEAD.fullmatch(text):
            return (today + timedelta(days=int(days[1]))).isoformat()
        if iso := _ISO.fullmatch(text):
            return date(int(iso[1]), int(iso[2]), int(iso[3])).isoformat()
        if said := _DATE.fullmatch(text):
            return _next_date(int(said[1]), int(said[2]), said[3] or "", today).isoformat()
    except (ValueError, OverflowError):
        pass
    return ""


def _next_date(day: int, month: int, year: str, today: date) -> date:
    if year:
        return date(int(year) + (2000 if len(year) == 2 else 0), month, day)
    found = date(today.year, month, day)
    return found if found >= today else date(today.year + 1, month, day)


def format_day_as_datetime(day: str) -> str:
    """How a day is sent: the interface has moments."""
    return f"{day}T00:00:00Z"


# What binds it


class LevelRange(NamedTuple):
    """How far a level may be moved in this store."""

    low: Decimal
    high: Decimal
    original: Decimal
    percentage: Decimal


def level_range(start: Decimal | None, percentage: Decimal) -> LevelRange | None:
    """From what stood before any local change; None where nothing binds it: no percentage, or no start."""
    if start is None or percentage <= 0:
        return None
    span = (abs(start) * percentage / 100).to_integral_value(rounding="ROUND_CEILING")
    return LevelRange(max(Decimal(0), start - span), start + span, start, percentage)


PRICE_FIELDS = ("price", "discount_price")

SERIES_FIELDS = ("history", "average", "forecast")

WRITE_ONLY_FIELDS = ("is_promotion", "discount_price")
"""Fields of an update that the interface's stock entry has not."""


class PendingChange(NamedTuple):
    """A change that was said from this host, and what becomes of it."""

    op_id: str
    state: str
    """One of the words for what becomes of a piece of work."""
    fields: tuple[tuple[str, str, str], ...]
    """Name of the field, what it stood at (empty: nobody knows), what it is to be; as texts."""
    user: str = ""
    at: str = ""
    why: str = ""


class StoreProduct(NamedTuple):
    """One product in this store. What is not in `values` is not known."""

    number: str
    name: str
    unit: str = ""
    values: tuple[tuple[str, str], ...] = ()
    """Of the fields, as plain texts, with what is on its way."""
    is_ranged: bool = False
    """The store's stock list has it."""
    age_s: Decimal = UNKNOWN_AGE
    """Seconds since the service said so."""
    stock: Decimal = Decimal(0)
    has_no_stock: bool = False
    """No stock is kept of it."""
    original_min: Decimal | None = None
    original_max: Decimal | None = None
    max_change_percentage: Decimal = Decimal(0)
    may_edit_levels: bool = True
    may_edit_replenishment: bool = True
    attention: str = ""
    """Codes that all stores have."""
    read_only_fields: tuple[tuple[str, str], ...] = ()
    """What is only shown: the name of a field, and its text."""
    ordering_times: tuple[Msg, ...] = ()
    delivery_times: tuple[Msg, ...] = ()
    """Moments to come, the next one first."""
    pools: tuple[tuple[str, Decimal], ...] = ()
    series: tuple[tuple[str, tuple[Figure, ...]], ...] = ()
    changes: tuple[PendingChange, ...] = ()
    """The youngest first."""
    shows_all_fields: bool = True
    """The service shows all that it takes; one of the document alone has no place for some of it."""
    may_edit: bool = False
    """Who looks at it is one of those who change it."""

    def value(self, name: str) -> str:
        """What a field stands at; empty where nobody knows."""
        return dict(self.values).get(name, "")

    @property
    def editable_fields(self) -> tuple[Field, ...]:
        """What can be changed here, in the order of its numbers."""
        return tuple(field for field in FIELDS if self.is_ranged and why_not(self, field) is None)

    def level_range(self, name: str) -> LevelRange | None:
        """How far a level may be moved."""
        if name not in LEVELS:
            return None
        return level_range(self.original_min if name == "min" else self.original_max, self.max_change_percentage)


_READ_ONLY_FIELDS = (
    "original_min", "original_max", "adjusted_order_level", "demand_until_delivery", "forecast", "promotion_week",
    "purchase_unit_name", "purchase_unit_quantity", "last_minmax_updatedby", "last_expiry_updatedby",
    "last_loss_updatedby", "last_receipt_updatedby", "default_salesorder_type", "referral_product",
)  # fmt: skip
"""What a stock entry says besides, and nothing here writes."""


def parse_store_product(row: Mapping[str, Any], now: str) -> StoreProduct:
    """A row of the read `store_product`."""
    return StoreProduct(
        number=str(row["product_number"]),
        name=str(row.get("product_name") or row.get("product_description") or row["product_number"]),
        unit=str(row.get("unit") or ""),
        values=tuple(parse_entry_values(row).items()) if row.get("is_ranged") else (),
        is_ranged=bool(row.get("is_ranged")),
        age_s=seconds_since(row.get("read_at"), now),
        stock=to_decimal(row.get("most_likely_quantity")),
        has_no_stock=row.get("is_stock") is False,
        original_min=_decimal_or_none(row.get("original_min")),
        original_max=_decimal_or_none(row.get("original_max")),
        max_change_percentage=to_decimal(row.get("edit_min_max_percentage")),
        may_edit_levels=row.get("is_edit_min_max") is not False,
        may_edit_replenishment=row.get("is_edit_replenishment") is not False,
        attention=str(row.get("attention_code") or ""),
        read_only_fields=tuple(
            (name, _format_value(row[name])) for name in _READ_ONLY_FIELDS if row.get(name) not in (None, "")
        ),
        ordering_times=_parse_times(row, "ordering", now),
        delivery_times=_parse_times(row, "delivery", now),
        pools=tuple(
            (str(pool["name"] or pool["pool"]), to_decimal(pool["quantity"])) for pool in row.get("pools") or ()
        ),
        series=tuple((name, found) for name in SERIES_FIELDS if (found := parse_figures(row.get(f"{name}_array")))),
        changes=tuple(_parse_change(each) for each in row.get("said") or ()),
        shows_all_fields=row.get("keeps_all") is not False,
        may_edit=bool(row.get("may")),
    )


def _decimal_or_none(value: Json) -> Decimal | None:
    return None if value is None else to_decimal(value)


def _format_value(value: Json) -> str:
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _parse_times(row: Mapping[str, Any], name: str, now: str) -> tuple[Msg, ...]:
    """The next moment, then those after it, each once."""
    more = row.get(f"{name}_datetimes")
    found = [row.get(f"next_{name}_datetime"), *(more if isinstance(more, list | tuple) else ())]
    return tuple(due_message(at, now, is_moment=True) for at in dict.fromkeys(str(each) for each in found if each))


def _parse_change(row: Mapping[str, Any]) -> PendingChange:
    fields = tuple((str(name), str(before), str(after)) for name, before, after in row["fields"])
    return PendingChange(str(row["op_id"]), str(row["word"]), fields, str(row["who"]), str(row["at"]), str(row["why"]))


# What may be changed


def why_not(product: StoreProduct, field: Field) -> Msg | None:
    """Why a field is not changed here, if it is not."""
    if not product.may_edit:
        return msg("store_product.no_role")
    if field.name in LEVELS and not product.may_edit_levels:
        return msg("store_product.fixed_levels")
    if field.name == "is_replenishment" and not product.may_edit_replenishment:
        return msg("store_product.fixed_replenishment")
    return None


def is_write_only(product: StoreProduct, name: str) -> bool:
    """Whether the service takes a field and may never show it. Interface: Store product stock entry."""
    return name in WRITE_ONLY_FIELDS and not product.shows_all_fields


def objection(product: StoreProduct, changes: Mapping[str, Json]) -> Msg | None:
    """Why these values cannot be sent, as far as that is known here; the service has the last word."""
    for name, value in changes.items():
        field, room = FIELD_BY_NAME[name], product.level_range(name)
        if not isinstance(value, Decimal):
            continue
        if field.kind == WHOLE_NUMBER and value != value.to_integral_value():
            return msg("store_product.not_whole")
        if not 0 <= value <= MAX_VALUE:
            return msg("store_product.too_much")
        if room and value != to_decimal(product.value(name) or -1) and not room.low <= value <= room.high:
            return msg("store_product.no_room", low=room.low, high=room.high, percentage=room.percentage)
    low, high = (_new_value(product, changes, name) for name in LEVELS)
    if low is not None and high is not None and low > high and not changes.keys().isdisjoint(LEVELS):
        return msg("store_product.above", low=low, high=high)
    return None


def price_warnings(product: StoreProduct, changes: Mapping[str, Json]) -> tuple[Msg, ...]:
    """What of prices can be meant, and seldom is."""
    found: list[Msg] = []
    for name, value in changes.items():
        if FIELD_BY_NAME[name].kind == MONEY and isinstance(value, Decimal):
            exponent = value.normalize().as_tuple().exponent
            found += [msg("store_product.costs_nothing")] if not value else []
            found += (
                [msg("store_product.fractions", value=value)] if isinstance(exponent, int) and exponent < -2 else []
            )
    price, discount = (_new_value(product, changes, name) for name in PRICE_FIELDS)
    if not changes.keys().isdisjoint(PRICE_FIELDS) and price is not None and discount is not None and discount > price:
        found.append(msg("store_product.dearer", discount=money_message(discount), price=money_message(price)))
    return tuple(found)


def _new_value(product: StoreProduct, changes: Mapping[str, Json], name: str) -> Decimal | None:
    said = changes.get(name, product.value(name))
    return None if said == "" else to_decimal(said)
