"""Labels with a serial number: the same piece is counted once in a job, unless somebody says `y`."""

from __future__ import annotations

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Frame
from aisle.session.session import Session
from tests.session.test_batch import CODES, at, home, say, sent, told
from tests.session.test_code_forms import open_job

__all__ = ["home"]

GS = "\x1d"


def label(product: str, serial: str, *, aim: str = "]d2") -> str:
    """A GS1 label of one piece."""
    return f"{aim}01{CODES[product].zfill(14)}21{serial}"


def said(frame: Frame) -> str:
    """Kind of the verdict, and its message without what is added to it."""
    return " ".join(told(frame))


INPUTS = {"count": ("A-1",), "move": ("A-1",), "receive": (), "pick": ("4102",), "round": ("6", "4101", "4102", "g")}
"""Inputs that open a job; those of `open_job` come first."""


def open_page(session: Session, job: str) -> None:
    """Open a job from home."""
    if job in ("count", "move", "receive"):
        open_job(session, lambda text: say(session, text), job)  # type: ignore[arg-type]
    say(session, *INPUTS[job])
    assert session.stack.top.job.name == {"round": "pick"}.get(job, job)


@pytest.mark.parametrize("job", list(INPUTS))
def test_a_serial_number_counts_once(home: StoreFolder, job: str) -> None:
    announce(home)
    with at(home) as session:
        open_page(session, job)
        first = say(session, label("P1", "S1"))
        assert told(first)[0] == GOOD, said(first)
        before = session.stack.top.state
        again = say(session, label("P1", "S1"))
        assert told(again) == (ASK, "session.serial_again")
        assert again.view.choice_letters == "yx"  # type: ignore[union-attr]
        assert session.stack.top.state == before
        assert told(say(session, "b")) == (INFO, "session.dropped")
        other = say(session, label("P1", "S2"))
        assert told(other)[0] == GOOD, said(other)
        assert told(say(session, label("P1", "S2"))) == (ASK, "session.serial_again")
        third = say(session, "y")
        assert told(third)[0] == GOOD, said(third)
        assert session.stack.top.state != before


def test_what_was_undone_counts_again_at_once(home: StoreFolder) -> None:
    with at(home) as session:
        say(session, "4102")
        assert told(say(session, label("P1", "S1")))[0] == GOOD
        assert told(say(session, "u"))[0] == GOOD
        assert told(say(session, label("P1", "S1")))[0] == GOOD
    assert sent(home)["4102", 1] == 1


def announce(home: StoreFolder) -> None:
    """A delivery that announces four of P1."""
    rows = [{"line_number": 1, "product_number": "P1", "quantity": 4, "received_quantity": 0, "barcode": CODES["P1"]}]
    delivery = {"order_number": "7001", "supplier_name": "Fresh & Co", "status": "open", "order_lines": rows}
    CacheWriter(open_cache(home.folder, writer=True), "0001").write_deliveries([delivery], 1.0)


UNDONE = [*((job, ()) for job in INPUTS), ("move", ("A-2",)), ("receive", ("A-2",))]
"""Job, and inputs between the scans and the undos."""


@pytest.mark.parametrize(("job", "inputs"), UNDONE)
def test_all_that_was_undone_counts_again(home: StoreFolder, job: str, inputs: tuple[str, ...]) -> None:
    announce(home)
    with at(home) as session:
        open_page(session, job)
        say(session, label("P1", "S1"), label("P1", "S2"), *inputs)
        stacked = session.stack.top
        assert stacked.job.quantity_taken(stacked.state, "P1") == 2
        for _ in range(4):
            if stacked.job.quantity_taken(session.stack.top.state, "P1"):
                assert told(say(session, "u"))[0] == GOOD
        for serial in ("S1", "S2"):
            taken = say(session, label("P1", serial))
            assert told(taken)[0] == GOOD, said(taken)
        assert told(say(session, label("P1", "S1"))) == (ASK, "session.serial_again")


