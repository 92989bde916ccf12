"""The application identifiers of the GS1 General Specifications: what may stand behind each, and how long it may be."""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import cache, lru_cache
from typing import Final

_X: Final = r"[!-\"%-?A-Z_a-z]"
"""The 82 characters of GS1 data."""
_Y: Final = r"[#\-/0-9A-Z]"
_Z: Final = r"[\-0-9=A-Z_a-z]"
_KINDS: Final = {"N": r"[0-9]", "X": _X, "Y": _Y, "Z": _Z, "D": r"[0-9]", "M": r"[0-9]"}
"""D is a date YYMMDD, day 00 for the whole month; M the same with a time or a second date behind it. `X..20` is one to
20 of them, `X?17` none to 17."""

_FORMATS: Final = """
00 N18|01 N14|02 N14|03 N14|10 X..20|11 D6|12 D6|13 D6|15 D6|16 D6|17 D6|20 N2|21 X..20|22 X..20|235 X..28|240 X..30
241 X..30|242 N..6|243 X..20|250 X..30|251 X..30|253 N13 X?17|254 X..20|255 N13 N?12|30 N..8|37 N..8
31[0-6][0-5] N6|32[0-9][0-5] N6|33[0-7][0-5] N6|34[0-9][0-5] N6|35[0-7][0-5] N6|36[0-9][0-5] N6
390[0-9] N..15|391[0-9] N3 N..15|392[0-9] N..15|393[0-9] N3 N..15|394[0-3] N4|395[0-5] N6
400 X..30|401 X..30|402 N17|403 X..30|41[0-7] N13|420 X..20|421 N3 X..9|422 N3|423 N3 N?12|424 N3|425 N3 N?12|426 N3
427 X..3|430[01] X..35|430[2-6] X..70|4307 X2|4308 X..30|4309 N20|431[01] X..35|431[2-6] X..70|4317 X2|4318 X..20
4319 X..30|4320 X..35|432[123] N1|432[45] M10|4326 D6|433[0-3] N6 X?1|7001 N13|7002 X..30|7003 M10|7004 N..4|7005 X..12
7006 D6|7007 M6 N?6|7008 X..3|7009 X..10|7010 X..2|7011 M6 N?4|702[012] X..20|7023 X..30|703[0-9] N3 X..27|7040 N1 X3
7041 X..4|71[0-7] X..20|723[0-9] X2 X..28|7240 X..20|7241 N2|7242 X..25|7250 N8|7251 N12|7252 N1|7253 X..40|7254 X..40
7255 X..10|7256 X..90|7257 X..70|7258 X3|7259 X..40|8001 N14|8002 X..20|8003 N14 X?16|8004 X..30|8005 N6|8006 N18
8007 X..34|8008 N8 N?4|8009 X..50|8010 Y..30|8011 N..12|8012 X..20|8013 X..25|8014 X..25|8017 N18|8018 N18|8019 N..10
8020 X..25|8026 N18|8030 Z..90|8040 N15|8041 N15|8042 N32|8043 N18 N?2|8110 X..70|8111 N4|8112 X..70|8200 X..70
90 X..30|91 X..90|92 X..90|93 X..90|94 X..90|95 X..90|96 X..90|97 X..90|98 X..90|99 X..90
"""

_PREDEFINED: Final = frozenset(f"{number:02}" for number in (*range(5), *range(11, 21), *range(31, 37), 41))
"""First two digits of the identifiers behind whose value no separator is needed."""
_PART: Final = re.compile(r"([NXYZDM])(\d+)?(?:(\.\.|\?)(\d+))?")


@cache
def _formats() -> dict[str, list[tuple[str, str]]]:
    """The identifiers by their first two digits: of each its pattern, and the format of its value."""
    found: dict[str, list[tuple[str, str]]] = {}
    for row in _FORMATS.replace("\n", "|").split("|"):
        ai, _, value = row.partition(" ")
        found.setdefault(ai[:2], []).append((ai, value))
    return found


def _compiled(value: str) -> tuple[re.Pattern[str], int]:
    """The pattern of a value, and how many characters it has at most."""
    pattern, most = "", 0
    for kind, all_, how, most_ in _PART.findall(value):
        last = int(most_ or all_)
        pattern += f"{_KINDS[kind]}{{{all_ or int(how != '?')},{last}}}"
        most += last
    return re.compile(pattern), most


class Identifier:
    """One application identifier at the beginning of a message."""

    __slots__ = ("_is_date", "_value", "ai", "is_predefined", "longest")

    def __init__(self, ai: str, value: re.Pattern[str], longest: int, is_date: bool) -> None:
        self.ai = ai
        self.longest = longest
        """Characters that its value has at most."""
        self.is_predefined = ai[:2] in _PREDEFINED
        """Its value has one length, and needs no separator behind it."""
        self._value = value
        self._is_date = is_date

    def takes(self, value: str) -> bool:
        """Whether a value has the right length, characters and, if it is one, date."""
        if not self._value.fullmatch(value):
            return False
        return not self._is_date or bool(iso_date(value[:6]))

    def begins(self, value: str) -> bool:
        """Whether a value of it may end inside this text: what comes after that belongs to the next identifier."""
        longest = min(self.longest, len(value) - 1)
        return any(self.takes(value[:length]) for length in range(longest, 0, -1))


def identifier_at(text: str) -> Identifier | None:
    """The application identifier that a message begins with."""
    return _identifier(text[:4])


@lru_cache(maxsize=512)
def _identifier(head: str) -> Identifier | None:
    for ai, value in _formats().get(head[:2], ()):
        if found := re.match(ai, head):
            return Identifier(found.group(), *_compiled(value), value[0] in "DM")
    return None


def iso_date(value: str) -> str:
    """YYMMDD as an ISO date, always in this century; day 00 is the last of its month. Empty if it is no date."""
    if len(value) != 6 or not (value.isascii() and value.isdigit()):
        return ""
    year, month, day = 2000 + int(value[:2]), int(value[2:4]), int(value[4:])
    try:
        if day:
            return date(year, month, day).isoformat()
        next_month = date(year, month, 28) + timedelta(days=4)
        return (next_month - timedelta(days=next_month.day)).isoformat()
    except ValueError:
        return ""
