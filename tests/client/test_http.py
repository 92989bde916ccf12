"""The connection: headers, secrets, and failures of real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from aisle.client import Client, Response
from aisle.client.responses_and_errors import NotSent, OutcomeUnknown, ServerError
from aisle.client.transport import SMALL_RESPONSE_BYTES, Timeouts, asgi_transport
from aisle.errors import SettingsError
from tests.client.recording_service import Service, reply

# --- raw requests ----------------------------------------------------------------------------------------------------


async def test_raw_request_sends_exact_bytes_and_returns_any_response() -> None:
    frozen = b'[ {"quantity": 1.50 ,"x":"\xc3\xa9"} ]'
    service = Service(reply(422, b'{"success":false}', {"X-Request-Id": "r1"}))
    async with service.client() as client:
        answer = await client.request(
            "create-movement",
            path={"store_number": "A/1"},
            query={"AppUserName": "U"},
            headers={"Idempotency-Key": '"K1"', "Aisle-Occurred-At": "2026-01-31T10:00:00Z"},
            body=frozen,
            token="of-a-person",
        )
    [sent] = service.sent
    assert sent.target == "/api/v2/public/stores/A%2F1/storeproductlocation/movement?AppUserName=U"
    assert sent.body == frozen
    assert sent.headers["idempotency-key"] == '"K1"'
    assert sent.headers["authorization"] == "Bearer of-a-person"
    assert (answer.status, answer.content, answer.headers["x-request-id"]) == (422, b'{"success":false}', "r1")


async def test_a_raw_read_is_not_tried_again() -> None:
    service = Service(reply(503))
    async with service.client() as client:
        assert (await client.request("list-stores")).status == 503
    assert len(service.sent) == 1


async def test_an_extension_goes_below_its_own_path() -> None:
    service = Service(reply(200, {"ok": True}))
    async with service.client() as client:
        answer = await client.request_extension(
            "POST", "/aisle/v1/stores/7/claims", query={"on": True}, body={"order": "Ö"}
        )
        await client.request_extension("PUT", "/aisle/v1/x", body=b"as it is", token="t2")
    assert answer.json() == {"ok": True}
    assert [(sent.method, sent.target, sent.body) for sent in service.sent] == [
        ("POST", "/aisle/v1/stores/7/claims?on=true", '{"order":"Ö"}'.encode()),
        ("PUT", "/aisle/v1/x", b"as it is"),
    ]
    assert service.sent[1].headers["authorization"] == "Bearer t2"


async def test_every_answer_is_shown_to_the_observer() -> None:
    seen: list[Response] = []
    service = Service(reply(503), reply(200, {"list": []}, {"Aisle-Features": "idempotency=30d"}))
    async with service.client(on_response=seen.append) as client:
        await client.call("list-stores")
    assert [answer.status for answer in seen] == [503, 200]
    assert seen[1].headers["aisle-features"] == "idempotency=30d"


# --- token and address -----------------------------------------------------------------------------------------------


async def test_token_follows_template_and_is_requested_each_time() -> None:
    tokens = iter(["one", "two"])
    service = Service(reply(200, {"list": []}))
    async with service.client(lambda: next(tokens), token_header="Key {token}!") as client:
        await client.call("list-stores")
        await client.call("list-stores")
    assert [sent.headers["authorization"] for sent in service.sent] == ["Key one!", "Key two!"]


async def test_without_a_token_there_is_no_header() -> None:
    service = Service(reply(200, {"list": []}))
    async with service.client("") as client:
        await client.call("list-stores")
    assert "authorization" not in service.sent[0].headers


async def test_a_token_that_cannot_be_sent_is_not_told() -> None:
    async with Service(reply()).client("geheim\r\nX: 1") as client:
        with pytest.raises(SettingsError) as caught:
            await client.call("list-stores")
    assert "geheim" not in str(caught.value)


async def test_the_token_and_what_people_search_appear_in_no_repr_and_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with Service(httpx.ReadTimeout("x")).client() as client:
        with pytest.raises(OutcomeUnknown) as caught:
            await client.call("list-stores", search_text="canary")
        told = repr(client) + repr(vars(client)["_sender"]) + str(caught.value) + caplog.text
    assert "secret-token" not in told
    assert "canary" not in told


@pytest.mark.parametrize(
    "base_url",
    [
        "http://127.0.0.1:8",
        "http://[::1]:8",
        "http://localhost",
        "http://aisle.localhost/x/",
        "https://shop.example/pre",
    ],
)
def test_addresses_that_keep_the_token_safe(base_url: str) -> None:
    assert base_url.rstrip("/") in repr(Client(base_url, "t"))


@pytest.mark.parametrize(
    "base_url",
    [
        "http://shop.example", "http://10.0.0.1", "ftp://shop.example", "shop.example", "", "https://", "https://u:p@shop.example",
        "https://shop.example/?a=1", "https://shop.example/#a", "http://127.0.0.1.shop.example", "http://[::1",
    ],
)  # fmt: skip
def test_addresses_that_are_refused(base_url: str) -> None:
    with pytest.raises(SettingsError, match="base_url"):
        Client(base_url, "t")


def test_plain_http_can_be_allowed_and_a_template_needs_its_token() -> None:
    assert Client("http://shop.example", "t", allow_plain_http=True)
    with pytest.raises(SettingsError, match="token_header"):
        Client("https://shop.example", "t", token_header="Bearer")


async def test_a_prefix_of_the_address_stays() -> None:
    service = Service(reply(200, {"list": []}))
    client = Client("http://127.0.0.1:1/shop/", "t", transport=service.client()._sender.transport)
    await client.call("list-stores")
    assert service.sent[0].target == "/shop/api/v2/public/stores"


async def test_certificates_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    missing = tmp_path / "ca.pem"
    async with Client("https://127.0.0.1:1", "t", ca_file=str(missing)) as client:
        with pytest.raises(SettingsError, match=r"ca\.pem"):
            await client.request("list-stores")


async def test_redirects_are_not_followed() -> None:
    service = Service(reply(302, headers={"Location": "http://127.0.0.1:1/elsewhere"}))
    async with service.client() as client:
        with pytest.raises(ServerError):
            await client.call("create-stores", {"stores": []})
    assert len(service.sent) == 1


async def test_reads_and_writes_have_connections_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[dict[str, Any]] = []
    sent: list[tuple[int, httpx.Request]] = []

    class Recorder(httpx.AsyncHTTPTransport):
        def __init__(self, **options: Any) -> None:
            self.number = len(made)
            made.append(options)
            super().__init__(**options)

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            sent.append((self.number, request))
            return reply(200, {"list": []})

    monkeypatch.setattr(httpx, "AsyncHTTPTransport", Recorder)
    async with Client("http://127.0.0.1:1", "t") as client:
        await client.call("list-stores")
        await client.call("create-stores", {"stores": []})
        await client.call("list-stores")
    reads, writes = made
    assert reads["limits"].keepalive_expiry == 30.0
    assert writes["limits"].keepalive_expiry <= 2.0
    assert [options["trust_env"] for options in made] == [False, False]
    assert [(lane, request.method) for lane, request in sent] == [(0, "GET"), (1, "POST"), (0, "GET")]
    for _, request in sent:
        assert request.extensions["timeout"] == {"connect": 3.0, "read": 10.0, "write": 10.0, "pool": 2.0}


async def test_cookies_of_service_are_not_kept() -> None:
    service = Service(reply(200, {"list": []}, {"Set-Cookie": "session=s3; Path=/"}))
    async with service.client() as client:
        await client.call("list-stores")
        await client.call("list-stores")
    assert ["cookie" in sent.headers for sent in service.sent] == [False, False]


async def test_response_is_decompressed_and_headers_are_kept() -> None:
    packed = gzip.compress(b'{"list":[]}')
    seen: list[Response] = []
    pairs = [(b"Content-Encoding", b"gzip"), (b"X-Name", "Zoë".encode()), (b"X-Part", b"1"), (b"x-part", b"2")]
    answer = httpx.Response(200, content=packed, headers=pairs)

    async def handle(request: httpx.Request) -> httpx.Response:
        assert "gzip" in request.headers["accept-encoding"]
        return answer

    async with Client(
        "http://127.0.0.1:1", "t", transport=httpx.MockTransport(handle), on_response=seen.append
    ) as client:
        assert (await client.request("list-stores")).json() == {"list": []}
    assert (seen[0].headers["x-name"], seen[0].headers["x-part"]) == ("Zoë", "1, 2")


@pytest.mark.parametrize(
    "content", [b"", b"nul", b"\xff{}", b"{\xff}", b'{"a": NaN}', b"[Infinity]", b"{", b'{"a":1}x']
)
def test_invalid_json_is_a_value_error(content: bytes) -> None:
    answer = Response(200, {}, content)
    with pytest.raises(ValueError):  # noqa: PT011 - of which kind is json's own business
        answer.json()
    assert not answer.is_json_object


@pytest.mark.parametrize("how", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_json_may_be_written_in_any_unicode(how: str) -> None:
    assert Response(200, {}, ' {"é": [1.5, "😀"]}'.encode(how)).json() == {"é": [1.5, "😀"]}
    assert Response(200, {}, '{"é": [1.5, "😀"]}'.encode(how)).json() == {"é": [1.5, "😀"]}


# --- in this process -------------------------------------------------------------------------------------------------


async def test_an_app_in_this_process_sees_the_raw_path_and_its_crash_is_a_500() -> None:
    seen: list[tuple[bytes, bytes, bytes]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append((scope["raw_path"], scope["query_string"], (await receive())["body"]))
        if len(seen) > 1:
            raise RuntimeError("boom")
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b'{"success":true}'})

    async with Client("http://127.0.0.1", "t", transport=asgi_transport(app)) as client:
        result = await client.call("create-movement", [{"quantity": 1}], store_number="A/12 #%é", AppUserName="a b")
        assert result == {"success": True}
        with pytest.raises(ServerError):
            await client.call("create-movement", [], store_number="7")
    path = b"/api/v2/public/stores/A%2F12%20%23%25%C3%A9/storeproductlocation/movement"
    assert seen[0] == (path, b"AppUserName=a%20b", b'[{"quantity":1}]')


# --- real sockets ----------------------------------------------------------------------------------------------------

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextlib.asynccontextmanager
async def listening(handler: Handler) -> AsyncIterator[str]:
    """A server on a real socket; when the block ends, so have all its connections."""
    serving: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await reader.readuntil(b"\r\n\r\n")
            await handler(reader, writer)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.create_task(serve(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    async with server:
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            for task in serving:
                task.cancel()
            await asyncio.gather(*serving, return_exceptions=True)


ONCE = Timeouts(total=5.0)


async def test_nobody_listening_means_not_sent() -> None:
    async with listening(lambda reader, writer: asyncio.sleep(0)) as base_url:
        pass
    async with Client(base_url, "t", timeouts=ONCE) as client:
        with pytest.raises(NotSent, match=base_url):
            await client.call("create-stores", {"stores": []})


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n",
        b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"success":tr',
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope",
        b"not HTTP at all\r\n\r\n",
    ],
)
async def test_an_answer_that_breaks_off_is_ambiguous(answer: bytes) -> None:
    async def cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await writer.drain()

    async with listening(cut) as base_url, Client(base_url, "t", timeouts=ONCE) as client:
        with pytest.raises(OutcomeUnknown):
            await client.call("create-stores", {"stores": []})


async def test_an_answer_that_drips_for_ever_ends_by_the_total_time() -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.005)

    async with listening(drip) as base_url, Client(base_url, "t", timeouts=Timeouts(total=0.1)) as client:
        with pytest.raises(OutcomeUnknown, match="did not end in"):
            await client.call("create-stores", {"stores": []})


async def test_wait_for_another_long_answer_is_not_the_time_of_this_one() -> None:
    rows = b'{"list":[' + b" " * SMALL_RESPONSE_BYTES + b"]}"
    began = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(rows) + rows)
        began.set()
        await writer.drain()

    timeouts = Timeouts(total=0.5)
    async with listening(serve) as base_url, Client(base_url, "t", timeouts=timeouts) as client:
        async with client._sender._large:
            call = asyncio.create_task(client.call("list-stores"))
            await began.wait()
            await asyncio.wait([call], timeout=2 * timeouts.total)
        assert (await call) == {"list": []}


async def test_a_cancelled_call_stays_cancelled_and_the_client_stays_usable() -> None:
    arrived = asyncio.Event()
    calls = 0

    async def slow_then_fine(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal calls
        calls += 1
        arrived.set()
        if calls == 1:
            await reader.read()  # until the client hangs up
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"list":[]}')
        await writer.drain()

    async with listening(slow_then_fine) as base_url, Client(base_url, "t", timeouts=ONCE) as client:
        call = asyncio.create_task(client.call("list-stores"))
        await arrived.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await client.call("list-stores"))["list"] == []


async def test_many_reads_at_once_wait_their_turn() -> None:
    most = now = 0

    async def count(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal most, now
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.001)
        now -= 1
        writer.write(b'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 11\r\n\r\n{"list":[]}')
        await writer.drain()

    async with listening(count) as base_url, Client(base_url, "t", timeouts=ONCE) as client:
        pages = await asyncio.gather(*(client.call("list-stores") for _ in range(60)))
    assert len(pages) == 60
    assert most <= 8
