"""What this host knows of who works on an order, laid beside what the service says.

`is_claimed` of the interface has no owner. Where the service names none, the last person here who worked on the order
is named; where it does, whether that work is still open can be seen if it is done on this host.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

import apsw

from aisle.cache.order_overlay import Row
from aisle.cache.people_queries import person_name
from aisle.cache.row_values import QueryResult
from aisle.host.database import fetch, fetch_one
from aisle.jobs.claims import is_later
from aisle.jobs.job import Json
from aisle.json_codec import to_text
from aisle.outbox.journal import session_from_row
from aisle.outbox.local_notes import (
    ASSIGNED,
    NOT_PUT_DOWN,
    PRIORITY,
    REDIRECTED,
    RELEASED,
    LocalNoteRow,
    find_note,
    notes_of_keys,
    notes_of_topic,
)

_LAST_WORKER = """
SELECT j.user, s.terminal, h.since FROM hold h JOIN job j ON j.job_id = h.job_id
JOIN session s ON s.session_id = j.session_id WHERE h.order_number = ? ORDER BY h.since DESC LIMIT 1
"""

_OPEN_WORK = """
SELECT s.* FROM hold h JOIN job j ON j.job_id = h.job_id AND j.closed IS NULL
JOIN session s ON s.session_id = j.session_id WHERE h.order_number = ? AND j.user = ? AND s.terminal = ?
"""

_CLOSED_WORK = """
SELECT j.closed FROM hold h JOIN job j ON j.job_id = h.job_id JOIN session s ON s.session_id = j.session_id
WHERE h.order_number = ? AND j.user = ? AND s.terminal = ? ORDER BY j.closed IS NULL DESC, j.closed DESC LIMIT 1
"""

_WORKERS = """
SELECT j.user, s.* FROM hold h JOIN job j ON j.job_id = h.job_id AND j.closed IS NULL
JOIN session s ON s.session_id = j.session_id WHERE h.order_number = ? ORDER BY h.since
"""


def add_claims(cache: apsw.Connection, outbox: apsw.Connection, rows: Iterable[Row]) -> None:
    """Adds what is known here, in place: to each order that is claimed `claimed_by`, `claimed_name`, `claimed_on`,
    `claimed_terminal` and `claim_open` (True or False; missing where this host cannot know), and where that work was
    closed since it was claimed, when (`claim_left`); to one with lines who has it open on this host, whoever claims it
    (`at_work`: user, name, terminal); to lines the `picked_name` of who picked last."""
    for row in rows:
        for line in row.get("lines") or ():
            if line.get("picked_username"):
                line["picked_name"] = person_name(cache, str(line["picked_username"]))
        if "lines" in row:
            row["at_work"] = _current_workers(cache, outbox, str(row["order_number"]))
        if row.get("is_claimed"):
            _add_claim(cache, outbox, row)


def _current_workers(cache: apsw.Connection, outbox: apsw.Connection, order: str) -> list[dict[str, str]]:
    found = ((str(user), session_from_row(session)) for user, *session in fetch(outbox, _WORKERS, order))
    return [
        {"user": user, "name": person_name(cache, user), "terminal": session.terminal}
        for user, session in found
        if session.is_running
    ]


def add_picker_names(cache: apsw.Connection, refused: Iterable[Row]) -> None:
    """Adds to what found no room on a line, in place, the name of who had picked it: `picked_name`."""
    for row in refused:
        if row["left"].get("picked_username"):
            row["left"]["picked_name"] = person_name(cache, str(row["left"]["picked_username"]))


def _iso_time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def _add_claim(cache: apsw.Connection, outbox: apsw.Connection, row: Row) -> None:
    if not row.get("claimed_by"):
        last = fetch_one(outbox, _LAST_WORKER, row["order_number"])
        given = find_note(outbox, "claim", row["order_number"])
        if given and (last is None or given.at > last[2]):
            last = given.text, "", given.at
        if last is None:
            return
        row["claimed_by"], row["claimed_terminal"], row["claimed_on"] = last[0], last[1], _iso_time(last[2])
    user, terminal = str(row["claimed_by"]), str(row.get("claimed_terminal") or "")
    if not row.get("claimed_name"):
        row["claimed_name"] = person_name(cache, user)
    if fetch_one(outbox, "SELECT 1 FROM session WHERE terminal = ? LIMIT 1", terminal) is not None:
        sessions = fetch(outbox, _OPEN_WORK, row["order_number"], user, terminal)
        row["claim_open"] = any(session_from_row(session).is_running for session in sessions)
        left = None if row["claim_open"] else fetch_one(outbox, _CLOSED_WORK, row["order_number"], user, terminal)
        if left and left[0] and not is_later(str(row.get("claimed_on") or ""), _iso_time(left[0])):
            row["claim_left"] = _iso_time(left[0])


_BATCH_PICKERS = """
SELECT h.order_number, j.user, s.terminal FROM hold h JOIN job j ON j.job_id = h.job_id AND j.closed IS NULL
JOIN session s ON s.session_id = j.session_id WHERE h.order_number IN (SELECT value FROM json_each(?)) ORDER BY h.since
"""

_OPEN_ORDERS = """
SELECT o.order_number FROM orders o WHERE o.order_number IN (SELECT value FROM json_each(?)) AND o.state = 0
"""


def add_priority(cache: apsw.Connection, outbox: apsw.Connection, rows: Sequence[Row]) -> None:
    """Adds to each order, in place: `urgent` and `urgent_by`, `given_to`, `given_name`, `given_by` and `given_on`,
    `released_on`: when its claim was released here, and `redirected`: where stops of it are taken, as that was kept."""
    said = notes_of_keys(outbox, [str(row["order_number"]) for row in rows], PRIORITY, ASSIGNED, RELEASED, REDIRECTED)
    for row in rows:
        number = str(row["order_number"])
        first, handed, released = (said.get((topic, number)) for topic in (PRIORITY, ASSIGNED, RELEASED))
        row["urgent"], row["urgent_by"] = first is not None, person_name(cache, first.user) if first else ""
        row["given_to"], row["given_name"] = (handed.text, person_name(cache, handed.text)) if handed else ("", "")
        row["released_on"] = _iso_time_of_note(released) if released else ""
        left = said.get((REDIRECTED, number))
        row["redirected"] = left.text if left else ""
        row["given_by"], row["given_on"] = (
            (person_name(cache, handed.user), _iso_time_of_note(handed)) if handed else ("", "")
        )


def add_batch_pickers(cache: apsw.Connection, outbox: apsw.Connection, rows: Sequence[Row]) -> None:
    """Adds to each order, in place, in whose open round of this host it is, in that of whoever opened it last where it
    is in several: `walker`, `walker_name`, `walker_terminal`; empty for nobody's. Until whom it was given to has opened
    it, who has only goods of it in hand walks it no more; from then on he is one of those who have it open, for what
    was said of it is over (see `opened` in aisle.jobs.pick.orders)."""
    numbers = [str(row["order_number"]) for row in rows]
    found = fetch(outbox, _BATCH_PICKERS, to_text(numbers)) if rows else []
    handed = (
        {number: kept.text for (_, number), kept in notes_of_keys(outbox, numbers, ASSIGNED).items()} if found else {}
    )
    walks = {
        str(number): (str(user), str(terminal))
        for number, user, terminal in found
        if handed.get(str(number), user) == user
    }
    for row in rows:
        row["walker"], row["walker_terminal"] = walks.get(str(row["order_number"]), ("", ""))
        row["walker_name"] = person_name(cache, row["walker"]) if row["walker"] else ""


def orders_ahead(outbox: apsw.Connection, user: str) -> list[str]:
    """The orders that come before all others for this person: those given to him, then those that are urgent."""
    mine = sorted(
        (kept for kept in notes_of_topic(outbox, ASSIGNED).values() if kept.text == user), key=lambda kept: kept.at
    )
    first = sorted(notes_of_topic(outbox, PRIORITY).values(), key=lambda kept: kept.at)
    return list(dict.fromkeys(kept.key for kept in (*mine, *first)))


def orders_not_put_down(outbox: apsw.Connection, user: str, *, of_everybody: bool) -> list[str]:
    """The orders that this person, or anybody here, has left with goods of them at no place, the last one first."""
    kept = sorted(notes_of_topic(outbox, NOT_PUT_DOWN).values(), key=lambda each: each.at, reverse=True)
    return [each.key for each in kept if of_everybody or each.text == user]


def assigned_orders(cache: apsw.Connection, outbox: apsw.Connection, args: Mapping[str, Json]) -> QueryResult:
    """The open orders that were given to this `user` and that he has not opened yet: `order_number`, `by`, `at`."""
    user = str(args["user"])
    kept = [each for each in notes_of_topic(outbox, ASSIGNED).values() if each.text == user] if user else []
    open_ = {str(row[0]) for row in fetch(cache, _OPEN_ORDERS, to_text([each.key for each in kept]))} if kept else set()
    rows: list[Row] = [
        {"order_number": each.key, "by": person_name(cache, each.user), "at": _iso_time_of_note(each)}
        for each in sorted(kept, key=lambda each: each.at)
        if each.key in open_
    ]
    return rows, len(rows)


def _iso_time_of_note(note: LocalNoteRow) -> str:
    return datetime.fromtimestamp(note.at, UTC).isoformat(timespec="milliseconds")
