"""Pages of the order that is handed over: its goods and where they lie, what goes back into stock, and a question."""

from __future__ import annotations

from decimal import Decimal
from functools import partial

from aisle.jobs import names_in_messages
from aisle.jobs.hand_over.hand_over_state_and_writes import (
    CONFIRM,
    GOODS,
    LOCATION,
    MAX_UNDO,
    ORDER_STEP,
    QUANTITY,
    ZERO,
    Checked,
    HandOverState,
    LineGoods,
    Result,
    checked_quantity,
    close_order,
    finish_write,
    goods_of_line,
    locations_of,
    missing_goods,
    picked_goods,
    put_back_step,
    put_back_writes,
    unchecked_goods,
)
from aisle.jobs.job import Args, Close, Context, Event, Query, Refresh, Turn, reply
from aisle.jobs.pages_and_page_job import Action, DetailPage, FormPage, refuse
from aisle.jobs.pick.pick_line import same_location
from aisle.jobs.sums_of_goods_and_progress import goods_text, named_goods
from aisle.jobs.supervisor.order_rows import STATUS_NAMES
from aisle.jobs.tote_labels_and_repeated_reads import LABEL_GUARD_S, LabelRead
from aisle.jobs.typed_numbers_dates_and_letters import DROP, LETTER_OF_CHOICE, YES, letter_prompt, name_of
from aisle.jobs.view import GOOD, INFO, Block, Line, Msg, Step, Verdict, msg, raw, undo_verdict
from aisle.scan.grammar_and_meaning_types import PRODUCT, Accepts, Choice, Match, Quantity

Actions = tuple[Action[HandOverState], ...]

ALL = LETTER_OF_CHOICE["other"]
"""Letter for all goods of a line."""


def query_order(number: str) -> Query:
    """Return the query for the open order. It is journalled, so that a resumed job has its goods."""
    return Query("order", "order", {"order_number": number})


def open_order(state: HandOverState, number: str, context: Context) -> Result:
    """Open an order. Another one that is open stays where it is."""
    left = state.order
    opened = close_order(state)._replace(
        step=ORDER_STEP,
        order=number,
        last_read=LabelRead((number,), context.now),
        checks_goods=context.policy.check_hand_over,
    )
    verdict = (
        Verdict(INFO, msg("hand_over.left", order=left)) if left else Verdict(GOOD, msg("order.title", order=number))
    )
    return Turn(opened, (query_order(number), Refresh("order", number)), verdict)


def leave_order(state: HandOverState, verdict: Verdict | None = None, answer: Args | None = None) -> Result:
    """Go back to the list, or close the job that was opened for this order."""
    closed = close_order(state)
    return Turn(closed, (Close(verdict, answer=answer),)) if state.is_alone else Turn(closed, (), verdict)


def ask_undo(state: HandOverState, context: Context) -> Result:
    """Undo the last check of the open order, else what was put back last. An order that has left stays handed over."""
    if state.checked:
        *before, last = state.checked
        goods = goods_of_line(state, last.line)
        label = goods.label if goods else ""
        is_checking = bool(before) or context.policy.check_hand_over
        undone = state._replace(checked=tuple(before), checks_goods=is_checking)
        return Turn(undone, (), undo_verdict(msg("hand_over.check_undone", label=label)))
    if not state.put_back:
        gone = msg("hand_over.no_undo", order=state.last_order) if state.last_order else msg("pick.nothing_to_undo")
        return refuse(state, gone)
    *steps, last_step = state.put_back
    writes = put_back_writes(last_step, context, is_undo=True)
    quantity, label, order = last_step.quantity, last_step.label, last_step.order
    text = msg("hand_over.put_back_undone", order=order, quantity=quantity, label=label)
    return Turn(state._replace(put_back=tuple(steps)), writes, undo_verdict(text))


# The order


