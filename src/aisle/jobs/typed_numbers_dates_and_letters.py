"""What people type: numbers, which are a quantity or a record's, letters of choices beside them, and dates.

That a number is no choice was decided in `scan/grammar`.
A number at the pace of a scanner: `session/pending_question`.

Each kind of choice has one letter in all jobs:

* `y` yes; `k` keep it as it is; `n` none of it; `r` only the rest that is still needed.
* `x` drop it, or it is no quantity; `c` count (`v` beside a cart); `f` look it up; `g` switch to another one.
* `o` somebody else has it; `m` more; `a` all; `l` it is still at the location, or its label cannot be read.

Choices among equals (products, locations, orders) get the first letters that are free on their page; the page shows
them.

The day comes before the month, as in the dates that every language of aisle shows. Months have the names of all
languages.
"""

from __future__ import annotations

import calendar
import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

from aisle.barcode_numbers import are_digits, has_check_digit
from aisle.jobs.job import Query
from aisle.jobs.view import Msg, msg, raw
from aisle.scan.grammar_and_meaning_types import DELIVERY, LOCATION, ORDER, PERSON, PRODUCT, REFERENCE, Match
from aisle.scan.gs1 import nearest_century, parse_expiry_label

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import RecordsByNumberRow


MIN_RECORD_NUMBER = Decimal(10)
"""Smallest number read as that of a badge or closed order. Most quantities have one digit, and these records are of no
use where one is open: of one digit only products, locations, deliveries and active orders are asked about."""

IMPLAUSIBLE_FACTOR = Decimal(10)
"""Factor above the expected quantity from which a confirmation is asked."""

ALWAYS_ASKED_FROM = Decimal(10**6)
"""Quantity from which a confirmation is always asked."""

DROP_QUANTITY = "not_so_many"
"""Kind of the choice that drops the quantity in question."""

MAX_LIKELY_QUANTITY = Decimal(9999)
"""Largest likely quantity. A greater number that is known to the store names a record: labels have such codes."""
MAX_RECORD_CHOICES = 8
"""Most records with the typed digits that are offered beside the quantity."""

RECORD_CHOICES = ("is_product", "is_location", "is_delivery", "is_order", "is_reference", "is_person")
"""Kinds of choices that read digits as the number of a record."""
MAX_QUANTITY_DIGITS = 3
"""Most digits of an unknown number that is taken for a quantity. Orders have four digits."""


class QuantityQuestion(NamedTuple):
    """Question about a quantity that is stored nowhere else: if so many are meant, or what the typed digits name."""

    quantity: Decimal
    matches: tuple[Match, ...] = ()
    """Records with these digits. Without one it is asked if so many are meant."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of its choices: the quantity, then the records, or that the quantity is dropped."""
        return ("quantity", *([f"is_{each.kind}" for each in self.matches] or [DROP_QUANTITY]))

    def choices(self, quantity: Decimal | Msg) -> tuple[Msg, ...]:
        """Return the texts of its choices; `quantity` is with its unit."""
        records = [_record_choice(match) for match in self.matches] or [msg("order_actions.no")]
        return (msg("count.choice_quantity", quantity=quantity), *records)

    def match_of_choice(self, number: int) -> Match | None:
        """Return the record of a choice; None for the quantity and for dropping it."""
        return self.matches[number - 2] if 2 <= number < len(self.matches) + 2 else None

    def names(self, match: Match) -> bool:
        """Return True if a scan says what the digits are: the number of this record."""
        return any((each.kind, each.key) == (match.kind, match.key) for each in self.matches)

    def text(self, quantity: Decimal | Msg, label: str | Msg) -> Msg:
        """Return the question; `quantity` is with its unit."""
        if not self.matches:
            return msg("count.confirm_quantity", value=quantity, label=label)
        return number_question(self.matches[0], self.quantity, *self.matches[1:])


def _record_choice(match: Match) -> Msg:
    if match.kind not in (PRODUCT, LOCATION):
        return other_choice_text(match)
    id_ = "locations.title_location" if match.kind == LOCATION else "count.choice_product"
    return msg(id_, label=match.label or match.key)


