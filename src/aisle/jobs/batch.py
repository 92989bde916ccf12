"""What is kept of a round that is gathered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from aisle.jobs import quantities
from aisle.jobs.choice_keys import assign_letters
from aisle.jobs.claims import parse_claim
from aisle.jobs.job import (
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Job,
    Opened,
    Query,
    Resumed,
    Rows,
    Start,
    Turn,
)
from aisle.jobs.pages import turn_page
from aisle.jobs.pick.orders import ORDER_QUERY_PREFIX, query_assigned, query_orders
from aisle.jobs.pick.pick_state import MAX_ORDERS, TOTE_LETTERS
from aisle.jobs.pick.stops import parse_lines
from aisle.jobs.quantities import RECORD_CHOICES, may_be_number_of, name_of, to_decimal
from aisle.jobs.view import (
    ASK,
    BACK,
    GOOD,
    INFO,
    PAGE_HINTS,
    WRONG,
    Block,
    DetailView,
    KeyHint,
    Line,
    Msg,
    Verdict,
    msg,
    raw,
)
from aisle.scan.meaning import (
    LOCATION,
    ORDER,
    PERSON,
    PRODUCT,
    REFERENCE,
    Accepts,
    Back,
    Choice,
    Command,
    CursorKey,
    Match,
    Scan,
    Text,
    UnknownCode,
)


class BatchOrder(NamedTuple):
    """One order of the round to be."""

    order: str
    customer: str = ""
    pickup: str = ""
    open_lines: int = 0
    """Lines of it that are still open."""
    pieces: Decimal = Decimal(0)
    stops: tuple[tuple[str, str, int, str], ...] = ()
    """The stops that it has alone, as its lines call them (`Take.stop`)."""
    tote_code: str = ""
    """What stands on its tote, if anybody said."""
    has_lines: bool = False
    """Its lines are here."""
    is_confirmed: bool = False
    """It is to be picked here, whoever else said it was his."""


class BatchChoice(NamedTuple):
    """One way on: `out` (an order leaves), `all_the_same` (somebody else picks it), `is_tote` (a number, or a code that
    looks like an order), `many` (so many orders), `is_product` and its like (what that number is), `look_up`,
    `leave`."""

    kind: str
    key: str = ""


class BatchState(NamedTuple):
    """The orders so far, in the order of their totes."""

    orders: tuple[BatchOrder, ...] = ()
    choices: tuple[BatchChoice, ...] = ()
    is_removing: bool = False
    """The orders are numbered: one of them is to be taken out."""
    wanted_count: int = 0
    """So many of the next open orders were asked for."""
    page: int = 0
    reported_orders: tuple[str, ...] = ()
    """Orders of other walks that were given to whoever gathers, and were told of."""

    @property
    def stop_counts(self) -> tuple[int, int]:
        """(stops of the one walk, stops of all the single walks)."""
        return len({stop for each in self.orders for stop in each.stops}), sum(len(each.stops) for each in self.orders)

    @property
    def choice_count(self) -> int:
        """How many choices are open."""
        return len(self.orders) if self.is_removing else len(self.choices)


CHOICE_TEXTS = {
    "out": "walk.way_out",
    "all_the_same": "walk.way_all_the_same",
    "is_tote": "walk.way_is_tote",
    "look_up": "pick.way_look_up",
    "leave": "walk.way_leave",
    "many": "walk.way_many",
}

COMMAND_LETTERS = "gtunp"
"""The letters of the page that choose nothing."""


def batch_view(state: BatchState) -> DetailView:
    """The totes with their orders, what they make together, and what the one walk saves."""
    return DetailView(
        name="walk",
        title=msg("walk.title"),
        prompt=_prompt(state),
        lines=_lines(state),
        blocks=(_tote_block(state),) if state.orders else (),
        page=state.page,
        choices=tuple(_choice_text(way) for way in open_choices(state)),
        choice_letters=choice_letters(state),
        key_hints=_hints(state),
    )


def choice_letters(state: BatchState) -> str:
    """The letters of what is asked: a number says how many orders; totes to be taken out are numbered."""
    return "" if state.is_removing else assign_letters((way.kind for way in state.choices), COMMAND_LETTERS)


def open_choices(state: BatchState) -> tuple[BatchChoice, ...]:
    """What is asked; that for which there are no letters left waits until the rest is answered."""
    return state.choices if state.is_removing else state.choices[: len(choice_letters(state))]


def _prompt(state: BatchState) -> Msg:
    if state.is_removing:
        return msg("walk.prompt_out")
    if state.choices:
        return quantities.letter_prompt(choice_letters(state))
    return msg("walk.prompt_more") if state.orders else msg("walk.prompt")


def _lines(state: BatchState) -> tuple[Line, ...]:
    if not state.orders:
        return (Line("note", msg("walk.note")),)
    stops, single = state.stop_counts
    lines = sum(each.open_lines for each in state.orders)
    pieces = sum((each.pieces for each in state.orders), Decimal(0))
    total = msg("walk.total", count=len(state.orders), lines=lines, pieces=pieces)
    if not stops:
        return (Line("quantity", total),)
    if len(state.orders) < 2 or single == stops:
        return (Line("quantity", total), Line("note", msg("walk.stops", stops=stops)))
    return (Line("quantity", total), Line("note", msg("walk.saved", stops=stops, single=single, saved=single - stops)))


def _tote_block(state: BatchState) -> Block:
    """The tote that was added last comes first; numbered, they stand in their order."""
    rows = [_tote_row(TOTE_LETTERS[index], each) for index, each in enumerate(state.orders)]
    if state.is_removing:
        return Block(msg("walk.totes"), tuple(rows), numbered_rows=len(rows))
    return Block(msg("walk.totes"), tuple(reversed(rows)))


def _tote_row(letter: str, order: BatchOrder) -> tuple[Msg, ...]:
    name = msg("walk.tote_row", tote=letter, order=order.order)
    lines = msg("walk.lines", count=order.open_lines) if order.has_lines else msg("walk.not_here")
    cells = [name, lines, msg("moment", at=order.pickup), raw(order.customer)]
    return (*cells, raw(order.tote_code)) if order.tote_code else tuple(cells)


def _choice_text(choice: BatchChoice) -> Msg:
    if choice.kind in quantities.RECORD_CHOICES:
        return quantities.other_choice_text(Match(choice.kind[3:], choice.key, choice.key))
    return msg(CHOICE_TEXTS[choice.kind], key=choice.key)


def _hints(state: BatchState) -> tuple[KeyHint, ...]:
    hints = []
    if state.orders and not state.is_removing:
        hints = [KeyHint("g", msg("hint.go")), KeyHint("t", msg("hint.take_out"))]
    return (*hints, *PAGE_HINTS, BACK)


EXTRA_ORDERS = 20
"""So many more open orders are looked through than are wanted: somebody else may work on some of them."""

MAX_COUNT_DIGITS = 2
"""Digits up to which an unknown number says how many orders are to be taken."""

ADD_CLAIMED = "all_the_same"
"""The way by which an order comes in that somebody else picks."""

Result = Turn[BatchState]


class BatchJob(Job[BatchState]):
    """Scan order after order, or say how many; then go."""

    name = "walk"
    steps: tuple[str, ...] = ("walk",)
    version = 7
    journalled = True

    def begin(self) -> BatchState:
        """No order yet."""
        return BatchState()

    def accepts(self, state: BatchState) -> Accepts:
        """A number says how many orders, also where something is asked: letters answer that. Totes are taken out by
        number."""
        letters, keys = ("gtu" if state.orders else "") + "np", choice_letters(state)
        labels = f"{TOTE_LETTERS}0" if state.orders else ""
        return Accepts(
            choices=state.choice_count, command_letters=letters, labels=labels, search=bool(keys), choice_letters=keys
        )

    def prefers(self, state: BatchState) -> tuple[str, ...]:
        """Orders: nothing else is gathered."""
        return (ORDER, REFERENCE, PRODUCT, LOCATION)

    def step_name(self, state: BatchState) -> str:
        """There is one page."""
        return self.name

    def view(self, state: BatchState) -> DetailView:
        """The totes, and what they make together."""
        return batch_view(state)

    def handle(self, state: BatchState, event: Event, context: Context) -> Result:
        """A scan adds, a number adds the next ones, a letter starts."""
        match event:
            case Opened() | Resumed() | Closed() | Changed() | Rows():
                return _handle_update(state, event, context)
            case Back():
                return _go_back(state)
            case Choice(choice) if choice <= state.choice_count:
                return (
                    _remove_order(state, state.orders[choice - 1].order)
                    if state.is_removing
                    else _handle_choice(state, choice)
                )
            case Scan(meanings):
                return _handle_scan(state, meanings)
            case UnknownCode(code):
                return _handle_code(state, code)
            case Text(text):
                return _handle_text(state, text)
            case CursorKey(key):
                return Turn(state._replace(page=turn_page(state.page, key)))
            case Command("n" | "p" as letter):
                return Turn(state._replace(page=state.page + (1 if letter == "n" else -1)))
            case Command("g"):
                return _start_pick(state)
            case Command("t"):
                return _reply(state._replace(is_removing=True, choices=()), ASK, "walk.which_out")
            case Command("u") if state.orders:
                return _remove_order(state, state.orders[-1].order)
        return Turn(state)


def tote_letter(state: BatchState, order: str) -> str:
    """The letter of an order's tote; they are given anew where one is taken out."""
    return next((TOTE_LETTERS[index] for index, each in enumerate(state.orders) if each.order == order), "")


