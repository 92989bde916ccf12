"""The parts that several screens share: numbered choices, hints, bars, facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import partial

from aisle.jobs.view import Fact, Hint, Msg
from aisle.text import fit, width, wrap
from aisle.tui.catalogue import Voice
from aisle.tui.screens.painted import Line, line_width
from aisle.tuples import NamedTuple

MANY = 99
"""More lines than there are on a screen."""

BACK = "b"
"""The letter that leads back."""


class Cover(NamedTuple):
    """Lines that something said lays over a page; what it is gives way to them before anything that is listed."""

    now: int = 0
    most: int = 0
    """So many could be laid over this screen: a page ends where it would with them, so that none skips a row."""


def flowed(items: Iterable[Line], cells: int, gap: int = 3) -> list[Line]:
    """Items one after the other, as many on a line as fit."""
    lines: list[Line] = []
    for item in items:
        if lines and line_width(lines[-1]) + gap + line_width(item) <= cells:
            lines[-1] = [*lines[-1], (" " * gap, ""), *item]
        else:
            lines.append(list(item))
    return lines


def choice_items(
    choices: Sequence[Msg], cells: int, voice: Voice, rows: int = 1, after: int = 0, keys: str = ""
) -> list[Line]:
    """Each choice behind its number or letter, in at most `cells`; what one line would cut has at most so many. So many
    numbers are those of rows (`after`)."""
    items: list[Line] = []
    for key, choice in zip(_keys(choices, after, keys), choices, strict=True):
        room = max(1, cells - len(key) - 1)
        first, more = voice.short(choice, room), []
        if rows > 1 and voice.mark in first:
            text = voice.fitting(choice, partial(lines_over, cells=room, rows=rows))
            first, *more = wrap(text, room, rows, mark=voice.mark)
        items.append([(key, "choice-key"), (" ", ""), (first, "choice")])
        items += [[(" " * (len(key) + 1), ""), (line, "choice")] for line in more]
    return items


def lines_over(text: str, cells: int, rows: int, first: int = 0) -> int:
    """How many cells a text is too long for so many lines, broken between words; the first has `first` cells instead,
    if given."""
    lines = wrap(text, cells, rows + 9, first=first, mark="")
    return 0 if len(lines) <= rows else sum(width(line) for line in lines[rows:]) + len(lines) - rows


def choice_flow(choices: Sequence[Msg], cells: int, voice: Voice, after: int = 0, keys: str = "") -> list[Line]:
    """The choices side by side; shorter words before more lines."""
    return _flow(_keyed(choices, after, keys), cells, voice)


def hint_lines(hints: Sequence[Hint], cells: int, voice: Voice, rows: int = MANY) -> list[Line]:
    """The commands of a step side by side; shorter words before more lines, and letters alone before none."""
    return _squeezed(_lettered(hints), cells, voice, rows)


def command_flow(
    choices: Sequence[Msg],
    hints: Sequence[Hint],
    cells: int,
    voice: Voice,
    rows: int = MANY,
    after: int = 0,
    keys: str = "",
) -> list[Line]:
    """Choices and commands on the same lines, for screens of few rows."""
    return _squeezed([*_keyed(choices, after, keys), *_lettered(hints)], cells, voice, rows)


Keyed = tuple[str, Msg, str]
"""A key, what it does, and the role of both."""


def _keys(choices: Sequence[Msg], after: int, keys: str) -> list[str]:
    """What is typed for each choice."""
    return list(keys) if keys else [str(number) for number in range(after + 1, after + 1 + len(choices))]


def _keyed(choices: Sequence[Msg], after: int, keys: str) -> list[Keyed]:
    return [(key, choice, "choice") for key, choice in zip(_keys(choices, after, keys), choices, strict=True)]


def _lettered(hints: Sequence[Hint]) -> list[Keyed]:
    return [(hint.letter, hint.text, "hint") for hint in hints]


def _flow(keyed: Sequence[Keyed], cells: int, voice: Voice) -> list[Line]:
    """All on one line in the longest words that fit there; else in the shortest words, on as few lines as can be."""
    wide = 3 if cells >= 40 else 2
    lines: list[Line] = []
    for level, gap in ((2, wide), (1, wide), (0, wide), (0, 1)):
        flow = flowed([_item(each, level, cells, voice) for each in keyed], cells, gap)
        if gap == wide or len(flow) < len(lines):
            lines = flow
        if len(lines) <= 1:
            break
    return lines


def _squeezed(keyed: Sequence[Keyed], cells: int, voice: Voice, rows: int) -> list[Line]:
    """All keys on so many lines: where words have no room, the last commands are letters alone; what leads back keeps
    its word."""
    lines = _flow(keyed, cells, voice)
    for worded in range(len(keyed), -1, -1):
        if len(lines) <= rows:
            break
        items = [
            _item(each, 0, cells, voice)
            if index < worded or each[0] == BACK or each[2] == "choice"
            else [(each[0], f"{each[2]}-key")]
            for index, each in enumerate(keyed)
        ]
        lines = flowed(items, cells, 1)
    return lines


def _item(keyed: Keyed, level: int, cells: int, voice: Voice) -> Line:
    key, message, role = keyed
    text = fit(voice.say(message, level), max(1, cells - len(key) - 1), mark=voice.mark)
    return [(key, f"{role}-key"), (" ", ""), (text, role)]


def bar(share: Decimal, cells: int, voice: Voice) -> Line:
    """A quiet bar: done in the accent, the rest as a rule. Anything done shows, and full means all of it."""
    share = min(Decimal(1), max(Decimal(0), share))
    done = int(share * cells)
    if share > 0 and done == 0:
        done = 1
    full, rest = ("=", "-") if voice.plain else ("━", "─")
    return [(full * done, "bar"), (rest * (cells - done), "rule")]


def fact_lines(facts: Sequence[Fact], cells: int, voice: Voice) -> list[Line]:
    """Labels and values in two columns; labels are short where a value would be cut."""
    least = max((width(voice.say(fact.label, 0)) for fact in facts), default=0)
    values = max((width(voice.say(fact.value)) for fact in facts), default=0)
    room = max(4, min(cells // 2, max(least, cells - values - 2)))
    labels = [voice.short(fact.label, room) for fact in facts]
    column = max((width(label) for label in labels), default=0) + 2
    lines = []
    for fact, label in zip(facts, labels, strict=True):
        value = voice.short(fact.value, max(1, cells - column))
        lines.append([(fit(label, column, pad=True), "label"), (value, "value")])
    return lines
