"""Badges that differ by their zeros alone: each opens for its own person, and a form of two opens for nobody."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, GOOD
from aisle.session.session import Session
from tests.cache import service_rows
from tests.session.test_session import _writer, at, say, told

PEOPLE = [
    {**service_rows.person("anna", "Anna Kovac"), "badge": "0012345"},
    {**service_rows.person("bert", "Bert Mol"), "badge": "12345"},
    {**service_rows.person("cees", "Cees Vos"), "badge": "000777"},
    {**service_rows.person("dora", "Dora Bos"), "badge": "AB-1"},
]


@pytest.mark.parametrize("turned", [False, True], ids=["first", "last"])
@pytest.mark.parametrize(
    ("badge", "name"),
    [
        ("12345", "Bert Mol"),
        ("0012345", "Anna Kovac"),
        ("00012345", ""),
        ("012345", ""),
        ("000777", "Cees Vos"),
        ("0000777", "Cees Vos"),
        ("ab-1", "Dora Bos"),
        ("AB-1", "Dora Bos"),
        ("anna", "Anna Kovac"),
        ("BERT", "Bert Mol"),
    ],
)
def test_a_badge_opens_for_the_one_who_has_it(badge: str, name: str, turned: bool, aisle_home: Path) -> None:
    home = StoreFolder(aisle_home, "embedded", "0001")
    with at(home) as session:
        with _writer(home) as cache:
            cache.write_people(PEOPLE[::-1] if turned else PEOPLE)
        session.poll(notified=True)
        frame = say(session, badge)
        assert (told(frame) == (GOOD, "sign_in.done")) == bool(name)
        assert frame.user == name


CODE = "4006381333931"
CLASHES = [
    {**service_rows.person("jan", "Jan"), "badge": "S01"},
    {**service_rows.person("kai", "Kai"), "badge": "PL-1"},
    {**service_rows.person("leo", "Leo"), "badge": CODE},
    {**service_rows.person("s02", "Mia"), "badge": "MIA-1"},
    {**service_rows.person("cem", "Cem"), "badge": "CEM-1"},
]


@pytest.fixture
def clashing(aisle_home: Path) -> Iterator[Session]:
    """Return a session of Cem in a store whose badges are also codes of products and locations."""
    home = StoreFolder(aisle_home, "embedded", "0001")
    with at(home) as session:
        with _writer(home) as cache:
            cache.write_people(CLASHES)
            cache.write_products(
                [
                    service_rows.product("S01", "Tea"),
                    service_rows.product("S02", "Ink"),
                    service_rows.product("S03", "Pen", CODE),
                ]
            )
            cache.write_locations([service_rows.location("PL-1", 1)])
        session.poll(notified=True)
        assert say(session, "CEM-1").user == "Cem"
        yield session


@pytest.mark.parametrize(
    ("code", "name", "opens"),
    [
        ("S01", "Jan", "look_up"),
        ("s01", "Jan", "look_up"),
        ("PL-1", "Kai", "locations"),
        (CODE, "Leo", "look_up"),
        (f"0{CODE}", "Leo", "look_up"),
        (f"]E0{CODE}", "Leo", "look_up"),
        ("S02", "Mia", "look_up"),
    ],
)
def test_badge_that_is_also_another_code_is_asked_about(code: str, name: str, opens: str, clashing: Session) -> None:
    frame = say(clashing, code)
    assert told(frame) == (ASK, "session.ambiguous")
    assert frame.user == "Cem"
    assert say(clashing, "2").user == "Cem"
    assert clashing.page.top.job.name == opens
    say(clashing, "0", code)
    assert say(clashing, "1").user == name


@pytest.mark.parametrize("code", ["?S01", "? PL-1", f"?{CODE}"])
def test_look_up_of_a_code_that_is_also_a_badge_signs_nobody_in(code: str, clashing: Session) -> None:
    assert say(clashing, code).user == "Cem"
    assert clashing.page.top.job.name in ("look_up", "locations")
