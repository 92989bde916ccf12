"""`aisle web`: the same screens in a browser, for supervisors."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from aisle.cli import browser
from aisle.cli.compose import load_client
from aisle.cli.options import settings_of
from aisle.cli.web_people import People
from aisle.errors import AisleError, UsageError
from aisle.jobs.view import msg
from aisle.lifeline import LIFELINE, follow_lifeline, lifeline_fd
from aisle.settings import ENGLISH, language_of
from aisle.tui.catalogue import Voice
from aisle.web.address import Network, is_loopback, network

if TYPE_CHECKING:
    from aisle.web.sign_ins import Person

_HANDED_ON = ("store", "base_url", "token_file", "ca_file", "language")
"""What the command line says of settings goes to each session; all else it finds where this process found it."""


def run(arguments: argparse.Namespace) -> int:
    """Serves until it is told to stop."""
    _must_be_there()
    from aisle.server.certificates import tls_context
    from aisle.server.connections import connection_limits
    from aisle.server.http_server import listening
    from aisle.web.app import Hooks, WebApp
    from aisle.web.serve import serve

    _must_fit(arguments)
    proxies = _proxies(arguments.proxy)
    loaded = settings_of(arguments)
    load_client(loaded)
    certificate = Path(arguments.certificate) if arguments.certificate else None
    private_key = Path(arguments.private_key) if arguments.private_key else None
    if certificate:
        tls_context(certificate, private_key)
    origin = (arguments.origin or "").rstrip("/")
    language = language_of(loaded.settings) or ENGLISH
    people = People(loaded)
    hooks = Hooks(
        check=people.check,
        still=people.still,
        start=partial(_start, _handed_on(arguments), dict(os.environ)),
        words=lambda id_: Voice(language=language).say(msg(id_)),
        language=language,
    )
    web = WebApp(hooks, secure=bool(certificate) or origin.startswith("https:"), origin=origin, proxies=proxies)
    limits = connection_limits(arguments.connections_per_address, proxies)
    follow = partial(follow_lifeline, os.environ)
    try:
        with listening(arguments.host, arguments.port) as sock:
            serve(web, sock, limits, _told, follow, certificate, private_key)
    finally:
        people.close()
    return 0


def _told(url: str) -> None:
    print(f"aisle web serves at {url}", file=sys.stderr, flush=True)


def _must_be_there() -> None:
    """Raises AisleError where the extra is not installed."""
    try:
        import textual_serve  # noqa: F401
        import websockets  # noqa: F401
    except ImportError as missing:
        raise AisleError(f"{missing.name} is not installed; 'aisle web' needs it: pip install 'aisle[web]'.") from None


def _must_fit(arguments: argparse.Namespace) -> None:
    """Raises UsageError for what cannot be served, or not safely."""
    if not 0 <= arguments.port <= 65535:
        raise UsageError(f"--port {arguments.port} is no port; it takes 0 to 65535.")
    if (arguments.certificate is None) != (arguments.private_key is None):
        raise UsageError("--certificate and --private-key belong together.")
    if not (arguments.certificate or arguments.allow_plain_web or is_loopback(arguments.host)):
        raise UsageError(
            f"On {arguments.host} others could read PINs: give a certificate, or allow plain HTTP behind a proxy of"
            " your own."
        )
    origin = urlsplit((arguments.origin or "http://localhost").rstrip("/"))
    if origin.scheme not in ("http", "https") or not origin.netloc or origin.path or origin.query or origin.fragment:
        raise UsageError(f"--origin {arguments.origin} is none; it looks like https://store.example.")


def _proxies(named: Sequence[str]) -> list[Network]:
    """The proxies that are believed. Raises UsageError."""
    try:
        return [network(each) for each in named]
    except ValueError as problem:
        raise UsageError(f"--proxy: {problem}; it takes an address, or a network like 10.0.0.0/24.") from problem


# What is started


def _handed_on(arguments: argparse.Namespace) -> list[str]:
    options = []
    for name in _HANDED_ON:
        if value := getattr(arguments, name, None):
            text = os.path.abspath(value) if name.endswith("_file") else value
            options.append(f"--{name.replace('_', '-')}={text}")
    return options


def _start(options: Sequence[str], environ: Mapping[str, str], person: Person) -> Any:
    """A session of this person, on the terminal that is called after him; his token goes to it by its pipe alone."""
    from aisle.web.app_process import Start

    who = (f"--user={person.user}", f"--called={person.name}", f"--terminal=web-{person.user}")
    kept = lifeline_fd()
    variables = {name: text for name, text in environ.items() if kept >= 0 or name != LIFELINE}
    fds = () if kept < 0 else (kept,)
    return Start(browser.command([*options, *who]), variables, fds, person.token, person.until)
