"""What has to be true of a world that is quiet: the ledger, the set of operations, and what the screens show.

* Ledger: balances are the sums of their legs; held goods are what the lines say; movements, picks and releases change
  no sum; Σ stock = start + recorded differences + changes + receipts − finished + absorbed legs, per product.
* Set: what was acknowledged was carried out, exactly once; what was refused, not at all; nothing was carried out that
  nobody said. The key of a request is the id of its operation, and it is the id under which ledger and log have it.
* Couriers: nothing happened that they did not expect.
* Screens: what the cache has is what the service says, and nothing lies over it any more.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from aisle.host.database import fetch
from aisle.outbox.operation_record import CLOSED, CONFIRMED, NEEDS_PERSON, REFUSED, UPDATE_ORDER, Operation
from aisle.service.db.database_interface import Transaction
from tests.service.world import assert_books

if TYPE_CHECKING:
    from tests.faults.host import Host
    from tests.faults.world import World

INTEGRATOR = "integrator-"
"""How the keys of writes begin that come from no host."""

_TROUBLE = re.compile(r"\w+ in \w+ \(.*:\d+\): ")
"""A notice of an error that nobody expected."""

ENDED = frozenset({CONFIRMED, REFUSED, CLOSED, NEEDS_PERSON})
"""States in which nothing is sent any more."""

_ENDS = ("from_location", "to_location")

SUMLESS = frozenset({"pick", "unpick", "move", "release"})
"""Kinds of legs that take from one spot what they add to another."""


class Applied(NamedTuple):
    """What the service has under one id."""

    legs: int
    entries: int


def check(world: World) -> None:
    """All of it, for every host. Raises AssertionError."""
    booked(world)
    for host in world.hosts:
        untroubled(host)
        journalled(host)
        shown(host, world)


def booked(world: World) -> None:
    """Ledger and set, of a service whose reads may have lied. Raises AssertionError."""
    assert_books(world.service)
    conserved(world)
    applied = world.storage.read_now(_applied)
    known = {op.op_id: op for host in world.hosts for op in host.operations()}
    ended = world.storage.read_now(_ended)
    named = world.storage.read_now(_entries_by_reference)
    for op in known.values():
        if _is_put_down(op, ended) and op.op_id not in applied:
            continue  # its goods had left when it was said again
        if _may_lack_key(op):
            _arrived(op, named[op.op_id])
            continue
        _once(op, applied.get(op.op_id, Applied(0, 0)), world.storage.read_now(lambda tx, op=op: _status(tx, op.op_id)))  # type: ignore[misc]
    foreign = {op_id for op_id in applied if op_id not in known and not op_id.startswith(INTEGRATOR)}
    sent_without_key = sum(op.attempts for op in known.values() if _may_lack_key(op))
    assert len(foreign) <= sent_without_key, f"nobody said these: {sorted(foreign)[:5]}"


def _is_put_down(op: Operation, ended: set[str]) -> bool:
    """Whether all that it said is where goods of an order lie that has ended since, and it was said after a restore."""
    if op.operation != "create-movement" or op.replayed_at is None or op.state != CONFIRMED:
        return False
    ends = [(item.get(end) or {}).get("customer_order_number") for item in op.body for end in _ENDS]
    return len(set(ends)) == 1 and ends[0] in ended


def _may_lack_key(op: Operation) -> bool:
    """Whether it was sent last without its key, as when the service had not announced keys: it has one of its own."""
    return op.first_sent_at is not None and not op.has_key and not op.superseded_by


def _arrived(op: Operation, entries: int) -> None:
    """One operation without a key, by the entries of the log that name it. An update names itself nowhere."""
    if op.operation == UPDATE_ORDER:
        assert op.state in ENDED, f"{op.op_id} still is {op.state}"
    elif op.state == CONFIRMED:
        assert entries in _entries(op), f"{op.op_id} is done here, and unknown there"
    elif op.state == REFUSED:
        assert entries == 0, f"{op.op_id} was refused and carried out"
    else:
        assert op.state in ENDED, f"{op.op_id} still is {op.state}"


def conserved(world: World) -> None:
    """Σ stock by product is what the legs that may change it add up to."""
    sums = world.storage.read_now(_sums)
    stock = world.storage.read_now(_stock)
    for product, kinds in sums.items():
        assert not any(kinds[kind] for kind in SUMLESS), (product, kinds)
        assert kinds["finish"] <= 0, (product, kinds)
        assert stock.get(product, 0) == sum(kinds.values()), (product, kinds)


def _once(op: Operation, applied: Applied, status: int | None) -> None:
    """One operation, by the state that its outbox has it in."""
    match op.state:
        case state if state == CONFIRMED:
            assert status == 200, f"{op.op_id} is done here, and unknown there"
            assert applied.entries in _entries(op), (op, applied)
        case state if state == REFUSED:
            assert applied == (0, 0), f"{op.op_id} was refused and carried out"
            assert status is None or status >= 400
        case state if state == CLOSED and op.superseded_by:
            assert applied == (0, 0), f"{op.op_id} went into another one, and was carried out too"
            assert status is None
        case state if state in (CLOSED, NEEDS_PERSON):
            assert applied.entries == 0 or applied.entries in _entries(op), (op, applied)
        case state:
            raise AssertionError(f"{op.op_id} still is {state}")


def _entries(op: Operation) -> range:
    """How many log entries it leaves, those for late messages aside; any number where the goods decide it.

    A movement leaves two entries an item, and a third where only a part of the goods was in hand.
    """
    if op.operation == "create-movement":
        return range(2 * len(op.body), 3 * len(op.body) + 1)
    if op.operation == "create-store-product-logs":
        return range(len(op.body["storeproductlog"]), len(op.body["storeproductlog"]) + 1)
    return range(sys.maxsize)


def untroubled(host: Host) -> None:
    """No courier met anything that it did not know what to do with."""
    for notice in host.notices:
        assert not _TROUBLE.match(notice.text), notice.text


def journalled(host: Host) -> None:
    """Each operation follows from an event of the journal, and each event's writes are in the outbox."""
    events = {row[0]: row[1] for row in fetch(host._db, "SELECT seq, job_id FROM event")}
    for op in host.operations():
        if op.job_id:
            assert events.get(op.event_seq) == op.job_id, op


