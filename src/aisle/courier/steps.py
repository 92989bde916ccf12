"""What becomes of moments when somebody sets the host's clock: by hand, by NTP, after a start with an empty battery.

While a courier works its clock goes steadily. When the host's has been set the courier begins anew, and first brings
everything that was written down with the old clock to the new one: else what waits would wait for as long as the clock
was set back, younger rows would pass for older ones, and after a step forwards a doubt would pass for settled at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw

from aisle.local.cache.assignments import CURSOR as ASSIGNMENTS
from aisle.local.cache.schema import ABSENT
from aisle.local.cache.writer import Cache
from aisle.local.db import fetch_one, transaction

STEP_S = 2.0
"""Less than this is no step."""
LONG_S = 60.0
"""After a longer one everything is read anew: what was asked for by its moment may have been missed."""
PATIENCE_S, SETTLE_S = 3600.0, 86400.0
"""Nothing waits longer than this for its next try, or to be settled; what seems to was written down with another clock.
"""

CLOCK = "clock"
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_FULL, _SINCE, _SPAN = "full", "stock_since", "logs_span"


class Steady:
    """Seconds since 1970 as the host's clock said when this began, and steadily from there on."""

    def __init__(
        self, wall: Callable[[], float] = time.time, ticks: Callable[[], float] | None = None, boot: str = ""
    ) -> None:
        """`ticks` counts seconds since the start of the host, those in which it slept too; `boot` names that start."""
        self._wall = wall
        self._ticks = ticks or (lambda: time.clock_gettime(time.CLOCK_BOOTTIME))
        self.boot = boot or _boot()
        self.offset = self._wall() - self._ticks()
        """The host's start in seconds since 1970; a clock that is set changes it."""

    def __call__(self) -> float:
        return self._ticks() + self.offset

    def anew(self) -> Steady:
        """The same clock as the host's says now."""
        return Steady(self._wall, self._ticks, self.boot)

    @property
    def is_off(self) -> bool:
        """Whether the host's clock was set since."""
        return abs(self._wall() - self()) > STEP_S


def steadied(clock: Callable[[], float]) -> Callable[[], float]:
    """The host's clock made steady, as it is set now; any other is its owner's business."""
    if isinstance(clock, Steady):
        return clock.anew()
    return Steady() if clock is time.time else clock


def is_off(clock: Callable[[], float]) -> bool:
    """Whether a courier with this clock has to begin anew."""
    return isinstance(clock, Steady) and clock.is_off


def reconcile(cache: Cache, cache_db: apsw.Connection, outbox_db: apsw.Connection, clock: Callable[[], float]) -> float:
    """Brings what is written down to this clock; by how many seconds it was set since the last courier, 0 for nothing.

    Where nobody can know by how much, because the host was started anew, nothing at least lies in the future.
    """
    if not isinstance(clock, Steady):
        return 0.0
    kept = cache.cursor(CLOCK)
    # Each file says for itself what it has followed: who ends between the two goes on with the second.
    of_outbox, follows = _since(_kept(outbox_db) or kept, clock)
    if follows:
        with transaction(outbox_db):
            _shift_outbox(outbox_db, of_outbox)
            _clamp_outbox(outbox_db, clock())
            outbox_db.execute("INSERT OR REPLACE INTO clock VALUES (1, ?, ?)", (clock.boot, clock.offset))
    of_cache, follows = _since(kept, clock)
    if follows:
        with cache.batch():
            _shift_cache(cache_db, of_cache)
            _shift_cursors(cache, of_cache, clock())
            _clamp_cache(cache_db, clock())
            if abs(of_cache) > LONG_S:
                _read_anew(cache_db)
            cache.set_cursor(CLOCK, [clock.boot, clock.offset])
    step = max(of_outbox, of_cache, key=abs)
    return step if abs(step) > STEP_S else 0.0


def _since(kept: Any, clock: Steady) -> tuple[float, bool]:
    """By how many seconds the clock was set since this was kept, and whether what was written by it has to follow."""
    if not isinstance(kept, list) or kept[0] != clock.boot:
        return 0.0, True
    step = clock.offset - float(kept[1])
    return step, abs(step) > STEP_S


