"""The way to the terminal: whatever Textual wants to show, what goes out is what the board has changed, and at once.

The board is all there is on the screen, so the app knows what the terminal shows, and writes only the difference, past
Textual's frame clock and compositor. This and the board are the one place that leans on parts of Textual that it does
not promise: `App._display`, through which every update goes, `CompositorUpdate`, the kind of thing it takes,
`App._set_pointer_shape`, `Screen._extend_compose`, `DOMNode._attach`, and of Rich the colours that its console knows.
A test fails when one of them changes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from rich.color import ColorSystem
from textual._compositor import CompositorUpdate
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from aisle.jobs.view import Frame
from aisle.tui.board import Board
from aisle.tui.styles import sheet

if TYPE_CHECKING:
    from rich.console import Console
    from textual.driver import Driver
    from textual.widget import Widget


class _Update(CompositorUpdate):
    """An update that is made when it is written."""

    def __init__(self, render: Callable[[Console], str]) -> None:
        self._render = render

    def render_segments(self, console: Console) -> str:
        """The update as text for the terminal."""
        return self._render(console)


class _Bare(Screen[None], inherit_bindings=False):
    """A screen on which no key does anything, and nothing lies but what the app lays there."""

    def _extend_compose(self, widgets: list[Widget]) -> None:
        """No rack for toasts, and no tooltip: Textual looks whether they are there."""


class PaintedApp(App[int], inherit_bindings=False):
    """An app with one board and nothing else: no bindings, no palette, no header, nothing that moves."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self, board: Board, sheets: Sequence[str], driver_class: type[Driver] | None) -> None:
        super().__init__(driver_class=driver_class, css_path=[*sheets], ansi_color=True)
        self.animation_level = "none"
        self._own_colours = self.console._color_system
        self.board = board
        self._see_colours()

    def get_default_screen(self) -> Screen[Any]:
        """Where the board lies."""
        return _Bare(id="_default")

    def compose(self) -> ComposeResult:
        """The board, and nothing else."""
        yield self.board

    def show(self, frame: Frame) -> None:
        """Show this frame now."""
        if frame.theme != self.board.theme:
            self._wear(frame.theme)
        self.board.frame = frame
        if self.is_running and self.board.size:
            self._display(self.screen, None)

    def _wear(self, theme: str) -> None:
        """Other colours from now on. What a theme says of each role is read when somebody chooses it."""
        if theme:
            self.stylesheet.read(sheet(theme))
            self.stylesheet.parse()
        self.board.wear(theme)
        self.stylesheet.update(self)
        self._see_colours()

    def _see_colours(self) -> None:
        """A theme has more colours than the sixteen of the lean look."""
        if self.board.theme:
            true = os.environ.get("COLORTERM", "") in ("truecolor", "24bit")
            self.console._color_system = ColorSystem.TRUECOLOR if true else ColorSystem.EIGHT_BIT
        else:
            self.console._color_system = self._own_colours

    def redraw(self) -> None:
        """Write everything again: nobody knows what the terminal shows."""
        self.board.forget()
        self.show(self.board.frame)

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        """Every update of Textual's ends here; what it wanted to write does not matter."""
        update = None
        if self.board.is_changed:
            update = _Update(self.board.render_changes)
            self.cursor_position = self.board.caret
        super()._display(screen, update)  # type: ignore[arg-type]  # as Textual's own updates, which are no renderables

    async def run_action(self, *args: Any, **kwargs: Any) -> bool:
        """Nothing here is an action of Textual's, whoever asks: no screenshot, no suspending, no palette, no link."""
        return False

    def _set_pointer_shape(self, shape: str) -> None:
        """There is no mouse, and not every terminal swallows what it does not know."""
