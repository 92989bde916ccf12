"""Screens of records: a product with its stock here and in stores nearby, an order, a location, a delivery."""

from __future__ import annotations

from textual.app import ComposeResult

from aisle.tui.layout.page_parts import BodyParts
from aisle.tui.screens.page_screen import PageScreen, style_path
from aisle.tui.screens.side_area import SideArea
from aisle.tui.widgets.page_widgets import RecordBody


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
