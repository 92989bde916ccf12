"""Shortage job: the missing quantity at a stop, other locations with stock, and reasons to close or reject."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from aisle.jobs.job import (
    Args,
    Changed,
    Close,
    Closed,
    Context,
    Event,
    Job,
    Json,
    Opened,
    Query,
    Resumed,
    Rows,
    Start,
    Turn,
    reply,
)
from aisle.jobs.list_cursor_and_search import turn_page
from aisle.jobs.look_up_product import Cells, delivery_block, estimate, nearby_block, product_queries, refresh_product
from aisle.jobs.names_in_messages import measured
from aisle.jobs.pick.merge_changed_orders import ORDER_QUERY_PREFIX, query_orders
from aisle.jobs.pick.pick_line import parse_lines
from aisle.jobs.pick.shortage_choices import (
    OtherLocation,
    Reason,
    list_choices,
    merge_locations,
    merge_reasons,
    parse_reasons,
    reasons_for_location,
)
from aisle.jobs.product_rows_and_weekly_sales import (
    ExpectedDelivery,
    NearbyStock,
    Product,
    held_message,
    parse_expected_deliveries,
    parse_nearby,
    parse_product,
)
from aisle.jobs.typed_numbers_dates_and_letters import OfferedChoice, distinct_labels, name_of
from aisle.jobs.view import (
    ASK,
    BACK,
    GOOD,
    INFO,
    PAGE_HINTS,
    WRONG,
    Block,
    DetailView,
    Line,
    Msg,
    known_number,
    msg,
    raw,
)
from aisle.row_values import to_decimal
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    ORDER,
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

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders import OrderToPickRow


class OrderShortage(NamedTuple):
    """Missing quantity of one order at the stop, and its tote if there are several."""

    order: str
    line: int
    tote: str
    missing: Decimal


class ShortageState(NamedTuple):
    """Missing quantity and the choices."""

    needs: tuple[OrderShortage, ...] = ()
    product: str = ""
    label: str = ""
    location: str = ""
    pool: int = 0
    pools: tuple[int, ...] = ()
    """Pools that the product may be picked from; empty for all."""
    ordered: Decimal = Decimal(0)
    missing: Decimal = Decimal(0)
    unit: str = ""
    """Unit of a measured quantity; empty for pieces."""
    held_for: tuple[tuple[str, Decimal], ...] = ()
    """Orders that all goods at locations are held for, and how much; empty if some are free."""
    phase: str = "choices"
    """`choices`; to reject: `which_order` where there are several, and `which_reason`."""
    order: str = ""
    """Order to be rejected."""
    other_locations: tuple[OtherLocation, ...] = ()
    reasons: tuple[Reason, ...] = ()
    choices: tuple[OfferedChoice, ...] = ()
    """Kinds: `location`, `reason` with its code, `reject`. Each keeps its number while the page is open; later ones are
    appended."""
    is_loaded: bool = False
    """True once the other locations were read."""
    offered: OfferedChoice | None = None
    """Choice after a scan: `location` without known stock, `product` to be looked up, `reject` to be confirmed."""
    scanned_location: str = ""
    """Location without known stock that was scanned: the goods may have been picked there."""
    page: int = 0
    product_details: Product | None = None
    nearby: NearbyStock = NearbyStock()
    deliveries: tuple[ExpectedDelivery, ...] = ()
    """Next deliveries of the product."""
    keeps_reasons: bool = True
    """True if the service stores the reason of a line, as far as is known; else only this host keeps it."""

    @property
    def orders(self) -> tuple[str, ...]:
        """Orders of the stop, each once."""
        return tuple(dict.fromkeys(need.order for need in self.needs))

    @property
    def choice_count(self) -> int:
        """Number of choices that are open."""
        return 1 if self.is_rejection_asked else len(self.own_choices) + int(self.offered is not None)

    @property
    def own_choices(self) -> tuple[Any, ...]:
        """Choices of the page itself, by number; an offer that a scan led to comes after them."""
        return {"choices": self.choices, "which_order": self.orders, "which_reason": self.reasons}[self.phase]

    @property
    def is_rejection_asked(self) -> bool:
        """True if the rejection has to be confirmed; it has a page of its own."""
        return self.offered is not None and self.offered.kind == "reject"


PROMPTS = {
    "choices": "pick.prompt_choice",
    "which_order": "unconfirmed.choose",
    "which_reason": "shortage.prompt_reason",
}


def shortage_view(state: ShortageState) -> DetailView:
    """Return the page of the current phase."""
    blocks: tuple[Block, ...] = () if state.is_rejection_asked else (_question_block(state),)
    if state.phase == "choices":
        blocks = (_choice_block(state), nearby_block(state.nearby, state.product_details), *_other_blocks(state))
    return DetailView(
        name=f"shortage.{state.phase}",
        title=_title(state),
        prompt=msg("pick.prompt_choice" if state.offered else PROMPTS[state.phase]),
        lines=tuple(_lines(state)),
        blocks=tuple(block for block in blocks if block.rows),
        page=state.page,
        choices=(_offered_text(state, state.offered),) if state.offered else (),
        key_hints=(*PAGE_HINTS, BACK),
    )


def _title(state: ShortageState) -> Msg:
    if state.phase == "which_reason":
        return msg("shortage.title_reject", order=state.order)
    return msg("shortage.title_location", place=state.location) if state.location else msg("shortage.title")


def _offered_text(state: ShortageState, choice: OfferedChoice) -> Msg:
    if choice.kind == "reject":
        return msg("shortage.title_reject", order=state.order)
    return msg("shortage.choice_product" if choice.kind == "product" else "pick.choice_pick_here", key=choice.key)


# Missing quantity, and a summary for narrow screens


def _lines(state: ShortageState) -> list[Line]:
    lines = [Line("product", raw(state.label)), Line("quantity", _missing_text(state))]
    if state.phase != "choices":
        return lines
    parts = [part for part in (_nearby_text(state), _delivery_text(state)) if part]
    held = held_message(state.held_for)
    if held:
        lines.append(Line("note", held))
    if parts:
        summary = msg("shortage.join", one=parts[0], other=parts[1]) if len(parts) == 2 else parts[0]
        lines.append(Line("note", summary))
    if not state.keeps_reasons:
        lines.append(Line("note", msg("shortage.reason_kept_on_host")))
    return lines


def _missing_text(state: ShortageState) -> Msg:
    return msg("shortage.missing", rest=state.missing, of=measured(state.ordered, state.unit))


def _nearby_text(state: ShortageState) -> Msg | None:
    if (
        state.nearby.is_refused
        or state.nearby.age_s < 0
        or (state.product_details and state.product_details.has_no_stock)
    ):
        return None
    stores = [max(Decimal(0), near.quantity) for near in state.nearby.stores if not near.is_warehouse]
    return msg("shortage.nearby", quantity=sum(stores, Decimal(0))) if stores else None


def _delivery_text(state: ShortageState) -> Msg | None:
    """Return the text for the next known delivery, else for the one in the product's stock data."""
    if state.deliveries:
        delivery = state.deliveries[0]
        if delivery.day is None:
            return msg("look_up.expected_with", quantity=known_number(delivery.quantity), order=delivery.order)
        return msg(
            "shortage.expected_delivery_on",
            quantity=known_number(delivery.quantity),
            order=delivery.order,
            day=delivery.day,
        )
    return (
        msg("shortage.expected_delivery", at=state.product_details.next_delivery)
        if state.product_details and state.product_details.next_delivery
        else None
    )


