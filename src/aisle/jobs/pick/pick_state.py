"""What of a round can be undone: its steps, last first, and what they left behind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from aisle.jobs.count.count_state import SentCount, StockChange
from aisle.jobs.job import format_number
from aisle.jobs.pick.stops import PickLine, sort_stops
from aisle.jobs.view import Msg, msg

MAX_UNDO = 100
"""So many steps can be undone, last first."""


PUT_DOWN_BY_OTHER = "laid"
"""Why goods in hand are asked for that somebody else says lie at a place (Back.why, Back.place)."""


class LineBefore(NamedTuple):
    """What a line stood at before a step, for undo."""

    order: str
    line: int
    picked: Decimal
    is_closed: bool = False


class PutDown(NamedTuple):
    """What was put down of a line."""

    order: str
    line: int
    quantity: Decimal


class GoodsToReturn(NamedTuple):
    """Goods in hand of an order that has left the round; `why` as in the messages: rejected, finished, claimed,
    given, left_over for what found no room on its line, or laid for what lies at its place by the word of another."""

    letter: str
    reason: str
    product: str
    label: str
    quantity: Decimal
    location: str
    op_id: str = ""
    """The operation that could not be taken, to be settled once they are back."""
    order: str = ""
    pool: int = 0
    """The pool that they were taken from, as far as that was said."""
    line: PickLine | None = None
    """The line that they are picked for, as it stood when its order left."""
    previous_reason: str = ""
    previous_location: str = ""
    """Of what is laid by the word of another: why it was in hand before, and its place then."""

    @property
    def is_for_other_picker(self) -> bool:
        """Whether somebody else picks the order now: what he gets stays picked, what goes back is picked no more."""
        return self.reason in ("claimed", "given") and self.line is not None

    @property
    def is_unassigned(self) -> bool:
        """Whether the books have it at no place, for no order: so it is with what was rejected."""
        return self.reason.startswith("rejected") and bool(self.location)


class LineSource(NamedTuple):
    """Where a line was to be taken before a step."""

    order: str
    line: int
    location: str
    pool: int
    barred_pools: tuple[int, ...]
    walk_order: Decimal
    location_order: Decimal


class UndoStep(NamedTuple):
    """One step that can be undone: lines that changed, goods that were put down, or put back, a stop that is taken
    elsewhere."""

    lines_before: tuple[LineBefore, ...] = ()
    put_down: tuple[PutDown, ...] = ()
    location: str = ""
    returned: tuple[GoodsToReturn, ...] = ()
    sent_count: SentCount | None = None
    """A count that was sent from here."""
    sources_before: tuple[LineSource, ...] = ()
    """Lines that are taken at another place since."""
    at: str = ""
    """When goods were put down for orders that somebody else picks."""


def count_step(answer: Mapping[str, Any]) -> UndoStep:
    """A count as the job that made it answers."""
    return UndoStep(
        sent_count=SentCount(str(answer["what"]), tuple(StockChange(*change) for change in answer["changes"]))
    )


MAX_ORDERS = 20
"""Orders of one round."""

TOTE_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""The totes of a round, in the order in which its orders were added."""


class PickChoice(NamedTuple):
    """One way on and what it is about.

    `take_here`, `taken_at`, `put_here`, `put_others`, `count`, `is_location` (place); `take_rest`, `look_up`,
    `reopen`, `this_one`, `set`, `amount`, `is_product` (product); `leave_for`, `join`, `take_in`, `tote`, `take_over`,
    `open_free`, `leave_out`, `both`, `hand_over`, `finish`, `is_order`, `is_reference` (order); `is_delivery`,
    `is_person`; `leave`, `handed_over`, `put_back`, `go_on`, `later`.
    """

    kind: str
    key: str = ""
    label: str = ""
    pool: int = 0
    quantity: Decimal = Decimal(0)
    """What the code that was scanned said of how many; 0 for nothing."""
    product: str = ""
    """What is to be counted there."""


