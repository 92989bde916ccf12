"""Queries of the store's log: counts, losses and finds of today, the whole log, and losses by week.

The day's list joins the entries of this host with those of the service's log. An entry in both is one row, with the
service's figures. interface: Store product log entry, Create store product logs.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypedDict

import apsw

from aisle.cache.log_and_difference_writer import last_superseding, standing_counts, taken_back
from aisle.cache.log_entries_and_undo import (
    absorbed_by,
    count_after,
    is_undo,
    is_undone,
    later_count,
    local_rows,
    log_row,
    undone_entries,
    unused_count_before,
)
from aisle.cache.log_schema import HAS_REASON_SQL, IS_LISTED_SQL, WORK_SQL
from aisle.cache.people_and_claim_queries import announces_features, names_by_user
from aisle.cache.queries import QueryContext, QueryResult, WindowRows, declare_query, whole_topics, window_bounds
from aisle.cache.row_parsing_and_writing import ENTRY_PRICE_SQL, entry_price
from aisle.cache.stored_row_values import parse_row, prices_of, product_names, round_sum
from aisle.cache.unconfirmed_operation_queries import OUTCOME_CONFIRMED, OUTCOME_REFUSED, OUTCOME_RESOLVED
from aisle.host.database import fetch, fetch_one
from aisle.host.notify_sockets import OUTBOX
from aisle.jobs import store_time
from aisle.jobs.job import Args, Json
from aisle.jobs.store_time import to_utc_text
from aisle.named_tuple_json import to_text
from aisle.row_values import to_decimal
from aisle.scan.grammar_and_meaning_types import LOCATION
from aisle.search_text import index_text, normalise_text

if TYPE_CHECKING:
    from aisle.jobs.row_types.log import (
        CountsBookedOtherwiseRow,
        CountsSinceRow,
        EntryRow,
        LogRow,
        LogSumsRow,
        MyEntriesRow,
        ReasonsRow,
    )

    class PastEntry(TypedDict):
        """Key and time of the entry before the first one."""

        key: str
        at: str

    from aisle.jobs.row_types.log import LossesRow


LATEST_START_S = 60.0
"""Seconds before the time of an entry in which its operation was stored at the earliest."""

_LOCAL_ENTRIES = """
SELECT * FROM operation INDEXED BY operation_logs
WHERE operation = 'create-store-product-logs' AND created_at >= ?1 AND store = ?2
  AND (?3 = '' OR app_user = ?3 OR instr(body, ?4)) ORDER BY n
"""
"""Entries of one person or of all.

The body is searched too, because an entry may name another user than its operation.
"""

_LOG_ENTRIES = f"""
SELECT key, at, raw FROM log INDEXED BY log_listed
WHERE at >= ? AND {IS_LISTED_SQL} AND ? IN ('', app_user_name) AND ? IN ('', product_number)
"""  # noqa: S608 - conditions of our own
_LOG_ENTRIES_BY_ID = "SELECT l.key, l.at, l.raw FROM json_each(?) e JOIN log l ON l.key = e.value WHERE l.at >= ?"

_REASON_CODES = f"""
WITH RECURSIVE told (code) AS (
  SELECT min(raw ->> 'reason_code') FROM log INDEXED BY log_reason WHERE {HAS_REASON_SQL}
  UNION ALL
  SELECT (
    SELECT min(raw ->> 'reason_code') FROM log INDEXED BY log_reason
    WHERE {HAS_REASON_SQL} AND raw ->> 'reason_code' > code
  ) FROM told WHERE code IS NOT NULL
)
SELECT code FROM told WHERE code IS NOT NULL
"""  # noqa: S608 - conditions of our own
_REASON_TEXT = f"""
SELECT max(description), sum(quantity) > 0 FROM (
  SELECT raw ->> 'reason_code_description' AS description, raw ->> 'quantity' AS quantity
  FROM log INDEXED BY log_reason WHERE {HAS_REASON_SQL} AND raw ->> 'reason_code' = ? ORDER BY at DESC LIMIT ?
)
"""  # noqa: S608 - conditions of our own
_REASON_SAMPLE = 50
"""Number of a reason's youngest entries that determine its text and sign; a busy store has ten thousand of them."""


