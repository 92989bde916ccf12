"""State of a pick: totes, lines, choices, goods to return, and the history for undo."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from aisle.jobs.count.sent_count_types import SentCount, StockChange
from aisle.jobs.job import Args, Turn, format_number
from aisle.jobs.names_in_messages import Pools
from aisle.jobs.pick.pick_line import PickedFrom, PickLine
from aisle.jobs.sums_of_goods_and_progress import sum_by_key
from aisle.jobs.tote_labels_and_repeated_reads import LabelRead, label_of_code
from aisle.jobs.view import Msg, msg

MAX_UNDO = 100


PUT_DOWN_BY_OTHER = "laid"
"""Reason of goods that another picker has reported as put down (`GoodsToReturn.reason`)."""


class LineBefore(NamedTuple):
    """State of a line before a step, for undo."""

    order: str
    line: int
    picked: Decimal
    is_closed: bool = False
    changes: tuple[PickedFrom, ...] = ()
    """What the step took, and with a negative quantity what it put back."""


class PutDown(NamedTuple):
    """Quantity of a line that was put down."""

    order: str
    line: int
    quantity: Decimal


class GoodsToReturn(NamedTuple):
    """Goods in hand of an order that has left the pick. `reason` is a key of `view.RETURN_NOTES`; `left_over` is excess
    on a line."""

    letter: str
    reason: str
    product: str
    label: str
    quantity: Decimal
    location: str
    op_id: str = ""
    """Operation that the service could not apply; it is resolved once the goods are back."""
    order: str = ""
    pool: int = 0
    """Pool that they were picked from, if known."""
    line: PickLine | None = None
    """Line that they were picked for, as it was when its order left."""
    previous_reason: str = ""
    previous_location: str = ""
    """Reason and location before another picker reported the goods as put down."""

    @property
    def is_for_other_picker(self) -> bool:
        """True if another picker has the order now: goods handed over stay picked, goods put back do not."""
        return self.reason in ("claimed", "assigned") and self.line is not None

    @property
    def is_picked_for_other(self) -> bool:
        """True if the goods count as picked for another picker's order, who may have reported them as put down."""
        return self.is_for_other_picker or self.reason == PUT_DOWN_BY_OTHER

    @property
    def is_unassigned(self) -> bool:
        """True if the goods are in stock at no location and for no order, as those of a rejected order."""
        return self.reason.startswith("rejected") and bool(self.location)


class LineSource(NamedTuple):
    """Location of a line before a step."""

    order: str
    line: int
    location: str
    pool: int
    barred_pools: tuple[int, ...]
    walk_order: Decimal
    location_order: Decimal


class UndoStep(NamedTuple):
    """One step that can be undone: changed lines, goods put down or put back, a count, or a moved stop."""

    lines_before: tuple[LineBefore, ...] = ()
    is_total: bool = False
    """True if a typed total changed these lines."""
    put_down: tuple[PutDown, ...] = ()
    location: str = ""
    returned: tuple[GoodsToReturn, ...] = ()
    sent_count: SentCount | None = None
    """Count that was sent from this pick."""
    sources_before: tuple[LineSource, ...] = ()
    """Earlier locations of lines that this step moved."""
    at: str = ""
    """Time when goods were put down for orders that another picker has."""


def count_step(answer: Args) -> UndoStep:
    """Return the undo step for a count, from the answer of the count job."""
    changes = tuple(StockChange(*change) for change in answer["changes"])
    return UndoStep(sent_count=SentCount(str(answer["what"]), changes, answer.get("unknown_count", 0)))


MAX_ORDERS = 20