def shown(host: Host, world: World) -> None:
    """What sessions read is what the service has."""
    lines = world.storage.read_now(_lines)
    for (order, line), (quantity, picked, moved, closed, is_open) in lines.items():
        if not is_open:
            continue
        rows = host.query("order", order_number=order)
        seen = next((one for row in rows for one in row["lines"] if one["line_number"] == line), None)
        assert seen is not None, (order, line)
        theirs = (Decimal(quantity) / 1000, Decimal(picked) / 1000, Decimal(moved) / 1000, bool(closed))
        ours = tuple(Decimal(str(seen.get(name) or 0)) for name in ("quantity", "picked_quantity", "moved_quantity"))
        assert (*ours, bool(seen["is_picked"])) == theirs, (order, line)
    stock = world.storage.read_now(_stock)
    for product, quantity in stock.items():
        (row,) = host.query("product", product_number=product)
        assert Decimal(str(row["most_likely_quantity"])) == Decimal(quantity) / 1000, product


# What the service has, past everything


async def _ended(tx: Transaction) -> set[str]:
    return {row[0] for row in await tx.all("SELECT order_number FROM customer_order WHERE is_active = 0")}


async def _applied(tx: Transaction) -> dict[str, Applied]:
    legs: Counter[str] = Counter(dict(await tx.all("SELECT op_id, count(*) FROM leg GROUP BY op_id")))
    items = await tx.all("SELECT op_id, item FROM stock_log")
    entries = Counter(op_id for op_id, item in items if json.loads(item)["source"] != "late")
    return {op_id: Applied(legs[op_id], entries[op_id]) for op_id in {*legs, *entries}}


async def _entries_by_reference(tx: Transaction) -> Counter[str]:
    """Entries of the log by the operation that they name, in `reference` or `source`."""
    items = [json.loads(row[0]) for row in await tx.all("SELECT item FROM stock_log")]
    named = [(str(item.get("reference") or ""), str(item.get("source") or "")) for item in items]
    return Counter(source.split("/")[1] if source.count("/") == 2 else reference for reference, source in named)


async def _status(tx: Transaction, key: str) -> int | None:
    row = await tx.one("SELECT status FROM idempotency WHERE request_key = $1", key)
    return None if row is None else int(row[0])


async def _sums(tx: Transaction) -> dict[str, defaultdict[str, int]]:
    sums: dict[str, defaultdict[str, int]] = {}
    for product, kind, quantity in await tx.all(
        "SELECT product_number, kind, SUM(quantity) FROM leg GROUP BY product_number, kind"
    ):
        sums.setdefault(product, defaultdict(int))[kind] = quantity
    return sums


async def _stock(tx: Transaction) -> dict[str, int]:
    return dict(await tx.all("SELECT product_number, SUM(quantity) FROM balance GROUP BY product_number"))


async def _lines(tx: Transaction) -> dict[tuple[str, int], tuple[Any, ...]]:
    rows = await tx.all("SELECT order_number, line_number, quantity, picked, moved, is_picked, is_open FROM order_line")
    return {(row[0], row[1]): row[2:] for row in rows}


async def spots(tx: Transaction) -> dict[tuple[str, str], int]:
    """Product and place (or none) to all that lies there, in thousandths."""
    rows = await tx.all("SELECT product_number, location_code, SUM(quantity) FROM balance GROUP BY 1, 2")
    return {(row[0], row[1]): row[2] for row in rows if row[2]}
