"""What the list of goods that a clearance wants moved keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.jobs.amounts import number
from aisle.jobs.move.moving import Task
from aisle.tuples import NamedTuple


class Listed(NamedTuple):
    """One row: what is to be moved, and who is at it."""

    task: Task
    since: str = ""
    tag: str = ""
    taken_user: str = ""
    taken_by: str = ""


class Tasks(NamedTuple):
    """A window on the list; of one tag, where it was opened for one."""

    tag: str = ""
    listed: bool = True
    """The service lists them."""
    heard: bool = True
    """It was heard of at all."""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[Listed, ...] = ()
    total: int = 0
    sure: str = ""
    """The assignment of somebody else that was chosen: chosen again, it is taken."""
    since: str = ""
    """When the list was opened."""
    told: tuple[str, ...] = ()
    """What was refused since, as far as it was told."""


def listed_of(row: Mapping[str, Any]) -> Listed:
    """A row of the read `assignments`."""
    task = Task(
        id=str(row["id"]),
        product=str(row["product_number"]),
        label=str(row.get("label") or row["product_number"]),
        place=str(row["location_code"]),
        order=str(row["order_number"]),
        line=int(number(row.get("line_number"))),
        quantity=number(row.get("quantity")),
        decimal=bool(row.get("allow_decimal")),
        unit=str(row.get("unit") or ""),
    )
    taken = str(row.get("taken_user") or ""), str(row.get("taken_by") or "")
    return Listed(task, str(row.get("since") or ""), str(row.get("tag") or ""), *taken)
