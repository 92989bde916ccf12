"""What receiving shows at each of its steps."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs import numbers, window
from aisle.jobs.choice_keys import keys_of
from aisle.jobs.receive import take as receive_take
from aisle.jobs.receive.receiving import (
    Difference,
    Item,
    Line,
    Listed,
    Receiving,
    Way,
    announced_of,
    differences,
    is_unknown,
    is_unsaid,
    lines_of,
    missing_of,
    with_hand,
)
from aisle.jobs.view import (
    BACK,
    PAGES,
    Fact,
    Hint,
    ListWindow,
    Msg,
    Row,
    Step,
    Stop,
    View,
    amount,
    known,
    msg,
    raw,
    signed,
)
from aisle.jobs.view import Line as Shown
from aisle.scan.meaning import Meaning

COMING = 12
"""Goods still to come that a view carries."""

WHOLE, TAIL = 8, 4
"""A code of so many characters stands whole; of a longer one the last, by which people tell them apart."""

WAYS = {
    "open": "receive.way_open",
    "switch": "receive.way_switch",
    "stay": "receive.way_stay",
    "go_on": "receive.way_go_on",
    "other": "receive.way_other",
    "extra": "receive.way_extra",
    "fit": "receive.way_fit",
    "over": "receive.way_over",
    "aside": "receive.way_aside",
    "find": "receive.way_find",
    "amount": "receive.way_amount",
    "not_so_many": "count.way_not_so_many",
    "is_product": "receive.way_is_product",
    "is_location": "receive.way_is_location",
    "is_delivery": "receive.way_open",
}
"""What the ways on say."""

LEAVING = ("book", "forget", "back")
"""What the answers to the question before a delivery is left are, in their order."""

COMMANDS = "dlu"
"""The letters of the goods' page."""

HEADS = (msg("head.supplier"), msg("head.delivery"), msg("head.came"), msg("head.expected_on"))
LINE_HEADS = (msg("head.product"), msg("head.came"), msg("head.container"))
CHECK_HEADS = (msg("head.product"), msg("head.came"), msg("head.difference"))


def listed(state: Receiving) -> int:
    """Rows of a list that has no menu under it."""
    return state.size + (1 if state.size > 1 else 0)


def choices(state: Receiving) -> int:
    """How many choices are open."""
    if state.ways or state.phase in ("check", "leave"):
        return len(_choices(state))
    if state.phase == "lines":
        return len(lines_shown(state))
    return window.numbered_rows(state) if state.phase == "delivery" else 0


def keys(state: Receiving) -> str:
    """The letters of the choices, wherever goods are in hand or may be; else they are numbered."""
    if state.phase == "leave" and not state.ways:
        return keys_of(LEAVING)
    if not state.ways or not state.number:
        return ""
    return keys_of((way.kind for way in state.ways), COMMANDS)


def letters(state: Receiving) -> str:
    """The commands of each page."""
    match state.phase:
        case "delivery":
            return "a" + window.letters(state, tall=True)
        case "goods":
            return "dlu"
        case "lines" | "check":
            return window.LETTERS
    return ""


def view(state: Receiving) -> View:
    """The view of the step that the state stands at."""
    match state.phase:
        case "delivery" if not state.ways:
            return _list(state)
        case "lines":
            return _lines(state)
        case "check":
            return _check(state)
    return _step(state)


def ways(state: Receiving) -> tuple[Msg, ...]:
    """The ways on that are asked about."""
    return tuple(_way(way) for way in state.ways)


def _choices(state: Receiving) -> tuple[Msg, ...]:
    if state.ways:
        return ways(state)
    match state.phase:
        case "check":
            return (msg("receive.close_so"), msg("receive.way_go_on"))
        case "leave":
            return (msg("receive.book_it"), msg("receive.forget_it"), msg("receive.way_go_on"))
    return ()


def _way(way: Way) -> Msg:
    if way.kind in ("is_order", "is_reference", "is_person"):
        return numbers.way_other(Meaning(way.kind[3:], way.key, way.label))
    return msg(WAYS[way.kind], delivery=way.key, code=way.key, label=way.label or way.key, quantity=way.quantity)


# Lists


def _list(state: Receiving) -> ListWindow:
    return ListWindow(
        name="receive.delivery",
        title=msg("receive.title"),
        prompt=msg("receive.prompt_delivery"),
        heads=HEADS,
        rows=tuple(row_of(each) for each in state.rows),
        first=state.first,
        total=state.total,
        cursor=state.cursor,
        numbered=window.numbered_rows(state),
        empty=msg("receive.no_match", text=state.typed or state.search)
        if state.typed or state.search
        else msg("receive.empty"),
        hints=(*window.page_hints(state, tall=True), Hint("a", msg("hint.all_deliveries")), BACK),
        tall=True,
    )


