"""Screen of a step: picking, counting, moving, receiving, and every question and form."""

from __future__ import annotations

from aisle.tui.screens.page_screen import PageScreen, style_path
from aisle.tui.widgets.page_widgets import StepBody


class StepScreen(PageScreen):
    """Location, product and quantity of a step, with its commands."""

    BODY = StepBody
    CSS_PATH = style_path("step_screen")
