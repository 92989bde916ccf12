"""The tokens of persons, in this process's memory alone; sessions are told whose there are (`local.outbox.passes`)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import apsw

from aisle.local.outbox import passes
from aisle.local.outbox.operation import STORE, person_of, principal_of


class Passes:
    """What can be sent with whose token."""

    def __init__(self, outbox: apsw.Connection, tell: Callable[[], None], *, clock: Callable[[], float]) -> None:
        """`tell` is called when somebody's token has come or gone."""
        self._db = outbox
        self._tell = tell
        self._clock = clock
        self._tokens: dict[str, tuple[str, float]] = {}
        passes.forget(outbox)

    def keep(self, user: str, token: str, seconds: float) -> float:
        """This person's token, for so long; until when, in seconds since 1970. Raises StorageError."""
        until = self._clock() + min(seconds, passes.LONGEST_S)
        self._tokens[principal_of(user)] = (token, until)
        passes.grant(self._db, user, until)
        self._tell()
        return until

    def take(self, user: str, said: str) -> None:
        """A token that somebody got elsewhere on this host, at the door for browsers: its last moment, and itself."""
        until, _, token = said.partition(" ")
        with suppress(ValueError):
            seconds = float(until) - self._clock()
            if token and seconds > 0:
                self.keep(user, token, seconds)

    def lose(self, principal: str, token: str) -> None:
        """The service does not take it any more; one that has come since stays."""
        if self._tokens.get(principal, ("", 0.0))[0] == token:
            del self._tokens[principal]
            passes.withdraw(self._db, principal)
            self._tell()

    @property
    def principals(self) -> tuple[str, ...]:
        """Those whose operations can be sent now."""
        now = self._clock()
        return (STORE, *(name for name, (_, until) in self._tokens.items() if now < until))

    def may(self, principal: str) -> bool:
        """Whether something of this principal can be sent now."""
        return principal in self.principals

    def token(self, principal: str) -> str | None:
        """What it is sent with; None for the store's token."""
        return self._tokens[principal][0] if person_of(principal) else None
