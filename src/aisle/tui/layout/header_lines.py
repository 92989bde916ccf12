"""Lines above the page: the title with progress, store and user, and a rule; at a desk the tabs."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from aisle.jobs.screen_sizes import MIN_MARGIN_COLUMNS
from aisle.jobs.view import Frame, Msg, Step, Tab, View, msg
from aisle.terminal_text import width
from aisle.tui.layout.step_view import LayoutBox
from aisle.tui.layout.styled_lines import StyledLine, left_and_right, progress_bar
from aisle.tui.message_text import MAX_LENGTH, MessageWriter

MIN_SPACED_HEADER = 40
"""Width below which only a blank separates progress from the user."""

MAX_INITIALS = 3

HOME_VIEW = "home"
"""Page that shows the user at any width."""


def header_lines(frame: Frame, progress: Msg | None, box: LayoutBox) -> list[StyledLine]:
    """Return the lines above the body: the title and a rule, or the tabs and the title."""
    if not frame.tabs:
        return [_header(frame, progress, box), _title_rule(frame.view, box)]
    title = _header(frame._replace(store="", user=""), progress, box)
    who = _store_and_user(frame, box.writer)
    return [left_and_right(_tab_line(frame.tabs, box), [(who, "user")], box.cells), title]


def _tab_line(tabs: Sequence[Tab], box: LayoutBox) -> StyledLine:
    """Return the tabs side by side, each with its number of records."""
    line: StyledLine = []
    for tab in tabs:
        count = "" if tab.total is None else f" {box.writer.format_number(Decimal(tab.total))}"
        line += [(f" {box.writer.write(tab.text, 0)}{count} ", "tab-on" if tab.is_active else "tab"), ("  ", "")]
    return line


def _header(frame: Frame, progress: Msg | None, box: LayoutBox) -> StyledLine:
    """Return the title line: title on the left; progress, store and user on the right, as far as they fit.

    The title keeps half the line, or all of its text on a wide screen.
    """
    writer = box.writer
    progress_text = writer.write(progress, MAX_LENGTH if box.cells >= 40 else 0) if progress else ""
    who = _store_and_user(frame, writer)
    least = width(writer.write(frame.view.title, 0))
    enough = max(least, box.cells // 2)
    if box.cells >= MIN_MARGIN_COLUMNS:
        enough = max(least, min(enough, width(writer.write(frame.view.title, MAX_LENGTH))))
    wide = " " if box.cells < MIN_SPACED_HEADER else writer.clean_text("  ·  ")
    names = (who, *_short_names(frame, writer)) if frame.view.name == HOME_VIEW else (who,)
    texts = [wide.join((progress_text, name)) for name in names if name] if progress_text else names
    for text in (*texts, *((progress_text,) if progress_text else ()), ""):
        space = box.cells - (width(text) + 2 if text else 0)
        if text and text == progress_text:  # progress is more important than the whole of a long title
            least = width(writer.write(frame.view.title, 0, box.cells))
        if not text or space >= (least if text == progress_text or text in texts[1:] else enough):
            title: StyledLine = [(writer.fit_line(frame.view.title, space), "title")]
            return left_and_right(title, [(text, "user")] if text else [], box.cells)
    return [(writer.fit_line(frame.view.title, box.cells), "title")]


def _short_names(frame: Frame, writer: MessageWriter) -> tuple[str, str]:
    """Return the user's first name and initials, for narrow screens."""
    words = writer.clean_text(frame.user).split() or [""]
    return words[0], "".join(word[0] for word in words if word)[:MAX_INITIALS]


def _store_and_user(frame: Frame, writer: MessageWriter) -> str:
    if frame.user:
        return writer.write(msg("frame.store_and_user", store=frame.store, user=frame.user))
    return writer.write(msg("frame.store", store=frame.store)) if frame.store else ""


def _title_rule(view: View, box: LayoutBox) -> StyledLine:
    """Return the line below the title, which shows the progress of a step."""
    if isinstance(view, Step) and view.total > 0:
        return progress_bar(view.done / view.total, box.cells, box.writer)
    return [(("-" if box.writer.is_ascii else "─") * box.cells, "rule")]
