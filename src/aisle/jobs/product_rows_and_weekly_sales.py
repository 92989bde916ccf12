"""Data of one product, parsed from the rows of its queries; sales and forecast by week, and their chart.

Interface: Product, Store product stock entry, Surrounding stock entry, Delivery order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from aisle.barcode_numbers import split_codes
from aisle.jobs import store_time
from aisle.jobs.job import format_number
from aisle.jobs.store_time import UNKNOWN_AGE, due_message, seconds_since
from aisle.jobs.sums_of_goods_and_progress import sum_by_key
from aisle.jobs.view import Chart, Msg, Series, msg, raw
from aisle.row_values import to_decimal, to_decimal_or_none

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import HeldGoodsRow
    from aisle.jobs.row_types.orders import LocationStockRow
    from aisle.jobs.row_types.products import NextDeliveriesRow, ProductRow, StoreProductRow, SurroundingRow


class PoolStock(NamedTuple):
    """Stock pool with the store's name for it, and its estimated quantity."""

    number: int
    name: str
    quantity: Decimal


class LocationStock(NamedTuple):
    """Location with this product. `stock_pools` lists the quantities of several pools."""

    location: str
    quantity: Decimal | None
    """None if unknown."""
    pools: str = ""


class Unit(NamedTuple):
    """Handling unit: name, number of base units, barcode."""

    name: str
    quantity: Decimal
    code: str


class NearbyStore(NamedTuple):
    """Nearby store or warehouse."""

    name: str
    quantity: Decimal
    is_warehouse: bool = False


class NearbyStock(NamedTuple):
    """Stock in nearby stores, with the age of the data in seconds."""

    stores: tuple[NearbyStore, ...] = ()
    age_s: Decimal = UNKNOWN_AGE
    is_refused: bool = False


class ExpectedDelivery(NamedTuple):
    """Open delivery with this product."""

    order: str
    quantity: Decimal | None
    """Quantity still to come; None if unknown."""
    day: Msg | None = None
    """Expected day; None if unknown."""


class Product(NamedTuple):
    """Product. Empty fields are unknown."""

    name: str
    brand: str = ""
    price: Decimal = Decimal(0)
    special_price: Decimal = Decimal(0)
    discount_price: Decimal = Decimal(0)
    """Price while a discount or promotion lasts: that of the store, else that of the chain."""
    old_price: Decimal = Decimal(0)
    """Price before; 0 if it is not above the price."""
    unit: str = ""
    allows_decimals: bool = False
    attention: str = ""
    stock: Decimal = Decimal(0)
    is_stocked: bool = False
    """True if the stock list of the store has a quantity for it."""
    has_no_stock: bool = False
    """True if no stock is kept of it in any store. An estimate is then meaningless."""
    estimate_age_s: Decimal = UNKNOWN_AGE
    """Seconds since its stock was estimated."""
    counted_at: str = ""
    next_delivery: str = ""
    next_ordering: str = ""
    is_discontinued: bool = False
    """True if it is no longer sold."""
    discontinued_since: str = ""
    referral: str = ""
    """Product that replaces it."""
    pools: tuple[PoolStock, ...] = ()
    locations: tuple[LocationStock, ...] = ()
    codes: tuple[str, ...] = ()
    units: tuple[Unit, ...] = ()


def parse_product(row: ProductRow, now: str) -> Product:
    """Parse a row of the query `product`."""
    named = tuple(
        PoolStock(int(pool["pool"]), str(pool["name"] or ""), to_decimal(pool["quantity"]))
        for pool in row.get("pools") or ()
    )
    names = {str(pool.number): pool.name for pool in named}
    last_day = store_time.day_of_field(str(row.get("deprecation_date") or ""))
    stock = row.get("most_likely_quantity")
    price, before = to_decimal(row.get("price")), to_decimal(row.get("old_price"))
    discount = to_decimal(row.get("discount_price") or row.get("promotion_price"))
    return Product(
        name=str(row.get("product_name") or row.get("product_description") or row.get("product_number") or ""),
        brand=str(row.get("brand_description") or ""),
        price=price,
        special_price=to_decimal(row.get("special_price")),
        discount_price=discount if row.get("is_promotion") is not False else Decimal(0),
        old_price=before if before > price else Decimal(0),
        unit=str(row.get("unit") or ""),
        allows_decimals=bool(row.get("allow_decimal")),
        attention=str(row.get("attention_codes") or row.get("attention_code") or ""),
        stock=to_decimal(stock),
        is_stocked=stock is not None and row.get("is_stock") is not False,
        has_no_stock=row.get("is_stock") is False,
        estimate_age_s=seconds_since(row.get("most_likely_datetime"), now),
        counted_at=str(row.get("last_counted_datetime") or ""),
        next_delivery=store_time.day_or_time(str(row.get("next_delivery_datetime") or "")),
        next_ordering=store_time.day_or_time(str(row.get("next_ordering_datetime") or "")),
        is_discontinued=row.get("is_active") is False or store_time.is_over(last_day, now),
        discontinued_since=last_day.isoformat() if last_day else "",
        referral=str(row.get("referral_product") or row.get("referral_product_id") or ""),
        pools=named,
        locations=tuple(_parse_location_stock(place, names) for place in row.get("locations") or ()),
        codes=_parse_codes(row),
        units=tuple(_parse_units(row)),
    )


