"""Queries of the day's counts: pending ones of this host and entries of the service's log."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from aisle.cache import log_entries_and_undo, log_queries
from aisle.cache.log_entries_and_undo import log_row
from aisle.cache.reader import CacheReader
from aisle.cache.unconfirmed_operation_queries import OUTCOME_BY_STATE
from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.database import transaction
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs import view
from aisle.jobs.job import Write
from aisle.jobs.log_writes_and_refusals import log_write
from aisle.operation_body_types import UNDO_PREFIX
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import STATES, Intent
from aisle.stored_messages import store_text
from tests.cache import service_rows
from tests.clock import Clock
from tests.writes import ANNA, STORE

NOON = 1_795_176_000.0
"""2026-11-20T12:00:00Z."""

NOW = "2026-11-20T12:30:00Z"


class Desk:
    """A cache, an outbox, and the reads over both."""

    def __init__(self, folder: Path) -> None:
        home = StoreFolder(folder, "embedded", STORE)
        self.clock = Clock(NOON)
        self.cache = CacheWriter(open_cache(home.folder, writer=True), STORE)
        self.cache.write_products([service_rows.product("P1", "Oat drink"), service_rows.product("P2", "Rye bread")])
        self._db = open_outbox(home.folder)
        self.outbox = OperationQueue(self._db, clock=self.clock)
        self.reads = CacheReader(home, self._db)

    def note(self, *entries: dict[str, Any], counted: bool = True) -> str:
        """Entries that a job of this host sends in one operation."""
        full: list[Any] = [
            {"scanned_datetime": "2026-11-20T11:59:00Z", "source": "aisle", **entry} for entry in entries
        ]
        write: Write = log_write(full, [entry["product_number"] for entry in entries], STORE, "U1", is_count=counted)
        with transaction(self._db):
            (op_id,) = self.outbox.enqueue([Intent(write)], ANNA)
        return op_id

    def confirm(self, op_id: str, answer: str) -> None:
        """The service took it."""
        self.outbox.begin_sending(op_id, b"{}")
        self.outbox.confirm(op_id, answer)

    def rows(self, **args: Any) -> list[dict[str, Any]]:
        """The log of today."""
        rows, total = self.reads.query("my_entries", {"now": NOW, **args})
        assert total >= len(rows)
        return rows


@pytest.fixture
def desk(aisle_home: Path) -> Desk:
    return Desk(aisle_home)


def count(product: str, counted: int, expected: int, **more: Any) -> dict[str, Any]:
    """An entry as a count sends it."""
    return {
        "product_number": product,
        "location_code": "A-1",
        "counted_quantity": Decimal(counted),
        "expected_quantity": Decimal(expected),
        "app_user_name": "U1",
        **more,
    }


def logged(id_: int, product: str, **more: Any) -> dict[str, Any]:
    """interface: Store product log entry."""
    return {
        "id": id_,
        "product_number": product,
        "store_number": STORE,
        "app_user_name": "U1",
        "location_code": "A-1",
        "created_on": "2026-11-20T12:00:01.000Z",
        **more,
    }


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-05:00", "soon"])
def test_an_entry_of_no_moment_keeps_no_other_entry_back(desk: Desk, moment: str) -> None:
    undone = logged(7, "P1", counted_quantity=3, reference=f"undo-{moment}")
    given = [logged(6, "P2", created_on=moment), undone, logged(8, "P2", counted_quantity=2, expected_quantity=5)]
    assert desk.cache.write_logs(given, "2026-01-01").skipped == ()
    assert "P2" in {row["product_number"] for row in desk.rows()}


def test_what_this_host_noted_is_there_at_once_with_what_became_of_it(desk: Desk) -> None:
    op_id = desk.note(count("P1", 5, 7), count("P2", 3, 3, stock_pool_4=3))
    first, second = desk.rows()[::-1]
    assert (first["description"], first["counted_quantity"], first["difference"]) == ("Oat drink", 5, -2)
    assert (first["outcome"], first["app_user_name"], first["id"]) == ("queued", "U1", "")
    assert (second["pool"], second["difference"]) == (4, 0)
    desk.outbox.begin_sending(op_id, b"{}")
    assert {row["outcome"] for row in desk.rows()} == {"sending"}
    desk.outbox.refuse(op_id, store_text("No such product"))
    assert {(row["outcome"], row["why"]) for row in desk.rows()} == {("refused", "No such product")}


def test_every_state_of_the_outbox_has_a_word_that_a_page_can_say() -> None:
    assert set(OUTCOME_BY_STATE) == set(STATES)
    assert set(OUTCOME_BY_STATE.values()) == set(view.STATE_WORDS)


def test_entry_known_to_service_is_one_row_with_service_figures(desk: Desk) -> None:
    op_id = desk.note(count("P1", 5, 7))
    key = desk.rows()[0]["key"]
    desk.confirm(op_id, '{"success": true, "data": [41]}')
    assert [(row["id"], row["outcome"]) for row in desk.rows()] == [("41", "confirmed")]
    desk.cache.write_logs([logged(41, "P1", counted_quantity=5, expected_quantity=8, quantity=-3)], "2026-11-13")
    (row,) = desk.rows()
    assert (row["key"], row["id"], row["difference"], row["counted_quantity"]) == (key, "41", -3, 5)


@pytest.mark.parametrize(
    ("booked", "more", "said"),
    [
        (8, {}, [("Oat drink", -2, -3)]),
        (7, {}, []),
        (8, {"id": 40}, []),
        (8, {"undo": True}, []),
    ],
)
def test_counts_that_are_booked_otherwise_than_shown(
    desk: Desk, booked: int, more: dict[str, Any], said: list[tuple[str, int, int]]
) -> None:
    desk.confirm(desk.note(count("P1", 5, 7)), '{"success": true, "data": [41]}')
    entries = [logged(more.get("id", 41), "P1", counted_quantity=5, expected_quantity=booked, quantity=5 - booked)]
    if more.get("undo"):
        entries.append(logged(42, "P1", quantity=booked - 5, reference=f"{UNDO_PREFIX}41"))
    desk.cache.write_logs(entries, "2026-11-13")
    rows, _ = desk.reads.query("counts_booked_otherwise", {"user": "U1", "since": "2026-11-20T11:00:00Z"})
    assert [(row["label"], row["shown"], row["booked"]) for row in rows] == said
    assert not desk.reads.query("counts_booked_otherwise", {"user": "U2", "since": "2026-11-20T11:00:00Z"})[0]


def test_a_service_that_numbers_nothing_says_nothing_twice(desk: Desk) -> None:
    op_id = desk.note(count("P1", 5, 7), count("P1", 5, 7))
    desk.cache.write_logs([logged(9, "P1", counted_quantity=5, expected_quantity=7)], "2026-11-13")
    assert len(desk.rows()) == 3
    desk.confirm(op_id, "{}")
    assert len(desk.rows()) == 2


def test_other_hosts_counts_losses_and_corrections_are_notified(desk: Desk) -> None:
    entries = [
        logged(1, "P1", counted_quantity=5, app_user_name="U2"),
        logged(2, "P1", quantity=-2, reason_code=3, reason_code_description="Theft"),
        logged(3, "P2", quantity=-2, source="aisle", reference="MOVED"),
        logged(4, "P2", quantity=7, source="receipt"),
        logged(5, "P2", counted_quantity=1, source="aisle", stock_pool="3"),
        logged(6, "P2", counted_quantity=1, created_on="2026-11-18T12:00:00Z"),
        logged(7, "P1", quantity=0, source="short", reason_code=21, reason_code_description="Not found"),
        logged(8, "P1", quantity=0, source="rejected", reason_code=31, reason_code_description="Not wanted"),
    ]
    assert len(desk.cache.write_logs(entries, "2026-11-13").changed) == 8
    assert sorted(row["id"] for row in desk.rows()) == ["1", "2", "5"]
    assert [row["id"] for row in desk.rows(user="U2")] == ["1"]
    assert [row["id"] for row in desk.rows(product_number="P2")] == ["5"]
    assert [row["id"] for row in desk.rows(search="RYE")] == ["5"]
    assert [row["id"] for row in desk.rows(search="a1 rye")] == ["5"]
    assert [row["id"] for row in desk.rows(key="2")] == ["2"]
    assert len(desk.rows(first=1, size=1)) == 1
    reasons, _ = desk.reads.query("reasons", {})
    assert reasons == [{"reason_code": 3, "reason_code_description": "Theft", "adds": False}]


def test_what_was_taken_back_is_marked_unless_that_was_refused(desk: Desk) -> None:
    desk.cache.write_logs([logged(7, "P1", counted_quantity=5, expected_quantity=7)], "2026-11-13")
    op_id = desk.note({"product_number": "P1", "quantity": Decimal(2), "reference": "undo-7"}, counted=False)
    assert {row["id"]: row["undone"] for row in desk.rows()} == {"7": True, "": False}
    desk.outbox.begin_sending(op_id, b"{}")
    desk.outbox.refuse(op_id, store_text("no"))
    assert not any(row["undone"] for row in desk.rows())
    desk.cache.write_logs([logged(8, "P1", quantity=2, reference="undo-7")], "2026-11-13")
    assert [row["undone"] for row in desk.rows() if row["id"] == "7"] == [True]


def test_what_a_job_took_back_by_the_moment_of_its_entry_is_marked(desk: Desk) -> None:
    at, later = "2026-11-20T08:00:00.250Z", "2026-11-20T08:05:00Z"
    mine = {"product_number": "P1", "location_code": "A-1", "app_user_name": "U1"}
    lost = desk.note({**mine, "quantity": Decimal(-5), "reason_code": 1, "scanned_datetime": at}, counted=False)
    desk.confirm(lost, "{}")
    desk.note({**mine, "quantity": Decimal(-1), "reason_code": 1, "scanned_datetime": later}, counted=False)
    desk.note({**mine, "product_number": "P2", "quantity": Decimal(-5), "scanned_datetime": at}, counted=False)
    assert not any(row["undone"] for row in desk.rows())
    back = {**mine, "quantity": Decimal(5), "reference": f"undo-{at}", "scanned_datetime": later}
    op_id = desk.note(back, counted=False)
    undone = {(row["product_number"], row["difference"]) for row in desk.rows() if row["undone"]}
    assert undone == {("P1", Decimal(-5))}
    desk.outbox.begin_sending(op_id, b"{}")
    desk.outbox.refuse(op_id, store_text("no"))
    assert not any(row["undone"] for row in desk.rows())
    desk.note({**mine, "quantity": Decimal(5), "reference": "undo-To nobody"}, counted=False)
    assert not any(row["undone"] for row in desk.rows())


def test_entries_are_known_once_and_forgotten_after_some_days(desk: Desk) -> None:
    bare = {"product_number": "P1", "store_number": STORE, "moved_on": "2026-11-20T13:00:00+01:00"}
    assert len(desk.cache.write_logs([bare, logged(1, "P1")], "2026-11-13").changed) == 2
    assert desk.cache.write_logs([bare, logged(1, "P1")], "2026-11-13").changed == ()
    assert desk.cache.write_logs([logged(1, "P1", review_status="2")], "2026-11-13").changed == ("1",)
    assert desk.cache.write_logs([{"store_number": STORE}], "2026-11-13").skipped
    assert len(desk.reads.changes(1)[1]) >= 1
    desk.cache.write_logs([logged(2, "P1")], "2026-11-21")
    assert desk.cache._db.execute("SELECT count(*) FROM log").fetchall() == [(0,)]


def test_own_counts_cost_the_same_however_many_others_count(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Movements and picks are most of a log; of what others counted only the index is looked at."""

    def look() -> tuple[list[str], list[str]]:
        parsed.clear()
        return [str(row["key"]) for row in desk.rows(user="U1")], sorted(parsed)

    parsed: list[str] = []
    as_logged = log_row

    def note(key: str, at: str, raw: dict[str, Any]) -> Any:
        parsed.append(key)
        return as_logged(key, at, raw)

    for module in (log_queries, log_entries_and_undo):
        monkeypatch.setattr(module, "log_row", note)
    mine = [logged(number, "P1", counted_quantity=1) for number in range(3)]
    desk.cache.write_logs([*mine, logged(3, "P1", quantity=1, source="movement")], "2026-11-13")
    before = look()
    assert before == (["2", "1", "0"], ["0", "1", "2"])
    others = [logged(number, "P1", quantity=1, source="pick", app_user_name="U2") for number in range(10, 60)]
    others += [logged(number, "P1", counted_quantity=1, app_user_name="U2") for number in range(60, 90)]
    desk.cache.write_logs(others, "2026-11-13")
    assert look() == before
    assert len(desk.rows(size=99)) == 3 + 30
    assert len(desk.rows(product_number="P2", size=99)) == 0


