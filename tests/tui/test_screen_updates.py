"""What is written when a screen changes turns the terminal's old screen into the new one, exactly."""

from __future__ import annotations

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.style import Style
from textual.geometry import Size

from aisle.safe_text import clean
from aisle.tui import screen_widget
from aisle.tui.layout.screen import layout_screen
from aisle.tui.layout.styled_lines import StyledLine, StyledScreen, clip_line, line_width, plain_lines
from aisle.tui.screen_widget import WHOLE_S, ScreenChange, ScreenWidget, find_changes
from tests.samples.registry import SAMPLES

COLUMNS = 12
CODES = {"": "0", "verdict-good": "42", "caret": "7", "title": "1", "rule": "36"}

lines = st.lists(st.tuples(st.text("ab ·═é", max_size=6).map(clean), st.sampled_from(list(CODES))), max_size=4).map(
    lambda line: clip_line(line, COLUMNS)
)
screens = st.lists(lines, min_size=3, max_size=3).map(lambda rows: StyledScreen(COLUMNS, 3, rows))


def written(found: list[ScreenChange]) -> str:
    out = []
    for y, x, spans, erase in found:
        text = "".join(f"\x1b[{CODES.get(role, '0')}m{text}\x1b[0m" for text, role in spans)
        out.append(f"\x1b[{y + 1};{x + 1}H{text}{chr(27) + '[K' if erase else ''}")
    return "".join(out)


def glass(columns: int, rows: int) -> tuple[pyte.Screen, pyte.Stream]:
    screen = pyte.Screen(columns, rows)
    stream = pyte.Stream(screen)
    stream.feed("\x1b[?7l")
    return screen, stream


def seen(screen: pyte.Screen) -> list[list[tuple[object, ...]]]:
    """The cells as a person sees them: a blank has no weight and no colour."""
    rows = []
    for y in range(screen.lines):
        cells = [screen.buffer[y][x] for x in range(screen.columns)]
        rows.append([(c.data, c.bg, c.reverse, *(() if c.data == " " else (c.fg, c.bold))) for c in cells])
    return rows


@given(screens, screens)
@settings(max_examples=300, deadline=None)
def test_the_difference_is_all_that_is_needed(old: StyledScreen, new: StyledScreen) -> None:
    apart, stream = glass(COLUMNS, 3)
    stream.feed(written(find_changes(None, old)))
    stream.feed(written(find_changes(old, new)))
    fresh, stream = glass(COLUMNS, 3)
    stream.feed(written(find_changes(None, new)))
    assert seen(apart) == seen(fresh)
    assert [row.rstrip() for row in fresh.display] == plain_lines(new)


def test_unchanged_screen_writes_nothing() -> None:
    for sample in SAMPLES:
        painted = layout_screen(sample.build(""), 40, 20)
        assert find_changes(painted, layout_screen(sample.build(""), 40, 20)) == []


def test_only_changed_cells_are_written() -> None:
    old = StyledScreen(20, 1, [[("2 of 6", "quantity"), ("      ", ""), ("#14", "label")]])
    new = StyledScreen(20, 1, [[("3 of 6", "quantity"), ("      ", ""), ("#15", "label")]])
    assert find_changes(old, new) == [
        ScreenChange(0, 0, [("3", "quantity")], False),
        ScreenChange(0, 14, [("5", "label")], False),
    ]


def test_changes_that_lie_close_are_written_in_one_go() -> None:
    old = StyledScreen(20, 1, [[("abc def", "title")]])
    new = StyledScreen(20, 1, [[("xbc dey", "title")]])
    assert find_changes(old, new) == [ScreenChange(0, 0, [("xbc dey", "title")], False)]


def test_a_row_that_became_shorter_is_erased_behind_its_end() -> None:
    old = StyledScreen(20, 1, [[("abcdef", "title")]])
    assert find_changes(old, StyledScreen(20, 1, [[("abc", "title")]])) == [ScreenChange(0, 3, [], True)]
    assert find_changes(old, StyledScreen(20, 1, [[]])) == [ScreenChange(0, 0, [], True)]


def test_a_full_row_is_never_erased_behind_its_end() -> None:
    """With the wrap off the cursor stands on the last character, which an erase would take away."""
    full: StyledLine = [("x" * 20, "title")]
    assert not any(change.erase for change in find_changes(None, StyledScreen(20, 1, [full])))


def test_rows_of_uncertain_width_are_written_whole() -> None:
    old = StyledScreen(20, 1, [[("北京烤鸭", "product"), (" 1", "quantity")]])
    new = StyledScreen(20, 1, [[("北京烤鸭", "product"), (" 2", "quantity")]])
    assert find_changes(old, new) == [ScreenChange(0, 0, new.lines[0], True)]


def test_another_size_is_written_whole() -> None:
    frame = SAMPLES[0].build("")
    found = find_changes(layout_screen(frame, 40, 20), layout_screen(frame, 20, 16))
    assert [change.y for change in found] == list(range(16))
    assert all(change.x == 0 and line_width(change.spans) <= 20 for change in found)


class Painted(ScreenWidget):
    """A widget without an app, in no colours."""

    size = Size(40, 16)

    def _style(self, role: str) -> Style:
        return Style.null()


def test_what_the_system_wrote_over_the_screen_does_not_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(screen_widget, "monotonic", lambda: now[0])
    frames = [sample.build("") for sample in SAMPLES[:3]]
    widget, console = Painted(frames[0], is_ascii=False), Console()
    screen, stream = glass(40, 16)
    stream.feed(widget.render_changes(console))
    stream.feed("\r\nBroadcast message from root@host (Sun 2026-11-29):\r\n\r\nThe system is going down\r\n")
    now[0] += WHOLE_S - 1
    widget.frame = frames[1]
    stream.feed(widget.render_changes(console))
    assert "going down" in "".join(screen.display)
    now[0] += 1
    widget.frame = frames[2]
    stream.feed(widget.render_changes(console))
    assert [row.rstrip() for row in screen.display] == plain_lines(widget.current_screen())
    widget.frame = frames[1]
    assert len(widget.render_changes(console)) < len(Painted(frames[1], is_ascii=False).render_changes(console))
