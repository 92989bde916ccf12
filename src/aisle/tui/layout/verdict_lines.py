"""Coloured band that answers the last input."""

from __future__ import annotations

from collections.abc import Callable

from aisle.jobs.view import GOOD, Frame, Verdict, msg
from aisle.terminal_text import fit, width, wrap
from aisle.tui.layout.choices_and_key_hints import excess_cells
from aisle.tui.layout.styled_lines import StyledLine, pad_line
from aisle.tui.message_text import MessageWriter


def verdict_lines(
    frame: Frame,
    verdict: Verdict,
    columns: int,
    writer: MessageWriter,
    margin: int,
    most: int,
    more_rows: Callable[[], int],
) -> list[StyledLine]:
    """Return the verdict as a coloured band.

    A verdict that is not good may take several lines for its reason. A good one does if a single line would cut it.
    """
    kind = verdict.kind
    role = f"verdict-{kind}"
    tag = f" {writer.write(msg(_VERDICT_TEXTS[kind]))} " + " " * margin
    repeats = writer.clean_text(f" ×{frame.verdict_repeats} ") if frame.verdict_repeats > 1 and columns >= 18 else ""
    space = columns - width(tag) - (width(repeats) or 1)
    if space < 4:
        return [[(fit(tag.strip(), columns, mark=writer.cut_mark, pad=True), role)]]
    indent = 1 if columns < 40 else width(tag)
    wide = columns - indent - 1
    said = msg("frame.and_more", what=verdict.text, more=verdict.detail) if verdict.detail else verdict.text
    text = writer.fit(said, lambda said: excess_cells(said, wide, most, space))
    if verdict.kind == GOOD and (has_several_lines(verdict) or width(text) > space) and (most := more_rows()) > 1:
        text = writer.fit(said, lambda said: excess_cells(said, wide, most, space))
    first, *more = wrap(text, wide, most, first=space, mark=writer.cut_mark) or [""]
    lines: list[StyledLine] = [[(tag + fit(first, space, pad=True) + repeats, role)]]
    lines += [[(" " * indent + line, role)] for line in more]
    return [pad_line(line, columns, role) for line in lines]


def has_several_lines(verdict: Verdict) -> bool:
    """Return True if a good verdict has several lines."""
    return verdict.is_multiline or verdict.detail is not None


_VERDICT_TEXTS = {"good": "verdict.good", "wrong": "verdict.wrong", "info": "verdict.info", "ask": "verdict.ask"}
