"""Bars on every screen: as high as their figures say, none left out, and what is under and over them not cut."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pytest

from aisle.jobs.view import BACK, PAGE_HINTS, Chart, Frame, LinkState, Series, msg, raw
from aisle.tui.layout.chart_view import ASCII_BAR_SIGNS, ASCII_PARTIAL_SIGNS, BAR_SIGNS, PARTIAL_SIGNS
from aisle.tui.layout.screen import layout_screen
from aisle.tui.message_text import MessageWriter

SIZES = ((20, 16), (40, 20), (80, 24), (200, 50))


def drawn(series: Sequence[Series], axis: int, size: tuple[int, int], *, plain: bool = False, page: int = 0) -> str:
    """The chart of these series, its columns named by the numbers from 0 on."""
    keys = tuple(msg("number", value=number) for number in range(axis))
    view = Chart("today.hours", msg("today.to_hours"), msg("order.prompt_read"), tuple(series), keys, page=page)
    view = view._replace(key_hints=(*PAGE_HINTS, BACK))
    lines = layout_screen(Frame(view, LinkState("live")), *size, is_ascii=plain).lines
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)


def bars(*values: int, label: str = "Anna") -> Series:
    """One row of bars."""
    return Series(raw(label), tuple(map(Decimal, values)), Decimal(sum(values)))


def bar_of(text: str, column: int, signs: str = BAR_SIGNS) -> int:
    """How many eighths high the bar is that stands in this cell of the screen."""
    cells = [line[column] for line in text.split("\n")[2:] if len(line) > column and line[column] in signs[1:]]
    return sum(signs.index(cell) for cell in cells)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("plain", [False, True])
def test_a_bar_is_as_high_as_its_figure_to_half_an_eighth(size: tuple[int, int], plain: bool) -> None:
    text = drawn([bars(3, 1, 2, 0)], 4, size, plain=plain)
    signs = ASCII_BAR_SIGNS if plain else BAR_SIGNS
    first = next(line for line in text.split("\n") if line.strip().startswith(signs[8]))
    begin, each = first.index(signs[8]), len(first.strip().split()[0]) + 1
    top, third, two_thirds, none = (bar_of(text, begin + each * column, signs) for column in range(4))
    assert (third, two_thirds, none) == (round(top / 3), round(top * 2 / 3), 0)


def test_every_eighth_looks_otherwise_without_utf_8_too() -> None:
    assert len(set(BAR_SIGNS)) == len(set(ASCII_BAR_SIGNS)) == 9
    assert ASCII_BAR_SIGNS.isascii()


def test_anything_shows_and_none_but_the_highest_is_full() -> None:
    text = drawn([bars(1000, 999, 1, 0)], 4, (20, 16))
    heights = [bar_of(text, column) for column in (0, 5, 10, 15)]
    assert heights == [heights[0], heights[0] - 1, 1, 0]


@pytest.mark.parametrize("size", SIZES)
def test_no_hour_of_a_day_is_left_out(size: tuple[int, int]) -> None:
    """The last of 24 hours is the busiest: it is there at 20 columns too, on the same page or the next."""
    texts = [drawn([bars(*range(1, 25))], 24, size, page=page) for page in range(2)]
    assert any(BAR_SIGNS[8] in text for text in texts)
    assert any("23" in text for text in texts)
    assert all(len(line) <= size[0] for text in texts for line in text.split("\n"))


@pytest.mark.parametrize("count", [8, 10, 12, 16, 20])
@pytest.mark.parametrize("size", SIZES)
def test_bar_labels_are_never_cut(size: tuple[int, int], count: int) -> None:
    lines = drawn([bars(*[1] * count)], count, size).split("\n")
    keys = [line for line in lines if line.split() and all(word.isdecimal() for word in line.split())][-1]
    shown = [int(word) for word in keys.split()]
    assert shown == sorted(set(shown))
    assert shown[-1] == count - 1, "the last one is always there"
    assert all(number < count for number in shown)


def test_a_label_is_not_cut_while_there_is_room() -> None:
    label = "Chloë Martin: 21 picks, 22 counts, 13 moves"
    assert label in drawn([bars(2, 2, label=label)], 2, (80, 24))
    assert label not in drawn([bars(2, 2, label=label)], 2, (40, 20))


@pytest.mark.parametrize("size", [(20, 16), (40, 20)])
@pytest.mark.parametrize("plain", [False, True])
def test_bars_of_a_map_list_use_partial_cells(size: tuple[int, int], plain: bool) -> None:
    figures = (120, 119, 60, 55, 1, 0)
    aisles = tuple(bars(value, label=str(name)) for name, value in enumerate(figures))
    view = Chart("today.locations", msg("today.to_hours"), msg("unconfirmed.choose"), aisles, (), is_heat_map=True)
    lines = layout_screen(Frame(view, LinkState("live")), *size, is_ascii=plain).lines
    drawn_ = [line[2][0] for line in lines if len(line) == 5 and line[0][1] == "row"]
    signs = ASCII_PARTIAL_SIGNS if plain else PARTIAL_SIGNS
    eighths = [sum(signs.index(cell) for cell in text) for text in drawn_]
    most = 8 * len(drawn_[0])
    assert (eighths[0], eighths[-1]) == (most, 0)
    assert 0 < eighths[-2] <= 4, "anything shows"
    assert most - 8 < eighths[1] < most, "none but the longest is as long as it"
    for figure, length in zip(figures, eighths, strict=True):
        assert abs(length - figure * most / 120) <= (4 if plain else 1)


@pytest.mark.parametrize("size", SIZES)
def test_page_letters_are_hinted_only_when_there_are_pages(size: tuple[int, int]) -> None:
    whole = drawn([bars(3, 1)], 2, size)
    many = drawn([bars(*range(1, 25), label=f"Anna {number}") for number in range(60)], 24, size)
    words = [MessageWriter().write(hint.text, 0) for hint in PAGE_HINTS]
    assert not any(word in whole for word in words)
    assert "n and p" not in whole
    assert any(word in many for word in words)
