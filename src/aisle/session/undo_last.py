"""Undo on home: the job by which somebody did something last is taken up again, and undoes its last step.

The job itself says what was undone, on its own page. What no job can undo is named, and nothing happens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle import json_codec
from aisle.jobs.job import Resumed
from aisle.jobs.view import INFO, WRONG, Verdict, msg
from aisle.scan.meaning import Command

if TYPE_CHECKING:
    from aisle.session.session_base import SessionBase


def undo_last(session: SessionBase) -> None:
    """Undoes the last thing that whoever is signed in did on this host. Raises StorageError."""
    if not session._commit():
        return
    found = session._store.journal.last_operation(session._profile.store, session._user.user)
    if found is None:
        session._show_verdict(Verdict(INFO, msg("home.nothing_to_undo")))
        return
    if found.job is None or not session._unit_of_work.reopen(found.job):
        session._show_verdict(Verdict(WRONG, msg("home.not_undone", what=_record_number(found.lanes))))
        return
    for event in (Resumed(), Command("u")):
        session._apply_result(session._stack.feed(event, session._context()), "")


def _record_number(lanes: str) -> str:
    """The order, delivery or product that an operation was about, the first that it names."""
    first = json_codec.from_text(tuple[str, ...], lanes)[:1] or ("",)
    return first[0].partition("/")[2]
