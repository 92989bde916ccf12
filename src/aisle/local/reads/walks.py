"""What supervisors say of walks on this host: which order goes first, which was given to whom, in whose round it is.

No interface has a word for it. So it is a remark (`urgent`, `given`) until the order is opened by whom it is for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import apsw

from aisle.jobs.base import Json
from aisle.jobs.codec import to_text
from aisle.local.db import fetch
from aisle.local.outbox.remarks import GIVEN, LYING, REDIRECTED, RELEASED, URGENT, Kept, remarks, remarks_of
from aisle.local.reads.overlay import Row
from aisle.local.reads.rows import Result
from aisle.local.session.people import name_of

_WALKERS = """
SELECT h.order_number, j.user, s.terminal FROM hold h JOIN job j ON j.job_id = h.job_id AND j.closed IS NULL
JOIN session s ON s.session_id = j.session_id WHERE h.order_number IN (SELECT value FROM json_each(?)) ORDER BY h.since
"""

_OPEN = """
SELECT o.order_number FROM orders o WHERE o.order_number IN (SELECT value FROM json_each(?)) AND o.state = 0
"""


def with_wishes(cache: apsw.Connection, outbox: apsw.Connection, rows: Sequence[Row]) -> None:
    """Adds to each order, in place: `urgent` and `urgent_by`, `given_to`, `given_name`, `given_by` and `given_on`,
    `released_on`: when its claim was released here, and `redirected`: where stops of it are taken, as that was kept."""
    said = remarks_of(outbox, [str(row["order_number"]) for row in rows], URGENT, GIVEN, RELEASED, REDIRECTED)
    for row in rows:
        number = str(row["order_number"])
        first, handed, released = (said.get((topic, number)) for topic in (URGENT, GIVEN, RELEASED))
        row["urgent"], row["urgent_by"] = first is not None, name_of(cache, first.user) if first else ""
        row["given_to"], row["given_name"] = (handed.text, name_of(cache, handed.text)) if handed else ("", "")
        row["released_on"] = _moment(released) if released else ""
        left = said.get((REDIRECTED, number))
        row["redirected"] = left.text if left else ""
        row["given_by"], row["given_on"] = (name_of(cache, handed.user), _moment(handed)) if handed else ("", "")


def with_walkers(cache: apsw.Connection, outbox: apsw.Connection, rows: Sequence[Row]) -> None:
    """Adds to each order, in place, in whose open round of this host it is, in that of whoever opened it last where it
    is in several: `walker`, `walker_name`, `walker_terminal`; empty for nobody's. Until whom it was given to has opened
    it, who has only goods of it in hand walks it no more; from then on he is one of those who have it open, for what
    was said of it is over (see `opened` in aisle.jobs.pick.given)."""
    numbers = [str(row["order_number"]) for row in rows]
    found = fetch(outbox, _WALKERS, to_text(numbers)) if rows else []
    handed = {number: kept.text for (_, number), kept in remarks_of(outbox, numbers, GIVEN).items()} if found else {}
    walks = {
        str(number): (str(user), str(terminal))
        for number, user, terminal in found
        if handed.get(str(number), user) == user
    }
    for row in rows:
        row["walker"], row["walker_terminal"] = walks.get(str(row["order_number"]), ("", ""))
        row["walker_name"] = name_of(cache, row["walker"]) if row["walker"] else ""


def ahead(outbox: apsw.Connection, user: str) -> list[str]:
    """The orders that come before all others for this person: those given to him, then those that are urgent."""
    mine = sorted((kept for kept in remarks(outbox, GIVEN).values() if kept.text == user), key=lambda kept: kept.at)
    first = sorted(remarks(outbox, URGENT).values(), key=lambda kept: kept.at)
    return list(dict.fromkeys(kept.key for kept in (*mine, *first)))


def left_lying(outbox: apsw.Connection, user: str, *, all_: bool) -> list[str]:
    """The orders that this person, or anybody here, has left with goods of them at no place, the last one first."""
    kept = sorted(remarks(outbox, LYING).values(), key=lambda each: each.at, reverse=True)
    return [each.key for each in kept if all_ or each.text == user]


def given(cache: apsw.Connection, outbox: apsw.Connection, args: Mapping[str, Json]) -> Result:
    """The open orders that were given to this `user` and that he has not opened yet: `order_number`, `by`, `at`."""
    user = str(args["user"])
    kept = [each for each in remarks(outbox, GIVEN).values() if each.text == user] if user else []
    open_ = {str(row[0]) for row in fetch(cache, _OPEN, to_text([each.key for each in kept]))} if kept else set()
    rows: list[Row] = [
        {"order_number": each.key, "by": name_of(cache, each.user), "at": _moment(each)}
        for each in sorted(kept, key=lambda each: each.at)
        if each.key in open_
    ]
    return rows, len(rows)


def _moment(kept: Kept) -> str:
    return datetime.fromtimestamp(kept.at, UTC).isoformat(timespec="milliseconds")
