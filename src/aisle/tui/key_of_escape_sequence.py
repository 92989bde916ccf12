"""Escape sequences of keys, as terminals and handheld emulators send them."""

from __future__ import annotations

import re
from typing import Final

from aisle.scan.recognise_escape_sequences import is_key

OTHER: Final = "other"
"""Name of every key that has no meaning in aisle."""

_BY_FINAL: Final = {
    "A": "up",
    "B": "down",
    "C": "right",
    "D": "left",
    "H": "home",
    "F": "end",
    "P": "f1",
    "Q": "f2",
    "R": "f3",
    "S": "f4",
}
"""Keys of `CSI final` and `SS3 final`."""

_BY_NUMBER: Final = {
    **dict.fromkeys(("1", "7"), "home"),
    **dict.fromkeys(("4", "8"), "end"),
    "5": "pageup",
    "6": "pagedown",
    **{str(number): f"f{number - 10}" for number in range(11, 16)},
    **{str(number): f"f{number - 11}" for number in range(17, 22)},
    "23": "f11",
    "24": "f12",
}
"""Keys of `CSI number ~`."""

_LINUX_CONSOLE: Final = {"A": "f1", "B": "f2", "C": "f3", "D": "f4", "E": "f5"}
"""Keys of `CSI [ final`."""

_SEQUENCE: Final = re.compile(r"\x1b[O\[](?P<numbers>[\d;]*)(?P<final>[A-Za-z~])")
_ALT: Final = re.compile(r"\x1b[^\x00-\x1fO\[\]P_]")


def parse_key(data: str) -> str | None:
    """Return the name of the key of an escape sequence; None if it is the response of a terminal, or unknown.

    Sequences of other kinds are ignored: otherwise whoever can write into the input could change the screen's size.
    """
    if not is_key(data):
        return OTHER if _ALT.fullmatch(data) else None
    if data.startswith("\x1b[["):
        return _LINUX_CONSOLE[data[3]]
    found = _SEQUENCE.fullmatch(data)
    assert found is not None
    numbers, final = found.groups()
    if final == "~":
        return _BY_NUMBER.get(numbers, OTHER)
    if numbers == "1;5" and final in "CD":
        return f"ctrl+{_BY_FINAL[final]}"
    if numbers == "1;2" and final in "AB":
        return f"shift+{_BY_FINAL[final]}"
    return _BY_FINAL.get(final, OTHER) if numbers in ("", "1", "1;1") else OTHER
