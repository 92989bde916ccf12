"""A picture of a terminal's screen as SVG, with colours, so that a screen can be looked at and not only compared."""

from html import escape
from itertools import groupby
from pathlib import Path
from typing import Protocol

from pyte.screens import Char

CELL_WIDTH, CELL_HEIGHT, BASELINE = 9, 18, 13
INK, PAPER = "#d0d0d0", "#000000"

PALETTE = {
    "black": "#000000", "red": "#cd3131", "green": "#0dbc79", "brown": "#e5e510",
    "blue": "#2472c8", "magenta": "#bc3fbc", "cyan": "#11a8cd", "white": "#e5e5e5",
    "brightblack": "#666666", "brightred": "#f14c4c", "brightgreen": "#23d18b", "brightbrown": "#f5f543",
    "brightblue": "#3b8eea", "brightmagenta": "#d670d6", "bfightmagenta": "#d670d6", "brightcyan": "#29b8db",
    "brightwhite": "#ffffff",
}  # fmt: skip
"""pyte's names of the sixteen colours (one of them is misspelt there)."""


class Glass(Protocol):
    """What can be drawn: a terminal, or a screen that was taken from one."""

    @property
    def cols(self) -> int:
        """How wide it is, in cells."""
        ...

    @property
    def rows(self) -> int:
        """How high it is, in cells."""
        ...

    @property
    def cells(self) -> list[list[Char]]:
        """Row by row, with colours and attributes."""
        ...


def picture(terminal: Glass, path: Path) -> Path:
    """Draws the screen as it stands into an SVG file; answers with its path."""
    width, height = terminal.cols * CELL_WIDTH, terminal.rows * CELL_HEIGHT
    rows = (_row(y, cells) for y, cells in enumerate(terminal.cells))
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'font-family="DejaVu Sans Mono, monospace" font-size="15">\n'
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>\n{"".join(rows)}</svg>\n',
        encoding="utf-8",
    )
    return path


def _row(y: int, cells: list[Char]) -> str:
    """One row: runs of cells that look alike become one box and one text."""
    drawn = []
    for look, run in groupby(enumerate(cells), key=lambda cell: cell[1]._replace(data="")):
        places = list(run)
        text = "".join(cell.data for _x, cell in places)
        drawn.append(_run(places[0][0], y, len(places), text, look))
    return "".join(drawn)


def _run(x: int, y: int, cells: int, text: str, look: Char) -> str:
    ink, paper = _colour(look.fg, INK), _colour(look.bg, PAPER)
    if look.reverse:
        ink, paper = paper, ink
    left, top, width = x * CELL_WIDTH, y * CELL_HEIGHT, cells * CELL_WIDTH
    box = f'<rect x="{left}" y="{top}" width="{width}" height="{CELL_HEIGHT}" fill="{paper}"/>'
    drawn = box if paper != PAPER else ""
    if not text.strip() and not look.underscore:
        return drawn + "\n" if drawn else ""
    lines = " ".join(name for name, on in (("underline", look.underscore), ("line-through", look.strikethrough)) if on)
    style = "".join(
        (
            ' font-weight="bold"' if look.bold else "",
            ' font-style="italic"' if look.italics else "",
            f' text-decoration="{lines}"' if lines else "",
        )
    )
    return (
        f'{drawn}<text x="{left}" y="{top + BASELINE}" fill="{ink}" textLength="{width}" xml:space="preserve"{style}>'
        f"{escape(text)}</text>\n"
    )


def _colour(name: str, default: str) -> str:
    return default if name == "default" else PALETTE.get(name, f"#{name}")