def _reply(state: BatchState, kind: str, id_: str, *effects: Effect, **args: str | int | Decimal) -> Result:
    return Turn(state, effects, Verdict(kind, msg(id_, **args)))


# What comes from elsewhere


def _handle_update(state: BatchState, event: Event, context: Context) -> Result:
    match event:
        case Opened():
            return Turn(state, (query_assigned(context),))
        case Changed("outbox"):
            return Turn(state, (query_assigned(context),))
        case Rows("given", rows, _):
            return _add_assigned(state, rows)
        case Rows("orders", rows, _):
            return _add_next(state, rows, context)
        case Rows(id_, rows, _):
            return _update_order(state, id_.removeprefix(ORDER_QUERY_PREFIX), rows[0] if rows else {}, context)
        case Changed("order", key) if key in ("", *(each.order for each in state.orders)):
            return Turn(
                state, query_orders((each.order for each in state.orders if key in ("", each.order)), refresh=False)
            )
        case Resumed() | Closed():
            return Turn(state, (*query_orders(each.order for each in state.orders), query_assigned(context)))
    return Turn(state)


def _update_order(state: BatchState, order: str, row: Mapping[str, Any], context: Context) -> Result:
    """An order as it stands now: its tote is said the first time; one that cannot be picked leaves."""
    at = next((index for index, each in enumerate(state.orders) if each.order == order), -1)
    if at < 0:
        return Turn(state)
    was = state.orders[at]
    why = _reason_not_pickable(row)
    if why:
        left = _without_order(state, order)
        return _reply(left, WRONG, why, order=order)
    owner = _claimed_by(row, context)
    if owner is not None and not was.is_confirmed:
        asked = _without_order(state, order)
        asked = asked._replace(choices=(*asked.choices, BatchChoice(ADD_CLAIMED, order)))
        if owner:
            return _reply(asked, ASK, "walk.claimed", order=order, who=owner)
        return _reply(asked, ASK, "walk.claimed_plain", order=order)
    now = _with_order_data(was, row)
    state = state._replace(orders=(*state.orders[:at], now, *state.orders[at + 1 :]))
    if not now.has_lines or was.has_lines:
        return Turn(state)
    stops, single = state.stop_counts
    args = {"tote": TOTE_LETTERS[at], "order": order}
    return _reply(state, GOOD, "walk.added", lines=now.open_lines, pickup=now.pickup, saved=single - stops, **args)


