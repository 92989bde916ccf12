"""Samples of the pages of the house: help, and the list of all commands."""

from __future__ import annotations

from collections.abc import Callable

from aisle.jobs.base import Context, Opened, Rows
from aisle.jobs.house.commands import CommandsJob, Palette
from aisle.jobs.house.help import HelpJob
from aisle.jobs.view import INFO, WRONG, Frame, Hint, Link, Msg, Verdict, msg, raw
from aisle.scan.meaning import LOCATION, ORDER, PRODUCT, Open, Text

LIVE = Link("live", 12.0)

LETTERS = (
    Hint("n", msg("hint.page_on")),
    Hint("s", msg("hint.short")),
    Hint("u", msg("hint.undo")),
    Hint("b", msg("hint.back")),
)
CHOICES: tuple[Msg, ...] = (msg("home.pick"), msg("home.lookup"), msg("home.more"))


def _frame(job: HelpJob | CommandsJob, state: object, verdict: Verdict | None = None, typed: str = "") -> Frame:
    return Frame(job.view(state), LIVE, verdict, typed, "0042", "Anna", 8)  # type: ignore[arg-type]


def _help(text: str) -> Frame:
    """In the middle of a pick."""
    told = {
        "step": "pick.product",
        "open": Open(quantity=True, choices=2),
        "prefers": (PRODUCT, LOCATION, ORDER),
        "letters": LETTERS,
    }
    return _frame(HelpJob(), HelpJob().step(HelpJob().begin(), Opened(told), Context()).state)


def _help_keys(text: str) -> Frame:
    """Where letters have another key."""
    told = {
        "step": "home",
        "open": Open(choices=7, search=True),
        "prefers": (ORDER, PRODUCT),
        "letters": (Hint("z", msg("hint.undo")), Hint("/", msg("hint.back"))),
        "keys": (("u", "z"), ("b", "/"), (".", "#")),
    }
    state = HelpJob().step(HelpJob().begin(), Opened(told), Context()).state
    return _frame(HelpJob(), state, Verdict(INFO, raw(text or "Anna")))


def _listed(size: int = 12, colours: bool = True) -> Palette:
    told = {
        "letters": LETTERS,
        "choices": CHOICES,
        "numbered": 0,
        "open": ("home", "pick"),
        "signed_in": True,
        "language": "en",
        "theme": "",
        "colours": colours,
    }
    context = Context(rows=size)
    state = CommandsJob().step(CommandsJob().begin(), Opened(told), context).state
    words = tuple({"words": entry.text.id.replace(".", " ")} for entry in state.entries)
    return CommandsJob().step(state, Rows("words", words, len(words)), context).state


def _commands(text: str) -> Frame:
    return _frame(CommandsJob(), _listed())


def _commands_plain(text: str) -> Frame:
    """A terminal with sixteen colours has no themes; a page that is cut by nothing."""
    return _frame(CommandsJob(), _listed(30, False)._replace(cursor=1))


def _commands_none(text: str) -> Frame:
    state = _listed()
    turn = CommandsJob().step(state, Text(text or "hoover"), Context())
    return _frame(CommandsJob(), turn.state, Verdict(WRONG, msg("commands.no_such", text=text or "hoover")))


def _commands_empty(text: str) -> Frame:
    state = _listed()._replace(typed=text or "hoo", rows=(), total=0)
    return _frame(CommandsJob(), state, typed=text or "hoo")


HOUSE: tuple[tuple[str, str, Callable[[str], Frame]], ...] = (
    ("help", "picking", _help),
    ("help", "keys", _help_keys),
    ("commands", "all", _commands),
    ("commands", "plain", _commands_plain),
    ("commands", "none", _commands_none),
    ("commands", "typing", _commands_empty),
)
"""Screen, state and how to build it."""
