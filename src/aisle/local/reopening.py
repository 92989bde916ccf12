"""A session whose outbox was deleted or replaced under it goes on with what is at its place then."""

from __future__ import annotations

from aisle.local.journal import Journal
from aisle.local.outbox import Outbox, open_outbox
from aisle.local.reads import Reads
from aisle.local.rescue import Rescued
from aisle.local.terms import Rooms


def reopened(rooms: Rooms) -> tuple[Rooms, Rescued]:
    """The same rooms on new files, and what became of what the old ones held. Raises StorageError: then they are as
    they were, and it is to be tried again."""
    home = rooms.bell.home
    rescued = rooms.journal.put_back()
    outbox = open_outbox(home.folder)
    rooms.reads.close()
    rooms.journal.let_go()
    return Rooms(Reads(home, outbox), Journal(outbox), Outbox(outbox), rooms.bell), rescued
