"""Types of the grammar: what a step accepts, how an input may be interpreted, and what it means."""

from decimal import Decimal
from typing import Any, Final, NamedTuple

MISSING_SEPARATOR: Final = "input.no_gs"
"""Refusal: a value of GS1 data runs into the next one, or a sign is in the place of a separator."""
DAMAGED_GS1: Final = "input.gs1_damaged"
"""Refusal: GS1 data is damaged, or its label is wrong."""
EXTRA_SIGNS: Final = "input.extra_characters"
"""Refusal: signs around or inside a code that belong to no code, or a control character or key inside it."""
NUMBER_BESIDE_CODE: Final = "input.number_beside_code"
"""Refusal: a number before or after a code without a sign that it multiplies."""
TWO_CODES: Final = "input.two_codes"
"""Refusal: two codes in one line."""
PART_OF_LABEL: Final = "input.part_of_label"
"""Refusal: a number before a label that has a quantity of its own."""
SUPPLIER_LABEL: Final = "input.supplier_label"
"""Refusal: no product has a number that a supplier's label states."""
WRONG_LAYOUT: Final = "input.keyboard_layout"
"""Refusal: the code came through a keyboard layout other than the scanner's."""


PRODUCT, LOCATION, ORDER, REFERENCE, PERSON, COMMAND = "product", "location", "order", "reference", "person", "command"
DELIVERY = "delivery"
"""Kinds of a candidate and of a match; a container means its delivery."""


class Measure(NamedTuple):
    """Weight, length, area or volume on a label."""

    amount: Decimal
    unit: str = ""
    """Unit, one of `aisle.scan.units`."""
    decimals: int = -1
    """Decimal places that the store's own scale prints; -1 if another label states the unit."""

    def times(self, factor: Decimal) -> "Measure":
        """Return the measure multiplied by a factor."""
        return self._replace(amount=self.amount * factor)


class Candidate(NamedTuple):
    """One object that the store's data has under a code."""

    code: str
    """Look-up key that it was found by (see `Interpretation.keys`)."""
    kind: str
    key: str
    """product_number, location_code, order_number, app user or command letter."""
    label: str = ""
    """Its name for people, raw."""
    factor: Decimal = Decimal(1)
    """Base units of the code: 12 for a case barcode of twelve."""
    allow_decimal: bool = False
    price: Decimal | None = None
    """Price of one base unit, if certain; only looked up if a label has a price."""
    unit: str = ""
    """Name of the base unit."""


class Match(NamedTuple):
    """One object that an input means; `quantity` in base units includes multiplier and the code's own quantity."""

    kind: str
    key: str
    label: str = ""
    quantity: Decimal = Decimal(1)
    is_explicit: bool = False
    """True if the quantity was typed or is in the code; False for the 1 of a plain scan."""
    code: str = ""
    """The code without AIM prefix and multiplier, for messages."""
    batch: str = ""
    expiry: str = ""
    price: Decimal | None = None
    """Price on the label, if the quantity does not follow from it."""
    measure: Measure | None = None
    """Measure on the label, or the quantity of a supplier's label, if the quantity does not follow from it."""
    unit: str = ""
    """Name of the base unit, if the quantity has to be asked for."""
    needs_quantity: bool = False
    """True if it is sold by measure and its label has no usable quantity."""
    layout: str = ""
    """Keyboard layout (`fr`) through which the code came before it was restored."""
    is_guess: bool = False
    """True if a part of the code was missing or added, and only this object fits."""
    by: Decimal = Decimal(1)
    """Typed multiplier, if the quantity has to be asked for."""
    may_hide_count: bool = False
    """True if a value of its label, such as the lot, may end in a number of pieces without a separator.

    Also True for the quantity of a supplier's label, whose unit is unknown.
    """
    has_other_zeros: bool = False
    """True if its number has other leading zeros than the code, which is no GTIN."""
    divided_price: Decimal | None = None
    """Price on the label, multiplier included, if the quantity follows from it."""
    unit_price: Decimal | None = None
    """Price of one base unit by which it was divided."""
    serial: str = ""
    """Serial number on its label (AI 21): no other piece has it."""
    is_repeated: bool = False
    """True if this serial number was scanned before in the job, so that the scan is asked about."""
    is_multiplied_serial: bool = False
    """True if its serial number came with a typed multiplier, so that the scan is asked about: it is one piece."""
    is_shared_code: bool = False
    """True if records of other kinds have its code too, for which the page has no use."""
    may_hide_expiry: bool = False
    """True if a value of its label, such as the lot, may end in an expiry date without a separator."""
    times: Decimal = Decimal(1)
    """Factor that was typed before the code, or number of pieces on its label; `quantity` includes it."""


class Accepts(NamedTuple):
    """Inputs that the current step accepts besides a code."""

    quantity: bool = False
    """True if a quantity is asked for: a number answers it."""
    decimals: bool = False
    choices: int = 0
    """Number of open choices; 0 for none."""
    text: bool = False
    """True if free text is asked for (a name at the sign-in)."""
    command_letters: str = ""
    """Command letters of the step."""
    search: bool = False
    """True if unknown inputs are a search, digits too."""
    typed_only: bool = False
    """True if choices have to be typed because they are hard to undo.

    A printed command does not choose, nor does an input from before the question was on the screen.
    """
    labels: str = ""
    """Capital letters and 0 on the labels of what the step asks for: scanned, one is that object.

    Typed, it keeps its other meaning, and `1*B` is the object B.
    """
    codes: tuple[str, ...] = ()
    """Codes of digits on what the step asks for: at the pace of a scanner, one is that object and no number."""
    scan_labels: tuple[str, ...] = ()
    """Labels of objects here, in small letters, that are scans by themselves among several lines."""
    choice_values: tuple[Any, ...] = ()
    """Objects of the choices, if an input can replace them.

    A number means the object it had on the screen, or nothing.
    """
    follows_typing: bool = False
    """True if the list follows typing: with Enter one letter and two digits are a search too.

    One digit is a search if no row has a number.
    """
    choice_letters: str = ""
    """Letters of the choices in order, on a page with an open quantity, where a number never chooses.

    Empty: the choices are numbered.
    """
    quantity_beyond_choices: bool = False
    """True if the choices are numbered and a greater number may be a quantity, which is asked back."""
    is_number_asked: bool = False
    """True if a number is in question: the label of another record is refused, as other codes are."""
    date: bool = False
    """True if a date is asked for: typed words and numbers may be one."""


