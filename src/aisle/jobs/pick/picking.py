"""The state of a round of picking, one order or several, and its arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from aisle.jobs.base import whole
from aisle.jobs.pick.history import HISTORY, Back, Before, Did, Laid
from aisle.jobs.pick.walk import Take, arranged
from aisle.jobs.view import Msg, msg
from aisle.tuples import NamedTuple

MOST = 20
"""Orders of one round."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""The totes of a round, in the order in which its orders were added."""


class Way(NamedTuple):
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
    who: str = ""
    comment: str = ""
    """What the customer asks for."""
    code: str = ""
    """What stands on the tote itself, if anybody said."""
    here: bool = False
    """Its lines are known."""
    sure: bool = False
    """It is picked here, whoever else said it was his."""
    since: str = ""
    """The moment of the claim that is known here: ours, or one that we were told of."""
    mine: bool = False
    """That claim is ours."""
    opened: str = ""
    """The moment of our own claim, whoever claimed it later; of a look, when it was opened."""
    looks: bool = False
    """It was opened to be looked at, and is nobody's for that; the first thing that is done to it claims it."""
    urgent: bool = False
    """Its stops come before those of the others."""
    beside: tuple[str, ...] = ()
    """Who else has it open, by name, as far as this host knows."""
    unsure: bool = False
    """It was read last while something from here was on its way: a figure that is off is put right by the next read."""
    moved: int = 0
    """The number of the last movement or rejection of its lines on this host by whoever picks here."""
    refused: int = 0
    """The number of the last of his operations on it that the service refused."""


class Asked(NamedTuple):
    """What somebody scanned that a read is asked about; `kind` names the read."""

    kind: str = ""
    key: str = ""
    label: str = ""
    code: str = ""


class Picking(NamedTuple):
    """The orders being picked."""

    totes: tuple[Tote, ...] = ()
    phase: str = "wait"
    """`wait` for the lines, `walk`, or `done` when every line is picked."""
    many: bool = False
    """Several orders are or were in the round: everything names the tote."""
    verified: bool = False
    takes: tuple[Take, ...] = ()
    at: int = -1
    """Index of the first open line of the stop on the screen; -1 for none."""
    place: str = ""
    """The place that was scanned last, while it is the place of the stop."""
    held: bool = False
    """Whether the quantity of the stop is open."""
    history: tuple[Did, ...] = ()
    ways: tuple[Way, ...] = ()
    asked: Asked = Asked()
    only: str = ""
    """The order whose tote alone is put down next."""
    back: tuple[Back, ...] = ()
    """What is to be put back, because its order has left the round or others were faster."""
    told: tuple[str, ...] = ()
    """Operations that could not be taken and were told of."""
    over: tuple[Way, ...] = ()
    """What is asked since somebody took an order over, or gave one; work goes on meanwhile, and it stays asked."""
    aside: bool = False
    """Work went on since that was asked: its numbers are quantities again, and a letter brings it back."""
    behind: bool = False
    """Its numbers stand behind those of `ways`, which were on the screen before it."""
    pools: tuple[tuple[int, str], ...] = ()
    """What the store calls its stock pools, by their numbers."""

    @property
    def order(self) -> str:
        """The order, where there is but one."""
        return self.totes[0].order if self.totes else ""

    @property
    def take(self) -> Take | None:
        """The first open line of the stop on the screen."""
        return self.takes[self.at] if 0 <= self.at < len(self.takes) else None

    @property
    def done(self) -> bool:
        """True when no line is open."""
        return bool(self.takes) and not any(take.open for take in self.takes)

    @property
    def needs_place(self) -> bool:
        """True while the place of the stop has still to be verified by a scan."""
        take = self.take
        return bool(self.verified and take and take.place and take.place.casefold() != self.place.casefold())

    @property
    def step(self) -> str:
        """The name of the step."""
        if self.back or (self.phase != "wait" and not self.totes):
            return "pick.back"
        if self.phase == "wait":
            return "pick.wait"
        if self.take is None:
            return "pick.done"
        return "pick.place" if self.needs_place else "pick.product"


# Totes


def opened(
    orders: Sequence[str], codes: Mapping[str, str], sure: Iterable[str], verified: bool, *, looks: bool = False
) -> Picking:
    """A round of these orders, nothing known of them yet."""
    taken_over = set(sure)
    named = list(dict.fromkeys(orders))[:MOST]
    totes = (
        Tote(order, LETTERS[index], code=codes.get(order, ""), sure=order in taken_over, looks=looks)
        for index, order in enumerate(named)
    )
    return Picking(tuple(totes), many=len(named) > 1, verified=verified)


def tote_of(state: Picking, order: str) -> Tote | None:
    """The tote of this order, None when it is not in the round."""
    return next((tote for tote in state.totes if tote.order == order), None)


def letter_of(state: Picking, order: str) -> str:
    """The letter of an order's tote."""
    tote = tote_of(state, order)
    return tote.letter if tote else ""


def with_tote(state: Picking, tote: Tote) -> Picking:
    """The round with this tote changed, or added at its end."""
    if tote_of(state, tote.order) is None:
        return state._replace(totes=(*state.totes, tote))
    return state._replace(totes=tuple(tote if each.order == tote.order else each for each in state.totes))