def test_what_another_took_back_is_marked_for_whoever_counted_it(desk: Desk) -> None:
    undone = {"reference": "undo-7", "quantity": 2, "reason_code": 1, "app_user_name": "U2"}
    desk.cache.write_logs([logged(7, "P1", counted_quantity=5), logged(8, "P1", **undone)], "2026-11-13")
    (row,) = desk.rows(user="U1")
    assert (row["id"], row["undone"]) == ("7", True)


def test_entry_of_other_person_is_found_by_that_name(desk: Desk) -> None:
    op_id = desk.note(count("P1", 5, 7, app_user_name="U9"))
    (row,) = desk.rows(user="U9")
    assert row["app_user_name"] == "U9"
    assert not desk.rows(user="U1")
    desk.confirm(op_id, '{"success": true, "data": [41]}')
    desk.cache.write_logs([logged(41, "P1", counted_quantity=5, app_user_name="U8")], "2026-11-13")
    assert not desk.rows(user="U9"), "the service's own words stand"
    assert [row["id"] for row in desk.rows(user="U8")] == ["41"]
    assert [row["id"] for row in desk.rows(key=desk.rows(user="U8")[0]["key"])] == ["41"]


def test_entry_names_its_person_as_soon_as_the_name_is_known(desk: Desk) -> None:
    desk.note(count("P1", 5, 7))
    assert desk.rows()[0]["user_name"] == ""
    desk.cache.write_people([service_rows.person("U1", "Anna Berg")])
    assert desk.rows()[0]["user_name"] == "Anna Berg"


