"""Who works here no more is signed out within a look; where only known people work, nobody else signs in."""

from __future__ import annotations

from aisle.cache.writer import CacheWriter
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import WRONG
from aisle.session.session import Session
from tests.cache import service_rows
from tests.session.test_session import _writer, at, home, say, told

__all__ = ["home"]


def remove(cache: CacheWriter, *left: str) -> None:
    """The store's people are these."""
    cache.write_people([{**service_rows.person(user, user), "badge": f"BADGE-{user}"} for user in left])


def look(session: Session) -> tuple[str, str, tuple[str, str]]:
    """Who is signed in after the next look, on which page, and what is said."""
    frame = session.poll()
    assert frame is not None
    return frame.user, frame.view.name, told(frame)


def test_who_is_removed_is_signed_out_and_the_work_is_kept(home: StoreFolder) -> None:
    with at(home) as session:
        say(session, "BADGE-U1", "4101")
        assert look(session)[0] == "Anna Kovac"
        with _writer(home) as cache:
            remove(cache)
        assert look(session)[0] == "Anna Kovac", "no list of people says nothing of anybody"
        with _writer(home) as cache:
            remove(cache, "U2")
        assert look(session) == ("", "sign_in", (WRONG, "session.no_longer_works_here"))
        with _writer(home) as cache:
            remove(cache, "U1", "U2")
        assert say(session, "BADGE-U1").view.name.startswith("pick."), "the work is where it was left"


def test_who_is_renamed_goes_on_under_the_new_name(home: StoreFolder) -> None:
    with at(home) as session:
        say(session, "BADGE-U1", "4101")
        with _writer(home) as cache:
            cache.write_people([{**service_rows.person("U1", "Anna Brandt"), "badge": "BADGE-U1"}])
        user, page, _ = look(session)
        assert (user, page.startswith("pick.")) == ("Anna Brandt", True)


def test_who_goes_on_under_a_name_of_his_own_stays(home: StoreFolder) -> None:
    with at(home) as session:
        say(session, "zzz", "1")
        assert look(session)[0] == "zzz"


def test_only_known_people_sign_in_where_that_is_set(home: StoreFolder) -> None:
    with at(home, known_people_only=True) as session:
        frame = say(session, "zzz")
        assert (told(frame), frame.view.choices) == ((WRONG, "sign_in.only_known"), ())
        assert say(session, "1").user == ""
        assert say(session, "BADGE-U1").user == "Anna Kovac"
    with at(home, user="zzz", known_people_only=True) as session:
        assert look(session) == ("", "sign_in", (WRONG, "session.no_longer_works_here"))
