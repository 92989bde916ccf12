"""The giving half of the move job: where the goods go, one movement for all that goes there, and the way back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs import goods
from aisle.jobs.base import Context, Query, Turn, Wish
from aisle.jobs.move import carrying
from aisle.jobs.move.moving import ZERO, Did, InPool, Leg, Moving, Part, Wanting, Way, holdings, shelf_of, wanting
from aisle.jobs.move.take import too_many
from aisle.jobs.move.told import told
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, msg, raw, undone
from aisle.scan.meaning import Meaning

Result = Turn[Moving]

UNDO = "undo/"
"""What the ids of queries begin with that ask what of a move can be taken back; the place follows."""


# Where to


def to_place(state: Moving, place: str, context: Context) -> Result:
    """The goods in hand, or those on the screen from the cart, go here."""
    parts = state.scope
    if not parts:
        return told(state, WRONG, "move.nothing_on_cart")
    lacking = carrying.short(parts)
    if lacking is not None:
        return _lacking(_back_from(state), lacking)
    legs = carrying.legs_to(parts, place, state.to_pool, state.target, state.rooms)
    if any(carrying.still(leg) for leg in legs):
        return _nowhere_new(state, place)
    return _sent(state, parts, legs, place, context)


def _lacking(state: Moving, part: Part) -> Result:
    """The books have fewer than were taken, as it was known last."""
    whole = state.hand[carrying.find(state.hand, part)]
    return too_many(state, whole, whole.quantity)


def _back_from(state: Moving) -> Moving:
    """From the question about an order's place to what was done before."""
    if state.phase != "where":
        return state
    return state._replace(phase=state.back_to, back_to="", target="", rooms=())


def _nowhere_new(state: Moving, place: str) -> Result:
    """Where they come from is no place to move them to, unless it is from pool to pool."""
    if state.target:
        return told(state, WRONG, "move.same_order", order=state.target)
    ways = (Way("drop"),) if state.phase == "take" else ()
    return told(state._replace(ways=ways), ASK if ways else WRONG, "move.same_place", place=place)


def _sent(state: Moving, parts: tuple[Part, ...], legs: tuple[Leg, ...], place: str, context: Context) -> Result:
    target = state.target
    write = carrying.movement(legs, context.store, context.user)
    state = carrying.put_down(_back_from(state)._replace(target=target), parts, legs, context.now)
    quantity = sum((part.quantity for part in parts), ZERO)
    what = parts[0].label
    where = _where(place, target, state)
    if state.phase == "put":
        return _next_on_cart(state, write, quantity, what, where)
    id_ = "move.moved" if len(parts) == 1 else "move.moved_many"
    return told(state, GOOD, id_, write, label=what, quantity=quantity, count=len(parts), target=where)


def _next_on_cart(state: Moving, write: Any, quantity: Decimal, label: str, where: Msg) -> Result:
    if not state.hand:
        state = state._replace(phase="load")
        return told(state, GOOD, "move.cart_empty", write, label=label, quantity=quantity, target=where)
    state = state._replace(at=max(0, state.at))
    return told(state, GOOD, "move.put", write, label=label, quantity=quantity, target=where, left=len(state.hand))


def _where(place: str, order: str, state: Moving) -> Msg:
    if order:
        return msg("move.to_order_at", order=order, place=place) if place else msg("move.to_order", order=order)
    if place:
        return raw(place)
    return msg("move.to_pool", pool=state.to_pool) if state.to_pool else msg("move.no_place_short")


def no_place(state: Moving, context: Context) -> Result:
    """Done, without another place: the goods change their pool, or an order gives them back."""
    if not state.hand:
        return told(state, WRONG, "move.scan_first")
    if state.to_pool:
        # Each stays where it is; what was taken at several places goes in one movement all the same.
        return _in_place(state, context)
    if not state.places and all(part.order for part in state.hand):
        return to_place(state, "", context)
    if not state.places:
        state = state._replace(phase="pool", back_to=state.phase, choosing="from")
        return told(state, ASK, "move.which_from_pool")
    return told(state, WRONG, "move.scan_target")


