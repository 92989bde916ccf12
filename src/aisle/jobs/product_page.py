"""What the store knows of one product, from the rows of the reads `product`, `surrounding`, `holders` and `coming`.

Interface: Product, Store product stock entry, Surrounding stock entry, Delivery order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from aisle.barcode_keys import split_codes
from aisle.jobs import quantities, store_time
from aisle.jobs.job import Json, format_number
from aisle.jobs.quantities import to_decimal
from aisle.jobs.view import Msg, msg

UNKNOWN_AGE = Decimal(-1)
"""An age that nobody knows."""


class PoolStock(NamedTuple):
    """A stock pool by the name that the store gave it, and about how much is in it."""

    number: int
    name: str
    quantity: Decimal


class LocationStock(NamedTuple):
    """A place where the product lies; `pools` names them with their quantities, where there are several."""

    location: str
    quantity: Decimal | None
    """None where nobody says it."""
    pools: str = ""


class Unit(NamedTuple):
    """A handling unit: its name, how many base units it holds, its barcode."""

    name: str
    quantity: Decimal
    code: str


class NearbyStore(NamedTuple):
    """A store around, or a warehouse."""

    name: str
    quantity: Decimal
    is_warehouse: bool = False


class NearbyStock(NamedTuple):
    """What the stores around have, and how old that is in seconds."""

    stores: tuple[NearbyStore, ...] = ()
    age_s: Decimal = UNKNOWN_AGE
    is_refused: bool = False


class WaitingOrder(NamedTuple):
    """An open order with this product."""

    order: str
    customer: str
    pickup: str
    needed: Decimal
    held: Decimal


class ExpectedDelivery(NamedTuple):
    """An open delivery that brings some of the product."""

    order: str
    quantity: Decimal | None
    """How much of it still comes; None where nobody says it."""
    day: Msg | None = None
    """When that is expected, where it is known."""


class Product(NamedTuple):
    """One product. Empty fields are not known."""

    name: str
    brand: str = ""
    price: Decimal = Decimal(0)
    unit: str = ""
    allows_decimals: bool = False
    attention: str = ""
    stock: Decimal = Decimal(0)
    is_stocked: bool = False
    """The store's stock list has it, and says how much."""
    has_no_stock: bool = False
    """No stock is kept of it, in this store and elsewhere: what is estimated of it says nothing."""
    estimate_age_s: Decimal = UNKNOWN_AGE
    """Seconds since the estimate of its stock was made."""
    counted_at: str = ""
    next_delivery: str = ""
    next_ordering: str = ""
    is_discontinued: bool = False
    """No longer sold."""
    discontinued_since: str = ""
    referral: str = ""
    """The product that takes its place."""
    pools: tuple[PoolStock, ...] = ()
    locations: tuple[LocationStock, ...] = ()
    codes: tuple[str, ...] = ()
    units: tuple[Unit, ...] = ()


def parse_product(row: Mapping[str, Any], now: str) -> Product:
    """A row of the read `product`."""
    named = tuple(
        PoolStock(int(pool["pool"]), str(pool["name"] or ""), to_decimal(pool["quantity"]))
        for pool in row.get("pools") or ()
    )
    names = {str(pool.number): pool.name for pool in named}
    deprecated = str(row.get("deprecation_date") or "")
    is_past = bool(deprecated) and _format_day(deprecated) <= store_day(now)
    stock = row.get("most_likely_quantity")
    return Product(
        name=str(row.get("product_name") or row.get("product_description") or row.get("product_number") or ""),
        brand=str(row.get("brand_description") or ""),
        price=to_decimal(row.get("price")),
        unit=str(row.get("unit") or ""),
        allows_decimals=bool(row.get("allow_decimal")),
        attention=str(row.get("attention_codes") or row.get("attention_code") or ""),
        stock=to_decimal(stock),
        is_stocked=stock is not None and row.get("is_stock") is not False,
        has_no_stock=row.get("is_stock") is False,
        estimate_age_s=seconds_since(row.get("most_likely_datetime"), now),
        counted_at=str(row.get("last_counted_datetime") or ""),
        next_delivery=str(row.get("next_delivery_datetime") or ""),
        next_ordering=str(row.get("next_ordering_datetime") or ""),
        is_discontinued=row.get("is_active") is False or is_past,
        discontinued_since=_format_day(deprecated),
        referral=str(row.get("referral_product") or row.get("referral_product_id") or ""),
        pools=named,
        locations=tuple(_parse_location_stock(place, names) for place in row.get("places") or ()),
        codes=_parse_codes(row),
        units=tuple(_parse_units(row)),
    )


