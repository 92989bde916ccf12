"""The one gate for text from outside: what a service, a scanner, a file or a person wrote becomes text for a terminal.

Raw strings are kept for matching and for sending back; whatever is drawn, logged or printed goes through `clean` first.
Widths are counted in terminal cells. Where terminals disagree (regional indicators, spacing marks), the wider count is
taken, so that nothing runs over an edge.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from unicodedata import category, east_asian_width, normalize

MAX_LENGTH = 500
"""Characters that `clean` lets through at most: more than the longest field of the interface that is ever shown."""

REPLACEMENT = "\ufffd"
"""Stands for a character that must not reach a terminal but should not vanish either."""

ELLIPSIS, ASCII_ELLIPSIS = "…", "~"
"""What stands where text was cut."""

_MIN_CELLS_FOR_MIDDLE = 7
"""Cells of text below which a cut in the middle leaves too little of either end."""

_MAX_COMBINING_MARKS = 3
"""Combining marks on one base character at most; more is an attack on the lines above and below."""

_INVISIBLE = "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\ufe00-\ufe0f\U000e0000-\U000e0fff]"
"""A pattern (compiled when first needed, for the sake of the start) of characters without a glyph that are not format
characters: fillers, variation selectors, tags."""

_JOINERS = "\u200c\u200d"
_JOINER_RUN = f"[{_JOINERS}]+"

_WIDE_SINCE_UNICODE_16 = ((0x2630, 0x2637), (0x268A, 0x268F), (0x4DC0, 0x4DFF), (0x1D300, 0x1D376))
"""Symbols that newer tables count as two cells and Python's own as one."""

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
    """Text that is harmless and readable in a terminal, on one line; `clean(clean(x)) == clean(x)`.

    Tab, newline and every other kind of space become a space. Control characters (C0, DEL, C1), surrogates, private and
    unassigned characters show as `UNKNOWN`. Bidi controls, zero-width, tag and other format characters vanish; so do
    the joiners, except between letters of scripts that need them: an emoji sequence falls into its parts, because
    terminals do not agree on its width. Marks pile up no higher than three. Longer than `limit` characters is cut.
    """
    if text.isascii() and text.isprintable():
        return text if len(text) <= limit else text[: limit - 1] + ELLIPSIS
    whole = len(text) <= limit * 4
    before, text = "", text[: limit * 4]
    while text != before:
        before, text = text, _clean_once(text)
    return text if whole and len(text) <= limit else text[: limit - 1].rstrip(_JOINERS) + ELLIPSIS


def _clean_once(text: str) -> str:
    """One round of `clean`. What goes may change what stands beside what; a text that a round leaves alone is clean."""
    kept: list[str] = []
    marks = 0
    for char in re.sub(_INVISIBLE, "", text):
        kind = category(char)
        marks = marks + 1 if kind in ("Mn", "Me") else 0
        kept.append(_limit_combining(char, kept, marks) if marks else _clean_character(char, kind))
    return re.sub(_JOINER_RUN, _keep_joiner, "".join(kept))


def _clean_character(char: str, kind: str) -> str:
    if kind == "Cf":
        return char if char in _JOINERS else ""
    if kind in ("Zs", "Zl", "Zp") or char in "\t\n\r\v\f\x85":
        return " "
    return REPLACEMENT if kind[0] == "C" else char


def _limit_combining(char: str, kept: list[str], marks: int) -> str:
    """A combining mark, where it has something to stand on and not too much company."""
    return char if kept and kept[-1] not in ("", " ") and marks <= _MAX_COMBINING_MARKS else ""


def _keep_joiner(match: re.Match[str]) -> str:
    """A joiner, where it shapes the letters beside it."""
    text, first, last = match.string, match.start(), match.end()
    shapes = first > 0 and last < len(text) and _is_shaped_letter(text[first - 1]) and _is_shaped_letter(text[last])
    return match.group()[0] if shapes else ""


def _is_shaped_letter(char: str) -> bool:
    return ord(char) >= 0x600 and category(char)[0] in "LM"


@lru_cache(maxsize=1024)
def cell_width(char: str) -> int:
    """Cells that one character takes: 0, 1 or 2."""
    kind = category(char)
    code = ord(char)
    if kind in ("Mn", "Me", "Cf") or 0x1160 <= code <= 0x11FF:
        return 0
    if east_asian_width(char) in "WF" or 0x1F1E6 <= code <= 0x1F1FF:
        return 2
    return 2 if any(first <= code <= last for first, last in _WIDE_SINCE_UNICODE_16) else 1


def width(text: str) -> int:
    """Cells that clean text takes in a terminal."""
    return len(text) if text.isascii() else sum(map(cell_width, text))


def end_sentence(text: str) -> str:
    """The text with one full stop at its end, unless another mark ends it."""
    bare = text.rstrip()
    if bare.endswith(("!", "?", "…")):
        return bare
    return bare.rstrip(".") + "."


def fit(text: str, cells: int, *, mark: str = ELLIPSIS, pad: bool = False) -> str:
    """Clean text in at most `cells` cells, cut with a mark; with `pad` in exactly so many."""
    if width(text) <= cells:
        return text + " " * (cells - width(text)) if pad else text
    if cells < width(mark):
        return " " * max(0, cells) if pad else ""
    head = fit_start(text, cells - width(mark)).rstrip() + mark
    return head + " " * (cells - width(head)) if pad else head


def fit_start(text: str, cells: int) -> str:
    """The longest head of clean text that fits into `cells`; a mark stays with its base."""
    if text.isascii():
        return text[: max(0, cells)]
    used = 0
    for index, char in enumerate(text):
        used += cell_width(char)
        if used > cells:
            return text[:index]
    return text


