"""Cache of recent authorizations, so that the body of a write is read without a database query.

The cache decides nothing. The transaction of a write authorizes the caller again each time, and so does the answer to
an invalid body. Only the query before a body is read is saved.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from time import monotonic
from typing import NamedTuple

from aisle.service.http.json_logging import RequestNotes

_CACHE_SECONDS = 60.0
# Above this number the entry that was authorized longest ago is removed; it is queried again.
_MAX_ENTRIES = 10_000


class AuthorizationKey(NamedTuple):
    """Key of an authorization: hash of the token, operation and store."""

    token_hash: str
    operation: str
    store_number: str | None


class CachedAuthorization(NamedTuple):
    """Fields for the log, and the token whose requests are counted."""

    token_id: str
    role: str
    store_number: str | None

    def log_fields(self) -> RequestNotes:
        """Return the fields for the request log."""
        fields: RequestNotes = {"token": self.token_id, "role": self.role}
        return fields if self.store_number is None else {**fields, "store": self.store_number}


class AuthorizationCache:
    """Authorizations of one process within the last 60 s; threads may share it."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._entries: OrderedDict[AuthorizationKey, tuple[float, CachedAuthorization]] = OrderedDict()

    def get(self, key: AuthorizationKey) -> CachedAuthorization | None:
        """Return the authorization of the last 60 s, or None."""
        then, authorization = self._entries.get(key, (0.0, None))
        return authorization if authorization and self._now() - then < _CACHE_SECONDS else None

    def add(self, key: AuthorizationKey, authorization: CachedAuthorization) -> None:
        """Store an authorization that the database confirmed."""
        self._entries.pop(key, None)  # The newest entry is last.
        self._entries[key] = (self._now(), authorization)
        if len(self._entries) > _MAX_ENTRIES:
            self._entries.popitem(last=False)

    def remove(self, key: AuthorizationKey) -> None:
        """Remove an authorization that the database refused."""
        self._entries.pop(key, None)
