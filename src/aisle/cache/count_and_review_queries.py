"""Queries of counts: differences nobody has settled, recounts, counts with a later one, entries to review.

A difference is settled if it is approved or undone, or if the service does not use its count (see
`log_and_difference_writer`). Later counts settle none: each difference has changed the stock. While a recount is
ordered, the recounts list it. The cache knows the settled differences of the log; this host may know more.

Our own service keeps the later of two counts of the same goods, whichever it gets first. It then takes back what the
earlier one changes, by an entry of its own at the same time.

Our own service asks for a review where a booking made the stock negative, or received more than was announced. Counts
that differ are left out, and so are receipts of lines with excess: both are lists of their own, where a decision closes
the review.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

import apsw

from aisle.cache.log_and_difference_writer import counts_of_product, taken_back
from aisle.cache.log_entries_and_undo import (
    is_undone,
    last_count_after,
    local_rows,
    log_row,
    undone_entries,
    undone_locally,
)
from aisle.cache.log_queries import LATEST_START_S, entries_by_key, local_entries
from aisle.cache.log_schema import IS_LISTED_SQL, IS_TO_REVIEW_SQL, LATE_SOURCE
from aisle.cache.people_and_claim_queries import announced_features, person_name
from aisle.cache.queries import (
    QueryContext,
    QueryResult,
    declare_query,
    page,
    read_along,
    read_window,
    whole_topics,
    window_bounds,
)
from aisle.cache.row_parsing_and_writing import STATUS_REVIEWED, difference_of_count, entry_price
from aisle.cache.schema import IS_EXCESS_SQL
from aisle.cache.stored_row_values import Row, iso_time, parse_row, prices_of, product_names, round_sum
from aisle.host.database import fetch, fetch_one
from aisle.host.notify_sockets import OUTBOX
from aisle.jobs.job import Args
from aisle.jobs.store_time import to_utc_text
from aisle.named_tuple_json import to_text
from aisle.outbox.local_notes import notes_of_topic
from aisle.outbox.operation_record import CLOSED, REFUSED, Operation, operation_from_row
from aisle.row_values import to_decimal

if TYPE_CHECKING:
    from aisle.jobs.row_types.exceptions_clearance_and_today import DifferencesRow, RecountsRow
    from aisle.jobs.row_types.log import EntryRow, LaterCountsRow, LogRow, MovesSinceRow, UnusedCountsRow


_DIFFERENCE_ENTRIES = """
SELECT l.key, l.at, l.product_number, l.app_user_name, l.raw, p.name, m.name FROM json_each(?) e
JOIN log l ON l.key = e.value LEFT JOIN product p ON p.product_number = l.product_number
LEFT JOIN person m ON m.user = l.app_user_name ORDER BY e.key
"""
_DIFFERENCE_TOTALS = "SELECT count(*), total(worth) FROM difference INDEXED BY difference_list WHERE is_settled = 0"
_DIFFERENCE_KEYS = "SELECT key FROM difference WHERE is_settled = 0"
_EXCLUDE_KEYS = " AND key NOT IN (SELECT value FROM json_each(?))"
_DIFFERENCE_ORDER = ("worth DESC", "size DESC", "key")
_RESOLVED_DIFFERENCES = """
SELECT d.key, d.worth FROM difference d WHERE d.is_settled = 0 AND d.key IN (
  SELECT value FROM json_each(?1)
  UNION SELECT n.key FROM json_each(?2) e JOIN difference n ON n.number_name = e.value AND n.number_name <> ''
  UNION SELECT n.key FROM json_each(?2) e JOIN difference n ON n.moment_name = e.value AND n.moment_name <> ''
)
"""

_GOODS_OF_DIFFERENCES = """
SELECT d.key, d.product_number, ifnull(l.raw ->> 'location_code', '') FROM json_each(?) e
JOIN difference d ON d.key = e.value JOIN log l ON l.key = d.key
"""

RECOUNT_ORDERED = "recount"
"""Text of the note on a difference of which a recount is ordered; any other text approves it."""


class ResolvedDifferences(NamedTuple):
    """Differences in the cache that this host knows to be resolved."""

    keys: list[str]
    value: float


@declare_query("differences", "keys first size")
def open_differences(context: QueryContext, args: Args) -> QueryResult[DifferencesRow]:
    """Return the counts of the last days that differ from the expected quantity and are neither approved nor undone.

    The highest value comes first. Return a window, or only those of the `keys`.
    """
    cache = context.cache
    resolved = resolved_differences(cache, context.outbox)
    hidden = [to_text(resolved.keys)] if resolved.keys else []
    among = f"{_DIFFERENCE_KEYS}{_EXCLUDE_KEYS if hidden else ''}"
    if args.get("keys"):
        sql = f"{among} AND key IN (SELECT value FROM json_each(?)) ORDER BY {', '.join(_DIFFERENCE_ORDER)}"  # noqa: S608
        rows = fetch(cache, sql, *hidden, to_text(list(args["keys"])))
        return _difference_rows(cache, [str(key) for (key,) in rows]), len(rows)

    total, _ = totals_without(cache, resolved)
    keys = read_window(read_along(cache, among, _DIFFERENCE_ORDER, *hidden), total, *window_bounds(args, 50))
    return _difference_rows(cache, [str(key) for (key,) in keys]), total


def totals_without(cache: apsw.Connection, resolved: ResolvedDifferences) -> tuple[int, Decimal]:
    """Return number and total value of the differences without the resolved ones."""
    ((count, value),) = fetch(cache, _DIFFERENCE_TOTALS)
    return int(count) - len(resolved.keys), round_sum(max(0.0, float(value - resolved.value)))


def resolved_differences(cache: apsw.Connection, outbox: apsw.Connection) -> ResolvedDifferences:
    """Return the differences that the log does not know to be settled.

    They are approved here, undone here, or a recount of them is ordered.
    """
    ((first,),) = fetch(cache, "SELECT min(at) FROM difference WHERE is_settled = 0 AND at <> ''")
    undone = undone_locally(outbox, str(first)) if first else set()
    notes = notes_of_topic(outbox, "review")
    ordered = {key for key, note in notes.items() if note.text == RECOUNT_ORDERED}
    keys = {*notes} - ordered | (_recounted_keys(cache, outbox, ordered) if ordered else set())
    found = fetch(cache, _RESOLVED_DIFFERENCES, to_text(list(keys)), to_text(list(undone))) if keys or undone else []
    return ResolvedDifferences([str(key) for key, _ in found], sum(each for _, each in found))


def _recounted_keys(cache: apsw.Connection, outbox: apsw.Connection, ordered: Iterable[str]) -> set[str]:
    """Return the differences of which a recount was ordered here that nobody has made, nor withdrawn."""
    recounts = {product_location(row) for row in open_recounts(cache, outbox)}
    found = fetch(cache, _GOODS_OF_DIFFERENCES, to_text(list(ordered)))
    return {str(key) for key, product, location in found if (str(product), str(location).casefold()) in recounts}


def _difference_rows(cache: apsw.Connection, keys: list[str]) -> list[DifferencesRow]:
    """Return the rows of these differences in the given order."""
    rows = [_difference_row(*entry) for entry in fetch(cache, _DIFFERENCE_ENTRIES, to_text(keys))]
    prices = prices_of(cache, {row["product_number"] for row in rows if row["price"] is None})
    for row in rows:
        price = prices.get(row["product_number"]) if row["price"] is None else row["price"]
        row["known"], row["value"] = price is not None, row["difference"] * (price or Decimal(0))
    return rows


def _difference_row(
    key: str, at: str, product: str, user: str, raw: str, name: str | None, person: str | None
) -> DifferencesRow:
    entry = parse_row(raw)
    price, expected = entry_price(entry), entry.get("expected_quantity")
    return {
        "key": str(key),
        "at": str(at),
        "user_name": str(person or user),
        "product_number": str(product),
        "label": str(name or product),
        "location_code": str(entry.get("location_code") or ""),
        "counted": to_decimal(entry["counted_quantity"]),
        "expected": None if expected is None else to_decimal(expected),
        "difference": difference_of_count(entry, user) or Decimal(0),
        "price": None if price is None else to_decimal(price),
        "review_status": str(entry.get("review_status") or ""),
        "known": False,  # set with the price
        "value": Decimal(0),
    }


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


_TIMES_OF_COUNTS = """
SELECT DISTINCT e.value ->> 'scanned_datetime'
FROM operation o INDEXED BY operation_logs, json_each(o.body, '$.storeproductlog') e
WHERE operation = 'create-store-product-logs' AND created_at >= ? AND app_user = ? AND state = 'done'
AND query ->> 'is_counted_quantity'
"""
_COUNTS_WITH_LATE_ENTRY = f"""
SELECT DISTINCT c.key, c.at, c.raw FROM json_each(?) e
CROSS JOIN log l INDEXED BY log_at ON l.at = e.value AND l.raw ->> 'source' = '{LATE_SOURCE}'
JOIN log c INDEXED BY log_at ON c.at = l.at AND c.product_number = l.product_number AND c.app_user_name = ?
ORDER BY c.at, c.key
"""  # noqa: S608 - a word of our own
_MOVES = f"""
SELECT product_number, at, raw FROM log INDEXED BY log_at
WHERE at >= ? AND product_number IN (SELECT value FROM json_each(?)) AND NOT {IS_LISTED_SQL}
"""  # noqa: S608 - a condition of our own
_NO_MOVES = (LATE_SOURCE, "short", "rejected", "opening")
"""Sources of entries that move no goods."""
_LOCAL_MOVES = """
SELECT * FROM operation INDEXED BY operation_day
WHERE operation = 'create-movement' AND created_at >= ? AND store = ? AND superseded_by = ''
"""


@declare_query("later_counts", "goods", whole_topics("log", OUTBOX))
def later_counts(context: QueryContext, args: Args) -> QueryResult[LaterCountsRow]:
    """Return the last standing count after each of the `goods` (product, location, pool or 0, time) that has one.

    Counts of this host count before they are sent. The rows are in the order of the goods.
    """
    cache, outbox = context.cache, context.outbox
    goods = [(str(product), str(code), int(pool), to_utc_text(str(at))) for product, code, pool, at in args["goods"]]
    since = min((at for *_, at in goods), default="")
    if not since:
        return [], 0
    undone = undone_entries(cache, outbox, since)
    sent = local_entries(context, since)
    rows: list[LaterCountsRow] = []
    for product, location, pool, at in goods:
        found = last_count_after(cache, product, (location,), pool, at, undone, sent)
        if found:
            rows.append(
                {
                    "product_number": product,
                    "location_code": location,
                    "pool": pool,
                    "counted_quantity": found["counted_quantity"] or Decimal(0),
                    "at": found["at"],
                    "user_name": person_name(cache, found["app_user_name"]),
                }
            )
    return rows, len(rows)


@declare_query("moves_since", "products since", whole_topics("log", OUTBOX))
def moves_since(context: QueryContext, args: Args) -> QueryResult[MovesSinceRow]:
    """Return what came to a location or left it since then, of these products, without losses, finds and counts."""
    since, products = to_utc_text(str(args["since"])), [str(each) for each in args["products"]]
    logged = fetch(context.cache, _MOVES, since, to_text(products))
    entries = [(str(product), str(at), parse_row(raw)) for product, at, raw in logged]
    rows = [
        _move(product, raw, raw, to_decimal(raw.get("quantity")), at)
        for product, at, raw in entries
        if raw.get("source") not in _NO_MOVES
    ]
    known = " ".join(f"{raw.get('reference')} {raw.get('source')}" for _, _, raw in entries)
    begin = datetime.fromisoformat(since).timestamp() - LATEST_START_S
    for row in fetch(context.outbox, _LOCAL_MOVES, begin, context.store_folder.store):
        operation = operation_from_row(row)
        if operation.op_id not in known and operation.state not in (REFUSED, CLOSED):
            rows += [move for move in _local_moves(operation) if move["product_number"] in products]
    rows = [row for row in rows if row["location_code"]]
    return rows, len(rows)


def _local_moves(operation: Operation) -> Iterator[MovesSinceRow]:
    """Yield what leaves and what arrives by a movement of this host."""
    for item in operation.body:
        quantity, at = to_decimal(item.get("quantity")), operation.occurred_at
        source, target = item.get("from_location") or {}, item.get("to_location") or {}
        arrival = {"stock_pool": source.get("stock_pool"), **target}
        yield _move(str(item["product_number"]), source, item, -quantity, item.get("taken_datetime") or at)
        yield _move(str(item["product_number"]), arrival, item, quantity, at)


def _move(product: str, place: Row, entry: Row, quantity: Decimal, at: str) -> MovesSinceRow:
    return {
        "product_number": product,
        "location_code": str(place.get("location_code") or ""),
        "pool": int(to_decimal(place.get("stock_pool"))),
        "quantity": quantity,
        "at": to_utc_text(str(at)),
        "undone_at": to_utc_text(str(entry.get("undone_datetime") or "")),
    }


@declare_query("unused_counts", "user since", whole_topics("log"))
def unused_counts(context: QueryContext, args: Args) -> QueryResult[UnusedCountsRow]:
    """Return the counts of a person, sent from this host `since` then, that the service does not use, oldest first."""
    cache, user = context.cache, str(args["user"])
    since = datetime.fromisoformat(str(args["since"])).timestamp()
    times = [to_utc_text(str(at)) for (at,) in fetch(context.outbox, _TIMES_OF_COUNTS, since, user) if at]
    found = fetch(cache, _COUNTS_WITH_LATE_ENTRY, to_text(times), user) if times else []
    entries = [log_row(str(key), str(at), parse_row(raw)) for key, at, raw in found]
    not_used = taken_back(cache, [row["key"] for row in entries])
    counts = [row for row in entries if row["counted_quantity"] is not None and row["key"] in not_used]
    names = product_names(cache, (row["product_number"] for row in counts))
    return [_unused_count(context, row, names) for row in counts], len(counts)


def _unused_count(context: QueryContext, row: EntryRow, names: Mapping[str, str]) -> UnusedCountsRow:
    """Return the row of a count that is not used, with who made the later one."""
    cache, product, at = context.cache, row["product_number"], row["at"]
    undone = undone_entries(cache, context.outbox, at)
    later = last_count_after(cache, product, (row["location_code"],), row["pool"], at, undone)
    return {
        "key": row["key"],
        "label": names.get(product, product),
        "location_code": row["location_code"],
        "counted_quantity": row["counted_quantity"] or Decimal(0),
        "later_quantity": later["counted_quantity"] if later else None,
        "user_name": person_name(cache, later["app_user_name"]) if later else "",
    }


_PENDING_REVIEWS = """
SELECT body FROM operation INDEXED BY operation_live
WHERE live = 1 AND operation = 'review-logs' AND state NOT IN ('rejected', 'closed') ORDER BY n
"""
_TO_REVIEW = f"""
FROM log l INDEXED BY log_to_review WHERE {IS_TO_REVIEW_SQL} AND l.key NOT IN (SELECT value FROM json_each(?))
AND NOT EXISTS (SELECT 1 FROM difference d WHERE d.key = l.key AND d.is_undone = 0)
AND NOT EXISTS (SELECT 1 FROM delivery_line INDEXED BY delivery_line_excess WHERE {IS_EXCESS_SQL}
  AND order_number = l.raw ->> 'reference' AND delivery_line.product_number = l.product_number)
