"""Tokens of persons, as far as a file may know of them: whose the courier has, and until when. Never a token.

The courier alone holds the tokens, in its memory: no disk, backup or snapshot of this host ever has a right that is
more than the store's. With its process they are gone, what goes with them waits, and the PIN is asked again; a courier
ends seldom, and nobody's work is lost by it.

The read `pass` (user, now): one row. This person's PIN is `wanted` for what supervisors do, anybody's is `asked` at
all, his token is `there`, and `waiting` is how much waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

import apsw

from aisle.cache.order_overlay import Row
from aisle.cache.people_queries import load_person_rights
from aisle.cache.row_values import QueryResult
from aisle.host.database import fetch, fetch_one, transaction
from aisle.jobs.job import Json
from aisle.outbox.operation_record import Operation, principal_of, user_of_principal
from aisle.outbox.operation_state import QUEUED

MAX_TOKEN_S = 3600.0
"""Nobody goes without saying the PIN for longer, whatever a service says."""

_WAITING_BY_USER = """
SELECT o.principal, count(*) FROM operation o
WHERE o.live = 1 AND o.state = 'queued' AND o.principal <> 'store'
AND NOT EXISTS (SELECT 1 FROM pass p WHERE p.principal = o.principal AND p.until > ?)
GROUP BY o.principal ORDER BY min(o.n)
"""


class WaitingOperations(NamedTuple):
    """What goes with the token of a person that is not here."""

    user: str
    operation_count: int


def record_token(connection: apsw.Connection, user: str, until: float) -> None:
    """The courier has a token of this person; it ends at that moment, in seconds since 1970."""
    with transaction(connection):
        connection.execute("INSERT OR REPLACE INTO pass (principal, until) VALUES (?, ?)", (principal_of(user), until))


def delete_token(connection: apsw.Connection, principal: str) -> None:
    """It has none any more."""
    with transaction(connection):
        connection.execute("DELETE FROM pass WHERE principal = ?", (principal,))


def delete_all_tokens(connection: apsw.Connection) -> None:
    """A courier begins: whatever the one before it had is gone."""
    if fetch_one(connection, "SELECT 1 FROM pass") is not None:
        with transaction(connection):
            connection.execute("DELETE FROM pass")


def has_token(connection: apsw.Connection, principal: str, now: float) -> bool:
    """Whether something of this principal could be sent."""
    if not user_of_principal(principal):
        return True
    sql = "SELECT 1 FROM pass WHERE principal = ? AND until > ?"
    return fetch_one(connection, sql, principal, now) is not None


def operations_waiting_for_tokens(connection: apsw.Connection, now: float) -> tuple[WaitingOperations, ...]:
    """Whose tokens are missing, and how much waits for each; whoever has waited longest first."""
    return tuple(
        WaitingOperations(user_of_principal(str(name)), int(count))
        for name, count in fetch(connection, _WAITING_BY_USER, now)
    )


def user_awaited_by(connection: apsw.Connection, op: Operation, now: float) -> str:
    """The person whose PIN an operation waits for; empty where it waits for none."""
    user = user_of_principal(op.principal) if op.state == QUEUED else ""
    return "" if has_token(connection, op.principal, now) else user


def count_waiting_for(connection: apsw.Connection, user: str, now: float) -> int:
    """How much waits for the PIN of this person."""
    return next(
        (each.operation_count for each in operations_waiting_for_tokens(connection, now) if each.user == user), 0
    )


def user_token_query(cache: apsw.Connection, outbox: apsw.Connection, args: Mapping[str, Json]) -> QueryResult:
    """See above."""
    user = str(args["user"])
    who = load_person_rights(cache, user)
    row: Row = {"wanted": who.needs_pin, "asked": who.issues_user_tokens, "there": False, "waiting": 0}
    if user:
        now = datetime.fromisoformat(str(args["now"])).timestamp()
        row["there"] = has_token(outbox, principal_of(user), now)
        row["waiting"] = count_waiting_for(outbox, user, now)
    return [row], 1