def _in_place(state: Moving, context: Context) -> Result:
    lacking = carrying.short(state.hand)
    if lacking is not None:
        return _lacking(state, lacking)
    legs = tuple(leg for part in state.hand for leg in carrying.legs_to((part,), part.place, state.to_pool))
    if any(carrying.still(leg) for leg in legs):
        return told(state, WRONG, "move.same_pool", pool=state.to_pool)
    return _sent(state, state.hand, legs, "", context)


# To an order


def to_order(state: Moving, row: Mapping[str, Any] | None, context: Context) -> Result:
    """The lines of this order take the goods; then the place where they are put, where there are places."""
    if row is None or not row.get("is_active", True) or row.get("is_rejected"):
        return told(state, WRONG, "move.no_order", order=str((row or {}).get("order_number") or ""))
    order = str(row["order_number"])
    if not row.get("lines_known", True):
        return told(state, WRONG, "move.lines_awaited", Wish("order", order), order=order)
    rooms = wanting(row)
    for part in state.scope:
        own = tuple(Wanting(room.product, room.line, part.quantity) for room in rooms if _own(part, room, order))
        mine = [room for room in rooms if room.product == part.product]
        room = part.quantity if own else sum((each.room for each in mine), ZERO)
        if not mine:
            return told(state, WRONG, "move.not_on_order", label=part.label, order=order)
        if room < sum((each.quantity for each in state.scope if each.product == part.product), ZERO):
            return _too_many_for(state, part, order, room)
        if own:
            rooms = (*own, *(each for each in rooms if each.line != part.line))
    state = state._replace(target=order, rooms=rooms)
    if state.places:
        return told(state._replace(phase="where", back_to=state.phase), ASK, "move.where_put", order=order)
    return to_place(state, "", context)


def _own(part: Part, room: Wanting, order: str) -> bool:
    """The goods are this line's already, and only go to another place."""
    return part.order == order and part.line == room.line


def _too_many_for(state: Moving, part: Part, order: str, room: Decimal) -> Result:
    index = carrying.find(state.hand, part)
    alone = sum(each.product == part.product for each in state.scope) == 1
    ways = (Way("fit_order", order, room),) if room > 0 and index >= 0 and alone else ()
    state = state._replace(ways=ways, at=index if index >= 0 else state.at)
    kind = ASK if ways else WRONG
    return told(state, kind, "move.order_full", label=part.label, order=order, room=room, quantity=part.quantity)


def fit(state: Moving, way: Way, context: Context) -> Result:
    """Only as many as the order takes, the rest stays in hand; then it is asked again."""
    part = state.part
    if part is None:
        return Turn(state)
    portion = way.quantity if way.quantity < part.quantity else ZERO
    return Turn(state._replace(portion=portion), (Query("target", "order", {"order_number": way.key}),))


# The cart


def unload(state: Moving) -> Result:
    """The cart is loaded: what goes where, in the order of feet."""
    if not state.hand:
        return told(state, WRONG, "move.nothing_on_cart")
    hand = carrying.along(state.hand)
    state = state._replace(hand=hand, phase="put", at=0, portion=ZERO, ways=())
    return told(state, GOOD, "move.unload", count=len(hand))


def choose(state: Moving, meaning: Meaning) -> Result:
    """A scan of a product on the cart: that is put down next, or so many of it."""
    found = [index for index, part in enumerate(state.hand) if part.product == meaning.key]
    if not found:
        label = meaning.label or meaning.key
        return told(state, WRONG, "move.not_on_cart", label=label, code=meaning.code or meaning.key)
    index = found[(found.index(state.at) + 1) % len(found)] if state.at in found and len(found) > 1 else found[0]
    part = state.hand[index]
    if meaning.explicit and (meaning.quantity > part.quantity or (meaning.quantity % 1 and not part.decimal)):
        there = {"quantity": meaning.quantity, "there": part.quantity}
        return told(state._replace(at=index, portion=ZERO), WRONG, "move.not_so_many", label=part.label, **there)
    portion = meaning.quantity if meaning.explicit and meaning.quantity < part.quantity else ZERO
    state = state._replace(at=index, portion=portion)
    return told(state, INFO, "move.now", label=part.label, quantity=portion or part.quantity)


