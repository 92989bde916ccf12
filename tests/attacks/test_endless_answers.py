"""A service that answers without end: no client reads it to its end, no walk goes on for ever."""

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from tracemalloc import get_traced_memory, start, stop
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

from aisle.cli import api
from aisle.client import Client, responses_and_errors
from aisle.client.responses_and_errors import (
    MAX_INT64,
    Forbidden,
    InvalidResponse,
    OutcomeUnknown,
    PagingLoop,
    Response,
    ResponseTooLong,
    ResponseTooSlow,
    TooMuchMemory,
    check_memory,
    to_int64,
)
from aisle.client.transport import MAX_REFUSAL_BYTES, MAX_RESPONSE_BYTES, SMALL_RESPONSE_BYTES, Timeouts
from aisle.courier.link_state import reason_of
from aisle.courier.pull.change_feed import MAX_PAGES
from aisle.courier.pull.full_sync import LeftOutRows, _advance_position
from aisle.courier.pull.full_sync_stages_and_progress import StagePosition
from aisle.courier.push.outgoing_request import EntryReference
from aisle.courier.push.read_arrival_evidence import MAX_LOG_PAGES, Lookup
from aisle.outbox.operation_record import NO_STORE
from tests.client.recording_service import Service, reply
from tests.courier.test_request_counts import Service as Changing
from tests.run_length import tries

PART = tries(4, 1)
"""The default run tries a part of some limits, with answers as many times smaller."""
PIECE = b" " * (1 << 20)
Reply = Callable[[asyncio.StreamWriter], Any]


def bomb(kind: str) -> bytes:
    """A small body that becomes many times what is read."""
    deep = zlib.compressobj(1, zlib.DEFLATED, {"gzip": 31, "deflate": 15, "bare": -15}[kind])
    return b"".join(deep.compress(PIECE) for _ in range(96)) + deep.flush()


