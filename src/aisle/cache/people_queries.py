"""People of the store and their rights, as the service announces them."""

from __future__ import annotations

from typing import NamedTuple

import apsw

from aisle.host.database import fetch, fetch_one
from aisle.roles import SUPERVISORS, may_supervise


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
