"""What the count job shows at each of its steps. A blind count keeps the figures of the books to itself until done."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs import numbers
from aisle.jobs.base import priced
from aisle.jobs.choice_keys import keys_of
from aisle.jobs.count import counting
from aisle.jobs.count.counting import NO_USE, Counting, Item, Next
from aisle.jobs.numbers import NOT_SO_MANY
from aisle.jobs.view import BACK, ON, Fact, Hint, Line, ListWindow, Msg, Row, Step, Stop, View, msg, raw, signed
from aisle.scan.meaning import Meaning

ANSWERS = {
    "missing": ["not_there", "leave_it", "count", "leave_all"],
    "leave": ["finish", "throw_away", "back"],
}
"""What the answers to the questions of a count are, in their order."""

COMMANDS = "dulkn"
"""The letters of the pages on which products are counted."""

COMING = 12
"""Items to come that a view carries."""


def step(state: Counting) -> str:
    """The name of the step."""
    if state.phase == "count":
        return "count.stop" if state.mode == "product" else "count.product"
    return f"count.{state.phase}"


def view(state: Counting) -> View:
    """The view of the step that the state stands at."""
    match state.phase:
        case "start":
            return _start(state)
        case "list":
            return _list(state)
        case "count":
            return _count(state)
        case "missing":
            return _missing(state, state.question)
        case "recount":
            return _recount(state, state.items[state.question])
        case "summary":
            return _summary(state)
        case "pool":
            return _pools(state)
    return _leave(state)


def choices(state: Counting) -> tuple[Msg, ...]:
    """The ways on that are asked about, or the numbered ones of a page without quantities."""
    if state.ways:
        return tuple(_way(way, state.ways[0].kind == "quantity") for way in state.ways)
    match state.phase:
        case "start":
            listed = msg("count.to_list_of", count=len(state.todo)) if state.todo else msg("count.to_list")
            asked = (msg("count.to_recounts", count=state.asked),) if state.asked else ()
            return (msg("count.to_loss"), msg("count.to_log"), listed, *asked)
        case "missing":
            rest = counting.questions(state)
            ways = (msg("count.not_there"), msg("count.leave_it"), msg("count.count_now"))
            return (*ways, msg("count.leave_all", count=rest)) if rest > 1 else ways
        case "summary":
            return (msg("count.send"), msg("count.recount"), msg("count.back"))
        case "leave":
            return (msg("count.finish"), msg("count.throw_away", count=len(state.counted)), msg("count.back"))
    return ()


def of_how_many(state: Counting) -> Item | None:
    """The product of which a number says how many: the one on the screen, whatever is asked about it."""
    if state.phase in ("missing", "recount"):
        return state.items[state.question] if state.question >= 0 else None
    is_next_asked = bool(state.ways) and not waits(state)  # a number would be for what was scanned then
    return state.item if state.phase == "count" and not is_next_asked else None


def keys(state: Counting) -> str:
    """The letters of the choices, wherever products are counted; else they are numbered."""
    if state.phase in ("start", "list", "summary", "pool"):
        return ""
    if state.ways:
        kinds = [_key_kind(state, way) for way in state.ways]
    else:
        kinds = ANSWERS.get(state.phase, [])[: len(choices(state))]
    return keys_of(kinds, COMMANDS if state.phase in ("count", "recount") else "")


def _key_kind(state: Counting, way: Next) -> str:
    """What a way on is, as its letter says it: so many, the thing that digits are the number of, what is counted
    next."""
    if way.kind == "quantity":
        return "quantity"
    if state.ways[0].kind != "quantity":
        return "then"
    return {"place": "is_location", "product": "is_product", NOT_SO_MANY: NOT_SO_MANY}.get(way.kind, "is_order")


def waits(state: Counting) -> bool:
    """Whether it is asked if so many are meant, or what digits are the number of: they stand nowhere but in the
    question."""
    return bool(state.ways) and state.ways[0].kind == "quantity"


def _way(way: Next, is_number: bool) -> Msg:
    """What digits mean, or what is counted when this is sent."""
    if way.kind == "quantity":
        return msg("count.way_quantity", quantity=Decimal(way.key))
    if way.kind == NOT_SO_MANY:
        return msg("count.way_not_so_many")
    label = way.label or way.key
    if way.kind in NO_USE:
        return numbers.way_other(Meaning(way.kind, way.key, label))
    if not is_number:
        return msg("count.way_on", label=label)
    return msg("count.way_place", label=label) if way.kind == "place" else msg("count.way_product", label=label)


def _title(state: Counting) -> Msg:
    if state.mode == "product":
        return msg("count.title_product", label=state.label)
    if state.place:
        return msg("count.title_place", place=state.place)
    return msg("count.title") if state.phase in ("start", "list") else msg("count.title_store")


def _start(state: Counting) -> Step:
    return Step(
        step(state),
        _title(state),
        msg("count.prompt_start"),
        lines=(Line("note", msg("count.note_start")),),
        choices=choices(state),
        hints=(Hint("u", msg("hint.undo")), BACK) if state.gone else (BACK,),
    )


def _list(state: Counting) -> ListWindow:
    """What is to be counted one after the other, in the order of feet."""
    rows = tuple(Row(f"{each.kind}/{each.key}", (raw(each.label or each.key),)) for each in state.todo)
    hints = [Hint("d", msg("hint.start"))] if rows else []
    if any(each.key == state.place for each in state.todo):
        hints.append(Hint("w", msg("hint.aisle")))
    hints += [Hint("u", msg("hint.undo")), BACK] if rows else [BACK]
    return ListWindow(
        name=step(state),
        title=msg("count.title_list", count=len(rows)),
        prompt=msg("count.prompt_list"),
        heads=(msg("head.to_count"),),
        rows=rows[state.first :],
        first=state.first,
        total=len(rows),
        empty=msg("count.list_note"),
        hints=(*hints, ON) if len(rows) > 1 else tuple(hints),
    )


def _count(state: Counting) -> Step:
    item, left = state.item, [item for item in state.items if item.left and item.counted is None]
    lines = [Line("place", _place(state, item))]
    if item:
        lines += [Line("product", counting.named(state, state.at)), Line("quantity", _quantity(state, item))]
    elif not state.items:
        lines.append(Line("note", msg("place.unnamed" if state.unnamed else "count.note_empty")))
    elif state.blind:
        lines.append(Line("note", msg("count.note_blind")))
    elif not state.partly and not any(item.missing for item in state.items):
        lines.append(Line("note", msg("count.note_left", count=len(left)) if left else msg("count.note_all")))
    return Step(
        name=step(state),
        title=_title(state),
        prompt=_prompt(state, item),
        lines=tuple(lines),
        facts=_facts(state, item) if item else (),
        coming=_coming(state),
        ahead=msg("count.ahead"),
        choices=choices(state),
        keys=keys(state),
        hints=_hints(state),
        done=Decimal(len(state.counted)),
        total=Decimal(state.lying if state.partly else sum(_is_due(item) for item in state.items)),
    )


def _is_due(item: Item) -> bool:
    return item.counted is not None or item.missing


def _place(state: Counting, item: Item | None) -> Msg:
    place = item.place if item and state.mode == "product" else state.place
    return msg("count.place", place=place) if place else msg("count.nowhere")


def _quantity(state: Counting, item: Item) -> Msg:
    """Counted, and what is expected where that may be seen."""
    if item.counted is None:
        return msg("count.none_yet") if state.blind or item.unsaid else msg("count.expected", expected=item.expected)
    if state.blind or not item.expected:
        return msg("count.so_far", counted=item.counted)
    return msg("count.so_far_of", counted=item.counted, expected=item.expected)


def _prompt(state: Counting, item: Item | None) -> Msg:
    if state.ways:
        asked = numbers.prompt if of_how_many(state) else numbers.prompt_letter
        return asked(keys(state), scans=not waits(state))
    if state.mode == "product":
        return msg("count.prompt_stop")
    if item is None:
        return msg("count.prompt_product")
    if state.only:
        return msg("count.prompt_only")
    return msg("count.prompt_quantity")


def _facts(state: Counting, item: Item) -> tuple[Fact, ...]:
    facts = [Fact(msg("fact.product_number"), raw(item.product))]
    if item.held and not state.blind and (item.place or state.mode == "place"):
        facts.append(Fact(msg("fact.held"), msg("number", value=item.held)))
    if item.pool and len(state.pools) > 1:
        facts.append(Fact(msg("fact.pool"), _pool(state, item.pool)))
    if item.unit:
        facts.append(Fact(msg("fact.unit"), raw(item.unit)))
    if item.price:
        facts.append(Fact(msg("fact.price"), priced(item.price)))
    return tuple(facts)


def _pool(state: Counting, number: int) -> Msg:
    name = next((pool.name for pool in state.pools if pool.number == number), "")
    return msg("count.pool_of", number=number, name=name) if name else msg("number", value=number)


def _coming(state: Counting) -> tuple[Stop, ...]:
    """What is left to be counted; a blind count does not say how much of it."""
    if state.blind:
        return ()
    left = [index for index, item in enumerate(state.items) if index != state.at and item.missing][:COMING]
    return tuple(_coming_item(state, index) for index in left)


def _coming_item(state: Counting, index: int) -> Stop:
    """Where it is, on the way of a product; which product, and which pool of it, at a place."""
    item = state.items[index]
    if state.mode == "product":
        pool = dict(counting.named(state, index).args).get("pool", "")
        return Stop(item.place, str(pool) if item.place else item.label, _expected(item))
    name = dict(counting.named(state, index).args)
    return Stop("", f"{item.label} ({name['pool']})" if "pool" in name else item.label, _expected(item))


def _expected(item: Item) -> Decimal | None:
    return None if item.unsaid else item.expected


def _hints(state: Counting) -> tuple[Hint, ...]:
    hints = [Hint("d", msg("hint.done"))]
    if state.mode == "product" or state.todo:
        hints.append(ON)
    if state.history or state.gone:
        hints.append(Hint("u", msg("hint.undo")))
    hints.append(BACK)
    if len(state.pools) > 1 and not state.only:
        hints.append(Hint("k", msg("hint.pool")))
    return (*hints, Hint("l", msg("hint.loss")))


def _missing(state: Counting, index: int) -> Step:
    item, alike = state.items[index], counting.missing_with(state, index)
    lines = [Line("place", _place(state, item)), Line("product", counting.named(state, *alike))]
    if not (state.blind or any(state.items[each].unsaid for each in alike)):
        expected = sum((state.items[each].expected for each in alike), Decimal(0))
        lines.append(Line("quantity", msg("count.expected", expected=expected)))
    return Step(
        name=step(state),
        title=_title(state),
        prompt=msg("count.prompt_missing"),
        lines=tuple(lines),
        facts=_facts(state, item),
        choices=choices(state),
        keys=keys(state),
        hints=(BACK,),
    )


def _recount(state: Counting, item: Item) -> Step:
    lines = [Line("place", _place(state, item)), Line("product", counting.named(state, state.question))]
    if state.second is None:
        lines.append(Line("quantity", msg("count.first_time", counted=item.counted or Decimal(0))))
    else:
        lines.append(Line("quantity", msg("count.so_far", counted=state.second)))
    return Step(
        name=step(state),
        title=_title(state),
        prompt=_prompt(state, item) if state.ways else msg("count.prompt_recount"),
        lines=tuple(lines),
        facts=_facts(state, item),
        choices=choices(state),
        keys=keys(state),
        hints=(Hint("d", msg("hint.keep") if state.second is None else msg("hint.done")), BACK),
    )


def _summary(state: Counting) -> ListWindow:
    """All that differs; the dearest first."""
    rows = tuple(_row(state, index, item) for index, item in enumerate(state.differing))
    return ListWindow(
        name=step(state),
        title=_title(state),
        prompt=msg("count.prompt_summary"),
        heads=(
            msg("head.place" if state.mode == "product" else "head.product"),
            msg("head.difference"),
            msg("head.counted"),
            msg("head.value"),
        ),
        rows=rows[state.first :],
        first=state.first,
        total=len(rows),
        choices=choices(state),
        hints=(ON, BACK) if len(rows) > 1 else (BACK,),
    )


def _row(state: Counting, index: int, item: Item) -> Row:
    where = state.mode == "product"
    named = counting.named(state, state.items.index(item))
    name = named
    if where:
        name = raw(item.place) if item.place else msg("count.nowhere")
        if "pool" in dict(named.args):
            name = msg("count.in_pool", label=name, pool=dict(named.args)["pool"])
    value = signed(item.value, priced(round(abs(item.value), 2))) if item.price else raw("")
    counted = msg("count.of_expected", counted=item.counted or Decimal(0), expected=item.expected)
    if item.unsaid:
        counted = msg("number", value=item.counted or Decimal(0))
    difference = signed(item.difference)
    return Row(f"{index}", (name, difference, counted, value))


def _pools(state: Counting) -> ListWindow:
    """The pools of the store by their own numbers, which are what is typed."""
    rows = tuple(Row(str(pool.number), (msg("number", value=pool.number), raw(pool.name))) for pool in state.pools)
    return ListWindow(
        name=step(state),
        title=_title(state),
        prompt=msg("count.prompt_pool"),
        heads=(msg("head.number"), msg("fact.pool")),
        rows=rows[state.first :],
        first=state.first,
        total=len(rows),
        hints=(*((ON,) if len(rows) > 3 else ()), BACK),
    )


def _leave(state: Counting) -> Step:
    """Whether to leave what was counted."""
    return Step(
        name=step(state),
        title=_title(state),
        prompt=numbers.prompt_letter(keys(state), scans=False),
        lines=(Line("note", msg("count.note_leave", count=len(state.counted))),),
        choices=choices(state),
        keys=keys(state),
        hints=(BACK,),
    )
