"""A role that was changed at the service is so in an open session at its next look, on whatever page it is."""

from __future__ import annotations

from typing import Any

import pytest

from aisle.cache.writer import LinkRow
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import Frame
from aisle.session.session import Session
from tests.cache import service_rows
from tests.session.test_session import BARCODES, _writer, at, home, say

__all__ = ["home"]


def role(home: StoreFolder, role: str) -> None:
    """Somebody made her that, and the courier has heard of it."""
    with _writer(home) as cache:
        cache.write_people([service_rows.person("U1", "Anna Kovac", role=role)])


def ready(home: StoreFolder) -> None:
    """A service that knows people."""
    with _writer(home) as cache:
        cache.set_link(LinkRow(state="live", last_ok=1.0, features="people"))
        cache.write_stores([service_rows.store("0001", "Here"), service_rows.store("0002", "There")])


def words(frame: Frame | None) -> str:
    """Every message of a page, by its name."""
    assert frame is not None
    return repr(frame.view)


def looked(session: Session) -> str:
    """The page after the next look at everything."""
    return words(session.poll())


def clearance(session: Session) -> str:
    for text in ("7", "9"):
        frame = say(session, text)
    choices = [choice.id for choice in frame.view.choices]
    return words(say(session, str(choices.index("clearance.title") + 1)))


def product(session: Session) -> str:
    return words(say(session, f"?{BARCODES[0]}", "e"))


@pytest.mark.parametrize(
    ("opened", "denied"), [(clearance, "clearance.role_denied"), (product, "clearance.role_denied")]
)
def test_a_changed_role_is_so_on_the_page_that_is_open(home: StoreFolder, opened: Any, denied: str) -> None:
    ready(home)
    role(home, "supervisor")
    with at(home) as session:
        say(session, "BADGE-U1")
        assert denied not in opened(session)
        role(home, "staff")
        assert denied in looked(session)
        role(home, "supervisor")
        assert denied not in looked(session)
