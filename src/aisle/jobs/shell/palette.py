"""Command palette: letters and numbers of the page below, pages of home, languages and themes.

Commands are filtered by typing and run by number. A scan is passed to the job below (`passes_to_below`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from aisle.jobs import list_cursor_and_search
from aisle.jobs.job import (
    Args,
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
    reply,
)
from aisle.jobs.row_types.products import RecordRow
from aisle.jobs.shell import sign_in
from aisle.jobs.shell.home_orders_and_menu import MENU_JOBS as MENU_JOBS
from aisle.jobs.shell.home_orders_and_menu import MENU_TEXTS, MORE_MENU, STORE_MENU
from aisle.jobs.view import ASK, BACK, INFO, WRONG, ListView, Msg, Row, Verdict, msg, raw
from aisle.scan.grammar_and_meaning_types import (
    DELIVERY,
    LOCATION,
    ORDER,
    PRODUCT,
    Accepts,
    Back,
    Choice,
    Command,
    CursorKey,
    Meaning,
    RefusedInput,
    Scan,
    Text,
    TypedText,
    UnknownCode,
)
from aisle.search_text import normalise_characters
from aisle.settings.setting_definitions import LANGUAGES

LANGUAGE_NAMES = {"en": "English", "nl": "Nederlands", "de": "Deutsch", "fr": "Français"}

THEME_NAMES = {"": "theme.terminal", "light": "theme.light", "dark": "theme.dark", "contrast": "theme.contrast"}

LETTER, NUMBER, PAGE, PREFERENCE, RECORD = "letter", "number", "page", "tune", "record"
"""Kinds of commands: a letter or a numbered choice of the page below, a page of home, a preference of the terminal, a
record to open."""

RECORD_TEXTS = {
    ORDER: "palette.order",
    PRODUCT: "raw.cut",
    LOCATION: "palette.location",
    DELIVERY: "palette.delivery",
}

MIN_RECORD_LETTERS = 3
"""Characters of a search from which records are searched."""

MAX_NUMBER_DIGITS = 3
"""Maximum number of digits of a command's number; more are a code."""

QUIT_TEXT = "hint.quit"
"""Texts of the commands that end the program."""

SIGN_OUT_TEXT = "home.sign_out"
"""Text of the command that signs out."""

OWN_LETTERS = "hb"
"""Letters that work the same on this page and are not listed: Back and help."""


class PaletteEntry(NamedTuple):
    """One command."""

    text: Msg
    kind: str
    key: str
    """The letter, the number, the index in `home_pages()`, or `name=value`."""
    shown_key: str = ""
    """Letter that runs the same command on the page below. A number is not shown, since rows are numbered here."""


class PaletteState(NamedTuple):
    """Window of the commands that match; `names` are their texts in the user's language."""

    entries: tuple[PaletteEntry, ...] = ()
    names: tuple[str, ...] = ()
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[PaletteEntry, ...] = ()
    total: int = 0
    records: tuple[PaletteEntry, ...] = ()
    """Records of the store that match the search."""
    chosen: PaletteEntry | None = None
    """Command or record under the cursor when the line `chosen_for` was ended or deleted."""
    chosen_for: str = ""
    is_quit_asked: bool = False
    """True if it was asked whether to quit; the next Quit is executed."""
    is_sign_out_warned: bool = False
    """True if it was asked whether to sign out, with the open work; the next sign-out is executed."""


Result = Turn[PaletteState]