def tote_called(state: Picking, code: str) -> Tote | None:
    """The tote that has this on it, in capitals or not, or whose letter it is."""
    named = next((tote for tote in state.totes if tote.code and tote.code.casefold() == code.casefold()), None)
    return named or next((tote for tote in state.totes if state.many and tote.letter == code), None)


def labels(state: Picking) -> str:
    """What totes of a round are called by, as far as it is one capital letter."""
    if not state.many or state.phase == "wait":
        return ""
    return "".join(name for tote in state.totes for name in (tote.letter, tote.code) if name in tuple(LETTERS))


def next_letter(state: Picking) -> str:
    """The letter of one more tote; empty when the round is full."""
    used = max((LETTERS.index(tote.letter) for tote in state.totes), default=-1)
    return LETTERS[used + 1] if len(state.totes) < MOST and used + 1 < len(LETTERS) else ""


def parts(state: Picking, quantities: Iterable[tuple[str, Decimal]]) -> str | Msg:
    """Which tote gets how many: `A3 B4`, in any language. Of what is measured, each stop is of one tote, and its
    fractions are written as each language does."""
    sums: dict[str, Decimal] = {}
    for order, quantity in quantities:
        letter = letter_of(state, order)
        sums[letter] = sums.get(letter, Decimal(0)) + quantity
    if len(sums) == 1:
        return next(msg("pick.part", tote=letter, quantity=quantity) for letter, quantity in sums.items())
    return " ".join(f"{letter}{whole(quantity)}" for letter, quantity in sums.items())


def is_full(state: Picking, order: str) -> bool:
    """Whether every line of an order is picked or closed."""
    lines = [take for take in state.takes if take.order == order]
    return bool(lines) and not any(take.open for take in lines)


# The walk


def with_takes(state: Picking, takes: Iterable[Take]) -> Picking:
    """The round with these lines in walking order; whoever picks stands where he stood, or at the next open stop."""
    before = state.take
    state = state._replace(takes=_walked(state, takes), at=-1)
    if before is None:
        return stand(state)
    line = (before.order, before.line)
    same = next((index for index, take in enumerate(state.takes) if (take.order, take.line) == line), -1)
    if same < 0 or state.takes[same].stop != before.stop:
        return stand(state, _after(state, before))
    state = state._replace(at=same)
    open_ = [index for index in stop_at(state, same) if state.takes[index].open]
    return go_to(state, open_[0]) if open_ else stand(state, same)


def _walked(state: Picking, takes: Iterable[Take]) -> tuple[Take, ...]:
    """Lines in walking order, the stops of urgent orders before all others."""
    ranks = {tote.order: index for index, tote in enumerate(state.totes)}
    order = arranged(takes, {"": -1, **ranks})
    first = _urgent_stops(state, order)
    return tuple(sorted(order, key=lambda take: take.stop not in first)) if first else order


def _urgent_stops(state: Picking, takes: Iterable[Take]) -> frozenset[tuple[str, str, int, str]]:
    """The stops where something of an urgent order is still to be taken."""
    urgent = {tote.order for tote in state.totes if tote.urgent}
    return frozenset(take.stop for take in takes if take.order in urgent and take.open) if urgent else frozenset()


def _after(state: Picking, before: Take) -> int:
    """The first line at the place where somebody stood, or behind it in the walk."""
    mark = before._replace(order="", line=-1)
    return _walked(state, (*state.takes, mark)).index(mark) % max(1, len(state.takes))


def stand(state: Picking, start: int = 0, *, first: bool = True) -> Picking:
    """Stand at the first open stop from index `start` on, round the end; at none when all are picked. Those of urgent
    orders come `first`."""
    count = len(state.takes)
    open_ = [index for index in ((start + step) % count for step in range(count)) if state.takes[index].open]
    if open_:
        urgent = _urgent_stops(state, state.takes) if first else frozenset()
        return go_to(state, next((index for index in open_ if state.takes[index].stop in urgent), open_[0]))
    return state._replace(at=-1, place="", held=False, phase="done" if count else state.phase)


def go_to(state: Picking, index: int) -> Picking:
    """Stand at the stop of this line."""
    take, was = state.takes[index], state.take
    place = state.place if take.place and take.place.casefold() == state.place.casefold() else ""
    held = state.held and was is not None and was.stop == take.stop
    first = next((each for each in stop_at(state, index) if state.takes[each].open), index)
    return state._replace(at=first, place=place, held=held, phase="walk")


def stop_at(state: Picking, index: int) -> tuple[int, ...]:
    """All lines of the stop that this line belongs to, without those that were closed short."""
    if not 0 <= index < len(state.takes):
        return ()
    product, stop = state.takes[index].product, state.takes[index].stop
    of_product = ((each, take) for each, take in enumerate(state.takes) if take.product == product)
    return tuple(each for each, take in of_product if take.stop == stop and not take.closed)


def stop_of(state: Picking) -> list[Take]:
    """The lines of the stop on the screen."""
    return [state.takes[index] for index in stop_at(state, state.at)]


