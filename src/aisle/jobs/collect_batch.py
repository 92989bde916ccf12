"""Job that collects the orders and totes of a batch before the pick, and its screen."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from aisle.jobs import typed_numbers_dates_and_letters
from aisle.jobs.claim import parse_claim
from aisle.jobs.job import Changed, Close, Closed, Context, Event, Job, Opened, Query, Resumed, Rows, Start, Turn, reply
from aisle.jobs.list_cursor_and_search import turn_page
from aisle.jobs.pages_and_page_job import file_verdict
from aisle.jobs.pick.merge_changed_orders import ORDER_QUERY_PREFIX, query_assigned, query_orders
from aisle.jobs.pick.pick_line import parse_lines
from aisle.jobs.pick.pick_state import MAX_ORDERS, TOTE_LETTERS
from aisle.jobs.printed_pick_list import printed_pick_list, query_pick_list
from aisle.jobs.sums_of_goods_and_progress import GoodsSum, add_goods, named_goods, sum_goods
from aisle.jobs.tote_labels_and_repeated_reads import (
    MAX_SHORT_LABEL,
    is_label,
    is_label_text,
    is_short_label,
    label_format,
    label_of_code,
)
from aisle.jobs.typed_numbers_dates_and_letters import (
    MIN_RECORD_NUMBER,
    RECORD_CHOICES,
    OfferedChoice,
    assign_letters,
    letter_prompt,
    may_be_number_of,
    name_of,
)
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
    from aisle.jobs.row_types.orders import AssignedOrdersRow, OrderHeader, OrderRow, OrdersRow


class BatchOrder(NamedTuple):
    """Order of the batch."""

    order: str
    customer: str = ""
    pickup: str = ""
    open_lines: int = 0
    """Number of its lines that are still open."""
    goods: GoodsSum = GoodsSum()
    """Goods of those lines that are still to be picked."""
    stops: tuple[tuple[str, str, int, str], ...] = ()
    """Stop keys of its open lines (`PickLine.stop_key`)."""
    tote_code: str = ""
    """Code on its tote; empty if none was given."""
    has_lines: bool = False
    is_confirmed: bool = False
    """True if the person confirmed it although somebody else has claimed it."""


class BatchState(NamedTuple):
    """State of the batch: its orders, in the order of their totes."""

    orders: tuple[BatchOrder, ...] = ()
    choices: tuple[OfferedChoice, ...] = ()
    """Kinds: `out` removes an order, `all_the_same` adds a claimed one, `many` adds that many; `is_tote` uses a number
    or an order-like code as tote code; `is_product` and other `is_…` read a number as that record; `look_up` looks up a
    product; `leave` leaves the job."""
    is_removing: bool = False
    """True while the orders are numbered and one of them is to be removed."""
    wanted_count: int = 0
    """Number of next open orders that were requested."""
    page: int = 0
    reported_orders: tuple[str, ...] = ()
    """Orders of other batches that were assigned to this person and have been reported."""
    is_desk: bool = False
    """True if the screen is that of a desk, which prints."""

    @property
    def stop_count(self) -> int:
        """Return the number of stops of the batch."""
        return len({stop for each in self.orders for stop in each.stops})

    @property
    def choice_count(self) -> int:
        """Number of choices that are open."""
        return len(self.orders) if self.is_removing else len(self.choices)


CHOICE_TEXTS = {
    "out": "batch.choice_remove",
    "all_the_same": "batch.choice_add_anyway",
    "is_tote": "batch.choice_is_tote",
    "look_up": "look_up.title",
    "leave": "receive.choice_forget",
    "many": "batch.choice_count",
}

COMMAND_LETTERS = "gtunpP"
"""Command letters of the page; no choice uses them."""


def batch_view(state: BatchState) -> DetailView:
    """Return the page with the totes and their totals."""
    return DetailView(
        name="batch",
        title=msg("home.batch"),
        prompt=_prompt(state),
        lines=_lines(state),
        blocks=(_tote_block(state),) if state.orders else (),
        page=state.page,
        choices=tuple(_choice_text(choice) for choice in open_choices(state)),
        choice_letters=choice_letters(state),
        key_hints=_hints(state),
    )


def choice_letters(state: BatchState) -> str:
    """Return the letters of the open choices. Orders to be removed are numbered instead, for a number adds orders."""
    return "" if state.is_removing else assign_letters((choice.kind for choice in state.choices), COMMAND_LETTERS)


def open_choices(state: BatchState) -> tuple[OfferedChoice, ...]:
    """Return the choices that have a letter. The others wait until these are answered."""
    return state.choices if state.is_removing else state.choices[: len(choice_letters(state))]


def _prompt(state: BatchState) -> Msg:
    if state.is_removing:
        return msg("batch.prompt_remove")
    if state.choices:
        return letter_prompt(choice_letters(state))
    return msg("batch.prompt_more") if state.orders else msg("batch.prompt")


def _lines(state: BatchState) -> tuple[Line, ...]:
    if not state.orders:
        return (Line("note", msg("batch.note")),)
    lines = sum(each.open_lines for each in state.orders)
    goods = named_goods(add_goods(each.goods for each in state.orders))
    total = msg("batch.total", count=len(state.orders), lines=lines, goods=goods)
    if not state.stop_count:
        return (Line("quantity", total),)
    return (Line("quantity", total), Line("note", msg("batch.stops", stops=state.stop_count)))


def _tote_block(state: BatchState) -> Block:
    """Return the block of totes, the latest first; in tote order while they are numbered."""
    rows = [_tote_row(TOTE_LETTERS[index], each) for index, each in enumerate(state.orders)]
    if state.is_removing:
        return Block(msg("batch.totes"), tuple(rows), numbered_rows=len(rows))
    return Block(msg("batch.totes"), tuple(reversed(rows)))


def _tote_row(letter: str, order: BatchOrder) -> tuple[Msg, ...]:
    name = msg("beside", one=letter, other=order.order)
    lines = msg("batch.lines", count=order.open_lines) if order.has_lines else msg("batch.lines_loading")
    cells = [name, lines, msg("moment", at=order.pickup), raw(order.customer)]
    return (*cells, raw(order.tote_code)) if order.tote_code else tuple(cells)


def _choice_text(choice: OfferedChoice) -> Msg:
    if choice.kind in typed_numbers_dates_and_letters.RECORD_CHOICES:
        return typed_numbers_dates_and_letters.other_choice_text(Match(choice.kind[3:], choice.key, choice.key))
    return msg(CHOICE_TEXTS[choice.kind], key=int(choice.key) if choice.kind == "many" else choice.key)


def _hints(state: BatchState) -> tuple[KeyHint, ...]:
    hints = []
    if state.orders and not state.is_removing:
        hints = [KeyHint("g", msg("hint.go")), KeyHint("t", msg("hint.remove_order"))]
        hints += [KeyHint("P", msg("orders.print"))] if state.is_desk else []
    return (*hints, *PAGE_HINTS, BACK)


EXTRA_ORDERS = 20
"""Extra open orders to query beyond the requested number, because others may work on some of them."""

MAX_COUNT_DIGITS = 2
"""Most digits of an unknown number that is read as a number of orders."""

ADD_CLAIMED = "all_the_same"
"""Kind of the choice that adds an order although somebody else has claimed it."""

Result = Turn[BatchState]


class BatchJob(Job[BatchState]):
    """Job that collects orders for one walk, by scan or by number, and then starts the pick."""

    name = "batch"
    lists = ("headers", "lines")
    version = 2
    state_type = BatchState
    steps: tuple[str, ...] = ("batch",)
    max_count_digits = MAX_COUNT_DIGITS
    preferred_kinds = (ORDER, REFERENCE, PRODUCT, LOCATION)

    def accepts(self, state: BatchState) -> Accepts:
        """Accept a number of orders at any time. Letters answer questions; orders to be removed are numbered."""
        letters = ("gtu" + "P" * state.is_desk if state.orders else "") + "np"
        keys = choice_letters(state)
        labels = f"{TOTE_LETTERS}0" if state.orders else ""
        return Accepts(
            choices=state.choice_count, command_letters=letters, labels=labels, search=bool(keys), choice_letters=keys
        )

    def view(self, state: BatchState) -> DetailView:
        return batch_view(state)

    def handle(self, state: BatchState, event: Event, context: Context) -> Result:
        """Return the next state. A scan adds an order, a number adds the next ones, `g` starts the pick."""
        state = state if state.is_desk == context.is_desk else state._replace(is_desk=context.is_desk)
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
            case Command("n" | "p" as key) | CursorKey(key):
                return Turn(state._replace(page=turn_page(state.page, key)))
            case Command("g"):
                return _start_pick(state)
            case Command("t"):
                return reply(state._replace(is_removing=True, choices=()), ASK, "batch.prompt_remove")
            case Command("u") if state.choices or state.is_removing:
                return _go_back(state)  # the question is the last input
            case Command("u") if state.orders:
                return _remove_order(state, state.orders[-1].order)
            case Command("P") if state.orders:
                return Turn(state, (query_pick_list([each.order for each in state.orders]),))
        return Turn(state)


def tote_letter(state: BatchState, order: str) -> str:
    """Return the letter of an order's tote. Letters shift when an order is removed."""
    return next((TOTE_LETTERS[index] for index, each in enumerate(state.orders) if each.order == order), "")


