"""What somebody waits for at a screen: begun once, before its deadline, and told what became of it.

It is durably `begun` before its first byte leaves. Where the answer does not come, or this process ends in between,
nobody knows whether it was done, and that is what the person is told; it is never sent again.
interface: Create customer order clearance.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import apsw

from aisle.client import Answer, Client, Fate, classify
from aisle.client.errors import ClientError
from aisle.client.sign_in import NotSignedIn, sign_in
from aisle.contract.wire import encode_body, operation
from aisle.courier.alarm import Alarm, Sleep
from aisle.courier.link import Link
from aisle.courier.send.passes import Passes
from aisle.courier.telling import LIMIT, told_of
from aisle.errors import ContractError, SettingsError
from aisle.local.outbox import asks
from aisle.local.outbox.asks import Row
from aisle.local.outbox.operation import STORE, principal_of
from aisle.local.told import outside, told

LOOK_S = 1.0
"""How often it is looked whether the link is there for what waits."""
CLEARANCE = "create-customer-order-clearance"
SIGN_IN = "sign-in"
"""Kind of what is asked with a PIN: the token of whoever is signed in."""

Saying = tuple[str, dict[str, Any]]
"""State and answer."""


class Assigned(Protocol):
    """What clearances want moved: whoever knows it, and reads it again."""

    def known(self) -> set[str]:
        """The ids of those that are in the cache."""

    async def read(self) -> set[str] | None:
        """The ids of all that are open, into the cache; None where they cannot be listed. Raises ClientError."""


class Asks:
    """The answering half of the courier."""

    def __init__(
        self,
        outbox: apsw.Connection,
        client: Client,
        link: Link,
        *,
        assigned: Assigned,
        passes: Passes,
        tell: Callable[[], None],
        clock: Callable[[], float],
        sleep: Sleep,
    ) -> None:
        self.stopping = False
        """Nothing new is begun."""
        self.alarm = Alarm(sleep)
        self._landed = asyncio.Event()
        self._landed.set()
        self._db = outbox
        self._client = client
        self._link = link
        self._assigned = assigned
        self._passes = passes
        self._tell = tell
        self._clock = clock
        self._confided: dict[str, str] = {}

    def confide(self, name: str, secret: str) -> None:
        """What no file holds, for what was asked under this name."""
        self._confided[name] = secret
        self.alarm.ring()

    def recover(self) -> None:
        """What another courier had begun: nobody knows what became of it."""
        if asks.orphaned(self._db, self._clock()):
            self._tell()

    async def run(self) -> None:
        """Answers for ever. Raises StorageError."""
        self.recover()
        while True:
            waits = await self.round()
            await self.alarm.wait(LOOK_S if waits else None)

    @property
    def is_busy(self) -> bool:
        """Whether somebody waits, for what is under way or for what may still be begun."""
        return not self._landed.is_set() or bool(asks.waiting(self._db, self._clock()))

    async def landed(self) -> None:
        """Returns when what was begun is over; begins nothing."""
        await self._landed.wait()

    async def round(self) -> bool:
        """Answers what can be answered now; whether something still waits for the link, or for its secret."""
        if asks.end_overdue(self._db, self._clock()):
            self._tell()
        waiting = asks.waiting(self._db, self._clock())
        for name in set(self._confided) - {row.ask_id for row in waiting}:
            del self._confided[name]  # over, or not durable yet: it is told again then
        for row in waiting:
            if self.stopping:
                break
            if self._link.may_send and (not row.confided or row.ask_id in self._confided):
                await self._answer(row)
        return bool(waiting)

    async def _answer(self, row: Row) -> None:
        secret = self._confided.pop(row.ask_id, "")
        if not asks.begin(self._db, row.ask_id, self._clock()):
            return
        state, answer = asks.UNKNOWN, {"how": "unknown", "why": ""}
        self._landed.clear()
        try:
            if row.kind == SIGN_IN:
                state, answer = asks.ANSWERED, await self._sign_in(row, secret)
            else:
                state, answer = await self._clearance(row)
        finally:
            self._landed.set()
            asks.end(self._db, row.ask_id, state, answer, self._clock())
            self._tell()

    async def _clearance(self, row: Row) -> Saying:
        """With the person's token, where the service gives one; whose is not there any more is asked for the PIN."""
        own = principal_of(row.user) if self._link.features and self._link.features.sign_in else STORE
        if not self._passes.may(own):
            return asks.ANSWERED, {"how": "pin", "why": ""}
        token = self._passes.token(own)
        known = self._assigned.known()  # before: any round may read the list while the answer is on its way
        try:
            content = encode_body(operation(CLEARANCE), _body(row.body))
            query = {"location_code_tag": str(row.body["tag"])}
            answer = await self._client.request(CLEARANCE, query=query, body=content, token=token)
        except (ClientError, ContractError, SettingsError) as error:
            if isinstance(error, ClientError):
                self._link.failed(error)
            how = "unknown" if classify(error) is Fate.AMBIGUOUS else "not_sent"
            return (asks.UNKNOWN if how == "unknown" else asks.ANSWERED), {"how": how, "why": told_of(error)}
        if token is not None and answer.status == 401:
            self._passes.lose(own, token)
            return asks.ANSWERED, {"how": "pin", "why": ""}
        return await self._judged(answer, known)

    async def _judged(self, answer: Answer, known: set[str]) -> Saying:
        match classify(answer):
            case Fate.ACCEPTED:
                return asks.ANSWERED, {"how": "done", "fresh": await self._listed(known)}
            case Fate.AMBIGUOUS:
                return asks.UNKNOWN, {"how": "unknown", "why": told_of(answer)}
        return asks.ANSWERED, {"how": "refused", "why": told_of(answer)}

    async def _listed(self, known: set[str]) -> int | None:
        """How many assignments are new; the clearance is done, whatever becomes of the list."""
        try:
            listed = await self._assigned.read()
            return None if listed is None else len(listed - known)
        except (ClientError, SettingsError):
            return None

    async def _sign_in(self, row: Row, pin: str) -> dict[str, Any]:
        """The person's own token for the PIN, and until when it is used; or why there is none."""
        try:
            signed = await sign_in(self._client, row.store, {"user": row.user}, pin)
        except (ClientError, SettingsError) as error:
            return {"how": "not_sent", "why": told_of(error)}
        if isinstance(signed, NotSignedIn):
            why = outside(signed.said[:LIMIT]) if signed.said else told("told.no_words")
            return {"how": "refused" if signed.later else "pin", "why": why}
        if not signed.is_supervisor:
            return {"how": "role", "why": ""}
        return {"how": "done", "until": self._passes.keep(row.user, signed.token, signed.seconds)}


def _body(said: Mapping[str, Any]) -> dict[str, Any]:
    categories = [str(each) for each in said.get("categories") or ()]
    return {"category_codes": categories} if categories else {}
