"""How a session gets to each step of each job: the table that the tests of looks go through."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from aisle.cache.writer import CacheWriter, LinkRow, open_cache
from aisle.host.database import transaction
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs import JOBS
from aisle.jobs.job import Start
from aisle.jobs.view import DetailView, View
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import Author, Intent
from aisle.session.session import Session
from aisle.stored_messages import store_text
from tests.cache import service_rows
from tests.session.test_session import BARCODES, ORDER, say
from tests.writes import movement, update

ELSEWHERE = "96385074"
"""A product that is on no order."""

Happening = Callable[[StoreFolder, Session], None]
"""What others do meanwhile."""


class Way(NamedTuple):
    """From home to a step."""

    scans: tuple[str | Happening, ...]
    """The name of a job in front opens it."""
    terms: dict[str, Any] = {}  # noqa: RUF012  # nobody writes to it
    """Settings."""
    before: Callable[[StoreFolder], None] | None = None
    """What is so before anybody starts."""


def cache(home: StoreFolder) -> CacheWriter:
    """The writer's side of the store's data."""
    return CacheWriter(open_cache(home.folder, writer=True), "0001")


def arrive(home: StoreFolder, session: Session) -> None:
    """The service has confirmed all that waits."""
    outbox = session.store.operations
    for operation in outbox.unfinished():
        outbox.begin_sending(operation.op_id, b"{}")
        outbox.confirm(operation.op_id, '{"data": [7]}')


def reject(home: StoreFolder, session: Session) -> None:
    """Somebody rejects the order that is being picked."""
    cache(home).write_orders([ORDER | {"is_rejected": True}], lines_known=True, read_began=2.0)
    session.poll()


def claimed(home: StoreFolder) -> None:
    """Somebody else picks the order, and nobody says who."""
    cache(home).write_orders([ORDER | {"is_claimed": True}], lines_known=True, read_began=2.0)


def doubtful(home: StoreFolder) -> None:
    """One operation that a person has to settle, and one that was refused."""
    db = open_outbox(home.folder)
    outbox = OperationQueue(db)
    with transaction(db):
        ids = outbox.enqueue([Intent(movement("4101", "P1")), Intent(update("4102", {1: 1}))], Author("0001", "U1"))
    for op_id in ids:
        assert outbox.begin_sending(op_id, b"[]", evidence={"before": {"stock": {"P1": {"A-1": "3"}}}})
    outbox.mark_in_doubt(ids[0], store_text("no answer"), settling_s=120)
    outbox.ask_person(ids[0], store_text("nobody knows"), evidence={"verdict": "unreadable"})
    outbox.refuse(ids[1], store_text("finished"))
    db.close()


def noted(home: StoreFolder) -> None:
    """An order whose customer asks for something."""
    told = service_rows.order("4103", service_rows.line(1, "P3", 2), comment="Please ring twice. " * 20)
    cache(home).write_orders([told], lines_known=True, read_began=1.0)


def put_down(home: StoreFolder) -> None:
    """An order that waits for its customer at a location."""
    held = {"location_code": "A-2", "quantity": 2, "customer_order_number": "4105", "customer_order_line_number": 1}
    fields = {"is_picked": True, "moved_quantity": 2, "store_locations": [held]}
    lines = service_rows.line(1, "P1", 2, 2, **fields), service_rows.line(2, "P2", 1, 1, is_picked=True)
    order = service_rows.order("4105", *lines, is_picked=True)
    cache(home).write_orders([order], lines_known=True, read_began=1.0)


def choose(id_: str) -> Happening:
    """The number of a way on, by what it says."""

    def chosen(home: StoreFolder, session: Session) -> None:
        view = session.frames.build().view
        assert isinstance(view, DetailView)
        rows = [row for block in view.blocks for row in block.rows[: block.numbered_rows]]
        offered = [*(row[0].id for row in rows), *(choice.id for choice in view.choices)]
        assert id_ in offered, offered
        say(session, str(offered.index(id_) + 1))

    return chosen


def announced(home: StoreFolder) -> None:
    """A delivery of two products that the store waits for."""
    lines = [
        {"line_number": n, "product_number": f"P{n}", "quantity": 4, "received_quantity": 0, "barcode": code}
        for n, code in enumerate(BARCODES[:2], 1)
    ]
    row = {"order_number": "7001", "supplier_name": "Fresh & Co", "status": "open", "order_lines": lines}
    cache(home).write_deliveries([row], 1.0)


def lost(home: StoreFolder) -> None:
    """The store's log has a loss of today."""
    at = datetime.now(UTC).isoformat()
    entry = {"id": 7, "store_number": "0001", "product_number": "P1", "quantity": -2, "reason_code": 1}
    cache(home).write_logs([entry | {"created_on": at}], "2026-01-01")


