"""The counts that were ordered: what the service keeps, what is on its way to it, and what this host alone knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import apsw

from aisle.jobs.base import Json
from aisle.local.cache.rows import utc
from aisle.local.db import fetch, fetch_one
from aisle.local.outbox.remarks import remarks
from aisle.local.reads.overlay import Row
from aisle.local.reads.rows import loaded
from aisle.local.session.people import name_of

KEPT, NOTED, HERE = "kept", "noted", "here"
"""The service has it; it is on its way there; no service hears of it."""

_UNDER_WAY = """
SELECT app_user, occurred_at, body FROM operation INDEXED BY operation_live
WHERE live = 1 AND operation = 'write-recounts' AND state NOT IN ('rejected', 'closed') ORDER BY n
"""

_LOGGED = """
SELECT raw FROM log INDEXED BY log_counted
WHERE product_number = ? AND at > ? AND instr(raw, '"counted_quantity"')
"""

_COUNTS = """
SELECT body, state FROM operation INDEXED BY operation_logs
WHERE operation = 'create-store-product-logs' AND created_at > ? AND state NOT IN ('rejected', 'closed')
AND superseded_by = ''
"""


def recounts(cache: apsw.Connection, outbox: apsw.Connection) -> list[Row]:
    """The counts that were ordered and that nobody has made since, the oldest first; `kind` says where each is known.

    What was said here lies over what was read: what is being withdrawn is gone.
    """
    noted, withdrawn = _under_way(cache, outbox)
    kept = [row for row in _of_service(cache) if row["key"] not in withdrawn]
    found: dict[tuple[str, str], Row] = {}
    for row in (*kept, *noted, *_of_this_host(cache, outbox)):
        if not _is_counted(cache, outbox, row):
            found.setdefault((row["product_number"], row["location_code"].casefold()), row)
    return sorted(found.values(), key=lambda row: (utc(row["at"]), row["key"]))


def _of_service(cache: apsw.Connection) -> Iterator[Row]:
    for id_, product, place, raw in fetch(cache, "SELECT id, product_number, location_code, raw FROM recount"):
        entry = loaded(raw)
        who, at = str(entry.get("ordered_by") or ""), str(entry.get("ordered_on") or "")
        label = str(entry.get("product_description") or "")
        yield _row(cache, KEPT, str(id_), str(product), str(place), at, who, label)


def _under_way(cache: apsw.Connection, outbox: apsw.Connection) -> tuple[list[Row], set[str]]:
    """What was ordered and what was withdrawn here that was not read back yet."""
    noted: list[Row] = []
    withdrawn: set[str] = set()
    for user, at, body in fetch(outbox, _UNDER_WAY):
        for said in loaded(body).get("recounts") or ():
            if "id" in said:
                withdrawn.add(str(said["id"]))
                continue
            logged = fetch_one(cache, "SELECT raw FROM log WHERE key = ?", str(said.get("log_id") or ""))
            entry = loaded(logged[0]) if logged else said
            product, place = str(entry.get("product_number") or ""), str(entry.get("location_code") or "")
            if product:
                noted.append(_row(cache, NOTED, f"{product}/{place}", product, place, str(at), str(user)))
    return noted, withdrawn


def _of_this_host(cache: apsw.Connection, outbox: apsw.Connection) -> Iterator[Row]:
    for kept in remarks(outbox, "recount").values():
        product, _, place = kept.key.partition("/")
        at = datetime.fromtimestamp(kept.at, UTC).isoformat()
        yield _row(cache, HERE, kept.key, product, place, at, kept.user)


def _row(
    cache: apsw.Connection, kind: str, key: str, product: str, place: str, at: str, user: str, label: str = ""
) -> Row:
    name = fetch_one(cache, "SELECT name FROM product WHERE product_number = ?", product)
    return {
        "key": key,
        "kind": kind,
        "product_number": product,
        "label": str(name[0]) if name and name[0] else label or product,
        "location_code": place,
        "at": at,
        "who": name_of(cache, user),
    }


def _is_counted(cache: apsw.Connection, outbox: apsw.Connection, row: Row) -> bool:
    """Whether it was counted since: by what this host has noted; where no service tells, by anybody."""
    ordered = utc(row["at"])  # to the millisecond: a count may follow the order at once
    if not ordered:
        return False
    noted = fetch(outbox, _COUNTS, datetime.fromisoformat(ordered).timestamp())
    here = row["kind"] == HERE
    entries: list[Mapping[str, Any]] = []
    for body, state in noted:
        if here or state != "done":  # of what has arrived the service says itself whether it was the count
            entries += loaded(body).get("storeproductlog") or ()
    if here:
        entries += [loaded(raw) for (raw,) in fetch(cache, _LOGGED, row["product_number"], ordered)]
    return any(_counts(entry, row["product_number"], row["location_code"]) for entry in entries)


def _counts(entry: Mapping[str, Json], product: str, place: str) -> bool:
    counted = entry.get("counted_quantity") is not None or any(
        entry.get(f"stock_pool_{pool}") is not None for pool in range(1, 11)
    )
    same = str(entry.get("location_code") or "").casefold() == place.casefold()
    return counted and same and str(entry.get("product_number")) == product
