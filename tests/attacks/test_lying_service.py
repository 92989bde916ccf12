"""A service that answers nonsense: a row that cannot be used is counted, and the others are kept."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

from aisle.cache.row_parsing_and_writing import MAX_ENTRIES
from aisle.cache.writer import CacheWriter
from aisle.client.responses_and_errors import InvalidResponse
from aisle.courier.notify import Topic
from aisle.courier.service_features_and_lists import DEFAULT_KEY_LIFETIME_S, parse_features
from tests.cache import service_rows
from tests.courier.test_request_counts import Service
from tests.writes import STORE

FIRST_DAY = ["0001-01-01T00:00:00Z", "0001-01-01T12:00:00+14:00", "0001-01-01", "0001-01-02T00:00:00-00:01"]
LONG = "x" * 200_000
LAST_DAY = ["9999-12-31T23:59:59-14:00", "9999-12-31T23:59:59Z", "9999-12-31", "10000-01-01T00:00:00Z"]


@pytest.fixture
def cache(cache_db: apsw.Connection) -> CacheWriter:
    return CacheWriter(cache_db, STORE)


def order(number: str, **fields: Any) -> dict[str, Any]:
    return {"order_number": number, "is_active": True, "lines": [], **fields}


@pytest.mark.parametrize("day", [*FIRST_DAY, *LAST_DAY])
def test_order_of_a_day_that_no_zone_knows_is_kept(cache: CacheWriter, day: str) -> None:
    line = {"line_number": 1, "product_number": "P1", "quantity": 1, "picked_quantity": 0, "pickup_date": day}
    rows = [order("A", pickup_date=day), order("B", lines=[line]), order("C")]
    written = cache.write_orders(rows, True, 0.0)
    assert (set(written.keys), written.skipped) == ({"A", "B", "C"}, ())


def test_row_with_an_overlong_text_and_half_a_character_is_kept(cache: CacheWriter) -> None:
    line = {"line_number": 1, "product_number": "P1", "quantity": 1, "picked_quantity": 0, "comment": "x" * 20_000}
    rows = [order("A", lines=[line], description="\ud800"), order("B", comment="x" * 20_000, description="\ud800")]
    written = cache.write_orders(rows, True, 0.0)
    assert (set(written.keys), written.skipped) == ({"A", "B"}, ())


def test_row_that_nothing_foresaw_is_counted_and_ends_no_read(
    cache: CacheWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(raw: Any) -> Any:
        raise OverflowError("date value out of range") if raw["location_code"] == "A" else ValueError("year 0")

    monkeypatch.setattr("aisle.cache.store_lists_writer.parse_location", fail)
    written = cache.write_locations([{"location_code": "A"}, {"location_code": "B"}])
    assert [one.reason for one in written.skipped] == ["date value out of range", "year 0"]


@pytest.mark.parametrize("digits", ["9" * 10, "9" * 5_000, "9" * 50_000, "-1", "x", "", "١"])
def test_time_of_keys_that_is_none_is_the_usual_one(digits: str) -> None:
    features = parse_features(f"idempotency={digits}d, changes")
    assert (features.idempotency, features.key_lifetime_s) == (True, DEFAULT_KEY_LIFETIME_S)


UNREADABLE = [{"topic": "location", "key": key} for key in ("\ud800", "a\ud800b", "..", ".", "a\0b")]


async def test_mark_and_keys_that_fit_in_no_address_stop_no_later_read() -> None:
    change = {"topic": "order", "key": "O1"}
    service = Service({"cursor": 4, "mark": LONG}, {"cursor": 4, "mark": "a"})
    with pytest.raises(InvalidResponse, match="is no mark"):
        await service.feed().skip_to_end()
    feed = service.feed()
    await feed.skip_to_end()
    service.pages = [{"cursor": 7, "mark": "b", "changes": [{"topic": "order", "key": LONG}, *UNREADABLE, change]}]
    news = await feed.read()
    assert (news.single_topics, news.cursor, news.mark) == ((Topic("order", "O1"),), 7, "b")


def logs(first: int, count: int) -> list[dict[str, str]]:
    return [{"topic": "log", "key": str(first + n)} for n in range(count)]


async def test_endless_changes_of_the_log_are_one_read() -> None:
    pages = [{"cursor": n, "mark": "a", "changes": logs(n * 500, 500), "more": True} for n in range(1, 900)]
    service = Service({"cursor": 0, "mark": "a"}, *pages)
    feed = service.feed()
    await feed.skip_to_end()
    news = await feed.read()
    assert (news.single_topics, news.bulk_topics) == ((), ("log",))


async def test_unknown_topics_of_changes_are_not_kept() -> None:
    unknown = [{"topic": f"topic {n}", "key": "1"} for n in range(500)]
    service = Service({"cursor": 0, "mark": "a"}, {"cursor": 1, "mark": "a", "changes": unknown + logs(1, 3)})
    feed = service.feed()
    await feed.skip_to_end()
    assert (await feed.read()).single_topics == tuple(Topic("log", f"entry/{n}") for n in (1, 2, 3))


async def test_page_of_far_more_changes_than_requested_is_no_answer() -> None:
    service = Service({"cursor": 0, "mark": "a"}, {"cursor": 1, "mark": "a", "changes": logs(1, 5001)})
    feed = service.feed()
    await feed.skip_to_end()
    with pytest.raises(InvalidResponse, match="names 5,001 changes"):
        await feed.read()


@pytest.mark.parametrize("count", [MAX_ENTRIES, MAX_ENTRIES + 1])
def test_order_with_more_lines_than_any_has_is_left_out_and_counted(cache: CacheWriter, count: int) -> None:
    lines = [service_rows.line(n, "P1") for n in range(1, count + 1)]
    orders = [service_rows.order("O1", *lines), service_rows.order("O2", service_rows.line(1, "P1"))]
    written = cache.write_orders(orders, lines_known=True, read_began=1.0)
    left_out = [(each.field, each.reason) for each in written.skipped]
    reason = "lines has 1,001 entries, more than 1,000"
    assert left_out == ([("lines", reason)] if count > MAX_ENTRIES else [])


@pytest.mark.parametrize("kind", ["line", "stock"])
def test_row_with_more_locations_than_any_has_is_left_out(cache: CacheWriter, kind: str) -> None:
    places = {f"A{n}": 1 for n in range(MAX_ENTRIES + 1)}
    if kind == "stock":
        written = cache.write_stock([service_rows.stock("P1", places=places)], 0, 1.0)
    else:
        locations = [{"location_code": code, "quantity": 1} for code in places]
        row = service_rows.order("O1", service_rows.line(1, "P1", store_locations=locations))
        written = cache.write_orders([row], lines_known=True, read_began=1.0)
    assert [each.field for each in written.skipped] == ["store_locations"]