class OrderPage(DetailPage[HandOverState]):
    """Goods of the order, and where they lie. A scan of the order or of its location hands it over."""

    name = "hand_over.order"

    def title(self, state: HandOverState) -> Msg:
        return msg("order_actions.hand_over")

    def prompt(self, state: HandOverState) -> Msg:
        if not has_goods(state):
            return msg("order.prompt_read")
        if state.checks_goods:
            return msg("hand_over.prompt_check")
        return msg("hand_over.prompt_order", seconds=LABEL_GUARD_S)

    def lines(self, state: HandOverState) -> tuple[Line, ...]:
        title = msg("order.title", order=state.order)
        if not state.status:
            return (Line("product", title), Line("note", msg("order.unknown")))
        head = msg("pick.join", more=state.order, what=state.customer) if state.customer else title
        far = msg("orders.join", other=msg(STATUS_NAMES[state.status]), one=named_goods(picked_goods(state)))
        left = missing_goods(state)
        return (
            *((Line("location", _where(state)),) if has_goods(state) else ()),
            Line("product", head),
            Line("quantity", far),
            *((Line("note", msg("hand_over.missing", left=goods_text(left))),) if not left.is_nothing else ()),
        )

    def blocks(self, state: HandOverState) -> tuple[Block, ...]:
        rows = tuple(_cells(state, goods) for goods in state.goods)
        return (Block(msg("batch.lines", count=len(rows)), rows, is_wide=True),)

    def accepts(self, state: HandOverState) -> Accepts:
        """Take a number only if it was typed on this page, because a hand-over cannot be undone."""
        return super().accepts(state)._replace(typed_only=True)

    def actions(self, state: HandOverState) -> Actions:
        undo = Action(msg("hint.undo"), ask_undo, "u", is_hinted=bool(state.checked or state.put_back))
        if not has_goods(state):
            return (undo,)
        return (
            Action(msg("order_actions.hand_over"), ask_or_hand_over),
            Action(msg("hand_over.choice_put_back"), _choose_goods),
            undo,
        )

    def go_back(self, state: HandOverState, context: Context) -> Result:
        return leave_order(state, Verdict(INFO, msg("hand_over.left", order=state.order)))


def has_goods(state: HandOverState) -> bool:
    """Return True if goods of the open order can be handed over."""
    return state.status in ("partial", "picked") and not picked_goods(state).is_nothing


def _where(state: HandOverState) -> Msg:
    """Return where the goods lie, as far as this host knows."""
    if places := locations_of(state):
        return msg("order.waits_at_location", place=names_in_messages.list_locations(places))
    return msg("hand_over.no_location")


def _quantity(goods: LineGoods, quantity: Decimal) -> Msg:
    return msg("move.measure", quantity=quantity, unit=goods.unit) if goods.unit else msg("number", value=quantity)


def _cells(state: HandOverState, goods: LineGoods) -> tuple[Msg, ...]:
    """Return name, quantity and location of goods; of goods to check, how many were scanned."""
    quantity = _quantity(goods, goods.picked)
    if state.checks_goods:
        quantity = msg("progress.of", done=checked_quantity(state, goods), total=goods.picked)
    if not goods.picked:
        quantity = msg("orders.status_open")
    return raw(goods.label), quantity, raw(", ".join(held.location for held in goods.held))


# Handing over


def ask_or_hand_over(state: HandOverState, context: Context) -> Result:
    """Hand the order over, or ask first if goods are missing or were not scanned."""
    if not has_goods(state):
        return refuse(state, msg(_REFUSALS.get(state.status, "order_actions.nothing_picked"), order=state.order))
    return Turn(state._replace(step=CONFIRM)) if _questions(state) else hand_over(state, context)


_REFUSALS = {
    "": "order.unknown",
    "finished": "pick.handed_over_now",
    "rejected": "order_actions.order_rejected",
}
"""Refusals by the state of the order."""


def _questions(state: HandOverState) -> tuple[Msg, ...]:
    """Return what is asked before the order is handed over; empty for nothing."""
    unchecked, missing = unchecked_goods(state), missing_goods(state)
    is_asked = state.checks_goods and not unchecked.is_nothing
    return (
        *((msg("hand_over.unchecked", left=goods_text(unchecked)),) if is_asked else ()),
        *((msg("hand_over.missing_too", left=goods_text(missing)),) if not missing.is_nothing else ()),
    )


def hand_over(state: HandOverState, context: Context) -> Result:
    """Send that the order has left the store. What was put back of it can no longer be undone."""
    kept = tuple(step for step in state.put_back if step.order != state.order)
    read = LabelRead((state.order, *locations_of(state)), context.now)
    left = state._replace(put_back=kept, checked=(), last_order=state.order, last_read=read)
    verdict = Verdict(GOOD, msg("hand_over.done", order=state.order, goods=named_goods(picked_goods(state))))
    turn = leave_order(left, verdict, {"handed_over": state.order, "labels": list(read.keys)})
    return turn._replace(effects=(finish_write(state.order, context), *turn.effects))


class ConfirmPage(FormPage[HandOverState]):
    """Question whether the order is handed over although goods are missing, or were not scanned."""

    name = "hand_over.confirm"
    title_text = msg("order_actions.hand_over")
    prompt_text = letter_prompt(YES + DROP, scans=False)

    def lines(self, state: HandOverState) -> tuple[Line, ...]:
        asked = (Line("note", question) for question in _questions(state))
        return (Line("product", msg("order.title", order=state.order)), *asked)

    def accepts(self, state: HandOverState) -> Accepts:
        return super().accepts(state)._replace(choice_letters=YES + DROP)

    def step(self, state: HandOverState) -> Step:
        return super().step(state)._replace(choice_letters=YES + DROP)

    def actions(self, state: HandOverState) -> Actions:
        yes = Action(msg("hand_over.choice_all_the_same"), hand_over)
        return (yes, Action(msg("order_actions.no"), self.go_back), _cancel(self))

    def go_back(self, state: HandOverState, context: Context) -> Result:
        return reply(state._replace(step=ORDER_STEP), INFO, "session.dropped")


