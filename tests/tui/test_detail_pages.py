"""Pages to read, turned while something is said on them: whatever a person has not seen yet is on the next one."""

from __future__ import annotations

import re

import pytest

from aisle.jobs.view import (
    ASK,
    GOOD,
    INFO,
    WRONG,
    Block,
    DetailView,
    Frame,
    KeyHint,
    LabelledValue,
    Line,
    LinkState,
    ListView,
    Row,
    Step,
    Verdict,
    msg,
    raw,
)
from aisle.tui.layout.screen import layout_screen
from aisle.tui.layout.styled_lines_and_page_parts import plain_lines

SIZES = [(20, 16), (20, 12), (40, 8), (40, 20), (58, 16), (60, 16), (80, 24), (200, 50)]
SAID = (
    None,
    *(
        Verdict(kind, msg("raw", text="so much is said of it that it fills lines " * 4))
        for kind in (GOOD, INFO, ASK, WRONG)
    ),
)


def _frame(page: int, said: Verdict | None, rows: int, numbered: int, lines: int, choices: int) -> Frame:
    view = DetailView(
        name="look_up.product",
        title=msg("raw", text="A page"),
        prompt=msg("raw", text="Read"),
        lines=tuple(Line("note", msg("raw", text=f"line {number}")) for number in range(lines)),
        blocks=(
            Block(
                msg("raw", text="One"), tuple((msg("raw", text=f"row={number}="),) for number in range(rows)), numbered
            ),
            Block(
                msg("raw", text="Two"), tuple((msg("raw", text=f"row={number}="),) for number in range(rows, rows + 4))
            ),
        ),
        page=page,
        choices=tuple(msg("raw", text=f"way {number}") for number in range(choices)),
        key_hints=(
            KeyHint("n", msg("hint.next_page")),
            KeyHint("p", msg("hint.previous_page")),
            KeyHint("b", msg("hint.back")),
        ),
    )
    return Frame(view, LinkState("live"), said)


def _rows(frame: Frame, size: tuple[int, int]) -> set[str]:
    return set(re.findall(r"row=(\d+)=", "\n".join(plain_lines(layout_screen(frame, *size)))))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("rows", [3, 9])
@pytest.mark.parametrize(("lines", "choices", "numbered"), [(0, 0, 0), (1, 0, 3), (4, 3, 0)])
def test_no_row_is_skipped_whatever_is_said_on_a_page(
    size: tuple[int, int], rows: int, lines: int, choices: int, numbered: int
) -> None:
    pages = [_rows(_frame(page, None, rows, numbered, lines, choices), size) for page in range(rows + 6)]
    for on in range(2):
        for said in SAID:
            seen = _rows(_frame(on, said, rows, numbered, lines, choices), size).union(*pages[on + 1 :], *pages[:on])
            upto = _rows(_frame(on, said, rows, numbered, lines, choices), size) | pages[on + 1]
            assert seen == {str(number) for number in range(rows + 4)}
            assert upto == set(map(str, range(min(map(int, upto)), max(map(int, upto)) + 1)))


@pytest.mark.parametrize("size", SIZES)
def test_the_letters_and_choices_of_a_page_stay_under_what_is_said(size: tuple[int, int]) -> None:
    for said in SAID:
        text = "\n".join(plain_lines(layout_screen(_frame(0, said, 9, 0, 4, 3), *size)))
        assert all(re.search(rf"\b{key}\b", text) for key in "123b")


@pytest.mark.parametrize("size", [size for size in SIZES if size != (20, 12)])
def test_verdict_never_covers_product_and_quantity(size: tuple[int, int]) -> None:
    for said in SAID:
        frame = _frame(0, said, 9, 0, 0, 3)
        view = frame.view
        assert isinstance(view, DetailView)
        head = (Line("product", msg("raw", text="Tea 500 g")), Line("quantity", msg("raw", text="51 pc")))
        text = "\n".join(plain_lines(layout_screen(frame._replace(view=view._replace(lines=head)), *size)))
        assert "Tea 500 g" in text
        assert "51 pc" in text


@pytest.mark.parametrize("size", [(40, 20), (80, 24)])
def test_a_choice_that_one_line_would_cut_has_two(size: tuple[int, int]) -> None:
    fact = LabelledValue(msg("raw", text="So"), msg("raw", text="it is"))
    step = Step("count.stop", msg("raw", text="Count"), msg("raw", text="Choose"), labelled_values=(fact,))
    step = step._replace(choices=(msg("count.choice_next", label="Orange lemonade 1.5 l"), msg("move.go_on")))
    lines = [
        line.partition("│")[0].strip() for line in plain_lines(layout_screen(Frame(step, LinkState("live")), *size))
    ]
    at = next(index for index, line in enumerate(lines) if line.startswith("1 "))
    assert lines[at : at + 3] == ["1 Finish this, then count Orange", "lemonade 1.5 l", "2 Continue"]


NAMES = (
    "Lindén Shampoo 250 ml",
    "Lindén Shampoo Dry 250 ml",
    "Lindén Shampoo Kids 250 ml",
    "Lindén Shampoo Dry Repair",
)