class PaletteJob(Job[PaletteState]):
    """Job for the list of commands, above any other job."""

    name = "palette"
    lists = ()
    state_type = PaletteState
    steps: tuple[str, ...] = ("palette",)
    journalled = False

    def accepts(self, state: PaletteState) -> Accepts:
        return Accepts(
            choices=list_cursor_and_search.numbered_rows(state), command_letters=list_cursor_and_search.PAGE_LETTERS
        )

    def passes_to_below(self, state: PaletteState, meaning: Meaning) -> bool:
        """Return True for codes, known or not. A number or letter that is not in the list is not passed, because the
        page below is not visible. A code over which the cursor chose a row is not passed either."""
        if _chosen_by_line(state, meaning):
            return False
        if isinstance(meaning, UnknownCode):
            is_number = meaning.code.isdecimal() and len(meaning.code) <= MAX_NUMBER_DIGITS
            return not is_number and not _matching_entries(state.entries, state.names, meaning.code)
        return not isinstance(meaning, Text | Choice | Command | Back | CursorKey | TypedText | RefusedInput)

    def keeps_next_scan(self, state: PaletteState) -> bool:
        return state.chosen is not None

    def handle(self, state: PaletteState, event: Event, context: Context) -> Result:
        size = list_cursor_and_search.page_size(context)
        match event:
            case Opened(args):
                entries = collect_entries(args)
                state = PaletteState(entries)
                query = Query(
                    "message_texts", "message_texts", {"messages": tuple(entry.text for entry in entries)}, is_live=True
                )
                return Turn(_with_window(state, size), (query,))
            case Rows("message_texts", rows, _):
                return Turn(_with_window(state._replace(names=tuple(str(row["text"]) for row in rows)), size))
            case Rows("open"):
                verdict = sign_in.open_work_verdict(event) or Verdict(ASK, msg("palette.sign_out_again"))
                sign_out = next(each for each in state.entries if each.text.id == SIGN_OUT_TEXT)
                asked = _with_only(sign_out, state, context)._replace(is_sign_out_warned=True)
                return Turn(asked, (), verdict)
            case TypedText(text):
                listed = list_cursor_and_search.with_typed_search(state, text, ".")
                if listed is None:
                    return Turn(state)
                chosen = None if text else list_cursor_and_search.row_at_cursor(state)
                listed = listed._replace(chosen=chosen, chosen_for=state.typed if chosen else "")
                return _search_records(_with_window(listed, size), context)
            case Rows("records", rows):
                return Turn(_with_window(state._replace(records=tuple(map(_record_entry, rows))), size))
            case Rows("records_to_open", rows):
                listed = _with_window(state._replace(records=tuple(map(_record_entry, rows))), size)
                return _run_only_match(listed, context)
            case Text() | UnknownCode() | Scan() if entry := _chosen_by_line(state, event):
                return _run_entry(state, entry, context)
            case Text(text) | UnknownCode(text):
                return _handle_text(state._replace(search=text, typed="", first=0, cursor=-1), size, context)
            case Choice() | CursorKey("enter"):
                entry = list_cursor_and_search.chosen_row(state, event)
                return _run_entry(state, entry, context) if entry else Turn(state)
            case Command("n" | "p" as key) | CursorKey(key):
                return Turn(_with_window(list_cursor_and_search.move_or_turn(state, key, size), size))
            case Resumed():
                return Turn(_with_window(state, size))
            case Back():
                return _go_back(state, size)
        return Turn(state)

    def view(self, state: PaletteState) -> ListView:
        return ListView(
            name=self.name,
            title=msg("palette.title"),
            prompt=msg("palette.prompt"),
            column_heads=(msg("palette.head"), msg("scanner_test.kind_key")),
            rows=tuple(Row(entry.key, (entry.text, raw(entry.shown_key))) for entry in state.rows),
            first=state.first,
            total=state.total,
            cursor=state.cursor,
            numbered_rows=0 if state.typed else list_cursor_and_search.numbered_rows(state),
            empty=msg("palette.empty"),
            key_hints=(*list_cursor_and_search.page_hints(state), BACK),
        )


def home_pages() -> tuple[tuple[Msg, Any], ...]:
    """Return the texts and effects of all home pages."""
    menu = tuple((msg(MENU_TEXTS[number - 1]), Start(job, {})) for number, job in MENU_JOBS.items())
    return (*menu, *MORE_MENU, *STORE_MENU)


def collect_entries(args: Args) -> tuple[PaletteEntry, ...]:
    """Return all commands of the page below. Arguments: its `letters` and `choices` with their `keys`; how many rows
    are `numbered` before the choices; the jobs with work that are `open`; `signed_in`, `language` and `theme`;
    `colours` if there are themes."""
    letters = [
        PaletteEntry(hint.text, LETTER, hint.letter, hint.letter)
        for hint in args["letters"]
        if hint.letter not in OWN_LETTERS
    ]
    shown = args.get("keys", "")
    numbers = [
        PaletteEntry(text, NUMBER, str(index), shown[index - 1] if shown else "")
        for index, text in enumerate(args["choices"], args["numbered"] + 1)
    ]
    page_entries = [
        PaletteEntry(text, PAGE, str(index))
        for index, (text, effect) in enumerate(home_pages() if args["signed_in"] else ())
        if not (isinstance(effect, Start) and effect.job in args["open"])
    ]
    preferences = [
        PaletteEntry(msg("palette.language", name=LANGUAGE_NAMES[each]), PREFERENCE, f"language={each}")
        for each in LANGUAGES
        if each != args["language"]
    ]
    if args["colours"]:
        preferences += [
            PaletteEntry(msg("palette.theme", name=msg(id_)), PREFERENCE, f"theme={name}")
            for name, id_ in THEME_NAMES.items()
            if name != args["theme"]
        ]
    by_text: dict[Msg, PaletteEntry] = {}
    for entry in (*letters, *numbers, *page_entries, *preferences):
        by_text.setdefault(entry.text, entry)
    return tuple(by_text.values())


def _matching_entries(entries: Iterable[PaletteEntry], names: tuple[str, ...], text: str) -> tuple[PaletteEntry, ...]:
    """Return the commands whose name has a word beginning with each word of the text; accents are ignored."""
    parts = normalise_characters(text).split()
    named = zip(entries, (*names, *[""] * 99), strict=False)
    return tuple(
        entry
        for entry, name in named
        if all(any(word.startswith(part) for word in normalise_characters(name).split()) for part in parts)
    )


