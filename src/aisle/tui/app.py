"""Textual app between driver and session: passes inputs and clicks on, paints frames, rings the terminal's bell."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

from textual import events
from textual.app import App
from textual.binding import BindingType
from textual.errors import NoWidget
from textual.geometry import Offset, Size
from textual.screen import Screen

from aisle.jobs.view import CHANGED_S, Frame, ListView, View, is_desk_size
from aisle.scan.inputs_and_line_grouping import CHIP_KEY, ROW_KEY, SORT_KEY, TAB_KEY, DecodedInput, Key, typed_line
from aisle.terminal_text import supports_utf8
from aisle.tui.driver import AisleDriver, TerminalInput, terminal_size
from aisle.tui.layout import styled_lines_and_page_parts
from aisle.tui.layout.screen import layout_parts
from aisle.tui.message_text import MessageWriter
from aisle.tui.mouse import DOUBLE_CLICK_S, PALETTE_LABEL, ClickTarget, MouseInput
from aisle.tui.screens.page_screens import (
    BoardScreen,
    ChartScreen,
    DashboardScreen,
    ListScreen,
    PageScreen,
    RecordScreen,
    RecordWithSideScreen,
    StepScreen,
    style_path,
)
from aisle.tui.themes import default_theme, theme_in_force, themes
from aisle.tui.widgets.page_widgets import LinesWidget

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.driver import Driver


class SessionProtocol(Protocol):
    """Session behind one terminal. No call waits for the network; every call comes from the event loop's thread."""

    is_ending: bool
    """True if the program ends once the last frame is painted."""

    bells: int
    """Number of times that the terminal's bell rings for the last frame; the app resets it to 0.

    `session/shown_verdict_and_bells` decides which verdicts ring.
    """

    def start(self, size: tuple[int, int] | None = None) -> Frame:
        """Open this host's files, resume the open job, and return the first frame, for this size if it is known."""
        ...

    def take(self, items: Sequence[DecodedInput], at: float) -> Frame:
        """Apply the inputs in order, commit them, and return the frame. `at` is when the last one was read."""
        ...

    def poll(self, *, notified: bool = False) -> Frame | None:
        """Read the notifications, and return a frame if something on the screen has changed.

        If `notified`, only the topics of the notifications have to be read again.
        """
        ...

    def resize(self, columns: int, rows: int) -> Frame:
        """Take the terminal's new size, and return the frame."""
        ...

    def confirm_pin(self, token: str, valid_until: float) -> None:
        """Accept the token of a PIN that was checked in the browser; a session of many people ignores it."""
        ...

    def on_painted(self, serials: Sequence[int], at: float) -> None:
        """Record that the verdicts of these scans were written to the terminal at `at` (monotonic seconds)."""
        ...

    def accept_downloads(self, offer: Callable[[str, bytes], bool]) -> None:
        """Offer files as downloads, by name and content, where a browser shows the app."""
        ...

    def fileno(self) -> int | None:
        """Return the notification socket, which becomes readable when something may have changed."""
        ...

    def close(self) -> None:
        """Close everything in order. May be called twice."""
        ...


POLL_S = 5.0
"""Seconds between two polls of the session if it is not notified."""
RETRY_S = 1.0
"""Seconds until the next poll while nothing can be stored."""

WHOLE_S = 30.0
"""Seconds after which a change writes the whole screen: a message of the system to all terminals may have moved it."""


