"""Lists of the store that were never read to their end: what a page has nothing of may be there all the same."""

from __future__ import annotations

import json

import apsw

from aisle.jobs.view import Lack, LeftOut
from aisle.local.db import fetch
from aisle.local.told import REPEATED

SHOWN_LISTS = ("headers", "lines", "locations", "deliveries", "products")
"""Lists of the first sync that pages show, in its order."""

_TABLES = {
    "headers": "orders",
    "lines": "line",
    "locations": "location",
    "deliveries": "delivery",
    "products": "product",
}

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


_LACKING = "SELECT cursor -> '$.missing', cursor -> '$.reasons', cursor -> '$.left_out' FROM sync WHERE topic = 'full'"


def lacking(cache: apsw.Connection) -> tuple[tuple[Lack, ...], tuple[LeftOut, ...]]:
    """The lists that could not be read when they were last asked for, and rows that could not be used."""
    rows = fetch(cache, _LACKING)
    missing, reasons, left_out = (json.loads(each or "[]") for each in (rows[0] if rows else ("", "", "")))
    why = {str(name): str(told) for name, told in reasons}
    lists = tuple(Lack(str(name), why.get(str(name), "")) for name in missing)
    return lists, tuple(LeftOut(str(name), int(rows), str(why), why == REPEATED) for name, rows, why in left_out)


def unread(cache: apsw.Connection) -> tuple[str, ...]:
    """Those of `SHOWN_LISTS`, and `logs` for the store's log; empty once all was read. A list that the service would
    never let be read is among them, whatever else was read."""
    completed, cursor, logs = fetch(cache, _STATE)[0]
    log = () if logs else ("logs",)
    if completed:
        return (*(name for name in _missing(cache) if name in SHOWN_LISTS and not _has_rows(cache, name)), *log)
    left = SHOWN_LISTS if cursor is None else tuple(str(name) for (name,) in fetch(cache, _LEFT, cursor))
    return (*(name for name in SHOWN_LISTS if name in left), *log)


def _missing(cache: apsw.Connection) -> tuple[str, ...]:
    return tuple(lack.name for lack in lacking(cache)[0])


def _has_rows(cache: apsw.Connection, name: str) -> bool:
    """Whether something of a list has come at some time."""
    return bool(fetch(cache, f"SELECT 1 FROM {_TABLES[name]} LIMIT 1"))  # noqa: S608 - names of our own tables
