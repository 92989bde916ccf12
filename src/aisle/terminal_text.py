"""Text for a terminal: outside text made safe, its width in cells, and its fitting by cuts and line breaks.

Raw strings are kept for matching and sending; whatever is drawn, logged or printed passes `clean` first.

If terminals disagree (regional indicators, spacing marks), the wider count is used, so that nothing exceeds an edge.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from unicodedata import category, east_asian_width

from aisle.search_text import decompose

MAX_LENGTH = 500
"""Greatest number of characters after `clean`; more than the longest field that is ever shown."""

REPLACEMENT = "\ufffd"
"""Replacement for a character that must not reach a terminal but should stay visible."""


_MAX_COMBINING_MARKS = 3
"""Greatest number of combining marks on a base character; more would overwrite the lines above and below."""

_INVISIBLE = "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\ufe00-\ufe0f\U000e0000-\U000e0fff]"
"""Pattern of invisible characters that are no format characters: fillers, variation selectors, tags.

It is compiled on first use, because a start does not need it.
"""

_JOINERS = "\u200c\u200d"
_JOINER_RUN = f"[{_JOINERS}]+"


_ASCII_FORMS = str.maketrans(
    {
        "…": "~", "≈": "~", "·": "-", "•": "*", "×": "x", "–": "-", "—": "-", "‘": "'", "’": "'", "“": '"', "”": '"',
        "„": '"', "«": '"', "»": '"',
        "›": ">", "‹": "<", "→": ">", "←": "<", "↑": "^", "↓": "v", "−": "-", "■": "#", "✓": "v", "°": "o",
        "│": "|", "─": "-", "┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "+", "┤": "+", "┬": "+", "┴": "+", "┼": "+",
        "━": "=", "█": "#", "▓": "#", "▒": "#", "░": ".", "▏": "|", "▌": "#", "▐": "#", "▀": "#", "▄": "#",
        "ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D",
        "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th", "ł": "l", "Ł": "L", "ı": "i", "€": "EUR", "£": "GBP",
        "⁄": "/", REPLACEMENT: "?",
    }
)  # fmt: skip


@lru_cache(maxsize=2048)
def clean(text: str, limit: int = MAX_LENGTH) -> str:
    """Return text that is harmless and readable in a terminal, on one line; `clean(clean(x)) == clean(x)`.

    Every kind of space becomes a space. Control characters (C0, DEL, C1), surrogates, private and unassigned characters
    become `REPLACEMENT`. Bidi controls, zero-width, tag and other format characters are removed. Joiners are kept only
    between letters of scripts that need them: an emoji sequence is split, because terminals disagree on its width. At
    most three marks stay on a character. Text longer than `limit` characters is cut.
    """
    if text.isascii() and text.isprintable():
        return text if len(text) <= limit else text[: limit - 1] + ELLIPSIS
    whole = len(text) <= limit * 4
    before, text = "", text[: limit * 4]
    while text != before:
        before, text = text, _clean_once(text)
    return text if whole and len(text) <= limit else text[: limit - 1].rstrip(_JOINERS) + ELLIPSIS


def _clean_once(text: str) -> str:
    """Run one pass of `clean`; text that a pass leaves unchanged is clean.

    A removal may change the neighbours of a character.
    """
    cleaned: list[str] = []
    marks = 0
    for char in re.sub(_INVISIBLE, "", text):
        kind = category(char)
        marks = marks + 1 if kind in ("Mn", "Me") else 0
        cleaned.append(_limit_combining(char, cleaned, marks) if marks else _clean_character(char, kind))
    return re.sub(_JOINER_RUN, _keep_joiner, "".join(cleaned))


def _clean_character(char: str, kind: str) -> str:
    if kind == "Cf":
        return char if char in _JOINERS else ""
    if kind in ("Zs", "Zl", "Zp") or char in "\t\n\r\v\f\x85":
        return " "
    return REPLACEMENT if kind[0] == "C" else char


def _limit_combining(char: str, kept: list[str], marks: int) -> str:
    """Return a combining mark if it has a base and not too many others; else nothing."""
    return char if kept and kept[-1] not in ("", " ") and marks <= _MAX_COMBINING_MARKS else ""


def _keep_joiner(match: re.Match[str]) -> str:
    """Return a joiner if it shapes the letters beside it; else nothing."""
    text, first, last = match.string, match.start(), match.end()
    shapes = first > 0 and last < len(text) and _is_shaped_letter(text[first - 1]) and _is_shaped_letter(text[last])
    return match.group()[0] if shapes else ""


def _is_shaped_letter(char: str) -> bool:
    return ord(char) >= 0x600 and category(char)[0] in "LM"


def end_sentence(text: str) -> str:
    """Return the text with one full stop at its end, unless another mark ends it."""
    bare = text.rstrip()
    if bare.endswith(("!", "?", "…")):
        return bare
    return bare.rstrip(".") + "."


@lru_cache(maxsize=2048)
def to_ascii(text: str) -> str:
    """Return clean text for a terminal without UTF-8.

    Accents are removed, lines and bars replaced; the rest becomes `?`.
    """
    if text.isascii():
        return text
    folded = "".join(decompose(text.translate(_ASCII_FORMS))).translate(_ASCII_FORMS)
    return "".join(char if char.isascii() else "?" for char in folded if cell_width(char))


def supports_utf8(environ: Mapping[str, str] | None = None) -> bool:
    """Return True if the terminal takes UTF-8, from the locale, or else from the kind of terminal.

    Python itself sets LC_CTYPE to C.UTF-8 in the C locale, so that value alone says nothing about the terminal.
    """
    env = os.environ if environ is None else environ
    coerced = env.get("LC_CTYPE") == "C.UTF-8"
    locale_name = env.get("LC_ALL") or ("" if coerced else env.get("LC_CTYPE")) or env.get("LANG") or ""
    if locale_name:
        return locale_name.lower().replace("-", "").endswith("utf8") or "utf8" in locale_name.lower().replace("-", "")
    return not env.get("TERM", "").startswith(("vt", "dumb", "ansi", "unknown"))


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
