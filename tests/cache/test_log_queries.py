"""Queries of the store's log for supervisors, losses by reason and week, and the CSV export."""

from __future__ import annotations

import csv
import errno
import random
import stat
import time
from contextlib import closing
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aisle.cache import log_and_difference_writer as cache_logs
from aisle.cache import write_csv_file
from aisle.cache.log_entries_and_undo import is_undone, log_row, undone_entries
from aisle.cache.log_queries import LOSS_WEEKS, week_starts
from aisle.cache.reader import CacheReader
from aisle.cache.stored_row_values import parse_row
from aisle.cache.write_csv_file import MAX_ROWS, MESSAGE_BY_ERRNO, check_export_file, write_csv
from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.database import fetch
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Export, Query
from aisle.jobs.store_time import to_utc_text
from aisle.jobs.supervisor.log_job import EXPORT_COLUMNS
from aisle.jobs.supervisor.log_list import LogFilter, parse_id_range, query_arguments
from aisle.messages.messages_of_language import load_messages
from aisle.operation_body_types import UNDO_PREFIX
from aisle.outbox.operation_queue import open_outbox
from aisle.outbox.operation_record import new_id
from tests.cache import service_rows
from tests.run_length import tries
from tests.writes import STORE

NOW = "2026-11-20T12:00:00Z"
"""A Friday."""

Row = dict[str, Any]


def entry(id_: int, product: str, quantity: float, at: str, **fields: Any) -> Row:
    """interface: Store product log entry."""
    return {
        "id": id_,
        "store_number": STORE,
        "product_number": product,
        "quantity": quantity,
        "created_on": at,
        "app_user_name": "U1",
        **fields,
    }


ENTRIES = (
    entry(1, "P1", -3, "2026-11-20T09:00:00Z", reason_code=1, reason_code_description="Damaged", source="aisle"),
    entry(2, "P2", 12, "2026-11-20T08:00:00Z", reference="PO-77", source="receipt", review_status="1"),
    entry(3, "P1", -1, "2026-11-18T08:00:00Z", app_user_name="U2", source="pick", customer_order_number="100042"),
    entry(4, "P2", -2, "2026-11-12T08:00:00Z", reason_code=1, reason_code_description="Damaged", source="aisle"),
    entry(5, "P2", -5, "2026-11-11T08:00:00Z", reason_code=3, reason_code_description="=Theft", source="aisle"),
    entry(6, "P2", 5, "2026-11-11T09:00:00Z", reference="undo-5", source="aisle"),
    entry(7, "P1", 4, "2026-11-11T10:00:00Z", reason_code=5, reason_code_description="Found", source="aisle"),
    entry(8, "P1", -9, "2026-08-01T10:00:00Z", reason_code=1, source="aisle"),
    entry(9, "P1", -2, "2026-11-17T10:00:00Z", reason_code=22, source="short"),
)


@pytest.fixture
def reads(aisle_home: Path) -> CacheReader:
    home = StoreFolder(aisle_home, "embedded", STORE)
    cache = CacheWriter(open_cache(home.folder, writer=True), STORE)
    cache.write_products([service_rows.product("P1", "Crème fraîche"), service_rows.product("P2", "Rye bread")])
    cache.write_logs(ENTRIES, "2026-01-01")
    return CacheReader(home, open_outbox(home.folder))


def keys(reads: CacheReader, **args: Any) -> list[str]:
    """The numbers of the entries that are found."""
    rows, total = reads.query("log", args)
    assert total == len(rows)
    return [row["key"] for row in rows]


def test_every_filter_of_the_list(reads: CacheReader) -> None:
    assert keys(reads) == ["1", "2", "3", "9", "4", "7", "6", "5", "8"]
    assert keys(reads, since="2026-11-18T00:00:00Z") == ["1", "2", "3"]
    assert keys(reads, since="2026-11-12T00:00:00Z", until="2026-11-18T00:00:00Z") == ["9", "4"]
    assert keys(reads, product_number="P2", reason_code="1") == ["4"]
    assert keys(reads, app_user_name="U2") == ["3"]
    assert keys(reads, review_status="1") == ["2"]
    assert keys(reads, reference="po-7") == ["2"]
    assert keys(reads, source="receipt") == ["2"]
    assert keys(reads, from_id="4", to_id="5") == ["4", "5"]
    assert keys(reads, search="creme 100042") == ["3"]
    assert keys(reads, key="7") == ["7"]
    rows, total = reads.query("log", {"first": 1, "size": 2})
    assert ([row["key"] for row in rows], total) == (["2", "3"], 9)
    assert (rows[0]["description"], rows[0]["difference"], rows[0]["review_status"]) == ("Rye bread", 12, "1")