@declare_query("reasons", "", whole_topics())
def log_reasons(context: QueryContext, _: Args) -> QueryResult[ReasonsRow]:
    """Return the reasons in the store's log."""
    rows: list[ReasonsRow] = []
    for (code,) in fetch(context.cache, _REASON_CODES):
        ((description, adds),) = fetch(context.cache, _REASON_TEXT, code, _REASON_SAMPLE)
        if str(code).isdecimal():
            rows.append({"reason_code": int(code), "reason_code_description": str(description), "adds": bool(adds)})
    return rows, len(rows)


@declare_query(
    "my_entries", "now since key user product_number products search first size", whole_topics("log", OUTBOX)
)
def entries_of_day(context: QueryContext, args: Args) -> QueryResult[MyEntriesRow]:
    """Return a window on the day of `now` (ISO 8601), youngest first, or the entry with this `key`. Without `since`
    (ISO 8601) the day begins at midnight.

    Filters: `user`, `product_number`, `products` (several), words to `search`.
    """
    cache, outbox, store = context.cache, context.outbox, context.store_folder.store
    midnight = store_time.start_of_today(str(args["now"]))
    since = to_utc_text(str(args.get("since") or midnight.isoformat()))
    user, product = str(args.get("user") or ""), str(args.get("product_number") or "")
    sent = list(local_rows(fetch(outbox, _LOCAL_ENTRIES, midnight.timestamp(), store, user, to_text(user))))
    found = fetch(cache, _LOG_ENTRIES, since, user, product)
    found += fetch(cache, _LOG_ENTRIES_BY_ID, to_text([row["id"] for row in sent if row["id"]]), since)
    logged = {str(key): log_row(str(key), str(at), parse_row(raw)) for key, at, raw in found}
    for row in sent:
        row["id"] = row["id"] or (_matching_log_entry(row, logged) if row["outcome"] == OUTCOME_CONFIRMED else "")
        if row["id"] in logged:
            entry = logged[row["id"]]
            entry["key"], entry["said"] = row["key"], row["said"]
    rows = [row for row in logged.values() if _is_listed(row)]
    rows += [row for row in sent if row["id"] not in logged]
    undone = undone_entries(cache, outbox, since)
    rows = [row for row in rows if args["key"] in (row["key"], row["id"])] if args.get("key") else rows
    filtered = _filter_rows(_add_product_names(cache, rows), args)
    filtered.sort(key=lambda row: (row["at"], row["key"]), reverse=True)
    first, size = window_bounds(args)
    shown = filtered[first : first + size]
    waiting = local_entries(context, since)
    names, not_used = names_by_user(cache), taken_back(cache, [row["id"] for row in shown])
    return [_entry_of_day(cache, row, undone, waiting, names, not_used) for row in shown], len(filtered)


def _entry_of_day(
    cache: apsw.Connection,
    row: EntryRow,
    undone: set[str],
    waiting: Sequence[EntryRow],
    names: Mapping[str, str],
    not_used: Container[str],
) -> MyEntriesRow:
    """Return a row of the day's list with what became of the entry since.

    Counts of this host that are `waiting` count before they are sent. The service took back the entries `not_used`.
    """
    may_stand = row["outcome"] not in (OUTCOME_REFUSED, OUTCOME_RESOLVED)
    is_confirmed = row["outcome"] == OUTCOME_CONFIRMED
    return {
        **row,
        "user_name": names.get(row["app_user_name"]) or "",
        "undone": is_undone(row, undone),
        "later_count": later_count(cache, row, undone, waiting) if may_stand else None,
        "is_not_used": is_confirmed and row["counted_quantity"] is not None and row["id"] in not_used,
        "absorbed": absorbed_by(cache, row, undone) if is_confirmed else Decimal(0),
        "unused_before": unused_count_before(cache, row) if is_confirmed else None,
        "keeps_date": row["counted_quantity"] is not None and not announces_features(cache),
    }


