"""A number after a scan that was not taken: it was meant for that scan, so it is asked back before it counts for the
goods on the page.

A part of aisle.local.session.session.
"""

from __future__ import annotations

from collections.abc import Sequence

from aisle.jobs.base import counted
from aisle.jobs.view import ASK, WRONG, Verdict, msg
from aisle.local.session.asking import page_of
from aisle.local.session.stack import Level
from aisle.scan.meaning import PRODUCT, Either, Quantity, Refused, Said, Text, Thing, Unknown
from aisle.tuples import NamedTuple

FEWEST = 5
"""Characters of a code that is refused as such; fewer were typed."""


class Astray(NamedTuple):
    """A scan that was not taken, and the goods whose quantity was open then."""

    page: tuple[int, str, str] = (0, "", "")
    product: str = ""


NOTHING = Astray()


def after(before: Astray, said: Said, verdict: Verdict | None, levels: Sequence[Level]) -> Astray:
    """What is kept in mind after an input, which was answered with this."""
    if verdict is not None and (verdict.kind, verdict.text.id) == (WRONG, "session.taken_not"):
        product, _ = counted(levels[-1].job, levels[-1].state)
        return Astray(page_of(levels), product) if product else NOTHING  # it was for the scan that nobody answered
    if isinstance(said, Quantity) or (isinstance(said, Refused) and len(said.text) < FEWEST):
        return NOTHING if isinstance(said, Refused) and said.why == "input.after" else before  # that asks it back
    if isinstance(said, Text) and not _is_code(said.text):
        return NOTHING
    if not isinstance(said, Thing | Unknown | Text | Refused | Either) or verdict is None or verdict.kind != WRONG:
        return NOTHING
    if isinstance(said, Unknown | Text | Refused) and levels[-1].job.name == "pick":
        return NOTHING  # what is to be taken stands on the page: a label that cannot be read is told by a number
    product, _ = counted(levels[-1].job, levels[-1].state)
    things = (said,) if isinstance(said, Thing) else said.ways if isinstance(said, Either) else ()
    goods = [each.key for thing in things for each in thing.meanings if each.kind == PRODUCT]
    if isinstance(said, Thing) and not goods:
        return before if before == Astray(page_of(levels), product) else NOTHING
    if not product or product in goods:
        return NOTHING
    return Astray(page_of(levels), product)


def _is_code(text: str) -> bool:
    """Whether words look like something that was scanned."""
    return len(text) >= FEWEST and " " not in text and any(map(str.isdigit, text))


def question(astray: Astray, text: str, levels: Sequence[Level]) -> Verdict | None:
    """What is asked of a number that was typed; None where it is for nothing else than what is on the page."""
    product, label = counted(levels[-1].job, levels[-1].state)
    if not astray.product or astray != Astray(page_of(levels), product):
        return None
    return Verdict(ASK, msg("input.astray", text=text, label=label))
