"""Changes since a cursor, the writes that a restore of the service has lost, and the audit (README: Audit)."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from functools import partial
from typing import TypedDict

from aisle.service.db.database_interface import Row
from aisle.service.db.statements import logs_and_changes as logs_sql
from aisle.service.domain.quantities_times_and_json import parse_json_object, parse_timestamp
from aisle.service.errors import bad_request, to_json_bytes, unprocessable
from aisle.service.handlers.list_page import extension_page
from aisle.service.operation_context import CHAIN, CHANGES_FORGOTTEN, Context, OperationCall

log = logging.getLogger("aisle.service")

# A cursor holds the store's number of changes and the chain's below it, with more bits once the chain outgrows the
# first.
_CHAIN_BITS, _WIDE_CHAIN_BITS = 25, 31
_WIDE_CURSOR = 1 << 62
_MAX_CHANGES = 1000
_MARK_SEPARATOR = "."
_LOAD_KEY = re.compile("(load-[0-9a-f]{16})-", re.ASCII)
"""Beginning of a key of a load: the load's id, so that two loads at the same time can be told apart."""
MAX_KNOWN_KEYS, MAX_KEYS = 50, 200
"""Maximum number of keys beside a cursor, and alone."""


class _Change(TypedDict):
    topic: str
    key: str
    chain: bool


async def list_changes(ctx: Context, call: OperationCall) -> bytes:
    """List the keys that changed since a cursor in the store, the catalogue and the stores of the chain; each key once.

    Without a cursor, return the current one and no changes. The `mark` of a cursor identifies the writes that led to
    it.

    `restored` is true if the database was restored from an earlier copy: the cursor is ahead of it, or other writes led
    to it. `forgotten` is true if changes after the cursor were purged. Both come with the current cursor, and the
    caller must read all lists.
    """
    since, limit = call.query.get("since"), call.query.get("limit", 500)
    if (since or 0) < 0 or not 1 <= limit <= _MAX_CHANGES:
        raise bad_request(f"since is 0 or a cursor, limit 1 to {_MAX_CHANGES}.", "since")
    known = _parse_keys(call, "known", MAX_KNOWN_KEYS)
    last = (await ctx.last_number(ctx.store_number, "change"), await ctx.last_number(CHAIN, "change"))
    read = last if since is None else _decode_cursor(since)
    unknown = await unknown_keys(ctx, ctx.store_number, known) if known else []
    made = await _last_writes(ctx, read)
    is_ahead = read[0] > last[0] or read[1] > last[1]
    restored = is_ahead or await _is_other_history(ctx, read, made, call.query.get("mark", ""))
    if unknown or restored:
        log.warning(
            "A host of store %s with token %s knows what this database does not: it was restored from an earlier copy.",
            ctx.store_number,
            ctx.principal.host_token_id,
        )
    forgotten = since is not None and not restored and await _is_forgotten(ctx, read, last)
    if since is None or restored or forgotten:
        reached, changes, more = last, list[_Change](), False
    else:
        reached, changes, more = await _changes_since(ctx, read, last, limit)
    mark = _MARK_SEPARATOR.join(made if reached == read else await _last_writes(ctx, reached))
    answer = {"cursor": _encode_cursor(*reached), "mark": mark, "changes": changes, "more": more}
    return to_json_bytes(answer | {"restored": restored, "unknown": unknown, "forgotten": forgotten})


async def _is_forgotten(ctx: Context, read: tuple[int, int], last: tuple[int, int]) -> bool:
    """Return True if unread changes are purged. No query runs for a store or chain without changes."""
    for scope, number, reached in zip((ctx.store_number, CHAIN), read, last, strict=True):
        if number < reached and number < await ctx.last_number(scope, CHANGES_FORGOTTEN):
            return True
    return False


async def _changes_since(
    ctx: Context, cursor: tuple[int, int], newest: tuple[int, int], limit: int
) -> tuple[tuple[int, int], list[_Change], bool]:
    """Return the new cursor, the changes up to it, and True if there are more. The store's changes come first.

    No query runs for a scope without changes.
    """
    reached, changes, more = list(cursor), list[_Change](), False
    for index, scope in enumerate((ctx.store_number, CHAIN)):
        remaining = limit - len(changes)
        rows = (
            await ctx.tx.all(logs_sql.CHANGES_SINCE, scope, cursor[index], remaining + 1)
            if newest[index] > cursor[index]
            else []
        )
        more = more or len(rows) > remaining
        reached[index] = rows[:remaining][-1][0] if rows[:remaining] else cursor[index]
        changes += [{"topic": topic, "key": key, "chain": scope == CHAIN} for _, topic, key in rows[:remaining]]
    return (reached[0], reached[1]), changes, more


async def _last_writes(ctx: Context, cursor: tuple[int, int]) -> tuple[str, str]:
    """Return the writes of the last changes of the store and of the chain before a cursor."""
    return await _last_write(ctx, ctx.store_number, cursor[0]), await _last_write(ctx, CHAIN, cursor[1])


