"""When something was last heard of an order: by the store's log, and what was done to it on this host."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import apsw

from aisle.jobs.codec import to_text
from aisle.jobs.store_time import utc
from aisle.local.db import fetch

_LOGGED = """
SELECT e.value, max(l.at) FROM json_each(?) e JOIN log l INDEXED BY log_order
ON l.raw ->> 'customer_order_number' = e.value AND instr(l.raw, '"customer_order_number"') GROUP BY 1
"""

_DONE = """
SELECT h.order_number, max((SELECT v.at FROM event v WHERE v.job_id = h.job_id ORDER BY v.seq DESC LIMIT 1))
FROM json_each(?) e JOIN hold h ON h.order_number = e.value GROUP BY 1
"""

_SAID = """
SELECT e.value, max(o.occurred_at) FROM json_each(?) e JOIN operation o INDEXED BY operation_order
ON o.operation = 'update-customer-order' AND o.body ->> '$.orders.order_number' = e.value GROUP BY 1
"""


def last_heard(cache: apsw.Connection, outbox: apsw.Connection, numbers: Sequence[str]) -> dict[str, str]:
    """When something was last heard of each order, ISO 8601 UTC; those of which nobody knows are left out."""
    asked = to_text(list(numbers))
    heard = {number: str(at) for number, at in fetch(cache, _LOGGED, asked)}
    for number, at in fetch(outbox, _DONE, asked):
        if at:
            heard[number] = max(heard.get(number, ""), utc(datetime.fromtimestamp(at, UTC).isoformat()))
    for number, said in fetch(outbox, _SAID, asked):
        heard[number] = max(heard.get(number, ""), utc(str(said)))
    return {number: at for number, at in heard.items() if at}
