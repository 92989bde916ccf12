"""What is written when a screen changes turns the terminal's old screen into the new one, exactly."""

from __future__ import annotations

import pyte
from hypothesis import given, settings
from hypothesis import strategies as st

from aisle.terminal_text import clean, width
from aisle.tui.layout.styled_lines_and_page_parts import clip_line, line_width
from aisle.tui.terminal_output import TerminalDiff
from tests.run_length import tries

COLUMNS, ROWS = 12, 3
STYLES = ("", "42", "1;7", "1", "36", "2;38;2;1;2;3;48;5;7")

spans = st.lists(st.tuples(st.text("ab ·═é北", max_size=6).map(clean), st.sampled_from(STYLES)), max_size=4).map(
    lambda line: clip_line(line, COLUMNS)
)
screens = st.lists(spans, min_size=ROWS, max_size=ROWS)
Screen = list[list[tuple[str, str]]]


def update(screen: Screen, rows: range = range(ROWS)) -> str:
    """The screen as Textual writes it: each row whole, with its blanks."""
    out = []
    for y in rows:
        text = "".join(f"\x1b[{sgr}m{text}\x1b[0m" if sgr else text for text, sgr in screen[y])
        out.append(f"\x1b[{y + 1};1H{text}{' ' * (COLUMNS - line_width(screen[y]))}")
    return "\n".join(out) + "\x1b[1;1H"


def glass() -> tuple[pyte.Screen, pyte.Stream]:
    screen = pyte.Screen(COLUMNS, ROWS)
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


@given(st.lists(screens, min_size=1, max_size=4), st.booleans())
@settings(max_examples=tries(60, 300), deadline=None)
def test_reduced_updates_show_what_the_updates_show(shown: list[Screen], is_clear: bool) -> None:
    diff = TerminalDiff()
    diff.resize(COLUMNS, ROWS, is_clear=is_clear)
    reduced, stream = glass()
    for screen in shown:
        stream.feed(diff.reduce(update(screen)))
    whole, stream = glass()
    stream.feed(update(shown[-1]))
    assert seen(reduced) == seen(whole)


@given(screens, screens, st.integers(0, ROWS - 1))
@settings(max_examples=tries(30, 100), deadline=None)
def test_an_update_of_one_row_changes_that_row(old: Screen, new: Screen, row: int) -> None:
    diff = TerminalDiff()
    diff.resize(COLUMNS, ROWS, is_clear=True)
    reduced, stream = glass()
    stream.feed(diff.reduce(update(old)))
    stream.feed(diff.reduce(update(new, range(row, row + 1))))
    whole, stream = glass()
    stream.feed(update([new[y] if y == row else old[y] for y in range(ROWS)]))
    assert seen(reduced) == seen(whole)


def reduced(old: Screen, new: Screen) -> str:
    """What is written for the second of two screens."""
    diff = TerminalDiff()
    diff.resize(COLUMNS, ROWS, is_clear=True)
    diff.reduce(update(old))
    return diff.reduce(update(new))


def one(*spans: tuple[str, str]) -> Screen:
    return [list(spans), [], []]


def test_an_unchanged_screen_writes_nothing() -> None:
    assert reduced(one(("2 of 6", "1")), one(("2 of 6", "1"))) == ""


def test_only_changed_cells_are_written() -> None:
    diff = TerminalDiff()
    diff.resize(40, 1, is_clear=True)
    diff.reduce("\x1b[1;1H\x1b[1m2 of 6\x1b[0m" + " " * 20 + "#14\x1b[1;1H")
    changed = diff.reduce("\x1b[1;1H\x1b[1m3 of 6\x1b[0m" + " " * 20 + "#15\x1b[1;1H")
    assert changed == "\x1b[1;1H\x1b[1m3\x1b[0m\x1b[1;29H5\x1b[1;1H"


def test_changes_that_lie_close_are_written_in_one_go() -> None:
    assert reduced(one(("abc def", "")), one(("xbc dey", ""))) == "\x1b[1;1Hxbc dey\x1b[1;1H"


def test_a_row_that_became_shorter_is_erased_behind_its_end() -> None:
    assert reduced(one(("abcdef", "")), one(("abc", ""))) == "\x1b[1;4H\x1b[K\x1b[1;1H"


def test_a_full_row_is_never_erased_behind_its_end() -> None:
    """With the wrap off the cursor stands on the last character, which an erase would take away."""
    assert "\x1b[K" not in reduced(one(("ab", "")), one(("x" * COLUMNS, "")))


def test_rows_of_uncertain_width_are_written_whole() -> None:
    changed = reduced(one(("北京烤", "1"), (" 1", "")), one(("北京烤", "1"), (" 2", "")))
    assert "北京烤" in changed
    assert width("北京烤 2") < COLUMNS
    assert changed.count("\x1b[K") == 1


def test_after_a_resize_a_row_is_written_whole() -> None:
    diff = TerminalDiff()
    diff.resize(COLUMNS, ROWS, is_clear=True)
    diff.reduce(update(one(("abc", ""))))
    diff.resize(COLUMNS, ROWS)
    assert diff.reduce(update(one(("abc", "")))).count("\x1b[K") == ROWS


def test_text_below_the_screen_is_dropped() -> None:
    diff = TerminalDiff()
    diff.resize(COLUMNS, 1, is_clear=True)
    assert "below" not in diff.reduce("\x1b[3;1Hbelow\x1b[1;1H")
