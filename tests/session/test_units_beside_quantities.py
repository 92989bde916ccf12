"""The unit stands beside every quantity of goods that are measured, in each job, on the page and in what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import Frame, Step
from tests.copied_databases import copied_home
from tests.session.test_asked_quantity import CHEESE, begun, filled, shown
from tests.session.test_session import at, say, told

TEA = "4006381333931"

CHEESE_LABEL = f"010{CHEESE}3103001250"
"""1.25 kg."""


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """A home with goods by the kilogram and by the piece."""
    return copied_home(aisle_home, filled)


def bare(frame: Frame, size: tuple[int, int] = (80, 24)) -> list[str]:
    """Amounts of the cheese on the screen that have no unit beside them; lists of what is next have none."""
    text = re.sub(
        r"(Still to (count|come)|Expected here) .*?(?=Product number|Unit|Price|d Done|OK|NO|\?)",
        "",
        shown(frame, *size),
    )
    text = re.sub(r"\d+\.?\d* of (?=\d+\.?\d* kg)", "", text)  # "1.25 of 60 kg"
    return re.findall(r"\d+\.\d+(?!\d|\.| ?kg)", text)


STEPS: dict[tuple[str, str], tuple[str, ...]] = {
    ("count", "scanned"): (CHEESE_LABEL,),
    ("count", "typed"): (CHEESE_LABEL, "2.5"),
    ("count", "corrected"): (CHEESE_LABEL, "2.5", "3.5"),
    ("count", "undone"): (CHEESE_LABEL, "2.5", "u"),
    ("count", "asked"): (CHEESE_LABEL, "12345.5"),
    ("count", "asked again"): (CHEESE_LABEL, "12345.5", "d"),
    ("count", "not so many"): (CHEESE_LABEL, "12345.5", "u"),
    ("count", "differs"): (CHEESE_LABEL, "2.5", "d", "a", "d"),
    ("count", "sent count undone"): (CHEESE_LABEL, "2.5", "d", "a", "d", "y", "u"),
    ("count", "recount"): (CHEESE_LABEL, "2.5", "d", "a"),
    ("count", "recounted"): (CHEESE_LABEL, "2.5", "d", "a", CHEESE_LABEL),
    ("count", "recount dropped"): (CHEESE_LABEL, "2.5", "d", "a", CHEESE_LABEL, "u"),
    ("count", "recount undone"): (CHEESE_LABEL, "2.5", "d", "a", "3.5", "u"),
    ("adjust", "scanned"): (CHEESE_LABEL,),
    ("adjust", "typed"): (CHEESE_LABEL, "2.5"),
    ("adjust", "asked"): (CHEESE_LABEL, "12345.5"),
    ("adjust", "no such reason"): (CHEESE_LABEL, "2.5", "777"),
    ("adjust", "undone"): (CHEESE_LABEL, CHEESE_LABEL, "u"),
    ("adjust", "too many"): (CHEESE_LABEL, "66.5", "1"),
    ("adjust", "lost"): (CHEESE_LABEL, "2.5", "1"),
    ("adjust", "loss undone"): (CHEESE_LABEL, "2.5", "1", "u"),
    ("move", "scanned"): (CHEESE_LABEL,),
    ("move", "typed"): (CHEESE_LABEL, "2.5"),
    ("move", "asked"): (CHEESE_LABEL, "12345.5"),
    ("move", "too many"): (CHEESE_LABEL, "61.5"),
    ("move", "answer first"): (CHEESE_LABEL, "61.5", "A-2"),
    ("move", "moved"): (CHEESE_LABEL, "A-2"),
    ("move", "cart"): ("c", CHEESE_LABEL, "d", "0.5"),
    ("move", "on the cart"): ("c", CHEESE_LABEL, "d", "0.5", "A-2"),
}


@pytest.mark.every_case
@pytest.mark.parametrize(("job", "name"), STEPS)
def test_measured_goods_have_their_unit(home: StoreFolder, job: str, name: str) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        frame = say(session, *STEPS[job, name][:1])
        for text in STEPS[job, name][1:]:
            frame = say(session, text)
        assert "kg" in shown(frame, 80, 24), shown(frame, 80, 24)
        assert not bare(frame), (bare(frame), told(frame), shown(frame, 80, 24))


@pytest.mark.parametrize("job", ["count", "adjust", "move"])
def test_pieces_have_none(home: StoreFolder, job: str) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        frame = say(session, f"3*{TEA}")
        assert isinstance(frame.view, Step)
        assert "kg" not in shown(frame._replace(view=frame.view._replace(upcoming=())), 80, 24)


@pytest.mark.parametrize("job", ["count", "adjust", "move"])
def test_labels_added_to_the_one_in_question_are_not_said_to_be_ignored(home: StoreFolder, job: str) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        label = f"010{CHEESE}3100012345"
        frame = say(session, label, label)
        assert "24690 kg" in shown(frame, 80, 24)
        assert "ignored" not in shown(frame, 80, 24)
