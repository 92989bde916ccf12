"""A label of a few digits at the pace of a scanner is a scan: a code that was refused before it changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, WRONG, Frame
from aisle.session.session import Session
from tests.cache import service_rows
from tests.session import test_batch
from tests.session.every_page import on_page
from tests.session.scanner import Scanner
from tests.session.test_numbers_after_refused_scan import opened, shown
from tests.session.test_numbers_after_scan import quantities
from tests.session.test_one_digit_numbers import STEPS
from tests.session.test_session import told

LABELS = ("4011", "8001", "411", "29")
"""Numbers of a product, an order, and two with fewer digits."""

REFUSED = {"none": "", "unknown": "99999999", "wrong check digit": "4006381333932", "words": "ABC-12345"}


def with_labels(aisle_home: Path) -> None:
    """Products and an order with these numbers."""
    home = StoreFolder(aisle_home, "embedded", "0001")
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_products([service_rows.product(number, f"Plums {number}") for number in ("4011", "411", "29")])
    row = service_rows.order("8001", service_rows.line(1, "P3", 2))
    cache.write_orders([row], lines_known=True, read_began=1.0)


def said_to(session: Session, opening: str, refused: str, label: str, pace: float) -> Frame:
    """What a label says after a code was refused."""
    scanner = Scanner(session)
    for code in filter(None, (opening, refused)):
        scanner.send(f"{code}\r", 0.006)
        scanner.rest(3.0)
    return scanner.send(f"{label}\r", pace)


@pytest.mark.parametrize("page", STEPS)
@pytest.mark.parametrize("pace", [0.0, 0.003, 0.012])
@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("refused", [name for name in REFUSED if name != "none"])
def test_a_label_means_the_same_after_a_refused_code(
    aisle_home: Path, page: str, pace: float, label: str, refused: str
) -> None:
    said = []
    for number, before in enumerate((REFUSED["none"], REFUSED[refused])):
        home = aisle_home / str(number)
        with on_page(home, page) as session:
            with_labels(home)
            frame = said_to(session, STEPS[page], before, label, pace)
            said.append((told(frame), frame.view, quantities(session)))
    assert said[0] == said[1]
    assert told(frame)[1] != "input.number_after_refused_scan"


@pytest.mark.parametrize("page", STEPS)
def test_a_typed_number_is_still_asked_back(aisle_home: Path, page: str) -> None:
    with on_page(aisle_home, page) as session:
        with_labels(aisle_home)
        frame = said_to(session, STEPS[page], REFUSED["unknown"], "29", 0.12)
        assert told(frame) == (ASK, "input.number_after_refused_scan")


@pytest.mark.parametrize("page", STEPS)
@pytest.mark.parametrize("pace", [0.0, 0.003, 0.012])
@pytest.mark.parametrize("number", ["1", "2", "7", "33", "47", "704", "4712"])
@pytest.mark.parametrize("after", [0.4, 0.7, 1.5, 3.0])
@pytest.mark.parametrize("refused", [name for name in REFUSED if name != "none"])
def test_a_number_of_nothing_after_a_refused_code_is_an_unknown_code(
    aisle_home: Path, page: str, pace: float, number: str, after: float, refused: str
) -> None:
    with on_page(aisle_home, page) as session:
        with_labels(aisle_home)
        scanner = Scanner(session)
        if STEPS[page]:
            scanner.send(f"{STEPS[page]}\r", 0.006)
            scanner.rest(3.0)
        scanner.send(f"{REFUSED[refused]}\r", 0.006)
        scanner.rest(after)
        before, view = quantities(session), session.frames.build().view
        frame = scanner.send(f"{number}\r", pace)
        assert told(frame) == (WRONG, "count.unknown")
        assert f"{number} is unknown" in shown(frame)
        assert (quantities(session), frame.view) == (before, view)


home = test_batch.home


@pytest.mark.parametrize("pace", [0.0, 0.003, 0.012])
@pytest.mark.parametrize("refused", REFUSED.values(), ids=REFUSED)
def test_the_order_of_a_tote_is_named_after_a_refused_code(home: StoreFolder, pace: float, refused: str) -> None:
    with test_batch.at(home) as session:
        opened(session, "batch", "4101", "4102", "g")
        frame = said_to(session, test_batch.CODES["P1"], refused, "4102", pace)
        assert told(frame)[1] == "batch.already_in_batch"
