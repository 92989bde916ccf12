"""Samples of the pages of the chain's stores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aisle.jobs.row_types.people_stores_and_features import StorePageRow, StoresRow
from aisle.jobs.supervisor.stores import StoresJob, StoresState
from aisle.jobs.view import INFO, WRONG, Frame, LinkState, Verdict, msg

STORE_ROWS = (
    ("0041", "Millbrook High Street", False, "Mill Valley"),
    ("0042", "Millbrook Station", False, "Mill Valley"),
    ("0043", "Fernhill", False, "Mill Valley"),
    ("0107", "Sankt Pölten Hauptbahnhof, Untergeschoss", False, "Niederösterreich"),
    ("0900", "Millbrook Depot", True, "Mill Valley"),
)
"""Number, name, True for a warehouse, area."""

STORE_FIELDS: dict[str, Any] = {
    "store_number": "0043",
    "store_name": "Fernhill",
    "is_warehouse": False,
    "address": "40 Church Street",
    "postal_code": "MV4 2QT",
    "city": "Fernhill",
    "country_code": "GB",
    "country_name": "United Kingdom",
    "phone_number": "+44 1632 960043",
    "contact_details": "Ask for Joan",
    "area_id": "MV",
    "area_description": "Mill Valley",
    "store_type_description": "Neighbourhood",
    "store_next_ordering_datetime": "2026-11-21T09:00:00Z",
    "store_next_delivery_datetime": "2026-11-23T06:30:00Z",
    "legal_entity": "Mill Valley Stores Ltd",
    "cost_center": "4300",
    "store_gln": "5060000000437",
    "is_active": True,
    "ip_range_begin": "10.43.0.1",
    "ip_range_end": "10.43.0.254",
    "pools": {"1": "Shop floor", "2": "Backroom", "4": "Web orders"},
    "opening_hours": [
        {"key": "Mon-Fri", "sort_order": 1, "value": "8:00-20:00"},
        {"key": "Sat", "sort_order": 2, "value": "8:00-18:00"},
    ],
    "ordering_schema": [
        {"day": 1, "delivery_offset": 2, "time": "09:00"},
        {"day": 4, "delivery_offset": 1, "time": "11:30", "category_code": "FRESH", "week_numbers": "1,3,5"},
        {"day": 7, "delivery_offset": 3, "time": "20:00", "ordering_offset": 1},
    ],
    "store_printers": [
        {"printer_name": "Labels", "printer_ip": "10.43.0.20", "vendor": "Zebra", "is_bluetooth": False},
        {"printer_name": "Belt 2", "printer_serial": "QLN-2207", "is_bluetooth": True},
    ],
    "free_fields": [{"key": "Key holder", "sort_order": 1, "value": "J. Lamb"}],
    "something_new": 12,
    "details": "yes",
    "read_at": "",
    "is_current": False,
    "may_switch": True,
    "back": False,
    "waiting": 0,
    "jobs": [],
    "there_known": True,
    "there_waiting": 0,
    "there_jobs": [],
}


def store_row(number: str, name: str, **fields: Any) -> StoresRow:
    """One row of the list."""
    row: Any = {
        "store_number": number,
        "store_name": name,
        "is_warehouse": False,
        "area": "",
        "country": "",
        "is_current": False,
        "near": True,
        "waiting": 0,
    }
    row.update(fields)
    return row  # type: ignore[no-any-return]


def _rows(text: str) -> tuple[StoresRow, ...]:
    rows = [
        store_row(number, text or name, is_warehouse=warehouse, area=text or area)
        for number, name, warehouse, area in STORE_ROWS
    ]
    rows[1]["is_current"] = True
    rows[2]["waiting"] = 3
    rows[3]["near"] = False
    return tuple(rows)


def _store(text: str, **fields: Any) -> StorePageRow:
    data: Any = {**STORE_FIELDS, **fields}
    if text:
        named = {name: text for name, value in data.items() if isinstance(value, str) and name not in ("details",)}
        data |= {**named, "pools": {"1": text}, "opening_hours": [{"key": text, "value": text}]}
        data |= {"free_fields": [{"key": text, "value": text}], "store_printers": [{"printer_name": text}]}
    return data  # type: ignore[no-any-return]


def _frame(state: StoresState, verdict: Verdict | None, link: LinkState, serial: int = 0) -> Frame:
    return Frame(StoresJob().view(state), link, verdict, "", "0042", "Anna", serial)


def _list(text: str) -> Frame:
    return _frame(StoresState(rows=_rows(text), total=812, cursor=2), None, LinkState("live", 4.0))


def _near(text: str) -> Frame:
    state = StoresState("near", rows=_rows(text)[2:], total=3)
    return _frame(state, Verdict(INFO, msg("look_up.nearby")), LinkState("offline", 5400.0, 4), 2)


def _nothing(text: str) -> Frame:
    verdict = Verdict(WRONG, msg("stores.not_this", what=text or "Rye bread"))
    return _frame(StoresState(search=text or "zebra"), verdict, LinkState("live", 4.0), 3)


def _none_yet(text: str) -> Frame:
    return _frame(StoresState(is_switching=True), None, LinkState("syncing", -1.0))


def _page(text: str) -> Frame:
    return _frame(
        StoresState(store_number=text or "0043", store=_store(text)),
        None,
        LinkState("live", 4.0, waiting_other_stores=2),
    )


def _staff(text: str) -> Frame:
    sheet = _store(text, may_switch=False, is_warehouse=True)
    return _frame(StoresState(store_number=text or "0900", store=sheet), None, LinkState("live", 4.0))


def _listed(text: str) -> Frame:
    """Show a store at a service with no more data than the list."""
    listed = ("store_number", "store_name", "area_description", "country_code", "pools")
    facts = list(STORE_FIELDS)
    own_fields = facts[facts.index("details") :]
    row: Any = {name: STORE_FIELDS[name] for name in (*listed, *own_fields)}
    row |= {"store_name": text or row["store_name"], "details": "unasked"}
    return _frame(StoresState(store_number="0043", store=row), None, LinkState("offline", 900.0))


def _awaited(text: str) -> Frame:
    return _frame(StoresState(store_number=text or "0043"), None, LinkState("syncing", 30.0))


def _switch(text: str) -> Frame:
    sheet = _store(text, waiting=3, jobs=["pick", "count"], there_waiting=1, there_jobs=["move"])
    return _frame(
        StoresState(store_number=text or "0043", store=sheet, is_asking_switch=True),
        None,
        LinkState("offline", 900.0, 3),
    )


def _switch_to_new(text: str) -> Frame:
    sheet = _store(text, there_known=False)
    return _frame(
        StoresState(store_number=text or "0043", store=sheet, is_asking_switch=True), None, LinkState("offline", 900.0)
    )


def _no_right(text: str) -> Frame:
    state = StoresState(
        store_number=text or "0043", store=_store(text, may_switch=False), is_asking_switch=True, is_switching=True
    )
    return _frame(state, None, LinkState("live", 4.0))


STORE_SAMPLES: tuple[tuple[str, str, Callable[[str], Frame]], ...] = (
    ("stores", "all", _list),
    ("stores", "near", _near),
    ("stores", "nothing", _nothing),
    ("stores", "none_yet", _none_yet),
    ("stores.page", "all", _page),
    ("stores.page", "staff", _staff),
    ("stores.page", "listed", _listed),
    ("stores.page", "awaited", _awaited),
    ("stores.change", "open", _switch),
    ("stores.change", "new", _switch_to_new),
    ("stores.change", "no_right", _no_right),
)
"""Screen, state and builder of each sample."""
