"""What the screen asks of whoever does the work behind it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from rich.color import ColorSystem
from textual import events
from textual._compositor import CompositorUpdate
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from aisle.jobs.view import Frame
from aisle.scan.inputs import DecodedInput
from aisle.text import supports_utf8
from aisle.tui.screen_widget import ScreenWidget
from aisle.tui.themes import style_sheet, style_sheets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from textual.driver import Driver
    from textual.widget import Widget


class SessionProtocol(Protocol):
    """The session behind one terminal. Nothing here waits for a network; every call comes from the loop's thread."""

    is_ending: bool
    """The program is to end once the last frame is painted."""

    bells: int
    """So many BELs belong to the last frame; the app sets it back to 0."""

    def start(self) -> Frame:
        """Open this host's files, resume the job that is open, and say what to show."""
        ...

    def take(self, items: Sequence[DecodedInput], at: float) -> Frame:
        """Apply the inputs in their order, make them durable, and say what to show; `at` is when the last was read."""
        ...

    def poll(self, *, notified: bool = False) -> Frame | None:
        """Read the doorbell empty; a frame if something that is on the screen has changed. Where it has rung, only
        that need be looked at which it rang for."""
        ...

    def resize(self, columns: int, rows: int) -> Frame:
        """The terminal now has this size."""
        ...

    def on_painted(self, serials: Sequence[int], at: float) -> None:
        """The answers to these scans were written to the terminal at `at` (monotonic seconds)."""
        ...

    def fileno(self) -> int | None:
        """The doorbell: a descriptor that becomes readable when something may have changed."""
        ...

    def close(self) -> None:
        """Leave everything in order; may be called twice."""
        ...


class _TerminalUpdate(CompositorUpdate):
    """An update that is made when it is written."""

    def __init__(self, render: Callable[[Console], str]) -> None:
        self._render = render

    def render_segments(self, console: Console) -> str:
        """The update as text for the terminal."""
        return self._render(console)


class _EmptyScreen(Screen[None], inherit_bindings=False):
    """A screen on which no key does anything, and nothing lies but what the app lays there."""

    def _extend_compose(self, widgets: list[Widget]) -> None:
        """No rack for toasts, and no tooltip: Textual looks whether they are there."""


class PaintedApp(App[int], inherit_bindings=False):
    """An app with one board and nothing else: no bindings, no palette, no header, nothing that moves."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self, board: ScreenWidget, sheets: Sequence[str], driver_class: type[Driver] | None) -> None:
        super().__init__(driver_class=driver_class, css_path=[*sheets], ansi_color=True)
        self.animation_level = "none"
        self._terminal_colours = self.console._color_system
        self.screen_widget = board
        self._set_colour_system()

    def get_default_screen(self) -> Screen[Any]:
        """Where the board lies."""
        return _EmptyScreen(id="_default")

    def compose(self) -> ComposeResult:
        """The board, and nothing else."""
        yield self.screen_widget

    def show(self, frame: Frame) -> None:
        """Show this frame now."""
        if frame.theme != self.screen_widget.theme:
            self._set_theme(frame.theme)
        self.screen_widget.frame = frame
        if self.is_running and self.screen_widget.size:
            self._display(self.screen, None)

    def _set_theme(self, theme: str) -> None:
        """Other colours from now on. What a theme says of each role is read when somebody chooses it."""
        if theme:
            self.stylesheet.read(style_sheet(theme))
            self.stylesheet.parse()
        self.screen_widget.set_theme(theme)
        self.stylesheet.update(self)
        self._set_colour_system()

    def _set_colour_system(self) -> None:
        """A theme has more colours than the sixteen of the lean look."""
        if self.screen_widget.theme:
            true = os.environ.get("COLORTERM", "") in ("truecolor", "24bit")
            self.console._color_system = ColorSystem.TRUECOLOR if true else ColorSystem.EIGHT_BIT
        else:
            self.console._color_system = self._terminal_colours

    def redraw(self) -> None:
        """Write everything again: nobody knows what the terminal shows."""
        self.screen_widget.forget_terminal()
        self.show(self.screen_widget.frame)

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        """Every update of Textual's ends here; what it wanted to write does not matter."""
        update = None
        if self.screen_widget.is_changed:
            update = _TerminalUpdate(self.screen_widget.render_changes)
            self.cursor_position = self.screen_widget.caret
        super()._display(screen, update)  # type: ignore[arg-type]  # as Textual's own updates, which are no renderables

    async def run_action(self, *args: Any, **kwargs: Any) -> bool:
        """Nothing here is an action of Textual's, whoever asks: no screenshot, no suspending, no palette, no link."""
        return False

    def _set_pointer_shape(self, shape: str) -> None:
        """There is no mouse, and not every terminal swallows what it does not know."""