# Scans


def scan_order(state: HandOverState, number: str, context: Context) -> Result:
    """Hand the open order over by a second scan of its label, or open another order."""
    if number != state.order:
        return open_order(state, number, context)
    if state.last_read.is_repeated(number, context.now):
        return reply(state, INFO, "hand_over.scan_again", order=number, seconds=LABEL_GUARD_S)
    return ask_or_hand_over(state, context)


def scan_location(state: HandOverState, location: str, context: Context) -> Result:
    """Hand the order over that lies at this location; another location is refused."""
    places = locations_of(state)
    if any(same_location(each, location) for each in places):
        return ask_or_hand_over(state, context)
    if not places:
        return refuse(state, msg("hand_over.scan_order", order=state.order))
    return refuse(state, msg("pick.put_down", order=state.order, place=names_in_messages.list_locations(places)))


def is_unchecked(state: HandOverState, match: Match) -> bool:
    """Return True if goods of this product are still to scan, and that is asked about."""
    lines = (goods for goods in state.goods if match.kind == PRODUCT and goods.product == match.key)
    return state.checks_goods and any(checked_quantity(state, goods) < goods.picked for goods in lines)


def check_product(state: HandOverState, match: Match) -> Result:
    """Check goods of the order by a scan, measured goods by the quantity of their label."""
    lines = [goods for goods in state.goods if goods.product == match.key and goods.picked]
    if not lines:
        return refuse(state, msg("pick.not_here", order=state.order, label=match.label or match.key))
    left = [(goods, goods.picked - checked_quantity(state, goods)) for goods in lines]
    goods, open_quantity = next(((each, rest) for each, rest in left if rest), left[-1])
    if match.quantity > open_quantity:
        return refuse(state, msg("hand_over.too_many", total=_quantity(goods, goods.picked), label=goods.label))
    checked = (*state.checked, Checked(goods.line, match.quantity))
    state = state._replace(step=ORDER_STEP, checked=checked, checks_goods=True)
    if (rest := unchecked_goods(state)).is_nothing:
        return reply(state, GOOD, "hand_over.all_checked", label=goods.label)
    return reply(state, GOOD, "hand_over.checked", label=goods.label, left=goods_text(rest))


# Back into stock


class GoodsPage(OrderPage):
    """Goods of the order. Numbers choose what the customer does not want."""

    name = "hand_over.goods"

    def prompt(self, state: HandOverState) -> Msg:
        return msg("hand_over.prompt_goods")

    def blocks(self, state: HandOverState) -> tuple[Block, ...]:
        (block,) = super().blocks(state)
        return (block._replace(numbered_rows=self.numbered_rows(state)),)

    def actions(self, state: HandOverState) -> Actions:
        return (_cancel(self),)

    def numbered_rows(self, state: HandOverState) -> int:
        return len(state.goods)

    def handle_other_input(self, state: HandOverState, event: Event, context: Context) -> Result:
        match event:
            case Choice(number) if number <= len(state.goods):
                return put_back_line(state, state.goods[number - 1], context)
        return super().handle_other_input(state, event, context)

    def go_back(self, state: HandOverState, context: Context) -> Result:
        return reply(drop_put_back(state), INFO, "session.dropped")


def _choose_goods(state: HandOverState, context: Context) -> Result:
    if len(state.goods) == 1:
        return put_back_line(state, state.goods[0], context)
    return Turn(state._replace(step=GOODS, page=0))


def put_back_product(state: HandOverState, match: Match, context: Context) -> Result:
    """Choose the goods that were scanned."""
    goods = next((each for each in state.goods if each.product == match.key and each.picked), None)
    if goods is None:
        return refuse(state, msg("pick.not_here", order=state.order, label=match.label or match.key))
    return put_back_line(state, goods, context)


def put_back_line(state: HandOverState, goods: LineGoods, context: Context) -> Result:
    """Ask how much of a line goes back, unless it is one piece."""
    if not goods.picked:
        return refuse(state, msg("hand_over.none_picked", label=goods.label))
    state = state._replace(line=goods.line)
    if goods.picked == 1 and not goods.unit:
        return _ask_location(state, goods, goods.picked, context)
    return Turn(state._replace(step=QUANTITY))


