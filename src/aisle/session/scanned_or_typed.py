"""Judges by its pace and text whether a line was scanned or typed, and what a short code or number may be.

What a line means: `meaning_resolver`.
"""

from __future__ import annotations

from aisle.barcode_lookup_keys import lookup_keys
from aisle.barcode_numbers import has_valid_check_digit
from aisle.jobs import COUNTS_SCANS
from aisle.jobs.recognise_tote_label import label_of_code
from aisle.scan.grammar import PRINTED_COMMANDS, PRINTED_LETTERS, asks_look_up, parse_aim_prefix
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    PERSON,
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
    Text,
    UnknownCode,
)
from aisle.scan.inputs import SAME_SCAN_S, TYPING_PAUSE_S, Line
from aisle.session.ask_measured_quantity import find_number
from aisle.session.job_stack import is_help_page
from aisle.session.meaning_resolver import CODE_128, MeaningResolver
from aisle.session.predict_reaction_to_scan import PageReactions
from aisle.session.store_connection import StoreConnection
from aisle.session.top_job_and_questions import Page

MIN_CODE_DIGITS = 6
"""Digits of the shortest code of digits alone (UPC-E); fewer are a number."""

MIN_KNOWN_CODE = 4
"""Characters of the shortest code that is a scan because the store knows it."""

MIN_SCAN = 5
"""Characters of the shortest scan; fewer are a part of a search."""

FAST_S = 0.02
"""Seconds between the characters of a number below which a scanner sent them."""

MAX_LABEL_PAUSE_S = SAME_SCAN_S
"""Seconds between a character and its Enter below which it may be the label of a location: a busy host, a wireless
scanner or a link delays the Enter."""

LOCATION_OR_TYPED = "input.location_or_typed"
"""Refusal: a character may be the label of a location, or typed."""

_HARMLESS_LETTERS = "hn"
"""Commands that show something else and change nothing."""

_NO_QUANTITY = ("input.no_quantity", "input.whole_number_only", "input.too_many_decimals")
"""Message ids of refused numbers."""


def is_fast(line: Line) -> bool:
    """Return whether a number came at the pace of a scanner; the pace of one digit is the pause before its Enter."""
    has_one_digit = sum(char.isdecimal() for char in line.text) == 1
    pause = line.longest_pause if has_one_digit else line.median_pause
    return bool(line.scan_number) and pause < FAST_S


def is_scanned_letter(line: Line) -> bool:
    """Return whether a line is one letter at the pace of a scanner, which is the pause before its Enter."""
    text = line.text.strip(" ")
    return len(text) == 1 and text.isalpha() and bool(line.scan_number) and line.longest_pause < FAST_S


def first_match(meaning: Meaning) -> Match | None:
    """Return the first match of a scan, or of the first of several readings."""
    scan = meaning.scans[0] if isinstance(meaning, Ambiguous) else meaning
    return scan.matches[0] if isinstance(scan, Scan) else None


def location_of(meaning: Meaning, text: str) -> Scan | None:
    """Return the scan of the location whose label is this character, in capitals or not."""
    scans = meaning.scans if isinstance(meaning, Ambiguous) else (meaning,) if isinstance(meaning, Scan) else ()
    locations = [each for scan in scans for each in scan.matches if each.kind == LOCATION]
    named = [each for each in locations if each.key.casefold() == text.casefold()]
    return Scan((min(named, key=lambda each: each.key != text),)) if named else None


def is_code_shaped(text: str) -> bool:
    return " " not in text and any(map(str.isdigit, text))


