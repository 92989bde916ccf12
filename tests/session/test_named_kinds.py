"""Refusals name the right kind of thing, and completed codes are said to be completed."""

from __future__ import annotations

from decimal import Decimal

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, WRONG
from aisle.session.session import Session
from aisle.tui.message_text import MessageWriter
from tests.cache import service_rows
from tests.cache.test_delivery_queries import delivery, line
from tests.session.scanner import Scanner
from tests.session.test_asked_plain_codes import NUTS, NUTS_CODE
from tests.session.test_asked_plain_codes import home as store
from tests.session.test_asked_quantity import TEA, begun
from tests.session.test_numbers_after_refused_scan import opened
from tests.session.test_numbers_after_scan import quantities
from tests.session.test_session import at, say, told

home = store
PATTERN = ("28IIIIIWWWWWC",)


@pytest.mark.parametrize("code", ["9520001100017", "009520001100017", "96385074"])
@pytest.mark.parametrize("way", [("A-1",), ()])
def test_a_gtin_is_not_called_a_place(home: StoreFolder, way: tuple[str, ...], code: str) -> None:
    with at(home, user="U1") as session:
        opened(session, "locations", *way)
        frame = say(session, code)
        assert frame.verdict
        assert frame.verdict.kind == WRONG
        said = MessageWriter().write(frame.verdict.text)
        assert "place" not in said, said


def test_a_word_is_a_place_that_is_not_found(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        opened(session, "locations")
        assert told(say(session, "nowhere")) == (WRONG, "count.unknown")


@pytest.mark.parametrize("job", ["count", "move", "receive", "adjust"])
def test_an_order_in_a_question_is_named_as_an_order(home: StoreFolder, job: str) -> None:
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    order = service_rows.order("41130", service_rows.line(1, "P4", 1), customer_name="Petra Oakes")
    cache.write_orders([order], lines_known=True, read_began=1.0)
    with at(home, user="U1") as session:
        begun(session, job)
        say(session, "9520001100062" if job == "adjust" else TEA)
        if job == "adjust":
            say(session, "2")
        assert told(say(session, "226"))[0] == ASK
        frame = say(session, "]C041130")
        assert frame.verdict
        assert told(frame)[1].endswith(".answer_first")
        assert "order 41130" in MessageWriter().write(frame.verdict.text)


@pytest.mark.parametrize("zeros", range(6))
def test_zeros_before_a_weight_label_change_nothing(home: StoreFolder, zeros: int) -> None:
    with at(home, user="U1", restricted_codes=PATTERN) as session:
        begun(session, "count")
        Scanner(session).send("0" * zeros + "2800010012349\r", 0.006)
        assert quantities(session) == {NUTS: Decimal("1.234")}


@pytest.mark.parametrize("job", ["count", "move", "receive"])
def test_a_weight_label_without_check_digit_is_asked_back(home: StoreFolder, job: str) -> None:
    with at(home, user="U1", restricted_codes=PATTERN) as session:
        begun(session, job)
        frame = Scanner(session).send(f"{NUTS_CODE[:7]}01234\r", 0.006)
        assert frame.verdict
        assert frame.verdict.kind == ASK
        assert "On the label: 1.234 kg" in MessageWriter().write(frame.verdict.text)
        assert not any(quantities(session).values())
        say(session, "1.2")
        assert quantities(session)[NUTS] == Decimal("1.2")


def test_a_location_through_another_keyboard_opens(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        opened(session, "count")
        frame = Scanner(session).send("Aß1\r", 0.006)
        assert frame.view.name == "count.product"
        assert told(frame)[1] == "session.keyboard_layout"


@pytest.mark.parametrize("job", ["orders", "exceptions", "look_up", "locations", "batch", "log", "count", "move"])
@pytest.mark.parametrize("code", ["0555123", "555123"])
def test_a_delivery_is_never_called_a_badge(home: StoreFolder, job: str, code: str) -> None:
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_deliveries([delivery("0555123", line(1, "P4", 1))], 1.0)
    with at(home, user="U1") as session:
        frame = Scanner(begun_session(session, job)).send(f"{code}\r", 0.003)
        assert frame.verdict
        said = MessageWriter().write(frame.verdict.text)
        assert "badge of" not in said, said
        assert "0555123" in said, said


def begun_session(session: Session, job: str) -> Session:
    """The session with that job open."""
    opened(session, job)
    return session
