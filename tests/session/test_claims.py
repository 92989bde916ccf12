"""Two sessions of one host on one order: asked, told, added up; and what is known of a claim that has no owner."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.database import transaction
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Context, LocalNote, Write
from aisle.jobs.supervisor import order_page as order_page_view
from aisle.jobs.supervisor import order_rows
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, ListView, Step, msg
from aisle.outbox import commit_journal
from aisle.outbox.local_notes import ASSIGNED, save_note
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import CREATE_MOVEMENT, UPDATE_ORDER, Author, Intent
from aisle.session.session import Session, open_session
from aisle.settings.setting_definitions import Settings
from tests.cache import service_rows
from tests.session.test_session import BARCODES, ORDER, home, say, told

__all__ = ["home"]


@contextmanager
def at(home: StoreFolder, terminal: str, user: str) -> Iterator[Session]:
    """Somebody's session at a terminal."""
    with ExitStack() as stack:
        session = open_session(home, Settings(terminal=terminal, user=user))
        stack.callback(session.close)
        session.start()
        yield session


def row(home: StoreFolder, number: str = "4101") -> dict[str, Any]:
    """The order as a session sees it."""
    (found,) = CacheReader(home, open_outbox(home.folder)).query("order", {"order_number": number})[0]
    return dict(found)


def put(home: StoreFolder, order: dict[str, Any], began: float) -> None:
    """The service has said this of an order."""
    CacheWriter(open_cache(home.folder, writer=True), "0001").write_orders([order], lines_known=True, read_began=began)


def listed(session: Session) -> list[str]:
    """The ids of what home says in the second column."""
    view = session.frames.build().view
    assert isinstance(view, ListView)
    return [each.cells[1].id for each in view.rows]


def board(home: StoreFolder, number: str = "4101") -> tuple[str, str]:
    """The ids of what the board and the page of an order say of who works on it."""
    reads = CacheReader(home, open_outbox(home.folder))
    (found,) = reads.query("orders_by_number", {"orders": [number]})[0]
    order = order_rows.parse_order_row(found, Context("0001", "U6", now=datetime.now(UTC).isoformat()))
    told = order_page_view.claim_message(order)
    assert told is not None
    return order_rows.claim_text(order).id, told.id


def test_two_people_on_one_host_are_asked_told_and_added_up(home: StoreFolder) -> None:
    with at(home, "dock", "U1") as anna, at(home, "t2", "U2") as ben:
        say(anna, "4101", f"3*{BARCODES[1]}")
        ben.poll()
        assert [id_ == "home.claimed_by" for id_ in listed(ben)] == [True, False]
        frame = say(ben, "4101")
        assert told(frame) == (ASK, "pick.claimed_at")
        assert frame.verdict is not None
        args = dict(frame.verdict.text.args)
        assert (args["who"], args["terminal"], args["done"]) == ("Anna Kovac", "dock", 3)
        opened = say(ben, "1")
        assert opened.verdict is not None
        more = dict(opened.verdict.text.args)
        assert more["what"] == msg("pick.other_picker", order="4101", who="Anna Kovac")
        assert more["more"] == msg("pick.opened", order="4101", count=3)
        say(ben, f"4*{BARCODES[1]}")
        shown = anna.poll()
        assert shown is not None
        assert told(shown) == (ASK, "pick.taken_over")
        say(anna, f"2*{BARCODES[1]}")
        lines = {line["line_number"]: line["picked_quantity"] for line in row(home)["lines"]}
        assert lines == {1: 0, 2: 9, 3: 0}
        ben.poll()
        assert told(ben.frames.build()) == (INFO, "pick.changed")
    sent = [op for op in OperationQueue(open_outbox(home.folder)).unfinished() if "order_lines" in op.body["orders"]]
    shares: dict[str, Decimal] = {}
    for op in sent:
        (line,) = op.body["orders"]["order_lines"]
        more = line["picked_quantity"] - line["base_picked_quantity"]
        shares[op.app_user] = shares.get(op.app_user, Decimal(0)) + more
    assert shares == {"U1": 5, "U2": 4}
    assert {(op.app_user, op.terminal) for op in sent} == {("U1", "dock"), ("U2", "t2")}


