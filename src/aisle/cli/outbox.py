"""`aisle outbox` and `aisle journal`: operations of this host, and the inputs made on it."""

from __future__ import annotations

import getpass
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING

import apsw
import click

from aisle.cache.people_and_claim_queries import person_name
from aisle.cache.queries import empty_cache, open_for_reading
from aisle.cache.unconfirmed_operation_queries import GIVEN_TO_OTHER_ORDER, OUTCOME_BY_STATE, RETURNED, unconfirmed_row
from aisle.cache.writer import CacheWriter
from aisle.cli.options import SettingValues, json_option, parse_time, setting_options, settings_from_options
from aisle.cli.print_rows_and_messages import print_json_rows, print_table, reason_text
from aisle.courier.push.decide_after_send import KEY_MARGIN_S
from aisle.courier.service_features_and_lists import parse_features
from aisle.errors import StorageError, UsageError
from aisle.host.database import fetch, transaction
from aisle.host.notify_sockets import SessionSocket
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import CLOSED_BY_HAND, RESEND, Resolve
from aisle.outbox import requests_and_token_holders, retention_and_archive
from aisle.outbox.commit_journal import Journal
from aisle.outbox.observed_behaviour import ObservedBehaviour
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import NO_TOKEN, QUEUED, Operation, user_of_principal
from aisle.outbox.replay_after_restore import REPORTED
from aisle.outbox.requests_and_token_holders import FULL_SYNC, request_read
from aisle.outbox.sessions_and_open_jobs import EventRow
from aisle.settings.setting_definitions import service_url
from aisle.settings.settings_files_and_folders import LoadedSettings
from aisle.stored_messages import stored_detail
from aisle.terminal_text import clean

if TYPE_CHECKING:
    from aisle.jobs.row_types.operations_and_session_answers import ComparedFigureRow, OperationItemRow, UnconfirmedRow

MAX_OPERATIONS = 1000
"""Maximum number of operations shown."""

_STOCK_EVIDENCE = {
    "there": "The stock looks as if it arrived.",
    "not_there": "The stock looks as if it did not arrive.",
    "mixed": "The stock has changed in another way.",
}

_RESOLUTIONS = {"again": RESEND, "by-hand": CLOSED_BY_HAND}
"""Resolutions that `outbox resolve` calls by another word."""

_WORDS = {resolution: word for word, resolution in _RESOLUTIONS.items()}


@click.group(invoke_without_command=True)
@click.option("--all", "show_all", is_flag=True, help="Print operations that are done, too.")
@setting_options
@click.pass_context
def outbox(context: click.Context, show_all: bool, setting_values: SettingValues) -> int | None:
    """Print the operations that wait to be sent; show, resolve or replay operations."""
    return None if context.invoked_subcommand else _print_operations(setting_values, show_all=show_all)


def _print_operations(setting_values: SettingValues, *, show_all: bool) -> int:
    """Print pending operations, or the latest of all."""
    store_folder, loaded = _existing_store_folder(setting_values)
    connection = open_outbox(store_folder.folder)
    store = OperationQueue(connection)
    rows = list(store.recent(MAX_OPERATIONS))[::-1] if show_all else store.live_operations()
    titles = ("at", "state", "operation", "lanes", "as", "tries", "id", "note")
    waiting_for = requests_and_token_holders.operations_waiting_for_tokens(connection, time.time())
    with closing(_open_cache(store_folder)) as cache:
        names = {each.user: person_name(cache, each.user) for each in waiting_for}
    print_table(titles, [_operation_cells(row, names) for row in rows])
    waiting, in_doubt = store.pending_counts()
    print(f"{waiting} waiting, {in_doubt} for a person to resolve.", file=sys.stderr)
    for each in waiting_for:
        who = clean(names[each.user])
        print(
            f"{each.operation_count} of them for the PIN of {who}, given in the app: . and then PIN.", file=sys.stderr
        )
    _explain_refused_token(store_folder, loaded.settings.token_file)
    observed = ObservedBehaviour(connection).all()
    if observed:
        text = ", ".join(f"{probe.name} {clean(probe.value)}" for probe in observed)
        print(f"Seen of the service: {text}.", file=sys.stderr)
    return 0


@outbox.command()
@click.option(
    "--since",
    metavar="WHEN",
    help="First confirmation: 2026-11-26T18:00 by the time of the store, 12h or 3d ago.",
    show_default="as far back as the service keeps keys, 29 days",
)
@setting_options
def replay(since: str | None, setting_values: SettingValues) -> int:
    """Send again what the service confirmed, after a restore of the service."""
    store_folder, loaded = _existing_store_folder(setting_values)
    return _replay(store_folder, since, loaded.settings.time_zone)


