"""A note: what somebody wrote, to be read whole, on top of the job that it is about."""

from __future__ import annotations

from collections.abc import Iterable

from aisle.jobs.base import Close, Context, Event, Opened, Start, Turn
from aisle.jobs.view import BACK, PAGES, WRONG, Block, Detail, Msg, Verdict, msg, raw
from aisle.jobs.window import LETTERS, leafed
from aisle.scan.meaning import LOCATION, ORDER, PRODUCT, REFERENCE, Back, Command, Move, Open, Text, Thing, Unknown
from aisle.tuples import NamedTuple


class Note(NamedTuple):
    """One text and whose it is, in a few words each."""

    whose: tuple[str, ...]
    text: str


class Reading(NamedTuple):
    """The notes on the page."""

    notes: tuple[Note, ...] = ()
    page: int = 0


class NoteJob:
    """A page to read; a scan that the job below takes ends it."""

    name = "note"
    steps: tuple[str, ...] = ("note",)
    version = 1
    journalled = True

    def begin(self) -> Reading:
        """Nothing to read."""
        return Reading()

    def open(self, state: Reading) -> Open:
        """Letters turn the page."""
        return Open(letters=LETTERS)

    def prefers(self, state: Reading) -> tuple[str, ...]:
        """Nothing in particular: what is scanned is for the job below."""
        return (PRODUCT, LOCATION, ORDER, REFERENCE)

    def at(self, state: Reading) -> str:
        """There is one page."""
        return self.name

    def step(self, state: Reading, event: Event, context: Context) -> Turn[Reading]:
        """Pages, and back."""
        match event:
            case Opened(args):
                return Turn(Reading(tuple(Note(tuple(map(str, whose)), str(text)) for whose, text in args["notes"])))
            case Command(key) | Move(key):
                return Turn(state._replace(page=leafed(state.page, key)))
            case Back():
                return Turn(state, (Close(),))
            case Unknown(code) | Text(code):
                return Turn(state, (), Verdict(WRONG, msg("note.unknown", code=code)))
            case Thing((first, *_)):
                return Turn(state, (), Verdict(WRONG, msg("note.not_below", what=first.label or first.key)))
        return Turn(state)

    def view(self, state: Reading) -> Detail:
        """The notes under each other."""
        return Detail(
            name=self.name,
            title=msg("note.title"),
            prompt=msg("note.prompt"),
            blocks=tuple(Block(_whose(note), ((raw(note.text),),)) for note in state.notes),
            page=state.page,
            hints=(*PAGES, BACK),
        )


def _whose(note: Note) -> Msg:
    return raw(" · ".join(word for word in note.whose if word))


def reading(notes: Iterable[Note]) -> Start:
    """What opens the page."""
    return Start("note", {"notes": [[list(note.whose), note.text] for note in notes]})
