"""People of a store, their PINs, and the tokens that they get for them (README: People)."""

from __future__ import annotations

import asyncio
import hashlib
import math
from typing import Any, Literal

from aisle.service import audit, pins
from aisle.service.answers import DONE, Refusal, against_rule, dumps
from aisle.service.context import Call, Context, Role, Store
from aisle.service.encode import without_none
from aisle.service.handlers.preparing import Reading
from aisle.service.sql import core
from aisle.service.storage import Row
from aisle.service.times import moment
from aisle.service.tokens import ROLES, PersonOf, add_token, enter
from aisle.tuples import NamedTuple

TOKEN_SECONDS = 3600.0
"""How long a person's token lasts."""
MOST_PINS = 200
"""PINs that one request may set; each takes its time."""

DOOR = "Aisle-Door"
"""The header that says through which door somebody comes."""
WEB_DOOR = "web"
"""The one door beside the terminals of the store: what is tried there locks nobody out of these."""

_ACTS_AS: dict[Role, frozenset[Role]] = {
    "supervisor": frozenset({"staff", "supervisor"}),
    "integration": frozenset({"staff"}),
    "admin": frozenset({"staff", "supervisor"}),
}
"""Roles of people all of whose work a token of a role may do; no other person is made with it."""

_HASH = "pin_hash"


class _Person(NamedTuple):
    """A row of `person`; `pin` is its hash, if there is one."""

    badge: str
    user: str
    name: str
    role: Role
    pin: str | None


async def list_people(ctx: Context, call: Call) -> bytes:
    """The people of the store; no secret of theirs, but whether they have one."""
    rows = await ctx.tx.all(core.PEOPLE, ctx.here.number)
    people = [
        {"badge": badge, "user": user, "name": name, "role": role, "has_pin": bool(has_pin)}
        for badge, user, name, role, has_pin in rows
    ]
    return dumps({"people": people})


async def prepare_people(reading: Reading, call: Call) -> Call:
    """Hash the PINs. Raises Refusal (422) for what is no PIN, and for too many of them."""
    people = [without_none(person) for person in call.body["people"]]
    said = [person["pin"] for person in people if person.get("pin")]
    if len(said) > MOST_PINS:
        raise against_rule(f"At most {MOST_PINS} PINs are set in one request.", "people")
    for index, person in enumerate(people):
        pin = person.pop("pin", None)
        if pin and not pins.well_formed(pin):
            raise against_rule(f"A PIN has {pins.SHORTEST} to {pins.LONGEST} digits.", f"people[{index}].pin")
        if pin is not None:
            person[_HASH] = await asyncio.to_thread(pins.hashed, pin) if pin else ""
    return call._replace(body={"people": people})


async def write_people(ctx: Context, call: Call) -> bytes:
    """Add people, change those with the same badge, or let them go. What they had signed in for ends with the change.

    Raises Refusal (422) when two would have one user name, or one badge: nobody loses a badge to somebody else unsaid;
    403 for a person of a higher role than the token could act as.
    """
    store = ctx.here.number
    rows = await ctx.tx.all(core.PEOPLE, store)
    badges = {user: badge for badge, user, *_ in rows}
    pins_of = {row[0]: bool(row[4]) for row in rows}
    changes: list[audit.Change] = []
    known = {badge: _Person(badge, user, name, role, None) for badge, user, name, role, _ in rows}
    for index, said in enumerate(call.body["people"]):
        field = f"people[{index}]"
        badge, user = said["badge"], said["user"]
        if not badge or not user:
            raise against_rule("A person needs a badge and a user name.", field)
        before = known.pop(badge, None)
        if before and said.get("is_active", True) and before.user.casefold() != user.casefold():
            whose = f"Badge {badge} is that of {before.name} ({before.user})"
            raise against_rule(f"{whose}; give {said['name']} another one, or remove {before.user}.", f"{field}.badge")
        if before:
            badges.pop(before.user, None)
        if badges.get(user, badge) != badge:
            raise against_rule(f"{user} has another badge.", f"{field}.user")
        role: Role = said.get("role", ROLES[0])
        _check_role(ctx, before, said, role, field)
        if not said.get("is_active", True):
            await ctx.tx.run(core.PERSON_DROP, store, badge)
        else:
            badges[user] = badge
            known[badge] = _Person(badge, user, said["name"], role, None)
            await ctx.tx.run(core.PERSON_SET, store, badge, user, said["name"], role)
        ctx.changed(store, "person", badge)
        changes.append(_change(badge, before, known.get(badge), said, has_pin=pins_of.get(badge, False)))
        if _HASH in said:
            await ctx.tx.run(core.PERSON_PIN_SET, store, badge, said[_HASH] or None)
            pins_of[badge] = bool(said[_HASH])
            for is_web in (False, True):
                await ctx.tx.run(core.FAILURES_DROP, store, _counted_as(badge, is_web=is_web))
        if before and (badge not in known or _HASH in said or (before.user, before.role) != (user, role)):
            await ctx.tx.run(core.ACCESS_REVOKE_PERSON, store, badge, ctx.now)
    await audit.note(ctx, store, changes)
    return DONE


