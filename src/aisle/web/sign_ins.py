"""Sign-ins of browsers, and failed attempts by address, which are limited and logged.

People are locked by the service: `service/auth/tokens_and_pins`.

A sign-in is a random cookie, stored as a hash for a limited time, and in a file for the next process.
"""

from __future__ import annotations

import asyncio
import hashlib
import heapq
import json
import logging
import os
import secrets
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from aisle.file_ownership import write_private

IDLE_S: Final = 1800.0
"""Seconds without input after which a sign-in ends."""
LONGEST_S: Final = 12 * 3600.0
"""Seconds after which a sign-in ends, even with input."""

TRIES: Final = 10
"""Failed attempts from one address within TRIES_S; further ones must wait."""
TRIES_S: Final = 300.0
REPORTED_TRIES: Final = 5
"""Wrong PINs of an address after which, and after each as many further ones, a line is logged."""
_ADDRESSES: Final = 10_000
_MAX_WAITING: Final = 1_000


log = logging.getLogger("aisle.web")


class Person(NamedTuple):
    """Supervisor of the store."""

    user: str
    name: str
    token: str = ""
    """Token of the person, from signing in with the PIN; empty after a restart, when only the courier has it."""
    until: float = 0.0
    """End of the token in seconds since 1970."""


class BrowserSession:
    """Sign-in of one browser."""

    def __init__(self, person: Person, now: float) -> None:
        self.person = person
        self.since = self.seen = now
        self.ended = False

    def holds(self, now: float) -> bool:
        """Return True if the sign-in is valid."""
        return not self.ended and now - self.seen < IDLE_S and now - self.since < LONGEST_S


class SignIns:
    """Valid sign-ins. Cookies are looked up by hash, so that response times do not reveal parts of them."""

    def __init__(self, clock: Callable[[], float], file: Path | None = None) -> None:
        """`file` keeps the sign-ins for the next process; without one they end with this process."""
        self._clock = clock
        self._file = file
        self._by_hash: dict[str, BrowserSession] = {}
        self._saved: dict[str, StoredSignIn] = {}
        if file is not None:
            self._saved = load_sign_ins(file)
            self._by_hash = {key: self._restore(row) for key, row in self._saved.items()}
            self._forget()

    def begin(self, person: Person) -> str:
        """Start a sign-in and return the value of its cookie."""
        self._forget()
        value = secrets.token_urlsafe(32)
        self._by_hash[_hashed(value)] = BrowserSession(person, self._clock())
        self.save()
        return value

    def of(self, value: str) -> BrowserSession | None:
        """Return the valid sign-in of a cookie, or None."""
        signed = self._by_hash.get(_hashed(value))
        return signed if signed and signed.holds(self._clock()) else None

    def holds(self, signed: BrowserSession) -> bool:
        """Return True if the sign-in is valid."""
        return signed.holds(self._clock())

    def touch(self, signed: BrowserSession) -> None:
        """Record input."""
        signed.seen = self._clock()

    def end(self, signed: BrowserSession) -> None:
        """End a sign-in."""
        signed.ended = True
        self._forget()
        self.save()

    def people(self) -> list[BrowserSession]:
        """Return the valid sign-ins."""
        self._forget()
        return list(self._by_hash.values())

    def save(self) -> None:
        """Write the file if the sign-ins have changed."""
        if self._file is None:
            return
        self._forget()
        rows = {key: self._stored(signed) for key, signed in self._by_hash.items()}
        if rows != self._saved:
            self._saved = rows
            save_sign_ins(self._file, rows)

    def _stored(self, signed: BrowserSession) -> StoredSignIn:
        start, person = time.time() - self._clock(), signed.person
        since, seen = round(start + signed.since), round(start + signed.seen)
        return StoredSignIn(person.user, person.name, since, seen, person.until)

    def _restore(self, row: StoredSignIn) -> BrowserSession:
        start, now = time.time() - self._clock(), self._clock()
        signed = BrowserSession(Person(row.user, row.name, until=row.until), now)
        signed.since, signed.seen = min(row.since - start, now), min(row.seen - start, now)
        return signed

    def _forget(self) -> None:
        now = self._clock()
        self._by_hash = {key: signed for key, signed in self._by_hash.items() if signed.holds(now)}


class Try(NamedTuple):
    """Attempt of an address to sign in as somebody."""

    at: float
    who: str


