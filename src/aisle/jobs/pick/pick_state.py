"""State of a pick: totes, lines in walking order, choices, goods to return, and the history for undo.

It also divides scanned goods over the lines of the totes (`fillable_lines`, `add_over_lines`). An undo keeps what other
pickers did meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from aisle.jobs.count.sent_count import SentCount, StockChange
from aisle.jobs.job import Args, format_number
from aisle.jobs.pick.stops import PickLine, same_location, sort_stops
from aisle.jobs.recognise_tote_label import label_of_code
from aisle.jobs.stock_pools import Pools
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


class PutDown(NamedTuple):
    """Quantity of a line that was put down."""

    order: str
    line: int
    quantity: Decimal


class GoodsToReturn(NamedTuple):
    """Goods in hand of an order that has left the pick. `reason` is that of the messages: rejected, finished, claimed,
    given, left_over for excess on a line, or laid for goods that another picker has reported as put down."""

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
    return UndoStep(
        sent_count=SentCount(str(answer["what"]), tuple(StockChange(*change) for change in answer["changes"]))
    )


MAX_ORDERS = 20

TOTE_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Letters of totes, in the order in which orders are added."""


class PickChoice(NamedTuple):
    """One choice and its subject. Kinds about a location: `take_here`, `taken_at`, `put_here`, `put_others`, `count`,
    `is_location`. About a product: `take_rest`, `look_up`, `reopen`, `this_one`, `set`, `amount`, `is_product`. About
    an order: `leave_for`, `join`, `take_in`, `tote`, `take_over`, `open_free`, `leave_out`, `both`, `hand_over`,
    `finish`, `is_order`, `is_reference`. Others: `is_delivery`, `is_person`, `leave`, `handed_over`, `put_back`,
    `go_on`, `later`."""

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
    """`wait` for the lines, `batch`, or `done` when every line is picked."""
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
    untaken: Decimal = Decimal(0)
    """Number whose question was not answered; the next verdict says that it is not taken."""

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
        """True when no line is open."""
        return bool(self.lines) and not any(take.is_open for take in self.lines)

    @property
    def needs_location(self) -> bool:
        """True while the stop's location has to be verified by a scan."""
        take = self.current_line
        return bool(
            self.verifies_locations and take and take.location and take.location.casefold() != self.location.casefold()
        )

    @property
    def step_name(self) -> str:
        """Name of the current step."""
        if self.to_return or (self.phase != "wait" and not self.totes):
            return "pick.return"
        if self.phase == "wait":
            return "pick.wait"
        if self.current_line is None:
            return "pick.done"
        return "pick.location" if self.needs_location else "pick.product"


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
    sums: dict[str, Decimal] = {}
    for order, quantity in quantities:
        letter = tote_letter(state, order)
        sums[letter] = sums.get(letter, Decimal(0)) + quantity
    if len(sums) == 1:
        return next(msg("pick.tote_quantity", tote=letter, quantity=quantity) for letter, quantity in sums.items())
    return " ".join(f"{letter}{format_number(quantity)}" for letter, quantity in sums.items())


def is_order_picked(state: PickState, order: str) -> bool:
    """Return True if every line of an order is picked or closed."""
    lines = [take for take in state.lines if take.order == order]
    return bool(lines) and not any(take.is_open for take in lines)


# Walk


def with_lines(state: PickState, lines: Iterable[PickLine]) -> PickState:
    """Return the pick with these lines in walking order, at the same stop as before or at the next open one."""
    before = state.current_line
    state = state._replace(lines=_in_walk_order(state, lines), current_index=-1)
    if before is None:
        return go_to_next_stop(state)
    line = (before.order, before.line)
    same_index = next((index for index, take in enumerate(state.lines) if (take.order, take.line) == line), -1)
    if same_index < 0 or state.lines[same_index].stop_key != before.stop_key:
        return go_to_next_stop(state, _index_after(state, before))
    state = state._replace(current_index=same_index)
    open_ = [index for index in lines_of_stop(state, same_index) if state.lines[index].is_open]
    return go_to_line(state, open_[0]) if open_ else go_to_next_stop(state, same_index)


def _in_walk_order(state: PickState, lines: Iterable[PickLine]) -> tuple[PickLine, ...]:
    ranks = {tote.order: index for index, tote in enumerate(state.totes)}
    in_order = sort_stops(lines, {"": -1, **ranks})
    priority_stops = _priority_stops(state, in_order)
    return tuple(sorted(in_order, key=lambda take: take.stop_key not in priority_stops)) if priority_stops else in_order


def _priority_stops(state: PickState, lines: Iterable[PickLine]) -> frozenset[tuple[str, str, int, str]]:
    priority_orders = {tote.order for tote in state.totes if tote.is_priority}
    return (
        frozenset(take.stop_key for take in lines if take.order in priority_orders and take.is_open)
        if priority_orders
        else frozenset()
    )


def _index_after(state: PickState, before: PickLine) -> int:
    """Return the index of the first line at the location of an earlier line, or after it in the walk."""
    mark = before._replace(order="", line=-1)
    return _in_walk_order(state, (*state.lines, mark)).index(mark) % max(1, len(state.lines))


