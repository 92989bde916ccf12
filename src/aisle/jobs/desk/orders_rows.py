"""The state of the order board: its filter, its window, and each order as it is listed."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.amounts import far, number
from aisle.jobs.base import Context
from aisle.jobs.desk.orders_filter import Filter
from aisle.jobs.desk.outdone import Given
from aisle.jobs.sheet import UNKNOWN, age_of, day_of, due, happened
from aisle.jobs.view import Msg, msg, raw
from aisle.tuples import NamedTuple


class Listed(NamedTuple):
    """One order of the board."""

    number: str
    who: str = ""
    due: Msg = raw("")
    status: str = "open"
    of: Decimal = Decimal(0)
    picked: Decimal = Decimal(0)
    lines: int = 0
    short: int = 0
    claimed: bool = False
    by: str = ""
    """Who has claimed it, where anybody says."""
    left: Msg | None = None
    """When he left what he had begun, on this host."""
    silent: Decimal = UNKNOWN
    """Seconds since anything was heard of it, where somebody is at work; below 0: nobody knows."""
    seen: Decimal = UNKNOWN
    """Seconds since this host has known it."""
    why: str = ""
    """Why it was rejected."""
    reference: str = ""
    position: int = 0
    urgent: bool = False
    urgent_by: str = ""
    """Who said that it goes first."""
    walker: str = ""
    """In whose open round of this host it is."""
    given: str = ""
    """Whom it was given to, who has not opened it yet."""


class View(NamedTuple):
    """A filter under a name of somebody's own."""

    name: str
    filter: Filter


class Board(NamedTuple):
    """The window, and what is marked in it."""

    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[Listed, ...] = ()
    total: int = 0
    filter: Filter = Filter()
    page: str = ""
    """Empty for the list; `filter`, `field`, `views`, `name`."""
    field: str = ""
    top: int = 0
    """The first of these choices in sight."""
    size: int = 12
    """So many of them are."""
    marking: bool = False
    """Numbers mark instead of opening."""
    marked: tuple[str, ...] = ()
    views: tuple[View, ...] = ()
    named: str = ""
    """The view of one's own that was chosen last."""
    moving: bool = False
    """The cursor has left the window, which is on its way after it."""
    loaded: bool = False
    given: tuple[Given, ...] = ()
    """What was claimed for somebody from here."""


def listed(row: Mapping[str, Any], context: Context) -> Listed:
    """A row of the read `board`, or of `orders_by_number`."""
    picked, of = far(row)
    return Listed(
        number=str(row["order_number"]),
        who=str(row.get("customer_name") or row.get("description") or ""),
        due=due(str(row.get("pickup_date") or ""), context.now) if row.get("pickup_date") else msg("orders.no_date"),
        status=str(row["status"]),
        of=of,
        picked=picked,
        lines=int(number(row.get("total_lines"))),
        short=int(row.get("short") or 0),
        claimed=bool(row.get("is_claimed")),
        by=str(row.get("claimed_name") or row.get("claimed_by") or ""),
        left=happened(str(row["claim_left"]), day_of(context.now)) if row.get("claim_left") else None,
        silent=age_of(row.get("silent_since"), context.now) if row.get("silent_since") else UNKNOWN,
        seen=age_of(row.get("seen_at"), context.now) if row.get("seen_at") else UNKNOWN,
        why=_why(row) if row.get("is_rejected") else "",
        reference=str(row.get("reference") or ""),
        position=int(row.get("position") or 0),
        urgent=bool(row.get("urgent")),
        urgent_by=str(row.get("urgent_by") or ""),
        walker=str(row.get("walker_name") or ""),
        given=str(row.get("given_name") or ""),
    )


def _why(row: Mapping[str, Any]) -> str:
    return str(row.get("rejection_reason_code_description") or row.get("rejection_reason_code") or "")
