"""`aisle`: opens the app on this terminal."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence

from aisle.errors import UsageError
from aisle.local.home import Home
from aisle.settings import Loaded, base_url, load


def run(arguments: Sequence[str]) -> int:
    """Runs the app until it is left; the exit status."""
    gc.disable()  # hardly anything that a start makes is garbage
    try:
        return _run(_settings(arguments))
    finally:
        gc.enable()


def _run(loaded: Loaded) -> int:
    home = Home(loaded.root, base_url(loaded.settings), loaded.settings.store)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("The app needs a terminal. From a script use 'aisle api', 'aisle load' or 'aisle sync'.")
    from aisle.tui import prepare_environment
    from aisle.tui.lean import leave_out_tls, no_palette

    prepare_environment(loaded.settings.rich)
    if not loaded.settings.in_process:
        leave_out_tls()
    with no_palette():
        from aisle.local.opening import open_session
        from aisle.tui.app import run_app

    session = open_session(home, loaded.settings, _courier(loaded), loaded)

    def painted() -> None:
        gc.collect()
        gc.freeze()  # what stands now stays, so that no scan waits while the collector looks through it
        gc.enable()
        session.keep_courier()

    return run_app(session, rich=loaded.settings.rich, on_first_paint=painted)


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
    return settings_of(parsed)


def _courier(loaded: Loaded) -> Callable[[], None]:
    """What brings a courier up: once the first screen stands, and whenever there is none."""
    if loaded.settings.in_process:

        def inside() -> None:
            from aisle.cli.courier import start_inside

            start_inside(loaded)

        return inside

    def outside() -> None:
        from aisle.local.spawn import spawn_courier

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