def is_too_short_for_code(code: str) -> bool:
    """Return True if digits, also with a decimal point, are too few for a code: a quantity was typed where none is
    expected."""
    whole, _, part = code.replace(",", ".").partition(".")
    digits = whole + part
    return digits.isdecimal() and digits.isascii() and len(digits) <= MAX_QUANTITY_DIGITS


def has_decimal_point(code: str) -> bool:
    """Return True if digits have a decimal point or comma among them, as a quantity has."""
    digits = code.replace(",", ".").replace(".", "", 1)
    return digits != code and digits.isdecimal() and digits.isascii()


def query_by_number(value: Decimal, code: str) -> Query | None:
    """Return the query for records with this number, or None if it can only be a quantity. `code` is the number as
    typed (`007`, `2.5`) if the value does not say it; a product of numbers (`3*4`) is no code."""
    if not value or not (has_decimal_point(code) or code.isdigit() if code else value == value.to_integral_value()):
        return None
    return Query("records_by_number", "records_by_number", {"code": code or f"{value.to_integral_value():f}"})


def best_match(rows: Iterable[RecordsByNumberRow], value: Decimal, kinds: tuple[str, ...]) -> Match | None:
    """Return the best record with this number, from rows of the query `records_by_number`; `kinds` are best first."""
    return next(iter(matches_of_number(rows, value, kinds)), None)


def is_likely_number(rows: Iterable[RecordsByNumberRow], value: Decimal) -> bool:
    """Return True if known digits are certainly a number: too large for a quantity, and no match is a guess. `rows` are
    those of the query `records_by_number`."""
    listed = tuple(rows)
    is_guess = any(row.get("is_guess") for row in listed) or are_several_guesses(listed)
    return value > MAX_LIKELY_QUANTITY and not is_guess and not are_goods_and_location(listed)


def are_goods_and_location(rows: Iterable[RecordsByNumberRow]) -> bool:
    """Return True if the digits are on goods and on a location: which one is meant has to be asked."""
    return {PRODUCT, LOCATION} <= {row["kind"] for row in rows}


def are_several_guesses(rows: Iterable[RecordsByNumberRow]) -> bool:
    """Return True if digits fit several records with other leading zeros, none of them exactly. Goods and locations
    come before orders, as for a scan (`resolve`)."""
    names = [(row["kind"], row["key"]) for row in rows if row.get("has_other_zeros")]
    usable = [name for name in names if name[0] in (PRODUCT, LOCATION)] or names
    return len(set(usable)) > 1


def matches_of_number(rows: Iterable[RecordsByNumberRow], value: Decimal, kinds: tuple[str, ...]) -> tuple[Match, ...]:
    """Return the records with this number, from rows of `records_by_number`; usable kinds (best first) come first."""
    usable = [row for row in rows if may_be_number_of(row["kind"], value, is_active=bool(row.get("is_active")))]
    found = [Match(str(row["kind"]), str(row["key"]), str(row["label"]), code=f"{value:f}") for row in usable]
    orders = {each.key for each in found if each.kind == ORDER}
    found = [each for each in found if each.kind != REFERENCE or each.key not in orders]
    order = {kind: rank for rank, kind in enumerate(kinds)}
    return tuple(sorted(found, key=lambda each: order.get(each.kind, len(kinds))))[:MAX_RECORD_CHOICES]


def may_be_number_of(kind: str, value: Decimal, *, is_active: bool = False) -> bool:
    """Return True if digits of this value may mean a record of that kind; of orders, an active one."""
    is_active_order = is_active and kind in (ORDER, REFERENCE)
    return value >= MIN_RECORD_NUMBER or kind in (LOCATION, DELIVERY, PRODUCT) or is_active_order


def number_question(match: Match, value: Decimal, *others: Match) -> Msg:
    """Return the question whether digits are a quantity or name this record, or one of several."""
    if others:
        return msg("move.number_of", quantity=value)
    return msg("count.number_of_other", value=value, what=name_of(match))


def other_choice_text(match: Match) -> Msg:
    """Return the text of the choice that digits name a record this page cannot use. They then have no effect."""
    return msg("count.choice_other", what=name_of(match))


