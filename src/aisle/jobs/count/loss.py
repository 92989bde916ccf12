"""Say what was lost or found, and why: product, quantity, reason; each is sent by itself.

Interface: Create store product logs. A loss is a log with a negative quantity, in the pool and at the place where it
was; the reasons come from the settings and from what the store's logs have named so far.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs import goods, numbers
from aisle.jobs.base import Close, Closed, Context, Effect, Event, Opened, Query, Resumed, Rows, Start, Turn
from aisle.jobs.count import counting, loss_view, not_taken
from aisle.jobs.count.counting import Item
from aisle.jobs.count.losing import HISTORY, NUMBERED, Losing, Reason, Said, reasons
from aisle.jobs.numbers import what_is
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, View, msg, signed, undone
from aisle.scan.meaning import (
    LOCATION,
    PRODUCT,
    Back,
    Choice,
    Command,
    Meaning,
    Open,
    Quantity,
    Text,
    Thing,
    Unknown,
)
from aisle.undone import UNDO

Result = Turn[Losing]

FIGURES = ("places", "pools", "most_likely_quantity")
"""Where a product's row says how many there are."""


class LossJob:
    """Products that are gone, or that were found."""

    name = "loss"
    steps: tuple[str, ...] = ("loss.product", "loss.place", "loss.quantity", "loss.reason")
    version = 10
    journalled = True

    def begin(self) -> Losing:
        """Nothing is said yet."""
        return Losing()

    def open(self, state: Losing) -> Open:
        """A quantity, with letters for what is asked about it; or the number of a place or reason."""
        if state.phase == "quantity":
            decimals = bool(state.item and state.item.decimal)
            keys = loss_view.keys(state)
            ways = loss_view.ways(state)
            return Open(True, decimals, choices=len(keys), letters="d", by_hand=True, stand_for=ways, keys=keys)
        return Open(choices=len(loss_view.shown(state)), letters="u" if state.phase == "product" else "n")

    def prefers(self, state: Losing) -> tuple[str, ...]:
        """The product; where it lay, while that is asked."""
        return (LOCATION, PRODUCT) if state.phase == "place" else (PRODUCT, LOCATION)

    def uses(self, state: Losing, product: str) -> bool:
        """What is lost just now."""
        return state.item is not None and state.item.product == product

    def counted(self, state: Losing) -> tuple[str, str]:
        """What is lost just now, while it is asked how many."""
        return (state.item.product, state.item.label) if state.item and state.phase == "quantity" else ("", "")

    def can_undo(self, state: Losing) -> bool:
        """Whether a loss was sent."""
        return bool(state.sent)

    def at(self, state: Losing) -> str:
        """One of `steps`."""
        return f"loss.{state.phase}"

    def step(self, state: Losing, event: Event, context: Context) -> Result:
        """The next state; see the functions below for each kind of event."""
        match event:
            case Opened(args):
                return _opened(args, context)
            case Rows(id_, rows, _):
                return _rows(state, id_, rows, context)
            case Back():
                return _back(state)
            case Closed() if state.pending:
                return Turn(state, (Query("product", "product", {"product_number": state.pending.key}),))
            case Resumed() | Closed():
                return Turn(loss_view.refilled(state._replace(size=max(1, min(NUMBERED, context.rows)))))
            case Choice(number) if state.typed is not None and number <= len(loss_view.digits(state)):
                return _settled_number(state, state.typed, number, context)
            case Choice(number) if state.chosen:
                return _decided(state, state.chosen, number, context)
            case Choice(number) if number <= len(loss_view.shown(state)):
                return _chosen(state, number, context)
            case Thing(meanings) if loss_view.digits(state):
                if asked := _more_asked(state, meanings[0]):
                    return asked
                return _told(state, WRONG, "count.answer_first", what=meanings[0].label or meanings[0].key)
            case Command("d") if loss_view.digits(state):
                return _asked(state, WRONG)
            case Thing(meanings):
                return _thing(_unasked(state), meanings)
            case Quantity(value, code) if state.phase == "quantity":
                query = numbers.asked(value, code)
                return Turn(state._replace(looked=value), (query,)) if query else _quantity(state, value, context)
            case Command("d") if state.phase == "quantity":
                return _so_many(_unasked(state), state.quantity, context)
            case Command("n") if loss_view.shown(state):
                return Turn(state._replace(first=loss_view.next_page(state)))
            case Command("u") if state.phase == "product":
                return _undo(state)
            case Unknown(code) | Text(code):
                return _told(state, WRONG, "count.unknown", code=code)
        return Turn(state)

    def view(self, state: Losing) -> View:
        """What is asked now."""
        return loss_view.view(state)