def test_what_aisle_booked_is_told_and_found_as_the_work_that_it_was(reads: CacheReader, aisle_home: Path) -> None:
    """Its source is aisle, whatever it was, with the number of the entry where a service keeps no keys."""
    own = new_id()
    at = "2026-11-20T10:00:00Z"
    rows = [
        entry(20, "P1", 4, at, source="aisle", reference="D900"),
        entry(21, "P1", -2, at, source="aisle", reference=own),
        entry(22, "P1", 2, at, source="aisle/2", reference=own),
        entry(23, "P1", 2, at, source=f"aisle/{own}/1"),
        entry(24, "P1", 1, at, source="aisle/1", counted_quantity=3, reference=own),
        entry(25, "P1", -1, at, source="aisle", reason_code=1, reference=own),
        entry(26, "P1", 1, at, source="aisle", reference="undo-25"),
        entry(27, "P1", 1, at, source="aisleway", reference="D900"),
        entry(28, "P1", 1, at),
    ]
    with closing(open_cache(StoreFolder(aisle_home, "embedded", STORE).folder, writer=True)) as connection:
        CacheWriter(connection, STORE).write_logs(rows, "2026-01-01")
    of_aisle = {"from_id": "20"}
    assert keys(reads, source="receipt", **of_aisle) == ["20"]
    assert keys(reads, source="movement", **of_aisle) == ["23", "22", "21"]
    assert keys(reads, source="count", **of_aisle) == ["24"]
    assert keys(reads, source="aisle", **of_aisle) == ["26", "25"]
    found, _ = reads.query("log", of_aisle)
    words = ["", "aisleway", "aisle", "aisle", "count", "movement", "movement", "movement", "receipt"]
    assert [row["work"] for row in found] == words
    assert reads.query("log", {"key": "20"})[0][0]["work"] == "receipt"


MOMENTS = [f"2026-11-{day}T{hour:02}:{minute}:00Z" for day in (18, 19) for hour in range(3) for minute in (10, 40)]
LIMITS = st.sampled_from(["", *MOMENTS])


@settings(max_examples=tries(20, 60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(MOMENTS), max_size=12), st.tuples(LIMITS, LIMITS))
def test_a_log_is_counted_as_it_is_listed(
    reads: CacheReader, aisle_home: Path, there: list[str], limits: tuple[str, str]
) -> None:
    """By hours where nothing but days limits it, of what is forgotten none."""
    since, until = limits
    with closing(open_cache(StoreFolder(aisle_home, "embedded", STORE).folder, writer=True)) as connection:
        cache = CacheWriter(connection, STORE)
        cache.write_logs([entry(100 + n, "P1", 1, at) for n, at in enumerate(there)], "2026-01-01T00:00:00Z")
        listed = reads.query("log", {"since": since, "until": until, "size": 100})
        plain = [row for row in reads.query("log", {"size": 100})[0] if since <= row["at"].replace(".000", "")]
        assert len(listed[0]) == listed[1] == len([row for row in plain if not until or row["at"] < to_utc_text(until)])
        connection.execute("DELETE FROM log WHERE CAST(key AS INTEGER) >= 100")
        assert reads.query("log", {})[1] == len(ENTRIES)


