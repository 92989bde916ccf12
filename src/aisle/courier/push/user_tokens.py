"""The tokens of persons, in this process's memory alone; sessions are told whose there are (`local.outbox.passes`)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import apsw

from aisle.outbox import user_tokens
from aisle.outbox.operation_record import STORE_PRINCIPAL, principal_of, user_of_principal


class TokenStore:
    """What can be sent with whose token."""

    def __init__(self, outbox: apsw.Connection, on_change: Callable[[], None], *, clock: Callable[[], float]) -> None:
        """`tell` is called when somebody's token has come or gone."""
        self._db = outbox
        self._on_change = on_change
        self._clock = clock
        self._tokens: dict[str, tuple[str, float]] = {}
        user_tokens.delete_all_tokens(outbox)

    def add(self, user: str, token: str, seconds: float) -> float:
        """This person's token, for so long; until when, in seconds since 1970. Raises StorageError."""
        until = self._clock() + min(seconds, user_tokens.MAX_TOKEN_S)
        self._tokens[principal_of(user)] = (token, until)
        user_tokens.record_token(self._db, user, until)
        self._on_change()
        return until

    def add_from_message(self, user: str, message: str) -> None:
        """A token that somebody got elsewhere on this host, at the door for browsers: its last moment, and itself."""
        until, _, token = message.partition(" ")
        with suppress(ValueError):
            seconds = float(until) - self._clock()
            if token and seconds > 0:
                self.add(user, token, seconds)

    def remove(self, principal: str, token: str) -> None:
        """The service does not take it any more; one that has come since stays."""
        if self._tokens.get(principal, ("", 0.0))[0] == token:
            del self._tokens[principal]
            user_tokens.delete_token(self._db, principal)
            self._on_change()

    @property
    def usable_principals(self) -> tuple[str, ...]:
        """Those whose operations can be sent now."""
        now = self._clock()
        return (STORE_PRINCIPAL, *(name for name, (_, until) in self._tokens.items() if now < until))

    def can_send(self, principal: str) -> bool:
        """Whether something of this principal can be sent now."""
        return principal in self.usable_principals

    def token_of(self, principal: str) -> str | None:
        """What it is sent with; None for the store's token."""
        return self._tokens[principal][0] if user_of_principal(principal) else None