class Tote(NamedTuple):
    """One order of the round."""

    order: str
    letter: str = "A"
    customer: str = ""
    comment: str = ""
    """What the customer asks for."""
    code: str = ""
    """What stands on the tote itself, if anybody said."""
    has_lines: bool = False
    """Its lines are known."""
    is_confirmed: bool = False
    """It is picked here, whoever else said it was his."""
    claimed_since: str = ""
    """The moment of the claim that is known here: ours, or one that we were told of."""
    is_own_claim: bool = False
    """That claim is ours."""
    opened_at: str = ""
    """The moment of our own claim, whoever claimed it later; of a look, when it was opened."""
    is_only_viewed: bool = False
    """It was opened to be looked at, and is nobody's for that; the first thing that is done to it claims it."""
    is_priority: bool = False
    """Its stops come before those of the others."""
    other_pickers: tuple[str, ...] = ()
    """Who else has it open, by name, as far as this host knows."""
    is_uncertain: bool = False
    """It was read last while something from here was on its way: a figure that is off is put right by the next read."""
    last_movement: int = 0
    """The number of the last movement or rejection of its lines on this host by whoever picks here."""
    last_refusal: int = 0
    """The number of the last of his operations on it that the service refused."""


class StoreLookup(NamedTuple):
    """What somebody scanned that a read is asked about; `kind` names the read."""

    kind: str = ""
    key: str = ""
    label: str = ""
    code: str = ""


class PickState(NamedTuple):
    """The orders being picked."""

    totes: tuple[Tote, ...] = ()
    phase: str = "wait"
    """`wait` for the lines, `walk`, or `done` when every line is picked."""
    is_batch: bool = False
    """Several orders are or were in the round: everything names the tote."""
    verifies_locations: bool = False
    lines: tuple[PickLine, ...] = ()
    current_index: int = -1
    """Index of the first open line of the stop on the screen; -1 for none."""
    location: str = ""
    """The place that was scanned last, while it is the place of the stop."""
    is_quantity_open: bool = False
    """Whether the quantity of the stop is open."""
    history: tuple[UndoStep, ...] = ()
    choices: tuple[PickChoice, ...] = ()
    lookup: StoreLookup = StoreLookup()
    only_order: str = ""
    """The order whose tote alone is put down next."""
    to_return: tuple[GoodsToReturn, ...] = ()
    """What is to be put back, because its order has left the round or others were faster."""
    reported_refusals: tuple[str, ...] = ()
    """Operations that could not be taken and were told of."""
    take_over_choices: tuple[PickChoice, ...] = ()
    """What is asked since somebody took an order over, or gave one; work goes on meanwhile, and it stays asked."""
    is_postponed: bool = False
    """Work went on since that was asked: its numbers are quantities again, and a letter brings it back."""
    is_after_choices: bool = False
    """Its numbers stand behind those of `ways`, which were on the screen before it."""
    pool_names: tuple[tuple[int, str], ...] = ()
    """What the store calls its stock pools, by their numbers."""

    @property
    def order(self) -> str:
        """The order, where there is but one."""
        return self.totes[0].order if self.totes else ""

    @property
    def current_line(self) -> PickLine | None:
        """The first open line of the stop on the screen."""
        return self.lines[self.current_index] if 0 <= self.current_index < len(self.lines) else None

    @property
    def is_done(self) -> bool:
        """True when no line is open."""
        return bool(self.lines) and not any(take.is_open for take in self.lines)

    @property
    def needs_location(self) -> bool:
        """True while the place of the stop has still to be verified by a scan."""
        take = self.current_line
        return bool(
            self.verifies_locations and take and take.location and take.location.casefold() != self.location.casefold()
        )

    @property
    def step_name(self) -> str:
        """The name of the step."""
        if self.to_return or (self.phase != "wait" and not self.totes):
            return "pick.back"
        if self.phase == "wait":
            return "pick.wait"
        if self.current_line is None:
            return "pick.done"
        return "pick.place" if self.needs_location else "pick.product"


# Totes