def test_words_are_found_without_accents_case_and_punctuation(reads: CacheReader, aisle_home: Path) -> None:
    said = {"reason_code_description": "Überlagert", "comment": "für Frau MÜLLER-Groß", "app_user_name": "José"}
    cache = CacheWriter(open_cache(StoreFolder(aisle_home, "embedded", STORE).folder, writer=True), STORE)
    cache.write_logs([entry(4711, "P1", -1, "2026-11-20T09:30:00Z", reference="Ref.-Nº 12", **said)], "2026-01-01")
    for words in (
        "muller",
        "Müller",
        "gross frau",
        "JOSE",
        "jos\u0065\u0301",
        "uberlagert",
        "no 12",
        "creme 4711",
        "ref-no",
        "mullergross",
        "refno",
    ):
        assert keys(reads, search=words) == ["4711"], words
    assert keys(reads, search="quantity") == [], "a name of a field is no word of an entry"
    assert keys(reads, search="muller creme nowhere") == []


def test_the_whole_code_of_a_place_means_that_place_alone(reads: CacheReader, aisle_home: Path) -> None:
    cache = CacheWriter(open_cache(StoreFolder(aisle_home, "embedded", STORE).folder, writer=True), STORE)
    cache.write_locations([service_rows.location(code) for code in ("A1", "A10", "A-01-1", "A-01-10")])
    places = ("A1", "A10", "a1", "A-01-1", "A-01-10", "A2")
    at = "2026-11-20T09:30:00Z"
    entries = [entry(100 + n, "P1", -1, at, location_code=place) for n, place in enumerate(places)]
    cache.write_logs([*entries, entry(106, "P1", -1, at, reference="order of A1")], "2026-01-01")
    assert keys(reads, search="A1") == keys(reads, search=" a1 ") == ["102", "100"]
    assert keys(reads, search="A10") == ["101"]
    assert keys(reads, search="a-01-1") == ["103"]
    assert keys(reads, search="A1 order") == ["106"], "more than a code is words"
    assert keys(reads, search="A2") == ["105"], "what is no place of the store is a word"


def test_the_beginning_of_codes_of_places_means_these_places(reads: CacheReader, aisle_home: Path) -> None:
    cache = CacheWriter(open_cache(StoreFolder(aisle_home, "embedded", STORE).folder, writer=True), STORE)
    cache.write_products([service_rows.product("P8", "Bread A 01 piece"), service_rows.product("P9", "Bread 1200 g")])
    cache.write_locations(
        [service_rows.location(code) for code in ("A-01-1", "A-01-2", "A-02-1", "BR-01", "1200-7", "BREAD", "KÜCHE-1")]
    )
    places = ("A-01-1", "a-01-2", "A-02-1", "BR-01", "", "1200-7", "", "BREAD", "KÜCHE-1")
    products = ("P1", "P1", "P1", "P1", "P8", "P1", "P9", "P1", "P1")
    entries = [
        entry(100 + n, product, -1, "2026-11-20T09:30:00Z", **({"location_code": place} if place else {}))
        for n, (place, product) in enumerate(zip(places, products, strict=True))
    ]
    cache.write_logs(entries, "2026-01-01")
    assert keys(reads, search="A-01") == keys(reads, search="a-01-") == ["101", "100"]
    assert keys(reads, search="A-") == ["102", "101", "100"]
    assert keys(reads, search="A-01-1") == ["100"]
    assert keys(reads, search="A-01 piece") == ["104"], "more than a code is words"
    assert {"107", "106", "104", "103", "2"} < set(keys(reads, search="br")), "letters alone begin a word"
    assert keys(reads, search="1200") == ["106", "105"], "digits alone are rather a product's"
    assert keys(reads, search="bread") == ["107"], "a whole code is a place's"
    assert keys(reads, location_code="br") == ["107", "103"]
    assert keys(reads, location_code="k") == keys(reads, location_code="küche-") == ["108"]
    assert keys(reads, location_code="A-01", search="p1") == ["101", "100"]
    assert keys(reads, location_code="A-01", search="piece") == []
    assert keys(reads, location_code="Z-9") == []


