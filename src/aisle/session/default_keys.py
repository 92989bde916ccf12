"""Default keys of a terminal, unless its settings name others. Pages add letters and numbers of their own."""

from __future__ import annotations

from typing import Final

from aisle.scan.grammar_and_meaning_types import Back, Command, Meaning
from aisle.scan.inputs import FIRST_TAB_KEY, MARK_KEYS, PALETTE_KEY, SCROLL_KEYS

MEANING_BY_KEY: Final[dict[str, Meaning]] = {
    "back": Back(),
    "f1": Command("h"),
    "f2": Command("n"),
    "f3": Back(),
    "f4": Command("u"),
    "f5": Command("."),
    PALETTE_KEY: Command("."),
}
"""Meanings of keys on every page."""

PAGE_BY_LETTER: Final = {"h": "help", ".": "palette"}
"""Jobs that explain the page below them, by the letters that open them on every page."""

TAB_NAMES: Final = ("today", "orders", "exceptions", "deliveries", "products", "log")
"""Jobs that the tabs of a desk open, in their order."""

TAB_BY_KEY: Final = {f"f{number}": name for number, name in enumerate(TAB_NAMES, FIRST_TAB_KEY)}
"""Tab of each function key of a desk, `f6` to `f11`."""

TAB_STEP_BY_KEY: Final = {"ctrl+right": 1, "ctrl+left": -1}
"""Steps to another tab of a desk."""

CURSOR_KEYS: Final = frozenset({"up", "down", "pageup", "pagedown", "home", "end", "enter", *MARK_KEYS, *SCROLL_KEYS})
"""Keys that the page gets: in a list they move the cursor, open its row or mark it."""

DESK_CURSOR_KEYS: Final = frozenset({"left", "right"})
"""Keys that the page gets at a desk only, where it has something beside another."""