def _add_assigned(state: BatchState, rows: Iterable[Mapping[str, Any]]) -> Result:
    """Orders of other people's walks that were given to this one come in by themselves, and are told of."""
    fresh = [row for row in rows if str(row["order_number"]) not in state.reported_orders]
    orders = [str(row["order_number"]) for row in fresh]
    state = state._replace(reported_orders=(*state.reported_orders, *orders))
    mine = [order for order in orders if not tote_letter(state, order)][: MAX_ORDERS - len(state.orders)]
    if not mine:
        return Turn(state)
    added = state._replace(orders=(*state.orders, *(BatchOrder(order) for order in mine)))
    told = msg("walk.given", order=mine[0], count=len(mine), who=str(fresh[0]["by"]))
    return Turn(added, query_orders(mine), Verdict(ASK, told))


def _reason_not_pickable(row: Mapping[str, Any]) -> str:
    if not row:
        return "walk.no_order"
    if row.get("is_rejected"):
        return "walk.rejected"
    if not row.get("is_active", True):
        return "walk.finished"
    lines = parse_lines(row.get("lines") or ())
    if row.get("lines_known", True) and not any(take.is_open for take in lines):
        return "walk.picked" if lines else "walk.empty"
    return ""


def _claimed_by(row: Mapping[str, Any], context: Context) -> str | None:
    """Who else picks it; empty where nobody says, None where nobody does."""
    claim = parse_claim(row, context)
    return claim.name if claim else None


