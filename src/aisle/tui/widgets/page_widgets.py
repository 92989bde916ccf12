"""Widgets of a page, from top to bottom. The layout makes their lines, the style sheets place them."""

from __future__ import annotations

from aisle.tui.widgets.lines_widget import LinesWidget


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
