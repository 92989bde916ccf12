"""Persons whose token the courier holds, until when, and the operations that wait for a PIN. No token is stored.

The courier holds the tokens in memory, so that no disk, backup or snapshot of this host has more rights than the
store's. When it ends they are gone, operations that need them wait, and the PIN is asked again; no work is lost.
"""

from __future__ import annotations

from typing import NamedTuple

import apsw

from aisle.host.database import fetch, fetch_one, transaction
from aisle.outbox.operation_record import Operation, principal_of, user_of_principal
from aisle.outbox.operation_states import QUEUED

MAX_TOKEN_S = 3600.0
"""Greatest lifetime of a token in seconds, whatever the service grants; then the PIN is asked again."""

_WAITING_BY_USER = """
SELECT o.principal, count(*) FROM operation o
WHERE o.live = 1 AND o.state = 'queued' AND o.principal <> 'store'
AND NOT EXISTS (SELECT 1 FROM user_token p WHERE p.principal = o.principal AND p.until > ?)
GROUP BY o.principal ORDER BY min(o.n)
"""


class WaitingOperations(NamedTuple):
    """Operations that wait for the token of a person."""

    user: str
    operation_count: int


def record_token(connection: apsw.Connection, user: str, until: float) -> None:
    """Record that the courier has a token of this person, which expires at `until` (seconds since 1970)."""
    with transaction(connection):
        connection.execute(
            "INSERT OR REPLACE INTO user_token (principal, until) VALUES (?, ?)", (principal_of(user), until)
        )


def delete_token(connection: apsw.Connection, principal: str) -> None:
    """Record that the courier has no token of this principal."""
    with transaction(connection):
        connection.execute("DELETE FROM user_token WHERE principal = ?", (principal,))


def delete_all_tokens(connection: apsw.Connection) -> None:
    """Delete all records, because a starting courier has no tokens."""
    if fetch_one(connection, "SELECT 1 FROM user_token") is not None:
        with transaction(connection):
            connection.execute("DELETE FROM user_token")


def has_token(connection: apsw.Connection, principal: str, now: float) -> bool:
    """Return whether an operation of this principal can be sent."""
    if not user_of_principal(principal):
        return True
    sql = "SELECT 1 FROM user_token WHERE principal = ? AND until > ?"
    return fetch_one(connection, sql, principal, now) is not None


def operations_waiting_for_tokens(connection: apsw.Connection, now: float) -> tuple[WaitingOperations, ...]:
    """Return the persons whose tokens are missing, with the number of waiting operations, longest waiting first."""
    return tuple(
        WaitingOperations(user_of_principal(str(name)), int(count))
        for name, count in fetch(connection, _WAITING_BY_USER, now)
    )


def user_awaited_by(connection: apsw.Connection, op: Operation, now: float) -> str:
    """Return the person whose PIN an operation waits for; empty if it waits for none."""
    user = user_of_principal(op.principal) if op.state == QUEUED else ""
    return "" if has_token(connection, op.principal, now) else user


def count_waiting_for(connection: apsw.Connection, user: str, now: float) -> int:
    """Return the number of operations that wait for this person's PIN."""
    return next(
        (each.operation_count for each in operations_waiting_for_tokens(connection, now) if each.user == user), 0
    )