def _replay(store_folder: StoreFolder, since_text: str | None, zone: str) -> int:
    """Send operations again that a restored service may have lost; the courier does the work.

    `zone` is the configured time zone of the store.
    """
    now = time.time()
    since = None if since_text is None else parse_time(since_text, now)
    if since is not None and since > now:
        raise UsageError(f"{since_text} is still to come at the store; say when the copy of the service was made.")
    with closing(open_outbox(store_folder.folder)) as connection:
        with closing(_open_cache(store_folder)) as cache:
            features = CacheWriter(cache, store_folder.store).cursor("features")
        kept_since = now - parse_features(str(features or "")).key_lifetime_s + KEY_MARGIN_S
        result = OperationQueue(connection).replay_since(since, kept_since, REPORTED)
        request_read(connection, "orders", FULL_SYNC, now)
        with closing(SessionSocket(store_folder)) as socket:
            socket.wake_courier()
    if since is not None:
        at = datetime.fromtimestamp(since).astimezone().isoformat(timespec="minutes")
        where = clean(zone) or "the zone of this host"
        print(f"Since {at}, by the time of store {clean(store_folder.store)} ({where}).", file=sys.stderr)
    resent = "1 operation is" if result.resent == 1 else f"{result.resent} operations are"
    print(f"{resent} sent again under the same keys; what the service has already is not done twice.")
    if result.looked_up:
        print(f"{result.looked_up} had none, and are looked for first; what cannot be found is for a person.")
    if result.too_old:
        kept_text = datetime.fromtimestamp(kept_since).astimezone().isoformat(timespec="minutes")
        print(
            f"{result.too_old} are from before {kept_text}: the service may have forgotten their keys."
            " They stay as they are; count what they were about.",
            file=sys.stderr,
        )
    print("The store is read anew. See 'aisle outbox' and 'aisle doctor'.", file=sys.stderr)
    return 0


def _explain_refused_token(store_folder: StoreFolder, token_file: str) -> None:
    """Print why nothing is sent if the service refuses the token of this host, or the token is unreadable."""
    with closing(_open_cache(store_folder)) as cache:
        rows = fetch(cache, "SELECT server FROM link WHERE state = 'refused'")
    for (why,) in rows:
        if detail := stored_detail(str(why), NO_TOKEN):
            print(f"Nothing is sent: {clean(detail)}", file=sys.stderr)
            continue
        file = token_file or "the file that token_file names"
        print(f"Nothing is sent: the service lets nobody of this host in ({reason_text(str(why))}).", file=sys.stderr)
        print(
            f"Put a token for store {clean(store_folder.store)} into {clean(file)}; all is sent then.", file=sys.stderr
        )


@outbox.command()
@click.argument("op_id", metavar="ID")
@setting_options
def show(op_id: str, setting_values: SettingValues) -> int:
    """Show what an operation changes, and what both sides have.

    ID is its id, or the beginning of it.
    """
    store_folder, _loaded = _existing_store_folder(setting_values)
    connection = open_outbox(store_folder.folder)
    op = _find_operation(OperationQueue(connection), op_id)
    with closing(_open_cache(store_folder)) as cache:
        _print_operation(unconfirmed_row(op, cache, connection))
    return 0


@outbox.command()
@click.argument("op_id", metavar="ID")
@click.argument("how", type=click.Choice(("arrived", "again", "overage", "difference", "by-hand")))
@click.option("--by", metavar="WHO", help="Person who decides.", show_default="the account of this shell")
@click.option("--note", metavar="TEXT", help="How the operation was resolved.")
@setting_options
def resolve(op_id: str, how: str, by: str | None, note: str | None, setting_values: SettingValues) -> int:
    """Resolve an operation that only a person can decide.

    ID is its id, or the beginning of it. `aisle outbox show ID` prints how it can be resolved.
    """
    store_folder, _loaded = _existing_store_folder(setting_values)
    connection = open_outbox(store_folder.folder)
    store = OperationQueue(connection)
    op = _find_operation(store, op_id)
    with transaction(connection):
        done = store.resolve(Resolve(op.op_id, _RESOLUTIONS.get(how, how), note or ""), by or getpass.getuser())
    if not done:
        raise UsageError(f"{op.op_id} is {op.state}: {how} cannot be said of it. See 'aisle outbox'.")
    with closing(SessionSocket(store_folder)) as socket:
        socket.wake_courier()
    print(f"{op.op_id} is {store.get(op.op_id).state} now.")
    return 0


def _find_operation(store: OperationQueue, start: str) -> Operation:
    """Return the only operation whose id begins with this text. Raise UsageError if there is none or more than one."""
    found = [op for op in store.live_operations() if op.op_id.startswith(start.upper())]
    if len(found) != 1:
        raise UsageError(f"{len(found)} operations begin with {start!r}. See 'aisle outbox' for their ids.")
    return found[0]


