"""What a number does in each job after a good scan, a refused one, a question, moving on, and an undo: it belongs to
what was said last, and never to other goods than those that its answer names."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Start
from aisle.jobs.view import ASK
from aisle.session.session import Session
from aisle.tui.message_text import MessageWriter
from tests.cache import service_rows
from tests.session.job_steps import announced, cache
from tests.session.scanner import Scanner
from tests.session.test_session import BARCODES, at, home, say, told

__all__ = ["home"]

P1, P2, _ = BARCODES
BROKEN = "4006381333930"
"""Its check digit is wrong, and no product has it."""

JOBS: dict[str, tuple[str, ...]] = {
    "count": ("A-1", P1),
    "count of a product": (P1,),
    "recount": ("A-1", P1, "19", "d", "c"),
    "missing": ("A-1", "d"),
    "adjust": ("A-1", P1),
    "move": ("A-1", P1),
    "put": ("c", P1, "d"),
    "receive": ("7001", P1),
    "pick": ("4101", P1, P2),
}
"""To where the quantity of a product is open: of P1, in a pick of P2."""

SAME, OTHER = "same", "other"
"""The product whose quantity is open, and another one."""

AFTER: dict[str, tuple[str, ...]] = {
    "good scan": (SAME,),
    "multiplied scan": (f"2*{SAME}",),
    "refused scan": (BROKEN,),
    "unknown scan": ("96385081",),
    "question": ("8888888",),
    "other product": (OTHER,),
    "other place": ("A-2",),
    "letter": ("x",),
    "undo": (SAME, "u"),
}


def opened(session: Session, job: str) -> None:
    """At that step of that job."""
    name = {"count of a product": "count", "recount": "count", "missing": "count", "put": "move"}.get(job, job)
    if name != "pick":
        session.start_batch()
        session.event_runner.open(Start(name, {}))
        session.event_runner.commit()
    for scan in JOBS[job]:
        say(session, scan)


def quantities(session: Session) -> dict[str, Decimal]:
    """How many of each product are counted, taken or in hand, by the job on the screen; what is none is left out."""
    top = session.stack.top
    state: Any = top.state
    found: dict[str, Decimal] = {}
    if top.job.name == "count":
        recount = state.recount_quantity
        parts = [(each.product, recount if each.needs_recount and recount else each.counted) for each in state.lines]
    elif top.job.name == "adjust":
        parts = [(state.line.product, state.quantity)] if state.line else []
    elif top.job.name == "move":
        parts = [(part.product, state.portion or part.quantity) for part in state.in_hand]
    elif top.job.name == "receive":
        parts = [(state.in_hand.product, state.in_hand.quantity)] if state.in_hand else []
    else:
        parts = [(line.product, line.picked) for line in getattr(state, "lines", ())]
    for product, quantity in parts:
        found[product] = found.get(product, Decimal(0)) + (quantity or Decimal(0))
    return {product: quantity for product, quantity in found.items() if quantity}


def after(home: StoreFolder, job: str, what: str) -> str:
    announced(home)
    with at(home, user="U1") as session:
        opened(session, job)
        same, other = (P2, P1) if job == "pick" else (P1, P2)
        for scan in AFTER[what]:
            say(session, scan.replace(SAME, same).replace(OTHER, other))
        before = quantities(session)
        frame = say(session, "3")
        now = quantities(session)
        shown = " ".join(f"{product}={now[product]}" for product in sorted(now)) if now != before else "-"
        return f"{frame.view.name} {told(frame)[1]} {shown}"


_ROWS = Path(__file__).with_name("numbers_after_scan.txt").read_text(encoding="utf-8").splitlines()[1:]
TABLE: dict[str, dict[str, str]] = {job: {} for job in JOBS}
"""The page, the message, and what there is of each product then; `-` where no quantity has changed."""
for _job, _what, _outcome in (row.split(" | ") for row in _ROWS):
    TABLE[_job][_what] = _outcome


@pytest.mark.parametrize("what", AFTER)
@pytest.mark.parametrize("job", JOBS)
def test_a_number_belongs_to_what_was_said_last(home: StoreFolder, job: str, what: str) -> None:
    assert after(home, job, what) == TABLE[job][what]


def test_the_table_has_every_case_and_no_number_is_for_other_goods() -> None:
    assert {job: set(cases) for job, cases in TABLE.items()} == {job: set(AFTER) for job in JOBS}
    for cases in TABLE.values():
        for what in ("refused scan", "unknown scan"):
            assert "input.number_after_refused_scan" in cases[what]


SSCC = "00395200000000000043"

REFUSED_AT: dict[str, tuple[str, ...]] = {
    "count": ("BADGE-U2", "BADGE-U1", SSCC),
    "recount": ("170011", "A-3", "BADGE-U2", "BADGE-U1", SSCC),
    "missing": ("A-3", "BADGE-U2", "BADGE-U1", SSCC),
    "adjust": ("170011", "BADGE-U2", "BADGE-U1", SSCC),
    "move": ("4102", "7002", "BADGE-U2", "BADGE-U1", SSCC),
    "put": ("170011", "4102", "7002", "BADGE-U2", "BADGE-U1", SSCC),
    "receive": ("BADGE-U2", "BADGE-U1"),
    "pick": ("170011", "BADGE-U2", "BADGE-U1", SSCC),
}
"""Known scans that the step of a job refuses: product number, location, order, delivery, badges, container."""


@pytest.mark.parametrize(("job", "form"), [(job, form) for job, forms in REFUSED_AT.items() for form in forms])
def test_a_number_after_a_refused_scan_of_any_form_is_asked_back(home: StoreFolder, job: str, form: str) -> None:
    announced(home)
    row = {"line_number": 1, "product_number": "P3", "quantity": 4, "received_quantity": 0, "container_barcode": SSCC}
    rows = {"7002": row | {"container_barcode": ""}, "7003": row}
    cache(home).write_deliveries(
        [{"order_number": number, "status": "open", "order_lines": [line]} for number, line in rows.items()], 1.0
    )
    cache(home).write_products([service_rows.product("170011", "Cola", "96385074")])
    with at(home, user="U1") as session:
        opened(session, job)
        before = quantities(session)
        say(session, form)
        assert told(say(session, "4")) == (ASK, "input.number_after_refused_scan")
        assert quantities(session) == before


NEXT: dict[str, tuple[str, ...]] = {
    "count": (SAME, "d", "A-2", "96385081"),
    "count of a product": (SAME, "d", "A-2"),
    "recount": ("d",),
    "missing": ("d",),
    "adjust": (SAME, "d", "A-2"),
    "move": (SAME, "A-2", "d", "96385081"),
    "put": (SAME, "A-2", "n"),
    "receive": ("d",),
    "pick": (SAME, "n", "s", "96385081"),
}
"""Inputs of each step that are neither the number again nor `b` and `u`, which drop it."""


@pytest.mark.parametrize(("job", "text"), [(job, text) for job, texts in NEXT.items() for text in texts])
def test_number_that_is_not_typed_again_is_told_as_not_taken(home: StoreFolder, job: str, text: str) -> None:
    announced(home)
    with at(home, user="U1") as session:
        opened(session, job)
        scanner = Scanner(session)
        scanner.send("96385081\r", 0.003)
        scanner.rest(1.5)
        before = quantities(session)
        assert told(scanner.send("4\r", 0.2)) == (ASK, "input.number_after_refused_scan")
        scanner.rest(1.5)
        frame = scanner.send(f"{text.replace(SAME, P2 if job == 'pick' else P1)}\r", 0.2)
        assert "1 ignored: 4" in MessageWriter().write(frame.verdict.text, 2) if frame.verdict else False
        if text == "d":
            assert Decimal(4) not in (quantities(session) or before).values()


@pytest.mark.parametrize(("job", "scan"), [("recount", P1), ("missing", P1), ("receive", P1), ("receive", "A-2")])
def test_number_stays_asked_about_while_a_scan_could_answer_the_page(home: StoreFolder, job: str, scan: str) -> None:
    announced(home)
    with at(home, user="U1") as session:
        opened(session, job)
        scanner = Scanner(session)
        scanner.send("96385081\r", 0.003)
        scanner.rest(1.5)
        assert told(scanner.send("4\r", 0.2)) == (ASK, "input.number_after_refused_scan")
        scanner.rest(1.5)
        before = quantities(session)
        frame = scanner.send(f"{scan}\r", 0.2)
        assert frame.verdict is not None
        assert frame.verdict.text.id == "count.answer_first"
        assert quantities(session) == before


@pytest.mark.parametrize(
    ("key", "word"), [("b", "session.dropped"), ("u", "session.dropped"), ("4", "count.counted_of")]
)
def test_number_that_is_typed_again_or_dropped_is_not_told_as_not_taken(home: StoreFolder, key: str, word: str) -> None:
    with at(home, user="U1") as session:
        opened(session, "count")
        say(session, "96385081")
        say(session, "4")
        assert told(say(session, key))[1] == word
