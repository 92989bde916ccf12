"""Screen of every page: header, body, verdict, prompt and status below each other."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.geometry import Offset
from textual.screen import Screen

from aisle.jobs.view import Frame
from aisle.tui.layout.screen import layout_parts
from aisle.tui.line_widgets import WIDGETS, LinesWidget
from aisle.tui.themes import style_folder


class FrameScreen(Screen[None], inherit_bindings=False):
    """Screen that shows a frame as lines."""

    CSS_PATH: ClassVar[str] = str(style_folder() / "frame.tcss")

    def __init__(self, is_ascii: bool = False) -> None:
        """`is_ascii`: for a terminal without UTF-8."""
        super().__init__()
        self._is_ascii = is_ascii
        self._parts: list[LinesWidget] = [kind(kind.__name__.lower()) for kind in WIDGETS]

    def compose(self) -> ComposeResult:
        """Yield the widgets from top to bottom."""
        yield from self._parts

    def show(self, frame: Frame, columns: int, rows: int) -> None:
        """Draw a frame for a terminal of this size."""
        for widget, lines in zip(self._parts, layout_parts(frame, columns, rows, self._is_ascii), strict=True):
            widget.show(lines)

    @property
    def is_painted(self) -> bool:
        """True if the terminal shows the whole frame."""
        return all(widget.is_painted for widget in self._parts)

    @property
    def caret(self) -> Offset:
        """Position of the caret: emulators with a window smaller than the screen follow the cursor."""
        carets = (widget.caret() for widget in reversed(self._parts))
        return next((caret for caret in carets if caret is not None), Offset(0, max(0, self.size.height - 2)))

    def update_pointer_shape(self) -> None:
        """Do nothing: no shape of the pointer has a meaning here."""
