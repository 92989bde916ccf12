"""Finds what a scan is whose text looks typed: a label or code of a few characters, or the number of a record."""

from __future__ import annotations

from aisle.jobs import COUNTS_SCANS
from aisle.scan.grammar import asks_look_up
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    PRODUCT,
    Ambiguous,
    Back,
    Choice,
    Command,
    Match,
    Meaning,
    Quantity,
    RefusedInput,
    Scan,
    UnknownCode,
    scans_of,
)
from aisle.scan.inputs import MIN_KNOWN_CODE, SAME_SCAN_S, Line
from aisle.session.ask_measured_quantity import find_number
from aisle.session.meaning_resolver import CODE_128, MeaningResolver
from aisle.session.page import Page
from aisle.session.predict_reaction_to_scan import PageReactions
from aisle.session.scanned_or_typed import FAST_S, first_match, is_fast, pause_of_number
from aisle.session.store_connection import StoreConnection

MAX_LABEL_PAUSE_S = SAME_SCAN_S
"""Seconds between a character and its Enter below which it may be the label of a location: a busy host, a wireless
scanner or a link delays the Enter."""

LOCATION_OR_TYPED = "input.location_or_typed"
"""Refusal: a character may be the label of a location, or typed."""

_ASK_ABOUT_NUMBERS = COUNTS_SCANS - {"hand_over"} | {"shortage"}
"""Jobs that ask themselves whether a number is a quantity or that of a record."""

_HARMLESS_LETTERS = "hn"
"""Commands that show something else and change nothing."""


def location_of(meaning: Meaning, text: str) -> Scan | None:
    """Return the scan of the location whose label is this character, in capitals or not."""
    locations = [each for scan in scans_of(meaning) for each in scan.matches if each.kind == LOCATION]
    named = [each for each in locations if each.key.casefold() == text.casefold()]
    return Scan((min(named, key=lambda each: each.key != text),)) if named else None


class ShortCodes:
    """Finder of scans whose text looks typed."""

    def __init__(self, resolver: MeaningResolver, page: Page, store: StoreConnection, reactions: PageReactions) -> None:
        self._resolver = resolver
        self._page = page
        self._store = store
        self._reactions = reactions

    def is_short_label(self, text: str) -> bool:
        """Return whether a text is the label of a location that is too short to be a code by itself."""
        text, accepts = text.strip(" "), self._page.accepts()
        if len(text) >= MIN_KNOWN_CODE or not text or self._page.is_secret(text) or asks_look_up(text):
            return False
        if self._page.top.job.raw_input or accepts.text:
            return False
        location = location_of(self._resolver.resolve(f"{CODE_128}{text}"), text)
        return location is not None and location.matches[0].key == text

    def text_with_symbology(self, text: str) -> str:
        """Return what a scanner sends that names the symbology of such a label; empty if the label is also a number or
        a label of something else."""
        text = text.strip(" ")
        if not self.is_short_label(text) or text in (*self._page.accepts().labels, *self._page.accepts().codes):
            return ""
        meaning = self._resolver.resolve(f"{CODE_128}{text}")
        is_location = isinstance(meaning, Scan) and all(each.kind == LOCATION for each in meaning.matches)
        return f"{CODE_128}{text}" if is_location else ""

    def scanned_short_code(
        self, line: Line, meaning: Meaning, *, is_repeated: bool
    ) -> Scan | Ambiguous | UnknownCode | RefusedInput | None:
        """Return the scan of a location or product whose code is one character, at the pace of a scanner.

        Return an unknown code if the character has no other meaning here, so that a number after it is asked about.
        The Enter of a scanner may come late, so that the label of a location is none of the answers and commands on
        `MAX_LABEL_PAUSE_S`. `is_repeated`: the line before was refused for this, in capitals or not.
        """
        text, top = line.text.strip(" "), self._page.top
        is_short = len(text) == 1 and line.scan_number and line.longest_pause < MAX_LABEL_PAUSE_S
        takes_scans = not (self._page.is_secret(text) or top.job.raw_input or self._page.accepts().text)
        if not is_short or not takes_scans or not isinstance(meaning, Back | Choice | Command | RefusedInput):
            return None
        found = self._resolver.resolve(f"{CODE_128}{text}")
        first = first_match(found)
        if first and line.longest_pause < FAST_S and (first.kind, first.key) in ((LOCATION, text), (PRODUCT, text)):
            return found if isinstance(found, Scan | Ambiguous) else None
        if first and (location := location_of(found, text)):
            return self._label_of_location(location, text, meaning, is_repeated=is_repeated)
        is_command = text.islower() or meaning != RefusedInput("input.no_command", text)  # labels have capitals
        is_slow = line.longest_pause >= FAST_S
        return None if is_command or is_slow else UnknownCode(text)

    def _label_of_location(
        self, location: Scan, text: str, meaning: Meaning, *, is_repeated: bool
    ) -> Scan | RefusedInput | None:
        """Return what a character is that is the label of a location, or was typed fast: a scan, refused, or typed.

        In the other case of letters it is a scan only where it means nothing else, and an answer once it is repeated.
        """
        is_exact = location.matches[0].key == text
        if isinstance(meaning, Command) and meaning.letter in _HARMLESS_LETTERS and not is_exact:
            return None
        if (is_exact or isinstance(meaning, RefusedInput)) and self._reactions.is_taken(location):
            return location
        if isinstance(meaning, RefusedInput) or (is_repeated and not is_exact):
            return None
        return RefusedInput(LOCATION_OR_TYPED, text)

    def record_of_number(self, line: Line, quantity: Quantity) -> tuple[Match | None, bool]:
        """Return the record whose number came about as fast as by a scanner where a value is typed, and whether a
        scanner sent it for sure.

        A busy host or a wireless scanner delays the characters. Some jobs ask about numbers of the store themselves.
        """
        is_sure = is_fast(line) and not self._page.question.is_asked
        may_be_scanned = is_sure or (line.scan_number and pause_of_number(line) < MAX_LABEL_PAUSE_S)
        if self._page.top.job.name in _ASK_ABOUT_NUMBERS or not may_be_scanned:
            return None, False
        return find_number(self._store.reader, quantity, self._page.preferred_kinds()), is_sure

    def record_at_question(self, line: Line, quantity: Quantity) -> Match | None:
        """Return the record whose number came at the pace of a scanner while another number is in question."""
        if not self._page.accepts().is_number_asked or not is_fast(line):
            return None
        return find_number(self._store.reader, quantity)
