"""`aisle web`: serves the app to browsers, and asks the service for people of the store and to check their PINs.

The service is asked on threads. The embedded service runs in this process, and its work must not delay the loop that
carries the screens.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar
from urllib.parse import urlsplit

import click

from aisle.caller_addresses import is_loopback
from aisle.cli import web_session
from aisle.cli.options import (
    ListenOptions,
    SettingValues,
    language_option,
    listen_options,
    setting_options,
    settings_from_options,
)
from aisle.cli.service_client import extension_path, extension_rows, preload_client, service_client
from aisle.client.responses_and_errors import ClientError, InvalidResponse, ServerError
from aisle.client.sign_in_and_token_file import WEB_CHANNEL, NotSignedIn, sign_in
from aisle.courier.link_state import MAX_MESSAGE_LENGTH
from aisle.courier.service_features_and_lists import features_of_headers
from aisle.errors import AisleError, UsageError
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import msg
from aisle.parent_pipe import PARENT_PIPE_VARIABLE, parent_pipe_fd, watch_parent_pipe
from aisle.server.connections import connection_limits
from aisle.server.http_server import listening
from aisle.server.tls_certificates_and_handshakes import tls_context
from aisle.settings.setting_definitions import ENGLISH, effective_language, service_url
from aisle.supervisor_role import SUPERVISORS
from aisle.tui.message_text import MessageWriter
from aisle.web.app import MIN_RETRY_S, Hooks, SignInError, WebApp, serve
from aisle.web.app_process import Start
from aisle.web.sign_ins import Person
from aisle.web.windows import Opening

if TYPE_CHECKING:
    from aisle.client import Client
    from aisle.client.paging import Row
    from aisle.settings.settings_files_and_folders import LoadedSettings


@click.command()
@listen_options(port=8490)
@click.option("--origin", metavar="URL", help="Address by which browsers call aisle, if a proxy is in front of it.")
@language_option
@setting_options
def web(listen: ListenOptions, origin: str | None, language: str | None, setting_values: SettingValues) -> int:
    """Serve the app to browsers, for supervisors who sign in with their PIN (needs the extra aisle[web])."""
    _check_installed()

    _check_safe(listen)
    address = _parse_origin(origin)
    session_settings = {**setting_values, "language": language}
    loaded = settings_from_options(session_settings)
    preload_client(loaded)
    if listen.certificate:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until the server reloads its certificate on it
        tls_context(listen.certificate, listen.private_key)
    spoken = effective_language(loaded.settings) or ENGLISH
    people = PeopleClient(loaded)
    hooks = Hooks(
        check=people.check_pin,
        still=people.supervisors,
        has_demo_store=people.has_demo_store,
        start=partial(_session_start, _session_options(session_settings), dict(os.environ)),
        words=lambda id_, **args: MessageWriter(language=spoken).write(msg(id_, **args)),
        language=spoken,
    )
    is_secure = bool(listen.certificate) or address.startswith("https:")
    app = WebApp(
        hooks,
        secure=is_secure,
        origin=address,
        proxies=listen.proxies,
        sign_in_file=_sign_in_file(loaded),
    )
    limits = connection_limits(listen.connections_per_address, listen.proxies, tls=bool(listen.certificate))
    follow = partial(watch_parent_pipe, os.environ)
    with listening(listen.host, listen.port) as sock:
        serve(app, sock, limits, _print_url, follow, listen.certificate, listen.private_key)
    return 0


def _sign_in_file(loaded: LoadedSettings) -> Path:
    """Return the file of the sign-ins for the store of this web server."""
    folder = StoreFolder(loaded.data_folder, service_url(loaded.settings), loaded.settings.store).folder
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / "web-sign-ins.json"


def _print_url(url: str) -> None:
    print(f"aisle web serves at {url}", file=sys.stderr, flush=True)


def _check_installed() -> None:
    """Raise AisleError if the extra is not installed."""
    try:
        import websockets  # noqa: F401
    except ImportError as missing:
        raise AisleError(f"{missing.name} is not installed; 'aisle web' needs it: pip install 'aisle[web]'.") from None


def _check_safe(listen: ListenOptions) -> None:
    """Raise UsageError if others could read PINs."""
    if not (listen.certificate or listen.allow_plain_http or is_loopback(listen.host)):
        raise UsageError(
            f"On {listen.host} others could read PINs: give a certificate, or allow plain HTTP behind a proxy of"
            " your own."
        )


def _parse_origin(text: str | None) -> str:
    """Return the address without a slash at its end; empty for none. Raise UsageError."""
    address = (text or "").rstrip("/")
    parts = urlsplit(address)
    if text and (
        parts.scheme not in ("http", "https") or not parts.netloc or parts.path or parts.query or parts.fragment
    ):
        raise UsageError(f"--origin {text} is none; it looks like https://store.example.")
    return address


# Session processes


def _session_options(setting_values: SettingValues) -> list[str]:
    """Return the settings of the command line as options of each session; other settings a session reads itself."""
    given = {name: str(value) for name, value in setting_values.items() if value and name != "user"}
    return [
        f"--{name.replace('_', '-')}={os.path.abspath(text) if name.endswith('_file') else text}"
        for name, text in given.items()
    ]


def _session_start(options: Sequence[str], environ: Mapping[str, str], opening: Opening) -> Start:
    """Return how to start the session of a window, on a terminal named after user and number of the window.

    The token is passed by pipe only.
    """
    person, number = opening.person, opening.number
    terminal = f"web-{person.user}" if number == 1 else f"web-{person.user}-{number}"
    who = (f"--user={person.user}", f"--called={person.name}", f"--terminal={terminal}", f"--address={opening.address}")
    kept = parent_pipe_fd()
    variables = {name: text for name, text in environ.items() if kept >= 0 or name != PARENT_PIPE_VARIABLE}
    fds = () if kept < 0 else (kept,)
    return Start(web_session.session_command([*options, *who]), variables, fds, person.token, person.until)


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