def fit_end(text: str, cells: int, *, mark: str = ELLIPSIS) -> str:
    """The end of clean text in at most `cells`, the cut marked in front: for what is being typed."""
    if width(text) <= cells:
        return text
    if cells < width(mark):
        return ""
    room, at = cells - width(mark), len(text)
    while at and (room := room - cell_width(text[at - 1])) >= 0:
        at -= 1
    while at < len(text) and not cell_width(text[at]):
        at += 1
    return mark + text[at:]


def fit_middle(text: str, cells: int, *, mark: str = ELLIPSIS) -> str:
    """Clean text in at most `cells` cells with its head and its tail: names that begin alike differ at their end."""
    room = cells - width(mark)
    if width(text) <= cells or room < _MIN_CELLS_FOR_MIDDLE:
        return fit(text, cells, mark=mark)
    tail = text[_tail_start(text, room) :]
    return fit_start(text, room - width(tail)).rstrip() + mark + tail if tail else fit(text, cells, mark=mark)


def _tail_start(text: str, room: int) -> int:
    """Where the end of a text begins that stays in so many cells: with a whole word where there is one, and with all of
    a measure, for half of `500 g` says something else."""
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
    """Clean texts in at most `cells` cells each, cut in the middle; of those that would look alike, what they begin
    with in common is cut before what tells them apart. `Lindén Shampoo Dry 1 l` becomes `Lin…Dry 1 l`."""
    cut = [fit_middle(text, cells, mark=mark) for text in texts]
    alike: dict[str, set[str]] = {}
    for text, shown in zip(texts, cut, strict=True):
        alike.setdefault(shown, set()).add(text)
    parted: dict[str, str] = {}
    for group in alike.values():
        if len(group) > 1:
            parted.update(_shorten_common_prefix(group, cells, mark))
    return [parted.get(text, shown) for text, shown in zip(texts, cut, strict=True)]


def _shorten_common_prefix(group: Collection[str], cells: int, mark: str) -> dict[str, str]:
    """Texts that would look alike, cut in what they begin with in common, and then in the middle, at the end or in all
    but the end: by the first of these ways that leaves the most of them different."""
    at = _common_prefix_length(group)
    ways = [{text: _cut_prefix(text, at, cells, mark, cut) for text in group} for cut in (fit_middle, fit)]
    return max(*ways, {text: fit_end(text, cells, mark=mark) for text in group}, key=lambda way: len({*way.values()}))


def _common_prefix_length(texts: Collection[str]) -> int:
    """Characters of the whole words that texts begin with in common."""
    first, last = min(texts), max(texts)
    shorter = min(len(first), len(last))
    same = next((at for at in range(shorter) if first[at] != last[at]), shorter)
    return first[:same].rfind(" ") + 1


def _cut_prefix(text: str, at: int, cells: int, mark: str, cut: Callable[..., str]) -> str:
    """A text from there on, and as much of its beginning as there is room for."""
    rest, room = text[at:], cells - width(mark)
    if not at:
        return cut(rest, cells, mark=mark)
    if width(rest) >= room:
        return fit(mark + cut(rest, room, mark=mark), cells, mark=mark)
    return fit_start(text, room - width(rest)).rstrip() + mark + rest


def wrap(text: str, cells: int, rows: int, *, first: int = 0, mark: str = ELLIPSIS, middle: bool = False) -> list[str]:
    """Clean text on at most `rows` lines of at most `cells` cells, broken between words; a cut is marked.

    The first line has `first` cells instead, if given; where that is much less, a word that is too long for it begins
    the next one. With `middle` the end of the text stays.
    """
    lines: list[str] = []
    rest = text.strip()
    while rest and cells > 0 and len(lines) < rows:
        room = cells if lines or not first else first
        if width(rest) <= room or len(lines) == rows - 1:
            return [*lines, fit_middle(rest, room, mark=mark) if middle else fit(rest, room, mark=mark)]
        head = fit_start(rest, room)
        space = _last_break(rest, len(head))
        if space > 0:
            head = head[:space]
        elif room < cells * 3 // 4 and width(rest.split(" ", 1)[0]) <= cells:
            lines.append("")
            continue
        head = head or rest[0]
        lines.append(head.rstrip())
        rest = rest[len(head) :].lstrip()
    return lines


def _last_break(text: str, end: int) -> int:
    """The last space up to there at which a line may end; French puts one before some signs, and they stay together."""
    last = space = end if text[end] == " " else text.rfind(" ", 0, end)
    while space > 0 and (text[space + 1] in "?!:;»" or text[space - 1] == "«"):
        space = text.rfind(" ", 0, space)
    return space if space > 0 else last


@lru_cache(maxsize=2048)
def to_ascii(text: str) -> str:
    """Clean text for a terminal without UTF-8: accents fall, lines and bars have stand-ins, the rest becomes `?`."""
    if text.isascii():
        return text
    folded = normalize("NFKD", text.translate(_ASCII_FORMS)).translate(_ASCII_FORMS)
    return "".join(char if char.isascii() else "?" for char in folded if cell_width(char))


def supports_utf8(environ: Mapping[str, str] | None = None) -> bool:
    """Whether the terminal takes UTF-8: what the locale says, and where it says nothing, what kind of terminal it is.

    Python itself sets LC_CTYPE to C.UTF-8 where the locale is C, so that value alone says nothing about the terminal.
    """
    env = os.environ if environ is None else environ
    coerced = env.get("LC_CTYPE") == "C.UTF-8"
    told = env.get("LC_ALL") or ("" if coerced else env.get("LC_CTYPE")) or env.get("LANG") or ""
    if told:
        return told.lower().replace("-", "").endswith("utf8") or "utf8" in told.lower().replace("-", "")
    return not env.get("TERM", "").startswith(("vt", "dumb", "ansi", "unknown"))
