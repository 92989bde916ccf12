"""`aisle`: opens the app on this terminal."""

from __future__ import annotations

import gc
import os
import pwd
import resource
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from aisle.errors import UsageError
from aisle.host.store_folder import TERMINALS_FOLDER, VISITED_FOLDER, StoreFolder
from aisle.settings import LoadedSettings, load_settings, service_url
from aisle.text import supports_utf8
from aisle.tuples import NamedTuple

if TYPE_CHECKING:
    from aisle.jobs.job import SignIn
    from aisle.jobs.view import Frame, Msg
    from aisle.session.profile import OpenedStore, OpenStore


def run(arguments: Sequence[str]) -> int:
    """Runs the app until it is left; the exit status."""
    gc.disable()  # hardly anything that a start makes is garbage
    try:
        return open_app(_app_settings(arguments))
    finally:
        gc.enable()


class BrowserView(NamedTuple):
    """Who sits in front of the browser that shows this session, and how many columns and rows it has."""

    person: SignIn
    size: tuple[int, int]


def open_app(loaded: LoadedSettings, view: BrowserView | None = None) -> int:
    """Runs the app with these settings, on this terminal or in a browser; the exit status."""
    settled = loaded
    if not view and os.path.exists(loaded.data_folder / TERMINALS_FOLDER):
        from aisle.cli.switch_store import current_store_settings

        loaded = current_store_settings(settled)
    home = StoreFolder(loaded.data_folder, service_url(loaded.settings), loaded.settings.store)
    if not (view or (sys.stdin.isatty() and sys.stdout.isatty())):
        raise UsageError("The app needs a terminal. From a script use 'aisle api', 'aisle load' or 'aisle sync'.")
    from aisle.tui import prepare_environment
    from aisle.tui.import_trimming import import_asyncio_without_tls, without_unused_modules

    colourless = bool(os.environ.get("NO_COLOR"))
    prepare_environment(loaded.settings.rich)
    if not loaded.settings.in_process:
        import_asyncio_without_tls()
    with without_unused_modules():
        from aisle.session.session import open_session
        from aisle.tui.app import run_app

    session = open_session(home, loaded.settings, _courier_starter(loaded), loaded, view.person if view else None)

    if not view:
        session.open_store = _store_opener(settled)
    session.terminal.message_text = _message_text
    session.terminal.rows_in_view = partial(_visible_rows, plain=not (view or supports_utf8()))
    session.terminal.fits_screen = partial(_fits_screen, plain=not (view or supports_utf8()))
    session.terminal.has_themes = not colourless and (view is not None or has_256_colours(os.environ))

    def painted() -> None:
        gc.collect()
        gc.freeze()  # what stands now stays, so that no scan waits while the collector looks through it
        gc.enable()
        session.keep_courier()
        from aisle.settings.files import save_last_valid

        save_last_valid(settled)
        if os.path.exists(loaded.data_folder / VISITED_FOLDER):  # else nothing of it is loaded
            from aisle.cli.switch_store import start_couriers_of_left_stores

            start_couriers_of_left_stores(settled, loaded.settings.store, _courier_starter)

    size = view.size if view else None
    rich = loaded.settings.rich
    return run_app(session, has_themes=rich, is_colourless=colourless, on_first_paint=painted, browser_size=size)


def has_256_colours(environ: Mapping[str, str]) -> bool:
    """Whether a terminal says that it has at least 256 colours, which a theme takes."""
    return environ.get("COLORTERM", "") in ("truecolor", "24bit") or "256color" in environ.get("TERM", "")


def _message_text(message: Msg, language: str) -> str:
    """All lengths of a message together: whoever looks for a command may have any of them in mind."""
    from aisle.tui.message_text import MessageWriter, length_count

    voice = MessageWriter(language=language)
    return " ".join(voice.write(message, level) for level in range(length_count(message, language)))


def _visible_rows(frame: Frame, columns: int, rows: int, size: int, *, plain: bool) -> int:
    """What the terminal shows of a list; hardly ever asked for, and no start pays for it."""
    from aisle.tui.layout.screen import visible_row_count

    return visible_row_count(frame, columns, rows, size, plain)


def _fits_screen(frame: Frame, columns: int, rows: int, *, plain: bool) -> bool:
    """Whether the terminal shows all of a page at once; asked for help, which no start pays for either."""
    from aisle.tui.layout.screen import fits_whole

    return fits_whole(frame, columns, rows, plain)


def _app_settings(arguments: Sequence[str]) -> LoadedSettings:
    """The settings in force; where nothing is said, nothing that could understand it is loaded."""
    if not arguments:
        return load_settings({})
    from aisle.cli.options import create_app_parser, settings_from_arguments

    parsed = create_app_parser().parse_args(arguments)
    if parsed.kiosk:
        enter_kiosk(parsed.home or "")
    elif parsed.home:
        os.environ["AISLE_HOME"] = parsed.home
    return settings_from_arguments(parsed, print_problems=False)  # the screen says it


def _store_opener(configured: LoadedSettings) -> OpenStore:
    """Opens another store for this terminal, when a person changes to it."""

    def open_store(store: str) -> OpenedStore:
        from aisle.cli.switch_store import store_opener

        return store_opener(configured, _courier_starter)(store)

    return open_store


def _courier_starter(loaded: LoadedSettings) -> Callable[[], None]:
    """What brings a courier up: once the first screen stands, and whenever there is none."""
    if loaded.settings.in_process:

        def inside() -> None:
            from aisle.cli.sync import start_courier_in_process

            start_courier_in_process(loaded)

        return inside

    def outside() -> None:
        from aisle.host.processes import start_courier

        if "AISLE_HOME" in os.environ:
            os.environ["AISLE_HOME"] = str(loaded.data_folder)  # the courier stands in another folder
        start_courier(courier_command(loaded))

    return outside


def courier_command(loaded: LoadedSettings) -> list[str]:
    """The command line of the courier of this store; secrets are not on it."""
    command = [sys.executable, *(["-I"] if sys.flags.isolated else []), "-m", "aisle", "courier"]
    for name in ("store", "base_url", "token_file", "ca_file"):
        value = getattr(loaded.settings, name)
        if value:
            path = os.path.abspath(value) if name.endswith("_file") else value
            command.append(f"--{name.replace('_', '-')}={path}")
    return command


_KEPT_VARIABLES = frozenset({"TERM", "LANG", "TZ", "SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "AISLE_LIFELINE_FD"})
"""The terminal's, and the number of a pipe whose end ends the courier, for whoever starts a kiosk in a harness."""
_KEPT_PREFIX = "LC_"
_KIOSK_PATH = "/usr/bin:/bin"
_MAX_TERM_LENGTH = 64
"""Longer names of a terminal are none."""


def kiosk_environment(environ: Mapping[str, str], home: str = "") -> dict[str, str]:
    """The variables that a kiosk lives with; `home` is the folder of its data and settings, '' the account's own."""
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
    """Forget what this process was told; files that it makes are the account's alone, and it leaves no core behind."""
    environ = kiosk_environment(os.environ, home)
    os.environ.clear()
    os.environ.update(environ)
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
