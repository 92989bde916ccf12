"""Translation of clicks and the wheel into the inputs that a person would type."""

from __future__ import annotations

import re
from typing import Any, Final

from textual.errors import NoWidget
from textual.screen import Screen

from aisle.jobs.view import Frame, ListView, View
from aisle.scan.inputs import CHIP_KEY, ROW_KEY, SORT_KEY, TAB_KEY, DecodedInput, Key, typed_line
from aisle.tui.mouse import DOUBLE_CLICK_S, PALETTE_LABEL, ClickTarget, MouseInput
from aisle.tui.widgets.lines_widget import LinesWidget

_KEY_LABEL: Final = re.compile(rf"F\d{{1,2}}|{re.escape(PALETTE_LABEL)}")
"""Labels of keys that are pressed, not typed."""

_WHEEL_KEYS: Final = {"wheel_up": ("scrollup", "pageup"), "wheel_down": ("scrolldown", "pagedown")}
"""Keys of the wheel: in a list, and on another page."""


class ClickTranslator:
    """Translates mouse inputs. A click on a row selects it, a double click opens it; a click on a key types it."""

    def __init__(self) -> None:
        self._last: tuple[MouseInput, float] | None = None
        """Last click and its time."""

    def inputs(self, mouse: MouseInput, screen: Screen[Any], frame: Frame, at: float) -> list[DecodedInput]:
        """Return the inputs that a mouse input stands for, none while text is typed or where nothing can be clicked."""
        if mouse.action in _WHEEL_KEYS:
            return [Key(_WHEEL_KEYS[mouse.action][not isinstance(frame.view, ListView)])]
        is_double = self._last is not None and self._last[0] == mouse and at - self._last[1] <= DOUBLE_CLICK_S
        self._last = None if is_double else (mouse, at)
        is_typing = bool(frame.typed) and frame.view.name != "palette"  # its words list the rows to choose from
        target = None if is_typing else _target(mouse, screen)
        if target is None:
            return []
        if target.kind == "chip":
            return [] if is_double else [Key(f"{CHIP_KEY}{target.key}")]
        if target.kind == "head":
            return [] if is_double else [Key(f"{SORT_KEY}{target.key}")]
        if target.kind == "tab":
            return [] if is_double else [Key(f"{TAB_KEY}{frame.tabs[int(target.key)].name}")]
        if _KEY_LABEL.fullmatch(target.key):
            return [] if is_double else [Key(target.key.lower())]
        if target.kind == "row":
            return _choose_row(int(target.key), frame.view, is_double=is_double)
        return [] if is_double else [typed_line(target.key, at)]


def _choose_row(place: int, view: View, *, is_double: bool) -> list[DecodedInput]:
    """Return the inputs that select a row of the list, and open it after a double click."""
    if not isinstance(view, ListView) or place >= len(view.rows):
        return []  # the page has changed
    select = Key(f"{ROW_KEY}{view.first + place}")
    return [select, Key("enter")] if is_double else [select]


def _target(mouse: MouseInput, screen: Screen[Any]) -> ClickTarget | None:
    """Return what lies under the mouse."""
    try:
        widget, region = screen.get_widget_at(mouse.column, mouse.row)
    except NoWidget:
        return None
    return (
        widget.click_target(mouse.column - region.x, mouse.row - region.y) if isinstance(widget, LinesWidget) else None
    )
