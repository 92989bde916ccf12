"""Where the style sheets lie."""

from __future__ import annotations

from pathlib import Path

BASE_SHEETS = ("base", "step", "list_window", "detail")
"""The sheets of the lean look: the terminal's own sixteen colours."""


def style_folder() -> Path:
    """`aisle/styles` in an installed wheel, `styles/` at the project's top in an editable install."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "styles"
    return inside if inside.is_dir() else package.parent.parent / "styles"


def style_sheets(has_themes: bool = False, theme: str = "") -> list[str]:
    """The style sheets of a look, in the order in which they count."""
    names = [*BASE_SHEETS, *(["rich"] if has_themes else []), *([theme] if theme else [])]
    return [style_sheet(name) for name in names]


def style_sheet(name: str) -> str:
    """The path of one of them."""
    return str(style_folder() / f"{name}.tcss")
