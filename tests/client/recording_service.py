"""A fake service behind httpx that records requests and answers as told."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import httpx

from aisle.client import Client


class Sent(NamedTuple):
    """A request as it arrived: the target as raw bytes on the wire."""

    method: str
    target: str
    headers: httpx.Headers
    body: bytes


Reply = httpx.Response | Exception


def reply(status: int = 200, body: Any = None, headers: dict[str, str] | None = None) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body if body is not None else {}).encode()
    return httpx.Response(status, content=content, headers=headers)


class Service:
    """Answers with the replies in their order; the last one stands for all that follow."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.sent: list[Sent] = []
        self.slept: list[float] = []

    def answer(self, request: httpx.Request) -> httpx.Response:
        """The next reply, to a request that is written down."""
        self.sent.append(Sent(request.method, request.url.raw_path.decode(), request.headers, request.content))
        answer = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer.status_code, content=answer.content, headers=answer.headers)

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def client(self, token: str | Callable[[], str] = "secret-token", **options: Any) -> Client:
        """A client of this service whose waiting takes no time."""
        options = {
            "transport": httpx.MockTransport(self.answer),
            "sleep": self._sleep,
            "random_source": lambda: 0.5,
            "now": lambda: 1_700_000_000.0,
            **options,
        }
        return Client("http://127.0.0.1:1", token, **options)
