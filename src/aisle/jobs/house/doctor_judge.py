"""What the doctor thinks of the last input and of those before it: one sentence, the gravest thing first."""

from __future__ import annotations

import re
from typing import Final

from aisle.code_forms import checks, upc_e_expanded
from aisle.jobs.house.doctor_state import Input
from aisle.jobs.view import GOOD, INFO, WRONG, Msg, Verdict, msg
from aisle.scan.decoder import LONGEST_LINE
from aisle.scan.faults import NO_SEPARATOR
from aisle.scan.gs1 import fault_of, looks_like, message
from aisle.scan.layouts import is_garbled
from aisle.scan.separators import GS

SLOW_MS: Final = 100
"""A longer pause inside an input comes from fingers, or from a slow line."""

ENDS: Final = {
    "cr": msg("doctor.end_cr"),
    "lf": msg("doctor.end_lf"),
    "tab": msg("doctor.end_tab"),
    "etx": msg("doctor.end_etx"),
    "paste": msg("doctor.end_paste"),
}
"""What ends an input, in words."""

_OPEN_ENDED: Final = ("10", "21", "22", "240", "241", "250", "30", "37")
"""Identifiers of everyday labels whose value a separator ends."""
_SWALLOWED: Final = re.compile(r".+(?:1[1-7]\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])|01\d{14})", re.DOTALL)
"""A value that goes on with a date or a GTIN: the GS between them is missing."""
_TWICE: Final = (16, 24, 26, 28)
"""Characters of two EAN or UPC codes in a row."""


def judged(inputs: tuple[Input, ...]) -> Verdict:
    """The sentence about the youngest of these inputs, which are at least one."""
    last = inputs[0]
    if last.key:
        return Verdict(INFO, msg("doctor.key", name=last.key))
    wrong = _wrong(last)
    if wrong:
        return Verdict(WRONG, wrong)
    if last.gap_ms > SLOW_MS:
        return Verdict(INFO, msg("doctor.slow", ms=last.gap_ms))
    if _is_gs1(last) and (sign := message(last.code).substitute):
        return Verdict(INFO, msg("doctor.gs_as", sign=sign))
    ends = tuple(dict.fromkeys(each.end for each in inputs if not each.key and each.gap_ms <= SLOW_MS))
    if len(ends) > 1:
        return Verdict(INFO, msg("doctor.suffixes", one=ENDS[ends[0]], other=ENDS[ends[1]]))
    if last.means == "unknown" and _is_misread(last.code):
        return Verdict(INFO, msg("doctor.check"))
    if last.symbol:
        return Verdict(GOOD, msg("doctor.fine_aim", end=ENDS[last.end]))
    return Verdict(GOOD, msg("doctor.fine", end=ENDS[last.end]))


def _wrong(last: Input) -> Msg | None:
    """What has to be set otherwise at the scanner."""
    code = last.code
    if len(last.text) >= LONGEST_LINE or _is_twice(code):
        return msg("doctor.two_codes")
    if last.means != "command" and is_garbled(code):
        return msg("doctor.layout")
    fault = fault_of(code, last.gs1) if _is_gs1(last) else ""
    if fault == NO_SEPARATOR or (_is_gs1(last) and _lacks_gs(code)):
        return msg("doctor.no_gs")
    return msg("doctor.gs1_broken") if fault else None


def _is_twice(code: str) -> bool:
    half = len(code) // 2
    return len(code) in _TWICE and checks(code[:half]) and checks(code[half:])


def _is_misread(code: str) -> bool:
    """Whether a code has the length of an EAN or UPC, but another check digit."""
    return len(code) in (8, 12, 13, 14) and code.isdigit() and not checks(code) and not upc_e_expanded(code)


def _is_gs1(last: Input) -> bool:
    """Whether an input is GS1 data: the scanner says so, or says nothing and it looks like that."""
    return last.gs1 or (not last.symbol and looks_like(last.code))


def _lacks_gs(code: str) -> bool:
    """Whether a value of a GS1 message runs on into what should be the next one."""
    if GS in code:
        return False
    found = message(code)
    values = (value for ai, value in found.values.items() if ai in _OPEN_ENDED)
    return not found.substitute and any(map(_SWALLOWED.fullmatch, values))
