"""Taking: a product into the totes of its stop, a quantity of it, later, short, and back again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from aisle.jobs import goods, numbers
from aisle.jobs.base import Context, Start, Turn, Write
from aisle.jobs.count import not_taken
from aisle.jobs.count import send as count_send
from aisle.jobs.pick import beyond, picking, taken_at
from aisle.jobs.pick import orders as pick_orders
from aisle.jobs.pick import put as pick_put
from aisle.jobs.pick import why as pick_why
from aisle.jobs.pick import write as pick_write
from aisle.jobs.pick.history import Did
from aisle.jobs.pick.picking import Picking, Tote, Way
from aisle.jobs.pick.undo import in_place_again, moved_from, stood_before
from aisle.jobs.pick.walk import elsewhere
from aisle.jobs.pick.why import wrong
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, msg, undone
from aisle.scan.meaning import PRODUCT, Meaning

Result = Turn[Picking]


def product(state: Picking, meaning: Meaning, context: Context) -> Result:
    """So many of a product: into the first open tote of the stop, then the next."""
    indexes = picking.lines_of(state, meaning.key)
    label = meaning.label or meaning.key
    if not indexes:
        return pick_why.foreign(state, meaning)
    open_ = picking.fillable(state, meaning.key)
    if not open_:
        return _full(state, indexes, meaning)
    first = state.takes[open_[0]]
    if meaning.quantity % 1 and not first.decimal:
        return wrong(state, "pick.whole", label=label, quantity=meaning.quantity)
    if asked := taken_at.asked(state, meaning, open_):
        return asked
    if state.verified and first.place and first.place.casefold() != state.place.casefold():
        return wrong(picking.go_to(state, open_[0]), "pick.place_first", place=first.place, label=label)
    if first.decimal and not meaning.explicit:
        held = picking.go_to(state, open_[0])._replace(held=True, ways=())
        told = msg("pick.weigh", label=label, rest=first.rest, unit=first.unit)
        return Turn(held, (), Verdict(INFO, _for_tote(state, first.order, told)))
    rest = sum((state.takes[index].rest for index in open_), Decimal(0))
    if meaning.quantity > rest:
        here, way = picking.go_to(state, open_[0])._replace(held=True), Way("take_rest", meaning.key)
        if any(state.takes[index].open for index in indexes if index not in open_):
            args: dict[str, str | Decimal] = {"label": label, "rest": rest, "place": first.place}
            return wrong(here, "pick.over_here", way, quantity=meaning.quantity, **args)
        return wrong(here, "pick.over", way, label=label, quantity=meaning.quantity, rest=rest)
    return taken(state, picking.spread(state, open_, meaning.quantity), context)


def at_place(state: Picking, way: Way, context: Context) -> Result:
    """Takes what was scanned from the place that was chosen for it."""
    explicit = bool(way.quantity)
    meaning = Meaning(PRODUCT, way.product, way.label, way.quantity or Decimal(1), explicit)
    turn = product(taken_at.chosen(state, way)._replace(ways=()), meaning, context)
    if turn.verdict is None or turn.verdict.kind != GOOD:
        return turn
    return turn._replace(
        verdict=turn.verdict._replace(text=msg("pick.from_place", place=way.key, what=turn.verdict.text))
    )


def told_there(state: Picking, row: Mapping[str, Any], context: Context) -> Result:
    """A place where the stop is not was scanned: it answers where goods were taken, if they may come from there."""
    if not taken_at.product_asked(state):
        return pick_why.told_elsewhere(state, row)
    place = state.asked.key
    pool, wrong_pool = pick_why.pool_there(state, row)
    state = state._replace(asked=picking.Asked())
    if wrong_pool:
        return Turn(state, (), Verdict(WRONG, wrong_pool))
    way = taken_at.another(state, place, pool)
    return at_place(state._replace(ways=()), way, context) if row.get("pools") else taken_at.asked_too(state, way)


def _full(state: Picking, indexes: Sequence[int], meaning: Meaning) -> Result:
    closed = [state.takes[index] for index in indexes if state.takes[index].closed]
    label = meaning.label or meaning.key
    if closed:
        picked, of, _ = picking.total(closed)
        way = Way("reopen", meaning.key, label, quantity=meaning.quantity if meaning.explicit else Decimal(0))
        return wrong(state, "pick.was_short", way, label=label, done=picked, of=of)
    _, of, _ = picking.total(state.takes[index] for index in indexes)
    return wrong(state, "pick.full", label=label, of=of)


def _for_tote(state: Picking, order: str, told: Msg) -> Msg:
    return msg("pick.for_tote", tote=picking.letter_of(state, order), what=told) if state.many else told


def taken(state: Picking, changes: Mapping[int, Decimal], context: Context, *, set_: bool = False) -> Result:
    """After a take: the operations, the totes that it went to, and the stop where the picker stands now."""
    if not changes:
        return Turn(state._replace(ways=()), (), Verdict(INFO, msg("pick.same")))
    after = picking.put(state, changes)
    last = max(changes)
    stop = picking.stop_at(after, last)
    open_ = [index for index in stop if after.takes[index].open]
    on = picking.go_to(after, open_[0]) if open_ else picking.stand(after._replace(held=False), last)
    told = Verdict(GOOD, _told(state, after, changes, stop, set_), more=beyond.said(state, changes))
    effects = pick_write.updates(state, after, changes, context.store)
    return Turn(on._replace(held=True) if open_ else on, effects, told)


def _told(before: Picking, after: Picking, changes: Mapping[int, Decimal], stop: Sequence[int], set_: bool) -> Msg:
    orders = list(dict.fromkeys(after.takes[index].order for index in changes))
    done, of, _ = picking.total(after.takes[index] for index in stop)
    label = after.takes[max(changes)].label
    if not after.many and after.done:
        lacking = sum(take.closed for take in after.takes)
        return (
            msg("pick.all_but", order=after.order, count=lacking)
            if lacking
            else msg("pick.all_taken", order=after.order)
        )
    if not after.many:
        return msg("pick.taken", label=label, done=done, of=of)
    full = [order for order in orders if picking.is_full(after, order) and not picking.is_full(before, order)]
    if set_:
        totes = picking.parts(after, ((after.takes[index].order, after.takes[index].picked) for index in stop))
        told = msg("pick.set_totes", label=label, totes=totes, done=done, of=of)
    elif len(orders) == 1:
        mine = [after.takes[index] for index in stop if after.takes[index].order == orders[0]]
        done, of, _ = picking.total(mine)
        more = sum((picked - before.takes[index].picked for index, picked in changes.items()), Decimal(0))
        letter = picking.letter_of(after, orders[0])
        told = msg("pick.taken_tote", label=label, quantity=more, tote=letter, done=done, of=of)
    else:
        given = [(after.takes[index].order, picked - before.takes[index].picked) for index, picked in changes.items()]
        more = sum((quantity for _, quantity in given), Decimal(0))
        told = msg("pick.taken_totes", label=label, quantity=more, totes=picking.parts(after, given))
    if after.done:
        lacking = sum(take.closed for take in after.takes)
        id_ = "pick.round_all_but" if lacking else "pick.round_taken"
        return msg(id_, count=len(after.totes), what=told, **({"lacking": lacking} if lacking else {}))
    letters = " ".join(picking.letter_of(after, order) for order in full)
    return msg("pick.tote_full", what=told, tote=letters) if full else told


def quantity(state: Picking, value: Decimal, code: str, context: Context) -> Result:
    """So many of the stop are in its totes in all, unless the digits are the number of something, or it is asked where
    they were taken."""
    if state.take is None:
        return Turn(state)
    return (
        taken_at.totalled(state, value) or pick_why.number_of(state, value, code) or judged(state, value, (), context)
    )


def judged(state: Picking, value: Decimal, found: Sequence[Meaning], context: Context) -> Result:
    """So many, unless that is more than was ordered, or may be the number of what was `found`."""
    others = [Way(f"is_{each.kind}", each.key, each.label) for each in found]
    if value > picking.ordered(state):
        return pick_why.over_set(state, value, *others)
    if found:
        asked = state._replace(ways=(Way("amount", quantity=value), *others))
        return Turn(asked, (), Verdict(ASK, numbers.question(found[0], value)))
    return _so_many(state._replace(ways=()), value, context)


def tote_or_quantity(state: Picking, value: Decimal, tote: Tote) -> Result:
    """The number of a tote is that where it can be no quantity; else it is asked."""
    if value > picking.ordered(state):
        return pick_put.named(state._replace(ways=()), tote)
    asked = state._replace(ways=(Way("amount", quantity=value), Way("tote", tote.order)))
    told = msg("pick.number_of_tote", value=value, tote=tote.letter, order=tote.order)
    return Turn(asked, (), Verdict(ASK, told))


def _so_many(state: Picking, value: Decimal, context: Context) -> Result:
    """The first tote of the stop is filled, then the next."""
    take = state.take
    if take is None:
        return Turn(state)
    indexes = picking.stop_at(state, state.at)
    lines = [state.takes[index] for index in indexes]
    _, of, _ = picking.total(lines)
    moved = sum((line.moved for line in lines), Decimal(0))
    if value < moved:
        return wrong(state, "pick.moved", label=take.label, quantity=moved)
    done, _, rest = picking.total(lines)
    if value < done and len({line.order for line in lines}) > 1:
        ways = [Way("set", take.product, quantity=value)]
        if value and value <= rest:
            ways.append(Way("set", take.product, quantity=done + value))
        return wrong(state, "pick.fewer", *ways, label=take.label, quantity=value, done=done, of=of)
    return set_(state, value, context)


def set_(state: Picking, value: Decimal, context: Context) -> Result:
    """So many of the stop are in its totes, more or fewer than before."""
    changes = picking.share(state, picking.stop_at(state, state.at), value)
    return taken(state, changes, context, set_=True)


def take_rest(state: Picking, product_number: str, context: Context) -> Result:
    """All that is still needed of a product."""
    indexes = picking.fillable(state, product_number)
    rest = sum((state.takes[index].rest for index in indexes), Decimal(0))
    return taken(state, picking.spread(state, indexes, rest), context) if indexes else Turn(state)


def take_here(state: Picking, place: str, pool: int) -> Result:
    """The stop is taken from this place; it stays where it is in the walk."""
    take = state.take
    if take is None:
        return Turn(state)
    stop = set(picking.stop_at(state, state.at))
    takes = [
        each._replace(place=place, pool=pool or each.pool, barred=()) if index in stop and each.open else each
        for index, each in enumerate(state.takes)
    ]
    at = next(index for index in sorted(stop) if takes[index].open)
    gone = [state.takes[index] for index in sorted(stop) if state.takes[index].open]
    here = picking.did(state._replace(takes=tuple(takes), at=at, place=place), moved_from(gone))
    return Turn(
        picking.with_takes(here, takes), (), Verdict(GOOD, msg("pick.take_here", place=place, label=take.label))
    )


def skip(state: Picking) -> Result:
    """Leaves the stop for later; the next open one in the walk is next, round the end."""
    stop = picking.stop_at(state, state.at)
    before = state.take
    on = picking.stand(state._replace(held=False, ways=()), max(stop, default=-1) + 1, first=False)
    if before and on.take and on.take.stop == before.stop:
        return Turn(on, (), Verdict(INFO, msg("pick.last_stop")))
    return Turn(on, (), Verdict(INFO, msg("pick.later", label=on.take.label if on.take else "")))


# Short


def short(state: Picking) -> Result:
    """There is less than wanted: why, and where else some of it is."""
    take = state.take
    if take is None:
        return Turn(state)
    lines = picking.stop_of(state)
    done, of, rest = picking.total(lines)
    orders = [
        {
            "order_number": line.order,
            "line_number": line.line,
            "tote": picking.letter_of(state, line.order) if state.many else "",
            "rest": line.rest,
        }
        for line in lines
        if line.open
    ]
    args = {
        "orders": orders,
        "product_number": take.product,
        "label": take.label,
        "place": take.place,
        "pool": take.pool,
        "pools": list(take.pools),
        "taken": done,
        "of": of,
        "rest": rest,
        "decimal": take.decimal,
        "unit": take.unit,
    }
    return Turn(state._replace(ways=()), (Start("short", args),))


def answered(state: Picking, answer: Mapping[str, Any], context: Context) -> Result:
    """What became of the rest of the stop: taken elsewhere, closed short, or the order rejected."""
    if answer["kind"] == "reject":
        return _rejected(state, answer, context)
    take = state.take
    if take is None:
        return Turn(state)
    if answer["kind"] == "elsewhere":
        return _replanned(state, str(answer["place"]), int(answer.get("pool") or 0))
    return _closed_short(state, answer, context)


def _replanned(state: Picking, place: str, pool: int) -> Result:
    take = state.take
    assert take is not None
    stop = set(picking.stop_at(state, state.at))
    takes = [
        elsewhere(each, place, pool, state.takes) if index in stop and each.open else each
        for index, each in enumerate(state.takes)
    ]
    gone = [state.takes[index] for index in sorted(stop) if state.takes[index].open]
    on = picking.with_takes(picking.did(state, moved_from(gone))._replace(held=False, ways=(), place=""), takes)
    here = on.take is not None and on.take.place.casefold() == place.casefold()
    return Turn(on, (), Verdict(GOOD, msg("pick.elsewhere" if here else "pick.comes", label=take.label, place=place)))


def _closed_short(state: Picking, answer: Mapping[str, Any], context: Context) -> Result:
    take = state.take
    assert take is not None
    stop = picking.stop_at(state, state.at)
    indexes = [index for index in stop if state.takes[index].open]
    done, of, _ = picking.total(state.takes[index] for index in stop)
    code, words = str(answer.get("code") or ""), str(answer.get("words") or "")
    closed, writes = pick_write.shortage(state, indexes, context.store, code, words)
    on = picking.stand(closed._replace(held=False), indexes[-1])
    if answer.get("empty") and take.place:
        on = on._replace(ways=(Way("count", take.place, product=take.product),))
    told = msg("pick.short", label=take.label, done=done, of=of)
    return Turn(on, writes, Verdict(GOOD, told))


def _rejected(state: Picking, answer: Mapping[str, Any], context: Context) -> Result:
    tote = picking.tote_of(state, str(answer.get("order_number") or state.order))
    if tote is None:
        return Turn(state)
    code, words = str(answer.get("code") or ""), str(answer.get("words") or "")
    write = pick_write.reject(tote.order, code, words, context.store)
    gone = pick_orders.left(state, tote, "rejected_here", kind=GOOD)
    return gone._replace(effects=(write, *gone.effects))


# Back


def undo(state: Picking, context: Context) -> Result:
    """The last step that can be undone, undone."""
    while state.history:
        last = state.history[-1]
        if last.gone and last.gone.changes:
            return Turn(state, (not_taken.asked(change.at for change in last.gone.changes),))
        state = state._replace(history=state.history[:-1])
        if last.gone:
            return Turn(state, (), count_send.kept(last.gone))
        if last.back:
            return pick_put.take_back(state, last, context)
        if last.stood:
            turn = _in_place_again(state, last)
        else:
            turn = _picked_up(state, last, context) if last.laid else _undone(state, last, context)
        if turn:
            return turn
    return wrong(state, "pick.nothing_to_undo")


def uncounted(state: Picking, rows: not_taken.Rows, context: Context) -> Result:
    """What a count changed is changed back, but for what the service refused of it."""
    sent = state.history[-1].gone if state.history else None
    if sent is None:
        return Turn(state)
    gone, refused = count_send.taken(sent, rows)
    state = state._replace(history=state.history[:-1])
    if refused and not gone.changes:
        return Turn(state, (), not_taken.told(refused))
    told = undone(count_send.undone(gone))
    return Turn(state._replace(ways=()), count_send.opposites(gone, context), told)


def _in_place_again(state: Picking, step: Did) -> Result | None:
    """A stop is taken where it was before somebody said that it is taken elsewhere."""
    takes, first = in_place_again(state, step)
    if first is None:
        return None
    back = picking.with_takes(state._replace(held=False, ways=(), place="", only=""), takes)
    line = first.order, first.line
    at = next(index for index, take in enumerate(back.takes) if (take.order, take.line) == line)
    told = msg("pick.in_place_again", label=first.label, place=first.place)
    return Turn(picking.go_to(back, at), (), undone(told))


def _picked_up(state: Picking, step: Did, context: Context) -> Result | None:
    up, writes = pick_write.pick_up(state, step, context.store, context.user)
    if not writes:
        return None
    up = up._replace(ways=(), only="")
    told = goods.about("pick.put_undone", "pick.put_undone_many", _picked_up_goods(state, up), place=step.place)
    if state.many:
        orders = [take.order for take, now in zip(state.takes, up.takes, strict=True) if take.moved != now.moved]
        told = msg("pick.for_tote", tote=_letters(state, orders), what=told)
    return Turn(up, writes, undone(told))


def _picked_up_goods(before: Picking, after: Picking) -> list[goods.Goods]:
    """What is in hand again that was put down."""
    pairs = zip(before.takes, after.takes, strict=True)
    return [
        goods.Goods(take.product, take.label, take.moved - now.moved, take.unit if take.decimal else "")
        for take, now in pairs
        if take.moved != now.moved
    ]


def _undone(state: Picking, step: Did, context: Context) -> Result | None:
    back, touched = stood_before(state, step.before)
    if not touched:
        return None
    take = back.takes[touched[-1]]
    was, _, _ = picking.total(state.takes[index] for index in touched)
    now, _, _ = picking.total(back.takes[index] for index in touched)
    told = msg("pick.undone", label=take.label, was=was, now=now, where=goods.at(take.place))
    if any(back.takes[index].closed and not state.takes[index].closed for index in touched):
        _, of, _ = picking.total(back.takes[index] for index in touched)
        told = msg("pick.closed_again", label=take.label, done=now, of=of)
    elif was == now:
        told = msg("pick.reopened", label=take.label)
    if state.many:
        told = msg("pick.for_tote", tote=_letters(back, (back.takes[index].order for index in touched)), what=told)
    writes: tuple[Write, ...] = pick_write.updates(state, back, touched, context.store)
    first = next((index for index in touched if back.takes[index].open), -1)
    on = picking.go_to(back, first)._replace(held=True) if first >= 0 else picking.stand(back._replace(held=False))
    return Turn(on._replace(only=""), writes, undone(told))


def _letters(state: Picking, orders: Any) -> str:
    return " ".join(dict.fromkeys(picking.letter_of(state, order) for order in orders))


def reopen(state: Picking, meaning: Meaning, context: Context) -> Result:
    """Lines that were closed short are open again, and what was scanned of them is taken: one step, for undo. Where it
    cannot be taken like that, why not is said of lines that are open."""
    indexes = [index for index in picking.lines_of(state, meaning.key) if state.takes[index].closed]
    if not indexes:
        return Turn(state)
    again = picking.put(state, {index: state.takes[index].picked for index in indexes})
    turn = product(picking.go_to(again, indexes[0]), meaning, context)
    took = [index for index, take in enumerate(again.takes) if turn.state.takes[index].picked != take.picked]
    writes = pick_write.updates(state, turn.state, dict.fromkeys((*indexes, *took)), context.store)
    return Turn(turn.state._replace(history=again.history), writes, turn.verdict)