"""  # noqa: S608 - a condition of our own


def count_entries_to_review(cache: apsw.Connection, outbox: apsw.Connection) -> int:
    """Return the number of entries to review; none if the service is not known to keep reviews.

    Nobody could close the review at another service, where the same status may have another meaning.
    """
    if "reviews" not in (announced_features(cache) or ()):
        return 0
    ((count,),) = fetch(cache, f"SELECT count(*) {_TO_REVIEW}", _reviewed_here(outbox))
    return int(count)


@declare_query("entries_to_review", "first size", whole_topics("log", "delivery", "link"))
def query_entries_to_review(context: QueryContext, args: Args) -> QueryResult[LogRow]:
    """Return a window on the entries to review, the youngest first."""
    cache, select = context.cache, f"SELECT l.at, l.key {_TO_REVIEW}"
    read = read_along(cache, select, ("l.at DESC", "l.key DESC"), _reviewed_here(context.outbox))
    total = count_entries_to_review(cache, context.outbox)
    keys = read_window(read, total, *window_bounds(args, 50))
    return entries_by_key(cache, [str(key) for _, key in keys]), total


def pending_reviews(outbox: apsw.Connection) -> dict[str, str]:
    """Return the review states by entry that this host has set and not read back yet."""
    bodies = [parse_row(body) for (body,) in fetch(outbox, _PENDING_REVIEWS)]
    return {str(each["id"]): str(each.get("review_status")) for body in bodies for each in body.get("reviews") or ()}


def _reviewed_here(outbox: apsw.Connection) -> str:
    """Return the keys of the entries reviewed on this host that were not read back yet, as JSON."""
    return to_text([key for key, status in pending_reviews(outbox).items() if status == STATUS_REVIEWED])
