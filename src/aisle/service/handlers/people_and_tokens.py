"""People of a store, their PINs and sign-in, and tokens: list, create, revoke (README: People)."""

from __future__ import annotations

import hashlib
import math
from datetime import datetime
from functools import partial
from typing import Final, Literal, NamedTuple, TypedDict

from aisle.contract.request_bodies.extension_bodies import PersonWrite, SignInRequest, TokenRequest
from aisle.errors import UsageError
from aisle.service.auth import tokens_and_pins
from aisle.service.auth.authorization import authorize_store
from aisle.service.auth.tokens_and_pins import (
    ALL_STORES,
    TokenGrant,
    TokenPerson,
    add_named_token,
    add_token,
    find_valid_token,
    load_tokens,
    mark_revoked,
    token_audit_fields,
)
from aisle.service.db.database_interface import Row
from aisle.service.db.statements import people_and_tokens as people_sql
from aisle.service.domain import log_and_audit_writer
from aisle.service.domain.quantities_times_and_json import format_timestamp
from aisle.service.errors import SUCCESS, Refusal, not_found, to_json_bytes, unprocessable
from aisle.service.handlers.list_page import extension_page
from aisle.service.http.parameters_and_headers import check_ends
from aisle.service.operation_context import CHAIN, Context, OperationCall, ReadRunner, Role, Store

MAX_PINS = 200
"""Maximum number of PINs in one request, since hashing each takes time."""


_ASSIGNABLE_ROLES: dict[Role, frozenset[Role]] = {
    "supervisor": frozenset({"staff", "supervisor"}),
    "integration": frozenset({"staff"}),
    "admin": frozenset({"staff", "supervisor"}),
}
"""Roles of people that a token of a role may create or change: only those whose rights it has itself."""

_PIN_HASH_FIELD: Final = "pin_hash"


class _HashedPerson(PersonWrite, total=False):
    """Person of a request; `pin_hash` replaces the PIN. It is empty if the PIN is removed."""

    pin_hash: str


class Person(NamedTuple):
    """Row of `person`; `pin` is its hash, if there is one."""

    badge: str
    user: str
    name: str
    role: Role
    pin: str | None


async def list_people(ctx: Context, call: OperationCall) -> bytes:
    """List the people of the store by user name. PINs are not returned, only whether there is one."""
    read = partial(ctx.tx.all, people_sql.PEOPLE_PAGE, ctx.store_number, call.query.get("after_user", ""))
    return await extension_page("people", call.query, read, _person_json)


def _person_json(row: Row) -> dict[str, object]:
    badge, user, name, role, has_pin = row
    return {"badge": badge, "user": user, "name": name, "role": role, "has_pin": bool(has_pin)}


async def hash_pins_of_people(run_read: ReadRunner, call: OperationCall) -> OperationCall:
    """Hash the PINs; one that the person has already gets the stored hash.

    Raise Refusal (422) for an invalid PIN, or if there are too many.
    """
    received: list[_HashedPerson] = call.body["people"]
    people = [person.copy() for person in received]
    new_pins = [person["pin"] for person in people if person.get("pin")]
    if len(new_pins) > MAX_PINS:
        raise unprocessable(f"At most {MAX_PINS} PINs are set in one request.", "people")
    stored = await run_read(_pin_hashes) if new_pins else {}
    for index, person in enumerate(people):
        pin = person.pop("pin", None)
        if pin and not tokens_and_pins.is_valid_pin(pin):
            raise unprocessable(
                f"A PIN has {tokens_and_pins.MIN_DIGITS} to {tokens_and_pins.MAX_DIGITS} digits.",
                f"people[{index}].pin",
            )
        if pin is not None:
            held = stored.get(person["badge"], "")
            person[_PIN_HASH_FIELD] = await _hash_pin(pin, held, f"people[{index}].pin") if pin else ""
    return call._replace(body={"people": people})


async def _pin_hashes(ctx: Context) -> dict[str, str]:
    """Return the hashes of the PINs of the store's people, by badge."""
    return dict(await ctx.tx.all(people_sql.PIN_HASHES, ctx.store_number))


async def _hash_pin(pin: str, stored: str, field: str) -> str:
    """Return the stored hash if it is that of the PIN, otherwise a new one.

    Raise Refusal (422) if the PIN is the stored one without the zero before it, which a spreadsheet takes off.
    """
    if stored and await _is_stored(pin, stored):
        return stored
    if stored and not pin.startswith("0") and await _is_stored(f"0{pin}", stored):
        raise unprocessable("The PIN is that of before without its zero. Write it as text, or choose another.", field)
    return await tokens_and_pins.hash_pin_later(pin)


