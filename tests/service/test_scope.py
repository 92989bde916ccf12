"""No statement reaches a store of others, whatever a handler forgets."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import httpx
import pytest

import aisle.service.db.statements as catalogue
from aisle.contract.operations import EXTENSIONS, OPERATIONS
from aisle.service import handlers
from aisle.service.auth.authorization import (
    Authorization,
    StoreScopedTransaction,
    authorize,
    store_parameters,
    store_tables,
)
from aisle.service.db.database_interface import Row
from aisle.service.db.sqlite_connection_and_transaction import SqliteTransaction
from aisle.service.db.statements import logs_and_changes as changes_sql
from aisle.service.db.statements import people_and_tokens as people_sql
from aisle.service.db.statements import stock as stock_sql
from aisle.service.db.statements import stores_and_products as stores_sql
from aisle.service.errors import Refusal, to_json_bytes
from aisle.service.handlers.registry import HANDLERS, Handler
from aisle.service.http import endpoint
from aisle.service.operation_context import CHAIN, Context, OperationCall, Principal, Store
from tests.service.test_authorization import IN_BODY, OF_CHAIN, OF_TOKEN, OWN_QUERIES, _own_body, ask
from tests.service.world import World

# Statements on rows of stores that name none: only a token of all stores can have them carried out.
OF_ALL_STORES = {
    "people_and_tokens.TOKEN_STORES",
    "people_and_tokens.STORES_OF_TOKENS_DELETE",
    "people_and_tokens.HAS_DATA",
    "people_and_tokens.SIMILAR_STORES",
    "stores_and_products.PRODUCTS_IN_OPEN_DELIVERIES",
    "stores_and_products.PRODUCTS_IN_OPEN_ORDERS",
    "stores_and_products.PRODUCTS_WITH_STOCK",
    "stores_and_products.STORES_RANGING",
    "stores_and_products.STORE_NUMBERS",
}
# They go by the age of rows, whosever they are; the gate runs them after its answer, for nobody.
OF_NOBODY = {
    "logs_and_changes.OLD_RESPONSES_DELETE",
    "logs_and_changes.OLD_RESPONSES_STEP",
    "people_and_tokens.OLD_SIGN_IN_FAILURES",
    "logs_and_changes.OLD_WRITE_HISTORY_DELETE",
    "logs_and_changes.OLD_WRITE_HISTORY_STEP",
    "logs_and_changes.OLD_LATEST_WRITES_DELETE",
    "logs_and_changes.OLD_LATEST_WRITES_STEP",
}
# What a token of some stores may ask of the chain, or keep under its name.
OF_THE_CHAIN_TOO = (
    changes_sql.RESPONSE_ADD,
    changes_sql.RESPONSE_OF_KEY,
    changes_sql.CHANGES_SINCE,
    changes_sql.COUNTER_VALUE,
    changes_sql.WRITE_AT_CHANGE,
    changes_sql.WRITE_HISTORY_FIRST,
    changes_sql.KNOWN_KEYS,
    changes_sql.OTHER_LOADS,
)


def statements() -> Iterator[tuple[str, str]]:
    """Every whole statement of the catalogue, by its name; lists get their conditions when they are asked."""
    for module in iter_modules(catalogue.__path__):
        loaded = import_module(f"{catalogue.__name__}.{module.name}")
        for name, value in vars(loaded).items():
            texts = value if isinstance(value, tuple) else (value,)
            for text in texts:
                words = text.split(None, 1)[0] if isinstance(text, str) and text.split() else ""
                if words in ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH"):
                    yield f"{module.name}.{name}", text


_HEAD = re.compile(r"\.(\w+_(LIST|KEYS|COUNT|PAGE)(_CATALOGUE|_WITH_LOCATIONS)?|GOODS_AT_LOCATION)$")


def _heads() -> set[str]:
    """The beginnings of lists, which never run without their conditions."""
    return {name for name, text in statements() if _HEAD.search(name) and text.split()[0] == "SELECT"}


class NoTx:
    """A transaction in which nothing may happen."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    async def all(self, sql: str, *args: object) -> list[Row]:
        self.ran.append(sql)
        return [("S1", 1)] if args and args[0] in ("S1", ["S1"]) else []

    async def one(self, sql: str, *args: object) -> Row | None:
        self.ran.append(sql)
        return None

    async def run(self, sql: str, *args: object) -> None:
        self.ran.append(sql)

    async def run_many(self, sql: str, rows: Any) -> None:
        self.ran.append(sql)

    async def run_batch(self, statements: Any) -> None:
        self.ran += [sql for sql, _ in statements]

    def savepoint(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()


def test_the_tables_of_stores_are_known() -> None:
    tables = store_tables()
    assert {"store", "token_store", "customer_order", "order_line", "leg", "balance", "recount", "person"} <= tables
    assert not {"product", "product_code", "token"} & tables


def test_every_statement_on_stores_is_bound_to_them_or_is_the_chain_s() -> None:
    unbound = set()
    for name, text in statements():
        reach = store_parameters(text)
        if reach.touches_stores and not (reach.stores or reach.tokens):
            unbound.add(name)
    named = OF_ALL_STORES | OF_NOBODY
    assert unbound - _heads() <= named
    assert named <= unbound


@pytest.mark.parametrize("foreign", ["S2", "NONE", CHAIN])
async def test_no_statement_runs_for_a_store_that_was_not_entered(foreign: str) -> None:
    tx = NoTx()
    scoped = StoreScopedTransaction(tx, Principal("t1", "x", "admin", all_stores=False))
    assert await scoped.one(people_sql.STORE_OF_TOKEN, "S1", "t1")
    assert await scoped.one(people_sql.STORE_OF_TOKEN, "S2", "t1") is None
    tx.ran.clear()
    tried = 0
    for name, text in statements():
        reach = store_parameters(text)
        if not reach.touches_stores or text in (people_sql.STORE_OF_TOKEN, people_sql.STORES_OF_TOKEN):
            continue
        count = max([0, *(int(part.split("$")[0] or 0) for part in _numbers(text))])
        args: list[object] = ["S1"] * count
        for n in reach.stores:
            args[n - 1] = foreign
        for n in reach.tokens:
            args[n - 1] = "t2" if not reach.stores else "t1"
        if foreign == CHAIN and text in OF_THE_CHAIN_TOO:
            continue
        for way in (scoped.all, scoped.one, scoped.run):
            with pytest.raises(Refusal) as refused:
                await way(text, *args)
            assert refused.value.status == 403, name
        with pytest.raises(Refusal):
            await scoped.run_many(text, [args])
        with pytest.raises(Refusal):
            await scoped.run_batch([(text, args)])
        tried += 1
    assert tx.ran == []
    assert tried > 80


async def test_what_a_token_of_some_stores_may_ask_of_the_chain_runs() -> None:
    tx = NoTx()
    scoped = StoreScopedTransaction(tx, Principal("t1", "x", "admin", all_stores=False))
    await scoped.one(people_sql.STORE_OF_TOKEN, "S1", "t1")
    tx.ran.clear()
    for text in OF_THE_CHAIN_TOO:
        args = [CHAIN] * max(int(number) for number in _numbers(text))
        await scoped.all(text, "S1", *args[1:])
        await scoped.all(text, *args)
    assert tx.ran == [text for text in OF_THE_CHAIN_TOO for _ in range(2)]


def _numbers(text: str) -> list[str]:
    return re.findall(r"\$(\d+)", text)


async def test_lists_of_stores_and_rows_of_many_are_looked_through() -> None:
    tx = NoTx()
    scoped = StoreScopedTransaction(tx, Principal("t1", "x", "admin", all_stores=False))
    await scoped.one(people_sql.STORE_OF_TOKEN, "S1", "t1")
    await scoped.all(stores_sql.STORE_ORDINALS, ["S1"])
    await scoped.run_many(changes_sql.CHANGE_SET, [("S1", "order", "1", 1, "")])
    ran = len(tx.ran)
    with pytest.raises(Refusal):
        await scoped.all(stores_sql.STORE_ORDINALS, ["S1", "S2"])
    with pytest.raises(Refusal):
        await scoped.run_many(changes_sql.CHANGE_SET, [("S1", "order", "1", 1, ""), ("S2", "order", "1", 1, "")])
    with pytest.raises(Refusal):
        await scoped.one(people_sql.STORE_OF_TOKEN, "S2", "t2")
    assert len(tx.ran) == ran


def _blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every operation forgets to ask whether the store is the token's."""

    async def enter(tx: object, principal: object, store_number: str) -> Store:
        return Store(store_number, 2)

    async def arrived(*arguments: Any, store_number: str | None, **named: Any) -> Authorization:
        found = await authorize(*arguments, store_number=store_number, **named)
        return found if store_number is None else found._replace(store=Store(store_number, 2))

    monkeypatch.setattr(endpoint, "authorize", arrived)
    named = [f"handlers.{module.name}" for module in iter_modules(handlers.__path__)]
    for module in ("http.endpoint", "auth.authorization", *named):
        loaded = import_module(f"aisle.service.{module}")
        if hasattr(loaded, "authorize_store"):
            monkeypatch.setattr(loaded, "authorize_store", enter)


async def test_operations_that_forget_the_check_still_reach_no_foreign_store(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = {"storeproductlog": [{"product_number": "P1", "quantity": 3}]}
    await world.post("/stores/S2/products/stock/storeproductlogs", entry)
    before = world.books("S2")
    _blind(monkeypatch)
    logging.getLogger("aisle.service").setLevel(logging.CRITICAL)
    try:
        async with world.client_for("admin", ["S1"]) as client:
            for name in set(OPERATIONS) - OF_TOKEN - OF_CHAIN:
                await _refused(client, name, [await _said(world, name, store, client) for store in ("S2", "NONE")])
            for extension in EXTENSIONS.values():
                answers = []
                for store in ("S2", "NONE"):
                    path = extension.path.replace("{store_number}", store)
                    body = _own_body(extension.name, store)
                    if extension.name == "write-people":
                        body = {"people": [{"badge": "B", "user": "u", "name": "n"}]}
                    query = OWN_QUERIES.get(extension.name, {})
                    answers.append(await world.send(extension.method, path, body, client=client, query=query))
                await _refused(client, extension.name, answers)
    finally:
        logging.getLogger("aisle.service").setLevel(logging.NOTSET)
    assert world.books("S2") == before


async def _said(world: World, name: str, store: str, client: httpx.AsyncClient) -> httpx.Response:
    """An operation with something to do in that store."""
    path = OPERATIONS[name].path.removeprefix("/api/v2/public").replace("{store_number}", store)
    body = _WRITES.get(name)
    if body is None or name in IN_BODY:
        return await ask(world, name, store, client)
    query = {"location_code_tag": "x"} if "clearance" in name else {}
    return await world.send(OPERATIONS[name].method, path, body, client=client, query=query)


_WRITES: dict[str, Any] = {
    "update-customer-order": {"orders": {"order_number": "O1"}},
    "create-store-product-logs": {"storeproductlog": [{"product_number": "P1", "quantity": 1}]},
    "create-movement": [
        {"product_number": "P1", "quantity": 1, "from_location": {}, "to_location": {"location_code": "A1"}}
    ],
    "update-store-products": [{"product_number": "P1", "min": 1}],
    "create-store-products": {"store_products": [{"product_number": "P1"}]},
    "create-customer-orders-one-store": {"orders": [{"order_number": "X"}]},
    "create-store-deliveries": {"orders": [{"order_number": "X", "no_of_containers": 1, "supplier_name": "S"}]},
}


async def _refused(client: httpx.AsyncClient, name: str, answers: list[httpx.Response]) -> None:
    foreign, missing = answers
    assert foreign.status_code == 403, (name, foreign.status_code, foreign.text)
    assert foreign.content == missing.content, name


async def test_a_handler_that_reads_or_writes_whatever_it_is_told_is_refused(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def reads(ctx: Context, call: OperationCall) -> bytes:
        return to_json_bytes(await ctx.tx.all(stock_sql.BALANCES_OF_PRODUCTS, call.query["search_text"], ["P1"]))

    async def writes(ctx: Context, call: OperationCall) -> bytes:
        await ctx.tx.run(people_sql.PERSON_SET, call.query["appUserName"], "B", "u", "n", "supervisor")
        return b"{}"

    await world.count("P1", "A1", stock_pool_1=3)
    monkeypatch.setitem(HANDLERS, "list-stores", Handler(reads))
    monkeypatch.setitem(HANDLERS, "create-store-product-logs", Handler(writes))
    del world.service.app
    path = "/stores/S1/products/stock/storeproductlogs"
    async with world.client_for("admin", ["S1", "S3"]) as client:
        with caplog.at_level(logging.CRITICAL, "aisle.service"):
            read = [await world.send("GET", "/stores", query={"search_text": s}, client=client) for s in ("S2", "NONE")]
            body: dict[str, Any] = {"storeproductlog": []}
            wrote = [
                await world.send("POST", path, body, query={"appUserName": s}, client=client) for s in ("S2", "NONE")
            ]
        assert {(answer.status_code, answer.content) for answer in (*read, *wrote)} == {(403, read[0].content)}
        own = await world.send("POST", path, body, query={"appUserName": "S1"}, client=client)
        assert own.status_code == 200, own.text
        # Its own store, but it never entered it: that is forgotten too.
        with caplog.at_level(logging.CRITICAL, "aisle.service"):
            own = await world.send("GET", "/stores", query={"search_text": "S3"}, client=client)
        assert own.status_code == 403
    people = (await world.get("/aisle/v1/stores/S2/people"))["people"]
    assert people == []


CHAIN_LISTS = (
    "list-store-products-stock",
    "list-store-product-logs",
    "list-deliveries",
    "list-receipts",
    "list-stores",
)


@pytest.mark.parametrize("name", CHAIN_LISTS)
async def test_chain_lists_are_limited_to_token_stores(world: World, name: str) -> None:
    """With every filter there is, for a filter may have a statement of its own."""
    entry = {"storeproductlog": [{"product_number": "P1", "quantity": 3}]}
    for store in ("S1", "S2"):
        await world.post(f"/stores/{store}/products/stock/storeproductlogs", entry)
    values = {"boolean": "true", "number": "1", "string": "1"}
    async with world.client_for("staff", ["S1", "S3"]) as client:
        path = OPERATIONS[name].path.removeprefix("/api/v2/public")
        needed = {param.name: "1" for param in OPERATIONS[name].params_in("query") if param.required}
        for param in OPERATIONS[name].params_in("query"):
            if param.name == "store_number":
                continue
            value = "2026-01-01" if "date" in param.name else values[param.type]
            answer = await world.send("GET", path, query=needed | {param.name: value}, client=client)
            assert answer.status_code == 200, (param.name, answer.text)
            assert not [row for row in answer.json()["list"] if row.get("store_number", "S1") not in ("S1", "S3")]


@pytest.mark.sqlite
async def test_a_foreign_store_costs_the_same_work_as_one_that_is_not_there(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same statements, and none of them looks at the foreign store's row."""
    ran: list[str] = []
    execute = SqliteTransaction._execute

    def noted(self: SqliteTransaction, sql: str, args: Any) -> list[Row]:
        ran.append(sql)
        return execute(self, sql, args)

    monkeypatch.setattr(SqliteTransaction, "_execute", noted)
    async with world.client_for("admin", ["S1"]) as client:
        await world.send("GET", "/stores", client=client)  # after this its use is not noted again
        for name in sorted(set(OPERATIONS) - OF_TOKEN - OF_CHAIN):
            work = []
            for store in ("S2", "NONE"):
                ran.clear()
                assert (await _said(world, name, store, client)).status_code == 403
                work.append(list(ran))
            assert work[0] == work[1], name
            # What is looked for in the end are stores of the token itself, whose number may have been meant.
            assert work[0][-1] == people_sql.SIMILAR_STORES_OF_TOKEN, name
            assert work[0][-2] in (people_sql.AUTHORIZATION, people_sql.STORE_OF_TOKEN), name