class AisleApp(App[int], inherit_bindings=False):
    """App between the driver and the session.

    The driver queues decoded inputs and passes on all that wait at once: one commit in the session, one paint here. No
    key is bound; every key is passed on like a scan.
    """

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = []
    CSS_PATH: ClassVar[str] = style_path("app")
    ENABLE_COMMAND_PALETTE = False
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {
        styled_lines_and_page_parts.STEP: StepScreen,
        styled_lines_and_page_parts.LIST: ListScreen,
        styled_lines_and_page_parts.BOARD: BoardScreen,
        styled_lines_and_page_parts.RECORD: RecordScreen,
        styled_lines_and_page_parts.RECORD_WITH_SIDE: RecordWithSideScreen,
        styled_lines_and_page_parts.CHART: ChartScreen,
        styled_lines_and_page_parts.DASHBOARD: DashboardScreen,
    }
    """Screen of each kind of page. A screen is made when its kind is first shown."""

    def __init__(
        self,
        session: SessionProtocol,
        frame: Frame,
        *,
        default_theme: str = "terminal",
        is_ascii: bool = False,
        is_colourless: bool = False,
        on_first_paint: Callable[[], None] | None = None,
        driver_class: type[Driver] | None = None,
        watch_css: bool = False,
        size: tuple[int, int] = (80, 24),
    ) -> None:
        """Store the session. `frame` is shown first; `is_ascii` draws without UTF-8, `is_colourless` without colour.

        `size` is that of the terminal at the start, in columns and rows.
        `default_theme` is that of frames that name none. `watch_css` applies a changed style sheet at once.
        """
        self.DEFAULT_MODE = layout_parts(frame, *size, is_ascii).page.kind  # type: ignore[misc]  # of the first page
        super().__init__(driver_class=driver_class, watch_css=watch_css, ansi_color=True)
        self.animation_level = "none"
        self.frame = frame
        """Frame to show."""
        self.ready_for_input = False
        """True once the first frame is painted; until then the driver keeps its inputs."""
        self.failure: Exception | None = None
        """Exception that ended the app."""
        self._is_ascii = is_ascii
        self._clicks = ClickTranslator()
        self._session = session
        self._theme_without_setting = default_theme
        self._is_colourless = is_colourless
        self._on_first_paint = on_first_paint
        self._terminal_driver: AisleDriver | None = None
        """Driver of the terminal; None in a test without one."""
        self._painted_serial = frame.scan_serial
        self._session_size: tuple[int, int] | None = None
        self._whole_at = time.monotonic()
        """Time at which the whole screen was written."""
        self._retries_soon = self._unmarks_soon = False
        """True if the next poll comes sooner than usual."""
        self._notify_fd: int | None = None
        """Notification socket that is watched."""
        for theme in themes():
            self.register_theme(theme)
        self.theme = self._theme_name(frame.theme)

    def _theme_name(self, setting: str) -> str:
        """Return the name of the theme for the setting of a frame."""
        return theme_in_force(setting, self._theme_without_setting, is_colourless=self._is_colourless)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return values for the themes of Textual, which lack the variables of our style sheets."""
        return themes()[0].variables

    @property
    def page_screen(self) -> PageScreen:
        """Screen of the page that is shown."""
        screen = self.screen
        assert isinstance(screen, PageScreen)
        return screen

    async def run_action(self, *args: object, **kwargs: object) -> bool:
        """Refuse every action of Textual: screenshot, suspend, palette, links."""
        return False

    def on_mount(self) -> None:
        """Watch the notification socket, and poll every few seconds as well."""
        self._watch_notifications()
        self.set_interval(POLL_S, self._poll_session)

    def on_unmount(self) -> None:
        """Stop watching the notification socket."""
        if self._notify_fd is not None:
            asyncio.get_running_loop().remove_reader(self._notify_fd)

    def confirm_pin(self, token: str, valid_until: float) -> None:
        """Pass on the user token obtained at the browser, if the session takes one."""
        self._session.confirm_pin(token, valid_until)

    def _watch_notifications(self) -> None:
        """Watch the session's present notification socket; it changes with the store."""
        notify_fd, loop = self._session.fileno(), asyncio.get_running_loop()
        if notify_fd == self._notify_fd:
            return
        if self._notify_fd is not None:
            loop.remove_reader(self._notify_fd)
            loop.call_soon(self._poll_session)  # the other store's courier may not be running
        self._notify_fd = notify_fd
        if notify_fd is not None:
            loop.add_reader(notify_fd, self._on_notified)

    def on_resize(self, event: events.Resize) -> None:
        """Resize the session, whose lists then have other windows, and paint. The terminal may have lost its
        content.
        """
        is_first, size = self._session_size is None, (event.size.width, event.size.height)
        if self._session_size != size:
            self._session_size = size
            with self._exit_on_error():
                self.frame = self._session.resize(*size)
            if self._terminal_driver is not None:
                self._terminal_driver.report_mouse(is_desk_size(*size))
        with self._exit_on_error():
            self.show(self.frame)
        if not is_first:
            self.redraw()

    # Called by the driver

    def attach(self, driver: AisleDriver) -> None:
        """Store the driver."""
        self._terminal_driver = driver

    def take(self, items: Sequence[TerminalInput], read_at: float) -> None:
        """Pass on all inputs, in order; `read_at` is when the last was read. A click is looked up on the page of its
        time.
        """
        waiting: list[DecodedInput] = []
        for item in items:
            if not isinstance(item, MouseInput):
                waiting.append(item)
                continue
            self._pass_on(waiting, read_at)
            waiting = []
            self._pass_on(self._clicks.inputs(item, self.screen, self.frame, read_at), read_at)
        self._pass_on(waiting, read_at)

    def _pass_on(self, items: Sequence[DecodedInput], read_at: float) -> None:
        if items:
            with self._exit_on_error():
                self._show_answer(self._session.take(items, read_at))

    def change_size(self, columns: int, rows: int) -> None:
        """Take the size of the terminal. It may be unchanged, and everything is drawn again."""
        size = Size(columns, rows)
        self.post_message(events.Resize(size, size))

    def hang_up(self) -> None:
        """End the app: the terminal is gone, or the process has to stop."""
        self.exit(0)

    def fail(self, error: Exception) -> None:
        """End the app because of an exception that `run_app` raises again."""
        self.failure = self.failure or error
        self.exit(return_code=1)

    # Painting

    def show(self, frame: Frame) -> None:
        """Paint this frame now."""
        self.frame = frame
        if self._terminal_driver is not None:
            self._terminal_driver.one_key_letters = frame.one_key_letters
            self._terminal_driver.dropped_length = frame.dropped_length
        if not self._session_size:
            return
        if (name := self._theme_name(frame.theme)) != self.theme:
            self.theme = name
        if time.monotonic() - self._whole_at >= WHOLE_S:
            self.redraw()
        parts = layout_parts(frame, *self._session_size, self._is_ascii)
        self._open_screen(parts.page.kind).show(parts)
        self.cursor_position = Offset(*parts.caret)
        self._unmark_soon(frame)
        self._report_page(frame)

    def _open_screen(self, kind: str) -> PageScreen:
        """Return the screen of a kind of page, and put it on the terminal unless it is there."""
        if kind != self.current_mode:
            self.switch_mode(kind)
            self.page_screen.mark_unpainted()
        return self.page_screen

    def _unmark_soon(self, frame: Frame) -> None:
        """Poll when the marks of changed rows are over."""
        has_marks = isinstance(frame.view, ListView) and any(row.is_changed for row in frame.view.rows)
        if has_marks and not self._unmarks_soon:
            self._unmarks_soon = True
            self.set_timer(CHANGED_S, self._unmark)

    def _unmark(self) -> None:
        self._unmarks_soon = False
        self._poll_session()

    def _report_page(self, frame: Frame) -> None:
        if self._terminal_driver is not None and self._terminal_driver.reports_pages:
            writer = MessageWriter(language=frame.language)
            self._terminal_driver.report_page(frame.address, writer.write(frame.view.title))

    def offer_file(self, name: str, content: bytes) -> bool:
        """Offer a file of this name and content as a download. Return True if it is taken."""
        return self._terminal_driver is not None and self._terminal_driver.offer_file(name, content)

    def redraw(self) -> None:
        """Paint everything again, because the content of the terminal is unknown."""
        self._whole_at = time.monotonic()
        if self._terminal_driver is not None and self._session_size:
            self._terminal_driver.forget_screen(*self._session_size)
        self.screen.refresh()

    def _poll_session(self, *, notified: bool = False) -> None:
        """Ask the session for changes, and paint them."""
        with self._exit_on_error():
            frame = self._session.poll(notified=notified)
            if frame is not None:
                self._show_answer(frame)

    def _retry_soon(self) -> None:
        """Poll again soon while nothing can be stored, because that alarm has to end as soon as possible."""
        if self.frame.link.state != "unkept" or self._retries_soon:
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
        for _ in range(bells):
            self.bell()
        if self._session.is_ending:
            self.exit(0)

    def post_display_hook(self) -> None:
        """Tell the session which scans have been answered on the terminal."""
        if not (self._session_size and self.page_screen.is_painted):
            return
        if not self.ready_for_input:
            self._on_first_paint_done()
        serial = self.frame.scan_serial
        if serial > self._painted_serial:
            serials = range(self._painted_serial + 1, serial + 1)
            self._painted_serial = serial
            self._session.on_painted(serials, time.monotonic())

    def _on_first_paint_done(self) -> None:
        self.ready_for_input = True
        loop = asyncio.get_running_loop()
        if self._terminal_driver is not None:
            loop.call_soon(self._terminal_driver.release)
        if self._on_first_paint is not None:
            loop.call_soon(self._on_first_paint)

    @contextmanager
    def _exit_on_error(self) -> Iterator[None]:
        """End the app if the session fails; committed work stays, and the terminal is restored."""
        try:
            yield
        except Exception as error:
            self.fail(error)


