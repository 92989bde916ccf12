"""A product as the store keeps it, from a row of the read `store_product`, and what of it may be changed here.

Interface: Store product stock entry, Product (edit_min_max_percentage, is_edit_min_max, is_edit_replenishment).
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.amounts import number
from aisle.jobs.base import Json, priced
from aisle.jobs.chain.figures import Figure, figures
from aisle.jobs.chain.store_product_fields import (
    BY_NAME,
    FIELDS,
    LEVELS,
    MONEY,
    MOST,
    WHOLE,
    Field,
    Room,
    room_of,
    values_of,
)
from aisle.jobs.sheet import UNKNOWN, age_of, due
from aisle.jobs.view import Msg, msg
from aisle.tuples import NamedTuple

PRICES = ("price", "discount_price")

SERIES = ("history", "average", "forecast")

HIDDEN = ("is_promotion", "discount_price")
"""Fields of an update that the interface's stock entry has not."""


class Said(NamedTuple):
    """A change that was said from this host, and what becomes of it."""

    op_id: str
    word: str
    """One of the words for what becomes of a piece of work."""
    fields: tuple[tuple[str, str, str], ...]
    """Name of the field, what it stood at (empty: nobody knows), what it is to be; as texts."""
    who: str = ""
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
    age: Decimal = UNKNOWN
    """Seconds since the service said so."""
    stock: Decimal = Decimal(0)
    keeps_none: bool = False
    """No stock is kept of it."""
    original_min: Decimal | None = None
    original_max: Decimal | None = None
    percentage: Decimal = Decimal(0)
    edit_levels: bool = True
    edit_replenishment: bool = True
    attention: str = ""
    """Codes that all stores have."""
    facts: tuple[tuple[str, str], ...] = ()
    """What is only shown: the name of a field, and its text."""
    ordering: tuple[Msg, ...] = ()
    delivery: tuple[Msg, ...] = ()
    """Moments to come, the next one first."""
    pools: tuple[tuple[str, Decimal], ...] = ()
    series: tuple[tuple[str, tuple[Figure, ...]], ...] = ()
    said: tuple[Said, ...] = ()
    """The youngest first."""
    keeps_all: bool = True
    """The service shows all that it takes; one of the document alone has no place for some of it."""
    may: bool = False
    """Who looks at it is one of those who change it."""

    def value(self, name: str) -> str:
        """What a field stands at; empty where nobody knows."""
        return dict(self.values).get(name, "")

    @property
    def open_fields(self) -> tuple[Field, ...]:
        """What can be changed here, in the order of its numbers."""
        return tuple(field for field in FIELDS if self.is_ranged and why_not(self, field) is None)

    def room(self, name: str) -> Room | None:
        """How far a level may be moved."""
        if name not in LEVELS:
            return None
        return room_of(self.original_min if name == "min" else self.original_max, self.percentage)


_SHOWN = (
    "original_min", "original_max", "adjusted_order_level", "demand_until_delivery", "forecast", "promotion_week",
    "purchase_unit_name", "purchase_unit_quantity", "last_minmax_updatedby", "last_expiry_updatedby",
    "last_loss_updatedby", "last_receipt_updatedby", "default_salesorder_type", "referral_product",
)  # fmt: skip
"""What a stock entry says besides, and nothing here writes."""


