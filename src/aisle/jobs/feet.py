"""The order in which feet go: walking order, place order, then the natural order of the codes."""

from __future__ import annotations

from decimal import Decimal

LAST = Decimal(10) ** 12
"""Where a line without a walking order goes: behind all that have one."""


def natural(code: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key that puts A-2 before A-10."""
    parts: list[tuple[int, int, str]] = []
    run = ""
    for char in code:
        if run and char.isdecimal() != run[-1].isdecimal():
            parts.append(_part(run))
            run = ""
        run += char
    if run:
        parts.append(_part(run))
    return tuple(parts)


def _part(run: str) -> tuple[int, int, str]:
    return (0, int(run), "") if run.isdecimal() else (1, 0, run.casefold())
