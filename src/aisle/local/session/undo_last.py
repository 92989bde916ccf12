"""Undo on home: the job by which somebody did something last is taken up again, and undoes its last step.

The job itself says what was undone, on its own page. What no job can undo is named, and nothing happens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.jobs import codec
from aisle.jobs.base import Resumed
from aisle.jobs.view import INFO, WRONG, Verdict, msg
from aisle.scan.meaning import Command

if TYPE_CHECKING:
    from aisle.local.session.desk import Desk


def undo_last(desk: Desk) -> None:
    """Undoes the last thing that whoever is signed in did on this host. Raises StorageError."""
    if not desk._commit():
        return
    found = desk._rooms.journal.last_work(desk._terms.store, desk._who.user)
    if found is None:
        desk._tell(Verdict(INFO, msg("home.nothing_to_undo")))
        return
    if found.job is None or not desk._keeper.take_up(found.job):
        desk._tell(Verdict(WRONG, msg("home.not_undone", what=_named(found.lanes))))
        return
    for event in (Resumed(), Command("u")):
        desk._absorb(desk._stack.feed(event, desk._context()), "")


def _named(lanes: str) -> str:
    """The order, delivery or product that an operation was about, the first that it names."""
    first = codec.from_text(tuple[str, ...], lanes)[:1] or ("",)
    return first[0].partition("/")[2]
