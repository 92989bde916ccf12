"""The scanner doctor in a real terminal, with the scanners that people have."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.terminal.picker import Picker
from tests.terminal.shop import Shop

pytestmark = pytest.mark.pty

EAN = b"4006381333931"


def opens(app: Picker) -> None:
    """From the sign-in to the doctor, by its entry in the menu, as far as it can be seen."""
    app.sign_in()
    app.enter(numbered(app, "More"))  # the menu turns over
    app.take(numbered(app, "Scanner", "Test scanner", "Test the scanner"), "scanner_test", "")


def numbered(app: Picker, *names: str) -> str:
    """The number of the first entry of the menu that is called so."""
    shown = app.shows(names[0].lstrip("S"))
    found = (re.search(rf"(\d+) {name}\b", " ".join(shown.split())) for name in names)
    return next(match[1] for match in found if match)


def test_keys_size_and_two_scanners(shop: Shop, picker: Callable[..., Picker]) -> None:
    app = picker(columns=80, rows=24)
    opens(app)
    app.shows("Screen size 80x24", "TERM xterm-256color", "Encoding UTF-8")
    app.terminal.write(b"\x1bOR")
    app.shows("The key f3 arrives here.")
    app.write(EAN + b"\t" + EAN + b"\r", 2)
    app.shows("Two different suffixes, Enter (CR) and TAB")
    app.terminal.resize(100, 30)
    app.shows("Screen size 100x30")
    app.terminal.write(EAN)
    app.shows("No suffix yet")
    app.write(b"\r")
    app.rest()
    app.terminal.write(b"\x7f")
    app.shows("Open orders")
