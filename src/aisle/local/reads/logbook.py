"""The store's whole log as supervisors read it: with every filter of the list, and what was lost by reason and week.

interface: Store product log entry, List store product logs.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import apsw

from aisle.jobs import store_time
from aisle.jobs.base import Json
from aisle.jobs.codec import to_text
from aisle.jobs.store_time import utc
from aisle.local.cache.schema_log import WORK
from aisle.local.db import fetch, fetch_one
from aisle.local.reads.logs import as_logged
from aisle.local.reads.overlay import Row, decimal
from aisle.local.reads.rows import Found, Result, loaded, summed, window
from aisle.local.session.people import people_of
from aisle.scan.meaning import LOCATION
from aisle.words import fold

SIZE = 20
"""Rows of a window when nobody says how many."""

WORDS = 4
"""Words of a search that count."""

WEEKS = 8
"""Weeks of losses, the present one included."""

_WORK = WORK.format(row="l")

_LIMITS = {
    "since": "l.at >= :since",
    "until": "l.at < :until",
    "past": "(l.at, l.key) < (:past_at, :past)",
    "product": "l.product_number = :product",
    "user": "l.app_user_name = :user",
    "reason": "CAST(l.raw ->> 'reason_code' AS TEXT) = :reason",
    "review": "CAST(l.raw ->> 'review_status' AS TEXT) = :review",
    "reference": "instr(lower(l.raw ->> 'reference'), :reference) > 0",
    "source": f"{_WORK} = :source",
    "low": "CAST(l.key AS INTEGER) >= :low",
    "high": "CAST(l.key AS INTEGER) <= :high",
    "places": "lower(l.raw ->> 'location_code') IN (SELECT lower(value) FROM json_each(:places))",
    **{f"w{at}": f"(instr(l.text, :w{at}) > 0 OR instr(p.text, :w{at}) > 0)" for at in range(WORDS)},
}
"""Only what is asked for is said: entries without a limit, or within days, are then counted along an index."""

_PRODUCT = "LEFT JOIN product p ON p.product_number = l.product_number"
_ROWS = f"""
SELECT l.key, l.at, l.raw, p.name, {_WORK} FROM log l {{product}} WHERE {{limits}} ORDER BY l.at DESC, l.key DESC
LIMIT :size OFFSET :first
"""  # noqa: S608 - conditions of our own
_COUNT = "SELECT count(*) FROM log l {product} WHERE {limits}"
_HOUR = len("2026-01-01T08")
_HOURS = "SELECT ifnull(sum(n), 0) FROM log_many WHERE (hour > ?1 OR NOT ?2) AND (hour < ?3 OR ?3 = '')"
_BETWEEN = "SELECT count(*) FROM log WHERE at >= ? AND at < ?"
_ONE = f"""
SELECT l.key, l.at, l.raw, p.name, {_WORK} FROM log l LEFT JOIN product p ON p.product_number = l.product_number
WHERE l.key = ?
"""  # noqa: S608 - conditions of our own
_BY_DAY = """
SELECT s.at, s.reason, r.words, s.quantity FROM loss_sum s LEFT JOIN loss_reason r ON r.reason = s.reason
WHERE s.span = 'day' AND s.at >= ?
"""
_BY_QUARTER = """
SELECT s.at, s.reason, r.words, s.quantity FROM json_each(?) e
JOIN loss_sum s ON s.span = 'quarter' AND s.at >= e.value AND s.at < e.value || '~'
LEFT JOIN loss_reason r ON r.reason = s.reason
"""
_DAY, _MINUTE = len("2026-01-01"), len("2026-01-01T08:15")
_SPAN = "SELECT cursor ->> '$.since' FROM sync WHERE topic = 'logs_span'"
_PLACES = "SELECT key FROM code WHERE code >= ? AND code < ? AND kind = ?"

LEAST, LAST = "\0", "\U0010ffff"
"""What comes before and behind everything that a code may go on with."""


def logs(cache: apsw.Connection, args: Mapping[str, Json]) -> Result | Found:
    """A window on the log, youngest first; or the one entry with this `key`.

    `since` and `until` (days, ISO 8601; the second is not in it), `product_number`, `app_user_name`, `reason_code`,
    `review_status`, `reference` (a part of it), `source` (what work it was: `work` of the rows), `from_id`, `to_id`,
    `location_code` (a place's, or what those of several begin with), and words to `search`; what can only be such a
    code means those places too. With `past`, the `key` and `at` of an entry, those that follow it, and nothing is
    counted. There may be more (`partly`) where what is older than what was read is looked for too.
    """
    if args.get("key"):
        one = fetch(cache, _ONE, str(args["key"]))
        return _named(cache, [_entry(*row) for row in one]), len(one)
    first, size = window(args, SIZE)
    past: Mapping[str, Any] | None = args.get("past")
    said = _said(cache, args, past)
    limits = " AND ".join(_LIMITS[name] for name in said) or "1"
    window_of = {"first": first, "size": size, "past_at": past["at"] if past else ""}
    rows = cache.execute(_ROWS.format(product=_PRODUCT, limits=limits), {**said, **window_of}).fetchall()
    found = [_entry(*row) for row in rows]
    if past:
        return found, len(found)
    if said.keys() <= {"since", "until"}:
        total = _many(cache, said.get("since", ""), said.get("until", ""))
    else:
        sql = _COUNT.format(product=_PRODUCT if "w0" in said else "", limits=limits)
        total = int(str(cache.execute(sql, said).fetchall()[0][0]))
    return Found(_named(cache, found), total, _reaches_behind(cache, str(args.get("since") or "")))


def _said(cache: apsw.Connection, args: Mapping[str, Json], past: Mapping[str, Any] | None) -> dict[str, Any]:
    """What limits the window, by the names of `_LIMITS`: nothing that is not asked for."""
    search = str(args.get("search") or "")
    code = str(args.get("location_code") or "")
    meant = [] if code else _meant(cache, search)
    words = [] if meant else fold(search).split()[:WORDS]
    places = meant or (_places(cache, code) or [code] if code else [])
    asked: dict[str, Any] = {
        "since": utc(str(args.get("since") or "")),
        "until": "" if past else utc(str(args.get("until") or "")),
        "past": past["key"] if past else "",
        "product": str(args.get("product_number") or ""),
        "user": str(args.get("app_user_name") or ""),
        "reason": str(args.get("reason_code") or ""),
        "review": str(args.get("review_status") or ""),
        "reference": str(args.get("reference") or "").lower(),
        "places": to_text(_spelt(places)) if places else "",
        "source": str(args.get("source") or ""),
        "low": _bound(args.get("from_id")),
        "high": _bound(args.get("to_id")),
        **{f"w{at}": word for at, word in enumerate(words)},
    }
    return {name: value for name, value in asked.items() if value not in ("", None)}


def _many(cache: apsw.Connection, since: str, until: str) -> int:
    """How many entries there are between two moments (empty: no limit): whole hours are counted already."""
    first, last = since[:_HOUR], until[:_HOUR]
    ((total,),) = fetch(cache, _HOURS, first, since != "", last)
    for hour in {first, last} - {""}:
        ((more,),) = fetch(cache, _BETWEEN, max(since, hour), min(until or LAST, hour + LAST))
        total += more
    return int(total)


def _reaches_behind(cache: apsw.Connection, since: str) -> bool:
    """Whether older entries are looked for than were read; a day is given for the zones of host and service."""
    span = fetch_one(cache, _SPAN)
    if not span or not span[0] or not since:
        return False
    return date.fromisoformat(since[:10]) < date.fromisoformat(str(span[0])) - timedelta(days=1)


def _places(cache: apsw.Connection, text: str) -> list[str]:
    """The place whose whole code that is, in capitals or not, else all whose codes begin with it."""
    code = text.strip().casefold()
    whole = fetch(cache, _PLACES, code, code + LEAST, LOCATION)
    found = whole or (fetch(cache, _PLACES, code, code + LAST, LOCATION) if code else [])
    return [str(key) for (key,) in found]


def _meant(cache: apsw.Connection, text: str) -> list[str]:
    """The places that a search means: of the beginning of a code it has to look like one, as no word and no number of a
    product does."""
    code = text.strip().casefold()
    found = _places(cache, code)
    return found if [code] == [each.casefold() for each in found] or not (code.isalpha() or code.isdigit()) else []


def _spelt(places: list[str]) -> list[str]:
    """Their codes as an entry may have them; SQL's own `lower` knows no letter beyond ASCII."""
    return sorted({spelt for place in places for spelt in (place, place.casefold(), place.upper())})


def _named(cache: apsw.Connection, rows: list[Row]) -> list[Row]:
    """With the names of those who did it, as `user_name`."""
    names = people_of(cache)
    for row in rows:
        row["user_name"] = str(names.get(row["app_user_name"]) or "")
    return rows


def _bound(value: Json) -> int | None:
    text = str(value or "")
    return int(text) if text.isdecimal() else None


def _entry(key: Any, at: Any, raw: Any, name: Any, work: Any) -> Row:
    """An entry with all that it says; numbers as Decimal."""
    said = loaded(str(raw))
    row = as_logged(str(key), str(at), said)
    return {
        **row,
        "work": str(work),
        "description": str(name or row["product_number"]),
        "expected_quantity": None if said.get("expected_quantity") is None else decimal(said["expected_quantity"]),
        "quantity": decimal(said.get("quantity")),
        "review_status": str(said.get("review_status") or ""),
        "customer_order_number": str(said.get("customer_order_number") or ""),
        "customer_order_line_number": said.get("customer_order_line_number"),
        "stock_pool": str(said.get("stock_pool") or (row["pool"] or "")),
        "price": None if said.get("price") is None else decimal(said["price"]),
        "reason_code_description": row["reason"],
    }


def losses(cache: apsw.Connection, args: Mapping[str, Json]) -> Result:
    """What was lost, reason by reason, in each of the last weeks up to that of `now`: `reason_code`, `description`,
    `weeks` (oldest first) and `total`; the greatest first. What was taken back is not lost. Weeks begin on Monday.

    Whole days are summed already; of those in which a week of this host begins, each quarter of an hour.
    """
    begins = [utc(each.isoformat()) for each in weeks(str(args["now"]))]
    parted = {begin[:_DAY] for begin in begins if begin[_DAY:_MINUTE] != "T00:00"}
    sums = [row for row in fetch(cache, _BY_DAY, begins[0][:_DAY]) if row[0] not in parted]
    sums += fetch(cache, _BY_QUARTER, to_text(sorted(parted)))
    found: dict[str, Row] = {}
    for at, code, words, quantity in sums:
        week = sum(at >= begin[: len(at)] for begin in begins) - 1
        if week >= 0:
            empty = {"reason_code": str(code), "description": str(words or ""), "weeks": [Decimal(0)] * WEEKS}
            reason = found.setdefault(code, {**empty, "total": Decimal(0)})
            reason["weeks"][week] += summed(quantity)
            reason["total"] += summed(quantity)
    ranked = sorted(found.values(), key=lambda row: (-row["total"], row["reason_code"]))
    return ranked, len(ranked)


def weeks(now: str) -> list[datetime]:
    """The beginnings of the last weeks in the time of the store, the oldest first."""
    today = store_time.midnight(now).date()
    monday = today - timedelta(days=today.weekday())
    return [store_time.midnight_of(monday - timedelta(weeks=WEEKS - 1 - at)) for at in range(WEEKS)]
