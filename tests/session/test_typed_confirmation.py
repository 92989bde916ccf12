"""What loses something is confirmed by hand: no printed command and no scan in two pieces says yes."""

from __future__ import annotations

from pathlib import Path

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import WRONG
from tests.session.job_steps import WAYS, stand, step_of
from tests.session.scanner import Scanner
from tests.session.test_look_up_mid_job import begin, headers_only, way
from tests.session.test_session import home, say, told

__all__ = ["headers_only", "home", "way"]

SURE = (
    "count.leave", "count.missing", "count.summary", "my_entries.undo", "unconfirmed.resend",
    "unconfirmed.close_by_hand", "unconfirmed.entry",
    "log.confirm", "adjust.quantity/over", "move.leave", "receive.check", "receive.leave", "shortage.which_reason",
    "store_product.confirm",
)  # fmt: skip
"""Rows of the table of ways that end at a question of this kind."""

KEYS = {
    "count.leave": "y",
    "count.summary": "y",
    "receive.check": "y",
    "count.missing": "n",
    "adjust.quantity/over": "y",
    "move.leave": "x",
    "receive.leave": "y",
    "store_product.confirm": "y",
}
"""The letter of an answer, where a quantity may be open; elsewhere the first has the number 1."""

ASKED = [row for row in SURE if isinstance(WAYS[row].scans[-1], str)]
"""Those that are opened by a scan or a letter, so that one that comes in two pieces could answer them."""


@pytest.mark.parametrize("way", SURE, indirect=True)
def test_a_printed_number_is_no_yes(home: StoreFolder, way: str) -> None:
    with begin(home, way) as session:
        before = stand(home, session, way)
        frame = say(session, "AISLE:1")
        assert (told(frame), frame.view) == ((WRONG, "input.scan_not_accepted"), before)


@pytest.mark.parametrize("way", ASKED, indirect=True)
def test_what_came_with_the_question_is_no_answer_to_it(
    home: StoreFolder, way: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)  # a file may be written
    whole = WAYS[way]
    last = str(whole.scans[-1])
    with begin(home, way) as session:
        with monkeypatch.context() as patch:
            patch.setitem(WAYS, f"{way}/before", whole._replace(scans=whole.scans[:-1]))
            patch.setattr("tests.session.job_steps.step_of", lambda _: session.frames.build().view.name)
            stand(home, session, f"{way}/before")
        yes = KEYS.get(way, "1")
        frame = say(session, last, yes)
        assert (frame.view.name, told(frame)) == (step_of(way), (WRONG, "input.scan_not_accepted"))
        assert told(say(session, yes)) != (WRONG, "input.scan_not_accepted"), "now it was seen"


@pytest.mark.parametrize("code", ["ABC-123", "ae"])
@pytest.mark.parametrize("way", ["store_product.confirm", "log.confirm", "unconfirmed.resend"], indirect=True)
def test_a_scan_that_is_no_answer_is_said_to_be_none(home: StoreFolder, way: str, code: str) -> None:
    with begin(home, way) as session:
        before = stand(home, session, way)
        frame = Scanner(session).send(f"{code}\r", 0.003)
        assert (told(frame), frame.view) == ((WRONG, "input.answer_first"), before)


REVIEWS = ("count.summary", "count.leave", "receive.check", "move.leave")
"""Questions after a page where a quantity was open: a number there corrects it, and answers nothing."""


@pytest.mark.parametrize("number", ["1", "2", "3", "12", "4101", "0", "007"])
@pytest.mark.parametrize("way", REVIEWS, indirect=True)
def test_a_typed_number_is_no_answer_after_a_quantity(home: StoreFolder, way: str, number: str) -> None:
    with begin(home, way) as session:
        before = stand(home, session, way)
        frame = say(session, number)
        assert (told(frame), frame.view) == ((WRONG, "input.choose_letter"), before)