def _check_role(ctx: Context, before: _Person | None, said: dict[str, Any], role: Role, field: str) -> None:
    """Raises Refusal (403) where the token would make somebody of a role that it could not act as, or give it a PIN."""
    if not said.get("is_active", True) or role in _ACTS_AS.get(ctx.principal.role, ()):
        return
    if before and (before.role, before.user) == (role, said["user"]) and _HASH not in said:
        return
    raise Refusal(403, f"A token with the role {ctx.principal.role} makes no {role}.", f"{field}.role")


def _change(
    badge: str, before: _Person | None, now: _Person | None, said: dict[str, Any], *, has_pin: bool
) -> audit.Change:
    """What became of a person; of a PIN it is kept only that it was set or taken away."""
    after = _audited(now)
    if now and said.get(_HASH):
        after["pin"] = "changed" if has_pin else "set"
    old = _audited(before)
    if has_pin and (now is None or said.get(_HASH) == ""):
        old["pin"] = "set"
    return audit.Change("person", badge, old, after)


def _audited(person: _Person | None) -> dict[str, Any]:
    return {} if person is None else {"user": person.user, "name": person.name, "role": person.role}


async def prepare_sign_in(reading: Reading, call: Call) -> Call:
    """Hash the PIN as that of the person was, or as long as that takes when there is none."""
    body = without_none(call.body)
    by: Literal["badge", "user"] = "badge" if body.get("badge") else "user"
    if bool(body.get("badge")) == bool(body.get("user")):
        raise against_rule("A person signs in by badge or by user name.", "badge")

    async def work(ctx: Context) -> _Person | None:
        store = await enter(ctx.tx, ctx.principal, body["store_number"])
        return await _named(ctx, store, by, body[by])

    person = await reading(work)
    stored = (person.pin if person else None) or pins.NOBODY
    pin = body["pin"] if pins.well_formed(body["pin"]) else ""
    tried = await asyncio.to_thread(pins.again, pin, stored)
    return call._replace(body={"store_number": body["store_number"], "by": by, "who": body[by], "tried": tried})


async def sign_in(ctx: Context, call: Call) -> bytes:
    """A token of the person, for this store and an hour, for the right PIN.

    Raises Refusal: 403 in the same words whatever is wrong, and 429 for as long as the person is locked, which comes of
    too many wrong PINs at this door; so for people that are not there.
    """
    body: dict[str, Any] = call.body
    store = await enter(ctx.tx, ctx.principal, body["store_number"])
    person = await _named(ctx, store, body["by"], body["who"])
    who = person.badge if person else "?" + hashlib.sha256(body["who"].encode()).hexdigest()
    who = _counted_as(who, is_web=call.header.get(DOOR, "").lower() == WEB_DOOR)
    row = await ctx.tx.one(core.FAILURES, store.number, who)
    if row and ctx.now < row[1]:
        raise _locked(ctx, row)
    good = pins.same(body["tried"], (person.pin if person else None) or pins.NOBODY)
    if not (person and person.pin and good):
        await _failed(ctx, store, who, row[0] + 1 if row else 1)
        refusal = Refusal(403, "Badge, name or PIN is wrong.")
        refusal.counted = True
        raise refusal
    await ctx.tx.run(core.FAILURES_DROP, store.number, who)
    return await _token(ctx, store, person)


async def _named(ctx: Context, store: Store, by: str, name: str) -> _Person | None:
    statement = core.PERSON_BY_BADGE if by == "badge" else core.PERSON_BY_USER
    row = await ctx.tx.one(statement, store.number, name)
    return _Person(*row) if row else None


def _counted_as(who: str, *, is_web: bool) -> str:
    """What the failures of somebody are counted under, by the door at which they come."""
    return f"?{WEB_DOOR}?{who}" if is_web else who


async def _failed(ctx: Context, store: Store, who: str, failures: int) -> None:
    until = moment(ctx.seconds + pins.lock_seconds(failures))
    await ctx.tx.run(core.FAILURE_SET, store.number, who, failures, ctx.now, until)


def _locked(ctx: Context, row: Row) -> Refusal:
    """Says nothing of whether the PIN was right."""
    wait = max(1, math.ceil(pins.lock_seconds(row[0])))
    return Refusal(429, "Too many wrong PINs; nobody signs in as this person now.", retry_after=wait)


async def _token(ctx: Context, store: Store, person: _Person) -> bytes:
    until = moment(ctx.seconds + TOKEN_SECONDS)
    if ctx.principal.expires_on is not None:
        until = min(until, ctx.principal.expires_on)
    parent = ctx.principal.parent_id or ctx.principal.token_id
    made = await add_token(
        ctx.tx,
        name=person.user,
        role=person.role,
        store_numbers=[store.number],
        now=ctx.now,
        expires_on=until,
        person=PersonOf(parent, store.number, person.badge),
    )
    said = {"token": made.secret, "expires_on": until, "store_number": store.number}
    return dumps(said | {"user": person.user, "name": person.name, "role": person.role})
