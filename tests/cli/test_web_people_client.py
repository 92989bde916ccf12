"""Who may sign in from a browser: whom a name means, a client for each question, and answers in other shapes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from aisle.cli.web import PeopleClient, StorePerson, identify_person
from aisle.client import Client
from aisle.settings.load_settings import load_settings
from aisle.settings.settings_files_and_folders import LoadedSettings
from aisle.web.app import SignInError
from aisle.web.sign_ins import Person
from tests.client.recording_service import Reply, Service, reply

PEOPLE = [
    {"badge": "B1", "user": "U1", "name": "Anna Berg", "role": "staff"},
    {"badge": "B2", "user": "U2", "name": "Anna Cole", "role": "supervisor"},
    {"badge": "B3", "user": "fred", "name": "Fred Harper", "role": "admin"},
    {"badge": "B4", "user": "U4", "name": "Fred", "role": "supervisor"},
]
SUPERVISORS = frozenset({"U2", "fred", "U4"})
OWN = {"Aisle-Features": "idempotency, people"}
FRED = {"user": "fred", "name": "Fred Harper", "role": "admin", "token": "t1"}


def listed(*people: Any) -> Reply:
    return reply(200, {"people": people}, OWN)


class Desk:
    """People as they ask a service, and how often a client was opened, closed, and on which thread."""

    def __init__(self, loaded: LoadedSettings, *replies: Reply) -> None:
        self.service = Service(*replies)
        self.opened: list[int] = []
        self.closed = 0
        self.people = PeopleClient(loaded, self._opens)

    @asynccontextmanager
    async def _opens(self) -> AsyncIterator[Client]:
        self.opened.append(threading.get_ident())
        async with self.service.client() as client:
            try:
                yield client
            finally:
                self.closed += 1

    def says(self, *replies: Reply) -> None:
        self.service.replies[:] = replies


@pytest.fixture
def desk(aisle_home: Path) -> Iterator[Desk]:
    opened = Desk(load_settings({}, {"AISLE_HOME": str(aisle_home)}), listed(*PEOPLE))
    yield opened
    assert opened.closed == len(opened.opened)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("b2", {"badge": "B2"}),
        ("u1", {"badge": "B1"}),
        ("FRED", {"badge": "B3"}),  # a user name beats what others are called
        ("anna cole", {"badge": "B2"}),
        ("anna", {"user": "anna"}),  # two are called so
        ("nobody", {"user": "nobody"}),
        ("", {"user": "?"}),
    ],
)
def test_a_badge_a_user_name_or_a_name_is_one_person(typed: str, meant: dict[str, str]) -> None:
    assert identify_person([StorePerson(**each) for each in PEOPLE], typed) == meant


async def test_each_question_has_a_client_off_the_event_loop(desk: Desk) -> None:
    for _ in range(3):
        assert await desk.people.supervisors() == SUPERVISORS
    desk.says(listed(*PEOPLE), reply(200, FRED), listed(*PEOPLE))
    person = await desk.people.check_pin("fred", "2468")
    assert isinstance(person, Person)
    assert (person.user, person.name, person.token) == ("fred", "Fred Harper", FRED["token"])
    assert len(desk.service.sent) == 5, "one read a round"
    assert len(desk.opened) == 4
    assert threading.get_ident() not in desk.opened


@pytest.mark.parametrize(
    ("answer", "has_demo"),
    [
        (reply(200, {"people": []}, {"Aisle-Features": "people, demo-store"}), True),
        (listed(*PEOPLE), False),
        (reply(404, {}), False),
        (reply(200, b"", {}), False),
    ],
)
async def test_a_service_with_the_demo_store_is_known(desk: Desk, answer: Reply, has_demo: bool) -> None:
    desk.says(answer)
    assert await desk.people.has_demo_store() is has_demo


async def test_after_what_went_wrong_the_next_client_is_a_new_one(desk: Desk) -> None:
    desk.says(reply(401, {}, OWN), listed(*PEOPLE))
    assert await desk.people.supervisors() is None
    both = tuple(await asyncio.gather(desk.people.supervisors(), desk.people.supervisors()))
    assert both == (SUPERVISORS, SUPERVISORS)
    assert (len(desk.opened), desk.closed) == (3, 3)


@pytest.mark.parametrize("person", [{}, {"role": 7}, {"user": "x"}, "x", None])
async def test_people_in_another_shape_end_nobody(desk: Desk, person: Any) -> None:
    row = {**PEOPLE[0], **person, "badge": None} if isinstance(person, dict) else person
    desk.says(listed(*PEOPLE[1:], row))
    assert await desk.people.supervisors() is None


async def test_sessions_end_without_people_but_not_at_a_service_that_keeps_none(desk: Desk) -> None:
    for said, found in ((listed(), frozenset()), (reply(404, {}), None), (reply(200, []), None)):
        desk.says(said)
        assert await desk.people.supervisors() == found
    desk.says(reply(404, {}))
    assert await desk.people.check_pin("fred", "2468") == SignInError("web.no_people")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (reply(403, {}), SignInError("web.wrong", wrong=True)),
        (reply(422, {}), SignInError("web.wrong", wrong=True)),
        (reply(429, {}), SignInError("web.too_many_attempts", retry_after=1)),
        (reply(200, {**FRED, "role": "staff"}), SignInError("web.role_denied", wrong=True)),
        (reply(200, {"name": "Fred"}), SignInError("web.no_answer")),
        (reply(200, [FRED]), SignInError("web.no_answer")),
        (reply(200, b"<html>"), SignInError("web.no_answer")),
        (reply(502, b"<html>"), SignInError("web.no_answer")),
    ],
)
async def test_result_of_each_sign_in_answer(desk: Desk, answer: Reply, told: SignInError) -> None:
    desk.says(listed(*PEOPLE), answer)
    assert await desk.people.check_pin("fred", "2468") == told
