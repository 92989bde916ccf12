""" "Changed elsewhere" is no word for what this host itself has still to send, whatever that is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from aisle.cache.reader import CacheReader
from aisle.host.database import transaction
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Write
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import Author
from aisle.session.session import Session
from aisle.stored_messages import store_text
from tests.cache import service_rows
from tests.cache.test_stock_overlay import logs
from tests.session.job_steps import cache
from tests.session.test_session import BARCODES, at, home, say, told
from tests.writes import intents, movement, update

__all__ = ["home"]

ANNA, BEN = Author("0001", "U1", terminal="dock"), Author("0001", "U2", terminal="gate")
RECEIPT: dict[str, Any] = {
    "product_number": "P1",
    "quantity": Decimal(3),
    "reference": "7001",
    "customer_order_number": "4101",
    "customer_order_line_number": 1,
}

OWN: dict[str, Write] = {
    "movement": movement("4101", "P1"),
    "movement of more": movement("4101", "P1", 2),
    "count": logs(True, product_number="P1", location_code="A-1", counted_quantity=Decimal(4)),
    "loss": logs(False, product_number="P1", location_code="A-1", quantity=Decimal(-2), reason_code=1),
    "receipt": logs(False, **RECEIPT),
    "movement for another order": movement("4102", "P1"),
}


def write(home: StoreFolder, what: Write, who: Author) -> None:
    """Something that waits to be sent."""
    db = open_outbox(home.folder)
    with transaction(db):
        OperationQueue(db).enqueue(intents(what), who)
    db.close()


def look(session: Session) -> str:
    """What is told of that."""
    frame = session.poll()
    return told(frame)[1] if frame else ""


@pytest.mark.parametrize("name", OWN)
def test_nothing_of_ones_own_is_changed_elsewhere(home: StoreFolder, name: str) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", BARCODES[0], BARCODES[1])
        for _ in range(2):
            write(home, OWN[name], ANNA)
            assert "changed" not in look(session)
            assert told(say(session, BARCODES[1]))[1] == "pick.picked"
        assert "changed" not in look(session)
        cache(home).write_orders([others()], lines_known=True, read_began=2.0)
        assert look(session) == "pick.changed", "what somebody else does is heard of"


def others() -> dict[str, Any]:
    """The order, of which somebody else wants more."""
    lines = [
        service_rows.line(number, f"P{number}", of, preferred_location_code=f"A-{number}")
        for number, of in ((1, 1), (2, 14), (3, 200))
    ]
    return service_rows.order("4101", *lines, customer_name="Ms Okafor")


def test_a_movement_of_somebody_else_at_this_host_is_said(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", BARCODES[0])
        write(home, movement("4101", "P1"), BEN)
        assert look(session) == "pick.changed"


def test_what_was_moved_before_an_end_in_mid_work_is_ones_own_after_it(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", BARCODES[0])
    write(home, movement("4101", "P1"), ANNA)
    with at(home, user="U1") as session:
        assert told(session.frames.build())[1] == "session.resumed"
        write(home, update("4101", {2: 3}), BEN)
        assert look(session) == "pick.changed"


WORK = ("movement", "movement of more", "count", "loss", "receipt", "pick")


def send_all(home: StoreFolder, session: Session) -> Iterator[str]:
    """Sends what waits, one after another, and reads the order again after each: what is told at each moment."""
    db = open_outbox(home.folder)
    outbox, reads = OperationQueue(db), CacheReader(home, db)
    while waits := [each for each in outbox.unfinished() if outbox.begin_sending(each.op_id, b"{}") is not None]:
        yield look(session)
        for operation in waits:
            outbox.confirm(operation.op_id)
            yield look(session)
        (order,) = reads.query("order", {"order_number": "4101"})[0]
        lines = [{name: line.get(name) for name in KEPT if name in line} for line in order["lines"]]
        answer = service_rows.order("4101", *lines, customer_name="Ms Okafor")
        cache(home).write_orders([answer], lines_known=True, read_began=time.time() + 1)
        yield look(session)
        outbox.mark_read_back(*(each.op_id for each in waits))
        yield look(session)
    reads.close()
    db.close()


KEPT = (*service_rows.line(1), "moved_quantity", "preferred_location_code")
"""What the service says of a line."""


@pytest.mark.parametrize("name", WORK)
def test_own_writes_are_never_shown_as_changed_elsewhere(home: StoreFolder, name: str) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", BARCODES[0], BARCODES[1])
        if name in OWN:
            write(home, OWN[name], ANNA)
        seen = [look(session), *send_all(home, session)]
        assert len(seen) > 4
        assert not [each for each in seen if "changed" in each]


@pytest.mark.parametrize("is_seen", [False, True])
@pytest.mark.parametrize("name", WORK)
def test_what_the_service_refuses_of_ones_own_is_not_changed_elsewhere(
    home: StoreFolder, name: str, is_seen: bool
) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", BARCODES[0], BARCODES[1])
        if name in OWN:
            write(home, OWN[name], ANNA)
        look(session)
        db = open_outbox(home.folder)
        outbox = OperationQueue(db)
        operation = outbox.recent()[0]
        if outbox.begin_sending(operation.op_id, b"{}") is not None and is_seen:
            look(session)
        with transaction(db):
            db.execute("UPDATE operation SET state = 'sending' WHERE n = ?", (operation.n,))
        outbox.refuse(operation.op_id, store_text("no"))
        db.close()
        of_order = "order/4101" in operation.lanes
        assert look(session) == ("receive.refused" if of_order else "pick.picked")
        assert told(say(session, BARCODES[1]))[1] == "pick.picked"


def test_what_was_refused_before_is_not_told_when_the_order_is_opened(home: StoreFolder) -> None:
    write(home, movement("4101", "P1"), ANNA)
    db = open_outbox(home.folder)
    operation = OperationQueue(db).recent()[0]
    OperationQueue(db).begin_sending(operation.op_id, b"{}")
    OperationQueue(db).refuse(operation.op_id, store_text("no"))
    db.close()
    with at(home, user="U1") as session:
        assert told(say(session, "4101"))[1] == "pick.opened"
        assert look(session) in ("", "pick.opened")
        cache(home).write_orders([others()], lines_known=True, read_began=2.0)
        assert look(session) == "pick.changed"
