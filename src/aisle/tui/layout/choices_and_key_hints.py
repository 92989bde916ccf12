"""Numbered choices and hints with their letters, side by side or on few lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from aisle.jobs.view import KeyHint, Msg
from aisle.terminal_text import fit, width, wrap
from aisle.tui.layout.styled_lines_and_page_parts import StyledLine, line_width
from aisle.tui.message_text import MessageWriter

UNLIMITED_ROWS = 99
"""Number of lines above that of any screen."""

BACK_LETTER = "b"
"""Letter of the command that goes back."""


class VerdictOverlap(NamedTuple):
    """Lines of a page that a verdict covers; the head of the page is shortened before anything listed."""

    current: int = 0
    maximum: int = 0
    """Maximum lines that a verdict may cover on this screen: pages end there, so that a verdict hides no row."""


def flow_items(items: Iterable[StyledLine], cells: int, gap: int = 3) -> list[StyledLine]:
    """Return the items in lines, as many on each as fit."""
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
    """Return each choice after its number or letter, in at most `cells` cells and `rows` lines.

    Numbers begin after `first_number`, because rows have those up to it.
    """
    items: list[StyledLine] = []
    for key, choice in zip(_choice_keys(choices, first_number, letters), choices, strict=True):
        space = max(1, cells - len(key) - 1)
        first, more = writer.fit_line(choice, space), []
        if rows > 1 and writer.cut_mark in first:
            text = writer.fit(choice, partial(excess_cells, cells=space, rows=rows))
            first, *more = wrap(text, space, rows, mark=writer.cut_mark)
        items.append([(key, "choice-key"), (" ", ""), (first, "choice")])
        items += [[(" " * (len(key) + 1), ""), (line, "choice")] for line in more]
    return items


def excess_cells(text: str, cells: int, rows: int, first: int = 0) -> int:
    """Return how many cells a text is too long for `rows` lines, broken between words.

    The first line has `first` cells if given.
    """
    lines = wrap(text, cells, rows + 9, first=first, mark="")
    return 0 if len(lines) <= rows else sum(width(line) for line in lines[rows:]) + len(lines) - rows


def choice_flow(
    choices: Sequence[Msg], cells: int, writer: MessageWriter, first_number: int = 0, letters: str = ""
) -> list[StyledLine]:
    """Return the choices side by side; shorter texts are used before more lines."""
    return list(_flow_keyed(_keyed_choices(choices, first_number, letters), cells, writer))


def hint_lines(
    key_hints: Sequence[KeyHint], cells: int, writer: MessageWriter, rows: int = UNLIMITED_ROWS
) -> list[StyledLine]:
    """Return the commands of a step side by side: shorter texts before more lines, letters alone before none."""
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
    """Return choices and commands on the same lines, for screens with few rows."""
    return _squeeze_keyed(
        (*_keyed_choices(choices, first_number, letters), *_keyed_hints(key_hints)), cells, writer, rows
    )


KeyedItem = tuple[str, Msg, str]
"""Key, its text, and the role of both."""


def _choice_keys(choices: Sequence[Msg], after: int, letters: str) -> list[str]:
    """Return the key of each choice."""
    return list(letters) if letters else [str(number) for number in range(after + 1, after + 1 + len(choices))]


def _keyed_choices(choices: Sequence[Msg], after: int, letters: str) -> tuple[KeyedItem, ...]:
    keys = _choice_keys(choices, after, letters)
    return tuple((key, choice, "choice") for key, choice in zip(keys, choices, strict=True))


def _keyed_hints(key_hints: Sequence[KeyHint]) -> tuple[KeyedItem, ...]:
    return tuple((hint.letter, hint.text, "hint") for hint in key_hints)


@lru_cache(maxsize=32)
def _flow_keyed(keyed: tuple[KeyedItem, ...], cells: int, writer: MessageWriter) -> Sequence[StyledLine]:
    """Return all items on one line in the longest texts that fit, otherwise the shortest texts on few lines.

    Cached, because a page keeps its commands from input to input.
    """
    wide = 3 if cells >= 40 else 2
    lines: list[StyledLine] = []
    for level, gap in ((2, wide), (1, wide), (0, wide), (0, 1)):
        flow = flow_items([_item(each, level, cells, writer) for each in keyed], cells, gap)
        if gap == wide or len(flow) < len(lines):
            lines = flow
        if len(lines) <= 1:
            break
    return lines


def _squeeze_keyed(keyed: tuple[KeyedItem, ...], cells: int, writer: MessageWriter, rows: int) -> list[StyledLine]:
    """Return all items on at most `rows` lines. If necessary the last commands are only letters.

    Choices keep their texts; the way back does unless all fit only without it.
    """
    lines = list(_flow_keyed(keyed, cells, writer))
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
    if len(lines) > rows:
        bare = [_item(each, 0, cells, writer) if each[2] == "choice" else [(each[0], "hint-key")] for each in keyed]
        without_texts = flow_items(bare, cells, 1)
        lines = without_texts if len(without_texts) <= rows else lines
    return lines


def _item(keyed: KeyedItem, length: int, cells: int, writer: MessageWriter) -> StyledLine:
    key, message, role = keyed
    text = fit(writer.write(message, length), max(1, cells - len(key) - 1), mark=writer.cut_mark)
    return [(key, f"{role}-key"), (" ", ""), (text, role)]
