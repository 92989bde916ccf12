"""Offset between the clock of this host and that of the service, and stored times shifted after a jump."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import apsw

from aisle.cache.schema import ABSENT_ORDERS
from aisle.cache.store_lists_writer import ASSIGNMENTS_TOPIC
from aisle.cache.writer import CacheWriter
from aisle.host.database import fetch_one, transaction

MIN_SKEW_S = 2.0
"""Seconds below which a skew counts as 0: `Date` has whole seconds, and a response takes time to arrive."""

SKEW_WINDOW_S = 600.0
"""Seconds of one measuring window. Clocks drift, so differences older than two windows are dropped."""


MAX_SKEW_S = 2e9
"""Seconds above which a `Date` is not believed; a host without a clock battery begins in 1970."""

_SURE_WITHIN_S = 60.0
"""Seconds within which a response agrees with those before it, however late it arrives."""


class ClockSkew:
    """Smallest difference between this host's clock and the service's, over the last one or two windows.

    The `Date` header names a whole second, and the response arrives later. So the smallest difference is the most
    accurate. One that is far from the others counts once the next response agrees with it.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        """Store `clock`, this host's clock in seconds since 1970."""
        self._clock = clock
        self._window_start = clock()
        self._min_difference: float | None = None
        self._previous_min: float | None = None
        """Smallest difference of the window before the current one."""
        self._doubtful: float | None = None
        """Last difference, if it is far from those before."""

    def record_response(self, headers: Mapping[str, str]) -> None:
        """Record the `Date` of a response that has just arrived. Header names are in lower case."""
        now = self._clock()
        try:
            difference = now - parsedate_to_datetime(headers["date"]).timestamp()
        except (KeyError, ValueError, TypeError, OverflowError):
            return
        if abs(difference) > MAX_SKEW_S or not self._is_confirmed(difference):
            return
        if not 0 <= now - self._window_start < SKEW_WINDOW_S:
            self._window_start, self._previous_min, self._min_difference = now, self._min_difference, None
        self._min_difference = difference if self._min_difference is None else min(self._min_difference, difference)

    def _is_confirmed(self, difference: float) -> bool:
        """Return whether a difference counts; forget all others if two in a row contradict them."""
        known, doubtful, self._doubtful = self._smallest, self._doubtful, None
        if known is None or abs(difference - known) <= _SURE_WITHIN_S:
            return True
        if doubtful is None or abs(difference - doubtful) > _SURE_WITHIN_S:
            self._doubtful = difference
            return False
        self._min_difference = self._previous_min = None
        return True

    @property
    def _smallest(self) -> float | None:
        return min((each for each in (self._min_difference, self._previous_min) if each is not None), default=None)

    @property
    def skew_s(self) -> float:
        """Seconds that this host's clock is ahead; 0 if it is within `MIN_SKEW_S`, or no response had a date."""
        ahead = self._smallest or 0.0
        return ahead if abs(ahead) > MIN_SKEW_S else 0.0


MIN_JUMP_S = 2.0
"""Seconds below which a change of the clock is ignored."""

LONG_JUMP_S = 60.0
"""Seconds of a jump after which everything is read again: reads by time may have missed changes."""


class SteadyClock:
    """Clock in seconds since 1970 that follows the host's clock at creation and is not changed when that is set."""

    def __init__(
        self, wall: Callable[[], float] = time.time, monotonic: Callable[[], float] | None = None, boot_id: str = ""
    ) -> None:
        """Store the clocks.

        `monotonic` counts seconds since the host started, including those it slept; `boot_id` identifies that start.
        """
        self._wall = wall
        self._monotonic = monotonic or (lambda: time.clock_gettime(time.CLOCK_BOOTTIME))
        self.boot_id = boot_id or _read_boot_id()
        self.host_started_at = self._wall() - self._monotonic()
        """Start of the host in seconds since 1970, by the wall clock when this clock was made."""

    def __call__(self) -> float:
        return self._monotonic() + self.host_started_at

    def adjusted(self) -> SteadyClock:
        """Return a clock of the same kind, set to the host's present time."""
        return SteadyClock(self._wall, self._monotonic, self.boot_id)

    @property
    def has_jumped(self) -> bool:
        """True if the host's clock was set since this object was created."""
        return abs(self._wall() - self()) > MIN_JUMP_S


def to_steady_clock(clock: Callable[[], float]) -> Callable[[], float]:
    """Return a steady clock, set to the host's present time. A clock of another kind is returned unchanged."""
    if isinstance(clock, SteadyClock):
        return clock.adjusted()
    return SteadyClock() if clock is time.time else clock


def has_jumped(clock: Callable[[], float]) -> bool:
    """Return whether the courier has to restart because its clock was set."""
    return isinstance(clock, SteadyClock) and clock.has_jumped


_BOOT_ID_FILE = Path("/proc/sys/kernel/random/boot_id")


def _read_boot_id() -> str:
    with suppress(OSError):
        return _BOOT_ID_FILE.read_text(encoding="ascii").strip()
    return ""


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
