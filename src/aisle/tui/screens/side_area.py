"""Area of a desk's page in which a pane stands beside other widgets."""

from __future__ import annotations

from textual.containers import Horizontal, Vertical

from aisle.tui.layout.page_parts import BodyParts
from aisle.tui.widgets.lines_widget import LinesWidget
from aisle.tui.widgets.page_widgets import DetailPane


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