@pytest.mark.parametrize("columns", [20, 40, 80])
def test_rows_of_like_names_can_be_told_apart(columns: int) -> None:
    rows = tuple(
        Row(str(at), tuple(msg("raw", text=text) for text in (name, "≈ 12", str(110000 + at), "Lindén")))
        for at, name in enumerate(NAMES)
    )
    heads = tuple(msg("raw", text=text) for text in ("Product", "Stock", "Number", "Brand"))
    view = ListView(
        "look_up.list", msg("raw", text="Find"), msg("raw", text="Which?"), heads, rows, 0, 4, numbered_rows=4
    )
    shown = plain_lines(layout_screen(Frame(view, LinkState("live")), columns, 16))
    names = [re.sub(r"^\W*\d +|  .*", "", line) for line in shown if re.match(r" *[1-4]\b", line)]
    assert len(set(names)) == 4
    assert all("Brand" not in line for line in shown) or columns == 80
    assert any("110002" in line for line in shown)


@pytest.mark.parametrize("columns", [20, 40, 80])
def test_rows_of_a_page_with_like_names_can_be_told_apart(columns: int) -> None:
    rows = tuple((msg("raw", text=f"{name} of the long row"), msg("raw", text="12")) for name in NAMES)
    view = DetailView(
        "look_up.product", msg("raw", text="A"), msg("raw", text="B"), (), (Block(msg("raw", text="C"), rows, 4),)
    )
    shown = plain_lines(layout_screen(Frame(view, LinkState("live")), columns, 24))
    names = [line for line in shown if re.match(r" *[1-4]\b", line)]
    assert len({re.sub(r"^ *\d ", "", name) for name in names}) == 4


@pytest.mark.parametrize("size", [(40, 8), (20, 16), (40, 20)])
def test_whose_a_row_is_shows_with_a_title_or_without(size: tuple[int, int]) -> None:
    row = (msg("raw", text="Tea"), msg("raw", text="2 held"))
    view = DetailView("locations.location", msg("raw", text="A"), msg("raw", text="B"), (), (
        Block(msg("raw", text="Held for 4101"), (row,), is_title_needed=True),
    ))  # fmt: skip
    view = view._replace(lines=tuple(Line("note", msg("raw", text="so")) for _ in range(3)))
    assert "4101" in "\n".join(plain_lines(layout_screen(Frame(view, LinkState("live")), *size)))


def test_tall_list_rows_put_essentials_first_on_narrow_screen() -> None:
    names = ("Northern Cash & Carry", "Three Bridges Trading", "Millbrook Depot", "Weir", "Old Mill", "Fernhill")
    rows = tuple(
        Row(name, tuple(msg("raw", text=text) for text in (name, f"…118{at}", f"{at} of 158", "late 21 Nov 18:00")))
        for at, name in enumerate(names)
    )
    heads = tuple(msg("raw", text=text) for text in ("Supplier", "Delivery", "Came", "Due"))
    view = ListView(
        "receive.delivery",
        msg("raw", text="Receive"),
        msg("raw", text="Which?"),
        heads,
        rows,
        0,
        6,
        numbered_rows=6,
        has_two_line_rows=True,
    )
    shown = plain_lines(layout_screen(Frame(view, LinkState("live")), 20, 16))
    assert "1–5/6" in shown[0]
    for at in range(5):
        line = next(index for index, text in enumerate(shown) if text.startswith(f"{at + 1} {names[at][:4]}"))
        assert shown[line + 1].split() == [f"…118{at}", str(at), "of", "158"]


def _columns(*blocks: tuple[str, int]) -> list[list[str]]:
    """What stands in each column of a page with blocks of so many rows."""
    view = DetailView(
        "look_up.product",
        msg("raw", text="A page"),
        msg("raw", text="Read"),
        blocks=tuple(
            Block(msg("raw", text=title), tuple((msg("raw", text=f"{title} {at}"),) for at in range(rows)))
            for title, rows in blocks
        ),
    )
    lines = plain_lines(layout_screen(Frame(view, LinkState("live")), 80, 24))[3:-6]
    return [[line[first : first + 39].strip() for line in lines] for first in (1, 40)]


def test_section_continues_in_next_column_below_a_blank_line() -> None:
    left, right = _columns(("Places", 2), ("Stores", 20), ("About", 20))
    assert (left[3], left[4]) == ("Stores", "Stores 0")
    at = left.index(max((line for line in left if line.startswith("Stores ")), key=lambda line: int(line[7:])))
    assert (right[0], right[1]) == ("", f"Stores {int(left[at][7:]) + 1}")


def test_text_is_not_broken_when_one_column_fits_it() -> None:
    rows = sum(map(bool, _columns(("Places", 20), ("Stores", 20))[0]))
    left, right = _columns(("Places", rows - 3), ("About", rows - 1), ("Codes", 9))
    assert not any(line.startswith("About") for line in left)
    assert (right[0], right[rows - 1]) == ("About", f"About {rows - 2}")


@pytest.mark.parametrize("columns", [100, 120])
def test_the_lines_of_an_order_are_whole_on_the_smallest_desk(columns: int) -> None:
    names = ("Northern Star Ice cream Strawberry 900 ml", "Café Brûlerie Ground coffee Mild 250 g")
    cells = ("3 of 6", "in progress", "FZ-01, BR-05", "Dev Patel")
    lines = Block(raw("Lines"), tuple((raw(name), *map(raw, cells)) for name in names), is_wide=True)
    about = Block(raw("About"), ((raw("Customer"), raw("Tom Moss")),))
    view = DetailView("order", raw("Order"), raw("Choose"), blocks=(lines, about, about))
    drawn = "\n".join(plain_lines(layout_screen(Frame(view, LinkState("live", 3.0)), columns, 30)))
    assert all(f"{name}  {'  '.join(cells)}" in re.sub("  +", "  ", drawn) for name in names)
