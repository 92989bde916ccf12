"""Plain codes and numbers of goods sold by measure: each is asked for its quantity, and none counts one unit."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK
from aisle.messages.messages_of_language import message_lengths
from aisle.tui.message_text import MessageWriter
from tests.cache import service_rows
from tests.cache.test_delivery_queries import delivery, line
from tests.copied_databases import copied_home
from tests.session.scanner import Scanner
from tests.session.test_asked_quantity import TEA, begun, prompt
from tests.session.test_numbers_after_refused_scan import opened
from tests.session.test_numbers_after_scan import quantities
from tests.session.test_session import at, say, told

UNITS = {
    "kg": "9520009100095",
    "g": "9520001100024",
    "oz": "9520001100031",
    "l": "9520001100048",
    "ft": "9520001100055",
}
"""Goods without a location, by unit."""
NUTS, NUTS_CODE, SEEDS = "200001", "2800010000001", "226"
"""Goods by the kilogram at A-1: a number too large for a quantity with its barcode, and a small number."""


def filled(cache: CacheWriter) -> None:
    """Goods by measure with and without a location, and tea."""
    cache.write_people([service_rows.person("U1", "Anna Kovac")])
    loose = [
        service_rows.product(f"W-{unit}", f"Loose {unit}", code, allow_decimal=True, base_unit_name=unit)
        for unit, code in UNITS.items()
    ]
    placed = [
        service_rows.product(NUTS, "Bulk nuts", NUTS_CODE, allow_decimal=True, base_unit_name="kg"),
        service_rows.product(SEEDS, "Seeds", "9520001100062", allow_decimal=True, base_unit_name="kg"),
        service_rows.product("P4", "Tea", TEA),
    ]
    cache.write_products([*loose, *placed])
    numbers = (NUTS, SEEDS, "P4")
    cache.write_stock([service_rows.stock(number, 60, places={"A-1": 60}) for number in numbers])
    cache.write_locations([service_rows.location("A-1", 1), service_rows.location("A-2", 2)])
    lines = [service_rows.line(row, number, 40, preferred_location_code="A-1") for row, number in enumerate(numbers, 1)]
    cache.write_orders([service_rows.order("4101", *lines)], lines_known=True, read_began=1.0)
    cache.write_deliveries([delivery("D-1", *(line(row, number, 40) for row, number in enumerate(numbers, 1)))], 1.0)
    full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """A home with that store in its cache."""
    return copied_home(aisle_home, filled)


@pytest.mark.parametrize("unit", UNITS)
def test_goods_without_a_location_are_asked_at_the_start_of_a_count(home: StoreFolder, unit: str) -> None:
    with at(home, user="U1") as session:
        opened(session, "count")
        frame = say(session, UNITS[unit])
        assert told(frame) == (ASK, "session.type_in")
        assert not quantities(session)
        say(session, "0.5")
        assert quantities(session) == {f"W-{unit}": Decimal("0.5")}
        assert told(say(session, UNITS[unit])) == (ASK, "session.type_in")


def test_goods_at_a_location_are_not_asked_at_the_start_of_a_count(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        opened(session, "count")
        assert told(say(session, NUTS_CODE))[1] == "count.product_locations"
        assert not quantities(session)


def test_a_lot_that_may_end_in_a_count_is_asked_at_the_start_of_a_count(home: StoreFolder) -> None:
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_products([service_rows.product("P9", "Salt", "5901234123457")])
    with at(home, user="U1") as session:
        opened(session, "count")
        assert told(say(session, "010590123412345710LOT73012")) == (ASK, "session.lot_may_have_quantity")
        say(session, "1")
        assert quantities(session) == {"P9": Decimal(1)}


@pytest.mark.parametrize("job", ["count", "move", "receive"])
@pytest.mark.parametrize("pace", [0.0, 0.006, 0.2])
def test_a_number_too_large_for_a_quantity_is_asked_like_its_barcode(home: StoreFolder, job: str, pace: float) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        scan = Scanner(session)
        scan.send(f"{TEA}\r")
        before = quantities(session)
        scan.rest(3.0)
        frame = scan.send(f"{NUTS}\r", pace)
        assert told(frame) == (ASK, "session.type_in")
        assert "Bulk nuts" in prompt(frame, 40, 20)
        assert quantities(session) == before
        say(session, "0.5")
        assert quantities(session)[NUTS] == Decimal("0.5")


@pytest.mark.parametrize("job", ["count", "move", "receive"])
@pytest.mark.parametrize("typed", [SEEDS, f"0{SEEDS}"])
def test_a_number_that_is_chosen_as_a_product_is_asked_for_its_quantity(
    home: StoreFolder, job: str, typed: str
) -> None:
    if typed.startswith("0"):
        cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
        cache.write_products([service_rows.product(SEEDS, "Seeds", typed, allow_decimal=True, base_unit_name="kg")])
    with at(home, user="U1") as session:
        begun(session, job)
        say(session, TEA)
        before = quantities(session)
        assert told(say(session, typed))[0] == ASK
        frame = say(session, "x")
        assert told(frame) == (ASK, "session.type_in")
        assert "Seeds" in prompt(frame, 40, 20)
        assert quantities(session) == before
        say(session, "0.5")
        assert quantities(session)[SEEDS] == Decimal("0.5")


def test_a_number_that_is_chosen_as_the_product_being_adjusted_is_asked(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        begun(session, "adjust")
        say(session, "9520001100062")
        say(session, "2")
        say(session, SEEDS)
        frame = say(session, "x")
        assert told(frame) == (ASK, "session.type_in")
        assert quantities(session) == {SEEDS: Decimal(2)}


@pytest.mark.parametrize("job", ["count", "move", "receive"])
@pytest.mark.parametrize("page", [f"?{TEA}", "?A-1"])
@pytest.mark.parametrize("code", [NUTS_CODE, f"010{NUTS_CODE}3303001250"])
def test_goods_are_asked_for_on_a_page_over_the_job(home: StoreFolder, job: str, page: str, code: str) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        say(session, TEA)
        say(session, page)
        assert told(say(session, code)) == (ASK, "session.type_in")
        say(session, "0.5")
        assert quantities(session)[NUTS] == Decimal("0.5")


@pytest.mark.parametrize("language", ["en", "de", "fr", "nl"])
@pytest.mark.parametrize("text_id", ["session.type_how_much", "session.type_in"])
def test_no_text_speaks_of_a_label_where_only_a_code_was_read(language: str, text_id: str) -> None:
    texts = " ".join(message_lengths(text_id, language)).replace("{label, text, cut}", "").casefold()
    assert not any(word in texts for word in ("label", "net ", "net:", "netto", "etik", "étiq")), texts


@pytest.mark.parametrize("job", ["count", "adjust", "move", "receive", "pick"])
@pytest.mark.parametrize("end", ["(10)830(30)7", "10830\x1d307", "108307", "10ABC307", "10830"])
def test_a_count_on_a_label_of_goods_by_weight_is_neither_their_weight_nor_denied(
    home: StoreFolder, job: str, end: str
) -> None:
    code = f"(01)0{NUTS_CODE}{end}" if end.startswith("(") else f"010{NUTS_CODE}{end}"
    with at(home, user="U1") as session:
        begun(session, job)
        frame = say(session, code)
        assert not quantities(session)
        assert frame.verdict
        told_text = MessageWriter().write(frame.verdict.text)
        assert "Bulk nuts" in told_text
        assert "pieces" not in told_text
        assert "No quantity" not in told_text
        say(session, "0.5")
        assert quantities(session) == {NUTS: Decimal("0.5")}


@pytest.mark.parametrize("job", ["count", "adjust", "move", "receive", "pick"])
@pytest.mark.parametrize(("typed", "quantity"), [("2,0", 2), ("3.0", 3), ("3.00", 3), ("4,", 4)])
def test_whole_number_with_a_decimal_point_is_taken_for_pieces(
    home: StoreFolder, job: str, typed: str, quantity: int
) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        say(session, TEA)
        say(session, typed)
        assert quantities(session) == {"P4": Decimal(quantity)}
        if job == "adjust":
            return  # it goes on to the reasons
        assert told(say(session, "1.000"))[1] == "input.whole_or_thousands", "may be a thousand"
        assert told(say(session, "2,5"))[1] == "input.whole_number_only"
        assert quantities(session) == {"P4": Decimal(quantity)}
