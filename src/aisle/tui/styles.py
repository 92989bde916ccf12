"""Where the style sheets lie."""

from __future__ import annotations

from pathlib import Path

LEAN = ("base", "step", "list_window", "detail")
"""The sheets of the lean look: the terminal's own sixteen colours."""


def folder() -> Path:
    """`aisle/styles` in an installed wheel, `styles/` at the project's top in an editable install."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "styles"
    return inside if inside.is_dir() else package.parent.parent / "styles"


def sheets(rich: bool = False, theme: str = "") -> list[str]:
    """The style sheets of a look, in the order in which they count."""
    names = [*LEAN, *(["rich"] if rich else []), *([theme] if theme else [])]
    return [sheet(name) for name in names]


def sheet(name: str) -> str:
    """The path of one of them."""
    return str(folder() / f"{name}.tcss")
