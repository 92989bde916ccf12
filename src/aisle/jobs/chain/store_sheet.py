"""A store as list and page show it, from the rows of the reads `stores` and `store_page`.

Interface: Store, Create stores.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.base import whole
from aisle.tuples import NamedTuple

ADDRESS = {
    "address": "store.address",
    "postal_code": "store.postal_code",
    "city": "store.city",
    "country_name": "store.country_name",
    "country_code": "store.country_code",
    "phone_number": "store.phone_number",
    "contact_details": "store.contact_details",
}
ORGANISATION = {
    "store_next_ordering_datetime": "store.store_next_ordering_datetime",
    "store_next_delivery_datetime": "store.store_next_delivery_datetime",
    "area_description": "store.area_description",
    "area_id": "store.area_id",
    "area_manager_user_id": "store.area_manager_user_id",
    "store_type_description": "store.store_type_description",
    "store_type_code": "store.store_type_code",
    "legal_entity": "store.legal_entity",
    "cost_center": "store.cost_center",
    "price_line_id": "store.price_line_id",
    "is_active": "store.is_active",
    "is_active_data_exchange": "store.is_active_data_exchange",
}
TECHNICAL = {
    "id": "store.id",
    "store_gln": "store.store_gln",
    "invent_location": "store.invent_location",
    "last_order_line_exported_on": "store.last_order_line_exported_on",
    "local_server_path": "store.local_server_path",
    "esl_server_path": "store.esl_server_path",
    "ip_range_begin": "store.ip_range_begin",
    "ip_range_end": "store.ip_range_end",
}
FIELDS = {**ADDRESS, **ORGANISATION, **TECHNICAL}
"""Fields that are one value, in the order in which a person wants them, and what they are called."""

_SHOWN = {
    *FIELDS,
    *("store_number", "store_name", "is_warehouse", "pools", "opening_hours", "ordering_schema", "store_printers"),
    *("free_fields", "told", "read_at", "here", "may", "back", "waiting", "jobs"),
    *("there_known", "there_waiting", "there_jobs"),
}


class Listed(NamedTuple):
    """One store of the list."""

    number: str
    name: str
    warehouse: bool = False
    area: str = ""
    here: bool = False
    near: bool = False
    waiting: int = 0
    """Operations that this host has still to send of it."""


class Fact(NamedTuple):
    """A field and what it says, `yes` and `no` of what is true or not."""

    field: str
    value: str
    known: bool = True
    """Whether the interface names it; else the field is its own label."""


class Order(NamedTuple):
    """A row of the ordering schema."""

    day: str
    time: str
    after: str
    """Days until the delivery."""
    before: str
    """Days by which it is ordered earlier."""
    category: str = ""
    weeks: str = ""


class Printer(NamedTuple):
    """A printer of the store."""

    name: str
    address: str = ""
    about: str = ""
    bluetooth: bool = False


class Sheet(NamedTuple):
    """All of one store. What is empty is not known."""

    name: str
    warehouse: bool = False
    area: str = ""
    facts: tuple[Fact, ...] = ()
    pools: tuple[tuple[str, str], ...] = ()
    hours: tuple[tuple[str, str], ...] = ()
    orders: tuple[Order, ...] = ()
    printers: tuple[Printer, ...] = ()
    free: tuple[tuple[str, str], ...] = ()
    told: str = ""
    here: bool = False
    may: bool = False
    back: bool = False
    """This terminal belongs there: anybody brings it back, not a supervisor alone."""
    waiting: int = 0
    jobs: tuple[str, ...] = ()
    there_known: bool = True
    """Data of it are on this host."""
    there_waiting: int = 0
    there_jobs: tuple[str, ...] = ()


def listed_of(row: Mapping[str, Any]) -> Listed:
    """A row of the read `stores`."""
    return Listed(
        str(row["store_number"]),
        str(row.get("store_name") or ""),
        bool(row.get("is_warehouse")),
        str(row.get("area") or ""),
        bool(row.get("here")),
        bool(row.get("near")),
        int(row.get("waiting") or 0),
    )


_POOL = re.compile(r"store_?stock_?pool_?(\d+)", re.IGNORECASE)
"""The name of a stock pool as a field of its own, in both spellings that services know."""


def _is_told(name: str, said: str, pools: Mapping[str, str]) -> bool:
    """Whether this field says no more than the list of the pools."""
    found = _POOL.fullmatch(name)
    return bool(found) and pools.get(str(int(found[1] if found else 0))) == said


def sheet_of(row: Mapping[str, Any]) -> Sheet:
    """The row of the read `store_page`; fields that the interface does not know are shown too."""
    facts = [Fact(name, said) for name in FIELDS if (said := text_of(row.get(name)))]
    pools = {str(pool): text_of(name) for pool, name in (row.get("pools") or {}).items()}
    more = {name: text_of(row[name]) for name in sorted(row) if name not in _SHOWN}
    facts += [Fact(name, said, False) for name, said in more.items() if said and not _is_told(name, said, pools)]
    return Sheet(
        name=str(row.get("store_name") or ""),
        warehouse=row.get("is_warehouse") in (True, 1, "true"),
        area=str(row.get("area_description") or row.get("area_id") or ""),
        facts=tuple(facts),
        pools=tuple(pools.items()),
        hours=keyed(row.get("opening_hours")),
        orders=tuple(_order(each) for each in rows_of(row.get("ordering_schema"))),
        printers=tuple(_printer(each) for each in rows_of(row.get("store_printers"))),
        free=keyed(row.get("free_fields")),
        told=str(row.get("told") or ""),
        here=bool(row.get("here")),
        may=bool(row.get("may")),
        back=bool(row.get("back")),
        waiting=int(row.get("waiting") or 0),
        jobs=tuple(dict.fromkeys(str(name) for name in row.get("jobs") or ())),
        there_known=row.get("there_known") is not False,
        there_waiting=int(row.get("there_waiting") or 0),
        there_jobs=tuple(dict.fromkeys(str(name) for name in row.get("there_jobs") or ())),
    )


def text_of(value: Any) -> str:
    """A value of a resource as a text: numbers without an exponent, lists with commas; nothing is empty."""
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float | Decimal):
        return whole(Decimal(str(value)))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {text_of(said)}" for name, said in value.items() if text_of(said))
    if isinstance(value, list | tuple):
        return ", ".join(filter(None, map(text_of, value)))
    return str(value)


def rows_of(value: Any) -> Iterable[Mapping[str, Any]]:
    """The objects of a list; whatever else stands there is left out."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def keyed(value: Any) -> tuple[tuple[str, str], ...]:
    """Free keys and values, in their order."""
    rows = sorted(rows_of(value), key=lambda each: _rank(each.get("sort_order")))
    return tuple((text_of(each.get("key")), text_of(each.get("value"))) for each in rows if each.get("key"))


def _rank(value: Any) -> float:
    return float(value) if isinstance(value, int | float | Decimal) else 0.0


def _order(row: Mapping[str, Any]) -> Order:
    names = ("day", "time", "delivery_offset", "ordering_offset", "category_code", "week_numbers")
    return Order(*(text_of(row.get(name)) for name in names))


def _printer(row: Mapping[str, Any]) -> Printer:
    about = (row.get("vendor"), row.get("printer_type"), row.get("printer_serial"))
    return Printer(
        text_of(row.get("printer_name")),
        text_of(row.get("printer_ip")),
        " ".join(filter(None, map(text_of, about))),
        row.get("is_bluetooth") is True,
    )
