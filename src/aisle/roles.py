"""Who does what only a supervisor does; said once, for whoever asks."""

from __future__ import annotations

from typing import Final

SUPERVISORS: Final = frozenset({"supervisor", "admin"})
"""Roles of people who may do what supervisors do."""


def may_supervise(role: str, *, service_known: bool, knows_people: bool) -> bool:
    """Whether somebody of this role (empty where nobody knows it) may do what supervisors do, as far as a host knows.

    Nobody before the service was `heard` of. One that knows no `people` leaves it to its token, so that everybody may;
    where it does, whoever is not known to be one may not: the list of people may not have come yet.
    """
    return service_known and (not knows_people or role in SUPERVISORS)