def test_receipt_entries_are_no_counts(desk: Desk) -> None:
    entry: Any = {"product_number": "P1", "location_code": "A-1", "quantity": Decimal(4), "app_user_name": "U1"}
    write = log_write([entry | {"source": "aisle", "reference": "D7"}], ["P1"], STORE, "U1", is_count=False)
    write = write._replace(query={**write.query, "is_from_receipt": True})
    with transaction(desk._db):
        (op_id,) = desk.outbox.enqueue([Intent(write)], ANNA)
    assert not desk.rows()
    desk.cache.write_logs([logged(9, "P1", quantity=4, reference="D7")], "2026-11-13")
    desk.confirm(op_id, "{}")
    assert not desk.rows()


@pytest.mark.parametrize(
    ("later", "count"),
    [
        ({}, 8),
        ({"app_user_name": None, "reference": "aisle load"}, 8),
        ({"stock_pool": "1", "stock_pool_1": 8}, 8),
        ({"location_code": "a-1"}, 8),
        ({"location_code": "A-2"}, None),
        ({"stock_pool": "4", "stock_pool_4": 8}, None),
        ({"product_number": "P2"}, None),
        ({"customer_order_number": "4101"}, None),
        ({"moved_on": "2026-11-20T11:00:00Z"}, None),
    ],
)
def test_count_after_which_another_was_made_says_so(desk: Desk, later: dict[str, Any], count: int | None) -> None:
    fields = {"counted_quantity": 9, "expected_quantity": 6, "stock_pool": "1", "quantity": 3}
    first = logged(8, "P1", **fields, moved_on="2026-11-20T11:59:00Z", created_on="2026-11-20T12:20:00Z")
    other = logged(7, "P1") | {"counted_quantity": 8, "moved_on": "2026-11-20T12:10:00Z"} | later
    desk.cache.write_logs([other, first], "2026-11-13")
    [row] = [row for row in desk.rows() if row["counted_quantity"] == 9]
    assert row["later_count"] == count