@declare_query("counts_booked_otherwise", "user since", whole_topics("log"))
def counts_booked_otherwise(context: QueryContext, args: Args) -> QueryResult[CountsBookedOtherwiseRow]:
    """Return the counts of a person on this host since then whose difference is booked otherwise than was shown.

    Counts that the service does not use, or that are undone, are left out.
    """
    cache, since, user = context.cache, to_utc_text(str(args["since"])), str(args["user"])
    begin = datetime.fromisoformat(since).timestamp()
    found = fetch(context.outbox, _LOCAL_ENTRIES, begin, context.store_folder.store, user, to_text(user))
    sent = [row for row in local_rows(found) if row["id"] and row["counted_quantity"] is not None]
    numbers = [row["id"] for row in sent]
    logged = {
        str(key): log_row(str(key), str(at), parse_row(raw))
        for key, at, raw in fetch(cache, _LOG_ENTRIES_BY_ID, to_text(numbers), "")
    }
    left_out = taken_back(cache, numbers)
    undone = undone_entries(cache, context.outbox, since) if sent else set()
    pairs = [(row, logged[row["id"]]) for row in sent if row["id"] in logged and row["id"] not in left_out]
    differing = [
        (row, entry["difference"])
        for row, entry in pairs
        if row["difference"] != entry["difference"] and not is_undone({**entry, "said": row["said"]}, undone)
    ]
    names = product_names(cache, (row["product_number"] for row, _ in differing))
    rows: list[CountsBookedOtherwiseRow] = [
        {
            "key": row["key"],
            "label": names.get(row["product_number"], row["product_number"]),
            "shown": row["difference"],
            "booked": booked,
        }
        for row, booked in differing
        if row["difference"] is not None and booked is not None
    ]
    return rows, len(rows)


@declare_query("counts_since", "since goods", whole_topics("log", OUTBOX))
def counts_since(context: QueryContext, args: Args) -> QueryResult[CountsSinceRow]:
    """Return the last count since then of each of the `goods` (product, location, pool or 0) that were counted.

    Counts that are undone are left out; those of this host count before they are sent.
    """
    cache, since = context.cache, to_utc_text(str(args["since"]))
    undone = undone_entries(cache, context.outbox, since)
    sent = local_entries(context, since)
    rows: list[CountsSinceRow] = []
    for product, location, pool in args["goods"]:
        found = count_after(cache, str(product), str(location), int(pool), since, undone, sent)
        if found is not None:
            rows.append({"product_number": product, "location_code": location, "counted_quantity": found})
    return rows, len(rows)


def local_entries(context: QueryContext, since: str) -> list[EntryRow]:
    """Return the log entries of this host since then (ISO 8601 UTC)."""
    begin, store = datetime.fromisoformat(since).timestamp() - LATEST_START_S, context.store_folder.store
    return list(local_rows(fetch(context.outbox, _LOCAL_ENTRIES, begin, store, "", "")))


def _matching_log_entry(row: EntryRow, logged: Mapping[str, EntryRow]) -> str:
    """Return the number of the equal entry in the service's log, for a service that returns no numbers on creation."""
    for key, other in logged.items():
        if (
            other["key"] == key
            and other["product_number"] == row["product_number"]
            and other["location_code"] == row["location_code"]
            and other["app_user_name"] == row["app_user_name"]
            and other["counted_quantity"] == row["counted_quantity"]
            and row["difference"] in (None, other["difference"])
        ):
            return key
    return ""


def _is_listed(row: EntryRow) -> bool:
    """Return True if a log entry is a count, a loss or a correction; no movement, receipt or shortage."""
    if row["source"] in ("short", "rejected"):
        return False
    reason, counted = row["reason_code"] is not None, row["counted_quantity"] is not None
    return counted or reason or is_undo(row)


def _filter_rows(rows: Iterable[EntryRow], args: Args) -> list[EntryRow]:
    user, product = str(args.get("user") or ""), str(args.get("product_number") or "")
    products = args.get("products") or ()
    words = normalise_text(str(args.get("search") or "")).split()
    return [
        row
        for row in rows
        if (not products or row["product_number"] in products)
        and (not user or row["app_user_name"] == user)
        and (not product or row["product_number"] == product)
        and all(word in _entry_text(row) for word in words)
    ]


def _entry_text(row: EntryRow) -> str:
    return index_text(f"{row['description']} {row['product_number']} {row['location_code']}")


def _add_product_names(cache: apsw.Connection, rows: list[EntryRow]) -> list[EntryRow]:
    names = product_names(cache, (row["product_number"] for row in rows))
    for row in rows:
        row["description"] = names.get(row["product_number"], row["product_number"])
    return rows


LOSS = "loss"
"""Value of the filter `source` for entries that are losses and were not undone."""

TO_REVIEW = "1"
"""Value of the filter `review_status` for entries to review."""

MAX_COUNTED_ENTRIES = 5000
"""Most entries of a period among which those of any filter are counted."""

