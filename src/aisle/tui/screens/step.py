"""A step: where, what and how many, big and first; then what else there is room for."""

from __future__ import annotations

from collections.abc import Sequence

from aisle.jobs.view import Line as ViewLine
from aisle.jobs.view import Msg, Step, Stop, msg
from aisle.text import fit, told_apart, width, wrap
from aisle.tui.catalogue import Voice
from aisle.tui.screens import big
from aisle.tui.screens.painted import Line, beside, clipped, sides
from aisle.tui.screens.parts import MANY, choice_flow, choice_items, command_flow, fact_lines, hint_lines
from aisle.tui.screens.stack import GAP, Block, stack
from aisle.tuples import NamedTuple

TWO_COLUMNS = 72
"""From this width on, what comes next stands beside what is to be done now."""

BIG_CELLS, BIG_ROWS = 64, 20
"""In a body of this size or more, place and quantity are drawn large, to be read from a few steps away."""

CHOICE_ROWS = 2
"""Lines of a choice at most, where one would cut it."""

LEGIBLE = 5
"""Cells below which the name of a stop to come says nothing."""

NAMED = 12
"""Cells of the name of what is at hand that its place leaves it in a list."""

PLACED = 6
"""Rows below which place and quantity share a line."""

FIRST = ("place", "product", "quantity")

COMING = Msg("coming.title")
"""The usual heading, which one line says with a shorter word."""


class Box(NamedTuple):
    """The room for a body."""

    cells: int
    rows: int
    voice: Voice


def body(step: Step, box: Box) -> list[Line]:
    """The step in at most so many rows; what matters less is left out where room is short."""
    feet = 2 if box.rows >= 9 else 1
    foot = hint_lines(step.hints, box.cells, box.voice, feet)[:feet] if box.rows >= 4 else []
    above = len({line.role for line in step.lines} & set(FIRST))
    choices = len(choice_flow(step.choices, box.cells, box.voice, keys=step.keys))
    if choices > max(1, box.rows - above - len(foot)) or _is_tight(step, above, choices + len(foot), box):
        foot = _foot(step, box, max(1, box.rows - 2))
        foot, step = _held(foot, box._replace(rows=box.rows - 1)), step._replace(choices=(), keys="")
    room = box.rows - len(foot) - (1 if foot and box.rows >= 12 else 0)
    if box.cells >= TWO_COLUMNS and (step.coming or step.facts):
        lines = _two_columns(step, box._replace(rows=room))
    else:
        lines = _one_column(step, box._replace(rows=room))
    return [*lines, *([] for _ in range(box.rows - len(foot) - len(lines))), *foot]


def _foot(step: Step, box: Box, rows: int) -> list[Line]:
    """Choices and commands together, on so many lines."""
    return command_flow(step.choices, step.hints, box.cells, box.voice, rows, keys=step.keys)


def _is_tight(step: Step, above: int, feet: int, box: Box) -> bool:
    """Whether something that is said has room only where what leads back stands beside the choices."""
    notes = sum(line.role not in FIRST for line in step.lines)
    beside = box.rows < PLACED and {"place", "quantity"} <= {line.role for line in step.lines}
    if len(step.hints) != 1 or not notes or not step.choices or above - beside + notes + feet <= box.rows:
        return False
    return len(_foot(step, box, max(1, box.rows - 2))) < feet


def least(step: Step, box: Box) -> int:
    """The rows below which something that can be chosen would not be seen."""
    above = 2 if any(line.role == "product" for line in step.lines) else 1
    return above + len(_foot(step, box, 1))


