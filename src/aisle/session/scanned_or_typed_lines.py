"""Lines before their meaning is sought: prepared, judged as scanned or typed, short codes and labels found.

What a line means: `meaning_resolver`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from aisle.barcode_numbers import has_valid_check_digit, lookup_keys
from aisle.jobs import COUNTS_SCANS
from aisle.jobs.tote_labels_and_repeated_reads import label_of_code
from aisle.jobs.typed_numbers_dates_and_letters import is_date
from aisle.scan.grammar import PRINTED_COMMANDS, PRINTED_LETTERS, asks_look_up, parse_aim_prefix
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    NUMBER_BESIDE_CODE,
    PERSON,
    PRODUCT,
    TWO_CODES,
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
    scans_of,
)
from aisle.scan.inputs_and_line_grouping import (
    MIN_CODE_DIGITS,
    MIN_KNOWN_CODE,
    MIN_SCAN,
    SAME_SCAN_S,
    TYPING_PAUSE_S,
    Line,
)
from aisle.session.ask_measured_quantity import find_number
from aisle.session.job_stack import is_help_page
from aisle.session.meaning_resolver import CODE_128, MeaningResolver, PageReactions, is_guess
from aisle.session.page import Page
from aisle.session.store_connection import StoreConnection

MAX_LEFTOVER_LETTERS = 3
"""Letters that somebody leaves on the line without Enter at most; more are a word."""


_SHORT_GTIN = 8
"""Digits of an EAN-8, which may be a number that somebody left."""

_DECIMAL_SIGNS = (".", ",")

_CODE_BESIDE_ADD_ON = re.compile(r"(\d{8}|\d{12,13})(?: {1,2}|[,/-])(?:\d{2}|\d{5})", re.ASCII)
"""EAN or UPC with its add-on, as sent by scanners that put a sign between them."""


class PreparedLine(NamedTuple):
    """Line to apply."""

    line: Line
    dropped: str = ""
    """What somebody left on the line before the scan."""
    reason: str = ""
    """Message id of the reason to refuse it."""
    layout_digits: str = ""
    """Digits that came as signs through another keyboard layout; empty for other lines."""


class LinePreparer:
    """Preparation of lines for the resolver."""

    def __init__(self, resolver: MeaningResolver, page: Page) -> None:
        self._resolver = resolver
        self._page = page

    def prepare(self, line: Line) -> PreparedLine:
        """Return a line as a scan or person meant it: without leftovers, with the characters that a key cut off."""
        self._resolver.begin_line(is_scanned=bool(line.scan_number), is_fast=is_fast(line))
        if code := self._code_beside_add_on(line):
            return PreparedLine(line._replace(text=code))
        if digits := self._digits_of_signs(line.text.strip(" ")):
            restored = line._replace(text=digits, before_pause=0, possible_prefix="")
            self._resolver.begin_line(is_scanned=bool(line.scan_number), is_fast=is_fast(restored))
            return PreparedLine(restored, layout_digits=digits)
        left, end = line.text[: line.before_pause].strip(" "), line.text[line.before_pause :]
        is_left = left[-1:].isalnum() or left[-1:] in _DECIMAL_SIGNS  # `12*` and `?` are typed before scans
        if is_left and self._is_scan_alone(line, end):
            return self._prepare_end(line, left, end)
        return self._complete(line)

    def _is_scan_alone(self, line: Line, end: str) -> bool:
        """Return whether the end of a line, after a long pause, is a code of the store by itself."""
        code, accepts = end.strip(" "), self._page.accepts()
        if not code or self._page.top.job.raw_input or self._page.is_secret(line.text):
            return False
        if len(code) >= MIN_SCAN:
            return isinstance(self._resolver.resolve(code), Scan | Ambiguous)
        if not (line.has_scanned_end and line.has_typed_beginning) or accepts.text:
            return False
        found = self._resolver.resolve(f"{CODE_128}{code}")
        first = first_match(found)
        is_label = code in accepts.codes or code in accepts.labels
        return is_label or (first is not None and not is_guess(found) and (len(code) > 1 or first.key == code))

    def _prepare_end(self, line: Line, left: str, end: str) -> PreparedLine:
        """Return a scan behind something that a person typed, which is dropped; refuse it if both may be one code.

        If both may be one number, that is asked. Three letters that somebody left are no word.
        """
        whole, is_short = self._resolver.resolve(line.text), len(end.strip(" ")) < MIN_SCAN
        is_typed_date = self._page.accepts().date and isinstance(whole, Text | UnknownCode) and is_date(line.text)
        if isinstance(whole, Quantity | Choice) or is_typed_date:
            self._resolver.note_scanned_end()
            return PreparedLine(line)
        is_word = left.isalpha() and len(left) > MAX_LEFTOVER_LETTERS
        is_known = isinstance(whole, Scan | Ambiguous) and not is_guess(whole)
        if is_known and first_match(whole) != first_match(self._resolver.resolve(end)):
            return PreparedLine(line, reason="input.incomplete_scan") if is_short else self._complete(line)
        if self._is_code(left):
            return PreparedLine(line, reason=TWO_CODES)
        if left.isdecimal() and left.isascii() and not line.has_typed_beginning:
            return PreparedLine(line, reason=NUMBER_BESIDE_CODE)  # digits may make another code of it
        if is_word or not (left.isalpha() or line.has_typed_beginning):
            return self._complete(line)
        pause = line.end_pause
        scan = line._replace(
            text=end,
            longest_pause=pause,
            median_pause=min(pause, line.median_pause),
            before_pause=0,
            possible_prefix="",
        )
        self._resolver.begin_line(is_scanned=bool(scan.scan_number), is_fast=is_fast(scan))
        return PreparedLine(scan, dropped=left)

    def _is_code(self, left: str) -> bool:
        """Return whether what stands before a scan is a code, too: a scanner without a suffix sent both."""
        is_known = len(left) >= MIN_SCAN and self._is_certain_scan(left)
        return is_known or (has_valid_check_digit(left) and len(left) > _SHORT_GTIN)

    def _code_beside_add_on(self, line: Line) -> str:
        """Return the known code of a product that was scanned with its add-on; empty for any other line.

        At the pace of typing, the digits may be a quantity. One pause of a slow link is shorter than that.
        """
        text = line.text.strip(" ")
        found = _CODE_BESIDE_ADD_ON.fullmatch(text)
        is_scan = bool(line.scan_number) and line.median_pause < FAST_S and line.longest_pause < TYPING_PAUSE_S
        if not found or not is_scan or not has_valid_check_digit(found[1]) or self._page.top.job.raw_input:
            return ""
        meaning = self._resolver.resolve(found[1])
        is_product = isinstance(meaning, Scan) and meaning.matches[0].kind == PRODUCT and not is_guess(meaning)
        return found[1] if is_product and not isinstance(self._resolver.resolve(text), Scan | Ambiguous) else ""

    def _digits_of_signs(self, text: str) -> str:
        """Return the known number that came as signs through another keyboard layout, where it may be a quantity.

        Then it is asked about like the number itself.
        """
        if not self._page.accepts().quantity or (text.isalnum() and text.isascii()) or self._page.is_secret(text):
            return ""
        match = first_match(self._resolver.resolve(text))
        if match is None or not match.layout or not match.code.isdecimal():
            return ""
        return match.code if isinstance(self._resolver.resolve(match.code), Quantity) else ""

    def _complete(self, line: Line) -> PreparedLine:
        """Add the characters that a preceding key cut off from a scan, or refuse it if that is in doubt.

        Typed lines, and those for jobs that take raw input, stay as they are.
        """
        is_typed = line.median_pause >= TYPING_PAUSE_S or len(line.text) < 2  # one character has no pace
        if not line.possible_prefix or is_typed or self._page.top.job.raw_input:
            return PreparedLine(line)
        is_known = not self._is_unknown(line.text)
        longer = [text for text in line.longer_texts if self._is_certain_scan(text)]
        if longer and not is_known:
            return PreparedLine(line._replace(text=longer[0], possible_prefix=""))
        is_doubtful = bool(longer) if is_known else is_code_shaped(line.text)
        return PreparedLine(line, reason="input.incomplete_scan" if is_doubtful else "")

    def _is_unknown(self, text: str) -> bool:
        return isinstance(self._resolver.resolve(text), UnknownCode | Text | RefusedInput)

    def _is_certain_scan(self, text: str) -> bool:
        meaning = self._resolver.resolve(text)
        return isinstance(meaning, Scan) and not is_guess(meaning)


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