def run_app(
    session: SessionProtocol,
    *,
    has_soft_colours: bool = False,
    is_colourless: bool = False,
    on_first_paint: Callable[[], None] | None = None,
    browser_size: tuple[int, int] | None = None,
    watch_css: bool = False,
) -> int:
    """Run the app on this terminal until the session or the terminal ends. Return the exit status.

    `browser_size` is given in columns and rows if a browser is behind the two pipes. `watch_css` is for work on the
    style sheets. Call
    `aisle.tui.prepare_environment` before importing this module. Raise the exception of the session.
    """
    kind = AisleDriver
    if browser_size:
        from aisle.tui.browser_driver import BrowserDriver

        kind = BrowserDriver
    plain = not (browser_size or supports_utf8())
    size = browser_size or terminal_size()
    try:
        frame = session.start(None if browser_size else size)
        app = AisleApp(
            session,
            frame,
            default_theme=default_theme(has_soft_colours=has_soft_colours, is_browser=browser_size is not None),
            is_ascii=plain,
            is_colourless=is_colourless,
            on_first_paint=on_first_paint,
            driver_class=kind,
            watch_css=watch_css,
            size=size,
        )
        if browser_size:
            session.accept_downloads(app.offer_file)
        app.run(mouse=False, size=browser_size)
        if app.failure is not None:
            raise app.failure
        return app.return_code or 0
    finally:
        session.close()


