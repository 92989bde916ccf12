"""Time zones of stores, in which the service reads times without a zone, and times that their clocks do not show once.

A service that does not name its zone is taken to have that of this process (None).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from aisle.client.client import Client
from aisle.client.csv_load.checked_rows import CsvTable
from aisle.client.csv_load.clean_cells_by_column_kind import DATE
from aisle.client.errors import ClientError
from aisle.contract.request_encoding import encode_segment
from aisle.errors import ContractError

TIME_ZONE_HEADER = "aisle-time-zone"


async def read_zone(client: Client, store: str) -> tzinfo | None:
    """Return the zone in which the service reads the times of a store, also of a new one; None if it does not say."""
    try:
        response = await client.request_extension("GET", f"/aisle/v1/stores/{encode_segment(store)}")
        name = response.headers.get(TIME_ZONE_HEADER, "")
        return ZoneInfo(name) if name else None
    except (ClientError, ContractError, ZoneInfoNotFoundError, ValueError):
        return None


async def zones_of_times(table: CsvTable, client: Client) -> Mapping[str, tzinfo | None]:
    """Return the zones of the stores for which a file has times without a zone."""
    names = table.columns_of_kind(DATE)
    rows = table.select_cells(("store_number", *names)) if names else ()
    stores = {store for _, (store, *cells) in rows if store and any(map(_has_local_time, cells))}
    return {store: await read_zone(client, store) for store in sorted(stores)}


def clock_reason(text: str, zone: tzinfo | None) -> tuple[str, bool]:
    """Return why a time without a zone is not one moment, and True if there is no such time; else an empty text."""
    if not _has_local_time(text):
        return "", False
    first, second = _moments(text, zone)
    if first > second:
        return "does not exist, because clocks go forward then; write the time that is meant", True
    if first < second:
        return f"comes twice, because clocks go back then, and is read as the first, {first:%H:%M} UTC", False
    return "", False


def moment_of(value: object, zone: tzinfo | None) -> datetime | None:
    """Return a time in UTC; one without a zone is of the store. None if it is no time."""
    try:
        return _moments(str(value), zone)[0]
    except (ValueError, OverflowError):
        return None


def _moments(text: str, zone: tzinfo | None) -> Sequence[datetime]:
    when = datetime.fromisoformat(text)
    local = [when] * 2 if when.tzinfo else [when.replace(fold=fold, tzinfo=zone) for fold in (0, 1)]
    return [one.astimezone(UTC) for one in local]


def _has_local_time(text: str) -> bool:
    try:
        return len(text) > len("2026-11-29") and datetime.fromisoformat(text).tzinfo is None
    except ValueError:
        return False
