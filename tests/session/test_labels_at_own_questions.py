"""Labels of one character at the session's own questions: a scanned one is the location or refused, never an answer."""

from __future__ import annotations

import string

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, WRONG, DetailView, ListView, Step
from aisle.session.session import Session
from tests.cache import service_rows
from tests.session.scanner import Scanner
from tests.session.test_numbers_after_refused_scan import RICE, TAKING, TEA, UNKNOWN, opened, quantity, shown
from tests.session.test_numbers_after_refused_scan import home as store
from tests.session.test_one_letter_locations import TYPED, write_locations
from tests.session.test_session import at, say, told

__all__ = ["store"]

PACES = (0.0, 0.006, 0.03, 0.06, 0.09)
PIECE = f"]C101{TEA.zfill(14)}21SN0001"
"""Label of one piece."""

QUESTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    **{
        f"{job}/refused scan": ("input.number_after_refused_scan", (job, *TAKING[job], UNKNOWN, "40")) for job in TAKING
    },
    **{f"{job}/fast number": ("input.confirm_fast_number", (job, *TAKING[job], "<40")) for job in TAKING},
    "two products": ("session.ambiguous", ("count", "A-1", TEA, "36000291452")),
    "the same piece": ("session.serial_again", ("count", "A-1", PIECE, PIECE)),
    "several of a piece": ("session.serial_times", ("count", "A-1", f"3*{PIECE}")),
    "number of goods": ("session.confirm_known_number", ("count", "A-1", RICE, "23")),
}
"""Message id of each question, and the way to it; `<` is at the pace of a scanner."""


def ask(store: StoreFolder, session: Session, question: str, labels: str = string.ascii_uppercase) -> Scanner:
    """Go to a question in a store with these labels."""
    write_locations(store.root, labels) if labels else None
    cache = CacheWriter(open_cache(store.folder, writer=True), "0001")
    cache.write_products(
        [service_rows.product(number, f"Oats {number}", "36000291452") for number in ("P7", "P8")]
        + [service_rows.product("P9", "Pen", "5012345678900", barcodes_array=["23"])]
    )
    id_, (job, *scans) = QUESTIONS[question]
    opened(session, job)
    scan = Scanner(session)
    for text in scans:
        scan.rest(6.0)
        scan.send(f"{text[1:]}\r", 0.003) if text.startswith("<") else say(session, text)
    assert told(session.frames.build()) == (ASK, id_), shown(session.frames.build())
    scan.rest(6.0)
    return scan


def letters(session: Session) -> str:
    """The letters that answer."""
    view = session.frames.build().view
    assert isinstance(view, Step | DetailView | ListView)
    return view.choice_letters


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("question", QUESTIONS)
def test_no_label_answers(store: StoreFolder, question: str, pace: float) -> None:
    with at(store, user="U1") as session:
        ask(store, session, question)
        keys, start = letters(session), session.page.snapshot()
        asked, number = session.frames.build(), session.page.asked_number
        for label in keys + keys.upper():
            session.page.restore(start)
            session.page.asked_number, session.verdicts.current = number, asked.verdict
            before = quantity(session)
            scan = Scanner(session)
            scan.rest(6.0)
            frame = scan.send(f"{label}\r", pace)
            if session.stack.snapshot() == start.jobs:
                assert told(frame)[0] == WRONG, (label, shown(frame))
                is_dropped = label.isupper() and told(frame)[1] == "session.number_not_applied"
                assert frame.view == asked.view or is_dropped, label
                assert quantity(session) == before, label
            else:
                assert label.isupper(), label
                assert label in shown(frame)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("paces", [(TYPED,), (0.06, 0.06), (0.06, TYPED)])
def test_an_answer_is_typed_or_repeated(store: StoreFolder, question: str, paces: tuple[float, ...]) -> None:
    with at(store, user="U1") as session:
        scan = ask(store, session, question)
        asked = session.frames.build()
        for pace in paces:
            assert session.frames.build().view == asked.view
            scan.rest(6.0)
            scan.send(f"{letters(session)[0]}\r", pace)
        assert session.frames.build().view != asked.view


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_store_without_such_labels_takes_a_fast_answer(store: StoreFolder, question: str) -> None:
    with at(store, user="U1") as session:
        scan = ask(store, session, question, "")
        asked = session.frames.build()
        scan.send(f"{letters(session)[0]}\r", 0.03)
        assert session.frames.build().view != asked.view