POLL_S = 5.0
"""How often the desk is asked for news when its doorbell stays silent."""
RETRY_S = 1.0
"""So soon it is asked again while nothing can be kept."""

BELL = "\x07"


class AisleApp(PaintedApp):
    """One screen between the driver and the desk.

    The driver keeps what it decoded in one ordered queue and hands over all that waits in one piece: one commit at the
    desk, one paint here. Nothing is bound to a key; every key goes the same way as a scan.
    """

    def __init__(
        self,
        session: SessionProtocol,
        frame: Frame,
        *,
        has_themes: bool = False,
        is_ascii: bool = False,
        is_colourless: bool = False,
        on_first_paint: Callable[[], None] | None = None,
        driver_class: type[Driver] | None = None,
    ) -> None:
        """`frame` is what to show first; `plain` draws for a terminal without UTF-8, `colourless` without colours."""
        super().__init__(
            ScreenWidget(frame, is_ascii, is_colourless), style_sheets(has_themes, frame.theme), driver_class
        )
        self.ready_for_input = False
        """The driver keeps its inputs until the first frame is painted."""
        self.failure: Exception | None = None
        """What ended the app against its will."""
        self._session = session
        self._on_first_paint = on_first_paint
        self._painted_serial = frame.scan_serial
        self._session_size: tuple[int, int] | None = None
        self._retries_soon = False
        """Whether the next look comes sooner than the usual one."""
        self._notify_fd: int | None = None
        """The doorbell that is listened to."""

    def on_mount(self) -> None:
        """Listen to the doorbell, and look without it every few seconds."""
        self._watch_notifications()
        self.set_interval(POLL_S, self._poll_session)
        self.app_resume_signal.subscribe(self, lambda _: self.redraw(), immediate=True)

    def on_unmount(self) -> None:
        """The doorbell belongs to the desk again."""
        if self._notify_fd is not None:
            asyncio.get_running_loop().remove_reader(self._notify_fd)

    def confirm_pin(self, token: str, valid_until: float) -> None:
        """Whoever sits at the browser has said his PIN at its door; a desk that is his alone is told."""
        told = getattr(self._session, "confirm_pin", None)
        if told is not None:
            told(token, valid_until)

    def _watch_notifications(self) -> None:
        """Listens to the doorbell that hangs at the desk now; it is another one in another store."""
        bell, loop = self._session.fileno(), asyncio.get_running_loop()
        if bell == self._notify_fd:
            return
        if self._notify_fd is not None:
            loop.remove_reader(self._notify_fd)
            loop.call_soon(self._poll_session)  # nobody there has looked for a courier yet
        self._notify_fd = bell
        if bell is not None:
            loop.add_reader(bell, self._on_notified)

    def on_resize(self, event: events.Resize) -> None:
        """The desk gives lists as many rows as the screen has. A terminal that resizes may have lost what it showed."""
        first, size = self._session_size is None, (event.size.width, event.size.height)
        if not first:
            self.screen_widget.forget_terminal()
        if self._session_size != size:
            self._session_size = size
            with self._exit_on_error():
                self.screen_widget.frame = self._session.resize(*size)
        if event.size == self.screen_widget.size:
            self.show(self.screen_widget.frame)

    # Called by the driver

    def take(self, items: Sequence[DecodedInput], read_at: float) -> None:
        """All that was decoded and not taken yet, in order; `read_at` is when the last of it was read."""
        with self._exit_on_error():
            self._show_answer(self._session.take(items, read_at))

    def hang_up(self) -> None:
        """The terminal is gone, or somebody wants this process to end."""
        self.exit(0)

    # To the screen

    def _poll_session(self, *, notified: bool = False) -> None:
        """Has anything changed that is on the screen?"""
        with self._exit_on_error():
            frame = self._session.poll(notified=notified)
            if frame is not None:
                self._show_answer(frame)

    def _retry_soon(self) -> None:
        """What cannot be kept is an alarm that has to end as soon as it can be: it is looked at again at once."""
        if self.screen_widget.frame.link.state != "unkept" or self._retries_soon:
            return
        self._retries_soon = True
        self.set_timer(RETRY_S, self._retry)

    def _retry(self) -> None:
        self._retries_soon = False
        self._poll_session()
        self._retry_soon()

    def _on_notified(self) -> None:
        self._poll_session(notified=True)

    def _show_answer(self, frame: Frame) -> None:
        self.show(frame)
        self._watch_notifications()
        self._retry_soon()
        bells, self._session.bells = self._session.bells, 0
        if bells and self._driver is not None and not self.is_headless:
            self._driver.write(BELL * bells)
            self._driver.flush()
        if self._session.is_ending:
            self.exit(0)

    def post_display_hook(self) -> None:
        """The terminal was told all there is: let those know who wait for it."""
        if not self.screen_widget.size or (self.screen_widget.is_changed and not self.is_headless):
            return
        if not self.ready_for_input:
            self._on_first_paint_done()
        serial = self.screen_widget.frame.scan_serial
        if serial > self._painted_serial:
            serials = range(self._painted_serial + 1, serial + 1)
            self._painted_serial = serial
            self._session.on_painted(serials, time.monotonic())

    def _on_first_paint_done(self) -> None:
        self.ready_for_input = True
        loop = asyncio.get_running_loop()
        release = getattr(self._driver, "release", None)
        if release is not None:
            loop.call_soon(release)
        if self._on_first_paint is not None:
            loop.call_soon(self._on_first_paint)

    @contextmanager
    def _exit_on_error(self) -> Iterator[None]:
        """Ends the app with what went wrong at the desk; what is durable stays, and the terminal is left in order."""
        try:
            yield
        except Exception as error:
            self.failure = self.failure or error
            self.exit(1)


def run_app(
    session: SessionProtocol,
    *,
    has_themes: bool = False,
    is_colourless: bool = False,
    on_first_paint: Callable[[], None] | None = None,
    browser_size: tuple[int, int] | None = None,
) -> int:
    """Run the app on this terminal until the desk leaves or the terminal does; answers with the exit status.

    `browser` is the size of the browser that is at the other end of two pipes instead, in columns and rows. Call
    `aisle.tui.prepare_environment` before this module is imported. Raises what went wrong at the desk.
    """
    from aisle.tui.driver import AisleDriver

    kind = AisleDriver
    if browser_size:
        from aisle.tui.web_driver import WebDriver

        kind = WebDriver
    plain = not (browser_size or supports_utf8())
    try:
        frame = session.start()
        app = AisleApp(
            session,
            frame,
            has_themes=has_themes,
            is_ascii=plain,
            is_colourless=is_colourless,
            on_first_paint=on_first_paint,
            driver_class=kind,
        )
        app.run(mouse=False, size=browser_size)
        if app.failure is not None:
            raise app.failure
        return app.return_code or 0
    finally:
        session.close()
