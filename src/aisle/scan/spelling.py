"""Spellings of one input: full-width characters, and the signs that multiply."""

from __future__ import annotations

import re
from typing import Final

from aisle.code_forms import checks, plain

_TIMES: Final = re.compile(r"( *[\d.,]+) *[*×✕✖⨯∗] *", re.ASCII)
_TIMES_CODE: Final = re.compile(r"( *[\d.,]+) *[xX] *(\d{8,14}) *", re.ASCII)
_CODE_LIKE: Final = re.compile(r"[ -@\[-`{-~]+", re.ASCII)
"""ASCII without letters."""


def spelt(text: str, *, is_free: bool = False) -> str:
    """An input as it would be typed on a keyboard of the United States: `１２＊`, `12 ×` and `12*` are one.

    `is_free`: words are asked for, and stay as they are; only digits and signs are spelt anew.
    """
    neat = _starred(plain(text))
    return text if is_free and not _CODE_LIKE.fullmatch(neat) else neat


def _starred(neat: str) -> str:
    if times := _TIMES_CODE.fullmatch(neat):
        return f"{times[1]}*{times[2]}" if checks(times[2]) else neat
    times = _TIMES.match(neat)
    return f"{times[1]}*{neat[times.end() :]}" if times else neat


def is_multiplied(text: str) -> bool:
    """Whether an input has a multiplier of its own, however its sign is written."""
    return "*" in spelt(text)
