"""Terminal interface on Textual: draws the frames of a session and passes it the decoded inputs.

It reaches neither the network nor the databases, and only this package imports Textual or Rich. Start reading at `app`
(between driver and session), then `driver` (terminal to inputs), `layout.screen` (frame to lines of text),
`screens` (one for each kind of page) and `widgets`. `message_text` turns message ids into text.
"""

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
"""Environment variables that would make Rich measure or colour another terminal than this one."""


def prepare_environment(is_browser: bool = False) -> None:
    """Set what Textual reads when it is imported. Call this before importing `aisle.tui.app`.

    No exported variable may choose another driver, open a log or debugger, press keys, or fix the size of the screen.
    Themes use true colours or the nearest of 256; without a theme all colours are the terminal's sixteen.
    """
    for name in [name for name in os.environ if name.startswith("TEXTUAL") or name in _UNSET_VARIABLES]:
        del os.environ[name]
    os.environ["TEXTUAL_ANIMATIONS"] = "none"
    has_true_colours = is_browser or os.environ.get("COLORTERM") in ("truecolor", "24bit")
    os.environ["TEXTUAL_COLOR_SYSTEM"] = "truecolor" if has_true_colours else "256"
    os.environ["TEXTUAL_FPS"] = "1000"
