"""Checks of the courier that leads on this host, and of its link to the service. They change nothing."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from aisle.cache.read_only_database import open_for_reading
from aisle.cache.writer import CacheWriter
from aisle.cli.doctor.report import Finding, format_age, note, ok, wrong
from aisle.cli.service_client import store_folder_of
from aisle.cli.stored_messages_in_english import reason_text
from aisle.courier.link_state import LINK_HEARTBEAT_S
from aisle.host import files_in_use
from aisle.host.database import fetch
from aisle.host.files_in_use import is_locked
from aisle.host.hung_courier import HUNG_AFTER_S, KILL_AFTER_S, heartbeat_age, is_stopped
from aisle.host.leader_lock import Leader, LeaderLock
from aisle.host.store_folder import StoreFolder
from aisle.outbox.stored_reasons import NO_TOKEN
from aisle.settings.settings_files_and_folders import LoadedSettings
from aisle.stored_messages import stored_detail

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
    return is_locked(lock) if files_in_use.LOCKS_FILE.exists() else _is_running(pid)


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
