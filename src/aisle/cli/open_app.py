"""`aisle`: opens the app on this terminal."""

from __future__ import annotations

import gc
import os
import pwd
import resource
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from aisle.errors import AisleError, UsageError
from aisle.host.courier_log import append_fault
from aisle.host.processes import start_courier
from aisle.host.store_and_database_folders import StoreFolder
from aisle.host.switched_terminals_and_visited_stores import TERMINALS_FOLDER, VISITED_FOLDER
from aisle.jobs.job import SignIn
from aisle.session.session import SingleUserSession, open_session
from aisle.settings.load_settings import load_settings
from aisle.settings.setting_definitions import service_url
from aisle.settings.settings_files_and_folders import LoadedSettings
from aisle.terminal_text import supports_utf8
from aisle.tui import prepare_environment
from aisle.tui.layout.screen import fits_whole, visible_row_count
from aisle.tui.message_text import MessageWriter, length_count

if TYPE_CHECKING:
    from aisle.cli.options import SettingValues
    from aisle.jobs.view import Msg
    from aisle.session.session import Session
    from aisle.session.switch_store import OpenedStore


def run(setting_values: SettingValues, home: str | None = None) -> int:
    """Run the app until the user leaves it, and return the exit status; `home` is the folder of settings and data."""
    if setting_values.get("kiosk"):
        enter_kiosk(home or "")
    elif home:
        os.environ["AISLE_HOME"] = home
    return open_app(_app_settings(setting_values))


class BrowserView(NamedTuple):
    """Name of the person of a browser session, its columns and rows, and the address of its first page."""

    called: str
    size: tuple[int, int]
    address: str = ""


def open_app(loaded: LoadedSettings, view: BrowserView | None = None) -> int:
    """Run the app with these settings, on this terminal or in a browser, and return the exit status."""
    configured = loaded
    if not view and os.path.exists(loaded.data_folder / TERMINALS_FOLDER):
        from aisle.cli.open_other_and_left_stores import current_store_settings

        loaded = current_store_settings(configured)
    store_folder = StoreFolder(loaded.data_folder, service_url(loaded.settings), loaded.settings.store)
    if not (view or (sys.stdin.isatty() and sys.stdout.isatty())):
        raise UsageError("The app needs a terminal. From a script use 'aisle api', 'aisle load' or 'aisle sync'.")
    with _failure_in_one_line(store_folder):
        return _run_session(configured, loaded, store_folder, view)


def _run_session(
    configured: LoadedSettings, loaded: LoadedSettings, store_folder: StoreFolder, view: BrowserView | None
) -> int:
    colourless = bool(os.environ.get("NO_COLOR"))
    prepare_environment(is_browser=view is not None)
    from aisle.tui.app import run_app  # reads the environment

    person = SignIn(loaded.settings.user, view.called) if view else None
    session = open_session(store_folder, loaded.settings, _courier_starter(loaded), loaded, person)

    if view and isinstance(session, SingleUserSession):
        session.first_address = view.address
    else:
        session.open_store = partial(_open_store, configured)
    session.terminal.message_text = _message_text
    session.terminal.full_text = lambda message, language: MessageWriter(language=language).write(message)
    plain = not (view or supports_utf8())
    session.terminal.rows_in_view = lambda frame, columns, rows, size: visible_row_count(
        frame, columns, rows, size, plain
    )
    session.terminal.fits_screen = lambda frame, columns, rows: fits_whole(frame, columns, rows, plain)
    session.terminal.has_themes = not colourless and (view is not None or has_256_colours(os.environ))

    size = view.size if view else None
    return run_app(
        session,
        has_soft_colours=loaded.settings.rich,
        is_colourless=colourless,
        on_first_paint=partial(_complete_start, session, configured, loaded),
        browser_size=size,
    )


