"""What of the order board is asked for, and what that means of an order: in SQL, and of one that is laid over, so that
both say the same. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from aisle.jobs.base import Json
from aisle.jobs.codec import to_text
from aisle.local.reads.overlay import Row
from aisle.tuples import NamedTuple
from aisle.words import fold

STATUSES = ("open", "partial", "picked", "rejected", "finished")
"""interface: fulfillment_status, in the words of our own service."""

Key = tuple[Any, ...]
"""What the list is sorted by; the last part is the order's number."""

SORTS = {
    "pickup": ("pickup", "sort", "order_number"),
    "age": ("first_began", "sort", "order_number"),
    "number": ("sort", "order_number"),
}
"""Columns of the cache by what the list is sorted by."""

IS_SHORT = "(raw ->> 'is_picked') IN (1, 'true') AND (raw ->> 'picked_quantity') < (raw ->> 'quantity')"
_HAS_SHORT = f"o.order_number IN (SELECT order_number FROM line INDEXED BY line_short WHERE {IS_SHORT})"  # noqa: S608


class Filter(NamedTuple):
    """What of the list is asked for. Empty parts ask for nothing."""

    status: tuple[str, ...] = STATUSES
    words: tuple[str, ...] = ()
    """Of number, reference, customer, description and comment; folded."""
    reference: str = ""
    claimed: bool | None = None
    short: bool = False
    """Has a line that is closed with less than was ordered."""
    before: str = ""
    """Due before this moment or day; without a date they are none of these."""
    until: str = ""
    """Due up to this day, or without a date (interface: pickup_offset)."""
    sort: str = "pickup"

    @property
    def is_plain(self) -> bool:
        """Whether the states alone are asked for, whose counts are kept."""
        return self == Filter(self.status, sort=self.sort)


def filter_of(args: Mapping[str, Json]) -> Filter:
    """What the arguments of the read ask for; `now` (ISO 8601) is needed for `late` and `pickup_offset`."""
    status = tuple(word for word in STATUSES if word in (args.get("status") or STATUSES))
    now = datetime.fromisoformat(str(args["now"])).astimezone() if args.get("now") else None
    offset = args.get("pickup_offset")
    until = (now + timedelta(days=int(offset))).date().isoformat() + "~" if now and offset is not None else ""
    return Filter(
        status=status,
        words=tuple(fold(str(args.get("search") or "")).split()),
        reference=str(args.get("reference") or ""),
        claimed=args.get("claimed"),
        short=bool(args.get("short")),
        before=now.replace(tzinfo=None).isoformat(timespec="seconds") if now and args.get("late") else "",
        until=until,
        sort=str(args["sort"]) if args.get("sort") in SORTS else "pickup",
    )


def key_of(said: Mapping[str, Any], sort: str) -> Key:
    """Where an order stands in the list, by what the cache says of it."""
    return tuple(said[name] for name in SORTS[sort])


def fits(row: Row, said: Mapping[str, Any], asked: Filter) -> bool:
    """Whether a touched order, as it will be, is one of those that are asked for."""
    pickup = str(said["pickup"])
    return (
        row["status"] in asked.status
        and all(word in said["text"] for word in asked.words)
        and (not asked.reference or said["reference"] == asked.reference)
        and (asked.claimed is None or bool(row.get("is_claimed")) == asked.claimed)
        and (not asked.short or row["short"] > 0)
        and (not asked.before or pickup < (asked.before if len(pickup) > 10 else asked.before[:10]))
        and (not asked.until or pickup <= asked.until or pickup == "~")
    )


def conditions(asked: Filter) -> tuple[list[str], list[Any]]:
    """What it says in SQL of an order `o`, and its values."""
    wanted, values = ["o.status IN (SELECT value FROM json_each(?))"], [to_text(list(asked.status))]
    if set(asked.status) == set(STATUSES):
        wanted, values = ["1"], []
    for word in asked.words:
        wanted.append("instr(o.text, ?)")
        values.append(word)
    if asked.reference:
        wanted.append("o.reference = ?")
        values.append(asked.reference)
    if asked.claimed is not None:
        wanted.append(f"o.claimed = {int(asked.claimed)}")
    if asked.short:
        wanted.append(_HAS_SHORT)
    if asked.before:
        wanted.append("o.pickup < ? AND (length(o.pickup) > 10 OR o.pickup < ?)")
        values += [asked.before, asked.before[:10]]
    if asked.until:
        wanted.append("(o.pickup <= ? OR o.pickup = '~')")
        values.append(asked.until)
    return wanted, values