def store_product(row: Mapping[str, Any], now: str) -> StoreProduct:
    """A row of the read `store_product`."""
    return StoreProduct(
        number=str(row["product_number"]),
        name=str(row.get("product_name") or row.get("product_description") or row["product_number"]),
        unit=str(row.get("unit") or ""),
        values=tuple(values_of(row).items()) if row.get("is_ranged") else (),
        is_ranged=bool(row.get("is_ranged")),
        age=age_of(row.get("read_at"), now),
        stock=number(row.get("most_likely_quantity")),
        keeps_none=row.get("is_stock") is False,
        original_min=_known(row.get("original_min")),
        original_max=_known(row.get("original_max")),
        percentage=number(row.get("edit_min_max_percentage")),
        edit_levels=row.get("is_edit_min_max") is not False,
        edit_replenishment=row.get("is_edit_replenishment") is not False,
        attention=str(row.get("attention_code") or ""),
        facts=tuple((name, _text(row[name])) for name in _SHOWN if row.get(name) not in (None, "")),
        ordering=_moments(row, "ordering", now),
        delivery=_moments(row, "delivery", now),
        pools=tuple((str(pool["name"] or pool["pool"]), number(pool["quantity"])) for pool in row.get("pools") or ()),
        series=tuple((name, found) for name in SERIES if (found := figures(row.get(f"{name}_array")))),
        said=tuple(_said(each) for each in row.get("said") or ()),
        keeps_all=row.get("keeps_all") is not False,
        may=bool(row.get("may")),
    )


def _known(value: Json) -> Decimal | None:
    return None if value is None else number(value)


def _text(value: Json) -> str:
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _moments(row: Mapping[str, Any], name: str, now: str) -> tuple[Msg, ...]:
    """The next moment, then those after it, each once."""
    more = row.get(f"{name}_datetimes")
    found = [row.get(f"next_{name}_datetime"), *(more if isinstance(more, list | tuple) else ())]
    return tuple(due(at, now, is_moment=True) for at in dict.fromkeys(str(each) for each in found if each))


def _said(row: Mapping[str, Any]) -> Said:
    fields = tuple((str(name), str(before), str(after)) for name, before, after in row["fields"])
    return Said(str(row["op_id"]), str(row["word"]), fields, str(row["who"]), str(row["at"]), str(row["why"]))


# What may be changed


def why_not(product: StoreProduct, field: Field) -> Msg | None:
    """Why a field is not changed here, if it is not."""
    if not product.may:
        return msg("store_product.no_role")
    if field.name in LEVELS and not product.edit_levels:
        return msg("store_product.fixed_levels")
    if field.name == "is_replenishment" and not product.edit_replenishment:
        return msg("store_product.fixed_replenishment")
    return None


def is_hidden(product: StoreProduct, name: str) -> bool:
    """Whether the service takes a field and may never show it. Interface: Store product stock entry."""
    return name in HIDDEN and not product.keeps_all


def objection(product: StoreProduct, changes: Mapping[str, Json]) -> Msg | None:
    """Why these values cannot be sent, as far as that is known here; the service has the last word."""
    for name, value in changes.items():
        field, room = BY_NAME[name], product.room(name)
        if not isinstance(value, Decimal):
            continue
        if field.kind == WHOLE and value != value.to_integral_value():
            return msg("store_product.not_whole")
        if not 0 <= value <= MOST:
            return msg("store_product.too_much")
        if room and value != number(product.value(name) or -1) and not room.low <= value <= room.high:
            return msg("store_product.no_room", low=room.low, high=room.high, percentage=room.percentage)
    low, high = (_level(product, changes, name) for name in LEVELS)
    if low is not None and high is not None and low > high and not changes.keys().isdisjoint(LEVELS):
        return msg("store_product.above", low=low, high=high)
    return None


def doubts(product: StoreProduct, changes: Mapping[str, Json]) -> tuple[Msg, ...]:
    """What of prices can be meant, and seldom is."""
    found: list[Msg] = []
    for name, value in changes.items():
        if BY_NAME[name].kind == MONEY and isinstance(value, Decimal):
            exponent = value.normalize().as_tuple().exponent
            found += [msg("store_product.costs_nothing")] if not value else []
            found += (
                [msg("store_product.fractions", value=value)] if isinstance(exponent, int) and exponent < -2 else []
            )
    price, discount = (_level(product, changes, name) for name in PRICES)
    if not changes.keys().isdisjoint(PRICES) and price is not None and discount is not None and discount > price:
        found.append(msg("store_product.dearer", discount=priced(discount), price=priced(price)))
    return tuple(found)


def _level(product: StoreProduct, changes: Mapping[str, Json], name: str) -> Decimal | None:
    said = changes.get(name, product.value(name))
    return None if said == "" else number(said)
