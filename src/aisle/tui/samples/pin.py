"""Samples of the page that asks for a PIN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aisle.jobs.pin import PinJob, Proving
from aisle.jobs.view import ASK, INFO, WRONG, Frame, Link, Verdict, msg

LIVE, OFFLINE = Link("live", 12.0), Link("offline", 70.0, 3)


def _frame(text: str, verdict: Verdict | None, link: Link = LIVE, typed: str = "", **fields: Any) -> Frame:
    state = Proving(name=text or "Fred Harper")._replace(**fields)
    return Frame(PinJob().view(state), link, verdict, typed, "0042", text or "Fred Harper", 5)


def _asked(text: str) -> Frame:
    return _frame(text, Verdict(ASK, msg("pin.now")), typed="***")


def _wrong(text: str) -> Frame:
    return _frame(text, Verdict(WRONG, msg("pin.wrong")), waiting=2)


def _wait(text: str) -> Frame:
    return _frame(text, Verdict(INFO, msg("pin.asked")), phase="wait")


def _late(text: str) -> Frame:
    why = msg("pin.not_sent", why=text) if text else msg("pin.no_answer")
    return _frame(text, Verdict(WRONG, why), OFFLINE, phase="late", may_wait=True, why=why)


PINS: tuple[tuple[str, str, Callable[[str], Frame]], ...] = (
    ("pin", "asked", _asked),
    ("pin", "wrong", _wrong),
    ("pin.wait", "asked", _wait),
    ("pin.late", "no-answer", _late),
)
"""Screen, state, and how it is built."""
