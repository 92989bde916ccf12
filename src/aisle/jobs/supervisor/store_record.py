"""Store of the chain for list and page, parsed from the rows of the queries `stores` and `store_page`.

Interface: Store, Create stores.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from aisle.jobs.job import format_number

if TYPE_CHECKING:
    from aisle.jobs.row_types.stores import StorePageRow, StoresRow

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
"""Names of the fields with one value, in the order of their importance to people."""

_KNOWN_FIELDS = {
    *FIELDS,
    *("store_number", "store_name", "is_warehouse", "pools", "opening_hours", "ordering_schema", "store_printers"),
    *("free_fields", "details", "read_at", "is_current", "may_switch", "back", "waiting", "jobs"),
    *("there_known", "there_waiting", "there_jobs"),
}


class ListedStore(NamedTuple):
    """Store in the list."""

    number: str
    name: str
    is_warehouse: bool = False
    area: str = ""
    is_current: bool = False
    is_nearby: bool = False
    unsent: int = 0
    """Unsent operations of that store on this host."""


class StoreField(NamedTuple):
    """Field with its value; `yes` and `no` for booleans."""

    name: str
    value: str
    is_known: bool = True
    """True if the interface defines it; otherwise the field's name is its label."""


class OrderingSlot(NamedTuple):
    """Row of the ordering schema."""

    day: str
    time: str
    delivery_offset: str
    """Days until the delivery."""
    ordering_offset: str
    """Days by which it is ordered earlier."""
    category: str = ""
    weeks: str = ""


class Printer(NamedTuple):
    """Printer of the store."""

    name: str
    address: str = ""
    description: str = ""
    is_bluetooth: bool = False


class Store(NamedTuple):
    """Store with all its data. Empty fields are unknown."""

    name: str
    is_warehouse: bool = False
    area: str = ""
    fields: tuple[StoreField, ...] = ()
    pools: tuple[tuple[str, str], ...] = ()
    opening_hours: tuple[tuple[str, str], ...] = ()
    ordering_schema: tuple[OrderingSlot, ...] = ()
    printers: tuple[Printer, ...] = ()
    free_fields: tuple[tuple[str, str], ...] = ()
    details_state: str = ""
    is_current: bool = False
    may_switch: bool = False
    is_home_store: bool = False
    """True if this terminal belongs to that store. Anybody may then switch it back, not only a supervisor."""
    unsent: int = 0
    open_jobs: tuple[str, ...] = ()
    has_data_there: bool = True
    """True if this host has data of that store."""
    unsent_there: int = 0
    open_jobs_there: tuple[str, ...] = ()


def parse_store_row(row: StoresRow) -> ListedStore:
    """Parse a row of the query `stores`."""
    return ListedStore(
        str(row["store_number"]),
        str(row.get("store_name") or ""),
        bool(row.get("is_warehouse")),
        str(row.get("area") or ""),
        bool(row.get("is_current")),
        bool(row.get("near")),
        int(row.get("waiting") or 0),
    )


_POOL_FIELD = re.compile(r"store_?stock_?pool_?(\d+)", re.IGNORECASE)
"""Name of a stock pool as a field of its own, in both spellings that services use."""


def _repeats_pool(name: str, value: str, pools: Mapping[str, str]) -> bool:
    """Return True if this field only repeats the list of pools."""
    found = _POOL_FIELD.fullmatch(name)
    return bool(found) and pools.get(str(int(found[1] if found else 0))) == value


def parse_store(row: StorePageRow) -> Store:
    """Parse the row of the query `store_page`. Fields that the interface does not define are included."""
    facts = [StoreField(name, text) for name in FIELDS if (text := format_field(row.get(name)))]
    pools = {str(pool): format_field(name) for pool, name in (row.get("pools") or {}).items()}
    more = {name: format_field(row.get(name)) for name in sorted(row) if name not in _KNOWN_FIELDS}
    facts += [
        StoreField(name, text, False) for name, text in more.items() if text and not _repeats_pool(name, text, pools)
    ]
    return Store(
        name=str(row.get("store_name") or ""),
        is_warehouse=row.get("is_warehouse") in (True, 1, "true"),
        area=str(row.get("area_description") or row.get("area_id") or ""),
        fields=tuple(facts),
        pools=tuple(pools.items()),
        opening_hours=parse_free_fields(row.get("opening_hours")),
        ordering_schema=tuple(_parse_ordering_slot(each) for each in list_of_mappings(row.get("ordering_schema"))),
        printers=tuple(_parse_printer(each) for each in list_of_mappings(row.get("store_printers"))),
        free_fields=parse_free_fields(row.get("free_fields")),
        details_state=str(row.get("details") or ""),
        is_current=bool(row.get("is_current")),
        may_switch=bool(row.get("may_switch")),
        is_home_store=bool(row.get("back")),
        unsent=int(row.get("waiting") or 0),
        open_jobs=tuple(dict.fromkeys(str(name) for name in row.get("jobs") or ())),
        has_data_there=row.get("there_known") is not False,
        unsent_there=int(row.get("there_waiting") or 0),
        open_jobs_there=tuple(dict.fromkeys(str(name) for name in row.get("there_jobs") or ())),
    )


def format_field(value: Any) -> str:
    """Return a value of a resource as text: numbers without exponent, lists with commas; empty for nothing."""
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float | Decimal):
        return format_number(Decimal(str(value)))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {format_field(item)}" for name, item in value.items() if format_field(item))
    if isinstance(value, list | tuple):
        return ", ".join(filter(None, map(format_field, value)))
    return str(value)


def list_of_mappings(value: Any) -> Iterable[Mapping[str, object]]:
    """Return the mappings of a list; other elements are ignored."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def parse_free_fields(value: Any) -> tuple[tuple[str, str], ...]:
    """Return free keys and values in their sort order."""
    rows = sorted(list_of_mappings(value), key=lambda each: _sort_order(each.get("sort_order")))
    return tuple((format_field(each.get("key")), format_field(each.get("value"))) for each in rows if each.get("key"))


def _sort_order(value: Any) -> float:
    return float(value) if isinstance(value, int | float | Decimal) else 0.0


def _parse_ordering_slot(row: Mapping[str, object]) -> OrderingSlot:
    names = ("day", "time", "delivery_offset", "ordering_offset", "category_code", "week_numbers")
    return OrderingSlot(*(format_field(row.get(name)) for name in names))


def _parse_printer(row: Mapping[str, object]) -> Printer:
    about = (row.get("vendor"), row.get("printer_type"), row.get("printer_serial"))
    return Printer(
        format_field(row.get("printer_name")),
        format_field(row.get("printer_ip")),
        " ".join(filter(None, map(format_field, about))),
        row.get("is_bluetooth") is True,
    )


class StoresState(NamedTuple):
    """State of the list, of the page of one store, and of the question to switch to it."""

    subset: str = "all"
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[ListedStore, ...] = ()
    total: int = 0
    store_number: str = ""
    """Store whose page is open; empty for the list."""
    store: Store | None = None
    page: int = 0
    is_switching: bool = False
    """True if the job was opened to switch the store. A row chosen from the list then opens the question at once."""
    is_asking_switch: bool = False
    """True while the person is asked to confirm the switch."""
    open_single_hit: bool = False
    """True after a search that was ended with Enter. A single hit, or the store with exactly that number, opens at
    once."""
    may_have_more: bool = False
    """True if more than `total` stores may match."""