def _told(state: Losing, kind: str, id_: str, *effects: Effect, **args: str | int | Decimal | Msg) -> Result:
    return Turn(state, effects, Verdict(kind, msg(id_, **args)))


def _opened(args: Mapping[str, Any], context: Context) -> Result:
    place, product = str(args.get("location_code") or ""), str(args.get("product_number") or "")
    size = max(1, min(NUMBERED, context.rows))
    state = Losing(place=place, reasons=reasons(context.policy.reasons), size=size, once=bool(place or product))
    state = state._replace(limit=context.policy.large_quantity)
    effects: tuple[Effect, ...] = (Query("store", "store", {}), Query("reasons", "reasons", {}))
    if place:
        effects = (Query("place", "place", {"location_code": place, "size": 0}), *effects)
    if product:
        state = state._replace(pending=Meaning(PRODUCT, product, product, code=product))
        effects = (Query("product", "product", {"product_number": product}), *effects)
    return Turn(state, effects)  # the last question is answered first: the place's pool is known before the product


def _rows(state: Losing, id_: str, rows: tuple[Mapping[str, Any], ...], context: Context) -> Result:
    if id_ == "reasons":
        return Turn(state._replace(reasons=reasons(context.policy.reasons, rows)))
    if id_ == "store":
        return Turn(state._replace(pools=counting.pools_of(rows)))
    if id_ == not_taken.NOT_TAKEN:
        return _taken_back(state, rows, context)
    if id_ == "named":
        return _named(state, rows, context)
    if id_ == "place":
        return Turn(state._replace(default=counting.pool_of(rows[0]))) if rows else Turn(state)
    meaning, state = state.pending, state._replace(pending=None)
    if meaning is None:
        return Turn(state)
    known = counting.product_items(rows[0]) if rows else ()
    label = known[0].label if known else meaning.label or meaning.key
    fresh = Item(state.place, meaning.key, label, state.default)
    if known:
        fresh = fresh._replace(decimal=known[0].decimal, unit=known[0].unit)
    if meaning.quantity % 1 and not fresh.decimal:
        return _told(state, WRONG, "count.whole", label=label, quantity=meaning.quantity)
    spots = tuple(item for item in known if item.place or item.expected)
    figures = bool(rows) and any(rows[0].get(name) not in (None, [], ()) for name in FIGURES)
    return _settled(state._replace(item=fresh, quantity=meaning.quantity, sure=None, spots=spots, figures=figures))


def _settled(state: Losing) -> Result:
    """Where it was: at the place that was scanned, at its only place, or at the one that is chosen."""
    assert state.item is not None
    here = [spot for spot in state.spots if state.place and spot.place.casefold() == state.place.casefold()]
    if not here and len(state.spots) == 1 and not state.place:
        here = list(state.spots)
    default = [spot for spot in here if spot.pool == state.default]
    if default or len(here) == 1:
        return _at(state, (default or here)[0])
    if here:
        asked = state._replace(phase="place", first=0, spots=tuple(here))
        return _told(asked, ASK, "loss.which_pool", label=state.item.label, place=here[0].place)
    if not state.place and len(state.spots) > 1:
        return _told(state._replace(phase="place", first=0), ASK, "loss.where", label=state.item.label)
    return _at(state, state.item)


def _at(state: Losing, spot: Item) -> Result:
    assert state.item is not None
    item, scanned = state.item._replace(place=spot.place, pool=spot.pool, expected=spot.expected), state.quantity
    figures = state.figures and not spot.unsaid
    return _scanned(state._replace(item=item, phase="quantity", quantity=Decimal(0), figures=figures), scanned)


def _thing(state: Losing, meanings: tuple[Meaning, ...]) -> Result:
    meaning = next((each for each in meanings if each.kind in (PRODUCT, LOCATION)), None)
    if meaning is None:
        return _told(state, WRONG, "count.not_this", what=what_is(meanings[0]))
    if meaning.kind == LOCATION:
        return _scanned_place(state, meaning)
    item = state.item
    if item is None:
        product = Query("product", "product", {"product_number": meaning.key})
        return Turn(state._replace(pending=meaning), (Query("reasons", "reasons", {}), product))
    if state.phase != "quantity" or meaning.key != item.product:
        return _told(state, WRONG, "loss.one_at_a_time", label=item.label, what=meaning.label or meaning.key)
    if meaning.quantity % 1 and not item.decimal:
        return _told(state, WRONG, "count.whole", label=item.label, quantity=meaning.quantity)
    return _scanned(state, state.quantity + meaning.quantity, meaning.quantity)


