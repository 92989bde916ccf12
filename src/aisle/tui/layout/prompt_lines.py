"""Layout of the prompt, the typed text behind it, and its caret."""

from __future__ import annotations

from aisle.jobs.view import Frame
from aisle.terminal_text import fit_end, width
from aisle.tui.layout.styled_lines import StyledLine
from aisle.tui.message_text import MessageWriter

MIN_OWN_LINE_ROWS = 14
"""Rows of a screen from which the typed text has a line of its own."""


def prompt_lines(frame: Frame, cells: int, rows: int, writer: MessageWriter) -> list[StyledLine]:
    """Return prompt and typed text, on two lines if there are enough rows."""
    caret: StyledLine = [(" ", "caret")]
    sign = writer.clean_text("› ")
    typed = writer.clean_text(frame.typed)
    if rows >= MIN_OWN_LINE_ROWS:
        prompt: StyledLine = [(writer.fit_line(frame.view.prompt, cells), "prompt")]
        shown = fit_end(typed, cells - 3, mark=writer.cut_mark)
        return [prompt, [(sign, "label"), (shown, "typed"), *caret]]
    space = min(width(typed) + 4, max(6, cells // 2)) if typed else 0
    text = writer.fit_line(frame.view.prompt, cells - space)
    if not typed:
        return [[(text, "prompt")]]
    gap = " " if width(text) + 4 <= cells else ""
    shown = fit_end(typed, cells - width(text) - 4, mark=writer.cut_mark)
    return [[(text + gap, "prompt"), (sign, "label"), (shown, "typed"), *caret]]