@pytest.mark.parametrize("place", ["Ä1", "ä1", "ÄB-é1", "äb-É1"])
def test_a_place_with_letters_beyond_ascii_is_the_same_in_capitals_or_not(
    reads: CacheReader, aisle_home: Path, place: str
) -> None:
    cache = CacheWriter(open_cache(StoreFolder(aisle_home, "embedded", STORE).folder, writer=True), STORE)
    cache.write_locations([service_rows.location(place)])
    noted = (place, place.lower(), place.upper(), f"{place}0")
    said = [entry(100 + n, "P1", -1, "2026-11-20T09:30:00Z", location_code=code) for n, code in enumerate(noted)]
    cache.write_logs(said, "2026-01-01")
    assert keys(reads, search=place.lower()) == keys(reads, search=place.upper()) == ["102", "101", "100"]


def test_what_is_older_than_what_was_read_is_not_all_there_yet(reads: CacheReader, aisle_home: Path) -> None:
    cache = CacheWriter(open_cache(StoreFolder(aisle_home, "embedded", STORE).folder, writer=True), STORE)

    def partial(since: str) -> bool:
        args = {"since": f"{since}T00:00:00+02:00", "product_number": "P1"}
        found, none = (reads.query_window("log", {**args, "search": words}) for words in ("", "of which there is none"))
        assert (bool(found.rows), none.rows, none.total) == (True, [], 0)
        assert found.is_partial == none.is_partial, "an empty list too"
        return found.is_partial

    assert not partial("2026-10-01"), "before anything was read the link says so"
    cache.set_cursor("logs_span", {"since": "2026-11-13", "asked": 0.0})
    assert [partial(day) for day in ("2026-11-13", "2026-11-12", "2026-11-11")] == [False, False, True]
    cache.set_cursor("logs_span", {"since": "2026-10-01", "asked": 0.0})
    assert not partial("2026-10-01")


def test_a_filter_of_the_page_as_arguments(reads: CacheReader) -> None:
    said = query_arguments(LogFilter("weeks", reason="1", ids="2-9"), NOW)
    assert keys(reads, **said) == ["4"]
    assert [parse_id_range(text) for text in ("5", "5-", "-9", "2-9", "x", "-", "1-b")] == [
        ("5", "5"),
        ("5", ""),
        ("", "9"),
        ("2", "9"),
        None,
        None,
        None,
    ]


def test_losses_by_reason_and_week_exclude_undone_found_and_short(reads: CacheReader) -> None:
    rows, _ = reads.query("losses", {"now": NOW})
    assert [(row["reason_code"], row["description"], row["total"]) for row in rows] == [("1", "Damaged", Decimal(5))]
    assert rows[0]["weeks"] == [Decimal(0)] * (LOSS_WEEKS - 2) + [Decimal(2), Decimal(3)]


@pytest.mark.parametrize(
    ("args", "lost", "value", "unpriced"),
    [
        ({"since": "2026-11-01T00:00:00Z"}, 5, "8.50", 0),
        ({"since": "2026-11-20T00:00:00Z"}, 3, "4.50", 0),
        ({"product_number": "P2"}, 2, "4.00", 0),
        ({"source": "loss", "since": "2026-11-01T00:00:00Z"}, 5, "8.50", 0),
        ({"app_user_name": "U2"}, 0, "0.00", 0),
        ({"search": "rye"}, 2, "4.00", 0),
    ],
)
def test_losses_of_a_filter_are_summed_in_pieces_and_money(
    reads: CacheReader, aisle_home: Path, args: Row, lost: int, value: str, unpriced: int
) -> None:
    """P1 costs 1.50 by the catalogue; the entry of P2 states 2.00."""
    cache = CacheWriter(open_cache(StoreFolder(aisle_home, "embedded", STORE).folder, writer=True), STORE)
    cache.write_products([{**service_rows.product("P1", "Crème fraîche"), "price": 1.5}])
    cache.write_logs([{**ENTRIES[3], "price": 2.0}], "2026-01-01")
    ((row,), _) = reads.query("log_sums", args)
    assert (row["lost"], row["value"], row["unpriced"]) == (lost, Decimal(value), unpriced)
    first = reads.query("log", {"key": "1"})[0][0]
    assert (first["difference"], first["value"]) == (-3, Decimal("-4.5"))


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ({}, "15.00"),
        ({"price": 3}, "30.00"),
        ({"price": 3, "store_products_price": 2.5}, "25.00"),
        ({"price": 3, "store_products_price": 0}, "30.00"),
        ({"price": 0}, "15.00"),
    ],
)
def test_list_sum_and_difference_value_an_entry_at_one_price(
    reads: CacheReader, aisle_home: Path, fields: Row, value: str
) -> None:
    """P1 costs 1.50 today."""
    cache = CacheWriter(open_cache(StoreFolder(aisle_home, "embedded", STORE).folder, writer=True), STORE)
    cache.write_products([{**service_rows.product("P1", "Crème fraîche"), "price": 1.5}])
    counted = {"reason_code": 1, "reason_code_description": "Damaged", "counted_quantity": 2, "expected_quantity": 12}
    cache.write_logs([entry(20, "P1", -10, "2026-11-21T09:00:00Z", **counted, **fields)], "2026-01-01")
    since = {"since": "2026-11-21T00:00:00Z"}
    assert reads.query("log", since)[0][0]["value"] == -Decimal(value)
    assert reads.query("log_sums", since)[0][0]["value"] == Decimal(value)
    assert reads.query("differences", {})[0][0]["value"] == -Decimal(value)
    assert reads.query("exceptions", {"now": NOW, "minutes": 9, "pickup_days": 9})[0][0]["value"] == Decimal(value)


