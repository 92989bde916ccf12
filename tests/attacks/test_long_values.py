"""Rows and answers whose values are far longer, deeper or more than any real ones: they are kept short or left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import apsw
import pytest

from aisle.cache.locations_in_walk_order import WalkOrder, WalkOrderCache, _load_walk_order
from aisle.cache.order_writer import parse_order_lines
from aisle.cache.row_parsing_and_writing import MAX_DEPTH, InvalidRow, SkippedRow, WriteResult, dump_row
from aisle.cache.writer import CacheWriter
from aisle.cli.print_rows_and_messages import escape_control_characters, write_json
from aisle.client.csv_load.work_during_load import WorkDuringLoad
from aisle.client.paging import PageNumberCursor, check_row_count
from aisle.client.responses_and_errors import InvalidResponse, TooManyRows
from aisle.client.sign_in_and_token_file import sign_in
from aisle.contract.operations import OPERATIONS
from aisle.courier.link_state import OperatorNotices
from aisle.courier.pull.cache_update import CacheUpdate, ReadSequence
from aisle.courier.push.decide_arrival_from_lookup import MAX_VALUE, order_state
from aisle.courier.push.read_arrival_evidence import _quantities_by_location
from aisle.errors import ContractError
from tests.cache import service_rows
from tests.client.recording_service import Service, reply
from tests.writes import STORE

LONG = "\x7f" * 300_000
ORDERS = OPERATIONS["list-customer-orders"]


@pytest.fixture
def cache(cache_db: apsw.Connection) -> CacheWriter:
    return CacheWriter(cache_db, STORE)


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def long_stock(cache: CacheWriter) -> WriteResult:
    return cache.write_stock([{**service_rows.stock("P1", 1), "most_likely_quantity": LONG}], 0, 1.0)


def long_line(cache: CacheWriter) -> WriteResult:
    return cache.write_orders(
        [{**service_rows.order("O1"), "lines": [service_rows.line(1, "P1") | {"quantity": LONG}]}], True, 1.0
    )


def long_store(cache: CacheWriter) -> WriteResult:
    return cache.write_stock([{**service_rows.stock("P1", 1), "store_number": LONG}], 0, 1.0)


@pytest.mark.parametrize("write", [long_stock, long_line, long_store])
def test_reason_for_a_row_left_out_is_short(cache: CacheWriter, write: Callable[[CacheWriter], WriteResult]) -> None:
    [skipped] = write(cache).skipped
    assert len(skipped.reason) <= 200


@pytest.mark.parametrize("row", [{"name": LONG}, {LONG: 1}, LONG, [LONG], {"a": {"b": [LONG] * 9}}])
def test_notice_of_a_row_left_out_is_short(row: Any) -> None:
    found: list[str] = []
    notices = SimpleNamespace(add=found.append)
    update = CacheUpdate(
        cast("CacheWriter", None),
        read_sequence=ReadSequence(),
        operator_notices=cast("OperatorNotices", notices),
        notify=lambda _: None,
        pending_keys=lambda _: frozenset(),
        clock=lambda: 0.0,
    )
    update.record_written("order", "list-x", WriteResult((), (), (SkippedRow(row, "bad"),)))
    assert len(found[0]) < 250


@pytest.mark.parametrize("depth", [MAX_DEPTH - 1, MAX_DEPTH, 900])
def test_row_that_is_nested_deeply_is_left_out(cache: CacheWriter, depth: int) -> None:
    row = {**service_rows.order("O1", service_rows.line(1, "P1")), "zz": nested(depth)}
    written = cache.write_orders([row, service_rows.order("O2")], True, 1.0)
    left_out = [each.reason for each in written.skipped]
    assert left_out == (["it is nested deeper than 20 levels"] if depth >= MAX_DEPTH else [])
    assert "O2" in written.keys


def test_unknown_field_with_very_many_values_is_not_stored(cache: CacheWriter, cache_db: apsw.Connection) -> None:
    row = {**service_rows.order("O1"), "zz": [{}] * 5_000, "aisle": {"customer_phone": "1"}}
    written = cache.write_orders([row], True, 1.0)
    [(raw,)] = cache_db.execute("SELECT raw FROM orders").fetchall()
    stored = json.loads(str(raw))
    assert (written.keys, "zz" in stored, stored["aisle"]) == (("O1",), False, {"customer_phone": "1"})


def test_row_that_is_too_long_without_its_locations_is_left_out() -> None:
    locations = [{"location_code": f"A-{n}", "quantity": 1, "name": "x" * 100} for n in range(900)]
    assert len(dump_row({"store_locations": locations})) > 100_000
    rows: list[dict[str, Any]] = [
        {f"field {n}": "x" * 900 for n in range(100)},
        {f"field {n}": [{}] * 1_000 for n in range(5)},
    ]
    for row in rows:
        with pytest.raises(InvalidRow, match="too long"):
            dump_row(row)


@pytest.mark.parametrize(("lines", "each", "kept"), [(400, 320, 12), (100, 50, 50), (1000, 6, 5)])
def test_order_with_too_many_locations_keeps_those_with_the_most_goods(lines: int, each: int, kept: int) -> None:
    locations = [{"location_code": f"A-{n}", "quantity": n} for n in range(each)]
    row = service_rows.order(
        "O1", *(service_rows.line(n, "P1", store_locations=locations) for n in range(1, lines + 1))
    )
    for line in parse_order_lines(row):
        codes = [one["location_code"] for one in json.loads(line.raw)["store_locations"]]
        assert sorted(codes) == sorted(f"A-{n}" for n in range(each - kept, each))


@pytest.mark.parametrize("envelope", [{"next_page": LONG}, {"next_page": 2, "scroll_id": LONG}])
def test_long_cursor_is_no_answer(envelope: dict[str, Any]) -> None:
    with pytest.raises(InvalidResponse) as raised:
        PageNumberCursor(ORDERS, {}).advance([{"id": 1}], envelope)
    assert len(str(raised.value)) < 200


async def test_long_user_of_a_page_of_people_is_no_answer() -> None:
    service = Service(reply(200, {"people": [{"user": LONG}], "more": True}))
    async with service.client() as client:
        with pytest.raises(InvalidResponse, match="cursor of 300,000 characters"):
            await client.extension_list("/aisle/v1/people", "people")
        with pytest.raises(ContractError, match="no service takes it"):
            await client.request_extension("GET", "/aisle/v1/people", query={"after_user": LONG})


def test_list_of_locations_has_a_limit_of_its_own() -> None:
    check_row_count(OPERATIONS["list-locations"], 50_000)
    check_row_count(ORDERS, 50_001)
    with pytest.raises(TooManyRows, match="more than 50,000"):
        check_row_count(OPERATIONS["list-locations"], 50_001)


@pytest.mark.parametrize(("count", "computed"), [(3, 3), (10_001, 1)])
def test_long_walk_order_is_not_computed_at_each_page(
    cache: CacheWriter, cache_db: apsw.Connection, monkeypatch: pytest.MonkeyPatch, count: int, computed: int
) -> None:
    cache.write_locations([service_rows.location(f"A-{n}", n) for n in range(count)])
    now, loaded = [0.0], list[apsw.Connection]()

    def load(db: apsw.Connection) -> WalkOrder:
        loaded.append(db)
        return _load_walk_order(db)

    monkeypatch.setattr("aisle.cache.locations_in_walk_order._load_walk_order", load)
    order = WalkOrderCache(lambda: now[0])
    for version in range(3):
        cache.write_locations([service_rows.location(f"B-{version}", version)])
        order.current(cache_db, version)
    assert len(loaded) == computed
    now[0] = 6.0
    assert len(order.current(cache_db, 9).steps) == count + 3


@pytest.mark.parametrize("field", ["user", "name", "role"])
async def test_long_name_at_a_sign_in_is_no_answer(field: str) -> None:
    said = {"user": "U1", "name": "Anna", "role": "staff", "token": "t"} | {field: "x" * 201}
    async with Service(reply(200, said)).client() as client:
        with pytest.raises(InvalidResponse, match="more than 200 characters"):
            await sign_in(client, "1", {"user": "U1"}, "1234")


def test_evidence_of_an_operation_is_short() -> None:
    long = "9" * 300_000
    row = {"most_likely_quantity": long, "store_locations": [{"store_location_code": "A", "quantity": long}]}
    assert {len(value) for value in _quantities_by_location(row, ("A",)).values()} == {MAX_VALUE}
    for value in (long, "x" * 300_000, "1e9999999", [1] * 300_000):
        state = order_state({"is_picked": value, "lines": [{"line_number": 1, "picked_quantity": value}]})
        assert len(str(state)) < 3 * MAX_VALUE


def test_json_is_escaped_in_pieces(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps({"a": LONG, "b": "\x9b1m"}, ensure_ascii=False, indent=1)
    whole, pieces = escape_control_characters(text), list[int]()

    def escape(piece: str) -> str:
        pieces.append(len(piece))
        return escape_control_characters(piece)

    monkeypatch.setattr("aisle.cli.print_rows_and_messages.escape_control_characters", escape)
    write_json(text)
    assert capsys.readouterr().out == whole + "\n"
    assert max(pieces) <= 64 << 10


async def test_entries_without_end_during_a_load_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aisle.client.csv_load.work_during_load._MAX_ROWS", 5)
    rows = [{"id": n, "product_number": "P1", "comment": LONG, "reference": LONG} for n in range(1, 5)]
    page = {"list": rows, "next_page": None}
    async with Service(reply(200, page)).client() as client:
        [first, *_] = await WorkDuringLoad(client)._read_from("1", 1)
        assert (set(first), len(first["reference"])) == ({"id", "product_number", "reference"}, 200)
    pages = [reply(200, {"list": [{"id": 2 * n}, {"id": 2 * n + 1}], "next_page": 1}) for n in range(1, 9)]
    service = Service(*pages)
    async with service.client() as client:
        with pytest.raises(TooManyRows):
            await WorkDuringLoad(client)._read_from("1", 1)
    assert len(service.sent) == 3
