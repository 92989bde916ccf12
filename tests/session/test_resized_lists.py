"""A list uses the whole page after the terminal has another size, whichever list and wherever somebody stood in it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.database import transaction
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Start
from aisle.jobs.view import DetailView, Frame, ListView, Step
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import Author, Intent
from aisle.scan.inputs_and_line_grouping import Key
from aisle.session.session import Session
from aisle.stored_messages import store_text
from aisle.tui.layout.screen import layout_screen, visible_row_count
from tests.cache import service_rows
from tests.session.test_session import at, say
from tests.writes import movement

SMALL, LARGE = (40, 12), (80, 40)
MANY = 70
DELIVERY = {"deliveries": ["7900"], "code": "7900"}
"""Of as many lines as there are products."""

LISTS: dict[str, tuple[str, Mapping[str, Any], tuple[str, ...]]] = {
    "home": ("", {}, ()),
    "look_up": ("look_up", {"search": "product"}, ()),
    "locations": ("locations", {}, ()),
    "orders": ("orders", {}, ()),
    "deliveries": ("deliveries", {}, ()),
    "to receive": ("receive", {}, ()),
    "log": ("log", {}, ()),
    "counts of today": ("my_entries", {}, ()),
    "products": ("products", {}, ()),
    "stores": ("stores", {}, ()),
    "exceptions": ("exceptions", {}, ()),
    "stock below zero": ("exceptions", {"kind": "negative_stock"}, ()),
    "palette": ("", {}, (".",)),
    "reasons of a loss": ("adjust", {"product_number": "P1"}, ("1",)),
    "fields of the orders": ("orders", {}, ("f",)),
    "tags to clear": ("clearance", {}, ()),
    "in a count": ("count", {}, ("product",)),
    "in a move": ("move", {}, ("product",)),
    "unconfirmed": ("unconfirmed", {}, ()),
    "lines to receive": ("receive", DELIVERY, ("l",)),
    "differences of a delivery": ("receive", DELIVERY, ("d",)),
}
"""The job that opens it, with its arguments, and what is said there then."""

PAGES: dict[str, tuple[str, Mapping[str, Any], tuple[str, ...]]] = {
    "batch": ("batch", {}, ("9",)),
    "order": ("order", {"order_number": "9900"}, ()),
    "lines of an order": ("order", {"order_number": "9900"}, ("l",)),
    "fields of the log": ("log", {}, ("f",)),
    "reasons of the log": ("log", {}, ("f", "2")),
    "entry of the log": ("log", {}, ("1",)),
}
"""Pages that are no lists and have more than a small screen shows."""

TURNS = {"top": (), "second": ("n",), "last": ("p",), "behind": ("n", "n", "n")}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> StoreFolder:
    """A store with many of everything."""
    home = StoreFolder(tmp_path_factory.mktemp("home"), "embedded", "0001")
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    numbers = range(1, MANY + 1)
    cache.write_people([service_rows.person("U1", "Anna Kovac")])
    cache.write_products([service_rows.product(f"P{n}", f"Product {n}") for n in numbers])
    cache.write_stock([service_rows.stock(f"P{n}", -n, places={f"A-{n}": -n}) for n in numbers])
    cache.write_locations([{**service_rows.location(f"A-{n}", n), "tags": [f"Tag {n}"]} for n in numbers])
    cache.write_stores([service_rows.store(f"{n:04}", f"Store {n}") for n in numbers])
    orders = [service_rows.order(f"42{n:02}", service_rows.line(1, "P1", 1)) for n in numbers]
    orders.append(service_rows.order("9900", *(service_rows.line(n, f"P{n}", 2) for n in range(1, 15))))
    cache.write_orders(orders, lines_known=True, read_began=1.0)
    line = {"line_number": 1, "product_number": "P1", "quantity": 4, "received_quantity": 0}
    cache.write_deliveries(
        [{"order_number": f"7{n:03}", "status": "open", "order_lines": [line]} for n in numbers]
        + [{"order_number": "7900", "status": "open", "order_lines": [line | product(n) for n in numbers]}],
        1.0,
    )
    entry = {"store_number": "0001", "location_code": "A-1", "created_on": datetime.now(UTC).isoformat()}
    counted = {**entry, "counted_quantity": 3, "expected_quantity": 4, "app_user_name": "U1", "quantity": -1}
    cache.write_logs([{**counted, "id": n, "product_number": f"P{n}"} for n in numbers], "2026-01-01")
    full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))
    _refuse_movements(home)
    return home


def product(n: int) -> dict[str, Any]:
    """Number of a line and of its product."""
    return {"line_number": n, "product_number": f"P{n}"}


def _refuse_movements(home: StoreFolder) -> None:
    db = open_outbox(home.folder)
    outbox = OperationQueue(db)
    with transaction(db):
        moves = [Intent(movement(f"42{n:02}", "P1")) for n in range(1, MANY + 1)]
        refused = outbox.enqueue(moves, Author("0001", "U1"))
    for op_id in refused:
        assert outbox.begin_sending(op_id, b"[]")
        outbox.refuse(op_id, store_text("finished"))
    db.close()


def opened(session: Session, name: str) -> ListView | None:
    """The list on the screen; None where this store has none of it."""
    view = opened_page(session, *LISTS[name]).view
    return view if isinstance(view, ListView) and view.total > 1 else None


def opened_page(session: Session, job: str, args: Mapping[str, Any], said: tuple[str, ...]) -> Frame:
    """The page of this job after these words."""
    session.terminal.rows_in_view = partial(visible_row_count, is_ascii=True)
    while len(session.stack.jobs) > 1:
        leaving = say(session, "b").view
        if isinstance(leaving, DetailView) and leaving.choice_letters:
            say(session, leaving.choice_letters[0])
    if job:
        session.start_batch()
        session.event_runner.open(Start(job, args))
        session.event_runner.commit()
    return say(session, *said)


def is_full(frame: Frame, session: Session) -> bool:
    """Whether the page shows as many rows as there are, or as have room."""
    assert isinstance(frame.view, ListView)
    room = min(frame.view.total, session.terminal.size.list_rows)
    return len(frame.view.rows) >= room


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("name", LISTS)
def test_a_list_uses_the_whole_page_after_a_resize(home: StoreFolder, name: str, turns: str) -> None:
    with at(home, user="U1", reasons=tuple(f"{n} - Reason {n}" for n in range(1, 30))) as session:
        session.resize(*SMALL)
        if opened(session, name) is None:
            pytest.skip("nothing of it in this store")
        for letter in TURNS[turns]:
            say(session, letter)
        for size in (LARGE, (200, 50), (80, 24), LARGE):
            frame = session.resize(*size)
            assert is_full(frame, session), (size, frame.view)


@pytest.mark.parametrize("name", [name for name in LISTS if name != "palette"])
def test_a_list_under_another_page_uses_it_too(home: StoreFolder, name: str) -> None:
    with at(home, user="U1") as session:
        session.resize(*SMALL)
        if opened(session, name) is None:
            pytest.skip("nothing of it in this store")
        say(session, "p", "h")
        session.resize(*LARGE)
        assert is_full(say(session, "b"), session)


@pytest.mark.parametrize("name", ["home", "look_up", "locations", "orders", "products"])
def test_the_cursor_stays_on_the_page(home: StoreFolder, name: str) -> None:
    with at(home, user="U1") as session:
        session.resize(*LARGE)
        opened(session, name)
        session.take([Key("end")], 0.0)
        for size in (SMALL, (80, 24), (20, 16), LARGE):
            view = session.resize(*size).view
            assert isinstance(view, ListView)
            assert view.first <= view.cursor < view.first + max(1, len(view.rows)), size


def test_this_store_has_most_of_the_lists(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        session.resize(*SMALL)
        missing = [name for name in LISTS if opened(session, name) is None]
    assert not missing


def test_the_locations_of_a_count_use_the_whole_page(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        session.resize(*SMALL)
        while len(session.stack.jobs) > 1:
            say(session, "b")
        session.start_batch()
        session.event_runner.open(Start("count", {}))
        frame = say(session, "3", *(f"A-{number}" for number in range(1, 41)))
        assert frame.view.name == "count.list"
        session.take([Key("end")], 0.0)
        view = session.resize(*LARGE).view
        assert isinstance(view, ListView)
        assert (view.total, len(view.rows)) >= (40, session.terminal.size.list_rows - 2)


def drawn(frame: Frame, size: tuple[int, int]) -> list[str]:
    """The lines on the screen, without what was just said."""
    lines = layout_screen(frame._replace(verdict=None), *size).lines
    return ["".join(text for text, _ in line).rstrip() for line in lines]


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole_after_a_resize_to_a_size_where_it_fits(home: StoreFolder, name: str, turns: str) -> None:
    with at(home, user="U1") as session:
        session.resize(*SMALL)
        opened_page(session, *PAGES[name])
        for letter in TURNS[turns]:
            say(session, letter)
        for size in ((80, 24), (large := (120, 60))):
            frame = session.resize(*size)
        shown, view = drawn(frame, large), frame.view
        top = view._replace(page=0) if isinstance(view, DetailView) else view
        assert shown == drawn(frame._replace(view=top), large)
        assert not isinstance(view, Step) or view.choice_total in (0, len(view.choices))
        assert len([line for line in shown if line]) > SMALL[1], "it has more than fits a small screen"
