"""Receive what was delivered: the delivery or its container, then product after product, each put away or left.

Interface: Create store product logs with `is_from_receipt`. The product in hand is counted by scans or typed; it is
booked when a place is scanned for it, or at the receiving place as soon as the next product is scanned. What was not
announced, and more than was announced, is asked about before it is booked.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs import numbers, window
from aisle.jobs.base import (
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Opened,
    Query,
    Resumed,
    Rows,
    Start,
    Turn,
    Wish,
)
from aisle.jobs.numbers import what_is
from aisle.jobs.receive import take as receive_take
from aisle.jobs.receive import view as receive_view
from aisle.jobs.receive import which as receive_which
from aisle.jobs.receive.receiving import (
    HISTORY,
    ZERO,
    Receiving,
    Result,
    Way,
    differences,
    halfway,
    is_announced,
    line_of,
    listed_of,
    told,
)
from aisle.jobs.receive.take import OPERATION
from aisle.jobs.told import words
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, View
from aisle.scan.meaning import (
    DELIVERY,
    LOCATION,
    ORDER,
    PRODUCT,
    Back,
    Choice,
    Command,
    Meaning,
    Move,
    Open,
    Quantity,
    Text,
    Thing,
    Unknown,
)

_SINCE = (Choice, Command, Quantity, Text, Thing, Unknown, Resumed, Closed)
"""What makes back the first one again: whoever comes back from another page sees no warning any more."""


class ReceiveJob:
    """Goods that come in."""

    name = "receive"
    steps: tuple[str, ...] = ("receive.delivery", "receive.goods", "receive.lines", "receive.check", "receive.leave")
    version = 10
    journalled = True

    def begin(self) -> Receiving:
        """No delivery yet."""
        return Receiving()

    def open(self, state: Receiving) -> Open:
        """Rows of lists are numbered; of the product in hand the quantity is open, and letters choose."""
        choices, keys = receive_view.choices(state), receive_view.keys(state)
        item = receive_take.of_how_many(state)
        # No `finds`: what is no word and ended with Enter is a delivery's number, for which the service is asked.
        letters = receive_view.letters(state)
        is_asked = receive_take.is_number_asked(state) or receive_take.is_large_asked(state)
        sure = state.phase in ("check", "leave") or is_asked
        stand_for = receive_view.ways(state)
        decimals = bool(item and item.decimal)
        return Open(item is not None, decimals, choices, letters=letters, by_hand=sure, stand_for=stand_for, keys=keys)

    def prefers(self, state: Receiving) -> tuple[str, ...]:
        """What the step on the screen asks for comes first."""
        return (DELIVERY, PRODUCT, LOCATION) if state.phase == "delivery" else (PRODUCT, LOCATION, DELIVERY)

    def uses(self, state: Receiving, product: str) -> bool:
        """What the delivery that is open brings, or what is in hand of it."""
        item = state.item
        return is_announced(state, product) or product in state.extra or (item is not None and item.product == product)

    def counted(self, state: Receiving) -> tuple[str, str]:
        """What is in hand, or asked about."""
        item = receive_take.of_how_many(state)
        return (item.product, item.label) if item else ("", "")

    def at(self, state: Receiving) -> str:
        """One of `steps`."""
        return f"receive.{state.phase}"

    def can_undo(self, state: Receiving) -> bool:
        """Whether goods of the delivery were booked last."""
        return bool(state.number) and bool(state.history) and bool(state.history[-1].entries)

    def view(self, state: Receiving) -> View:
        """What is to be scanned now."""
        return receive_view.view(state)

    def step(self, state: Receiving, event: Event, context: Context) -> Result:
        """The next state; see the functions below for each kind of event."""
        state = _on_policy(state, context)
        if state.dropping and isinstance(event, _SINCE):
            state = state._replace(dropping=False)
        match event:
            case Opened(args):
                return _opened(args, context)
            case Rows(id_, rows, _):
                return _rows(state, event, id_, rows, context)
            case Resumed() | Closed() | Changed("delivery" | "outbox" | "product"):
                return _look_again(state._replace(size=max(1, context.rows)), context)
            case Back():
                return _back(state, context)
            case Choice(choice):
                return _choice(state, choice, context)
            case Thing(meanings):
                return _thing(state, meanings, context)
            case Quantity(value, code):
                return _quantity(state, value, code, context)
            case Unknown(code) | Text(code):
                return _unknown(state, event, code, context)
        if state.phase == "delivery" and not state.ways:
            return receive_which.listed(state, event, context)
        return _moved(state, event, context)


def _on_policy(state: Receiving, context: Context) -> Receiving:
    """Goods go to the receiving place that the settings name now, from the next product on; one that somebody scanned
    stays."""
    place = context.policy.receiving_place
    if state.standard == place or state.item is not None:
        return state
    return state._replace(place=place if state.place == state.standard else state.place, standard=place)


# Opening, and what the store's data says


def _opened(args: Mapping[str, Any], context: Context) -> Result:
    place = context.policy.receiving_place
    state = Receiving(since=context.now, place=place, standard=place, size=max(1, context.rows))
    keys = [str(key) for key in args.get("deliveries") or ()]
    if keys:
        meanings = [Meaning(DELIVERY, key, key, code=str(args.get("code") or key)) for key in keys]
        opened = receive_which.scanned(state._replace(once=len(keys) == 1), meanings, context)
        return opened._replace(effects=(*opened.effects, *(Wish("delivery", key) for key in keys)))
    return Turn(state, (receive_which.query(state), Wish("deliveries")))


def _rows(state: Receiving, answer: Rows, id_: str, rows: tuple[Mapping[str, Any], ...], context: Context) -> Result:
    match id_:
        case "deliveries":
            fresh = window.arrived(state, tuple(listed_of(row, context) for row in rows), answer.total)
            return Turn(fresh, (receive_which.query(fresh),) if window.is_behind(state, answer) else ())
        case "found":
            return receive_which.found(state, rows, answer.total, context)
        case "open":
            return receive_which.opens(state, rows, context)
        case "again" if rows and str(rows[0]["order_number"]) == state.number:
            return Turn(state._replace(lines=tuple(line_of(row) for row in rows[0]["lines"])))
        case "sought" if rows and state.sought and state.phase == "delivery":
            return receive_which.open_(state, state.sought, state.sought, context)
        case "expecting" if state.number:
            return receive_take.not_announced(state, rows)
        case "expecting":
            return receive_which.expected(state, rows, context)
        case "goods":
            return receive_take.looked_up(state, rows[0] if rows else None, context)
        case "homes":
            return Turn(receive_take.with_home(state, rows))
        case "named":
            return _named(state, rows, context)
        case "refusals":
            return _refused(state, rows)
    return Turn(state)


def _look_again(state: Receiving, context: Context) -> Result:
    """The delivery may have changed; something may have been refused."""
    effects: list[Effect] = []
    if state.number:
        effects.append(Query("refusals", "refusals", {"operation": OPERATION, "since": state.since}))
        effects.append(Query("again", "delivery", {"order_number": state.number}))
        effects += [receive_take.home_of(state.item)] if state.item else []
    else:
        effects.append(receive_which.query(state))
    if state.sought:
        effects.append(Query("sought", "delivery", {"order_number": state.sought}))
    return Turn(state, tuple(effects))


def _refused(state: Receiving, rows: tuple[Mapping[str, Any], ...]) -> Result:
    """What the service refused has not happened: it cannot be undone."""
    news = [row for row in rows if row["op_id"] not in state.told and _is_ours(state, row)]
    if not news:
        return Turn(state)
    gone = {str(entry.get("scanned_datetime")) for row in news for entry in row["body"].get("storeproductlog") or ()}
    history = tuple(did for did in state.history if not (did.entries and did.at in gone))
    known = (*state.told, *(str(row["op_id"]) for row in news))
    state = state._replace(told=known[-HISTORY:], history=history)
    return told(state, WRONG, "receive.refused", why=words(str(news[-1]["why"])), label=str(news[-1]["label"]))


def _is_ours(state: Receiving, row: Mapping[str, Any]) -> bool:
    return any(entry.get("reference") == state.number for entry in row["body"].get("storeproductlog") or ())


# What a person says


def _thing(state: Receiving, meanings: tuple[Meaning, ...], context: Context) -> Result:
    asked = state
    meaning = next((each for each in meanings if each.kind in (PRODUCT, LOCATION, DELIVERY)), None)
    if receive_take.is_asked(state):
        return receive_take.unanswered(state, meaning, context)
    if receive_take.is_number_asked(state):
        return receive_take.number_first(state, meanings[0].label or meanings[0].key)
    state = state._replace(ways=(), pending=None, phase="goods" if state.number else "delivery")
    if meaning is None:
        return told(asked, WRONG, "receive.not_this", what=what_is(meanings[0]))
    if meaning.kind == DELIVERY:
        return receive_which.scanned(state, [each for each in meanings if each.kind == DELIVERY], context)
    if state.number:
        if meaning.kind == PRODUCT:
            return receive_take.product(state, meaning, context)
        return receive_take.to_place(state, meaning.key, context)
    if meaning.kind == PRODUCT:
        return Turn(
            state._replace(pending=meaning), (Query("expecting", "expecting", {"product_number": meaning.key}),)
        )
    return told(asked, WRONG, "receive.delivery_first", what=meaning.key)


def _unknown(state: Receiving, event: Event, code: str, context: Context) -> Result:
    if receive_take.is_asked(state):
        return receive_take.unanswered(state, None, context)
    if receive_take.is_number_asked(state):
        return told(state, WRONG, "count.unknown", code=code)  # what is asked stays on the page
    if state.number and state.phase == "goods" and numbers.is_no_code(code):
        return told(state, WRONG, "pick.no_quantity", code=code)
    if state.number:
        ways = (Way("find", code), Way("aside", label=code))
        asked = state._replace(ways=ways, phase="goods", pending=None)
        return told(asked, WRONG, "receive.unknown", code=code)
    state = state._replace(ways=(), pending=None, typed="")
    if isinstance(event, Text):
        listed = state._replace(search=code, first=0, cursor=-1)
        return Turn(listed, (receive_which.query(listed, "found"),))
    return receive_which.unknown(state, code)


def _quantity(state: Receiving, value: Decimal, code: str, context: Context) -> Result:
    query = numbers.asked(value, code)
    if query is None:
        return receive_take.set_to(state, value, context)
    return Turn(state._replace(asked=value), (query,))


def _named(state: Receiving, rows: tuple[Mapping[str, Any], ...], context: Context) -> Result:
    """Digits that nothing has for a number are a quantity; else it is asked."""
    value, state = state.asked, state._replace(asked=ZERO)
    found = numbers.meant(rows, value, (LOCATION, DELIVERY, PRODUCT))
    if found is None or receive_take.of_how_many(state) is None:
        return receive_take.set_to(state, value, context)
    label = found.key if found.kind == ORDER else found.label or found.key
    ways = (Way("amount", quantity=value), Way(f"is_{found.kind}", found.key, label=label))
    asked = state._replace(ways=ways, phase="goods")
    return told(asked, ASK, "receive.number_of", quantity=value)


def _choice(state: Receiving, choice: int, context: Context) -> Result:
    if state.ways:
        return _way(state, state.ways[choice - 1], context) if choice <= len(state.ways) else Turn(state)
    match state.phase:
        case "delivery":
            row = window.chosen(state, choice)
            return receive_which.open_(state, row.number, "", context) if row else Turn(state)
        case "lines":
            lines = receive_view.lines_shown(state)
            return receive_take.chosen_line(state, lines[choice - 1], context) if choice <= len(lines) else Turn(state)
        case "check":
            return _close(state, context) if choice == 1 else _go_on(state)
        case "leave":
            return _leave(state, choice, context)
    return Turn(state)


def _way(state: Receiving, way: Way, context: Context) -> Result:
    if way.kind == "amount":
        return receive_take.set_to(state, way.quantity, context)
    asked, state = state, state._replace(ways=())
    if way.kind in numbers.NUMBER_OF and state.pending:
        return receive_take.ask_again(state, context)
    match way.kind:
        case "open" | "switch":
            return receive_which.open_(state, way.key, way.label, context)
        case "is_product" | "is_location" | "is_delivery":
            return _thing(state, (Meaning(way.kind[3:], way.key, way.label, code=way.key),), context)
        case "is_order" | "is_reference" | "is_person":  # of which nothing comes in: the number is for another page
            return told(state, INFO, "session.dropped")
        case "extra" | "fit" | "over":
            return receive_take.chosen(state, way, context)
        case numbers.NOT_SO_MANY:
            return receive_take.dropped(asked)
        case "find":
            return Turn(state, (Start("lookup", {"search": way.key}),))
        case "aside":
            return receive_take.set_aside(state, way.key, way.label or way.key, context)
        case "other":
            return _to_list(state, context)
    return told(state._replace(pending=None), INFO, "receive.go_on", delivery=state.number)


def _moved(state: Receiving, event: Event, context: Context) -> Result:
    """Letters and cursor keys on the other pages."""
    match event:
        case Command("n" | "p" as letter) if state.phase in ("lines", "check"):
            return Turn(receive_view.leafed(state, 1 if letter == "n" else -1))
        case Move("pagedown" | "pageup" as key) if state.phase in ("lines", "check"):
            return Turn(receive_view.leafed(state, 1 if key == "pagedown" else -1))
        case Command("u") if receive_take.is_large_asked(state) or receive_take.is_number_asked(state):
            return _back(state, context)  # what is asked about is what was said last
        case Command("u" | "l" | "d") if receive_take.is_asked(state):
            return receive_take.unanswered(state, None, context)
        case Command("u" | "l" | "d") if receive_take.is_number_asked(state):
            return told(state, WRONG, "receive.number_of", quantity=state.ways[0].quantity)
        case Command("u") if state.phase in ("goods", "check", "leave"):  # closed there, and taken up again
            return receive_take.undo(state._replace(phase="goods", ways=(), pending=None), context)
        case Command("l") if state.phase == "goods":
            return Turn(state._replace(phase="lines", first=0, ways=(), pending=None))
        case Command("d") if state.phase == "goods":
            return _done(state._replace(ways=(), pending=None), context)
    return Turn(state)


# The end


def _done(state: Receiving, context: Context) -> Result:
    """What did not come as announced is shown before anything is closed."""
    differing = differences(state)
    if not differing:
        return _close(state, context)
    over = sum(each.is_over for each in differing)
    short = len(differing) - over
    id_ = "receive.differ" if over else "receive.differ_short"
    return told(state._replace(phase="check", first=0), ASK, id_, short=short, over=over)


def _close(state: Receiving, context: Context) -> Result:
    short = sum(each.is_short for each in differences(state))
    booked = receive_take.booked(state, state.place, context)
    id_ = "receive.closed_short" if short else "receive.closed"
    said = told(state, GOOD, id_, delivery=state.number, count=short).verdict
    if state.once:
        marked = halfway(booked.state, context.user)
        return Turn(booked.state, (*booked.effects, marked, Close(said)), said)
    shut = _to_list(booked.state, context)
    return Turn(shut.state, (*booked.effects, *shut.effects), said)


def _go_on(state: Receiving) -> Result:
    return told(state._replace(phase="goods"), INFO, "receive.go_on", delivery=state.number)


def _to_list(state: Receiving, context: Context) -> Result:
    """Back to the list; nothing is in hand any more."""
    fresh = Receiving(size=state.size, place=state.place, standard=state.standard, since=state.since, told=state.told)
    marks = (halfway(state, context.user),) if state.number else ()
    if state.once:
        return Turn(state, (*marks, Close()))
    return Turn(fresh, (*marks, receive_which.query(fresh), Wish("deliveries")))


def _leave(state: Receiving, choice: int, context: Context) -> Result:
    """What is in hand is booked, or forgotten, before the delivery is left."""
    if choice == 3 or state.item is None:
        return _go_on(state)
    if choice == 2:
        quantity, label = state.item.quantity, state.item.label
        left = _to_list(state._replace(item=None), context)
        return told(left.state, INFO, "receive.forgotten", *left.effects, quantity=quantity, label=label)
    booked = receive_take.booked(state, state.place, context)
    left = _to_list(booked.state, context)
    return told(left.state, GOOD, "receive.left", *booked.effects, *left.effects, delivery=state.number)


def _back(state: Receiving, context: Context) -> Result:
    if receive_take.is_asked(state):
        return receive_take.dropped(state)
    if receive_take.is_number_asked(state) and state.pending:
        return receive_take.ask_again(state._replace(ways=()), context)
    if state.ways:
        return told(state._replace(ways=(), pending=None), INFO, "session.dropped")
    match state.phase:
        case "lines" | "check" | "leave":
            return _go_on(state)
        case "goods" if state.item and state.item.quantity:
            return told(state._replace(phase="leave"), ASK, "receive.leave", quantity=state.item.quantity)
        case "goods":
            return _to_list(state, context)
    if state.search or state.typed:
        fresh = state._replace(search="", typed="", first=0, cursor=-1)
        return Turn(fresh, (receive_which.query(fresh),))
    return Turn(state, (Close(),))