# Undo


def undo(state: Moving, context: Context) -> Result:
    """Takes back the last take, or the last move, if the goods are still where they went."""
    if not state.history:
        return told(state, WRONG, "pick.nothing_to_undo")
    did = state.history[-1]
    if not did.legs:
        return _untaken(state, did)
    if did.moment == context.now:  # the books would say what was there before: nobody else has seen these goods yet
        return _moved_back(state, did, context)
    state, leg = state._replace(undoing=True), did.legs[0]
    if places := _places_of(did):
        return Turn(state, (_lying_at(places[0]),))
    if leg.to_order:
        return Turn(state, (Query("undo_order", "order", {"order_number": leg.to_order}),))
    return _moved_back(state, did, context)


def _places_of(did: Did) -> tuple[str, ...]:
    """Where the goods of a move went, each once."""
    return tuple(dict.fromkeys(leg.to_place for leg in did.legs if leg.to_place))


def _lying_at(place: str) -> Query:
    """Asks what lies there of what was moved."""
    return Query(f"{UNDO}{place}", "place", {"location_code": place})


def _untaken(state: Moving, did: Did) -> Result:
    """Goods go out of the hand again; in the books they have never left."""
    hand = state.hand
    for part in did.parts:
        hand = carrying.put_in(hand, part._replace(quantity=-part.quantity))
    at = carrying.find(hand, did.parts[0])
    at = at if at >= 0 else len(hand) - 1
    phase = "load" if state.phase == "put" and not hand else state.phase
    state = state._replace(hand=hand, history=state.history[:-1], at=at, portion=ZERO, phase=phase, undone=False)
    back = did.parts[0].quantity > 0
    parts = [part._replace(quantity=abs(part.quantity)) for part in did.parts]
    if back:
        text = goods.about("move.untaken", "move.untaken_many", _goods(parts), target=_taken_at(parts))
    else:
        text = goods.about("move.retaken", "move.retaken_many", _goods(parts))
    return Turn(state, (), undone(text))


def undo_checked(state: Moving, row: Mapping[str, Any] | None, context: Context, place: str = "") -> Result:
    """What of the moved goods is still where they went, at one place after the other."""
    if not state.undoing or not state.history:
        return Turn(state)
    did = state.history[-1]
    if row is not None and not place and not row.get("lines_known", True):
        order = did.legs[0].to_order
        wish = Wish("order", order)
        return told(state._replace(undoing=False), WRONG, "move.undo_awaited", wish, order=order)
    legs = [leg for leg in did.legs if leg.to_place == place]
    there = [min(leg.quantity, _there(leg, row)) for leg in legs]
    if row is None and place:
        there = [leg.quantity for leg in legs]  # nobody here knows the place: the service decides
    leg = next((leg for leg, left in zip(legs, there, strict=True) if left < leg.quantity), None)
    if leg is None:
        places = _places_of(did)
        on = places[places.index(place) + 1 :] if place else ()
        return Turn(state, (_lying_at(on[0]),)) if on else _moved_back(state, did, context)
    left = sum(there, ZERO)
    where = leg.to_place or leg.to_order
    if left <= 0 or len(did.legs) > 1:
        state = state._replace(undoing=False, history=())
        return _too_late(state, did, leg.label, where)
    ways = (Way("undo_rest", where, left),)
    state = state._replace(ways=ways, undoing=True)
    return told(state, ASK, "move.partly_late", label=leg.label, place=where, left=left, quantity=leg.quantity)


def _too_late(state: Moving, did: Did, label: str, place: str) -> Result:
    """Nothing of a move is moved back, since some of it is not where it went."""
    count = len({leg.product for leg in did.legs})
    if count == 1:
        return told(state, WRONG, "move.too_late", label=label, place=place)
    text = msg("move.too_late_many", label=label, place=place, count=count)
    return Turn(state, (), Verdict(WRONG, text))