TOTE_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Letters of totes, in the order in which orders are added."""


class PickChoice(NamedTuple):
    """One choice and its subject. Kinds about a location: `take_here`, `taken_at`, `put_here`, `put_others`, `count`,
    `is_location`. About a product: `take_rest`, `look_up`, `reopen`, `this_one`, `set`, `amount`, `is_product`. About
    an order: `leave_for`, `join`, `take_in`, `tote`, `take_over`, `open_free`, `leave_out`, `both`, `hand_over`,
    `finish`, `label_unreadable`, `is_order`, `is_reference`. Others: `is_delivery`, `is_person`, `leave`,
    `handed_over`, `put_back`, `go_on`, `later`."""

    kind: str
    key: str = ""
    label: str = ""
    pool: int = 0
    quantity: Decimal = Decimal(0)
    """Quantity in the scanned code; 0 if it has none."""
    product: str = ""
    """Product to be counted there."""
    typed: Decimal = Decimal(0)
    """Typed number that is too large; the choice takes less."""
    is_held_known: bool = False
    """True if the picker was told that goods at this location are held for another order."""


class Tote(NamedTuple):
    """One order of the pick."""

    order: str
    letter: str = "A"
    customer: str = ""
    comment: str = ""
    code: str = ""
    """Code on the tote itself, if one was scanned."""
    has_lines: bool = False
    """True once its lines are known."""
    is_confirmed: bool = False
    """True if the picker confirmed to pick it although another picker has it."""
    claimed_since: str = ""
    """Time of the latest known claim: an own one, or one that was reported."""
    is_own_claim: bool = False
    """True if the latest claim is this picker's."""
    opened_at: str = ""
    """Time of the own claim, whoever claimed it later; for an order only viewed, the time of opening."""
    is_only_viewed: bool = False
    """True if it was opened without a claim; the first change claims it."""
    is_priority: bool = False
    """True if its stops come before those of other orders."""
    other_pickers: tuple[str, ...] = ()
    """Names of others who have it open on this host."""
    pickers_elsewhere: tuple[str, ...] = ()
    """Names of others who pick it on other hosts; a name is empty if the service does not say who."""
    is_shared: bool = False
    """True if a picker on another host may have goods of it in hand."""
    is_uncertain: bool = False
    """True if operations were pending at the last read; the next read corrects figures that are off."""
    last_movement: int = 0
    """Number of this user's last movement or rejection of its lines on this host."""
    last_refusal: int = 0
    """Number of this user's last operation on it that the service refused."""


class StoreLookup(NamedTuple):
    """Subject of a query about a scan; `kind` is the named read."""

    kind: str = ""
    key: str = ""
    label: str = ""
    code: str = ""


class PickState(NamedTuple):
    """Orders being picked."""

    totes: tuple[Tote, ...] = ()
    phase: str = "wait"
    """`wait` for the lines, `picking`, or `done` when every line is picked."""
    is_batch: bool = False
    """True if the pick has or had several orders; messages then name the tote."""
    verifies_locations: bool = False
    lines: tuple[PickLine, ...] = ()
    current_index: int = -1
    """Index of the first open line of the stop on the screen; -1 for none."""
    location: str = ""
    """Location scanned last, while it is that of the stop."""
    is_quantity_open: bool = False
    """True if a number sets the total of the stop."""
    is_pack_asked: bool = False
    """True if a scanned pack did not say its quantity: a number is added as that of the pack, and is no total."""
    history: tuple[UndoStep, ...] = ()
    choices: tuple[PickChoice, ...] = ()
    lookup: StoreLookup = StoreLookup()
    only_order: str = ""
    """Order whose tote alone is put down next."""
    to_return: tuple[GoodsToReturn, ...] = ()
    """Goods to be put back, because their order has left the pick or others picked the line first."""
    reported_refusals: tuple[str, ...] = ()
    """Operations already reported as refused or as excess, and assignments already reported."""
    take_over_choices: tuple[PickChoice, ...] = ()
    """Choices since an order was taken over or assigned; they stay open while work continues."""
    is_postponed: bool = False
    """True if work continued since that question: numbers are quantities again, a letter repeats the question."""
    is_after_choices: bool = False
    """True if these choices come after `choices`, which were on the screen first."""
    pools: Pools = ()
    learns_locations: bool = True
    """False if the service does not learn where goods are picked, so that nobody knows what stock it changes."""
    untaken: Decimal = Decimal(0)
    """Number whose question was not answered; the next verdict says that it is not taken."""
    location_read: LabelRead = LabelRead()
    """Latest read of a location without stock of the goods in question."""
    totes_to_verify: tuple[str, ...] = ()
    """Orders whose totes got goods from the last take and have still to be scanned, the next one first."""

    @property
    def order(self) -> str:
        """Number of the first order; empty if none."""
        return self.totes[0].order if self.totes else ""

    @property
    def current_line(self) -> PickLine | None:
        """First open line of the stop on the screen."""
        return self.lines[self.current_index] if 0 <= self.current_index < len(self.lines) else None

    @property
    def is_done(self) -> bool:
        """True when no line is incomplete."""
        return bool(self.lines) and not any(line.is_incomplete for line in self.lines)

    @property
    def needs_location(self) -> bool:
        """True while the stop's location has to be verified by a scan."""
        line = self.current_line
        return bool(
            self.verifies_locations and line and line.location and line.location.casefold() != self.location.casefold()
        )

    @property
    def asks_for_tote(self) -> bool:
        """True while the scan of a tote is asked for."""
        return bool(self.totes_to_verify) and not self.to_return and self.phase != "wait"

    @property
    def step_name(self) -> str:
        """Name of the current step."""
        if self.to_return or (self.phase != "wait" and not self.totes):
            return "pick.return"
        if self.phase == "wait":
            return "pick.wait"
        if self.asks_for_tote:
            return "pick.tote"
        if self.current_line is None:
            return "pick.done"
        return "pick.location" if self.needs_location else "pick.product"


