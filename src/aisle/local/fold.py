"""Codes as people sort them."""

from __future__ import annotations

import re


def natural(code: str) -> str:
    """A text that sorts as people do, `A-2` before `A-10`: each number gets its length in front, in four digits."""
    return re.sub(r"\d+", _counted, code.casefold())


def _counted(digits: re.Match[str]) -> str:
    number = digits[0].lstrip("0") or "0"
    return f"{len(number):04d}{number}" if len(number) < 10_000 else digits[0]