MAX_WORDS = 4
"""Greatest number of words of a search; further ones are ignored."""


_WORK_OF_ENTRY = WORK_SQL.format(row="l")

_CONDITIONS = {
    "since": "l.at >= :since",
    "until": "l.at < :until",
    "past": "(l.at, l.key) < (:past_at, :past)",
    "product": "l.product_number = :product",
    "users": "l.app_user_name IN (SELECT value FROM json_each(:users))",
    "reason": "CAST(l.raw ->> 'reason_code' AS TEXT) = :reason",
    "review": "CAST(l.raw ->> 'review_status' AS TEXT) = :review",
    "reference": "instr(lower(l.raw ->> 'reference'), :reference) > 0",
    "source": f"{_WORK_OF_ENTRY} = :source",
    "loss": "l.key IN (SELECT key FROM loss WHERE is_undone = 0 AND :loss)",
    "low": "CAST(l.key AS INTEGER) >= :low",
    "high": "CAST(l.key AS INTEGER) <= :high",
    "places": "lower(l.raw ->> 'location_code') IN (SELECT lower(value) FROM json_each(:places))",
    **{f"w{at}": f"(instr(l.text, :w{at}) > 0 OR instr(p.text, :w{at}) > 0)" for at in range(MAX_WORDS)},
}
"""Conditions by argument. Only those asked for enter the SQL, so that unfiltered counts run along an index."""

_JOIN_PRODUCT = "LEFT JOIN product p ON p.product_number = l.product_number"
_SELECT_ENTRIES = f"""
SELECT l.key, l.at, l.raw, p.name, {_WORK_OF_ENTRY} FROM log l {{product}} WHERE {{limits}}
ORDER BY l.at {{way}}, l.key {{way}}
LIMIT :size OFFSET :first
"""  # noqa: S608 - conditions of our own
_COUNT_ENTRIES = "SELECT count(*) FROM log l {product} WHERE {limits}"
_HOUR_LENGTH = len("2026-01-01T08")
_COUNT_BY_HOUR = "SELECT ifnull(sum(n), 0) FROM log_tally WHERE (hour > ?1 OR NOT ?2) AND (hour < ?3 OR ?3 = '')"
_COUNT_BETWEEN = "SELECT count(*) FROM log WHERE at >= ? AND at < ?"
_SUM_LOSSES = f"""
SELECT l.product_number, {ENTRY_PRICE_SQL}, sum(x.quantity)
FROM loss x CROSS JOIN log l ON l.key = x.key {{product}} WHERE x.is_undone = 0 AND {{limits}} GROUP BY 1, 2
"""  # noqa: S608 - a column of our own
"""The losses are read first, because they are few."""
_COUNT_KINDS = "SELECT kind, sum(n) FROM log_hour WHERE hour >= ? GROUP BY kind"
_MOST_ACTIVE = """
SELECT h.app_user, ifnull(p.name, h.app_user) FROM log_hour h LEFT JOIN person p ON p.user = h.app_user
WHERE h.hour >= ? AND h.app_user <> '' GROUP BY h.app_user ORDER BY sum(h.n) DESC, h.app_user LIMIT 7
"""
_COUNT_LOSSES = "SELECT count(*) FROM loss INDEXED BY loss_at WHERE is_undone = 0 AND at >= ?"
_SELECT_ENTRIES_BY_KEY = f"""
SELECT l.key, l.at, l.raw, p.name, {_WORK_OF_ENTRY} FROM json_each(?) e JOIN log l ON l.key = e.value
LEFT JOIN product p ON p.product_number = l.product_number ORDER BY e.key
"""  # noqa: S608 - conditions of our own
_LOG_BEGIN = "SELECT cursor ->> '$.since' FROM sync WHERE topic = 'logs_span'"
_LOCATIONS_BY_CODE = "SELECT key FROM code WHERE code >= ? AND code < ? AND kind = ?"

BEFORE_ALL, AFTER_ALL = "\0", "\U0010ffff"
"""Bounds before and after everything that can follow the beginning of a code or of a moment."""


