"""The one widget: knows what is to be seen, what the terminal shows already, and what to write for the difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.dom import DOMNode
from textual.geometry import Offset
from textual.strip import Strip
from textual.widget import Widget

from aisle.jobs.view import Frame
from aisle.text import width
from aisle.tui.changes import changes
from aisle.tui.screens.frame import paint
from aisle.tui.screens.painted import Line, Painted, line_width

if TYPE_CHECKING:
    from rich.console import Console
    from textual.geometry import Region

ERASE = "\x1b[K"


class Board(Widget):
    """Everything that is on the screen."""

    def __init__(self, frame: Frame, plain: bool, colourless: bool = False) -> None:
        super().__init__(classes=frame.theme or None)
        self.theme = frame.theme
        """The colours that it wears; empty for those of the terminal."""
        self._colourless = colourless
        self.frame = frame
        """What is to be seen."""
        self._plain = plain
        self._terminal: Painted | None = None
        """What stands on the terminal; None when nobody knows."""
        self._is_clear = True
        """The driver has cleared the terminal, and nothing was written since."""
        self._painted: tuple[Frame, Painted] | None = None
        self._looks: dict[str, Style] = {}

    @property
    def is_changed(self) -> bool:
        """Whether the terminal has yet to be told something."""
        return bool(self.size) and self.paint() != self._terminal

    def paint(self) -> Painted:
        """The frame, laid out for the present size."""
        columns, rows = self.size
        if self._painted is None or self._painted[0] is not self.frame or self._painted[1][:2] != (columns, rows):
            self._painted = (self.frame, paint(self.frame, columns, rows, self._plain))
        return self._painted[1]

    @property
    def caret(self) -> Offset:
        """Where typing shows: emulators with a smaller window than their screen follow the cursor."""
        painted = self.paint()
        for y in range(painted.rows - 1, -1, -1):
            x = 0
            for text, role in painted.lines[y]:
                if role == "caret":
                    return Offset(x, y)
                x += width(text)
        return Offset(0, max(0, painted.rows - 2))

    def wear(self, theme: str) -> None:
        """Other colours from now on; the style sheet of a theme has been read before."""
        self.set_classes(theme)
        self.theme, self._painted = theme, None
        self._looks.clear()
        self.forget()

    def forget(self) -> None:
        """What stands on the terminal is not known any more."""
        self._terminal, self._is_clear = None, False

    def render_changes(self, console: Console) -> str:
        """What to write so that the terminal shows the frame; from then on it does. A theme has a ground of its own,
        which nothing that is erased would have."""
        painted = self.paint()
        if self._is_clear and not self.theme:
            self._terminal = painted._replace(lines=[[] for _ in painted.lines])
        out = []
        for y, x, spans, erase in changes(self._terminal, painted):
            cells = painted.columns - x if erase and self.theme else 0
            ends = ERASE if erase and not self.theme else ""
            out.append(f"\x1b[{y + 1};{x + 1}H{self._strip(spans, cells).render(console)}{ends}")
        self._terminal, self._is_clear = painted, False
        return "".join(out)

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of a region as Textual wants them, for pictures and for terminals in a browser."""
        lines = self.paint().lines
        return [self._strip(lines[y], self.size.width).crop(crop.x, crop.right) for y in crop.line_range]

    def notify_style_update(self) -> None:
        """Colours have changed."""
        self._looks.clear()
        super().notify_style_update()

    def _strip(self, line: Line, cells: int = 0) -> Strip:
        """A line in colours, filled up to `cells`."""
        used = line_width(line)
        segments = [Segment(text, self._look(role)) for text, role in line]
        if used < cells:
            segments.append(Segment(" " * (cells - used), self._look("")))
        return Strip(segments, max(used, cells))

    def _look(self, role: str) -> Style:
        look = self._looks.get(role)
        if look is None:
            look = self._looks[role] = self._look_of(role)
        return look

    def _look_of(self, role: str) -> Style:
        look = _lean(self._styled(role)) if role else Style.null()
        if self.theme:
            own = self.styles
            look = Style(color=own.color.rich_color, bgcolor=own.background.rich_color) + look
        return _without_colours(look) if self._colourless else look

    def _styled(self, role: str) -> Style:
        """What the style sheets say of a role, asked when it is first seen: Textual looks through all component classes
        of a widget at every change of its styles, and a start changes them three times."""
        part = DOMNode(classes=f"board--{role}")
        part._attach(self)
        self.app.stylesheet.apply(part)
        return part.rich_style


def _without_colours(look: Style) -> Style:
    """What colours tell is told by what else there is (NO_COLOR): what has a ground of its own is reversed."""
    return Style(
        bold=look.bold, dim=look.dim, underline=look.underline, reverse=look.reverse or (bool(look.bgcolor) or None)
    )


def _lean(look: Style) -> Style:
    """A look that says nothing about colours that are the terminal's own: each text is written after a reset."""
    colors = [color if color and not color.is_default else None for color in (look.color, look.bgcolor)]
    return Style(
        color=colors[0],
        bgcolor=colors[1],
        bold=look.bold or None,
        dim=look.dim or None,
        underline=look.underline or None,
        reverse=look.reverse or None,
    )