def _scanned_place(state: Losing, meaning: Meaning) -> Result:
    query = Query("place", "place", {"location_code": meaning.key, "size": 0})
    state = state._replace(place=meaning.key, default=0)
    if state.item is None:
        return _told(state, GOOD, "loss.at_place", query, place=meaning.key)
    if state.phase == "reason":
        return _told(state._replace(place=state.item.place), WRONG, "count.answer_first", what=meaning.key)
    item = state.item._replace(place=meaning.key, pool=0, expected=Decimal(0))
    state = state._replace(item=item, sure=None)  # so many were meant where it was
    return _settled(state)._replace(effects=(query,))


def _quantity(state: Losing, value: Decimal, context: Context) -> Result:
    """So many, unless that is far more than there were: a code of a thing that is gone is no loss by one Enter."""
    return _doubted(state, value) or _so_many(state, value, context)


def _scanned(state: Losing, value: Decimal, more: Decimal = Decimal(0)) -> Result:
    """So many by now, so many `more` by one scan; more of it can be scanned."""
    assert state.item is not None
    told = _told(state._replace(quantity=value), GOOD, "loss.how_many", label=state.item.label, quantity=value)
    return _doubted(state, value, more or value) or told


def _doubted(state: Losing, value: Decimal, scanned: Decimal = Decimal(0)) -> Result | None:
    """The question whether so many are meant, typed or `scanned` so many at once; None where somebody would believe
    it."""
    if value == state.sure or not _is_beyond(state, value, scanned):
        return None
    return _asked(state._replace(typed=value, number=None, beyond=True), ASK)


def _asked(state: Losing, kind: str) -> Result:
    """The question whether so many are meant, or what they are the number of."""
    found, value = state.number, state.typed or Decimal(0)
    if found is None:
        return _told(state, kind, "count.so_many", value=value, label=state.item.label if state.item else "")
    return Turn(state, (), Verdict(kind, numbers.question(found, value)))


def _more_asked(state: Losing, meaning: Meaning) -> Result | None:
    """A label of so many more of what is asked about is asked about with it; None for anything else."""
    assert state.item is not None
    is_same = (meaning.kind, meaning.key) == (PRODUCT, state.item.product)
    if state.number or state.typed is None or not is_same:
        return None
    books = state.item.expected if state.figures else Decimal(0)
    if not numbers.is_beyond(meaning.quantity, books, state.limit):
        return None
    return _asked(state._replace(typed=state.typed + meaning.quantity), ASK)


def _is_beyond(state: Losing, value: Decimal, scanned: Decimal = Decimal(0)) -> bool:
    assert state.item is not None
    books, sure = state.item.expected if state.figures else Decimal(0), state.sure or Decimal(0)
    if scanned == 1:
        return numbers.is_scanned_beyond(value, max(books, sure), state.limit)
    return numbers.is_beyond(value, books, state.limit, sure, scanned or None)


def _so_many(state: Losing, value: Decimal, context: Context) -> Result:
    """Where the reason was said before, that is all."""
    reason, state = state.chosen, _unasked(state)
    if value <= 0:
        return _told(state, WRONG, "loss.none")
    state = state._replace(quantity=value)
    return _because(state, reason, context) if reason else _ask_reason(state)


def _not_so_many(state: Losing) -> Result:
    """So many are not meant: the quantity is what it was before."""
    label = state.item.label if state.item else ""
    return _told(_unasked(state), INFO, "count.not_so_many", value=state.typed or Decimal(0), label=label)


def _unasked(state: Losing) -> Losing:
    return state._replace(number=None, typed=None, looked=None, beyond=False, chosen=None)


def _named(state: Losing, rows: tuple[Mapping[str, Any], ...], context: Context) -> Result:
    """Digits that nothing has for a number are a quantity; else it is asked."""
    value, state = state.looked, state._replace(looked=None)
    if value is None or state.phase != "quantity":
        return Turn(state)
    found = numbers.meant(rows, value, (LOCATION, PRODUCT))
    if found is None:
        return _quantity(state, value, context)
    if numbers.is_likely(rows, value):
        if loss_view.digits(state):
            return _told(state, WRONG, "count.answer_first", what=found.label or found.key)
        return _thing(_unasked(state), (found,))
    return _asked(state._replace(number=found, typed=value, beyond=False), ASK)


def _settled_number(state: Losing, value: Decimal, number: int, context: Context) -> Result:
    """A quantity, or what they are the number of."""
    if number == 1:
        return _so_many(state._replace(sure=value if _is_beyond(state, value) else None), value, context)
    if state.number is None:
        return _not_so_many(state)
    if state.number.kind in counting.NO_USE:  # of which nothing is lost; the number was meant for another page
        return _told(_unasked(state), INFO, "count.dropped")
    return _thing(_unasked(state), (state.number,))