@declare_query(
    "log",
    "key since until from_id to_id product_number app_user_name reason_code review_status reference source"
    " location_code search past order_by descending first size",
    whole_topics("log"),
    sorts=("at",),
)
def log_entries(context: QueryContext, args: Args) -> QueryResult[LogRow] | WindowRows[LogRow]:
    """Return a window on the log, youngest first, or the one entry with this `key`.

    Filters: `since` and `until` (days, ISO 8601; `until` is excluded), `from_id`, `to_id`, `product_number`,
    `app_user_name`, `reason_code`, `review_status`, `reference` (a part of it). Also `source` (column `work`),
    `location_code` (a code or its beginning), and words to `search`; a word that can only be a location code filters by
    these locations.

    With `past`, the `key` and `at` of an entry, the entries after it are returned and nothing is counted. `is_partial`
    is True if the range reaches back before the cached log.
    """
    cache = context.cache
    if args.get("key"):
        matching = entries_by_key(cache, [str(args["key"])])
        for row in matching:
            row["superseded_at"] = _superseded_at(cache, row)
        return matching, len(matching)
    first, size = window_bounds(args)
    past: PastEntry | None = args.get("past")
    values = _condition_values(cache, args, past)
    limits = " AND ".join(_CONDITIONS[name] for name in values) or "1"
    window_values = {"first": first, "size": size, "past_at": past["at"] if past else ""}
    way = "ASC" if args.get("order_by") and not args.get("descending") else "DESC"
    rows = cache.execute(
        _SELECT_ENTRIES.format(product=_JOIN_PRODUCT, limits=limits, way=way), {**values, **window_values}
    ).fetchall()
    found = _add_values(cache, [_full_entry(*row) for row in rows])
    if past:
        return found, len(found)
    total = _count_entries(cache, values)
    return WindowRows(_add_user_names(cache, found), total, _reaches_before_log(cache, str(args.get("since") or "")))


def entries_by_key(cache: apsw.Connection, keys: Sequence[str]) -> list[LogRow]:
    """Return the entries with these keys in the given order; unknown keys are left out."""
    rows = fetch(cache, _SELECT_ENTRIES_BY_KEY, to_text(list(keys)))
    return _add_user_names(cache, _add_values(cache, [_full_entry(*row) for row in rows]))


def _superseded_at(cache: apsw.Connection, row: LogRow) -> str:
    """Return the time of the count that supersedes an entry; empty if it is no count, or if the service uses it."""
    standing = standing_counts(cache, row["product_number"]) if row["counted_quantity"] is not None else []
    count = next((each for each in standing if each.key == row["key"]), None)
    if count is None or not taken_back(cache, [count.key]):
        return ""
    later = last_superseding(count, standing)
    return later.at if later else ""


def _count_entries(cache: apsw.Connection, values: dict[str, Json]) -> int:
    """Return the number of entries that meet the conditions with these values."""
    if values.keys() <= {"since", "until"}:
        return _count_between(cache, str(values.get("since", "")), str(values.get("until", "")))
    limits = " AND ".join(_CONDITIONS[name] for name in values)
    sql = _COUNT_ENTRIES.format(product=_JOIN_PRODUCT if "w0" in values else "", limits=limits)
    return int(str(cache.execute(sql, values).fetchall()[0][0]))


def _condition_values(cache: apsw.Connection, args: Args, past: PastEntry | None) -> dict[str, Json]:
    """Return the values of the requested conditions by their names in `_CONDITIONS`."""
    search, user, source = (str(args.get(name) or "") for name in ("search", "app_user_name", "source"))
    code = str(args.get("location_code") or "")
    meant_locations = [] if code else _locations_meant(cache, search)
    words = [] if meant_locations else normalise_text(search).split()[:MAX_WORDS]
    locations = meant_locations or (_locations_by_code(cache, code) or [code] if code else [])
    # An entry may have other letters than the list; SQL's `lower` knows only ASCII letters.
    spellings = sorted({spelt for each in locations for spelt in (each, each.casefold(), each.upper())})
    values: dict[str, Json] = {
        "since": to_utc_text(str(args.get("since") or "")),
        "until": "" if past else to_utc_text(str(args.get("until") or "")),
        "past": past["key"] if past else "",
        "product": str(args.get("product_number") or ""),
        "users": to_text(_users_meant(cache, user)) if user else "",
        "reason": str(args.get("reason_code") or ""),
        "review": str(args.get("review_status") or ""),
        "reference": str(args.get("reference") or "").lower(),
        "places": to_text(spellings) if spellings else "",
        "source": "" if source == LOSS else source,
        "loss": int(source == LOSS) or "",
        "low": _parse_bound(args.get("from_id")),
        "high": _parse_bound(args.get("to_id")),
        **{f"w{at}": word for at, word in enumerate(words)},
    }
    return {name: value for name, value in values.items() if value not in ("", None)}


