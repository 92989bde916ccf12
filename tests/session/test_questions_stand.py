"""A question stands through all that others do, or is cancelled with words; its letters then answer nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from aisle.host.database import transaction
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, INFO, Msg, Verdict, msg
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import Author
from aisle.session.input_batch import REACTION_S
from aisle.session.session import Session
from tests.cache import service_rows
from tests.session.job_steps import WAYS, Way, announced, cache, noted, stand
from tests.session.test_look_up_mid_job import headers_only
from tests.session.test_session import BARCODES, at, home, say, told
from tests.writes import intents, movement, update

__all__ = ["headers_only", "home"]

TEA, CORN = f"2*{BARCODES[1]}", f"2*{BARCODES[2]}"
PICKED = ("batch", "4102", "4103", "g", TEA, CORN)
"""A batch of two orders, all of it in hand."""

PUT_DOWN = {
    "pick.done/unknown": Way(("4102", TEA, "PU-9")),
    "pick.done/stock": Way(("4102", TEA, "A-1")),
    "pick.done/source": Way(("4102", TEA, "A-2")),
    "pick.done/batch": Way(PICKED, before=noted),
    "pick.done/batch_unknown": Way((*PICKED, "PU-9"), before=noted),
    "pick.done/batch_stock": Way((*PICKED, "A-1"), before=noted),
    "pick.done/batch_source": Way((*PICKED, "A-2"), before=noted),
    "pick.product/other_location": Way(("4101", "PU-01")),
    "receive.goods/more": Way(("receive", "7001", BARCODES[0], "40"), before=announced),
    "receive.goods/not_announced": Way(("receive", "7001", BARCODES[2]), before=announced),
    "pick.product/leave_batch": Way(("batch", "4101", "4102", "g", "b")),
}
ASKED = PUT_DOWN.keys() - {"pick.done/batch"}
QUESTIONS = WAYS | PUT_DOWN

BEN = Author("0001", "U2", terminal="gate")
OTHERS: dict[str, tuple[Any, ...]] = {
    "another order": (update("4105", {1: 1}), movement("4105", "P2"), movement("4105", "P1")),
    "these orders": (update("4101", {2: 1}), update("4102", {2: 1})),
}


def pickups(home: StoreFolder) -> None:
    """The store has two pick-up locations, and another order of the same products."""
    rows = [{"location_code": f"PU-0{n}", "store_number": "0001", "tags": ["pick-up"]} for n in (1, 2)]
    cache(home).write_locations(rows)
    other = service_rows.order("4105", *(service_rows.line(n, f"P{n}", 9) for n in (1, 2, 3)))
    cache(home).write_orders([other], lines_known=True, read_began=1.0)


def change(home: StoreFolder, *writes: Any) -> None:
    """Somebody else on this host books something, and stock is read again."""
    db = open_outbox(home.folder)
    with transaction(db):
        OperationQueue(db).enqueue(intents(*writes), BEN)
    db.close()
    for n in (1, 2, 3):
        stock = service_rows.stock(f"P{n}", 5, places={f"A-{n}": 5})
        cache(home).write_stock([stock], read_began=time.time() + 9e5)


def ids(text: Any) -> Iterator[str]:
    """The ids of a message and of all in it."""
    if isinstance(text, Msg):
        yield text.id
        for _, value in text.args:
            yield from ids(value)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("what", OTHERS)
@pytest.mark.parametrize("way", QUESTIONS)
def test_a_question_stands_until_it_is_answered(
    home: StoreFolder, monkeypatch: pytest.MonkeyPatch, way: str, what: str
) -> None:
    monkeypatch.setitem(WAYS, way, QUESTIONS[way])
    if way in PUT_DOWN:
        pickups(home)
    if before := QUESTIONS[way].before:
        before(home)
    with at(home, user="U1", **QUESTIONS[way].terms) as session:
        stand(home, session, way)
        asked, question = session.page.accepts(), session.verdicts.current
        if question is None or question.kind != ASK:
            assert way not in ASKED
            return
        change(home, *OTHERS[what])
        session.poll()
        after, verdict = session.page.accepts(), session.verdicts.current
        assert verdict is not None
        if what == "these orders" and after.choice_values != asked.choice_values:
            assert any("question_dropped" in each for each in ids(verdict.text))
        else:
            assert (after.choices, after.choice_letters, after.choice_values) == (
                asked.choices,
                asked.choice_letters,
                asked.choice_values,
            )
            assert verdict.kind == ASK
            assert question.text.id in ids(verdict.text)


def picked_by_others(home: StoreFolder, session: Session) -> None:
    """Somebody else fills the line in question."""
    line = service_rows.line(2, "P2", 12, preferred_location_code="A-2", picked_quantity=12)
    lines = [service_rows.line(1, "P1", 1, preferred_location_code="A-1"), line]
    cache(home).write_orders([service_rows.order("4101", *lines)], lines_known=True, read_began=2.0)
    session.poll()


def test_a_letter_of_a_cancelled_question_answers_nothing(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", BARCODES[1], "40")
        letter = session.page.accepts().choice_letters[0]
        picked_by_others(home, session)
        verdict = session.verdicts.current
        assert verdict is not None
        assert "pick.changed_question_dropped" in ids(verdict.text)
        jobs = session.stack.snapshot()
        frame = say(session, letter)
        assert told(frame)[0] != "good"
        assert session.stack.snapshot()[-1].state.lines == jobs[-1].state.lines


def test_a_choice_that_changed_a_moment_ago_is_refused(home: StoreFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Later the same key answers what is on the screen."""
    monkeypatch.setitem(WAYS, "pick.done/batch_stock", QUESTIONS["pick.done/batch_stock"])
    noted(home)
    pickups(home)
    with at(home, user="U1") as session:
        stand(home, session, "pick.done/batch_stock")
        assert session.page.accepts().choices
        page = session.page.identity
        say(session, "b")
        session.batch.note_changed_page(page, session.context.clock())
        assert told(say(session, "1"))[1] == "input.choices_changed"
        later = session.context.clock() + REACTION_S
        session.context.clock = lambda: later
        assert told(say(session, "1"))[1] == "pick.choice_tote"


def test_news_stands_after_the_question(home: StoreFolder) -> None:
    """The answers on the page keep their question."""
    with at(home, user="U1") as session:
        say(session, "4101", BARCODES[1], "40")
        verdicts = session.verdicts
        before = verdicts.snapshot()
        assert before.current is not None
        verdicts.answer(Verdict(INFO, msg("pick.changed", order="4101")))
        verdicts.keep_question(before, is_open=True)
        assert verdicts.current is not None
        assert verdicts.current.kind == ASK
        assert list(ids(verdicts.current.text)) == ["pick.join", before.current.text.id, "pick.changed"]