def new_pick(
    orders: Sequence[str],
    codes: Mapping[str, str],
    confirmed: Iterable[str],
    verifies_locations: bool,
    *,
    is_only_viewed: bool = False,
) -> PickState:
    """A round of these orders, nothing known of them yet."""
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
    """The tote of this order, None when it is not in the round."""
    return next((tote for tote in state.totes if tote.order == order), None)


def tote_letter(state: PickState, order: str) -> str:
    """The letter of an order's tote."""
    tote = find_tote(state, order)
    return tote.letter if tote else ""


def with_tote(state: PickState, tote: Tote) -> PickState:
    """The round with this tote changed, or added at its end."""
    if find_tote(state, tote.order) is None:
        return state._replace(totes=(*state.totes, tote))
    return state._replace(totes=tuple(tote if each.order == tote.order else each for each in state.totes))


def find_tote_by_code(state: PickState, code: str) -> Tote | None:
    """The tote that has this on it, in capitals or not, or whose letter it is."""
    named = next((tote for tote in state.totes if tote.code and tote.code.casefold() == code.casefold()), None)
    return named or next((tote for tote in state.totes if state.is_batch and tote.letter == code), None)


def tote_labels(state: PickState) -> str:
    """What totes of a round are called by, as far as it is one capital letter."""
    if not state.is_batch or state.phase == "wait":
        return ""
    return "".join(name for tote in state.totes for name in (tote.letter, tote.code) if name in tuple(TOTE_LETTERS))


def next_tote_letter(state: PickState) -> str:
    """The letter of one more tote; empty when the round is full."""
    used = max((TOTE_LETTERS.index(tote.letter) for tote in state.totes), default=-1)
    return TOTE_LETTERS[used + 1] if len(state.totes) < MAX_ORDERS and used + 1 < len(TOTE_LETTERS) else ""


def quantities_by_tote(state: PickState, quantities: Iterable[tuple[str, Decimal]]) -> str | Msg:
    """Which tote gets how many: `A3 B4`, in any language. Of what is measured, each stop is of one tote, and its
    fractions are written as each language does."""
    sums: dict[str, Decimal] = {}
    for order, quantity in quantities:
        letter = tote_letter(state, order)
        sums[letter] = sums.get(letter, Decimal(0)) + quantity
    if len(sums) == 1:
        return next(msg("pick.part", tote=letter, quantity=quantity) for letter, quantity in sums.items())
    return " ".join(f"{letter}{format_number(quantity)}" for letter, quantity in sums.items())


def is_order_picked(state: PickState, order: str) -> bool:
    """Whether every line of an order is picked or closed."""
    lines = [take for take in state.lines if take.order == order]
    return bool(lines) and not any(take.is_open for take in lines)


# The walk


def with_lines(state: PickState, lines: Iterable[PickLine]) -> PickState:
    """The round with these lines in walking order; whoever picks stands where he stood, or at the next open stop."""
    before = state.current_line
    state = state._replace(lines=_in_walk_order(state, lines), current_index=-1)
    if before is None:
        return go_to_next_stop(state)
    line = (before.order, before.line)
    same = next((index for index, take in enumerate(state.lines) if (take.order, take.line) == line), -1)
    if same < 0 or state.lines[same].stop_key != before.stop_key:
        return go_to_next_stop(state, _index_after(state, before))
    state = state._replace(current_index=same)
    open_ = [index for index in lines_of_stop(state, same) if state.lines[index].is_open]
    return go_to_line(state, open_[0]) if open_ else go_to_next_stop(state, same)


def _in_walk_order(state: PickState, lines: Iterable[PickLine]) -> tuple[PickLine, ...]:
    """Lines in walking order, the stops of urgent orders before all others."""
    ranks = {tote.order: index for index, tote in enumerate(state.totes)}
    order = sort_stops(lines, {"": -1, **ranks})
    first = _priority_stops(state, order)
    return tuple(sorted(order, key=lambda take: take.stop_key not in first)) if first else order


