"""Screens of lists: orders, locations, found products, log entries and all others."""

from __future__ import annotations

from textual.app import ComposeResult

from aisle.tui.layout.page_parts import BodyParts
from aisle.tui.screens.page_screen import PageScreen, style_path
from aisle.tui.screens.side_area import SideArea
from aisle.tui.widgets.lines_widget import LinesWidget
from aisle.tui.widgets.page_widgets import ChipBar, ListTable


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