async def _last_write(ctx: Context, store_number: str, number: int) -> str:
    """Return the write that made this change; empty for none, or if it was purged."""
    row = await ctx.tx.one(logs_sql.WRITE_AT_CHANGE, store_number, number) if number else None
    return str(row[0]) if row else ""


async def _is_other_history(ctx: Context, cursor: tuple[int, int], writes: tuple[str, str], mark: str) -> bool:
    """Return True if other writes led to this cursor than a host knows. Purged writes prove nothing."""
    scopes = (ctx.store_number, CHAIN)
    for store_number, number, now, known in zip(scopes, cursor, writes, mark.split(_MARK_SEPARATOR), strict=False):
        if now and known and now != known:
            first = await ctx.tx.one(logs_sql.WRITE_HISTORY_FIRST, store_number)
            if first is None or number >= first[0]:
                return True
    return False


async def list_unknown_keys(ctx: Context, call: OperationCall) -> bytes:
    """List those of the named keys under which nothing was carried out: the writes that a restore has lost.

    For keys of a load, return also how many other loads wrote to the store or the chain since that load began.
    """
    keys = _parse_keys(call, "keys", MAX_KEYS)
    unknown = await unknown_keys(ctx, ctx.store_number, keys)
    return to_json_bytes({"unknown": unknown, "other_loads": await _other_loads(ctx, keys)})


async def _other_loads(ctx: Context, keys: Sequence[str]) -> int:
    load = _LOAD_KEY.match(keys[0]) if keys else None
    if load is None:
        return 0
    own_keys = f"{load[1]}-", f"{load[1]}."
    return len(await ctx.tx.all(logs_sql.OTHER_LOADS, ctx.store_number, CHAIN, *own_keys))


async def unknown_keys(ctx: Context, store_number: str, keys: Sequence[str]) -> list[str]:
    """Return the keys under which nothing was carried out for this store or the chain.

    Of keys without a store those of the token count, and those of the store's people who signed in through it.
    """
    unknown = await _unknown_in_scope(ctx, store_number, list(keys))
    for person_store in ("", store_number) if unknown else ():
        kept = {token_key(ctx, key, person_store): key for key in unknown}
        unknown = [kept[name] for name in await _unknown_in_scope(ctx, CHAIN, list(kept))]
    return unknown


def token_key(ctx: Context, key: str, person_store: str) -> str:
    """Return the stored form of a key without a store.

    It belongs to the token; that of a person to the store and to the token used for the sign-in.
    """
    of_person = f"/{person_store}" if person_store else ""
    return f"{key}@{ctx.principal.parent_token_id or ctx.principal.token_id}{of_person}"


async def _unknown_in_scope(ctx: Context, scope: str, keys: list[str]) -> list[str]:
    known = {row[0] for row in await ctx.tx.all(logs_sql.KNOWN_KEYS, scope, keys)}
    return [key for key in keys if key not in known]


def _parse_keys(call: OperationCall, name: str, maximum: int) -> list[str]:
    """Return the keys of a query. Raise Refusal (422) if there are too many."""
    keys = [key for key in call.query.get(name, "").split(",") if key]
    if len(keys) > maximum:
        raise unprocessable(f"At most {maximum} keys are looked for in one request.", name)
    return keys


def _encode_cursor(store: int, chain: int) -> int:
    return (
        (store << _CHAIN_BITS) + chain
        if chain < 1 << _CHAIN_BITS
        else _WIDE_CURSOR + (store << _WIDE_CHAIN_BITS) + chain
    )


def _decode_cursor(cursor: int) -> tuple[int, int]:
    """Return the numbers of changes of the store and of the chain in a cursor."""
    return (
        divmod(cursor, 1 << _CHAIN_BITS)
        if cursor < _WIDE_CURSOR
        else divmod(cursor - _WIDE_CURSOR, 1 << _WIDE_CHAIN_BITS)
    )


async def list_audit(ctx: Context, call: OperationCall) -> bytes:
    """List the changes of the store, oldest first."""
    return await _list_entries(ctx, call, ctx.store_number)


async def list_chain_audit(ctx: Context, call: OperationCall) -> bytes:
    """List the changes of the catalogue, the stores and the tokens, oldest first."""
    return await _list_entries(ctx, call, CHAIN)


async def _list_entries(ctx: Context, call: OperationCall, scope: str) -> bytes:
    modified_date = call.query.get("last_modified_date", "")
    since = parse_timestamp(modified_date, "last_modified_date", ctx.time_zone()) if modified_date else ""
    first = call.query.get("after", 0), since, call.query.get("subject", ""), call.query.get("key", "")
    return await extension_page(
        "audit", call.query, partial(ctx.tx.all, logs_sql.AUDIT_LIST, scope, *first), _entry_json
    )


def _entry_json(row: Row) -> dict[str, object]:
    number, at, token_id, name, user, subject, key, before, after = row
    return {
        "number": number,
        "at": at,
        "token": token_id,
        "token_name": name,
        "app_user_name": user,
        "subject": subject,
        "key": key,
        "before": parse_json_object(before),
        "after": parse_json_object(after),
    }
