"""The people of a store as its service says them: their names, and what they may."""

from __future__ import annotations

import apsw

from aisle.local.db import fetch, fetch_one
from aisle.roles import SUPERVISORS, may_supervise
from aisle.tuples import NamedTuple


class Standing(NamedTuple):
    """What a service says of a person."""

    heard: bool
    """Anything was ever heard of it."""
    features: tuple[str, ...]
    """The words by which it announces what it understands."""
    role: str
    """Empty where nobody knows it."""
    has_pin: bool = False

    @property
    def people(self) -> bool:
        """It knows who people are."""
        return "people" in self.features

    @property
    def sign_in(self) -> bool:
        """It gives a person a token of his own for his PIN."""
        return "sign-in" in self.features

    @property
    def proves(self) -> bool:
        """This person does what supervisors do with a token of his own."""
        return self.sign_in and self.has_pin and self.role in SUPERVISORS

    @property
    def may(self) -> bool:
        """This person may do what supervisors do."""
        return may_supervise(self.role, heard=self.heard, people=self.people)


def announced(cache: apsw.Connection) -> tuple[str, ...] | None:
    """The words by which the service announces what it understands; None while it was never heard of."""
    row = fetch_one(cache, "SELECT features, last_ok FROM link")
    if row is None or row[1] is None:
        return None
    words = (part.partition("=")[0].strip().lower() for part in str(row[0]).split(","))
    return tuple(word for word in words if word)


def standing(cache: apsw.Connection, user: str) -> Standing:
    """What the service says of this person."""
    words = announced(cache)
    row = fetch_one(cache, "SELECT raw ->> 'role', raw ->> 'has_pin' FROM person WHERE user = ?", user)
    role, has_pin = row or ("", 0)
    return Standing(words is not None, words or (), str(role or ""), bool(has_pin))


def name_of(cache: apsw.Connection, user: str) -> str:
    """How somebody is called; the user itself where nobody says."""
    row = fetch_one(cache, "SELECT name FROM person WHERE user = ?", user)
    return str(row[0] or user) if row else user


def people_of(cache: apsw.Connection) -> dict[str, str]:
    """The names of all people, by their users."""
    return {str(user): str(name) for user, name in fetch(cache, "SELECT user, name FROM person")}