# Updates from other jobs and the cache


def _handle_update(state: BatchState, event: Event, context: Context) -> Result:
    match event:
        case Opened():
            return Turn(state, (query_assigned(context),))
        case Changed("outbox"):
            return Turn(state, (query_assigned(context),))
        case Rows("assigned_orders", rows, _):
            return _add_assigned(state, rows)
        case Rows("pick_list", rows, _):
            return Turn(state, (printed_pick_list(rows, [each.order for each in state.orders]),))
        case Rows("file_for_people", (file, *_), _):
            return Turn(state, (), file_verdict(file))
        case Rows("orders", rows, _):
            return _add_next(state, rows, context)
        case Rows(id_, rows, _):
            return _update_order(state, id_.removeprefix(ORDER_QUERY_PREFIX), rows[0] if rows else None, context)
        case Changed("order", key) if key in ("", *(each.order for each in state.orders)):
            return Turn(
                state, query_orders((each.order for each in state.orders if key in ("", each.order)), refresh=False)
            )
        case Resumed() | Closed():
            return Turn(state, (*query_orders(each.order for each in state.orders), query_assigned(context)))
    return Turn(state)


def _update_order(state: BatchState, order: str, row: OrderRow | None, context: Context) -> Result:
    """Update an order from the cache. Report its tote when its lines first arrive; remove it if it cannot be picked."""
    at = next((index for index, each in enumerate(state.orders) if each.order == order), -1)
    if at < 0:
        return Turn(state)
    was = state.orders[at]
    why = _reason_not_pickable(row) if row else "pick.no_order"
    if row is None or why:
        without = _without_order(state, order)
        return reply(without, WRONG, why, order=order)
    owner = _claimed_by(row, context)
    if owner is not None and not was.is_confirmed:
        asking = _without_order(state, order)
        asking = asking._replace(choices=(*asking.choices, OfferedChoice(ADD_CLAIMED, order)))
        if owner:
            return reply(asking, ASK, "batch.claimed", order=order, who=owner)
        return reply(asking, ASK, "batch.claimed_plain", order=order)
    now = _with_order_data(was, row)
    state = state._replace(orders=(*state.orders[:at], now, *state.orders[at + 1 :]))
    if not now.has_lines or was.has_lines:
        return Turn(state)
    args = {"tote": TOTE_LETTERS[at], "order": order}
    if not now.pickup:
        return reply(state, GOOD, "batch.added_without_date", lines=now.open_lines, **args)
    return reply(state, GOOD, "batch.added", lines=now.open_lines, pickup=now.pickup, **args)


