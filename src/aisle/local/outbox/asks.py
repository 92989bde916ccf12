"""What somebody waits for at a screen: answered or expired, never sent late.

A row is `asked`; the courier makes it `begun`, once, before its first byte leaves, and `answered` when it knows what
became of it. What nobody has begun by its deadline is `expired` and never will be; what was begun and whose end nobody
saw is `unknown`, until somebody does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import apsw

from aisle.jobs.base import Ask, Json
from aisle.jobs.codec import from_text, to_text
from aisle.local.db import fetch, fetch_one, transaction
from aisle.local.outbox.operation import Author
from aisle.tuples import NamedTuple

ASKED, BEGUN, ANSWERED, EXPIRED, UNKNOWN = "asked", "begun", "answered", "expired", "unknown"

LONGEST_S = 120.0
"""Nobody waits longer for the end of what was begun: a request has a shorter limit, so that its courier is gone."""
_AHEAD_S = 5.0
"""What was asked so far in the future was asked before the clock was set back."""
_KEPT_S = 7 * 86400.0

_LATE = "(deadline <= :now OR asked_at > :now + :ahead)"


class Row(NamedTuple):
    """One thing that was asked."""

    ask_id: str
    store: str
    user: str
    terminal: str
    kind: str
    body: Mapping[str, Any]
    confided: bool
    """It comes with a secret."""


def add(connection: apsw.Connection, name: str, ask: Ask, author: Author, now: float) -> None:
    """Asks inside the caller's transaction; forgets what is long over."""
    connection.execute("DELETE FROM ask WHERE asked_at < ?", (now - _KEPT_S,))
    connection.execute(
        "INSERT INTO ask (ask_id, store, user, terminal, kind, body, confided, asked_at, deadline, state)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(name, author.store, author.app_user, author.terminal, ask.kind, to_text(dict(ask.body))),
            *(bool(ask.secret), now, now + ask.seconds, ASKED),
        ),
    )


def state_of(connection: apsw.Connection, ask_id: str) -> str:
    """How it stands; empty where nobody knows it."""
    row = fetch_one(connection, "SELECT state FROM ask WHERE ask_id = ?", ask_id)
    return str(row[0]) if row else ""


def read(connection: apsw.Connection, ask_id: str) -> tuple[list[dict[str, Json]], int]:
    """One row: `state` and `answer`, as the courier wrote it."""
    row = fetch_one(connection, "SELECT state, answer FROM ask WHERE ask_id = ?", ask_id)
    if row is None:
        return [], 0
    return [{"state": str(row[0]), "answer": from_text(Any, row[1]) if row[1] else {}}], 1


def end_overdue(connection: apsw.Connection, now: float) -> bool:
    """Ends what is past its deadline, and what was begun so long ago that its courier cannot be at it any more."""
    if fetch_one(connection, "SELECT 1 FROM ask WHERE state IN ('asked', 'begun')") is None:
        return False
    said = {"now": now, "ahead": _AHEAD_S, "begun": now - LONGEST_S}
    late = f"SELECT 1 FROM ask WHERE state = 'asked' AND {_LATE} OR state = 'begun' AND begun_at < :begun"  # noqa: S608
    if not connection.execute(late, said).fetchall():
        return False
    with transaction(connection):
        connection.execute(
            f"UPDATE ask SET state = 'expired', ended_at = :now WHERE state = 'asked' AND {_LATE}",  # noqa: S608
            said,
        )
        connection.execute(
            "UPDATE ask SET state = 'unknown', ended_at = :now WHERE state = 'begun' AND begun_at < :begun", said
        )
    return True


# For the courier


def waiting(connection: apsw.Connection, now: float) -> list[Row]:
    """What may be begun now, oldest first."""
    rows = connection.execute(
        "SELECT ask_id, store, user, terminal, kind, body, confided FROM ask"  # noqa: S608 - our own condition
        f" WHERE state = 'asked' AND NOT {_LATE} ORDER BY asked_at",
        {"now": now, "ahead": _AHEAD_S},
    ).fetchall()
    return [
        Row(str(name), str(store), str(user), str(terminal), str(kind), from_text(Any, str(body)), bool(confided))
        for name, store, user, terminal, kind, body, confided in rows
    ]


def begin(connection: apsw.Connection, ask_id: str, now: float) -> bool:
    """Makes it durable that it is being done; False where it is too late, or somebody else has begun it."""
    with transaction(connection):
        connection.execute(
            f"UPDATE ask SET state = 'begun', begun_at = :now WHERE ask_id = :id AND state = 'asked' AND NOT {_LATE}",  # noqa: S608
            {"now": now, "ahead": _AHEAD_S, "id": ask_id},
        )
        return bool(connection.changes())


def end(connection: apsw.Connection, ask_id: str, state: str, answer: Mapping[str, Json], now: float) -> None:
    """What became of it; also of what was given up as unknown meanwhile."""
    with transaction(connection):
        connection.execute(
            "UPDATE ask SET state = ?, answer = ?, ended_at = ? WHERE ask_id = ? AND state IN ('begun', 'unknown')",
            (state, to_text(dict(answer)), now, ask_id),
        )


def orphaned(connection: apsw.Connection, now: float) -> int:
    """What a courier left behind in the middle of it: nobody knows whether it was done. How many."""
    if not fetch(connection, "SELECT 1 FROM ask WHERE state = 'begun'"):
        return 0
    with transaction(connection):
        connection.execute("UPDATE ask SET state = 'unknown', ended_at = ? WHERE state = 'begun'", (now,))
        return int(connection.changes())
