"""Bodies without measure: nobody takes the memory of a service, or keeps others waiting, with many of the largest."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, closing
from pathlib import Path
from time import time
from typing import Any

import apsw
import httpx
import pytest

from aisle.service.auth.tokens_and_pins import create_token
from aisle.service.db.schema_and_search_index import INDEXED_AT_ONCE, index_pieces
from aisle.service.db.sqlite_connection_and_transaction import SqliteTransaction
from aisle.service.domain.quantities_times_and_json import format_timestamp
from aisle.service.errors import Refusal
from aisle.service.handlers.list_page import MAX_PAGE_BYTES
from aisle.service.http.rate_limit_and_turns_of_large_bodies import (
    ADDRESS_BYTES,
    BRIEF,
    MIB,
    MOST_BYTES,
    SMALL,
    TOKEN_BYTES,
    Turns,
)
from aisle.service.http.request_body import MAX_ITEMS, MOST_BODY_BYTES, MOST_VALUES
from aisle.service.open_service_and_admin_token import open_service
from tests.run_length import tries
from tests.service.serve_process import SECONDS, Served, served
from tests.service.world import API, LOGS, World

MOST_MB = 200
PRODUCTS = API + "/products"


KEPT_MB = 100
"""The most that it keeps of large bodies and answers; at its start it has half."""
_WIDE_PRODUCTS = """
    WITH RECURSIVE wide(item) AS (VALUES(replace(hex(zeroblob(10000)), '0', char(0x1F600)))),
    number(n) AS (VALUES(1) UNION ALL SELECT n + 1 FROM number WHERE n < 800)
    INSERT INTO product SELECT {columns} FROM product CROSS JOIN number CROSS JOIN wide WHERE product_number = 'P0'
"""


def peak_mb(service: Served) -> int:
    """The most memory that the process had."""
    return memory_mb(service, "VmHWM")


def memory_mb(service: Served, kind: str = "VmRSS") -> int:
    """The memory that the process has."""
    lines = Path(f"/proc/{service.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(kind)) >> 10


def add_wide_products(file: Path) -> None:
    """Copy P0 into 800 products with long texts of which each character takes four bytes."""
    values = {
        "product_number": "'W' || n",
        "item": "json_object('product_number', 'W' || n, 'product_name', wide.item)",
    }
    with closing(apsw.Connection(str(file))) as connection:
        connection.set_busy_timeout(SECONDS * 1000)  # The service may still index products.
        names = [name for (name,) in connection.execute("SELECT name FROM pragma_table_info('product')")]
        columns = ", ".join(values.get(name, f"product.{name}") for name in names)
        connection.execute(_WIDE_PRODUCTS.format(columns=columns))


@pytest.fixture(scope="module")
def service_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the database of `service`."""
    return tmp_path_factory.mktemp("bodies") / "service.db"


@pytest.fixture(scope="module")
def service(service_file: Path) -> Iterator[tuple[Served, list[str]]]:
    """A service without stores, and secrets of administrators."""
    with served(f"sqlite:///{service_file}", service_file.parent, 1) as [one]:
        opened = open_service(service_file)
        now = format_timestamp(time())
        secrets = [
            create_token(opened.database, name=f"t{n}", role="admin", store_numbers=None, now=now).secret
            for n in range(8)
        ]
        opened.close()
        yield one, secrets


