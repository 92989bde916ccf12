"""Extensions of the interface: locations, people, recounts, changes and more (README: Extensions).

They are declared like operations of the contract, so that routes, validation and the OpenAPI document have one source.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, Literal, NamedTuple, TypedDict

from pydantic import TypeAdapter

from aisle.contract.models.extension_bodies import (
    DeliveryMarksRequest,
    LineRejectionsRequest,
    LocationsRequest,
    LocationWrite,
    PeopleRequest,
    RecountsRequest,
    ReviewsRequest,
    SignInRequest,
    TokenRequest,
    TokenRevokeRequest,
)
from aisle.contract.operations import Param
from aisle.service.auth.tokens import authorize_store
from aisle.service.db import Statement
from aisle.service.db.statements import access
from aisle.service.db.statements import stock as stock_sql
from aisle.service.db.statements import stores as location_sql
from aisle.service.db.text_search import natural_sort_key, search_key
from aisle.service.domain import audit
from aisle.service.domain.json_fragments import to_json
from aisle.service.domain.picking import parse_pool
from aisle.service.domain.quantities import parse_whole_number, to_json_number
from aisle.service.errors import SUCCESS, bad_request, to_json_bytes, unprocessable
from aisle.service.handlers import people, tokens
from aisle.service.handlers.audit import list_audit, list_chain_audit
from aisle.service.handlers.deliveries import mark_deliveries
from aisle.service.handlers.logs import retrieve_log_entry, retrieve_store, review_logs
from aisle.service.handlers.order_clearance import list_assignments
from aisle.service.handlers.order_list import list_orders_by_number
from aisle.service.handlers.order_update import reject_lines
from aisle.service.handlers.recounts import list_recounts, write_recounts
from aisle.service.handlers.registry import BULK_BODY_LIMIT, Handler
from aisle.service.http.idempotency import unknown_keys
from aisle.service.http.large_body_turns import MIB
from aisle.service.operation_context import CHAIN, CHANGES_FORGOTTEN, Context, OperationCall
from aisle.service.rate_limits import check_code

log = logging.getLogger("aisle.service")

# A cursor holds the store's number of changes and the chain's below it, with more bits once the chain outgrows the
# first.
_CHAIN_BITS, _WIDE_CHAIN_BITS = 25, 31
_WIDE_CURSOR = 1 << 62
_MAX_CHANGES = 1000
_MARK_SEPARATOR = "."
MAX_KNOWN_KEYS, MAX_KEYS = 50, 200
"""Maximum number of keys beside a cursor, and alone."""


class Extension(NamedTuple):
    """Operation that extends the interface."""

    name: str
    method: str
    path: str
    handler: Handler
    params: tuple[Param, ...] = ()
    body: type | None = None
    reads_one_row: bool = False
    """True if it reads one row, which may be missing (404)."""

    @property
    def body_adapter(self) -> Callable[[], TypeAdapter[Any]] | None:
        """Function that returns the validator of the body, which is built on first use."""
        return partial(_body_adapter, self.body) if self.body else None


@cache
def _body_adapter(body: type) -> TypeAdapter[Any]:
    return TypeAdapter(body)


async def write_locations(ctx: Context, call: OperationCall) -> bytes:
    """Create locations or change their named fields, in one store or several."""
    locations: list[LocationWrite] = call.body["locations"]
    by_store: dict[str, list[tuple[int, LocationWrite]]] = {}
    for index, body in enumerate(locations):
        by_store.setdefault(body["store_number"], []).append((index, body))
    for store_number in sorted(by_store):
        await _write_store_locations(ctx, store_number, by_store[store_number])
    return SUCCESS


async def _write_store_locations(ctx: Context, store_number: str, bodies: list[tuple[int, LocationWrite]]) -> None:
    store = await authorize_store(ctx.tx, ctx.principal, store_number)
    codes = sorted({body["location_code"] for _, body in bodies})
    rows = await ctx.tx.all(location_sql.LOCATION_SETTINGS, store.number, codes)
    known: dict[str, tuple[int, int, int | None, str, str]] = {row[0]: tuple(row[1:]) for row in rows}
    new = [code for code in codes if code not in known]
    first = await ctx.next_numbers(store.number, "location", len(new)) if new else 0
    before = {code: _audited_fields(known.get(code)) for code in codes}
    known |= {code: (first + n, 0, None, "[]", "") for n, code in enumerate(new)}
    for index, body in bodies:
        code, field = body["location_code"], f"locations[{index}]"
        check_code(code, "the code of a location", f"{field}.location_code")
        seq, order, pool, tags, carrier = known[code]
        if "location_order" in body:
            order = parse_whole_number(body["location_order"], f"{field}.location_order")
        if "default_stock_pool" in body:
            pool = parse_pool(body["default_stock_pool"], f"{field}.default_stock_pool")
        tags = to_json(body["tags"]) if "tags" in body else tags
        known[code] = (seq, order, pool, tags, body.get("carrier_code", carrier))
        ctx.mark_changed(store.number, "location", code)
    changes = [audit.AuditChange("location", code, before[code], _audited_fields(known[code])) for code in codes]
    await audit.record_changes(ctx, store.number, changes)
    await ctx.tx.run_many(
        location_sql.LOCATION_SET,
        [
            (
                store.number,
                code,
                seq,
                order,
                pool,
                tags,
                natural_sort_key(code),
                search_key((code, tags)),
                ctx.now,
                carrier,
            )
            for code, (seq, order, pool, tags, carrier) in known.items()
        ],
    )


def _audited_fields(row: tuple[int, int, int | None, str, str] | None) -> dict[str, object]:
    """Return the audited fields of a location."""
    if row is None:
        return {}
    _seq, order, pool, tags, carrier = row
    fields = {"location_order": order, "default_stock_pool": pool, "tags": json.loads(tags), "carrier_code": carrier}
    return {name: value for name, value in fields.items() if value not in (None, "", [])}


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
    await ctx.tx.prefetch(_prefetch_poll(ctx, since, known))
    last = (await ctx.last_number(ctx.current_store.number, "change"), await ctx.last_number(CHAIN, "change"))
    read = last if since is None else _decode_cursor(since)
    unknown = await unknown_keys(ctx, ctx.current_store.number, known) if known else []
    made = await _last_writes(ctx, read)
    is_ahead = read[0] > last[0] or read[1] > last[1]
    restored = is_ahead or await _is_other_history(ctx, read, made, call.query.get("mark", ""))
    if unknown or restored:
        log.warning(
            "A host of store %s knows what this database does not: it was put back from an earlier copy.",
            ctx.current_store.number,
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
    for scope, number, reached in zip((ctx.current_store.number, CHAIN), read, last, strict=True):
        if number < reached and number < await ctx.last_number(scope, CHANGES_FORGOTTEN):
            return True
    return False


def _prefetch_poll(ctx: Context, since: int | None, keys: list[str]) -> Iterator[Statement]:
    """Yield the queries of a poll without changes, so that a remote database gets them at once."""
    scopes = (ctx.current_store.number, CHAIN)
    yield from ((access.COUNTER_VALUE, (scope, name)) for scope in scopes for name in ("change", CHANGES_FORGOTTEN))
    read = _decode_cursor(since) if since else (0, 0)
    yield from ((access.WRITE_AT_CHANGE, args) for args in zip(scopes, read, strict=True) if args[1])
    if keys:
        yield access.KNOWN_KEYS, (ctx.current_store.number, keys)


async def _changes_since(
    ctx: Context, cursor: tuple[int, int], newest: tuple[int, int], limit: int
) -> tuple[tuple[int, int], list[_Change], bool]:
    """Return the new cursor, the changes up to it, and True if there are more. The store's changes come first.

    No query runs for a scope without changes.
    """
    reached, changes, more = list(cursor), list[_Change](), False
    for index, scope in enumerate((ctx.current_store.number, CHAIN)):
        remaining = limit - len(changes)
        rows = (
            await ctx.tx.all(access.CHANGES_SINCE, scope, cursor[index], remaining + 1)
            if newest[index] > cursor[index]
            else []
        )
        more = more or len(rows) > remaining
        reached[index] = rows[:remaining][-1][0] if rows[:remaining] else cursor[index]
        changes += [{"topic": topic, "key": key, "chain": scope == CHAIN} for _, topic, key in rows[:remaining]]
    return (reached[0], reached[1]), changes, more


async def _last_writes(ctx: Context, cursor: tuple[int, int]) -> tuple[str, str]:
    """Return the writes of the last changes of the store and of the chain before a cursor."""
    return await _last_write(ctx, ctx.current_store.number, cursor[0]), await _last_write(ctx, CHAIN, cursor[1])


async def _last_write(ctx: Context, store_number: str, number: int) -> str:
    """Return the write that made this change; empty for none, or if it was purged."""
    row = await ctx.tx.one(access.WRITE_AT_CHANGE, store_number, number) if number else None
    return str(row[0]) if row else ""


async def _is_other_history(ctx: Context, cursor: tuple[int, int], writes: tuple[str, str], mark: str) -> bool:
    """Return True if other writes led to this cursor than a host knows. Purged writes prove nothing."""
    scopes = (ctx.current_store.number, CHAIN)
    for store_number, number, now, known in zip(scopes, cursor, writes, mark.split(_MARK_SEPARATOR), strict=False):
        if now and known and now != known:
            first = await ctx.tx.one(access.WRITE_HISTORY_FIRST, store_number)
            if first is None or number >= first[0]:
                return True
    return False


async def list_unknown_keys(ctx: Context, call: OperationCall) -> bytes:
    """List those of the named keys under which nothing was carried out: the writes that a restore has lost."""
    return to_json_bytes(
        {"unknown": await unknown_keys(ctx, ctx.current_store.number, _parse_keys(call, "keys", MAX_KEYS))}
    )


def _parse_keys(call: OperationCall, name: Literal["known", "keys"], maximum: int) -> list[str]:
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


async def list_put_backs(ctx: Context, call: OperationCall) -> bytes:
    """List goods of rejected orders that must be put back, with the locations they came from."""
    rows = await ctx.tx.all(stock_sql.PUT_BACKS, ctx.current_store.number)
    listed = [
        {
            "id": ctx.current_store.wire_id(seq),
            "product_number": product,
            "product_description": name,
            "location_code": location,
            "stock_pool": pool,
            "quantity": to_json_number(quantity),
            "customer_order_number": order,
            "customer_order_line_number": line,
            "created_on": created,
        }
        for seq, product, name, location, pool, quantity, order, line, created in rows
    ]
    return to_json_bytes({"put_backs": listed})


_STORE_PATH = "/aisle/v1/stores/{store_number}"
_STORE_PARAM = Param("store_number", "path", "string", True)
_AUDIT_PARAMS = (
    Param("after", "query", "number"),
    Param("limit", "query", "number"),
    Param("last_modified_date", "query", "string"),
    Param("subject", "query", "string"),
)
_ADMIN_HANDLER = Handler(tokens.list_tokens, frozenset({"admin"}), needs_all_stores=True)
_WRITE_HANDLER = Handler(write_locations, frozenset({"supervisor", "integration", "admin"}), BULK_BODY_LIMIT)

EXTENSIONS = (
    Extension("retrieve-store", "GET", _STORE_PATH, Handler(retrieve_store), (_STORE_PARAM,)),
    Extension(
        "review-logs",
        "POST",
        f"{_STORE_PATH}/reviews",
        _WRITE_HANDLER._replace(run=review_logs),
        (_STORE_PARAM,),
        ReviewsRequest,
    ),
    Extension(
        "write-locations",
        "POST",
        "/aisle/v1/locations",
        _WRITE_HANDLER,
        body=LocationsRequest,
    ),
    Extension("list-people", "GET", f"{_STORE_PATH}/people", Handler(people.list_people), (_STORE_PARAM,)),
    Extension(
        "write-people",
        "POST",
        f"{_STORE_PATH}/people",
        _WRITE_HANDLER._replace(
            run=people.write_people, before_transaction=people.hash_pins_of_people, has_secrets=True
        ),
        (_STORE_PARAM,),
        PeopleRequest,
    ),
    Extension(
        "sign-in",
        "POST",
        "/aisle/v1/sign-in",
        Handler(people.sign_in, before_transaction=people.hash_pin_of_sign_in, has_secrets=True, limits_attempts=True),
        (Param(people.SIGN_IN_CHANNEL_HEADER, "header", "string"),),
        body=SignInRequest,
    ),
    Extension(
        "list-recounts",
        "GET",
        f"{_STORE_PATH}/recounts",
        Handler(list_recounts),
        (
            _STORE_PARAM,
            Param("state", "query", "string"),
            Param("after", "query", "number"),
            Param("limit", "query", "number"),
        ),
    ),
    Extension(
        "write-recounts",
        "POST",
        f"{_STORE_PATH}/recounts",
        _WRITE_HANDLER._replace(run=write_recounts, body_limit=MIB),
        (_STORE_PARAM,),
        RecountsRequest,
    ),
    Extension(
        "reject-lines",
        "POST",
        f"{_STORE_PATH}/line-rejections",
        _WRITE_HANDLER._replace(run=reject_lines, body_limit=MIB),
        (_STORE_PARAM,),
        LineRejectionsRequest,
    ),
    Extension(
        "list-changes",
        "GET",
        f"{_STORE_PATH}/changes",
        Handler(list_changes),
        (
            _STORE_PARAM,
            Param("since", "query", "number"),
            Param("limit", "query", "number"),
            Param("mark", "query", "string"),
            Param("known", "query", "string"),
        ),
    ),
    Extension(
        "list-unknown-keys",
        "GET",
        f"{_STORE_PATH}/keys",
        Handler(list_unknown_keys),
        (_STORE_PARAM, Param("keys", "query", "string")),
    ),
    Extension(
        "list-named-orders",
        "GET",
        f"{_STORE_PATH}/orders",
        Handler(list_orders_by_number),
        (_STORE_PARAM, Param("numbers", "query", "string")),
    ),
    Extension(
        "retrieve-log-entry",
        "GET",
        f"{_STORE_PATH}/logs",
        Handler(retrieve_log_entry),
        (_STORE_PARAM, Param("id", "query", "number", True)),
        reads_one_row=True,
    ),
    Extension(
        "mark-deliveries",
        "POST",
        f"{_STORE_PATH}/deliveries",
        _WRITE_HANDLER._replace(run=mark_deliveries, body_limit=MIB),
        (_STORE_PARAM,),
        DeliveryMarksRequest,
    ),
    Extension(
        "list-put-backs",
        "GET",
        f"{_STORE_PATH}/put-backs",
        Handler(list_put_backs),
        (_STORE_PARAM,),
    ),
    Extension(
        "list-assignments",
        "GET",
        f"{_STORE_PATH}/assignments",
        Handler(list_assignments),
        (_STORE_PARAM,),
    ),
    Extension("list-tokens", "GET", "/aisle/v1/tokens", _ADMIN_HANDLER),
    Extension(
        "create-token",
        "POST",
        "/aisle/v1/tokens",
        _ADMIN_HANDLER._replace(run=tokens.create_token, has_secrets=True),
        body=TokenRequest,
    ),
    Extension(
        "revoke-token",
        "POST",
        "/aisle/v1/token-revocations",
        _ADMIN_HANDLER._replace(run=tokens.revoke_token),
        body=TokenRevokeRequest,
    ),
    Extension(
        "list-audit",
        "GET",
        f"{_STORE_PATH}/audit",
        Handler(list_audit, frozenset({"supervisor", "admin"})),
        (_STORE_PARAM, *_AUDIT_PARAMS),
    ),
    Extension(
        "list-chain-audit", "GET", "/aisle/v1/audit", _ADMIN_HANDLER._replace(run=list_chain_audit), _AUDIT_PARAMS
    ),
)
