"""The app: hands what the driver decoded to the desk, and shows what the desk says."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from textual import events

from aisle.jobs.view import Frame
from aisle.scan.inputs import Decoded
from aisle.text import speaks_utf8
from aisle.tui.board import Board
from aisle.tui.desk import DeskLike
from aisle.tui.paint import PaintedApp
from aisle.tui.styles import sheets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.driver import Driver

POLL_S = 5.0
"""How often the desk is asked for news when its doorbell stays silent."""
AGAIN_S = 1.0
"""So soon it is asked again while nothing can be kept."""

BELL = "\x07"


class AisleApp(PaintedApp):
    """One screen between the driver and the desk.

    The driver keeps what it decoded in one ordered queue and hands over all that waits in one piece: one commit at the
    desk, one paint here. Nothing is bound to a key; every key goes the same way as a scan.
    """

    def __init__(
        self,
        desk: DeskLike,
        frame: Frame,
        *,
        rich: bool = False,
        plain: bool = False,
        colourless: bool = False,
        on_first_paint: Callable[[], None] | None = None,
        driver_class: type[Driver] | None = None,
    ) -> None:
        """`frame` is what to show first; `plain` draws for a terminal without UTF-8, `colourless` without colours."""
        super().__init__(Board(frame, plain, colourless), sheets(rich, frame.theme), driver_class)
        self.ready_for_input = False
        """The driver keeps its inputs until the first frame is painted."""
        self.failure: Exception | None = None
        """What ended the app against its will."""
        self._desk = desk
        self._on_first_paint = on_first_paint
        self._answered = frame.serial
        self._told: tuple[int, int] | None = None
        self._looks_again = False
        """Whether the next look comes sooner than the usual one."""
        self._bell: int | None = None
        """The doorbell that is listened to."""

    def on_mount(self) -> None:
        """Listen to the doorbell, and look without it every few seconds."""
        self._listen()
        self.set_interval(POLL_S, self._look)
        self.app_resume_signal.subscribe(self, lambda _: self.redraw(), immediate=True)

    def on_unmount(self) -> None:
        """The doorbell belongs to the desk again."""
        if self._bell is not None:
            asyncio.get_running_loop().remove_reader(self._bell)

    def passed(self, token: str, until: float) -> None:
        """Whoever sits at the browser has said his PIN at its door; a desk that is his alone is told."""
        told = getattr(self._desk, "passed", None)
        if told is not None:
            told(token, until)

    def _listen(self) -> None:
        """Listens to the doorbell that hangs at the desk now; it is another one in another store."""
        bell, loop = self._desk.fileno(), asyncio.get_running_loop()
        if bell == self._bell:
            return
        if self._bell is not None:
            loop.remove_reader(self._bell)
            loop.call_soon(self._look)  # nobody there has looked for a courier yet
        self._bell = bell
        if bell is not None:
            loop.add_reader(bell, self._rung)

    def on_resize(self, event: events.Resize) -> None:
        """The desk gives lists as many rows as the screen has. A terminal that resizes may have lost what it showed."""
        first, size = self._told is None, (event.size.width, event.size.height)
        if not first:
            self.board.forget()
        if self._told != size:
            self._told = size
            with self._guarded():
                self.board.frame = self._desk.resize(*size)
        if event.size == self.board.size:
            self.show(self.board.frame)

    # Called by the driver

    def take(self, items: Sequence[Decoded], read_at: float) -> None:
        """All that was decoded and not taken yet, in order; `read_at` is when the last of it was read."""
        with self._guarded():
            self._answer(self._desk.take(items, read_at))

    def hang_up(self) -> None:
        """The terminal is gone, or somebody wants this process to end."""
        self.exit(0)

    # To the screen

    def _look(self, *, rung: bool = False) -> None:
        """Has anything changed that is on the screen?"""
        with self._guarded():
            frame = self._desk.poll(rung=rung)
            if frame is not None:
                self._answer(frame)

    def _hurry(self) -> None:
        """What cannot be kept is an alarm that has to end as soon as it can be: it is looked at again at once."""
        if self.board.frame.link.state != "unkept" or self._looks_again:
            return
        self._looks_again = True
        self.set_timer(AGAIN_S, self._again)

    def _again(self) -> None:
        self._looks_again = False
        self._look()
        self._hurry()

    def _rung(self) -> None:
        self._look(rung=True)

    def _answer(self, frame: Frame) -> None:
        self.show(frame)
        self._listen()
        self._hurry()
        bells, self._desk.bells = self._desk.bells, 0
        if bells and self._driver is not None and not self.is_headless:
            self._driver.write(BELL * bells)
            self._driver.flush()
        if self._desk.leaving:
            self.exit(0)

    def post_display_hook(self) -> None:
        """The terminal was told all there is: let those know who wait for it."""
        if not self.board.size or (self.board.is_changed and not self.is_headless):
            return
        if not self.ready_for_input:
            self._first_painted()
        serial = self.board.frame.serial
        if serial > self._answered:
            serials = range(self._answered + 1, serial + 1)
            self._answered = serial
            self._desk.on_painted(serials, time.monotonic())

    def _first_painted(self) -> None:
        self.ready_for_input = True
        loop = asyncio.get_running_loop()
        release = getattr(self._driver, "release", None)
        if release is not None:
            loop.call_soon(release)
        if self._on_first_paint is not None:
            loop.call_soon(self._on_first_paint)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Ends the app with what went wrong at the desk; what is durable stays, and the terminal is left in order."""
        try:
            yield
        except Exception as error:
            self.failure = self.failure or error
            self.exit(1)


def run_app(
    desk: DeskLike,
    *,
    rich: bool = False,
    colourless: bool = False,
    on_first_paint: Callable[[], None] | None = None,
    browser: tuple[int, int] | None = None,
) -> int:
    """Run the app on this terminal until the desk leaves or the terminal does; answers with the exit status.

    `browser` is the size of the browser that is at the other end of two pipes instead, in columns and rows. Call
    `aisle.tui.prepare_environment` before this module is imported. Raises what went wrong at the desk.
    """
    from aisle.tui.driver import AisleDriver

    kind = AisleDriver
    if browser:
        from aisle.tui.web_driver import WebDriver

        kind = WebDriver
    plain = not (browser or speaks_utf8())
    try:
        frame = desk.start()
        app = AisleApp(
            desk, frame, rich=rich, plain=plain, colourless=colourless, on_first_paint=on_first_paint, driver_class=kind
        )
        app.run(mouse=False, size=browser)
        if app.failure is not None:
            raise app.failure
        return app.return_code or 0
    finally:
        desk.close()
