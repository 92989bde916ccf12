"""Stored times of cache and outbox, shifted after a jump of the clock of this host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import apsw

from aisle.cache.schema import ABSENT_ORDERS
from aisle.cache.store_lists_writer import ASSIGNMENTS_TOPIC
from aisle.cache.writer import CacheWriter
from aisle.courier.clock_skew_and_steady_clock import LONG_JUMP_S, MIN_JUMP_S, SteadyClock
from aisle.host.database import fetch_one, transaction

MAX_RETRY_WAIT_S, MAX_SETTLING_S = 3600.0, 86400.0
"""Seconds that anything waits at most for its next try, and seconds that a doubt lasts at most.

A later time was stored with another clock.
"""

CLOCK_CURSOR = "clock"
_FULL_SYNC_CURSOR, _STOCK_CURSOR, _LOG_SPAN_CURSOR = "full", "stock_since", "logs_span"


def apply_clock_jump(
    cache: CacheWriter, cache_db: apsw.Connection, outbox_db: apsw.Connection, clock: Callable[[], float]
) -> float:
    """Shift the stored times to this clock. Return the seconds it was set by since the last courier; 0 if it was not.

    After a restart of the host the jump is unknown; then times in the future are reduced to the present.
    """
    if not isinstance(clock, SteadyClock):
        return 0.0
    saved = cache.cursor(CLOCK_CURSOR)
    # Each file keeps the clock that it follows: if the process ends between the two, the next one does the second.
    of_outbox, follows = _jump_since(_outbox_clock(outbox_db) or saved, clock)
    if follows:
        with transaction(outbox_db):
            _shift_outbox(outbox_db, of_outbox)
            _clamp_outbox(outbox_db, clock())
            outbox_db.execute("INSERT OR REPLACE INTO clock VALUES (1, ?, ?)", (clock.boot_id, clock.host_started_at))
    of_cache, follows = _jump_since(saved, clock)
    if follows:
        with cache.transaction():
            _shift_cache(cache_db, of_cache)
            _shift_cursors(cache, of_cache, clock())
            _clamp_cache(cache_db, clock())
            if abs(of_cache) > LONG_JUMP_S:
                _schedule_full_sync(cache_db)
            cache.set_cursor(CLOCK_CURSOR, [clock.boot_id, clock.host_started_at])
    jump_s = max(of_outbox, of_cache, key=abs)
    return jump_s if abs(jump_s) > MIN_JUMP_S else 0.0


def _jump_since(saved: Any, clock: SteadyClock) -> tuple[float, bool]:
    """Return the seconds the clock was set by since `saved`, and whether stored times have to be corrected."""
    if not isinstance(saved, list) or saved[0] != clock.boot_id:
        return 0.0, True
    step = clock.host_started_at - float(saved[1])
    return step, abs(step) > MIN_JUMP_S


def _outbox_clock(outbox: apsw.Connection) -> Any:
    """Return boot id and offset of the clock that the outbox follows; None if only the cache keeps them."""
    row = fetch_one(outbox, "SELECT boot, began FROM clock")
    return None if row is None else [str(row[0]), float(row[1])]


def _shift_outbox(outbox: apsw.Connection, jump_s: float) -> None:
    outbox.execute(
        "UPDATE operation SET not_before = CASE WHEN not_before > 0 THEN not_before + :step ELSE 0 END,"
        " first_sent_at = first_sent_at + :step, confirmed_at = confirmed_at + :step,"
        " in_doubt_at = in_doubt_at + :step, absence_final_at = absence_final_at + :step,"
        " replayed_at = replayed_at + :step, keyed_since = keyed_since + :step,"
        " read_intervals = iif(read_intervals = '', '', (SELECT json_group_array(json_array("
        "iif(value ->> 0 > 0, (value ->> 0) + :step, 0), (value ->> 1) + :step)) FROM json_each(read_intervals)))"
        " WHERE live = 1",
        {"step": jump_s},
    )


def _clamp_outbox(outbox: apsw.Connection, now: float) -> None:
    outbox.execute(
        "UPDATE operation SET not_before = iif(not_before > :now + :longest, :now, not_before),"
        " first_sent_at = min(first_sent_at, :now), confirmed_at = min(confirmed_at, :now),"
        " keyed_since = min(keyed_since, :now), in_doubt_at = min(in_doubt_at, :now),"
        " absence_final_at = min(absence_final_at, :now + :settle) WHERE live = 1",
        {"now": now, "longest": MAX_RETRY_WAIT_S, "settle": MAX_SETTLING_S},
    )


_READ_TIME_COLUMNS = (
    *(("orders", column) for column in ("header_read_began", "lines_read_began", "first_read_began")),
    *((table, "read_began") for table in ("stock", "surrounding", "delivery", "store_details", "order_audit")),
)
"""Columns of the cache that keep when a read began: a later read must not count as older."""


def _shift_cache(cache: apsw.Connection, jump_s: float) -> None:
    if not jump_s:
        return
    for table, column in _READ_TIME_COLUMNS:
        cache.execute(f"UPDATE {table} SET {column} = {column} + ? WHERE {column} > 0", (jump_s,))  # noqa: S608 - ours
    cache.execute("UPDATE link SET last_ok = last_ok + ?", (jump_s,))


def _shift_cursors(cache: CacheWriter, jump_s: float, now: float) -> None:
    """Shift the times that are stored in cursors; none of them is left in the future."""

    def shifted(at: float) -> float:
        return min(at + jump_s, now) if at > 0 else at

    shifts: dict[str, Callable[[Any], Any]] = {
        ABSENT_ORDERS: lambda stored: [[number, shifted(at)] for number, at in stored],
        ASSIGNMENTS_TOPIC: shifted,
        _LOG_SPAN_CURSOR: lambda stored: {**stored, "asked": shifted(stored["asked"])},
    }
    for topic, shift in shifts.items():
        stored = cache.cursor(topic)
        if stored is not None:
            cache.set_cursor(topic, shift(stored))


def _clamp_cache(cache: apsw.Connection, now: float) -> None:
    for table, column in _READ_TIME_COLUMNS:
        cache.execute(f"UPDATE {table} SET {column} = ? WHERE {column} > ?", (now, now))  # noqa: S608 - ours
    cache.execute("UPDATE link SET last_ok = min(last_ok, ?)", (now,))
    future = "SELECT 1 FROM sync WHERE topic = ? AND json_extract(cursor, '$.completed') > ?"
    if cache.execute(future, (_FULL_SYNC_CURSOR, now)).fetchone():
        _schedule_full_sync(cache)


def _schedule_full_sync(cache: apsw.Connection) -> None:
    """Make the full sync due, as after a day, and forget the stock cursor."""
    cache.execute(
        "UPDATE sync SET cursor = json_set(cursor, '$.completed', 1.0)"
        " WHERE topic = ? AND json_extract(cursor, '$.completed') > 0",
        (_FULL_SYNC_CURSOR,),
    )
    cache.execute("DELETE FROM sync WHERE topic = ?", (_STOCK_CURSOR,))
