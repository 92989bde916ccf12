"""The audit: who changed a price, setting, order, location, person, PIN or token, when, from what to what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from aisle.service.context import CHAIN, Context
from aisle.service.encode import compact
from aisle.service.sql import audit as sql
from aisle.service.sql import core
from aisle.service.storage import Tx
from aisle.tuples import NamedTuple

Subject = Literal["product", "store product", "store", "location", "order", "person", "token"]
COMMAND = "command line"
"""The token's name of what was changed on the machine that holds the database."""

_COUNTER = "audit"
_NOTHING = ("{}", "{}")
_LONGEST = 500
"""Characters of a value that are kept."""


class Change(NamedTuple):
    """What became of one thing: its fields before and after. One that was not there before has none."""

    subject: Subject
    key: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]

    @property
    def values(self) -> tuple[str, str]:
        """The fields that differ, as they were and as they are; both empty where nothing does."""
        names = [name for name in {**self.before, **self.after} if self.before.get(name) != self.after.get(name)]
        return _chosen(self.before, names), _chosen(self.after, names)


async def note(ctx: Context, store_number: str, changes: Iterable[Change]) -> None:
    """Keep what has changed in a store, or in the chain, with the end of the operation."""
    found = [(change, change.values) for change in changes]
    rows = [(change, values) for change, values in found if values != _NOTHING]
    if not rows:
        return
    first = await ctx.take(store_number, _COUNTER, len(rows))
    who = (ctx.principal.token_id, ctx.principal.name, ctx.app_user or "")
    ctx.later(
        sql.AUDIT_ADD,
        [
            (store_number, first + n, ctx.now, *who, change.subject, change.key, *values)
            for n, (change, values) in enumerate(rows)
        ],
    )


async def note_command(tx: Tx, change: Change, now: str) -> None:
    """The same of one change of the chain that a command makes in the database itself."""
    row = await tx.one(core.COUNTER_TAKE, CHAIN, _COUNTER, 1)
    assert row is not None
    await tx.run(sql.AUDIT_ADD, CHAIN, row[0], now, "", COMMAND, "", change.subject, change.key, *change.values)


def _chosen(said: Mapping[str, Any], names: Iterable[str]) -> str:
    return compact({name: _short(said[name]) for name in names if name in said})


def _short(value: Any) -> Any:
    """A value that is long is kept as the beginning of its text."""
    text = value if isinstance(value, str) else compact(value)
    return value if len(text) <= _LONGEST else text[:_LONGEST] + "…"