def _priority_stops(state: PickState, lines: Iterable[PickLine]) -> frozenset[tuple[str, str, int, str]]:
    """The stops where something of an urgent order is still to be taken."""
    urgent = {tote.order for tote in state.totes if tote.is_priority}
    return (
        frozenset(take.stop_key for take in lines if take.order in urgent and take.is_open) if urgent else frozenset()
    )


def _index_after(state: PickState, before: PickLine) -> int:
    """The first line at the place where somebody stood, or behind it in the walk."""
    mark = before._replace(order="", line=-1)
    return _in_walk_order(state, (*state.lines, mark)).index(mark) % max(1, len(state.lines))


def go_to_next_stop(state: PickState, start: int = 0, *, first: bool = True) -> PickState:
    """Stand at the first open stop from index `start` on, round the end; at none when all are picked. Those of urgent
    orders come `first`."""
    count = len(state.lines)
    open_ = [index for index in ((start + step) % count for step in range(count)) if state.lines[index].is_open]
    if open_:
        urgent = _priority_stops(state, state.lines) if first else frozenset()
        return go_to_line(state, next((index for index in open_ if state.lines[index].stop_key in urgent), open_[0]))
    return state._replace(current_index=-1, location="", is_quantity_open=False, phase="done" if count else state.phase)


def go_to_line(state: PickState, index: int) -> PickState:
    """Stand at the stop of this line."""
    take, was = state.lines[index], state.current_line
    place = state.location if take.location and take.location.casefold() == state.location.casefold() else ""
    held = state.is_quantity_open and was is not None and was.stop_key == take.stop_key
    first = next((each for each in lines_of_stop(state, index) if state.lines[each].is_open), index)
    return state._replace(current_index=first, location=place, is_quantity_open=held, phase="walk")


def lines_of_stop(state: PickState, index: int) -> tuple[int, ...]:
    """All lines of the stop that this line belongs to, without those that were closed short."""
    if not 0 <= index < len(state.lines):
        return ()
    product, stop = state.lines[index].product, state.lines[index].stop_key
    of_product = ((each, take) for each, take in enumerate(state.lines) if take.product == product)
    return tuple(each for each, take in of_product if take.stop_key == stop and not take.is_closed)


def current_stop_lines(state: PickState) -> list[PickLine]:
    """The lines of the stop on the screen."""
    return [state.lines[index] for index in lines_of_stop(state, state.current_index)]


def ordered_at_stop(state: PickState) -> Decimal:
    """So many of the stop on the screen were ordered."""
    _, of, _ = sum_lines(current_stop_lines(state))
    return of


def sum_lines(lines: Iterable[PickLine]) -> tuple[Decimal, Decimal, Decimal]:
    """(picked, ordered, still to be taken) of these lines."""
    given = list(lines)
    zero = Decimal(0)
    picked, of = sum((take.picked for take in given), zero), sum((take.ordered for take in given), zero)
    return picked, of, sum((take.remaining for take in given if take.is_open), zero)


def lines_with_product(state: PickState, product: str) -> list[int]:
    """Indexes of the lines with this product: those of the stop on the screen first, then at its place, then on."""
    here = (state.location or (state.current_line.location if state.current_line else "")).casefold()
    stop = set(lines_of_stop(state, state.current_index))
    found = [index for index, take in enumerate(state.lines) if take.product == product]
    return sorted(found, key=lambda index: (index not in stop, state.lines[index].location.casefold() != here, index))


def fillable_lines(state: PickState, product: str) -> list[int]:
    """Indexes of the lines that goods of this product go to, one after the other: those of one place alone, for what
    is scanned together was taken together."""
    open_ = [index for index in lines_with_product(state, product) if state.lines[index].is_open]
    if not open_:
        return open_
    place = state.lines[open_[0]].location.casefold()
    return [index for index in open_ if state.lines[index].location.casefold() == place]


# Steps