class FailedAttempts:
    """Failed attempts by address, against guessing with many people.

    The service locks a person (`auth.tokens_and_pins`).

    An attempt counts as failed from its start, so that simultaneous attempts have the same limit as sequential ones.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._wrong: OrderedDict[str, list[Try]] = OrderedDict()

    def wait(self, address: str) -> int:
        """Return the seconds until this address may try again; 0 is now."""
        now = self._clock()
        tries = [each for each in self._wrong.get(address, ()) if now - each.at < TRIES_S]
        return 0 if len(tries) < TRIES else max(1, round(TRIES_S - (now - tries[-TRIES].at)))

    def count(self, address: str) -> int:
        """Return the number of failed attempts of an address."""
        now = self._clock()
        return sum(now - each.at < TRIES_S for each in self._wrong.get(address, ()))

    def report(self, address: str) -> None:
        """Log each fifth wrong PIN of an address: the service's log does not know the browser's."""
        count = self.count(address)
        if count % REPORTED_TRIES == 0:
            log.warning("%d wrong PINs from %s in %d minutes", count, address, TRIES_S // 60)

    def begin(self, address: str, who: str) -> Try:
        """Record an attempt as failed until its result is known."""
        attempt = Try(self._clock(), who.casefold())
        kept = [each for each in self._wrong.get(address, ()) if attempt.at - each.at < TRIES_S]
        self._wrong[address] = [*kept, attempt]
        self._wrong.move_to_end(address)
        while len(self._wrong) > _ADDRESSES:
            self._wrong.popitem(last=False)
        return attempt

    def forget(self, address: str, begun: Try) -> None:
        """Remove an attempt whose result is unknown."""
        self._keep(address, [each for each in self._wrong.get(address, ()) if each is not begun])

    def right(self, address: str, begun: Try) -> None:
        """Remove the attempts of the person who signed in; those for other people stay."""
        self._keep(address, [each for each in self._wrong.get(address, ()) if each.who != begun.who])

    def _keep(self, address: str, tries: list[Try]) -> None:
        if tries:
            self._wrong[address] = tries
        else:
            self._wrong.pop(address, None)


class CheckTurns:
    """Turns at the PIN check, one at a time: callers with few attempts first, so that guesses delay nobody else."""

    def __init__(self) -> None:
        self._is_taken = False
        self._waiting: list[tuple[int, int, str, asyncio.Future[bool]]] = []
        self._by_address = Counter[str]()
        self._paused: list[int] = []
        """Attempts of the callers that pause."""
        self._count = 0

    @asynccontextmanager
    async def turn(self, address: str, attempts: int, pause: float = 0.0) -> AsyncIterator[bool]:
        """Wait for a turn, after a pause. Yield False if too many callers wait, of this address or with fewer attempts.

        Every failed or waiting attempt of an address delays its next one. Only callers with more attempts wait for one
        that pauses, since they would take what it pauses for.
        """
        if pause:
            await self._pause(address, attempts, pause)
        elif self._by_address[address] >= TRIES or not self._has_place(attempts + self._by_address[address]):
            yield False
            return
        if not await self._wait(address, attempts):
            yield False
            return
        try:
            yield True
        finally:
            self._is_taken = False
            self._give_turn()

    async def _pause(self, address: str, attempts: int, seconds: float) -> None:
        self._paused.append(attempts)
        try:
            with self._counted(address):
                await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            self._paused.remove(attempts)
            self._give_turn()
            raise
        self._paused.remove(attempts)

    def _has_place(self, attempts: int) -> bool:
        """Return True if a caller may wait. When all places are taken, the caller with most attempts loses its own."""
        if len(self._waiting) < _MAX_WAITING:
            return True
        last = max(self._waiting)
        if last[0] <= attempts:
            return False
        self._waiting.remove(last)
        heapq.heapify(self._waiting)
        if not last[-1].done():
            last[-1].set_result(False)
        return True

    @contextmanager
    def _counted(self, address: str) -> Iterator[None]:
        self._by_address[address] += 1
        try:
            yield
        finally:
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]

    async def _wait(self, address: str, attempts: int) -> bool:
        """Wait for a turn. Return False if the place was lost."""
        turn: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._count += 1
        heapq.heappush(self._waiting, (attempts + self._by_address[address], self._count, address, turn))
        try:
            with self._counted(address):
                self._give_turn()
                return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.result():
                self._is_taken = False
                self._give_turn()
            raise

    def _give_turn(self) -> None:
        """Give a free turn to the next caller, unless one with fewer attempts pauses."""
        while self._waiting and not self._is_taken:
            if self._paused and self._waiting[0][0] > min(self._paused):
                return
            turn = heapq.heappop(self._waiting)[-1]
            if not turn.done():
                self._is_taken = True
                turn.set_result(True)


def _hashed(value: str) -> str:
    return hashlib.sha256(value.encode("utf-8", "surrogateescape")).hexdigest()


class StoredSignIn(NamedTuple):
    """Sign-in of a browser. Times are seconds since 1970."""

    user: str
    name: str
    since: float
    seen: float
    until: float
    """End of the time in which the PIN is not asked for again."""


def load_sign_ins(file: Path) -> dict[str, StoredSignIn]:
    """Return the stored sign-ins by the hash of their cookie; none if the file is missing or unreadable."""
    with suppress(OSError, ValueError, TypeError, AttributeError):
        handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        with open(handle, encoding="utf-8") as stream:
            return {str(key): _parse(**row) for key, row in json.load(stream).items()}
    return {}


def _parse(user: str, name: str, since: float, seen: float, until: float) -> StoredSignIn:
    return StoredSignIn(str(user), str(name), float(since), float(seen), float(until))


def save_sign_ins(file: Path, sign_ins: Mapping[str, StoredSignIn]) -> None:
    """Replace the file. An error is logged: the sign-ins then end with this process."""
    rows = {key: sign_in._asdict() for key, sign_in in sign_ins.items()}
    try:
        write_private(file, json.dumps(rows))
    except OSError as problem:
        log.warning("Sign-ins cannot be kept for the next start of the web server: %s.", problem)