Result = Turn[PickState]

# Totes


def new_pick(
    orders: Sequence[str],
    codes: Mapping[str, str],
    confirmed: Iterable[str],
    verifies_locations: bool,
    *,
    is_only_viewed: bool = False,
) -> PickState:
    """Return a pick of these orders, with no lines yet."""
    taken_over = set(confirmed)
    named = list(dict.fromkeys(orders))[:MAX_ORDERS]
    totes = (
        Tote(
            order,
            TOTE_LETTERS[index],
            code=codes.get(order, ""),
            is_confirmed=order in taken_over,
            is_only_viewed=is_only_viewed,
        )
        for index, order in enumerate(named)
    )
    return PickState(tuple(totes), is_batch=len(named) > 1, verifies_locations=verifies_locations)


def find_tote(state: PickState, order: str) -> Tote | None:
    """Return the tote of this order; None if it is not in the pick."""
    return next((tote for tote in state.totes if tote.order == order), None)


def tote_letter(state: PickState, order: str) -> str:
    """Return the letter of an order's tote; empty if it is not in the pick."""
    tote = find_tote(state, order)
    return tote.letter if tote else ""


def name_of_tote(state: PickState, order: str) -> str:
    """Return the letter of an order's tote and the code on it, if it has one."""
    tote = find_tote(state, order)
    return " ".join(filter(None, (tote.letter, tote.code))) if tote else ""


def with_tote(state: PickState, tote: Tote) -> PickState:
    """Return the pick with this tote replaced, or added at its end."""
    if find_tote(state, tote.order) is None:
        return state._replace(totes=(*state.totes, tote))
    return state._replace(totes=tuple(tote if each.order == tote.order else each for each in state.totes))


def find_tote_by_code(state: PickState, code: str) -> Tote | None:
    """Return the tote with this code, ignoring case, or with this letter."""
    label = label_of_code(code).casefold()
    named = next((tote for tote in state.totes if tote.code and tote.code.casefold() == label), None)
    return named or next((tote for tote in state.totes if state.is_batch and tote.letter == code), None)


def tote_codes(state: PickState) -> tuple[str, ...]:
    """Return the codes of the totes that are no number and no single character, in small letters."""
    return tuple(tote.code.casefold() for tote in state.totes if len(tote.code) > 1 and not tote.code.isdecimal())


def tote_labels(state: PickState) -> str:
    """Return the letters and codes of the totes that are one capital letter."""
    if not state.is_batch or state.phase == "wait":
        return ""
    return "".join(name for tote in state.totes for name in (tote.letter, tote.code) if name in tuple(TOTE_LETTERS))


def next_tote_letter(state: PickState) -> str:
    """Return the letter of one more tote; empty when the pick is full."""
    used = max((TOTE_LETTERS.index(tote.letter) for tote in state.totes), default=-1)
    return TOTE_LETTERS[used + 1] if len(state.totes) < MAX_ORDERS and used + 1 < len(TOTE_LETTERS) else ""


def quantities_by_tote(state: PickState, quantities: Iterable[tuple[str, Decimal]]) -> str | Msg:
    """Return the quantity for each tote, such as `A3 B4`; the text is the same in all languages. A measured stop has
    only one tote; its message formats fractions in each language."""
    sums = sum_by_key((tote_letter(state, order), quantity) for order, quantity in quantities)
    if len(sums) == 1:
        return next(msg("pick.tote_quantity", tote=letter, quantity=quantity) for letter, quantity in sums.items())
    return " ".join(f"{letter}{format_number(quantity)}" for letter, quantity in sums.items())


def is_order_picked(state: PickState, order: str) -> bool:
    """Return True if every line of an order is picked or closed."""
    lines = [line for line in state.lines if line.order == order]
    return bool(lines) and not any(line.is_incomplete for line in lines)


# Steps


def add_undo_step(state: PickState, step: UndoStep) -> PickState:
    """Add a step that can be undone."""
    return state._replace(history=(*state.history, step)[-MAX_UNDO:])
