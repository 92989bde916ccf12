"""A service that answers without end: no client reads it to its end, no walk goes on for ever."""

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from tracemalloc import get_traced_memory, start, stop
from typing import Any

import pytest

from aisle.client import Client
from aisle.client.errors import OutcomeUnknown, PagingLoop, ResponseTooLong
from aisle.client.transport import MAX_RESPONSE_BYTES
from tests.client.recording_service import Service, reply

PIECE = b" " * (1 << 20)
Reply = Callable[[asyncio.StreamWriter], Any]


def bomb(kind: str) -> bytes:
    """A small body that becomes many times what is read."""
    deep = zlib.compressobj(9, zlib.DEFLATED, {"gzip": 31, "deflate": 15, "bare": -15}[kind])
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


async def test_an_answer_without_end_is_given_up() -> None:
    head, most = b"Transfer-Encoding: chunked\r\n", 3 * MAX_RESPONSE_BYTES
    async with lying(head, endless=True) as url, Client(url, "t") as client, memory(most):
        with pytest.raises(ResponseTooLong, match="longer than 32 MiB"):
            await client.list_stores()
        with pytest.raises(OutcomeUnknown, match="longer than 32 MiB"):
            await client.request("create-movement", path={"store_number": "1"}, body=b"[]")


async def test_an_answer_that_says_that_it_is_too_long_is_not_begun() -> None:
    async with lying(b"Content-Length: 1073741824\r\n") as url, Client(url, "t") as client, memory(4 << 20):
        with pytest.raises(ResponseTooLong, match="32 MiB"):
            await client.list_stores()


@pytest.mark.parametrize("kind", ["gzip", *(pytest.param(one, marks=pytest.mark.full) for one in ("deflate", "bare"))])
async def test_a_bomb_is_not_inflated(kind: str) -> None:
    body = bomb(kind)
    coding = b"gzip" if kind == "gzip" else b"deflate"
    head = b"Content-Encoding: %s\r\nContent-Length: %d\r\n" % (coding, len(body))
    async with lying(head, body) as url, Client(url, "t") as client, memory(3 * MAX_RESPONSE_BYTES):
        with pytest.raises(ResponseTooLong, match="32 MiB"):
            await client.list_stores()


@pytest.mark.parametrize("kind", ["gzip", "deflate", "bare"])
async def test_what_is_compressed_is_read_whole(kind: str) -> None:
    said = b'{"list": [%s]}' % b",".join(b'{"storeNo": "%d"}' % n for n in range(50_000))
    deep = zlib.compressobj(9, zlib.DEFLATED, {"gzip": 31, "deflate": 15, "bare": -15}[kind])
    body = deep.compress(said) + deep.flush()
    coding = b"gzip" if kind == "gzip" else b"deflate"
    head = b"Content-Encoding: %s\r\nContent-Length: %d\r\n" % (coding, len(body))
    async with lying(head, body) as url, Client(url, "t") as client:
        assert (await client.request("list-stores")).content == said


async def test_what_cannot_be_decompressed_is_no_answer() -> None:
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
