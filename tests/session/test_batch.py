"""A round of several orders in a session on real files: gathered, walked, left in the middle and taken up again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from aisle.cache.people_and_claim_queries import add_priority
from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter, open_cache
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.database import transaction
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import LocalNote
from aisle.jobs.pick.pick_state import PickState
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Frame, msg
from aisle.outbox.local_notes import PRIORITY, RELEASED, save_note
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.scan.inputs_and_line_grouping import Line, OpenLine
from aisle.session.session import Session, open_session
from aisle.session.unit_of_work import MAX_REPLAYED
from aisle.settings.setting_definitions import Settings
from tests.cache import service_rows
from tests.copied_databases import copied_home
from tests.session.scanner import Scanner

CODES = {"P1": "4006381333931", "P2": "5901234123457", "P3": "9780201379624", "P9": "96385074"}


def order(number: str, *wanted: tuple[str, int]) -> dict[str, Any]:
    """An open order of (product, quantity) pairs, each at the place of the product."""
    lines = [
        service_rows.line(
            n, product, count, preferred_location_code=f"A-{product[1:]}", store_walking_order=int(product[1:])
        )
        for n, (product, count) in enumerate(wanted, 1)
    ]
    return service_rows.order(number, *lines)


def filled(cache: CacheWriter) -> None:
    """A home with a small store in its cache: four open orders that share products."""
    cache.write_people([service_rows.person("U1", "Anna Kovac"), service_rows.person("U2", "Ben Okafor")])
    cache.write_products([service_rows.product(number, f"Product {number}", code) for number, code in CODES.items()])
    shared = {"A-1": 50, "A-2": 50, "A-3": 50}
    cache.write_stock([service_rows.stock(f"P{n}", 50, places={f"A-{n}": 50}) for n in (1, 2, 3)])
    cache.write_locations([service_rows.location(code, n) for n, code in enumerate((*shared, "PU-1", "B-7"), 1)])
    cache.write_stock([service_rows.stock("P9", 5, places={"B-7": 5})])
    cache.write_orders(
        [
            order("4101", ("P1", 3), ("P2", 1)),
            order("4102", ("P1", 4), ("P3", 200)),
            order("4103", ("P3", 1), ("P2", 2)),
            order("4104", ("P9", 1)),
        ],
        lines_known=True,
        read_began=1.0,
    )
    full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """A home with that store in its cache."""
    return copied_home(aisle_home, filled)


@contextmanager
def at(home: StoreFolder, **settings: Any) -> Iterator[Session]:
    """A session of terminal `dock`, signed in."""
    session = open_session(home, Settings(terminal="dock", user="U1", **settings))
    try:
        session.start()
        yield session
    finally:
        session.close()


def say(session: Session, *texts: str) -> Frame:
    """Lines in one drained queue."""
    return session.take([Line(text, "cr", 0.0, 0.0, 0.0) for text in texts], 0.0)


def told(frame: Frame) -> tuple[str, str]:
    """Kind and message id of the verdict."""
    return (frame.verdict.kind, frame.verdict.text.id) if frame.verdict else ("", "")


def state(session: Session) -> PickState:
    """What the round stands at."""
    top = session.stack.top.state
    assert isinstance(top, PickState)
    return top


def sent(home: StoreFolder) -> dict[tuple[str, int], Decimal]:
    """What the waiting operations say of each line."""
    operations = OperationQueue(open_outbox(home.folder)).unfinished()
    return {
        (each.body["orders"]["order_number"], line["line_number"]): line["picked_quantity"]
        for each in operations
        if each.operation == "update-customer-order"
        for line in each.body["orders"].get("order_lines", ())
    }


def test_scanned_letter_is_tote_and_typed_letter_is_back(home: StoreFolder) -> None:
    def by_hand(letter: str) -> Frame:
        return session.take([Line(letter, "cr", 0.0, 0.2, 0.2)], 0.0)

    with at(home) as session:
        say(session, "6", "4102", "4101")
        assert told(say(session, "0")) == (WRONG, "count.unknown"), "scanned, it is no way back"
        assert told(by_hand("B")) == (ASK, "shortage.join")
        asked = session.frames.build().verdict
        assert asked
        assert msg("batch.leave", count=2) in dict(asked.text.args).values()
        assert told(say(session, "b")) == (INFO, "session.dropped")
        assert told(by_hand("1*B")) == (GOOD, "batch.tote")
        assert told(by_hand("b")) == (ASK, "batch.leave")
        assert told(say(session, "b", "A")) == (WRONG, "batch.tote_twice")
        assert told(say(session, "X")) == (GOOD, "batch.tote")
        frame = say(session, "g", "7*", "B")
        assert (told(frame), frame.typed) == ((INFO, "batch.already_in_batch"), "7*")
        say(session, CODES["P1"], CODES["P2"], CODES["P3"], "200")
        assert told(say(session, "X")) == (GOOD, "pick.choice_tote")
        assert state(session).only_order == "4101"
        assert told(say(session, "b")) == (INFO, "session.dropped")
        assert told(say(session, "B")) == (GOOD, "pick.choice_tote")
        assert state(session).only_order == "4101", "its letter names it too"
        assert told(say(session, "A")) == (GOOD, "pick.choice_tote")
        assert state(session).only_order == "4102"
        assert told(by_hand("1*B")) == (GOOD, "pick.choice_tote"), "typed, its letter names it too"
        assert state(session).only_order == "4101"
        assert told(by_hand("B")) == (INFO, "shortage.join")
        assert by_hand("B").view.name == "home"


@pytest.mark.parametrize("count", [1, MAX_REPLAYED - 2, MAX_REPLAYED + 20])
def test_a_round_is_taken_up_where_it_was_left(home: StoreFolder, count: int) -> None:
    with at(home) as session:
        say(session, "6", "3", "g", f"7*{CODES['P1']}", "n", CODES["P2"])
        for _ in range(count):
            say(session, CODES["P3"])
        before = say(session, CODES["P9"])
        assert told(before) == (WRONG, "pick.for_other")
        kept = state(session)
    with at(home) as session:
        frame = session.frames.build()
        assert (frame.verdict, frame.view) == (before.verdict, before.view), "with the reason of what is offered"
        assert state(session) == kept
        assert told(say(session, CODES["P3"])) == (GOOD, "pick.picked_for_tote")
    assert sent(home)["4102", 2] == count + 1


@pytest.mark.parametrize(
    ("job", "before", "scans"),
    [
        ("collect_batch.BatchJob", 1, ("6", "4102", "TOTE-A")),
        ("pick.job.PickJob", 5, ("6", "4102", "TOTE-A", "4101", "TOTE-B", "g", f"6*{CODES['P1']}")),
    ],
)
def test_batch_of_older_job_version_closes_without_loss(
    home: StoreFolder, monkeypatch: pytest.MonkeyPatch, job: str, before: int, scans: tuple[str, ...]
) -> None:
    """By the rule of today its events come to something else than they did."""
    with monkeypatch.context() as older:
        older.setattr(f"aisle.jobs.{job}.version", before)
        with at(home) as session:
            say(session, *scans)
            noted = sent(home)
    with at(home) as session:
        assert told(session.frames.build()) == (WRONG, "session.other_version")
        assert sent(home) == noted
        assert told(say(session, "6", "4102", "g")) == (GOOD, "pick.opened")
        picked = {(line.order, line.line): line.picked for line in state(session).lines if line.picked}
        assert picked == {of: count for of, count in noted.items() if of[0] == "4102"}


def test_what_was_picked_before_a_look_in_the_same_queue_is_counted_on(home: StoreFolder) -> None:
    with at(home) as session:
        frame = say(session, "4102", CODES["P3"], f"?{CODES['P9']}", "b", CODES["P3"], f"?{CODES['P9']}", CODES["P3"])
        assert told(frame) == (GOOD, "pick.picked")
        (picked,) = [line.picked for line in state(session).lines if line.product == "P3"]
        assert picked == 3
    assert sent(home) == {("4102", 2): Decimal(3)}


def rejected(home: StoreFolder) -> None:
    """Somebody else rejects the second order of the round."""
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    gone = order("4102", ("P1", 4), ("P3", 200))
    cache.write_orders([{**gone, "is_rejected": True}], lines_known=True, read_began=2.0)


def test_what_is_put_back_is_written_down_and_undone_again(home: StoreFolder) -> None:
    with at(home) as session:
        say(session, "6", "3", "g", f"7*{CODES['P1']}")
        rejected(home)
        session.poll()
        assert told(say(session, "y")) == (GOOD, "pick.choice_put_back")
        assert told(say(session, "u")) == (GOOD, "pick.put_down_undone")
        frame = say(session, "y")
        assert (told(frame), frame.view.name) == ((GOOD, "pick.choice_put_back"), "pick.product")
    operations = OperationQueue(open_outbox(home.folder)).unfinished()
    items = [each.body[0] for each in operations if each.operation == "create-movement"]
    place, pool = {"location_code": "A-1"}, {"stock_pool": 1}
    assert [(item["from_location"], item["to_location"], item["quantity"]) for item in items] == [
        (pool, {**place, **pool}, 4),
        ({**place, **pool}, pool, 4),
        (pool, {**place, **pool}, 4),
    ]


def test_what_was_typed_before_a_page_came_by_itself_is_not_its_answer(home: StoreFolder) -> None:
    with at(home) as session:
        say(session, "6", "3", "g", f"7*{CODES['P1']}")
        assert session.take([OpenLine("1")], 0.0).typed == "1"
        rejected(home)
        frame = session.poll()
        assert frame is not None
        assert frame.view.name == "pick.return"
        assert frame.typed == ""
        assert told(frame) == (WRONG, "shortage.join")
        assert say(session, "1").view.name == "pick.return"
        assert session.take([OpenLine("y")], 0.0).typed == "y"
        assert told(say(session, "y")) == (GOOD, "pick.choice_put_back")


def test_what_is_typed_on_after_a_page_came_by_itself_counts_alone(home: StoreFolder) -> None:
    with at(home) as session:
        say(session, "6", "3", "g", f"7*{CODES['P1']}")
        session.take([OpenLine("4")], 0.0)
        rejected(home)
        session.poll()
        assert session.take([OpenLine("4y")], 0.0).typed == "y"
        assert told(say(session, "4y")) == (GOOD, "pick.choice_put_back")


def test_the_same_key_twice_on_what_is_back_takes_nothing_out_of_a_tote(home: StoreFolder) -> None:
    with at(home) as session:
        say(session, "6", "3", "g", f"5*{CODES['P1']}")
        assert session.stack.top.job.accepts(state(session)).quantity
        rejected(home)
        frame = session.poll()
        assert frame is not None
        assert frame.view.name == "pick.return"
        before = sent(home)
        assert told(say(session, "y")) == (GOOD, "pick.choice_put_back")
        assert not session.stack.top.job.accepts(state(session)).quantity
        assert told(say(session, "1"))[0] == WRONG
        assert sent(home) == before
        say(session, CODES["P2"])
        assert told(say(session, "1"))[0] in (GOOD, INFO)


def test_of_all_that_was_released_only_the_orders_shown_are_asked_for(home: StoreFolder) -> None:
    outbox = open_outbox(home.folder)
    with transaction(outbox):
        for at in range(200):
            save_note(outbox, LocalNote(RELEASED, f"{at}", "x"), "U1", 1000.0)
        save_note(outbox, LocalNote(RELEASED, "4101", "x"), "U1", 1000.0)
        save_note(outbox, LocalNote(PRIORITY, "4101", "x"), "U2", 1000.0)
    reads = CacheReader(home, outbox)
    seen: list[Any] = []

    def count(_: Any, row: Any) -> Any:
        seen.append(row)
        return row

    try:
        outbox.row_trace = count
        rows: list[Any] = [{"order_number": "4101"}, {"order_number": "4102"}]
        add_priority(reads._cache, outbox, rows)
    finally:
        outbox.row_trace = None
        reads.close()
        outbox.close()
    assert [(row["is_priority"], row["priority_by"], row["released_on"] != "") for row in rows] == [
        (True, "Ben Okafor", True),
        (False, "", False),
    ]
    assert len(seen) == 2


def test_the_third_order_of_a_stock_of_three_is_told_that_it_is_too_much(home: StoreFolder) -> None:
    """Nothing of it is sent: what this host took counts."""
    with closing(open_cache(home.folder, writer=True)) as connection:
        cache = CacheWriter(connection, "0001")
        cache.write_stock([service_rows.stock("P1", 3, places={"A-1": 3})])
        lines = {
            f"S{n}": service_rows.line(1, "P1", quantity, preferred_location_code="A-1")
            for n, quantity in enumerate((2, 1, 2))
        }
        cache.write_orders(
            [service_rows.order(number, line) for number, line in lines.items()], lines_known=True, read_began=1.0
        )
    said = []
    with at(home) as session:
        for number, quantity in zip(lines, (2, 1, 2), strict=True):
            frame = say(session, number, f"{quantity}*{CODES['P1']}" if quantity > 1 else CODES["P1"])
            assert frame.verdict is not None
            assert frame.verdict.kind == GOOD
            said.append(frame.verdict.detail.id if frame.verdict.detail else "")
            say(session, "b")
    assert said == ["", "", "pick.more_than_stock"]


@pytest.mark.parametrize(("code", "pace"), [("1234567", 0.0), ("1234567", 0.006), ("71234", 0.006)])
def test_scanned_number_of_a_tote_is_the_tote_where_a_quantity_is_open(
    home: StoreFolder, code: str, pace: float
) -> None:
    with at(home) as session:
        for each in ("6", "4101", "TOTE-A", "4102", code):
            say(session, each)
        if told(session.frames.build())[1] != "batch.tote":
            say(session, "y")
        say(session, "g", CODES["P1"])
        assert [tote.code for tote in state(session).totes] == ["TOTE-A", code]
        assert session.stack.top.job.accepts(state(session)).quantity
        before = sent(home)
        assert told(Scanner(session).send(f"{code}\r", pace)) == (INFO, "batch.already_in_batch")
        assert sent(home) == before
        typed = session.take([Line(code, "cr", 0.0, 0.3, 0.3)], 0.0)
        assert told(typed)[1] in ("batch.already_in_batch", "pick.number_of_tote"), "typed, it is asked at most"
        assert sent(home) == before


@pytest.mark.parametrize("label", ["TOTE-A", "tote-b", "*TOTE-A*"])
def test_label_of_a_tote_in_a_burst_is_a_scan_of_its_own(home: StoreFolder, label: str) -> None:
    with at(home) as session:
        for each in ("6", "4101", "TOTE-A", "4102", "TOTE-B", "g"):
            say(session, each)
        line = state(session).current_line
        assert line
        product = line.product
        before = sum(line.picked for line in state(session).lines)
        Scanner(session).send(f"{CODES[product]}\r{label}\r{CODES[product]}\r", 0.0)
        assert sum(line.picked for line in state(session).lines) == before + 2


def test_the_next_order_says_that_goods_of_the_last_one_are_in_hand(home: StoreFolder) -> None:
    with at(home) as session:
        frame = say(session, "4101", CODES["P1"], "3", CODES["P2"])
        assert told(frame) == (GOOD, "pick.all_picked")
        frame = say(session, "4102")
        assert frame.verdict is not None
        assert frame.verdict.detail == msg("pick.left_not_put_down", count=Decimal(4), order="4101")