def _open_cache(store_folder: StoreFolder) -> apsw.Connection:
    """Return the cache for names; if there is none, an empty one, so that products appear by number."""
    try:
        return open_for_reading(store_folder.folder)
    except StorageError:
        return empty_cache()


def _print_operation(row: UnconfirmedRow) -> None:
    """Print an operation: its items, its state, and the stock on both sides."""
    for name in ("op_id", "outcome", "operation", "user", "principal", "terminal", "at", "why", "tries"):
        shown = reason_text(row["why"]) if name == "why" else clean(str(row.get(name)))
        print(f"{name.replace('_', ' ')}: {shown}")
    print_table(("meant", "of", "from", "to"), [_item_cells(item) for item in row["items"]])
    if row["sides"]:
        print()
        print_table(("of", "place", "before", "meant", "now"), [_side_cells(side) for side in row["sides"]])
    if row["evidence"]:
        print(_STOCK_EVIDENCE[row["evidence"]])
    if row["pin"]:
        print(f"waits for the PIN of {clean(str(row['pin']))}, given in the app: . and then PIN")
    resolutions = ", ".join(
        _WORDS.get(way, way.replace("_", "-")) for way in row["ways"] if way not in (RETURNED, GIVEN_TO_OTHER_ORDER)
    )
    print(f"can be resolved as: {resolutions or 'nothing, it goes on by itself'}")


def _item_cells(item: OperationItemRow) -> Sequence[str]:
    quantity = "?" if item["quantity"] is None else str(item["quantity"])
    return (quantity, str(item["label"]), str(item["from"]), str(item["to"]))


def _side_cells(side: ComparedFigureRow) -> Sequence[str]:
    return tuple(
        "?" if side[name] is None else str(side[name]) for name in ("subject", "location", "before", "ours", "after")
    )


@click.command()
@click.option("--last", type=click.IntRange(min=1), default=50, metavar="N", help="Number of inputs to print.")
@json_option
@click.option("--archive", "show_archive", is_flag=True, help="Print how much is archived, by day, person and job.")
@setting_options
def journal(last: int, as_json: bool, show_archive: bool, setting_values: SettingValues) -> int:
    """Print the latest inputs of this host in ascending order."""
    store_folder, _loaded = _existing_store_folder(setting_values)
    if show_archive:
        return _print_archive(store_folder, last, as_json=as_json)
    rows = Journal(open_outbox(store_folder.folder)).last_events(last)
    if as_json:
        print_json_rows(row._asdict() for row in rows)
        return 0
    print_table(("no", "at", "input", "kind", "step", "verdict"), [_event_cells(row) for row in rows])
    return 0


def _print_archive(store_folder: StoreFolder, last: int, *, as_json: bool) -> int:
    """Print the number of archived events by day, user and job; the latest days in ascending order."""
    rows: list[tuple[str, str, str, int]] = []
    if retention_and_archive.archive_path(store_folder.folder).exists():
        with closing(retention_and_archive.open_archive(store_folder.folder)) as kept:
            rows = retention_and_archive.daily_totals(kept)[-last:]
    titles = ("day", "user", "job", "events")
    if as_json:
        print_json_rows(dict(zip(titles, row, strict=True)) for row in rows)
        return 0
    print_table(titles, [(day, user, job, str(events)) for day, user, job, events in rows])
    return 0


def _existing_store_folder(setting_values: SettingValues) -> tuple[StoreFolder, LoadedSettings]:
    """Return the folder of the store in the settings, and the settings. Raise StorageError if nobody worked there."""
    loaded = settings_from_options(setting_values)
    home = StoreFolder(loaded.data_folder, service_url(loaded.settings), loaded.settings.store)
    if not home.outbox.exists():
        raise StorageError(f"Nobody has worked in store {home.store} on this host yet: there is no {home.outbox}.")
    return home, loaded


def _operation_cells(row: Operation, waiting_for: Mapping[str, str]) -> Sequence[str]:
    """Return the table cells of an operation; `waiting_for` maps users whose PIN is missing to their names."""
    user = user_of_principal(row.principal)
    waits = user in waiting_for and row.state == QUEUED
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row.created_at))
    return (
        at,
        OUTCOME_BY_STATE[row.state],
        row.operation,
        " ".join(row.lanes),
        user or row.principal,
        str(row.attempts),
        row.op_id,
        f"waits for the PIN of {waiting_for[user]}" if waits else reason_text(row.last_error),
    )


def _event_cells(row: EventRow) -> Sequence[str]:
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row.at))
    return (str(row.seq), at, row.raw, row.kind, row.step_after, row.verdict)
