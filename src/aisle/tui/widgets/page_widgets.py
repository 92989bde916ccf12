"""Widgets of a page: each draws styled lines and repaints only those that change. Style sheets place them."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.style import Style as TextualStyle
from textual.widget import Widget

from aisle.tui.layout.styled_lines_and_page_parts import StyledLine, base_role, line_width
from aisle.tui.mouse import ClickTarget, click_target
from aisle.tui.themes import ROLE_STYLES


class LinesWidget(Widget):
    """Widget that draws lines of text with roles, and repaints only lines that change. It is as high as its lines.

    Its style sheet sets `ground` and `text`; the roles of its text have the styles of `themes.ROLE_STYLES`.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[StyledLine] = []
        self._unpainted: set[int] = set()
        """Indices of the lines that changed since they were painted."""
        self._role_styles: dict[str, Style] = {}
        self._strips: dict[int, Strip] = {}
        """Drawn lines by their index."""
        self.display = False

    @property
    def is_painted(self) -> bool:
        """True if the terminal shows the present lines."""
        return not self._unpainted

    def show(self, lines: Sequence[StyledLine]) -> None:
        """Draw these lines."""
        old, self._lines = self._lines, list(lines)
        if len(old) != len(lines):
            self.styles.height = len(lines)
            self.display = bool(lines)
            self._forget_strips()
            return
        changed = [y for y, (was, line) in enumerate(zip(old, lines, strict=True)) if was != line]
        self._unpainted.update(changed)
        if changed:
            columns = self.size.width
            for y in changed:
                self._strips.pop(y, None)
            self.refresh(*(_changed_region(old[y], lines[y], y, columns) for y in changed))

    def mark_unpainted(self) -> None:
        """Note that the terminal does not show the lines, because another screen was on it."""
        self._unpainted = set(range(len(self._lines)))

    def click_target(self, x: int, y: int) -> ClickTarget | None:
        """Return what a click on a cell stands for. The second line of a row of details belongs to its first."""
        if y >= len(self._lines):  # the page has changed, and its new layout is still to come
            return None
        target, above = click_target(self._lines[y], x), y
        while target is None and above > 0 and any(role == "row-dim" for _, role in self._lines[above]):
            above -= 1
            target = click_target(self._lines[above], x)
        return target

    def on_resize(self) -> None:
        """Draw the lines again for the new width."""
        self._forget_strips()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines of a region, without Textual's cache for borders and padding: there are none."""
        self._unpainted.difference_update(crop.line_range)
        return [(self._strips.get(y) or self.render_line(y)).crop(crop.x, crop.right) for y in crop.line_range]

    def render_line(self, y: int) -> Strip:
        """Return a line with its colours, as wide as the widget."""
        line = self._lines[y] if y < len(self._lines) else []
        columns = self.size.width
        segments = [Segment(text, self.role_style(role)) for text, role in line]
        cells = line_width(line)
        if cells < columns:
            segments.append(Segment(" " * (columns - cells), self.role_style("")))
        strip = self._strips[y] = Strip(segments, max(cells, columns))
        return strip

    def _forget_strips(self) -> None:
        self._strips.clear()
        self.mark_unpainted()

    def role_style(self, role: str) -> Style:
        """Return the style of a role; that of plain text for an empty one."""
        style = self._role_styles.get(role)
        if style is None:
            own = _drop_default_colours(self.rich_style)
            if role:
                own += _drop_default_colours(TextualStyle.parse(ROLE_STYLES[base_role(role)]).rich_style)
            style = self._role_styles[role] = own
        return style

    def notify_style_update(self) -> None:
        """Forget the styles after a change of colours."""
        self._role_styles.clear()
        self._forget_strips()
        super().notify_style_update()
        self.refresh()


def _changed_region(old: StyledLine, new: StyledLine, y: int, columns: int) -> Region:
    """Return the cells of a line from its first changed span on: beside an unchanged list, those of its pane."""
    same = next((at for at, (was, span) in enumerate(zip(old, new, strict=False)) if was != span), 0)
    x = min(line_width(new[:same]), columns - 1)
    return Region(x, y, columns - x, 1)


def _drop_default_colours(style: Style) -> Style:
    """Return the style without the terminal's default colours, because each text is written after a reset."""
    colours = [colour if colour and not colour.is_default else None for colour in (style.color, style.bgcolor)]
    return Style(
        color=colours[0],
        bgcolor=colours[1],
        bold=style.bold or None,
        dim=style.dim or None,
        reverse=style.reverse or None,
    )


class HeaderBar(LinesWidget):
    """Location or title with the progress; at a desk the tabs."""


class ChipBar(LinesWidget):
    """Filters of a list with their counts, and the sums of its rows."""


class TileBar(LinesWidget):
    """Tiles of a dashboard, each with its number and total."""


class StepBody(LinesWidget):
    """Product, quantity, notes and next stops of a step."""


class ListTable(LinesWidget):
    """Rows of a list with their headings and the cursor."""


class RecordBody(LinesWidget):
    """Name, figures and tables of a record."""


class ChartBody(LinesWidget):
    """Bars of a chart, or the map of a store."""


class PanelBody(LinesWidget):
    """Charts and tables of a dashboard."""


class DetailPane(LinesWidget):
    """Details of the row under the cursor, or of a record; at a wide list without them the commands."""


class CommandBar(LinesWidget):
    """Choices and commands with their keys."""


class VerdictBar(LinesWidget):
    """Answer to the last input."""


class PromptLine(LinesWidget):
    """What is asked, and what is typed."""


class StatusBar(LinesWidget):
    """Link to the service, age of the data, and what waits to be sent."""
