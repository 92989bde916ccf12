"""What the scanner doctor keeps of every input."""

from __future__ import annotations

from aisle.tuples import NamedTuple


class Input(NamedTuple):
    """One input, ready to be shown and judged."""

    text: str = ""
    """As it came, raw."""
    end: str = ""
    """What ended it: `cr`, `lf`, `tab`, `etx` or `paste`."""
    symbol: str = ""
    """What its AIM prefix says, `C1` for instance; empty where it has none."""
    gs1: bool = False
    """The AIM prefix says that it is GS1 data."""
    code: str = ""
    """What is behind the AIM prefix."""
    gap_ms: int = 0
    separators: int = 0
    """How often GS is in it."""
    dropped: str = ""
    """Control characters that came along and are no part of it."""
    means: str = ""
    """A kind of meaning, or `command`, `times`, `either`, `unknown`, `nothing`."""
    label: str = ""
    """The name of what it means."""
    key: str = ""
    """The name of a key that is no text; then all else is empty."""


class Doctor(NamedTuple):
    """What was heard, youngest first, and what is known of the terminal."""

    inputs: tuple[Input, ...] = ()
    typed: int = 0
    """Characters of the line that nothing has ended yet."""
    columns: int = 0
    rows: int = 0
    term: str = ""
    encoding: str = ""
    colours: int = 0
    """How many the terminal is known to have; 0 for none."""
    page: int = 0
