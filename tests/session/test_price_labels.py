"""Labels with a price: a quantity where the product has a price and is sold by measure, else the price is said."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from aisle.barcode_numbers import check_digit
from aisle.cache.writer import CacheWriter, open_cache
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Start
from aisle.jobs.view import ASK, GOOD, Frame
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.scan.inputs_and_line_grouping import Line
from aisle.session.session import Session, open_session
from aisle.settings.setting_definitions import Settings
from aisle.tui.message_text import MessageWriter
from tests.cache import service_rows
from tests.cache.test_delivery_queries import delivery, line


def label(item: str, amount: str) -> str:
    body = f"20{item}{amount}"
    return body + check_digit(body)


PRICED, PROMOTED, UNPRICED, PIECE = "880601", "880602", "880603", "880604"


@pytest.fixture
def session(aisle_home: Path) -> Iterator[Session]:
    """Anna's, in a store with an order of four products whose labels have prices."""
    home = StoreFolder(aisle_home, "embedded", "0001")
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    by_weight = {"allow_decimal": True, "base_unit_name": "kg"}
    cache.write_products(
        [
            service_rows.product("P1", "Cheese", label(PRICED, "0000"), price=10, **by_weight),
            service_rows.product("P2", "Ham", label(PROMOTED, "0000"), price=10, promotion_price=8, **by_weight),
            service_rows.product("P3", "Fish", label(UNPRICED, "0000"), **by_weight),
            service_rows.product("P4", "Pie", label(PIECE, "0000"), price=10),
        ]
    )
    cache.write_stock([service_rows.stock(f"P{n}", 20) for n in range(1, 5)] + [service_rows.stock("P5", 1)])
    cache.write_orders(
        [service_rows.order("4101", *(service_rows.line(n, f"P{n}", 2) for n in range(1, 5)))],
        lines_known=True,
        read_began=1.0,
    )
    full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))
    session = open_session(home, Settings(terminal="dock", user="U1", restricted_codes=("20IIIIIIPPPPC",)))
    session.start()
    say(session, "4101")
    yield session
    session.close()


def say(session: Session, *texts: str) -> Frame:
    return session.take([Line(text, "cr", 0.0, 0.0, 0.0) for text in texts], 0.0)


def told(frame: Frame) -> tuple[str, str]:
    assert frame.verdict
    return frame.verdict.kind, MessageWriter().write(frame.verdict.text)


def picked(session: Session) -> dict[int, Decimal]:
    (operation,) = OperationQueue(open_outbox(session.store.reader._store_folder.folder)).unfinished()
    return {line["line_number"]: line["picked_quantity"] for line in operation.body["orders"]["order_lines"]}


def test_what_is_sold_by_measure_is_taken_by_its_price(session: Session) -> None:
    kind, text = told(say(session, label(PRICED, "0432")))
    assert kind == GOOD
    assert text.startswith("4.32 / 10.00 per kg = 0.432 kg. ")
    assert picked(session) == {1: Decimal("0.432")}
    assert told(say(session, f"2*{label(PRICED, '0432')}"))[1].startswith("8.64 / 10.00 per kg = 0.864 kg. ")
    assert picked(session) == {1: Decimal("1.296")}


@pytest.mark.parametrize("item", [PROMOTED, UNPRICED])
def test_uncertain_price_is_shown_and_quantity_asked(session: Session, item: str) -> None:
    frame = say(session, label(item, "0432"))
    kind, text = told(frame)
    assert kind == ASK
    assert text.startswith("On the label: price 4.32. How much of ")
    assert told(say(session, "0.5"))[0] == GOOD
    assert list(picked(session).values()) == [Decimal("0.5")]


def test_what_is_sold_by_the_piece_is_one_and_its_price_is_said(session: Session) -> None:
    kind, text = told(say(session, label(PIECE, "0432")))
    assert kind == GOOD
    assert text.startswith("On the label: price 4.32. ")
    assert picked(session) == {4: Decimal(1)}


@pytest.mark.parametrize(("job", "scan"), [("count", "X-01"), ("move", "X-01"), ("receive", "D-1"), ("adjust", "1")])
def test_each_job_says_the_price_that_it_divides(session: Session, job: str, scan: str) -> None:
    home = session.store.reader._store_folder
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_stock([service_rows.stock("P1", 20, places={"X-01": 20})])
    cache.write_locations([service_rows.location("X-01", 1)])
    cache.write_deliveries([delivery("D-1", line(1, "P1", 40))], 1.0)
    say(session, "b")
    session.event_runner.open(Start(job, {}))
    say(session, scan)
    frame = say(session, label(PRICED, "0432"))
    assert session.stack.top.job.name == job
    assert told(frame)[1].startswith("4.32 / 10.00 per kg = 0.432 kg. ")


def test_the_price_of_the_store_comes_before_that_of_the_catalogue(session: Session) -> None:
    home = session.store.reader._store_folder
    CacheWriter(open_cache(home.folder, writer=True), "0001").write_stock([service_rows.stock("P1", 20, price=5)])
    say(session, label(PRICED, "0432"))
    assert picked(session) == {1: Decimal("0.864")}


def test_other_scans_say_nothing_of_prices(session: Session) -> None:
    _, text = told(say(session, f"2*{label(PIECE, '0000')}"))
    assert "label says" not in text


@pytest.mark.parametrize("language", ["en", "de", "nl", "fr"])
def test_the_price_comes_behind_what_is_counted_where_there_is_little_room(session: Session, language: str) -> None:
    frame = say(session, label(PIECE, "0432"))
    assert frame.verdict
    text = MessageWriter(language=language).write(frame.verdict.text, 1)
    assert text.startswith("1 ")
    assert text.endswith((" 4.32", " 4,32"))