# Blocks


def _choice_block(state: ShortageState) -> Block:
    title = msg("shortage.choices")
    rows = tuple(_choice_row(state, choice) for choice in state.choices)
    return Block(title, rows, len(rows), is_compact=True)


def _choice_row(state: ShortageState, choice: OfferedChoice) -> Cells:
    if choice.kind == "reject":
        return (
            msg("shortage.title_reject", order=state.orders[0])
            if len(state.orders) == 1
            else msg("shortage.choice_reject_one"),
        )
    if choice.kind == "reason":
        return (raw(next(reason.text for reason in state.reasons if reason.code == choice.key)),)
    return _location_row(state, next(spot for spot in state.other_locations if spot.location == choice.key))


def _location_row(state: ShortageState, other: OtherLocation) -> Cells:
    named = {pool.number: pool.name for pool in state.product_details.pools} if state.product_details else {}
    where = msg("pick.choice_pick_here", key=other.location)
    if other.quantity <= 0:
        return (where, msg("shortage.none_there"))
    if not other.pool or len(named) < 2:
        return (where, estimate(other.quantity))
    name = named.get(other.pool) or str(other.pool)
    return (where, estimate(other.quantity), msg("shortage.pool", name=name))


def _other_blocks(state: ShortageState) -> tuple[Block, ...]:
    waiting = tuple(_order_row(need) for need in state.needs) if len(state.needs) > 1 else ()
    return (delivery_block(state.product_details, state.deliveries), Block(msg("shortage.needed_by"), waiting))


