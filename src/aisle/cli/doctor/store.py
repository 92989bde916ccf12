"""The store's files on this host: courier and link, cache, outbox, journal and sessions. Nothing is made or changed."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw

from aisle.cli.compose import home_of
from aisle.cli.doctor.report import Finding, ago, note, ok, plural, wrong
from aisle.cli.words import in_words, repeated_rows, unread_lists, unusable_rows
from aisle.courier.link import BEAT_S
from aisle.courier.pull.progress import Progress
from aisle.courier.pull.progress import load as progress_of
from aisle.local.cache.file import open_cache
from aisle.local.cache.schema import VERSION
from aisle.local.cache.writer import Cache
from aisle.local.db import connect, fetch, fetch_one, refuse_newer, version
from aisle.local.host.home import Home
from aisle.local.host.lock import Election, Holder
from aisle.local.host.pulse import END_S, HUNG_S, is_stopped, silence
from aisle.local.host.rescue import copies
from aisle.local.outbox import passes
from aisle.local.outbox.journal import Journal
from aisle.local.outbox.outbox import Outbox
from aisle.local.outbox.probes import Probes
from aisle.local.outbox.restores import NOTICED, Restore, on_the_way, restores
from aisle.local.outbox.schema import OUTBOX
from aisle.local.outbox.state import IN_DOUBT, NEEDS_PERSON, REJECTED
from aisle.local.told import NO_TOKEN, detail_of
from aisle.settings import Loaded

LOCKS = Path("/proc/locks")

STALE_S = 6 * BEAT_S
"""A sign of life in the cache is late after so long: it is written by the way."""

OLD_S, LATE_S = 3600.0, 900.0
"""Ages of the cache, and of the oldest operation that waits, from which on they are worth a word."""

RESTORED_S = 7 * 86400.0
"""So long a restore of the service is told."""

SHOWN = 5
"""Operations of a state that are named."""

_STUCK = (IN_DOUBT, NEEDS_PERSON, REJECTED)
_TABLES = (("products", "product"), ("stock", "stock"), ("places", "location"), ("orders", "orders"))


# The courier


def courier(loaded: Loaded) -> Iterable[Finding]:
    """Who sends and fetches: the holder of the lock, since when, and its last sign of life."""
    home = home_of(loaded)
    holder = Election(home.lock).holder()
    if holder is None or not is_held(home.lock, holder.pid):
        yield note("courier", "none is at work", "The app starts one; aisle sync does its work once.", alive=False)
        return
    beat = _beat(home)
    now = time.time()
    silent = _silent(home, holder, beat, now)
    told = f"process {holder.pid} of aisle {holder.version}, began {ago(now - holder.started)}"
    facts = {"alive": True, **holder._asdict(), "beat": beat, "lock": str(home.lock)}
    if is_stopped(holder, home.lock):
        stuck = f"It is stopped, and sends and fetches nothing. Its last sign of life came {ago(silent)}."
        yield wrong("courier", told, stuck, f"Run: kill -CONT {holder.pid}. {_else(home, holder)}", **facts)
    elif silent > HUNG_S:
        stuck = f"It does not answer. Its last sign of life came {ago(silent)}."
        yield wrong("courier", told, stuck, _else(home, holder), **facts)
    else:
        yield ok("courier", f"{told}, last sign of life {ago(now - beat)}" if beat else told, **facts)


def _silent(home: Home, holder: Holder, beat: float, now: float) -> float:
    """Seconds since the courier's last sign of life: it touches its lock, and writes into the cache, where it can."""
    since = now - max(beat, holder.started) if beat else 0.0
    return max(since if since > STALE_S else 0.0, silence(home.lock, now))


def answers(home: Home) -> bool:
    """Whether nobody is in office, or somebody who works."""
    holder = Election(home.lock).holder()
    if holder is None or not is_held(home.lock, holder.pid):
        return True
    return not is_stopped(holder, home.lock) and _silent(home, holder, _beat(home), time.time()) <= HUNG_S


def _else(home: Home, holder: Holder) -> str:
    """What helps where it does not go on by itself; SIGTERM would wait for it to go on."""
    return (
        f"The app ends it after {END_S:.0f} s, and another goes on; at once: kill -KILL {holder.pid}. "
        f"Nothing is lost. {_log(home)}"
    )


def is_held(lock: Path, pid: int) -> bool:
    """Whether somebody holds the lock, asked without taking it: a courier that just comes up must not lose it to us."""
    try:
        inode, rows = lock.stat().st_ino, LOCKS.read_text(encoding="ascii").splitlines()
    except OSError:
        return _lives(pid)
    fields = [row.split() for row in rows]
    return any(row[1] == "FLOCK" and row[5].rpartition(":")[2] == str(inode) for row in fields if len(row) > 5)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _beat(home: Home) -> float:
    """When the courier last wrote that it lives; 0 where nobody knows."""
    if not home.cache.exists():
        return 0.0
    with closing(open_cache(home.folder, writer=False)) as cache:
        return float(Cache(cache, home.store).cursor("beat") or 0)


