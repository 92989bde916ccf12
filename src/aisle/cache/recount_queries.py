"""Queries of the ordered recounts that nobody has made since, with those that this host has ordered or withdrawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

import apsw

from aisle.cache.list_window import QueryResult, page
from aisle.cache.log_entry_rows import local_rows, log_row
from aisle.cache.log_undo_queries import is_undone, undone_entries
from aisle.cache.parse_stored_row import iso_time, parse_row
from aisle.cache.people_and_rights_queries import person_name
from aisle.cache.product_names_and_prices import product_names
from aisle.cache.query_context import QueryContext
from aisle.cache.query_registry import declare_query, whole_topics
from aisle.cache.superseded_counts import counts_of_product
from aisle.host.database import fetch, fetch_one
from aisle.jobs.job import Args
from aisle.jobs.store_time import to_utc_text
from aisle.outbox.local_notes import notes_of_topic
from aisle.outbox.operation_record import operation_from_row

if TYPE_CHECKING:
    from aisle.jobs.row_types.exceptions_clearance_and_today import RecountsRow
    from aisle.jobs.row_types.log import EntryRow

ProductLocation = tuple[str, str]
"""A product number and a location code in lower case."""

AT_SERVICE, ON_ITS_WAY, LOCAL_ONLY = "at_service", "queued", "local"
"""Kinds of a recount: stored by the service; queued for the service; kept on this host only."""

_PENDING_RECOUNTS = """
SELECT app_user, occurred_at, body FROM operation INDEXED BY operation_live
WHERE live = 1 AND operation = 'write-recounts' AND state NOT IN ('rejected', 'closed') ORDER BY n
"""

_LOCAL_COUNTS = """
SELECT * FROM operation INDEXED BY operation_logs
WHERE operation = 'create-store-product-logs' AND created_at > ? AND state NOT IN ('rejected', 'closed')
AND superseded_by = ''
"""


@declare_query("recounts", "first size", whole_topics("recount"))
def query_recounts(context: QueryContext, args: Args) -> QueryResult[RecountsRow]:
    """Return a window on the ordered recounts."""
    return page(open_recounts(context.cache, context.outbox), args, 50)


def open_recounts(cache: apsw.Connection, outbox: apsw.Connection) -> list[RecountsRow]:
    """Return the ordered recounts that nobody has counted since, oldest first.

    Pending local changes are applied: a recount that is being withdrawn is left out.
    """
    pending, withdrawn = _pending_recounts(cache, outbox)
    stored = [row for row in _recounts_of_service(cache) if row["key"] not in withdrawn]
    rows = [*stored, *pending, *_local_recounts(cache, outbox)]
    counted, found = _CountTimes(cache, outbox, rows), dict[ProductLocation, "RecountsRow"]()
    for row in rows:
        if not counted.is_counted_since(row):
            found.setdefault(product_location(row), row)
    return sorted(found.values(), key=lambda row: (to_utc_text(row["at"]), row["key"]))


def _recounts_of_service(cache: apsw.Connection) -> Iterator[RecountsRow]:
    for id_, product, location, raw in fetch(cache, "SELECT id, product_number, location_code, raw FROM recount"):
        entry = parse_row(raw)
        user, at = str(entry.get("ordered_by") or ""), str(entry.get("ordered_on") or "")
        label = str(entry.get("product_description") or "")
        yield _recount_row(cache, AT_SERVICE, str(id_), str(product), str(location), at, user, label)


def _pending_recounts(cache: apsw.Connection, outbox: apsw.Connection) -> tuple[list[RecountsRow], set[str]]:
    """Return the recounts ordered here and the ids of those withdrawn here, as far as they were not read back yet."""
    pending: list[RecountsRow] = []
    withdrawn: set[str] = set()
    for user, at, body in fetch(outbox, _PENDING_RECOUNTS):
        for recount in parse_row(body).get("recounts") or ():
            if "id" in recount:
                withdrawn.add(str(recount["id"]))
                continue
            logged = fetch_one(cache, "SELECT raw FROM log WHERE key = ?", str(recount.get("log_id") or ""))
            entry = parse_row(logged[0]) if logged else recount
            product, location = str(entry.get("product_number") or ""), str(entry.get("location_code") or "")
            if product:
                pending.append(
                    _recount_row(cache, ON_ITS_WAY, f"{product}/{location}", product, location, str(at), str(user))
                )
    return pending, withdrawn


def _local_recounts(cache: apsw.Connection, outbox: apsw.Connection) -> Iterator[RecountsRow]:
    for note in notes_of_topic(outbox, "recount").values():
        product, _, location = note.key.partition("/")
        at = iso_time(note.at)
        yield _recount_row(cache, LOCAL_ONLY, note.key, product, location, at, note.user)


def _recount_row(
    cache: apsw.Connection, kind: str, key: str, product: str, location: str, at: str, user: str, label: str = ""
) -> RecountsRow:
    return {
        "key": key,
        "kind": kind,
        "product_number": product,
        "label": product_names(cache, [product]).get(product) or label or product,
        "location_code": location,
        "at": at,
        "user_name": person_name(cache, user),
    }


class _CountTimes:
    """Counts that stand, made since the oldest of these recounts was ordered. One read serves all of them."""

    def __init__(self, cache: apsw.Connection, outbox: apsw.Connection, rows: Iterable[RecountsRow]) -> None:
        self._cache = cache
        self._counted_at: dict[ProductLocation, float] = {}
        """Time of the last count of each location on this host, in seconds since 1970."""
        self._live_at: dict[ProductLocation, float] = {}
        """The same for counts that the service has not confirmed, or that were not read back."""
        is_local = any(row["kind"] == LOCAL_ONLY for row in rows)
        ordered = min((at for row in rows if (at := to_utc_text(row["at"]))), default="")
        self._undone = undone_entries(cache, outbox, ordered) if ordered else set[str]()
        for operation in fetch(outbox, _LOCAL_COUNTS, _to_seconds(ordered)) if ordered else ():
            record = operation_from_row(operation)
            moment = record.created_at
            for entry in local_rows([operation]):
                if self._stands(entry) and (is_local or record.live):
                    key = product_location(entry)
                    self._counted_at[key] = max(moment, self._counted_at.get(key, moment))
                    if record.live:
                        self._live_at[key] = max(moment, self._live_at.get(key, moment))

    def _stands(self, entry: EntryRow) -> bool:
        """Return True if an entry is a count that is not undone."""
        return entry["counted_quantity"] is not None and not is_undone(entry, self._undone)

    def is_counted_since(self, row: RecountsRow) -> bool:
        """Return True if the recount was made since it was ordered.

        Counts of this host count; for recounts that no service stores, those of the log too. A count that was read
        back is left to the service, which closes the recount itself.
        """
        ordered, key = (
            to_utc_text(row["at"]),
            product_location(row),
        )  # to the millisecond, because a count may follow the order at once
        if not ordered:
            return False
        is_local = row["kind"] == LOCAL_ONLY
        if (self._counted_at if is_local else self._live_at).get(key, 0.0) > _to_seconds(ordered):
            return True
        logged = counts_of_product(self._cache, row["product_number"], ordered) if is_local else ()
        entries = (log_row(name, at, entry) for name, at, entry in logged)
        return any(self._stands(entry) and product_location(entry) == key for entry in entries)


def _to_seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def product_location(row: EntryRow | RecountsRow) -> ProductLocation:
    """Return the product and the location of a recount, or of an entry of the log."""
    return row["product_number"], row["location_code"].casefold()