@contextmanager
def _failure_in_one_line(store_folder: StoreFolder) -> Iterator[None]:
    """Log what ends the app unexpectedly, and raise AisleError instead: no screen of staff shows a stack of calls."""
    try:
        yield
    except (AisleError, BrokenPipeError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise  # `main` says what is wrong with the file
        append_fault(store_folder.courier_log, error)
        raise AisleError(
            f"A fault in aisle has ended it ({type(error).__name__}). What it showed as done is saved. Start it again. "
            f"{store_folder.courier_log} says where the fault is."
        ) from error


def _complete_start(session: Session, configured: LoadedSettings, loaded: LoadedSettings) -> None:
    """Do after the first paint what no start should pay for."""
    gc.collect()
    gc.freeze()  # objects that exist now are kept, so that no scan waits while they are collected
    gc.enable()
    session.keep_courier()
    from aisle.settings.parse_settings_file import save_last_valid

    save_last_valid(configured)
    if os.path.exists(loaded.data_folder / VISITED_FOLDER):  # otherwise its module is not loaded
        from aisle.cli.open_other_and_left_stores import start_couriers_of_left_stores

        start_couriers_of_left_stores(configured, loaded.settings.store, _courier_starter)


def has_256_colours(environ: Mapping[str, str]) -> bool:
    """Return True if the terminal reports at least 256 colours, which a theme needs."""
    return environ.get("COLORTERM", "") in ("truecolor", "24bit") or "256color" in environ.get("TERM", "")


def _message_text(message: Msg, language: str) -> str:
    """Return all length variants of a message, so that a search for a command matches any of them."""
    writer = MessageWriter(language=language)
    return " ".join(writer.write(message, level) for level in range(length_count(message, language)))


def _app_settings(setting_values: SettingValues) -> LoadedSettings:
    """Return the settings in force; without options, their module and click are not loaded."""
    if not setting_values:
        return load_settings({})
    from aisle.cli.options import settings_from_options

    return settings_from_options(setting_values, print_problems=False)  # the app shows problems itself


def _open_store(configured: LoadedSettings, store: str) -> OpenedStore:
    from aisle.cli.open_other_and_left_stores import store_opener  # rarely needed

    return store_opener(configured, _courier_starter)(store)


def _courier_starter(loaded: LoadedSettings) -> Callable[[], None]:
    """Return a function that starts a courier, called after the first screen and whenever none runs."""
    return partial(_start_in_process if loaded.settings.in_process else _start_detached, loaded)


def _start_in_process(loaded: LoadedSettings) -> None:
    from aisle.cli.sync import start_courier_in_process  # imports the service

    start_courier_in_process(loaded)


def _start_detached(loaded: LoadedSettings) -> None:
    if "AISLE_HOME" in os.environ:
        os.environ["AISLE_HOME"] = str(loaded.data_folder)  # the courier has another working directory
    start_courier(courier_command(loaded))


def courier_command(loaded: LoadedSettings) -> list[str]:
    """Return the command line of this store's courier; it holds no secrets."""
    command = [sys.executable, *(["-I"] if sys.flags.isolated else []), "-m", "aisle", "courier"]
    for name in ("store", "base_url", "token_file", "ca_file"):
        value = getattr(loaded.settings, name)
        if value:
            path = os.path.abspath(value) if name.endswith("_file") else value
            command.append(f"--{name.replace('_', '-')}={path}")
    return command


_KEPT_VARIABLES = frozenset({"TERM", "LANG", "TZ", "SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "AISLE_LIFELINE_FD"})
"""Variables of the terminal, and the number of the pipe that ends the courier with its parent process."""
_KEPT_PREFIX = "LC_"
_KIOSK_PATH = "/usr/bin:/bin"
_MAX_TERM_LENGTH = 64
"""Longest accepted name of a terminal type."""


def kiosk_environment(environ: Mapping[str, str], home: str = "") -> dict[str, str]:
    """Return the environment of a kiosk; `home` is the folder of data and settings, '' for the account's own."""
    kept = {name: text for name, text in environ.items() if name in _KEPT_VARIABLES or name.startswith(_KEPT_PREFIX)}
    term = kept.get("TERM", "")
    if len(term) > _MAX_TERM_LENGTH or not all(
        letter.isascii() and (letter.isalnum() or letter in "-+._") for letter in term
    ):
        kept["TERM"] = "dumb"
    account = pwd.getpwuid(os.getuid())
    kept |= {"HOME": account.pw_dir, "USER": account.pw_name, "LOGNAME": account.pw_name, "PATH": _KIOSK_PATH}
    return kept | ({"AISLE_HOME": home} if home else {})


def enter_kiosk(home: str = "") -> None:
    """Reduce the environment to that of a kiosk, make new files private, and disable core dumps."""
    environ = kiosk_environment(os.environ, home)
    os.environ.clear()
    os.environ.update(environ)
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