def _add_assigned(state: BatchState, rows: Iterable[AssignedOrdersRow]) -> Result:
    """Add newly assigned orders. Those without a free tote are added once there is one."""
    assigners = {str(row["order_number"]): str(row["by"]) for row in rows}
    known = [order for order in assigners if order in state.reported_orders or tote_letter(state, order)]
    mine = [order for order in assigners if order not in known][: MAX_ORDERS - len(state.orders)]
    state = state._replace(reported_orders=(*known, *mine))
    if not mine:
        return Turn(state)
    others = tuple(choice for choice in state.choices if choice.kind != "is_tote")  # that was of the last order
    added = state._replace(orders=(*state.orders, *(BatchOrder(order) for order in mine)), choices=others)
    first = mine[0]
    return reply(added, ASK, "batch.assigned", *query_orders(mine), order=first, count=len(mine), who=assigners[first])


def _reason_not_pickable(row: OrderRow) -> str:
    if row.get("is_rejected"):
        return "pick.rejected"
    if not row.get("is_active", True):
        return "pick.handed_over_now"
    lines = parse_lines(row.get("lines") or ())
    if row.get("lines_known", True) and not any(line.is_open for line in lines):
        return "pick.left_done" if lines else "pick.empty"
    return ""


def _claimed_by(row: OrderHeader, context: Context) -> str | None:
    """Return who else has claimed the order: empty if the name is unknown, None if nobody has."""
    claim = parse_claim(row, context)
    return claim.name if claim else None