def _count_between(cache: apsw.Connection, since: str, until: str) -> int:
    """Return the number of entries between two moments (empty: no limit); whole hours come from the stored sums."""
    first, last = since[:_HOUR_LENGTH], until[:_HOUR_LENGTH]
    ((total,),) = fetch(cache, _COUNT_BY_HOUR, first, since != "", last)
    for hour in {first, last} - {""}:
        ((more,),) = fetch(cache, _COUNT_BETWEEN, max(since, hour), min(until or AFTER_ALL, hour + AFTER_ALL))
        total += more
    return int(total)


def _reaches_before_log(cache: apsw.Connection, since: str) -> bool:
    """Return True if the range begins before the cached log; one day of tolerance covers zones of host and service."""
    span = fetch_one(cache, _LOG_BEGIN)
    if not span or not span[0] or not since:
        return False
    return date.fromisoformat(since[:10]) < date.fromisoformat(str(span[0])) - timedelta(days=1)


def _locations_by_code(cache: apsw.Connection, text: str) -> list[str]:
    """Return the location with exactly this code, in any case, else all whose codes begin with it."""
    code = text.strip().casefold()
    exact = fetch(cache, _LOCATIONS_BY_CODE, code, code + BEFORE_ALL, LOCATION)
    found = exact or (fetch(cache, _LOCATIONS_BY_CODE, code, code + AFTER_ALL, LOCATION) if code else [])
    return [str(key) for (key,) in found]


def _locations_meant(cache: apsw.Connection, text: str) -> list[str]:
    """Return the locations that a search text means.

    The beginning of a code counts only if it is no plain word or number.
    """
    code = text.strip().casefold()
    found = _locations_by_code(cache, code)
    return found if [code] == [each.casefold() for each in found] or not (code.isalpha() or code.isdigit()) else []


def _add_user_names(cache: apsw.Connection, rows: list[LogRow]) -> list[LogRow]:
    """Add the name of each entry's user as `user_name`, in place. Return the rows."""
    names = names_by_user(cache)
    for row in rows:
        row["user_name"] = str(names.get(row["app_user_name"]) or "")
    return rows


def _users_meant(cache: apsw.Connection, text: str) -> list[str]:
    """Return the user of this number, else all people whose names have these words."""
    names, words = names_by_user(cache), normalise_text(text).split()
    named = [user for user, name in names.items() if all(word in normalise_text(name) for word in words)]
    return [text] if text in names or not named else named


def _add_values(cache: apsw.Connection, rows: list[LogRow]) -> list[LogRow]:
    """Add the value of each entry's change as `value`, in place: at its own price, else at today's. Return the rows."""
    prices = prices_of(cache, {row["product_number"] for row in rows if row["price"] is None})
    for row in rows:
        price = prices.get(row["product_number"]) if row["price"] is None else row["price"]
        row["value"] = None if price is None or row["difference"] is None else round(row["difference"] * price, 2)
    return rows


@declare_query(
    "log_sums",
    "since until from_id to_id product_number app_user_name reason_code review_status reference source"
    " location_code search",
    whole_topics("log"),
)
def log_sums(context: QueryContext, args: Args) -> QueryResult[LogSumsRow]:
    """Return one row: losses among the entries of the filter; of its period the counts by kind, and who worked most."""
    cache = context.cache
    values = _condition_values(cache, args, None)
    limits = " AND ".join(_CONDITIONS[name] for name in values) or "1"
    sql = _SUM_LOSSES.format(product=_JOIN_PRODUCT if "w0" in values else "", limits=limits)
    lost = cache.execute(sql, values).fetchall()
    prices = prices_of(cache, {str(product) for product, price, _ in lost if price is None})
    since = str(values.get("since", ""))
    counts = {str(kind): int(n) for kind, n in fetch(cache, _COUNT_KINDS, since[:_HOUR_LENGTH])}
    ((losses,),) = fetch(cache, _COUNT_LOSSES, since)
    quantity, value, unpriced = Decimal(0), Decimal(0), Decimal(0)
    for product, own_price, amount in lost:
        price = prices.get(str(product)) if own_price is None else to_decimal(own_price)
        quantity += (part := round_sum(float(str(amount))))
        value += part * (price or 0)
        unpriced += part if price is None else 0
    people = [(str(user), str(name)) for user, name in fetch(cache, _MOST_ACTIVE, since[:_HOUR_LENGTH])]
    row: LogSumsRow = {
        "lost": quantity,
        "value": round(value, 2),
        "unpriced": unpriced,
        "counts": {**counts, "": _count_between(cache, since, ""), LOSS: int(losses)},
        "to_review": None,
        "everybody": None,
        "people": [{"user": user, "name": name, "count": None} for user, name in people],
    }
    if _count_between(cache, since, "") <= MAX_COUNTED_ENTRIES:
        _add_counts(cache, row, args)
    elif values.keys() > {"since"}:
        row["counts"] = {}
    return [row], 1


