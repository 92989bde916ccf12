"""Sizes of screens: from which one is a desk and no handheld, has margins, and has a pane beside a list."""

from __future__ import annotations

MIN_DESK_COLUMNS, MIN_DESK_ROWS = 100, 30
"""Size of a screen from which it is a desk, with tabs and a mouse."""


def is_desk_size(columns: int, rows: int) -> bool:
    """Return True if a screen of this size is a desk, not a handheld."""
    return columns >= MIN_DESK_COLUMNS and rows >= MIN_DESK_ROWS


MIN_MARGIN_COLUMNS, MARGIN_CELLS = 60, 2
"""Columns of a screen from which its text has margins, and the cells of both margins."""


MIN_SIDE_COMMAND_COLUMNS = 140
"""Columns of a screen from which the commands stand beside a list."""


MIN_PANE_COLUMNS = 140
"""Columns of a screen from which the details of a row stand beside its list."""


PANE_ROWS = 14
"""Rows of the details of a row where they stand below its list."""