def _with_order_data(order: BatchOrder, row: Mapping[str, Any]) -> BatchOrder:
    open_ = [take for take in parse_lines(row.get("lines") or ()) if take.is_open]
    return order._replace(
        customer=str(row.get("customer_name") or row.get("reference") or ""),
        pickup=str(row.get("pickup_date") or ""),
        open_lines=len(open_) if open_ else int(to_decimal(row.get("total_lines"))),
        pieces=sum((Decimal(1) if take.allows_decimals else take.remaining for take in open_), Decimal(0)),
        stops=tuple(dict.fromkeys(take.stop_key for take in open_)),
        has_lines=bool(row.get("lines_known", True)),
    )


def _add_next(state: BatchState, rows: Iterable[Mapping[str, Any]], context: Context) -> Result:
    """The next open orders that nobody else works on, in the order of their pickup."""
    mine = {each.order for each in state.orders}
    free = [str(row["order_number"]) for row in rows if _claimed_by(row, context) is None]
    found = [order for order in free if order not in mine][: min(state.wanted_count, MAX_ORDERS - len(mine))]
    state = state._replace(wanted_count=0)
    if not found:
        return _reply(state, WRONG, "walk.none_left")
    added = state._replace(orders=(*state.orders, *(BatchOrder(order) for order in found)))
    return Turn(added, query_orders(found), Verdict(GOOD, msg("walk.taken", count=len(found))))


# What somebody says


def _handle_scan(state: BatchState, matches: tuple[Match, ...]) -> Result:
    """An order comes in; all else is told what it is."""
    first = next((each for each in matches if each.kind in (ORDER, REFERENCE)), matches[0])
    code, label = first.code or first.key, first.label or first.key
    if first.kind in (ORDER, REFERENCE):
        return _add_order(state, first.key)
    if _is_count(code):
        if may_be_number_of(first.kind, Decimal(code)):
            return _ask_number(state, code, first)
        if _is_question_open(state):
            return _ask_count(state, code)
        return _query_next(state, int(code))
    if first.kind == PRODUCT:
        asked = state._replace(choices=(BatchChoice("look_up", first.key),), is_removing=False)
        return _reply(asked, WRONG, "walk.product", label=label)
    if first.kind not in (PERSON, LOCATION):
        return Turn(state, (), Verdict(WRONG, msg("walk.not_this", what=name_of(first))))
    return _reply(state, WRONG, "walk.person" if first.kind == PERSON else "walk.place", what=label)


