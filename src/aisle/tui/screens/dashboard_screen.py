"""Screen of a dashboard: the figures of the day at a desk."""

from __future__ import annotations

from textual.app import ComposeResult

from aisle.tui.layout.page_parts import BodyParts
from aisle.tui.screens.page_screen import PageScreen, style_path
from aisle.tui.widgets.page_widgets import PanelBody, TileBar


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
