"""Text in the cells of a terminal: its width, and its fitting by cuts and line breaks.

If terminals disagree (regional indicators, spacing marks), the wider count is used, so that nothing exceeds an edge.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from unicodedata import category, east_asian_width

ELLIPSIS, ASCII_ELLIPSIS = "…", "~"
"""Marks where text was cut."""

_MIN_CELLS_FOR_MIDDLE = 7
"""Cells of text below which a cut in the middle leaves too little at both ends."""

_WIDE_SINCE_UNICODE_16 = ((0x2630, 0x2637), (0x268A, 0x268F), (0x4DC0, 0x4DFF), (0x1D300, 0x1D376))
"""Symbols that newer tables count as two cells and Python's own as one."""


@lru_cache(maxsize=1024)
def cell_width(char: str) -> int:
    """Return the cells of one character: 0, 1 or 2."""
    kind = category(char)
    code = ord(char)
    if kind in ("Mn", "Me", "Cf") or 0x1160 <= code <= 0x11FF:
        return 0
    if east_asian_width(char) in "WF" or 0x1F1E6 <= code <= 0x1F1FF:
        return 2
    return 2 if any(first <= code <= last for first, last in _WIDE_SINCE_UNICODE_16) else 1


ONE_CELL_TEXT = re.compile(
    "[ -~\u00a0-\u00ac\u00ae-\u02ff\u0384-\u038a\u038c\u038e-\u03a1\u03a3-\u0482"
    "\u2010-\u2027\u2030-\u2044\u20a0-\u20bf\u2190-\u2193\u2500-\u25fc\u25ff]*"
)
"""Texts on whose width all terminals agree: one cell a character."""


def width(text: str) -> int:
    """Return the cells of clean text in a terminal."""
    return len(text) if text.isascii() or ONE_CELL_TEXT.fullmatch(text) else sum(map(cell_width, text))


def fit(text: str, cells: int, *, mark: str = ELLIPSIS, pad: bool = False) -> str:
    """Return clean text in at most `cells` cells, cut with a mark; with `pad` in exactly that many."""
    if width(text) <= cells:
        return text + " " * (cells - width(text)) if pad else text
    if cells < width(mark):
        return " " * max(0, cells) if pad else ""
    head = fit_start(text, cells - width(mark)).rstrip() + mark
    return head + " " * (cells - width(head)) if pad else head


def fit_start(text: str, cells: int) -> str:
    """Return the longest head of clean text that fits into `cells`; a combining mark stays with its base."""
    if text.isascii():
        return text[: max(0, cells)]
    used = 0
    for index, char in enumerate(text):
        used += cell_width(char)
        if used > cells:
            return text[:index]
    return text


def fit_end(text: str, cells: int, *, mark: str = ELLIPSIS) -> str:
    """Return the end of clean text in at most `cells`, with the mark in front; used for text being typed."""
    if width(text) <= cells:
        return text
    if cells < width(mark):
        return ""
    remaining, at = cells - width(mark), len(text)
    while at and (remaining := remaining - cell_width(text[at - 1])) >= 0:
        at -= 1
    while at < len(text) and not cell_width(text[at]):
        at += 1
    return mark + text[at:]


def fit_middle(text: str, cells: int, *, mark: str = ELLIPSIS) -> str:
    """Return clean text in at most `cells` cells with head and tail, because similar names differ at their end."""
    free = cells - width(mark)
    if width(text) <= cells or free < _MIN_CELLS_FOR_MIDDLE:
        return fit(text, cells, mark=mark)
    tail = text[_tail_start(text, free) :]
    return fit_start(text, free - width(tail)).rstrip() + mark + tail if tail else fit(text, cells, mark=mark)


