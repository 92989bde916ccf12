"""What losses and finds show at each step."""

from __future__ import annotations

from aisle.jobs import numbers
from aisle.jobs.choice_keys import keys_of
from aisle.jobs.count import counting
from aisle.jobs.count.counting import NO_USE, Item
from aisle.jobs.count.losing import Losing, Reason
from aisle.jobs.view import BACK, ON, Fact, Hint, Line, ListWindow, Msg, Row, Step, View, msg, raw
from aisle.scan.meaning import LOCATION, Meaning

HEADS = {
    "place": (msg("head.place"), msg("head.expected")),
    "reason": (msg("head.reason"), msg("head.stock")),
}
"""The column heads of each question."""

COMMANDS = "d"
"""The letter that says that these are all."""

PROMPTS = {
    "product": "loss.prompt_product",
    "place": "loss.prompt_place",
    "quantity": "loss.prompt_quantity",
    "reason": "loss.prompt_reason",
}
"""What each phase asks for."""


def view(state: Losing) -> View:
    """What is asked now."""
    if state.phase in ("place", "reason"):
        return _question(state)
    item = state.item
    place = item.place if item else state.place
    lines = [Line("place", msg("count.place", place=place) if place else msg("count.nowhere"))]
    if item is None:
        hints = (Hint("u", msg("hint.undo")),) if state.sent else ()
        lines = [*lines[: bool(place)], Line("note", msg("loss.note"))]
    else:
        hints = (Hint("d", msg("hint.reason")),)
        lines.append(Line("product", raw(item.label)))
        lines.append(Line("quantity", msg("loss.quantity", quantity=state.quantity)))
    return Step(
        name=f"loss.{state.phase}",
        title=msg("loss.title"),
        prompt=_prompt(state),
        lines=tuple(lines),
        facts=(Fact(msg("fact.product_number"), raw(item.product)),) if item else (),
        choices=ways(state),
        keys=keys(state),
        hints=(*hints, BACK),
    )


def _prompt(state: Losing) -> Msg:
    if not ways(state):
        return msg(PROMPTS[state.phase])
    return numbers.prompt(keys(state), scans=not digits(state))


def too_many(state: Losing) -> tuple[tuple[str, Msg], ...]:
    """The ways on when more is lost than the books have, by their kinds."""
    if state.item is None or state.chosen is None:
        return ()
    books, quantity = state.item.expected, state.quantity
    fit = (("fit", msg("loss.way_fit", quantity=books)),) if books > 0 else ()
    where = msg("count.place", place=state.item.place) if state.item.place else msg("count.nowhere")
    return (*fit, ("over", msg("loss.way_over", quantity=quantity)), ("count", msg("loss.way_count", place=where)))


def ways(state: Losing) -> tuple[Msg, ...]:
    """What digits may mean, or how many were lost, while that is asked."""
    return digits(state) or tuple(text for _, text in too_many(state))


def keys(state: Losing) -> str:
    """The letters of the ways on: a number is how many were lost."""
    if not digits(state):
        return keys_of((kind for kind, _ in too_many(state)), COMMANDS)
    return keys_of(("quantity", f"is_{state.number.kind}" if state.number else numbers.NOT_SO_MANY), COMMANDS)


def digits(state: Losing) -> tuple[Msg, ...]:
    """What the digits typed last may mean, while that is asked: so many, or what they are the number of."""
    if state.typed is None or not (state.number or state.beyond):
        return ()
    other = _other(state.number) if state.number else msg("count.way_not_so_many")
    return msg("count.way_quantity", quantity=state.typed), other


def _other(number: Meaning) -> Msg:
    """What digits mean where they are no quantity."""
    if number.kind in NO_USE:
        return numbers.way_other(number)
    label = number.label or number.key
    return msg("count.way_place" if number.kind == LOCATION else "count.way_product", label=label)


def _question(state: Losing) -> ListWindow:
    """Where it was, or why: numbered rows."""
    assert state.item is not None
    total = len(state.spots if state.phase == "place" else state.reasons)
    more = (ON,) if total > state.size else ()
    return ListWindow(
        name=f"loss.{state.phase}",
        title=msg("loss.title_of", label=state.item.label, quantity=state.quantity),
        prompt=msg(PROMPTS[state.phase]),
        heads=HEADS[state.phase],
        rows=shown(state),
        first=state.first,
        total=total,
        numbered=len(shown(state)),
        hints=(*more, BACK),
    )


def shown(state: Losing) -> tuple[Row, ...]:
    """The rows of the question on the screen."""
    if state.phase == "place":
        rows = tuple(_spot(state, spot) for spot in state.spots)
    elif state.phase == "reason":
        rows = tuple(_why(reason) for reason in state.reasons)
    else:
        return ()
    return rows[state.first : state.first + state.size]


def _spot(state: Losing, spot: Item) -> Row:
    """A place, and which pool there, where the product lies there in several."""
    place = msg("count.place", place=spot.place) if spot.place else msg("count.nowhere")
    if sum(other.place == spot.place for other in state.spots) > 1:
        place = msg("count.in_pool", label=place, pool=counting.pool_name(state.pools, spot.pool))
    return Row(f"{spot.place}/{spot.pool}", (place, raw("?") if spot.unsaid else msg("estimate", value=spot.expected)))


def _why(reason: Reason) -> Row:
    return Row(str(reason.code), (raw(reason.words), msg("loss.adds" if reason.sign > 0 else "loss.takes")))


def next_page(state: Losing) -> int:
    first = state.first + state.size
    return first if first < _total(state) else 0


def refilled(state: Losing) -> Losing:
    """The rows begin so far up that their page is full."""
    return state._replace(first=max(0, min(state.first, _total(state) - state.size)))


def _total(state: Losing) -> int:
    return len(state.spots if state.phase == "place" else state.reasons)
