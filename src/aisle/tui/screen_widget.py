"""Widget of the whole screen, and the difference between two screens in as few cells as worthwhile."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.dom import DOMNode
from textual.geometry import Offset
from textual.strip import Strip
from textual.widget import Widget

from aisle.jobs.view import Frame
from aisle.safe_text import cell_width, width
from aisle.tui.layout.screen import layout_screen
from aisle.tui.layout.styled_lines import StyledLine, StyledScreen, line_width

if TYPE_CHECKING:
    from rich.console import Console
    from textual.geometry import Region


MAX_BRIDGED_CELLS = 12
"""Number of unchanged cells up to which writing them again is cheaper than moving the cursor."""

WHOLE_S = 30.0
"""Seconds after which a change writes the whole screen: a message of the system to all terminals may have moved it."""

_SINGLE_WIDTH_RANGES = (
    (0x20, 0x2FF),
    (0x370, 0x482),
    (0x2010, 0x2044),
    (0x20A0, 0x20BF),
    (0x2190, 0x2193),
    (0x2500, 0x25FF),
)
"""Character ranges on whose width all terminals agree."""

Cell = tuple[str, str]

BLANK = (" ", "")


class ScreenChange(NamedTuple):
    """Spans to write at column `x` of row `y`."""

    y: int
    x: int
    spans: StyledLine
    erase: bool
    """True if the rest of the row is erased after them."""


def find_changes(old: StyledScreen | None, new: StyledScreen) -> list[ScreenChange]:
    """Return what turns one screen into the other; the whole screen if the old one has another size or is unknown."""
    if old is None or (old.columns, old.rows) != (new.columns, new.rows):
        return [_whole_row(y, line, new.columns) for y, line in enumerate(new.lines)]
    found: list[ScreenChange] = []
    for y, (was, is_) in enumerate(zip(old.lines, new.lines, strict=True)):
        if was != is_:
            found.extend(_row_changes(y, was, is_, new.columns))
    return found


def _whole_row(y: int, line: StyledLine, columns: int) -> ScreenChange:
    """Return a change of the whole row. A full row is not erased, because that would remove its last character."""
    return ScreenChange(y, 0, line, line_width(line) < columns)


def _row_changes(y: int, old: StyledLine, new: StyledLine, columns: int) -> list[ScreenChange]:
    if not (_is_single_width(old) and _is_single_width(new)):
        return [_whole_row(y, new, columns)]
    was, is_ = _cells(old), _cells(new)
    end = len(is_)
    while end and is_[end - 1] == BLANK:
        end -= 1
    old_end = len(was)
    while old_end and was[old_end - 1] == BLANK:
        old_end -= 1
    width = max(end, old_end)
    was += [BLANK] * (width - len(was))
    is_ += [BLANK] * (width - len(is_))
    found = [ScreenChange(y, first, _spans(is_[first:last]), False) for first, last in _changed_runs(was, is_, end)]
    if old_end > end:
        found = _with_erase(found, y, end)
    return found


def _changed_runs(old: list[Cell], new: list[Cell], end: int) -> list[tuple[int, int]]:
    """Return ranges of different cells, up to `end`; close ranges are joined."""
    runs: list[tuple[int, int]] = []
    for x in range(end):
        if old[x] == new[x]:
            continue
        if runs and x - runs[-1][1] < MAX_BRIDGED_CELLS:
            runs[-1] = (runs[-1][0], x + 1)
        else:
            runs.append((x, x + 1))
    return runs


def _with_erase(found: list[ScreenChange], y: int, end: int) -> list[ScreenChange]:
    """Add the erasure of the rest of the row to the last change if that ends there, otherwise as its own change."""
    if found:
        last = found[-1]
        if last.x + sum(len(text) for text, _ in last.spans) == end:
            return [*found[:-1], last._replace(erase=True)]
    return [*found, ScreenChange(y, end, [], True)]


def _is_single_width(line: StyledLine) -> bool:
    """Return True if every character is certainly one cell wide, so that columns can be compared."""
    return all(
        text.isascii()
        or all(
            any(first <= ord(char) <= last for first, last in _SINGLE_WIDTH_RANGES) and cell_width(char)
            for char in text
        )
        for text, _ in line
    )


def _cells(line: StyledLine) -> list[Cell]:
    return [(char, "" if char == " " and not _shows_blank(role) else role) for text, role in line for char in text]


def _shows_blank(role: str) -> bool:
    """Return True if a blank of this role looks different from an empty cell."""
    return role in ("caret", "cursor") or role.startswith("verdict-")


def _spans(cells: list[Cell]) -> StyledLine:
    spans: StyledLine = []
    for char, role in cells:
        last = spans[-1][1] if spans else None
        if last == role or (char == " " and not role and last is not None and not _shows_blank(last)):
            spans[-1] = (spans[-1][0] + char, spans[-1][1])
        else:
            spans.append((char, role))
    return spans


ERASE = "\x1b[K"


class ScreenWidget(Widget):
    """Widget that draws the frame on the whole screen."""

    def __init__(self, frame: Frame, is_ascii: bool, is_colourless: bool = False) -> None:
        super().__init__(classes=frame.theme or None)
        self.theme = frame.theme
        """Name of its theme; empty for the terminal's colours."""
        self._is_colourless = is_colourless
        self.frame = frame
        """Frame to show."""
        self._is_ascii = is_ascii
        self._on_terminal: StyledScreen | None = None
        """Screen on the terminal; None if unknown."""
        self._is_clear = True
        """True if the driver has cleared the terminal and nothing was written since."""
        self._whole_at = -WHOLE_S
        """Monotonic moment at which the whole screen was written."""
        self._last_painted: tuple[Frame, StyledScreen] | None = None
        self._styles: dict[str, Style] = {}

    @property
    def is_changed(self) -> bool:
        """True if the terminal does not show the frame yet."""
        return bool(self.size) and self.current_screen() != self._on_terminal

    def current_screen(self) -> StyledScreen:
        """Return the frame, laid out for the present size."""
        columns, rows = self.size
        if (
            self._last_painted is None
            or self._last_painted[0] is not self.frame
            or self._last_painted[1][:2] != (columns, rows)
        ):
            self._last_painted = (self.frame, layout_screen(self.frame, columns, rows, self._is_ascii))
        return self._last_painted[1]

    @property
    def caret(self) -> Offset:
        """Position of the caret: emulators with a window smaller than the screen follow the cursor."""
        painted = self.current_screen()
        for y in range(painted.rows - 1, -1, -1):
            x = 0
            for text, role in painted.lines[y]:
                if role == "caret":
                    return Offset(x, y)
                x += width(text)
        return Offset(0, max(0, painted.rows - 2))

    def set_theme(self, theme: str) -> None:
        """Switch the theme; its style sheet has been read before."""
        self.set_classes(theme)
        self.theme, self._last_painted = theme, None
        self._styles.clear()
        self.forget_terminal()

    def forget_terminal(self) -> None:
        """Forget what is on the terminal."""
        self._on_terminal, self._is_clear = None, False

    def render_changes(self, console: Console) -> str:
        """Return the text that makes the terminal show the frame, and record that it does.

        A theme has its own background, so cells are written instead of erased.
        """
        painted = self.current_screen()
        now = monotonic()
        if now - self._whole_at >= WHOLE_S:
            self._on_terminal = None
        if self._on_terminal is None:
            self._whole_at = now
        if self._is_clear and not self.theme:
            self._on_terminal = painted._replace(lines=[[] for _ in painted.lines])
        out = []
        for y, x, spans, erase in find_changes(self._on_terminal, painted):
            cells = painted.columns - x if erase and self.theme else 0
            ends = ERASE if erase and not self.theme else ""
            out.append(f"\x1b[{y + 1};{x + 1}H{self._strip(spans, cells).render(console)}{ends}")
        self._on_terminal, self._is_clear = painted, False
        return "".join(out)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines of a region as Textual wants them, for screenshots and terminals in a browser."""
        lines = self.current_screen().lines
        return [self._strip(lines[y], self.size.width).crop(crop.x, crop.right) for y in crop.line_range]

    def notify_style_update(self) -> None:
        """Forget cached styles after a change of colours."""
        self._styles.clear()
        super().notify_style_update()

    def _strip(self, line: StyledLine, cells: int = 0) -> Strip:
        """Return a line with colours, filled up to `cells`."""
        used = line_width(line)
        segments = [Segment(text, self._style(role)) for text, role in line]
        if used < cells:
            segments.append(Segment(" " * (cells - used), self._style("")))
        return Strip(segments, max(used, cells))

    def _style(self, role: str) -> Style:
        look = self._styles.get(role)
        if look is None:
            look = self._styles[role] = self._build_style(role)
        return look

    def _build_style(self, role: str) -> Style:
        look = _drop_default_colours(self._stylesheet_style(role)) if role else Style.null()
        if self.theme:
            own = self.styles
            look = Style(color=own.color.rich_color, bgcolor=own.background.rich_color) + look
        return _without_colours(look) if self._is_colourless else look

    def _stylesheet_style(self, role: str) -> Style:
        """Return the style of a role from the style sheets, on first use.

        Textual would look through all component classes at every change of styles, and a start changes them three
        times.
        """
        part = DOMNode(classes=f"screen--{role}")
        part._attach(self)
        self.app.stylesheet.apply(part)
        return part.rich_style


def _without_colours(style: Style) -> Style:
    """Return the style without colours (NO_COLOR): a background becomes reverse video."""
    return Style(
        bold=style.bold,
        dim=style.dim,
        underline=style.underline,
        reverse=style.reverse or (bool(style.bgcolor) or None),
    )


def _drop_default_colours(style: Style) -> Style:
    """Return the style without the terminal's default colours, because each text is written after a reset."""
    colors = [color if color and not color.is_default else None for color in (style.color, style.bgcolor)]
    return Style(
        color=colors[0],
        bgcolor=colors[1],
        bold=style.bold or None,
        dim=style.dim or None,
        underline=style.underline or None,
        reverse=style.reverse or None,
    )
