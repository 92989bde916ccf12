"""Clients that move goods, as light as clients can be: what they cost is taken from the service that is measured."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Sequence
from contextlib import ExitStack
from selectors import EVENT_READ, DefaultSelector
from typing import NamedTuple

PATIENCE_S = 60
"""After so long without an answer a run is given up."""

_HEAD_ENDS = b"\r\n\r\n"
_SUCCESS = b"HTTP/1.1 200 "
_LENGTH = b"content-length: "


class Load(NamedTuple):
    """What is moved to and fro: a product between two places, and as whom."""

    product_number: str
    here: str
    there: str


class Mover:
    """One client on a connection that it keeps; it asks for the next movement when it has the answer to the last."""

    def __init__(self, port: int, token: str, path: str, load: Load) -> None:
        ways = ((load.here, load.there), (load.there, load.here))
        self._requests = [_request(token, path, load.product_number, *way) for way in ways]
        self._heard = b""
        self.moved = 0
        self.line = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self) -> None:
        """Sends the next movement."""
        self.line.sendall(self._requests[self.moved % 2])

    def hear(self) -> bool:
        """Reads what there is; whether that was the whole answer. Raises AssertionError when it is no success."""
        said = self.line.recv(65536)
        self._heard += said
        head, ends, body = self._heard.partition(_HEAD_ENDS)
        if said and (not ends or len(body) < _length(head)):
            return False
        if not head.startswith(_SUCCESS) or b'"success":true' not in body:
            raise AssertionError(f"a movement was answered with {self._heard[:400]!r}")
        self._heard = b""
        self.moved += 1
        return True


def move(port: int, token: str, path: str, loads: Sequence[Load], seconds: float) -> tuple[list[int], float]:
    """Each client moves one of its product from its place to another and the next time back, for so long; how often
    each did, and the seconds until the last answer. Pass as `here` where the goods lie."""
    with ExitStack() as opened, DefaultSelector() as ready:
        movers = [Mover(port, token, path, load) for load in loads]
        began, busy = time.monotonic(), len(movers)
        for mover in movers:
            opened.callback(mover.line.close)
            ready.register(mover.line, EVENT_READ, mover)
            mover.ask()
        while busy:
            answered = ready.select(PATIENCE_S)
            assert answered, f"no movement was answered for {PATIENCE_S} s"
            for key, _ in answered:
                mover = key.data
                if not mover.hear():
                    continue
                if time.monotonic() - began < seconds:
                    mover.ask()
                else:
                    busy -= 1
        took = time.monotonic() - began
    return [mover.moved for mover in movers], took


def _length(head: bytes) -> int:
    lines = (line for line in head.lower().split(b"\r\n") if line.startswith(_LENGTH))
    return int(next(lines)[len(_LENGTH) :])


def _request(token: str, path: str, product: str, here: str, there: str) -> bytes:
    item = {"product_number": product, "quantity": 1}
    item |= {"from_location": {"location_code": here}, "to_location": {"location_code": there}}
    body = json.dumps([item]).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