def _format_day(text: str) -> str:
    """yyyyMMdd as people and calendars write it; anything else as it is."""
    return f"{text[:4]}-{text[4:6]}-{text[6:]}" if re.fullmatch(r"\d{8}", text) else text


def _parse_location_stock(location: Mapping[str, Any], names: Mapping[str, str]) -> LocationStock:
    pools = {str(pool): to_decimal(quantity) for pool, quantity in (location.get("pools") or {}).items()}
    texts = [f"{names.get(pool) or pool} {format_number(quantity)}" for pool, quantity in pools.items()]
    alone = [names.get(pool) or pool for pool in pools]
    said = ", ".join(texts) if len(texts) > 1 else alone[0] if alone and len(names) > 1 else ""
    return LocationStock(str(location["location_code"]), quantities.to_decimal_or_none(location.get("quantity")), said)


def _parse_codes(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The product's own barcode first, then the further ones, each once."""
    further = row.get("barcodes_array")
    more = further if isinstance(further, list) else split_codes(str(further or ""))
    found = dict.fromkeys(str(code) for code in (row.get("barcode"), *more) if code)
    return tuple(found)


def _parse_units(row: Mapping[str, Any]) -> Iterable[Unit]:
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


def parse_nearby(rows: tuple[Mapping[str, Any], ...], now: str) -> NearbyStock:
    """The answer of the read `surrounding`; nothing is known while it has no row."""
    if not rows:
        return NearbyStock()
    row = rows[0]
    stores = tuple(
        NearbyStore(str(store["store_name"]), to_decimal(store["quantity"]), bool(store["is_warehouse"]))
        for store in row["stores"]
    )
    return NearbyStock(stores, seconds_since(row.get("read_at"), now), bool(row.get("refused")))


def parse_waiting_orders(rows: Iterable[Mapping[str, Any]]) -> tuple[WaitingOrder, ...]:
    """The answer of the read `holders`."""
    return tuple(
        WaitingOrder(
            str(row["order_number"]),
            str(row.get("customer_name") or ""),
            str(row.get("pickup_date") or ""),
            to_decimal(row.get("needed")),
            to_decimal(row.get("held")),
        )
        for row in rows
    )


def parse_expected_deliveries(rows: Iterable[Mapping[str, Any]], now: str) -> tuple[ExpectedDelivery, ...]:
    """The answer of the read `coming`."""
    return tuple(
        ExpectedDelivery(
            str(row["order_number"]),
            None if row.get("missing") is None else to_decimal(row["missing"]),
            due_message(str(row["datetime_expected"]), now) if row.get("datetime_expected") else None,
        )
        for row in rows
    )


_PAST_DUE_IDS = {"moment.late": "moment", "moment.late_year": "moment.year"}


def due_message(at: str, now: str, *, is_moment: bool = False) -> Msg:
    """When something is due, in the time of the store: marked where that is past, with the year where it is another.

    What is due on a day is late when that day is over. `is_moment`: the field names no day, but a moment.
    """
    moment, present = store_time.parse_time(at), store_time.parse_time(now)
    if moment is None or present is None:
        return msg("moment", at=at)
    day = None if is_moment and not store_time.is_whole_day(at) else store_time.named_day(at)
    is_late = moment < present if day is None else day < present.date()
    shown = at if day is None else day.isoformat()
    if (day or moment).year != present.year:
        return msg("moment.late_year" if is_late else "moment.year", at=shown)
    return msg("moment.late" if is_late else "moment", at=shown)


def past_due_message(at: str, now: str) -> Msg:
    """When something was due that is done: that is past, and not late."""
    said = due_message(at, now)
    return said._replace(id=_PAST_DUE_IDS.get(said.id, said.id))


def store_day(at: str) -> str:
    """The day of a moment in the time of the store; of what is none, what stands for one."""
    day = store_time.day_in_store(at)
    return at[:10] if day is None else day.isoformat()


def time_message(at: str, today: str) -> Msg:
    """When something was: of `today` (ISO 8601) the time alone, of another year that too."""
    day = store_day(at)
    if day == today:
        return msg("logs.at_time", at=at)
    return msg("moment" if day[:4] == today[:4] else "moment.year", at=at)


def seconds_since(moment: Json, now: str) -> Decimal:
    """Seconds between two moments (ISO 8601), never below 0; UNKNOWN where one of them is none."""
    then, present = store_time.parse_time(str(moment)), store_time.parse_time(now)
    if then is None or present is None:
        return UNKNOWN_AGE
    return Decimal(max(0, int((present - then).total_seconds())))