def _ask_reason(state: Losing) -> Result:
    label = state.item.label if state.item else ""
    return _told(state._replace(phase="reason", first=0), ASK, "loss.why", quantity=state.quantity, label=label)


def _chosen(state: Losing, number: int, context: Context) -> Result:
    index = state.first + number - 1
    if state.phase == "place":
        return _at(state, state.spots[index])
    return _because(state, state.reasons[index], context)


def _because(state: Losing, reason: Reason, context: Context) -> Result:
    """Sent with this reason, unless more is lost than the books have."""
    if reason.sign < 0 and state.quantity != state.sure and _is_over(state):
        assert state.item is not None
        args: dict[str, str | Decimal] = {
            "label": state.item.label,
            "quantity": state.quantity,
            "books": state.item.expected,
        }
        return _told(state._replace(chosen=reason, phase="quantity"), ASK, "loss.over", **args)
    return _say(state, reason, context)


def _is_over(state: Losing) -> bool:
    """More than the books have where it was; where nobody knows how many there are, nothing is too many."""
    return state.figures and state.item is not None and state.quantity > max(Decimal(0), state.item.expected)


def _decided(state: Losing, reason: Reason, number: int, context: Context) -> Result:
    """What of more than the books have was lost; or the books are put right first."""
    assert state.item is not None
    item, quantity = state.item, state.quantity
    kind = loss_view.too_many(state)[number - 1][0]
    state = _unasked(state)
    if kind == "fit":
        return _say(state._replace(quantity=item.expected), reason, context)
    if kind == "over":
        return _say(state, reason, context)
    meaning = Meaning(PRODUCT, item.product, item.label, quantity, quantity != 1, item.product)
    state = state._replace(phase="product", item=None, spots=(), place=item.place, default=item.pool, pending=meaning)
    product = {"product_number": item.product, "label": item.label}
    return Turn(state, (Start("count", {"location_code": item.place, **product} if item.place else product),))


def _say(state: Losing, reason: Reason, context: Context) -> Result:
    assert state.item is not None
    said = Said(state.item, state.quantity * reason.sign, context.now)
    id_ = "loss.found" if reason.sign > 0 else "loss.lost"
    verdict = Verdict(GOOD, msg(id_, quantity=state.quantity, label=state.item.label, reason=reason.words))
    more: dict[str, str | int] = {"reason_code": reason.code, "loss_comment": reason.words}
    write = _write(said.item, said.quantity, context, more)
    done = state._replace(phase="product", item=None, spots=(), quantity=Decimal(0), first=0)
    done = done._replace(sent=(*state.sent, said)[-HISTORY:])
    if state.once:
        return Turn(done, (write, Close(verdict)), verdict)
    return Turn(done, (write,), verdict)


def _write(item: Item, quantity: Decimal, context: Context, more: Mapping[str, str | int]) -> Effect:
    entry = {
        "product_number": item.product,
        **({"location_code": item.place} if item.place else {}),
        f"stock_pool_{item.pool}" if item.pool else "quantity": quantity,
        **more,
        "scanned_datetime": context.now,
        "app_user_name": context.user,
        "source": counting.SOURCE,
    }
    return counting.logs([entry], [item.product], context.store, context.user)


def _undo(state: Losing) -> Result:
    """Whether the service took what was sent is asked first."""
    if not state.sent:
        return _told(state, WRONG, "count.nothing_to_undo")
    return Turn(state, (not_taken.asked([state.sent[-1].at]),))


def _taken_back(state: Losing, rows: not_taken.Rows, context: Context) -> Result:
    """What was sent is taken back by its opposite, which names it, so that nobody does it twice."""
    if not state.sent:
        return Turn(state)
    said = state.sent[-1]
    back = state._replace(sent=state.sent[:-1])
    if refused := not_taken.refused(rows, said.item.product, said.at):
        return Turn(back, (), not_taken.told(refused))
    write = _write(said.item, -said.quantity, context, {"reference": UNDO + said.at})
    change, where = signed(-said.quantity), goods.at(said.item.place)
    text = msg("loss.undone", label=said.item.label, change=change, where=where)
    return Turn(back, (write,), undone(text))


def _back(state: Losing) -> Result:
    if state.beyond and not state.number:
        return _not_so_many(state)
    if state.number or state.chosen:
        return _told(_unasked(state), INFO, "count.dropped")
    if state.phase == "reason":
        return _told(state._replace(phase="quantity"), INFO, "loss.go_on")
    if state.item is not None and not state.once:
        fresh = state._replace(phase="product", item=None, spots=(), quantity=Decimal(0))
        return _told(fresh, INFO, "loss.dropped")
    return Turn(state, (Close(Verdict(INFO, msg("loss.left"))),))
