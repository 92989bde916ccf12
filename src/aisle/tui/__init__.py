"""Textual: draws views, forwards inputs."""

from __future__ import annotations

import os

_UNSET_VARIABLES = (
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR_FORCE",
    "TTY_COMPATIBLE",
    "TTY_INTERACTIVE",
)
"""Variables that make the drawing library measure or colour another terminal than the one it stands on."""


def prepare_environment(has_themes: bool = False) -> None:
    """Set what Textual reads when it is imported; call it before `aisle.tui.app` is.

    Nothing that a shell has exported may pick another driver, open a log or a debugger, type keys, or fix the size of
    the screen. The lean look has sixteen colours on every terminal, also on one that claims more.
    """
    for name in [name for name in os.environ if name.startswith("TEXTUAL") or name in _UNSET_VARIABLES]:
        del os.environ[name]
    os.environ["TEXTUAL_ANIMATIONS"] = "none"
    os.environ["TEXTUAL_DISABLE_KITTY_KEY"] = "1"
    os.environ["TEXTUAL_SMOOTH_SCROLL"] = "0"
    os.environ["TEXTUAL_THEME"] = "textual-dark" if has_themes else "ansi-dark"
    if not has_themes:
        os.environ["TEXTUAL_COLOR_SYSTEM"] = "standard"
