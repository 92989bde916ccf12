"""`aisle outbox` and `aisle journal`: what this host has to send, and what was scanned on it."""

from __future__ import annotations

import argparse
import getpass
import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from typing import Any

import apsw

from aisle.cli.options import settings_of
from aisle.cli.words import in_words
from aisle.courier.features import parse_features
from aisle.courier.send.deliver import KEY_RESERVE_S
from aisle.errors import StorageError, UsageError
from aisle.jobs import store_time
from aisle.jobs.base import Settle
from aisle.local.cache.file import empty_cache, open_cache
from aisle.local.cache.writer import Cache
from aisle.local.db import fetch, transaction
from aisle.local.host.home import Home
from aisle.local.host.signals import Bell
from aisle.local.outbox import archive, passes
from aisle.local.outbox.doubts import OTHER_ORDER, PUT_BACK, WORDS, entry
from aisle.local.outbox.journal import EventRow, Journal
from aisle.local.outbox.operation import Operation, person_of
from aisle.local.outbox.outbox import Outbox, open_outbox
from aisle.local.outbox.probes import Probes
from aisle.local.outbox.restores import TOLD
from aisle.local.outbox.state import QUEUED
from aisle.local.outbox.wishes import EVERYTHING, wish
from aisle.local.session.people import name_of
from aisle.local.told import NO_TOKEN, detail_of
from aisle.settings import base_url
from aisle.text import clean, fit, width

LIMIT = 1000
"""Operations shown at most."""

_LOOKS = {
    "there": "By the stock it looks as if it arrived.",
    "not_there": "By the stock it looks as if it did not arrive.",
    "mixed": "The stock has changed in another way.",
}


def outbox(arguments: argparse.Namespace) -> int:
    """Prints operations that are not settled, or the youngest of all of them; shows or settles one."""
    home = _home(arguments)
    if arguments.action == "replay":
        return _replay(home, arguments.since, settings_of(arguments, tell=False).settings.time_zone)
    if arguments.action:
        return _one(home, arguments)
    connection = open_outbox(home.folder)
    store = Outbox(connection)
    rows = list(store.recent(LIMIT))[::-1] if arguments.all else store.unsettled()
    heads = ("at", "state", "operation", "lanes", "as", "tries", "id", "note")
    waiting_for = passes.waiting(connection, time.time())
    with closing(_names(home)) as cache:
        names = {each.user: name_of(cache, each.user) for each in waiting_for}
    _table(heads, [_operation(row, names) for row in rows])
    waiting, doubtful = store.counts()
    print(f"{waiting} waiting, {doubtful} for a person to settle.", file=sys.stderr)
    for each in waiting_for:
        who = clean(names[each.user])
        print(f"{each.rows} of them for the PIN of {who}, given in the app: . and then PIN.", file=sys.stderr)
    _tell_door(home, settings_of(arguments, tell=False).settings.token_file)
    seen = Probes(connection).all()
    if seen:
        told = ", ".join(f"{probe.name} {clean(probe.value)}" for probe in seen)
        print(f"Seen of the service: {told}.", file=sys.stderr)
    return 0


def _replay(home: Home, said: str | None, zone: str) -> int:
    """Begins anew with what was confirmed; the courier does the rest. `zone` is that of the store, as it is set."""
    now = time.time()
    since = None if said is None else moment_of(said, now)
    with closing(open_outbox(home.folder)) as connection:
        with closing(_names(home)) as cache:
            found = Cache(cache, home.store).cursor("features")
        kept_since = now - parse_features(str(found or "")).keys_kept_s + KEY_RESERVE_S
        done = Outbox(connection).replay_since(since, kept_since, TOLD)
        wish(connection, "orders", EVERYTHING, now)
        with closing(Bell(home)) as bell:
            bell.ring_courier()
    if since is not None:
        at = datetime.fromtimestamp(since).astimezone().isoformat(timespec="minutes")
        where = clean(zone) or "the zone of this host"
        print(f"Since {at}, by the time of store {clean(home.store)} ({where}).", file=sys.stderr)
    print(f"{done.again} operations are sent again under their keys; what the service has of them is not done twice.")
    if done.looked_for:
        print(f"{done.looked_for} had none, and are looked for first; what cannot be found is for a person.")
    if done.too_old:
        kept = datetime.fromtimestamp(kept_since).astimezone().isoformat(timespec="minutes")
        print(
            f"{done.too_old} are from before {kept}: the service may have forgotten their keys."
            " They stay as they are; count what they were about.",
            file=sys.stderr,
        )
    print("The store is read anew. See 'aisle outbox' and 'aisle doctor'.", file=sys.stderr)
    return 0