def name_of(match: Match) -> Msg:
    """Return a record in words: `order 4101`, `the badge of Petra Oakes`; a product by its name alone."""
    if match.kind in (ORDER, REFERENCE):
        return msg("record_name.order", what=match.key)
    if match.kind == LOCATION:
        return msg("record_name.location", what=match.key)
    if match.kind == DELIVERY:
        return msg("record_name.delivery", what=match.key)
    label = match.label or match.key
    return msg("record_name.person", what=label) if match.kind == PERSON else raw(label)


def is_other_kind(match: Match, other: Match) -> bool:
    """Return True if two records with one code are of different kinds; an order and its reference are one."""
    orders = (ORDER, REFERENCE)
    return match.kind != other.kind and not (match.kind in orders and other.kind in orders)


def not_an_order(match: Match) -> Msg:
    """Return the refusal of a record where an order is scanned."""
    return msg("page.not_this", what=name_of(match))


def distinct_labels(label: str, product: str, scanned: Match) -> dict[str, str]:
    """Return the names of a product and of what was scanned (`label`, `what`); equal ones with their numbers."""
    what = scanned.label or scanned.key
    if label == what and product != scanned.key:
        return {"label": f"{label} {product}", "what": f"{what} {scanned.key}"}
    return {"label": label, "what": what}


def with_distinct_names(products: Sequence[Match]) -> Sequence[Match]:
    """Return the products with distinct labels. If two share a name, all get their number added."""
    if len({each.label for each in products}) == len(products):
        return products
    return [each._replace(label=f"{each.label} {each.key}".strip()) for each in products]


def is_implausible(
    value: Decimal, expected: Decimal, limit: Decimal, entered: Decimal = Decimal(0), added: Decimal | None = None
) -> bool:
    """Return True if a quantity must be confirmed. It is implausible if it is far more than `expected`, or at least
    `limit` if nothing is expected; seven digits always are.

    `entered` was entered before and is plausible, and so is what is not far above it if `entered` itself is far more
    than expected. A scan adds to it: it is implausible only if what it adds (`added`) is more than expected, and later
    only if that is far more, or at least `limit`.
    """
    if value <= entered:
        return False
    if value >= ALWAYS_ASKED_FROM:
        return True
    is_large = bool(limit) and (value if added is None else added) >= limit
    if expected <= 0:
        return bool(limit) and value >= limit and (is_large or value > IMPLAUSIBLE_FACTOR * entered)
    usual = IMPLAUSIBLE_FACTOR * expected
    if value <= usual:
        return False
    is_far_before = entered > usual
    if added is None:
        return is_large or not is_far_before or value > IMPLAUSIBLE_FACTOR * entered
    return is_large or added > (usual if is_far_before else expected)


def is_implausible_sum(value: Decimal, expected: Decimal, limit: Decimal, entered: Decimal, scanned: Decimal) -> bool:
    """Return True if a typed quantity, or the sum after `scanned` more, must be confirmed."""
    if scanned == 1:
        return is_implausible_scan(value, max(expected, entered), limit)
    return is_implausible(value, expected, limit, entered, scanned or None)


def is_implausible_scan(value: Decimal, known: Decimal, limit: Decimal) -> bool:
    """Return True if the sum of single scans must be confirmed. One more piece is plausible while the sum is below
    `limit`."""
    return value >= ALWAYS_ASKED_FROM or (bool(limit) and value >= limit and value > IMPLAUSIBLE_FACTOR * known)


YES: Final = "y"
DROP: Final = "x"

CHOICES_OF_LETTERS: Final = {
    YES: (
        "quantity", "amount", "over", "extra", "take_here", "put_here", "put_others", "put", "put_back", "reopen",
        "take_in", "both", "undo_rest", "finish", "book", "is_tote", "all_the_same", "many", "then", "go_on", "out",
    ),
    "ym": ("set",),
    "yq": ("leave",),
    "k": ("stay", "leave_it", "in_hand", "back", "later"),
    "n": ("aside", "not_there", "nowhere"),
    "r": ("take_rest", "fit", "fit_order"),
    DROP: (
        "drop", "forget", "throw_away", "is_product", "is_location", "is_order", "is_reference", "is_delivery",
        "is_person", "not_so_many", "tote",
    ),
    "cv": ("count",),
    "f": ("look_up", "find"),
    "g": ("switch", "leave_for"),
    "o": ("hand_over", "handed_over"),
    "a": ("other", "leave_all"),
    "l": ("put_down_there", "label_unreadable"),
    "j": ("join",),
}  # fmt: skip
"""Kinds of choices with each letter, or with the first of several letters that is free."""