@pytest.mark.parametrize(("answer", "picked"), [("o", 3), ("y", 0)], ids=["handed over", "put back"])
def test_goods_put_back_by_previous_picker_are_not_picked_after_take_over(
    home: StoreFolder, answer: str, picked: int
) -> None:
    with at(home, "dock", "U1") as anna, at(home, "t2", "U2") as ben:
        say(anna, "4101", f"3*{BARCODES[1]}")
        say(ben, "4101", "1")
        assert told(anna.poll() or anna.frames.build()) == (ASK, "pick.taken_over")
        assert say(anna, "o").view.name == "pick.return"
        ben.poll()
        assert [each["user"] for each in row(home)["at_work"]] == ["U1", "U2"]
        assert say(anna, answer, "b").view.name == "home"
        ben.poll()
        assert [each["user"] for each in row(home)["at_work"]] == ["U2"]
        assert {line["line_number"]: line["picked_quantity"] for line in row(home)["lines"]}[2] == picked
        view = ben.frames.build().view
        assert isinstance(view, Step)
        assert view.done == picked


def give(home: StoreFolder, order: str, user: str) -> None:
    """A supervisor has given an order of somebody's walk to another."""
    body = {"orders": {"order_number": order, "is_claimed": True}}
    claim = Write(UPDATE_ORDER, (f"order/{order}",), {"store_number": "0001"}, {}, body, user=user)
    outbox = open_outbox(home.folder)
    with transaction(outbox):
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        OperationQueue(outbox).enqueue([Intent(claim, occurred_at=at)], Author("0001", "U3"))
        save_note(outbox, LocalNote(ASSIGNED, order, user), "U3", time.time())


def test_goods_in_hand_of_taken_over_order_are_booked_by_choice_number(home: StoreFolder) -> None:
    """Whoever has the goods is told of it then, and nothing that he says books them once more."""
    put(home, service_rows.order("4103", service_rows.line(1, "P2", 2, preferred_location_code="A-2")), 1.0)
    CacheWriter(open_cache(home.folder, writer=True), "0001").write_locations(
        [service_rows.location("PU-1", 9, tags=["pickup"])]
    )
    with at(home, "dock", "U1") as anna, at(home, "t2", "U2") as ben:
        say(anna, "4103", f"2*{BARCODES[1]}")
        give(home, "4103", "U2")
        assert told(anna.poll() or anna.frames.build()) == (WRONG, "pick.removed_with_goods")
        assert walker(home, "4103") == "", "who only has its goods in hand walks it no more"
        say(ben, "4103")
        assert told(say(ben, "PU-1")) == (ASK, "pick.goods_of_others")
        assert moved(home, "4103") == 0
        assert walker(home, "4103") == "U2"
        assert told(say(ben, "1")) == (GOOD, "pick.put_down")
        assert told(anna.poll() or anna.frames.build()) == (WRONG, "pick.put_down_by_other_at")
        assert say(anna, "y").view.name == "home"
        assert moved(home, "4103") == 2
        (line,) = row(home, "4103")["lines"]
        assert line["picked_quantity"] == 2
    assert (
        len([op for op in OperationQueue(open_outbox(home.folder)).unfinished() if op.operation == CREATE_MOVEMENT])
        == 1
    )


def test_handed_over_goods_belong_to_current_picker(home: StoreFolder) -> None:
    put(home, service_rows.order("4103", service_rows.line(1, "P2", 2, preferred_location_code="A-2")), 1.0)
    CacheWriter(open_cache(home.folder, writer=True), "0001").write_locations(
        [service_rows.location("PU-1", 9, tags=["pickup"])]
    )
    with at(home, "dock", "U1") as anna, at(home, "t2", "U2") as ben:
        say(anna, "4103", f"2*{BARCODES[1]}")
        give(home, "4103", "U2")
        anna.poll()
        say(ben, "4103")
        assert say(anna, "o").view.name == "home"
        assert told(ben.poll() or ben.frames.build()) == (INFO, "pick.other_picker_left_goods")
        assert told(say(ben, "PU-1")) == (GOOD, "pick.put_down")
        assert moved(home, "4103") == 2