def moment_of(text: str, now: float) -> float:
    """A moment as an operator says it, in seconds since 1970: a date or time of the store, in whose zone this process
    works, or how long ago it was (90m, 12h, 3d). Raises UsageError."""
    number, unit = text[:-1], _UNITS.get(text[-1:])
    if unit and number.isascii() and number.isdigit():
        return now - int(number) * unit
    said = store_time.read(text)
    if said is None:
        raise UsageError(f"{text!r} is no moment: say 2026-11-26T18:00, 2026-11-26, 90m, 12h or 3d.")
    if said.timestamp() > now:
        raise UsageError(f"{text} is still to come at the store; say when the copy of the service was made.")
    return said.timestamp()


_UNITS = {"m": 60, "h": 3600, "d": 86400}


def _tell_door(home: Home, token_file: str) -> None:
    """Why nothing is sent, when the service does not let this host in, or the token cannot even be read."""
    with closing(_names(home)) as cache:
        rows = fetch(cache, "SELECT server FROM link WHERE state = 'refused'")
    for (why,) in rows:
        if unread := detail_of(str(why), NO_TOKEN):
            print(f"Nothing is sent: {clean(unread)}", file=sys.stderr)
            continue
        file = token_file or "the file that token_file names"
        print(f"Nothing is sent: the service lets nobody of this host in ({in_words(str(why))}).", file=sys.stderr)
        print(f"Put a token for store {clean(home.store)} into {clean(file)}; all is sent then.", file=sys.stderr)


def _one(home: Home, arguments: argparse.Namespace) -> int:
    connection = open_outbox(home.folder)
    store = Outbox(connection)
    op = _named(store, arguments.id)
    if arguments.action == "show":
        with closing(_names(home)) as cache:
            _show(entry(op, cache, connection))
        return 0
    how = arguments.how.replace("-", "_")
    with transaction(connection):
        done = store.settle(Settle(op.op_id, how, arguments.note), arguments.by or getpass.getuser())
    if not done:
        raise UsageError(f"{op.op_id} is {op.state}: {arguments.how} cannot be said of it. See 'aisle outbox'.")
    with closing(Bell(home)) as bell:
        bell.ring_courier()
    print(f"{op.op_id} is {store.get(op.op_id).state} now.")
    return 0


def _named(store: Outbox, start: str) -> Operation:
    """The one operation whose id begins so."""
    found = [op for op in store.unsettled() if op.op_id.startswith(start.upper())]
    if len(found) != 1:
        raise UsageError(f"{len(found)} operations begin with {start!r}. See 'aisle outbox' for their ids.")
    return found[0]


def _names(home: Home) -> apsw.Connection:
    """The cache, for the names in it; where there is none, products go by their numbers."""
    try:
        return open_cache(home.folder, writer=False)
    except StorageError:
        return empty_cache()


