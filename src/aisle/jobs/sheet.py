"""What the store knows of one product, from the rows of the reads `product`, `surrounding`, `holders` and `coming`.

Interface: Product, Store product stock entry, Surrounding stock entry, Delivery order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from aisle.code_forms import split_codes
from aisle.jobs import amounts, store_time
from aisle.jobs.amounts import number
from aisle.jobs.base import Json, whole
from aisle.jobs.view import Msg, msg
from aisle.tuples import NamedTuple

UNKNOWN = Decimal(-1)
"""An age that nobody knows."""


class Pool(NamedTuple):
    """A stock pool by the name that the store gave it, and about how much is in it."""

    pool: int
    name: str
    quantity: Decimal


class Spot(NamedTuple):
    """A place where the product lies; `pools` names them with their quantities, where there are several."""

    place: str
    quantity: Decimal | None
    """None where nobody says it."""
    pools: str = ""


class Unit(NamedTuple):
    """A handling unit: its name, how many base units it holds, its barcode."""

    name: str
    quantity: Decimal
    code: str


class Near(NamedTuple):
    """A store around, or a warehouse."""

    name: str
    quantity: Decimal
    is_warehouse: bool = False


class Around(NamedTuple):
    """What the stores around have, and how old that is in seconds."""

    stores: tuple[Near, ...] = ()
    age: Decimal = UNKNOWN
    refused: bool = False


class Holder(NamedTuple):
    """An open order with this product."""

    order: str
    who: str
    pickup: str
    needed: Decimal
    held: Decimal


class Coming(NamedTuple):
    """An open delivery that brings some of the product."""

    order: str
    quantity: Decimal | None
    """How much of it still comes; None where nobody says it."""
    day: Msg | None = None
    """When that is expected, where it is known."""


class Sheet(NamedTuple):
    """One product. Empty fields are not known."""

    name: str
    brand: str = ""
    price: Decimal = Decimal(0)
    unit: str = ""
    decimal: bool = False
    attention: str = ""
    stock: Decimal = Decimal(0)
    is_stocked: bool = False
    """The store's stock list has it, and says how much."""
    keeps_none: bool = False
    """No stock is kept of it, in this store and elsewhere: what is estimated of it says nothing."""
    age: Decimal = UNKNOWN
    """Seconds since the estimate of its stock was made."""
    counted: str = ""
    delivery: str = ""
    ordering: str = ""
    gone: bool = False
    """No longer sold."""
    gone_since: str = ""
    referral: str = ""
    """The product that takes its place."""
    pools: tuple[Pool, ...] = ()
    spots: tuple[Spot, ...] = ()
    codes: tuple[str, ...] = ()
    units: tuple[Unit, ...] = ()


def sheet(row: Mapping[str, Any], now: str) -> Sheet:
    """A row of the read `product`."""
    named = tuple(
        Pool(int(pool["pool"]), str(pool["name"] or ""), number(pool["quantity"])) for pool in row.get("pools") or ()
    )
    names = {str(pool.pool): pool.name for pool in named}
    deprecated = str(row.get("deprecation_date") or "")
    is_past = bool(deprecated) and _day(deprecated) <= day_of(now)
    stock = row.get("most_likely_quantity")
    return Sheet(
        name=str(row.get("product_name") or row.get("product_description") or row.get("product_number") or ""),
        brand=str(row.get("brand_description") or ""),
        price=number(row.get("price")),
        unit=str(row.get("unit") or ""),
        decimal=bool(row.get("allow_decimal")),
        attention=str(row.get("attention_codes") or row.get("attention_code") or ""),
        stock=number(stock),
        is_stocked=stock is not None and row.get("is_stock") is not False,
        keeps_none=row.get("is_stock") is False,
        age=age_of(row.get("most_likely_datetime"), now),
        counted=str(row.get("last_counted_datetime") or ""),
        delivery=str(row.get("next_delivery_datetime") or ""),
        ordering=str(row.get("next_ordering_datetime") or ""),
        gone=row.get("is_active") is False or is_past,
        gone_since=_day(deprecated),
        referral=str(row.get("referral_product") or row.get("referral_product_id") or ""),
        pools=named,
        spots=tuple(_spot(place, names) for place in row.get("places") or ()),
        codes=_codes(row),
        units=tuple(_units(row)),
    )


def _day(text: str) -> str:
    """yyyyMMdd as people and calendars write it; anything else as it is."""
    return f"{text[:4]}-{text[4:6]}-{text[6:]}" if re.fullmatch(r"\d{8}", text) else text


