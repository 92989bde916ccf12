"""Who may sign in from a browser: asked of the service by one client that is kept, on a thread of its own.

The embedded service is opened in this process: whatever it takes, the loop that carries the screens never waits for it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from aisle.cli.compose import rows_of_ours, service_client
from aisle.client.errors import AnswerError, ClientError
from aisle.client.sign_in import WEB_DOOR, NotSignedIn, sign_in
from aisle.errors import AisleError
from aisle.roles import SUPERVISORS
from aisle.tuples import NamedTuple

if TYPE_CHECKING:
    from aisle.client import Client
    from aisle.settings import Loaded
    from aisle.web.app import SignInError
    from aisle.web.sign_ins import Person

T = TypeVar("T")
Opens = Callable[[], AbstractAsyncContextManager["Client"]]

_LEAVING_S: Final = 5.0
_FIELDS: Final = ("badge", "user", "name", "role")


class Staff(NamedTuple):
    """One of the store's people."""

    badge: str
    user: str
    name: str
    role: str


class _Kept:
    """A client, until it is of no use any more and nobody uses it."""

    def __init__(self, opened: AbstractAsyncContextManager[Client], client: Client) -> None:
        self.opened = opened
        self.client = client
        self.users = 0


class People:
    """The people of the store as the service knows them."""

    def __init__(self, loaded: Loaded, opens: Opens | None = None) -> None:
        self._loaded = loaded
        self._opens = opens or (lambda: service_client(loaded))
        self._kept: _Kept | None = None
        self._loop = asyncio.new_event_loop()
        self._opening = asyncio.Lock()
        self._thread = threading.Thread(target=self._loop.run_forever, name="aisle-people", daemon=True)
        self._thread.start()

    async def check(self, who: str, pin: str) -> Person | SignInError:
        """Who that is, if the service knows the PIN and the person is a supervisor of the store."""
        from aisle.web.app import SignInError

        try:
            return await self._there(self._check(who, pin))
        except AisleError:
            return SignInError("web.no_answer")

    async def still(self) -> frozenset[str] | None:
        """The users of all supervisors of the store; None as long as nobody says who they are."""
        try:
            people = await self._there(self._people())
        except AisleError:
            return None
        return frozenset(each.user for each in people if each.role in SUPERVISORS) if people else None

    def close(self) -> None:
        """Lets go of the service."""
        closing = asyncio.run_coroutine_threadsafe(self._drop(self._kept), self._loop)
        with suppress(TimeoutError, AisleError):
            closing.result(_LEAVING_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_LEAVING_S)
        if not self._thread.is_alive():
            self._loop.close()

    # On the other thread

    async def _there(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def _check(self, who: str, pin: str) -> Person | SignInError:
        from aisle.web.app import SignInError
        from aisle.web.sign_ins import Person

        async with self._client() as client:
            try:
                people = await staff_of(client, self._loaded)
            except ClientError:
                people = ()  # this host may not ask, or not now: the name goes on as it is
            if people is None:
                return SignInError("web.no_people")
            signed = await sign_in(client, self._loaded.settings.store, named(people, who), pin, door=WEB_DOOR)
        if isinstance(signed, NotSignedIn):
            return SignInError("web.later") if signed.later else SignInError("web.wrong", wrong=True)
        if not signed.is_supervisor:
            return SignInError("web.not_you", wrong=True)
        return Person(signed.user, signed.name, signed.token, time.time() + signed.seconds)

    async def _people(self) -> Sequence[Staff] | None:
        async with self._client() as client:
            return await staff_of(client, self._loaded)

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Client]:
        """The client that is kept; after anything that went wrong the next one is a new one."""
        async with self._opening:
            if self._kept is None:
                opened = self._opens()
                self._kept = _Kept(opened, await opened.__aenter__())
        kept = self._kept
        kept.users += 1
        try:
            yield kept.client
        except BaseException:
            if self._kept is kept:
                self._kept = None
            raise
        finally:
            kept.users -= 1
            if self._kept is not kept:
                await self._drop(kept)

    async def _drop(self, kept: _Kept | None) -> None:
        if self._kept is kept:
            self._kept = None
        if kept is not None and not kept.users:
            await kept.opened.__aexit__(None, None, None)


async def staff_of(client: Client, loaded: Loaded) -> Sequence[Staff] | None:
    """The people of the store; None where the service keeps none. Raises ClientError."""
    rows = await rows_of_ours(client, loaded, "people")
    return None if rows is None else [_staff(row) for row in rows]


def _staff(row: Mapping[str, Any]) -> Staff:
    fields = [row.get(name) for name in _FIELDS]
    if not all(isinstance(field, str) for field in fields):
        raise AnswerError(f"The answer to list-people has a person without {', '.join(_FIELDS)}.")
    return Staff(*(str(field) for field in fields))


def named(people: Sequence[Staff], who: str) -> dict[str, str]:
    """Whom somebody means by a badge, a user name or a name; what nobody is called goes on as it is."""
    asked = who.casefold()
    exact = [each for each in people if asked in (each.badge.casefold(), each.user.casefold())]
    found = exact or [each for each in people if asked in _called(each.name.casefold())]
    return {"badge": found[0].badge} if len(found) == 1 else {"user": who or "?"}


def _called(name: str) -> tuple[str, ...]:
    """What people call somebody of this name."""
    return (name, *name.split()[:1])
