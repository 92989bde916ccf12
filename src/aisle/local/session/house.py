"""What the house itself answers to on every page, whatever the job: help, the list of commands, keys with other names.

Neither takes anything from the job below: what is not their own leaves them and is said there (`passes`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from aisle.jobs.base import Query, Rows, Start, hides, listens
from aisle.jobs.view import BACK, PAGING, Detail, Hint, Msg, Step, View, numbered_rows
from aisle.local.session.stack import Level
from aisle.scan.meaning import Back, Command, Said

PAGES = {"h": "help", ".": "commands"}
"""The letters of the house, and the pages that they open."""

HELP_CODE = "AISLE:HELP"
"""The printed command barcode for the first of them."""

Words = Callable[[Msg, str], str]
"""All that a message says in a language; who composes the program knows it."""


def page_called(text: str, top: Level) -> str:
    """The page of the house that a line asks for; empty for none. A job that listens gets what was scanned."""
    text = text.strip(" ")
    if text.upper() == HELP_CODE and not listens(top.job):
        return PAGES["h"]
    return PAGES.get(text.lower(), "")


def pressed(text: str, keys: Mapping[str, str], top: Level) -> str:
    """What a line means once keys have other names: a single one is the command that was given to it. A page that takes
    any text has it as text, unless it knows that command."""
    own = keys.get(text.strip(" ").lower()) if keys else None
    if own is None or listens(top.job):
        return text
    open_ = top.job.open(top.state)
    if text.strip(" ").lower() in open_.keys and own not in open_.keys:  # what is asked comes first
        return text
    return text if open_.text and own not in (*PAGES, *open_.letters) else own


def meant(key: str, keys: Mapping[str, str], aliases: Mapping[str, Said]) -> Said | None:
    """What a key that is no text stands for, if for anything."""
    if key in keys:
        return Back() if keys[key] == "b" else Command(keys[key])
    return aliases.get(key)


def is_house(level: Level) -> bool:
    """Whether this is one of its pages."""
    return level.job.name in PAGES.values()


def hidden(levels: Sequence[Level], text: str) -> bool:
    """Whether this text is a secret: on the page on the screen, or on the one under a page of the house."""
    below = next(level for level in reversed(levels) if not is_house(level))
    return hides(below.job, below.state, text)


def leads_back(level: Level) -> bool:
    """Whether its page says that something lies behind it, or below it."""
    return any(hint.letter == BACK.letter for hint in level.job.view(level.state).hints)


def renamed(view: View, shown: Mapping[str, str]) -> View:
    """The page with its letters as they are called here."""
    view = view._replace(hints=tuple(hint._replace(letter=shown.get(hint.letter, hint.letter)) for hint in view.hints))
    if isinstance(view, Step | Detail) and view.keys:
        return view._replace(keys="".join(_key(each, view.keys, shown) for each in view.keys))
    return view


def _key(letter: str, keys: str, shown: Mapping[str, str]) -> str:
    """What a choice is called here: its letter, unless a key was given to that which is none of the others."""
    named = shown.get(letter, letter)
    return named if len(named) == 1 and named not in keys else letter


def opening(
    name: str,
    levels: Sequence[Level],
    shown: Mapping[str, str],
    tuned: tuple[str, str],
    *,
    colours: bool,
    whole: bool,
) -> Start:
    """What opens a page of the house over these jobs. `shown`: keys of letters that have another one; `tuned`: language
    and theme of the terminal; `whole`: all of the page is on the screen."""
    top = levels[-1]
    view = top.job.view(top.state)
    if whole:
        view = view._replace(hints=tuple(hint for hint in view.hints if hint.stays or hint.text.id not in PAGING))
    if name == "help":
        args = {
            "step": view.name,
            "open": top.job.open(top.state),
            "prefers": top.job.prefers(top.state),
            "listens": listens(top.job),
            "letters": _letters(view, shown),
            "keys": tuple(shown.items()),
        }
        return Start(name, args)
    hears = not listens(top.job)
    return Start(
        name,
        {
            "letters": view.hints if hears else (),
            "choices": view.choices if hears else (),
            "keys": view.keys if isinstance(view, Step | Detail) else "",
            "numbered": numbered_rows(view),
            "open": tuple(level.job.name for level in levels),
            "signed_in": levels[0].job.name != "sign_in",
            "language": tuned[0],
            "theme": tuned[1],
            "colours": colours,
        },
    )


def _letters(view: View, shown: Mapping[str, str]) -> tuple[Hint, ...]:
    return tuple(hint._replace(letter=shown.get(hint.letter, hint.letter)) for hint in view.hints)


def words(query: Query, language: str, say: Words | None) -> Rows:
    """The answer to the query `words`: what messages say, to be found by."""
    rows = tuple({"words": say(each, language) if say else each.id} for each in query.args["messages"])
    return Rows(query.id, rows, len(rows))