LETTER_OF_CHOICE: Final = {kind: letters for letters, kinds in CHOICES_OF_LETTERS.items() for kind in kinds}
"""Letters of each kind of choice, the preferred one first. A kind that is missing here is one among equals."""

MAX_CHOICES: Final = 9
"""Most choices offered at once from a list of any length; the others wait."""

FREE_LETTERS: Final = "efgjmortvzixlsqawckdun"
"""Letters for choices among equals, in the order of use. `b`, `h` and `p` are navigation keys of every page."""


class OfferedChoice(NamedTuple):
    """Choice that a page offers: its kind, the key of the record that it is about, and the name of that record."""

    kind: str
    key: str = ""
    label: str = ""


def assign_letters(kinds: Iterable[str], commands: str = "") -> str:
    """Return one distinct letter for each of these choices. If there are more choices than letters, the last choices
    get none and have to wait. `commands` are letters that the page already uses."""
    keys = ""
    for kind in kinds:
        taken = f"{keys}{commands}"
        letter = next(
            (letter for letter in (*LETTER_OF_CHOICE.get(kind, ""), *FREE_LETTERS) if letter not in taken), ""
        )
        if not letter:
            break
        keys += letter
    return keys


def quantity_prompt(keys: str, *, scans: bool = True, is_total: bool = True) -> Msg:
    """Return the prompt where letters choose and a number is the total quantity, or that of what was scanned. `scans`:
    a scan continues."""
    if is_total:
        return msg("prompt.choose_or_many" if scans else "prompt.choose_or_type", letters=spell_letters(keys))
    id_ = "prompt.choose_or_how_many" if scans else "prompt.choose_or_type_how_many"
    return msg(id_, letters=spell_letters(keys))


_PROMPTS_FOR_QUANTITY = (
    "prompt.choose_or_how_many",
    "prompt.choose_or_type_how_many",
    "session.type_in",
    "session.type_how_much",
)
"""Prompts where a number is the quantity of what was scanned."""


def is_total_asked(prompt: Msg) -> bool:
    """Return True unless a number at this prompt is the quantity of what was scanned."""
    return prompt.id not in _PROMPTS_FOR_QUANTITY


def letter_prompt(keys: str, *, scans: bool = True) -> Msg:
    """Return the prompt where letters choose and no quantity is open."""
    return msg("prompt.letter_or_scan" if scans else "prompt.letter", letters=spell_letters(keys))


def spell_letters(keys: str) -> Msg:
    """Return the letters as a list with "or"; the short length has only spaces between them."""
    if len(keys) < 2:
        return raw(keys)
    return msg("prompt.letters", letters=" ".join(keys), first=", ".join(keys[:-1]), last=keys[-1])


_MONTHS = (
    "january januari januar janvier janner",
    "february februari februar fevrier",
    "march maart mrt marz maerz mars",
    "april avril",
    "may mei mai",
    "june juni juin",
    "july juli juillet",
    "august augustus aout",
    "september septembre",
    "october oktober octobre",
    "november novembre",
    "december dezember decembre",
)
"""Names of the months without accents. A beginning of three letters is enough, if it is that of one month."""

_DAYS_AHEAD = re.compile(r"\+\s*(\d{1,4})", re.ASCII)
_PART = re.compile(r"\d+|[a-z]+", re.ASCII)
_DATE = re.compile(r"[\da-z]+(?:[-./, ]+[\da-z]+)*[-./, ]*", re.ASCII)

MAX_YEARS_TYPED = 50
"""Years from today beyond which eight digits are no typed date."""

_DATE_LENGTHS = (4, 6, 8)
"""Digits of a date without signs."""

Parts = tuple[int, ...]
"""Day, month and, if it was typed, the year; the day is `LAST_DAY` if only month and year were."""

LAST_DAY = -1
"""Last day of the month; nobody can type this number."""


