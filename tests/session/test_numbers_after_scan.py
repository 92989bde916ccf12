"""What a number does in each job after a good scan, a refused one, a question, moving on, and an undo: it belongs to
what was said last, and never to other goods than those that its answer names."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from aisle.host.store_folder import StoreFolder
from aisle.jobs.job import Start
from aisle.session.session import Session
from tests.session.job_steps import announced
from tests.session.test_session import BARCODES, at, home, say, told

__all__ = ["home"]

P1, P2, _ = BARCODES
BROKEN = "4006381333930"
"""Its check digit is wrong, and no product has it."""

JOBS: dict[str, tuple[str, ...]] = {
    "count": ("A-1", P1),
    "count of a product": (P1,),
    "recount": ("A-1", P1, "19", "d", "2"),
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
        parts = [(take.product, take.picked) for take in getattr(state, "lines", ())]
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
    for job, cases in TABLE.items():
        for what in ("refused scan", "unknown scan"):
            asks = "input.number_after_refused_scan" in cases[what]
            assert asks is (job != "pick"), "in a pick the page says what is to be taken"