def test_losses_without_a_price_are_told(reads: CacheReader) -> None:
    ((row,), _) = reads.query("log_sums", {"since": "2026-11-01T00:00:00Z"})
    assert (row["lost"], row["value"], row["unpriced"]) == (5, 0, 5)
    assert row["counts"] == {"": 8, "loss": 2, "pick": 1, "short": 1}
    assert row["people"]
    for person in row["people"]:
        args = {"app_user_name": person["user"], "since": "2026-11-01T00:00:00Z"}
        assert reads.query("log", args)[1] == person["count"]
        ((of_person,), _) = reads.query("log_sums", args)
        for source, count in of_person["counts"].items():
            assert reads.query("log", {**args, "source": source})[1] == count
    assert keys(reads, source="loss", since="2026-11-01T00:00:00Z") == ["1", "4"]


def test_a_person_is_found_by_name_as_shown(reads: CacheReader, aisle_home: Path) -> None:
    cache = CacheWriter(open_cache(StoreFolder(aisle_home, "embedded", STORE).folder, writer=True), STORE)
    cache.write_people([service_rows.person("U2", "Chloë Martin"), service_rows.person("U3", "Ben")])
    for text in ("U2", "Chloë Martin", "chloe", "Martin"):
        assert keys(reads, app_user_name=text) == ["3"], text
    assert keys(reads, app_user_name="ben") == []
    assert keys(reads, app_user_name="nobody") == []


@pytest.mark.parametrize("at", ["", "yesterday", "2025-01-01T00:00:00Z"])
def test_an_entry_that_is_not_kept_is_no_change(aisle_home: Path, at: str) -> None:
    home = StoreFolder(aisle_home, "embedded", STORE)
    cache = CacheWriter(open_cache(home.folder, writer=True), STORE)
    assert cache.write_logs([entry(30, "P1", -1, at)], "2026-01-01").changed == ()


def test_losses_stay_when_the_rest_of_the_log_is_forgotten(reads: CacheReader, aisle_home: Path) -> None:
    cache = CacheWriter(open_cache(StoreFolder(aisle_home, "embedded", STORE).folder, writer=True), STORE)
    cache.write_logs([], "2026-11-19", "2026-10-01")
    assert keys(reads) == ["1", "2", "9", "4", "7", "6", "5"], "6 takes 5 back, and stays as long"
    assert [row["total"] for row in reads.query("losses", {"now": NOW})[0]] == [Decimal(5)]
    cache.write_logs([], "2026-11-19")
    assert keys(reads) == ["1", "2"]