def walker(home: StoreFolder, number: str) -> str:
    """In whose round an order is, for whoever looks at the board."""
    reads = CacheReader(home, open_outbox(home.folder))
    (found,) = reads.query("orders_by_number", {"orders": [number]})[0]
    return str(found["picker"])


def moved(home: StoreFolder, number: str) -> Decimal:
    """How many of an order lie at a place."""
    return sum((line["moved_quantity"] for line in row(home, number)["lines"]), Decimal(0))


def test_two_people_who_scan_before_either_sees_the_other_are_added_up(home: StoreFolder) -> None:
    with at(home, "dock", "U1") as anna, at(home, "t2", "U2") as ben:
        say(anna, "4101")
        say(ben, "4101", "1")
        for session in (anna, ben, anna):
            say(session, BARCODES[1])
        assert {line["line_number"]: line["picked_quantity"] for line in row(home)["lines"]}[2] == 3


def test_one_person_takes_an_order_along_to_another_terminal(home: StoreFolder) -> None:
    with at(home, "dock", "U1") as dock, at(home, "t2", "U1") as hand:
        say(dock, "4101", BARCODES[1])
        assert told(say(hand, "4101")) == (ASK, "pick.claimed_by_you")
        say(hand, "1")
        shown = dock.poll()
        assert shown is not None
        assert (shown.view.name, told(shown)) == ("home", (INFO, "pick.moved_to_terminal"))
        say(hand, BARCODES[1])
        view = hand.frames.build().view
        assert isinstance(view, Step)
        assert view.done == 2


def test_what_one_left_elsewhere_is_not_asked_about(home: StoreFolder) -> None:
    with at(home, "dock", "U1") as dock:
        say(dock, "4101", BARCODES[1], "b")
        with at(home, "t2", "U1") as hand:
            assert row(home)["is_claim_active"] is False
            assert told(say(hand, "4101")) == (GOOD, "pick.opened")


def test_left_order_is_reminded_until_reopened(home: StoreFolder) -> None:
    with at(home, "dock", "U1") as anna, at(home, "t2", "U2") as ben:
        say(anna, "4101", BARCODES[1])
        ben.poll()
        assert listed(ben)[0] == "home.claimed_by"
        assert board(home) == ("raw", "order.claimed_idle")
        say(anna, "b")
        ben.poll()
        assert (listed(ben)[0], board(home)) == ("home.abandoned_by", ("home.abandoned_by", "order.abandoned_by"))
        assert row(home)["claim_ended_at"] >= row(home)["claimed_on"]
        say(anna, "4101")
        ben.poll()
        assert listed(ben)[0] == "home.claimed_by"
        assert "claim_ended_at" not in row(home)


def test_who_has_claimed_an_order_since_he_left_it_has_not_left_it(home: StoreFolder) -> None:
    """A terminal of that name, on another host."""
    with at(home, "dock", "U1") as anna:
        say(anna, "4101", BARCODES[1])
        say(anna, "b")
    outbox = OperationQueue(open_outbox(home.folder))
    for op in outbox.unfinished():
        outbox.begin_sending(op.op_id, b"{}")
        outbox.confirm(op.op_id)
        outbox.mark_read_back(op.op_id)
    his = {"is_claimed": True, "claimed_by": "U1", "claimed_terminal": "dock"}
    put(home, {**ORDER, **his, "claimed_on": "2026-01-01T10:00:00Z"}, 4e9)
    assert "claim_ended_at" in row(home)
    put(home, {**ORDER, **his, "claimed_on": "2099-01-01T10:00:00Z"}, 5e9)
    assert "claim_ended_at" not in row(home)


