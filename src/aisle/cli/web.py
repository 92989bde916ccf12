"""`aisle web`: serves the app to browsers, and checks sign-ins with the service (`aisle.cli.web_people_client`)."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
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
from aisle.cli.service_client import preload_client
from aisle.cli.web_people_client import PeopleClient
from aisle.errors import AisleError, UsageError
from aisle.host.store_folder import StoreFolder
from aisle.jobs.view import msg
from aisle.parent_pipe import PARENT_PIPE_VARIABLE, parent_pipe_fd, watch_parent_pipe
from aisle.server.connections import connection_limits
from aisle.server.http_server import listening
from aisle.server.tls_certificates_and_handshakes import tls_context
from aisle.settings.setting_definitions import ENGLISH, effective_language, service_url
from aisle.tui.message_text import MessageWriter
from aisle.web.app import Hooks, WebApp, serve
from aisle.web.app_process import Start
from aisle.web.windows import Opening

if TYPE_CHECKING:
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
