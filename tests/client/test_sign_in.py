"""Sign-in by PIN: the result of each answer."""

from __future__ import annotations

from typing import Any

import pytest

from aisle.client.responses_and_errors import InvalidResponse, ServerError, Unauthorized
from aisle.client.sign_in_and_token_file import DEFAULT_TOKEN_S, NotSignedIn, SignedIn, sign_in
from tests.client.recording_service import Service, reply

FRED = {"user": "fred", "name": "Fred Harper", "role": "supervisor", "token": "t1", "store_number": "0001"}


async def signed(status: int, body: Any) -> SignedIn | NotSignedIn:
    async with Service(reply(status, body)).client() as client:
        return await sign_in(client, "0001", {"user": "fred"}, "2468")


async def test_an_answer_says_who_that_is_or_why_nobody_knows() -> None:
    assert await signed(200, FRED) == SignedIn("fred", "Fred Harper", "supervisor", "t1")
    assert await signed(403, {"message": "PIN is wrong."}) == NotSignedIn(False, "PIN is wrong.")
    assert await signed(422, {}) == NotSignedIn(False, "")
    assert await signed(429, {"message": "Wait."}) == NotSignedIn(True, "Wait.")


@pytest.mark.parametrize(
    ("expires_on", "seconds"),
    [
        ("2026-11-20T10:15:00Z", 900.0),
        ("2026-11-20T09:00:00Z", 0.0),
        (None, DEFAULT_TOKEN_S),
        ("soon", DEFAULT_TOKEN_S),
        (7, DEFAULT_TOKEN_S),
        ("2026-11-20T10:15:00", DEFAULT_TOKEN_S),
    ],
)
async def test_token_lifetime_uses_service_clock(expires_on: Any, seconds: float) -> None:
    there = reply(200, {**FRED, "expires_on": expires_on}, {"date": "Fri, 20 Nov 2026 10:00:00 GMT"})
    async with Service(there).client() as client:
        person = await sign_in(client, "0001", {"user": "fred"}, "2468")
    assert isinstance(person, SignedIn)
    assert person.seconds == seconds


async def test_date_beyond_all_years_gives_the_usual_lifetime() -> None:
    there = reply(200, {**FRED, "expires_on": "2026-11-20T10:15:00Z"}, {"date": f"Fri, 20 Nov {'9' * 20} 10:00:00 GMT"})
    async with Service(there).client() as client:
        person = await sign_in(client, "0001", {"user": "fred"}, "2468")
    assert isinstance(person, SignedIn)
    assert person.seconds == DEFAULT_TOKEN_S


@pytest.mark.parametrize("token", ["freds\u00e9", "fr\ned", "\ud800", "x" * 4001])
async def test_token_that_fits_in_no_header_is_an_error(token: str) -> None:
    with pytest.raises(InvalidResponse, match="fits in no header"):
        await signed(200, {**FRED, "token": token})


@pytest.mark.parametrize(("role", "may"), [("staff", False), ("supervisor", True), ("admin", True)])
async def test_who_is_a_supervisor(role: str, may: bool) -> None:
    person = await signed(200, {**FRED, "role": role})
    assert isinstance(person, SignedIn)
    assert person.is_supervisor is may


@pytest.mark.parametrize("name", ["user", "name", "role", "token"])
@pytest.mark.parametrize("value", [None, 7, "", ["supervisor"]])
async def test_an_answer_in_another_shape_is_an_error_of_the_client(name: str, value: Any) -> None:
    with pytest.raises(InvalidResponse):
        await signed(200, {**FRED, name: value})


async def test_unusable_sign_in_answer_raises() -> None:
    for body in (b"<html>", b"[]", b"null", b"NaN", b"[" * 100_000):
        with pytest.raises(InvalidResponse):
            await signed(200, body)
    with pytest.raises(Unauthorized):
        await signed(401, {})
    with pytest.raises(ServerError):
        await signed(502, b"<html>")
