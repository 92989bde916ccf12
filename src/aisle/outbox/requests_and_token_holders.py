"""Requests of sessions to the courier, the persons whose token it holds, and operations that wait for a PIN.

A lost read request does no harm. An operation is started at most once, and its answer is stored.

The courier holds the tokens in memory, so that no disk, backup or snapshot of this host has more rights than the
store's. When it ends they are gone, operations that need them wait, and the PIN is asked again; no work is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from aisle.host.database import fetch, fetch_one, transaction
from aisle.jobs.job import Json, Request
from aisle.named_tuple_json import from_text, to_text
from aisle.outbox.operation_record import QUEUED, Author, Operation, principal_of, user_of_principal

if TYPE_CHECKING:
    from aisle.jobs.row_types.operations_and_session_answers import RequestStateRow


FULL_SYNC = "everything"
"""Key of a read request for orders that means the whole store."""
ORDER_LISTS = "lists"
"""Key of a read request for orders that means the list of orders, and every list that could not be read."""


def insert_read_request(connection: apsw.Connection, topic: str, key: str, at: float) -> None:
    """Add a read request inside the caller's transaction; a repeated one is the same."""
    connection.execute("INSERT OR IGNORE INTO read_request (topic, key, at) VALUES (?, ?, ?)", (topic, key, at))


def request_read(connection: apsw.Connection, topic: str, key: str, at: float) -> None:
    """Add a read request in its own transaction."""
    with transaction(connection):
        insert_read_request(connection, topic, key, at)


def take_read_requests(connection: apsw.Connection, limit: int = 100) -> list[tuple[str, str]]:
    """Remove the oldest read requests and return them as (topic, key)."""
    if fetch_one(connection, "SELECT 1 FROM read_request") is None:
        return []
    with transaction(connection):
        rows = fetch(connection, "SELECT topic, key FROM read_request ORDER BY at, topic, key LIMIT ?", limit)
        connection.executemany("DELETE FROM read_request WHERE topic = ? AND key = ?", rows)
    return [(str(topic), str(key)) for topic, key in rows]


REQUESTED, STARTED, ANSWERED, EXPIRED, UNKNOWN = "requested", "started", "answered", "expired", "unknown"

MAX_DURATION_S = 120.0
"""Seconds after which nobody waits for a started request. Requests have shorter timeouts, so its courier is gone."""
_FUTURE_LIMIT_S = 5.0
"""Seconds in the future beyond which a request was made before the clock was set back."""
_KEPT_S = 7 * 86400.0

_IS_OVERDUE = "(deadline <= :now OR requested_at > :now + :ahead)"


class RequestRow(NamedTuple):
    """One request."""

    request_id: str
    store: str
    user: str
    terminal: str
    kind: str
    body: Mapping[str, Json]
    has_secret: bool
    """True if a secret comes with it."""


def insert_request(connection: apsw.Connection, request_id: str, request: Request, author: Author, now: float) -> None:
    """Insert a request inside the caller's transaction, and delete old ones."""
    connection.execute("DELETE FROM request WHERE requested_at < ?", (now - _KEPT_S,))
    connection.execute(
        "INSERT INTO request (request_id, store, user, terminal, kind, body, has_secret, requested_at, deadline, state)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(request_id, author.store, author.app_user, author.terminal, request.kind, to_text(dict(request.body))),
            *(bool(request.secret), now, now + request.timeout_s, REQUESTED),
        ),
    )


def request_state(connection: apsw.Connection, request_id: str) -> str:
    """Return the state of a request; empty if unknown."""
    row = fetch_one(connection, "SELECT state FROM request WHERE request_id = ?", request_id)
    return str(row[0]) if row else ""


def read_answer(connection: apsw.Connection, request_id: str) -> tuple[list[RequestStateRow], int]:
    """Return one row with `state` and `answer` as the courier stored it."""
    row = fetch_one(connection, "SELECT state, answer FROM request WHERE request_id = ?", request_id)
    if row is None:
        return [], 0
    return [{"state": str(row[0]), "answer": from_text(Any, row[1]) if row[1] else {}}], 1


def expire_overdue(connection: apsw.Connection, now: float) -> bool:
    """Expire overdue requests, and those whose courier cannot work on them any more. Return whether there were any."""
    if fetch_one(connection, "SELECT 1 FROM request WHERE state IN ('requested', 'started')") is None:
        return False
    values = {"now": now, "ahead": _FUTURE_LIMIT_S, "started_before": now - MAX_DURATION_S}
    overdue_sql = (
        f"SELECT 1 FROM request WHERE state = 'requested' AND {_IS_OVERDUE}"  # noqa: S608
        " OR state = 'started' AND started_at < :started_before"
    )
    if not connection.execute(overdue_sql, values).fetchall():
        return False
    with transaction(connection):
        connection.execute(
            f"UPDATE request SET state = 'expired', ended_at = :now WHERE state = 'requested' AND {_IS_OVERDUE}",  # noqa: S608
            values,
        )
        connection.execute(
            "UPDATE request SET state = 'unknown', ended_at = :now"
            " WHERE state = 'started' AND started_at < :started_before",
            values,
        )
    return True


# For the courier


def pending_requests(connection: apsw.Connection, now: float) -> list[RequestRow]:
    """Return the requests that may be started now, oldest first."""
    rows = connection.execute(
        "SELECT request_id, store, user, terminal, kind, body, has_secret FROM request"  # noqa: S608 - our own condition
        f" WHERE state = 'requested' AND NOT {_IS_OVERDUE} ORDER BY requested_at",
        {"now": now, "ahead": _FUTURE_LIMIT_S},
    ).fetchall()
    return [
        RequestRow(
            str(name), str(store), str(user), str(terminal), str(kind), from_text(Any, str(body)), bool(has_secret)
        )
        for name, store, user, terminal, kind, body, has_secret in rows
    ]


def start_request(connection: apsw.Connection, request_id: str, now: float) -> bool:
    """Record that the request is being carried out.

    Return False if it is too late or another courier has started it.
    """
    with transaction(connection):
        connection.execute(
            "UPDATE request SET state = 'started', started_at = :now"  # noqa: S608
            f" WHERE request_id = :id AND state = 'requested' AND NOT {_IS_OVERDUE}",
            {"now": now, "ahead": _FUTURE_LIMIT_S, "id": request_id},
        )
        return bool(connection.changes())


def finish_request(
    connection: apsw.Connection, request_id: str, state: str, answer: Mapping[str, Json], now: float
) -> None:
    """Store the result, also of a request that was given up as unknown meanwhile."""
    with transaction(connection):
        connection.execute(
            "UPDATE request SET state = ?, answer = ?, ended_at = ?"
            " WHERE request_id = ? AND state IN ('started', 'unknown')",
            (state, to_text(dict(answer)), now, request_id),
        )


def mark_interrupted(connection: apsw.Connection, now: float) -> int:
    """Mark the requests that a crashed courier had started as unknown. Return their number."""
    if not fetch(connection, "SELECT 1 FROM request WHERE state = 'started'"):
        return 0
    with transaction(connection):
        connection.execute("UPDATE request SET state = 'unknown', ended_at = ? WHERE state = 'started'", (now,))
        return int(connection.changes())


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
