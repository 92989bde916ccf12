"""Rows about the service: pages of stock, deep pages, movements, single things; each beside the least it can cost."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import apsw
import httpx

from aisle.service.db.schema_and_search_index import match_expression
from aisle.service.open_service_and_admin_token import open_service
from tests.bench import generated_store
from tests.bench.bench import Bench
from tests.bench.movement_clients import Load, move
from tests.bench.service import Service, served, until
from tests.bench.table import Pair, Row, measures, median, p99

API = "/api/v2/public"
PAGE = f"{API}/storeproducts/stock?store_number={generated_store.STORE}&page_size=100"
CLIENTS = 16

SINGLE = {
    "product by barcode with locations": f"{API}/storeproducts/stock?store_number={generated_store.STORE}"
    "&include_locations=true&barcode={barcode}",
    "one order with lines": f"{API}/stores/{generated_store.STORE}/orders/customerorders"
    "?order_number=SO-00003&show_lines=true",
    "search": f"{API}/storeproducts/stock?store_number={generated_store.STORE}&search_text=dahlia%20fresh&page_size=20",
}
"""What people wait for, by what it is called."""


class Line:
    """One connection that is kept."""

    def __init__(self, port: int, token: str = "") -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._heads = {"Authorization": f"Bearer {token}"} if token else {}

    def get(self, path: str) -> bytes:
        """The body of the answer. Raises AssertionError when it is no success."""
        self._connection.request("GET", path, headers=self._heads)
        return self._body(path)

    def post(self, path: str, body: Any) -> bytes:
        """The same for a write."""
        self._connection.request("POST", path, json.dumps(body), {**self._heads, "Content-Type": "application/json"})
        return self._body(path)

    def _body(self, path: str) -> bytes:
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise AssertionError(f"{path}: {answer.status} {body[:300]!r}")
        return body

    def close(self) -> None:
        """Ends it."""
        self._connection.close()


def timed(bench: Bench, *works: Callable[[], object]) -> list[list[float]]:
    """Milliseconds of each, done in turns."""
    for work in works:
        for _ in range(bench.times(20, 1)):
            work()
    return [list(each) for each in zip(*(map(_ms, works) for _ in range(bench.times(300, 2))), strict=True)]


def _ms(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


@measures(
    "service",
    Row("page of 100 stock entries, requests a second", "1/s", "Starlette, the same statements", at_least=0.7),
    Row("page 300 of 100 stock entries, median", "ms", "page 1", at_most=1.5),
    *(Row(f"{name}, median", "ms", "datasette, the same statements", at_most=0.6) for name in SINGLE),
    Row(f"movements a second, {CLIENTS} clients, durable", "1/s", "bare INSERT and COMMIT", at_least=0.1),
)
def service(bench: Bench) -> Sequence[Pair]:
    """`aisle serve` over the prepared store in a process of its own; floors in processes of their own, in turns."""
    assert bench.aisle is not None, "this group measures aisle beside its floors"
    goods = generated_store.products(bench.products)
    paths = {name: path.replace("{barcode}", goods[-1].barcode) for name, path in SINGLE.items()}
    database = bench.home / "service.db"
    statements = recorded(database, {"page": PAGE, **paths})
    with served(bench) as ours, floor(bench, database, statements) as port:
        with closing(Line(_port(ours), ours.token)) as line, closing(Line(port)) as bare:
            deep = f"{PAGE}&page_start={bench.times(300, 3)}"
            mine, theirs = timed(bench, lambda: line.get(PAGE), lambda: bare.get("/page"))
            first, far = timed(bench, lambda: line.get(PAGE), lambda: line.get(deep))
            single = [_beside_datasette(bench, database, line, paths[name], statements[name]) for name in SINGLE]
        moved = _movements(bench, ours, goods)
    rate, least = (1000 / (median(each) or 1) for each in (mine, theirs))
    return [
        Pair(rate, least, f"one connection, p99 {p99(mine):.1f} ms"),
        Pair(median(far), median(first)),
        *single,
        moved,
    ]


def _port(ours: Service) -> int:
    return urllib.parse.urlsplit(ours.url).port or 0


def recorded(database: Path, asked: Mapping[str, str]) -> dict[str, list[tuple[str, list[Any]]]]:
    """The statements that bring the rows of each answer, and their parameters; who asks is not among them."""
    found: dict[str, list[tuple[str, list[Any]]]] = {}

    async def ask() -> None:
        transport = httpx.ASGITransport(opened.app)
        token = opened.ensure_admin_token(database.parent / "token")
        async with httpx.AsyncClient(transport=transport, base_url="http://bench") as client:
            for name, path in asked.items():
                noted: list[tuple[str, list[Any]]] = []
                found[name] = noted
                for reader in readers:
                    reader.exec_trace = _note(noted)
                answer = await client.get(path, headers={"Authorization": f"Bearer {token}"})
                assert answer.status_code == 200, answer.text
                for reader in readers:
                    reader.exec_trace = None

    with closing(open_service(database)) as opened:
        storage: Any = opened.database
        readers = [each._connection for each in (storage._inline_reader, storage._reader)]
        asyncio.run(ask())
    return found


def _note(noted: list[tuple[str, list[Any]]]) -> Callable[[apsw.Cursor, str, Any], bool]:
    def note(_cursor: apsw.Cursor, sql: str, given: Any) -> bool:
        if re.match(r"\s*(SELECT|WITH)\b", sql) and "token" not in sql:
            noted.append((sql, list(given or ())))
        return True

    return note


@contextlib.contextmanager
def floor(bench: Bench, database: Path, statements: Mapping[str, Any]) -> Iterator[int]:
    """The floor of the service; its port."""
    port = free_port()
    file = bench.scratch / "statements.json"
    file.write_text(json.dumps(statements), encoding="utf-8")
    program = Path(__file__).with_name("floor_service.py")
    with _running([sys.executable, str(program), str(database), str(port), str(file)], port):
        yield port


@contextlib.contextmanager
def _running(command: Sequence[str], port: int) -> Iterator[None]:
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            until(lambda: _listens(port), server)
            yield
        finally:
            server.terminate()


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    """A port of this host that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _beside_datasette(
    bench: Bench, database: Path, line: Line, path: str, statements: Sequence[tuple[str, list[Any]]]
) -> Pair:
    if absent := _no_datasette():
        (mine,) = timed(bench, lambda: line.get(path))
        return Pair(median(mine), None, f"{absent}: pip install '.[bench]'")
    port = free_port()
    urls = [f"/{database.stem}.json?_shape=arrays&sql={urllib.parse.quote(_plain(*each))}" for each in statements]
    command = [sys.executable, "-m", "datasette", "serve", str(database), "--port", str(port)]
    with _running([*command, "--setting", "sql_time_limit_ms", "20000"], port), closing(Line(port)) as theirs:
        mine, floor_ms = timed(bench, lambda: line.get(path), lambda: [theirs.get(url) for url in urls])
    return Pair(median(mine), median(floor_ms), f"{len(urls)} statements, p99 {p99(mine):.1f} ms")