def _log(home: Home) -> str:
    return f"More is in {home.courier_log}."


def link(loaded: Loaded) -> Iterable[Finding]:
    """What the courier says of its link to the service."""
    home = home_of(loaded)
    if not home.cache.exists():
        yield note("link", "nobody has asked the service yet")
        return
    with closing(open_cache(home.folder, writer=False)) as cache:
        state, last_ok, why = fetch(cache, "SELECT state, last_ok, server FROM link")[0]
    heard = f"heard of the service {ago(time.time() - last_ok)}" if last_ok else "never heard of the service"
    facts = {"state": state, "last_ok": last_ok}
    if state == "refused":
        file = loaded.settings.token_file or "the file that token_file names"
        advice = f"Put a token for store {home.store} into {file}. Work goes on here, and is sent then."
        if unread := detail_of(str(why), NO_TOKEN):
            yield wrong("link", f"not asked; {heard}", unread, "Work goes on here, and is sent then.", **facts)
        else:
            yield wrong("link", f"refused; {heard}", in_words(str(why)), advice, **facts)
    elif not answers(home):
        unknown = "The courier does not answer, so nobody knows how it is now."
        yield note("link", f"{state} when it was last looked at; {heard}", unknown, "See courier above.", **facts)
    elif state == "offline":
        yield note("link", f"offline; {heard}", in_words(str(why)), "Work goes on here and is sent later.", **facts)
    else:
        yield ok("link", f"{state if state != 'none' else 'no courier'}; {heard}", **facts)


# The cache


def cache(loaded: Loaded) -> Iterable[Finding]:
    """What is known of the store here: how much, how old, and whether all of it."""
    home = home_of(loaded)
    if not home.cache.exists():
        yield note("cache", "there is none yet", "The courier makes it; aisle sync does so at once.")
        return
    with closing(open_cache(home.folder, writer=False)) as found:
        rows = {name: int(fetch(found, f"SELECT count(*) FROM {table}")[0][0]) for name, table in _TABLES}  # noqa: S608 - names of our own tables
        progress = progress_of(Cache(found, home.store))
        last_ok = fetch(found, "SELECT last_ok FROM link")[0][0]
    age = time.time() - last_ok if last_ok else None
    told = ", ".join(f"{count} {name}" for name, count in rows.items())
    what = f"{told}; confirmed {ago(age) if age is not None else 'never'}; schema {VERSION}"
    facts = {
        "rows": rows,
        "age_s": age,
        "schema": VERSION,
        "complete": bool(progress.completed and not progress.missing),
    }
    if not progress.completed:
        yield note("cache", what, "The store has not been read whole yet.", "Run: aisle sync", **facts)
    elif progress.missing:
        why = f"Not all of {', '.join(progress.missing)} could be read."
        yield note("cache", what, why, "Run: aisle sync", **facts)
    elif age is not None and age > OLD_S:
        yield note("cache", what, "What is shown may be out of date.", "Run: aisle sync", **facts)
    else:
        yield ok("cache", f"{what}; complete", **facts)
    yield from _lists(home, progress)


def _lists(home: Home, progress: Progress) -> Iterable[Finding]:
    """The lists that the courier could not read when it last asked for them, and rows of them that make no sense."""
    for name, why in unread_lists(progress):
        yield wrong("lists", f"{name} could not be read", why, _ASKED_AGAIN, list=name)
    for name, count, why in unusable_rows(progress):
        told = f"{why} makes no sense in them; what they say is shown nowhere."
        yield note("lists", f"{plural(count, 'row')} of {name} cannot be used", told, _log(home), list=name, rows=count)
    for name, count in repeated_rows(progress):
        told = "The last one counts, and is what is shown. Whoever runs the service can mend it."
        yield note("lists", f"{plural(count, 'row')} of {name} there twice", told, _log(home), list=name, rows=count)
    if progress.completed and not progress.missing and not progress.left_out:
        yield ok("lists", "all could be read")


_ASKED_AGAIN = "The courier asks for it again by itself; all others are read. Whoever runs the service can mend it."


# The precious file