def _with_order_data(order: BatchOrder, row: OrderRow) -> BatchOrder:
    open_ = [line for line in parse_lines(row.get("lines") or ()) if line.is_open]
    return order._replace(
        customer=str(row.get("customer_name") or row.get("reference") or ""),
        pickup=str(row.get("pickup_date") or ""),
        open_lines=len(open_) if open_ else int(to_decimal(row.get("total_lines"))),
        goods=sum_goods((line.remaining, line.unit if line.allows_decimals else None) for line in open_),
        stops=tuple(dict.fromkeys(line.stop_key for line in open_)),
        has_lines=bool(row.get("lines_known", True)),
    )


def _add_next(state: BatchState, rows: Iterable[OrdersRow], context: Context) -> Result:
    mine = {each.order for each in state.orders}
    free = [str(row["order_number"]) for row in rows if _claimed_by(row, context) is None]
    found = [order for order in free if order not in mine][: min(state.wanted_count, MAX_ORDERS - len(mine))]
    state = state._replace(wanted_count=0)
    if not found:
        return reply(state, WRONG, "batch.none_left")
    added = state._replace(orders=(*state.orders, *(BatchOrder(order) for order in found)))
    return reply(added, GOOD, "batch.orders_added", *query_orders(found), count=len(found))


# Inputs


def _handle_scan(state: BatchState, matches: tuple[Match, ...]) -> Result:
    first = next((each for each in matches if each.kind in (ORDER, REFERENCE)), matches[0])
    code, label = first.code or first.key, first.label or first.key
    if first.kind in (ORDER, REFERENCE):
        return _add_order(state, first.key)
    if _is_count(code):
        is_usable = first.kind != PRODUCT or Decimal(code) >= MIN_RECORD_NUMBER  # no goods are scanned here
        if is_usable and may_be_number_of(first.kind, Decimal(code)):
            return _ask_number(state, code, first)
        if _is_question_open(state):
            return _ask_count(state, code)
        return _query_next(state, int(code))
    if first.kind == PRODUCT:
        asking = state._replace(choices=(OfferedChoice("look_up", first.key),), is_removing=False)
        return reply(asking, WRONG, "page.not_this", what=raw(label))
    return reply(state, WRONG, "page.not_this", what=name_of(first))