class ScannedOrTyped:
    """Judge of the lines of one page."""

    def __init__(self, resolver: MeaningResolver, page: Page, store: StoreConnection, reactions: PageReactions) -> None:
        self._resolver = resolver
        self._page = page
        self._store = store
        self._reactions = reactions

    def is_code(self, text: str, *, is_one: bool = False) -> bool:
        """Return whether a text is a scan by itself: known, with a check digit or AIM prefix, or a printed command.

        A bare number is not, unless it is a whole scan (`is_one`) and the number of something. A secret never is.
        """
        text = text.strip(" ")
        if self._page.is_secret(text) or asks_look_up(text):
            return False
        aim = parse_aim_prefix(text)
        if aim.symbol or has_valid_check_digit(text) or text.upper() in (*PRINTED_COMMANDS, *PRINTED_LETTERS):
            return True
        is_number = not is_one and len(text) < MIN_CODE_DIGITS and text.isdecimal()
        return not is_number and isinstance(self._resolver.resolve(text), Scan | Ambiguous)

    def is_known_code(self, text: str) -> bool:
        """Return whether the store knows exactly this code, and it is too long for a quantity; or a label of this
        page."""
        text = text.strip(" ")
        if label_of_code(text).casefold() in self._page.accepts().scan_labels:
            return True
        if len(text) < MIN_KNOWN_CODE or self._page.is_secret(text) or asks_look_up(text):
            return False
        return bool(self._store.reader.find(lookup_keys(text)))

    def is_short_label(self, text: str) -> bool:
        """Return whether a text is the label of a location that is too short to be a code by itself."""
        text, accepts = text.strip(" "), self._page.accepts()
        if len(text) >= MIN_KNOWN_CODE or not text or self._page.is_secret(text) or asks_look_up(text):
            return False
        if self._page.top.job.raw_input or accepts.text:
            return False
        location = location_of(self._resolver.resolve(f"{CODE_128}{text}"), text)
        return location is not None and location.matches[0].key == text

    def scan_of_short_label(self, text: str) -> str:
        """Return what a scanner sends that names the symbology of such a label; empty if the label is also a number or
        a label of something else."""
        text = text.strip(" ")
        if not self.is_short_label(text) or text in (*self._page.accepts().labels, *self._page.accepts().codes):
            return ""
        meaning = self._resolver.resolve(f"{CODE_128}{text}")
        is_location = isinstance(meaning, Scan) and all(each.kind == LOCATION for each in meaning.matches)
        return f"{CODE_128}{text}" if is_location else ""

    def is_long_code(self, text: str) -> bool:
        """Return whether a code is so long that a part of another code is hardly ever the same."""
        return len(text.strip(" ")) >= MIN_SCAN and self.is_code(text)

    def can_be_taken_back(self, text: str) -> bool:
        """Return whether what a scanned code does can be taken back: not a badge, a command or the text of a note."""
        top, meaning = self._page.top, self._resolver.resolve(text)
        if top.job.raw_input and top.job.journalled:  # it confirms something
            return False
        if isinstance(meaning, Scan):
            return meaning.matches[0].kind != PERSON or not self._signs_in()
        return isinstance(meaning, Ambiguous | UnknownCode | RefusedInput) and not self._page.accepts().text

    def _signs_in(self) -> bool:
        """Return whether a badge signs somebody in, here or on the page that the one on the screen explains."""
        page = next(each for each in reversed(self._page.stack.jobs) if not is_help_page(each))
        return PERSON in page.job.prefers(page.state)

    def is_fast_number(self, line: Line, quantity: Quantity) -> bool:
        """Return whether a quantity came at the pace of a scanner, or in one read, and is no number of the store.

        It may be a code that was cut off, or a label (`3x50`, `500 g`). Jobs ask about numbers of the store themselves.
        """
        if self._resolver.has_scanned_end and self._page.top.job.name not in COUNTS_SCANS:
            return True
        return (self._resolver.has_scanned_end or is_fast(line)) and find_number(self._store.reader, quantity) is None

    def is_unknown_number(self, line: Line) -> bool:
        """Return whether a number at the pace of a scanner is that of nothing: an unknown code."""
        return is_fast(line) and self._resolver.is_nothing(line.text)

    def is_fast_choice(self, line: Line, meaning: Meaning) -> bool:
        """Return whether the number of a choice came at the pace of a scanner: it may be a part of a code.

        Zero for back is one too, and a count of records.
        """
        text = meaning.code if isinstance(meaning, UnknownCode) else line.text.strip(" ")
        is_count = isinstance(meaning, UnknownCode) and len(text) <= self._page.top.job.max_count_digits
        return (
            (is_count or isinstance(meaning, Choice | Back))
            and text.isdecimal()
            and (self._resolver.has_scanned_end or is_fast(line))
        )

    def is_scanned_answer(self, line: Line, meaning: Meaning) -> bool:
        """Return whether the letter of a choice came at the pace of a scanner: it may be a label of one character."""
        return isinstance(meaning, Choice) and is_scanned_letter(line)

    def is_scanned_number_label(self, line: Line, meaning: Meaning) -> bool:
        """Return whether a number came at the pace of a scanner and is on something that the step asks for: a tote."""
        is_number = isinstance(meaning, Quantity | Choice) and not self._page.question.is_asked
        return is_number and is_fast(line) and line.text.strip(" ") in self._page.accepts().codes

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

    def is_scanned_code(self, line: Line, meaning: Meaning) -> bool:
        """Return whether a text at the pace of a scanner is an unknown code: no quantity, nor words to search for.

        Words with a digit and no blank are a code in the jobs that count goods: no scan leaves their page for another.
        """
        if isinstance(meaning, Text):
            text, is_counting = meaning.text, self._page.top.job.name in COUNTS_SCANS
            is_code = is_counting and len(text) >= MIN_SCAN and is_code_shaped(text) and not asks_look_up(line.text)
            return is_code and not self._page.accepts().text and is_fast(line)
        return isinstance(meaning, RefusedInput) and meaning.reason in _NO_QUANTITY and is_fast(line)

    def scanned_record(self, line: Line, quantity: Quantity) -> Scan | None:
        """Return the scan of the record whose number came at the pace of a scanner where a value is typed.

        Return None in jobs that count goods, which ask about numbers of the store themselves.
        """
        if self._page.top.job.name in (*COUNTS_SCANS, "shortage") or self._page.question.is_asked or not is_fast(line):
            return None
        match = find_number(self._store.reader, quantity, self._page.preferred_kinds())
        return Scan((match,)) if match else None

    def record_at_question(self, line: Line, quantity: Quantity) -> Match | None:
        """Return the record whose number came at the pace of a scanner while another number is in question."""
        if not self._page.accepts().is_number_asked or not is_fast(line):
            return None
        return find_number(self._store.reader, quantity)

    def is_unknown_yet(self, line: Line, meaning: Meaning) -> bool:
        """Return whether an unknown scan on a search page may be known once the store has been read whole."""
        if not isinstance(meaning, Text | UnknownCode):
            return False
        code, accepts = line.text.strip(" "), self._page.accepts()
        if accepts.text or not (accepts.search or accepts.follows_typing):
            return False
        is_scanned = line.median_pause < TYPING_PAUSE_S and len(code) >= MIN_SCAN and is_code_shaped(code)
        return is_scanned and not asks_look_up(code) and not self._store.reader.is_complete()
