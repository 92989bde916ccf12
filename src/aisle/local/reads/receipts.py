"""What the service says was received of deliveries, as people list it by its type. interface: Receipt order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

import apsw

from aisle.jobs.base import Json
from aisle.jobs.codec import to_text
from aisle.local.db import fetch
from aisle.local.reads.ordered import Key, stepped
from aisle.local.reads.overlay import Row, decimal
from aisle.local.reads.rows import Result, loaded, window
from aisle.words import fold

SIZE = 20
"""Rows of a window when nobody says how many."""

_RECEIPTS = """
SELECT r.order_number, r.kind, r.raw FROM json_each(?) e JOIN receipt r ON r.order_number = e.value ORDER BY e.key
"""


def receipts(cache: apsw.Connection, args: Mapping[str, Json]) -> Result:
    """A window on what the service says was received: of one `kind`, or all; the youngest first."""
    words, kind = fold(str(args.get("search") or "")).split(), str(args.get("kind") or "")
    of_kind, said = ("kind = ?", [kind]) if kind else ("1", [])
    where, sought = of_kind + " AND instr(text, ?)" * len(words), [*said, *words]

    def read(from_end: bool, count: int, skip: int) -> list[Key]:
        by = "ORDER BY import_id, order_number DESC" if from_end else "ORDER BY import_id DESC, order_number"
        sql = f"SELECT order_number FROM receipt WHERE {where} {by} LIMIT ? OFFSET ?"  # noqa: S608
        return fetch(cache, sql, *sought, count, skip)

    if words:
        ((total,),) = fetch(cache, f"SELECT count(*) FROM receipt WHERE {where}", *sought)  # noqa: S608
    else:
        ((total,),) = fetch(cache, f"SELECT ifnull(sum(n), 0) FROM receipt_tally WHERE {of_kind}", *said)  # noqa: S608
    numbers = [str(name) for (name,) in stepped(read, int(total), *window(args, SIZE))]
    found = fetch(cache, _RECEIPTS, to_text(numbers))
    return [_receipt(str(number), str(of), loaded(str(raw))) for number, of, raw in found], int(total)


def receipt_kinds(cache: apsw.Connection) -> Result:
    """The types of receipts that are known, and how many there are of each."""
    rows: list[Row] = [
        {"kind": str(kind), "count": int(count)}
        for kind, count in fetch(cache, "SELECT kind, n FROM receipt_tally WHERE n > 0 ORDER BY kind")
    ]
    return rows, len(rows)


def _receipt(number: str, kind: str, raw: Row) -> Row:
    lines = raw.get("receipt_lines") or ()
    moments = [str(line.get("updated_on") or "") for line in lines]
    return {
        "order_number": number,
        "kind": kind,
        "status": str(raw.get("status") or ""),
        "supplier_name": str(raw.get("supplier_name") or raw.get("supplier_code") or ""),
        "at": max(moments, default="") or str(raw.get("datetime_created") or ""),
        "lines": len(lines),
        "received_quantity": _sum(lines, "received_quantity"),
        "shipped_quantity": _sum(lines, "shipped_quantity"),
    }


def _sum(lines: Iterable[Row], name: str) -> Decimal | None:
    """The sum of a field of all lines; None where one of them does not say it."""
    found = [line.get(name) for line in lines]
    return None if None in found or not found else sum((decimal(value) for value in found), Decimal(0))
