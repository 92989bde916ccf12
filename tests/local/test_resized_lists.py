"""A list uses the whole page after the terminal has another size, whichever list and wherever somebody stood in it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from aisle.courier.pull import progress
from aisle.jobs.base import Start
from aisle.jobs.view import Frame, ListWindow
from aisle.local.cache.writer import Cache, open_cache
from aisle.local.host.home import Home
from aisle.local.session.session import Session
from aisle.scan.inputs import Key
from aisle.tui.screens.frame import in_sight
from tests.local import goods
from tests.local.test_session import at, say

SMALL, LARGE = (40, 12), (80, 40)
MANY = 70

LISTS: dict[str, tuple[str, Mapping[str, Any], tuple[str, ...]]] = {
    "home": ("", {}, ()),
    "lookup": ("lookup", {"search": "product"}, ()),
    "locations": ("browse", {}, ()),
    "orders": ("orders", {}, ()),
    "deliveries": ("deliveries", {}, ()),
    "to receive": ("receive", {}, ()),
    "log": ("logs", {}, ()),
    "counts of today": ("count_log", {}, ()),
    "products": ("products", {}, ()),
    "stores": ("stores", {}, ()),
    "exceptions": ("exceptions", {}, ()),
    "stock below zero": ("exceptions", {"kind": "impossible"}, ()),
    "commands": ("", {}, (".",)),
    "reasons of a loss": ("loss", {"product_number": "P1"}, ("1",)),
    "in a count": ("count", {}, ("product",)),
    "in a move": ("move", {}, ("product",)),
}
"""The job that opens it, with its arguments, and what is said there then."""

TURNS = {"top": (), "second": ("n",), "last": ("p",), "behind": ("n", "n", "n")}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A store with many of everything."""
    home = Home(tmp_path_factory.mktemp("home"), "embedded", "0001")
    cache = Cache(open_cache(home.folder, writer=True), "0001")
    numbers = range(1, MANY + 1)
    cache.put_people([goods.person("U1", "Anna Kovac")])
    cache.put_products([goods.product(f"P{n}", f"Product {n}") for n in numbers])
    cache.put_stock([goods.stock(f"P{n}", -n, places={f"A-{n}": -n}) for n in numbers])
    cache.put_locations([goods.location(f"A-{n}", n) for n in numbers])
    cache.put_stores([goods.store(f"{n:04}", f"Store {n}") for n in numbers])
    orders = [goods.order(f"42{n:02}", goods.line(1, "P1", 1)) for n in numbers]
    cache.put_orders(orders, lines_known=True, read_began=1.0)
    line = {"line_number": 1, "product_number": "P1", "quantity": 4, "received_quantity": 0}
    cache.put_deliveries([{"order_number": f"7{n:03}", "status": "open", "order_lines": [line]} for n in numbers], 1.0)
    entry = {"store_number": "0001", "location_code": "A-1", "created_on": datetime.now(UTC).isoformat()}
    counted = {**entry, "counted_quantity": 3, "expected_quantity": 4, "app_user_name": "U1", "quantity": -1}
    cache.put_logs([{**counted, "id": n, "product_number": f"P{n}"} for n in numbers], "2026-01-01")
    progress.save(cache, progress.Progress(completed=1.0))
    return home


def opened(session: Session, name: str) -> ListWindow | None:
    """The list on the screen; None where this store has none of it."""
    session.in_sight = partial(in_sight, plain=True)
    while len(session._stack.levels) > 1:
        say(session, "b")
    job, args, said = LISTS[name]
    if job:
        session._begin()
        session._absorb(session._stack.open(Start(job, args), session._context()), "")
        session._commit()
    frame = say(session, *said)
    return frame.view if isinstance(frame.view, ListWindow) and frame.view.total > 1 else None


def is_full(frame: Frame, session: Session) -> bool:
    """Whether the page shows as many rows as there are, or as have room."""
    assert isinstance(frame.view, ListWindow)
    room = min(frame.view.total, session._size.listed)
    return len(frame.view.rows) >= room


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("name", LISTS)
def test_a_list_uses_the_whole_page_after_a_resize(home: Home, name: str, turns: str) -> None:
    with at(home, user="U1", reasons=tuple(f"{n} - Reason {n}" for n in range(1, 30))) as session:
        session.resize(*SMALL)
        if opened(session, name) is None:
            pytest.skip("nothing of it in this store")
        for letter in TURNS[turns]:
            say(session, letter)
        for size in (LARGE, (200, 50), (80, 24), LARGE):
            frame = session.resize(*size)
            assert is_full(frame, session), (size, frame.view)


@pytest.mark.parametrize("name", [name for name in LISTS if name != "commands"])
def test_a_list_under_another_page_uses_it_too(home: Home, name: str) -> None:
    with at(home, user="U1") as session:
        session.resize(*SMALL)
        if opened(session, name) is None:
            pytest.skip("nothing of it in this store")
        say(session, "p", "h")
        session.resize(*LARGE)
        assert is_full(say(session, "b"), session)


@pytest.mark.parametrize("name", ["home", "lookup", "locations", "orders", "products"])
def test_the_cursor_stays_on_the_page(home: Home, name: str) -> None:
    with at(home, user="U1") as session:
        session.resize(*LARGE)
        opened(session, name)
        session.take([Key("end")], 0.0)
        for size in (SMALL, (80, 24), (20, 16), LARGE):
            view = session.resize(*size).view
            assert isinstance(view, ListWindow)
            assert view.first <= view.cursor < view.first + max(1, len(view.rows)), size


def test_this_store_has_most_of_the_lists(home: Home) -> None:
    with at(home, user="U1") as session:
        session.resize(*SMALL)
        missing = [name for name in LISTS if opened(session, name) is None]
    assert not missing


def test_the_locations_of_a_count_use_the_whole_page(home: Home) -> None:
    with at(home, user="U1") as session:
        session.resize(*SMALL)
        while len(session._stack.levels) > 1:
            say(session, "b")
        session._begin()
        session._absorb(session._stack.open(Start("count", {}), session._context()), "")
        frame = say(session, "3", *(f"A-{number}" for number in range(1, 41)))
        assert frame.view.name == "count.list"
        session.take([Key("end")], 0.0)
        view = session.resize(*LARGE).view
        assert isinstance(view, ListWindow)
        assert (view.total, len(view.rows)) >= (40, session._size.listed - 2)