def ordered(state: Picking) -> Decimal:
    """So many of the stop on the screen were ordered."""
    _, of, _ = total(stop_of(state))
    return of


def total(takes: Iterable[Take]) -> tuple[Decimal, Decimal, Decimal]:
    """(picked, ordered, still to be taken) of these lines."""
    given = list(takes)
    zero = Decimal(0)
    picked, of = sum((take.picked for take in given), zero), sum((take.of for take in given), zero)
    return picked, of, sum((take.rest for take in given if take.open), zero)


def lines_of(state: Picking, product: str) -> list[int]:
    """Indexes of the lines with this product: those of the stop on the screen first, then at its place, then on."""
    here = (state.place or (state.take.place if state.take else "")).casefold()
    stop = set(stop_at(state, state.at))
    found = [index for index, take in enumerate(state.takes) if take.product == product]
    return sorted(found, key=lambda index: (index not in stop, state.takes[index].place.casefold() != here, index))


def fillable(state: Picking, product: str) -> list[int]:
    """Indexes of the lines that goods of this product go to, one after the other: those of one place alone, for what
    is scanned together was taken together."""
    open_ = [index for index in lines_of(state, product) if state.takes[index].open]
    if not open_:
        return open_
    place = state.takes[open_[0]].place.casefold()
    return [index for index in open_ if state.takes[index].place.casefold() == place]


# Steps


def spread(state: Picking, indexes: Iterable[int], quantity: Decimal) -> dict[int, Decimal]:
    """What lines stand at once so much more is in their totes: each is filled before the next."""
    changes: dict[int, Decimal] = {}
    for index in indexes:
        part = min(quantity, state.takes[index].rest)
        if part > 0:
            changes[index] = state.takes[index].picked + part
            quantity -= part
    return changes


def share(state: Picking, indexes: Sequence[int], value: Decimal) -> dict[int, Decimal]:
    """What lines stand at when so much is in their totes in all; what is put down stays, then the first is filled."""
    left = value - sum((state.takes[index].moved for index in indexes), Decimal(0))
    changes: dict[int, Decimal] = {}
    for index in indexes:
        take = state.takes[index]
        part = max(Decimal(0), min(left, take.of - take.moved))
        changes[index] = take.moved + part
        left -= part
    return {index: picked for index, picked in changes.items() if picked != state.takes[index].picked}


def put(state: Picking, changes: Mapping[int, Decimal], *, closed: bool = False) -> Picking:
    """These lines now stand at so much, or are closed with it; what they stood at goes into the history."""
    takes = list(state.takes)
    before = []
    for index, picked in changes.items():
        take = takes[index]
        before.append(Before(take.order, take.line, take.picked, take.closed))
        takes[index] = take.at(picked)._replace(closed=closed and picked < take.of)
    return did(state._replace(takes=tuple(takes), ways=()), Did(tuple(before)))


def did(state: Picking, step: Did) -> Picking:
    """One more step that can be undone."""
    return state._replace(history=(*state.history, step)[-HISTORY:])


def moved(state: Picking, laid: Iterable[Laid], sign: int, place: str) -> Picking:
    """Goods were put down at a place, or are in hand again from there."""
    more = {(each.order, each.line): each.quantity * sign for each in laid}
    takes = (_moved(take, more.get((take.order, take.line), Decimal(0)), place) for take in state.takes)
    return state._replace(takes=tuple(takes))


def _moved(take: Take, more: Decimal, place: str) -> Take:
    if not more:
        return take
    kept = tuple(code for code in take.kept if code != place)
    kept = (*kept, place) if more > 0 else kept
    return take._replace(moved=take.moved + more, mine=max(Decimal(0), take.mine - more), kept=kept)


def lies_at(state: Picking, order: str = "") -> tuple[str, ...]:
    """The places where the goods of an order, or of all, were put down."""
    places = (place for take in state.takes if order in ("", take.order) and take.moved > 0 for place in take.kept)
    return tuple(dict.fromkeys(places))


def without(state: Picking, order: str, why: str) -> Picking:
    """The round once an order has left it; what is in this hand of it is to be put back."""
    letter = letter_of(state, order)
    back = tuple(
        Back(letter, why, take.product, take.label, came.quantity, came.place, order=order, pool=came.pool, line=take)
        for take in state.takes
        if take.order == order
        for came in take.origins
    )
    totes = tuple(tote for tote in state.totes if tote.order != order)
    over = tuple(way for way in state.over if way.key != order)
    history = _without_lines(state.history, order)
    left = state._replace(totes=totes, back=(*state.back, *back), ways=(), over=over, only="", history=history)
    return with_takes(left, [take for take in state.takes if take.order != order])


def _without_lines(history: Iterable[Did], order: str) -> tuple[Did, ...]:
    """What of these steps can still be undone once an order is gone: if it comes back its lines stand where they do
    then, whatever was done to them before."""
    steps = (
        step._replace(
            before=tuple(each for each in step.before if each.order != order),
            stood=tuple(each for each in step.stood if each.order != order),
        )
        for step in history
    )
    return tuple(step for step in steps if step != Did(place=step.place, at=step.at))