def row_of(each: Listed) -> Row:
    """A delivery in a list."""
    cells = (raw(each.supplier or each.number), coded(each.number), _progress(each), each.expected)
    return Row(each.number, cells, _share(each))


def _progress(each: Listed) -> Msg:
    if each.mixed:
        return lines_of_it(None if each.received is None else each.complete, each.lines)
    if each.of is None:
        return amount(each.received)
    return msg("receive.came_of", done=known(each.received), total=each.of)


def _share(each: Listed) -> Decimal:
    if each.received is None or each.of is None:
        return Decimal(-1)
    if each.mixed and each.lines:
        return Decimal(each.complete) / each.lines
    return min(Decimal(1), each.received / each.of) if each.of > 0 else Decimal(int(each.state == "received"))


def coded(code: str) -> Msg:
    """The number of a delivery, or the code of a container; where room is short its end, which tells it apart."""
    return msg("receive.code", code=code, end=_ending(code))


def came(done: Decimal | None, total: Decimal) -> Msg:
    """So much of so much; so much alone where nothing was announced."""
    return msg("progress.of", done=known(done), total=total) if total else amount(done)


def came_of(line: Line) -> Msg:
    """What came of a line; of one that says no quantity and of which nothing came there is no figure."""
    if line.unsaid and line.is_open:
        return amount(None)
    return came(None if line.is_unknown else line.received, line.of)


def lines_of_it(done: int | None, total: int) -> Msg:
    """So many lines of so many, where quantities have no sum."""
    return msg("receive.lines_of", done=known(None) if done is None else done, total=total)


def lines_shown(state: Receiving) -> tuple[Line, ...]:
    """The lines on the page that is open, with what is in hand."""
    return with_hand(state)[state.first : state.first + min(window.NUMBERED, listed(state))]


def leafed(state: Receiving, direction: int) -> Receiving:
    """The next page of lines or differences, or the one before; from the last on to the first."""
    size, total = (
        (listed(state), len(with_hand(state))) if state.phase == "lines" else (state.size, len(differences(state)))
    )
    first = state.first + direction * size
    if first >= total:
        first = 0
    elif first < 0:
        first = max(0, total - 1) // size * size
    return state._replace(first=first)


def _lines(state: Receiving) -> ListWindow:
    rows = tuple(_line(at, line) for at, line in enumerate(lines_shown(state), state.first))
    total = len(with_hand(state))
    return ListWindow(
        name="receive.lines",
        title=msg("receive.title_of", delivery=state.number),
        prompt=msg("receive.prompt_lines"),
        heads=LINE_HEADS,
        rows=rows,
        first=state.first,
        total=total,
        numbered=len(rows),
        empty=msg("receive.no_lines"),
        hints=(*_paging(len(rows), total), BACK),
    )


def _line(at: int, line: Line) -> Row:
    share = (
        Decimal(-1)
        if line.is_unknown
        else min(Decimal(1), line.received / line.of)
        if line.of > 0
        else Decimal(int(not line.is_open))
    )
    cells = (raw(line.label), came_of(line), coded(line.container))
    return Row(str(at), cells, share)


def _check(state: Receiving) -> ListWindow:
    differing = differences(state)
    rows = tuple(_difference(each) for each in differing[state.first : state.first + state.size])
    return ListWindow(
        name="receive.check",
        title=msg("receive.title_check", delivery=state.number),
        prompt=msg("receive.prompt_check"),
        heads=CHECK_HEADS,
        rows=rows,
        first=state.first,
        total=len(differing),
        choices=_choices(state),
        hints=(*_paging(len(rows), len(differing)), BACK),
    )


def _difference(each: Difference) -> Row:
    differs = amount(None) if each.unsaid or each.unknown else signed(each.came - each.of)
    return Row(each.product, (raw(each.label), came(None if each.unknown else each.came, each.of), differs))


def _paging(shown: int, total: int) -> tuple[Hint, ...]:
    return PAGES if shown < total else ()


# The goods


