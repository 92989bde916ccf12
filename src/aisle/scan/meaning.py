"""Why a code is refused, as message ids."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final, NamedTuple

MISSING_SEPARATOR: Final = "input.no_gs"
"""A value of GS1 data runs on into the next one, or a sign stands where a separator belongs."""
DAMAGED_GS1: Final = "input.gs1"
"""GS1 data is damaged, or its label is wrong."""
EXTRA_SIGNS: Final = "input.noise"
"""Signs stand around a code or in it that belong to no code."""
CONTROL_INSIDE: Final = "input.control"
"""A control character or a key came in the middle of a code."""
NUMBER_BESIDE_CODE: Final = "input.code_number"
"""A number stands behind a code or before it, and no sign says that it multiplies."""
WRONG_LAYOUT: Final = "input.layout"
"""It came through another keyboard layout than the scanner's."""


PRODUCT, LOCATION, ORDER, REFERENCE, PERSON, COMMAND = "product", "location", "order", "reference", "person", "command"
DELIVERY = "delivery"
"""The kinds of a candidate and of a meaning; a container means the delivery that it comes with."""


class Measure(NamedTuple):
    """Weight, length, area or volume, as a label has it."""

    amount: Decimal
    unit: str = ""
    """A unit of `aisle.scan.units`."""
    decimals: int = -1
    """Digits after the point that the shop's own scale prints; -1 where another label says the unit."""


class Candidate(NamedTuple):
    """One thing that the store's data knows under a code."""

    code: str
    """The look-up key it was found under (see `Reading.keys`)."""
    kind: str
    key: str
    """product_number, location_code, order_number, app user or command letter."""
    label: str = ""
    """Its name for a person, raw."""
    factor: Decimal = Decimal(1)
    """Base units that the code stands for: 12 for a case barcode of twelve."""
    allow_decimal: bool = False
    price: Decimal | None = None
    """Of one base unit, where there is one that is in force without doubt; asked for only where a label has a price."""
    unit: str = ""
    """Name of the base unit."""


class Match(NamedTuple):
    """One thing that an input means; `quantity` is in base units, with multiplication and what the code carries."""

    kind: str
    key: str
    label: str = ""
    quantity: Decimal = Decimal(1)
    is_explicit: bool = False
    """True when the quantity was typed or carried by the code, not just the 1 of a plain scan."""
    code: str = ""
    """The code without AIM prefix and multiplication, for messages."""
    batch: str = ""
    expiry: str = ""
    price: Decimal | None = None
    """What the label costs, where the quantity could not be told from it."""
    measure: Measure | None = None
    """What the label weighs or measures, where the quantity could not be told from it."""
    unit: str = ""
    """Name of the base unit, where how much there is has to be asked."""
    needs_quantity: bool = False
    """It is sold by measure, and its label does not say how much there is in a way that could be reckoned with."""
    layout: str = ""
    """Keyboard layout (`fr`) through which the code came, and was read back."""
    is_guess: bool = False
    """Something was left out of the code or added, and this alone fits."""
    by: Decimal = Decimal(1)
    """What the code was multiplied with, where how much there is has to be asked."""


class Accepts(NamedTuple):
    """What the step on the screen can take besides a code (DESIGN §3: one grammar)."""

    quantity: bool = False
    """How many is asked: a number answers it."""
    decimals: bool = False
    choices: int = 0
    """How many choices are open; 0 for none."""
    text: bool = False
    """The step asks for free text (a name at the sign-in)."""
    command_letters: str = ""
    """The command letters that the step knows."""
    search: bool = False
    """What nobody knows is a search here, digits too."""
    typed_only: bool = False
    """What is chosen here cannot be taken back as easily: a printed command does not choose it, and nothing that came
    before the question was on the screen."""
    labels: str = ""
    """Capital letters, and 0, that stand on what the step asks for: scanned, one is that thing, whatever it says when
    typed; typed, `1*B` is the thing B."""
    choice_values: tuple[Any, ...] = ()
    """What each of the choices is, where an input can put others in their place: a number that was on the screen
    means what it was there, or nothing."""
    follows_typing: bool = False
    """The list on the screen follows what is typed: with Enter one letter is a search too, and two digits; one
    digit where no row has a number."""
    choice_letters: str = ""
    """The letters of the choices, in their order, on a page where a quantity may be open: a number never chooses there.
    Empty: the choices are numbered."""


class Interpretation(NamedTuple):
    """One way to read an input as a code."""

    keys: tuple[str, ...]
    """Exact look-up keys, best first: as scanned, and canonical forms (GTIN without leading zeros)."""
    code: str
    multiplier: Decimal = Decimal(1)
    is_explicit: bool = False
    batch: str = ""
    expiry: str = ""
    measures: tuple[Measure, ...] = ()
    """Weight, length, area or volume that the code carries, times included: the quantity of what is sold by it."""
    kind: str = ""
    """Only candidates of this kind count; empty for all."""
    rank: int = 0
    """Known readings of the lowest rank are left."""
    price: Decimal | None = None
    """Price that the code carries, times included."""
    is_own_price: bool = False
    """The shop's own scale printed that price: what is sold by measure has a quantity by it and its price per unit."""
    is_guess: bool = False
    """Something was left out of the code or added: it counts only where exactly one product or location fits."""
    needs_quantity: bool = False
    """It has a measure or a price and no net quantity: of what is sold by measure nobody knows how much it is."""
    has_pieces: bool = False
    """It says how many pieces there are, which is no weight and no length."""
    layout: str = ""
    """Keyboard layout through which the code came, and was read back."""
    refusal: str = ""
    """Why it is refused (a message id): where one of its keys is known and no better reading is. Without keys: where
    nothing is known under any key of any reading."""
    by: Decimal = Decimal(1)
    """What was typed before it and multiplies it; `times` has it, and what the code says itself."""


class Scan(NamedTuple):
    """A code that means one thing, or several of which the job prefers the first it can use."""

    matches: tuple[Match, ...]
    is_look_up: bool = False
    """`?` stood before it: look it up instead of letting the job take it."""


class UnknownCode(NamedTuple):
    """A code that nothing here knows."""

    code: str


class Ambiguous(NamedTuple):
    """Two readings are left (`128712…`): the person chooses 1 or 2."""

    scans: tuple[Scan, ...]


class Multiplier(NamedTuple):
    """`12*` and nothing behind it: the next scan is meant twelve times."""

    number: str
    """As it was typed."""


class Quantity(NamedTuple):
    """The quantity of what is open becomes this."""

    value: Decimal
    code: str = ""
    """As it was typed or scanned, where that says more than the value: it begins with a zero, and may be the number of
    something, or it was multiplied (`3*4`), and is none."""


class Choice(NamedTuple):
    """One of the choices on the page, counted from 1: its number was typed, or its letter."""

    number: int


class Command(NamedTuple):
    """One letter and Enter, an F-key, or a printed command barcode."""

    letter: str


class Text(NamedTuple):
    """Words: a search, or a name where the step asks for text."""

    text: str


class RefusedInput(NamedTuple):
    """An input that no rule takes; `why` is a message id of the catalogue (`input.…`)."""

    reason: str
    text: str


class Back(NamedTuple):
    """`0` where neither quantity nor choice is open, Backspace on an empty line, Esc, `b`."""


class CursorKey(NamedTuple):
    """A cursor key in a list: `up`, `down`, `pageup`, `pagedown`, `home`, `end`; `enter` opens where the cursor is."""

    key: str


class TypedText(NamedTuple):
    """The open line, for find-as-you-type; never an event of the journal."""

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
"""What a person said, once it is understood."""
