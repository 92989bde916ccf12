"""Options that several commands share, and the settings they result in."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import click

from aisle.errors import SettingsError
from aisle.safe_text import clean
from aisle.settings import LANGUAGES, THEMES, LoadedSettings, load_settings
from aisle.settings.time_zone import set_process_zone

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
        show_default="the store that aisle brings along",
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
        "rich": _flag("--rich", "The layout is the wide one for a desktop."),
        "theme": click.option(
            "--theme", type=click.Choice(THEMES), help="Colours of aisle in place of those of the terminal."
        ),
        "trace": click.option("--trace", type=FILE, metavar="FILE", help="File that gets a line of JSON an input."),
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
