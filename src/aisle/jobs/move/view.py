"""What the move job shows at each of its steps."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs import numbers
from aisle.jobs.choice_keys import keys_of
from aisle.jobs.move import shelf as move_shelf
from aisle.jobs.move import take as move_take
from aisle.jobs.move.moving import UNKNOWN, ZERO, Lying, Moving, Part, Pool, Way
from aisle.jobs.view import Fact, Hint, Line, Msg, Step, Stop, msg, raw
from aisle.scan.meaning import Meaning

COMING = 12
"""Goods beside those on the screen that a view carries."""

MANY = 3
"""More ways on than this need the room of what is known already."""

POOLS = tuple(Pool(number) for number in range(1, 11))
"""All that there can be, for a store that names none."""

ANSWERS = {"leave": ("drop", "back"), "where": ("in_hand",)}
"""What the answers to the questions of a move are, in their order."""

COMMANDS = "acdknuw"
"""The letters of the pages on which goods are taken or put down: none of them answers what is asked."""

HINTS = {
    "a": "hint.all_here",
    "b": "hint.back",
    "c": "hint.cart",
    "d": "hint.unload",
    "k": "hint.pool",
    "n": "hint.page_on",
    "u": "hint.undo",
    "w": "hint.everything",
}
"""What the letters do."""

WAYS = {
    "from": "move.way_from",
    "nowhere": "move.way_nowhere",
    "fit": "move.way_fit",
    "over": "move.way_over",
    "count": "move.way_count",
    "held": "move.way_held",
    "drop": "move.way_drop",
    "lying": "move.way_lying",
    "put": "move.way_put",
    "put_all": "move.way_put_all",
    "forget": "move.way_forget",
    "fit_order": "move.way_fit_order",
    "undo_rest": "move.way_undo_rest",
    "amount": "move.way_amount",
    "not_so_many": "count.way_not_so_many",
    "is_product": "move.way_is_product",
    "is_location": "move.way_is_location",
    "is_order": "move.way_is_order",
    "is_reference": "move.way_is_order",
}
"""What the ways on say."""

QUANTITIES = {
    (False, False): "move.quantity",
    (True, False): "move.measure",
    (False, True): "move.quantity_of",
    (True, True): "move.measure_of",
}
"""How much: (with a unit, of how much by the books)."""


def step(state: Moving) -> str:
    """The name of the step."""
    return f"move.{state.phase}"


def view(state: Moving) -> Step:
    """The view of the step that the state stands at."""
    part = state.part if state.phase not in ("pool", "leave", "where") else None
    done = sum((each.quantity for each in state.hand), ZERO)
    return Step(
        name=step(state),
        title=_title(state),
        prompt=_prompt(state, part),
        lines=_lines(state, part),
        facts=_facts(state, part) if part else (),
        coming=_coming(state),
        choices=choices(state),
        keys=keys(state),
        hints=_hints(state, part, done),
        ahead=_ahead(state),
        at_hand=True,
    )


def _ahead(state: Moving) -> Msg:
    """What stands over the goods beside those on the screen."""
    if not state.hand:
        return msg("move.here")
    if not state.cart:
        return msg("move.in_hand")
    return msg("move.left_on_cart" if state.phase == "put" else "move.on_cart")


def pools(state: Moving) -> tuple[Pool, ...]:
    """The pools that can be chosen."""
    return state.pools or POOLS


def keys(state: Moving) -> str:
    """The letters of the choices, wherever goods are taken or in hand; else they are numbered."""
    if state.phase in ("leave", "where"):
        return keys_of(ANSWERS[state.phase])
    if state.phase in ("from", "pool"):
        return ""
    return keys_of((way.kind for way in state.ways), COMMANDS)


def choices(state: Moving) -> tuple[Msg, ...]:
    """The ways on that are asked about."""
    match state.phase:
        case "pool":
            return tuple(_pool(pool) for pool in pools(state))
        case "leave":
            return (msg("move.leave_them"), msg("move.go_on"))
        case "where":
            return (msg("move.keep_in_hand"),)
    return tuple(_way(state, way) for way in state.ways)


def _way(state: Moving, way: Way) -> Msg:
    if way.kind in ("is_delivery", "is_person"):
        return numbers.way_other(Meaning(way.kind[3:], way.key, way.key))
    if way.kind == "over":
        part = move_take.meant(state, way)
        return msg(WAYS[way.kind], quantity=way.quantity, label=part.label if part else way.key)
    if way.kind == "from" and way.quantity == UNKNOWN:
        return msg("move.way_from_unsaid", place=way.key)
    return msg(WAYS[way.kind], place=way.key, order=way.key, line=way.line, quantity=way.quantity)


def _pool(pool: Pool) -> Msg:
    return raw(pool.name) if pool.name else msg("number", value=pool.number)


def _named(state: Moving, number: int) -> Msg:
    return _pool(next((pool for pool in state.pools if pool.number == number), Pool(number)))


def _title(state: Moving) -> Msg:
    count = len(state.hand)
    if state.cart:
        return msg("move.title_cart", count=count) if count else msg("move.title_cart_empty")
    if state.phase == "pool":
        return msg("move.title_pool")
    return msg("move.title_hand", count=count) if count > 1 else msg("move.title")


def _lines(state: Moving, part: Part | None) -> tuple[Line, ...]:
    match state.phase:
        case "from" if state.task:
            task = state.task
            goods = Part(task.product, task.label, task.quantity, decimal=task.decimal, unit=task.unit)
            place, product = raw(task.place), raw(task.label)
            return Line("place", place), Line("product", product), Line("quantity", _measured("", goods, task.quantity))
        case "from":
            note = "move.note_which" if state.pending else "move.note_from"
            return (Line("note", msg(note)),)
        case "pool":
            chosen = msg("move.note_to_pool", pool=_named(state, state.from_pool))
            return (Line("note", msg("move.note_from_pool") if state.choosing == "from" else chosen),)
        case "leave":
            return (Line("note", msg("move.note_leave", count=len(state.hand))),)
        case "where":
            return (Line("place", raw(state.target)), Line("note", msg("move.note_where")))
        case "put" if part:
            return _putting(state, part)
    return _taking(state, part)


def _putting(state: Moving, part: Part) -> tuple[Line, ...]:
    """The goods on the screen, and where they could go."""
    home = msg("move.to", place=part.home) if part.home else msg("move.anywhere")
    quantity = state.portion or part.quantity
    text = _measured("", part, quantity)
    if state.portion:
        text = msg("move.portion_of", quantity=state.portion, of=part.quantity)
    return Line("place", home), Line("product", raw(part.label)), Line("quantity", text)


def _taking(state: Moving, part: Part | None) -> tuple[Line, ...]:
    lines = [Line("place", _source(state, part))]
    if len(state.ways) > MANY:
        return tuple(lines)
    if part:
        lines.append(Line("product", raw(part.label)))
        lines.append(Line("quantity", _quantity(part)))
    elif state.hand:
        quantity = sum((each.quantity for each in state.hand), ZERO)
        lines.append(Line("note", msg("move.note_hand", count=len(state.hand), quantity=quantity)))
    elif state.place and state.known and not state.order:
        here = state.lying if state.partly else sum(_lies(each) for each in state.shelf)
        empty = msg("place.unnamed" if state.unnamed else "move.note_empty")
        lines.append(Line("note", msg("move.note_lying", count=here) if here else empty))
    if state.to_pool:
        source, target = _named(state, state.from_pool), _named(state, state.to_pool)
        lines.append(Line("note", msg("move.note_pools", source=source, target=target)))
    return tuple(lines)


def _source(state: Moving, part: Part | None) -> Msg:
    if part and part.order and not part.keep:
        return msg("move.of_order", order=part.order)
    place = part.place if part else state.place
    if place:
        return msg("move.from_place", place=place)
    if state.order:
        return msg("move.of_order", order=state.order)
    return msg("move.no_place") if state.started else msg("move.where_first")


def _quantity(part: Part) -> Msg:
    """How many, and of how many by the books."""
    return _measured("_of", part, part.quantity) if part.books >= 0 else _measured("", part, part.quantity)


def _measured(of: str, part: Part, quantity: Decimal) -> Msg:
    """Pieces go without saying; what is weighed or measured is said with its unit."""
    id_ = QUANTITIES[bool(part.decimal and part.unit), bool(of)]
    return msg(id_, quantity=quantity, books=part.books, unit=part.unit)


def _prompt(state: Moving, part: Part | None) -> Msg:
    if state.phase == "where":
        return msg("move.prompt_where")
    if choices(state):
        waits = move_take.is_number_asked(state) or (move_shelf.is_asked(state) and state.phase != "put")
        if state.phase in ("from", "pool"):
            return msg("move.prompt_choice" if state.phase == "pool" else "pick.prompt_choice")
        if move_take.of_how_many(state):
            return numbers.prompt(keys(state), scans=not waits)
        return numbers.prompt_letter(keys(state), scans=not waits and state.phase != "leave")
    match state.phase:
        case "from":
            return msg("move.prompt_task", place=state.task.place) if state.task else msg("move.prompt_from")
        case "put":
            return msg("move.prompt_put", place=part.home) if part and part.home else msg("move.prompt_put_any")
        case "load":
            return msg("move.prompt_load") if state.started else msg("move.prompt_from")
    if not state.hand:
        return msg("move.prompt_product")
    return msg("move.prompt_target") if state.places else msg("move.prompt_target_plain")


def _facts(state: Moving, part: Part) -> tuple[Fact, ...]:
    facts = [Fact(msg("fact.product_number"), raw(part.product))]
    if part.most_at and state.phase != "put":
        facts.append(Fact(msg("fact.also_at"), msg("move.also_at", place=part.most_at, quantity=part.most)))
    if state.phase == "put" and part.place:
        facts.append(Fact(msg("fact.taken_at"), raw(part.place)))
    if part.keep:
        facts.append(Fact(msg("fact.held_for"), raw(part.order)))
    if part.pool:
        facts.append(Fact(msg("fact.pool"), _named(state, part.pool)))
    return tuple(facts)


def _coming(state: Moving) -> tuple[Stop, ...]:
    """What lies here; with goods in hand the others, on the way out with where they could go, else where they were."""
    if state.phase not in ("take", "load", "put"):
        return ()
    if not state.hand:
        lying = state.lines if state.order else state.shelf
        if state.known and not state.order:
            lying = tuple(each for each in lying if _lies(each))
        return tuple(Stop("", each.label, _all_of(each)) for each in lying)[:COMING]
    count = len(state.hand)
    first = state.at + 1 if state.part else 0
    parts = [state.hand[(first + index) % count] for index in range(count - (1 if state.part else 0))]
    out = state.phase == "put"
    return tuple(Stop(part.home if out else _elsewhere(state, part), part.label, part.quantity) for part in parts)[
        :COMING
    ]


def _elsewhere(state: Moving, part: Part) -> str:
    """Where goods were, if that is not the place that is said already."""
    return "" if part.place == (state.part.place if state.part else state.place) else part.place


def _all_of(lying: Lying) -> Decimal | None:
    """How much of it lies there; None where nobody says it."""
    if lying.free == UNKNOWN:
        return None
    return max(ZERO, lying.free) + sum((hold.quantity for hold in lying.held), ZERO)


def _lies(lying: Lying) -> bool:
    return _all_of(lying) != 0


def _hints(state: Moving, part: Part | None, done: Decimal) -> tuple[Hint, ...]:
    """The letters that do something now, the likeliest first."""
    here = state.phase
    if state.task:
        return tuple(Hint(letter, msg(HINTS[letter])) for letter in ("ub" if state.history else "b"))
    wanted = {
        "from": "ckub",
        "take": "wckub" if not done else "dawubck" if state.places else "dkub",
        "load": "dawnubk" if done else "wkub",
        "put": "ncub",
    }.get(here, "b")
    names = {**HINTS, "d": "hint.unload" if here == "load" else "hint.done"}
    return tuple(Hint(letter, msg(names[letter])) for letter in wanted if _useful(state, part, letter))


def _useful(state: Moving, part: Part | None, letter: str) -> bool:
    match letter:
        case "a":
            return part is not None and part.books >= 0
        case "w":
            return bool((state.known and state.place) or state.order)
        case "n":
            return len(state.hand) > 1
        case "c":
            return state.places
        case "d":
            return state.phase == "load" or bool(state.to_pool) or not state.places
        case "u":
            return bool(state.history)
        case "k":
            return len(state.pools) != 1
    return True
