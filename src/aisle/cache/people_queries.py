"""The people of a store as its service says them: their names, and what they may."""

from __future__ import annotations

from typing import NamedTuple

import apsw

from aisle.host.database import fetch, fetch_one
from aisle.roles import SUPERVISORS, may_supervise


class PersonRights(NamedTuple):
    """What a service says of a person."""

    service_known: bool
    """Anything was ever heard of it."""
    features: tuple[str, ...]
    """The words by which it announces what it understands."""
    role: str
    """Empty where nobody knows it."""
    has_pin: bool = False

    @property
    def knows_people(self) -> bool:
        """It knows who people are."""
        return "people" in self.features

    @property
    def issues_user_tokens(self) -> bool:
        """It gives a person a token of his own for his PIN."""
        return "sign-in" in self.features

    @property
    def needs_pin(self) -> bool:
        """This person does what supervisors do with a token of his own."""
        return self.issues_user_tokens and self.has_pin and self.role in SUPERVISORS

    @property
    def may_supervise(self) -> bool:
        """This person may do what supervisors do."""
        return may_supervise(self.role, service_known=self.service_known, knows_people=self.knows_people)


def announced_features(cache: apsw.Connection) -> tuple[str, ...] | None:
    """The words by which the service announces what it understands; None while it was never heard of."""
    row = fetch_one(cache, "SELECT features, last_ok FROM link")
    if row is None or row[1] is None:
        return None
    words = (part.partition("=")[0].strip().lower() for part in str(row[0]).split(","))
    return tuple(word for word in words if word)


def load_person_rights(cache: apsw.Connection, user: str) -> PersonRights:
    """What the service says of this person."""
    words = announced_features(cache)
    row = fetch_one(cache, "SELECT raw ->> 'role', raw ->> 'has_pin' FROM person WHERE user = ?", user)
    role, has_pin = row or ("", 0)
    return PersonRights(words is not None, words or (), str(role or ""), bool(has_pin))


def person_name(cache: apsw.Connection, user: str) -> str:
    """How somebody is called; the user itself where nobody says."""
    row = fetch_one(cache, "SELECT name FROM person WHERE user = ?", user)
    return str(row[0] or user) if row else user


def names_by_user(cache: apsw.Connection) -> dict[str, str]:
    """The names of all people, by their users."""
    return {str(user): str(name) for user, name in fetch(cache, "SELECT user, name FROM person")}
