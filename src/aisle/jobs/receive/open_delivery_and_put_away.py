"""Opening of a delivery by list, number, container or product; putting away of received goods, and undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.jobs import list_cursor_and_search, names_in_messages
from aisle.jobs.job import Context, Effect, Event, Json, Query, Refresh, Start, Turn, reply
from aisle.jobs.receive import handle_scans_and_quantities, view
from aisle.jobs.receive.handle_scans_and_quantities import ask_received_meanwhile, book_goods, quantity_in_hand
from aisle.jobs.receive.receive_state_and_differences import (
    ZERO,
    GoodsInHand,
    ReceiveChoice,
    ReceiveState,
    Result,
    UndoStep,
    add_received,
    add_undo_step,
    announced_and_received,
    parse_other_receivers,
    receipt_write,
    with_delivery_row,
    without_consent,
)
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, msg, raw, undo_verdict
from aisle.row_values import to_decimal
from aisle.scan.grammar_and_meaning_types import Command, CursorKey, Match, TypedText

if TYPE_CHECKING:
    from aisle.jobs.row_types.deliveries import DeliveriesExpectingRow, DeliveriesRow, DeliveryRow


MAX_DELIVERY_CHOICES = 7
"""Maximum number of numbered deliveries; any other can be scanned."""


def query_deliveries(state: ReceiveState, id_: str = "deliveries") -> Query:
    """Return the query for the list; that for a search ended with Enter has the id `found` and is journalled."""
    size = view.list_page_size(state)
    args = {"search": state.typed or state.search, "state": "open", "first": state.first, "size": size}
    return Query(id_, "deliveries", args, is_live=id_ != "found")


def open_delivery(state: ReceiveState, number_: str, code: str, context: Context) -> Result:
    """Open a delivery by number; goods in hand are booked on the one before. `code` may be the code of its
    container."""
    booked = handle_scans_and_quantities.book_goods(state, state.receiving_location, context)
    requested = without_delivery(state)._replace(
        pending_scan=state.pending_scan, requested_delivery=number_, container=code
    )
    return Turn(requested, (*booked.effects, Query("open", "delivery", {"order_number": number_})))


def without_delivery(state: ReceiveState) -> ReceiveState:
    return ReceiveState(
        page_size=state.page_size,
        closes_after_delivery=state.closes_after_delivery,
        receiving_location=state.receiving_location,
        default_location=state.default_location,
        opened_at=state.opened_at,
        reported_refusals=state.reported_refusals,
    )


def show_delivery(state: ReceiveState, rows: tuple[DeliveryRow, ...], context: Context) -> Result:
    """Show the opened delivery, with its container or the scanned product; ask first if it was received entirely."""
    match = state.pending_scan
    if not rows:
        return request_delivery(
            state._replace(container="", pending_scan=None), state.requested_delivery, query_deliveries(state)
        )
    number = str(rows[0]["order_number"])  # the journal does not contain which row was chosen
    state = with_delivery_row(state, rows[0])
    lines = state.lines
    container = state.container if state.container.casefold() in {line.container.casefold() for line in lines} else ""
    supplier = str(rows[0].get("supplier_name") or "")
    state = state._replace(
        phase="goods",
        delivery_number=number,
        requested_delivery="",
        supplier=supplier,
        container=container,
    )
    if match is not None:
        return handle_scans_and_quantities.scan_product(state._replace(pending_scan=None), match, context)
    if lines and rows[0].get("state") == "received":
        choices = (ReceiveChoice("go_on"), ReceiveChoice("other"))
        return reply(state._replace(choices=choices), ASK, "receive.received_before", delivery=number)
    missing = len({line.product for line in lines if line.is_open})
    if container:
        return _open_container(state, container)
    return reply(state, GOOD, "receive.opened", delivery=number, supplier=supplier or number, count=missing)


def report_receivers(turn: Result, rows: tuple[DeliveryRow, ...], context: Context) -> Result:
    """Keep who else has the opened delivery open on this host, and say so with the verdict."""
    names = parse_other_receivers(rows[0], context) if rows and turn.state.delivery_number else ()
    return _with_receivers(turn, names, names)


def read_again(state: ReceiveState, row: DeliveryRow, context: Context) -> Result:
    """Take over newly read quantities. Say who has opened the delivery and what is too much by now, and ask an open
    question about that with the new quantity."""
    names = parse_other_receivers(row, context)
    fresh = with_delivery_row(state, row)
    asked = handle_scans_and_quantities.ask_exceeding_again(state, fresh, context)
    turn = asked or Turn(fresh, (), handle_scans_and_quantities.report_surplus(state, fresh))
    return _with_receivers(turn, names, tuple(name for name in names if name not in state.other_receivers))


def _with_receivers(turn: Result, names: tuple[str, ...], joined: tuple[str, ...]) -> Result:
    turn = turn._replace(state=turn.state._replace(other_receivers=names))
    if not joined:
        return turn
    text = msg("receive.other_receiver", who=", ".join(joined))
    if turn.verdict is None:
        return turn._replace(verdict=Verdict(INFO, text))
    if turn.verdict.kind in (ASK, WRONG):
        return turn._replace(
            verdict=turn.verdict._replace(text=msg("frame.and_more", what=turn.verdict.text, more=text))
        )
    return turn._replace(
        verdict=turn.verdict._replace(kind=INFO, text=msg("pick.join", what=text, more=turn.verdict.text))
    )


def request_delivery(state: ReceiveState, code: str, *effects: Effect) -> Result:
    """Request a delivery from the service, which may have received it only recently."""
    state = state._replace(requested_delivery=code)
    return reply(state, WRONG, "receive.no_delivery", *effects, Refresh("delivery", code), code=code)


def choose_expecting(state: ReceiveState, rows: tuple[DeliveriesExpectingRow, ...], context: Context) -> Result:
    """Open the only delivery that expects the product scanned first, or ask which one."""
    match = state.pending_scan
    if match is None:
        return Turn(state)
    if len(rows) == 1:
        return open_delivery(state, str(rows[0]["order_number"]), "", context)
    label = match.label or match.key
    if not rows:
        return reply(state._replace(pending_scan=None), WRONG, "receive.no_delivery_expects", label=label)
    return reply(state._replace(choices=_delivery_choices(rows)), ASK, "receive.which", label=label)


def _delivery_choices(rows: tuple[DeliveriesExpectingRow, ...]) -> tuple[ReceiveChoice, ...]:
    return tuple(
        ReceiveChoice(
            "open", str(row["order_number"]), to_decimal(row.get("missing")), str(row.get("supplier_name") or "")
        )
        for row in rows[:MAX_DELIVERY_CHOICES]
    )


def handle_found(state: ReceiveState, rows: tuple[DeliveriesRow, ...], total: int, context: Context) -> Result:
    """Handle the result of a search: open a single delivery, list several, or reset the list if there is none."""
    if total == 1:
        return open_delivery(state, str(rows[0]["order_number"]), "", context)
    if not total:
        code, state = state.search, state._replace(search="")
        return reply(state, WRONG, "count.unknown", query_deliveries(state), code=code)
    return reply(state, ASK, "list.found", query_deliveries(state), text=state.search, count=total)


def handle_list_input(state: ReceiveState, event: Event, context: Context) -> Result:
    """Handle an input on the list: text filters, the cursor marks, letters turn pages."""
    match event:
        case TypedText(text):
            typed = list_cursor_and_search.with_typed_search(state, text)
            if typed is None:
                return Turn(state)
            state = typed
        case Command("a"):
            return Turn(state, (Start("deliveries", {}),))
        case CursorKey("enter"):
            row = list_cursor_and_search.row_at_cursor(state)
            return open_delivery(state, row.number, "", context) if row else Turn(state)
        case Command("n" | "p" as key) | CursorKey(key):
            state = list_cursor_and_search.move_or_turn(
                state, key, min(view.list_page_size(state), context.visible_rows)
            )
        case _:
            return Turn(state)
    return Turn(state, (query_deliveries(state),))


def scan_delivery(state: ReceiveState, matches: list[Match], context: Context) -> Result:
    """Handle the number of a delivery, or the code of a container that may be in several."""
    code = matches[0].code or matches[0].key
    keys = list(dict.fromkeys(each.key for each in matches))
    if state.delivery_number in keys:
        containers = {line.container.casefold() for line in state.lines}
        if code.casefold() in containers:
            return _open_container(state, code)
        return reply(state, INFO, "receive.this_one", delivery=state.delivery_number)
    if state.delivery_number:
        switch = ReceiveChoice("switch", keys[0], label=code)
        return reply(
            state._replace(choices=(switch, ReceiveChoice("stay"))),
            ASK,
            "receive.other_delivery",
            delivery=keys[0],
            mine=state.delivery_number,
        )
    if len(keys) == 1:
        return open_delivery(state, keys[0], code, context)
    choices = tuple(ReceiveChoice("open", key, label=code) for key in keys[:MAX_DELIVERY_CHOICES])
    return reply(state._replace(choices=choices), ASK, "receive.which", label=code)


def _open_container(state: ReceiveState, code: str) -> Result:
    lines = [line for line in state.lines if line.container.casefold() == code.casefold()]
    state = state._replace(container=lines[0].container)
    missing = len({line.product for line in lines if line.is_open})
    return reply(state, GOOD, "receive.container", code=state.container, count=missing)


def booked_before(state: ReceiveState, goods: GoodsInHand, location: str) -> Msg:
    """Return which goods were booked before others were taken, where, and how often `u` takes them back."""
    args: dict[str, Json] = {"quantity": goods.quantity, "label": goods.label}
    if location:
        return msg("receive.put", place=location, **args)
    steps = next((n for n, step in enumerate(reversed(state.history), 1) if step.entries), 0)
    if not steps or not state.delivery_number:
        return msg("receive.put_nowhere", **args)
    return msg("receive.put_nowhere_undo", keys=" ".join("u" * steps), **args)


def put_away(state: ReceiveState, location: str, context: Context) -> Result:
    """Book the goods in hand at a location; with nothing in hand, make it the receiving location."""
    item = state.in_hand
    if item is None or not item.quantity:
        return reply(state._replace(receiving_location=location), GOOD, "receive.location_set", place=location)
    if asked := ask_received_meanwhile(state):
        return asked
    booked = book_goods(state, location, context)
    has_open_lines = any(line.is_open for line in booked.state.lines)
    id_ = "receive.put" if has_open_lines else "receive.put_last"
    args: dict[str, Json] = {"place": location, "quantity": item.quantity, "label": item.label}
    turn = reply(booked.state, GOOD, id_, *booked.effects, Refresh("location", location), **args)
    return turn._replace(verdict=turn.verdict and turn.verdict._replace(detail=_usual_location(state, item, location)))


def _usual_location(state: ReceiveState, goods: GoodsInHand, location: str) -> Msg | None:
    """Return where the goods usually lie if they were put away at another location; None at the receiving location."""
    known = [place.casefold() for place in (*goods.usual_locations, state.receiving_location)]
    if not goods.usual_locations or location.casefold() in known:
        return None
    return msg("receive.suggested_location", place=goods.suggested_location)


def undo_step(state: ReceiveState, context: Context) -> Result:
    """Undo the last step. A scan is subtracted from the goods in hand. A booking is reversed by an opposite entry, and
    its goods are in hand again. Goods that were set aside are in question again."""
    if not state.history:
        return reply(state, WRONG, "pick.nothing_to_undo")
    step, state = state.history[-1], state._replace(history=state.history[:-1])
    if step.choices:
        return _ask_again(state, step)
    if not step.entries:
        item = state.in_hand
        before = step.before if step.before and step.before.quantity else None
        quantity = before.quantity if before else ZERO
        state = _drop_unused_consent(state._replace(in_hand=before), item)
        was = item.quantity if item else ZERO
        return Turn(state, (), undo_verdict(msg("pick.undone", label=step.label, was=was, now=quantity, where=raw(""))))
    quantity = sum((entry.quantity for entry in step.entries), ZERO)
    state = add_received(state, step.entries, step.label, sign=-1)
    if step.before:
        taken = UndoStep(step.label, step.before._replace(quantity=ZERO), at=context.now)
        state = add_undo_step(state._replace(in_hand=step.before), taken)
    write = receipt_write(state, step.entries, context, sign=-1)
    where = names_in_messages.at_location(step.entries[0].location)
    return Turn(state, (write,), undo_verdict(msg("receive.undone", label=step.label, quantity=quantity, where=where)))


def _ask_again(state: ReceiveState, step: UndoStep) -> Result:
    """Ask the question again that was answered with "set aside"."""
    asked = state._replace(choices=step.choices, pending_scan=step.pending_scan, pending_goods=step.pending_goods)
    return reply(asked, ASK, "receive.undone_set_aside", label=step.label)


def _drop_unused_consent(state: ReceiveState, goods: GoodsInHand | None) -> ReceiveState:
    """Drop the consent to more than is announced if what remains after an undo does not exceed it."""
    if goods is None:
        return state
    announced, received = announced_and_received(state, goods.product)
    if received + quantity_in_hand(state, goods.product) > announced:
        return state
    return without_consent(state, goods.product)
