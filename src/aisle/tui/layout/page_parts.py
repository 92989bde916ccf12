"""Parts of a page: the lines that each widget of a screen draws, and the joined lines of the whole page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from aisle.tui.layout.styled_lines import StyledLine, line_width, side_by_side

STEP, LIST, BOARD, RECORD, RECORD_WITH_SIDE, CHART, DASHBOARD = (
    "step", "list", "board", "record", "record_with_side", "chart", "dashboard"
)  # fmt: skip
"""Kinds of pages, each with a screen of its own (`tui/screens`)."""


class BodyParts(NamedTuple):
    """Lines between header and verdict. Together they fill the rows of the body."""

    kind: str
    body: Sequence[StyledLine]
    """Step, rows of a list, record or chart."""
    commands: Sequence[StyledLine] = ()
    top: Sequence[StyledLine] = ()
    """Filters of a list, or tiles of a dashboard, above the body."""
    below: Sequence[StyledLine] = ()
    """Details of a row, between the rows and the commands."""
    side: Sequence[StyledLine] = ()
    """Details of a row or of a record, or commands, beside the body."""
    main_cells: int = 0
    """Width of what stands left of `side`."""

    @property
    def lines(self) -> list[StyledLine]:
        """Lines of the whole body."""
        main = [*self.body, *self.below, *self.commands]
        return [*self.top, *(side_by_side(main, self.side, self.main_cells, []) if self.side else main)]


class ScreenParts(NamedTuple):
    """Lines of all widgets of a screen, which they fill."""

    header: Sequence[StyledLine]
    page: BodyParts
    verdict: Sequence[StyledLine]
    prompt: Sequence[StyledLine]
    status: Sequence[StyledLine]

    @property
    def lines(self) -> list[StyledLine]:
        """Lines of the whole screen."""
        return [*self.header, *self.page.lines, *self.verdict, *self.prompt, *self.status]

    @property
    def caret(self) -> tuple[int, int]:
        """Column and row of the caret: emulators with a window smaller than the screen follow the cursor."""
        above = len(self.lines) - len(self.prompt) - len(self.status)
        for y, line in enumerate(self.prompt):
            at = next((at for at, (_, role) in enumerate(line) if role == "caret"), None)
            if at is not None:
                return line_width(line[:at]), above + y
        return 0, max(0, len(self.lines) - 2)


def map_lines(page: BodyParts, change: Callable[[StyledLine], StyledLine]) -> BodyParts:
    """Return the parts of a body with each line changed, but for those of the side."""
    body, commands, top, below = (
        [change(line) for line in part] for part in (page.body, page.commands, page.top, page.below)
    )
    return page._replace(body=body, commands=commands, top=top, below=below)
