"""Error messages of failed calls, and which calls are retried."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from aisle.client import Outcome, Response, RetryPolicy, outcome_of
from aisle.client.client import parse_retry_after, wait_before_retry
from aisle.client.responses_and_errors import (
    ClientError,
    Conflict,
    Forbidden,
    InvalidRequest,
    InvalidResponse,
    NotFound,
    NotSent,
    OutcomeUnknown,
    RateLimited,
    ServerError,
    StatusError,
    Unauthorized,
    UnsuccessfulResult,
    status_error,
)
from aisle.errors import AisleError, ContractError
from tests.client.recording_service import Reply, Service, reply


def answer(status: int, body: bytes = b"{}", **headers: str) -> Response:
    return Response(status, {name.replace("_", "-"): value for name, value in headers.items()}, body)


# --- fate ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "kind", "fate"),
    [
        (httpx.InvalidURL("x"), NotSent, Outcome.NOT_SENT),
        (httpx.UnsupportedProtocol("x"), NotSent, Outcome.NOT_SENT),
        (httpx.LocalProtocolError("x"), NotSent, Outcome.NOT_SENT),
        (httpx.ConnectError("x"), NotSent, Outcome.NOT_SENT),
        (httpx.ConnectTimeout("x"), NotSent, Outcome.NOT_SENT),
        (httpx.PoolTimeout("x"), NotSent, Outcome.NOT_SENT),
        (httpx.ProxyError("x"), NotSent, Outcome.NOT_SENT),
        (httpx.ReadTimeout("x"), OutcomeUnknown, Outcome.UNKNOWN),
        (httpx.ReadError("x"), OutcomeUnknown, Outcome.UNKNOWN),
        (httpx.WriteTimeout("x"), OutcomeUnknown, Outcome.UNKNOWN),
        (httpx.WriteError("x"), OutcomeUnknown, Outcome.UNKNOWN),
        (httpx.RemoteProtocolError("x"), OutcomeUnknown, Outcome.UNKNOWN),
        (httpx.CloseError("x"), OutcomeUnknown, Outcome.UNKNOWN),
        (httpx.DecodingError("x"), OutcomeUnknown, Outcome.UNKNOWN),
        (ConnectionResetError("x"), OutcomeUnknown, Outcome.UNKNOWN),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
async def test_a_transport_fault_tells_whether_the_request_left(
    fault: Exception, kind: type[ClientError], fate: Outcome
) -> None:
    service = Service(fault)
    async with service.client() as client:
        with pytest.raises(kind) as caught:
            await client.request("create-movement", path={"store_number": "7"}, body=b"[]")
    assert outcome_of(caught.value) is fate
    assert caught.value.__cause__ is fault
    assert len(service.sent) == 1


STATUSES = {
    Outcome.ACCEPTED: [200, 201, 202, 204],
    Outcome.REFUSED: [400, 403, 404, 405, 406, 409, 410, 412, 413, 415, 422, 423, 428, 431, 451, 501, 505],
    Outcome.RETRY_LATER: [401, 407, 425, 429],
    Outcome.UNKNOWN: [301, 302, 303, 307, 308, 408, 500, 502, 503, 504, 507, 511, 520, 599],
}


@pytest.mark.parametrize(("status", "fate"), [(status, fate) for fate, all_ in STATUSES.items() for status in all_])
def test_a_status_has_one_fate_as_answer_and_error(status: int, fate: Outcome) -> None:
    assert outcome_of(answer(status)) is fate
    if fate is not Outcome.ACCEPTED:
        assert outcome_of(status_error("create-movement", answer(status))) is fate


def test_a_conflict_that_says_when_to_come_back_is_not_refused() -> None:
    assert outcome_of(answer(409, retry_after="1")) is Outcome.RETRY_LATER
    assert outcome_of(status_error("x", answer(409), retry_after=1.0)) is Outcome.RETRY_LATER


@pytest.mark.parametrize("status", STATUSES[Outcome.REFUSED])
@pytest.mark.parametrize("body", [b"<html>not found</html>", b"", b"[]", b'"no"', b"Invalid", b"[" * 100_000])
def test_a_no_without_the_services_words_is_somebody_elses(status: int, body: bytes) -> None:
    assert outcome_of(answer(status, body)) is Outcome.RETRY_LATER
    assert outcome_of(status_error("create-movement", answer(status, body))) is Outcome.RETRY_LATER


@pytest.mark.parametrize(
    ("body", "fate"),
    [
        (b'{"success": true}', Outcome.ACCEPTED),
        (b'{"data": "1"}', Outcome.ACCEPTED),
        (b'{"success": null}', Outcome.ACCEPTED),
        (b"{}", Outcome.ACCEPTED),
        (b"[]", Outcome.UNKNOWN),
        (b"null", Outcome.UNKNOWN),
        (b'"ok"', Outcome.UNKNOWN),
        (b'{"success": "no"}', Outcome.UNKNOWN),
        (b'{"success": 0}', Outcome.UNKNOWN),
        (b'{"success": "true"}', Outcome.UNKNOWN),
        (b'{"success": false}', Outcome.REFUSED),
        (b'{"success": tr', Outcome.UNKNOWN),
        (b"", Outcome.UNKNOWN),
        (b"<html>sign in to the guest network</html>", Outcome.UNKNOWN),
        (b"\xff\xfe", Outcome.UNKNOWN),
        (b"[" * 100_000, Outcome.UNKNOWN),
    ],
)
def test_a_2xx_is_accepted_unless_it_says_no_or_cannot_be_read(body: bytes, fate: Outcome) -> None:
    assert outcome_of(answer(200, body)) is fate


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (
            b"<html><body><h1>503 Service Unavailable</h1>\nNo server.\n</body></html>\n",
            "503 Service Unavailable No server.",
        ),
        (b"<html><style>h1 { color: red }</style><h1 class='x'>502 Bad Gateway</h1><hr", "502 Bad Gateway"),
        (b"busy <1 s", "busy <1 s"),
    ],
)
def test_balancer_error_page_is_shown_as_text(page: bytes, said: str) -> None:
    assert status_error("x", answer(503, page)).message == said


def test_an_empty_204_is_accepted() -> None:
    assert outcome_of(answer(204, b"")) is Outcome.ACCEPTED


def test_the_fate_of_other_errors() -> None:
    assert outcome_of(asyncio.CancelledError()) is Outcome.UNKNOWN
    assert outcome_of(TimeoutError()) is Outcome.UNKNOWN
    assert outcome_of(RuntimeError()) is Outcome.UNKNOWN
    assert outcome_of(InvalidResponse("x")) is Outcome.UNKNOWN
    assert outcome_of(UnsuccessfulResult("x", answer(200))) is Outcome.REFUSED
    assert outcome_of(ContractError("x")) is Outcome.REFUSED


# --- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, InvalidRequest), (401, Unauthorized), (403, Forbidden), (404, NotFound), (408, ServerError),
        (409, Conflict),
        (412, Conflict), (422, InvalidRequest), (429, RateLimited), (500, ServerError), (503, ServerError),
        (302, ServerError),
    ],
)  # fmt: skip
async def test_a_status_becomes_an_error_with_the_services_words(status: int, kind: type[StatusError]) -> None:
    service = Service(reply(status, {"success": False, "message": "line 3 is full"}))
    async with service.client() as client:
        with pytest.raises(kind) as caught:
            await client.call("create-movement", [], store_number="7")
    error = caught.value
    assert type(error) is kind
    assert isinstance(error, AisleError)
    assert (error.status, error.message) == (status, "line 3 is full")
    assert str(error) == f"The service answered create-movement with status {status}: line 3 is full."
    assert len(service.sent) == 1


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"detail": "no such store"}', "no such store"),
        (b'{"title": "Gone"}', "Gone"),
        (b'{"message": 7}', ""),
        (b"[]", ""),
        (b"", ""),
        (b"plain words\n", "plain words"),
        (b"caf\xe9", "caf\ufffd"),
    ],
)
def test_the_services_words_are_found_in_any_body(body: bytes, message: str) -> None:
    assert status_error("x", answer(400, body)).message == message


async def test_an_error_is_printable_and_keeps_the_raw_message() -> None:
    evil = "\x1b]52;c;eA==\x07 gone\u202e\x9b31m\r\nnext"
    service = Service(reply(422, {"message": evil}), reply(200, {"success": False, "message": evil}))
    async with service.client() as client:
        with pytest.raises(InvalidRequest) as refused:
            await client.call("create-stores", {"stores": []})
        with pytest.raises(UnsuccessfulResult) as rejected:
            await client.call("create-stores", {"stores": []})
    for caught in (refused, rejected):
        error = caught.value
        assert isinstance(error, (InvalidRequest, UnsuccessfulResult))
        assert error.message == evil
        assert str(error).isprintable()
        assert "gone" in str(error)


async def test_a_2xx_without_success_is_accepted_and_with_false_rejected() -> None:
    service = Service(reply(200, {"data": "x"}), reply(200, {"success": False, "message": "no"}))
    async with service.client() as client:
        result = await client.call("create-customer-orders-one-store", {"orders": []}, store_number="7")
        assert result == {"data": "x"}
        with pytest.raises(UnsuccessfulResult, match="did not carry out create-customer-orders-one-store: no"):
            await client.call("create-customer-orders-one-store", {"orders": []}, store_number="7")


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"list": 1}', b'{"list": [1]}', b"\xff"])
async def test_a_2xx_that_does_not_fit_is_an_answer_error(body: bytes) -> None:
    async with Service(reply(200, body)).client() as client:
        with pytest.raises(InvalidResponse, match="list-locations") as caught:
            await client.call("list-locations", store_number="7")
    assert isinstance(caught.value, ContractError)
    assert str(caught.value).isprintable()


# --- retries ---------------------------------------------------------------------------------------------------------

PAGE = reply(200, {"list": []})


@pytest.mark.parametrize(
    "fault",
    [
        httpx.ConnectError("x"), httpx.ReadTimeout("x"), httpx.RemoteProtocolError("x"),
        reply(429), reply(408), reply(502), reply(503), reply(504),
    ],
    ids=repr,
)  # fmt: skip
async def test_a_read_is_tried_three_times_with_growing_waits(fault: Reply) -> None:
    service = Service(fault)
    async with service.client() as client:
        with pytest.raises(ClientError):
            await client.call("list-stores")
    assert len(service.sent) == 3
    assert service.slept == [0.25, 0.5]  # half of 0.5 and of 1 second: full jitter with a roll of 0.5


async def test_a_read_that_recovers_is_an_answer() -> None:
    service = Service(httpx.ConnectError("x"), reply(503), PAGE)
    async with service.client() as client:
        assert (await client.call("list-stores"))["list"] == []
    assert len(service.sent) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422, 500, 501])
async def test_a_read_that_cannot_recover_is_tried_once(status: int) -> None:
    service = Service(reply(status))
    async with service.client() as client:
        with pytest.raises(StatusError):
            await client.call("list-stores")
    assert (len(service.sent), service.slept) == (1, [])


@pytest.mark.parametrize("fault", [httpx.ConnectError("x"), httpx.ReadTimeout("x"), reply(429), reply(503)], ids=repr)
async def test_a_write_is_sent_once_whatever_happens(fault: Reply) -> None:
    service = Service(fault)
    async with service.client() as client:
        with pytest.raises(ClientError):
            await client.call("create-movement", [], store_number="7")
        with pytest.raises(ClientError):
            await client.call("delete-products", {"product_numbers": []})
    assert (len(service.sent), service.slept) == (2, [])


async def test_retry_after_is_honoured_in_seconds_and_as_a_date() -> None:
    date = "Tue, 14 Nov 2023 22:13:30 GMT"  # ten seconds after the test's now
    service = Service(reply(429, headers={"Retry-After": "7"}), reply(503, headers={"Retry-After": date}), PAGE)
    async with service.client() as client:
        await client.call("list-stores")
    assert service.slept == [7.25, 10.5]


async def test_a_wait_that_is_too_long_is_left_to_the_caller() -> None:
    service = Service(reply(429, headers={"Retry-After": "3600"}))
    async with service.client() as client:
        with pytest.raises(RateLimited) as caught:
            await client.call("list-stores")
    assert (caught.value.retry_after, len(service.sent), service.slept) == (3600.0, 1, [])


def test_the_decision_is_a_pure_function() -> None:
    policy = RetryPolicy(tries=8)
    fault = NotSent("x")
    waits = [wait_before_retry(fault, tries, 1.0, policy) for tries in range(1, 10)]
    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0, None, None]
    assert wait_before_retry(fault, 1, 0.0, policy) == 0.0
    assert wait_before_retry(InvalidResponse("x"), 1, 0.0, policy) is None
    assert wait_before_retry(UnsuccessfulResult("x", answer(200)), 1, 0.0, policy) is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [(None, None), ("5", 5.0), (" 5 ", 5.0), ("-5", None), ("soon", None), ("", None), ("٥", None),
     ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0)],
)  # fmt: skip
def test_retry_after_is_read_with_care(value: str | None, seconds: float | None) -> None:
    assert parse_retry_after(value, 1_700_000_000.0) == seconds
