"""The service as a process of its own: at an address, killed and started again there, and one that keeps a book.

`python -m tests.terminal.service_process DATABASE PORT BOOK` serves like `aisle serve`, and writes a line into BOOK
for every write that it has carried out, before it answers. From a POST to /hold until one to /release it answers
no write.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.request import Request, urlopen

import uvicorn

from aisle.parent_pipe import watch_parent_pipe
from aisle.service.open_service_and_admin_token import open_service
from tests.terminal.harness import python

ROOT = Path(__file__).parents[2]


class Served:
    """A process that serves at a port of this machine; `url` once it is started."""

    def __init__(self, *argv: str) -> None:
        """`argv` is a command whose `{port}` is the port, 0 for any free one."""
        self._argv = argv
        self._process: subprocess.Popen[str] | None = None
        self.url = ""
        self.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, problem: object, *_exc: object) -> None:
        self.end(signal.SIGKILL if problem else signal.SIGTERM)  # after a failure it may still hold its answers

    @property
    def pid(self) -> int:
        """Its process; it has to run."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Starts it, at the port that it had before; returns when it answers."""
        port = self.url.rpartition(":")[2] or "0"
        argv = [part.replace("{port}", port) for part in self._argv]
        lifeline = [int(os.environ["AISLE_LIFELINE_FD"])]
        self._process = subprocess.Popen(
            argv, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, pass_fds=lifeline
        )
        assert self._process.stderr is not None
        said = self._process.stderr.readline()
        assert "aisle serves at" in said, said + self._process.stderr.read()
        self.url = said.split()[-1]

    def hold(self) -> None:
        """From now on a service that counts answers no write, though it carries it out."""
        self._tell("hold")

    def release(self) -> None:
        """It answers again, what it has kept too."""
        self._tell("release")

    def _tell(self, word: str) -> None:
        with urlopen(Request(f"{self.url}/{word}", method="POST"), timeout=30) as answer:
            assert answer.status == 204

    def end(self, number: int = signal.SIGKILL) -> None:
        """Ends it by this signal, at once; nothing happens when it has ended."""
        if self._process is None:
            return
        self._process.send_signal(number)
        self._process.wait(30)
        assert self._process.stderr is not None
        self._process.stderr.close()
        self._process = None


def plain_service() -> Served:
    """`aisle serve` over the home of this test."""
    return Served(*python("-m", "aisle", "serve", "--port", "{port}"))


def counting_service(home: Path, book: Path) -> Served:
    """The same service, with a book."""
    return Served(*python("-m", "tests.terminal.service_process", str(home / "service.db"), "{port}", str(book)))


class Written(NamedTuple):
    """One write that the service has carried out."""

    key: str
    path: str
    body: str
    """SHA-256 of its bytes."""
    status: int


def read_book(book: Path) -> list[Written]:
    """All writes of the book, oldest first; one whose line is still being written is not there yet."""
    *lines, _unfinished = book.read_text(encoding="utf-8").split("\n") if book.exists() else [""]
    return [Written(**json.loads(line)) for line in lines]


class _Counted:
    """An ASGI app that writes down each write once the app inside has answered, and then lets the answer go."""

    def __init__(self, app: Any, book: Path) -> None:
        self._app = app
        self._book = book
        self._open = asyncio.Event()
        self._open.set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] in ("/hold", "/release"):
            self._open.clear() if scope["path"] == "/hold" else self._open.set()
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body"})
        elif scope["method"] == "GET":
            await self._app(scope, receive, send)
        else:
            await self._count(scope, receive, send)

    async def _count(self, scope: Any, receive: Any, send: Any) -> None:
        digest, answer, cut = hashlib.sha256(), [], False

        async def heard() -> Any:
            nonlocal cut
            message = await receive()
            cut = cut or message["type"] == "http.disconnect"
            digest.update(message.get("body", b""))
            return message

        async def kept(message: Any) -> None:
            answer.append(message)

        await self._app(scope, heard, kept)
        if cut:
            # Who asked died in the middle of asking: nothing was carried out, and nobody hears an answer.
            return
        key = dict(scope["headers"]).get(b"idempotency-key", b"").decode().strip('"')
        self._write(Written(key, scope["path"], digest.hexdigest(), answer[0]["status"]))
        await self._open.wait()
        for message in answer:
            await send(message)

    def _write(self, written: Written) -> None:
        with self._book.open("a", encoding="utf-8") as book:
            book.write(json.dumps(written._asdict()) + "\n")


class Server(uvicorn.Server):
    """uvicorn that says where it listens."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        port = self.servers[0].sockets[0].getsockname()[1]
        print(f"aisle serves at http://127.0.0.1:{port}", file=sys.stderr, flush=True)


def main(database: str, port: str, book: str) -> None:
    """Serves until the lifeline or a signal ends it."""
    service = open_service(Path(database))
    app = _Counted(service.app, Path(book))
    server = Server(uvicorn.Config(app, port=int(port), lifespan="off", log_level="warning", access_log=False))
    watch_parent_pipe(os.environ, lambda: setattr(server, "should_exit", True))
    try:
        server.run()
    finally:
        service.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