def add_over_lines(state: PickState, indexes: Iterable[int], quantity: Decimal) -> dict[int, Decimal]:
    """What lines stand at once so much more is in their totes: each is filled before the next."""
    changes: dict[int, Decimal] = {}
    for index in indexes:
        part = min(quantity, state.lines[index].remaining)
        if part > 0:
            changes[index] = state.lines[index].picked + part
            quantity -= part
    return changes


def set_over_lines(state: PickState, indexes: Sequence[int], value: Decimal) -> dict[int, Decimal]:
    """What lines stand at when so much is in their totes in all; what is put down stays, then the first is filled."""
    left = value - sum((state.lines[index].moved for index in indexes), Decimal(0))
    changes: dict[int, Decimal] = {}
    for index in indexes:
        take = state.lines[index]
        part = max(Decimal(0), min(left, take.ordered - take.moved))
        changes[index] = take.moved + part
        left -= part
    return {index: picked for index, picked in changes.items() if picked != state.lines[index].picked}


def set_picked(state: PickState, changes: Mapping[int, Decimal], *, is_closed: bool = False) -> PickState:
    """These lines now stand at so much, or are closed with it; what they stood at goes into the history."""
    takes = list(state.lines)
    before = []
    for index, picked in changes.items():
        take = takes[index]
        before.append(LineBefore(take.order, take.line, take.picked, take.is_closed))
        takes[index] = take.with_picked(picked)._replace(is_closed=is_closed and picked < take.ordered)
    return add_undo_step(state._replace(lines=tuple(takes), choices=()), UndoStep(tuple(before)))


def add_undo_step(state: PickState, step: UndoStep) -> PickState:
    """One more step that can be undone."""
    return state._replace(history=(*state.history, step)[-MAX_UNDO:])


def move_put_down(state: PickState, put_down: Iterable[PutDown], sign: int, location: str) -> PickState:
    """Goods were put down at a place, or are in hand again from there."""
    more = {(each.order, each.line): each.quantity * sign for each in put_down}
    takes = (_move_line(take, more.get((take.order, take.line), Decimal(0)), location) for take in state.lines)
    return state._replace(lines=tuple(takes))


def _move_line(line: PickLine, more: Decimal, location: str) -> PickLine:
    if not more:
        return line
    kept = tuple(code for code in line.put_down_at if code != location)
    kept = (*kept, location) if more > 0 else kept
    return line._replace(moved=line.moved + more, own_picked=max(Decimal(0), line.own_picked - more), put_down_at=kept)


def put_down_locations(state: PickState, order: str = "") -> tuple[str, ...]:
    """The places where the goods of an order, or of all, were put down."""
    places = (
        place for take in state.lines if order in ("", take.order) and take.moved > 0 for place in take.put_down_at
    )
    return tuple(dict.fromkeys(places))


def without_order(state: PickState, order: str, reason: str) -> PickState:
    """The round once an order has left it; what is in this hand of it is to be put back."""
    letter = tote_letter(state, order)
    back = tuple(
        GoodsToReturn(
            letter,
            reason,
            take.product,
            take.label,
            came.quantity,
            came.location,
            order=order,
            pool=came.pool,
            line=take,
        )
        for take in state.lines
        if take.order == order
        for came in take.sources_in_hand
    )
    totes = tuple(tote for tote in state.totes if tote.order != order)
    over = tuple(way for way in state.take_over_choices if way.key != order)
    history = _history_without_order(state.history, order)
    left = state._replace(
        totes=totes,
        to_return=(*state.to_return, *back),
        choices=(),
        take_over_choices=over,
        only_order="",
        history=history,
    )
    return with_lines(left, [take for take in state.lines if take.order != order])


def _history_without_order(history: Iterable[UndoStep], order: str) -> tuple[UndoStep, ...]:
    """What of these steps can still be undone once an order is gone: if it comes back its lines stand where they do
    then, whatever was done to them before."""
    steps = (
        step._replace(
            lines_before=tuple(each for each in step.lines_before if each.order != order),
            sources_before=tuple(each for each in step.sources_before if each.order != order),
        )
        for step in history
    )
    return tuple(step for step in steps if step != UndoStep(location=step.location, at=step.at))