def _add_order(state: BatchState, order: str, *, is_confirmed: bool = False) -> Result:
    state = state._replace(choices=(), is_removing=False)
    letter = tote_letter(state, order)
    if letter:
        return reply(
            state._replace(choices=(OfferedChoice("out", order),)),
            ASK,
            "batch.already_in_batch",
            tote=letter,
            order=order,
        )
    if len(state.orders) >= MAX_ORDERS:
        return reply(state, WRONG, "batch.full", count=MAX_ORDERS)
    added = state._replace(orders=(*state.orders, BatchOrder(order, is_confirmed=is_confirmed)))
    return reply(
        added, GOOD, "batch.order_loading", *query_orders((order,)), tote=tote_letter(added, order), order=order
    )


def _is_count(code: str) -> bool:
    return code.isdecimal() and code.isascii() and len(code) <= MAX_COUNT_DIGITS and int(code) > 0


def _handle_code(state: BatchState, code: str) -> Result:
    """Read a small number as a number of orders, and another code as the tote code of the last order. Ask first if the
    code is a long number, has no letter or looks like an order number."""
    code = label_of_code(code)
    if _is_count(code):
        return _ask_count(state, code) if _is_question_open(state) else _query_next(state, int(code))
    is_too_short = len(code) <= MAX_SHORT_LABEL and code not in tuple(TOTE_LETTERS) and not is_short_label(code)
    if not state.orders or is_too_short:
        return reply(state, WRONG, "count.unknown", code=code)
    if code in tuple(TOTE_LETTERS[:MAX_ORDERS]):
        return _check_tote_letter(state, code)
    if any(each.tote_code.casefold() == code.casefold() for each in state.orders):
        return _set_tote_code(state, code)
    if not is_label(code):
        return reply(state, WRONG, "batch.no_label", code=code)
    if state.orders[-1].tote_code:
        return _ask_to_replace(state, code)
    is_number = not any(char.isalpha() for char in code)
    if is_number or any(label_format(each.order) == label_format(code) for each in state.orders):
        asking = state._replace(choices=(OfferedChoice("is_tote", code),), is_removing=False)
        return reply(asking, ASK, "batch.looks_like_order", code=code)
    return _set_tote_code(state, code)


def _ask_to_replace(state: BatchState, code: str) -> Result:
    last = state.orders[-1]
    asking = state._replace(choices=(OfferedChoice("is_tote", code),), is_removing=False)
    tote, old = tote_letter(state, last.order), last.tote_code
    return reply(asking, ASK, "batch.replace_label", tote=tote, old=old, code=code, order=last.order)


def _is_question_open(state: BatchState) -> bool:
    return any(choice.kind != "many" for choice in state.choices)


def _ask_count(state: BatchState, code: str) -> Result:
    """Ask whether that many orders are meant. Other open questions keep their letters."""
    others = tuple(choice for choice in state.choices if choice.kind not in ("many", *RECORD_CHOICES))
    asking = state._replace(choices=(*others, OfferedChoice("many", code)))
    return reply(asking, ASK, "batch.confirm_count", count=int(code))


def _ask_number(state: BatchState, code: str, match: Match) -> Result:
    choices = (OfferedChoice("many", code), OfferedChoice(f"is_{match.kind}", match.label or match.key))
    asking = state._replace(choices=choices, is_removing=False)
    return reply(asking, ASK, "count.number_of_other", value=int(code), what=name_of(match))


def _check_tote_letter(state: BatchState, letter: str) -> Result:
    """Check a tote letter that was scanned. It must be that of the last order, or the screen would name the wrong tote.
    The code of its own tote is not stored, because letters shift."""
    order = next((each.order for each in state.orders if tote_letter(state, each.order) == letter), "")
    if not order:
        return reply(state, WRONG, "count.unknown", code=letter)
    if order != state.orders[-1].order:
        return reply(state, WRONG, "batch.tote_twice", code=letter)
    code = state.orders[-1].tote_code or letter
    return reply(state._replace(choices=(), is_removing=False), GOOD, "batch.tote", tote=letter, code=code, order=order)


