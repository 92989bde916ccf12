"""Views of the receive job, one for each step."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs import list_cursor_and_search, typed_numbers_dates_and_letters
from aisle.jobs.list_page_base_class import Column
from aisle.jobs.names_in_messages import measured, unit_of
from aisle.jobs.receive import handle_scans_and_quantities
from aisle.jobs.receive.receive_state_and_differences import (
    ZERO,
    DeliveryLine,
    Difference,
    GoodsInHand,
    ListedDelivery,
    ReceiveChoice,
    ReceiveState,
    announced_and_received,
    differences,
    excess_quantity,
    is_announced_unknown,
    is_received_unknown,
    lines_with_hand,
    lines_with_product,
    missing_quantity,
    needed_by_order,
    quantities_for_orders,
)
from aisle.jobs.typed_numbers_dates_and_letters import assign_letters, letter_prompt, quantity_prompt
from aisle.jobs.view import (
    BACK,
    PAGE_HINTS,
    KeyHint,
    LabelledValue,
    Line,
    ListView,
    Msg,
    Row,
    Step,
    UpcomingStop,
    View,
    known_number,
    msg,
    number_message,
    raw,
    signed_message,
)
from aisle.scan.grammar_and_meaning_types import Match

MAX_UPCOMING = 12

MAX_WHOLE_CODE, CODE_END_LENGTH = 8, 4
"""Length up to which a code is shown whole, and number of last characters shown of a longer one."""

CHOICE_TEXTS = {
    "open": "receive.choice_open",
    "switch": "receive.choice_switch",
    "stay": "stores.stay",
    "go_on": "move.go_on",
    "other": "receive.choice_other",
    "extra": "receive.choice_accept",
    "fit": "goods.only",
    "over": "goods.all_anyway",
    "aside": "receive.choice_set_aside",
    "find": "receive.choice_find",
    "amount": "count.choice_quantity",
    "not_so_many": "order_actions.no",
    "is_product": "count.choice_product",
    "is_location": "locations.title_location",
    "is_delivery": "receive.choice_open",
}

LEAVE_ANSWERS = ("book", "forget", "back")
"""Kinds of answers to the question before a delivery is left, in order."""

CHECK_ANSWERS = ("finish", "back")
"""Kinds of answers to the question before a delivery is closed, in order."""

COMMAND_LETTERS = "dlu"

LINE_HEADS = (msg("head.product"), msg("head.received"), msg("head.container"))
CHECK_HEADS = (msg("head.product"), msg("head.received"), msg("head.difference"))


def list_page_size(state: ReceiveState) -> int:
    """Return the number of rows of a list without a menu below it."""
    return state.page_size + (1 if state.page_size > 1 else 0)


def choice_count(state: ReceiveState) -> int:
    """Return the number of open choices."""
    if state.choices or state.phase in ("check", "leave"):
        return len(_open_choices(state))
    if state.phase == "lines":
        return len(visible_lines(state))
    return list_cursor_and_search.numbered_rows(state) if state.phase == "delivery" else 0


def choice_letters(state: ReceiveState) -> str:
    """Return the letters of the choices while goods may be in hand; empty where they are numbered."""
    if state.phase in ("check", "leave") and not state.choices:
        return assign_letters(LEAVE_ANSWERS if state.phase == "leave" else CHECK_ANSWERS)
    if not state.choices or not state.delivery_number:
        return ""
    return assign_letters((choice.kind for choice in state.choices), COMMAND_LETTERS)


def command_letters(state: ReceiveState) -> str:
    """Return the command letters of the current page."""
    match state.phase:
        case "delivery":
            return "a" + list_cursor_and_search.page_letters(state, has_two_line_rows=True)
        case "goods":
            return "dlu"
        case "lines" | "check":
            return list_cursor_and_search.PAGE_LETTERS
    return ""


def view(state: ReceiveState) -> View:
    """Return the view of the current step."""
    match state.phase:
        case "delivery" if not state.choices:
            return _list_view(state)
        case "lines":
            return _lines_view(state)
        case "check":
            return _check_view(state)
    return _goods_step(state)


def choice_texts(state: ReceiveState) -> tuple[Msg, ...]:
    """Return the texts of the open choices."""
    return tuple(_choice_text(choice) for choice in state.choices)


def _open_choices(state: ReceiveState) -> tuple[Msg, ...]:
    if state.choices:
        return choice_texts(state)
    match state.phase:
        case "check":
            return (msg("order_actions.yes"), msg("move.go_on"))
        case "leave":
            return (msg("receive.choice_book"), msg("receive.choice_forget"), msg("move.go_on"))
    return ()


def _choice_text(choice: ReceiveChoice) -> Msg:
    if choice.kind in ("is_order", "is_reference", "is_person"):
        return typed_numbers_dates_and_letters.other_choice_text(Match(choice.kind[3:], choice.key, choice.label))
    return msg(
        CHOICE_TEXTS[choice.kind],
        delivery=choice.key,
        code=choice.key,
        label=choice.label or choice.key,
        quantity=choice.quantity,
    )


# Lists


def _list_view(state: ReceiveState) -> ListView:
    return ListView(
        name="receive.delivery",
        title=msg("home.receive"),
        prompt=msg("receive.prompt_delivery"),
        column_heads=tuple(column.title for column in DELIVERY_COLUMNS),
        rows=tuple(delivery_row(each) for each in state.rows),
        first=state.first,
        total=state.total,
        cursor=state.cursor,
        numbered_rows=list_cursor_and_search.numbered_rows(state),
        empty=msg("look_up.no_match", text=state.typed or state.search)
        if state.typed or state.search
        else msg("receive.empty"),
        key_hints=(
            *list_cursor_and_search.page_hints(state, has_two_line_rows=True),
            KeyHint("a", msg("log.all")),
            BACK,
        ),
        has_two_line_rows=True,
    )


def delivery_row(delivery: ListedDelivery) -> Row:
    """Return the list row of a delivery."""
    return Row(
        delivery.number, tuple(column.value(delivery) for column in DELIVERY_COLUMNS), delivery_progress(delivery)
    )


def _progress_text(delivery: ListedDelivery) -> Msg:
    if delivery.is_mixed:
        return lines_progress(None if delivery.received is None else delivery.complete_lines, delivery.line_count)
    if delivery.announced is None:
        return number_message(delivery.received)
    return msg("progress.of", done=known_number(delivery.received), total=delivery.announced)


def delivery_progress(delivery: ListedDelivery) -> Decimal:
    """Return the received share of a delivery; below 0 if it is unknown."""
    if delivery.received is None:
        return Decimal(-1)
    if delivery.is_mixed and delivery.line_count:
        return Decimal(delivery.complete_lines) / delivery.line_count
    if delivery.announced is None:
        return Decimal(-1)
    return (
        min(Decimal(1), delivery.received / delivery.announced)
        if delivery.announced > 0
        else Decimal(int(delivery.state == "received"))
    )


def code_text(code: str) -> Msg:
    """Return the text for the number of a delivery or the code of a container; narrow screens show only its end."""
    return msg("receive.code", code=code, end=_code_end(code))


DELIVERY_COLUMNS = (
    Column[ListedDelivery](
        msg("head.supplier"), lambda delivery: raw(delivery.supplier or delivery.number), sort="supplier_name"
    ),
    Column[ListedDelivery](msg("head.delivery"), lambda delivery: code_text(delivery.number), sort="order_number"),
    Column(msg("head.received"), _progress_text, sort="received_quantity"),
    Column[ListedDelivery](msg("head.expected_on"), lambda delivery: delivery.expected, sort="datetime_expected"),
)
"""Columns of a list of deliveries."""


def progress_text(done: Decimal | None, total: Decimal) -> Msg:
    """Return the text "done of total"; only done if nothing was announced."""
    return msg("progress.of", done=known_number(done), total=total) if total else number_message(done)


def line_progress(line: DeliveryLine) -> Msg:
    """Return the progress of a line; no figure if neither an announced nor a received quantity is known."""
    if line.is_announced_unknown and line.is_open:
        return number_message(None)
    if line.allows_decimals and line.unit and line.announced and not line.is_unknown:
        return msg("progress.of", done=line.received, total=measured(line.announced, line.unit))
    return progress_text(None if line.is_unknown else line.received, line.announced)


def lines_progress(done: int | None, total: int) -> Msg:
    """Return the progress in lines, where quantities cannot be added."""
    return msg("receive.lines_of", done=known_number(None) if done is None else done, total=total)


def visible_lines(state: ReceiveState) -> tuple[DeliveryLine, ...]:
    """Return the lines on the current page, with the goods in hand."""
    return lines_with_hand(state)[
        state.first : state.first + min(list_cursor_and_search.MAX_NUMBERED, list_page_size(state))
    ]


def scroll(state: ReceiveState, key: str) -> ReceiveState:
    """Scroll lines or differences, or turn their page."""
    size, total = state.page_size, len(differences(state))
    if state.phase == "lines":
        size, total = list_page_size(state), len(lines_with_hand(state))
    return state._replace(first=list_cursor_and_search.scroll_rows(state.first, total, size, key))


def _lines_view(state: ReceiveState) -> ListView:
    rows = tuple(_line_row(at, line) for at, line in enumerate(visible_lines(state), state.first))
    total = len(lines_with_hand(state))
    return ListView(
        name="receive.lines",
        title=msg("receive.choice_open", delivery=state.delivery_number),
        prompt=msg("receive.prompt_lines"),
        column_heads=LINE_HEADS,
        rows=rows,
        first=state.first,
        total=total,
        numbered_rows=len(rows),
        empty=msg("receive.no_lines"),
        key_hints=(*_page_hints(len(rows), total), BACK),
    )


def _line_row(index: int, line: DeliveryLine) -> Row:
    share = (
        Decimal(-1)
        if line.is_unknown
        else line.received / line.announced
        if line.announced > 0 and line.is_open
        else Decimal(int(not line.is_open))
    )
    cells = (raw(line.label), line_progress(line), code_text(line.container))
    return Row(str(index), cells, share)


def _check_view(state: ReceiveState) -> ListView:
    differing = differences(state)
    rows = tuple(_difference_row(each) for each in differing[state.first : state.first + state.page_size])
    return ListView(
        name="receive.check",
        title=msg("receive.title_check", delivery=state.delivery_number),
        prompt=msg("receive.prompt_check"),
        column_heads=CHECK_HEADS,
        rows=rows,
        first=state.first,
        total=len(differing),
        choices=_open_choices(state),
        choice_letters=choice_letters(state),
        key_hints=(*_page_hints(len(rows), len(differing)), BACK),
    )


def _difference_row(each: Difference) -> Row:
    differs = (
        number_message(None)
        if each.is_announced_unknown or each.is_received_unknown
        else signed_message(each.received - each.announced)
    )
    return Row(
        each.product,
        (raw(each.label), progress_text(None if each.is_received_unknown else each.received, each.announced), differs),
    )


def _page_hints(shown: int, total: int) -> tuple[KeyHint, ...]:
    return PAGE_HINTS if shown < total else ()


# Goods


def _goods_step(state: ReceiveState) -> Step:
    is_asking = bool(state.choices) and state.phase != "leave"
    return Step(
        name=f"receive.{state.phase}",
        title=msg("receive.choice_open", delivery=state.delivery_number)
        if state.delivery_number
        else msg("home.receive"),
        prompt=_prompt(state),
        lines=_goods_lines(state),
        labelled_values=_labelled_values(state, state.in_hand) if state.in_hand and not is_asking else (),
        upcoming=() if is_asking or state.phase != "goods" else _upcoming(state),
        choices=_open_choices(state),
        choice_letters=choice_letters(state),
        key_hints=_hints(state),
        done=state.done_total,
        total=state.announced_total,
        progress=_progress(state),
        upcoming_title=msg("receive.upcoming"),
        is_upcoming_at_hand=True,
    )


def _progress(state: ReceiveState) -> Msg | None:
    """Return the progress in words if more came than was announced; else None."""
    excess = excess_quantity(state)
    if not excess:
        return None
    return msg("receive.progress_excess", done=state.done_total, total=state.announced_total, more=excess)


def _prompt(state: ReceiveState) -> Msg:
    if state.phase == "leave":
        return quantity_prompt(choice_letters(state), is_total=False)
    if state.choices and not state.delivery_number:
        return msg("pick.prompt_choice")
    if state.choices:
        waits = handle_scans_and_quantities.is_number_asked(
            state
        ) or handle_scans_and_quantities.is_goods_question_open(state)
        if handle_scans_and_quantities.open_quantity_goods(state) is not None:
            return quantity_prompt(choice_letters(state), scans=not waits, is_total=False)
        return letter_prompt(choice_letters(state), scans=not waits)
    return msg("receive.prompt_item") if state.in_hand else msg("count.prompt_product")


def _goods_lines(state: ReceiveState) -> tuple[Line, ...]:
    if not state.delivery_number:
        return (Line("note", msg("receive.prompt_delivery")),)
    destination = (
        msg("move.to", place=state.receiving_location) if state.receiving_location else msg("receive.no_location")
    )
    if state.choices and state.pending_scan and state.phase == "goods":
        pending = state.pending_scan
        quantity = msg("receive.pending_quantity", quantity=pending.quantity)
        return Line("product", raw(pending.label or pending.key)), Line("quantity", quantity)
    item = state.in_hand
    if item is None:
        missing_count = len({line.product for line in state.lines if line.is_open})
        note = msg("receive.note_left", count=missing_count) if missing_count else msg("receive.note_all")
        place_text = msg("receive.unpacking", code=state.container) if state.container else destination
        return (Line("location", place_text), Line("note", note), *_receiver_notes(state))
    lines = [Line("location", destination)]
    lines += [Line("product", raw(item.label)), Line("quantity", _quantity_text(state, item))]
    lines += _owner_notes(state, item)
    if _is_elsewhere(state, item):
        lines.append(Line("note", msg("receive.suggested_location", place=item.suggested_location)))
    return (*lines, *_receiver_notes(state))


def _owner_notes(state: ReceiveState, goods: GoodsInHand) -> list[Line]:
    """Return the notes for which customer orders the goods in hand are, if any order waits for the product."""
    quantities = quantities_for_orders(state, goods)
    lines = []
    for order, quantity in quantities.items():
        amount, needed = measured(quantity, unit_of(goods)), needed_by_order(state, order, goods.product)
        if needed is not None:
            amount = msg("progress.of", done=quantity, total=measured(needed, unit_of(goods)))
        lines.append(Line("note", msg("receive.note_order", order=order, quantity=amount)))
    rest = goods.quantity - sum(quantities.values(), ZERO)
    if rest > 0 and any(line.order for line in lines_with_product(state, goods.product)):
        lines.append(Line("note", msg("receive.note_no_order", quantity=measured(rest, unit_of(goods)))))
    return lines


def _receiver_notes(state: ReceiveState) -> tuple[Line, ...]:
    """Return the note who else receives the delivery."""
    others = state.other_receivers
    return (Line("note", msg("receive.other_receiver", who=", ".join(others))),) if others else ()


def _is_elsewhere(state: ReceiveState, goods: GoodsInHand) -> bool:
    """Return True if the suggested location is another than that where the goods will be booked."""
    return goods.suggested_location.casefold() not in ("", state.receiving_location.casefold())


def _quantity_text(state: ReceiveState, goods: GoodsInHand) -> Msg:
    announced, received = announced_and_received(state, goods.product)
    measured = bool(goods.allows_decimals and goods.unit)
    announced_text = (
        msg("move.measure", quantity=announced, unit=goods.unit) if measured else msg("number", value=announced)
    )
    if not announced and received:
        return msg("receive.quantity_extra_with", quantity=goods.quantity, all=goods.quantity + received)
    if not announced:
        is_unknown = is_announced_unknown(state, goods.product)
        return msg("receive.quantity_alone" if is_unknown else "receive.quantity_extra", quantity=goods.quantity)
    if received or is_received_unknown(state, goods.product):
        all_ = None if is_received_unknown(state, goods.product) else goods.quantity + received
        return msg("receive.quantity_with", quantity=goods.quantity, all=known_number(all_), of=announced_text)
    return msg("progress.of", done=goods.quantity, total=announced_text)


def _labelled_values(state: ReceiveState, goods: GoodsInHand) -> tuple[LabelledValue, ...]:
    missing = missing_quantity(state, goods.product) - goods.quantity
    values = [LabelledValue(msg("label.product_number"), raw(goods.product))]
    if missing > 0 and not is_received_unknown(state, goods.product):
        values.append(LabelledValue(msg("receive.upcoming"), msg("number", value=missing)))
    if state.supplier:
        values.append(LabelledValue(msg("head.supplier"), raw(state.supplier)))
    if state.container:
        values.append(LabelledValue(msg("head.container"), raw(state.container)))
    if _is_elsewhere(state, goods):
        values.append(LabelledValue(msg("label.suggested_location"), raw(goods.suggested_location)))
    return tuple(values)


def _upcoming(state: ReceiveState) -> tuple[UpcomingStop, ...]:
    container = state.container.casefold()
    product_in_hand = state.in_hand.product if state.in_hand else ""
    open_lines = [line for line in state.lines if line.is_open and line.product != product_in_hand]
    open_lines.sort(key=lambda line: (line.container.casefold() != container, line.number))
    return tuple(
        UpcomingStop(_code_end(line.container), line.label, line.remaining) for line in open_lines[:MAX_UPCOMING]
    )


def _code_end(code: str) -> str:
    return code if len(code) <= MAX_WHOLE_CODE else f"…{code[-CODE_END_LENGTH:]}"


def _hints(state: ReceiveState) -> tuple[KeyHint, ...]:
    if state.phase != "goods":
        return (BACK,)
    undo = (KeyHint("u", msg("hint.undo")),) if state.history else ()
    return (KeyHint("d", msg("hint.done")), *undo, KeyHint("l", msg("hint.lines")), BACK)
