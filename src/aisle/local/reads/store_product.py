"""A product as the store keeps it: what the service says, what is on its way over it, and what became of that."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

import apsw

from aisle.jobs.base import Json
from aisle.jobs.chain.store_product_fields import BASE, said_of
from aisle.jobs.store_time import utc
from aisle.local.db import fetch, fetch_one
from aisle.local.outbox.doubts import WORDS
from aisle.local.outbox.operation import Operation, as_operation
from aisle.local.reads.overlay import Row
from aisle.local.reads.rows import Result, moment
from aisle.local.session.people import people_of, standing

_WHERE = re.compile(r"^\[\d+\]\.\w+: ")
"""Where in a request something is wrong, as our own service says it before the words."""

MOST = 8
"""Changes of a product that are told."""

_SAID = """
SELECT * FROM operation INDEXED BY operation_settings
WHERE operation = 'update-store-products' AND body ->> '$[0].product_number' = ? AND closed_by = ''
ORDER BY n DESC LIMIT ?
"""


def read(
    cache: apsw.Connection,
    outbox: apsw.Connection,
    product: Callable[[Mapping[str, Json]], Result],
    args: Mapping[str, Json],
) -> Result:
    """The row of the read `product` (product_number) with `is_ranged` (the store's stock list has it), `read_at` (ISO
    8601), `may` (this `user` changes it, as far as is known), `keeps_all` (the service shows all that it takes, being
    ours) and `said`: changes from this host, the youngest first, with `word`, `why`, `who`, `at` and `fields` (name,
    before, after)."""
    rows, total = product(args)
    if not rows:
        return rows, total
    number = str(args["product_number"])
    stock = fetch_one(
        cache, "SELECT s.began FROM product p JOIN stock s ON s.id = p.id WHERE p.product_number = ?", number
    )
    row: Row = {
        **rows[0],
        "is_ranged": stock is not None,
        "read_at": moment(stock[0]) if stock else "",
        "may": standing(cache, str(args.get("user") or "")).may,
        "keeps_all": _keeps_all(cache),
        "said": list(_said(cache, outbox, number)),
    }
    return [row], total


def _keeps_all(cache: apsw.Connection) -> bool:
    row = fetch_one(cache, "SELECT features FROM link")
    return bool(row and row[0])


def _said(cache: apsw.Connection, outbox: apsw.Connection, number: str) -> Iterator[Row]:
    names = people_of(cache)
    for found in fetch(outbox, _SAID, number, MOST):
        op = as_operation(found)
        fields = list(_fields(op, number))
        if fields:
            yield {
                "op_id": op.op_id,
                "word": WORDS[op.state],
                "fields": fields,
                "who": names.get(op.app_user) or op.app_user,
                "at": utc(op.occurred_at),
                "why": _WHERE.sub("", op.last_error) if op.state != "done" else "",
            }


def _fields(op: Operation, number: str) -> Iterator[tuple[str, str, str]]:
    for item in op.body:
        if str(item.get("product_number")) == number:
            base = item.get(BASE) or {}
            yield from ((name, str(base.get(name) or ""), text) for name, text in said_of(item).items())