class Interpretation(NamedTuple):
    """One interpretation of an input as a code."""

    keys: tuple[str, ...]
    """Exact look-up keys, best first: as scanned, and canonical forms (GTIN without leading zeros)."""
    code: str
    multiplier: Decimal = Decimal(1)
    is_explicit: bool = False
    batch: str = ""
    expiry: str = ""
    measures: tuple[Measure, ...] = ()
    """Measures in the code, multiplier included: the quantity of a product sold by measure."""
    kind: str = ""
    """Only candidates of this kind count; empty for all."""
    rank: int = 0
    """Rank; of the known interpretations only those of the lowest rank count."""
    price: Decimal | None = None
    """Price in the code, multiplier included."""
    is_own_price: bool = False
    """True if the store's own scale printed the price: quantity is that price divided by the product's price."""
    is_guess: bool = False
    """True if a part is missing or added: it counts only if exactly one product or location fits."""
    needs_quantity: bool = False
    """True if it has a measure or a price and no net quantity.

    The quantity of goods sold by measure is unknown then.
    """
    is_variable_measure: bool = False
    """True if only goods sold by measure have such a code."""
    is_amount_doubtful: bool = False
    """True if its weight or price is asked back, because the code has no check digit."""
    has_pieces: bool = False
    """True if it states a number of pieces, which is neither weight nor length."""
    layout: str = ""
    """Keyboard layout through which the code came before it was restored."""
    refusal: str = ""
    """Message id of a refusal.

    With keys it applies if one of them is known and no better interpretation is; without keys if nothing at all is
    known.
    """
    by: Decimal = Decimal(1)
    """Typed multiplier; `multiplier` includes it and the code's own quantity."""
    may_hide_count: bool = False
    """True if a value of the label may end in a number of pieces without a separator."""
    may_hide_expiry: bool = False
    """As in `Match`."""
    zero_forms: tuple[str, ...] = ()
    """Keys of the code with other leading zeros, looked up to tell an exact code from one that differs by zeros."""
    serial: str = ""
    label_quantity: Measure | None = None
    """Quantity of a supplier's label, multiplier included, in a unit that may not be that of the product."""


class Scan(NamedTuple):
    """A code that means one object, or several of which the job takes the first it can use."""

    matches: tuple[Match, ...]
    is_look_up: bool = False
    """True if `?` preceded it: look it up instead of passing it to the job."""

    def with_first(self, **changes: Any) -> "Scan":
        """Return the scan with these fields of its first match changed."""
        first, *others = self.matches
        return self._replace(matches=(first._replace(**changes), *others))


class UnknownCode(NamedTuple):
    """A code that is unknown here."""

    code: str


class Ambiguous(NamedTuple):
    """Several interpretations are left (`128712…`): the person chooses."""

    scans: tuple[Scan, ...]


class Multiplier(NamedTuple):
    """`12*` alone: the next scan counts twelve times."""

    number: str
    """The number as typed."""


class Quantity(NamedTuple):
    """The new quantity of the open object."""

    value: Decimal
    code: str = ""
    """Text as typed or scanned, if it matters beside the value.

    It begins with a zero or has a decimal point and may be the code of an object; or it was multiplied (`3*4`) or
    confirmed as a quantity (`=4`), and is none.
    """

    @property
    def confirmed(self) -> "Quantity":
        """Return this quantity after a person has confirmed that it is no code."""
        return Quantity(self.value, f"={self.value:f}")


class Choice(NamedTuple):
    """One of the choices of the page, counted from 1, by its number or letter."""

    number: int


class Command(NamedTuple):
    """A command: one letter and Enter, an F-key, or a printed barcode."""

    letter: str
    is_own_step: bool = False
    """True for `u` if the job's own last step is undone, also on a page where `u` undoes that of any job."""


class Text(NamedTuple):
    """Words: a search, or a name if the step asks for text."""

    text: str


class RefusedInput(NamedTuple):
    """An input that no rule accepts; `reason` is a message id (`input.…`)."""

    reason: str
    text: str


class Back(NamedTuple):
    """Back: `0` without open quantity or choice, Backspace on an empty line, Esc, `b`."""


class CursorKey(NamedTuple):
    """A cursor key in a list: `up`, `down`, `pageup`, `pagedown`, `home`, `end`, or `row:` or `chip:` with an index.

    `enter` opens the current row.
    """

    key: str


class TypedText(NamedTuple):
    """The open line, for a list that follows typing; never an event of the journal."""

    text: str


Meaning = (
    Scan
    | UnknownCode
    | Ambiguous
    | Multiplier
    | Quantity
    | Choice
    | Command
    | Text
    | RefusedInput
    | Back
    | CursorKey
    | TypedText
)
"""Meaning of an input after look-up."""


def scans_of(meaning: Meaning) -> tuple[Scan, ...]:
    """Return the interpretations of a code as scans; none of what is no code, or unknown."""
    return meaning.scans if isinstance(meaning, Ambiguous) else (meaning,) if isinstance(meaning, Scan) else ()