def _add_order(state: BatchState, order: str, *, is_confirmed: bool = False) -> Result:
    state = state._replace(choices=(), is_removing=False)
    letter = tote_letter(state, order)
    if letter:
        return _reply(
            state._replace(choices=(BatchChoice("out", order),)), ASK, "walk.already", tote=letter, order=order
        )
    if len(state.orders) >= MAX_ORDERS:
        return _reply(state, WRONG, "walk.full", count=MAX_ORDERS)
    added = state._replace(orders=(*state.orders, BatchOrder(order, is_confirmed=is_confirmed)))
    told = msg("walk.coming", tote=tote_letter(added, order), order=order)
    return Turn(added, query_orders((order,)), Verdict(GOOD, told))


def _is_count(code: str) -> bool:
    return code.isdecimal() and code.isascii() and len(code) <= MAX_COUNT_DIGITS and int(code) > 0


def _handle_code(state: BatchState, code: str) -> Result:
    """A small number says how many; a code behind an order is that of its tote. A number is asked about, and what looks
    like an order."""
    if _is_count(code):
        return _ask_count(state, code) if _is_question_open(state) else _query_next(state, int(code))
    if not state.orders or (len(code) <= MAX_COUNT_DIGITS and code not in tuple(TOTE_LETTERS)):
        return _reply(state, WRONG, "walk.unknown", code=code)
    if code in tuple(TOTE_LETTERS[:MAX_ORDERS]):
        return _check_tote_letter(state, code)
    if any(each.tote_code.casefold() == code.casefold() for each in state.orders):
        return _set_tote_code(state, code)
    if code.isdecimal() or any(_label_format(each.order) == _label_format(code) for each in state.orders):
        asked = state._replace(choices=(BatchChoice("is_tote", code),), is_removing=False)
        return _reply(asked, ASK, "walk.like_an_order", code=code)
    return _set_tote_code(state, code)


def _is_question_open(state: BatchState) -> bool:
    """Whether something else is asked than how many are meant."""
    return any(way.kind != "many" for way in state.choices)


def _ask_count(state: BatchState, code: str) -> Result:
    """So many orders beside an open question only where somebody says so; that stays asked, by the same letters."""
    others = tuple(way for way in state.choices if way.kind not in ("many", *RECORD_CHOICES))
    asked = state._replace(choices=(*others, BatchChoice("many", code)))
    return _reply(asked, ASK, "walk.many", count=int(code))


def _ask_number(state: BatchState, code: str, match: Match) -> Result:
    """A small number that is one of the store: so many orders only where somebody says so."""
    ways = (BatchChoice("many", code), BatchChoice(f"is_{match.kind}", match.label or match.key))
    asked = state._replace(choices=ways, is_removing=False)
    return Turn(asked, (), Verdict(ASK, msg("count.number_of_other", value=int(code), what=name_of(match))))


def _check_tote_letter(state: BatchState, letter: str) -> Result:
    """A letter that the round gives to its totes stands on no other of them: the screen would name one of two. What
    stands on its own tote is not kept, for letters are given anew."""
    order = next((each.order for each in state.orders if tote_letter(state, each.order) == letter), "")
    if not order:
        return _reply(state, WRONG, "walk.unknown", code=letter)
    if order != state.orders[-1].order:
        return _reply(state, WRONG, "walk.tote_twice", code=letter)
    return _reply(
        state._replace(choices=(), is_removing=False), GOOD, "walk.tote", tote=letter, code=letter, order=order
    )


