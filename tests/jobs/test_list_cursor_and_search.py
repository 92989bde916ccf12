"""What all lists have in common: the end of a window, and what is being typed into one."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from aisle.jobs import JOBS
from aisle.jobs.count.count_state import CountLine, CountState, CountTarget
from aisle.jobs.job import Context, Query, Rows
from aisle.jobs.list_cursor_and_search import is_no_search, scroll_window, turn_page
from aisle.jobs.names_in_messages import Pool
from aisle.jobs.receive.receive_state_and_differences import DeliveryLine, ReceiveState
from aisle.jobs.view import ListView
from aisle.scan.grammar import needs_look_up, parse
from aisle.scan.grammar_and_meaning_types import Command, CursorKey, RefusedInput, UnknownCode

CONTEXT = Context(store="0001", user="ann", now="2026-11-20T10:00:00Z", window_rows=4)

LISTS = {
    "home": "orders",
    "look_up": "hits",
    "locations": "locations",
    "my_entries": "my_entries",
    "unconfirmed": "unconfirmed",
}
"""Jobs with a list, and the ids of its answers."""


@pytest.mark.parametrize("name", LISTS)
def test_list_with_total_but_no_rows_ends(name: str) -> None:
    job: Any = JOBS[name]
    empty = Rows(LISTS[name], (), 3)
    behind = job.handle(job.begin()._replace(search="tea", first=20), empty, CONTEXT)
    asked = [effect.args for effect in behind.effects if isinstance(effect, Query)]
    assert [args["first"] for args in asked if "first" in args] == [0]
    assert job.handle(behind.state, empty, CONTEXT).effects == ()


FOLLOWING = ("home", "look_up", "locations", "my_entries", "deliveries", "log", "orders", "products", "stores")
"""Jobs whose list follows what is typed; not `receive`, where what is no word is a delivery's number."""


@pytest.mark.parametrize("name", FOLLOWING)
def test_letter_searches_lists_and_never_turns_pages(name: str) -> None:
    open_ = JOBS[name].accepts(JOBS[name].begin())
    assert needs_look_up(parse("k", open_))
    assert parse("n", open_) == (Command("n") if "n" in open_.command_letters else RefusedInput("input.no_page", "n"))


def test_a_letter_on_an_empty_board_is_no_order() -> None:
    board = JOBS["orders"]
    found = board.handle(board.begin(), UnknownCode("k"), CONTEXT)
    assert [effect.args["search"] for effect in found.effects if isinstance(effect, Query)] == ["k"]


def test_what_is_a_word_and_what_is_not() -> None:
    texts = ("", "1", "b", "q", "?x", "3*", "123456789", "1234", "te")
    assert [text for text in texts if is_no_search(text, "bn")] == [
        "", "1", "b", "?x", "3*", "123456789",
    ]  # fmt: skip
    assert [turn_page(2, key) for key in ("pagedown", "up", "home", "end", "enter")] == [3, 1, 0, -1, 2]


def test_what_is_typed_is_never_more_than_digits_can_be() -> None:
    """Keyboards have digits that are no numbers, and scanners send long ones."""
    assert not is_no_search("12²", "bn", 20)
    assert is_no_search("1" * 5000, "bn", 20)


@pytest.mark.parametrize("cursor", [-1, 0, 21])
def test_the_wheel_scrolls_the_view_and_not_the_cursor(cursor: int) -> None:
    first = 0
    for key, top in (("scrolldown", 3), ("scrolldown", 6), ("scrollup", 3), ("scrollup", 0), ("scrollup", 0)):
        moved, first = scroll_window(cursor, first, 42, 22, key)
        assert (moved, first) == (cursor, top)
    assert scroll_window(cursor, 18, 42, 22, "scrolldown") == (cursor, 20), "the last row stays at the bottom"
    assert scroll_window(cursor, 0, 5, 22, "scrolldown") == (cursor, 0)


COUNTED = tuple(CountLine("A-1", f"P{n}", f"Product {n}", counted=Decimal(n + 1)) for n in range(30))
ANNOUNCED = tuple(DeliveryLine(n, f"P{n}", f"Product {n}", Decimal(5)) for n in range(30))
DELIVERY = ReceiveState(delivery_number="D-1", lines=ANNOUNCED, page_size=4)


@pytest.mark.parametrize(
    ("job", "state"),
    [
        ("count", CountState(phase="list", plan=tuple(CountTarget("location", f"A-{n}") for n in range(30)))),
        ("count", CountState(phase="summary", mode="location", location="A-1", lines=COUNTED)),
        ("count", CountState(phase="pool", lines=COUNTED, current_index=0, pools=tuple(map(Pool, range(30))))),
        ("receive", DELIVERY._replace(phase="lines")),
        ("receive", DELIVERY._replace(phase="check")),
    ],
)
def test_the_wheel_scrolls_lists_without_a_cursor(job: str, state: Any) -> None:
    tops = []
    for key in ("scrolldown", "scrolldown", "scrollup", "scrollup", "scrollup"):
        state = JOBS[job].handle(state, CursorKey(key), CONTEXT).state
        view = JOBS[job].view(state)
        assert isinstance(view, ListView)
        tops.append(view.first)
    assert tops == [3, 6, 3, 0, 0]
