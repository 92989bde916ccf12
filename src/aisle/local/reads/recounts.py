"""The counts that were ordered: what the service keeps, what is on its way to it, and what this host alone knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime

import apsw

from aisle.jobs.base import Json
from aisle.jobs.store_time import utc
from aisle.local.db import fetch, fetch_one
from aisle.local.outbox.remarks import remarks
from aisle.local.reads.overlay import Row
from aisle.local.reads.rows import loaded
from aisle.local.session.people import name_of

Spot = tuple[str, str]
"""A product and a place, which may be written in capitals or not."""

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
SELECT created_at, body, state FROM operation INDEXED BY operation_logs
WHERE operation = 'create-store-product-logs' AND created_at > ? AND state NOT IN ('rejected', 'closed')
AND superseded_by = ''
"""


def recounts(cache: apsw.Connection, outbox: apsw.Connection) -> list[Row]:
    """The counts that were ordered and that nobody has made since, the oldest first; `kind` says where each is known.

    What was said here lies over what was read: what is being withdrawn is gone.
    """
    noted, withdrawn = _under_way(cache, outbox)
    kept = [row for row in _of_service(cache) if row["key"] not in withdrawn]
    rows = [*kept, *noted, *_of_this_host(cache, outbox)]
    counted, found = _Counted(cache, outbox, rows), dict[Spot, Row]()
    for row in rows:
        if not counted.has(row):
            found.setdefault(_spot(row), row)
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


class _Counted:
    """What was counted here since the first of these counts was ordered: read once for all of them."""

    def __init__(self, cache: apsw.Connection, outbox: apsw.Connection, rows: Iterable[Row]) -> None:
        self._cache = cache
        self._last: dict[Spot, float] = {}
        """When each place was counted last, as this host has noted it; in seconds since 1970."""
        self._waiting: dict[Spot, float] = {}
        """The same of what the service has not confirmed."""
        here = any(row["kind"] == HERE for row in rows)
        ordered = [at for row in rows if (at := utc(row["at"]))]
        for at, body, state in fetch(outbox, _COUNTS, _seconds(min(ordered))) if ordered else ():
            for entry in loaded(body).get("storeproductlog") or () if here or state != "done" else ():
                if _counts(entry):
                    self._last[_spot(entry)] = max(at, self._last.get(_spot(entry), at))
                    if state != "done":
                        self._waiting[_spot(entry)] = max(at, self._waiting.get(_spot(entry), at))

    def has(self, row: Row) -> bool:
        """Whether it was counted since: by what this host has noted; where no service tells, by anybody. Of what has
        arrived the service says itself whether it was the count."""
        ordered, spot = utc(row["at"]), _spot(row)  # to the millisecond: a count may follow the order at once
        if not ordered:
            return False
        here = row["kind"] == HERE
        if (self._last if here else self._waiting).get(spot, 0.0) > _seconds(ordered):
            return True
        logged = fetch(self._cache, _LOGGED, row["product_number"], ordered) if here else ()
        entries = [loaded(raw) for (raw,) in logged]
        return any(_counts(entry) and _spot(entry) == spot for entry in entries)


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def _spot(entry: Mapping[str, Json]) -> Spot:
    return str(entry.get("product_number")), str(entry.get("location_code") or "").casefold()


def _counts(entry: Mapping[str, Json]) -> bool:
    return entry.get("counted_quantity") is not None or any(
        entry.get(f"stock_pool_{pool}") is not None for pool in range(1, 11)
    )
