"""Figures of the store's day, from stored sums; no query scans a whole table.

A day begins at midnight of the store, rounded to the hour.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast

import apsw

from aisle.cache.order_board_queries import OrderBoard
from aisle.cache.people_and_claim_queries import names_by_user, person_name
from aisle.cache.queries import QueryContext, QueryResult, declare_query
from aisle.cache.reader import missing_lists, unread_lists
from aisle.cache.stored_row_values import Row, iso_time
from aisle.host.database import fetch, fetch_one
from aisle.jobs import store_time
from aisle.jobs.job import Args
from aisle.jobs.walk_order_sort_keys import natural_key
from aisle.outbox.sessions_and_open_jobs import SessionRow, running_sessions

if TYPE_CHECKING:
    from aisle.jobs.row_types.exceptions_clearance_and_today import (
        TodayHoursRow,
        TodayLocationsRow,
        TodayRow,
        TodayTerminalsRow,
    )

WORK_KINDS = ("pick", "count", "move", "short")
"""Kinds of work that are counted; see the triggers of the table `log`."""
KIND_BY_OPERATION = {"update-customer-order": "pick", "create-store-product-logs": "count", "create-movement": "move"}
"""Kind of work by operation of this host, as far as its name tells."""

_WORK_SUMS = "SELECT kind, sum(n) FROM log_hour WHERE hour >= ? GROUP BY kind"
_WORK_BY_HOUR = "SELECT app_user, hour, kind, n FROM log_hour WHERE hour >= ? ORDER BY app_user, hour"
_LOCAL_USERS = "SELECT DISTINCT app_user FROM operation INDEXED BY operation_day WHERE created_at >= ?"
_LOCAL_WORK = """
SELECT CAST(created_at / 3600 AS INTEGER), operation, count(*) FROM operation INDEXED BY operation_day
WHERE created_at >= ? AND app_user = ? AND superseded_by = '' AND state <> 'rejected'
  AND (operation <> 'update-customer-order' OR json_array_length(body, '$.orders.order_lines') > 0) GROUP BY 1, 2
"""
"""Updates without lines pick nothing. Only people whom the store's log does not mention are queried here."""
_WORK_BY_LOCATION = "SELECT location_code, sum(n) FROM log_location WHERE kind = ? AND hour >= ? GROUP BY location_code"
_SHORT_LINE_SQL = """count(DISTINCT ifnull(
  nullif(g.raw ->> 'customer_order_number', '') || '/' || (g.raw ->> 'customer_order_line_number'), g.key
))"""
"""Number of short lines; one that was closed short, reopened and closed again is short once."""
_SHORTAGES_BY_LOCATION = f"""
SELECT ifnull(l.raw ->> 'preferred_location_code', ''), {_SHORT_LINE_SQL} FROM log g INDEXED BY log_short
LEFT JOIN line l ON l.order_number = g.raw ->> 'customer_order_number'
  AND l.line_number = g.raw ->> 'customer_order_line_number'
WHERE g.raw ->> 'source' = 'short' AND g.at >= ? GROUP BY 1
"""  # noqa: S608 - a column of our own
_SHORT_LINES = f"""
SELECT {_SHORT_LINE_SQL} FROM log g INDEXED BY log_short WHERE g.raw ->> 'source' = 'short' AND g.at >= ?
"""  # noqa: S608 - a column of our own
_COUNT_FIRST_SEEN = "SELECT count(*) FROM orders INDEXED BY orders_age WHERE first_read_began >= ?"
_DUE_BY_STATUS = (
    "SELECT status, count(*) FROM orders INDEXED BY orders_pickup WHERE pickup >= ? AND pickup < ? GROUP BY status"
)
"""Both bounds are days without a time, because pick-up dates are stored with or without one."""
_OPEN_JOBS = """
SELECT job_id, name, opened FROM job WHERE session_id = ? AND closed IS NULL ORDER BY opened_seq DESC, opened DESC
"""
_LAST_INPUT_OF_JOB = "SELECT at FROM event WHERE job_id = ? ORDER BY seq DESC LIMIT 1"
_LAST_INPUTS = """
SELECT session_id, max(at) FROM (SELECT session_id, at FROM event ORDER BY seq DESC LIMIT 400) GROUP BY 1
"""


