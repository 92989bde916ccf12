"""A code that stands on several products: the one that the work has a use for, or a question which of them is meant.

A part of aisle.local.session.session.
"""

from __future__ import annotations

from collections.abc import Sequence

from aisle.jobs import DETOURS
from aisle.jobs.base import listens, wants
from aisle.jobs.numbers import named_apart
from aisle.local.session.stack import Level
from aisle.scan.meaning import PRODUCT, Either, Meaning, Said, Thing


def told_apart(levels: Sequence[Level], said: Said) -> Said:
    """What was said, of one product alone: nobody can see which of those with its code was scanned.

    A job says by `uses` (state, product number) what it works with; of that alone is asked where there is any of it.
    One that says `asks_which` does it by itself. A look is at any of them.
    """
    if not isinstance(said, Thing) or said.meanings[0].kind != PRODUCT:
        return said
    products = [each for each in said.meanings if each.kind == PRODUCT]
    level = _taker(levels, said)
    wanted = any(PRODUCT in each.job.prefers(each.state) for each in (level, levels[-1]))
    if len(products) < 2 or not wanted or listens(level.job):
        return said
    used = [] if said.lookup else _used(level, products)
    if len(used) != 1 and level is levels[-1] and getattr(level.job, "asks_which", False) and not said.lookup:
        return said
    others = tuple(each for each in said.meanings if each.kind != PRODUCT)
    ways = tuple(Thing((each, *others), said.lookup) for each in named_apart(used or products))
    return ways[0] if len(ways) == 1 else Either(ways)


def _taker(levels: Sequence[Level], thing: Thing) -> Level:
    """Whose the scan is: of a page that somebody opened for a look, the job below it comes first."""
    top = levels[-1]
    if thing.lookup or top.job.name not in DETOURS or wants(top.job, top.state):
        return top
    return next((level for level in reversed(levels) if level.job.name not in DETOURS), top)


def _used(level: Level, products: Sequence[Meaning]) -> list[Meaning]:
    uses = getattr(level.job, "uses", None)
    return [each for each in products if uses(level.state, each.key)] if uses else []
