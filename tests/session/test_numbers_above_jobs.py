"""A number typed on a page above an open job books nothing there: it is no choice, or it is looked up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aisle.cache.writer import CacheWriter
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs import JOBS
from aisle.jobs.job import Start
from aisle.jobs.view import GOOD, WRONG
from aisle.session.session import Session
from tests.cache import service_rows
from tests.copied_databases import copy_cache
from tests.session.scanner import Scanner
from tests.session.test_session import BARCODES, at, say, small_store, told

P1, P2, P3 = BARCODES
TYPED, SCANNED = 0.13, 0.003
"""Seconds between two characters of a person, and of a scanner."""

PRODUCTS = ("7", "77", "210", "4711", "21005", "210005", "9520001")
LOCATIONS = ("6", "66", "606", "6006", "60006")
ORDERS = ("5", "55", "5005")
"""Numbers of products, locations and orders, with which every job has to do."""

JOBS_AT_WORK = {
    "pick": ("4101",),
    "pick, quantity open": ("4101", P2),
    "pick, all picked": ("4102", f"2*{P2}"),
    "batch": ("batch", "4101", "4102", "g"),
    "shortage": ("4101", "s"),
    "count of a location": ("count", "A-1"),
    "count, quantity open": ("count", "A-1", P1),
    "count of a product": ("count", P1),
    "move, from": ("move",),
    "move, take": ("move", "A-1"),
    "move, in hand": ("move", "A-1", P1),
    "receive": ("receive", "7001"),
    "receive, in hand": ("receive", "7001", P1),
    "adjust": ("count", "1"),
    "adjust, quantity": ("count", "1", P1),
    "adjust, reason": ("count", "1", P1, "d"),
    "expiry": ("expiry",),
    "expiry, date": ("expiry", P1),
    "hand over": ("hand_over", "4105"),
    "hand over, goods": ("hand_over", "4105", "2"),
}
"""Ways to a step. The name of a job in front opens it."""

PAGES = {
    "product": (f"?{P3}",),
    "products": ("?product",),
    "location": ("?A-2",),
    "help": ("h",),
    "commands": (".",),
    "note": ("i",),
}


def more(cache: CacheWriter) -> None:
    """Products, locations and orders with short numbers; each job can use all of them."""
    cache.write_products([service_rows.product(number, f"Item {number}") for number in PRODUCTS])
    cache.write_stock([service_rows.stock(number, 20, places={"A-1": 20}) for number in PRODUCTS])
    places = [*(f"A-{n}" for n in (1, 2, 3)), *LOCATIONS]
    cache.write_locations([service_rows.location(code, n) for n, code in enumerate(places, 1)])
    lines = [
        service_rows.line(n, number, 5, preferred_location_code="A-1")
        for n, number in enumerate(("P1", "P2", *PRODUCTS), 1)
    ]
    held = [line | {"picked_quantity": 5, "is_picked": True, "moved_quantity": 5} for line in lines]
    cache.write_orders(
        [
            service_rows.order("4101", *lines, comment="Please ring"),
            service_rows.order("4105", *held, is_picked=True),
            *(service_rows.order(number, service_rows.line(1, "P2", 2)) for number in ("4102", *ORDERS)),
        ],
        lines_known=True,
        read_began=2.0,
    )
    rows = [{"line_number": n, "product_number": each, "quantity": 4} for n, each in enumerate(("P1", *PRODUCTS), 1)]
    cache.write_deliveries([{"order_number": "7001", "status": "open", "order_lines": rows}], 1.0)


def stand(session: Session, job: str, page: str) -> bool:
    """Open a page above a job; return whether there is such a page there."""
    inputs = JOBS_AT_WORK[job]
    if inputs[0] in JOBS:
        session.start_batch()
        session.event_runner.open(Start(inputs[0], {}))
        session.event_runner.commit()
        inputs = inputs[1:]
    for text in inputs:
        say(session, text)
    depth = len(session.stack.jobs)
    say(session, *PAGES[page])
    return len(session.stack.jobs) > depth


def work(session: Session) -> list[Any]:
    """The states of all jobs that hold work, and all that was booked."""
    jobs = [stacked.state for stacked in session.stack.jobs if stacked.job.name not in PAGE_JOBS]
    return [*jobs, *(operation.body for operation in session.store.operations.recent())]


PAGE_JOBS = ("look_up", "locations", "note", "help", "palette", "order")


@pytest.fixture
def store(aisle_home: Path) -> StoreFolder:
    home = StoreFolder(aisle_home, "embedded", "0001")
    copy_cache(home.folder, "0001", small_store, more)
    return home


@pytest.mark.parametrize("number", [*PRODUCTS, *LOCATIONS, *ORDERS, "12*7", "12*4711", "3005", "99", "30000"])
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("job", JOBS_AT_WORK)
def test_a_typed_number_that_is_no_choice_does_nothing_in_the_job_below(
    store: StoreFolder, job: str, page: str, number: str
) -> None:
    with at(store, user="U1") as session:
        if not stand(session, job, page):
            return
        choices = session.page.accepts().choices
        before, scanner = work(session), Scanner(session)
        scanner.rest(6.0)
        frame = scanner.send(f"{number}\r", TYPED)
        if number.isdecimal() and int(number) <= choices:
            return  # a row of the page, which leads on
        assert work(session) == before
        assert frame.verdict is not None or session.stack.top.job.name in PAGE_JOBS


@pytest.mark.parametrize("page", ["product", "location", "help", "commands", "note"])
def test_a_short_number_is_said_to_be_no_choice(store: StoreFolder, page: str) -> None:
    with at(store, user="U1") as session:
        assert stand(session, "pick", page)
        scanner = Scanner(session)
        scanner.rest(6.0)
        frame = scanner.send("77\r", TYPED)
        assert told(frame) in ((WRONG, "input.no_choice"), (WRONG, "input.no_choice_back"))


@pytest.mark.parametrize("page", ["product", "products", "location", "help", "commands", "note"])
def test_the_number_of_a_product_is_looked_up(store: StoreFolder, page: str) -> None:
    with at(store, user="U1") as session:
        assert stand(session, "pick", page)
        scanner = Scanner(session)
        scanner.rest(6.0)
        frame = scanner.send("210005\r", TYPED)
        assert frame.view.name == "look_up.product"
        assert session.stack.top.state.product_number == "210005"


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("code", [P1, "4711", "210005"])
def test_a_scan_goes_on_with_the_job_below(store: StoreFolder, page: str, code: str) -> None:
    with at(store, user="U1") as session:
        assert stand(session, "pick", page)
        scanner = Scanner(session)
        scanner.rest(6.0)
        frame = scanner.send(f"{code}\r", SCANNED)
        assert (frame.view.name, told(frame)) == ("pick.product", (GOOD, "pick.picked"))


@pytest.mark.parametrize("number", ["77", "210005"])
def test_a_product_typed_at_a_shortage_is_not_found_there(store: StoreFolder, number: str) -> None:
    with at(store, user="U1") as session:
        say(session, "4101")
        while session.stack.top.state.current_line.product != number:
            say(session, "n")
        say(session, "s")
        before, scanner = work(session), Scanner(session)
        scanner.rest(6.0)
        scanner.send(f"{number}\r", TYPED)
        assert work(session) == before


@pytest.mark.parametrize("location", ["606", "6006"])
def test_a_location_typed_at_a_shortage_is_the_other_location(store: StoreFolder, location: str) -> None:
    with at(store, user="U1") as session:
        say(session, "4101", "s")
        scanner = Scanner(session)
        scanner.rest(6.0)
        assert told(scanner.send(f"{location}\r", TYPED))[1] == "shortage.no_stock_there"


def test_above_no_job_the_page_takes_the_number(store: StoreFolder) -> None:
    with at(store, user="U1") as session:
        say(session, f"?{P1}")
        scanner = Scanner(session)
        scanner.rest(6.0)
        frame = scanner.send("4711\r", TYPED)
        assert frame.view.name == "look_up.product"
        assert session.stack.top.state.product_number == "4711"
        assert not session.store.operations.recent()
