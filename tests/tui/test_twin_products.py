"""Products whose names differ in the middle alone: every page at every size shows the words that tell them apart."""

from __future__ import annotations

import pytest

from aisle.jobs.view import Block, DetailView, Frame, Line, LinkState, ListView, Row, Step, View, msg, raw
from aisle.tui.layout.screen import layout_screen
from aisle.tui.layout.styled_lines_and_page_parts import plain_lines

SIZES = ((20, 16), (40, 8), (40, 20), (80, 24), (120, 40), (200, 50))

WORDS = ("Pine", "Lemon")
TWINS = tuple(f"All-purpose cleaner {word} spray 750 ml" for word in WORDS)
PLACES = ("A-02-2", "FZ-01-13")


def shown(view: View, columns: int, rows: int) -> str:
    return "\n".join(plain_lines(layout_screen(Frame(view, LinkState("live", 5.0)), columns, rows)))


def test_the_names_are_twins() -> None:
    assert {name[:20] for name in TWINS} == {"All-purpose cleaner "}
    assert len({name[-10:] for name in TWINS}) == 1


pytestmark = pytest.mark.every_case

every_size = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")


@every_size
@pytest.mark.parametrize("has_two_line_rows", [False, True])
@pytest.mark.parametrize("cursor", [-1, 0, 1])
@pytest.mark.parametrize("name_at", [0, 1])
def test_rows_of_a_list(size: tuple[int, int], has_two_line_rows: bool, cursor: int, name_at: int) -> None:
    others = (msg("number", value=3), raw("Anna Berg"))
    rows = tuple(
        Row(name, (*((raw(name), raw(place)) if name_at == 0 else (raw(place), raw(name))), *others))
        for name, place in zip(TWINS, PLACES, strict=True)
    )
    heads = (*map(raw, ("Location", "Product") if name_at else ("Product", "Location")), raw("Stock"), raw("Who"))
    view = ListView(
        "look_up", raw("Products"), raw("Which?"), heads, rows, 0, 2, cursor, 2, has_two_line_rows=has_two_line_rows
    )
    assert all(word in shown(view, *size) for word in WORDS)


@every_size
@pytest.mark.parametrize("cells", [1, 2, 5])
def test_rows_of_a_page(size: tuple[int, int], cells: int) -> None:
    rest = (msg("progress.of", done=0, total=12), raw("open"), raw("A-02-2"), raw("Anna Berg"))[: cells - 1]
    rows = tuple((raw(name), *rest) for name in TWINS)
    view = DetailView("order", raw("Order"), raw("Which?"), (), (Block(raw("Lines"), rows, 2),))
    pages = "".join(shown(view._replace(page=page), *size) for page in range(2))
    assert all(word in pages for word in WORDS)


@every_size
@pytest.mark.parametrize("name", TWINS)
def test_the_product_of_a_step(size: tuple[int, int], name: str) -> None:
    lines = (Line("location", raw("A-02-2")), Line("product", raw(name)), Line("quantity", raw("TAKE 2")))
    view = Step("pick.product", raw("Pick 4113"), raw("Scan product"), lines)
    assert name in " ".join(shown(view, *size).split())


@every_size
def test_choices(size: tuple[int, int]) -> None:
    view = Step("count.product", raw("Count"), raw("Which?"), choices=tuple(map(raw, TWINS)))
    assert all(word in shown(view, *size) for word in WORDS)
