"""Deliveries that were left on this host with a part of them received, and of which the rest is still to come."""

from __future__ import annotations

import apsw

from aisle.jobs.base import HALFWAY
from aisle.jobs.codec import to_text
from aisle.local.db import fetch
from aisle.local.outbox.remarks import remarks
from aisle.local.reads.rows import Result

_CAME = "SELECT order_number FROM delivery WHERE order_number IN (SELECT value FROM json_each(?)) AND came = 1"


def halfway(cache: apsw.Connection, outbox: apsw.Connection) -> Result:
    """Their numbers, the last that was left first."""
    left = sorted(remarks(outbox, HALFWAY).values(), key=lambda each: each.at, reverse=True)
    numbers = [each.key for each in left]
    came = {str(number) for (number,) in fetch(cache, _CAME, to_text(numbers))} if numbers else set()
    rows = [{"order_number": number} for number in numbers if number not in came]
    return rows, len(rows)
