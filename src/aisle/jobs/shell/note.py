"""Note page: comments of customers in full, above the job that they belong to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from aisle.jobs.job import Close, Context, Event, Job, Opened, Start, Turn, reply
from aisle.jobs.pages import PAGE_LETTERS, turn_page
from aisle.jobs.view import BACK, PAGE_HINTS, WRONG, Block, DetailView, Msg, msg, raw
from aisle.scan.meaning import (
    LOCATION,
    ORDER,
    PRODUCT,
    REFERENCE,
    Accepts,
    Back,
    Command,
    CursorKey,
    Scan,
    Text,
    UnknownCode,
)


class Note(NamedTuple):
    """One text and its heading, in parts."""

    heading: tuple[str, ...]
    text: str


class NoteState(NamedTuple):
    """Notes on the page."""

    notes: tuple[Note, ...] = ()
    page: int = 0


class NoteJob(Job[NoteState]):
    """Job for a page to read; a scan that the job below accepts closes it."""

    name = "note"
    state_type = NoteState
    steps: tuple[str, ...] = ("note",)
    journalled = True
    preferred_kinds = (PRODUCT, LOCATION, ORDER, REFERENCE)

    def accepts(self, state: NoteState) -> Accepts:
        return Accepts(command_letters=PAGE_LETTERS)

    def handle(self, state: NoteState, event: Event, context: Context) -> Turn[NoteState]:
        match event:
            case Opened(args):
                return Turn(NoteState(tuple(Note(tuple(map(str, whose)), str(text)) for whose, text in args["notes"])))
            case Command(key) | CursorKey(key):
                return Turn(state._replace(page=turn_page(state.page, key)))
            case Back():
                return Turn(state, (Close(),))
            case UnknownCode(code) | Text(code):
                return reply(state, WRONG, "note.unknown", code=code)
            case Scan((first, *_)):
                return reply(state, WRONG, "note.not_wanted", what=first.label or first.key)
        return Turn(state)

    def view(self, state: NoteState) -> DetailView:
        return DetailView(
            name=self.name,
            title=msg("note.title"),
            prompt=msg("note.prompt"),
            blocks=tuple(Block(_heading(note), ((raw(note.text),),)) for note in state.notes),
            page=state.page,
            key_hints=(*PAGE_HINTS, BACK),
        )


def _heading(note: Note) -> Msg:
    return raw(" · ".join(word for word in note.heading if word))


def start_note(notes: Iterable[Note]) -> Start:
    """Return the effect that opens the page."""
    return Start("note", {"notes": [[list(note.heading), note.text] for note in notes]})
