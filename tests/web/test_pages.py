"""Colours of the browser's page: everybody can read them, whichever the app draws with."""

from __future__ import annotations

import re

from rich.color import Color

from aisle.web import pages
from tests.tui.test_themes import contrast

LEAST = 4.5
"""WCAG 2, AA: the contrast of text to its ground."""
NOT_TEXT = {"background", "cursor", "selectionBackground", "black"}


def ratio(ink: str, ground: str) -> float:
    return contrast(Color.parse(ink), Color.parse(ground))


def test_the_sixteen_colours_of_the_terminal_can_be_read_on_its_ground() -> None:
    script = (pages.STATIC / "screen.js").read_text("utf-8")
    palette = dict(re.findall(r'(\w+): "(#[0-9a-f]{6})"', script))
    assert len(palette) == 20
    for name, colour in palette.items():
        if name not in NOT_TEXT:
            assert ratio(colour, palette["background"]) >= LEAST, name
    assert ratio(palette["foreground"], palette["selectionBackground"]) >= LEAST
    assert "minimumContrastRatio: 4.5" in script
    assert "drawBoldTextInBrightColors: false" in script


def test_what_stands_around_the_terminal_can_be_read() -> None:
    sheet = (pages.STATIC / "screen.css").read_text("utf-8")
    grounds = {"#find output": "#1c2229"}
    found = 0
    for selector, rule in re.findall(r"(?m)^([^{}@]+) \{([^}]*)\}", sheet):
        colours = dict(re.findall(r"(?<![\w-])(color|background): (#[0-9a-f]{6})", rule))
        if "color" in colours:
            found += 1
            assert ratio(colours["color"], colours.get("background", grounds.get(selector, ""))) >= LEAST, selector
    assert found == 5