def go_to_next_stop(state: PickState, start: int = 0, *, first: bool = True) -> PickState:
    """Go to the first open stop from index `start` on, wrapping at the end; to none when all are picked. Stops of
    priority orders come first if `first` is True."""
    count = len(state.lines)
    open_ = [index for index in ((start + step) % count for step in range(count)) if state.lines[index].is_open]
    if open_:
        priority_stops = _priority_stops(state, state.lines) if first else frozenset()
        return go_to_line(
            state, next((index for index in open_ if state.lines[index].stop_key in priority_stops), open_[0])
        )
    state = state._replace(current_index=-1, location="", is_quantity_open=False, is_pack_asked=False)
    return state._replace(phase="done" if count else state.phase)


def go_to_line(state: PickState, index: int) -> PickState:
    """Go to the stop of this line."""
    take, was = state.lines[index], state.current_line
    location = state.location if take.location and take.location.casefold() == state.location.casefold() else ""
    is_same_stop = was is not None and was.stop_key == take.stop_key
    is_open, is_pack_asked = state.is_quantity_open and is_same_stop, state.is_pack_asked and is_same_stop
    first = next((each for each in lines_of_stop(state, index) if state.lines[each].is_open), index)
    state = state._replace(is_pack_asked=is_pack_asked)
    return state._replace(current_index=first, location=location, is_quantity_open=is_open, phase="picking")


def lines_of_stop(state: PickState, index: int) -> tuple[int, ...]:
    """Return the indexes of all lines of this line's stop, except those that were closed short."""
    if not 0 <= index < len(state.lines):
        return ()
    product, stop = state.lines[index].product, state.lines[index].stop_key
    of_product = ((each, take) for each, take in enumerate(state.lines) if take.product == product)
    return tuple(each for each, take in of_product if take.stop_key == stop and not take.is_closed)


def current_stop_lines(state: PickState) -> list[PickLine]:
    """Return the lines of the stop on the screen."""
    return [state.lines[index] for index in lines_of_stop(state, state.current_index)]


def ordered_at_stop(state: PickState) -> Decimal:
    """Return the quantity ordered at the stop on the screen."""
    _, of, _ = sum_lines(current_stop_lines(state))
    return of


def sum_lines(lines: Iterable[PickLine]) -> tuple[Decimal, Decimal, Decimal]:
    """Return the sums (picked, ordered, still to be picked) of these lines."""
    all_lines = list(lines)
    zero = Decimal(0)
    picked, of = sum((take.picked for take in all_lines), zero), sum((take.ordered for take in all_lines), zero)
    return picked, of, sum((take.remaining for take in all_lines if take.is_open), zero)


def lines_with_product(state: PickState, product: str) -> list[int]:
    """Return the indexes of the lines with this product: first those of the stop, then at its location, then others."""
    here = (state.location or (state.current_line.location if state.current_line else "")).casefold()
    stop = set(lines_of_stop(state, state.current_index))
    found = [index for index, take in enumerate(state.lines) if take.product == product]
    return sorted(found, key=lambda index: (index not in stop, state.lines[index].location.casefold() != here, index))


def fillable_lines(state: PickState, product: str) -> list[int]:
    """Return the indexes of the lines that goods of this product fill, in order. They all have one location, because
    goods scanned together were picked together. Of measured goods they are of one order, because nobody divides a pack
    between totes."""
    open_ = [index for index in lines_with_product(state, product) if state.lines[index].is_open]
    if not open_:
        return open_
    first = state.lines[open_[0]]
    here = [index for index in open_ if state.lines[index].location.casefold() == first.location.casefold()]
    return [index for index in here if not first.allows_decimals or state.lines[index].order == first.order]


# Steps


def add_over_lines(state: PickState, indexes: Iterable[int], quantity: Decimal) -> dict[int, Decimal]:
    """Return the picked quantities by line after adding `quantity`; each line is filled before the next."""
    changes: dict[int, Decimal] = {}
    for index in indexes:
        part = min(quantity, state.lines[index].remaining)
        if part > 0:
            changes[index] = state.lines[index].picked + part
            quantity -= part
    return changes


def set_over_lines(state: PickState, indexes: Sequence[int], value: Decimal) -> dict[int, Decimal]:
    """Return the changed picked quantities by line for a total of `value`; goods put down stay, lines fill in order."""
    left = value - sum((state.lines[index].moved for index in indexes), Decimal(0))
    changes: dict[int, Decimal] = {}
    for index in indexes:
        take = state.lines[index]
        part = max(Decimal(0), min(left, take.ordered - take.moved))
        changes[index] = take.moved + part
        left -= part
    return {index: picked for index, picked in changes.items() if picked != state.lines[index].picked}


