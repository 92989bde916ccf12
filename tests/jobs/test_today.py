"""The pages of today by themselves: what they ask for, when, and what they make of it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from aisle.jobs import JOBS
from aisle.jobs.job import Changed, Close, Context, Event, Opened, Query, Refresh, Rows, Start
from aisle.jobs.supervisor.order_filter import OrderFilter
from aisle.jobs.supervisor.today import JOB_NAMES, LOG_REFRESH_S, TodayJob, TodayState, aisle_of, group_by_aisle
from aisle.jobs.supervisor.today_tiles import shown_sources
from aisle.jobs.view import Chart, DetailView, Frame, LinkState, ListView, msg, raw
from aisle.scan.grammar_and_meaning_types import Back, Choice, Command, CursorKey, UnknownCode
from aisle.tui.layout.screen import layout_screen
from aisle.tui.layout.styled_lines_and_page_parts import plain_lines
from aisle.tui.message_text import MessageWriter
from tests.samples.log import log_row
from tests.samples.today import FIGURES

TILES = len(shown_sources(is_desk=False))
"""Number of the last tile of a handheld; the pages come after it."""

CONTEXT = Context(store="0001", user="U6", now="2026-11-20T15:30:00+00:00")
DESK = CONTEXT._replace(is_desk=True)

ROWS: dict[str, list[dict[str, Any]]] = {
    "today": [FIGURES],
    "order_board": [{"order_number": "4101", "status": "open", "customer_name": "Gus", "pickup_date": "2026-11-19"}],
    "stuck": [],
    "picked_orders": [{"picked": 3, "uncollected": 2, "order_number": "4084", "customer_name": "Kit Gray"}],
    "exceptions": [{"differences": 4, "value": Decimal("42.80")}],
    "negative_stock": [{"label": "Sugar", "quantity": Decimal(-2)}],
    "deliveries": [{"order_number": number} for number in ("7003", "7004")],
    "excess_receipts": [{"order_number": "7005", "description": "Milk"}],
    "entries_to_review": [dict(log_row("9", "2026-11-20T15:00:00Z", description="Milk", difference=Decimal(-2)))],
    "expiry_checks": [{"product_name": "Feta", "due": "2026-11-19"}],
    "log": [
        dict(log_row(str(at), "2026-11-20T15:00:00Z", work=work)) for at, work in enumerate(["pick", "in_hand"] * 3)
    ],
    "today_hours": [
        {"user": "U1", "name": "Anna", "is_here": False, "hours": {9: {"pick": 4, "count": 1}, 11: {"move": 2}}},
        {"user": "U2", "name": "U2", "is_here": True, "hours": {10: {"pick": 1}}},
    ],
    "today_locations": [{"location": place, "n": count} for place, count in (("A-02", 1), ("A-01", 5), ("B-01", 0))],
    "today_terminals": [
        {"terminal": "dock", "user": "U1", "name": "Anna", "job": "pick", "since": 1795186800.0, "last": 1795188570.0},
        {"terminal": "desk", "user": "", "name": "", "job": "", "since": 1795186800.0, "last": 0.0},
    ],
}


class Hand:
    """Somebody at the page."""

    def __init__(self, context: Context = CONTEXT) -> None:
        self.job, self.state = TodayJob(), TodayState()
        self.effects: list[Any] = []
        self.feed(Opened({}), context)

    def feed(self, event: Event, context: Context = CONTEXT) -> list[Any]:
        """One event and its answers; what followed."""
        turn = self.job.handle(self.state, event, context)
        self.state, self.effects = turn.state, list(turn.effects)
        for query in [effect for effect in turn.effects if isinstance(effect, Query)]:
            rows = ROWS[query.name]
            self.state = self.job.handle(self.state, Rows(query.id, tuple(rows), len(rows)), context).state
        assert self.job.view(self.state).name == self.job.step_name(self.state)
        return self.effects

    @property
    def view(self) -> Any:
        """The page."""
        return self.job.view(self.state)


def test_the_pulse_says_orders_work_and_state() -> None:
    hand = Hand()
    assert isinstance(hand.view, DetailView)
    assert dict(hand.view.lines[0].text.args) == {"done": 31, "count": 52, "late": 4}
    assert [block.title.id for block in hand.view.blocks] == ["today.orders", "today.work", "today.state"]
    assert hand.effects[-1] == Refresh("logs")


@pytest.mark.parametrize(("link", "said"), [("live", "link.stuck"), ("offline", "link.offline")])
def test_a_link_that_nobody_looks_after_is_not_live(monkeypatch: pytest.MonkeyPatch, link: str, said: str) -> None:
    for at, shown in ((FIGURES["courier_at"], f"link.{link}"), (1.0, said)):
        monkeypatch.setitem(ROWS, "today", [{**FIGURES, "link": link, "courier_at": at}])
        (row, *_) = Hand().view.blocks[2].rows
        assert shown in repr(row)


def test_every_change_is_asked_for_and_the_log_only_now_and_then() -> None:
    hand = Hand()
    asked = [effect.name for effect in hand.feed(Changed("order", "1"))]
    assert asked == [
        "today",
        "order_board",
        "stuck",
        *["order_board"] * 2,
        "picked_orders",
        "exceptions",
        "negative_stock",
        "deliveries",
        "excess_receipts",
        "entries_to_review",
    ]
    soon = CONTEXT._replace(now=f"2026-11-20T15:30:{LOG_REFRESH_S - 1:02}+00:00")
    assert Refresh("logs") not in hand.feed(Changed("link", ""), soon)
    later = CONTEXT._replace(now=f"2026-11-20T15:30:{LOG_REFRESH_S:02}+00:00")
    assert Refresh("logs") in hand.feed(Changed("outbox", ""), later)


def test_each_tile_has_its_figure_and_opens_its_list() -> None:
    assert len(Hand().view.dashboard.tiles) == TILES
    hand = Hand(DESK)
    tiles = hand.view.dashboard.tiles
    assert [tile.total for tile in tiles] == [1, 0, 1, 1, 3, 4, 1, 2, 1, 1, 1]
    assert [tile.note.args for tile in tiles][1] == (("text", ""),)
    assert tiles[4].note.id == "tile.uncollected"
    assert tiles[7].note == raw("7003, 7004")
    opened = [hand.feed(Choice(number)) for number in range(1, len(tiles) + 1)]
    assert all(len(effects) == 1 for effects in opened)
    filters = {
        0: {"state": "to_pick", "due": "late"},
        2: {"state": "partial", "claim": "free"},
        3: {"state": "active", "shorts": "short"},
        4: {"state": "picked"},
    }
    for at, filter_ in filters.items():
        (start,) = opened[at]
        assert (start.job, start.args["filter"]) == ("orders", {**OrderFilter()._asdict(), **filter_})
    kinds = [opened[at][0].args["kind"] for at in (1, 5, 6, 8, 9)]
    assert kinds == ["stuck", "differences", "negative_stock", "excess_receipts", "entries_to_review"]
    assert opened[7] == [Start("deliveries", {"subset": "late"})]
    assert opened[10] == [Start("expiry", {})]
    assert tiles[10].note == msg("tile.order_due", order="Feta", due=msg("moment.late", at="2026-11-19"))


def test_each_job_has_a_name() -> None:
    assert JOB_NAMES.keys() == JOBS.keys()


def test_arrows_choose_a_tile_of_a_desk_and_enter_opens_it() -> None:
    hand, desk, last = Hand(DESK), DESK, TILES
    assert hand.feed(CursorKey("enter"), desk) == []
    rights = [("right", min(at, last)) for at in range(1, last + 2)]
    for key, at in (("right", 0), ("down", 1), ("left", 0), ("up", 0), *rights):
        hand.feed(CursorKey(key), desk)
        assert hand.view.dashboard.cursor == at
    assert hand.feed(CursorKey("enter"), desk) == [Start("expiry", {})]


def test_a_desk_shows_the_hours_the_people_and_the_latest_entries() -> None:
    desk = CONTEXT._replace(is_desk=True)
    hand = Hand()
    asked = [effect.name for effect in hand.feed(Changed("order", "1"), desk) if isinstance(effect, Query)]
    assert {"today_hours", "today_locations", "today_terminals", "log"} <= set(asked)
    assert [entry["work"] for entry in hand.state.latest] == ["pick"] * 3
    hours, map_ = hand.view.dashboard.charts
    assert [int(value) for value in hours.series[0].values] == [4, 1, 0]
    assert map_.is_heat_map


@pytest.mark.parametrize(
    ("unread", "unknown_tiles"),
    [
        (("logs",), {5, 9}),
        (("headers",), {0, 1, 2, 3, 4}),
        (("stock", "products", "deliveries"), {6, 7, 8, 10}),
        ((), set()),
    ],
)
def test_figures_of_a_list_that_was_never_read_are_unknown(
    monkeypatch: pytest.MonkeyPatch, unread: tuple[str, ...], unknown_tiles: set[int]
) -> None:
    nothing = {f"work_{kind}": 0 for kind in ("pick", "count", "move", "short")}
    monkeypatch.setitem(ROWS, "today", [{**FIGURES, **nothing, "unread": unread}])
    hand = Hand()
    hand.feed(Changed("order", "1"), CONTEXT._replace(is_desk=True))
    dashboard = hand.view.dashboard
    assert {index for index, tile in enumerate(dashboard.tiles) if tile.total is None} == unknown_tiles
    is_log_unread = "logs" in unread
    assert [block.rows[0][0].id == "list.loading" for block in dashboard.blocks] == [is_log_unread]
    assert bool(dashboard.charts) is not is_log_unread
    work = [block for block in hand.view.blocks if block.title.id == "today.work"]
    shown = [MessageWriter().write(value) for block in work for _, value in block.rows[:4]]
    assert shown == ([] if "headers" in unread else ["?" if is_log_unread else "0"] * 4)


def test_the_hours_begin_with_the_first_that_anybody_worked() -> None:
    hand = Hand()
    hand.feed(Choice(TILES + 1))
    assert isinstance(hand.view, Chart)
    anna, ben = hand.view.series
    assert (list(map(int, anna.values)), anna.label.id) == ([5, 0, 2], "today.person")
    assert anna.total == 7
    assert (list(map(int, ben.values)), ben.label.id) == ([0, 1, 0], "today.person_here")
    assert dict(anna.label.args) == {"who": "Anna", "picks": 4, "counts": 1, "moves": 2, "shorts": 0}
    assert len(hand.view.axis) == 3


def test_map_lists_aisles_in_walk_order_and_marks_choice() -> None:
    hand = Hand()
    hand.feed(Choice(TILES + 2))
    assert hand.view.is_heat_map
    assert [(one.label.args[0][1], list(map(int, one.values))) for one in hand.view.series] == [
        ("A", [1, 5]),
        ("B", [0]),
    ]
    assert dict(hand.view.lines[0].text.args)["place"] == "A-01"
    (query,) = [effect for effect in hand.feed(Choice(2)) if isinstance(effect, Query)]
    assert (query.name, query.args["kind"]) == ("today_locations", "short")
    (query,) = [effect for effect in hand.feed(Choice(3)) if isinstance(effect, Query)]
    assert query.args["kind"] == "move"


def test_terminals_and_the_way_back() -> None:
    hand = Hand()
    hand.feed(Choice(TILES + 3))
    assert isinstance(hand.view, ListView)
    assert [row.cells[1].id for row in hand.view.rows] == ["raw", "today.nobody"]
    assert [row.cells[3] for row in hand.view.rows] == [msg("today.ago", seconds="30.0"), msg("age.never")]
    hand.feed(Command("n"))
    hand.feed(Back())
    assert hand.state.phase == "figures"
    assert hand.feed(Back()) == [Close()]
    assert hand.job.handle(hand.state, UnknownCode("871"), CONTEXT).verdict is not None


@pytest.mark.parametrize(
    ("code", "aisle"),
    [("A-03-12", "A"), ("a0312", "A"), ("03-12", "03"), ("FR-01", "FR"), ("北-1", "北"), ("--", "--")],
)
def test_an_aisle_is_what_a_code_begins_with(code: str, aisle: str) -> None:
    assert aisle_of(code) == aisle


def test_no_places_are_no_aisles() -> None:
    assert group_by_aisle(()) == ()


@pytest.mark.parametrize(("size", "is_cut"), [((100, 30), True), ((200, 50), False)])
def test_a_screen_too_small_for_all_of_today_says_so(size: tuple[int, int], is_cut: bool) -> None:
    hand = Hand()
    hand.feed(Changed("order", ""), CONTEXT._replace(is_desk=True))
    lines = plain_lines(layout_screen(Frame(hand.job.view(hand.state), LinkState("live", 3.0)), *size))
    assert any("More on a larger screen" in line for line in lines) is is_cut
