"""Who is signed in on the web page: a random name in a cookie, kept here as its hash, for a while."""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple

IDLE_S: Final = 1800.0
"""So long nothing may be typed."""
LONGEST_S: Final = 12 * 3600.0
"""So long somebody stays signed in, however busy."""

TRIES: Final = 10
"""Wrong tries from one address in TRIES_S; further ones wait."""
TRIES_S: Final = 300.0
_ADDRESSES: Final = 10_000


class Person(NamedTuple):
    """A supervisor of the store."""

    user: str
    name: str
    token: str = ""
    """The person's own, got for the PIN."""
    until: float = 0.0
    """When it ends, in seconds since 1970."""


class BrowserSession:
    """One sign-in, in one browser."""

    def __init__(self, person: Person, now: float) -> None:
        self.person = person
        self.since = self.seen = now
        self.ended = False

    def holds(self, now: float) -> bool:
        """Whether it still counts."""
        return not self.ended and now - self.seen < IDLE_S and now - self.since < LONGEST_S


class SignIns:
    """All that are signed in. A cookie is looked up by its hash, so that no time that it takes tells how near it is."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._by_hash: dict[str, BrowserSession] = {}

    def begin(self, person: Person) -> str:
        """The value of a new cookie for this person."""
        self._forget()
        value = secrets.token_urlsafe(32)
        self._by_hash[_hashed(value)] = BrowserSession(person, self._clock())
        return value

    def of(self, value: str) -> BrowserSession | None:
        """The sign-in that a cookie stands for, while it counts."""
        signed = self._by_hash.get(_hashed(value))
        return signed if signed and signed.holds(self._clock()) else None

    def holds(self, signed: BrowserSession) -> bool:
        """Whether it still counts."""
        return signed.holds(self._clock())

    def touch(self, signed: BrowserSession) -> None:
        """Something was typed."""
        signed.seen = self._clock()

    def end(self, signed: BrowserSession) -> None:
        """Sign out."""
        signed.ended = True
        self._forget()

    def people(self) -> list[BrowserSession]:
        """Those that count."""
        self._forget()
        return list(self._by_hash.values())

    def _forget(self) -> None:
        now = self._clock()
        self._by_hash = {key: signed for key, signed in self._by_hash.items() if signed.holds(now)}


class Try(NamedTuple):
    """One try from an address to be somebody."""

    at: float
    who: str


class FailedAttempts:
    """Wrong tries by address: a person's own lock is the service's, this one is for whoever tries many people.

    A try counts as a wrong one from its begin, so that no number of them at once is more than so many one by one.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._wrong: OrderedDict[str, list[Try]] = OrderedDict()

    def wait(self, address: str) -> int:
        """Seconds until this address may try again; 0 for now."""
        now = self._clock()
        tries = [each for each in self._wrong.get(address, ()) if now - each.at < TRIES_S]
        return 0 if len(tries) < TRIES else max(1, round(TRIES_S - (now - tries[-TRIES].at)))

    def begin(self, address: str, who: str) -> Try:
        """One more; it is wrong until somebody says otherwise."""
        begun = Try(self._clock(), who.casefold())
        kept = [each for each in self._wrong.get(address, ()) if begun.at - each.at < TRIES_S]
        self._wrong[address] = [*kept, begun]
        self._wrong.move_to_end(address)
        while len(self._wrong) > _ADDRESSES:
            self._wrong.popitem(last=False)
        return begun

    def forget(self, address: str, begun: Try) -> None:
        """Nobody could tell whether it was right."""
        self._keep(address, [each for each in self._wrong.get(address, ()) if each is not begun])

    def right(self, address: str, begun: Try) -> None:
        """Whoever is let in has no wrong tries behind him; those to be somebody else stay."""
        self._keep(address, [each for each in self._wrong.get(address, ()) if each.who != begun.who])

    def _keep(self, address: str, tries: list[Try]) -> None:
        if tries:
            self._wrong[address] = tries
        else:
            self._wrong.pop(address, None)


def _hashed(value: str) -> str:
    return hashlib.sha256(value.encode("utf-8", "surrogateescape")).hexdigest()
