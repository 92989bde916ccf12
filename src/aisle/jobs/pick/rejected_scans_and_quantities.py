"""Rejections of scans and quantities during a pick, with their explanations and the choices that remain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from aisle.jobs import store_time, typed_numbers_dates_and_letters
from aisle.jobs.job import Effect, Query, Turn, reply
from aisle.jobs.pick import pick_state, picked_quantities_and_operations, stops_and_goods_in_hand
from aisle.jobs.pick.pick_state import PickChoice, PickState, Result, StoreLookup
from aisle.jobs.view import ASK, WRONG, Msg, Verdict, msg
from aisle.scan.grammar_and_meaning_types import Match

if TYPE_CHECKING:
    from aisle.jobs.row_types.products import LabelledProduct, UnexpectedProductRow

FOREIGN_QUERY = "unexpected_product"
LOCATION_QUERY = "location_use"
NUMBER_QUERY = "records_by_number"
"""Named reads that explain a rejected scan; each name is also the id of its query."""

MAX_OTHER_ORDERS = 2
"""Maximum number of other orders offered for a product."""


def reject_input(state: PickState, id_: str, *ways: PickChoice, **args: str | int | Decimal | Msg) -> Result:
    """Reject an input; if choices are given, ask which one is meant."""
    return reply(state._replace(choices=ways), ASK if ways else WRONG, id_, **args)


def reject_more_than_rest(state: PickState, quantity: Decimal, lines: Sequence[int], *ways: PickChoice) -> Result:
    """Reject goods that are more than is still needed on the lines with these indexes."""
    first = state.lines[lines[0]]
    _, _, rest = stops_and_goods_in_hand.sum_lines(state.lines[index] for index in lines)
    others = [
        index
        for index in picked_quantities_and_operations.lines_with_product(state, first.product)
        if index not in lines
    ]
    if first.location and any(state.lines[index].is_open for index in others):
        args: dict[str, str | Decimal] = {"label": first.label, "rest": rest, "place": first.location}
        return reject_input(state, "pick.more_than_needed_here", *ways, quantity=quantity, **args)
    return reject_input(state, "pick.more_than_ordered", *ways, label=first.label, quantity=quantity, rest=rest)


def reject_too_many(state: PickState, value: Decimal, *ways: PickChoice) -> Result | None:
    """Reject a total above the ordered quantity, or a pack of more than is still needed; None if it is not too many.
    `ways` are the other possible meanings of the input."""
    line = state.current_line
    if line is None:
        return None
    if state.is_pack_asked:
        lines = picked_quantities_and_operations.fillable_lines(state, line.product)
        _, _, needed = stops_and_goods_in_hand.sum_lines(state.lines[index] for index in lines)
        more = PickChoice("take_rest", line.product, typed=value)
        return reject_more_than_rest(state, value, lines, more, *ways) if value > needed else None
    stop_lines = stops_and_goods_in_hand.current_stop_lines(state)
    _, of, _ = stops_and_goods_in_hand.sum_lines(stop_lines)
    others = stops_and_goods_in_hand.sum_of_others(state, stop_lines)
    if value + others <= of:
        return None
    rest = PickChoice("take_rest", line.product, typed=value)
    if others:
        args: dict[str, str | Decimal] = {"label": line.label, "others": others, "of": of}
        return reject_input(state, "pick.total_with_others", rest, *ways, quantity=value, **args)
    stop = stops_and_goods_in_hand.lines_of_stop(state, state.current_index)
    elsewhere = any(
        index not in stop and state.lines[index].is_open
        for index in picked_quantities_and_operations.lines_with_product(state, line.product)
    )
    if elsewhere and line.location:
        args = {"label": line.label, "rest": of, "place": line.location}
        return reject_input(state, "pick.more_than_needed_here", rest, *ways, quantity=value, **args)
    return reject_input(state, "pick.total_more_than_ordered", rest, *ways, label=line.label, quantity=value, of=of)


def query_number(state: PickState, value: Decimal, code: str) -> Result | None:
    """Query the records that have these digits as their number; return None if they can only be a quantity. A total
    above the ordered quantity counts as rejected until the answer arrives. Journals written before this query existed
    are then replayed to the same state."""
    query = typed_numbers_dates_and_letters.query_by_number(value, code)
    if query is None:
        return None
    lookup = StoreLookup(NUMBER_QUERY, f"{value:f}", code=str(query.args["code"]))
    too_many = reject_too_many(state, value)
    state = too_many.state if too_many else state
    return Turn(state._replace(lookup=lookup), (query,))


def no_quantity_id(state: PickState) -> str:
    """Return the id of the message that names what is expected instead of a quantity."""
    if state.step_name == "pick.done":
        return (
            "pick.no_quantity_put_down"
            if stops_and_goods_in_hand.has_goods_to_put_down(state)
            else "pick.no_quantity_order"
        )
    return "pick.no_quantity_location" if state.step_name == "pick.location" else "pick.no_quantity"


def query_store(state: PickState, kind: str, match: Match, **args: Any) -> Result:
    """Query the store's data about a match; the answer decides the verdict."""
    lookup = StoreLookup(kind, match.key, match.label or match.key, match.code or match.key)
    effects: tuple[Effect, ...] = (Query(kind, kind, args),)
    return Turn(state._replace(lookup=lookup, choices=()), effects)