def set_picked(state: PickState, changes: Mapping[int, Decimal], *, is_closed: bool = False) -> PickState:
    """Set the picked quantities of these lines, optionally closing them; add the step to the history."""
    takes = list(state.lines)
    before = []
    for index, picked in changes.items():
        take = takes[index]
        before.append(LineBefore(take.order, take.line, take.picked, take.is_closed))
        takes[index] = take.with_picked(picked)._replace(is_closed=is_closed and picked < take.ordered)
    state = state._replace(lines=tuple(takes), choices=(), is_pack_asked=False)
    return add_undo_step(state, UndoStep(tuple(before)))


def add_undo_step(state: PickState, step: UndoStep) -> PickState:
    """Add a step that can be undone."""
    return state._replace(history=(*state.history, step)[-MAX_UNDO:])


def move_put_down(state: PickState, put_down: Iterable[PutDown], sign: int, location: str) -> PickState:
    """Record that goods were put down at a location, or with sign -1 that they are in hand again."""
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
    """Return the locations where the goods of an order, or of all orders, were put down."""
    locations = (
        location
        for take in state.lines
        if order in ("", take.order) and take.moved > 0
        for location in take.put_down_at
    )
    return tuple(dict.fromkeys(locations))


def without_order(state: PickState, order: str, reason: str) -> PickState:
    """Return the pick without an order; its goods in this picker's hand have to be put back."""
    letter = tote_letter(state, order)
    goods = tuple(
        GoodsToReturn(
            letter,
            reason,
            take.product,
            take.label,
            source.quantity,
            source.location,
            order=order,
            pool=source.pool,
            line=take,
        )
        for take in state.lines
        if take.order == order
        for source in take.sources_in_hand
    )
    totes = tuple(tote for tote in state.totes if tote.order != order)
    questions = tuple(choice for choice in state.take_over_choices if choice.key != order)
    history = _history_without_order(state.history, order)
    left = state._replace(
        totes=totes,
        to_return=(*state.to_return, *goods),
        choices=(),
        take_over_choices=questions,
        only_order="",
        history=history,
    )
    return with_lines(left, [take for take in state.lines if take.order != order])


def _history_without_order(history: Iterable[UndoStep], order: str) -> tuple[UndoStep, ...]:
    """Return the steps that can still be undone without an order. If the order comes back, its lines keep the state
    they have then, whatever was done before."""
    steps = (
        step._replace(
            lines_before=tuple(each for each in step.lines_before if each.order != order),
            sources_before=tuple(each for each in step.sources_before if each.order != order),
        )
        for step in history
    )
    return tuple(step for step in steps if step != UndoStep(location=step.location, at=step.at))


def moved_stop_step(lines: Iterable[PickLine]) -> UndoStep:
    """Return the undo step for moving these lines to another location."""
    return UndoStep(
        sources_before=tuple(
            LineSource(t.order, t.line, t.location, t.pool, t.barred_pools, t.walk_order, t.location_order)
            for t in lines
        )
    )


def restore_sources(state: PickState, step: UndoStep) -> tuple[list[PickLine], PickLine | None]:
    """Move the step's open lines back to their earlier locations. Return all lines and the first one moved; None if
    none of them is still open."""
    sources = {(each.order, each.line): each for each in step.sources_before}
    takes, first = list(state.lines), None
    for index, take in enumerate(takes):
        source = sources.get((take.order, take.line))
        if source and take.is_open:
            moved = take._replace(location=source.location, pool=source.pool, barred_pools=source.barred_pools)
            takes[index] = moved._replace(walk_order=source.walk_order, location_order=source.location_order)
            first = first or takes[index]
    return takes, first


def restore_lines(state: PickState, lines_before: Iterable[LineBefore]) -> tuple[PickState, tuple[int, ...]]:
    """Restore lines to their state before a step; return the new state and the indexes of the lines changed. Lines that
    have left the pick or are put down do not change."""
    takes = list(state.lines)
    touched = []
    by_line = {(each.order, each.line): each for each in lines_before}
    for index, take in enumerate(takes):
        was = by_line.get((take.order, take.line))
        picked = min(was.picked, take.ordered) if was else take.picked
        if was is None or picked < take.moved or (picked, was.is_closed) == (take.picked, take.is_closed):
            continue
        takes[index] = take.with_picked(picked)._replace(is_closed=was.is_closed and picked < take.ordered)
        touched.append(index)
    return state._replace(lines=tuple(takes), choices=()), tuple(touched)


def is_all_held(state: PickState, line: PickLine) -> bool:
    """Return True if goods at a line's location are held for orders that are not of this pick, and none are free."""
    free = (had for location, had in line.stock_when_read if same_location(location, line.location))
    return bool(held_for_others(state, line.product, line.location)) and sum(free, Decimal(0)) <= 0


def held_for_others(state: PickState, product: str, location: str) -> dict[str, Decimal]:
    """Return how much of a product is held at a location for orders that are not of this pick."""
    line = next((each for each in state.lines if each.product == product and each.held_at), None)
    own = {tote.order for tote in state.totes}
    held: dict[str, Decimal] = {}
    for each in line.held_at if line else ():
        if same_location(each.location, location) and each.order not in own:
            held[each.order] = held.get(each.order, Decimal(0)) + each.quantity
    return held