def test_the_work_of_a_dead_terminal_is_adopted_and_nobody_is_asked(
    home: StoreFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: 2**22)  # no process has this number
        dock = open_session(home, Settings(terminal="dock", user="U1"))
        dock.start()
        say(dock, "4101", BARCODES[1])
    with at(home, "t2", "U1") as hand:
        assert (hand.frames.build().view.name, told(hand.frames.build())) == (
            "pick.product",
            (INFO, "session.resumed_from"),
        )
        hand.poll()
        assert told(hand.frames.build())[1] != "pick.taken_over"
    dock.close()


def test_claim_without_owner_is_named_when_host_knows_owner(home: StoreFolder) -> None:
    put(home, {**ORDER, "is_claimed": True}, 2.0)
    with at(home, "dock", "U1") as anna:
        assert told(say(anna, "4101")) == (ASK, "pick.claimed_plain")
        say(anna, "1", BARCODES[1])
        say(anna, "b")
    outbox = OperationQueue(open_outbox(home.folder))
    for op in outbox.unfinished():
        outbox.begin_sending(op.op_id, b"{}")
        outbox.confirm(op.op_id)
        outbox.mark_read_back(op.op_id)
    claimed = service_rows.order("4101", service_rows.line(2, "P2", 12, picked_quantity=1), is_claimed=True)
    put(home, claimed, 4e9)
    found = row(home)
    assert (found["claimed_by"], found["claimed_name"], found["claimed_terminal"]) == ("U1", "Anna Kovac", "dock")
    with at(home, "t2", "U2") as ben:
        assert told(say(ben, "4101")) == (ASK, "pick.claimed_at")
    with at(home, "dock", "U1") as anna:
        assert told(say(anna, "4101")) == (GOOD, "pick.opened")


def test_who_worked_on_an_order_is_forgotten_in_the_end(home: StoreFolder) -> None:
    with at(home, "dock", "U1") as anna:
        say(anna, "4101", BARCODES[1])
        say(anna, "b")
    database = open_outbox(home.folder)
    assert [number for (number,) in database.execute("SELECT order_number FROM order_in_work")] == ["4101"]
    database.execute("UPDATE order_in_work SET since = since - ?", (commit_journal._ORDER_KEPT_S + 1,))
    with at(home, "dock", "U1") as anna:
        say(anna, "4102")
    assert [number for (number,) in database.execute("SELECT order_number FROM order_in_work")] == ["4102"]


def test_the_next_order_is_one_that_nobody_else_has(home: StoreFolder) -> None:
    with at(home, "dock", "U1") as anna, at(home, "t2", "U2") as ben:
        say(anna, "4101")
        ben.poll()
        assert told(say(ben, "1")) == (GOOD, "pick.opened")
        view = ben.frames.build().view
        assert dict(view.title.args)["order"] == "4102"


def test_who_began_an_order_finds_it_first_and_goes_on_with_it(home: StoreFolder) -> None:
    lines = service_rows.line(1, "P1", 2), service_rows.line(2, "P2", 2)
    for number in ("4198", "4199"):
        put(home, service_rows.order(number, *lines, pickup_date="2099-01-01T00:00:00Z"), 2.0)
    with at(home, "dock", "U1") as anna, at(home, "t2", "U2") as ben:
        for typed in ("4198", "b", "4199", BARCODES[0], "b"):
            say(anna, typed)
        assert (rows(anna), listed(anna)[0]) == (["4199", "4101", "4102", "4198"], "home.started"), (
            "only begun by a pick"
        )
        assert dict(say(anna, "1").view.title.args)["order"] == "4199"
        say(anna, "b")
        ben.poll()
        assert rows(ben)[-1] == "4199"
        say(ben, "4199")
        say(ben, "1")
        anna.poll()
        assert (rows(anna)[-1], listed(anna)[-1]) == ("4199", "home.claimed_by"), "another person took it over"


def rows(session: Session) -> list[str]:
    """The orders of home."""
    view = session.frames.build().view
    assert isinstance(view, ListView)
    return [each.key for each in view.rows]
