"""A proxy in front of a real service that lies about what that answers, one kind of lie at a time.

Writes reach the service, or are refused before it; only their answers are cut off or emptied. Reads are bent in every
way of `LIES`.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any, NamedTuple, Protocol, Self

import httpx

_DATES = ("0000-00-00T00:00:00Z", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "2026-02-30", "", -1)
_NONSENSE: tuple[Any, ...] = (None, [], {}, "x", 7, [[]], {"a": {"b": [1]}}, True)
_TEXTS = ("NaN", "1e400", "١", "0x1", "-0", "")
_NUMBERS = (-1, 10**30, -(10**18), 1e308, 0.1 + 0.2)
_FOREIGN = ("\x1b[2J\x07evil", "x" * 20_000, "\u202egnp", "9999")
_FEATURES = ("", "idempotency=99999999999d", "changes", "x" * 5000, "idempotency, changes, claims, versions")
_WAITS = ("999999999", "Fri, 31 Dec 9999 23:59:59 GMT", "-1", "1e9", "soon", "0")
_KEPT_NUMBERS = frozenset({"line_number", "id", "cursor"})
_FEATURES_HEADER = "aisle-features"
_HOP_HEADERS = frozenset({"content-length", "transfer-encoding", "connection", "content-encoding"})
_REQUEST_HEADERS = frozenset({"host", "content-length", "connection", "accept-encoding"})
_LONG = b"[" + b" " * (40 << 20) + b"]"


class Answer(NamedTuple):
    """An answer that the proxy sends; a short `length` or `ends` breaks the connection."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    length: int | None = None
    ends: bool = False

    def with_header(self, name: str, value: str) -> Answer:
        """The answer with another value of a header."""
        kept = [(key, each) for key, each in self.headers if key != name]
        return self._replace(headers=[*kept, (name, value)])


class Liar(Protocol):
    """Somebody with dice."""

    random: Random


Bend = Callable[[Liar, Answer], Answer]


def _walked(value: Any, bend: Callable[[Any, str], Any], key: str = "") -> Any:
    value = bend(value, key)
    if isinstance(value, dict):
        return {name: _walked(each, bend, name) for name, each in value.items()}
    return [_walked(each, bend, key) for each in value] if isinstance(value, list) else value


def _of_json(bend: Callable[[Random, Any], Any]) -> Bend:
    def bent(proxy: Liar, answer: Answer) -> Answer:
        try:
            said = json.loads(answer.body)
        except ValueError:
            return answer
        return answer._replace(body=json.dumps(bend(proxy.random, said)).encode())

    return bent


def _values(share: float, fits: Callable[[Any, str], bool], other: Callable[[Random, Any], Any]) -> Bend:
    """A lie about this share of the values that fit."""
    return _of_json(
        lambda dice, said: _walked(
            said, lambda value, key: other(dice, value) if fits(value, key) and dice.random() < share else value
        )
    )


def _is_number(value: Any, key: str) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _repeat(dice: Random, said: Any) -> Any:
    lists = {name: rows for name, rows in _lists(said).items() if isinstance(rows, list)}
    return (
        {**said, **{name: [row for row in rows for _ in (0, 1)] * 2 for name, rows in lists.items()}} if lists else said
    )


def _endless(dice: Random, said: Any) -> Any:
    pages = {"next_page": dice.choice((2, 3, 777)), "total_count": 10**9, "total_record_count": 10**9}
    return {**said, **pages} if _lists(said) else said


def _cursor(dice: Random, said: Any) -> Any:
    if not isinstance(said, dict) or "cursor" not in said:
        return said
    cursors = (0, -1, 1, 10**18, "x", None, said["cursor"])
    return {**said, "cursor": dice.choice(cursors), "mark": dice.choice(("", "other", said.get("mark")))}


def _lists(said: Any) -> dict[str, Any]:
    return {name: said[name] for name in ("list", "records") if name in said} if isinstance(said, dict) else {}


def _features(proxy: Liar, answer: Answer) -> Answer:
    dice = proxy.random.random()
    if dice < 0.5:
        return answer._replace(headers=[one for one in answer.headers if one[0] != _FEATURES_HEADER])
    return answer if dice < 0.8 else answer.with_header(_FEATURES_HEADER, proxy.random.choice(_FEATURES))


def _without_features(proxy: Liar, answer: Answer) -> Answer:
    gone = proxy.random.random() < 0.5
    return answer._replace(headers=[one for one in answer.headers if one[0] != _FEATURES_HEADER]) if gone else answer


def _empty(proxy: Liar, answer: Answer) -> Answer:
    return Answer(proxy.random.choice((200, 204)), [], b"")


