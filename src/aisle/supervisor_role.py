"""Roles, and the one rule on who may act as a supervisor."""

from __future__ import annotations

from typing import Final

SUPERVISORS: Final = frozenset({"supervisor", "admin"})
"""Roles of people who may act as supervisors."""


def may_supervise(role: str, *, service_known: bool, knows_people: bool) -> bool:
    """Return True if a person of this role (empty if unknown) may act as a supervisor, as far as a host knows.

    Nobody may before the service was reached. A service without a list of people leaves it to its token, so everybody
    may. With a list, only known supervisors may; the list may not have been read yet.
    """
    return service_known and (not knows_people or role in SUPERVISORS)
