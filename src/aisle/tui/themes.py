"""Paths of the style sheets."""

from __future__ import annotations

from pathlib import Path

BASE_SHEETS = ("base", "step", "list_window", "detail")
"""Sheets of the lean theme, with the terminal's sixteen colours."""


def style_folder() -> Path:
    """Return the folder of the sheets: `aisle/styles` in a wheel, `styles/` of the project in an editable install."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "styles"
    return inside if inside.is_dir() else package.parent.parent / "styles"


def style_sheets(has_themes: bool = False, theme: str = "") -> list[str]:
    """Return the paths of a theme's style sheets, in order of precedence."""
    names = [*BASE_SHEETS, *(["rich"] if has_themes else []), *([theme] if theme else [])]
    return [style_sheet(name) for name in names]


def style_sheet(name: str) -> str:
    """Return the path of one style sheet."""
    return str(style_folder() / f"{name}.tcss")