def test_export_is_complete_and_has_no_formulas(reads: CacheReader, tmp_path: Path) -> None:
    asked = Export("exported", str(tmp_path / "log"), "log", {"product_number": "P2"}, EXPORT_COLUMNS)
    (said,) = write_csv(reads.query, asked, allowed=True).rows
    assert said == {"file": str(tmp_path / "log.csv"), "count": 4, "why": ""}
    path = Path(said["file"])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["id"] for row in rows] == ["2", "4", "6", "5"]
    assert rows[3]["reason_code_description"] == "'=Theft"
    assert (rows[1]["quantity"], rows[0]["review_status"], rows[0]["counted_quantity"]) == ("-2", "1", "")


def test_no_file_is_written_over_nor_where_none_may_be(reads: CacheReader, tmp_path: Path) -> None:
    there = tmp_path / "there.csv"
    there.write_text("precious", encoding="utf-8")
    (tmp_path / "dangling.csv").symlink_to(tmp_path / "elsewhere")
    for file, allowed, why in (
        (str(there), True, "log.file_exists"),
        (str(tmp_path / "there"), True, "log.file_exists"),
        (str(tmp_path / "dangling.csv"), True, "log.file_exists"),
        (str(tmp_path / "no" / "x.csv"), True, "log.why_folder"),
        (str(there / "x.csv"), True, "log.why_folder"),
        (str(tmp_path / "y.csv"), False, "log.files_forbidden"),
        (str(tmp_path / ("y" * 300)), True, "log.why_name"),
        ("a\0b", True, "log.why_name"),
        (".", True, "log.why_name"),
        ("/", True, "log.why_name"),
        ("~nobody-of-that-name/x", True, "log.why_name"),
    ):
        (said,) = write_csv(reads.query, Export("exported", file, "log", {}, EXPORT_COLUMNS), allowed=allowed).rows
        assert said["why"] == why, file
        (said,) = check_export_file(Query("file", "file", {"file": file}), allowed=allowed).rows
        assert said["why"] == why, file
    assert there.read_text(encoding="utf-8") == "precious"
    assert {path.name for path in tmp_path.iterdir() if path.suffix == ".csv"} == {"there.csv", "dangling.csv"}


def test_a_name_is_told_as_a_whole_path_and_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for file in ("week", "./week.csv", "~/week"):
        (said,) = check_export_file(Query("file", "file", {"file": file}), allowed=True).rows
        assert (said["file"], said["why"]) == (str(tmp_path / "week.csv"), "")
    assert list(tmp_path.iterdir()) == []


def test_each_why_is_in_the_catalogue() -> None:
    assert set(MESSAGE_BY_ERRNO.values()) <= set(load_messages("en"))


def test_a_file_is_written_page_by_page_whatever_comes_meanwhile(
    reads: CacheReader, aisle_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_csv_file, "PAGE_ROWS", 2)
    cache = CacheWriter(open_cache(StoreFolder(aisle_home, "embedded", STORE).folder, writer=True), STORE)
    cache.write_logs([entry(10, "P2", 1, ENTRIES[3]["created_on"])], "2026-01-01")  # at the very moment of another one
    sizes: list[int] = []

    def read(name: str, args: Any) -> Any:
        rows, total = reads.query(name, args)
        sizes.append(len(rows))
        cache.write_logs([entry(100 + len(sizes), "P1", 1, "2026-11-20T10:00:00Z")], "2026-01-01")
        return rows, total

    asked = Export("exported", str(tmp_path / "log.csv"), "log", {}, EXPORT_COLUMNS)
    (said,) = write_csv(read, asked, allowed=True).rows
    assert (said["count"], sizes) == (10, [2, 2, 2, 2, 2, 0])
    with Path(said["file"]).open(encoding="utf-8", newline="") as stream:
        ids = [row["id"] for row in csv.DictReader(stream)]
    assert sorted(ids, key=int) == [str(id_) for id_ in range(1, 11)]
    assert ids[:4] == ["1", "2", "3", "9"]


def test_a_file_that_cannot_be_finished_is_taken_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_csv_file, "PAGE_ROWS", 1)
    asked = Export("exported", str(tmp_path / "log.csv"), "log", {}, EXPORT_COLUMNS)

    def read(name: str, args: Any) -> Any:
        if args.get("past"):
            raise OSError(errno.ENOSPC, "words of the system")
        return [{"key": "1", "at": "2026", "id": 1}], 2

    (said,) = write_csv(read, asked, allowed=True).rows
    assert said["why"] == "log.why_full"
    assert not Path(asked.file).exists()


