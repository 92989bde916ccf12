"""Rows about what safety costs: durable commits, sanitising, validation and authorisation, each as a share."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from aisle import terminal_text
from aisle.cache.reader import CacheReader
from aisle.host.notify_sockets import SessionSocket
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Policy
from aisle.outbox.commit_journal import Journal
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.scan.inputs_and_line_grouping import Line
from aisle.service.app_options_and_limits import RateLimits, ServiceOptions
from aisle.service.auth.authorization import StoreScopedTransaction
from aisle.service.auth.tokens_and_pins import create_token
from aisle.service.db import sqlite_connection_and_transaction as sqlite
from aisle.service.domain.quantities_times_and_json import format_timestamp
from aisle.service.http import parameters_and_headers, request_body
from aisle.service.http.endpoint import OperationEndpoint
from aisle.service.open_service_and_admin_token import Service, open_service
from aisle.session.profile import Profile
from aisle.session.session import Session
from aisle.session.store_connection import StoreAccess
from aisle.tui.layout.screen import layout_screen
from tests.bench import generated_store
from tests.bench.bench import Bench
from tests.bench.clocks import Clocks
from tests.bench.grown_cache import grow
from tests.bench.rows_cache import took_ms
from tests.bench.table import Pair, Row, measures, median
from tests.courier.writes import STORE
from tests.faults import soak

API = "/api/v2/public"
COLUMNS, ROWS = 40, 20
SCAN, MOVEMENT, PAGE = "a scan, input to screen", "a movement's request", "the request of 100 stock entries"
VALIDATION, AUTHORISATION = "validation", "authorisation"


@measures(
    "safety",
    Row("durable commit of a scan", "ms", SCAN),
    Row("sanitising what a scan shows, nothing known yet", "ms", SCAN),
    Row("durable commit of a movement", "ms", MOVEMENT),
    Row("validation of a movement", "ms", MOVEMENT),
    Row("authorisation of a movement", "ms", MOVEMENT),
    Row("validation of a query", "ms", PAGE),
    Row("authorisation of a query", "ms", PAGE),
)
def safety(bench: Bench) -> Sequence[Pair]:
    """Sessions and service in this process, without terminal and socket; with and without in turns, or by clocks."""
    return [*_scans(bench), *_requests(bench)]


def _scans(bench: Bench) -> list[Pair]:
    home = grow(bench.scratch / "safety", bench.times(2_000, 100))
    code = generated_store.products(1)[0].barcode
    durable: list[float] = []
    loose: list[float] = []
    shown: list[float] = []
    raw: list[float] = []
    with closing(open_outbox(home.folder)) as outbox, closing(_session(home, outbox)) as session:
        _say(session, generated_store.ORDER)
        for _ in range(bench.times(200, 3)):
            for mode, found in (("FULL", durable), ("OFF", loose)):
                outbox.execute(f"PRAGMA synchronous={mode}").fetchall()
                found.append(took_ms(lambda: _say(session, code)))
            frame = session.take([], time.monotonic())
            terminal_text.clean.cache_clear()
            shown.append(took_ms(lambda frame=frame: layout_screen(frame, COLUMNS, ROWS)))  # type: ignore[misc]
            with _uncleaned():
                raw.append(took_ms(lambda frame=frame: layout_screen(frame, COLUMNS, ROWS)))  # type: ignore[misc]
    whole = _middle(durable) + _middle(shown)
    return [Pair(_middle(durable) - _middle(loose), whole), Pair(_middle(shown) - _middle(raw), whole)]


def _session(home: StoreFolder, outbox: Any) -> Session:
    rooms = StoreAccess(CacheReader(home, outbox), Journal(outbox), OperationQueue(outbox), SessionSocket(home))
    session = Session(rooms, Profile(generated_store.STORE, "bench", generated_store.USER, Policy()))
    session.start()
    return session


def _say(session: Session, said: str) -> None:
    session.take([Line(said, "cr", 0.0, 0.0, 0.0)], time.monotonic())


@contextmanager
def _uncleaned() -> Iterator[None]:
    """Nothing is sanitised in the block."""
    clean = terminal_text.clean
    users = [module for module in list(sys.modules.values()) if getattr(module, "clean", None) is clean]
    try:
        for module in users:
            module.clean = lambda said, limit=0: said  # type: ignore[attr-defined]
        yield
    finally:
        for module in users:
            module.clean = clean  # type: ignore[attr-defined]


def _requests(bench: Bench) -> list[Pair]:
    plan = soak.Plan(0, 0.0, (0.0, 0.0), 0, products=bench.times(400, 110))
    folder = bench.scratch / "safety-shop"
    asyncio.run(soak.fill(folder / "full", plan, 1))
    shutil.copytree(folder / "full", folder / "off")
    each = [_moved(index, one) for index, one in enumerate(soak.goods(plan)[:20])]
    path = f"{API}/stores/{STORE}/storeproductlocation/movement"
    page = f"{API}/storeproducts/stock"
    query = f"store_number={STORE}&page_size=100"
    with _opened(folder / "full") as (service, token), _loosely(folder / "off") as (loose, other), Clocks() as clocks:
        _clocked(clocks)
        durable: list[float] = []
        unsafe: list[float] = []
        listed: list[float] = []
        spent: list[tuple[float, ...]] = []
        for body in [one for _ in range(bench.times(15, 1)) for one in each][: bench.times(300, 3)]:
            unsafe.append(_asked(loose, "POST", path, "AppUserName=b", other, body))
            clocks.spent.clear()
            durable.append(_asked(service, "POST", path, "AppUserName=b", token, body))
            parsed = took_ms(lambda body=body: json.loads(body))  # type: ignore[misc]
            moved = (clocks.spent[VALIDATION] * 1000 - parsed, clocks.spent[AUTHORISATION] * 1000)
            clocks.spent.clear()
            listed.append(_asked(service, "GET", page, query, token))
            spent.append((*moved, clocks.spent[VALIDATION] * 1000, clocks.spent[AUTHORISATION] * 1000))
    middles = [_middle(found) for found in zip(*spent, strict=True)]
    write, read = _middle(durable), _middle(listed)
    shares = zip(middles, (write, write, read, read), strict=True)
    return [Pair(write - _middle(unsafe), write), *(Pair(*pair) for pair in shares)]


def _clocked(clocks: Clocks) -> None:
    clocks.put_on(request_body, "parse_body", VALIDATION)
    for function in ("path_values", "query_values", "header_values"):
        clocks.put_on(parameters_and_headers, function, VALIDATION)
    clocks.put_on(OperationEndpoint, "_authorize", AUTHORISATION)
    clocks.put_on(StoreScopedTransaction, "_check", AUTHORISATION)


@contextmanager
def _opened(folder: Path) -> Iterator[tuple[Service, str]]:
    """The service over that folder's database, and the token of somebody who works in one store."""
    with closing(
        open_service(folder / "service.db", ServiceOptions(rate_limits=RateLimits(token=0, unauthenticated=0)))
    ) as service:
        now = format_timestamp(time.time())
        made = create_token(service.database, name="bench", role="staff", store_numbers=[STORE], now=now)
        yield service, made.secret


