"""Styles of the roles of text, and colour themes: values of the variables that these styles and the sheet use."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from textual.theme import Theme


def style_folder() -> Path:
    """Return the folder of the sheets: `aisle/styles` in a wheel, `styles/` of the project in an editable install."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "styles"
    return inside if inside.is_dir() else package.parent.parent / "styles"


ROLE_STYLES: Final = {
    **dict.fromkeys(("title", "prompt", "typed", "product", "quantity", "cell", "row"), "bold"),
    **dict.fromkeys(("user", "label", "head", "hint", "stop-label", "mark"), "$quiet $quiet-style"),
    **dict.fromkeys(("link-dim", "tone-quiet", "chip-empty"), "$quiet $quiet-style"),
    **dict.fromkeys(("note", "value", "cell-dim", "stop-location", "stop-quantity", "row-dim", "choice"), ""),
    **dict.fromkeys(("tab", "chip"), ""),
    **dict.fromkeys(("location", "tote", "choice-key", "hint-key", "row-key", "head-on"), "$accent bold"),
    **dict.fromkeys(("bar", "block"), "$accent"),
    **dict.fromkeys(("cursor", "caret", "mark-here"), "$cursor-text on $cursor-ground $cursor-style"),
    **dict.fromkeys(("place-bar", "tab-on", "chip-on"), "$place-text on $place-ground $place-style"),
    "quantity-bar": "$quantity-text on $quantity-ground $quantity-style",
    "rule": "$rule $rule-style",
    **dict.fromkeys(("verdict-good", "look-good"), "$good-text on $good-ground $verdict-style"),
    **dict.fromkeys(("verdict-wrong", "look-wrong"), "$wrong-text on $wrong-ground $verdict-style"),
    **dict.fromkeys(("verdict-info", "look-info"), "$info-text on $info-ground $info-style"),
    **dict.fromkeys(("verdict-ask", "look-ask"), "$ask-text on $ask-ground $verdict-style"),
    "tone-late": "$failed bold",
    "tone-warning": "$offline bold",
    "tone-ready": "$live",
    "link-live": "$live",
    "link-syncing": "$syncing",
    "link-offline": "$offline bold",
    "link-none": "bold",
    **dict.fromkeys(("link-refused", "link-doubtful"), "$failed bold"),
}
"""Style of each role of styled lines, in the words of Textual's `Style.parse`; `$name` is a variable of the theme.

A role is no component class, because a sheet with a rule for each takes a sixth of the start.
"""

_TERMINAL: Final = {
    "ground": "ansi_default",
    "text": "ansi_default",
    "quiet": "ansi_default",
    "quiet-style": "dim",
    "rule": "ansi_default",
    "rule-style": "dim",
    "accent": "ansi_cyan",
    "cursor-text": "ansi_default",
    "cursor-ground": "ansi_default",
    "cursor-style": "reverse",
    "place-text": "ansi_default",
    "place-ground": "ansi_default",
    "place-style": "bold reverse",
    "quantity-text": "ansi_black",
    "quantity-ground": "ansi_cyan",
    "quantity-style": "bold",
    "good-text": "ansi_black",
    "good-ground": "ansi_green",
    "wrong-text": "ansi_bright_white",
    "wrong-ground": "ansi_red",
    "info-text": "ansi_bright_white",
    "info-ground": "ansi_blue",
    "ask-text": "ansi_black",
    "ask-ground": "ansi_yellow",
    "verdict-style": "bold",
    "info-style": "",
    "live": "ansi_green",
    "syncing": "ansi_cyan",
    "offline": "ansi_yellow",
    "failed": "ansi_red",
}
"""The terminal's sixteen colours: one accent, and colours of the verdicts and the link."""

_COLOURLESS: Final = {
    **{name: "ansi_default" if value.startswith("ansi") else value for name, value in _TERMINAL.items()},
    "verdict-style": "bold reverse",
    "quantity-style": "bold reverse",
    "info-style": "reverse",
}
"""No colours (`NO_COLOR`, read by `cli/open_app`): verdicts are reversed."""

_SOFT_VERDICTS: Final = {
    "good-text": "#ffffff",
    "good-ground": "#1f7a46",
    "wrong-text": "#ffffff",
    "wrong-ground": "#b3261e",
    "info-text": "#ffffff",
    "info-ground": "#2f5d9b",
    "ask-text": "#14181d",
    "ask-ground": "#d9a521",
    "cursor-text": "#ffffff",
    "cursor-ground": "#2f5d9b",
}

