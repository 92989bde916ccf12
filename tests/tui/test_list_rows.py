"""Rows of a list: what blanks a row has is room for its cells, and a column says something or is not there."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from aisle.jobs import JOBS
from aisle.jobs.job import Context, Opened, Query
from aisle.jobs.view import Chip, Frame, LinkState, ListView, Msg, Row, msg, raw
from aisle.session.terminal_screen_and_keys import ScreenSize
from aisle.tui.layout.list_with_chips_and_pane import list_page
from aisle.tui.layout.screen import layout_screen, visible_row_count
from aisle.tui.layout.step_view import LayoutBox
from aisle.tui.layout.styled_lines_and_page_parts import plain_lines
from aisle.tui.message_text import MessageWriter


def drawn(cells: int, heads: str, *rows: str) -> list[str]:
    """The lines of a list with these heads and rows, cells parted by bars."""
    split = [_cells(row) for row in rows]
    listed = tuple(Row(str(at), texts) for at, texts in enumerate(split))
    view = ListView("home", raw("List"), raw("Choose"), _cells(heads), listed, 0, len(listed))
    lines = list_page(view, LayoutBox(cells, len(rows) + 6, MessageWriter())).parts.lines
    return ["".join(text for text, _ in line).rstrip() for line in lines if line]


def _cells(row: str) -> tuple[Msg, ...]:
    return tuple(raw(cell.strip()) for cell in row.split("|"))


def test_what_is_cut_stays_in_its_column() -> None:
    head, long, short, blank = drawn(
        40,
        "Order|For|Customer|Done",
        "4113|Chloë Martin|The Little Corner Bakery|0/9",
        "4114|23 Nov|Sofía Cole|0/2.25",
        "4115|The Little Corner Bakery||0/1",
    )
    assert "…" in long
    assert "…" in blank
    assert short.index("Sofía Cole") == head.index("Customer") == long.index("The")
    assert len(long) == len(short) == len(blank) == len(head) == 40


def test_numbers_are_right_aligned_with_sign_or_word_for_none() -> None:
    shown = drawn(80, "Product|+/-|Value|Place", "Tea|+12|-130.55|A-1", "Milk|-3|?|A-12", "Jam|±0|+2|DOCK")
    for column in ("+/-", "Value"):
        end = shown[0].index(column) + len(column)
        assert [line[:end] == line[:end].rstrip() for line in shown] == [True] * 4
        assert all(line[end : end + 1] == " " for line in shown)
    left = shown[0].index("Place")
    assert all(line[left] != " " for line in shown)


@pytest.mark.parametrize("cells", [20, 40, 80])
def test_the_name_of_a_marked_row_stands_under_the_others(cells: int) -> None:
    names = ("4101", "4102", "4103")
    rows = tuple(Row(name, (raw(name), raw("late")), is_marked=name == "4102") for name in names)
    view = ListView("orders", raw("List"), raw("Choose"), _cells("Order|For"), rows, 0, 3, numbered_rows=3)
    lines = [
        "".join(text for text, _ in line) for line in list_page(view, LayoutBox(cells, 9, MessageWriter())).parts.lines
    ]
    named = [next(line for line in lines if name in line) for name in names]
    assert len({line.index(name) for line, name in zip(named, names, strict=True)}) == 1
    assert [("*" in line) for line in named] == [False, True, False]


@pytest.mark.parametrize("state", ["order_actions.split", "order_actions.claim"])
def test_a_heading_is_whole_wherever_the_table_has_room_for_it(state: str) -> None:
    cells = (raw("4101"), raw("x" * 30), msg(state), raw("Ben"))
    heads = (raw("Order"), raw("Customer"), raw("State"), msg("orders.head_claim"))
    view = ListView("orders", raw("List"), raw("Choose"), heads, (Row("1", cells),), 0, 1)
    head = "".join(text for text, _ in list_page(view, LayoutBox(72, 9, MessageWriter())).parts.lines[0])
    assert "Claimed by" in head


def test_the_last_columns_go_before_a_name_cannot_be_read() -> None:
    rows = ("Two Locks Lager Alcohol-free 440 ml|-3|taken|14:12|Ben Okafor|A-03-12|PO-2026-1187",) * 12
    head, *shown = drawn(80, "Product|+/-|Why|Time|Who|Place|Reference", *rows)
    assert "Two Locks L" in shown[0]
    assert "Time" in head
    assert "Reference" not in head
    head, *shown = drawn(38, "Product|+/-|Why|Time|Who|Place|Reference", *rows)
    assert "Two L" in shown[0]
    assert head.split() == ["Product", "+/-", "Why", "Time"]


def test_a_column_in_which_no_row_says_anything_is_not_there() -> None:
    head, *_ = drawn(80, "Product|Number|What", "Cola|4001|", "Milk|4002|")
    assert head.split() == ["Product", "Number"]
    head, *_ = drawn(80, "Product|Number|What", "Cola|4001|", "Milk|4002|ended")
    assert head.split() == ["Product", "Number", "What"]


def test_row_name_gets_longer_text_when_other_columns_are_short() -> None:
    kinds = ("exceptions.unconfirmed", "exceptions.negative_stock", "exceptions.stuck")
    about = Msg("exceptions.about_differences", (("value", 412),))
    rows = tuple(Row(kind, (Msg(kind), raw("14"), about)) for kind in kinds)
    view = ListView("exceptions", raw("Exceptions"), raw("Which?"), _cells("What|No.|About"), rows, 0, len(rows))
    shown = [
        "".join(text for text, _ in line)
        for line in list_page(view, LayoutBox(40, 12, MessageWriter())).parts.lines
        if line
    ][1:]
    names = ("Refused or in doubt", "Negative stock", "Stuck orders")
    assert [re.split("  +", line.strip()) for line in shown] == [[name, "14", "412"] for name in names]


def test_long_name_gets_own_line_when_blank_rows_remain() -> None:
    deliveries = [
        f"{name}|{7001 + at}|0 of 158|23 Nov 15:00"
        for at, name in enumerate(("Millbrook Depot", "Northern Cash and Carry", "Weir Valley Wholesale"))
    ]
    shown = drawn(40, "Supplier|Delivery|Came|Due", *deliveries)
    assert [line.strip() for line in shown[1::2]] == [row.split("|")[0] for row in deliveries]
    assert "7002  0 of 158  23 Nov 15:00" in shown[4]
    legible = drawn(40, "Product|Stock", "Long Meadow Milk Semi-skimmed UHT 1 l|≈ 57", "Milk|≈ 3")
    assert [line.split()[-1] for line in legible] == ["Stock", "57", "3"]
    many = drawn(40, "Supplier|Delivery|Came|Due", *deliveries * 4)
    assert len(many) == 1 + 4 * len(deliveries)


@pytest.mark.parametrize("size", [(80, 24), (120, 30), (200, 50)])
@pytest.mark.parametrize("job", ["home", "log"])
def test_a_page_of_a_long_list_is_full(job: str, size: tuple[int, int]) -> None:
    context = Context(
        now="2026-11-20T10:00:00.000Z",
        window_rows=ScreenSize(*size).list_rows,
        extra_rows=ScreenSize(*size).extra_list_rows,
    )
    turn = JOBS[job].handle(JOBS[job].begin(), Opened({}), context)
    wanted = next(effect.args["size"] for effect in turn.effects if isinstance(effect, Query) and "size" in effect.args)
    view = JOBS[job].view(turn.state)
    assert isinstance(view, ListView)
    rows = tuple(Row(str(at), (raw(f"row {at} of them"),)) for at in range(wanted))
    frame = Frame(
        view._replace(column_heads=(raw("Row"),), rows=rows, total=99), LinkState("live", 1.0), store="1", user="Anna"
    )
    assert visible_row_count(frame, *size, wanted) == wanted
    shown = [line.partition("│")[0].strip() for line in plain_lines(layout_screen(frame, *size))]
    under = shown[shown.index(f"row {wanted - 1} of them") + 1 :]
    assert under.index(next(filter(None, under))) <= 1 + (job != "home" or size != (80, 24))


@pytest.mark.parametrize("columns", [100, 120, 200])
@pytest.mark.parametrize("language", ["en", "nl", "de", "fr"])
def test_filters_above_a_list_are_whole_or_left_out(columns: int, language: str) -> None:
    ids = ("state_active", "due_late", "claim_claimed", "view_oldest", "state_picked", "shorts_short", "state_rejected")
    chips = tuple(Chip(msg(f"orders.{id_}"), 12_345, id_ == "due_late") for id_ in ids)
    view = ListView("orders", raw("t"), raw("p"), (raw("h"),), (Row("1", (raw("1"),)),), 0, 1, chips=chips)
    line = next(
        line
        for line in layout_screen(Frame(view, LinkState("live", 3.0), language=language), columns, 40).lines
        if any(role.startswith("chip") for _, role in line)
    )
    shown = [text.strip() for text, role in line if role.startswith("chip")]
    assert all(text.endswith(MessageWriter(language=language).format_number(Decimal(12_345))) for text in shown)
    assert len(shown) >= 5
