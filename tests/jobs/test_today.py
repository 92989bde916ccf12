"""The pages of today by themselves: what they ask for, when, and what they make of it."""

from __future__ import annotations

from typing import Any

import pytest

from aisle.jobs.job import Changed, Close, Context, Event, Opened, Query, Refresh, Rows
from aisle.jobs.supervisor.today import LOG_REFRESH_S, TodayJob, TodayState, aisle_of, group_by_aisle
from aisle.jobs.view import Chart, DetailView, ListView, msg
from aisle.scan.meaning import Back, Choice, Command, UnknownCode
from tests.samples.today import FIGURES

CONTEXT = Context(store="0001", user="U6", now="2026-11-20T15:30:00+00:00")

ROWS: dict[str, list[dict[str, Any]]] = {
    "today": [FIGURES],
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

    def __init__(self) -> None:
        self.job, self.state = TodayJob(), TodayState()
        self.effects: list[Any] = []
        self.feed(Opened({}))

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
    assert [effect.name for effect in hand.feed(Changed("order", "1"))] == ["today"]
    soon = CONTEXT._replace(now=f"2026-11-20T15:30:{LOG_REFRESH_S - 1:02}+00:00")
    assert Refresh("logs") not in hand.feed(Changed("link", ""), soon)
    later = CONTEXT._replace(now=f"2026-11-20T15:30:{LOG_REFRESH_S:02}+00:00")
    assert Refresh("logs") in hand.feed(Changed("outbox", ""), later)


def test_the_hours_begin_with_the_first_that_anybody_worked() -> None:
    hand = Hand()
    hand.feed(Choice(1))
    assert isinstance(hand.view, Chart)
    anna, ben = hand.view.series
    assert (list(map(int, anna.values)), anna.label.id) == ([5, 0, 2], "today.person")
    assert anna.total == 7
    assert (list(map(int, ben.values)), ben.label.id) == ([0, 1, 0], "today.person_here")
    assert dict(anna.label.args) == {"who": "Anna", "picks": 4, "counts": 1, "moves": 2}
    assert len(hand.view.axis) == 3


def test_map_lists_aisles_in_walk_order_and_marks_choice() -> None:
    hand = Hand()
    hand.feed(Choice(2))
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
    hand.feed(Choice(3))
    assert isinstance(hand.view, ListView)
    assert [row.cells[1].id for row in hand.view.rows] == ["raw", "today.nobody"]
    assert [row.cells[3] for row in hand.view.rows] == [msg("today.ago", seconds="30.0"), msg("link.age_never")]
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
