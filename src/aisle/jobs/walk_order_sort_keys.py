"""Sort keys of the walking order: walking order, location order, then the natural order of the codes."""

from __future__ import annotations

from decimal import Decimal

NO_WALK_ORDER = Decimal(10) ** 12
"""Sort key of a line without a walking order; it sorts after all others."""


def natural_key(code: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key that puts A-2 before A-10."""
    parts: list[tuple[int, int, str]] = []
    run = ""
    for char in code:
        if run and char.isdecimal() != run[-1].isdecimal():
            parts.append(_natural_part(run))
            run = ""
        run += char
    if run:
        parts.append(_natural_part(run))
    return tuple(parts)


def _natural_part(text: str) -> tuple[int, int, str]:
    return (0, int(text), "") if text.isdecimal() else (1, 0, text.casefold())