def _show(row: Mapping[str, Any]) -> None:
    """What was meant, what became of it, and what both sides say."""
    for name in ("op_id", "word", "operation", "who", "principal", "terminal", "at", "why", "tries"):
        shown = in_words(row[name]) if name == "why" else clean(str(row[name]))
        print(f"{name.replace('_', ' ')}: {shown}")
    _table(("meant", "of", "from", "to"), [_meant(item) for item in row["items"]])
    if row["sides"]:
        print()
        _table(("of", "place", "before", "meant", "now"), [_side(side) for side in row["sides"]])
    if row["looks"]:
        print(_LOOKS[row["looks"]])
    if row["pin"]:
        print(f"waits for the PIN of {clean(str(row['pin']))}, given in the app: . and then PIN")
    ways = ", ".join(way.replace("_", "-") for way in row["ways"] if way not in (PUT_BACK, OTHER_ORDER))
    print(f"can be settled as: {ways or 'nothing, it goes on by itself'}")


def _meant(item: Mapping[str, Any]) -> Sequence[str]:
    quantity = "?" if item["quantity"] is None else str(item["quantity"])
    return (quantity, str(item["label"]), str(item["from"]), str(item["to"]))


def _side(side: Mapping[str, Any]) -> Sequence[str]:
    return tuple("?" if side[name] is None else str(side[name]) for name in ("of", "place", "before", "ours", "after"))


def journal(arguments: argparse.Namespace) -> int:
    """Prints the youngest events, oldest of them first."""
    if arguments.last < 1:
        raise UsageError(f"--last {arguments.last} shows nothing; it takes 1 or more.")
    if arguments.archive:
        return _archived(_home(arguments), arguments)
    rows = Journal(open_outbox(_home(arguments).folder)).last_events(arguments.last)
    if arguments.json:
        escaped = sys.stdout.isatty()  # a terminal would obey what was scanned; a file gets it as it came
        for row in rows:
            print(json.dumps(row._asdict(), ensure_ascii=escaped))
        return 0
    _table(("no", "at", "input", "kind", "step", "verdict"), [_event(row) for row in rows])
    return 0


def _archived(home: Home, arguments: argparse.Namespace) -> int:
    """Prints how much is archived of each day, by person and job; its youngest rows, oldest of them first."""
    rows: list[tuple[str, str, str, int]] = []
    if archive.path_of(home.folder).exists():
        with closing(archive.open_archive(home.folder)) as kept:
            rows = archive.totals(kept)[-arguments.last :]
    heads = ("day", "user", "job", "events")
    if arguments.json:
        for row in rows:
            print(json.dumps(dict(zip(heads, row, strict=True)), ensure_ascii=sys.stdout.isatty()))
        return 0
    _table(heads, [(day, user, job, str(events)) for day, user, job, events in rows])
    return 0


def _home(arguments: argparse.Namespace) -> Home:
    loaded = settings_of(arguments)
    home = Home(loaded.root, base_url(loaded.settings), loaded.settings.store)
    if not home.outbox.exists():
        raise StorageError(f"Nobody has worked in store {home.store} on this host yet: there is no {home.outbox}.")
    return home


def _operation(row: Operation, waiting_for: Mapping[str, str]) -> Sequence[str]:
    """`waiting_for`: whose PIN is missing, with their names."""
    user = person_of(row.principal)
    waits = user in waiting_for and row.state == QUEUED
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row.created_at))
    return (
        at,
        WORDS[row.state],
        row.operation,
        " ".join(row.lanes),
        user or row.principal,
        str(row.attempts),
        row.op_id,
        f"waits for the PIN of {waiting_for[user]}" if waits else in_words(row.last_error),
    )


def _event(row: EventRow) -> Sequence[str]:
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row.at))
    return (str(row.seq), at, row.raw, row.kind, row.step_after, row.verdict)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Columns as wide as their widest cell, for eyes and for `cut`; nothing unsanitised."""
    cells = [tuple(clean(cell) for cell in row) for row in rows]
    if not cells:
        print("Nothing.")
        return
    widths = [min(48, max(width(row[index]) for row in (heads, *cells))) for index in range(len(heads))]
    for row in (heads, *cells):
        print("  ".join(fit(cell, size, pad=True) for cell, size in zip(row, widths, strict=True)).rstrip())
