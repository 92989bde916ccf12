"""Screen of charts: sales, counts and picks by hour, and the map of a store."""

from __future__ import annotations

from aisle.tui.screens.page_screen import PageScreen, style_path
from aisle.tui.widgets.page_widgets import ChartBody


class ChartScreen(PageScreen):
    """Chart with its commands."""

    BODY = ChartBody
    CSS_PATH = style_path("chart_screen")