def _parse_location_stock(location: LocationStockRow, names: Mapping[str, str]) -> LocationStock:
    pools = {str(pool): to_decimal(quantity) for pool, quantity in (location.get("pools") or {}).items()}
    texts = [f"{names.get(pool) or pool} {format_number(quantity)}" for pool, quantity in pools.items()]
    alone = [names.get(pool) or pool for pool in pools]
    pool_text = ", ".join(texts) if len(texts) > 1 else alone[0] if alone and len(names) > 1 else ""
    return LocationStock(
        str(location["location_code"]),
        to_decimal_or_none(location.get("quantity")),
        pool_text,
    )


def held_by_order(rows: Iterable[HeldGoodsRow], own: Container[str] = ()) -> dict[str, Decimal]:
    """Return how much of a product is held for each order, without the own ones."""
    return sum_by_key((row["order_number"], row["quantity"]) for row in rows if row["order_number"] not in own)


def held_message(held: Iterable[tuple[str, Decimal]]) -> Msg | None:
    """Return how much is held for which orders; None if nothing is."""
    by_order = sum_by_key(held)
    if not by_order:
        return None
    return msg("product.held_for", count=sum(by_order.values(), Decimal(0)), orders=", ".join(by_order))


def _parse_codes(row: ProductRow) -> tuple[str, ...]:
    further = row.get("barcodes_array")
    more = further if isinstance(further, list) else split_codes(str(further or ""))
    found = dict.fromkeys(str(code) for code in (row.get("barcode"), *more) if code)
    return tuple(found)


def _parse_units(row: ProductRow) -> Iterable[Unit]:
    units = row.get("units")
    for unit in units if isinstance(units, list) else ():
        if isinstance(unit, Mapping):
            yield Unit(
                str(unit.get("unit_name") or ""),
                to_decimal(unit.get("unit_quantity")),
                str(unit.get("unit_barcode") or ""),
            )
    if row.get("purchase_unit_quantity"):
        yield Unit(
            str(row.get("purchase_unit_name") or ""),
            to_decimal(row["purchase_unit_quantity"]),
            str(row.get("purchase_unit_barcode") or ""),
        )


def parse_nearby(rows: tuple[SurroundingRow, ...], now: str) -> NearbyStock:
    """Parse the answer of the query `surrounding`. No row means unknown."""
    if not rows:
        return NearbyStock()
    row = rows[0]
    stores = tuple(
        NearbyStore(str(store["store_name"]), to_decimal(store["quantity"]), bool(store["is_warehouse"]))
        for store in row["stores"]
    )
    return NearbyStock(stores, seconds_since(row.get("read_at"), now), bool(row.get("refused")))


def parse_expected_deliveries(rows: Iterable[NextDeliveriesRow], now: str) -> tuple[ExpectedDelivery, ...]:
    """Parse the answer of the query `next_deliveries`."""
    return tuple(
        ExpectedDelivery(
            str(row["order_number"]),
            None if row.get("missing") is None else to_decimal(row["missing"]),
            due_message(str(row["datetime_expected"]), now) if row.get("datetime_expected") else None,
        )
        for row in rows
    )


SERIES = {"history": msg("store_product.history"), "forecast": msg("store_product.forecast")}
"""Series on the common axis: what was sold, then what will be."""

MAX_FIGURES = 400
"""Most figures of a series."""

_SEPARATOR = re.compile(r"[;,|\s]+")
_PAIR = re.compile(r"[=:]")


class Figure(NamedTuple):
    """Figure with its key (for example a week); empty if unknown."""

    key: str
    value: Decimal


def parse_figures(value: Any) -> tuple[Figure, ...]:
    """Parse the figures of a series, in order; empty if they are invalid."""
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


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no figure")


def _split_text(text: str) -> Any:
    parts = [_PAIR.split(part, maxsplit=1) for part in _SEPARATOR.split(text.strip(" []{};,|\n\t")) if part]
    values = [part[-1] for part in parts]
    if not all(re.fullmatch(r"-?\d+(\.\d+)?", value) for value in values):
        return None
    if all(len(part) == 2 for part in parts):
        return {part[0].strip("\"'"): part[1] for part in parts}
    return values if all(len(part) == 1 for part in parts) else None


def _make_figures(pairs: Iterable[tuple[Any, Any]]) -> tuple[Figure, ...]:
    return tuple(Figure(str(key), to_decimal(value)) for key, value in pairs)[:MAX_FIGURES]


FiguresByName = tuple[tuple[str, tuple[Figure, ...]], ...]
"""Series of figures, each with its name."""


def parse_sales(row: StoreProductRow) -> FiguresByName:
    """Return sold quantities and forecast of a product, without series that the service does not tell."""
    return tuple((name, found) for name in SERIES if (found := parse_figures(row.get(f"{name}_array"))))


def sales_chart(figures_of: FiguresByName) -> Chart | None:
    """Return sales and forecast on one axis, a position for each week; None without figures.

    Figures without a week follow each other.
    """
    found: dict[str, dict[str, Decimal]] = {name: {} for name in SERIES}
    count = 0
    for name, figures in figures_of:
        for figure in figures if name in found else ():
            count += 1
            found[name][figure.key or str(count)] = figure.value
    keys = dict.fromkeys(key for values in found.values() for key in values)
    if not keys:
        return None
    series = tuple(
        Series(label, tuple(found[name].get(key, Decimal(0)) for key in keys)) for name, label in SERIES.items()
    )
    return Chart(
        name="store_product.sales",
        title=msg("store_product.sales"),
        prompt=raw(""),
        series=series,
        axis=tuple(raw(key) for key in keys),
    )