def _hour_key(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H")


@declare_query("today", "now")
def figures_of_day(context: QueryContext, args: Args) -> QueryResult[TodayRow]:
    """Return one row on orders, work, link, courier and cache at `now`."""
    cache, outbox, now = context.cache, context.outbox, str(args["now"])
    began = store_time.start_of_today(now)
    ends = began + timedelta(days=1)
    states = {str(status): int(count) for status, count in fetch(cache, "SELECT status, n FROM status_tally")}
    day = (began.date().isoformat(), ends.date().isoformat())
    due = {str(status): int(count) for status, count in fetch(cache, _DUE_BY_STATUS, *day) if status != "rejected"}
    full = fetch_one(cache, "SELECT json_extract(cursor, '$.completed') FROM sync WHERE topic = 'full'")
    began_at = began.timestamp()
    first_read = fetch_one(cache, "SELECT min(first_read_began) FROM orders")
    seen_all_day = bool(first_read and first_read[0] is not None and float(first_read[0]) < began_at)
    row: Row = {
        **{f"orders_{name}": states.get(name, 0) for name in ("open", "partial", "picked", "rejected")},
        "orders_in": int(fetch(cache, _COUNT_FIRST_SEEN, began_at)[0][0]),
        "seen_all_day": seen_all_day,
        "unread": unread_lists(cache),
        **dict(zip(("lacking", "left_out"), missing_lists(cache), strict=True)),
        "due": sum(due.values()),
        "due_done": sum(count for status, count in due.items() if status not in ("open", "partial")),
        "late": context.keep(OrderBoard).count_late(context, now),
        **_work_figures(cache, began),
        **_link_figures(cache),
        "read_at": float(full[0]) if full and full[0] else 0.0,
        "courier_at": _heartbeat_time(cache),
    }
    outbox_states = fetch(outbox, "SELECT state, count(*) FROM operation WHERE live = 1 GROUP BY state")
    row["outbox"] = {str(state): int(count) for state, count in outbox_states}
    return [cast("TodayRow", row)], 1


def _work_figures(cache: apsw.Connection, began: datetime) -> Row:
    """Return the entries of the day by kind. Their quantities have different units and are not summed."""
    found = {str(kind): int(count) for kind, count in fetch(cache, _WORK_SUMS, _hour_key(began))}
    found["short"] = int(fetch(cache, _SHORT_LINES, iso_time(began.timestamp()))[0][0])
    return {f"work_{kind}": found.get(kind, 0) for kind in WORK_KINDS}


def _link_figures(cache: apsw.Connection) -> Row:
    state, last_ok, why = fetch(cache, "SELECT state, last_ok, server FROM link")[0]
    return {"link": str(state), "last_ok": float(last_ok or 0), "why": str(why)}


def _heartbeat_time(cache: apsw.Connection) -> float:
    """Return the time of the courier's last heartbeat; 0 if there is none."""
    try:
        return os.stat(Path(cache.filename).with_name("courier.lock")).st_mtime if cache.filename else 0.0
    except OSError:
        return 0.0


@declare_query("today_hours", "now")
def work_by_hour(context: QueryContext, args: Args) -> QueryResult[TodayHoursRow]:
    """Return the work of each person by hour, most work first."""
    cache, outbox = context.cache, context.outbox
    began = store_time.start_of_today(str(args["now"]))
    found: dict[tuple[str, bool], dict[int, dict[str, int]]] = {}
    moments: dict[str, int] = {}
    for user, hour, kind, count in fetch(cache, _WORK_BY_HOUR, _hour_key(began)):
        if hour not in moments:
            moments[hour] = _hours_since(began, datetime.fromisoformat(f"{hour}:00+00:00"))
        _add_count(found, (str(user), False), moments[hour], str(kind), int(count))
    local_users = [
        str(user) for (user,) in fetch(outbox, _LOCAL_USERS, began.timestamp()) if (str(user), False) not in found
    ]
    for user in local_users:
        for hour, operation, count in fetch(outbox, _LOCAL_WORK, began.timestamp(), user):
            moment = datetime.fromtimestamp(int(hour) * 3600, UTC)
            if str(operation) in KIND_BY_OPERATION:
                _add_count(
                    found, (user, True), _hours_since(began, moment), KIND_BY_OPERATION[str(operation)], int(count)
                )
    names = names_by_user(cache)
    rows: list[TodayHoursRow] = [
        {"user": user, "name": str(names.get(user) or user), "is_here": is_local, "hours": by_hour}
        for (user, is_local), by_hour in found.items()
    ]
    total = {row["user"]: sum(sum(kinds.values()) for kinds in row["hours"].values()) for row in rows}
    rows.sort(key=lambda row: (-total[row["user"]], row["name"]))
    return rows, len(rows)


def _hours_since(began: datetime, moment: datetime) -> int:
    return max(0, int((moment - began).total_seconds() // 3600))


def _add_count(
    found: dict[tuple[str, bool], dict[int, dict[str, int]]], user: tuple[str, bool], hour: int, kind: str, count: int
) -> None:
    counts = found.setdefault(user, {}).setdefault(hour, {})
    counts[kind] = counts.get(kind, 0) + count


@declare_query("today_locations", "now kind")
def work_by_location(context: QueryContext, args: Args) -> QueryResult[TodayLocationsRow]:
    """Return the work of a `kind` at each location in walking order; locations missing in the list come last."""
    cache = context.cache
    began, kind = store_time.start_of_today(str(args["now"])), str(args["kind"])
    if kind == "short":
        counted = dict(fetch(cache, _SHORTAGES_BY_LOCATION, iso_time(began.timestamp())))
    else:
        counted = dict(fetch(cache, _WORK_BY_LOCATION, kind, _hour_key(began)))
    walk = [code for code, *_ in context.walk_order().steps]
    unlisted = sorted((str(location) for location in counted.keys() - set(walk) if location), key=natural_key)
    rows: list[TodayLocationsRow] = [
        {"location": location, "n": int(counted.get(location, 0))} for location in (*walk, *unlisted)
    ]
    return rows, len(rows)


@declare_query("today_terminals", "")
def terminals_in_use(context: QueryContext, _: Args) -> QueryResult[TodayTerminalsRow]:
    """Return the people at the terminals of this host."""
    cache, outbox = context.cache, context.outbox
    rows: list[TodayTerminalsRow] = []
    last_inputs = dict(fetch(outbox, _LAST_INPUTS))
    for session in running_sessions(outbox):
        jobs = fetch(outbox, _OPEN_JOBS, session.session_id)
        inputs = [fetch_one(outbox, _LAST_INPUT_OF_JOB, job_id) for job_id, _, _ in jobs[:3]]
        last = [float(each[0]) for each in inputs if each] + [float(last_inputs.get(session.session_id) or 0)]
        user = _signed_in_user(outbox, session)
        rows.append(
            {
                "terminal": session.terminal,
                "user": user,
                "name": person_name(cache, user),
                "job": str(jobs[0][1]) if jobs else "",
                "since": float(jobs[0][2]) if jobs else session.started,
                "last": max(last),
            }
        )
    return rows, len(rows)


def _signed_in_user(outbox: apsw.Connection, session: SessionRow) -> str:
    """Return the user now at the terminal of a session; another one may have signed in since it began."""
    row = fetch_one(outbox, "SELECT user FROM sign_in WHERE terminal = ?", session.terminal)
    if row:
        return str(row[0])
    job = fetch_one(outbox, "SELECT user FROM job WHERE session_id = ? AND closed IS NULL", session.session_id)
    return str(job[0]) if job else session.user
