"""Queries for people of the store, their rights, and the features that the service announces."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import apsw

from aisle.barcode_lookup_keys import lookup_keys
from aisle.cache.code_queries import find_candidates
from aisle.cache.list_window import QueryResult, page
from aisle.cache.query_context import QueryContext
from aisle.cache.query_registry import declare_query, whole_topics
from aisle.host.database import fetch, fetch_one
from aisle.host.notify_sockets import OUTBOX
from aisle.jobs.job import Args
from aisle.outbox.local_notes import LANGUAGE, LIST, THEME, notes_of_keys
from aisle.outbox.operation_record import principal_of
from aisle.outbox.token_holders_and_waiting_operations import count_waiting_for, has_token
from aisle.scan.grammar_and_meaning_types import PERSON
from aisle.search_text import normalise_text
from aisle.supervisor_role import SUPERVISORS, may_supervise

if TYPE_CHECKING:
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