async def _is_stored(pin: str, stored: str) -> bool:
    return tokens_and_pins.are_equal(await tokens_and_pins.rehash_later(pin, stored), stored)


async def write_people(ctx: Context, call: OperationCall) -> bytes:
    """Add people, change those with the same badge, or remove them.

    A change of PIN, user name or role ends their tokens; the PIN that a person has already changes nothing. Refuse
    with 422 if two people would have one user name or badge, so that no badge changes its owner unintentionally.
    Refuse with 403 for a role that the token may not assign.
    """
    store = ctx.store_number
    rows = await ctx.tx.all(people_sql.PEOPLE, store)
    badges = {user: badge for badge, user, *_ in rows}
    pins_of = await _pin_hashes(ctx)
    changes: list[log_and_audit_writer.AuditChange] = []
    writes = _PeopleWrites({}, [], {}, [], [])
    known = {badge: Person(badge, user, name, role, None) for badge, user, name, role, _ in rows}
    people: list[_HashedPerson] = call.body["people"]
    for index, body in enumerate(people):
        field = f"people[{index}]"
        badge, user = body["badge"], body["user"]
        if not badge or not user:
            raise unprocessable("A person needs a badge and a user name.", field)
        check_ends(badge, f"{field}.badge")
        check_ends(user, f"{field}.user")
        before = known.pop(badge, None)
        if before and body.get("is_active", True) and before.user.casefold() != user.casefold():
            owner = f"Badge {badge} is that of {before.name} ({before.user})"
            raise unprocessable(f"{owner}; give {body['name']} another one, or remove {before.user}.", f"{field}.badge")
        if before:
            badges.pop(before.user, None)
        if badges.get(user, badge) != badge:
            advice = f"write that one, give {body['name']} another user name, or remove {user} first"
            raise unprocessable(f"{user} has another badge in this store, {badges[user]}; {advice}.", f"{field}.user")
        role: Role = body.get("role", before.role if before else "staff")
        _check_role(ctx, before, body, role, field)
        writes.named[badge] = None
        if not body.get("is_active", True):
            writes.deleted.append((store, badge))
            writes.pins.pop(badge, None)
        else:
            badges[user] = badge
            known[badge] = Person(badge, user, body["name"], role, None)
        ctx.mark_changed(store, "person", badge)
        old_pin = pins_of.get(badge, "")
        new_pin = body.get(_PIN_HASH_FIELD, old_pin) if badge in known else ""
        changes.append(_audit_change(badge, before, known.get(badge), old_pin, new_pin))
        pins_of[badge] = new_pin
        if _PIN_HASH_FIELD in body:
            writes.pins[badge] = new_pin or None
            writes.ended_failures.extend(
                (store, tokens_and_pins.failure_key(badge, is_web=is_web)) for is_web in (False, True)
            )
        if before and (badge not in known or new_pin != old_pin or (before.user, before.role) != (user, role)):
            writes.ended_tokens.append((store, badge, ctx.now))
    await _save_people(ctx, writes, [known[badge] for badge in writes.named if badge in known])
    await log_and_audit_writer.record_changes(ctx, store, changes)
    for change in changes:
        is_same = change.before == change.after
        ctx.count_records(
            new=not change.before and not is_same, changed=bool(change.before) and not is_same, same=is_same
        )
    return SUCCESS


class _PeopleWrites(NamedTuple):
    """Rows that one request writes, by statement."""

    named: dict[str, None]
    """Badges of the request."""
    deleted: list[tuple[str, str]]
    pins: dict[str, str | None]
    """New hashes of PINs by badge; None removes the PIN."""
    ended_failures: list[tuple[str, str]]
    ended_tokens: list[tuple[str, str, str]]


async def _save_people(ctx: Context, writes: _PeopleWrites, people: list[Person]) -> None:
    """Delete people, then store these with their new PINs, so that a user name is free again."""
    store, run_many = ctx.store_number, ctx.tx.run_many
    await run_many(people_sql.PERSON_DELETE, writes.deleted)
    await run_many(people_sql.PERSON_SET, [(store, one.badge, one.user, one.name, one.role) for one in people])
    await run_many(people_sql.PERSON_PIN_SET, [(store, *pin) for pin in writes.pins.items()])
    await run_many(people_sql.SIGN_IN_FAILURES_DELETE, writes.ended_failures)
    await run_many(people_sql.TOKENS_OF_PERSON_REVOKE, writes.ended_tokens)


