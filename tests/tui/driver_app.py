"""A tiny app on aisle's driver, for the tests: writes what it is given, a JSON line each, into the file DRIVER_LOG.

What it does besides is said by DRIVER_WAYS: `late` (ready only when a file appears), `flood` (paints a lot at once),
`fail` (cannot take a line that says so), `web` (at the end of two pipes), `words` (still has something to say when
the terminal was given back), `busy` (what is typed keeps it busy for a while), `hasty` (waits a moment for the last),
`other_page` (a key drops the letter before it).
"""

import json
import os
import sys
import time
from pathlib import Path

from textual import events
from textual.app import App, ComposeResult
from textual.geometry import Size
from textual.widgets import Static

from aisle.scan.inputs_and_line_grouping import DecodedInput, Key, Line, OpenLine, Silence
from aisle.session.scanned_or_typed_lines import FAST_S
from aisle.tui import driver
from aisle.tui.browser_driver import BrowserDriver
from aisle.tui.driver import AisleDriver

LOG = Path(os.environ["DRIVER_LOG"])
WAYS = os.environ.get("DRIVER_WAYS", "").split()


def note(*entry: object) -> None:
    """One line of the log, written at once."""
    with LOG.open("a", encoding="utf-8") as log:
        log.write(json.dumps(entry) + "\n")


def _be_busy(seconds: float) -> None:
    """Let no other thread run, as on a machine with much to do."""
    interval, until = sys.getswitchinterval(), time.monotonic() + seconds
    sys.setswitchinterval(10.0)
    while time.monotonic() < until:
        pass
    sys.setswitchinterval(interval)


class DriverApp(App[None]):
    """Shows the last input; `ready_for_input`, `take` and `hang_up` are what the driver asks for."""

    ready_for_input = False

    def compose(self) -> ComposeResult:
        """One line."""
        yield Static("starting", id="last", markup=False)

    async def on_mount(self) -> None:
        """Ready at once, or when a file says so."""
        if "late" in WAYS:
            self.set_interval(0.01, self._when_let)
        else:
            self._begin()

    def _when_let(self) -> None:
        if not self.ready_for_input and LOG.with_suffix(".go").exists():
            self._begin()

    def _begin(self) -> None:
        self.ready_for_input = True
        self.query_one("#last", Static).update("ready")
        self._terminal_driver.release()
        if "flood" in WAYS:
            for _ in range(1000):
                self._terminal_driver.write("\x1b[1;1H" + "x" * 1000)
        note("ready")

    def attach(self, driver: AisleDriver) -> None:
        """Keeps the driver of the terminal."""
        self._terminal_driver = driver

    def take(self, items: list[DecodedInput], read_at: float) -> None:
        """Writes all down and shows the last."""
        if read_at > time.monotonic():
            raise AssertionError("read in the future")
        for item in items:
            if isinstance(item, Silence):
                note("Quiet", item.scan_number, item.is_over)
        items = [item for item in items if not isinstance(item, Silence)]
        for item in items:
            note(type(item).__name__, *item[: 1 if isinstance(item, Key) else 2])
        for item in items if "busy" in WAYS else ():
            if isinstance(item, Line):
                note("Pace", item.text, item.longest_pause < FAST_S)
            elif isinstance(item, OpenLine):
                _be_busy(0.15)
        if "fail" in WAYS:
            raise RuntimeError("cannot take this")
        if "other_page" in WAYS and any(isinstance(item, Key) for item in items):
            self._terminal_driver.dropped_length = 1
        if items:
            self.query_one("#last", Static).update(str(items[-1][0]))

    def on_resize(self, event: events.Resize) -> None:
        """Sizes are part of the order of things."""
        note("Resize", event.size.width, event.size.height)

    def change_size(self, columns: int, rows: int) -> None:
        """As the driver says."""
        self.post_message(events.Resize(Size(columns, rows), Size(columns, rows)))

    def redraw(self) -> None:
        """After another program."""
        self._terminal_driver.forget_screen(*self.size)
        self.refresh(layout=True)

    def fail(self, error: Exception) -> None:
        """As a message of the app, so that the error is shown."""
        self.call_later(_raise_error, error)

    def hang_up(self) -> None:
        """The way out."""
        note("hang_up")
        self.exit()


def _raise_error(error: Exception) -> None:
    raise error


class LateWords(AisleDriver):
    """Whose app says something between giving the terminal back and its end."""

    def close(self) -> None:
        """Says it."""
        self.write("\x1b]22;default\x07")
        super().close()


if __name__ == "__main__":
    if "hasty" in WAYS:
        driver.LAST_INPUTS_S = 0.1  # type: ignore[misc]
    drivers = {"web": BrowserDriver, "words": LateWords}
    app = DriverApp(driver_class=next((one for way, one in drivers.items() if way in WAYS), AisleDriver))
    app.run()
    note("left")
    sys.exit(app.return_code)
