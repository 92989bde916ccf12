"""People of a store and their PINs (README: People)."""

from __future__ import annotations

from functools import partial
from typing import Final, NamedTuple

from aisle.contract.request_bodies.extension_bodies import PersonWrite
from aisle.service.auth import pin_hashes_and_locks
from aisle.service.db.database_interface import Row
from aisle.service.db.statements import people_and_tokens as people_sql
from aisle.service.db.statements import people_and_tokens as tokens_sql
from aisle.service.domain import audit
from aisle.service.errors import SUCCESS, Refusal, unprocessable
from aisle.service.handlers.list_page import extension_page
from aisle.service.http.parameter_values import check_ends
from aisle.service.operation_context import Context, OperationCall, ReadRunner, Role

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
        if pin and not pin_hashes_and_locks.is_valid_pin(pin):
            raise unprocessable(
                f"A PIN has {pin_hashes_and_locks.MIN_DIGITS} to {pin_hashes_and_locks.MAX_DIGITS} digits.",
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
    return await pin_hashes_and_locks.hash_pin_later(pin)


async def _is_stored(pin: str, stored: str) -> bool:
    return pin_hashes_and_locks.are_equal(await pin_hashes_and_locks.rehash_later(pin, stored), stored)


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
    changes: list[audit.AuditChange] = []
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
                (store, pin_hashes_and_locks.failure_key(badge, is_web=is_web)) for is_web in (False, True)
            )
        if before and (badge not in known or new_pin != old_pin or (before.user, before.role) != (user, role)):
            writes.ended_tokens.append((store, badge, ctx.now))
    await _save_people(ctx, writes, [known[badge] for badge in writes.named if badge in known])
    await audit.record_changes(ctx, store, changes)
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
    await run_many(tokens_sql.TOKENS_OF_PERSON_REVOKE, writes.ended_tokens)


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
) -> audit.AuditChange:
    """Return the audit of a person. Of a PIN only the fact that it was set, changed or removed is recorded."""
    old, after = _audit_fields(before), _audit_fields(current)
    if old_pin:
        old["pin"] = "set"
    if new_pin:
        after["pin"] = "changed" if old_pin not in ("", new_pin) else "set"
    return audit.AuditChange("person", badge, old, after)


def _audit_fields(person: Person | None) -> dict[str, str]:
    return {} if person is None else {"user": person.user, "name": person.name, "role": person.role}