_RICH: Final = {
    **_TERMINAL,
    **_SOFT_VERDICTS,
    "quiet": "#9aa2ad",
    "quiet-style": "",
    "rule": "#4a4f57",
    "rule-style": "",
    "accent": "#5fd7d7",
    "cursor-style": "",
    "live": "#57c785",
}
"""Softer colours on the terminal's own ground, for a desktop terminal."""

_FULL: Final = {
    "place-style": "bold",
    "quantity-style": "bold",
    "quiet-style": "",
    "rule-style": "",
    "cursor-style": "bold",
    "verdict-style": "bold",
    "info-style": "bold",
}
"""Styles of the themes with their own ground. Nothing is dim, because the contrast of dim text is unknown."""

_DARK: Final = {
    **_FULL,
    **_SOFT_VERDICTS,
    "ground": "#14181d",
    "text": "#e6edf3",
    "quiet": "#9aa7b4",
    "rule": "#9aa7b4",
    "place-text": "#14181d",
    "place-ground": "#e6edf3",
    "quantity-text": "#14181d",
    "quantity-ground": "#58c7f3",
    "accent": "#58c7f3",
    "cursor-ground": "#264b63",
    "live": "#7ee787",
    "syncing": "#58c7f3",
    "offline": "#ffb454",
    "failed": "#ff7b72",
}

_LIGHT: Final = {
    **_FULL,
    "ground": "#ffffff",
    "text": "#1a1a1a",
    "quiet": "#4f5660",
    "rule": "#4f5660",
    "place-text": "#ffffff",
    "place-ground": "#1a1a1a",
    "quantity-text": "#ffffff",
    "quantity-ground": "#00637a",
    "accent": "#00637a",
    "cursor-text": "#ffffff",
    "cursor-ground": "#1f4e8c",
    "good-text": "#ffffff",
    "good-ground": "#15693a",
    "wrong-text": "#ffffff",
    "wrong-ground": "#b3261e",
    "info-text": "#ffffff",
    "info-ground": "#1f4e8c",
    "ask-text": "#1a1a1a",
    "ask-ground": "#f2c94c",
    "live": "#15693a",
    "syncing": "#00637a",
    "offline": "#8a4b00",
    "failed": "#b3261e",
}

_CONTRAST: Final = {
    **_FULL,
    "ground": "#000000",
    "text": "#ffffff",
    "quiet": "#ffffff",
    "rule": "#ffffff",
    "place-text": "#000000",
    "place-ground": "#ffffff",
    "quantity-text": "#000000",
    "quantity-ground": "#ffff00",
    "accent": "#ffff00",
    "cursor-text": "#000000",
    "cursor-ground": "#ffff00",
    "good-text": "#000000",
    "good-ground": "#00ff66",
    "wrong-text": "#8b0000",
    "wrong-ground": "#ffffff",
    "info-text": "#00008b",
    "info-ground": "#ffffff",
    "ask-text": "#000000",
    "ask-ground": "#ffff00",
    "live": "#00ff66",
    "syncing": "#00ffff",
    "offline": "#ffff00",
    "failed": "#ffb0b0",
}

_VARIABLES: Final = {
    "terminal": _TERMINAL,
    "colourless": _COLOURLESS,
    "rich": _RICH,
    "dark": _DARK,
    "light": _LIGHT,
    "contrast": _CONTRAST,
}


def themes() -> list[Theme]:
    """Return all themes. Their names are those of the setting `theme`, and `terminal`, `colourless` and `rich`."""
    return [
        Theme(name, primary="#2f5d9b", dark=name != "light", variables=variables)
        for name, variables in _VARIABLES.items()
    ]


def theme_in_force(setting: str, without_setting: str, *, is_colourless: bool) -> str:
    """Return the name of the theme for a frame's setting: none without colours, else the set one, else another."""
    return "colourless" if is_colourless else setting or without_setting


def default_theme(*, has_soft_colours: bool, is_browser: bool) -> str:
    """Return the theme without a setting: a browser has no colours of its own, and `--rich` has softer ones."""
    return "dark" if is_browser else "rich" if has_soft_colours else "terminal"