def _step(state: Receiving) -> Step:
    asking = bool(state.ways) and state.phase != "leave"
    return Step(
        name=f"receive.{state.phase}",
        title=msg("receive.title_of", delivery=state.number) if state.number else msg("receive.title"),
        prompt=_prompt(state),
        lines=_shown(state),
        facts=_facts(state, state.item) if state.item and not asking else (),
        coming=() if asking or state.phase != "goods" else _coming(state),
        choices=_choices(state),
        keys=keys(state),
        hints=_hints(state),
        done=state.done,
        total=state.announced,
        ahead=msg("receive.ahead"),
        at_hand=True,
    )


def _prompt(state: Receiving) -> Msg:
    if state.phase == "leave":
        return numbers.prompt(keys(state))
    if state.ways and not state.number:
        return msg("receive.prompt_choice")
    if state.ways:
        waits = receive_take.is_number_asked(state) or receive_take.is_asked(state)
        if receive_take.of_how_many(state) is not None:
            return numbers.prompt(keys(state), scans=not waits)
        return numbers.prompt_letter(keys(state), scans=not waits)
    return msg("receive.prompt_item") if state.item else msg("receive.prompt_product")


def _shown(state: Receiving) -> tuple[Shown, ...]:
    """Where the goods go, what is in hand, how much of it, and what else has to be known."""
    if not state.number:
        return (Shown("note", msg("receive.note_which")),)
    to = msg("receive.to_place", place=state.place) if state.place else msg("receive.to_stock")
    if state.ways and state.pending and state.phase == "goods":
        asked = state.pending
        quantity = msg("receive.in_question", quantity=asked.quantity)
        return Shown("product", raw(asked.label or asked.key)), Shown("quantity", quantity)
    item = state.item
    if item is None:
        left = len({line.product for line in state.lines if line.is_open})
        note = msg("receive.note_left", count=left) if left else msg("receive.note_all")
        place = msg("receive.unpacking", code=state.container) if state.container else to
        return (Shown("place", place), Shown("note", note))
    found = [Shown("place", msg("receive.home", place=item.home) if item.home else to)]
    found += [Shown("product", raw(item.label)), Shown("quantity", _quantity(state, item))]
    order = next((line.order for line in lines_of(state, item.product) if line.order), "")
    if order:
        found.append(Shown("note", msg("receive.note_order", order=order)))
    return tuple(found)


def _quantity(state: Receiving, item: Item) -> Msg:
    """How many are in hand, and how many of what was announced are here with them."""
    of, received = announced_of(state, item.product)
    measured = bool(item.decimal and item.unit)
    whole = msg("receive.measure", value=of, unit=item.unit) if measured else msg("number", value=of)
    if not of and received:
        return msg("receive.quantity_extra_with", quantity=item.quantity, all=item.quantity + received)
    if not of:
        alone = is_unsaid(state, item.product)
        return msg("receive.quantity_alone" if alone else "receive.quantity_extra", quantity=item.quantity)
    if received or is_unknown(state, item.product):
        all_ = None if is_unknown(state, item.product) else item.quantity + received
        return msg("receive.quantity_with", quantity=item.quantity, all=known(all_), of=whole)
    return msg("receive.quantity", quantity=item.quantity, of=whole)


def _facts(state: Receiving, item: Item) -> tuple[Fact, ...]:
    missing = missing_of(state, item.product) - item.quantity
    facts = [Fact(msg("fact.product_number"), raw(item.product))]
    if missing > 0 and not is_unknown(state, item.product):
        facts.append(Fact(msg("fact.missing"), msg("number", value=missing)))
    if state.supplier:
        facts.append(Fact(msg("fact.supplier"), raw(state.supplier)))
    if state.container:
        facts.append(Fact(msg("head.container"), raw(state.container)))
    if item.home and state.place:
        facts.append(Fact(msg("fact.receiving_place"), raw(state.place)))
    return tuple(facts)


def _coming(state: Receiving) -> tuple[Stop, ...]:
    """What is still to come, that of the open container first."""
    inside = state.container.casefold()
    mine = state.item.product if state.item else ""
    left = [line for line in state.lines if line.is_open and line.product != mine]
    left.sort(key=lambda line: (line.container.casefold() != inside, line.number))
    return tuple(Stop(_ending(line.container), line.label, line.to_come) for line in left[:COMING])


def _ending(code: str) -> str:
    return code if len(code) <= WHOLE else f"…{code[-TAIL:]}"


def _hints(state: Receiving) -> tuple[Hint, ...]:
    if state.phase != "goods":
        return (BACK,)
    undo = (Hint("u", msg("hint.undo")),) if state.history else ()
    return (Hint("d", msg("hint.done")), *undo, Hint("l", msg("hint.lines")), BACK)
