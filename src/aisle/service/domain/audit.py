"""Audit of changes to prices, settings, orders, locations, people, PINs and tokens, with author, time and values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from aisle.service.db.database_interface import Transaction
from aisle.service.db.statements import changes_and_writes as changes_sql
from aisle.service.db.statements import logs as sql
from aisle.service.domain.json_fragments import to_json
from aisle.service.operation_context import CHAIN, Context

Subject = Literal["product", "store product", "store", "location", "order", "person", "token"]
COMMAND_TOKEN_NAME = "command line"
"""Name of the token in entries of commands that change the database directly."""

_AUDIT_COUNTER = "audit"
_NO_CHANGE = ("{}", "{}")
_MAX_HEADER_VALUE = 24
"""Number of characters of a value in a header."""
_SHOWN_BEFORE = 8
"""Number of characters before the first difference of two long values."""
_FIGURES = (int, float, Decimal, bool)
_MAX_VALUE_LENGTH = 500
"""Maximum number of stored characters of a value."""


class AuditChange(NamedTuple):
    """Change of one object: its fields before and after. A new object has no fields before."""

    subject: Subject
    key: str
    before: Mapping[str, object]
    after: Mapping[str, object]

    @property
    def changed_names(self) -> list[str]:
        """Names of the changed fields."""
        return [name for name in {**self.before, **self.after} if self.before.get(name) != self.after.get(name)]

    @property
    def changed_fields(self) -> tuple[str, str]:
        """JSON of the changed fields, before and after; both empty objects if nothing changed."""
        names = self.changed_names
        return _fields_json(self.before, names), _fields_json(self.after, names)


async def record_changes(ctx: Context, store_number: str, changes: Iterable[AuditChange]) -> None:
    """Record changes of a store, or of the chain, at the end of the operation. Equal fields are left out."""
    found = [(change, change.changed_fields) for change in changes]
    rows = [(change, values) for change, values in found if values != _NO_CHANGE]
    if not rows:
        return
    ctx.count_field_changes(
        (name, (store_number, change.key, *_header_values(*values)), any(isinstance(one, _FIGURES) for one in values))
        for change, _ in rows
        if change.before and change.after and change.subject != "order"
        for name in change.changed_names
        if (values := (change.before.get(name), change.after.get(name)))
    )
    first = await ctx.next_numbers(store_number, _AUDIT_COUNTER, len(rows))
    author = (ctx.principal.token_id, ctx.principal.name, ctx.app_user or "")
    ctx.defer(
        sql.AUDIT_ADD,
        [
            (store_number, first + n, ctx.now, *author, change.subject, change.key, *values)
            for n, (change, values) in enumerate(rows)
        ],
    )


async def record_command(tx: Transaction, change: AuditChange, now: str) -> None:
    """Record one change of the chain that a command makes in the database."""
    row = await tx.one(changes_sql.COUNTER_NEXT, CHAIN, _AUDIT_COUNTER, 1)
    assert row is not None
    await tx.run(
        sql.AUDIT_ADD,
        CHAIN,
        row[0],
        now,
        "",
        COMMAND_TOKEN_NAME,
        "",
        change.subject,
        change.key,
        *change.changed_fields,
    )


def _header_values(before: object, after: object) -> list[str]:
    """Return the parts of two values with which they begin to differ as texts, for a header; empty for none."""
    texts = ["" if value is None else value if isinstance(value, str) else to_json(value) for value in (before, after)]
    differing = (at for at, (one, other) in enumerate(zip(*texts, strict=False)) if one != other)
    same = next(differing, min(map(len, texts)))
    if same < _MAX_HEADER_VALUE // 2 or max(map(len, texts)) <= _MAX_HEADER_VALUE:
        return [text[:_MAX_HEADER_VALUE] for text in texts]
    skipped = same - _SHOWN_BEFORE
    return [f"…{text[skipped:]}"[:_MAX_HEADER_VALUE] for text in texts]


def _fields_json(fields: Mapping[str, object], names: Iterable[str]) -> str:
    return to_json({name: _shorten(fields[name]) for name in names if name in fields})


def _shorten(value: Any) -> Any:
    """Return a long value as the start of its text."""
    text = value if isinstance(value, str) else to_json(value)
    return value if len(text) <= _MAX_VALUE_LENGTH else text[:_MAX_VALUE_LENGTH] + "…"