def query_foreign_product(state: PickState, match: Match) -> Result:
    """Query the data of a product that is on none of these orders."""
    orders = [tote.order for tote in state.totes]
    products = list(dict.fromkeys(line.product for line in state.lines if line.is_open))
    return query_store(state, FOREIGN_QUERY, match, product_number=match.key, orders=orders, products=products)


def explain_foreign_product(state: PickState, row: UnexpectedProductRow, now: str) -> Result:
    """Explain what a product is and why these orders do not need it, with suitable choices."""
    lookup = state.lookup
    state = state._replace(lookup=StoreLookup())
    look_up = PickChoice("look_up", lookup.key)
    wholes, parts = _linked_choices(row.get("wholes") or ()), _linked_choices(row.get("parts") or ())
    if wholes:
        return _reject(state, msg("pick.part_of", label=lookup.label, whole=wholes[0].label), *wholes, look_up)
    if parts:
        return _reject(state, msg("pick.is_set", label=lookup.label, part=parts[0].label), *parts, look_up)
    if row.get("is_template"):
        return _reject(state, msg("pick.template", label=lookup.label), look_up)
    end_date = _end_date(row, now)
    if end_date or row.get("is_active") is False:
        return _reject(state, *_replacement(lookup, row, end_date), look_up)
    needing = [str(each["order_number"]) for each in row.get("orders") or ()][:MAX_OTHER_ORDERS]
    if needing:
        choices = [choice for order in needing for choice in other_order_choices(state, order)]
        return _reject(state, msg("pick.for_other", label=lookup.label, other=needing[0]), *choices, look_up)
    is_batch = state.is_batch or len(state.totes) != 1
    args = {} if is_batch else {"order": state.order}
    return _reject(
        state,
        msg("pick.not_in_batch" if is_batch else "pick.not_here", label=lookup.label, code=lookup.code, **args),
        look_up,
    )


def _reject(state: PickState, message: Msg, *ways: PickChoice) -> Result:
    return Turn(state._replace(choices=ways[:9]), (), Verdict(WRONG, message))


def _linked_choices(products: Iterable[LabelledProduct]) -> list[PickChoice]:
    """Return choices for products of the orders that contain the scanned one or are part of it."""
    return [PickChoice("this_one", each["product_number"], each["label"]) for each in products]


def _end_date(row: UnexpectedProductRow, now: str) -> str:
    """Return the date since which the product is not sold, ISO 8601; empty if it is still sold."""
    day = store_time.day_of_field(str(row.get("deprecation_date") or ""))
    return day.isoformat() if day and store_time.is_over(day, now) else ""


def _replacement(lookup: StoreLookup, row: UnexpectedProductRow, end_date: str) -> tuple[Msg, *tuple[PickChoice, ...]]:
    referral = str(row.get("referral") or "")
    label = str(row.get("referral_label") or referral)
    if referral:
        return msg("pick.replaced", label=lookup.label, referral=label), PickChoice("look_up", referral, label)
    if end_date:
        return (msg("pick.ended", label=lookup.label, at=end_date),)
    return (msg("pick.not_sold", label=lookup.label),)


def other_order_choices(state: PickState, order: str) -> list[PickChoice]:
    """Return the choices for an order outside the pick: leave this pick for it, or add it."""
    choices = [] if state.is_batch else [PickChoice("leave_for", order)]
    return [*choices, PickChoice("join", order)] if pick_state.next_tote_letter(state) else choices
