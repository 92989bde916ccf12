"""Text from outside (service, scanner, file, person) made safe for a terminal.

Raw strings are kept for matching and sending; whatever is drawn, logged or printed passes `clean` first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from unicodedata import category

from aisle.search_text import decompose
from aisle.text_cells import ELLIPSIS, cell_width

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
