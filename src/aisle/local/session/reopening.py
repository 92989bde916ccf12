"""A session whose outbox was deleted or replaced under it goes on with what is at its place then.

A part of aisle.local.session.session, which loads it when that has happened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.errors import StorageError
from aisle.jobs.told import words
from aisle.jobs.view import INFO, WRONG, Frame, Msg, Verdict, msg
from aisle.local.host.rescue import Rescued
from aisle.local.host.troubles import why_of
from aisle.local.outbox.journal import Journal
from aisle.local.outbox.outbox import Outbox, open_outbox
from aisle.local.reads.reads import Reads
from aisle.local.session.keeper import Keeper
from aisle.local.session.screen import frame
from aisle.local.session.terms import Rooms

if TYPE_CHECKING:
    from aisle.local.session.desk import Desk


def gone(desk: Desk) -> Frame:
    """Nothing is noted at a place where nobody reads it: says so, as long as it is so."""
    try:
        rescued = stand_again(desk)
        back = Verdict(INFO, words(rescued.told))
        desk._tell(back if rescued.whole else Verdict(WRONG, msg("session.other_file", why=words(rescued.told))))
    except StorageError as error:
        desk._tell(Verdict(WRONG, msg("session.no_file", why=why_of(error))))
    return frame(desk)


def stood_again(desk: Desk) -> Msg:
    """What became of the files, and what has to be done."""
    try:
        return msg("session.why_again", what=words(stand_again(desk).told))
    except StorageError as further:
        return why_of(further)


def stand_again(desk: Desk) -> Rescued:
    """Goes on with the files that are there now: on the same step, where they have what was noted; else as a
    session that begins. Raises StorageError while that cannot be done."""
    rooms, rescued = reopened(desk._rooms)
    if rescued.whole:
        desk._furnish(rooms)
        desk._keeper.move(rooms.journal)
        desk._lookout.go_on()
        return rescued
    rooms.journal.end_session(desk._id)  # an older copy of the file may know it
    desk._id = desk._name()
    desk._furnish(rooms)
    desk._keeper = Keeper(rooms.journal, desk._stack, desk._id)
    desk._start()
    return rescued


def reopened(rooms: Rooms) -> tuple[Rooms, Rescued]:
    """The same rooms on new files, and what became of what the old ones held. Raises StorageError: then they are as
    they were, and it is to be tried again."""
    home = rooms.bell.home
    rescued = rooms.journal.put_back()
    outbox = open_outbox(home.folder)
    rooms.reads.close()
    rooms.journal.let_go()
    return Rooms(Reads(home, outbox), Journal(outbox), Outbox(outbox), rooms.bell), rescued