_KEY_LABEL: Final = re.compile(rf"F\d{{1,2}}|{re.escape(PALETTE_LABEL)}")
"""Labels of keys that are pressed, not typed."""

_WHEEL_KEYS: Final = {"wheel_up": ("scrollup", "pageup"), "wheel_down": ("scrolldown", "pagedown")}
"""Keys of the wheel: in a list, and on another page."""


class ClickTranslator:
    """Translates mouse inputs. A click on a row selects it, a double click opens it; a click on a key types it."""

    def __init__(self) -> None:
        self._last: tuple[MouseInput, float] | None = None
        """Last click and its time."""

    def inputs(self, mouse: MouseInput, screen: Screen[Any], frame: Frame, at: float) -> list[DecodedInput]:
        """Return the inputs that a mouse input stands for, none while text is typed or where nothing can be clicked."""
        if mouse.action in _WHEEL_KEYS:
            return [Key(_WHEEL_KEYS[mouse.action][not isinstance(frame.view, ListView)])]
        is_double = self._last is not None and self._last[0] == mouse and at - self._last[1] <= DOUBLE_CLICK_S
        self._last = None if is_double else (mouse, at)
        is_typing = bool(frame.typed) and frame.view.name != "palette"  # its words list the rows to choose from
        target = None if is_typing else _target(mouse, screen)
        if target is None:
            return []
        if target.kind == "chip":
            return [] if is_double else [Key(f"{CHIP_KEY}{target.key}")]
        if target.kind == "head":
            return [] if is_double else [Key(f"{SORT_KEY}{target.key}")]
        if target.kind == "tab":
            return [] if is_double else [Key(f"{TAB_KEY}{frame.tabs[int(target.key)].name}")]
        if _KEY_LABEL.fullmatch(target.key):
            return [] if is_double else [Key(target.key.lower())]
        if target.kind == "row":
            return _choose_row(int(target.key), frame.view, is_double=is_double)
        return [] if is_double else [typed_line(target.key, at)]


def _choose_row(place: int, view: View, *, is_double: bool) -> list[DecodedInput]:
    """Return the inputs that select a row of the list, and open it after a double click."""
    if not isinstance(view, ListView) or place >= len(view.rows):
        return []  # the page has changed
    select = Key(f"{ROW_KEY}{view.first + place}")
    return [select, Key("enter")] if is_double else [select]


def _target(mouse: MouseInput, screen: Screen[Any]) -> ClickTarget | None:
    """Return what lies under the mouse."""
    try:
        widget, region = screen.get_widget_at(mouse.column, mouse.row)
    except NoWidget:
        return None
    return (
        widget.click_target(mouse.column - region.x, mouse.row - region.y) if isinstance(widget, LinesWidget) else None
    )
