"""Known mistakes of such systems, one at a time: each replaces one piece of the program inside a `with`.

A fault program that does not notice them proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from aisle.courier.features import Features
from aisle.courier.pull.changes import ChangeFeed
from aisle.courier.send.parcel import headers_of
from aisle.local.db import transaction
from aisle.local.outbox import outbox
from aisle.local.outbox.operation import Operation
from aisle.local.outbox.outbox import Outbox
from aisle.local.outbox.rows import Rows
from aisle.service import gate
from aisle.service.asked import Answer
from aisle.service.gate import Gate
from aisle.service.once import once
from aisle.service.sql import core
from aisle.service.storage import Statement
from tests.faults.host import Host


@contextmanager
def resent_without_key() -> Iterator[None]:
    """The first attempt has a key; those after it have not."""

    def mutant(op: Operation, features: Features, *more: Any) -> dict[str, str]:
        headers = headers_of(op, features, *more)
        if op.attempts:
            headers.pop("Idempotency-Key", None)
        return headers

    with patch("aisle.courier.send.deliver.headers_of", mutant):
        yield


@contextmanager
def key_in_a_second_transaction() -> Iterator[None]:
    """The service commits what was asked for, and then, by itself, the key and the answer."""
    write = Gate._write
    later: list[tuple[Any, ...]] = []

    async def without_key(ctx: Any, *args: Any) -> Answer:
        run, together = ctx.tx.run, ctx.tx.together

        async def kept_for_later(sql: str, *args: object) -> None:
            if sql == core.ANSWER_KEEP:
                later.append(args)
            else:
                await run(sql, *args)

        async def without(statements: Iterable[Statement]) -> None:
            known = list(statements)
            later.extend(tuple(args) for sql, args in known if sql == core.ANSWER_KEEP)
            await together([one for one in known if one[0] != core.ANSWER_KEEP])

        with patch.object(ctx.tx, "run", kept_for_later), patch.object(ctx.tx, "together", without):
            return await once(ctx, *args)

    async def then_the_key(self: Gate, *args: Any) -> Any:
        answer = await write(self, *args)
        while later:
            row = later.pop()

            async def keep(tx: Any, row: tuple[Any, ...] = row) -> None:
                await tx.run(core.ANSWER_KEEP, *row)

            await self.storage.write(keep)
        return answer

    with patch.object(gate, "once", without_key), patch.object(Gate, "_write", then_the_key):
        yield


@contextmanager
def sending_written_late() -> Iterator[None]:
    """That an operation is being sent is written down with what becomes of it, not before its first byte leaves."""
    begin, change, confirm = Outbox.begin_sending, Rows._change, Outbox.confirm
    unwritten: dict[tuple[int, str], Callable[[], object]] = {}

    def sent(self: Outbox, op_id: str, frozen: bytes, **options: Any) -> bytes | None:
        if all(op.op_id != op_id for op in self.sendable(50)):
            return None
        unwritten[id(self), op_id] = lambda: begin(self, op_id, frozen, **options)
        return frozen

    def late(self: Rows, op_id: str) -> None:
        unwritten.pop((id(self), op_id), lambda: None)()

    def changed(self: Rows, op_id: str, event: str, **columns: Any) -> None:
        late(self, op_id)
        change(self, op_id, event, **columns)

    def confirmed(self: Outbox, op_id: str, *args: Any, **options: Any) -> None:
        late(self, op_id)
        confirm(self, op_id, *args, **options)

    with (
        patch.object(Outbox, "begin_sending", sent),
        patch.object(Rows, "_change", changed),
        patch.object(Outbox, "confirm", confirmed),
    ):
        yield


@contextmanager
def cursor_ahead_of_rows() -> Iterator[None]:
    """What has changed is put behind before it is read."""
    look = ChangeFeed.look

    async def mutant(self: ChangeFeed) -> Any:
        news = await look(self)
        self.keep(news)
        return news

    with patch.object(ChangeFeed, "look", mutant):
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
    with patch("aisle.local.reads.overlay.is_in", lambda operation, began: operation.confirmed_at is not None):
        yield


@contextmanager
def merged_with_what_was_sent() -> Iterator[None]:
    """A later update of an order goes into one that waits, though that has been sent before."""
    partner = outbox._PARTNER.replace("AND o.attempts = 0 AND o.frozen IS NULL", "")
    assert partner != outbox._PARTNER
    with patch.object(outbox, "_PARTNER", partner):
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