def parse_date(text: str, today: date, *, past_days: int = 0) -> date | None:
    """Return a typed date; None if the text is none. Without a year it is the next such day, or one at most
    `past_days` ago."""
    text = _without_accents(text)
    try:
        if ahead := _DAYS_AHEAD.fullmatch(text):
            return today + timedelta(days=int(ahead[1]))
        parts = _parse_parts(_PART.findall(text)) if _DATE.fullmatch(text) else ()
        if len(parts) == 3:
            return _make_date(*parts)
        return _nearest(parts[0], parts[1], today - timedelta(days=past_days)) if parts else None
    except (ValueError, OverflowError):
        return None


def parse_label_date(text: str, today: date, *, past_days: int = 0) -> date | None:
    """Return the expiry date of a label that has dates alone (`17261214`); None for other text, and for a date that may
    be typed."""
    typed, expiry = parse_date(text, today, past_days=past_days), parse_expiry_label(text)
    if not expiry or (typed and abs(typed.year - today.year) < MAX_YEARS_TYPED):
        return None
    return nearest_century(date.fromisoformat(expiry), today)


def is_date(text: str) -> bool:
    """Return True if a text is a date, on whatever day."""
    return parse_date(text, date(2000, 1, 1)) is not None


def has_length_of_date(text: str) -> bool:
    """Return True if a text is as many digits as a date without signs has, and no barcode."""
    return are_digits(text) and len(text) in _DATE_LENGTHS and not has_check_digit(text)


def _without_accents(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text.strip().casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _parse_parts(parts: Sequence[str]) -> Parts:
    """Return day, month and year of the digits and words of a text; empty if these are no date."""
    numbers = [part for part in parts if part.isdecimal()]
    months = [_month_of_name(part) for part in parts if not part.isdecimal()]
    if len(months) > 1 or 0 in months:
        return ()
    if months:
        return _with_named_month(numbers, months[0], is_first=not parts[0].isdecimal())
    return _split_digits(numbers[0]) if len(numbers) == 1 else _with_signs(numbers)


def _with_named_month(numbers: Sequence[str], month: int, *, is_first: bool) -> Parts:
    """Return the date of `7 dec`, `dec 7`, `7 dec 2026`, or of `dec 2026`."""
    match [len(number) for number in numbers]:
        case [1 | 2]:
            return int(numbers[0]), month
        case [1 | 2, 2 | 4]:
            return int(numbers[0]), month, _year(numbers[1])
        case [4] if is_first:
            return LAST_DAY, month, int(numbers[0])
    return ()


def _with_signs(numbers: Sequence[str]) -> Parts:
    """Return the date of numbers with signs between them: `7.12`, `7.12.26`, `2026-12-7`, `12/2026`."""
    match [len(number) for number in numbers]:
        case [1 | 2, 1 | 2]:
            return int(numbers[0]), int(numbers[1])
        case [1 | 2, 1 | 2, 2 | 4]:
            return int(numbers[0]), int(numbers[1]), _year(numbers[2])
        case [4, 1 | 2, 1 | 2]:
            return int(numbers[2]), int(numbers[1]), int(numbers[0])
        case [1 | 2, 4]:
            return LAST_DAY, int(numbers[0]), int(numbers[1])
    return ()


def _split_digits(digits: str) -> Parts:
    """Return the date of digits without signs: `0712`, `071226`, `07122026`, `20261207`."""
    if len(digits) == 8 and digits.startswith("20") and int(digits[2:4]) > 12:
        return int(digits[6:]), int(digits[4:6]), int(digits[:4])
    if len(digits) not in _DATE_LENGTHS:
        return ()
    year = (_year(digits[4:]),) if digits[4:] else ()
    return int(digits[:2]), int(digits[2:4]), *year


def _year(digits: str) -> int:
    return int(digits) + (2000 if len(digits) == 2 else 0)


def _month_of_name(word: str) -> int:
    """Return the month that a word begins to name; 0 for none or several."""
    found = [number for number, names in enumerate(_MONTHS, 1) if any(each.startswith(word) for each in names.split())]
    return found[0] if len(found) == 1 and len(word) >= 3 else 0


def _make_date(day: int, month: int, year: int) -> date:
    return date(year, month, calendar.monthrange(year, month)[1] if day == LAST_DAY else day)


def _nearest(day: int, month: int, first: date) -> date:
    """Return the first such day on or after this one; ValueError for a day that the year lacks."""
    is_next_year = (month, day) < (first.month, first.day)
    return date(first.year + is_next_year, month, day)
