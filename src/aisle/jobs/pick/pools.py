"""What the store calls its stock pools: a number says little to whoever stands before the goods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aisle.jobs.base import Query, Rows
from aisle.jobs.pick.picking import Picking

NAMES = "store"
"""The read that has them, and the id of its query."""

ASKED = Query(NAMES, NAMES, {}, live=True)


def called(state: Picking, answer: Rows) -> Picking:
    """The round with the names that the store has for its pools."""
    row: Mapping[str, Any] = answer.rows[0] if answer.rows else {}
    return state._replace(pools=tuple((int(pool), str(name)) for pool, name in (row.get("pools") or {}).items()))


def names(state: Picking, pools: Iterable[int]) -> str:
    """These pools by their names, one that has none by its number."""
    known = dict(state.pools)
    return ", ".join(known.get(pool) or str(pool) for pool in pools)