def outbox(loaded: Loaded) -> Iterable[Finding]:
    """What is still to be sent, and what a person has to settle, with why."""
    home = home_of(loaded)
    if not home.outbox.exists():
        yield note("outbox", "nobody has worked in this store on this host yet")
        return
    with _precious(home) as found:
        counts = dict(fetch(found, "SELECT state, count(*) FROM operation WHERE live = 1 GROUP BY state"))
        if version(found) != len(OUTBOX):
            older = "The next start brings it up to date."
            yield note("outbox", f"{_counted(counts)}; schema {version(found)} of {len(OUTBOX)}", older, states=counts)
            return
        rows = Outbox(found).unsettled()
        seen = Probes(found).all()
        pins = passes.waiting(found, time.time())
        restored = restores(found, time.time() - RESTORED_S)
        open_, stuck_after = on_the_way(found)
    waiting = [row for row in rows if row.state in ("queued", "sending")]
    oldest = min((row.created_at for row in waiting), default=0.0)
    late = bool(oldest) and time.time() - oldest > LATE_S
    what = f"{_counted(counts)}; schema {len(OUTBOX)}"
    told = f"; the oldest that waits was noted {ago(time.time() - oldest)}" if oldest else ""
    facts = {"states": counts, "oldest_waiting": oldest or None, "schema": len(OUTBOX)}
    stuck = [row for row in rows if row.state in _STUCK]
    if any(row.state != IN_DOUBT for row in stuck):
        yield wrong("outbox", what + told, "", "Settle them in the app; aisle outbox lists them.", **facts)
    elif late or stuck:
        yield note("outbox", what + told, "", "Nothing is lost. Look at link and service above.", **facts)
    else:
        yield ok("outbox", what + told, **facts)
    for copy in copies(home.folder):
        what, why = f"{copy.name} is beside it", "It has what was noted until another outbox.db was put in its place."
        yield wrong(
            "outbox", what, why, "Settle it by hand; or, when nobody works here, put it in place.", file=str(copy)
        )
    for row in stuck[:SHOWN]:
        what = f"{row.state.replace('_', ' ')}: {row.operation} {row.op_id}"
        yield note("outbox", what, in_words(row.last_error), op_id=row.op_id)
    if len(stuck) > SHOWN:
        yield note("outbox", f"and {len(stuck) - SHOWN} more of that kind")
    for user, count in pins:
        what, how = f"{count} queued for the PIN of {user}", "It is given in the app: . and then PIN."
        yield note("outbox", what, "", how, user=user)
    yield from _restored(restored, open_, stuck_after)
    if seen:
        told = ", ".join(f"{probe.name} {probe.value}" for probe in seen)
        yield ok("outbox", f"seen of the service: {told}", probes={probe.name: probe.value for probe in seen})


def _restored(found: list[Restore], waiting: int, stuck: int) -> Iterable[Finding]:
    """Restores of the service in the last days, and what of the work that it lost is not there again."""
    for one in found:
        known = "was found to be" if one.how == NOTICED else "was said to be"
        what = f"the service {known} put back from an earlier copy {ago(time.time() - one.noticed_at)}"
        done = f"{plural(one.again, 'operation')} sent again"
        done += f", {one.looked_for} looked for" if one.looked_for else ""
        yield note("outbox", what, f"{done}.", noticed_at=one.noticed_at, again=one.again, looked_for=one.looked_for)
    if found and (waiting or stuck):
        what = f"of these, {waiting} still wait and {stuck} are for a person"
        yield note("outbox", what, "", "aisle outbox lists them.", waiting=waiting, stuck=stuck)


def _counted(states: dict[str, int]) -> str:
    return ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in sorted(states.items())) or "nothing waits"


def journal(loaded: Loaded) -> Iterable[Finding]:
    """Whether the file of people's work is whole, and what in it is not finished."""
    home = home_of(loaded)
    if not home.outbox.exists():
        yield note("journal", "there is none yet")
        return
    with _precious(home) as found:
        broken = str(fetch(found, "PRAGMA quick_check(1)")[0][0])
        if broken != "ok":
            advice = f"Keep a copy of {home.outbox} and its -wal file before anything else is done with it."
            yield wrong("journal", f"{home.outbox} is damaged", broken, advice)
            return
        events = fetch_one(found, "SELECT ifnull(max(seq), 0) FROM event")
        jobs = fetch(found, "SELECT name, user, opened FROM job WHERE closed IS NULL ORDER BY opened")
    now = time.time()
    told = ", ".join(f"{name} of {user or 'nobody'}, {ago(now - opened)}" for name, user, opened in jobs[:SHOWN])
    more = f" and {len(jobs) - SHOWN} more" if len(jobs) > SHOWN else ""
    count = int(events[0]) if events else 0
    what = f"{plural(count, 'event')}, {plural(len(jobs), 'open job')}{': ' if jobs else ''}{told}{more}"
    yield ok("journal", what, events=count, open_jobs=len(jobs))


def sessions(loaded: Loaded) -> Iterable[Finding]:
    """Who works here now, and where."""
    home = home_of(loaded)
    if not home.outbox.exists():
        return
    with _precious(home) as found:
        running = Journal(found).running()
        stays = {row.terminal: Journal(found).stay(row.terminal) for row in running}
    now = time.time()
    if not running:
        yield ok("sessions", "none")
    for row in running:
        stay = stays[row.terminal]
        user = stay.user if stay else row.user
        facts: dict[str, Any] = {"terminal": row.terminal, "user": user, "since": row.started, "pid": row.pid}
        yield ok("sessions", f"{row.terminal}: {user or 'nobody signed in'}, began {ago(now - row.started)}", **facts)


@contextmanager
def _precious(home: Home) -> Iterator[apsw.Connection]:
    """outbox.db as it is, only to be read. Raises StorageError."""
    with closing(connect(home.outbox, precious=True, read_only=True)) as found:
        refuse_newer(found, len(OUTBOX))
        yield found