@contextmanager
def _loosely(folder: Path) -> Iterator[tuple[Service, str]]:
    """The same where no commit waits for the disk."""
    strict = sqlite._PRAGMAS
    sqlite._PRAGMAS = tuple(pragma.replace("synchronous = FULL", "synchronous = OFF") for pragma in strict)  # type: ignore[assignment]
    try:
        with _opened(folder) as opened:
            yield opened
    finally:
        sqlite._PRAGMAS = strict


def _moved(index: int, one: soak.Goods) -> bytes:
    """A movement of one piece from one place of a product to its other one."""
    places = zip(("from_location", "to_location"), one.places if index % 2 else one.places[::-1], strict=True)
    item = {"product_number": one.number, "quantity": 1, **{side: {"location_code": code} for side, code in places}}
    return json.dumps([item]).encode()


def _asked(service: Service, method: str, path: str, query: str, token: str, body: bytes = b"") -> float:
    """Milliseconds of one request, from the application's door on. Raises AssertionError when it is no success."""
    heads = [(b"host", b"here"), (b"authorization", f"Bearer {token}".encode()), (b"content-type", b"application/json")]
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": heads,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
        "scheme": "http",
        "root_path": "",
    }
    told: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        told.append(message)

    async def ask() -> float:
        began = time.perf_counter()
        await service.app(scope, receive, send)
        return (time.perf_counter() - began) * 1000

    took = asyncio.run(ask())
    assert told[0]["status"] == 200, told
    return took


def _middle(found: Sequence[float]) -> float:
    return median(found) or 0.0
