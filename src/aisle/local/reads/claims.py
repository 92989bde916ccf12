"""What this host knows of who works on an order, laid beside what the service says.

`is_claimed` of the interface has no owner. Where the service names none, the last person here who worked on the order
is named; where it does, whether that work is still open can be seen if it is done on this host.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

import apsw

from aisle.jobs.claim import is_later
from aisle.local.db import fetch, fetch_one
from aisle.local.outbox.remarks import remark_of
from aisle.local.outbox.sessions import session_of
from aisle.local.reads.overlay import Row
from aisle.local.session.people import name_of

_LAST = """
SELECT j.user, s.terminal, h.since FROM hold h JOIN job j ON j.job_id = h.job_id
JOIN session s ON s.session_id = j.session_id WHERE h.order_number = ? ORDER BY h.since DESC LIMIT 1
"""

_OPEN = """
SELECT s.* FROM hold h JOIN job j ON j.job_id = h.job_id AND j.closed IS NULL
JOIN session s ON s.session_id = j.session_id WHERE h.order_number = ? AND j.user = ? AND s.terminal = ?
"""

_LEFT = """
SELECT j.closed FROM hold h JOIN job j ON j.job_id = h.job_id JOIN session s ON s.session_id = j.session_id
WHERE h.order_number = ? AND j.user = ? AND s.terminal = ? ORDER BY j.closed IS NULL DESC, j.closed DESC LIMIT 1
"""

_AT_WORK = """
SELECT j.user, s.* FROM hold h JOIN job j ON j.job_id = h.job_id AND j.closed IS NULL
JOIN session s ON s.session_id = j.session_id WHERE h.order_number = ? ORDER BY h.since
"""


def with_claims(cache: apsw.Connection, outbox: apsw.Connection, rows: Iterable[Row]) -> None:
    """Adds what is known here, in place: to each order that is claimed `claimed_by`, `claimed_name`, `claimed_on`,
    `claimed_terminal` and `claim_open` (True or False; missing where this host cannot know), and where that work was
    closed since it was claimed, when (`claim_left`); to one with lines who has it open on this host, whoever claims it
    (`at_work`: user, name, terminal); to lines the `picked_name` of who picked last."""
    for row in rows:
        for line in row.get("lines") or ():
            if line.get("picked_username"):
                line["picked_name"] = name_of(cache, str(line["picked_username"]))
        if "lines" in row:
            row["at_work"] = _at_work(cache, outbox, str(row["order_number"]))
        if row.get("is_claimed"):
            _add(cache, outbox, row)


def _at_work(cache: apsw.Connection, outbox: apsw.Connection, order: str) -> list[dict[str, str]]:
    found = ((str(user), session_of(session)) for user, *session in fetch(outbox, _AT_WORK, order))
    return [
        {"user": user, "name": name_of(cache, user), "terminal": session.terminal}
        for user, session in found
        if session.running
    ]


def with_pickers(cache: apsw.Connection, refused: Iterable[Row]) -> None:
    """Adds to what found no room on a line, in place, the name of who had picked it: `picked_name`."""
    for row in refused:
        if row["left"].get("picked_username"):
            row["left"]["picked_name"] = name_of(cache, str(row["left"]["picked_username"]))


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def _add(cache: apsw.Connection, outbox: apsw.Connection, row: Row) -> None:
    if not row.get("claimed_by"):
        last = fetch_one(outbox, _LAST, row["order_number"])
        given = remark_of(outbox, "claim", row["order_number"])
        if given and (last is None or given.at > last[2]):
            last = given.text, "", given.at
        if last is None:
            return
        row["claimed_by"], row["claimed_terminal"], row["claimed_on"] = last[0], last[1], _moment(last[2])
    user, terminal = str(row["claimed_by"]), str(row.get("claimed_terminal") or "")
    if not row.get("claimed_name"):
        row["claimed_name"] = name_of(cache, user)
    if fetch_one(outbox, "SELECT 1 FROM session WHERE terminal = ? LIMIT 1", terminal) is not None:
        sessions = fetch(outbox, _OPEN, row["order_number"], user, terminal)
        row["claim_open"] = any(session_of(session).running for session in sessions)
        left = None if row["claim_open"] else fetch_one(outbox, _LEFT, row["order_number"], user, terminal)
        if left and left[0] and not is_later(str(row.get("claimed_on") or ""), _moment(left[0])):
            row["claim_left"] = _moment(left[0])
