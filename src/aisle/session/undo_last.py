"""Undo on the home page: the last job of a person is reopened and undoes its last step.

The job says what was undone. What no job can undo is named, and nothing happens. Loaded when somebody asks for it.
"""

from __future__ import annotations

from aisle import json_codec
from aisle.jobs.job import Resumed
from aisle.jobs.view import INFO, WRONG, Verdict, msg
from aisle.scan.meaning import Command
from aisle.session.store_connection import StoreConnection
from aisle.session.verdicts import Verdicts
from aisle.session.work import Work


def undo_last(store: StoreConnection, work: Work, verdicts: Verdicts, store_number: str, user: str) -> None:
    """Undo the last operation of a user on this host. Raises StorageError."""
    if not work.commit():
        return
    operation = store.journal.last_operation(store_number, user)
    if operation is None:
        verdicts.show(Verdict(INFO, msg("home.nothing_to_undo")))
        return
    if operation.job is None or not store.unit_of_work.reopen(operation.job):
        verdicts.show(Verdict(WRONG, msg("home.not_undone", what=_record_number(operation.lanes))))
        return
    for event in (Resumed(), Command("u")):
        work.feed(event)


def _record_number(lanes: str) -> str:
    """Return the number of the first order, delivery or product that an operation was about."""
    first = json_codec.from_text(tuple[str, ...], lanes)[:1] or ("",)
    return first[0].partition("/")[2]
