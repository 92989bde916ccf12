"""`aisle sync` and `aisle doctor` at a foreign service: one list fails, rows make no sense, or nothing can be read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest

from aisle.cli import main
from aisle.jobs.names_in_messages import list_name
from aisle.tui.message_text import MessageWriter
from tests.courier.fake_service import OWN, Fake, name_of
from tests.courier.test_failing_lists import LISTS

Answering = Callable[[httpx.Request], httpx.Response]

NAMES = {
    "stores": "stores",
    "people": "people",
    "headers": "orders",
    "lines": "order lines",
    "locations": "locations",
    "deliveries": "deliveries",
    "receipts": "receipts",
    "products": "products",
    "stock": "stock",
    "logs": "log entries",
    "changes": "changes",
}
"""What the eleven lists are called."""
NOT_SYNCED = ("logs",)
"""Lists that a sync does not read: the log is read when somebody opens it."""

FAILURES: dict[str, tuple[int, bytes, str]] = {
    "403": (403, b'{"message": "no role for it"}', "no role for it (403)"),
    "404": (404, b'{"message": "no such path"}', "no such path (404)"),
    "404 of a gateway": (404, b"<html>not found</html>", "404"),
    "500": (500, b'{"message": "broken"}', "broken (500)"),
    "a page": (200, b"<html>welcome</html>", "cannot be read"),
    "half of it": (200, b'{"list": [{', "cannot be read"),
    "no list": (200, b"{}", "cannot be read"),
    "no content": (200, b"", "cannot be read"),
    "no answer": (0, b"", "No answer from the server"),
}


class Shop:
    """A service at an address of its own; without features it is one of the document alone."""

    def __init__(self, url: str, token: Path, features: str = "") -> None:
        self.url = url
        self.token = token
        self.fake = Fake(features)
        self.fake.add_products(["P1", "P2"])
        self.fake.add_locations("A-1")
        self.fake.add_order("O1")
        self.fake.add_delivery("D1", ("P1", 5))
        self.answer: Answering = self.fake.answer

    def fail(self, name: str, status: int, content: bytes) -> None:
        def answer(request: httpx.Request) -> httpx.Response:
            if LISTS[name](request) and not status:
                raise httpx.ReadError("closed", request=request)
            return httpx.Response(status, content=content) if LISTS[name](request) else self.fake.answer(request)

        self.answer = answer

    def run(self, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
        """Exit status, stdout and stderr of a command at this service."""
        status = main((*words, "--base-url", self.url, "--token-file", str(self.token), "--store", "0001"))
        out, err = capsys.readouterr()
        return status, out, err

    def doctor(self, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, list[str]]]:
        """Exit status, and what is said of each thing, with its verdict before it."""
        status, out, _ = self.run(capsys, "doctor", "--json")
        found: dict[str, list[str]] = {}
        for each in json.loads(out)["findings"]:
            found.setdefault(each["name"], []).append(" ".join((each["verdict"], each["what"], each["why"])))
        return status, found


NO_LISTS = [b"{}", b'{"list": null}', b'{"welcome": true}', b'{"list": [1]}', b'{"records": []}']
NO_SERVICE = [b"<html>welcome</html>", b"", b"[]", b"null", b'"x"', b'{"list": [', b"\xff\xfe\x00"]


@contextmanager
def _served(token: Path, features: str = "") -> Iterator[Shop]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            request = httpx.Request("GET", f"http://shop.example{self.path}", headers=dict(self.headers))
            try:
                answer = served.answer(request)
            except httpx.ReadError:
                self.close_connection = True
                return
            self.send_response(answer.status_code)
            self.send_header("Content-Length", str(len(answer.content)))
            for each, value in served.fake.headers.items():
                self.send_header(each, value)
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, *args: Any) -> None:
            """Nobody reads it."""

    with closing(_Server(("127.0.0.1", 0), Handler)) as server:
        served = Shop(f"http://127.0.0.1:{server.server_address[1]}", token, features)
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = False

    def close(self) -> None:
        self.server_close()


@pytest.fixture
def shop(request: pytest.FixtureRequest, aisle_home: Path, tmp_path: Path) -> Iterator[Shop]:
    token = tmp_path / "token"
    token.touch(0o600)
    token.write_text("secret")
    with _served(token, getattr(request, "param", "")) as shop:
        yield shop


def test_a_service_of_the_document_alone_is_read_whole(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = shop.run(capsys, "sync")
    assert (status, err) == (0, "")
    assert out == "Store 0001: 2 products, 1 locations, 1 orders.\n"
    status, found = shop.doctor(capsys)
    assert status == 0
    assert found["lists"] == ["ok all could be read "]


@pytest.mark.parametrize("shop", [OWN], indirect=True, ids=["own"])
@pytest.mark.parametrize(("name", "failure"), [*product(NAMES, FAILURES)])
def test_the_list_that_is_missing_is_named_and_why(
    shop: Shop, capsys: pytest.CaptureFixture[str], name: str, failure: str
) -> None:
    status, content, why = FAILURES[failure]
    shop.fail(name, status, content)
    ended, out, err = shop.run(capsys, "sync")
    called, is_synced = NAMES[name], name not in NOT_SYNCED
    assert ended == is_synced
    assert (f"Not all of {called} could be read: " in err) is is_synced
    assert (why in err) is is_synced
    for other, there in (("products", "2 products"), ("orders", "1 orders"), ("locations", "1 locations")):
        assert (there in out) is (called != other or there == "2 products"), "stock brings products, too"
    lines = [line for line in err.splitlines() if "could be read" in line]
    assert len(lines) == (2 if called == "orders" else is_synced), "the lines of orders come by the same way"
    ended, found = shop.doctor(capsys)
    assert ended == 1
    assert any(said.startswith(f"wrong {called} cannot be read") and why in said for said in found["service"])
    said = [said for said in found["lists"] if said.startswith(f"wrong {called} could not be read") and why in said]
    assert bool(said) is is_synced
    assert found["service"][0].startswith("ok"), "the service itself is not blamed"
    shop.answer = shop.fake.answer
    assert shop.run(capsys, "sync")[0] == 0, "what is missing is asked for again"
    assert shop.doctor(capsys)[0] == 0


@pytest.mark.parametrize(
    "content", [b"{}", b'{"list": null}', b'{"welcome": true}', b'{"list": [1]}', b'{"records": []}']
)
def test_unreadable_answers_never_count_as_success(
    shop: Shop, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    shop.answer = lambda request: httpx.Response(200, content=content)
    status, out, err = shop.run(capsys, "sync")
    assert status == 1
    assert "0 orders" in out
    for called in ("orders", "locations", "deliveries", "stock"):
        assert f"Not all of {called} could be read: The server's answer cannot be read" in err
    status, found = shop.doctor(capsys)
    assert status == 1
    assert any(said.startswith("wrong orders") for said in found["lists"])


@pytest.mark.parametrize(
    "content", [b"<html>welcome</html>", b"", b"[]", b"null", b'"x"', b'{"list": [', b"\xff\xfe\x00"]
)
def test_answer_of_another_server_is_reported(shop: Shop, capsys: pytest.CaptureFixture[str], content: bytes) -> None:
    shop.answer = lambda request: httpx.Response(200, content=content)
    status, _, err = shop.run(capsys, "sync")
    assert status == 1
    assert "Something else answers where the service should be" in err
    status, found = shop.doctor(capsys)
    assert status == 1
    assert found["service"][0].startswith("wrong")


@pytest.mark.parametrize("first", [1, 2, 5, 9, 14])
def test_first_answers_that_cannot_be_read_are_not_forgotten(
    shop: Shop, capsys: pytest.CaptureFixture[str], first: int
) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.params.get("page_size") != "1":
            asked.append(name_of(request))
            if len(asked) <= first:
                return httpx.Response(200, content=b"{}")
        return shop.fake.answer(request)

    shop.answer = answer
    status, _, err = shop.run(capsys, "sync")
    assert status == 1
    assert "could be read: " in err
    status, found = shop.doctor(capsys)
    assert status == 1
    assert any("could not be read" in said for said in found["lists"])
    status, out, err = shop.run(capsys, "sync")
    assert (status, err) == (0, "")
    assert out == "Store 0001: 2 products, 1 locations, 1 orders.\n"


def test_rows_that_cannot_be_used_are_counted(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    for number in (None, "", ["P3"]):
        shop.fake.products[f"bad{number}"] = {"product_number": number, "product_name": "X"}
    shop.fake.orders["bad"] = {**shop.fake.orders["O1"], "order_number": " "}
    status, out, err = shop.run(capsys, "sync")
    assert status == 1
    assert "1 orders" in out
    assert "3 of the rows of products cannot be used: product_number." in err
    assert "1 of the rows of orders cannot be used: order_number." in err
    status, found = shop.doctor(capsys)
    assert status == 0
    said = " ".join(found["lists"])
    assert "note 3 rows of products cannot be used" in said
    assert "product_number makes no sense in them" in said
    assert "note 1 row of orders cannot be used" in said


def test_duplicate_rows_are_reported_apart_from_unusable_rows(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    shop.fake.products["P1 again"] = {**shop.fake.products["P1"], "product_name": "The last one"}
    assert shop.run(capsys, "sync")[0] == 0
    shop.fake.products["bad"] = {"product_number": "", "product_name": "X"}
    status, _, err = shop.run(capsys, "sync")
    assert status == 1
    assert "1 of the rows of products are there twice; the last one counts." in err
    assert "1 of the rows of products cannot be used: product_number." in err
    status, found = shop.doctor(capsys)
    said = " ".join(found["lists"])
    assert (status, "note 1 row of products there twice" in said) == (0, True)
    assert "The last one is used" in said
    assert "note 1 row of products cannot be used" in said


@pytest.mark.parametrize(
    ("language", "word"), [("en", "locations"), ("de", "Plätze"), ("fr", "emplacements"), ("nl", "locaties")]
)
def test_the_list_of_locations_has_the_word_of_the_glossary(language: str, word: str) -> None:
    assert MessageWriter(language=language).write(list_name("locations")) == word


def test_each_list_is_called_what_it_is_called_here() -> None:
    assert {name: MessageWriter().write(list_name(name)) for name in NAMES} == NAMES
