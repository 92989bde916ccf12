"""What somebody has picked on this host and not put down: asked before he signs out."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

import apsw

from aisle.jobs.base import Json
from aisle.jobs.pick.walk import all_in_hand, takes
from aisle.local.db import fetch
from aisle.local.reads.claims import with_claims
from aisle.local.reads.orders import Pending, order
from aisle.local.reads.overlay import Row

SHIFT_S = 16 * 3600.0
"""What was opened before that is somebody else's matter by now."""

MOST = 20
"""Orders that are looked at, the last ones first."""

_MINE = """
SELECT h.order_number FROM hold h JOIN job j ON j.job_id = h.job_id
WHERE j.user = ? AND j.name = 'pick' AND h.since > ? GROUP BY 1 ORDER BY max(h.since) DESC LIMIT ?
"""


def in_hand(cache: apsw.Connection, outbox: apsw.Connection, pending: Pending, args: Mapping[str, Json]) -> list[Row]:
    """The orders that this `user` picked here lately (`now`: ISO 8601), and how many pieces (`count`) of each are
    picked and at no place, the last order first. Where nobody keeps places nothing is ever put down."""
    user = str(args.get("user") or "")
    if not user:
        return []
    found: list[Row] = []
    since = datetime.fromisoformat(str(args["now"])).timestamp() - SHIFT_S
    for (number,) in fetch(outbox, _MINE, user, since, MOST):
        rows, _ = order(cache, pending, str(number))
        with_claims(cache, outbox, rows)
        count = _count(rows[0], user) if rows else Decimal(0)
        if count:
            found.append({"order_number": str(number), "count": count})
    return found


def _count(row: Mapping[str, Any], user: str) -> Decimal:
    """Of an order that is open and nobody else's."""
    if row["is_rejected"] or not row["is_active"] or (row["is_claimed"] and row.get("claimed_by") not in (None, user)):
        return Decimal(0)
    lines = takes(row["lines"])
    return all_in_hand(lines) if any(line.place for line in lines) else Decimal(0)