def _spot(place: Mapping[str, Any], names: Mapping[str, str]) -> Spot:
    pools = {str(pool): number(quantity) for pool, quantity in (place.get("pools") or {}).items()}
    texts = [f"{names.get(pool) or pool} {whole(quantity)}" for pool, quantity in pools.items()]
    alone = [names.get(pool) or pool for pool in pools]
    said = ", ".join(texts) if len(texts) > 1 else alone[0] if alone and len(names) > 1 else ""
    return Spot(str(place["location_code"]), amounts.said(place.get("quantity")), said)


def _codes(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The product's own barcode first, then the further ones, each once."""
    further = row.get("barcodes_array")
    more = further if isinstance(further, list) else split_codes(str(further or ""))
    found = dict.fromkeys(str(code) for code in (row.get("barcode"), *more) if code)
    return tuple(found)


def _units(row: Mapping[str, Any]) -> Iterable[Unit]:
    units = row.get("units")
    for unit in units if isinstance(units, list) else ():
        if isinstance(unit, Mapping):
            yield Unit(
                str(unit.get("unit_name") or ""), number(unit.get("unit_quantity")), str(unit.get("unit_barcode") or "")
            )
    if row.get("purchase_unit_quantity"):
        yield Unit(
            str(row.get("purchase_unit_name") or ""),
            number(row["purchase_unit_quantity"]),
            str(row.get("purchase_unit_barcode") or ""),
        )


def around(rows: tuple[Mapping[str, Any], ...], now: str) -> Around:
    """The answer of the read `surrounding`; nothing is known while it has no row."""
    if not rows:
        return Around()
    row = rows[0]
    stores = tuple(
        Near(str(store["store_name"]), number(store["quantity"]), bool(store["is_warehouse"]))
        for store in row["stores"]
    )
    return Around(stores, age_of(row.get("read_at"), now), bool(row.get("refused")))


def holders(rows: Iterable[Mapping[str, Any]]) -> tuple[Holder, ...]:
    """The answer of the read `holders`."""
    return tuple(
        Holder(
            str(row["order_number"]),
            str(row.get("customer_name") or ""),
            str(row.get("pickup_date") or ""),
            number(row.get("needed")),
            number(row.get("held")),
        )
        for row in rows
    )


def coming(rows: Iterable[Mapping[str, Any]], now: str) -> tuple[Coming, ...]:
    """The answer of the read `coming`."""
    return tuple(
        Coming(
            str(row["order_number"]),
            None if row.get("missing") is None else number(row["missing"]),
            due(str(row["datetime_expected"]), now) if row.get("datetime_expected") else None,
        )
        for row in rows
    )


_SETTLED = {"moment.late": "moment", "moment.late_year": "moment.year"}


def due(at: str, now: str, *, is_moment: bool = False) -> Msg:
    """When something is due, in the time of the store: marked where that is past, with the year where it is another.

    What is due on a day is late when that day is over. `is_moment`: the field names no day, but a moment.
    """
    moment, present = store_time.read(at), store_time.read(now)
    if moment is None or present is None:
        return msg("moment", at=at)
    day = None if is_moment and not store_time.is_day(at) else store_time.day_meant(at)
    is_late = moment < present if day is None else day < present.date()
    shown = at if day is None else day.isoformat()
    if (day or moment).year != present.year:
        return msg("moment.late_year" if is_late else "moment.year", at=shown)
    return msg("moment.late" if is_late else "moment", at=shown)


def settled(at: str, now: str) -> Msg:
    """When something was due that is done: that is past, and not late."""
    said = due(at, now)
    return said._replace(id=_SETTLED.get(said.id, said.id))


def day_of(at: str) -> str:
    """The day of a moment in the time of the store; of what is none, what stands for one."""
    day = store_time.day_of(at)
    return at[:10] if day is None else day.isoformat()


def happened(at: str, today: str) -> Msg:
    """When something was: of `today` (ISO 8601) the time alone, of another year that too."""
    day = day_of(at)
    if day == today:
        return msg("logs.at_time", at=at)
    return msg("moment" if day[:4] == today[:4] else "moment.year", at=at)


def age_of(moment: Json, now: str) -> Decimal:
    """Seconds between two moments (ISO 8601), never below 0; UNKNOWN where one of them is none."""
    then, present = store_time.read(str(moment)), store_time.read(now)
    if then is None or present is None:
        return UNKNOWN
    return Decimal(max(0, int((present - then).total_seconds())))