def _tail_start(text: str, room: int) -> int:
    """Return the start of the tail that stays within `room` cells.

    It begins with a whole word if possible, and keeps a measure whole, because half of `500 g` means something else.
    """
    at = len(text) - len(fit_end(text, room * 2 // 5 + 1, mark=" ")) + 1
    word = text.rfind(" ", 0, at) + 1
    if word != at:
        if text[word].isdecimal() and width(text[word:]) <= room * 2 // 3:
            return word
        at = text.find(" ", at) + 1 or at
    before = text.rfind(" ", 0, max(0, at - 1)) + 1
    if text[at - 1] != " " or text[at : at + 1].isdecimal() or not text[before].isdecimal():
        return at
    return before if width(text[before:]) <= room * 2 // 3 else len(text)


def shorten_distinctly(texts: Sequence[str], cells: int, *, mark: str = ELLIPSIS) -> list[str]:
    """Return clean texts in at most `cells` cells each, cut in the middle so that they stay different.

    Of texts that would look equal, the common beginning is cut: `Lindén Shampoo Dry 1 l` becomes `Lin…Dry 1 l`.
    """
    cut = [fit_middle(text, cells, mark=mark) for text in texts]
    alike: dict[str, set[str]] = {}
    for text, shown in zip(texts, cut, strict=True):
        alike.setdefault(shown, set()).add(text)
    shortened: dict[str, str] = {}
    for group in alike.values():
        if len(group) > 1:
            shortened.update(_shorten_common_prefix(group, cells, mark))
    return [shortened.get(text, shown) for text, shown in zip(texts, cut, strict=True)]


def _shorten_common_prefix(group: Collection[str], cells: int, mark: str) -> dict[str, str]:
    """Return texts that would look equal, cut in their common beginning and then in the middle, at the end or start.

    The cut that leaves the most of them different is used.
    """
    at = _common_prefix_length(group)
    variants = [{text: _cut_prefix(text, at, cells, mark, cut) for text in group} for cut in (fit_middle, fit)]
    return max(
        *variants,
        {text: fit_end(text, cells, mark=mark) for text in group},
        key=lambda variant: len({*variant.values()}),
    )


def _common_prefix_length(texts: Collection[str]) -> int:
    """Return the characters of the whole words that all texts begin with."""
    first, last = min(texts), max(texts)
    shorter = min(len(first), len(last))
    same = next((at for at in range(shorter) if first[at] != last[at]), shorter)
    return first[:same].rfind(" ") + 1


def _cut_prefix(text: str, at: int, cells: int, mark: str, cut: Callable[..., str]) -> str:
    """Return a text from a position on, with as much of its beginning as fits."""
    rest, free = text[at:], cells - width(mark)
    if not at:
        return cut(rest, cells, mark=mark)
    if width(rest) >= free:
        return fit(mark + cut(rest, free, mark=mark), cells, mark=mark)
    return fit_start(text, free - width(rest)).rstrip() + mark + rest


def wrap(text: str, cells: int, rows: int, *, first: int = 0, mark: str = ELLIPSIS, middle: bool = False) -> list[str]:
    """Return clean text on at most `rows` lines of at most `cells` cells, broken between words; a cut is marked.

    `first`: cells of the first line, if given; a word too long for it begins the next line. With `middle` the end of
    the text stays.
    """
    lines: list[str] = []
    rest = text.strip()
    while rest and cells > 0 and len(lines) < rows:
        free = cells if lines or not first else first
        if width(rest) <= free or len(lines) == rows - 1:
            return [*lines, fit_middle(rest, free, mark=mark) if middle else fit(rest, free, mark=mark)]
        head = fit_start(rest, free)
        space = _last_break(rest, len(head))
        if space > 0:
            head = head[:space]
        elif free < cells and width(rest.split(" ", 1)[0]) <= cells:
            lines.append("")
            continue
        head = head or rest[0]
        lines.append(head.rstrip())
        rest = rest[len(head) :].lstrip()
    return lines


def _last_break(text: str, end: int) -> int:
    """Return the last space before `end` at which a line may break.

    It is not before the signs that French separates by a space.
    """
    last = space = end if text[end] == " " else text.rfind(" ", 0, end)
    while space > 0 and (text[space + 1] in "?!:;»" or text[space - 1] == "«"):
        space = text.rfind(" ", 0, space)
    return space if space > 0 else last
