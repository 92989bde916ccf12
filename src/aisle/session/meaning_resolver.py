"""Meaning of a line on the page on the screen: grammar, lookup in the cache, and the choice between candidates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from aisle.barcode_keys import lookup_keys
from aisle.barcode_numbers import has_valid_check_digit
from aisle.cache.reader import CacheReader
from aisle.jobs import COUNTS_SCANS
from aisle.jobs.quantity_or_record import with_distinct_names
from aisle.jobs.recognise_tote_label import label_of_code
from aisle.scan import grammar
from aisle.scan.grammar import MAX_FACTOR_DIGITS, PRINTED_COMMANDS, PRINTED_LETTERS, asks_look_up, parse_aim_prefix
from aisle.scan.grammar_types import (
    LOCATION,
    NUMBER_BESIDE_CODE,
    PERSON,
    PRODUCT,
    Accepts,
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
from aisle.scan.resolve import resolve
from aisle.scan.units import parse_amount
from aisle.session.ask_measured_quantity import find_number, quantity_with_unit, unit_of_product
from aisle.session.job_stack import StackedJob, is_help_page, receiving_job
from aisle.session.page_with_question import Page
from aisle.session.profile_in_force import ProfileInForce
from aisle.session.refusals_of_batch_and_rejected_scan import InputBatch
from aisle.session.store_connection import StoreConnection
from aisle.session.try_scan_on_page import PageReactions
from aisle.session.typed_for_earlier_page import has_changed_meaning

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

MAX_LEFTOVER_LETTERS = 3
"""Letters that somebody leaves on the line without Enter at most; more are a word."""


_NO_QUANTITY = ("input.no_quantity", "input.whole_number_only", "input.too_many_decimals")
"""Message ids of refused numbers."""

_CODE_BESIDE_ADD_ON = re.compile(r"(\d{8}|\d{12,13})[ ,/-](?:\d{2}|\d{5})", re.ASCII)
"""EAN or UPC with its add-on, as sent by scanners that put a sign between them."""

_CODE_128 = "]C0"
"""AIM prefix by which one character is a code."""

_SEPARATORS = "\x1d\x1e\x04"
"""Signs around a code that is no message: a scanner added them."""


class PreparedLine(NamedTuple):
    """Line to apply."""

    line: Line
    dropped: str = ""
    """What somebody left on the line before the scan."""
    reason: str = ""
    """Message id of the reason to refuse it."""


class MeaningResolver:
    """Resolver of lines. The same line at the same step is looked up once in a batch, and while it is held."""

    def __init__(
        self, page: Page, batch: InputBatch, store: StoreConnection, profile: ProfileInForce, reactions: PageReactions
    ) -> None:
        self._page = page
        self._batch = batch
        self._store = store
        self._profile = profile
        self._reactions = reactions
        self._is_scanned = False
        """Whether the line that is applied came at the pace of a scanner."""
        self._is_fast = False
        """Whether it is a number at that pace."""
        self._has_scanned_end = False
        """Whether it is a number whose end is a code of the store by itself, at that pace."""
        self._reader: CacheReader | None = None
        """Reader that `_meanings` come from."""
        self._cache_version: object = None
        """Version of the cache at the first lookup of `_meanings`."""
        self._meanings: dict[tuple[str, Accepts, tuple[str, ...]], Meaning] = {}

    def start_batch(self, *, is_line_held: bool = False) -> None:
        """Forget the meanings of the last batch unless a line is held and the cache is the same."""
        if not (is_line_held and self._meanings and self._cache_version == self._store.reader.cache_version()):
            self.forget()

    def forget(self) -> None:
        """Forget all meanings: settings or files have changed."""
        self._meanings.clear()

    def resolve(self, text: str) -> Meaning:
        """Return what a text means on the page on the screen, under its question and multiplier."""
        page, question = self._page, self._page.question
        accepts, kinds = page.accepts(), page.preferred_kinds()
        meaning = self._look_up(text, accepts, kinds)
        is_asked = question.is_pending
        if is_asked and question.multiplies(meaning, text):
            meaning = self._look_up(question.with_multiplier(text.strip(" ")), accepts, kinds)
        if accepts.quantity and isinstance(meaning, RefusedInput | Text | UnknownCode):
            meaning = self._read_with_unit(text, accepts, meaning)
        if accepts.text and isinstance(meaning, UnknownCode) and not self._is_scanned:
            meaning = Text(meaning.code)  # a name of digits; at the pace of a scanner it is a code
        meaning = choose_product(page.stack.jobs, self._choose_kind(ask_of_badge(page.top, meaning)))
        if is_asked:
            meaning = question.apply_undo(meaning)
        if accepts.typed_only and isinstance(meaning, Choice) and not self._was_on_screen():
            return RefusedInput("input.scan_not_accepted", text)  # it came with the scan that opened the question
        is_after_refused = self._batch.refused.is_scan_refused and not accepts.text
        if isinstance(meaning, Choice | Quantity) and is_after_refused and not self.is_scanned_number(text, meaning):
            if self._is_fast and self.is_nothing(text):
                return UnknownCode(text.strip(" "))
            return RefusedInput("input.after_refused_scan", text)  # it was meant for the refused scan
        is_asked_here = accepts.choices or not accepts.quantity
        if accepts.typed_only and is_asked_here and isinstance(meaning, Text) and self._is_scanned:
            return RefusedInput("input.answer_first", text.strip(" "))
        if isinstance(meaning, Scan | Ambiguous | UnknownCode) and self._is_typed_number(text, accepts):
            return RefusedInput("input.choose_letter", text.strip(" "))
        pages_before = self._batch.page_before, self._batch.changed_page
        if not is_asked and any(has_changed_meaning(meaning, accepts, page.stack.jobs, each) for each in pages_before):
            return RefusedInput("input.choices_changed", text)
        return meaning

    def _is_typed_number(self, text: str, accepts: Accepts) -> bool:
        """Return whether a text is a short number that a person typed where letters confirm: it is no code then."""
        is_number = text.strip(" ").isdecimal() and len(text.strip(" ")) <= MAX_FACTOR_DIGITS
        confirms = accepts.typed_only and bool(accepts.choice_letters) and not accepts.quantity
        return is_number and confirms and not self._is_scanned

    def _choose_kind(self, meaning: Meaning) -> Meaning:
        """Choose the kind of a code, or ask, unless the page takes the input as it came, or a name."""
        is_plain = self._page.top.job.raw_input or self._page.accepts().text
        return meaning if is_plain else choose_kind(self._reactions, meaning)

    def _read_with_unit(self, text: str, accepts: Accepts, meaning: Meaning) -> Meaning:
        """Return the quantity if a text is a number with a unit of the product, else the meaning as it is."""
        if not parse_amount(text):
            return meaning
        scan, top = self._page.question.measured_scan, self._page.top
        product = scan.matches[0].key if scan else top.job.quantity_product(top.state)[0]
        unit = unit_of_product(self._store.reader, product) if product else ""
        return quantity_with_unit(grammar.normalise_input(text), unit, accepts.decimals) or meaning

    def _was_on_screen(self) -> bool:
        """Return whether the page and its question were on the screen before the batch."""
        now, before = self._page.question, self._batch.question_before
        is_same = (now.doubtful_quantity, now.scans, now.first) == (
            before.doubtful_quantity,
            before.scans,
            before.first,
        )
        return is_same and self._page.identity == self._batch.page_before

    def _look_up(self, text: str, accepts: Accepts, preferred_kinds: tuple[str, ...]) -> Meaning:
        if self._reader is not self._store.reader:
            self.forget()
            self._reader = self._store.reader
        key = (text, accepts, preferred_kinds)
        meaning = self._meanings.get(key)
        if not self._meanings:
            self._cache_version = self._reader.cache_version()
        if meaning is None:
            meaning = self._meanings[key] = self._resolve_uncached(self._reader, *key)
        return meaning

    def _resolve_uncached(
        self, reader: CacheReader, text: str, accepts: Accepts, preferred_kinds: tuple[str, ...]
    ) -> Meaning:
        interpretations = grammar.parse(text, accepts, self._profile.current.in_store_patterns)
        if not grammar.needs_look_up(interpretations):
            return interpretations
        candidates = reader.find(grammar.look_up_keys(interpretations))
        if any(interpretation.price is not None for interpretation in interpretations):
            candidates = reader.with_prices(candidates)
        meaning = resolve(text, accepts, interpretations, candidates, preferred_kinds)
        if isinstance(meaning, UnknownCode | Text) and (plain := text.strip(_SEPARATORS)) not in (text, ""):
            found = self._resolve_uncached(reader, plain, accepts, preferred_kinds)
            return found if isinstance(found, Scan | Ambiguous | Text | UnknownCode) else UnknownCode(plain)
        if is_guess(meaning) and not reader.is_complete():
            return UnknownCode(interpretations[0].code)  # an unread part of the store may fit better
        return meaning

    # What a text may be

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
        return not is_number and isinstance(self.resolve(text), Scan | Ambiguous)

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
        place = _location_of(self.resolve(f"{_CODE_128}{text}"), text)
        return place is not None and place.matches[0].key == text

    def scan_of_short_label(self, text: str) -> str:
        """Return what a scanner sends that names the symbology of such a label; empty if the label is also a number or
        a label of something else."""
        text = text.strip(" ")
        if not self.is_short_label(text) or text in (*self._page.accepts().labels, *self._page.accepts().codes):
            return ""
        meaning = self.resolve(f"{_CODE_128}{text}")
        is_location = isinstance(meaning, Scan) and all(each.kind == LOCATION for each in meaning.matches)
        return f"{_CODE_128}{text}" if is_location else ""

    def is_long_code(self, text: str) -> bool:
        """Return whether a code is so long that a part of another code is hardly ever the same."""
        return len(text.strip(" ")) >= MIN_SCAN and self.is_code(text)

    def can_be_taken_back(self, text: str) -> bool:
        """Return whether what a scanned code does can be taken back: not a badge, a command or the text of a note."""
        top, meaning = self._page.top, self.resolve(text)
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
        return (self._has_scanned_end or _is_fast(line)) and find_number(self._store.reader, quantity) is None

    def is_nothing(self, text: str) -> bool:
        """Return whether a number is that of nothing in the store, nor of a tote here."""
        text = text.strip(" ")
        if not text.isdecimal() or text in self._page.accepts().codes:
            return False
        return isinstance(self._look_up(f"{_CODE_128}{text}", Accepts(), self._page.preferred_kinds()), UnknownCode)

    def is_unknown_number(self, line: Line) -> bool:
        """Return whether a number at the pace of a scanner is that of nothing: an unknown code."""
        return _is_fast(line) and self.is_nothing(line.text)

    def is_scanned_number(self, text: str, meaning: Meaning) -> bool:
        """Return whether the number of a tote or record came at the pace of a scanner: a scan, no quantity of one."""
        if not self._is_fast:
            return False
        is_record = isinstance(meaning, Quantity) and find_number(self._store.reader, meaning) is not None
        return is_record or text.strip(" ") in self._page.accepts().codes

    def is_fast_choice(self, line: Line, meaning: Meaning) -> bool:
        """Return whether the number of a choice came at the pace of a scanner: it may be a part of a code.

        Zero for back is one too, and a count of records.
        """
        text = meaning.code if isinstance(meaning, UnknownCode) else line.text.strip(" ")
        is_count = isinstance(meaning, UnknownCode) and len(text) <= self._page.top.job.max_count_digits
        return (
            (is_count or isinstance(meaning, Choice | Back))
            and text.isdecimal()
            and (self._has_scanned_end or _is_fast(line))
        )

    def is_scanned_answer(self, line: Line, meaning: Meaning) -> bool:
        """Return whether the letter of a choice came at the pace of a scanner: it may be a label of one character."""
        return isinstance(meaning, Choice) and is_scanned_letter(line)

    def is_scanned_number_label(self, line: Line, meaning: Meaning) -> bool:
        """Return whether a number came at the pace of a scanner and is on something that the step asks for: a tote."""
        is_number = isinstance(meaning, Quantity | Choice) and not self._page.question.is_asked
        return is_number and _is_fast(line) and line.text.strip(" ") in self._page.accepts().codes

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
        found = self.resolve(f"{_CODE_128}{text}")
        first = _first_match(found)
        if first and line.longest_pause < FAST_S and (first.kind, first.key) in ((LOCATION, text), (PRODUCT, text)):
            return found if isinstance(found, Scan | Ambiguous) else None
        if first and (place := _location_of(found, text)):
            return self._label_of_location(place, text, meaning, is_repeated=is_repeated)
        is_command = text.islower() or meaning != RefusedInput("input.no_command", text)  # labels have capitals
        is_fast = line.longest_pause < FAST_S
        return None if is_command or not is_fast else UnknownCode(text)

    def _label_of_location(
        self, place: Scan, text: str, meaning: Meaning, *, is_repeated: bool
    ) -> Scan | RefusedInput | None:
        """Return what a character is that is the label of a location, or was typed fast: a scan, refused, or typed.

        In the other case of letters it is a scan only where it means nothing else, and an answer once it is repeated.
        """
        is_exact = place.matches[0].key == text
        if isinstance(meaning, Command) and meaning.letter in _HARMLESS_LETTERS and not is_exact:
            return None
        if (is_exact or isinstance(meaning, RefusedInput)) and self._reactions.is_taken(place):
            return place
        if isinstance(meaning, RefusedInput) or (is_repeated and not is_exact):
            return None
        return RefusedInput(LOCATION_OR_TYPED, text)

    def is_scanned_code(self, line: Line, meaning: Meaning) -> bool:
        """Return whether a text at the pace of a scanner is an unknown code: no quantity, nor words to search for.

        Words with a digit and no blank are a code in the jobs that count goods: no scan leaves their page for another.
        """
        if isinstance(meaning, Text):
            text, is_counting = meaning.text, self._page.top.job.name in COUNTS_SCANS
            is_code = is_counting and len(text) >= MIN_SCAN and _is_code_shaped(text) and not asks_look_up(line.text)
            return is_code and not self._page.accepts().text and _is_fast(line)
        return isinstance(meaning, RefusedInput) and meaning.reason in _NO_QUANTITY and _is_fast(line)

    def scanned_record(self, line: Line, quantity: Quantity) -> Scan | None:
        """Return the scan of the record whose number came at the pace of a scanner where a value is typed.

        Return None in jobs that count goods, which ask about numbers of the store themselves.
        """
        if self._page.top.job.name in (*COUNTS_SCANS, "shortage") or self._page.question.is_asked or not _is_fast(line):
            return None
        match = find_number(self._store.reader, quantity, self._page.preferred_kinds())
        return Scan((match,)) if match else None

    def record_at_question(self, line: Line, quantity: Quantity) -> Match | None:
        """Return the record whose number came at the pace of a scanner while another number is in question."""
        if not self._page.accepts().is_number_asked or not _is_fast(line):
            return None
        return find_number(self._store.reader, quantity)

    def is_unknown_yet(self, line: Line, meaning: Meaning) -> bool:
        """Return whether an unknown scan on a search page may be known once the store has been read whole."""
        if not isinstance(meaning, Text | UnknownCode):
            return False
        code, accepts = line.text.strip(" "), self._page.accepts()
        if accepts.text or not (accepts.search or accepts.follows_typing):
            return False
        is_scanned = line.median_pause < TYPING_PAUSE_S and len(code) >= MIN_SCAN and _is_code_shaped(code)
        return is_scanned and not asks_look_up(code) and not self._store.reader.is_complete()

    # Lines with something missing, or something left over

    def prepare(self, line: Line) -> PreparedLine:
        """Return a line as a scan or person meant it: without leftovers, with the characters that a key cut off."""
        self._is_scanned, self._is_fast, self._has_scanned_end = bool(line.scan_number), _is_fast(line), False
        if code := self._code_beside_add_on(line):
            return PreparedLine(line._replace(text=code))
        left, end = line.text[: line.before_pause].strip(" "), line.text[line.before_pause :]
        if left[-1:].isalnum() and self._is_scan_alone(line, end):  # `12*` and `?` are typed before scans
            return self._prepare_end(line, left, end)
        return self._complete(line)

    def _is_scan_alone(self, line: Line, end: str) -> bool:
        """Return whether the end of a line, after a long pause, is a code of the store by itself."""
        code, accepts = end.strip(" "), self._page.accepts()
        if not code or self._page.top.job.raw_input or self._page.is_secret(line.text):
            return False
        if len(code) >= MIN_SCAN:
            return isinstance(self.resolve(code), Scan | Ambiguous)
        if not (line.has_scanned_end and line.has_typed_beginning) or accepts.text:
            return False
        found = self.resolve(f"{_CODE_128}{code}")
        first = _first_match(found)
        is_label = code in accepts.codes or code in accepts.labels
        return is_label or (first is not None and not is_guess(found) and (len(code) > 1 or first.key == code))

    def _prepare_end(self, line: Line, left: str, end: str) -> PreparedLine:
        """Return a scan behind something that a person typed, which is dropped; refuse it if both may be one code.

        If both may be one number, that is asked. Three letters that somebody left are no word.
        """
        whole, is_short = self.resolve(line.text), len(end.strip(" ")) < MIN_SCAN
        if isinstance(whole, Quantity | Choice):
            self._has_scanned_end = True
            return PreparedLine(line)
        is_word = left.isalpha() and len(left) > MAX_LEFTOVER_LETTERS
        is_known = isinstance(whole, Scan | Ambiguous) and not is_guess(whole)
        if is_known and _first_match(whole) != _first_match(self.resolve(end)):
            return PreparedLine(line, reason="input.incomplete_scan") if is_short else self._complete(line)
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
        self._is_fast = _is_fast(scan)
        return PreparedLine(scan, dropped=left)

    def _code_beside_add_on(self, line: Line) -> str:
        """Return the known code of a product that was scanned with its add-on; empty for any other line.

        At the pace of typing, the digits may be a quantity.
        """
        text = line.text.strip(" ")
        found = _CODE_BESIDE_ADD_ON.fullmatch(text)
        is_scan = bool(line.scan_number) and line.longest_pause < FAST_S
        if not found or not is_scan or not has_valid_check_digit(found[1]) or self._page.top.job.raw_input:
            return ""
        meaning = self.resolve(found[1])
        is_product = isinstance(meaning, Scan) and meaning.matches[0].kind == PRODUCT and not is_guess(meaning)
        return found[1] if is_product and not isinstance(self.resolve(text), Scan | Ambiguous) else ""

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
        is_doubtful = bool(longer) if is_known else _is_code_shaped(line.text)
        return PreparedLine(line, reason="input.incomplete_scan" if is_doubtful else "")

    def _is_unknown(self, text: str) -> bool:
        return isinstance(self.resolve(text), UnknownCode | Text | RefusedInput)

    def _is_certain_scan(self, text: str) -> bool:
        meaning = self.resolve(text)
        return isinstance(meaning, Scan) and not is_guess(meaning)


def _is_fast(line: Line) -> bool:
    """Return whether a number came at the pace of a scanner; the pace of one digit is the pause before its Enter."""
    has_one_digit = sum(char.isdecimal() for char in line.text) == 1
    pause = line.longest_pause if has_one_digit else line.median_pause
    return bool(line.scan_number) and pause < FAST_S


def is_scanned_letter(line: Line) -> bool:
    """Return whether a line is one letter at the pace of a scanner, which is the pause before its Enter."""
    text = line.text.strip(" ")
    return len(text) == 1 and text.isalpha() and bool(line.scan_number) and line.longest_pause < FAST_S


def _first_match(meaning: Meaning) -> Match | None:
    """Return the first match of a scan, or of the first of several readings."""
    scan = meaning.scans[0] if isinstance(meaning, Ambiguous) else meaning
    return scan.matches[0] if isinstance(scan, Scan) else None


def _location_of(meaning: Meaning, text: str) -> Scan | None:
    """Return the scan of the location whose label is this character, in capitals or not."""
    scans = meaning.scans if isinstance(meaning, Ambiguous) else (meaning,) if isinstance(meaning, Scan) else ()
    places = [each for scan in scans for each in scan.matches if each.kind == LOCATION]
    named = [each for each in places if each.key.casefold() == text.casefold()]
    return Scan((min(named, key=lambda each: each.key != text),)) if named else None


def _is_code_shaped(text: str) -> bool:
    return " " not in text and any(map(str.isdigit, text))


def is_guess(meaning: Meaning) -> bool:
    """Return whether a code had to be completed or shortened to find what it means."""
    scans = meaning.scans if isinstance(meaning, Ambiguous) else (meaning,) if isinstance(meaning, Scan) else ()
    return any(match.is_guess for scan in scans for match in scan.matches)


def ask_of_badge(stacked_job: StackedJob, meaning: Meaning) -> Meaning:
    """Return the choice between a badge and what else has its code, on a page that signs in and opens other things."""
    kinds = stacked_job.job.prefers(stacked_job.state)
    signs_in = PERSON in kinds and PRODUCT in kinds[kinds.index(PERSON) :] and not stacked_job.job.raw_input
    if not isinstance(meaning, Scan) or not signs_in:
        return meaning
    people = [each for each in meaning.matches if each.kind == PERSON]
    others = [each for each in meaning.matches if each.kind != PERSON]
    if not people or not others:
        return meaning
    if meaning.is_look_up:
        return Scan(tuple(others), is_look_up=True)
    return Ambiguous(tuple(Scan((each,)) for each in (*people, *with_distinct_names(others))))


def choose_kind(reactions: PageReactions, meaning: Meaning) -> Meaning:
    """Return the only reading of a code of several kinds that the page has a use for, or the choice between them."""
    if not isinstance(meaning, Scan):
        return meaning
    readings = reactions.readings(meaning)
    if len(readings) > 1:
        return Ambiguous(readings)
    only = readings[0]
    if only is meaning:
        return meaning
    return only._replace(matches=tuple(each._replace(is_shared_code=True) for each in only.matches))


def choose_product(stacked_jobs: Sequence[StackedJob], meaning: Meaning) -> Meaning:
    """Return a scan of one product, or the choice between the products that share its code.

    Products that the job works with come alone if there are any. A job that `resolves_ambiguity` gets them all.
    """
    if not isinstance(meaning, Scan) or meaning.matches[0].kind != PRODUCT:
        return meaning
    products = [each for each in meaning.matches if each.kind == PRODUCT]
    receiver = receiving_job(stacked_jobs, meaning)
    is_wanted = any(PRODUCT in each.job.prefers(each.state) for each in (receiver, stacked_jobs[-1]))
    if len(products) < 2 or not is_wanted or receiver.job.raw_input:
        return meaning
    used = [] if meaning.is_look_up else _used_products(receiver, products)
    if len(used) != 1 and receiver is stacked_jobs[-1] and receiver.job.resolves_ambiguity and not meaning.is_look_up:
        return meaning
    others = tuple(each for each in meaning.matches if each.kind != PRODUCT)
    scans = tuple(Scan((each, *others), meaning.is_look_up) for each in with_distinct_names(used or products))
    return scans[0] if len(scans) == 1 else Ambiguous(scans)


def _used_products(stacked_job: StackedJob, products: Sequence[Match]) -> list[Match]:
    return [each for each in products if stacked_job.job.uses_product(stacked_job.state, each.key)]