def _found_entries(state: PaletteState, text: str) -> tuple[PaletteEntry, ...]:
    """Return the commands that match, then records. The command that ends the program is the last one."""
    commands = _matching_entries(state.entries, state.names, text)
    last = tuple(entry for entry in commands if entry.text.id == QUIT_TEXT)
    return (*(entry for entry in commands if entry not in last), *state.records, *last)


def _chosen_by_line(state: PaletteState, meaning: Meaning) -> PaletteEntry | None:
    """Return the row under the cursor if the line that was ended is the one over which it was chosen."""
    match meaning:
        case Text(text) | UnknownCode(text):
            line = text.strip()
        case Scan(matches):
            line = matches[0].code
        case _:
            return None
    return state.chosen if line == state.chosen_for.strip() else None


def _with_window(state: PaletteState, size: int) -> PaletteState:
    text = state.typed or state.search
    matching = _found_entries(state, text) if text else state.entries
    first = state.first if state.first < len(matching) else 0
    return state._replace(rows=matching[first : first + max(1, size)], total=len(matching), first=first)


def _search_records(state: PaletteState, context: Context) -> Result:
    if len(state.typed) < MIN_RECORD_LETTERS or not context.user:
        return Turn(state._replace(records=()))
    query = Query("records", "records", {"search": state.typed, "now": context.now}, is_live=True)
    return Turn(state._replace(records=()), (query,))


def _handle_text(state: PaletteState, size: int, context: Context) -> Result:
    """Handle text ended with Enter: whoever is signed in may mean a record, which is searched first."""
    is_number = state.search.isdecimal() and len(state.search) < MIN_RECORD_LETTERS
    if is_number or not context.user:
        return _run_only_match(_with_window(state._replace(records=()), size), context)
    args = {"search": state.search, "now": context.now}
    return Turn(state, (Query("records_to_open", "records", args, is_live=True),))


def _record_entry(row: RecordRow) -> PaletteEntry:
    key = {} if row["kind"] == PRODUCT else {"key": row["key"]}
    name = msg(RECORD_TEXTS[row["kind"]], **key, name=row["label"], text=row["label"])
    return PaletteEntry(name, RECORD, f"{row['kind']}/{row['key']}", row["key"] if row["kind"] == PRODUCT else "")


def _record_effect(entry: PaletteEntry) -> Start:
    kind, _, key = entry.key.partition("/")
    if kind == DELIVERY:
        return Start("deliveries", {"order_number": key})
    return list_cursor_and_search.open_record(kind, key, "") or Start("order", {"order_number": key})


def _run_only_match(after: PaletteState, context: Context) -> Result:
    """Handle text ended with Enter: run the command or open the record if exactly one matches. Without a match the list
    stays empty, so that a number typed next chooses nothing."""
    if not after.total:
        return reply(after, WRONG, "input.no_command", text=after.search)
    return _run_entry(after, after.rows[0], context) if after.total == 1 else Turn(after)


def _go_back(state: PaletteState, size: int) -> Result:
    if state.search:
        return Turn(_with_window(state._replace(search="", first=0, cursor=-1), size))
    return Turn(state, (Close(),))


def _with_only(entry: PaletteEntry, state: PaletteState, context: Context) -> PaletteState:
    """Return the state that offers one command once more, before it is executed."""
    names = tuple(name for each, name in zip(state.entries, state.names, strict=False) if each == entry)
    return _with_window(PaletteState((entry,), names), list_cursor_and_search.page_size(context))


def _run_entry(state: PaletteState, entry: PaletteEntry, context: Context) -> Result:
    if entry.text.id == QUIT_TEXT and not state.is_quit_asked:
        return reply(_with_only(entry, state, context)._replace(is_quit_asked=True), ASK, "palette.quit_again")
    if entry.text.id == SIGN_OUT_TEXT:
        is_asked = state.is_sign_out_warned
        return Turn(state, (Close(), SignOut()) if is_asked else (sign_in.query_open_work(context),))
    match entry.kind:
        case "letter":
            return Turn(state, (Close(event_for_below=Command(entry.key)),))
        case "number":
            return Turn(state, (Close(event_for_below=Choice(int(entry.key))),))
        case "record":
            return Turn(state, (Close(start=_record_effect(entry)),))
        case "page":
            effect = home_pages()[int(entry.key)][1]
            return Turn(state, (Close(start=effect),) if isinstance(effect, Start) else (Close(), effect))
    name, _, value = entry.key.partition("=")
    verdict = Verdict(INFO, msg("palette.language_set" if context.user else "palette.preference_set", what=entry.text))
    notes = (LocalNote(name, context.user, value),) if context.user else ()
    return Turn(state, (Close(), SetPreference(name, value), *notes), verdict)