def _set_tote_code(state: BatchState, code: str) -> Result:
    """Set the tote code of the last order. It must be unique within the batch."""
    *others, last = state.orders
    if any(each.tote_code.casefold() == code.casefold() for each in others):
        return reply(state, WRONG, "batch.tote_twice", code=code)
    state = state._replace(orders=(*others, last._replace(tote_code=code)), choices=(), is_removing=False)
    return reply(state, GOOD, "batch.tote", tote=tote_letter(state, last.order), code=code, order=last.order)


def _handle_text(state: BatchState, text: str) -> Result:
    """Read a text as a tote code if it has a digit or is one word of capitals, as labels have."""
    if not is_label_text(text):
        return reply(state, WRONG, "count.unknown", code=text)
    return _handle_code(state, text)


def _query_next(state: BatchState, count: int) -> Result:
    state = state._replace(choices=(), is_removing=False)
    free = MAX_ORDERS - len(state.orders)
    if not free:
        return reply(state, WRONG, "batch.full", count=MAX_ORDERS)
    wanted = min(count, free)
    query = Query("orders", "orders", {"first": 0, "size": wanted + len(state.orders) + EXTRA_ORDERS})
    return Turn(state._replace(wanted_count=wanted), (query,))


def _handle_choice(state: BatchState, choice: int) -> Result:
    chosen = state.choices[choice - 1]
    others = tuple(each for each in state.choices if each is not chosen)
    state = state._replace(choices=())
    if chosen.kind == "many":
        turn = _query_next(state, int(chosen.key))
        return turn._replace(
            state=turn.state._replace(choices=tuple(each for each in others if each.kind not in RECORD_CHOICES))
        )
    if chosen.kind in RECORD_CHOICES:
        return reply(state, INFO, "session.dropped")
    if chosen.kind == "look_up":
        return Turn(state, (Start("look_up", {"product_number": chosen.key}),))
    if chosen.kind == "leave":
        return _leave(state)
    if chosen.kind == "is_tote":
        return _set_tote_code(state, chosen.key) if state.orders else Turn(state)
    if chosen.kind == "out":
        return _remove_order(state, chosen.key)
    added = _add_order(state, chosen.key, is_confirmed=True)
    return added._replace(state=added.state._replace(choices=others))


def _without_order(state: BatchState, order: str) -> BatchState:
    """Return the batch without an order. Questions about other claimed orders stay open."""
    kept = tuple(each for each in state.orders if each.order != order)
    questions = tuple(choice for choice in state.choices if choice.kind == ADD_CLAIMED and choice.key != order)
    return state._replace(orders=kept, choices=questions, is_removing=False)


def _remove_order(state: BatchState, order: str) -> Result:
    return reply(_without_order(state, order), GOOD, "batch.order_removed", tote=tote_letter(state, order), order=order)


def _start_pick(state: BatchState) -> Result:
    args = {
        "orders": [each.order for each in state.orders],
        "totes": {each.order: each.tote_code for each in state.orders if each.tote_code},
        "sure": [each.order for each in state.orders if each.is_confirmed],
    }
    return Turn(state, (Close(start=Start("pick", args)),))


def _go_back(state: BatchState) -> Result:
    if state.choices or state.is_removing:
        return reply(state._replace(choices=(), is_removing=False), INFO, "session.dropped")
    if len(state.orders) > 1:
        return reply(state._replace(choices=(OfferedChoice("leave"),)), ASK, "batch.leave", count=len(state.orders))
    return _leave(state)


def _leave(state: BatchState) -> Result:
    return Turn(state, (Close(Verdict(INFO, msg("batch.left"))),))
