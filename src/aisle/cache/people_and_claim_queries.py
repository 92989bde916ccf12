"""Queries for people of the store, their rights, the features of the service, and claims on orders and their priority.

`is_claimed` of the interface has no owner. If the service names none, the owner is the last person of this host who
worked on the order. If it names one, the host can tell if that work is still open, provided it is done here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import apsw

from aisle.barcode_numbers import lookup_keys
from aisle.cache.code_queries import find_candidates
from aisle.cache.queries import QueryContext, QueryResult, declare_query, page, whole_topics
from aisle.cache.stored_row_values import iso_time
from aisle.host.database import fetch, fetch_one
from aisle.host.notify_sockets import OUTBOX
from aisle.jobs.claim import is_later
from aisle.jobs.job import Args
from aisle.named_tuple_json import to_text
from aisle.outbox.local_notes import (
    ASSIGNED,
    LANGUAGE,
    LIST,
    NOT_PUT_DOWN,
    PRIORITY,
    REDIRECTED,
    RELEASED,
    THEME,
    find_note,
    notes_of_keys,
    notes_of_topic,
)
from aisle.outbox.operation_record import principal_of
from aisle.outbox.requests_and_token_holders import count_waiting_for, has_token
from aisle.outbox.sessions_and_open_jobs import session_from_row
from aisle.scan.grammar_and_meaning_types import PERSON
from aisle.search_text import normalise_text
from aisle.supervisor_role import SUPERVISORS, may_supervise

if TYPE_CHECKING:
    from aisle.jobs.row_types.operations_and_session_answers import RefusedOperationsRow
    from aisle.jobs.row_types.orders import AssignedOrdersRow, OrderHeader, OrderRow, OrdersByNumberRow, WorkerRow
    from aisle.jobs.row_types.people_stores_and_features import (
        FeaturesRow,
        ListChoicesRow,
        PeopleRow,
        PersonRow,
        PreferencesRow,
        UserTokenRow,
    )


class PersonRights(NamedTuple):
    """Rights of a person as far as the service tells."""

    service_known: bool
    """True if the service was ever reached."""
    features: tuple[str, ...]
    """Features that the service announces."""
    role: str
    """Role of the person; empty if unknown."""
    has_pin: bool = False

    @property
    def knows_people(self) -> bool:
        """True if the service has a list of people."""
        return "people" in self.features

    @property
    def issues_user_tokens(self) -> bool:
        """True if the service issues a token to a person for a PIN."""
        return "sign-in" in self.features

    @property
    def needs_pin(self) -> bool:
        """True if this person needs a token of their own to act as a supervisor."""
        return self.issues_user_tokens and self.has_pin and self.role in SUPERVISORS

    @property
    def may_supervise(self) -> bool:
        """True if this person may act as a supervisor."""
        return may_supervise(self.role, service_known=self.service_known, knows_people=self.knows_people)


def announced_features(cache: apsw.Connection) -> tuple[str, ...] | None:
    """Return the features that the service announces; None if it was never reached."""
    row = fetch_one(cache, "SELECT features, last_ok FROM link")
    if row is None or row[1] is None:
        return None
    words = (part.partition("=")[0].strip().lower() for part in str(row[0]).split(","))
    return tuple(word for word in words if word)


def announces_features(cache: apsw.Connection) -> bool:
    """Return True if the service announces features, as only our own does."""
    row = fetch_one(cache, "SELECT features FROM link")
    return bool(row and row[0])


def load_person_rights(cache: apsw.Connection, user: str) -> PersonRights:
    """Return the rights of a person."""
    words = announced_features(cache)
    row = fetch_one(cache, "SELECT raw ->> 'role', raw ->> 'has_pin' FROM person WHERE user = ?", user)
    role, has_pin = row or ("", 0)
    return PersonRights(words is not None, words or (), str(role or ""), bool(has_pin))


def person_name(cache: apsw.Connection, user: str) -> str:
    """Return the name of a person; the user itself if unknown."""
    row = fetch_one(cache, "SELECT name FROM person WHERE user = ?", user)
    return str(row[0] or user) if row else user


def names_by_user(cache: apsw.Connection) -> dict[str, str]:
    """Return the names of all people by user."""
    return {str(user): str(name) for user, name in fetch(cache, "SELECT user, name FROM person")}


@declare_query("people", "search first size", whole_topics("person"))
def query_people(context: QueryContext, args: Args) -> QueryResult[PeopleRow]:
    """Return the people whose name, user or badge match the words of `search`."""
    search = str(args.get("search") or "")
    words = normalise_text(search).split()
    badges = {found.key for found in find_candidates(context.cache, lookup_keys(search)) if found.kind == PERSON}
    rows = fetch(context.cache, "SELECT user, name, text FROM person ORDER BY name, user")
    people: list[PeopleRow] = [
        {"user": user, "name": name, "is_badge": user in badges}
        for user, name, text in rows
        if user in badges or all(word in text for word in words)
    ]
    return page(people, args, 50)


@declare_query("person", "user", whole_topics("person"))
def query_person(context: QueryContext, args: Args) -> QueryResult[PersonRow]:
    """Return one person, with the number of all."""
    row = fetch_one(context.cache, "SELECT user, name, raw ->> 'role' FROM person WHERE user = ?", str(args["user"]))
    count = fetch_one(context.cache, "SELECT count(*) FROM person")
    return [{"user": row[0], "name": row[1], "role": str(row[2] or "")}] if row else [], int(count[0]) if count else 0


@declare_query("preferences", "user", whole_topics())
def query_preferences(context: QueryContext, args: Args) -> QueryResult[PreferencesRow]:
    """Return the language and the theme that a person chose on this host; empty texts for none."""
    user = str(args["user"])
    notes = notes_of_keys(context.outbox, [user], LANGUAGE, THEME)
    chosen = {topic: note.text for (topic, _), note in notes.items()}
    return [{"language": chosen.get(LANGUAGE, ""), "theme": chosen.get(THEME, "")}], 1


@declare_query("list_choices", "key", whole_topics())
def query_list_choices(context: QueryContext, args: Args) -> QueryResult[ListChoicesRow]:
    """Return what a person chose for a list, as `aisle.jobs.column_choice` keeps it."""
    notes = notes_of_keys(context.outbox, [str(args["key"])], LIST)
    return [{"text": note.text} for note in notes.values()], len(notes)


@declare_query("user_token", "user now", whole_topics(OUTBOX))
def user_token(context: QueryContext, args: Args) -> QueryResult[UserTokenRow]:
    """Return the token of the `user`, as far as known, at `now`."""
    outbox, user = context.outbox, str(args["user"])
    rights = load_person_rights(context.cache, user)
    row: UserTokenRow = {
        "wanted": rights.needs_pin,
        "denied": rights.service_known and not rights.may_supervise,
        "asked": rights.issues_user_tokens,
        "there": False,
        "waiting": 0,
    }
    if user:
        now = datetime.fromisoformat(str(args["now"])).timestamp()
        row["there"] = has_token(outbox, principal_of(user), now)
        row["waiting"] = count_waiting_for(outbox, user, now)
    return [row], 1


@declare_query("features", "", whole_topics("link"))
def service_features(context: QueryContext, _: Args) -> QueryResult[FeaturesRow]:
    """Return one row with the announced `features`; none if the service was never reached."""
    words = announced_features(context.cache)
    return ([], 0) if words is None else ([{"features": list(words)}], 1)


_LAST_WORKER = """
SELECT j.user, s.terminal, h.since FROM order_in_work h JOIN job j ON j.job_id = h.job_id
JOIN session s ON s.session_id = j.session_id WHERE h.order_number = ? ORDER BY h.since DESC LIMIT 1
"""

_OPEN_WORK = """
SELECT s.* FROM order_in_work h JOIN job j ON j.job_id = h.job_id AND j.closed IS NULL
JOIN session s ON s.session_id = j.session_id WHERE h.order_number = ? AND j.user = ? AND s.terminal = ?
"""

_CLOSED_WORK = """
SELECT j.closed FROM order_in_work h JOIN job j ON j.job_id = h.job_id JOIN session s ON s.session_id = j.session_id
WHERE h.order_number = ? AND j.user = ? AND s.terminal = ? ORDER BY j.closed IS NULL DESC, j.closed DESC LIMIT 1
"""

_WORKERS = """
SELECT j.user, s.* FROM order_in_work h JOIN job j ON j.job_id = h.job_id AND j.closed IS NULL
JOIN session s ON s.session_id = j.session_id WHERE h.order_number = ? ORDER BY h.since
"""


def add_claims(cache: apsw.Connection, outbox: apsw.Connection, rows: Iterable[OrderHeader]) -> None:
    """Add the local knowledge about its claim to each claimed order, in place."""
    for row in rows:
        if row["is_claimed"]:
            _add_claim(cache, outbox, row)


def add_workers(cache: apsw.Connection, outbox: apsw.Connection, rows: Iterable[OrderRow]) -> None:
    """Add to each order who has it open on this host, and to its lines the name of the last picker, in place."""
    for row in rows:
        for line in row["lines"]:
            if line.get("picked_username"):
                line["picked_name"] = person_name(cache, str(line["picked_username"]))
        row["at_work"] = current_workers(cache, outbox, row["order_number"])


def current_workers(cache: apsw.Connection, outbox: apsw.Connection, order: str) -> list[WorkerRow]:
    """Return who has an order, or a delivery by its name in work, open on this host; the first one first."""
    found = ((str(user), session_from_row(session)) for user, *session in fetch(outbox, _WORKERS, order))
    return [
        {"user": user, "name": person_name(cache, user), "terminal": session.terminal}
        for user, session in found
        if session.is_running
    ]


def add_picker_names(cache: apsw.Connection, refused: Iterable[RefusedOperationsRow]) -> None:
    """Add `picked_name` to the excess that no line could take, in place: the name of its picker."""
    for row in refused:
        if row["left"].get("picked_username"):
            row["left"]["picked_name"] = person_name(cache, str(row["left"]["picked_username"]))


def _add_claim(cache: apsw.Connection, outbox: apsw.Connection, row: OrderHeader) -> None:
    if not row.get("claimed_by"):
        last = fetch_one(outbox, _LAST_WORKER, row["order_number"])
        assigned = find_note(outbox, "claim", row["order_number"])
        if assigned and (last is None or assigned.at > last[2]):
            last = assigned.text, "", assigned.at
        if last is None:
            return
        row["claimed_by"], row["claimed_terminal"], row["claimed_on"] = last[0], last[1], iso_time(last[2])
    user, terminal = str(row["claimed_by"]), str(row.get("claimed_terminal") or "")
    if not row.get("claimed_name"):
        row["claimed_name"] = person_name(cache, user)
    if fetch_one(outbox, "SELECT 1 FROM session WHERE terminal = ? LIMIT 1", terminal) is not None:
        sessions = fetch(outbox, _OPEN_WORK, row["order_number"], user, terminal)
        row["is_claim_active"] = any(session_from_row(session).is_running for session in sessions)
        closed = (
            None if row["is_claim_active"] else fetch_one(outbox, _CLOSED_WORK, row["order_number"], user, terminal)
        )
        if closed and closed[0] and not is_later(str(row.get("claimed_on") or ""), iso_time(closed[0])):
            row["claim_ended_at"] = iso_time(closed[0])


_BATCH_PICKERS = """
SELECT h.order_number, j.user, s.terminal FROM order_in_work h JOIN job j ON j.job_id = h.job_id AND j.closed IS NULL
JOIN session s ON s.session_id = j.session_id WHERE h.order_number IN (SELECT value FROM json_each(?)) ORDER BY h.since
"""

_OPEN_ORDERS = """
SELECT o.order_number FROM orders o WHERE o.order_number IN (SELECT value FROM json_each(?)) AND o.state = 0
"""


def add_priority(cache: apsw.Connection, outbox: apsw.Connection, rows: Sequence[OrderHeader]) -> None:
    """Add the supervisors' notes to each order, in place."""
    notes = notes_of_keys(outbox, [str(row["order_number"]) for row in rows], PRIORITY, ASSIGNED, RELEASED, REDIRECTED)
    for row in rows:
        number = str(row["order_number"])
        priority, assigned, released, redirected = (
            notes.get((topic, number)) for topic in (PRIORITY, ASSIGNED, RELEASED, REDIRECTED)
        )
        row["is_priority"] = priority is not None
        row["priority_by"] = person_name(cache, priority.user) if priority else ""
        row["assigned_to"] = assigned.text if assigned else ""
        row["assigned_name"] = person_name(cache, assigned.text) if assigned else ""
        row["assigned_by"] = person_name(cache, assigned.user) if assigned else ""
        row["assigned_on"] = iso_time(assigned.at) if assigned else ""
        row["released_on"] = iso_time(released.at) if released else ""
        row["redirected"] = redirected.text if redirected else ""