def _two_columns(step: Step, box: Box) -> list[Line]:
    left = max(34, box.cells * 9 // 20)
    right = box.cells - left - 3
    alone = step._replace(coming=(), facts=())
    rule = "|" if box.voice.plain else "│"
    beyond = _aside(step, box._replace(cells=right))
    doing = _one_column(alone, box._replace(cells=left - 1))
    beyond += [[] for _ in range(box.rows - len(beyond))]
    return beside(doing, beyond, left, [(rule, "rule"), ("  ", "")])


def _aside(step: Step, box: Box) -> list[Line]:
    """Coming stops and facts, for the right column."""
    facts = fact_lines(step.facts, box.cells, box.voice)
    title: list[Line] = [[(box.voice.short(step.ahead, box.cells), "head")]]
    stops = [*title, *stop_lines(step.coming, box.cells, box.voice)] if step.coming else []
    sizes = tuple(stops[:count] for count in range(2, len(stops) + 1))
    blocks = (Block(sizes), Block((facts[:1], facts)))
    order = [(0, 0), (0, 1), (1, 0), (1, 1), (1, GAP), *((0, size) for size in range(2, len(sizes)))]
    return stack(blocks, order, box.rows)


def _one_column(step: Step, box: Box) -> list[Line]:
    first, rest = _first(step, box), [line for line in step.lines if line.role not in FIRST]
    notes = _wrapped(rest, box, 1)
    least = sum(len(block.sizes[0]) for block in first if block.sizes)
    tight = _held(choice_flow(step.choices, box.cells, box.voice, keys=step.keys), box._replace(rows=box.rows - least))
    choices, whole = (
        choice_items(step.choices, box.cells, box.voice, rows, keys=step.keys) for rows in (1, CHOICE_ROWS)
    )
    facts = fact_lines(step.facts, box.cells, box.voice)
    coming = _coming(step, box)
    blocks = (
        *first,
        Block((*(notes[:count] for count in range(1, len(notes))), notes, _wrapped(rest, box, 3))),
        Block((tight if len(tight) < len(choices) else choices, choices, whole)),
        Block(coming),
        Block((fact_lines(step.facts[:2], box.cells, box.voice), facts)),
    )
    note, choice, come, fact = 3, 4, 5, 6
    said = max(1, len(notes))
    order = [
        (0, 0), (1, 0), (2, 0), (choice, 0), *((note, size) for size in range(said)), (1, 1), (come, 0), (note, said),
        (choice, 1), (choice, 2), (2, GAP), (1, GAP), (choice, GAP), (come, GAP), (0, 1), (2, 1), (1, 2), (come, 1),
        (come, 2), (note, GAP), (fact, 0), (fact, GAP), (fact, 1), *((come, size) for size in range(3, len(coming))),
    ]  # fmt: skip
    if box.rows < PLACED:
        order.insert(order.index((2, GAP)), (come, 1))
    return stack(blocks, order, box.rows)


def _held(choices: list[Line], box: Box) -> list[Line]:
    """The choices that there is room for, at least one line of them; a cut is marked."""
    kept = choices[: max(1, box.rows)]
    if len(kept) == len(choices):
        return choices
    mark = box.voice.mark
    return [*kept[:-1], [*clipped(kept[-1], box.cells - width(mark) - 1), (" ", ""), (mark, "choice")]]


def _first(step: Step, box: Box) -> tuple[Block, Block, Block]:
    """Place, product and quantity; place and quantity share a line where rows are few."""
    found = {line.role: line.text for line in reversed(step.lines) if line.role in FIRST}
    place, product, quantity = (found.get(role) for role in FIRST)
    products = tuple(_text(product, "product", box, rows) for rows in (1, 2, 3)) if product else ()
    if place and quantity and box.rows < PLACED:
        right = _text(quantity, "quantity", box._replace(cells=box.cells // 2), 1)[0]
        left = _text(place, "place", box._replace(cells=box.cells - width(right[0][0]) - 1), 1)[0]
        return Block(([sides(left, right, box.cells)],)), Block(products), Block(())
    return Block(_sized(place, "place", box)), Block(products), Block(_sized(quantity, "quantity", box))


def _sized(message: Msg | None, role: str, box: Box) -> tuple[list[Line], ...]:
    """One line, and the same in large letters where the screen is, of what it names: that there is no place is
    nothing to walk to."""
    if message is None:
        return ()
    small = _text(message, role, box, 1)
    if box.cells < BIG_CELLS or box.rows < BIG_ROWS or box.voice.plain:
        return (small,)
    letters = big.letters(box.voice.say(message, 0), box.cells) if message.args else []
    return (small, [[(row, role)] for row in letters]) if letters else (small,)


def _text(message: Msg, role: str, box: Box, rows: int) -> list[Line]:
    """A message in at most so many lines, the longest of its lengths that goes in whole."""
    text = box.voice.fitting(message, lambda said: width(said) - box.cells * rows)
    lines = wrap(text, box.cells, rows, mark=box.voice.mark, middle=role == "product")
    return [[(line, role)] for line in lines] or [[("", role)]]


def _wrapped(lines: Sequence[ViewLine], box: Box, rows: int) -> list[Line]:
    return [drawn for line in lines for drawn in _text(line.text, line.role, box, rows)]


def _coming(step: Step, box: Box) -> tuple[list[Line], ...]:
    """What comes: the next stop on one line, then growing lists under a heading. Whoever has to go there is told where
    before what; of what is at hand it is the other way round."""
    stops = step.coming
    if not stops:
        return ()
    word = box.voice.say(msg("coming.next") if step.ahead == COMING else step.ahead, 0)
    room = box.cells - width(word) - 2
    beside = [_beside(step, word, room, box, count) for count in range(1, min(box.rows, len(stops)) + 1)]
    if box.rows < PLACED:
        return tuple(beside)
    head: Line = [(box.voice.short(step.ahead, box.cells), "head")]
    if step.at_hand and not all(_has_room(stop, box.cells, box.voice, NAMED) for stop in stops):
        stops = tuple(stop._replace(place="") for stop in stops)
    drawn = stop_lines(stops, box.cells, box.voice)
    return (*beside[:1], *([head, *drawn[:count]] for count in range(2, len(drawn) + 1)))


def _beside(step: Step, word: str, room: int, box: Box, count: int) -> list[Line]:
    """So many of what comes, with no line for the heading: a word before the first says it."""
    stops = step.coming
    if step.at_hand and not all(_has_room(stop, room, box.voice) for stop in stops[:count]):
        stops = tuple(stop._replace(place="") for stop in stops)
    drawn = stop_lines(stops, room, box.voice, count)
    return [[(word if not row else " " * width(word), "head"), ("  ", ""), *line] for row, line in enumerate(drawn)]


def _has_room(stop: Stop, cells: int, voice: Voice, name: int = LEGIBLE) -> bool:
    """Whether there is room for what it is, or for so many cells of that, beside its place."""
    return width(voice.raw(stop.place)) + width(_quantity(stop, voice)) + 4 + name <= cells


def _quantity(stop: Stop, voice: Voice) -> str:
    return "" if stop.quantity is None else voice.number(stop.quantity)


def stop_lines(stops: Sequence[Stop], cells: int, voice: Voice, shown: int = MANY) -> list[Line]:
    """Stops to come, so many of them, as a small table: place, product, quantity at the right edge. Where a product is
    cut, it can be told from all the others."""
    first = stops[:shown]
    places = [voice.raw(stop.place) for stop in first]
    quantities = [_quantity(stop, voice) for stop in first]
    last = max((width(quantity) for quantity in quantities), default=0)
    column = min(max((width(place) for place in places), default=0), max(cells // 2, min(12, cells - last - 2)))
    room = cells - last - 2 - (column + 2 if column else 0)
    labels = [voice.raw(stop.label) for stop in stops]
    worth = room >= LEGIBLE
    room = min(room, max((width(label) for label in labels[:shown]), default=0)) if worth else room
    labels = told_apart(labels, room, mark=voice.mark) if worth else labels
    lines: list[Line] = []
    for place, label, quantity in zip(places, labels[:shown], quantities, strict=True):
        line: Line = [(fit(place, column, mark=voice.mark, pad=True) + "  ", "stop-place")] if column else []
        name = fit(label, room, pad=True) if worth else " " * room
        line.append((name + "  ", "stop-label"))
        line.append((quantity.rjust(last), "stop-quantity"))
        lines.append(line)
    return lines
