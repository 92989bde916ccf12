"""Screens of pages: header, body with its commands, verdict, prompt and status; one for each kind of page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import Screen

from aisle.tui.layout.styled_lines_and_page_parts import BodyParts, ScreenParts
from aisle.tui.themes import style_folder
from aisle.tui.widgets.page_widgets import (
    ChartBody,
    ChipBar,
    CommandBar,
    DetailPane,
    HeaderBar,
    LinesWidget,
    ListTable,
    PanelBody,
    PromptLine,
    RecordBody,
    StatusBar,
    StepBody,
    TileBar,
    VerdictBar,
)


def style_path(name: str) -> str:
    """Return the path of a screen's style sheet."""
    return str(style_folder() / f"{name}.tcss")


class PageScreen(Screen[None], inherit_bindings=False):
    """Screen of one kind of page. No key is bound: the driver passes every key to the session, like a scan."""

    BODY: ClassVar[type[LinesWidget]]
    """Widget of the body."""

    def __init__(self) -> None:
        super().__init__()
        self.header_bar = HeaderBar()
        self.body = self.BODY()
        self.command_bar = CommandBar()
        self.verdict_bar = VerdictBar()
        self.prompt_line = PromptLine()
        self.status_bar = StatusBar()

    def compose(self) -> ComposeResult:
        """Yield the widgets from top to bottom."""
        yield self.header_bar
        yield from self.compose_page()
        yield self.verdict_bar
        yield self.prompt_line
        yield self.status_bar

    def compose_page(self) -> ComposeResult:
        """Yield the widgets between header and verdict."""
        yield self.body
        yield self.command_bar

    def show(self, parts: ScreenParts) -> None:
        """Draw the parts of a page of this kind."""
        self.header_bar.show(parts.header)
        self.show_page(parts.page)
        self.verdict_bar.show(parts.verdict)
        self.prompt_line.show(parts.prompt)
        self.status_bar.show(parts.status)

    def show_page(self, page: BodyParts) -> None:
        """Draw what is between header and verdict."""
        self.body.show(page.body)
        self.command_bar.show(page.commands)

    def mark_unpainted(self) -> None:
        """Note that another screen was on the terminal."""
        for widget in self._lines_widgets():
            widget.mark_unpainted()

    def _lines_widgets(self) -> Iterator[LinesWidget]:
        return iter(self.query(LinesWidget))

    @property
    def is_painted(self) -> bool:
        """True if the terminal shows the whole page."""
        return self.is_mounted and all(widget.is_painted for widget in self._lines_widgets())

    def update_pointer_shape(self) -> None:
        """Do nothing: no shape of the pointer has a meaning here."""


class ChartScreen(PageScreen):
    """Chart with its commands."""

    BODY = ChartBody
    CSS_PATH = style_path("chart_screen")


class DashboardScreen(PageScreen):
    """Tiles that open their lists, and charts and tables below them."""

    BODY = PanelBody
    CSS_PATH = style_path("dashboard_screen")

    def __init__(self) -> None:
        super().__init__()
        self.tile_bar = TileBar()

    def compose_page(self) -> ComposeResult:
        """Yield tiles, panels and commands."""
        yield self.tile_bar
        yield from super().compose_page()

    def show_page(self, page: BodyParts) -> None:
        """Draw tiles, panels and commands."""
        super().show_page(page)
        self.tile_bar.show(page.top)


class ListScreen(PageScreen):
    """List on a handheld."""

    BODY = ListTable
    CSS_PATH = style_path("list_screen")


class BoardScreen(PageScreen):
    """List at a desk: filters above it, the details of the row under the cursor beside or below it."""

    BODY = ListTable
    CSS_PATH = style_path("board_screen")

    def __init__(self) -> None:
        super().__init__()
        self.chip_bar = ChipBar()
        self.details_below = LinesWidget()
        self.area = SideArea(self.body, self.details_below, self.command_bar)

    def compose_page(self) -> ComposeResult:
        """Yield filters, and the list with its details and commands."""
        yield self.chip_bar
        yield self.area

    def show_page(self, page: BodyParts) -> None:
        """Draw filters, list, details and commands."""
        super().show_page(page)
        self.chip_bar.show(page.top)
        self.details_below.show(page.below)
        self.area.show_side(page)


class RecordScreen(PageScreen):
    """Record with its figures and tables."""

    BODY = RecordBody
    CSS_PATH = style_path("record_screen")


class RecordWithSideScreen(PageScreen):
    """Record at a desk, with a chart and further tables beside it."""

    BODY = RecordBody
    CSS_PATH = style_path("record_with_side_screen")

    def __init__(self) -> None:
        super().__init__()
        self.area = SideArea(self.body, self.command_bar)

    def compose_page(self) -> ComposeResult:
        """Yield the record with its pane."""
        yield self.area

    def show_page(self, page: BodyParts) -> None:
        """Draw record, pane and commands."""
        super().show_page(page)
        self.area.show_side(page)


class SideArea(Horizontal):
    """Widgets below each other, and at their right a pane of the same height, if the page has one."""

    def __init__(self, *widgets: LinesWidget) -> None:
        """Store the widgets of the left."""
        self.left = Vertical(*widgets)
        self.pane = DetailPane()
        super().__init__(self.left, self.pane)

    def show_side(self, page: BodyParts) -> None:
        """Draw the pane, and leave it the cells at the right."""
        self.left.styles.width = page.main_cells or "100%"
        self.styles.height = len(page.body) + len(page.below) + len(page.commands)
        self.pane.show(page.side)


class StepScreen(PageScreen):
    """Location, product and quantity of a step, with its commands."""

    BODY = StepBody
    CSS_PATH = style_path("step_screen")