def add_batch_pickers(cache: apsw.Connection, outbox: apsw.Connection, rows: Sequence[OrdersByNumberRow]) -> None:
    """Add `picker`, `picker_name` and `picker_terminal` to each order, in place: the person with it in an open batch.

    They are empty if there is none. If it is in several batches of this host, the last opened one counts. If the order
    is assigned to a person, only the batches of that person count until it is opened; opening ends the assignment (see
    `opened` in aisle.jobs.pick.merge_changed_orders).
    """
    numbers = [str(row["order_number"]) for row in rows]
    found = fetch(outbox, _BATCH_PICKERS, to_text(numbers)) if rows else []
    assignees = (
        {number: note.text for (_, number), note in notes_of_keys(outbox, numbers, ASSIGNED).items()} if found else {}
    )
    pickers = {
        str(number): (str(user), str(terminal))
        for number, user, terminal in found
        if assignees.get(str(number), user) == user
    }
    for row in rows:
        row["picker"], row["picker_terminal"] = pickers.get(str(row["order_number"]), ("", ""))
        row["picker_name"] = person_name(cache, row["picker"]) if row["picker"] else ""


WORK_SHIFT_S = 16 * 3600.0
"""Seconds after which an opened order no longer counts as this shift's work."""

MAX_ORDERS = 20
"""Greatest number of orders of a person that are checked, last ones first."""

