"""Note page: comments of customers in full, above the job that they belong to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from aisle.jobs.job import Args, Context, Start, Turn
from aisle.jobs.pages_and_page_job import DetailPage, PageJob, refuse
from aisle.jobs.view import Block, Msg, msg, raw
from aisle.scan.grammar_and_meaning_types import LOCATION, ORDER, PRODUCT, REFERENCE, Match


class Note(NamedTuple):
    """One text and its heading, in parts."""

    heading: tuple[str, ...]
    text: str


class NoteState(NamedTuple):
    """Notes on the page."""

    notes: tuple[Note, ...] = ()
    page: int = 0


class NotePage(DetailPage[NoteState]):
    """Page with all notes."""

    name = "note"
    title_text = msg("note.title")
    prompt_text = msg("note.prompt")

    def blocks(self, state: NoteState) -> tuple[Block, ...]:
        return tuple(Block(_heading(note), ((raw(note.text),),)) for note in state.notes)

    def handle_text(self, state: NoteState, text: str, context: Context) -> Turn[NoteState]:
        return refuse(state, msg("count.unknown", code=text))


PAGE = NotePage()


class NoteJob(PageJob[NoteState]):
    """Job for a page to read; a scan that the job below accepts closes it."""

    name = "note"
    lists = ()
    state_type = NoteState
    steps: tuple[str, ...] = ("note",)
    preferred_kinds = (PRODUCT, LOCATION, ORDER, REFERENCE)

    def page(self, state: NoteState) -> NotePage:
        return PAGE

    def handle_opened(self, state: NoteState, args: Args, context: Context) -> Turn[NoteState]:
        return Turn(NoteState(tuple(Note(tuple(map(str, whose)), str(text)) for whose, text in args["notes"])))

    def handle_scan(self, state: NoteState, matches: tuple[Match, ...], context: Context) -> Turn[NoteState]:
        """Reject codes that the job below does not accept."""
        return refuse(state, msg("note.not_wanted", what=matches[0].label or matches[0].key))


def _heading(note: Note) -> Msg:
    return raw(" · ".join(word for word in note.heading if word))


def start_note(notes: Iterable[Note]) -> Start:
    """Return the effect that opens the page."""
    return Start("note", {"notes": [[list(note.heading), note.text] for note in notes]})