def _check_role(ctx: Context, before: Person | None, body: _HashedPerson, role: Role, field: str) -> None:
    """Raise Refusal (403) if the token may not assign the role, or change the role or PIN of somebody with it."""
    if not body.get("is_active", True):
        return
    if before and (before.role, before.user) == (role, body["user"]) and _PIN_HASH_FIELD not in body:
        return
    assignable = _ASSIGNABLE_ROLES.get(ctx.principal.role, ())
    for each in (role, before.role if before else role):
        if each not in assignable:
            raise Refusal(403, f"A token with the role {ctx.principal.role} makes no {each}.", f"{field}.role")


def _audit_change(
    badge: str, before: Person | None, current: Person | None, old_pin: str, new_pin: str
) -> log_and_audit_writer.AuditChange:
    """Return the audit of a person. Of a PIN only the fact that it was set, changed or removed is recorded."""
    old, after = _audit_fields(before), _audit_fields(current)
    if old_pin:
        old["pin"] = "set"
    if new_pin:
        after["pin"] = "changed" if old_pin not in ("", new_pin) else "set"
    return log_and_audit_writer.AuditChange("person", badge, old, after)


def _audit_fields(person: Person | None) -> dict[str, str]:
    return {} if person is None else {"user": person.user, "name": person.name, "role": person.role}


_DAY = 86400.0

MAX_TOKEN_DAYS = 36_500


async def list_tokens(ctx: Context, call: OperationCall) -> bytes:
    """List all tokens except those of people who signed in. Secrets are not returned."""
    return to_json_bytes(
        {"tokens": [token._asdict() for token in await load_tokens(ctx.tx, people_sql.TOKENS_WITHOUT_PARENT)]}
    )


async def create_token(ctx: Context, call: OperationCall) -> bytes:
    """Create a token. Its secret is returned only here.

    Refuse with 422 if a name, role, store or duration is invalid.
    """
    body: TokenRequest = call.body
    stores, days = body["stores"], body.get("days")
    if days is not None and not (days == int(days) and 1 <= days <= MAX_TOKEN_DAYS):
        raise unprocessable(f"A token lasts 1 to {MAX_TOKEN_DAYS} days.", "days")
    if ALL_STORES in stores and len(stores) > 1:
        raise unprocessable(f"{ALL_STORES} is all stores, and stands alone.", "stores")
    expires = None if days is None else format_timestamp(ctx.now_seconds + int(days) * _DAY)
    grant = TokenGrant(body["name"], body["role"], None if stores == [ALL_STORES] else stores, expires)
    try:
        made = await add_named_token(ctx.tx, grant, ctx.now)
    except UsageError as problem:
        raise unprocessable(str(problem)) from problem
    await log_and_audit_writer.record_changes(
        ctx, CHAIN, [log_and_audit_writer.AuditChange("token", made.token_id, {}, grant.audit_fields)]
    )
    return to_json_bytes({"token_id": made.token_id, "token": made.secret, "expires_on": expires})


async def revoke_token(ctx: Context, call: OperationCall) -> bytes:
    """Revoke a token by its name or id, and the tokens of people who signed in through it.

    Refuse with 404 if it is unknown.
    """
    found = await find_valid_token(ctx.tx, call.body["name"], ctx.now)
    if found is None:
        raise not_found("No token in force has this name or id.")
    await mark_revoked(ctx.tx, found.token_id, ctx.now)
    await log_and_audit_writer.record_changes(
        ctx, CHAIN, [log_and_audit_writer.AuditChange("token", found.token_id, token_audit_fields(found), {})]
    )
    return SUCCESS


TOKEN_SECONDS = 3600.0
"""Seconds that a person's token is valid."""

_CLOCK_TOLERANCE_S: Final = 60.0
"""Seconds by which the clocks of several hosts of one database may differ."""


class _HashedSignIn(TypedDict):
    """Sign-in whose PIN was hashed with the parameters of the stored one."""

    store_number: str
    by: Literal["badge", "user"]
    who: str
    tried: str


