"""Badges that differ by their zeros alone: each opens for its own person, and a form of two opens for nobody."""

from pathlib import Path

import pytest

from aisle.host.store_folder import StoreFolder
from aisle.jobs.view import GOOD
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
