"""What no file may hold: it goes to the courier by word of mouth, until what was asked with it is begun."""

from __future__ import annotations

from collections.abc import Mapping

from aisle.local.session.terms import Rooms


class Secrets:
    """The secrets that one session has to hand on, by the names of what was asked with them."""

    def __init__(self) -> None:
        self._held: dict[str, str] = {}

    def confide(self, rooms: Rooms, secrets: Mapping[str, str]) -> None:
        """What was asked with these is durable now."""
        self._held |= secrets
        for name, secret in secrets.items():
            rooms.bell.confide(name, secret)

    def again(self, rooms: Rooms) -> None:
        """A courier that was not there yet, or did not hear it, is told again; what is begun or over is forgotten."""
        for name, secret in list(self._held.items()):
            if rooms.journal.is_asked(name):
                rooms.bell.confide(name, secret)
            else:
                del self._held[name]
