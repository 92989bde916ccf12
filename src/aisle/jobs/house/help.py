"""Help: what the step below wants, what it takes, and its letters, for whoever stands in front of it.

The page is no place to work at: only what turns it or leads back is its own, all else is for the job below (`passes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aisle.jobs.base import Close, Context, Event, Opened, Turn
from aisle.jobs.house.help_texts import text_of
from aisle.jobs.view import BACK, PAGES, Block, Detail, Hint, Msg, msg
from aisle.jobs.window import LETTERS, leafed
from aisle.scan.meaning import (
    DELIVERY,
    LOCATION,
    ORDER,
    PERSON,
    PRODUCT,
    REFERENCE,
    Back,
    Command,
    Echo,
    Move,
    Open,
    Said,
)
from aisle.tuples import NamedTuple

KINDS = {
    PRODUCT: "help.product",
    LOCATION: "help.place",
    ORDER: "help.order",
    REFERENCE: "help.order",
    DELIVERY: "help.delivery",
    PERSON: "help.badge",
}
"""What of a store can be scanned, in words."""


class Help(NamedTuple):
    """The step that is asked about, and what it takes."""

    step: str = ""
    takes: tuple[str, ...] = ()
    """Message ids."""
    letters: tuple[Hint, ...] = ()
    keys: tuple[tuple[str, str], ...] = ()
    """Letters of the house that were given another key: the letter, and the key."""
    page: int = 0


class HelpJob:
    """A page to read, on top of any other."""

    name = "help"
    steps: tuple[str, ...] = ("help",)
    version = 1
    journalled = False

    def begin(self) -> Help:
        """About nothing yet."""
        return Help()

    def open(self, state: Help) -> Open:
        """Letters turn the page."""
        return Open(letters=LETTERS)

    def prefers(self, state: Help) -> tuple[str, ...]:
        """Nothing: what is scanned is for the job below."""
        return ()

    def passes(self, state: Help, said: Said) -> bool:
        """All but what turns the page, and what leads back."""
        return not (isinstance(said, Back | Move | Echo) or (isinstance(said, Command) and said.letter in LETTERS))

    def at(self, state: Help) -> str:
        """There is one page."""
        return self.name

    def step(self, state: Help, event: Event, context: Context) -> Turn[Help]:
        """Pages, and back."""
        match event:
            case Opened(args):
                return Turn(_opened(args))
            case Command(key) | Move(key):
                return Turn(state._replace(page=leafed(state.page, key)))
            case Back():
                return Turn(state, (Close(),))
        return Turn(state)

    def view(self, state: Help) -> Detail:
        """First what is wanted, then what can be done."""
        keys = dict(state.keys)
        always = (
            (msg("help.look"),),
            (msg("help.commands", key=keys.get(".", ".")),),
            (msg("help.back", key=keys.get("b", "b")),),
        )
        letters = tuple((msg("help.letter", letter=hint.letter, text=hint.text),) for hint in state.letters)
        blocks = (
            Block(msg("help.wants"), ((text_of(state.step, keys),),)),
            Block(msg("help.takes"), tuple((Msg(id_),) for id_ in state.takes)),
            Block(msg("help.letters"), letters),
            Block(msg("help.always"), always),
        )
        return Detail(
            name=self.name,
            title=msg("help.title"),
            prompt=msg("help.prompt"),
            blocks=tuple(block for block in blocks if block.rows),
            page=state.page,
            hints=(*PAGES, BACK),
        )


def _opened(args: Mapping[str, Any]) -> Help:
    takes = taken(args["open"], args["prefers"], listens=bool(args.get("listens")))
    return Help(str(args["step"]), takes, tuple(args["letters"]), tuple(args.get("keys", ())))


def taken(open_: Open, kinds: Iterable[str], *, listens: bool = False) -> tuple[str, ...]:
    """What a step takes, as message ids: what can be scanned first."""
    if listens:
        return ("help.anything",)
    found = [KINDS[kind] for kind in kinds if kind in KINDS]
    if open_.choices:
        found.append("help.choice_letter" if open_.keys else "help.number")
    if open_.quantity:
        found += ["help.quantity", "help.times"]
    if open_.text or open_.search:
        found.append("help.words")
    return tuple(dict.fromkeys(found))
