"""Samples of the scanner doctor's page."""

from __future__ import annotations

from aisle.jobs.base import Context, Event, Heard, Rows
from aisle.jobs.house.doctor import DoctorJob
from aisle.jobs.house.doctor_state import Doctor
from aisle.jobs.view import Frame, Link
from aisle.scan.meaning import PRODUCT, Meaning, Said, Thing, Unknown

TERMINAL = {"columns": 40, "rows": 20, "term": "xterm-256color", "encoding": "UTF-8", "colours": 256}


def _after(*heard: Heard, term: str = "") -> Frame:
    """The page after these inputs, as the job itself makes it."""
    job, verdict = DoctorJob(), None
    state: Doctor = job.begin()
    measured = Rows("terminal", ({**TERMINAL, "term": term or TERMINAL["term"]},), 1)
    events: tuple[Event, ...] = (measured, *heard)
    for event in events:
        turn = job.step(state, event, Context())
        state, verdict = turn.state, turn.verdict
    return Frame(job.view(state), Link("live", 5.0), verdict, "", "0042", "Anna", len(heard))


def _product(text: str) -> Said:
    return Thing((Meaning(PRODUCT, "4001", text or "Cola Zero 33 cl can, tray of 24"),))


def fresh(text: str) -> Frame:
    """Nothing scanned yet."""
    return _after(term=text)


def fine(text: str) -> Frame:
    """A scanner that does as it should, after a key."""
    ean, gs1 = Unknown("8710000000042"), "]C10108710000000042\x1d10AB12\x1d2177"
    return _after(
        Heard(key=text or "f5"),
        Heard("8710000000042", "tab", 3, "", ean),
        Heard(text or "A-03-12", "tab", 4, "", ean),
        Heard(gs1, "tab", 12, "\x00", _product(text)),
    )


def wrong(text: str) -> Frame:
    """A GS1 code whose separators are gone."""
    code = "]d201087100000000421021AB12" + "17261231"
    return _after(Heard(code, "cr", 2, "\x02", _product(text)))


DOCTOR = (
    ("doctor", "fresh", fresh),
    ("doctor", "fine", fine),
    ("doctor", "wrong", wrong),
)
"""Screen, state and what builds it."""