_ORDERS_OF_USER = """
SELECT h.order_number FROM order_in_work h INDEXED BY order_in_work_since JOIN job j ON j.job_id = h.job_id
WHERE j.user = ? AND j.name = 'pick' AND h.since > ? GROUP BY 1 ORDER BY max(h.since) DESC LIMIT ?
"""


def orders_of_user(outbox: apsw.Connection, user: str, since: float | None = None) -> list[str]:
    """Return the orders that a person opened to pick here since then, last one first.

    Without `since` it is the shift before the last order that was opened here.
    """
    if since is None:
        ((last,),) = fetch(outbox, "SELECT ifnull(max(since), 0) FROM order_in_work")
        since = last - WORK_SHIFT_S
    return [str(number) for (number,) in fetch(outbox, _ORDERS_OF_USER, user, since, MAX_ORDERS)]


def orders_ahead(outbox: apsw.Connection, user: str) -> list[str]:
    """Return the orders to pick first by this person: those assigned to them, then those with priority."""
    assigned = sorted(
        (note for note in notes_of_topic(outbox, ASSIGNED).values() if note.text == user), key=lambda note: note.at
    )
    priority = sorted(notes_of_topic(outbox, PRIORITY).values(), key=lambda note: note.at)
    return list(dict.fromkeys(note.key for note in (*assigned, *priority)))


def orders_not_put_down(outbox: apsw.Connection, user: str, *, of_everybody: bool) -> list[str]:
    """Return the orders left with picked goods at no location, last one first: of this person, or of everybody here."""
    notes = sorted(notes_of_topic(outbox, NOT_PUT_DOWN).values(), key=lambda each: each.at, reverse=True)
    return [each.key for each in notes if of_everybody or each.text == user]


@declare_query("assigned_orders", "user", whole_topics())
def assigned_orders(context: QueryContext, args: Args) -> QueryResult[AssignedOrdersRow]:
    """Return the open orders assigned to `user` that they have not opened yet."""
    cache, outbox, user = context.cache, context.outbox, str(args["user"])
    notes = [each for each in notes_of_topic(outbox, ASSIGNED).values() if each.text == user] if user else []
    open_ = (
        {str(row[0]) for row in fetch(cache, _OPEN_ORDERS, to_text([each.key for each in notes]))} if notes else set()
    )
    rows: list[AssignedOrdersRow] = [
        {"order_number": each.key, "by": person_name(cache, each.user), "at": iso_time(each.at)}
        for each in sorted(notes, key=lambda each: each.at)
        if each.key in open_
    ]
    return rows, len(rows)
