"""Move goods: where from, what, where to; by hand, by the place, or by the cart. Interface: Create movement.

A place that is scanned with empty hands is where goods are taken from; with goods in hand it is where they go, and the
movement is written at once. On a cart goods are first loaded at many places, then put away one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs import numbers
from aisle.jobs.base import Changed, Close, Closed, Context, Effect, Event, Opened, Query, Resumed, Rows, Start, Turn
from aisle.jobs.move import carrying
from aisle.jobs.move import news as move_news
from aisle.jobs.move import put as move_put
from aisle.jobs.move import shelf as move_shelf
from aisle.jobs.move import take as move_take
from aisle.jobs.move import task as move_task
from aisle.jobs.move import view as move_view
from aisle.jobs.move.moving import HELD_BY, ZERO, Moving, Part, Pool, Way
from aisle.jobs.move.told import told
from aisle.jobs.numbers import what_is
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

Result = Turn[Moving]

LIKELY = Decimal(999)
"""More than this, and than there is, is the number of an order or a place: nobody moves so many."""

LETTERS = {"from": "cku", "take": "acdkuw", "load": "adknuw", "put": "cnu", "where": "", "pool": "", "leave": ""}
"""The commands of each phase."""


class MoveJob:
    """Goods from place to place, from pool to pool, and to and from the lines of orders."""

    name = "move"
    steps: tuple[str, ...] = (
        "move.from",
        "move.take",
        "move.load",
        "move.put",
        "move.where",
        "move.pool",
        "move.leave",
    )
    version = 12
    journalled = True

    def begin(self) -> Moving:
        """Nothing in hand."""
        return Moving()

    def open(self, state: Moving) -> Open:
        """A quantity for the goods on the screen, with letters for what is asked about them; else numbers choose."""
        part, shown = move_take.of_how_many(state), move_view.choices(state)
        choices, stand_for = len(shown), shown if state.ways else ()
        keys = move_view.keys(state)
        letters = "u" if state.task else LETTERS[state.phase]
        decimals = bool(part and part.decimal)
        sure = state.phase == "leave" or move_take.is_number_asked(state)
        is_open = part is not None
        return Open(is_open, decimals, choices, letters=letters, by_hand=sure, stand_for=stand_for, keys=keys)

    def prefers(self, state: Moving) -> tuple[str, ...]:
        """What the step on the screen asks for comes first."""
        if state.phase in ("from", "where") or (state.phase == "take" and state.hand):
            return (LOCATION, PRODUCT, ORDER, REFERENCE)
        return (PRODUCT, LOCATION, ORDER, REFERENCE)

    def counted(self, state: Moving) -> tuple[str, str]:
        """The goods on the screen, or asked about."""
        part = move_take.of_how_many(state)
        return (part.product, part.label) if part else ("", "")

    def uses(self, state: Moving, product: str) -> bool:
        """What is in hand, or lies here."""
        if state.task:
            return product == state.task.product
        lying = () if state.phase == "put" else state.lines if state.order else state.shelf
        return product in {*(part.product for part in state.hand), *(each.product for each in lying)}

    def at(self, state: Moving) -> str:
        """One of `steps`."""
        return move_view.step(state)

    def view(self, state: Moving) -> Step:
        """What is to be scanned now."""
        return move_view.view(state)

    def can_undo(self, state: Moving) -> bool:
        """Whether the last step was a move; goods that were only taken are in no hand any more."""
        return not state.task and bool(state.history) and bool(state.history[-1].legs)

    def holds(self, state: Moving) -> tuple[str, ...]:
        """What it was opened for, so that others see who is at it."""
        return (f"{HELD_BY}{state.task.id}",) if state.task else ()

    def step(self, state: Moving, event: Event, context: Context) -> Result:
        """The next state; see the functions below for each kind of event. What it was opened for ends it."""
        return move_task.ended(self._step(state, event, context))

    def _step(self, state: Moving, event: Event, context: Context) -> Result:
        match event:
            case Opened(args):
                return _opened(args, context)
            case Rows(id_, rows, total):
                return _rows(state, id_, rows, total, context)
            case Changed("location", _) if not state.places:
                return Turn(state, (Query("places", "places", {"size": 1}),))
            case Resumed() | Closed() | Changed("product" | "location" | "outbox" | "order"):
                return move_news.look_again(state)
            case Back():
                return _back(state)
            case Choice(choice):
                return _choice(state, choice, context)
            case Thing(meanings):
                return _thing(state, meanings, context)
            case Quantity(value, code):
                return _quantity(state, value, code)
            case Command(letter):
                return _command(state, letter, context)
            case Unknown(code) if numbers.is_no_code(code) and state.phase in ("from", "take", "load", "put"):
                return told(state, WRONG, "pick.no_quantity", code=code)
            case Unknown(code) | Text(code):
                return told(state, WRONG, "move.unknown", code=code)
        return Turn(state)


# Opening, and what the store's data says


def _opened(args: Mapping[str, Any], context: Context) -> Result:
    state = Moving(since=context.now, limit=context.policy.large_quantity)
    known: tuple[Effect, ...] = (Query("store", "store", {}), Query("places", "places", {"size": 1}))
    if args.get("task"):
        return Turn(state._replace(task=move_task.of(args["task"])), known)
    if args.get("location_code"):
        turn = move_take.from_place(state, str(args["location_code"]))
    elif args.get("product_number"):
        product = str(args["product_number"])
        turn = move_take.product(state, Meaning(PRODUCT, product, str(args.get("label") or product), code=product))
    else:
        return Turn(state, known)
    return turn._replace(effects=(*turn.effects, *known))


def _rows(state: Moving, id_: str, rows: tuple[Mapping[str, Any], ...], total: int, context: Context) -> Result:
    row = rows[0] if rows else None
    match id_:
        case "store":
            named = sorted((int(pool), str(name)) for pool, name in ((row or {}).get("pools") or {}).items())
            return Turn(state._replace(pools=tuple(Pool(*pool) for pool in named)))
        case "places":
            return Turn(move_news.with_places(state, total > 0))
        case "place":
            return move_take.at_place(state, row)
        case "here":
            return move_take.found_here(state, row)
        case move_shelf.ALL:
            return move_take.everything(move_shelf.refreshed(state, row)._replace(partly=False))
        case "again":
            return Turn(move_shelf.refreshed(state, row) if row else state)
        case "goods":
            return move_take.looked_up(state, row)
        case "source":
            return move_take.from_order(state, row)
        case "homes":
            return Turn(move_news.with_homes(state, rows))
        case "target":
            return move_put.to_order(state, row, context)
        case "undo_order":
            return move_put.undo_checked(state, row, context)
        case _ if id_.startswith(move_put.UNDO):
            return move_put.undo_checked(state, row, context, id_.removeprefix(move_put.UNDO))
        case "refusals":
            return move_news.refused(state, rows, context)
        case "named":
            return _named(state, rows, context)
    return Turn(state)


# What a person says


def _thing(state: Moving, meanings: tuple[Meaning, ...], context: Context) -> Result:
    meaning = next((each for each in meanings if each.kind in (PRODUCT, LOCATION, ORDER, REFERENCE)), None)
    if meaning is None:
        return told(state, WRONG, "move.not_this", what=what_is(meanings[0]))
    if move_shelf.is_asked(state) and (state.phase != "put" or meaning.kind != PRODUCT):
        return move_take.unanswered(state, meaning)
    if more := move_take.more_asked(state, meaning):
        return more
    if (
        move_take.is_number_asked(state)
        or state.phase in ("pool", "leave")
        or (state.phase == "where" and meaning.kind != LOCATION)
    ):
        return told(state, WRONG, "move.answer_first", what=meaning.label or meaning.key)
    if meaning.kind == PRODUCT and move_take.is_place_asked(state):
        return move_take.more_from(state, meaning)
    waiting = state.pending is not None and not state.started
    portion = state.portion if state.phase in ("put", "where") else ZERO
    state = state._replace(ways=(), undoing=False, portion=portion)
    if state.task and not state.hand:
        return move_task.begun(state, meaning)
    if meaning.kind == PRODUCT:
        state = state._replace(pending=None, undone=False)
        return move_put.choose(state, meaning) if state.phase == "put" else move_take.product(state, meaning)
    if meaning.kind == LOCATION:
        state = state._replace(places=True)
        if state.undone and state.phase == "take" and state.hand:
            return move_put.after_undo(state, meaning.key)
        if state.phase == "where" or state.phase == "put" or (state.phase == "take" and state.hand):
            return move_put.to_place(state, meaning.key, context)
        return move_take.from_place(state if waiting else state._replace(pending=None), meaning.key)
    if state.phase == "put" or (state.phase == "take" and state.hand):
        return Turn(state, (Query("target", "order", {"order_number": meaning.key}),))
    return Turn(state, (Query("source", "order", {"order_number": meaning.key}),))


def _quantity(state: Moving, value: Decimal, code: str) -> Result:
    """How many, unless the digits are the number of an order, a place or a product."""
    part = move_take.of_how_many(state)
    if part is None:
        return Turn(state)
    query = numbers.asked(value, code)
    return Turn(state._replace(asked=value), (query,)) if query else _so_many(state, part, value)


def _named(state: Moving, rows: tuple[Mapping[str, Any], ...], context: Context) -> Result:
    """Digits that nothing has for a number are a quantity; far beyond all books they are the number; else it is
    asked."""
    value, part, state = state.asked, move_take.of_how_many(state), state._replace(asked=ZERO)
    if not value or part is None:
        return Turn(state)
    found = numbers.meant(rows, value, MoveJob().prefers(state))
    if found is None:
        return _so_many(state, part, value)
    is_goods = state.ways and state.pending
    if move_take.is_whose_asked(state):
        return told(state, WRONG, "move.answer_first", what=found.label or found.key)
    most = part.quantity if state.phase == "put" else max(part.books, ZERO)
    is_guess = any(row.get("is_guess") for row in rows)
    if numbers.is_likely(rows, value) or (value > max(most, LIKELY) and not is_guess):
        return _thing(state, (found,), context)
    ways = (Way("amount", part.product, value, part.line), Way(f"is_{found.kind}", found.key))
    pending = state.pending if is_goods else None
    return told(state._replace(ways=ways, pending=pending), ASK, "move.number_of", quantity=value)


def _so_many(state: Moving, part: Part, value: Decimal, *, sure: bool = False) -> Result:
    """`sure`: somebody said that so many are meant."""
    if move_take.is_whose_asked(state):
        return move_take.so_many_of(state, value)
    state = state._replace(ways=(), pending=None, undoing=False)
    if state.phase != "put":
        return move_take.want(state, part, value, sure=sure)
    if value > part.quantity:
        return told(state, WRONG, "move.not_so_many", label=part.label, quantity=value, there=part.quantity)
    portion = value if value < part.quantity else ZERO
    return told(
        state._replace(portion=portion), INFO, "move.portion", label=part.label, quantity=value or part.quantity
    )


def _command(state: Moving, letter: str, context: Context) -> Result:
    if letter == "u" and move_take.is_number_asked(state):
        return _back(state)  # what was asked about is what was said last
    if move_take.is_number_asked(state):
        return move_take.number_first(state)
    if state.ways and state.pending:
        return move_take.unsettled(state, state.pending)
    state = state._replace(ways=(), undoing=False, pending=None)
    match letter:
        case "c" | "w" if not state.places and (letter == "c" or not state.order):
            return told(state, WRONG, "move.no_places")
        case "a" if state.phase in ("take", "load"):
            return move_take.all_of_it(state)
        case "w" if state.phase in ("take", "load"):
            return move_take.everything(state)
        case "c" if state.phase in ("from", "take"):
            return _load(state, "move.cart")
        case "c" if state.phase == "put":
            return _load(state, "move.more")
        case "d" if state.phase == "load":
            return move_put.unload(state)
        case "d" if state.phase == "take":
            return move_put.no_place(state, context)
        case "n" if state.phase in ("load", "put"):
            return _next(state)
        case "k" if state.phase in ("from", "take", "load"):
            back = state._replace(phase="pool", back_to=state.phase, choosing="from")
            return told(back, ASK, "move.which_from_pool")
        case "u" if state.phase in ("from", "take", "load", "put"):
            return move_put.undo(state, context)
    return Turn(state)


def _load(state: Moving, id_: str) -> Result:
    return told(state._replace(phase="load", portion=ZERO, pending=None), INFO, id_)


def _next(state: Moving) -> Result:
    if not state.hand:
        return told(state, WRONG, "move.nothing_on_cart")
    at = (state.at + 1) % len(state.hand)
    part = state.hand[at]
    return told(state._replace(at=at, portion=ZERO), INFO, "move.now", label=part.label, quantity=part.quantity)


def _choice(state: Moving, choice: int, context: Context) -> Result:
    if choice > len(move_view.choices(state)):
        return Turn(state)
    if state.phase == "pool":
        return _pool(state, move_view.pools(state)[choice - 1])
    if state.phase == "leave":
        return _leave(state, choice)
    if state.phase == "where":
        return move_put.to_place(state, "", context)
    return _way(state, state.ways[choice - 1], context)


def _pool(state: Moving, pool: Pool) -> Result:
    """First where from, then where to; goods in hand follow."""
    if state.choosing == "from":
        return told(state._replace(choosing="to", from_pool=pool.number), ASK, "move.which_to_pool")
    if pool.number == state.from_pool:
        return told(state, WRONG, "move.same_pool", pool=pool.number)
    state = carrying.repooled(state, state.from_pool)
    state = state._replace(to_pool=pool.number, phase=state.back_to, back_to="", choosing="")
    return told(state, GOOD, "move.pools_set", source=state.from_pool, target=pool.number)


def _way(state: Moving, way: Way, context: Context) -> Result:
    if way.kind in numbers.NUMBER_OF and state.pending:
        return move_take.ask_again(state, state.pending)
    asked, state = state, state._replace(ways=())
    match way.kind:
        case numbers.NOT_SO_MANY:
            return move_take.not_so_many(asked)
        case "amount" if part := move_take.meant(state, way):
            return _so_many(state, part, way.quantity, sure=True)
        case "is_delivery" | "is_person":  # of no use here; the number was meant for another page
            return told(state, INFO, "session.dropped")
        case "is_product" | "is_location" | "is_order" | "is_reference":
            return _thing(state, (Meaning(way.kind[3:], way.key, way.key, code=way.key),), context)
        case "put" | "put_all":
            return move_put.to_place(state._replace(undone=False), way.key, context)
        case "lying":
            return move_take.from_place(_dropped(state).state, way.key)
        case "from":
            return move_take.from_place(state, way.key)
        case "nowhere":
            return move_take.from_nowhere(state)
        case "fit" | "over" | "held" | "free":
            return move_take.chosen(state, way)
        case "count":
            return Turn(state._replace(pending=None), (Start("count", {"location_code": way.key}),))
        case "fit_order":
            return move_put.fit(state, way, context)
        case "undo_rest":
            return move_put.undo_rest(state, way, context)
        case "forget":
            return move_take.forgotten(state)
        case "drop":
            return _dropped(state)
    return Turn(state)


def _dropped(state: Moving) -> Result:
    """Nothing is moved: the goods go back to where they were taken."""
    state = state._replace(hand=(), at=-1, portion=ZERO, history=(), ways=(), undone=False)
    return told(state, INFO, "move.dropped")


def _back(state: Moving) -> Result:
    if move_take.is_large_asked(state):
        return move_take.not_so_many(state)
    if state.pending and move_take.is_number_asked(state):
        return move_take.ask_again(state, state.pending)
    if state.ways or state.undoing:
        return told(state._replace(ways=(), undoing=False, pending=None), INFO, "session.dropped")
    if state.phase == "pool":
        state = carrying.repooled(state, 0)
        state = state._replace(phase=state.back_to, back_to="", choosing="", from_pool=0, to_pool=0)
        return told(state, INFO, "move.any_pool")
    if state.phase == "leave":
        return _leave(state, 1)
    if state.phase == "where":
        portion = state.portion if state.back_to == "put" else ZERO
        dropped = state._replace(phase=state.back_to, back_to="", target="", rooms=(), portion=portion)
        return told(dropped, INFO, "session.dropped")
    if state.phase == "put":
        return _load(state, "move.more")
    if state.hand:
        return told(state._replace(phase="leave", back_to=state.phase), ASK, "move.leave", count=len(state.hand))
    if state.phase == "load":
        return told(state._replace(phase="take" if state.started else "from"), INFO, "move.no_cart")
    if state.started and (state.places or state.order):
        fresh = state._replace(phase="from", started=False, place="", order="", lines=(), shelf=(), known=False)
        return told(move_news.with_places(fresh, state.places), INFO, "move.from_again")
    return Turn(state, (Close(),))


def _leave(state: Moving, choice: int) -> Result:
    if choice == 2:
        return told(state._replace(phase=state.back_to, back_to=""), INFO, "session.dropped")
    verdict = Verdict(INFO, msg("move.left", count=len(state.hand)))
    return Turn(state._replace(hand=(), at=-1), (Close(verdict),))