def _add_counts(cache: apsw.Connection, row: LogSumsRow, args: Args) -> None:
    """Add the number of entries that each filter of the list leaves, in place."""

    def count(**changed: str) -> int:
        return _count_entries(cache, _condition_values(cache, {**args, **changed}, None))

    row["counts"] = {source: count(source=source, review_status="") for source in row["counts"]}
    row["to_review"] = count(source="", review_status=TO_REVIEW)
    row["everybody"] = count(app_user_name="")
    for person in row["people"]:
        person["count"] = count(app_user_name=person["user"])


def _parse_bound(value: Json) -> int | None:
    text = str(value or "")
    return int(text) if text.isdecimal() else None


def _full_entry(key: Any, at: Any, raw: Any, name: Any, work: Any) -> LogRow:
    """Return the row of an entry with all its fields; numbers as Decimal."""
    entry = parse_row(str(raw))
    row, price = log_row(str(key), str(at), entry), entry_price(entry)
    return {
        **row,
        "work": str(work),
        "description": str(name or row["product_number"]),
        "expected_quantity": None if entry.get("expected_quantity") is None else to_decimal(entry["expected_quantity"]),
        "quantity": to_decimal(entry.get("quantity")),
        "review_status": str(entry.get("review_status") or ""),
        "customer_order_number": str(entry.get("customer_order_number") or ""),
        "customer_order_line_number": entry.get("customer_order_line_number"),
        "stock_pool": str(entry.get("stock_pool") or (row["pool"] or "")),
        "price": None if price is None else to_decimal(price),
        "reason_code_description": row["reason"],
        "user_name": "",
        "value": None,
        "superseded_at": "",
    }


LOSS_WEEKS = 8
"""Weeks of losses, the current one included."""

_LOSSES_BY_WEEK = """
SELECT w.key, l.reason, r.description, sum(l.quantity) FROM json_each(?) w
CROSS JOIN loss l INDEXED BY loss_at ON l.is_undone = 0 AND l.at >= w.value ->> 0 AND l.at < w.value ->> 1
LEFT JOIN loss_reason r ON r.reason = l.reason GROUP BY 1, 2
"""


@declare_query("losses", "now", whole_topics("log"))
def losses_by_week(context: QueryContext, args: Args) -> QueryResult[LossesRow]:
    """Return the losses by reason in each of the last weeks up to that of `now`, greatest first.

    Undone losses do not count; weeks begin on Monday.
    """
    starts = [to_utc_text(each.isoformat()) for each in week_starts(str(args["now"]))]
    weeks = to_text(list(pairwise([*starts, AFTER_ALL])))
    found: dict[str, LossesRow] = {}
    for week, code, words, quantity in fetch(context.cache, _LOSSES_BY_WEEK, weeks):
        empty: LossesRow = {
            "reason_code": str(code),
            "description": str(words or ""),
            "weeks": [Decimal(0)] * LOSS_WEEKS,
            "total": Decimal(0),
        }
        reason = found.setdefault(code, empty)
        reason["weeks"][week] += round_sum(quantity)
        reason["total"] += round_sum(quantity)
    ranked = sorted(found.values(), key=lambda row: (-row["total"], row["reason_code"]))
    return ranked, len(ranked)


def week_starts(now: str) -> list[datetime]:
    """Return the beginnings of the last weeks in the store's zone, oldest first."""
    today = store_time.start_of_today(now).date()
    monday = today - timedelta(days=today.weekday())
    return [store_time.start_of_day(monday - timedelta(weeks=LOSS_WEEKS - 1 - at)) for at in range(LOSS_WEEKS)]
