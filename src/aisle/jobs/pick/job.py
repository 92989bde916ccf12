"""Pick customer orders by scanning: place (when verified), product, quantity, next stop; it closes itself.

One order is a round of one. What is sent are absolute quantities of the lines touched (interface: Update customer
order). Picking never finishes an order: `is_active` stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs import numbers
from aisle.jobs.base import Changed, Close, Closed, Context, Event, Opened, Query, Resumed, Rows, Start, Turn, Wish
from aisle.jobs.count import not_taken
from aisle.jobs.house.note import reading
from aisle.jobs.pick import claim as pick_claim
from aisle.jobs.pick import given as pick_given
from aisle.jobs.pick import hands, offers, picking, redirected, taken_at
from aisle.jobs.pick import orders as pick_orders
from aisle.jobs.pick import passed as pick_passed
from aisle.jobs.pick import pools as pick_pools
from aisle.jobs.pick import put as pick_put
from aisle.jobs.pick import scanned as pick_scanned
from aisle.jobs.pick import take as pick_take
from aisle.jobs.pick import view as pick_view
from aisle.jobs.pick import why as pick_why
from aisle.jobs.pick.history import counted
from aisle.jobs.pick.picking import Picking, Tote, Way
from aisle.jobs.pick.why import wrong
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Step, Verdict, msg
from aisle.scan.meaning import (
    LOCATION,
    ORDER,
    PRODUCT,
    REFERENCE,
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

Result = Turn[Picking]


class PickJob:
    """One order, or several in one walk, from the scan that opens them to the last line."""

    name = "pick"
    steps: tuple[str, ...] = ("pick.wait", "pick.place", "pick.product", "pick.done", "pick.back")
    version = 21
    journalled = True
    asks_which = True

    def begin(self) -> Picking:
        """No order yet."""
        return Picking()

    def open(self, state: Picking) -> Open:
        """A quantity is open for the stop that was scanned last, choices where a way on is offered."""
        take, choices = state.take, offers.choices(state)
        letters = (
            ("nsu" if take is not None and state.phase == "walk" else "u")
            + ("i" if pick_view.notes(state) else "")
            + ("w" if state.aside else "")
        )
        decimals = bool(take and take.decimal)
        labels = picking.labels(state)
        many, sure = offers.how_many(state), offers.is_number_asked(state)
        keys = offers.keys(state)
        return Open(
            many, decimals, len(choices), letters=letters, by_hand=sure, labels=labels, stand_for=choices, keys=keys
        )

    def prefers(self, state: Picking) -> tuple[str, ...]:
        """What the step on the screen asks for comes first."""
        if state.phase == "done" or state.needs_place:
            return (LOCATION, PRODUCT, ORDER, REFERENCE)
        return (PRODUCT, LOCATION, ORDER, REFERENCE)

    def counted(self, state: Picking) -> tuple[str, str]:
        """The product of the stop."""
        take = state.take
        return (take.product, take.label) if take and offers.how_many(state) else ("", "")

    def uses(self, state: Picking, product: str) -> bool:
        """What is on a line of these orders."""
        return any(take.product == product for take in state.takes)

    def at(self, state: Picking) -> str:
        """One of `steps`."""
        return state.step

    def holds(self, state: Picking) -> tuple[str, ...]:
        """The orders of the round whose lines are here, and those with goods in hand that somebody took over."""
        left = (back.order for back in state.back if back.passed_on)
        return tuple(dict.fromkeys((*(tote.order for tote in state.totes if tote.here), *left)))

    def can_undo(self, state: Picking) -> bool:
        """Whether a step is left that undo takes back."""
        return bool(state.totes) and bool(state.history)

    def view(self, state: Picking) -> Step:
        """The stop on the screen."""
        return pick_view.view(state)

    def step(self, state: Picking, event: Event, context: Context) -> Result:
        """The next state; see the functions below for each kind of event."""
        turn = pick_claim.begun(_next(state, event, context), context)
        turn = redirected.kept(pick_put.marked(state, turn, context), context)
        turn = turn._replace(state=offers.in_order(state, offers.put_aside(state, turn.state, event)))
        turn = turn._replace(state=_on_policy(state, turn.state, event, context))
        return turn._replace(state=_closed(state, turn.state)) if _is_news(event) else turn


def _on_policy(before: Picking, state: Picking, event: Event, context: Context) -> Picking:
    """Whether places are verified, as the settings say now: from the next stop on, or from one where nothing is begun
    when the job is taken up again."""
    if state.verified == context.policy.verified:
        return state
    stops = [each.take.stop if each.take else None for each in (before, state)]
    begun = state.held or state.ways or any(take.picked for take in picking.stop_of(state))
    if stops[0] == stops[1] and (begun or not isinstance(event, Resumed)):
        return state
    return state._replace(verified=context.policy.verified)


def _is_news(event: Event) -> bool:
    """Whether nobody at this terminal has said anything: the answers of the cache to what has changed there."""
    return isinstance(event, Rows) and event.id.startswith(
        (pick_orders.QUERY, pick_claim.LEFT_OVER, pick_claim.REFUSED, pick_given.GIVEN)
    )


def _closed(before: Picking, state: Picking) -> Picking:
    """A page that came by itself, or a question that went so, closes the quantity of the stop: digits after it may be
    meant for either."""
    stops = [each.take.stop if each.take else None for each in (before, state)]
    same = stops[0] == stops[1] and state.back == before.back and state.ways == before.ways
    return state if same else state._replace(held=False)


def _next(state: Picking, event: Event, context: Context) -> Result:
    match event:
        case Opened() | Changed() | Resumed() | Closed() | Rows():
            return _told(state, event, context)
        case Back():
            return _back(state, context)
        case Choice(choice) if choice <= len(offers.choices(state)):
            return _way(state, offers.choices(state)[choice - 1], context)
    if not state.totes:
        return _after_all(state, event, context)
    if state.phase == "wait" and state.ways:
        return Turn(state, (), Verdict(WRONG, msg("pick.answer_first")))
    if state.phase == "wait":
        return Turn(state, (), Verdict(WRONG, msg("pick.waiting", order=_awaited(state))))
    return _said(state, event, context)


def _after_all(state: Picking, event: Event, context: Context) -> Result:
    """No order is left: what is in hand goes back first; then a scan opens what comes next."""
    match event:
        case Thing(meanings) if pick_passed.is_meant(state) and (place := pick_scanned.place_of(meanings)):
            return pick_put.at_place(state, place, context)
        case _ if state.back:
            passed = pick_passed.in_hand(state)
            return Turn(state, (), Verdict(WRONG, msg("pick.answer_first" if passed else "pick.put_back_first")))
        case Command("u"):
            return pick_take.undo(state, context)
        case Thing():
            return Turn(state, (Close(said=event),))
    return Turn(state, (), Verdict(INFO, pick_passed.settled(state)))


def _awaited(state: Picking) -> str:
    return next((tote.order for tote in state.totes if not tote.here), state.order)


def _told(state: Picking, event: Event, context: Context) -> Result:
    """What the job hears from elsewhere."""
    match event:
        case Opened(args):
            orders = args.get("orders") or [args["order_number"]]
            sure, looks = args.get("sure") or (), bool(args.get("looks"))
            numbers = [str(order) for order in orders]
            fresh = picking.opened(numbers, args.get("totes") or {}, sure, context.policy.verified, looks=looks)
            return Turn(fresh, (pick_pools.ASKED, *pick_orders.look_again(fresh)))
        case Changed("outbox"):
            return Turn(state, (*_news(state, context), *pick_orders.look_again(state, wish=False)))
        case Changed("store"):
            return Turn(state, (pick_pools.ASKED,))
        case Rows(pick_pools.NAMES):
            return Turn(pick_pools.called(state, event))
        case Rows(not_taken.NOT_TAKEN, rows, _):
            return pick_take.uncounted(state, rows, context)
        case Rows(pick_claim.REFUSED, rows, _):
            return pick_claim.told_refused(state, rows, context)
        case Rows(pick_given.GIVEN, rows, _):
            return pick_given.told_given(state, rows)
        case Rows(pick_claim.LEFT_OVER, rows, _):
            return pick_claim.told_left_over(state, rows, context)
        case Changed("order", ""):
            return Turn(state, pick_orders.look_again(state, wish=False))
        case Changed("order", key) if picking.tote_of(state, key) or any(back.order == key for back in state.back):
            return Turn(state, pick_orders.look((key,), wish=False))
        case Closed("short", answer) if answer:
            return _short(state, answer, context)
        case Closed("count", answer) if answer:
            after = picking.did(state, counted(answer))
            return Turn(after, (*pick_claim.left_over(after), *pick_orders.look_again(after)))
        case Resumed() | Closed():
            return Turn(state, (pick_pools.ASKED, *_news(state, context), *pick_orders.look_again(state)))
        case Rows(id_, rows, _) if id_.startswith(pick_orders.QUERY):
            return pick_orders.arrived(state, id_.removeprefix(pick_orders.QUERY), rows[0] if rows else None, context)
        case Rows(pick_why.NAMED, rows, _) if state.asked.kind == pick_why.NAMED:
            return _number(state, rows, context)
        case Rows(kind, rows, _) if kind == state.asked.kind:
            return _answered(state, kind, rows[0] if rows else {}, context)
    return Turn(state)


def _news(state: Picking, context: Context) -> tuple[Query, ...]:
    """Asks what became of this round beside its orders; what is told first here is told last of all."""
    return (*pick_claim.left_over(state), *pick_claim.refused(state), pick_given.given_to(context))


def _short(state: Picking, answer: Mapping[str, Any], context: Context) -> Result:
    """What was found out about the rest of a stop. The orders are not asked for at once: they would not yet know."""
    turn = pick_take.answered(state, answer, context)
    wishes = (Wish("order", tote.order) for tote in turn.state.totes)
    return turn._replace(effects=(*turn.effects, *wishes))


def _answered(state: Picking, kind: str, row: Mapping[str, Any], context: Context) -> Result:
    if kind == pick_why.STRANGER:
        return pick_why.told_foreign(state, row, context.now)
    if kind == pick_why.THERE:
        return pick_take.told_there(state, row, context)
    if kind == pick_put.PICKUPS:
        return pick_put.told_pickups(state, row)
    return pick_put.told_spot(state, row, context)


def _number(state: Picking, rows: tuple[Mapping[str, Any], ...], context: Context) -> Result:
    """Digits that nothing has for a number are a quantity; else it is asked. A tote that has them on it is named."""
    value, code = Decimal(state.asked.key), state.asked.code
    tote = picking.tote_called(state, code)
    state = state._replace(asked=picking.Asked())
    if tote:
        return pick_take.tote_or_quantity(state, value, tote)
    found = numbers.meanings(rows, value, (PRODUCT, LOCATION, ORDER, REFERENCE))
    if found and (numbers.is_likely(rows, value) or (value > numbers.LIKELY and _is_ordered(state, found[0]))):
        return pick_scanned.thing(state._replace(ways=()), found, context)
    if not found and value > numbers.LIKELY and value > picking.ordered(state):  # nobody means so many
        return wrong(state, "pick.unknown", code=code)
    return pick_take.judged(state, value, found, context)


def _is_ordered(state: Picking, found: Meaning) -> bool:
    """Whether it is a product of these orders: then a guess of it is none."""
    return found.kind == PRODUCT and any(take.product == found.key for take in state.takes)


def _said(state: Picking, event: Event, context: Context) -> Result:
    """What the picker says."""
    match event:
        case Thing(meanings):
            return pick_scanned.thing(state, meanings, context)
        case Quantity(value, code):
            return pick_take.quantity(state, value, code, context)
        case Command("n"):
            return pick_take.skip(state)
        case Command("s"):
            return pick_take.short(state)
        case Command("i") if pick_view.notes(state):
            return Turn(state, (reading(pick_view.notes(state)),))
        case Command("u"):
            return pick_take.undo(state, context)
        case Command("w") if state.aside:
            return offers.asked_again(state)
        case Unknown(code) | Text(code):
            tote = picking.tote_called(state, code)
            if tote:
                return pick_put.named(state, tote)
            if pick_put.is_place(state, code):
                return pick_put.no_place(state, code)
            return wrong(state, pick_why.no_number(state) if numbers.is_no_code(code) else "pick.unknown", code=code)
    return Turn(state)


def _back(state: Picking, context: Context) -> Result:
    """First out of what is asked, then out of the job; a round is left only when that is meant."""
    if state.ways:
        if state.phase == "wait" and not state.many:
            return Turn(state, (Close(pick_view.left(state)),))
        id_ = "pick.not_counted" if state.ways[0].kind == "count" else "pick.dropped"
        return Turn(state._replace(ways=()), (), Verdict(INFO, msg(id_)))
    if (state.over and not state.aside) or state.only:
        return Turn(state._replace(over=(), only=""), (), Verdict(INFO, msg("pick.dropped")))
    if state.back:
        asked = state._replace(ways=(Way("leave"),))
        return Turn(asked, (), Verdict(ASK, msg("pick.leave_hand", count=hands.to_be_back(state))))
    if not state.totes:
        return Turn(state, (Close(Verdict(GOOD, pick_passed.settled(state))),))
    if not state.many or state.phase == "wait":
        return _left(state, context)
    if state.phase == "done":
        return _left(state, context)
    count = len(state.totes)
    return Turn(state._replace(ways=(Way("leave"),)), (), Verdict(ASK, msg("pick.leave_round", count=count)))


def _left(state: Picking, context: Context) -> Result:
    return Turn(state, (*pick_claim.let_go(state, context.store), Close(pick_view.left(state))))


def _way(state: Picking, way: Way, context: Context) -> Result:
    """A numbered way on."""
    state = offers.answered(state, way) if way in state.over else state._replace(ways=())
    match way.kind:
        case "look_up":
            return Turn(state, (Start("lookup", {"product_number": way.key}),))
        case "leave_for":
            close = Close(start=Start("pick", {"order_number": way.key}))
            return Turn(state, (*pick_claim.let_go(state, context.store), close))
        case "count":
            label = next((take.label for take in state.takes if take.product == way.product), way.product)
            args = {"location_code": way.key, "product_number": way.product, "label": label, "empty": True}
            return Turn(state, (Start("count", args),))
        case "set":
            return pick_take.set_(state, way.quantity, context)
        case "amount":
            return pick_take.judged(state, way.quantity, (), context)
        case "put_here" | "put_others":
            return pick_put.put_down(state, way.key, context, others=way.kind == "put_others")
        case "take_rest":
            return pick_take.take_rest(state, way.key, context)
        case taken_at.KIND:
            return pick_take.at_place(state, way, context)
        case "take_here":
            return pick_take.take_here(state, way.key, way.pool)
        case "reopen":
            return pick_take.reopen(state, _meant(way), context)
        case "is_delivery" | "is_person":
            return Turn(state, (), Verdict(INFO, msg("pick.dropped")))
        case "is_product" | "is_location" | "is_order" | "is_reference":
            return pick_scanned.thing(state, (Meaning(way.kind[3:], way.key, way.label, code=way.key),), context)
        case "this_one":
            return pick_take.product(state, _meant(way), context)
    return _round_way(state, way, context)


def _meant(way: Way) -> Meaning:
    """The product of a way on, as it was scanned."""
    return Meaning(PRODUCT, way.key, way.label, way.quantity or Decimal(1), bool(way.quantity))


def _round_way(state: Picking, way: Way, context: Context) -> Result:
    """A numbered way on that is about the orders of the round."""
    tote = picking.tote_of(state, way.key)
    match way.kind:
        case "join" | "take_in" if tote is None and picking.next_letter(state):
            joined = picking.with_tote(state._replace(many=True), Tote(way.key, picking.next_letter(state)))
            return Turn(joined, (pick_given.given_to(context), *pick_orders.look((way.key,))))
        case "tote" if tote:
            return pick_put.named(state, tote)
        case "take_over" | "open_free" if tote:
            sure = picking.with_tote(state, tote._replace(sure=True))
            return Turn(sure, pick_orders.look(each.order for each in sure.totes if not each.here))
        case "leave_out" if tote:
            gone = pick_orders.left(state, tote, "left_out", kind=INFO)
            again = pick_orders.look(each.order for each in gone.state.totes if not each.here)
            return gone._replace(effects=(*gone.effects, *again))
        case "finish":
            return Turn(state, (Start("act", {"orders": [way.key], "kind": "finish"}),))
        case "later":
            return Turn(state, (pick_given.given_to(context),), Verdict(INFO, msg("pick.dropped")))
        case "go_on":
            return pick_orders.waited(state)
        case "both":
            return Turn(state, (), Verdict(GOOD, msg("pick.both", who=way.label, order=way.key)))
        case "hand_over" if tote:
            return pick_orders.left(state, tote, "claimed", way.label, kind=INFO)
        case "leave":
            return _left(state, context)
        case "handed_over":
            return pick_passed.handed_over(state)
    return pick_put.put_back(state, context)
