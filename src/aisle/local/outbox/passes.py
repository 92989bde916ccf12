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

import apsw

from aisle.jobs.base import Json
from aisle.local.db import fetch, fetch_one, transaction
from aisle.local.outbox.operation import Operation, person_of, principal_of
from aisle.local.outbox.state import QUEUED
from aisle.local.reads.overlay import Row
from aisle.local.reads.rows import Result
from aisle.local.session.people import standing
from aisle.tuples import NamedTuple

LONGEST_S = 3600.0
"""Nobody goes without saying the PIN for longer, whatever a service says."""

_WAITING = """
SELECT o.principal, count(*) FROM operation o
WHERE o.live = 1 AND o.state = 'queued' AND o.principal <> 'store'
AND NOT EXISTS (SELECT 1 FROM pass p WHERE p.principal = o.principal AND p.until > ?)
GROUP BY o.principal ORDER BY min(o.n)
"""


class Waiting(NamedTuple):
    """What goes with the token of a person that is not here."""

    user: str
    rows: int


def grant(connection: apsw.Connection, user: str, until: float) -> None:
    """The courier has a token of this person; it ends at that moment, in seconds since 1970."""
    with transaction(connection):
        connection.execute("INSERT OR REPLACE INTO pass (principal, until) VALUES (?, ?)", (principal_of(user), until))


def withdraw(connection: apsw.Connection, principal: str) -> None:
    """It has none any more."""
    with transaction(connection):
        connection.execute("DELETE FROM pass WHERE principal = ?", (principal,))


def forget(connection: apsw.Connection) -> None:
    """A courier begins: whatever the one before it had is gone."""
    if fetch_one(connection, "SELECT 1 FROM pass") is not None:
        with transaction(connection):
            connection.execute("DELETE FROM pass")


def is_there(connection: apsw.Connection, principal: str, now: float) -> bool:
    """Whether something of this principal could be sent."""
    if not person_of(principal):
        return True
    sql = "SELECT 1 FROM pass WHERE principal = ? AND until > ?"
    return fetch_one(connection, sql, principal, now) is not None


def waiting(connection: apsw.Connection, now: float) -> tuple[Waiting, ...]:
    """Whose tokens are missing, and how much waits for each; whoever has waited longest first."""
    return tuple(Waiting(person_of(str(name)), int(count)) for name, count in fetch(connection, _WAITING, now))


def awaited(connection: apsw.Connection, op: Operation, now: float) -> str:
    """The person whose PIN an operation waits for; empty where it waits for none."""
    user = person_of(op.principal) if op.state == QUEUED else ""
    return "" if is_there(connection, op.principal, now) else user


def waiting_for(connection: apsw.Connection, user: str, now: float) -> int:
    """How much waits for the PIN of this person."""
    return next((each.rows for each in waiting(connection, now) if each.user == user), 0)


def read(cache: apsw.Connection, outbox: apsw.Connection, args: Mapping[str, Json]) -> Result:
    """See above."""
    user = str(args["user"])
    who = standing(cache, user)
    row: Row = {"wanted": who.proves, "asked": who.sign_in, "there": False, "waiting": 0}
    if user:
        now = datetime.fromisoformat(str(args["now"])).timestamp()
        row["there"] = is_there(outbox, principal_of(user), now)
        row["waiting"] = waiting_for(outbox, user, now)
    return [row], 1
