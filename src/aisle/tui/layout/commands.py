"""The parts that several screens share: numbered choices, hints, bars, facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import partial
from typing import NamedTuple

from aisle.jobs.view import KeyHint, LabelledValue, Msg
from aisle.text import fit, width, wrap
from aisle.tui.layout.styled_lines import StyledLine, line_width
from aisle.tui.message_text import MessageWriter

UNLIMITED_ROWS = 99
"""More lines than there are on a screen."""

BACK_LETTER = "b"
"""The letter that leads back."""


class VerdictOverlap(NamedTuple):
    """Lines that something said lays over a page; what it is gives way to them before anything that is listed."""

    current: int = 0
    maximum: int = 0
    """So many could be laid over this screen: a page ends where it would with them, so that none skips a row."""


def flow_items(items: Iterable[StyledLine], cells: int, gap: int = 3) -> list[StyledLine]:
    """Items one after the other, as many on a line as fit."""
    lines: list[StyledLine] = []
    for item in items:
        if lines and line_width(lines[-1]) + gap + line_width(item) <= cells:
            lines[-1] = [*lines[-1], (" " * gap, ""), *item]
        else:
            lines.append(list(item))
    return lines


def choice_items(
    choices: Sequence[Msg], cells: int, writer: MessageWriter, rows: int = 1, first_number: int = 0, letters: str = ""
) -> list[StyledLine]:
    """Each choice behind its number or letter, in at most `cells`; what one line would cut has at most so many. So many
    numbers are those of rows (`after`)."""
    items: list[StyledLine] = []
    for key, choice in zip(_choice_keys(choices, first_number, letters), choices, strict=True):
        room = max(1, cells - len(key) - 1)
        first, more = writer.fit_line(choice, room), []
        if rows > 1 and writer.cut_mark in first:
            text = writer.fit(choice, partial(excess_cells, cells=room, rows=rows))
            first, *more = wrap(text, room, rows, mark=writer.cut_mark)
        items.append([(key, "choice-key"), (" ", ""), (first, "choice")])
        items += [[(" " * (len(key) + 1), ""), (line, "choice")] for line in more]
    return items


def excess_cells(text: str, cells: int, rows: int, first: int = 0) -> int:
    """How many cells a text is too long for so many lines, broken between words; the first has `first` cells instead,
    if given."""
    lines = wrap(text, cells, rows + 9, first=first, mark="")
    return 0 if len(lines) <= rows else sum(width(line) for line in lines[rows:]) + len(lines) - rows


def choice_flow(
    choices: Sequence[Msg], cells: int, writer: MessageWriter, first_number: int = 0, letters: str = ""
) -> list[StyledLine]:
    """The choices side by side; shorter words before more lines."""
    return _flow_keyed(_keyed_choices(choices, first_number, letters), cells, writer)


def hint_lines(
    key_hints: Sequence[KeyHint], cells: int, writer: MessageWriter, rows: int = UNLIMITED_ROWS
) -> list[StyledLine]:
    """The commands of a step side by side; shorter words before more lines, and letters alone before none."""
    return _squeeze_keyed(_keyed_hints(key_hints), cells, writer, rows)


def command_flow(
    choices: Sequence[Msg],
    key_hints: Sequence[KeyHint],
    cells: int,
    writer: MessageWriter,
    rows: int = UNLIMITED_ROWS,
    first_number: int = 0,
    letters: str = "",
) -> list[StyledLine]:
    """Choices and commands on the same lines, for screens of few rows."""
    return _squeeze_keyed(
        [*_keyed_choices(choices, first_number, letters), *_keyed_hints(key_hints)], cells, writer, rows
    )


KeyedItem = tuple[str, Msg, str]
"""A key, what it does, and the role of both."""


def _choice_keys(choices: Sequence[Msg], after: int, letters: str) -> list[str]:
    """What is typed for each choice."""
    return list(letters) if letters else [str(number) for number in range(after + 1, after + 1 + len(choices))]


def _keyed_choices(choices: Sequence[Msg], after: int, letters: str) -> list[KeyedItem]:
    return [(key, choice, "choice") for key, choice in zip(_choice_keys(choices, after, letters), choices, strict=True)]


def _keyed_hints(key_hints: Sequence[KeyHint]) -> list[KeyedItem]:
    return [(hint.letter, hint.text, "hint") for hint in key_hints]


def _flow_keyed(keyed: Sequence[KeyedItem], cells: int, writer: MessageWriter) -> list[StyledLine]:
    """All on one line in the longest words that fit there; else in the shortest words, on as few lines as can be."""
    wide = 3 if cells >= 40 else 2
    lines: list[StyledLine] = []
    for level, gap in ((2, wide), (1, wide), (0, wide), (0, 1)):
        flow = flow_items([_item(each, level, cells, writer) for each in keyed], cells, gap)
        if gap == wide or len(flow) < len(lines):
            lines = flow
        if len(lines) <= 1:
            break
    return lines


def _squeeze_keyed(keyed: Sequence[KeyedItem], cells: int, writer: MessageWriter, rows: int) -> list[StyledLine]:
    """All keys on so many lines: where words have no room, the last commands are letters alone; what leads back keeps
    its word."""
    lines = _flow_keyed(keyed, cells, writer)
    for worded in range(len(keyed), -1, -1):
        if len(lines) <= rows:
            break
        items = [
            _item(each, 0, cells, writer)
            if index < worded or each[0] == BACK_LETTER or each[2] == "choice"
            else [(each[0], f"{each[2]}-key")]
            for index, each in enumerate(keyed)
        ]
        lines = flow_items(items, cells, 1)
    return lines


def _item(keyed: KeyedItem, length: int, cells: int, writer: MessageWriter) -> StyledLine:
    key, message, role = keyed
    text = fit(writer.write(message, length), max(1, cells - len(key) - 1), mark=writer.cut_mark)
    return [(key, f"{role}-key"), (" ", ""), (text, role)]


def progress_bar(share: Decimal, cells: int, writer: MessageWriter) -> StyledLine:
    """A quiet bar: done in the accent, the rest as a rule. Anything done shows, and full means all of it."""
    share = min(Decimal(1), max(Decimal(0), share))
    done = int(share * cells)
    if share > 0 and done == 0:
        done = 1
    full, rest = ("=", "-") if writer.is_ascii else ("━", "─")
    return [(full * done, "bar"), (rest * (cells - done), "rule")]


def labelled_value_lines(
    labelled_values: Sequence[LabelledValue], cells: int, writer: MessageWriter
) -> list[StyledLine]:
    """Labels and values in two columns; labels are short where a value would be cut."""
    least = max((width(writer.write(fact.label, 0)) for fact in labelled_values), default=0)
    values = max((width(writer.write(fact.value)) for fact in labelled_values), default=0)
    room = max(4, min(cells // 2, max(least, cells - values - 2)))
    labels = [writer.fit_line(fact.label, room) for fact in labelled_values]
    column = max((width(label) for label in labels), default=0) + 2
    lines = []
    for fact, label in zip(labelled_values, labels, strict=True):
        value = writer.fit_line(fact.value, max(1, cells - column))
        lines.append([(fit(label, column, pad=True), "label"), (value, "value")])
    return lines
