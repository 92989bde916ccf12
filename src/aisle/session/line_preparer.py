"""Prepares a line before it is read: drops leftovers, and adds what a key cut off."""

from __future__ import annotations

import re
from typing import NamedTuple

from aisle.barcode_numbers import has_valid_check_digit
from aisle.jobs.typed_dates import is_date
from aisle.scan.grammar_and_meaning_types import (
    NUMBER_BESIDE_CODE,
    PRODUCT,
    TWO_CODES,
    Ambiguous,
    Choice,
    Quantity,
    RefusedInput,
    Scan,
    Text,
    UnknownCode,
)
from aisle.scan.inputs import MIN_SCAN, TYPING_PAUSE_S, Line
from aisle.session.meaning_resolver import CODE_128, MeaningResolver, is_guess
from aisle.session.page import Page
from aisle.session.scanned_or_typed import FAST_S, first_match, is_code_shaped, is_fast

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
