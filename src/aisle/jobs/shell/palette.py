"""The list of all commands: the letters and numbers of the page below, the pages of home, languages and colours.

Found by typing, run by number. A scan is not for this page: it leaves for the job below (`passes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from aisle.jobs import pages
from aisle.jobs.job import (
    Close,
    Context,
    Event,
    Job,
    LocalNote,
    Opened,
    Query,
    Resumed,
    Rows,
    SetPreference,
    SignOut,
    Start,
    Turn,
)
from aisle.jobs.shell import sign_in
from aisle.jobs.shell.home import MENU_JOBS as MENU_JOBS
from aisle.jobs.shell.home import MENU_TEXTS, MORE_MENU, STORE_MENU
from aisle.jobs.view import INFO, WRONG, ListView, Msg, Row, Verdict, msg, raw
from aisle.scan.meaning import (
    Accepts,
    Back,
    Choice,
    Command,
    CursorKey,
    Meaning,
    RefusedInput,
    Text,
    TypedText,
    UnknownCode,
)
from aisle.search_text import normalise_characters
from aisle.settings import LANGUAGES

LANGUAGE_NAMES = {"en": "English", "nl": "Nederlands", "de": "Deutsch", "fr": "Français"}
"""What languages are called by those who speak them."""

THEME_NAMES = {"": "theme.lean", "light": "theme.light", "dark": "theme.dark", "contrast": "theme.contrast"}

LETTER, NUMBER, PAGE, PREFERENCE = "letter", "number", "page", "tune"
"""What a command is: a letter or a numbered choice of the page below, a page of home, a change of this terminal."""

MAX_NUMBER_DIGITS = 3
"""Digits that somebody types for a number of the list; more of them are a code."""

OWN_LETTERS = "hb"
"""Letters that do the same on this page: what leads back, and help."""


class PaletteEntry(NamedTuple):
    """One command."""

    text: Msg
    kind: str
    key: str
    """The letter, the number, the index in `pages()`, or `name=value`."""
    shown_key: str = ""
    """The key that does the same on the page below."""


class PaletteState(NamedTuple):
    """The commands that fit what is typed, in a window; `words` are what each is called, to be found by."""

    entries: tuple[PaletteEntry, ...] = ()
    names: tuple[str, ...] = ()
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[PaletteEntry, ...] = ()
    total: int = 0
    is_sign_out_warned: bool = False
    """He was told what is not sent yet: signing out once more does it."""


Result = Turn[PaletteState]


class PaletteJob(Job[PaletteState]):
    """A page of commands, on top of any other."""

    name = "commands"
    steps: tuple[str, ...] = ("commands",)
    version = 1
    journalled = False

    def begin(self) -> PaletteState:
        """Nothing to choose yet."""
        return PaletteState()

    def accepts(self, state: PaletteState) -> Accepts:
        """Numbers choose, words find, letters turn the page."""
        return Accepts(choices=pages.numbered_rows(state), command_letters=pages.PAGE_LETTERS)

    def prefers(self, state: PaletteState) -> tuple[str, ...]:
        """Nothing: what is scanned is for the job below."""
        return ()

    def passes_to_below(self, state: PaletteState, meaning: Meaning) -> bool:
        """Codes, whether somebody knows them or not. A number or a letter that is none of the list is no answer to the
        page below, which cannot be seen."""
        if isinstance(meaning, UnknownCode):
            is_number = meaning.code.isdecimal() and len(meaning.code) <= MAX_NUMBER_DIGITS
            return not is_number and not _matching_entries(state.entries, state.names, meaning.code)
        return not isinstance(meaning, Text | Choice | Command | Back | CursorKey | TypedText | RefusedInput)

    def step_name(self, state: PaletteState) -> str:
        """There is one page."""
        return self.name

    def handle(self, state: PaletteState, event: Event, context: Context) -> Result:
        """Typing finds, a number runs."""
        size = pages.page_size(context)
        match event:
            case Opened(args):
                entries = collect_entries(args)
                state = PaletteState(entries)
                asked = Query("words", "words", {"messages": tuple(entry.text for entry in entries)}, is_live=True)
                return Turn(_with_window(state, size), (asked,))
            case Rows("words", rows, _):
                return Turn(_with_window(state._replace(names=tuple(str(row["words"]) for row in rows)), size))
            case Rows("open"):
                told = sign_in.open_work_verdict(event)
                return (
                    Turn(state._replace(is_sign_out_warned=True), (), told)
                    if told
                    else Turn(state, (Close(), SignOut()))
                )
            case TypedText(text):
                listed = pages.with_typed_search(state, text, ".")
                return Turn(state if listed is None else _with_window(listed, size))
            case Text(text) | UnknownCode(text):
                return _handle_search(state._replace(search=text, typed="", first=0, cursor=-1), size, context)
            case Choice() | CursorKey("enter"):
                entry = pages.chosen_row(state, event)
                return _run_entry(state, entry, context) if entry else Turn(state)
            case Command("n" | "p" as key) | CursorKey(key):
                return Turn(_with_window(pages.move_or_turn(state, key, size), size))
            case Resumed():
                return Turn(_with_window(state, size))
            case Back():
                return _go_back(state, size)
        return Turn(state)

    def view(self, state: PaletteState) -> ListView:
        """Each command, and the key that does the same on the page below."""
        return pages.list_view(
            state,
            self.name,
            msg("commands.title"),
            msg("commands.prompt"),
            (msg("commands.head"), msg("commands.head_key")),
            tuple(Row(entry.key, (entry.text, raw(entry.shown_key))) for entry in state.rows),
            empty=msg("commands.empty"),
        )


def home_pages() -> tuple[tuple[Msg, Any], ...]:
    """What home leads to, and by what."""
    menu = tuple((msg(MENU_TEXTS[number - 1]), Start(job, {})) for number, job in MENU_JOBS.items())
    return (*menu, *MORE_MENU, *STORE_MENU)


def collect_entries(args: Mapping[str, Any]) -> tuple[PaletteEntry, ...]:
    """Everything that can be done from the page that the arguments describe: `letters` and `choices` of it with their
    `keys`, how many of its rows are `numbered` before those, the jobs that are `open`, whether somebody is `signed_in`,
    `language`, `theme` and whether there are `colours` for one."""
    letters = [
        PaletteEntry(hint.text, LETTER, hint.letter, hint.letter)
        for hint in args["letters"]
        if hint.letter not in OWN_LETTERS
    ]
    shown = args.get("keys", "")
    numbers = [
        PaletteEntry(text, NUMBER, str(at), shown[at - 1] if shown else str(at))
        for at, text in enumerate(args["choices"], args["numbered"] + 1)
    ]
    places = [
        PaletteEntry(text, PAGE, str(at))
        for at, (text, effect) in enumerate(home_pages() if args["signed_in"] else ())
        if not (isinstance(effect, Start) and effect.job in args["open"])
    ]
    tunes = [
        PaletteEntry(msg("commands.language", name=LANGUAGE_NAMES[each]), PREFERENCE, f"language={each}")
        for each in LANGUAGES
        if each != args["language"]
    ]
    if args["colours"]:
        tunes += [
            PaletteEntry(msg("commands.theme", name=msg(id_)), PREFERENCE, f"theme={name}")
            for name, id_ in THEME_NAMES.items()
            if name != args["theme"]
        ]
    found: dict[Msg, PaletteEntry] = {}
    for entry in (*letters, *numbers, *places, *tunes):
        found.setdefault(entry.text, entry)
    return tuple(found.values())


def _matching_entries(entries: Iterable[PaletteEntry], names: tuple[str, ...], text: str) -> tuple[PaletteEntry, ...]:
    """The commands in whose name each of these words begins one, however somebody writes its accents."""
    asked = normalise_characters(text).split()
    named = zip(entries, (*names, *[""] * 99), strict=False)
    return tuple(
        entry
        for entry, name in named
        if all(any(word.startswith(part) for word in normalise_characters(name).split()) for part in asked)
    )


def _with_window(state: PaletteState, size: int) -> PaletteState:
    looked = state.typed or state.search
    fitting = _matching_entries(state.entries, state.names, looked) if looked else state.entries
    first = state.first if state.first < len(fitting) else 0
    return state._replace(rows=fitting[first : first + max(1, size)], total=len(fitting), first=first)


def _handle_search(state: PaletteState, size: int, context: Context) -> Result:
    """Words that were ended with Enter: one command that they fit is run."""
    after = _with_window(state, size)
    if not after.total:
        told = Verdict(WRONG, msg("commands.no_such", text=state.search))
        return Turn(_with_window(state._replace(search=""), size), (), told)
    return _run_entry(after, after.rows[0], context) if after.total == 1 else Turn(after)


def _go_back(state: PaletteState, size: int) -> Result:
    """From what was found to all of them, from there to the page below."""
    if state.search:
        return Turn(_with_window(state._replace(search="", first=0, cursor=-1), size))
    return Turn(state, (Close(),))


def _run_entry(state: PaletteState, entry: PaletteEntry, context: Context) -> Result:
    match entry.kind:
        case "letter":
            return Turn(state, (Close(event_for_below=Command(entry.key)),))
        case "number":
            return Turn(state, (Close(event_for_below=Choice(int(entry.key))),))
        case "page":
            effect = home_pages()[int(entry.key)][1]
            if isinstance(effect, SignOut) and not state.is_sign_out_warned:
                return Turn(state, (sign_in.query_open_work(context),))
            return Turn(state, (Close(start=effect),) if isinstance(effect, Start) else (Close(), effect))
    name, _, value = entry.key.partition("=")
    if name == "language" and context.user:  # his wherever he signs in on this host; colours are the terminal's
        told = Verdict(INFO, msg("commands.spoken", what=entry.text))
        return Turn(state, (Close(), SetPreference(name, value), LocalNote("language", context.user, value)), told)
    told = Verdict(INFO, msg("commands.tuned", what=entry.text))
    return Turn(state, (Close(), SetPreference(name, value)), told)
