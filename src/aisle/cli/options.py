"""Options that commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from ipaddress import ip_network
from pathlib import Path
from typing import Any, NamedTuple

import click

from aisle.caller_addresses import Network
from aisle.errors import SettingsError, UsageError
from aisle.settings.load_settings import load_settings
from aisle.settings.process_time_zone import set_process_zone
from aisle.settings.setting_definitions import LANGUAGES, THEMES
from aisle.settings.settings_files_and_folders import LoadedSettings
from aisle.terminal_text import clean

SettingValues = Mapping[str, str | bool | None]
"""Values of settings on the command line; None where an option is absent."""

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

FILE = click.Path(readable=False)
"""Type of an option that names a file; the command itself reports one that it cannot use."""
FOLDER = click.Path(file_okay=False, readable=False)


def option_group(argument: str, make: Callable[..., Any], options: Mapping[str, Decorator]) -> Decorator:
    """Return a decorator that adds options and passes their values as one argument; `options` has the value names."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def run(*args: Any, **values: Any) -> Any:
            group = make(**{name: values.pop(name) for name in options})
            return function(*args, **values, **{argument: group})

        decorated: Callable[..., Any] = run
        for option in reversed([*options.values()]):
            decorated = option(decorated)
        return decorated

    return decorate


def _value_before_action(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Return the value of an option; without one, that which stands before the action."""
    if value is None and context.parent is not None and parameter.name:
        return context.parent.params.get(parameter.name)
    return value


def action_option(*names: str, **attributes: Any) -> Decorator:
    """Return an option that may stand before and after the action of a command; the later one applies."""
    return click.option(*names, callback=_value_before_action, **attributes)


database_option = action_option(
    "--database",
    metavar="URL",
    help="Service database: sqlite:///FILE (sqlite:////FILE from the root) or postgresql://HOST/NAME.",
    show_default="the embedded store's",
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")

language_option = click.option(
    "--language", type=click.Choice(LANGUAGES), help="Language of all texts.", show_default="that of the environment"
)

_SERVICE_OPTIONS = {
    "store": action_option("--store", metavar="STORE", help="Number of the store to work in."),
    "user": action_option("--user", metavar="USER", help="User name of the person who is signed in."),
    "base_url": action_option(
        "--base-url",
        metavar="URL",
        help="Address of the Store Operations Service.",
        show_default="the store built into aisle",
    ),
    "token_file": action_option(
        "--token-file", type=FILE, metavar="FILE", help="File with the bearer token, of mode 0600."
    ),
    "ca_file": action_option(
        "--ca-file", type=FILE, metavar="FILE", help="Certificates to trust in place of the system's."
    ),
}

setting_options = option_group("setting_values", dict, _SERVICE_OPTIONS)
"""Add the settings that every command accepts; they are passed as `setting_values`."""


def _flag(name: str, text: str) -> Decorator:
    return click.option(name, is_flag=True, default=None, help=text)


app_options = option_group(
    "setting_values",
    dict,
    {
        **_SERVICE_OPTIONS,
        "terminal": click.option("--terminal", metavar="NAME", help="Name under which this terminal is remembered."),
        "language": language_option,
        "verified": _flag("--verified", "Picking asks for a scan of each location."),
        "rich": _flag("--rich", "Softer colours, for terminals with 16 million colours."),
        "theme": click.option(
            "--theme", type=click.Choice(THEMES), help="Colours of aisle in place of those of the terminal."
        ),
        "trace": click.option("--trace", type=FILE, metavar="FILE", help="File for each input, as a line of JSON."),
        "in_process": _flag(
            "--in-process", "The courier runs inside the session, for hosts that allow no background process."
        ),
        "kiosk": _flag(
            "--kiosk",
            "The app is all that people can use here: it writes no file that they name and reads no variable but the"
            " terminal's.",
        ),
    },
)
"""Add the settings that the app accepts; they are passed as `setting_values`."""


def settings_from_options(
    setting_values: SettingValues, *, strict: bool = True, print_problems: bool = True, is_write: bool = False
) -> LoadedSettings:
    """Return the settings in force for this command line.

    If `strict` is False, invalid values in files are ignored. If `print_problems` is True, print errors of files whose
    last valid version is in force. Raise SettingsError if a file has an error and the command writes (`is_write`): the
    file may have named another service.
    """
    loaded = load_settings(setting_values, strict=strict)
    if is_write and loaded.problems:
        raise SettingsError(loaded.problems[0])
    if loaded.settings.time_zone:
        set_process_zone(loaded.settings.time_zone)
    for problem in loaded.problems if print_problems else ():
        print(f"aisle: {clean(problem)} Until then what it said before is in force.", file=sys.stderr)
    return loaded


def parse_time(text: str, now: float) -> float:
    """Return a time in seconds since 1970: a date or time of the store, or an age such as 90m, 12h, 3d. Raise
    UsageError.

    Dates use the zone of this process, which is the store's.
    """
    from aisle.jobs import store_time  # few commands take a time

    number, unit = text[:-1], _UNIT_SECONDS.get(text[-1:])
    if unit and number.isascii() and number.isdigit() and len(number) < 8:
        return now - int(number) * unit
    parsed = store_time.parse_time(text)
    if parsed is None:
        raise UsageError(f"{text!r} is no moment: say 2026-11-26T18:00, 2026-11-26, 90m, 12h or 3d.")
    return parsed.timestamp()


_UNIT_SECONDS = {"m": 60, "h": 3600, "d": 86400}


class ListenOptions(NamedTuple):
    """Values of the options."""

    host: str
    port: int
    certificate: Path | None
    private_key: Path | None
    allow_plain_http: bool
    proxies: Sequence[Network]
    connections_per_address: int | None


def listen_options(port: int) -> Decorator:
    """Return a decorator that adds the options, with this default of `--port`; they are passed as `listen`."""
    options = (
        click.option("--host", default="127.0.0.1", help="Address to listen at."),
        click.option(
            "--port", type=click.IntRange(0, 65535), default=port, help="Port to listen at, 0 for any free one."
        ),
        click.option("--certificate", type=FILE, metavar="FILE", help="TLS certificate (PEM)."),
        click.option("--private-key", type=FILE, metavar="FILE", help="Private key of the certificate (PEM)."),
        click.option(
            "--allow-plain-http", is_flag=True, help="Listen beyond this machine without TLS, behind a proxy of yours."
        ),
        click.option(
            "--proxy",
            "proxies",
            multiple=True,
            metavar="ADDRESS",
            help="Address or network of a proxy whose X-Forwarded-For is trusted; repeatable. Without it, all clients"
            " of the proxy count as one.",
        ),
        click.option(
            "--connections-per-address",
            type=click.IntRange(min=0),
            metavar="N",
            show_default="a quarter of all",
            help="Connections that one address may have, 0 for any number; a proxy may have any number.",
        ),
    )
    return option_group("listen", _parse, dict(zip(ListenOptions._fields, options, strict=True)))


def _parse(certificate: str | None, private_key: str | None, proxies: Sequence[str], **values: Any) -> ListenOptions:
    """Return the values of the options. Raise UsageError."""
    if (certificate is None) != (private_key is None):
        raise UsageError("--certificate and --private-key belong together.")
    try:
        networks = [ip_network(each, strict=False) for each in proxies]
    except ValueError as problem:
        raise UsageError(f"--proxy: {problem}; it takes an address, or a network like 10.0.0.0/24.") from problem
    return ListenOptions(
        certificate=Path(certificate) if certificate else None,
        private_key=Path(private_key) if private_key else None,
        proxies=networks,
        **values,
    )