def _order_row(need: OrderShortage) -> Cells:
    return (_order_text(need), msg("number", value=need.missing))


def _order_text(need: OrderShortage) -> Msg:
    return msg("pick.tote_plain", order=need.order, tote=need.tote) if need.tote else raw(need.order)


def _question_block(state: ShortageState) -> Block:
    if state.phase == "which_order":
        first = {need.order: need for need in reversed(state.needs)}
        rows: tuple[Cells, ...] = tuple((_order_text(first[order]),) for order in state.orders)
        title = msg("today.orders")
    else:
        rows = tuple((raw(reason.text),) for reason in state.reasons)
        title = msg("shortage.reasons")
    return Block(title, rows, len(rows), is_compact=True)


LINE_REASONS_FEATURE = "line-reasons"
"""Feature name by which a service announces that it stores the reason of a line."""

Result = Turn[ShortageState]


class ShortageJob(Job[ShortageState]):
    """Job from the report of a shortage to its result."""

    name = "shortage"
    lists = ("stock", "headers", "lines", "deliveries")
    version = 2
    state_type = ShortageState
    steps: tuple[str, ...] = ("shortage.choices", "shortage.which_order", "shortage.which_reason")
    preferred_kinds = (LOCATION, PRODUCT, ORDER, REFERENCE)

    def accepts(self, state: ShortageState) -> Accepts:
        values = (
            (state.offered,)
            if state.is_rejection_asked
            else (*state.own_choices, *((state.offered,) if state.offered else ()))
        )
        return Accepts(
            choices=state.choice_count,
            command_letters="np",
            typed_only=state.phase == "which_reason",
            choice_values=values,
        )

    def uses_product(self, state: ShortageState, product: str) -> bool:
        """Return True for the missing product, which may have been found after all."""
        return product == state.product

    def step_name(self, state: ShortageState) -> str:
        return f"shortage.{state.phase}"

    def view(self, state: ShortageState) -> DetailView:
        return shortage_view(state)

    def handle(self, state: ShortageState, event: Event, context: Context) -> Result:
        """Handle a choice or a location; a scan of the product returns to the pick."""
        turn = self._handle(state, event, context)
        return turn._replace(state=_add_new_choices(turn.state))

    def _handle(self, state: ShortageState, event: Event, context: Context) -> Result:
        match event:
            case Opened(args):
                return _handle_opened(args, context)
            case Rows(id_, rows, _) if id_.startswith(ORDER_QUERY_PREFIX):
                return _update_missing(state, id_.removeprefix(ORDER_QUERY_PREFIX), rows[0] if rows else None)
            case Rows(id_, rows, _):
                return Turn(_with_rows(state, id_, rows, context))
            case Changed("order" | "outbox") | Closed():
                return Turn(state, (*_queries(state), *query_orders(state.orders, refresh=False)))
            case Changed("product" | "surrounding" | "delivery"):
                return Turn(state, _queries(state))
            case Resumed():
                queries = (*_queries(state), *query_orders(state.orders))
                return Turn(state, (*queries, *refresh_product(state.product)))
            case Scan(matches):
                return _handle_scan(state, event, matches)
            case Choice(choice) if choice <= state.choice_count:
                return _handle_choice(state, choice)
            case Command("n" | "p" as key) | CursorKey(key):
                return Turn(state._replace(page=turn_page(state.page, key)))
            case UnknownCode(code) | Text(code):
                return reply(state._replace(offered=None), WRONG, "count.unknown", code=code)
            case Back():
                return _go_back(state)
        return Turn(state)