async def test_bodies_at_once_take_little_memory(service: tuple[Served, list[str]]) -> None:
    served_here, secrets = service
    details = {"product_name": "T" * 60, "product_details": "Leaves from the mountains. " * 7}
    many = json.dumps({"products": [{"product_number": f"P{n}", **details} for n in range(3_000)]}).encode()
    large = [
        many[:-3] + b'"}]}',
        b"[%s]" % b",".join([b"[]"] * (MOST_BODY_BYTES // 3 - 2)),
        many[:-3] + b',"none":1}]}',
    ]
    assert all(len(body) <= MOST_BODY_BYTES for body in large)
    async with httpx.AsyncClient(base_url=served_here.url, timeout=120) as client:

        async def post(number: int, body: bytes) -> httpx.Response:
            headers = {"Authorization": f"Bearer {secrets[number % 4]}"}  # one token may not send all of them
            return await client.post(PRODUCTS, content=body, headers=headers)

        refused = tries(2, 12)
        bodies = [large[2], large[0], *[large[1]] * refused]
        answers = await asyncio.gather(*(post(number, body) for number, body in enumerate(bodies)))
    assert [answer.status_code for answer in answers] == [400, 400, *[413] * refused]
    assert peak_mb(served_here) < MOST_MB


@pytest.mark.parametrize("framing", [f"Content-Length: {3 * MIB}", "Transfer-Encoding: chunked"])
def test_who_sends_too_much_hears_why(service: tuple[Served, list[str]], framing: str) -> None:
    served_here, secrets = service
    head = f"POST {PRODUCTS} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {secrets[7]}\r\n{framing}\r\n"
    chunk = b"10000\r\n" + bytes(1 << 16) + b"\r\n"
    body = bytes(3 * MIB) if "Length" in framing else chunk * 48 + b"0\r\n\r\n"
    with closing(socket.create_connection(("127.0.0.1", int(served_here.url.rpartition(":")[2])), SECONDS)) as caller:
        caller.sendall(head.encode() + b"Connection: close\r\n\r\n" + body)
        assert caller.makefile("rb").read().startswith(b"HTTP/1.1 413 ")


async def test_long_answers_take_little_memory_and_keep_none(
    service: tuple[Served, list[str]], service_file: Path
) -> None:
    served_here, secrets = service
    headers = {"Authorization": f"Bearer {secrets[6]}"}
    async with httpx.AsyncClient(base_url=served_here.url, headers=headers, timeout=120) as client:
        body = {"products": [{"product_number": "P0", "product_name": "P", "is_active": True}]}
        assert (await client.post(PRODUCTS, json=body)).status_code == 200
        add_wide_products(service_file)
        sizes = {"800": 413, "300": 413, "100": 200}
        answers = await asyncio.gather(*(client.get(PRODUCTS, params={"page_size": size}) for size in sizes))
    assert {size: answer.status_code for size, answer in zip(sizes, answers, strict=True)} == sizes
    assert len(answers[2].content) < MAX_PAGE_BYTES + MIB
    del answers
    assert peak_mb(served_here) < MOST_MB
    await until(lambda: memory_mb(served_here) < KEPT_MB)


async def test_bodies_of_all_callers_have_a_sum_on_real_connections(service: tuple[Served, list[str]]) -> None:
    served_here, secrets = service
    port, body = int(served_here.url.rpartition(":")[2]), b'{"products":[' + b" " * (MIB - 15) + b"]}"
    async with AsyncExitStack() as opened:

        async def begin(secret: str, address: str) -> tuple[int, asyncio.StreamReader, asyncio.StreamWriter]:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
            opened.callback(writer.close)
            head = f"POST {PRODUCTS} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {secret}\r\nContent-Length: {MIB}\r\n"
            writer.write(head.encode() + b"Expect: 100-continue\r\n\r\n")
            return await status(reader), reader, writer

        async def status(reader: asyncio.StreamReader) -> int:
            async with asyncio.timeout(SECONDS):
                return int((await reader.readuntil(b"\r\n\r\n")).split()[1])

        held = []
        for number in range(MOST_BYTES // MIB):
            token = number * MIB // TOKEN_BYTES
            going_on, reader, writer = await begin(secrets[token], f"127.0.1.{token // 2}")
            assert going_on == 100
            writer.write(body[:-1])
            await writer.drain()
            held.append((reader, writer))
        for secret, address, refused in ((0, "127.0.2.1", 429), (5, "127.0.1.0", 429), (5, "127.0.2.1", 503)):
            assert (await begin(secrets[secret], address))[0] == refused
        async with httpx.AsyncClient(base_url=served_here.url, timeout=SECONDS) as client:
            assert (await client.get("/aisle/v1/health")).status_code == 200
        assert peak_mb(served_here) < MOST_MB
        for _, writer in held:
            writer.write(body[-1:])
        assert {await status(reader) for reader, _ in held} == {200}
        assert (await begin(secrets[5], "127.0.2.1"))[0] == 100


class Held:
    """A body whose parts wait until they may come, and that says how many were taken."""

    def __init__(self, size: int, end: bytes = b"") -> None:
        self.size = size
        self.taken = 0
        self.may = asyncio.Event()
        self._end = end

    async def parts(self) -> AsyncIterator[bytes]:
        self.taken += 1
        yield b'{"storeproductlog":['
        await self.may.wait()
        self.taken += 1
        yield b" " * (self.size - 22) + b"]}"


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("size", [BRIEF + 1, SMALL, 2 * SMALL])
@pytest.mark.parametrize("is_declared", [True, False], ids=["with a length", "in parts"])
async def test_bodies_of_many_rows_are_carried_out_one_after_the_other(
    world: World, size: int, *, is_declared: bool
) -> None:
    """The database has one writer, which several would keep busy in a row. Brief ones go between."""
    body, running = Held(size), world.service.app.endpoint._turns.running
    body.may.set()
    headers = {"Content-Length": str(body.size)} if is_declared else {}
    async with running.turn(SECONDS):
        task = asyncio.create_task(world.client.post(API + LOGS, content=body.parts(), headers=headers))
        await until(lambda: body.taken == 2)
        brief = Held(BRIEF)
        brief.may.set()
        answer = await world.client.post(API + LOGS, content=brief.parts(), headers={"Content-Length": str(BRIEF)})
        assert answer.status_code == 200
        assert not task.done()
    assert (await task).status_code == 200


async def test_a_body_that_another_writer_would_wait_long_for_is_refused(world: World) -> None:
    long = [{"product_number": f"L{n}", "product_details": "\u6f22" * 900} for n in range(MIB // 2700 + 1)]
    short = [{"product_number": f"S{n}"} for n in range(MAX_ITEMS + 1)]
    for products, status in ((long, 413), (short, 413), (long[10:], 200)):
        body = json.dumps({"products": products}, ensure_ascii=False).encode()
        assert (await world.client.post(PRODUCTS, content=body)).status_code == status


@pytest.mark.sqlite
async def test_the_search_index_of_large_bodies_keeps_no_writer_waiting(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To index long texts takes longer than all else, so that it is done after the request, a part in a transaction."""
    sizes, begin = list[int](), SqliteTransaction.begin

    def count(*said: object) -> str:
        sizes[-1] += len(str(said[0]))
        return index_pieces(str(said[0]))

    def note(self: SqliteTransaction, statement: str) -> None:
        if statement == "BEGIN IMMEDIATE":
            self.connection.create_scalar_function("pieces_of", count, 1, deterministic=True)
            sizes.append(0)
        begin(self, statement)

    monkeypatch.setattr(SqliteTransaction, "begin", note)
    texts = ["".join(chr(0x4E00 + (k * (n + 1) + n) % 20_000) for k in range(900)) for n in range(tries(50, 100))]
    await world.post(
        "/products", {"products": [{"product_number": f"L{n}", "product_name": t} for n, t in enumerate(texts)]}
    )

    async def found() -> list[str]:
        answer = await world.client.get(PRODUCTS, params={"search_text": texts[-1][:40]})
        return [one["product_number"] for one in answer.json()["records"]]

    waiting = "SELECT product_number FROM product_waiting"
    last = f"L{len(texts) - 1}"
    assert await found() == [last], "it is found before it is indexed"
    await until(lambda: not world.service.database.read_now(lambda tx: tx.all(waiting)))
    assert await found() == [last]
    assert sum(sizes) >= sum(map(len, texts))
    assert max(sizes) < INDEXED_AT_ONCE + 1_000


async def test_a_token_has_so_many_bodies_under_way_and_others_go_on(world: World) -> None:
    held = [Held(MIB) for _ in range(TOKEN_BYTES // MIB)]

    def sent(body: Held, client: httpx.AsyncClient) -> asyncio.Task[httpx.Response]:
        headers = {"Content-Length": str(body.size)}
        return asyncio.create_task(client.post(API + LOGS, content=body.parts(), headers=headers))

    async with world.client_for("staff", ["S1"]) as client, world.client_for() as other:
        tasks = [sent(body, client) for body in held]
        await until(lambda: all(body.taken for body in held))
        refused = await sent(Held(2 * SMALL), client)
        assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
        others = Held(2 * SMALL)
        others.may.set()
        assert (await sent(others, other)).status_code == 200
        for body in held:
            body.may.set()
        assert {(await task).status_code for task in tasks} == {200}
        again = Held(2 * SMALL)
        again.may.set()
        assert (await sent(again, client)).status_code == 200
    assert not world.service.app.endpoint._turns.bytes._sum


async def test_names_of_fields_are_not_without_number(world: World) -> None:
    many = ",".join(f'{{"k{n}":1}}' for n in range(2000)).encode()
    answer = await world.client.post(PRODUCTS, content=b'{"products":[%s]}' % many)
    assert answer.status_code == 400
    assert "1,000 names" in answer.json()["detail"]
    assert gc.isenabled()


@pytest.mark.parametrize("value", ["[]", "{}", "1.5", '"aa"', '{"a":1}'])
async def test_body_with_too_many_values_is_not_parsed(
    world: World, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aisle.service.http.request_body.json", None)
    body = f"[{','.join([value] * min(MOST_VALUES + 1, MIB // (len(value) + 1) - 2))}]".encode()
    answer = await world.client.post(PRODUCTS, content=body)
    assert answer.status_code == 413
    assert "values" in answer.json()["detail"]


@pytest.mark.parametrize("value", ["[]", "{}", "[[]]", '[""' + " " * 25 + "]"])
async def test_lists_of_no_length_are_not_read_where_few_rows_may_come(
    world: World, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aisle.service.http.request_body.json", None)
    body = f"[{','.join([value] * (MIB // (len(value) + 1) - 2))}]".encode()
    async with world.client_for("staff", ["S1"]) as client:
        answer = await client.post(API + LOGS, content=body)
    assert answer.status_code == 413
    assert ("lists and objects" if " " in value else "values") in answer.json()["detail"]


async def test_bodies_of_all_callers_have_a_sum() -> None:
    turns = Turns()

    async def refused(token: str, address: str, size: int = MIB) -> int:
        async with turns.turn(address) as turn:
            try:
                turn.begin(token, size)
            except Refusal as refusal:
                return refusal.status
        return 0

    async with AsyncExitStack() as held:

        async def hold(token: str, address: str) -> None:
            turn = await held.enter_async_context(turns.turn(address))
            turn.begin(token, MIB)

        for number in range(TOKEN_BYTES // MIB):
            await hold("t0", f"a{number}")
        assert await refused("t0", "b") == 429, "a token has too many"
        assert await refused("t1", "b") == 0
        for number in range(ADDRESS_BYTES // MIB):
            await hold(f"t{1 + number}", "b")
        assert await refused("u", "b") == 429, "an address has too many"
        for number in range((MOST_BYTES - TOKEN_BYTES - ADDRESS_BYTES) // MIB):
            await hold(f"u{number}", f"c{number}")
        assert await refused("v", "d") == 503
        assert await refused("v", "d", 1) == 503
    assert not turns.bytes._by_key
    assert not turns.bytes._sum


async def test_long_answers_that_nobody_reads_have_a_sum(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aisle.service.http.endpoint.SMALL", 10)
    monkeypatch.setattr("aisle.service.http.rate_limit_and_turns_of_large_bodies.ADDRESS_BYTES", 100)
    unread = world.service.app.endpoint._unread
    assert (await world.client.get(API + "/stores")).status_code == 200
    assert not unread._sum
    unread.add("another", "127.0.0.1", 90)
    answer = await world.client.get(API + "/stores")
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "1")
    unread.remove("another", "127.0.0.1", 90)
    assert (await world.client.get(API + "/stores")).status_code == 200


async def test_a_body_in_small_parts_is_counted_in_large_ones() -> None:
    turns = Turns()
    async with turns.turn("a") as turn:
        for size in range(1, MIB, 1000):
            turn.begin("t", size)
        assert MIB - 1000 < turns.bytes._sum <= MIB
        assert len(turn._held._exit_callbacks) < 30  # type: ignore[attr-defined]


def noted_statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that SQLite runs from now on."""
    run, execute, run_many = list[str](), SqliteTransaction._execute, SqliteTransaction.run_many

    def note(self: SqliteTransaction, sql: str, args: Any) -> Any:
        run.append(sql)
        return execute(self, sql, args)

    async def note_many(self: SqliteTransaction, sql: str, args: Any) -> None:
        run.append(sql)
        await run_many(self, sql, args)

    monkeypatch.setattr(SqliteTransaction, "_execute", note)
    monkeypatch.setattr(SqliteTransaction, "run_many", note_many)
    return run


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ({"is_counted_quantity": "true"}, {"counted_quantity": 3, "location_code": "A1"}),
        ({}, {"quantity": -1, "reason_code": 1, "location_code": "A1"}),
        ({"is_from_receipt": "true"}, {"quantity": 1, "location_code": "A1"}),
    ],
    ids=["counts", "losses", "receipts"],
)
async def test_long_lists_of_stock_need_few_statements(
    world: World, monkeypatch: pytest.MonkeyPatch, query: dict[str, str], rows: dict[str, Any]
) -> None:
    """Each statement is a round trip to PostgreSQL, and other writers of the store wait for all of them."""
    numbers = [f"N{n}" for n in range(100)]
    await world.post("/products", {"products": [{"product_number": number} for number in numbers]})
    run = noted_statements(monkeypatch)
    for when, most in ((None, 40), (None, 40), ("2026-01-01T00:00:00Z", 150)):
        run.clear()
        time_of_scan = {"scanned_datetime": when} if when else {}
        entries = [{"product_number": number, **rows, **time_of_scan} for number in numbers]
        answer = await world.send("POST", LOGS, {"storeproductlog": entries}, query=query)
        assert answer.status_code == 200
        assert len(run) < most, Counter(run).most_common(5)


async def test_orders_without_goods_are_deleted_by_few_statements(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = {"line_number": 1, "product_number": "P1", "quantity": 2}
    orders = [{"order_number": f"N{n}", "order_lines": [line]} for n in range(100)]
    path = "/stores/S1/orders/customerorders"
    await world.post(path, {"orders": orders})
    await world.count("P1", "A1", stock_pool_1=3)
    await world.pick("N7", 1, "P1", 2)
    run = noted_statements(monkeypatch)
    answer = await world.send("POST", path, {"orders": []}, query={"flush": True})
    assert answer.status_code == 200
    assert len(run) < 50, Counter(run).most_common(5)
    assert await world.rows(path) == []
    assert world.books() == {("P1", "A1", 1): 1, ("P1", "", 1): 2}


async def test_orders_and_their_picks_need_few_statements(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = [f"N{n}" for n in range(100)]
    await world.post("/products", {"products": [{"product_number": number} for number in numbers]})
    lines = [{"line_number": n, "product_number": number, "quantity": 3} for n, number in enumerate(numbers, 1)]
    orders = [{"order_number": f"O{n}", "order_lines": [line]} for n, line in enumerate(lines)]
    run = noted_statements(monkeypatch)
    for body in ({"orders": orders}, {"orders": [{"order_number": "LONG", "order_lines": lines}]}):
        run.clear()
        await world.post("/stores/S1/orders/customerorders", body)
        assert len(run) < 40, Counter(run).most_common(5)
    for picked in (2, 3, 1):
        run.clear()
        picks = [{**line, "picked_quantity": picked} for line in lines]
        await world.update("LONG", *picks)
        assert len(run) < 50, Counter(run).most_common(5)


DELIVERY_LINES = [{"product_number": "P1"}, {"product_number": "", "barcode": "2900000000018"}]


@pytest.mark.parametrize("goods", DELIVERY_LINES, ids=["numbers", "barcodes"])
async def test_deliveries_need_few_statements(
    world: World, monkeypatch: pytest.MonkeyPatch, goods: dict[str, str]
) -> None:
    await world.post("/products", {"products": [{"product_number": "CODED", "barcode": "2900000000018"}]})
    run = noted_statements(monkeypatch)
    for quantity, override in ((1, False), (1, False), (2, True)):
        line = {"quantity": quantity, "customer_order_number": "O1", "customer_order_line_number": 1}
        shipment = {"customer_order_shipment_number": "S", **goods}
        orders = [
            {"order_number": f"D{n}", "no_of_containers": 1, "order_lines": [{"line_number": 1, **line, **shipment}]}
            for n in range(100)
        ]
        run.clear()
        headers = {"container_override": "true"} if override else {}
        path = "/stores/S1/orders/deliveries"
        answer = await world.client.post(API + path, json={"orders": orders}, headers=headers)
        assert answer.status_code == 200, answer.text
        assert len(run) < 40, Counter(run).most_common(5)
    marks = [{"order_number": f"D{n}", "is_downloaded": True} for n in range(100)]
    run.clear()
    await world.post("/aisle/v1/stores/S1/deliveries", {"deliveries": marks})
    assert len(run) < 40, Counter(run).most_common(5)


async def test_recounts_need_few_statements(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = [f"N{n}" for n in range(100)]
    await world.post("/products", {"products": [{"product_number": number} for number in numbers]})
    path = "/aisle/v1/stores/S1/recounts"
    run = noted_statements(monkeypatch)
    ids = (await world.post(path, {"recounts": [{"product_number": n, "location_code": "A1"} for n in numbers]}))[
        "data"
    ]
    assert len(run) < 40, Counter(run).most_common(5)
    run.clear()
    await world.post(path, {"recounts": [{"id": one, "state": "withdrawn"} for one in ids]})
    assert len(run) < 40, Counter(run).most_common(5)
    entries = [{"product_number": n, "location_code": "A1", "quantity": -1, "reason_code": 1} for n in numbers]
    logged = (await world.post(LOGS, {"storeproductlog": entries}))["data"]
    run.clear()
    await world.post(path, {"recounts": [{"log_id": one} for one in logged]})
    assert len(run) < 40, Counter(run).most_common(5)


async def test_people_need_few_statements(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    run = noted_statements(monkeypatch)
    people = [{"badge": f"B{n}", "user": f"u{n}", "name": "Ann"} for n in range(100)]
    for change in ({}, {"role": "supervisor"}, {"pin": ""}, {"is_active": False}):
        run.clear()
        await world.post("/aisle/v1/stores/S1/people", {"people": [{**one, **change} for one in people]})
        assert len(run) < 40, Counter(run).most_common(5)


async def test_orders_with_goods_are_deleted_by_few_statements(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.count("P1", "A1", stock_pool_1=300)
    line = {"line_number": 1, "product_number": "P1", "quantity": 2, "picked_quantity": 2}
    path = "/stores/S1/orders/customerorders"
    await world.post(path, {"orders": [{"order_number": f"N{n}", "order_lines": [line]} for n in range(100)]})
    run = noted_statements(monkeypatch)
    answer = await world.send("POST", path, {"orders": []}, query={"flush": True})
    assert answer.status_code == 200
    assert len(run) < 50, Counter(run).most_common(5)
    assert world.books() == {("P1", "A1", 1): 100, ("P1", "", 1): 200}