def _no_datasette() -> str:
    """Why Datasette cannot read the service's file here, "" where it can: search wants FTS5 of SQLite 3.43."""
    if find_spec("datasette") is None:
        return "datasette is not installed"
    sqlite = import_module("pysqlite3" if find_spec("pysqlite3") else "sqlite3")
    return "" if sqlite.sqlite_version_info >= (3, 43) else f"datasette has SQLite {sqlite.sqlite_version}, too old"


def _plain(sql: str, given: Sequence[Any]) -> str:
    """A statement with its parameters in it, as datasette takes it from an address; it knows no function of ours."""
    worded = re.sub(
        r"words_of\(\?(\d+)\)",
        lambda found: apsw.format_sql_value(match_expression(str(given[int(found[1]) - 1]))),
        sql,
    )
    return re.sub(r"\?(\d+)", lambda found: apsw.format_sql_value(given[int(found[1]) - 1]), worded).strip()


def _movements(bench: Bench, ours: Service, goods: Sequence[generated_store.Product]) -> Pair:
    """Movements and bare commits take turns of a second: a disk is not as quick at one moment as at another."""
    places = sorted({each.place for each in goods})
    stocked = [each for each in goods[1:] if each.quantity > CLIENTS][:CLIENTS]
    loads = [Load(each.number, each.place, places[each.place == places[0]]) for each in stocked]
    path = f"{API}/stores/{generated_store.STORE}/storeproductlocation/movement?AppUserName={generated_store.USER}"
    moved, bare = [], []
    with _bare_commits(bench.folder / f"commits-{os.getpid()}.db") as committed:
        for _ in range(bench.times(9, 1)):
            counts, took = move(_port(ours), ours.token, path, loads, 1.0)
            moved.append(sum(counts) / took)
            bare.append(committed(1.0))
            loads = [
                Load(load.product_number, load.there, load.here) if count % 2 else load
                for load, count in zip(loads, counts, strict=True)
            ]
    rate = median(bare) or 1
    return Pair(median(moved), rate, f"a bare commit takes {1000 / rate:.2f} ms")


@contextlib.contextmanager
def _bare_commits(path: Path) -> Iterator[Callable[[float], float]]:
    """What commits one row each for so many seconds; it answers with how many a second."""
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("PRAGMA synchronous = FULL").fetchall()
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT, c INTEGER)")

        def committed(seconds: float) -> float:
            count, began = 0, time.monotonic()
            while (took := time.monotonic() - began) < seconds:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("INSERT INTO t (a, b, c) VALUES (?, ?, ?)", ("a" * 40, "b" * 40, count))
                connection.execute("COMMIT")
                count += 1
            return count / took

        yield committed
    for companion in path.parent.glob(f"{path.name}*"):
        companion.unlink()
