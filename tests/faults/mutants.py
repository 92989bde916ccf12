"""Known mistakes of such systems, one at a time: each replaces one piece of the program inside a `with`.

A fault program that does not notice them proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from aisle.courier.pull.change_feed import ChangeFeed
from aisle.courier.push.outgoing_request import request_headers
from aisle.courier.service_features_and_lists import Features
from aisle.host.database import transaction
from aisle.outbox import operation_queue
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import Operation
from aisle.outbox.operation_table import OperationRows
from aisle.service.db.database_interface import Statement
from aisle.service.db.statements import logs_and_changes as writes_sql
from aisle.service.handlers.registry import OperationResult
from aisle.service.http import endpoint
from aisle.service.http.endpoint import OperationEndpoint, run_once
from tests.faults.host import Host


@contextmanager
def resent_without_key() -> Iterator[None]:
    """The first attempt has a key; those after it have not."""

    def mutant(op: Operation, features: Features, *more: Any) -> dict[str, str]:
        headers = request_headers(op, features, *more)
        if op.attempts:
            headers.pop("Idempotency-Key", None)
        return headers

    with patch("aisle.courier.push.push_loop.request_headers", mutant):
        yield


@contextmanager
def key_in_a_second_transaction() -> Iterator[None]:
    """The service commits what was asked for, and then, by itself, the key and the answer."""
    write = OperationEndpoint._write
    later: list[tuple[Any, ...]] = []

    async def without_key(ctx: Any, *args: Any) -> OperationResult:
        run, together = ctx.tx.run, ctx.tx.run_batch

        async def kept_for_later(sql: str, *args: object) -> None:
            if sql == writes_sql.RESPONSE_ADD:
                later.append(args)
            else:
                await run(sql, *args)

        async def without(statements: Iterable[Statement]) -> None:
            known = list(statements)
            later.extend(tuple(args) for sql, args in known if sql == writes_sql.RESPONSE_ADD)
            await together([one for one in known if one[0] != writes_sql.RESPONSE_ADD])

        with patch.object(ctx.tx, "run", kept_for_later), patch.object(ctx.tx, "run_batch", without):
            return await run_once(ctx, *args)

    async def then_the_key(self: OperationEndpoint, *args: Any) -> Any:
        answer = await write(self, *args)
        while later:
            row = later.pop()

            async def keep(tx: Any, row: tuple[Any, ...] = row) -> None:
                await tx.run(writes_sql.RESPONSE_ADD, *row)

            await self.database.write(keep)
        return answer

    with patch.object(endpoint, "run_once", without_key), patch.object(OperationEndpoint, "_write", then_the_key):
        yield


@contextmanager
def sending_written_late() -> Iterator[None]:
    """That an operation is being sent is written down with what becomes of it, not before its first byte leaves."""
    begin, change, confirm = OperationQueue.begin_sending, OperationRows._transition, OperationQueue.confirm
    unwritten: dict[tuple[int, str], Callable[[], object]] = {}

    def sent(self: OperationQueue, op_id: str, sent_body: bytes, **options: Any) -> bytes | None:
        if all(op.op_id != op_id for op in self.sendable(50)):
            return None
        unwritten[id(self), op_id] = lambda: begin(self, op_id, sent_body, **options)
        return sent_body

    def late(self: OperationRows, op_id: str) -> None:
        unwritten.pop((id(self), op_id), lambda: None)()

    def changed(self: OperationRows, op_id: str, event: str, **columns: Any) -> None:
        late(self, op_id)
        change(self, op_id, event, **columns)

    def confirmed(self: OperationQueue, op_id: str, *args: Any, **options: Any) -> None:
        late(self, op_id)
        confirm(self, op_id, *args, **options)

    with (
        patch.object(OperationQueue, "begin_sending", sent),
        patch.object(OperationRows, "_transition", changed),
        patch.object(OperationQueue, "confirm", confirmed),
    ):
        yield


@contextmanager
def cursor_ahead_of_rows() -> Iterator[None]:
    """What has changed is put behind before it is read."""
    look = ChangeFeed.read

    async def mutant(self: ChangeFeed) -> Any:
        news = await look(self)
        self.save(news)
        return news

    with patch.object(ChangeFeed, "read", mutant):
        yield


@contextmanager
def two_couriers() -> Iterator[None]:
    """A courier takes over, and the one before it goes on."""
    end = Host._end

    async def lives_on(self: Host) -> None:
        if self.survivors:
            await end(self)
        elif self.courier is not None and self._work is not None:
            self.survivors.append((self.courier, self._work))
        self.courier, self._work = None, None

    with patch.object(Host, "_end", lives_on):
        yield


@contextmanager
def confirmed_is_enough() -> Iterator[None]:
    """A confirmed operation leaves the overlay at once, before the cache has its effect."""
    with patch("aisle.cache.order_overlay.is_included", lambda operation, began: operation.confirmed_at is not None):
        yield


@contextmanager
def merged_with_what_was_sent() -> Iterator[None]:
    """A later update of an order goes into one that waits, though that has been sent before."""
    partner = operation_queue._MERGE_CANDIDATE.replace("AND o.attempts = 0 AND o.sent_body IS NULL", "")
    assert partner != operation_queue._MERGE_CANDIDATE
    with patch.object(operation_queue, "_MERGE_CANDIDATE", partner):
        yield


@contextmanager
def deferred_transactions() -> Iterator[None]:
    """Transactions that read first take the lock for writing when they come to write."""
    function = transaction.__wrapped__  # type: ignore[attr-defined]
    code = function.__code__
    consts = tuple("BEGIN" if const == "BEGIN IMMEDIATE" else const for const in code.co_consts)
    assert consts != code.co_consts
    function.__code__ = code.replace(co_consts=consts)
    try:
        yield
    finally:
        function.__code__ = code