def _kept(outbox: apsw.Connection) -> Any:
    """By which clock the outbox is written; None where only the cache says that."""
    row = fetch_one(outbox, "SELECT boot, began FROM clock")
    return None if row is None else [str(row[0]), float(row[1])]


def _shift_outbox(outbox: apsw.Connection, step: float) -> None:
    outbox.execute(
        "UPDATE operation SET not_before = CASE WHEN not_before > 0 THEN not_before + :step ELSE 0 END,"
        " first_sent_at = first_sent_at + :step, confirmed_at = confirmed_at + :step,"
        " doubted_at = doubted_at + :step, settles_at = settles_at + :step, replayed_at = replayed_at + :step,"
        " keyed_since = keyed_since + :step,"
        " was_in = iif(was_in = '', '', (SELECT json_group_array(json_array("
        "iif(value ->> 0 > 0, (value ->> 0) + :step, 0), (value ->> 1) + :step)) FROM json_each(was_in)))"
        " WHERE live = 1",
        {"step": step},
    )


def _clamp_outbox(outbox: apsw.Connection, now: float) -> None:
    outbox.execute(
        "UPDATE operation SET not_before = iif(not_before > :now + :longest, :now, not_before),"
        " first_sent_at = min(first_sent_at, :now), confirmed_at = min(confirmed_at, :now),"
        " keyed_since = min(keyed_since, :now),"
        " doubted_at = min(doubted_at, :now), settles_at = min(settles_at, :now + :settle) WHERE live = 1",
        {"now": now, "longest": PATIENCE_S, "settle": SETTLE_S},
    )


_BEGAN = (
    *(("orders", column) for column in ("header_began", "lines_began", "first_began")),
    *((table, "began") for table in ("stock", "surrounding", "delivery", "store_said")),
)
"""Where the cache keeps when a read began: nothing that was asked for later may pass for older."""


def _shift_cache(cache: apsw.Connection, step: float) -> None:
    if not step:
        return
    for table, column in _BEGAN:
        cache.execute(f"UPDATE {table} SET {column} = {column} + ? WHERE {column} > 0", (step,))  # noqa: S608 - ours
    cache.execute("UPDATE link SET last_ok = last_ok + ?", (step,))


def _shift_cursors(cache: Cache, step: float, now: float) -> None:
    """The same of the moments that are kept with what was asked: none of them lies in the future then."""

    def shifted(at: float) -> float:
        return min(at + step, now) if at > 0 else at

    ways: dict[str, Callable[[Any], Any]] = {
        ABSENT: lambda said: [[number, shifted(at)] for number, at in said],
        ASSIGNMENTS: shifted,
        _SPAN: lambda said: {**said, "asked": shifted(said["asked"])},
    }
    for topic, moved in ways.items():
        said = cache.cursor(topic)
        if said is not None:
            cache.set_cursor(topic, moved(said))


def _clamp_cache(cache: apsw.Connection, now: float) -> None:
    for table, column in _BEGAN:
        cache.execute(f"UPDATE {table} SET {column} = ? WHERE {column} > ?", (now, now))  # noqa: S608 - ours
    cache.execute("UPDATE link SET last_ok = min(last_ok, ?)", (now,))
    future = "SELECT 1 FROM sync WHERE topic = ? AND json_extract(cursor, '$.completed') > ?"
    if cache.execute(future, (_FULL, now)).fetchone():
        _read_anew(cache)


def _read_anew(cache: apsw.Connection) -> None:
    """As after a day: all of it was read once, and is due."""
    cache.execute(
        "UPDATE sync SET cursor = json_set(cursor, '$.completed', 1.0)"
        " WHERE topic = ? AND json_extract(cursor, '$.completed') > 0",
        (_FULL,),
    )
    cache.execute("DELETE FROM sync WHERE topic = ?", (_SINCE,))


def _boot() -> str:
    with suppress(OSError):
        return _BOOT.read_text(encoding="ascii").strip()
    return ""
