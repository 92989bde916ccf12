"""A sample of the page on which a note is read."""

from __future__ import annotations

from aisle.jobs.house.note import Note, NoteJob, Reading
from aisle.jobs.view import Frame, Link

LONG = (
    "Please call before you bring it out, I wait in the blue van behind the bakery. No bananas that are green, and if "
    "there is no oat milk of the kind I asked for, any other kind without sugar will do. The bags are in the box."
)


def note(text: str) -> Frame:
    """Two notes of a round, one of them long."""
    notes = (
        Note(("A", text or "100042", text or "J. Jansen"), f"{text} {LONG}".strip()),
        Note(("B", "100049", ""), text or "Thanks!"),
    )
    return Frame(NoteJob().view(Reading(notes)), Link("live", 12.0), None, "", "0042", "Anna", 14)
