"""What somebody has picked on this host and not put down: asked before he signs out."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import apsw

from aisle.jobs.base import Json
from aisle.jobs.claim import is_later
from aisle.jobs.codec import from_text
from aisle.jobs.pick.walk import all_in_hand, all_own, takes
from aisle.local.db import fetch
from aisle.local.outbox.rebase import has_base, share
from aisle.local.outbox.remarks import LYING, remark_of
from aisle.local.reads.claims import with_claims
from aisle.local.reads.laid import Pending
from aisle.local.reads.orders import order
from aisle.local.reads.overlay import Row, decimal

SHIFT_S = 16 * 3600.0
"""What was opened before that is somebody else's matter by now."""

MOST = 20
"""Orders that are looked at, the last ones first."""

_MINE = """
SELECT h.order_number FROM hold h INDEXED BY hold_since JOIN job j ON j.job_id = h.job_id
WHERE j.user = ? AND j.name = 'pick' AND h.since > ? GROUP BY 1 ORDER BY max(h.since) DESC LIMIT ?
"""

_OWN = """
SELECT body, merge_key = '' FROM operation
WHERE operation = 'update-customer-order' AND body ->> '$.orders.order_number' = ? AND app_user = ?
AND superseded_by = '' AND (merge_key = '' OR state <> 'rejected')
"""
"""What is never merged is what found no room (aisle.local.outbox.remainder)."""


_LAID = """
SELECT body FROM operation
WHERE created_at > ? AND operation = 'create-movement' AND app_user = ? AND superseded_by = '' AND state <> 'rejected'
"""


def in_hand(cache: apsw.Connection, outbox: apsw.Connection, pending: Pending, args: Mapping[str, Json]) -> list[Row]:
    """The orders that this `user` picked here lately (`now`: ISO 8601), and how many pieces (`count`) of each are in
    his hand: picked and at no place, the last order first. Where nobody keeps places nothing is ever put down."""
    user = str(args.get("user") or "")
    if not user:
        return []
    found: list[Row] = []
    since = datetime.fromisoformat(str(args["now"])).timestamp() - SHIFT_S
    for (number,) in fetch(outbox, _MINE, user, since, MOST):
        rows, _ = order(cache, pending, str(number))
        with_claims(cache, outbox, rows)
        count = _count(rows[0], user, outbox, since) if rows else Decimal(0)
        if count:
            found.append({"order_number": str(number), "count": count})
    return found


def _count(row: Mapping[str, Any], user: str, outbox: apsw.Connection, since: float) -> Decimal:
    """Of an open order: all of it where it is his, and nobody works on it beside him; else what he has picked himself.
    Nothing of what he has left to somebody else."""
    owner = row.get("claimed_by") if row["is_claimed"] else None
    if row["is_rejected"] or not row["is_active"]:
        return Decimal(0)
    if owner not in (None, user) and not _shares(row, user, outbox):
        return Decimal(0)
    lines = takes(row["lines"])
    if not any(line.place for line in lines):
        return Decimal(0)
    if owner != user or any(each["user"] != user for each in row["at_work"]):
        own = _own(outbox, str(row["order_number"]), user, since)
        lines = tuple(line._replace(mine=own.get(line.line, Decimal(0))) for line in lines)
        return all_own(lines)
    return all_in_hand(lines)


def _shares(row: Mapping[str, Any], user: str, outbox: apsw.Connection) -> bool:
    """Whether he has picked on in somebody else's order: he left it with goods in his hand after it was taken over."""
    left = remark_of(outbox, LYING, str(row["order_number"]))
    if left is None or left.text != user:
        return False
    return is_later(datetime.fromtimestamp(left.at, UTC).isoformat(), str(row.get("claimed_on") or ""))


def _own(outbox: apsw.Connection, order: str, user: str, since: float) -> dict[int, Decimal]:
    """How much of each line somebody has picked on this host, by all that the service took or may still take, and not
    laid down since then."""
    own: dict[int, Decimal] = {}
    for body, remains in fetch(outbox, _OWN, order, user):
        for line in filter(has_base, from_text(Any, body)["orders"].get("order_lines") or ()):
            _add(own, line["line_number"], -share(line) if remains else share(line))
    for (body,) in fetch(outbox, _LAID, since, user):
        for item in from_text(Any, body) if order in body else ():
            for side, sign in (("from_location", -1), ("to_location", 1)):
                end = item.get(side) or {}
                if end.get("customer_order_number") == order and not end.get("location_code"):
                    _add(own, end.get("customer_order_line_number"), sign * decimal(item.get("quantity")))
    return own


def _add(own: dict[int, Decimal], line: Any, quantity: Decimal) -> None:
    own[int(line)] = own.get(int(line), Decimal(0)) + quantity
