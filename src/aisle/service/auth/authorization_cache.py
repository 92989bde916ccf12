"""Who was let in a moment ago, so that the body of a write is taken without asking the database first.

It decides nothing: the transaction that carries a write out asks who may do it, each time, and so does whoever is to
hear what is wrong with a body. It saves only the question that is asked before a body is taken from anybody at all.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from time import monotonic
from typing import NamedTuple

_CACHE_SECONDS = 60.0
# The one that was not let in for longest is forgotten; it is asked for once more.
_MAX_ENTRIES = 10_000


class AuthorizationKey(NamedTuple):
    """Who comes, by what is stored of the token, what for, and to which store."""

    token_hash: str
    operation: str
    store_number: str | None


class CachedAuthorization(NamedTuple):
    """What the log has to say of somebody, and whose requests are counted."""

    token_id: str
    role: str
    store_number: str | None

    def log_fields(self) -> dict[str, str]:
        """What is noted of a request."""
        said = {"token": self.token_id, "role": self.role}
        return said if self.store_number is None else said | {"store": self.store_number}


class AuthorizationCache:
    """The guests of one process; used by several threads, each call by itself."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._entries: OrderedDict[AuthorizationKey, tuple[float, CachedAuthorization]] = OrderedDict()

    def get(self, key: AuthorizationKey) -> CachedAuthorization | None:
        """Who was let in for this a moment ago."""
        then, guest = self._entries.get(key, (0.0, None))
        return guest if guest and self._now() - then < _CACHE_SECONDS else None

    def add(self, key: AuthorizationKey, authorization: CachedAuthorization) -> None:
        """The database has said that they may."""
        self._entries.pop(key, None)  # the last one that was let in stands last
        self._entries[key] = (self._now(), authorization)
        if len(self._entries) > _MAX_ENTRIES:
            self._entries.popitem(last=False)

    def remove(self, key: AuthorizationKey) -> None:
        """It has said that they may not, or not any more."""
        self._entries.pop(key, None)