def _handle_opened(args: Args, context: Context) -> Result:
    needs = tuple(
        OrderShortage(
            str(one.get("order_number") or ""),
            int(to_decimal(one.get("line_number"))),
            str(one.get("tote") or ""),
            to_decimal(one.get("rest")),
        )
        for one in args.get("orders") or ()
    )
    product, location = str(args.get("product_number") or ""), str(args.get("location") or "")
    state = ShortageState(
        needs=needs,
        product=product,
        label=str(args.get("label") or product),
        location=location,
        pool=int(to_decimal(args.get("pool"))),
        pools=tuple(int(to_decimal(pool)) for pool in args.get("pools") or ()),
        ordered=to_decimal(args.get("ordered")),
        missing=to_decimal(args.get("rest")),
        held_for=tuple((str(order), to_decimal(quantity)) for order, quantity in args.get("held_for") or ()),
        unit=str(args.get("unit") or "") if args.get("decimal") else "",
        reasons=reasons_for_location(parse_reasons(context.policy.short_reasons), location),
    )
    state = state._replace(choices=_collect_choices(state))
    return reply(
        state,
        INFO,
        "shortage.opened",
        *_queries(state),
        *refresh_product(state.product),
        rest=state.missing,
        label=state.label,
    )


def _queries(state: ShortageState) -> tuple[Query, ...]:
    args = {"product_number": state.product, "location": state.location, "pools": list(state.pools)}
    return (
        Query("other_locations", "other_locations", args),
        Query("reasons", "short_reasons", {}),
        *product_queries(state.product),
        Query("features", "features", {}, is_live=True),
    )


# Cached data


def _update_missing(state: ShortageState, order: str, row: OrderToPickRow | None) -> Result:
    """Update the missing quantity of an order that others pick too. If nothing is missing any more the page closes."""
    if row is None or not row.get("lines_known", True):
        return Turn(state)
    rests = {line.line: line.remaining for line in parse_lines(row.get("lines") or (), order) if line.is_open}
    needs = tuple(
        need._replace(missing=rests.get(need.line, Decimal(0))) if need.order == order else need for need in state.needs
    )
    rest = sum((need.missing for need in needs), Decimal(0))
    is_same, state = rest == state.missing, state._replace(needs=needs, missing=rest)
    if is_same or state.phase != "choices":
        return Turn(state)
    if not rest:
        return reply(state, INFO, "shortage.none_missing", Close(), label=state.label)
    return Turn(state) if state.offered else reply(state, INFO, "shortage.opened", rest=rest, label=state.label)


def _with_rows(state: ShortageState, id_: str, rows: tuple[Json, ...], context: Context) -> ShortageState:
    match id_:
        case "other_locations":
            state = state._replace(other_locations=merge_locations(state.other_locations, rows))
            return state if state.is_loaded else state._replace(is_loaded=True, choices=_collect_choices(state))
        case "reasons":
            found = reasons_for_location(parse_reasons(context.policy.short_reasons, rows), state.location)
            return state._replace(reasons=merge_reasons(state.reasons, found))
        case "product":
            return state._replace(product_details=parse_product(rows[0], context.now) if rows else None)
        case "surrounding":
            return state._replace(nearby=parse_nearby(rows, context.now))
        case "next_deliveries":
            return state._replace(deliveries=parse_expected_deliveries(rows, context.now))
        case "features":
            return state._replace(keeps_reasons=not rows or LINE_REASONS_FEATURE in rows[0]["features"])
    return state


def _collect_choices(state: ShortageState) -> tuple[OfferedChoice, ...]:
    return list_choices(state.other_locations, state.reasons, may_reject=bool(state.orders))


def _add_new_choices(state: ShortageState) -> ShortageState:
    """Append new choices after those that have a number. While a choice from a scan is offered nothing is appended, so
    that its number does not change."""
    if state.offered:
        return state
    return state._replace(
        choices=(*state.choices, *(choice for choice in _collect_choices(state) if choice not in state.choices))
    )


# Inputs


def _handle_choice(state: ShortageState, choice: int) -> Result:
    offered, state = state.offered, state._replace(offered=None)
    if offered and (offered.kind == "reject" or choice > len(state.own_choices)):
        if offered.kind == "product":
            return Turn(state, (Start("look_up", {"product_number": offered.key}),))
        if offered.kind == "reject":
            return _answer_rejected(state, next(reason for reason in state.reasons if reason.code == offered.key))
        return _answer_other_location(state, offered.key, _pool_at_location(state, offered.key))
    if state.phase == "which_order":
        return _ask_reason(state._replace(order=state.orders[choice - 1]))
    if state.phase == "which_reason":
        return _ask_rejection(state, state.reasons[choice - 1])
    offered = state.choices[choice - 1]
    if offered.kind == "location":
        return _choose_location(state, offered.key)
    if offered.kind == "reason":
        return _answer_short(state, next(reason for reason in state.reasons if reason.code == offered.key))
    if len(state.orders) > 1:
        return reply(state._replace(phase="which_order", page=0), INFO, "shortage.which_order")
    return _ask_reason(state._replace(order=state.orders[0]))