@pytest.mark.parametrize("is_confirmed", [True, False])
@pytest.mark.parametrize(
    ("change", "later"),
    [({}, 8), ({"location_code": "A-2"}, None), ({"scanned_datetime": "2026-11-20T11:50:00Z"}, None)],
)
def test_count_has_a_later_one_that_is_not_sent_yet(
    desk: Desk, change: dict[str, Any], later: int | None, is_confirmed: bool
) -> None:
    op_id = desk.note(count("P1", 9, 6))
    if is_confirmed:
        desk.confirm(op_id, "{}")
    desk.note(count("P1", 8, 6, **{"scanned_datetime": "2026-11-20T12:10:00Z", **change}))
    [row] = [row for row in desk.rows() if row["counted_quantity"] == 9]
    assert row["later_count"] == later


def test_count_after_which_an_undone_one_was_made_stands(desk: Desk) -> None:
    fields = {"counted_quantity": 9, "expected_quantity": 6, "stock_pool": "1", "quantity": 3}
    first = logged(8, "P1", **fields, moved_on="2026-11-20T11:59:00Z", created_on="2026-11-20T12:00:00Z")
    other = logged(7, "P1") | {"counted_quantity": 8, "moved_on": "2026-11-20T12:10:00Z", "app_user_name": "U2"}
    undo = logged(6, "P1", quantity=1, reference=f"{UNDO_PREFIX}7") | {"app_user_name": "U2"}
    desk.cache.write_logs([undo | {"moved_on": "2026-11-20T12:11:00Z"}, other, first], "2026-11-13")
    [row] = [row for row in desk.rows() if row["counted_quantity"] == 9]
    assert row["later_count"] is None