def _cancel(page: OrderPage | FormPage[HandOverState]) -> Action[HandOverState]:
    """Return the undo on a page that asks something: it drops the question and takes nothing back."""
    return Action(msg("hint.undo"), page.go_back, "u", is_hinted=False)


class PutBackPage(FormPage[HandOverState]):
    """Question about the goods that go back into stock."""

    title_text = msg("hand_over.choice_put_back")

    def lines(self, state: HandOverState) -> tuple[Line, ...]:
        goods = goods_of_line(state, state.line)
        if goods is None:
            return ()
        quantity = state.quantity if state.step == LOCATION else goods.picked
        return (Line("product", raw(goods.label)), Line("quantity", _quantity(goods, quantity)))

    def go_back(self, state: HandOverState, context: Context) -> Result:
        return reply(drop_put_back(state), INFO, "session.dropped")


def drop_put_back(state: HandOverState) -> HandOverState:
    """Return the state back at the order, with nothing to put back."""
    return state._replace(step=ORDER_STEP, line=0, quantity=ZERO, page=0)


class QuantityPage(PutBackPage):
    """Question how much goes back. A number is the quantity, a letter means all."""

    name = "hand_over.quantity"
    prompt_text = msg("hand_over.prompt_quantity")

    def accepts(self, state: HandOverState) -> Accepts:
        goods = goods_of_line(state, state.line)
        decimals = bool(goods and goods.unit)
        return Accepts(quantity=True, decimals=decimals, choices=1, choice_letters=ALL, command_letters="u")

    def step(self, state: HandOverState) -> Step:
        return super().step(state)._replace(choice_letters=ALL)

    def actions(self, state: HandOverState) -> Actions:
        return (Action(msg("hint.all_here"), _put_back_all), _cancel(self))

    def handle_other_input(self, state: HandOverState, event: Event, context: Context) -> Result:
        goods = goods_of_line(state, state.line)
        match event:
            case Quantity(value) if goods and 0 < value <= goods.picked:
                return _ask_location(state, goods, value, context)
            case Quantity() if goods:
                return refuse(state, msg("hand_over.too_many", total=_quantity(goods, goods.picked), label=goods.label))
        return super().handle_other_input(state, event, context)


def _put_back_all(state: HandOverState, context: Context) -> Result:
    goods = goods_of_line(state, state.line)
    return _ask_location(state, goods, goods.picked, context) if goods else Turn(drop_put_back(state))


def _ask_location(state: HandOverState, goods: LineGoods, quantity: Decimal, context: Context) -> Result:
    """Ask where the goods are put. Those that were never put down go back unasked if no location of them is known."""
    asked = state._replace(step=LOCATION, line=goods.line, quantity=quantity)
    return Turn(asked) if goods.held or goods.stock_location else put_back_at(asked, "", context)


class LocationPage(PutBackPage):
    """Question where the goods are put: their own location, where they lie now, or one that is scanned."""

    name = "hand_over.location"
    prompt_text = msg("hand_over.prompt_location")

    def actions(self, state: HandOverState) -> Actions:
        goods = goods_of_line(state, state.line)
        if goods is None:
            return (_cancel(self),)
        codes = dict.fromkeys((goods.stock_location, *(held.location for held in goods.held)))
        places = (
            Action(msg("hand_over.choice_location", place=code), partial(_put_back_there, code))
            for code in codes
            if code
        )
        return (*places, _cancel(self))


def _put_back_there(code: str, state: HandOverState, context: Context) -> Result:
    return put_back_at(state, code, context)


def put_back_at(state: HandOverState, location: str, context: Context) -> Result:
    """Send that goods of the order are back in stock, and query the order again."""
    goods = goods_of_line(state, state.line)
    if goods is None:
        return Turn(drop_put_back(state))
    step = put_back_step(state.order, goods, min(state.quantity, goods.picked), location)
    done = drop_put_back(state)._replace(put_back=(*state.put_back, step)[-MAX_UNDO:], checked=())
    place = names_in_messages.at_location(location)
    said = msg("hand_over.put_back", quantity=_quantity(goods, step.quantity), label=goods.label, place=place)
    return Turn(done, put_back_writes(step, context), Verdict(GOOD, said))


def scan_at_question(state: HandOverState, match: Match) -> Result:
    """Refuse a scan that does not answer the open question."""
    return refuse(state, msg("count.answer_first", what=name_of(match)))


ORDER_PAGES = {
    ORDER_STEP: OrderPage(),
    GOODS: GoodsPage(),
    QUANTITY: QuantityPage(),
    LOCATION: LocationPage(),
    CONFIRM: ConfirmPage(),
}
"""Pages over the list."""
