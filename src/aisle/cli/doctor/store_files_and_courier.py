"""Checks of the store's files and of the courier on this host: cache, outbox, journal, sessions and link."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw

from aisle.cache.queries import open_for_reading
from aisle.cache.schema import SCHEMA_VERSION
from aisle.cache.writer import CacheWriter
from aisle.cli.doctor.report import Finding, format_age, format_count, note, ok, wrong
from aisle.cli.print_rows_and_messages import reason_text, repeated_rows, unread_lists, unusable_rows
from aisle.cli.service_client import store_folder_of
from aisle.courier.link_state import LINK_HEARTBEAT_S
from aisle.courier.pull.full_sync_stages_and_progress import SyncProgress, load_progress
from aisle.host import file_locks
from aisle.host.database import check_not_newer, connect, fetch, fetch_one, schema_version
from aisle.host.deleted_file_recovery import list_copies
from aisle.host.file_locks import is_locked
from aisle.host.hung_courier import HUNG_AFTER_S, KILL_AFTER_S, heartbeat_age, is_stopped
from aisle.host.leader_lock import Leader, LeaderLock
from aisle.host.store_and_database_folders import StoreFolder
from aisle.outbox import requests_and_token_holders
from aisle.outbox.commit_journal import Journal
from aisle.outbox.observed_behaviour import ObservedBehaviour
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import IN_DOUBT, NEEDS_PERSON, NO_TOKEN, REFUSED
from aisle.outbox.outbox_schema import OUTBOX_MIGRATIONS
from aisle.outbox.replay_after_restore import DETECTED, Restore, list_restores, unfinished_counts
from aisle.settings.settings_files_and_folders import LoadedSettings
from aisle.stored_messages import stored_detail

OLD_CACHE_S, LATE_OPERATION_S = 3600.0, 900.0
"""Ages in seconds of the cache, and of the oldest waiting operation, above which a note is given."""

FAILING_OPERATION_S = 60.0
"""The same of the oldest waiting operation that the service answered with an error."""

RESTORE_SHOWN_S = 7 * 86400.0
"""Seconds for which a restore of the service is reported."""

MAX_SHOWN = 5
"""Maximum number of operations listed for a state."""

_STUCK_STATES = (IN_DOUBT, NEEDS_PERSON, REFUSED)
_TABLES = (("products", "product"), ("stock", "stock"), ("locations", "location"), ("orders", "orders"))


def check_cache(loaded: LoadedSettings) -> Iterable[Finding]:
    """Report how much of the store is cached, how old it is, and if it is complete."""
    store_folder = store_folder_of(loaded)
    if not store_folder.cache.exists():
        yield note("cache", "there is none yet", "The courier creates it; aisle sync does so at once.")
        return
    with closing(open_for_reading(store_folder.folder)) as found:
        rows = {name: int(fetch(found, f"SELECT count(*) FROM {table}")[0][0]) for name, table in _TABLES}  # noqa: S608 - names of our own tables
        progress = load_progress(CacheWriter(found, store_folder.store))
        last_ok = fetch(found, "SELECT last_ok FROM link")[0][0]
        place = loaded.settings.receiving_place
        is_place_known = not place or bool(fetch(found, "SELECT 1 FROM location WHERE location_code = ?", place))
    age = time.time() - last_ok if last_ok else None
    text = ", ".join(f"{count} {name}" for name, count in rows.items())
    what = f"{text}; confirmed {format_age(age) if age is not None else 'never'}; schema {SCHEMA_VERSION}"
    facts = {
        "rows": rows,
        "age_s": age,
        "schema": SCHEMA_VERSION,
        "complete": bool(progress.completed and not progress.missing),
    }
    if not progress.completed:
        yield note("cache", what, "The store is not fully loaded yet.", "Run: aisle sync", **facts)
    elif progress.missing:
        why = f"Not all of {', '.join(progress.missing)} could be read."
        yield note("cache", what, why, "Run: aisle sync", **facts)
    elif age is not None and age > OLD_CACHE_S:
        yield note("cache", what, "What is shown may be out of date.", "Run: aisle sync", **facts)
    else:
        yield ok("cache", f"{what}; complete", **facts)
    if not is_place_known and progress.completed and not progress.missing:
        yield note(
            "settings",
            f"receiving_place {place} is no location of the store",
            "Received goods that are put nowhere else are booked there.",
            "Set receiving_place to a code of the store, or make the location.",
            place=place,
        )
    yield from _list_findings(store_folder, progress)


def _list_findings(store_folder: StoreFolder, progress: SyncProgress) -> Iterable[Finding]:
    """Report lists that the courier could not read, and rows that cannot be used."""
    for name, why in unread_lists(progress):
        yield wrong("lists", f"{name} could not be read", why, _RETRY_ADVICE, list=name)
    for name, count, why in unusable_rows(progress):
        text = f"{why} makes no sense in them; what they say is shown nowhere."
        yield note(
            "lists",
            f"{format_count(count, 'row')} of {name} cannot be used",
            text,
            log_advice(store_folder),
            list=name,
            rows=count,
        )
    for name, count in repeated_rows(progress):
        text = "The last one is used. Whoever runs the service can correct it."
        yield note(
            "lists",
            f"{format_count(count, 'row')} of {name} there twice",
            text,
            log_advice(store_folder),
            list=name,
            rows=count,
        )
    if progress.completed and not progress.missing and not progress.left_out:
        yield ok("lists", "all could be read")


_RETRY_ADVICE = "The courier tries again by itself; all other lists are read. Whoever runs the service can correct it."


def check_outbox(loaded: LoadedSettings) -> Iterable[Finding]:
    """Report operations that are waiting, and those that need a person, with the reason."""
    store_folder = store_folder_of(loaded)
    if not store_folder.outbox.exists():
        yield note("outbox", "nobody has worked in this store on this host yet")
        return
    with _open_outbox(store_folder) as found:
        counts = dict(fetch(found, "SELECT state, count(*) FROM operation WHERE live = 1 GROUP BY state"))
        if schema_version(found) != len(OUTBOX_MIGRATIONS):
            older = "The next start brings it up to date."
            yield note(
                "outbox",
                f"{_format_states(counts)}; schema {schema_version(found)} of {len(OUTBOX_MIGRATIONS)}",
                older,
                states=counts,
            )
            return
        rows = OperationQueue(found).live_operations()
        observed = ObservedBehaviour(found).all()
        pins = requests_and_token_holders.operations_waiting_for_tokens(found, time.time())
        restored = list_restores(found, time.time() - RESTORE_SHOWN_S)
        open_, stuck_after = unfinished_counts(found)
    waiting = [row for row in rows if row.state in ("queued", "sending")]
    oldest = min((row.created_at for row in waiting), default=0.0)
    late = bool(oldest) and time.time() - oldest > LATE_OPERATION_S
    failing = [row for row in waiting if row.last_error and time.time() - row.created_at > FAILING_OPERATION_S]
    what = f"{_format_states(counts)}; schema {len(OUTBOX_MIGRATIONS)}"
    age_text = f"; the oldest was saved {format_age(time.time() - oldest)}" if oldest else ""
    facts = {"states": counts, "oldest_waiting": oldest or None, "schema": len(OUTBOX_MIGRATIONS)}
    stuck = [row for row in rows if row.state in _STUCK_STATES]
    if any(row.state != IN_DOUBT for row in stuck):
        yield wrong("outbox", what + age_text, "", "Resolve them in the app; aisle outbox lists them.", **facts)
    elif late or failing or stuck:
        why = reason_text(failing[0].last_error) if failing else ""
        yield note("outbox", what + age_text, why, "Nothing is lost. Look at link and service above.", **facts)
    else:
        yield ok("outbox", what + age_text, **facts)
    for copy in list_copies(store_folder.folder):
        what, why = f"{copy.name} is beside it", "It has what was saved until outbox.db was replaced."
        yield wrong(
            "outbox", what, why, "Resolve it by hand; or, when nobody works here, put it in place.", file=str(copy)
        )
    for row in stuck[:MAX_SHOWN]:
        what = f"{row.state.replace('_', ' ')}: {row.operation} {row.op_id}"
        yield note("outbox", what, reason_text(row.last_error), op_id=row.op_id)
    if len(stuck) > MAX_SHOWN:
        yield note("outbox", f"and {len(stuck) - MAX_SHOWN} more of that kind")
    for user, count in pins:
        what, how = f"{count} queued for the PIN of {user}", "Enter it in the app: type . and choose PIN."
        yield note("outbox", what, "", how, user=user)
    yield from _restore_findings(restored, open_, stuck_after)
    if observed:
        age_text = ", ".join(f"{probe.name} {probe.value}" for probe in observed)
        yield ok(
            "outbox", f"behaviour of the service: {age_text}", probes={probe.name: probe.value for probe in observed}
        )


def _restore_findings(found: list[Restore], waiting: int, stuck: int) -> Iterable[Finding]:
    """Report recent restores of the service, and the operations sent again that are not confirmed."""
    for one in found:
        known = "was" if one.source == DETECTED else "is said to have been"
        what = f"the service {known} restored from a backup {format_age(time.time() - one.noticed_at)}"
        done = f"{format_count(one.resent, 'operation')} sent again"
        done += f", {one.looked_up} looked for" if one.looked_up else ""
        yield note("outbox", what, f"{done}.", noticed_at=one.noticed_at, again=one.resent, looked_for=one.looked_up)
    if found and (waiting or stuck):
        what = f"of these, {waiting} still wait and {stuck} are for a person"
        yield note("outbox", what, "", "aisle outbox lists them.", waiting=waiting, stuck=stuck)


def _format_states(states: dict[str, int]) -> str:
    return ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in sorted(states.items())) or "nothing waits"


def check_journal(loaded: LoadedSettings) -> Iterable[Finding]:
    """Check the integrity of the outbox database, and report events and open jobs."""
    store_folder = store_folder_of(loaded)
    if not store_folder.outbox.exists():
        yield note("journal", "there is none yet")
        return
    with _open_outbox(store_folder) as found:
        broken = str(fetch(found, "PRAGMA quick_check(1)")[0][0])
        if broken != "ok":
            advice = f"Keep a copy of {store_folder.outbox} and its -wal file before anything else is done with it."
            yield wrong("journal", f"{store_folder.outbox} is damaged", broken, advice)
            return
        events = fetch_one(found, "SELECT ifnull(max(seq), 0) FROM event")
        jobs = fetch(found, "SELECT name, user, opened FROM job WHERE closed IS NULL ORDER BY opened")
    now = time.time()
    text = ", ".join(
        f"{name} of {user or 'nobody'}, {format_age(now - opened)}" for name, user, opened in jobs[:MAX_SHOWN]
    )
    more = f" and {len(jobs) - MAX_SHOWN} more" if len(jobs) > MAX_SHOWN else ""
    count = int(events[0]) if events else 0
    what = f"{format_count(count, 'event')}, {format_count(len(jobs), 'open job')}{': ' if jobs else ''}{text}{more}"
    yield ok("journal", what, events=count, open_jobs=len(jobs))


def check_sessions(loaded: LoadedSettings) -> Iterable[Finding]:
    """Report the running sessions with user and terminal."""
    store_folder = store_folder_of(loaded)
    if not store_folder.outbox.exists():
        return
    with _open_outbox(store_folder) as found:
        running = Journal(found).sessions.running_sessions()
        signed_in = {row.terminal: Journal(found).sessions.signed_in(row.terminal) for row in running}
    now = time.time()
    if not running:
        yield ok("sessions", "none")
    for row in running:
        sign_in = signed_in[row.terminal]
        user = sign_in.user if sign_in else row.user
        facts: dict[str, object] = {"terminal": row.terminal, "user": user, "since": row.started, "pid": row.pid}
        yield ok(
            "sessions", f"{row.terminal}: {user or 'nobody signed in'}, began {format_age(now - row.started)}", **facts
        )


@contextmanager
def _open_outbox(store_folder: StoreFolder) -> Iterator[apsw.Connection]:
    """Open outbox.db read-only. Raise StorageError."""
    with closing(connect(store_folder.outbox, guarded=True, read_only=True)) as found:
        check_not_newer(found, len(OUTBOX_MIGRATIONS))
        yield found


STALE_HEARTBEAT_S = 6 * LINK_HEARTBEAT_S
"""Age in seconds above which the heartbeat in the cache is late; it is written only occasionally."""


def check_courier(loaded: LoadedSettings) -> Iterable[Finding]:
    """Report the courier that leads: the holder of the lock, its start and last heartbeat."""
    store_folder = store_folder_of(loaded)
    holder = LeaderLock(store_folder.lock).read_leader()
    if holder is None or not is_lock_held(store_folder.lock, holder.pid):
        yield note("courier", "not running", "The app starts it; aisle sync does its work once.", alive=False)
        return
    beat = _last_heartbeat(store_folder)
    now = time.time()
    silent = _heartbeat_age(store_folder, holder, beat, now)
    text = f"process {holder.pid} of aisle {holder.version}, began {format_age(now - holder.started_at)}"
    facts = {"alive": True, **holder._asdict(), "beat": beat, "lock": str(store_folder.lock)}
    if is_stopped(holder, store_folder.lock):
        stuck = f"It is stopped: it sends and reads nothing. Its last sign of life was {format_age(silent)}."
        yield wrong(
            "courier", text, stuck, f"Run: kill -CONT {holder.pid}. {_courier_advice(store_folder, holder)}", **facts
        )
    elif silent > HUNG_AFTER_S:
        stuck = f"It does not answer. Its last sign of life was {format_age(silent)}."
        yield wrong("courier", text, stuck, _courier_advice(store_folder, holder), **facts)
    else:
        yield ok("courier", f"{text}, last sign of life {format_age(now - beat)}" if beat else text, **facts)


def _heartbeat_age(store_folder: StoreFolder, holder: Leader, beat: float, now: float) -> float:
    """Return the seconds since the last heartbeat: that of the lock file, or of the cache if it is late and older."""
    since = now - max(beat, holder.started_at) if beat else 0.0
    return max(since if since > STALE_HEARTBEAT_S else 0.0, heartbeat_age(store_folder.lock, now))


def is_courier_alive(store_folder: StoreFolder) -> bool:
    """Return True if no courier leads, or the leader works."""
    holder = LeaderLock(store_folder.lock).read_leader()
    if holder is None or not is_lock_held(store_folder.lock, holder.pid):
        return True
    return (
        not is_stopped(holder, store_folder.lock)
        and _heartbeat_age(store_folder, holder, _last_heartbeat(store_folder), time.time()) <= HUNG_AFTER_S
    )


def _courier_advice(store_folder: StoreFolder, holder: Leader) -> str:
    """Return advice for a hung courier; SIGTERM would only be handled once it continues."""
    return (
        f"The app ends it after {KILL_AFTER_S:.0f} s and starts another; at once: kill -KILL {holder.pid}. "
        f"Nothing is lost. {log_advice(store_folder)}"
    )


def is_lock_held(lock: Path, pid: int) -> bool:
    """Return True if the lock is held.

    The lock is not tried, because a courier that is starting could then fail to get it.
    """
    return is_locked(lock) if file_locks.LOCKS_FILE.exists() else _is_running(pid)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _last_heartbeat(store_folder: StoreFolder) -> float:
    """Return the time of the last heartbeat in the cache; 0 if unknown."""
    if not store_folder.cache.exists():
        return 0.0
    with closing(open_for_reading(store_folder.folder)) as cache:
        return float(CacheWriter(cache, store_folder.store).cursor("beat") or 0)


def log_advice(store_folder: StoreFolder) -> str:
    return f"More is in {store_folder.courier_log}."


def check_link(loaded: LoadedSettings) -> Iterable[Finding]:
    """Report the courier's link to the service."""
    store_folder = store_folder_of(loaded)
    if not store_folder.cache.exists():
        yield note("link", "the service has not been contacted yet")
        return
    with closing(open_for_reading(store_folder.folder)) as cache:
        state, last_ok, why = fetch(cache, "SELECT state, last_ok, server FROM link")[0]
    contact_text = (
        f"last answer of the service: {format_age(time.time() - last_ok)}"
        if last_ok
        else "last answer of the service: never"
    )
    facts = {"state": state, "last_ok": last_ok}
    if state == "refused":
        file = loaded.settings.token_file or "the file that token_file names"
        advice = f"Put a token for store {store_folder.store} into {file}. Work goes on here, and is sent then."
        if unread := stored_detail(str(why), NO_TOKEN):
            yield wrong("link", f"not asked; {contact_text}", unread, "Work goes on here, and is sent then.", **facts)
        else:
            yield wrong("link", f"refused; {contact_text}", reason_text(str(why)), advice, **facts)
    elif not is_courier_alive(store_folder):
        unknown = "The courier does not answer, so the present state is unknown."
        yield note(
            "link", f"{state} when it was last looked at; {contact_text}", unknown, "See courier above.", **facts
        )
    elif state == "offline":
        yield note(
            "link", f"offline; {contact_text}", reason_text(str(why)), "Work goes on here and is sent later.", **facts
        )
    else:
        yield ok("link", f"{state if state != 'none' else 'no courier'}; {contact_text}", **facts)
