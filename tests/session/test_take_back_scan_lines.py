"""The first line of a scan is a known code and is answered at once: what it did is taken back when the scan goes on."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import WRONG
from aisle.session.session import Session
from tests.cache import service_rows
from tests.run_length import tries
from tests.session.every_page import PAGES, on_page
from tests.session.job_steps import WAYS, lasts
from tests.session.multi_line_codes import PAYLOADS
from tests.session.scanner import Scanner
from tests.session.test_session import BARCODES, at, told

FIRST = {
    "product": BARCODES[0],
    "another product": BARCODES[1],
    "product elsewhere": "96385074",
    "product number": "100009",
    "location": "A-1-01",
    "order": "410100",
    "delivery": "700100",
    "badge": "BADGE-U2",
    "command": "AISLE:DONE",
    "choice": "AISLE:1",
    "GS1": f"010{BARCODES[0]}3005",
    "unknown": "4000000000006",
    "guess": BARCODES[1][:12],
}
"""First lines that are codes by themselves."""

REST = ("5", "7"), ("y",), ("Muster", "12", "1"), ("002", "1", "SCT")


def with_long_codes(folder: Path) -> None:
    """A product, a location, an order and a delivery whose numbers are long enough to be codes."""
    home = StoreFolder(folder, "embedded", "0001")
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_products([service_rows.product("100009", "Long", "5012345678900")])
    cache.write_locations([service_rows.location("A-1-01", 9)])
    cache.write_orders([service_rows.order("410100", service_rows.line(1, "P2", 2))], lines_known=True, read_began=1.0)
    line = {"line_number": 1, "product_number": "P1", "quantity": 4, "received_quantity": 0}
    cache.write_deliveries([{"order_number": "700100", "status": "open", "order_lines": [line]}], 1.0)


def shown(session: Session) -> Any:
    """What is on the screen but for the verdict, and who works there."""
    frame = session.frames.build()
    return [each.job.name for each in session.stack.jobs], frame.view, frame.typed, frame.user, session.is_ending


def fix_clock(session: Session) -> None:
    """A clock that stands still, so that no list shows another age."""
    now = session.context.clock()
    session.context.clock = lambda: now


@pytest.mark.every_case
@pytest.mark.parametrize("page", PAGES[:: tries(5, 1)])
def test_nothing_is_left_of_a_first_line_when_its_scan_goes_on(aisle_home: Path, page: str) -> None:
    turn, every = PAGES.index(page), tries(8, 1)
    with on_page(aisle_home, page) as session:
        with_long_codes(aisle_home)
        fix_clock(session)
        session.poll()
        scanner = Scanner(session)
        for number, (first, pace) in [*enumerate(product(FIRST, (0.0, 0.003)))][turn % every :: every]:
            scanner.rest(6.0)
            before = shown(session)
            scanner.write(f"{FIRST[first]}\n", pace)
            for line in REST[number % len(REST)]:
                scanner.rest(0.06)
                scanner.write(f"{line}\n", pace)
            assert told(scanner.rest())[0] == WRONG, (first, pace)
            assert shown(session) == before, (first, pace)


@pytest.mark.every_case
@pytest.mark.parametrize("page", [page for page in PAGES if page not in WAYS][:: tries(4, 1)])
def test_no_line_of_a_longer_scan_means_anything_on_any_page(aisle_home: Path, page: str) -> None:
    turn, every = PAGES.index(page), tries(12, 1)
    with on_page(aisle_home, page) as session:
        fix_clock(session)
        scanner, before = Scanner(session), shown(session)
        for name, pace in [*product(PAYLOADS, (0.0, 0.001, 0.006))][turn % every :: every]:
            scanner.rest(6.0)
            assert told(scanner.send(PAYLOADS[name], pace))[0] == WRONG, (name, pace)
            assert shown(session) == before, (name, pace)


@pytest.mark.parametrize("page", [page for page in WAYS if lasts(page)])
def test_the_page_before_such_a_scan_is_there_again_after_a_kill(aisle_home: Path, page: str) -> None:
    with on_page(aisle_home, page) as session:
        scanner, before = Scanner(session), session.frames.build().view
        scanner.write(f"{BARCODES[1]}\n")
        scanner.rest(0.06)
        scanner.send("Muster\n1\n")
    with at(StoreFolder(aisle_home, "embedded", "0001"), user="U1", **WAYS[page].terms) as session:
        assert session.frames.build().view == before


def test_an_order_that_such_a_scan_opened_is_not_claimed(aisle_home: Path) -> None:
    with on_page(aisle_home, "home") as session:
        with_long_codes(aisle_home)
        scanner = Scanner(session)
        assert scanner.write("410100\n").view.name == "pick.product"
        scanner.rest(0.06)
        assert scanner.send("Muster\n1\n").view.name == "home"
        (waiting,) = session.store.operations.unfinished()
        assert waiting.body["orders"]["is_claimed"] is False


@pytest.mark.parametrize("pace", [0.0, 0.003, 0.012])
def test_a_burst_whose_last_line_is_no_code_is_taken_back_as_a_whole(aisle_home: Path, pace: float) -> None:
    with on_page(aisle_home, "pick.product") as session:
        scanner, before = Scanner(session), shown(session)
        for code in (BARCODES[2], BARCODES[1], BARCODES[2]):
            scanner.write(f"{code}\n", pace)
            scanner.rest(0.03)
        assert told(scanner.send("the end\n", pace)) == (WRONG, "input.bad_line")
        assert shown(session) == before


@pytest.mark.parametrize("page", ["home", "look_up.product", "batch", "pick.product", "count.product", "move.from"])
def test_a_scan_of_one_code_is_answered_when_its_last_byte_is_read(aisle_home: Path, page: str) -> None:
    with on_page(aisle_home, page) as session:
        before = shown(session), session.frames.build().verdict
        frame = Scanner(session).write(f"{BARCODES[2]}\r")
        assert (shown(session), frame.verdict) != before