@asynccontextmanager
async def lying(head: bytes, body: bytes = b"", *, endless: bool = False) -> AsyncIterator[str]:
    """The address of a service that answers each request with this."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + head + b"\r\n" + body)
            while endless:
                writer.write(b"%x\r\n%s\r\n" % (len(PIECE), PIECE))
                await writer.drain()
            await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@asynccontextmanager
async def memory(most: int) -> AsyncIterator[None]:
    """Whatever is done here takes no more than so many bytes."""
    start()
    try:
        yield
        assert get_traced_memory()[1] < most
    finally:
        stop()


async def test_an_answer_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    mib = 32 // PART
    monkeypatch.setattr("aisle.client.transport.MAX_RESPONSE_BYTES", mib << 20)
    head = b"Transfer-Encoding: chunked\r\n"
    async with lying(head, endless=True) as url, Client(url, "t") as client, memory(3 * mib << 20):
        with pytest.raises(ResponseTooLong, match=f"longer than {mib} MiB"):
            await client.call("list-stores")
        with pytest.raises(OutcomeUnknown, match=f"longer than {mib} MiB"):
            await client.request("create-movement", path={"store_number": "1"}, body=b"[]")


async def test_an_answer_that_says_that_it_is_too_long_is_not_begun() -> None:
    async with lying(b"Content-Length: 1073741824\r\n") as url, Client(url, "t") as client:
        for limit in (64 << 20, 4 << 20):  # The first request imports modules.
            async with memory(limit):
                with pytest.raises(ResponseTooLong, match="32 MiB"):
                    await client.call("list-stores")


@pytest.mark.parametrize("kind", ["gzip", *(pytest.param(one, marks=pytest.mark.full) for one in ("deflate", "bare"))])
async def test_a_bomb_is_not_inflated(kind: str) -> None:
    body = bomb(kind)
    coding = b"gzip" if kind == "gzip" else b"deflate"
    head = b"Content-Encoding: %s\r\nContent-Length: %d\r\n" % (coding, len(body))
    async with lying(head, body) as url, Client(url, "t") as client, memory(3 * MAX_RESPONSE_BYTES):
        with pytest.raises(ResponseTooLong, match="32 MiB"):
            await client.call("list-stores")


@pytest.mark.parametrize("kind", ["gzip", "deflate", "bare"])
async def test_compressed_answer_is_read_whole(kind: str) -> None:
    said = b'{"list": [%s]}' % b",".join(b'{"storeNo": "%d"}' % n for n in range(50_000))
    deep = zlib.compressobj(9, zlib.DEFLATED, {"gzip": 31, "deflate": 15, "bare": -15}[kind])
    body = deep.compress(said) + deep.flush()
    coding = b"gzip" if kind == "gzip" else b"deflate"
    head = b"Content-Encoding: %s\r\nContent-Length: %d\r\n" % (coding, len(body))
    async with lying(head, body) as url, Client(url, "t") as client:
        assert (await client.request("list-stores")).content == said


@pytest.mark.parametrize("status", [301, 403, 404, 500])
async def test_of_a_refusal_the_start_is_read(status: int) -> None:
    long = httpx.Response(status, content=b"<p>no</p>" + b"x" * (31 << 20))
    async with Client("http://127.0.0.1:1", "t", transport=httpx.MockTransport(lambda _: long)) as client:
        assert len((await client.request("list-stores")).content) == MAX_REFUSAL_BYTES


async def test_of_a_refusal_without_end_the_start_is_read() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 99999999999\r\n\r\n" + b"x" * (1 << 20))
        with suppress(ConnectionError):
            await writer.drain()
            await reader.read()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with Client(url, "t") as client:
            for write in (False, True):
                response = await client.request(
                    "create-stores" if write else "list-stores", body=b"{}" if write else None
                )
                assert (response.status, len(response.content)) == (403, MAX_REFUSAL_BYTES)


async def test_corrupt_compressed_answer_is_refused() -> None:
    body = gzip.compress(b"{}")[:-12] + b"\xff" * 40
    head = b"Content-Encoding: gzip\r\nContent-Length: %d\r\n" % len(body)
    async with lying(head, body) as url, Client(url, "t") as client:
        with pytest.raises(OutcomeUnknown, match="decompressed"):
            await client.request("list-stores")


async def test_pages_that_repeat_come_to_an_end() -> None:
    one, other = ({"list": [{"id": number}], "next_page": 0} for number in (1, 2))
    replies = [reply(200, {**(one, other)[number % 2], "next_page": number + 2}) for number in range(50)]
    service = Service(*replies)
    async with service.client() as client:
        with pytest.raises(PagingLoop):
            [rows async for rows, _ in client.pages("list-deliveries")]
    assert len(service.sent) == 3


async def test_a_page_that_is_too_long_is_read_in_smaller_ones() -> None:
    long = reply(200, b" " * (MAX_RESPONSE_BYTES + 1))
    pages = [
        reply(200, {"list": [{"id": n}], "next_page": n + 1 if n < 3 else None, "page_size": 1}) for n in (1, 2, 3)
    ]
    service = Service(long, *pages)
    async with service.client() as client:
        found = [row["id"] async for rows, _ in client.pages("list-deliveries", query={"page_size": 2}) for row in rows]
    assert found == [1, 2, 3]
    assert [sent.target.partition("?")[2] for sent in service.sent] == [
        "page_size=2&page_start=1", "page_size=1&page_start=1", "page_size=1&page_start=2", "page_size=2&page_start=2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "value", ["[]", "0", *(pytest.param(one, marks=pytest.mark.full) for one in ("{}", '{"a":1}', "1.5", '"aa"'))]
)
async def test_an_answer_of_many_small_values_is_not_parsed(value: str) -> None:
    body = f'{{"list":[{",".join([value] * 1_000_001)}]}}'.encode()
    with pytest.raises(ValueError, match="MiB of memory"):
        Response(200, {}, body).json()
    service = Service(reply(200, body), reply(200, body))
    async with service.client() as client:
        with pytest.raises(ResponseTooLong, match="memory"):
            await client.first_page("list-stores")
        with pytest.raises(ResponseTooLong, match="memory"):
            await client.call("list-stores")


@pytest.mark.parametrize(("depth", "count", "most_mib"), [(0, 4 << 20, 140), (200, 200_000 // PART, 140 // PART)])
async def test_no_other_reader_takes_more_memory_for_such_an_answer(
    depth: int, count: int, most_mib: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "_MOST_INDENTED", api._MOST_INDENTED // PART)
    values = ",".join(["[]"] * count)
    body = f'{{"nearest":{"[" * depth}[{values}]{"]" * depth}}}'.encode()
    async with memory(most_mib << 20):
        api._print_json(Response(403, {}, body))
        reason = reason_of(Forbidden("list-stores", Response(403, {}, body)))
    out = capsys.readouterr().out
    assert out.rstrip() == body.decode().replace('":', '": ').replace(",", ", ") if depth else len(out) < 1000
    assert NO_STORE not in reason


@pytest.mark.parametrize(
    ("wide", "size"),
    [
        pytest.param("\U0001f600", 9 << 20, id="plain", marks=pytest.mark.full),
        pytest.param("\\ud83d\\ude00", 14 << 20, id="escaped"),
    ],
)
async def test_one_wide_character_in_each_text_makes_no_answer_four_times_as_large(
    wide: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    mib = 64 // PART
    monkeypatch.setattr(responses_and_errors, "MAX_JSON_MEMORY", mib << 20)
    row = f'{{"order_number":"1","reference":"{wide}{"a" * 4000}"}}'
    body = f'{{"list":[{",".join([row] * (size // PART // len(row)))}]}}'.encode()
    async with memory(2 * len(body)):
        with pytest.raises(ValueError, match=f"{mib} MiB of memory"):
            Response(200, {}, body).json()
    short = reply(200, {"list": [{"id": 1}], "next_page": None})
    service = Service(reply(200, body), short, short)
    async with service.client() as client:
        pages = client.pages("list-deliveries", query={"page_size": 2})
        assert [len(rows) async for rows, _ in pages] == [1]
    assert len(service.sent) == 2, "it is read in smaller pages"


@pytest.mark.parametrize("fields", ['"%x":%d', '"o%x":{"%x":%d}'])
def test_an_answer_of_many_names_is_not_parsed(fields: str) -> None:
    count = 420_000 // fields.count(":")
    body = ",".join([fields % tuple([n] * fields.count("%")) for n in range(count)]).join(('{"list":[],', "}")).encode()
    with pytest.raises(TooMuchMemory):
        check_memory(body)


async def test_parts_of_a_page_are_not_kept_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aisle.client.client.MAX_JSON_MEMORY", 1 << 20)
    long = reply(200, b" " * (MAX_RESPONSE_BYTES + 1))
    parts = [reply(200, {"list": [{"id": n, "reference": "x" * 200_000}], "next_page": n + 1}) for n in range(20)]
    service = Service(long, *parts)
    async with service.client() as client:
        with pytest.raises(InvalidResponse, match="too long together"):
            [page async for page in client.pages("list-deliveries", query={"page_size": 961})]
    assert len(service.sent) < 6


async def test_long_answers_are_read_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    mib = tries(8, 12)
    monkeypatch.setattr("aisle.client.transport.MAX_RESPONSE_BYTES", mib << 20)
    head, others = b"Transfer-Encoding: chunked\r\n", 6
    most = (mib << 20) + others * (SMALL_RESPONSE_BYTES + (4 << 20))  # the service takes some of it
    async with lying(head, endless=True) as url, Client(url, "t") as client, memory(most):
        found = await asyncio.gather(*(client.call("list-stores") for _ in range(others)), return_exceptions=True)
    assert {type(one) for one in found} == {ResponseTooLong}


@pytest.mark.parametrize("value", [10**400, float("inf"), float("nan"), 1 << 63, "9" * 400, "x", True, None, [], {}])
def test_a_number_that_no_database_holds_is_none(value: object) -> None:
    assert to_int64(value) is None


def test_a_number_that_a_database_holds_is_one() -> None:
    assert (to_int64(MAX_INT64), to_int64("12"), to_int64(0)) == (MAX_INT64, 12, 0)


@pytest.mark.parametrize("cursor", [10**400, 1 << 63, -1 << 70, "x", None, [], True])
async def test_a_cursor_that_is_none_is_an_error_of_the_answer(cursor: object) -> None:
    with pytest.raises(InvalidResponse, match="cannot be read"):
        await Changing({"cursor": cursor}).feed().read()


async def test_changes_without_end_are_left_for_the_next_read() -> None:
    change = {"topic": "order", "key": "O1"}
    service = Changing(*({"cursor": n + 1, "more": True, "changes": [change]} for n in range(MAX_PAGES + 1)))
    assert (await service.feed().read()).cursor == MAX_PAGES
    with pytest.raises(InvalidResponse, match="do not end"):
        await Changing({"cursor": 5, "more": True}).feed().read()


@pytest.mark.parametrize(("characters", "pages"), [(100, MAX_LOG_PAGES), (1 << 20, 8)])
async def test_entries_of_one_operation_without_end_are_not_kept(characters: int, pages: int) -> None:
    row = {"reference": "R-1", "comment": "x" * characters}
    bodies = [{"list": [{"id": n, "reference": "R-1"}, row], "next_page": n + 1} for n in range(1, 90)]
    service = Service(*(reply(200, body) for body in bodies))
    wanted = EntryReference(1, "R-1", "", "P1", None, is_ours=True)
    unknown = SimpleNamespace(get=lambda _: "", record=lambda *_: None)
    async with service.client() as client:
        with pytest.raises(InvalidResponse, match=r"too many entries|longer than"):
            await Lookup(client, "1", cast(Any, unknown))._read_log_entries(wanted, historic=False, from_id=0)
    assert len(service.sent) == pages


@pytest.mark.parametrize("number", [10**400, 1 << 63, -1, float("inf")])
def test_counts_and_pages_beyond_all_numbers_are_not_believed(number: Any) -> None:
    envelope = {"total_count": number, "next_page": number}
    at = _advance_position(StagePosition("orders", 1), [], envelope, LeftOutRows(0, ""))
    assert at.first_total <= 1 << 53
    assert at.next == 2


async def test_interim_answers_without_end_are_given_up() -> None:
    head = b"\r\n" + b"HTTP/1.1 100 Continue\r\n\r\n" * 1000

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            while True:
                writer.write(head[2:])
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with Client(url, "t", timeouts=Timeouts(total=0.2)) as client:
            with pytest.raises(ResponseTooSlow):
                await asyncio.wait_for(client.request("list-stores"), 10)


async def test_answer_that_drips_is_asked_for_once() -> None:
    asked = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        try:
            await reader.readuntil(b"\r\n\r\n")
            asked += 1
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n")
            while True:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.02)
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with Client(url, "t", timeouts=Timeouts(total=0.2)) as client:
            with pytest.raises(ResponseTooSlow, match=r"did not end in 0\.2 s"):
                await asyncio.wait_for(client.call("list-stores"), 10)
    assert asked == 1
