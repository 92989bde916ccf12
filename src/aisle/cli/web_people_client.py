"""Client of `aisle web` for people of the store: asks the service for supervisors, and to check PINs.

The service is asked on threads. The embedded service runs in this process, and its work must not delay the loop that
carries the screens.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from aisle.cli.service_client import extension_path, extension_rows, service_client
from aisle.client.errors import ClientError, InvalidResponse, ServerError
from aisle.client.sign_in import WEB_CHANNEL, NotSignedIn, sign_in
from aisle.courier.request_failure_messages import MAX_MESSAGE_LENGTH
from aisle.courier.service_features import features_of_headers
from aisle.errors import AisleError
from aisle.supervisor_role import SUPERVISORS
from aisle.web.app import MIN_RETRY_S, SignInError
from aisle.web.sign_ins import Person

if TYPE_CHECKING:
    from aisle.client import Client
    from aisle.client.paging import Row
    from aisle.settings.settings_files_and_folders import LoadedSettings


T = TypeVar("T")
ClientOpener = Callable[[], AbstractAsyncContextManager["Client"]]

_FIELDS: Final = ("badge", "user", "name", "role")


class StorePerson(NamedTuple):
    """Person of the store."""

    badge: str
    user: str
    name: str
    role: str


class PeopleClient:
    """People of the store as the service has them. Each question has its own client and thread."""

    def __init__(self, loaded: LoadedSettings, open_client: ClientOpener | None = None) -> None:
        self._loaded = loaded
        self._open_client = open_client or (lambda: service_client(loaded))

    async def check_pin(self, who: str, pin: str) -> Person | SignInError:
        """Return the person if the service accepts the PIN and the person is a supervisor of the store."""
        try:
            return await _run_on_thread(self._check_pin(who, pin))
        except ServerError as failure:
            text = failure.message[:MAX_MESSAGE_LENGTH]
            return SignInError("pin.refused", detail=text) if text else SignInError("web.no_answer")
        except AisleError:
            return SignInError("web.no_answer")

    async def supervisors(self) -> frozenset[str] | None:
        """Return the users of all supervisors of the store; None if the service does not answer or has no people."""
        try:
            people = await _run_on_thread(self._fetch_people())
        except AisleError:
            return None
        return frozenset(each.user for each in people if each.role in SUPERVISORS) if people is not None else None

    async def has_demo_store(self) -> bool | None:
        """Return True if the service has the demo store; None if it does not answer."""
        try:
            return await _run_on_thread(self._find_demo_store())
        except AisleError:
            return None

    async def _find_demo_store(self) -> bool:
        async with self._open_client() as client:
            answer = await client.request_extension("GET", extension_path(self._loaded, "people"))
        announced = features_of_headers(answer.headers)
        return announced is not None and announced.demo_store

    async def _check_pin(self, who: str, pin: str) -> Person | SignInError:
        async with self._open_client() as client:
            try:
                people = await fetch_people(client, self._loaded)
            except ClientError:
                people = ()  # this host may not read people, or not now: the name is sent as typed
            if people is None:
                return SignInError("web.no_people")
            signed = await sign_in(
                client, self._loaded.settings.store, identify_person(people, who), pin, channel=WEB_CHANNEL
            )
        if isinstance(signed, NotSignedIn):
            if not signed.has_too_many_attempts:
                return SignInError("web.wrong", wrong=True)
            return SignInError("web.too_many_attempts", retry_after=signed.retry_after or MIN_RETRY_S)
        if not signed.is_supervisor:
            return SignInError("web.role_denied", wrong=True)
        return Person(signed.user, signed.name, signed.token, time.time() + signed.seconds)

    async def _fetch_people(self) -> Sequence[StorePerson] | None:
        async with self._open_client() as client:
            return await fetch_people(client, self._loaded)


async def _run_on_thread(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a thread of its own. The end of the process waits for none of them."""
    result: Future[T] = Future()
    result.set_running_or_notify_cancel()

    def run() -> None:
        try:
            result.set_result(asyncio.run(work))
        except BaseException as problem:
            result.set_exception(problem)

    threading.Thread(target=run, name="aisle-people", daemon=True).start()
    return await asyncio.wrap_future(result)


async def fetch_people(client: Client, loaded: LoadedSettings) -> Sequence[StorePerson] | None:
    """Return the people of the store; None if the service has none. Raise ClientError."""
    rows = await extension_rows(client, loaded, "people")
    return None if rows is None else [_parse_person(row) for row in rows]


def _parse_person(row: Row) -> StorePerson:
    fields = [row.get(name) for name in _FIELDS]
    if not all(isinstance(field, str) for field in fields):
        raise InvalidResponse(f"The answer to list-people has a person without {', '.join(_FIELDS)}.")
    return StorePerson(*(str(field) for field in fields))


def identify_person(people: Sequence[StorePerson], who: str) -> dict[str, str]:
    """Return the badge of the only person with this badge, user name or name; otherwise the text as user name."""
    folded = who.casefold()
    exact = [each for each in people if folded in (each.badge.casefold(), each.user.casefold())]
    found = exact or [each for each in people if folded in _name_forms(each.name.casefold())]
    return {"badge": found[0].badge} if len(found) == 1 else {"user": who or "?"}


def _name_forms(name: str) -> tuple[str, ...]:
    """Return the full name and the first name."""
    return (name, *name.split()[:1])
