"""User tokens, in this process's memory only; sessions see whose exist.

See `aisle.outbox.token_holders_and_waiting_operations`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import apsw

from aisle.outbox import token_holders_and_waiting_operations
from aisle.outbox.operation_record import STORE_PRINCIPAL, principal_of, user_of_principal


class TokenStore:
    """Tokens of the users that are signed in."""

    def __init__(self, outbox: apsw.Connection, on_change: Callable[[], None], *, clock: Callable[[], float]) -> None:
        """Store the collaborators. `on_change` is called when a token was added or removed."""
        self._db = outbox
        self._on_change = on_change
        self._clock = clock
        self._tokens: dict[str, tuple[str, float]] = {}
        token_holders_and_waiting_operations.delete_all_tokens(outbox)

    def add(self, user: str, token: str, seconds: float) -> float:
        """Add a user's token for `seconds`. Return until when it is used, in seconds since 1970. Raise StorageError."""
        until = self._clock() + min(seconds, token_holders_and_waiting_operations.MAX_TOKEN_S)
        self._tokens[principal_of(user)] = (token, until)
        token_holders_and_waiting_operations.record_token(self._db, user, until)
        self._on_change()
        return until

    def add_from_message(self, user: str, message: str) -> None:
        """Add a token that the web server obtained on this host: the message has its expiry and the token."""
        until, _, token = message.partition(" ")
        with suppress(ValueError):
            seconds = float(until) - self._clock()
            if token and seconds > 0:
                self.add(user, token, seconds)

    def remove(self, principal: str, token: str) -> None:
        """Remove a token that the service refuses; a newer one stays."""
        if self._tokens.get(principal, ("", 0.0))[0] == token:
            del self._tokens[principal]
            token_holders_and_waiting_operations.delete_token(self._db, principal)
            self._on_change()

    @property
    def usable_principals(self) -> tuple[str, ...]:
        """Principals whose operations can be sent now. Expired tokens are forgotten."""
        now = self._clock()
        self._tokens = {name: (token, until) for name, (token, until) in self._tokens.items() if now < until}
        return STORE_PRINCIPAL, *self._tokens

    def can_send(self, principal: str) -> bool:
        """Return whether operations of this principal can be sent now."""
        return principal in self.usable_principals

    def token_of(self, principal: str) -> str | None:
        """Return the token of a principal; None for the store's token."""
        return self._tokens[principal][0] if user_of_principal(principal) else None