def _date(proxy: Liar, answer: Answer) -> Answer:
    dates = ("Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 2199 23:59:59 GMT", "never")
    return answer.with_header("date", proxy.random.choice(dates))


def _bomb(proxy: Liar, answer: Answer) -> Answer:
    if proxy.random.random() < 0.5:
        return answer._replace(body=_LONG)
    return answer.with_header("content-encoding", "gzip")._replace(body=gzip.compress(bytes(64 << 20), 1))


_ANSWERS: dict[str, Bend] = {
    "reset": lambda proxy, answer: answer._replace(
        body=answer.body[: len(answer.body) // 2], length=len(answer.body) + 10, ends=True
    ),
    "trunc": lambda proxy, answer: answer._replace(body=answer.body[:-3]),
    "s5xx": lambda proxy, answer: Answer(
        proxy.random.choice((500, 502, 503, 504, 599)), [("retry-after", "999999")], b"<html>oops</html>"
    ),
    "empty": _empty,
    "date": _date,
    "bomb": _bomb,
    "heads": lambda proxy, answer: answer._replace(
        headers=[*answer.headers, *((f"x-{n}", "y" * 7000) for n in range(100))]
    ),
    "features": _without_features,
}
"""Lies about answers to writes, too; the service has carried these out."""
_REFUSALS: dict[str, Callable[[Liar], Answer]] = {
    "s429": lambda proxy: Answer(429, [("retry-after", proxy.random.choice(_WAITS))], b'{"success":false}'),
    "e401": lambda proxy: Answer(proxy.random.choice((401, 403)), [], b'{"success":false}'),
    "redirect": lambda proxy: Answer(
        proxy.random.choice((301, 302, 307, 308)), [("location", proxy.random.choice(("//x/", "file:///etc")))], b""
    ),
}
"""Lies instead of requests; the service never sees these."""
READ_LIES: dict[str, Bend] = {
    "shape": _values(0.05, lambda value, key: True, lambda dice, _: dice.choice(_NONSENSE)),
    "texts": _values(0.9, _is_number, lambda dice, value: str(value) if dice.random() < 0.8 else dice.choice(_TEXTS)),
    "negative": _values(
        0.5,
        lambda value, key: _is_number(value, key) and key not in _KEPT_NUMBERS,
        lambda dice, value: dice.choice((-value, *_NUMBERS)),
    ),
    "dates": _values(
        0.6,
        lambda value, key: isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\d", value) is not None,
        lambda dice, _: dice.choice(_DATES),
    ),
    "foreign": _values(0.05, lambda value, key: isinstance(value, str), lambda dice, _: dice.choice(_FOREIGN)),
    "repeat": _of_json(_repeat),
    "endless": _of_json(_endless),
    "cursor": _of_json(_cursor),
    "features": _features,
}
"""Lies about answers to reads only."""
HONEST = "honest"
LIES = (*{**READ_LIES, **_ANSWERS, **_REFUSALS},)


class LyingProxy:
    """HTTP proxy in a thread of its own; `lie` is what it does now."""

    random: Random

    def __init__(self, service_url: str, random: Random) -> None:
        self.lie = HONEST
        self.random = random
        self.told: Counter[str] = Counter()
        """How often it told which lie."""
        self.url = ""
        self._service_url = service_url
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    async def _open(self) -> None:
        self._client = httpx.AsyncClient(base_url=self._service_url, timeout=60)
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, OSError):
            while await self._exchange(reader, writer):
                pass
        writer.transport.abort()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; return False to end the connection."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = [(name.lower(), value) for line in head[1:] if line for name, _, value in [line.partition(": ")]]
        body = await reader.readexactly(int(dict(headers).get("content-length", 0)))
        answer = await self._answer(method, path, [one for one in headers if one[0] not in _REQUEST_HEADERS], body)
        lines = [f"HTTP/1.1 {answer.status} said", *(f"{name}: {value}" for name, value in answer.headers)]
        length = len(answer.body) if answer.length is None else answer.length
        writer.write("\r\n".join([*lines, f"content-length: {length}", "", ""]).encode("latin-1") + answer.body)
        await writer.drain()
        return not answer.ends

    async def _answer(self, method: str, path: str, headers: list[tuple[str, str]], body: bytes) -> Answer:
        lie = self.lie
        self.told[lie] += 1
        if lie in _REFUSALS:
            return _REFUSALS[lie](self)
        said = await self._client.request(method, path, headers=headers, content=body)
        kept = [(name.lower(), value) for name, value in said.headers.items() if name.lower() not in _HOP_HEADERS]
        answer = Answer(said.status_code, kept, said.content)
        bends = {**_ANSWERS, **READ_LIES} if method == "GET" else _ANSWERS
        return bends[lie](self, answer) if lie in bends else answer
