"""The scanner doctor: shows every input as it came, and says in one sentence what it thinks of the scanner.

It listens (`Heard`): nothing that is scanned here does anything but being looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.jobs.base import Close, Context, Event, Heard, Opened, Query, Resumed, Rows, Turn
from aisle.jobs.house.doctor_judge import judged
from aisle.jobs.house.doctor_state import Doctor, Input
from aisle.jobs.house.doctor_view import page_of
from aisle.jobs.view import Detail
from aisle.scan.grammar import COMMANDS, aim_of
from aisle.scan.meaning import (
    LOCATION,
    ORDER,
    PERSON,
    PRODUCT,
    REFERENCE,
    Back,
    Command,
    Echo,
    Either,
    Open,
    Said,
    Text,
    Thing,
    Times,
    Unknown,
)
from aisle.scan.separators import GS

KEPT = 12
"""Inputs that are remembered."""

Result = Turn[Doctor]


class DoctorJob:
    """Looks at a scanner, from a page of its own."""

    name = "doctor"
    steps: tuple[str, ...] = ("doctor",)
    version = 1
    journalled = False
    listens = True

    def begin(self) -> Doctor:
        """Nothing heard yet."""
        return Doctor()

    def open(self, state: Doctor) -> Open:
        """No quantity and no choice, so that `0` leads back."""
        return Open(letters="np")

    def prefers(self, state: Doctor) -> tuple[str, ...]:
        """As at home: what it would mean there."""
        return (ORDER, REFERENCE, PERSON, PRODUCT, LOCATION)

    def step(self, state: Doctor, event: Event, context: Context) -> Result:
        """Every input becomes the youngest; `n` and `p` turn the page."""
        match event:
            case Opened() | Resumed():
                return Turn(state, (Query("terminal", "terminal", {}, live=True),))
            case Rows("terminal", rows, _):
                return Turn(_measured(state, rows[0])) if rows else Turn(state)
            case Echo(text):
                return Turn(state._replace(typed=len(text)))
            case Back():
                return Turn(state, (Close(),))
            case Heard(said=Command("n" | "p" as letter)):
                return Turn(state._replace(page=state.page + (1 if letter == "n" else -1)))
            case Heard():
                inputs = (_input(event), *state.inputs[: KEPT - 1])
                return Turn(state._replace(inputs=inputs, typed=0, page=0), (), judged(inputs))
        return Turn(state)

    def at(self, state: Doctor) -> str:
        """There is one page."""
        return self.name

    def view(self, state: Doctor) -> Detail:
        """The last input, those before it, and the terminal."""
        return page_of(state)


def _measured(state: Doctor, row: Mapping[str, Any]) -> Doctor:
    return state._replace(
        columns=int(row["columns"]),
        rows=int(row["rows"]),
        term=str(row["term"]),
        encoding=str(row["encoding"]),
        colours=int(row.get("colours") or 0),
    )


def _input(heard: Heard) -> Input:
    if heard.key:
        return Input(key=heard.key)
    aim = aim_of(heard.text)
    means, label = _meaning(heard.said, aim.code)
    return Input(
        text=heard.text,
        end=heard.end,
        symbol=aim.symbol,
        gs1=aim.gs1,
        code=aim.code,
        gap_ms=heard.gap_ms,
        separators=heard.text.count(GS),
        dropped=heard.dropped,
        means=means,
        label=label,
    )


def _meaning(said: Said | None, code: str) -> tuple[str, str]:
    """What an input would mean at home, and the name of that."""
    if code.strip().upper() in COMMANDS:
        return "command", code
    match said:
        case Thing(meanings):
            return meanings[0].kind, meanings[0].label or meanings[0].key
        case Unknown() | Text():
            return "unknown", ""
        case Either():
            return "either", ""
        case Times(number):
            return "times", number
    return "nothing", ""
