"""Judges by its pace and text whether a line was scanned or typed.

What a line means: `meaning_resolver`. Scans of one character or of a record's number: `short_codes_and_labels`.
"""

from __future__ import annotations

from aisle.barcode_numbers import has_valid_check_digit, lookup_keys
from aisle.jobs import COUNTS_SCANS
from aisle.jobs.recognise_tote_label import label_of_code
from aisle.scan.grammar import PRINTED_COMMANDS, PRINTED_LETTERS, asks_look_up, parse_aim_prefix
from aisle.scan.grammar_and_meaning_types import (
    PERSON,
    Ambiguous,
    Back,
    Choice,
    Match,
    Meaning,
    Quantity,
    RefusedInput,
    Scan,
    Text,
    UnknownCode,
    scans_of,
)
from aisle.scan.inputs import MIN_CODE_DIGITS, MIN_KNOWN_CODE, MIN_SCAN, TYPING_PAUSE_S, Line
from aisle.session.ask_measured_quantity import find_number
from aisle.session.job_stack import is_help_page
from aisle.session.meaning_resolver import MeaningResolver
from aisle.session.page import Page
from aisle.session.store_connection import StoreConnection

FAST_S = 0.02
"""Seconds between the characters of a number below which a scanner sent them."""

_NO_QUANTITY = (
    "input.no_quantity",
    "input.whole_number_only",
    "input.whole_or_thousands",
    "input.too_many_decimals",
)
"""Message ids of refused numbers."""


def is_fast(line: Line) -> bool:
    """Return whether a number came at the pace of a scanner."""
    return bool(line.scan_number) and pause_of_number(line) < FAST_S


def pause_of_number(line: Line) -> float:
    """Return the pause that tells the pace of a number; that of one digit is the pause before its Enter."""
    has_one_digit = sum(char.isdecimal() for char in line.text) == 1
    return line.longest_pause if has_one_digit else line.median_pause


def is_scanned_letter(line: Line) -> bool:
    """Return whether a line is one letter at the pace of a scanner, which is the pause before its Enter."""
    text = line.text.strip(" ")
    return len(text) == 1 and text.isalpha() and bool(line.scan_number) and line.longest_pause < FAST_S


def first_match(meaning: Meaning) -> Match | None:
    """Return the first match of a scan, or of the first of several readings."""
    return next((scan.matches[0] for scan in scans_of(meaning)), None)


def is_code_shaped(text: str) -> bool:
    """Return whether a text may be a code: it has a digit and no blank."""
    return " " not in text and any(map(str.isdigit, text))


class ScannedOrTyped:
    """Judge of the lines of one page."""

    def __init__(self, resolver: MeaningResolver, page: Page, store: StoreConnection) -> None:
        self._resolver = resolver
        self._page = page
        self._store = store

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

    def is_scanned_code(self, line: Line, meaning: Meaning) -> bool:
        """Return whether a text at the pace of a scanner is an unknown code: no quantity, nor words to search for.

        Words with a digit and no blank are a code in the jobs that count goods: no scan leaves their page for another.
        Of a known code only the typed factor before it may be refused.
        """
        if isinstance(meaning, Text):
            text, is_counting = meaning.text, self._page.top.job.name in COUNTS_SCANS
            is_code = is_counting and len(text) >= MIN_SCAN and is_code_shaped(text) and not asks_look_up(line.text)
            return is_code and not self._page.accepts().text and is_fast(line)
        if not isinstance(meaning, RefusedInput) or meaning.reason not in _NO_QUANTITY:
            return False
        return is_fast(line) and not meaning.text.endswith("*")

    def is_unknown_yet(self, line: Line, meaning: Meaning) -> bool:
        """Return whether an unknown scan on a search page may be known once the store has been read whole."""
        if not isinstance(meaning, Text | UnknownCode):
            return False
        code, accepts = line.text.strip(" "), self._page.accepts()
        if accepts.text or not (accepts.search or accepts.follows_typing):
            return False
        is_scanned = line.median_pause < TYPING_PAUSE_S and len(code) >= MIN_SCAN and is_code_shaped(code)
        return is_scanned and not asks_look_up(code) and not self._store.reader.is_complete()