def test_a_file_that_would_be_cut_is_not_written(tmp_path: Path) -> None:
    asked = Export("exported", str(tmp_path / "log.csv"), "log", {}, EXPORT_COLUMNS)
    (said,) = write_csv(lambda name, args: ([{"id": 1}], MAX_ROWS + 1), asked, allowed=True).rows
    assert (said["why"], said["count"]) == ("log.too_many_rows", MAX_ROWS + 1)
    assert not Path(asked.file).exists()


def test_what_is_old_is_forgotten_in_parts(aisle_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else writes meanwhile, and a host that was off for weeks has a great many of them."""
    monkeypatch.setattr(cache_logs, "DELETE_BATCH", 3)
    connection = open_cache(StoreFolder(aisle_home, "embedded", STORE).folder, writer=True)
    cache = CacheWriter(connection, STORE)
    cache.write_logs(
        [entry(id_, "P1", 1, f"2026-10-{id_:02}T08:00:00Z", source="pick") for id_ in range(1, 9)], "2026-01-01"
    )
    left = []
    for id_ in range(20, 24):
        cache.write_logs([entry(id_, "P1", 1, f"2026-11-{id_}T08:00:00Z", source="pick")], "2026-11-01")
        ((oldest, count),) = connection.execute("SELECT min(at), count(*) FROM log WHERE at < '2026-11-01'").fetchall()
        left.append((count, oldest and str(oldest)[8:10]))
    assert left == [(5, "04"), (2, "07"), (0, None), (0, None)]
    ((sums,),) = connection.execute("SELECT sum(n) FROM log_hour").fetchall()
    assert sums == 4
    connection.close()


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata", "America/St_Johns"])
def test_losses_are_those_of_all_entries_in_the_weeks_of_this_host(
    reads: CacheReader, aisle_home: Path, zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    chance = random.Random(zone)
    cache = CacheWriter(open_cache(StoreFolder(aisle_home, "embedded", STORE).folder, writer=True), STORE)
    begins = week_starts(NOW)

    def made(id_: int) -> dict[str, Any]:
        at = chance.choice(begins) + timedelta(minutes=chance.randrange(-90, 90))
        usual = {"id": id_, "store_number": STORE, "product_number": "P1", "moved_on": at.isoformat()}
        if chance.random() < 0.2:
            return {**usual, "quantity": 1, "reference": f"{UNDO_PREFIX}{chance.randrange(100)}"}
        said = {"quantity": chance.choice((-2, -0.1, 3)), "source": chance.choice(("aisle", "short", ""))}
        return {**usual, **said, "reason_code": chance.choice((1, "2", 3)), "reason_code_description": "Gone"}

    oldest = begins[0] - timedelta(days=2)
    for _ in range(4):
        cache.write_logs([made(chance.randrange(1000, 1100)) for _ in range(60)], oldest.isoformat())
        cache.write_logs([{**made(each), "id": each} for each in chance.sample(range(100), 20)], oldest.isoformat())
        gone = undone_entries(cache._db, reads.context.outbox, "2020-01-01T00:00:00.000Z")
        found: dict[str, list[Decimal]] = {}
        for key, at, raw in fetch(cache._db, "SELECT key, at, raw FROM log WHERE raw ->> 'reason_code' IS NOT NULL"):
            row = log_row(str(key), str(at), parse_row(str(raw)))
            week = sum(datetime.fromisoformat(str(at)) >= begin for begin in begins) - 1
            change = row["difference"] or Decimal(0)
            if change < 0 and row["source"] != "short" and not is_undone(row, gone) and week >= 0:
                found.setdefault(str(row["reason_code"]), [Decimal(0)] * 8)[week] -= change
        rows, _ = reads.query("losses", {"now": NOW})
        assert {row["reason_code"]: row["weeks"] for row in rows} == found
        assert [row["total"] for row in rows] == sorted((sum(each) for each in found.values()), reverse=True)
    monkeypatch.undo()
    time.tzset()