def test_entries_of_several_products_from_an_earlier_day_are_found_behind_others(desk: Desk) -> None:
    """What an undo needs of a count that was sent yesterday, although many others were made since."""
    yesterday = {"moved_on": "2026-11-19T11:59:00Z", "counted_quantity": 9}
    desk.cache.write_logs([logged(n, f"P{n}", **yesterday) for n in range(1, 40)], "2026-11-13")
    args = {"now": "2026-11-19T11:59:00Z", "products": ["P1", "P2"], "size": 1000}
    assert sorted(row["product_number"] for row in desk.rows(**args)) == ["P1", "P2"]


@pytest.mark.parametrize(
    ("later", "counted"),
    [
        ({}, 8),
        ({"location_code": ""}, 8),
        ({"location_code": "A-2"}, None),
        ({"stock_pool": "2"}, None),
        ({"moved_on": "2026-11-20T11:00:00Z"}, None),
        ({"product_number": "P2"}, None),
    ],
)
def test_goods_that_were_counted_since_a_move(desk: Desk, later: dict[str, Any], counted: int | None) -> None:
    fields = {"counted_quantity": 8, "moved_on": "2026-11-20T12:10:00Z", "location_code": "A-1", "stock_pool": "1"}
    desk.cache.write_logs([logged(7, "P1") | fields | later], "2026-11-13")
    rows, _ = desk.reads.query("counts_since", {"since": "2026-11-20T12:00:00Z", "goods": [["P1", "A-1", 1]]})
    assert [row["counted_quantity"] for row in rows] == ([] if counted is None else [counted])


def test_a_count_of_this_host_that_waits_is_a_count_since_a_move(desk: Desk) -> None:
    args = {"since": "2026-11-20T11:00:00Z", "goods": [["P1", "A-1", 0], ["P2", "A-1", 0]]}
    op_id = desk.note(count("P1", 8, 9, location_code="A-1"))
    rows, _ = desk.reads.query("counts_since", args)
    assert [(row["product_number"], row["counted_quantity"]) for row in rows] == [("P1", 8)]
    desk.outbox.refuse(op_id, store_text("no"))
    assert not desk.reads.query("counts_since", args)[1]


def counted(id_: int, quantity: int, minute: int, user: str, **more: Any) -> dict[str, Any]:
    """A count of P1 (50 expected) at A-1, in a minute after eleven."""
    at, fields = f"2026-11-20T11:{minute:02}:00Z", {"counted_quantity": quantity, "expected_quantity": 50}
    return logged(id_, "P1", moved_on=at, app_user_name=user, stock_pool="1", quantity=quantity - 50, **fields) | more


def late(id_: int, quantity: int, minute: int, **more: Any) -> dict[str, Any]:
    """The entry by which our service takes a count of that minute back."""
    at = f"2026-11-20T11:{minute:02}:00Z"
    return logged(id_, "P1", moved_on=at, source="late", stock_pool="1", quantity=quantity) | more


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, [(48, "Ben")]),
        ({"location_code": "a-1"}, [(48, "Ben")]),
        ({"app_user_name": "U9"}, [(48, "U9")]),
        ({"location_code": ""}, []),
        ({"location_code": "A-2"}, []),
        ({"stock_pool": "2"}, []),
        ({"moved_on": "2026-11-20T11:04:00Z"}, []),
        ({"product_number": "P2"}, []),
    ],
)
def test_later_count_of_goods_names_who_made_it(
    desk: Desk, change: dict[str, Any], found: list[tuple[int, str]]
) -> None:
    desk.cache.write_people([service_rows.person("U2", "Ben")])
    desk.cache.write_logs([counted(7, 48, 5, "U2") | change], "2026-11-13")
    goods = [["P1", "A-1", 1, "2026-11-20T12:04:00+01:00"], ["P1", "A-1", 1, "2026-11-20T11:06:00Z"]]
    rows, _ = desk.reads.query("later_counts", {"goods": goods})
    assert [(row["counted_quantity"], row["user_name"]) for row in rows] == found