def test_the_pieces_of_a_sent_count_that_was_undone_count_again(home: StoreFolder) -> None:
    with at(home) as session:
        open_page(session, "count")
        say(session, label("P1", "S1"), label("P1", "S2"), "d")
        answers = {"count.missing": "a", "count.recount": "d", "count.summary": "y"}
        for _ in range(5):
            if (name := session.frames.build().view.name) != "count.start":
                say(session, answers[name])
        say(session, "A-1")
        assert told(say(session, label("P1", "S1"))) == (ASK, "session.serial_again"), "it is counted"
        say(session, "b")
        assert told(say(session, "u"))[1].startswith("count.sent_undone")
        for serial in ("S1", "S2"):
            assert told(say(session, label("P1", serial)))[0] == GOOD
        assert told(say(session, label("P1", "S1"))) == (ASK, "session.serial_again")


def test_what_was_not_undone_is_known(home: StoreFolder) -> None:
    with at(home) as session:
        open_page(session, "count")
        say(session, label("P1", "S1"), CODES["P1"], label("P1", "S2"), "u", "u")
        assert told(say(session, label("P1", "S1"))) == (ASK, "session.serial_again")
        say(session, "b")
        assert told(say(session, label("P1", "S2")))[0] == GOOD


ASKED = {
    "not announced": ("receive", "P3", ("7001",)),
    "too many": ("receive", "P1", (f"4*{CODES['P1']}",)),
    "not there": ("move", "P9", ()),
}
"""Job, product and inputs before a scan that the job asks about."""


@pytest.mark.parametrize(("job", "product", "before"), ASKED.values(), ids=list(ASKED))
def test_a_serial_number_counts_once_at_an_open_question(
    home: StoreFolder, job: str, product: str, before: tuple[str, ...]
) -> None:
    announce(home)
    with at(home) as session:
        open_page(session, job)
        first = say(session, *before, label(product, "S1"))
        assert told(first)[0] == ASK, said(first)
        asked = session.stack.top.state
        assert told(say(session, label(product, "S1"))) == (ASK, "session.serial_again")
        assert session.stack.top.state == asked
        say(session, "b")
        assert told(say(session, label(product, "S2")))[0] == ASK
        assert session.stack.top.state != asked


@pytest.mark.parametrize("texts", [(f"12*{label('P1', 'S1', aim='')}",), ("12*", label("P1", "S1"))])
def test_a_multiplied_serial_number_is_asked_about(home: StoreFolder, texts: tuple[str, ...]) -> None:
    with at(home) as session:
        open_page(session, "count")
        before = session.stack.top.state
        assert told(say(session, *texts)) == (ASK, "session.serial_times")
        assert session.stack.top.state == before
        assert told(say(session, "y"))[0] == GOOD
        assert session.stack.top.job.quantity_taken(session.stack.top.state, "P1") == 12


def test_what_was_refused_counts_when_it_is_right(home: StoreFolder) -> None:
    with at(home, verified=True) as session:
        say(session, "4102")
        assert told(say(session, label("P1", "S1"))) == (WRONG, "pick.location_first_scan")
        say(session, "A-1")
        assert told(say(session, label("P1", "S1")))[0] == GOOD


def test_serial_numbers_are_known_after_a_restart(home: StoreFolder) -> None:
    with at(home) as session:
        say(session, "4102", label("P3", "S1"))
        for _ in range(70):
            say(session, CODES["P3"])
        say(session, label("P3", "S2"))
    with at(home) as session:
        for serial in ("S1", "S2"):
            assert told(say(session, label("P3", serial))) == (ASK, "session.serial_again")
            say(session, "b")
        assert told(say(session, label("P3", "S3")))[0] == GOOD


def test_another_product_may_have_the_same_serial_number(home: StoreFolder) -> None:
    with at(home) as session:
        say(session, "4102", label("P1", "S1"))
        assert told(say(session, label("P3", "S1")))[0] == GOOD
        assert told(say(session, "?" + label("P1", "S1")))[1] != "session.serial_again"


@pytest.mark.parametrize("answer", ["x", "u", "b"])
def test_a_piece_that_is_not_taken_again_is_declined(home: StoreFolder, answer: str) -> None:
    """With a letter that the page names."""
    with at(home) as session:
        open_page(session, "count")
        asked = say(session, label("P1", "S1"), label("P1", "S1"))
        assert told(asked) == (ASK, "session.serial_again")
        assert session.page.accepts().choice_letters == "yx"
        assert told(say(session, answer)) == (INFO, "session.dropped")
        stacked = session.stack.top
        assert stacked.job.quantity_taken(stacked.state, "P1") == 1
        assert told(say(session, label("P1", "S2")))[0] == GOOD