def _ask_reason(state: ShortageState) -> Result:
    return reply(state._replace(phase="which_reason", page=0), INFO, "shortage.which_reason", order=state.order)


def _ask_rejection(state: ShortageState, reason: Reason) -> Result:
    """Ask to confirm the rejection, so that two digits meant for something else reject no order."""
    state_asked = state._replace(offered=OfferedChoice("reject", reason.code), page=0)
    return reply(state_asked, ASK, "shortage.confirm_reject", order=state.order, words=reason.text)


def _handle_scan(state: ShortageState, scan: Scan, matches: tuple[Match, ...]) -> Result:
    """Handle a scan: the product itself was found after all; a location is chosen like its number."""
    state = state._replace(offered=None)
    if any(match.kind == PRODUCT and match.key == state.product for match in matches):
        return Turn(state, (Close(event_for_below=scan, answer=_scanned_location_answer(state)),))
    location = next((match for match in matches if match.kind == LOCATION), None)
    first = matches[0]
    if location and state.phase == "choices":
        return _choose_location(state, location.key)
    if location:
        return reply(state, WRONG, "count.answer_first", what=location.key)
    if first.kind == PRODUCT:
        labels = distinct_labels(state.label, state.product, first)
        state_asked = state._replace(offered=OfferedChoice("product", first.key))
        return reply(state_asked, ASK, "shortage.other_product", **labels)
    return reply(state, WRONG, "count.answer_first", what=name_of(first))


def _choose_location(state: ShortageState, location: str) -> Result:
    if location.casefold() == state.location.casefold():
        state = state._replace(scanned_location="")
        return reply(state, WRONG, "shortage.same_location", place=location, label=state.label)
    other = next((other for other in state.other_locations if other.location.casefold() == location.casefold()), None)
    if other and other.quantity > 0:
        return _answer_other_location(state, other.location, other.pool)
    state_asked = state._replace(offered=OfferedChoice("location", location), scanned_location=location)
    return reply(state_asked, ASK, "shortage.no_stock_there", place=location, label=state.label)


def _pool_at_location(state: ShortageState, location: str) -> int:
    return next((spot.pool for spot in state.other_locations if spot.location == location), 0) or state.pool


# Results


def _answer_other_location(state: ShortageState, location: str, pool: int) -> Result:
    answer = {"kind": "elsewhere", "location": location, "pool": pool}
    return reply(state, GOOD, "pick.elsewhere", Close(answer=answer), place=location, label=state.label)


def _scanned_location_answer(state: ShortageState) -> Args | None:
    """Return the answer that makes the pick ask where the goods were picked; None if no other location was scanned."""
    location = state.scanned_location
    return {"kind": "found", "location": location, "pool": _pool_at_location(state, location)} if location else None


def _answer_short(state: ShortageState, reason: Reason) -> Result:
    details = {"empty": reason.is_location_empty, "rest": str(state.missing)}
    answer = {"kind": "short", **_reason_fields(reason), **details}
    id_ = "shortage.closed" if state.keeps_reasons else "shortage.closed_on_host"
    return reply(state, GOOD, id_, Close(answer=answer), rest=state.missing, words=reason.text)


def _answer_rejected(state: ShortageState, reason: Reason) -> Result:
    answer = {"kind": "reject", **_reason_fields(reason), "order_number": state.order}
    return reply(state, GOOD, "shortage.rejected", Close(answer=answer), order=state.order, words=reason.text)


def _reason_fields(reason: Reason) -> Args:
    return {"code": reason.code, "text": reason.text}


def _go_back(state: ShortageState) -> Result:
    if state.offered:
        return reply(state._replace(offered=None, scanned_location=""), INFO, "session.dropped")
    if state.phase == "which_reason" and len(state.orders) > 1:
        return reply(state._replace(phase="which_order", order="", page=0), INFO, "shortage.which_order")
    if state.phase != "choices":
        return reply(state._replace(phase="choices", order="", page=0), INFO, "session.dropped")
    return reply(state, INFO, "session.dropped", Close())