def _there(leg: Leg, row: Mapping[str, Any] | None) -> Decimal:
    """How much of a leg's goods is where it went."""
    if row is None:
        return ZERO
    if not leg.to_place:
        closed = not row.get("is_active", True) or row.get("is_rejected")
        found = [hold for lying in holdings(row, "") for hold in lying.held if hold.line == leg.to_line]
        return ZERO if closed else sum((hold.quantity for hold in found if not hold.place), ZERO)
    lying = next((each for each in shelf_of(row) if each.product == leg.product), None)
    if lying is None:
        return ZERO
    if leg.to_order:
        held = (hold for hold in lying.held if (hold.order, hold.line) == (leg.to_order, leg.to_line))
        return sum((hold.quantity for hold in held), ZERO)
    pool = leg.to_pool or leg.pool
    by_pool = {each.pool: each.quantity for each in lying.pools}
    return max(ZERO, by_pool.get(pool, ZERO) if pool and by_pool else lying.free)


def undo_rest(state: Moving, way: Way, context: Context) -> Result:
    """Moves back what is left of it; what was before that is history."""
    if not state.undoing or not state.history:
        return Turn(state)
    did = state.history[-1]
    leg, part = did.legs[0]._replace(quantity=way.quantity), did.parts[0]
    pools = (InPool(leg.pool, way.quantity),) if leg.pool and part.pools else ()
    gone = part.quantity - way.quantity
    books = max(way.quantity, part.books - gone) if part.books >= 0 else part.books
    rest = Did((part._replace(quantity=way.quantity, books=books, pools=pools),), (leg,))
    return _moved_back(state._replace(history=()), rest, context)


def _moved_back(state: Moving, did: Did, context: Context) -> Result:
    """The goods are in hand again, and in the books where they came from."""
    write = carrying.movement([carrying.reverse(leg) for leg in did.legs], context.store, context.user)
    cart = state.phase in ("load", "put")
    state = carrying.taken_back(state._replace(undoing=False, history=state.history[:-1], portion=ZERO), did)
    part = did.parts[0]
    if not cart:
        state = _standing(state, part)._replace(undone=True)
    if cart and state.phase == "put":
        state = state._replace(at=max(0, carrying.find(state.hand, part)))
    source = goods.places(leg.to_place or leg.to_order for leg in did.legs)
    args = {"source": source, "target": _taken_at(did.parts)}
    text = goods.about("move.undone", "move.undone_many", _goods(did.parts), **args)
    return Turn(state, (write,), undone(text))


def _goods(parts: Iterable[Part]) -> list[goods.Goods]:
    """The goods of a message."""
    return [goods.Goods(part.product, part.label, part.quantity, part.unit if part.decimal else "") for part in parts]


def _taken_at(parts: Iterable[Part]) -> Msg:
    """Where these goods were taken: places, or orders that had them in hand."""
    return goods.places(part.place or part.order for part in parts)


def after_undo(state: Moving, place: str) -> Result:
    """A place after a move was taken back: the goods were put back meanwhile, or they go there now. Who knows, says."""
    quantity = sum((each.quantity for each in state.hand), ZERO)
    several = len({each.product for each in state.hand}) > 1
    put = Way("put_all" if several else "put", place, Decimal(len(state.hand)) if several else quantity)
    state = state._replace(ways=(Way("lying", place), put))
    text = goods.about("move.after_undo", "move.after_undo_many", _goods(state.hand), place=place)
    return Turn(state, (), Verdict(ASK, text))


def _standing(state: Moving, part: Part) -> Moving:
    """Goods that came back into the hand are taken on from where they came."""
    if state.started and state.place.casefold() == part.place.casefold():
        return state._replace(phase="take")
    return state._replace(
        phase="take", started=True, place=part.place, order="", lines=(), shelf=(), known=False, default=0
    )