async def hash_pin_of_sign_in(run_read: ReadRunner, call: OperationCall) -> OperationCall:
    """Hash the PIN with the parameters of the stored one; without one, take the same time."""
    body: SignInRequest = call.body
    by: Literal["badge", "user"] = "badge" if body.get("badge") else "user"
    if bool(body.get("badge")) == bool(body.get("user")):
        raise unprocessable("A person signs in by badge or by user name.", "badge")

    async def work(ctx: Context) -> Person | None:
        store = await authorize_store(ctx.tx, ctx.principal, body["store_number"])
        return await _find_person(ctx, store, by, body[by])

    person = await run_read(work)
    stored = (person.pin if person else None) or tokens_and_pins.DUMMY_HASH
    pin = body["pin"] if tokens_and_pins.is_valid_pin(body["pin"]) else ""
    pin_hash = await tokens_and_pins.rehash_later(pin, stored)
    hashed: _HashedSignIn = {"store_number": body["store_number"], "by": by, "who": body[by], "tried": pin_hash}
    return call._replace(body=hashed)


async def sign_in(ctx: Context, call: OperationCall) -> bytes:
    """Return a token of the person, for this store and one hour, if the PIN is right.

    Refuse with 403 and one message for every reason; with 429 while the person is locked after too many wrong PINs on
    this channel. Unknown people are treated alike.
    """
    body: _HashedSignIn = call.body
    store = await authorize_store(ctx.tx, ctx.principal, body["store_number"])
    person = await _find_person(ctx, store, body["by"], body["who"])
    failure_key = person.badge if person else "?" + hashlib.sha256(body["who"].encode()).hexdigest()
    failure_key = tokens_and_pins.failure_key(
        failure_key, is_web=call.header.get("Aisle-Door", "").lower() == tokens_and_pins.WEB_CHANNEL
    )
    row = await ctx.tx.one(people_sql.SIGN_IN_FAILURES, store.number, failure_key)
    if row and ctx.now < row[1]:
        raise await _refuse_locked(ctx, store, failure_key, row)
    is_right = tokens_and_pins.are_equal(body["tried"], (person.pin if person else None) or tokens_and_pins.DUMMY_HASH)
    if not (person and person.pin and is_right):
        await _record_failure(ctx, store, failure_key, row[0] + 1 if row else 1)
        refusal = Refusal(403, "Badge, name or PIN is wrong.")
        refusal.keeps_writes = True
        raise refusal
    await ctx.tx.run(people_sql.SIGN_IN_FAILURES_DELETE, store.number, failure_key)
    return await _create_person_token(ctx, store, person)


async def _find_person(ctx: Context, store: Store, by: str, name: str) -> Person | None:
    statement = people_sql.PERSON_BY_BADGE if by == "badge" else people_sql.PERSON_BY_USER
    row = await ctx.tx.one(statement, store.number, name)
    return Person(*row) if row else None


async def _record_failure(ctx: Context, store: Store, person_key: str, failures: int) -> None:
    until = format_timestamp(ctx.now_seconds + tokens_and_pins.lock_seconds(failures))
    await ctx.tx.run(people_sql.SIGN_IN_FAILURES_SET, store.number, person_key, failures, ctx.now, until)


async def _refuse_locked(ctx: Context, store: Store, person_key: str, row: Row) -> Refusal:
    """Return the refusal of a locked person, which does not tell if the PIN was right.

    A lock that would last longer than any of so many failures was set before the clock was put back: it begins anew.
    """
    wait = datetime.fromisoformat(row[1]).timestamp() - ctx.now_seconds
    longest = tokens_and_pins.lock_seconds(row[0])
    if is_clock_set_back := wait > longest + _CLOCK_TOLERANCE_S:
        wait = longest
        await _record_failure(ctx, store, person_key, row[0])
    seconds = max(1, math.ceil(wait))
    refusal = Refusal(429, "Too many wrong PINs; nobody signs in as this person now.", retry_after=seconds)
    refusal.keeps_writes = is_clock_set_back
    return refusal


async def _create_person_token(ctx: Context, store: Store, person: Person) -> bytes:
    until = format_timestamp(ctx.now_seconds + TOKEN_SECONDS)
    if ctx.principal.expires_on is not None:
        until = min(until, ctx.principal.expires_on)
    grant = TokenGrant(person.user, person.role, [store.number], until)
    made = await add_token(ctx.tx, grant, ctx.now, TokenPerson(ctx.principal.host_token_id, store.number, person.badge))
    fields = {"token": made.secret, "expires_on": until, "store_number": store.number}
    return to_json_bytes(fields | {"user": person.user, "name": person.name, "role": person.role})