def test_later_count_of_this_host_is_found_before_it_is_sent(desk: Desk) -> None:
    desk.note(count("P1", 48, 50))
    rows, _ = desk.reads.query("later_counts", {"goods": [["P1", "A-1", 0, "2026-11-20T11:58:00Z"]]})
    assert [row["counted_quantity"] for row in rows] == [48]
    assert desk.reads.query("later_counts", {"goods": [["P1", "A-1", 0, "2026-11-20T11:59:30Z"]]}) == ([], 0)


UNDO_OF_BEN = logged(9, "P1", reference=f"{UNDO_PREFIX}7", app_user_name="U2", moved_on="2026-11-20T11:20:00Z")
UNUSED: dict[str, tuple[list[dict[str, Any]], list[int | None]]] = {
    "later count stands": ([], [48]),
    "later count is undone": ([UNDO_OF_BEN | {"quantity": 2}], [None]),
    "taken back elsewhere": ([late(8, 1, 4, location_code="A-2")], []),
    "taken back in another pool": ([late(8, 1, 4, stock_pool="2")], []),
    "taken back in all pools": ([late(8, 1, 4, stock_pool=None)], [48]),
    "taken back as goods of an order": ([late(8, 1, 4, customer_order_number="4101")], []),
    "used again": ([late(9, -1, 4)], []),
    "of another product": ([late(8, 1, 4, product_number="P2")], []),
}


@pytest.mark.parametrize("name", UNUSED)
def test_count_that_the_service_does_not_use_is_known(desk: Desk, name: str) -> None:
    """It reached the service after a later count, which may be undone meanwhile."""
    more, found = UNUSED[name]
    at = "2026-11-20T11:04:00Z"
    desk.confirm(desk.note(count("P1", 49, 50, scanned_datetime=at)), '{"data": [6]}')
    entries = [counted(6, 49, 4, "U1"), late(8, 1, 4), counted(7, 48, 5, "U2")]
    desk.cache.write_logs(list({each["id"]: each for each in [*entries, *more]}.values()), "2026-11-13")
    rows, _ = desk.reads.query("unused_counts", {"user": "U1", "since": "2026-11-20T11:00:00Z"})
    assert [row["later_quantity"] for row in rows] == found
    days = {row["counted_quantity"]: row for row in desk.rows() if row["counted_quantity"]}
    assert days[Decimal(49)]["is_not_used"] is bool(found)
    assert days[Decimal(48)]["unused_before"] == (49 if found else None)
    assert ("6" in [row["key"] for row in desk.reads.query("differences", {})[0]]) is not bool(found)


@pytest.mark.parametrize(
    ("more", "absorbed"),
    [
        ([], 5),
        ([late(10, -2, 3)], 3),
        ([late(10, -2, 1)], 5),
        ([late(10, -2, 3, location_code="A-2")], 5),
        ([late(10, -2, 3, stock_pool="2")], 5),
        ([late(10, -2, 2)], 5),
        ([late(10, -5, 4)], 0),
    ],
)
def test_what_a_count_absorbed_of_late_messages_is_known(desk: Desk, more: list[dict[str, Any]], absorbed: int) -> None:
    """Neither what the count before it absorbed, nor that count."""
    desk.cache.write_logs([counted(6, 49, 2, "U2"), counted(7, 48, 5, "U1"), late(8, 5, 4), *more], "2026-11-13")
    days = {row["counted_quantity"]: row for row in desk.rows() if row["counted_quantity"]}
    assert days[Decimal(48)]["absorbed"] == absorbed


def test_recount_made_here_is_left_to_the_service_once_it_was_read_back(desk: Desk) -> None:
    ordered = {"id": 1, "product_number": "P1", "location_code": "A-1", "ordered_on": "2026-11-20T11:00:00Z"}
    desk.cache.write_recounts([ordered])

    def listed() -> int:
        return desk.reads.query("recounts", {"size": 9})[1]

    assert listed() == 1
    op_id = desk.note(count("P1", 9, 6))
    assert listed() == 0
    desk.confirm(op_id, "{}")
    assert listed() == 0
    desk.outbox.mark_read_back(op_id)
    assert listed() == 1
