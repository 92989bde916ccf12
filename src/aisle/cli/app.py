"""`aisle`: opens the app on this terminal."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from aisle.errors import UsageError
from aisle.local.host.home import TERMINALS, VISITED, Home
from aisle.settings import Loaded, base_url, load
from aisle.text import speaks_utf8
from aisle.tuples import NamedTuple

if TYPE_CHECKING:
    from aisle.jobs.base import SignIn
    from aisle.jobs.view import Frame, Msg
    from aisle.local.session.changing import Elsewhere, OpenStore


def run(arguments: Sequence[str]) -> int:
    """Runs the app until it is left; the exit status."""
    gc.disable()  # hardly anything that a start makes is garbage
    try:
        return open_app(_settings(arguments))
    finally:
        gc.enable()


class Browser(NamedTuple):
    """Who sits in front of the browser that shows this session, and how many columns and rows it has."""

    person: SignIn
    size: tuple[int, int]


def open_app(loaded: Loaded, browser: Browser | None = None) -> int:
    """Runs the app with these settings, on this terminal or in a browser; the exit status."""
    settled = loaded
    if not browser and os.path.exists(loaded.root / TERMINALS):
        from aisle.cli.elsewhere import where_it_works

        loaded = where_it_works(settled)
    home = Home(loaded.root, base_url(loaded.settings), loaded.settings.store)
    if not (browser or (sys.stdin.isatty() and sys.stdout.isatty())):
        raise UsageError("The app needs a terminal. From a script use 'aisle api', 'aisle load' or 'aisle sync'.")
    from aisle.tui import prepare_environment
    from aisle.tui.lean import leave_out_tls, without_unused

    colourless = bool(os.environ.get("NO_COLOR"))
    prepare_environment(loaded.settings.rich)
    if not loaded.settings.in_process:
        leave_out_tls()
    with without_unused():
        from aisle.local.session.opening import open_session
        from aisle.tui.app import run_app

    session = open_session(home, loaded.settings, _courier(loaded), loaded, browser.person if browser else None)

    if not browser:
        session.open_store = _open_store(settled)
    session.say = _say
    session.in_sight = partial(_in_sight, plain=not (browser or speaks_utf8()))
    session.is_whole = partial(_is_whole, plain=not (browser or speaks_utf8()))
    session.has_themes = not colourless and (browser is not None or has_many_colours(os.environ))

    def painted() -> None:
        gc.collect()
        gc.freeze()  # what stands now stays, so that no scan waits while the collector looks through it
        gc.enable()
        session.keep_courier()
        from aisle.settings.kept import keep

        keep(settled)
        if os.path.exists(loaded.root / VISITED):  # else nothing of it is loaded
            from aisle.cli.elsewhere import call_for_left

            call_for_left(settled, loaded.settings.store, _courier)

    size = browser.size if browser else None
    rich = loaded.settings.rich
    return run_app(session, rich=rich, colourless=colourless, on_first_paint=painted, browser=size)


def has_many_colours(environ: Mapping[str, str]) -> bool:
    """Whether a terminal says that it has at least 256 colours, which a theme takes."""
    return environ.get("COLORTERM", "") in ("truecolor", "24bit") or "256color" in environ.get("TERM", "")


def _say(message: Msg, language: str) -> str:
    """All lengths of a message together: whoever looks for a command may have any of them in mind."""
    from aisle.tui.catalogue import Voice, levels

    voice = Voice(language=language)
    return " ".join(voice.say(message, level) for level in range(levels(message, language)))


def _in_sight(frame: Frame, columns: int, rows: int, size: int, *, plain: bool) -> int:
    """What the terminal shows of a list; hardly ever asked for, and no start pays for it."""
    from aisle.tui.screens.frame import in_sight

    return in_sight(frame, columns, rows, size, plain)


def _is_whole(frame: Frame, columns: int, rows: int, *, plain: bool) -> bool:
    """Whether the terminal shows all of a page at once; asked for help, which no start pays for either."""
    from aisle.tui.screens.frame import is_whole

    return is_whole(frame, columns, rows, plain)


def _settings(arguments: Sequence[str]) -> Loaded:
    """The settings in force; where nothing is said, nothing that could understand it is loaded."""
    if not arguments:
        return load({})
    from aisle.cli.options import app_parser, settings_of

    parsed = app_parser().parse_args(arguments)
    if parsed.kiosk:
        from aisle.cli.kiosk import enter_kiosk

        enter_kiosk(parsed.home or "")
    elif parsed.home:
        os.environ["AISLE_HOME"] = parsed.home
    return settings_of(parsed, tell=False)  # the screen says it


def _open_store(settled: Loaded) -> OpenStore:
    """Opens another store for this terminal, when a person changes to it."""

    def open_store(store: str) -> Elsewhere:
        from aisle.cli.elsewhere import opener

        return opener(settled, _courier)(store)

    return open_store


def _courier(loaded: Loaded) -> Callable[[], None]:
    """What brings a courier up: once the first screen stands, and whenever there is none."""
    if loaded.settings.in_process:

        def inside() -> None:
            from aisle.cli.courier import start_inside

            start_inside(loaded)

        return inside

    def outside() -> None:
        from aisle.local.host.spawn import spawn_courier

        if "AISLE_HOME" in os.environ:
            os.environ["AISLE_HOME"] = str(loaded.root)  # the courier stands in another folder
        spawn_courier(courier_command(loaded))

    return outside


def courier_command(loaded: Loaded) -> list[str]:
    """The command line of the courier of this store; secrets are not on it."""
    command = [sys.executable, *(["-I"] if sys.flags.isolated else []), "-m", "aisle", "courier"]
    for name in ("store", "base_url", "token_file", "ca_file"):
        value = getattr(loaded.settings, name)
        if value:
            path = os.path.abspath(value) if name.endswith("_file") else value
            command.append(f"--{name.replace('_', '-')}={path}")
    return command