def _label_format(code: str) -> str:
    """What a code looks like: digits and letters each by one sign."""
    return "".join("0" if char.isdecimal() else "a" if char.isalpha() else char for char in code)


def _set_tote_code(state: BatchState, code: str) -> Result:
    """The tote of the last order has this on it."""
    *others, last = state.orders
    if any(each.tote_code.casefold() == code.casefold() for each in others):
        return _reply(state, WRONG, "walk.tote_twice", code=code)
    state = state._replace(orders=(*others, last._replace(tote_code=code)), choices=(), is_removing=False)
    return _reply(state, GOOD, "walk.tote", tote=tote_letter(state, last.order), code=code, order=last.order)


def _handle_text(state: BatchState, text: str) -> Result:
    """Words find something; what has a digit, or capitals alone as labels have, may stand on a tote."""
    if " " in text or not (text.isupper() or any(char.isdigit() for char in text)):
        return _reply(state, WRONG, "walk.unknown", code=text)
    return _handle_code(state, text)


def _query_next(state: BatchState, count: int) -> Result:
    state = state._replace(choices=(), is_removing=False)
    room = MAX_ORDERS - len(state.orders)
    if not room:
        return _reply(state, WRONG, "walk.full", count=MAX_ORDERS)
    wanted = min(count, room)
    query = Query("orders", "orders", {"first": 0, "size": wanted + len(state.orders) + EXTRA_ORDERS})
    return Turn(state._replace(wanted_count=wanted), (query,))


def _handle_choice(state: BatchState, choice: int) -> Result:
    way = state.choices[choice - 1]
    others = tuple(each for each in state.choices if each is not way)
    state = state._replace(choices=())
    if way.kind == "many":
        turn = _query_next(state, int(way.key))
        return turn._replace(
            state=turn.state._replace(choices=tuple(each for each in others if each.kind not in RECORD_CHOICES))
        )
    if way.kind in RECORD_CHOICES:
        return _reply(state, INFO, "session.dropped")
    if way.kind == "look_up":
        return Turn(state, (Start("lookup", {"product_number": way.key}),))
    if way.kind == "leave":
        return _leave(state)
    if way.kind == "is_tote":
        return _set_tote_code(state, way.key) if state.orders else Turn(state)
    if way.kind == "out":
        return _remove_order(state, way.key)
    added = _add_order(state, way.key, is_confirmed=True)
    return added._replace(state=added.state._replace(choices=others))


def _without_order(state: BatchState, order: str) -> BatchState:
    """The round without an order; what was asked about others stays open."""
    kept = tuple(each for each in state.orders if each.order != order)
    asked = tuple(way for way in state.choices if way.kind == ADD_CLAIMED and way.key != order)
    return state._replace(orders=kept, choices=asked, is_removing=False)


def _remove_order(state: BatchState, order: str) -> Result:
    """The order leaves; the totes after it get the letters anew."""
    return _reply(_without_order(state, order), GOOD, "walk.out", tote=tote_letter(state, order), order=order)


def _start_pick(state: BatchState) -> Result:
    """Off, with the totes as they stand."""
    args = {
        "orders": [each.order for each in state.orders],
        "totes": {each.order: each.tote_code for each in state.orders if each.tote_code},
        "sure": [each.order for each in state.orders if each.is_confirmed],
    }
    return Turn(state, (Close(start=Start("pick", args)),))


def _go_back(state: BatchState) -> Result:
    """Out of a question, then out of the job: with several orders only when it is meant."""
    if state.choices or state.is_removing:
        return _reply(state._replace(choices=(), is_removing=False), INFO, "session.dropped")
    if len(state.orders) > 1:
        return _reply(state._replace(choices=(BatchChoice("leave"),)), ASK, "walk.leave", count=len(state.orders))
    return _leave(state)


def _leave(state: BatchState) -> Result:
    return Turn(state, (Close(Verdict(INFO, msg("walk.left"))),))
