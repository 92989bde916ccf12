"""What a small screen has left blank is room for words that would be cut; what is cut still tells things apart."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal

import pytest

from aisle.jobs.view import (
    BACK,
    GOOD,
    PAGE_HINTS,
    WRONG,
    Block,
    DetailView,
    Frame,
    LabelledValue,
    Line,
    LinkState,
    ListView,
    Msg,
    Row,
    Step,
    UpcomingStop,
    Verdict,
    View,
    msg,
    raw,
)
from aisle.terminal_text import width
from aisle.tui.layout import detail_view, list_with_chips_and_pane, step_view
from aisle.tui.layout.choices_and_key_hints import VerdictOverlap
from aisle.tui.layout.screen import layout_screen
from aisle.tui.layout.step_view import LayoutBox
from aisle.tui.layout.styled_lines_and_page_parts import plain_lines
from aisle.tui.message_text import MessageWriter

SMALL = LayoutBox(20, 12, MessageWriter())
NAME = "Hillmoor Müsli No added sugar 500 g"


def drawn(view: View, box: LayoutBox = SMALL, cover: VerdictOverlap = VerdictOverlap()) -> list[str]:  # noqa: B008 - a tuple
    """The lines of the body."""
    match view:
        case DetailView():
            lines = detail_view.detail_page(view, box, cover)[0].lines
        case ListView():
            lines = list_with_chips_and_pane.list_page(view, box).parts.lines
        case Step():
            lines = step_view.step_page(view, box).lines
    return ["".join(text for text, _ in line).rstrip() for line in lines]


def page(*rows: tuple[Msg, ...], lines: tuple[Line, ...] = ()) -> DetailView:
    """A page with some rows under each other."""
    blocks = (Block(raw("Rows"), rows),) if rows else ()
    return DetailView("look_up.product", raw("Product"), raw("Scan"), lines, blocks, key_hints=(*PAGE_HINTS, BACK))


def test_a_name_that_is_cut_has_a_second_line_while_nothing_is_said_there() -> None:
    places = [(raw(f"A-01-{at}"),) for at in range(1, 10)]
    view = page(*places, lines=(Line("product", raw(NAME)), Line("quantity", raw("≈ 31"))))
    assert drawn(view, cover=VerdictOverlap(0, 3))[:3] == ["Hillmoor Müsli No", "added sugar 500 g", "≈ 31"]
    covered = drawn(view, cover=VerdictOverlap(3, 3))
    assert "…" in covered[0]
    assert "≈ 31" in "".join(covered[:2])


def test_cut_text_gets_blank_lines_before_shortened_text() -> None:
    far, why = (
        Msg("order.progress", (("state", "open"), ("done", 1), ("total", 4), ("due", "today at half past five"))),
        NAME,
    )
    lines = Line("product", raw("4085")), Line("quantity", far), Line("note", raw(why))
    shown = drawn(page(lines=lines), SMALL._replace(rows=9))
    assert shown[shown.index("Hillmoor Müsli No") :][:2] == ["Hillmoor Müsli No", "added sugar 500 g"]


def test_figures_stay_on_the_line_on_which_they_are_whole() -> None:
    stock = msg("pick.join", what=msg("look_up.stock", stock=51), more=msg("raw", text="3.49 for one of it"))
    lines = Line("product", raw("Berry")), Line("quantity", stock)
    assert drawn(page(lines=lines), SMALL._replace(rows=10))[1:3] == ["≈ 51", ""]


def test_empty_list_message_is_shown_whole() -> None:
    empty = ListView(
        "unconfirmed", raw("To resolve"), raw("Scan"), (), (), 0, 0, empty=Msg("unconfirmed.empty"), key_hints=(BACK,)
    )
    assert " ".join(drawn(empty)).startswith("All sent, nothing to resolve.")


def test_a_letter_of_a_name_at_the_end_of_a_row_is_left_out() -> None:
    totes = page((raw("A 4101"), raw("1 line"), raw("22 Nov"), raw("Gus Hale"), raw("of some street")))
    assert "  1 line  22 Nov" in drawn(totes)
    assert not any("…" in line for line in drawn(totes))
    cut = drawn(page((raw("A 4101"), raw("1 line"), raw("Gus Hale the Third"))))
    assert "  1 line  Gus Hale…" in cut


def coming(*names: str) -> Step:
    """A delivery with these products still to come."""
    stops = tuple(UpcomingStop("…0043", name, Decimal(12)) for name in names)
    at_hand = Line("location", raw("No location yet"))
    return Step(
        "receive.goods",
        raw("7001"),
        raw("Scan"),
        (at_hand,),
        upcoming=stops,
        upcoming_title=raw("To come"),
        is_upcoming_at_hand=True,
    )


@pytest.mark.parametrize(("cells", "placed"), [(20, False), (40, True)])
def test_goods_at_hand_are_named_before_their_container(cells: int, placed: bool) -> None:
    names = ("Long Meadow Butter Salted 250 g", "Long Meadow Butter Unsalted 250 g")
    shown = [line for line in drawn(coming(*names), SMALL._replace(cells=cells)) if line.endswith("12")]
    assert len(shown) == 2
    assert all(("0043" in line) == placed for line in shown)
    assert "Sal" in shown[0]
    assert "Uns" in shown[1]


def test_a_label_is_short_where_a_value_would_be_cut() -> None:
    facts = (
        LabelledValue(Msg("label.comment"), raw("Birthday present: pricetag off")),
        LabelledValue(Msg("label.product_number"), raw("130010")),
    )
    view = Step("pick.product", raw("4101"), raw("Scan"), (Line("location", raw("A-05-2")),), labelled_values=facts)
    assert "Note    Birthday present: pricetag off" in drawn(view, SMALL._replace(cells=40))
    short = view._replace(labelled_values=facts[1:])
    assert "Product number  130010" in drawn(short, SMALL._replace(cells=40))


def band(verdict: Verdict, language: str = "en", view: View | None = None, columns: int = 20) -> list[str]:
    """The lines of what is said, by default on the narrowest screen."""
    step = Step("pick.product", raw("4101"), raw("Scan"), (Line("location", raw("A-05-2")),), key_hints=(BACK,))
    frame = Frame(view or step, LinkState("live", 12.0), verdict, "", "0042", "Anna", 11, language)
    screen = layout_screen(frame, columns, 16)
    lines = zip(screen.lines, plain_lines(screen), strict=True)
    return [text.strip() for line, text in lines if any(role.startswith("verdict") for _, role in line)]


@pytest.mark.parametrize("language", ["en", "nl", "de", "fr"])
@pytest.mark.parametrize(
    "told",
    [
        msg("pick.elsewhere", place="A-04-2"),
        msg("pick.put_down_undone", quantity=2, order="4101"),
        msg("pick.both_pick"),
    ],
)
def test_good_news_whose_shortest_words_one_line_cuts_have_two(told: Msg, language: str) -> None:
    shown = band(Verdict(GOOD, told), language)
    assert 1 <= len(shown) <= 2
    assert not any("…" in line for line in shown)
    scanned = band(Verdict(GOOD, msg("pick.picked", done=1, of=4, label=NAME)), language)
    assert len(scanned) == 1, "a scan paints no more for it"


@pytest.mark.parametrize("language", ["en", "nl", "de", "fr"])
@pytest.mark.parametrize("counted", [5, 125])
def test_goods_that_were_counted_again_are_named(counted: int, language: str) -> None:
    told = msg("my_entries.later_count", label=NAME, counted=counted)
    for columns in (40, 60, 80):
        for verdict in (Verdict(WRONG, told), Verdict(GOOD, told)):
            shown = " ".join(band(verdict, language, columns=columns))
            assert "Hillmoor" in shown, (columns, shown)
            assert str(counted) in shown, (columns, shown)


def test_a_code_is_not_broken_where_the_next_line_has_room_for_it() -> None:
    shown = band(Verdict(WRONG, raw("87100000000012345 is not on it.")))
    assert shown == ["NO", "87100000000012345", "is not on it."]


@pytest.mark.parametrize("language", ["en", "nl", "de", "fr"])
@pytest.mark.parametrize("title", [msg("log.unfiltered", period=msg("log.month")), msg("home.locations")])
def test_title_of_long_list_leaves_room_for_row_range(title: Msg, language: str) -> None:
    rows = tuple(Row(str(at), (raw(f"A-01-{at}"),)) for at in range(5))
    view = ListView("log", title, raw("Scan"), (raw("Place"),), rows, 0, 120)
    shown = plain_lines(
        layout_screen(Frame(view, LinkState("live", 12.0), None, "", "0042", "Anna", 11, language), 20, 16)
    )[0]
    assert shown.endswith("1–5/120")
    assert "…" not in shown


FEW = LayoutBox(40, 4, MessageWriter())


def test_notes_are_shown_while_lines_are_blank() -> None:
    """On a terminal of eight rows an order that the service does not have was a number with nothing under it."""
    lines = Line("product", raw("4711")), Line("note", raw("Nobody knows it")), Line("note", raw("Ask again"))
    assert drawn(page(lines=lines), FEW)[:3] == ["4711", "Nobody knows it", "Ask again"]
    stocked = Line("product", raw("Tea")), Line("quantity", raw("≈ 3")), Line("note", raw("Asked for"))
    assert drawn(page(lines=stocked), FEW)[1] == "Asked for"


def test_rows_that_the_first_page_has_no_room_for_are_on_the_next() -> None:
    """What both sides say of a count could not be read before one of five ways out of it was chosen."""
    ways = tuple(map(raw, ("It arrived", "Send again", "Send difference", "By hand", "Count A-03-12")))
    view = page((raw("was 10"),), (raw("is 14"),), lines=(Line("note", raw("Count A-03-12")),))._replace(choices=ways)
    pages = ["\n".join(drawn(view._replace(page=at), FEW)) for at in range(3)]
    assert "Count A-03-12" in pages[0]
    assert [("was 10" in text, "is 14" in text) for text in pages] == [(False, False), (True, False), (False, True)]
    assert all(re.search(rf"\b{key}\b", text) for text in pages for key in "12345nb")


def test_warning_before_yes_is_shown_on_few_rows() -> None:
    warning = Line("note", msg("order_actions.warn_hand_over_measured", left=Decimal(15)))
    lines = Line("product", raw("Hand over 4101")), warning, Line("note", raw("4 of 19 picked"))
    view = Step(
        "order_actions.confirm",
        raw("Hand over"),
        raw("Sure?"),
        lines,
        choices=(msg("order_actions.yes"), msg("order_actions.no")),
    )
    view = view._replace(key_hints=(BACK,))
    whole = ["Hand over 4101", "15 not picked!", "4 of 19 picked", "1 Yes   2 No   b Back"]
    assert drawn(view, FEW) == whole
    assert drawn(view, FEW._replace(rows=3)) == [*whole[:2], "1 Yes   2 No"]


def test_a_blank_row_has_the_second_of_what_comes() -> None:
    """A place with two articles showed one of them, under a blank line."""
    stops = tuple(
        UpcomingStop(location="A-03-12", label=name, quantity=Decimal(2)) for name in ("Cola Zero", "Tea", "Soap")
    )
    view = Step(
        "count", raw("Count"), raw("Scan"), (Line("location", raw("A-03-12")),), upcoming=stops, key_hints=(BACK,)
    )
    shown = drawn(view._replace(is_upcoming_at_hand=True), FEW)
    assert [row.split() for row in shown] == [
        ["A-03-12"],
        ["Next", "A-03-12", "Cola", "Zero", "2"],
        ["A-03-12", "Tea", "2"],
        ["b", "Back"],
    ]
    assert shown[1].index("A-03-12") == shown[2].index("A-03-12")


def test_times_of_a_list_follow_the_time_zone(in_zone: Callable[[str], None]) -> None:
    row = Row("1", (raw("Tea"), msg("log.at_time", at="2026-11-20T09:00:00Z")))
    view = ListView("log", raw("Log"), raw("Choose"), (raw("What"), raw("When")), (row,), 0, 1)
    for zone, hour in (("UTC", 9), ("Asia/Tokyo", 18)):
        in_zone(zone)
        lines = plain_lines(layout_screen(Frame(view, LinkState("live"), today=date(2026, 11, 20)), 80, 24))
        assert f" {hour}:00" in "".join(lines)


@pytest.mark.parametrize("title", ["Next", "Hierna"])
@pytest.mark.parametrize("location", ["", "A-1", "A-01-02-03", "GANG-12-04-3"])
@pytest.mark.parametrize(
    ("quantity", "unit", "figure"),
    [("12", "", "12"), ("1234", "", "1234"), ("12.345", "kg", "12.345 kg"), ("7", "箱", "7 箱")],
)
def test_the_quantity_of_the_next_stop_is_whole_beside_a_cut_location(
    title: str, location: str, quantity: str, unit: str, figure: str
) -> None:
    stop = UpcomingStop(location, "Orange juice 1 l", Decimal(quantity), unit)
    view = Step("pick.line", raw("4101"), raw("Scan"), upcoming=(stop,), upcoming_title=raw(title), key_hints=(BACK,))
    for cells in range(len(title) + len(figure) + 3, 60):
        (shown,) = (line for line in drawn(view, LayoutBox(cells, 6, MessageWriter())) if line.startswith(title))
        assert width(shown) <= cells
        assert shown.endswith(figure)
        assert location in shown or "…" in shown or cells < width(f"{title}  A…  {figure}")
    assert "…" in drawn(view, LayoutBox(len(title) + len(figure) + 1, 6, MessageWriter()))[0]


@pytest.mark.parametrize(("place", "large"), [(raw("DOCK"), True), (msg("receive.no_location"), False)])
def test_only_locations_are_drawn_large(place: Msg, large: bool) -> None:
    """`NO PLACE` stood over a delivery in letters of five lines."""
    view = Step("receive", raw("Delivery"), raw("Scan"), (Line("location", place),), key_hints=(BACK,))
    assert ("██" in "".join(drawn(view, LayoutBox(200, 44, MessageWriter())))) is large
