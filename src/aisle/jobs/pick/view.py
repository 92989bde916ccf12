"""What the pick job shows at each of its steps."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from decimal import Decimal

from aisle.jobs import goods, numbers
from aisle.jobs.base import priced
from aisle.jobs.house.note import Note
from aisle.jobs.pick import hands, offers, picking, taken_at
from aisle.jobs.pick import passed as pick_passed
from aisle.jobs.pick import pools as pick_pools
from aisle.jobs.pick.history import LAID, Back
from aisle.jobs.pick.picking import Picking, Tote, Way
from aisle.jobs.pick.walk import Take, is_nothing, pieces
from aisle.jobs.view import BACK, GOOD, INFO, ON, Fact, Hint, Line, Msg, Step, Stop, Verdict, msg, raw
from aisle.scan.meaning import Meaning

COMING = 12
"""Stops to come that a view carries; a screen shows as many as it has room for."""

WAYS = {
    "take_here": "pick.way_take_here",
    "put_here": "pick.way_put_here",
    "put_others": "pick.way_put_others",
    "count": "pick.way_count",
    "reopen": "pick.way_reopen",
    "this_one": "pick.way_this_one",
    "leave_for": "pick.way_leave_for",
    "join": "pick.way_join",
    "take_in": "pick.way_join",
    "later": "pick.way_later",
    "take_over": "pick.way_take_over",
    "open_free": "pick.way_open_free",
    "leave": "pick.way_leave",
    "put_back": "pick.way_put_back",
    "handed_over": "pick.way_handed_over",
    "set": "pick.way_set",
    "go_on": "pick.way_go_on",
    "both": "pick.way_both",
    "hand_over": "pick.way_hand_over",
    "finish": "pick.way_finish",
}
"""What the numbered ways on say, where it is not reckoned."""

CAME_BACK = {
    "rejected": "pick.note_back_rejected",
    "rejected_here": "pick.note_back_rejected_here",
    "rejected_reopened": "pick.note_back_reopened",
    "finished": "pick.note_back_finished",
    "claimed": "pick.note_back_claimed",
    "given": "pick.note_back_given",
    LAID: "pick.note_back_laid",
    "empty": "pick.note_back_empty",
    "left_over": "pick.note_back_left_over",
}
"""What becomes of goods in hand of an order that has left the round, by why it has."""


def view(state: Picking) -> Step:
    """The view of the step that the state stands at."""
    if state.step == "pick.back":
        return _back_step(state) if state.back else _all_back(state)
    if state.phase == "wait":
        return _waiting(state)
    return _done(state) if state.take is None else _stop(state, state.take)


def _title(state: Picking) -> Msg:
    if state.many:
        return msg("pick.title_round", count=len(state.totes))
    who = state.totes[0].who if state.totes else ""
    if who:
        return msg("pick.title", order=state.order, who=who)
    gone = (*state.back, *(back for step in state.history[-1:] for back in step.back))
    return msg("pick.title_plain", order=state.order or next((back.order for back in gone), ""))


def _waiting(state: Picking) -> Step:
    missing = [tote for tote in state.totes if not tote.here]
    note = msg("pick.note_wait")
    if state.ways:
        note = msg("pick.note_answer")
    elif state.many:
        note = msg("pick.note_wait_round", count=len(missing))
    return Step(
        state.step,
        _title(state),
        msg("move.prompt_choice") if state.ways else msg("pick.prompt_wait"),
        lines=(Line("note", note),),
        choices=_choices(state),
        hints=_back(),
    )


def _stop(state: Picking, take: Take) -> Step:
    stop = picking.stop_of(state)
    lines = [Line("place", msg("pick.place", place=take.place))] if take.place else []
    lines.append(Line("product", _named(state, take)))
    lines.append(Line("quantity", _quantity(state, stop)))
    tote = picking.tote_of(state, take.order)
    if state.many and tote:
        lines.append(Line("tote", _tote(tote)))
    lines += _beside(state, {each.order for each in stop})
    if take.barred:
        here, allowed = (pick_pools.names(state, pools) for pools in (take.barred, take.pools))
        lines.append(Line("note", msg("pick.note_pool", pool=here, allowed=allowed)))
    hints = [ON, Hint("s", msg("hint.short"))]
    if state.history:
        hints.append(Hint("u", msg("hint.undo")))
    if notes(state):
        hints.append(Hint("i", msg("hint.note")))
    hints += _aside(state)
    done, total = pieces(state.takes)
    return Step(
        name=state.step,
        title=_title(state),
        prompt=_prompt(state, take, stop),
        lines=tuple(lines),
        facts=_facts(state, take, stop),
        coming=_coming(state),
        choices=_choices(state),
        keys=offers.keys(state),
        hints=(*hints, *_back()),
        done=done,
        total=total,
    )


def _named(state: Picking, take: Take) -> Msg:
    """The product; with its pool where another stop has it at the same place."""
    pool = _pool_apart(state, take)
    return msg("count.in_pool", label=take.label, pool=pool) if pool else raw(take.label)


def _pool_apart(state: Picking, take: Take) -> str:
    """The name of the pool that tells a stop from another one of its product at its place; empty where none has to."""
    alike = (other for other in state.takes if (other.product, other.place) == (take.product, take.place))
    return pick_pools.names(state, (take.pool,)) if any(other.pool != take.pool for other in alike) else ""


def _aside(state: Picking) -> tuple[Hint, ...]:
    """What brings the question back that was put aside."""
    return (Hint("w", msg("hint.whose")),) if state.aside else ()


def _beside(state: Picking, orders: Collection[str]) -> list[Line]:
    """Who else has these orders open."""
    totes = (tote for tote in state.totes if tote.beside and tote.order in orders)
    id_ = "pick.note_beside_tote" if state.many else "pick.note_beside"
    return [Line("note", msg(id_, tote=tote.letter, who=", ".join(tote.beside))) for tote in totes]


def notes(state: Picking) -> tuple[Note, ...]:
    """What the customers of the round ask for."""
    return tuple(
        Note((tote.letter if state.many else "", tote.order, tote.who), tote.comment)
        for tote in state.totes
        if tote.comment
    )


def _tote(tote: Tote) -> Msg:
    """Whose tote comes next."""
    if tote.who:
        return msg("pick.tote_line", tote=tote.letter, order=tote.order, who=tote.who)
    return msg("pick.tote_plain", tote=tote.letter, order=tote.order)


def _quantity(state: Picking, stop: Sequence[Take]) -> Msg:
    """What is in the tote of what goes into it; over several orders: what each tote still gets.

    Pieces go without saying; what is weighed or measured is said with its unit.
    """
    done, of, rest = picking.total(stop)
    unit = stop[0].unit if stop[0].decimal else ""
    if state.many:
        totes = picking.parts(state, ((take.order, take.rest) for take in stop if take.open))
        if unit:
            return msg("pick.measure_totes", rest=rest, totes=totes, unit=unit)
        if done:
            return msg("pick.quantity_totes_more", done=done, of=of, rest=rest, totes=totes)
        return msg("pick.quantity_totes", rest=rest, totes=totes)
    return msg("pick.measure", done=done, of=of, unit=unit) if unit else msg("pick.quantity", done=done, of=of)


def _prompt(state: Picking, take: Take, stop: Sequence[Take]) -> Msg:
    if keys := offers.keys(state):
        return numbers.prompt(keys) if offers.how_many(state) else numbers.prompt_letter(keys)
    if state.needs_place:
        return msg("pick.prompt_place", place=take.place)
    if state.held:
        return msg("pick.prompt_quantity", rest=picking.total(stop)[2])
    return msg("pick.prompt_product")


def _facts(state: Picking, take: Take, stop: Sequence[Take]) -> tuple[Fact, ...]:
    facts = []
    for tote in state.totes:
        if tote.comment and any(each.order == tote.order for each in stop):
            said = msg("pick.comment", tote=tote.letter, text=tote.comment)
            facts.append(Fact(msg("fact.comment"), said if state.many else raw(tote.comment)))
    facts.append(Fact(msg("fact.product_number"), raw(take.product)))
    if take.price:
        facts.append(Fact(msg("fact.price"), priced(take.price)))
    if take.pool:
        facts.append(Fact(msg("fact.pool"), raw(pick_pools.names(state, (take.pool,)))))
    return tuple(facts)


def _coming(state: Picking) -> tuple[Stop, ...]:
    """The open stops after this one, round the end. The lines of each stand in a row: none is looked at behind them."""
    here = state.take.stop if state.take else None
    rests: dict[tuple[str, str, int, str], list[Take]] = {}
    for take in (*state.takes[state.at + 1 :], *state.takes[: max(0, state.at)]):
        if not take.open or (stop := take.stop) == here:
            continue
        if stop not in rests and len(rests) == COMING:
            break
        rests.setdefault(stop, []).append(take)
    return tuple(_coming_stop(state, takes) for takes in rests.values())


def _coming_stop(state: Picking, takes: Sequence[Take]) -> Stop:
    first, (_, _, rest) = takes[0], picking.total(takes)
    pool = _pool_apart(state, first)
    label = f"{first.label} ({pool})" if pool else first.label
    if not state.many:
        return Stop(first.place, label, rest)
    letters = " ".join(dict.fromkeys(picking.letter_of(state, take.order) for take in takes))
    return Stop(first.place, f"{letters}: {label}", rest)


def _choices(state: Picking) -> tuple[Msg, ...]:
    return tuple(_way(state, way) for way in offers.choices(state))


def _way(state: Picking, way: Way) -> Msg:
    """What a numbered way on says."""
    if way.kind == "take_rest":
        rest = sum((state.takes[index].rest for index in picking.fillable(state, way.key)), Decimal(0))
        return msg("pick.way_take_rest", rest=rest)
    if way.kind == "look_up":
        return msg("pick.way_look_up_this", label=way.label) if way.label else msg("pick.way_look_up")
    if way.kind == "tote":
        return msg("pick.way_tote", tote=picking.letter_of(state, way.key), order=way.key)
    if way.kind == "leave_out":
        return msg("pick.way_leave_out", tote=picking.letter_of(state, way.key))
    if way.kind == "put_back" and any(back.passed_on for back in state.back):
        return msg("pick.way_is_back")
    if way.kind == "put_back" and all(back.why == LAID for back in state.back):
        return msg("pick.way_is_laid")
    if way.kind == "put_back" and len(state.back) > 1:
        return msg("pick.way_put_back_all")
    if way.kind == "leave" and state.back:
        return msg("pick.way_leave_hand")
    if way.kind == "amount":
        return msg("count.way_quantity", quantity=way.quantity)
    if way.kind in ("is_order", "is_reference"):
        return msg("move.way_is_order", order=way.key)
    if way.kind in ("is_delivery", "is_person"):
        return numbers.way_other(Meaning(way.kind[3:], way.key, way.label))
    if way.kind in numbers.NUMBER_OF:
        return msg("count.way_place" if way.kind == "is_location" else "count.way_product", label=way.label or way.key)
    if way.kind == taken_at.KIND:
        return msg("pick.way_taken_at", place=way.key)
    if way.kind == "set":
        return msg(WAYS[way.kind], quantity=way.quantity)
    return msg(WAYS[way.kind], key=way.label or way.key)


def _done(state: Picking) -> Step:
    quantity, total = pieces(state.takes)
    return Step(
        name=state.step,
        title=_title(state),
        prompt=_done_prompt(state, hands.in_hand(state)),
        lines=tuple(_done_lines(state)),
        choices=_choices(state),
        hints=(*((Hint("u", msg("hint.undo")),) if state.history else ()), *_aside(state), *_back()),
        done=quantity,
        total=total,
    )


def _done_lines(state: Picking) -> list[Line]:
    """What came of it, and where the goods are, if there are any."""
    if is_nothing(state.takes):
        return [Line("note", _nothing(state))]
    quantity, total = pieces(state.takes)
    in_hand = hands.in_hand(state)
    notes = msg("pick.note_done", lines=len(state.takes), quantity=quantity)
    full = sum(not take.closed for take in state.takes)
    if full < len(state.takes):
        notes = msg("pick.note_done_short", full=full, lines=len(state.takes), quantity=quantity, total=total)
    elif state.many:
        notes = msg("pick.note_round_done", count=len(state.totes), quantity=quantity)
    lying = [tote for tote in state.totes if hands.in_hand(state, tote.order)]
    lines = [Line("note", notes), Line("note", _where(state, in_hand))]
    lines += _beside(state, {tote.order for tote in state.totes})
    if state.many and in_hand:
        letters = " ".join(tote.letter for tote in lying if state.only in ("", tote.order))
        lines.insert(0, Line("tote", msg("pick.totes_in_hand", totes=letters)))
    return lines


def _where(state: Picking, in_hand: bool) -> Msg:
    """What becomes of the goods, or where they are."""
    others = hands.held(state)
    if in_hand:
        return msg("pick.note_put_down")
    if others:
        return msg("pick.note_others", count=others)
    if not picking.lies_at(state):
        return msg("pick.note_moved")
    if not state.many:
        return msg("pick.note_lies", place=goods.places(picking.lies_at(state)))
    return _totes_lie(state)


def _totes_lie(state: Picking) -> Msg:
    """Which tote lies where."""
    each = [
        msg("pick.tote_lies", tote=tote.letter, place=goods.places(places))
        for tote in state.totes
        if (places := picking.lies_at(state, tote.order))
    ]
    whole = each[-1]
    for one in reversed(each[:-1]):
        whole = msg("goods.and", first=one, rest=whole)
    return whole


def _nothing(state: Picking) -> Msg:
    return msg("pick.nothing_picked", lines=len(state.takes))


def left(state: Picking) -> Verdict:
    """What leaving the orders comes to."""
    if state.back:
        id_ = "pick.left_hand_nowhere" if any(back.free for back in state.back) else "pick.left_hand"
        return Verdict(INFO, msg(id_, count=hands.to_be_back(state)))
    if state.phase == "wait" and not state.many:
        return Verdict(INFO, msg("pick.left_unopened", order=state.order))
    if state.phase != "done":
        return Verdict(INFO, msg("pick.left_round") if state.many else msg("pick.left", order=state.order))
    if is_nothing(state.takes):
        return Verdict(INFO, _nothing(state))
    placed = any(take.place for take in state.takes)  # else nobody here keeps places
    lying = hands.all_to_lay(state) if placed else Decimal(0)
    if lying and state.many:
        totes = " ".join(tote.letter for tote in state.totes if hands.in_hand(state, tote.order))
        return Verdict(INFO, msg("pick.left_lying_round", count=lying, totes=totes))
    if lying:
        return Verdict(INFO, msg("pick.left_lying", count=lying, order=state.order))
    if state.many:
        return Verdict(GOOD, msg("pick.left_round_done", count=len(state.totes)))
    return _left_done(state)


def _left_done(state: Picking) -> Verdict:
    """Where the goods of an order wait that is left; that it is picked is said only of what was picked just now."""
    did = any(step.before or step.laid for step in state.history)
    if (places := picking.lies_at(state)) and not hands.held(state):
        return Verdict(GOOD if did else INFO, msg("pick.left_waits", order=state.order, place=goods.places(places)))
    return (
        Verdict(GOOD, msg("pick.left_done", order=state.order))
        if did
        else Verdict(INFO, msg("pick.left_seen", order=state.order))
    )


def _done_prompt(state: Picking, in_hand: bool) -> Msg:
    if state.ways or (state.over and not state.aside):
        return msg("pick.prompt_choice")
    if state.only:
        return msg("pick.prompt_tote", tote=picking.letter_of(state, state.only))
    return msg("pick.prompt_done") if in_hand else msg("pick.prompt_done_moved")


def _back_prompt(state: Picking) -> Msg:
    """Scans go on where an order is left to be picked."""
    if len(offers.choices(state)) < 2:
        if state.back[0].why != LAID:
            return msg("pick.prompt_back")
        place = state.back[0].place
        return msg("pick.prompt_laid", place=place) if place else msg("pick.prompt_laid_unsaid")
    return numbers.prompt_letter(offers.keys(state), scans=bool(state.totes and state.phase != "wait"))


def _back_step(state: Picking) -> Step:
    """Goods of orders that have left the round, to be put back where they were: one as a stop, several as a list."""
    first, listed = state.back[0], state.back[:COMING] if len(state.back) > 1 else ()
    lines = [Line("product", raw(first.label))] if not listed else []
    if lines and first.place:
        lines.insert(0, Line("place", msg("pick.place", place=first.place)))
    quantity = hands.to_be_back(state)
    totes = " ".join(dict.fromkeys(back.letter for back in state.back))
    label = "{0}: {1}" if state.many else "{1}"
    return Step(
        name=state.step,
        title=_title(state),
        prompt=_back_prompt(state),
        lines=(
            Line("tote", msg("pick.totes_in_hand", totes=totes) if state.many else msg(_left_why(state))),
            *lines,
            *((Line("quantity", msg("number", value=first.quantity)),) if lines else ()),
            Line("note", msg(_came_back(first), count=quantity)),
        ),
        coming=tuple(Stop(back.place, label.format(back.letter, back.label), back.quantity) for back in listed),
        choices=_choices(state),
        keys=offers.keys(state),
        hints=_back(),
        ahead=msg("pick.ahead_hand" if any(map(_is_for_others, state.back)) else "pick.ahead_back"),
    )


def _came_back(back: Back) -> str:
    if back.why == LAID and not back.place:
        return "pick.note_back_laid_unsaid"
    return CAME_BACK[back.why]


def _all_back(state: Picking) -> Step:
    """Everything is where it was, and no order is left."""
    undo = (Hint("u", msg("hint.undo")),) if state.history else ()
    note = Line("note", pick_passed.settled(state))
    return Step(state.step, _title(state), msg("pick.prompt_back_done"), lines=(note,), hints=(*undo, *_back()))


def _is_for_others(back: Back) -> bool:
    """Whether it is of an order that somebody else picks."""
    return back.passed_on or back.why == LAID


def _left_why(state: Picking) -> str:
    if _is_for_others(state.back[0]):
        return "pick.order_passed_on"
    return "pick.too_many" if state.back[0].why == "left_over" else "pick.order_left"


def _back() -> tuple[Hint, ...]:
    return (BACK,)