def settled(home: StoreFolder) -> None:
    """The store says of a product how much of it there is to be, and what was sold of it."""
    said = {"min": 4, "max": 10, "original_min": 4, "original_max": 10, "history_array": [3, 4, 5, 6]}
    cache(home).write_stock([service_rows.stock("P1", 7, places={"A-1": 7}) | said], read_began=time.time() + 9e5)
    cache(home).set_link(LinkRow(state="live", last_ok=time.time()))


def priced(home: StoreFolder) -> None:
    """A product has a price."""
    cache(home).write_stock([service_rows.stock("P1", 7, places={"A-1": 7}, price=2.5)], read_began=time.time() + 9e5)
    cache(home).set_link(LinkRow(state="live", last_ok=time.time()))


COUNTED = ("count", "A-1", BARCODES[0], "19", "d", "y")
"""Scans after which a count is on its way."""

ROUND = ("batch", "4101", "4102")
SHARED = (*ROUND, "g", "n", "s")
"""At a stop that two orders share."""

WAYS: dict[str, Way] = {
    "home": Way(()),
    "look_up.list": Way(("?product",)),
    "look_up.product": Way((f"?{ELSEWHERE}",)),
    "locations.list": Way(("3",)),
    "locations.location": Way(("?A-1",)),
    "note": Way(("4103", "i"), before=noted),
    "pick.wait": Way(("4199",)),
    "pick.wait/claimed": Way(("4101",), before=claimed),
    "pick.location": Way(("4101",), {"verified": True}),
    "pick.product": Way(("4101", BARCODES[0], BARCODES[1])),
    "pick.product/asked": Way(("4101", BARCODES[1], "40")),
    "pick.product/round": Way((*ROUND, "g", "n")),
    "pick.done": Way(("4102", f"2*{BARCODES[1]}")),
    "pick.return": Way(("4101", f"2*{BARCODES[1]}", reject)),
    "batch": Way(("batch",)),
    "batch/gathered": Way(ROUND),
    "batch/out": Way((*ROUND, "t")),
    "batch/claimed": Way(("batch", "4101"), before=claimed),
    "shortage.choices": Way(("4101", "s")),
    "shortage.which_order": Way((*SHARED, choose("shortage.choice_reject_one"))),
    "shortage.which_reason": Way(("4101", "s", choose("shortage.title_reject"))),
    "count.start": Way(("count",)),
    "count.product": Way(("count", "A-1")),
    "count.stop": Way(("count", BARCODES[0])),
    "count.missing": Way(("count", "A-1", "d")),
    "count.recount": Way(("count", "A-1", "d", "n")),
    "count.summary": Way(("count", "A-1", "d", "n", "1")),
    "count.leave": Way(("count", "A-1", BARCODES[0], "b")),
    "count.list": Way(("count", "3", "A-1")),
    "count.pool": Way(("count", "A-1", "k")),
    "my_entries": Way(("count", "2")),
    "my_entries.entry": Way((*COUNTED, "2", "1")),
    "my_entries.undo": Way((*COUNTED, arrive, "2", "1", "1")),
    "adjust.product": Way(("count", "1")),
    "adjust.location": Way(("count", "1", ELSEWHERE)),
    "adjust.quantity": Way(("count", BARCODES[0], "l")),
    "adjust.quantity/over": Way(("count", "1", f"30*{BARCODES[0]}", "d", "1")),
    "adjust.reason": Way(("count", BARCODES[0], "l", "1")),
    "expiry": Way(("expiry",)),
    "expiry.date": Way(("expiry", BARCODES[0])),
    "expiry.confirm": Way(("expiry", BARCODES[0], "1.1.2030")),
    "expiry.price": Way(("expiry", BARCODES[0], "+1"), {"expiry_discount_days": Decimal(2)}, priced),
    "hand_over": Way(("hand_over",)),
    "hand_over.order": Way(("hand_over", "4105"), before=put_down),
    "hand_over.goods": Way(("hand_over", "4105", "2"), before=put_down),
    "hand_over.quantity": Way(("hand_over", "4105", "2", "1"), before=put_down),
    "hand_over.location": Way(("hand_over", "4105", "2", "1", "1"), before=put_down),
    "hand_over.confirm": Way(("hand_over", "4105", "1"), {"check_hand_over": True}, put_down),
    "move.from": Way(("move",)),
    "move.take": Way(("move", "A-1")),
    "move.take/over": Way(("move", "A-1", f"30*{BARCODES[0]}")),
    "move.load": Way(("move", "c")),
    "move.pool": Way(("move", "k")),
    "move.put": Way(("move", "c", BARCODES[0], "d")),
    "move.where": Way(("move", BARCODES[0], "4101")),
    "move.leave": Way(("move", BARCODES[0], "b")),
    "receive.delivery": Way(("receive",), before=announced),
    "receive.goods": Way(("receive", "7001", BARCODES[0]), before=announced),
    "receive.lines": Way(("receive", "7001", "l"), before=announced),
    "receive.check": Way(("receive", "7001", BARCODES[0], "d"), before=announced),
    "receive.leave": Way(("receive", "7001", BARCODES[0], "b"), before=announced),
    "deliveries": Way(("deliveries",), before=announced),
    "deliveries.page": Way(("deliveries", "7001"), before=announced),
    "receive.goods/chosen": Way(("receive", "1"), before=announced),
    "deliveries.page/chosen": Way(("deliveries", "1"), before=announced),
    "log": Way(("log",), before=lost),
    "log.entry": Way(("log", "1"), before=lost),
    "log.filter": Way(("log", "f")),
    "log.value": Way(("log", "f", "6")),
    "log.export": Way(("log", "e")),
    "log.confirm": Way(("log", "e", "1")),
    "log.losses": Way(("log", "g"), before=lost),
    "store_product": Way((f"?{BARCODES[0]}", "e"), before=settled),
    "store_product.value": Way((f"?{BARCODES[0]}", "e", "1"), before=settled),
    "store_product.confirm": Way((f"?{BARCODES[0]}", "e", "1", "6"), before=settled),
    "store_product.chart": Way((f"?{BARCODES[0]}", "e", "g"), before=settled),
    "unconfirmed": Way(("unconfirmed",), before=doubtful),
    "unconfirmed.entry": Way(("unconfirmed", "1"), before=doubtful),
    "unconfirmed.resend": Way(("unconfirmed", "1", choose("unconfirmed.choice_resend")), before=doubtful),
    "unconfirmed.close_by_hand": Way(("unconfirmed", "1", choose("unconfirmed.choice_close_by_hand")), before=doubtful),
    "pick.tote": Way((*ROUND, "g", BARCODES[0]), {"verify_totes": True}),
}
"""A way to each step, and to some of them another one after the stroke: a question is open, or several orders are."""


LOOKS = ("look_up", "locations")
"""A look that is asked for in a look takes its place."""


def lasts(way: str) -> bool:
    """Whether the job is there again after a kill."""
    return next(job for job in JOBS.values() if step_of(way) in job.steps).journalled


def step_of(way: str) -> str:
    """The step that a row of the table leads to."""
    return way.partition("/")[0]


def stand(home: StoreFolder, session: Session, way: str) -> View:
    """Goes there; the view of the step."""
    scans = WAYS[way].scans
    if scans and scans[0] in JOBS:
        session.start_batch()
        session.event_runner.open(Start(str(scans[0]), {}))
        session.event_runner.commit()
        scans = scans[1:]
    for scan in scans:  # each is kept before the next: the log reads what was kept
        say(session, scan) if isinstance(scan, str) else scan(home, session)
    view = session.frames.build().view
    assert view.name == step_of(way), (view.name, session.frames.build().verdict)
    return view
