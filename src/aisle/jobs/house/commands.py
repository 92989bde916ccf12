"""The list of all commands: the letters and numbers of the page below, the pages of home, languages and colours.

Found by typing, run by number. A scan is not for this page: it leaves for the job below (`passes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aisle.jobs import window
from aisle.jobs.base import Close, Context, Event, Opened, Query, Remark, Resumed, Rows, SignOut, Start, Tune, Turn
from aisle.jobs.house import leaving
from aisle.jobs.house.home_state import DESK, MENU, MORE
from aisle.jobs.house.home_state import JOBS as MENU_JOBS
from aisle.jobs.view import INFO, WRONG, ListWindow, Msg, Row, Verdict, msg, raw
from aisle.scan.meaning import Back, Choice, Command, Echo, Move, Open, Refused, Said, Text, Unknown
from aisle.settings import LANGUAGES
from aisle.tuples import NamedTuple
from aisle.words import plain

NAMES = {"en": "English", "nl": "Nederlands", "de": "Deutsch", "fr": "Français"}
"""What languages are called by those who speak them."""

THEMES = {"": "theme.lean", "light": "theme.light", "dark": "theme.dark", "contrast": "theme.contrast"}

LETTER, NUMBER, PAGE, TUNE = "letter", "number", "page", "tune"
"""What a command is: a letter or a numbered choice of the page below, a page of home, a change of this terminal."""

LONGEST_NUMBER = 3
"""Digits that somebody types for a number of the list; more of them are a code."""

OWN = "hb"
"""Letters that do the same on this page: what leads back, and help."""


class Entry(NamedTuple):
    """One command."""

    text: Msg
    kind: str
    key: str
    """The letter, the number, the index in `pages()`, or `name=value`."""
    shown: str = ""
    """The key that does the same on the page below."""


class Palette(NamedTuple):
    """The commands that fit what is typed, in a window; `words` are what each is called, to be found by."""

    entries: tuple[Entry, ...] = ()
    words: tuple[str, ...] = ()
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[Entry, ...] = ()
    total: int = 0
    leaving: bool = False
    """He was told what is not sent yet: signing out once more does it."""


Result = Turn[Palette]


class CommandsJob:
    """A page of commands, on top of any other."""

    name = "commands"
    steps: tuple[str, ...] = ("commands",)
    version = 1
    journalled = False

    def begin(self) -> Palette:
        """Nothing to choose yet."""
        return Palette()

    def open(self, state: Palette) -> Open:
        """Numbers choose, words find, letters turn the page."""
        return Open(choices=window.numbered_rows(state), letters=window.LETTERS)

    def prefers(self, state: Palette) -> tuple[str, ...]:
        """Nothing: what is scanned is for the job below."""
        return ()

    def passes(self, state: Palette, said: Said) -> bool:
        """Codes, whether somebody knows them or not. A number or a letter that is none of the list is no answer to the
        page below, which cannot be seen."""
        if isinstance(said, Unknown):
            is_number = said.code.isdecimal() and len(said.code) <= LONGEST_NUMBER
            return not is_number and not _fitting(state.entries, state.words, said.code)
        return not isinstance(said, Text | Choice | Command | Back | Move | Echo | Refused)

    def at(self, state: Palette) -> str:
        """There is one page."""
        return self.name

    def step(self, state: Palette, event: Event, context: Context) -> Result:
        """Typing finds, a number runs."""
        size = window.room(context)
        match event:
            case Opened(args):
                entries = commands_of(args)
                state = Palette(entries)
                asked = Query("words", "words", {"messages": tuple(entry.text for entry in entries)}, live=True)
                return Turn(_windowed(state, size), (asked,))
            case Rows("words", rows, _):
                return Turn(_windowed(state._replace(words=tuple(str(row["words"]) for row in rows)), size))
            case Rows("open"):
                told = leaving.told(event)
                return Turn(state._replace(leaving=True), (), told) if told else Turn(state, (Close(), SignOut()))
            case Echo(text):
                listed = window.typing(state, text, ".")
                return Turn(state if listed is None else _windowed(listed, size))
            case Text(text) | Unknown(text):
                return _found(state._replace(search=text, typed="", first=0, cursor=-1), size, context)
            case Choice() | Move("enter"):
                entry = window.picked(state, event)
                return _run(state, entry, context) if entry else Turn(state)
            case Command("n" | "p" as key) | Move(key):
                return Turn(_windowed(window.turned(state, key, size), size))
            case Resumed():
                return Turn(_windowed(state, size))
            case Back():
                return _back(state, size)
        return Turn(state)

    def view(self, state: Palette) -> ListWindow:
        """Each command, and the key that does the same on the page below."""
        return window.shown(
            state,
            self.name,
            msg("commands.title"),
            msg("commands.prompt"),
            (msg("commands.head"), msg("commands.head_key")),
            tuple(Row(entry.key, (entry.text, raw(entry.shown))) for entry in state.rows),
            empty=msg("commands.empty"),
        )


def pages() -> tuple[tuple[Msg, Any], ...]:
    """What home leads to, and by what."""
    menu = tuple((msg(MENU[number - 1]), Start(job, {})) for number, job in MENU_JOBS.items())
    return (*menu, *MORE, *DESK)


def commands_of(args: Mapping[str, Any]) -> tuple[Entry, ...]:
    """Everything that can be done from the page that the arguments describe: `letters` and `choices` of it with their
    `keys`, how many of its rows are `numbered` before those, the jobs that are `open`, whether somebody is `signed_in`,
    `language`, `theme` and whether there are `colours` for one."""
    letters = [Entry(hint.text, LETTER, hint.letter, hint.letter) for hint in args["letters"] if hint.letter not in OWN]
    shown = args.get("keys", "")
    numbers = [
        Entry(text, NUMBER, str(at), shown[at - 1] if shown else str(at))
        for at, text in enumerate(args["choices"], args["numbered"] + 1)
    ]
    places = [
        Entry(text, PAGE, str(at))
        for at, (text, effect) in enumerate(pages() if args["signed_in"] else ())
        if not (isinstance(effect, Start) and effect.job in args["open"])
    ]
    tunes = [
        Entry(msg("commands.language", name=NAMES[each]), TUNE, f"language={each}")
        for each in LANGUAGES
        if each != args["language"]
    ]
    if args["colours"]:
        tunes += [
            Entry(msg("commands.theme", name=msg(id_)), TUNE, f"theme={name}")
            for name, id_ in THEMES.items()
            if name != args["theme"]
        ]
    found: dict[Msg, Entry] = {}
    for entry in (*letters, *numbers, *places, *tunes):
        found.setdefault(entry.text, entry)
    return tuple(found.values())


def _fitting(entries: Iterable[Entry], words: tuple[str, ...], text: str) -> tuple[Entry, ...]:
    """The commands in whose name each of these words begins one, however somebody writes its accents."""
    asked = plain(text).split()
    named = zip(entries, (*words, *[""] * 99), strict=False)
    return tuple(
        entry
        for entry, name in named
        if all(any(word.startswith(part) for word in plain(name).split()) for part in asked)
    )


def _windowed(state: Palette, size: int) -> Palette:
    looked = state.typed or state.search
    fitting = _fitting(state.entries, state.words, looked) if looked else state.entries
    first = state.first if state.first < len(fitting) else 0
    return state._replace(rows=fitting[first : first + max(1, size)], total=len(fitting), first=first)


def _found(state: Palette, size: int, context: Context) -> Result:
    """Words that were ended with Enter: one command that they fit is run."""
    after = _windowed(state, size)
    if not after.total:
        told = Verdict(WRONG, msg("commands.no_such", text=state.search))
        return Turn(_windowed(state._replace(search=""), size), (), told)
    return _run(after, after.rows[0], context) if after.total == 1 else Turn(after)


def _back(state: Palette, size: int) -> Result:
    """From what was found to all of them, from there to the page below."""
    if state.search:
        return Turn(_windowed(state._replace(search="", first=0, cursor=-1), size))
    return Turn(state, (Close(),))


def _run(state: Palette, entry: Entry, context: Context) -> Result:
    match entry.kind:
        case "letter":
            return Turn(state, (Close(said=Command(entry.key)),))
        case "number":
            return Turn(state, (Close(said=Choice(int(entry.key))),))
        case "page":
            effect = pages()[int(entry.key)][1]
            if isinstance(effect, SignOut) and not state.leaving:
                return Turn(state, (leaving.asked(context),))
            return Turn(state, (Close(start=effect),) if isinstance(effect, Start) else (Close(), effect))
    name, _, value = entry.key.partition("=")
    if name == "language" and context.user:  # his wherever he signs in on this host; colours are the terminal's
        told = Verdict(INFO, msg("commands.spoken", what=entry.text))
        return Turn(state, (Close(), Tune(name, value), Remark("language", context.user, value)), told)
    told = Verdict(INFO, msg("commands.tuned", what=entry.text))
    return Turn(state, (Close(), Tune(name, value)), told)
