"""Lists of the store that were never read to their end: what a page has nothing of may be there all the same."""

from __future__ import annotations

import apsw

from aisle.local.db import fetch

LISTS = ("headers", "lines", "locations", "deliveries", "products")
"""Lists of the first sync that pages show, in its order."""

_STATE = """
SELECT (SELECT cursor ->> '$.completed' FROM sync WHERE topic = 'full'),
  (SELECT cursor FROM sync WHERE topic = 'full' AND cursor ->> '$.full'),
  EXISTS (SELECT 1 FROM sync WHERE topic = 'logs_span')
"""
"""The cursor only once all is being read: before that it has what somebody wished for."""
_LEFT = """
SELECT value FROM json_each(?1, '$.todo') UNION ALL SELECT value FROM json_each(?1, '$.missing')
UNION ALL SELECT ?1 ->> '$.at.stage'
"""


def unread(cache: apsw.Connection) -> tuple[str, ...]:
    """Those of `LISTS`, and `logs` for the store's log; empty once all was read."""
    completed, cursor, logs = fetch(cache, _STATE)[0]
    log = () if logs else ("logs",)
    if completed:
        return log
    left = LISTS if cursor is None else tuple(str(name) for (name,) in fetch(cache, _LEFT, cursor))
    return (*(name for name in LISTS if name in left), *log)
