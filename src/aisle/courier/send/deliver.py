"""Delivers the outbox: what may go goes, some at once, each lane in its order, nothing twice.

An operation is `sending`, durably, before its first byte leaves. What happens then is judged by `client.fate`: a doubt
is settled by sending the same bytes under the same key, where the service keeps keys, and by nobody else than a person
where it does not.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from aisle.client import Answer, Client, Fate, classify
from aisle.client.errors import AnswerError, ClientError, RateLimited, ServerError, StatusError, Unauthorized
from aisle.client.retry import read_retry_after
from aisle.courier.alarm import Alarm, Sleep
from aisle.courier.backoff import Roll, backoff
from aisle.courier.care import Care
from aisle.courier.features import Features
from aisle.courier.link import LONGEST_S, Link
from aisle.courier.rests import ORDERS
from aisle.courier.send.beyond import is_beyond, send_beyond
from aisle.courier.send.judging import SPARED, UNSAID
from aisle.courier.send.meant import Outcome, is_a_strangers, is_wordless, says_nothing
from aisle.courier.send.parcel import body_of, headers_of
from aisle.courier.send.passes import Passes
from aisle.courier.send.sharing import Fitted, Objection, left_of
from aisle.courier.telling import told_of
from aisle.errors import ContractError, SettingsError
from aisle.local.outbox.operation import UPDATE, Operation
from aisle.local.outbox.outbox import Outbox
from aisle.local.outbox.remainder import LEFT
from aisle.local.outbox.split import is_splittable
from aisle.local.outbox.state import IllegalTransition
from aisle.local.told import NOTHING, Told, is_ours, told, words
from aisle.tuples import NamedTuple

AT_ONCE = 4
"""Requests in flight: as many as the client keeps connections for writes."""
TRIES = 50
"""So often an operation is sent that no answer settles; then a person has to see what is the matter."""
TRIED_S, _TRIED = 86400.0, 10
"""A day of trying is enough too, if it was tried so often in it: a service may have been away for most of it."""
PLAIN_TRIES = 8
"""So often what a service without features refuses in plain text is tried: it may have been somebody on the way."""
_ENDS_AT_ONCE = 3
"""So often an operation is sent until one that a courier's end cut short is not taken up at once any more."""
LOOK_S = 2.0
"""A doubt is looked into after so many seconds."""
KEY_RESERVE_S = 86400.0
"""So long before the service may forget a key, nobody relies on it any more."""
KEYS_AWAITED_S = 120.0
"""So long after a service has announced its keys, an answer that does not may be somebody's on the way."""
LACKING = 425
"""The status of a service that lacks what it confirmed before."""
FOLLOWED = 4
"""So many of the keys that were confirmed last are named with each write: as many may be in flight at once."""
_MAY_COME_S = {409: 900.0, 404: 5400.0, 422: 5400.0}
"""So long after a restore what the service refuses may wait: for what other hosts have to say again (409), and for
orders and products that have to be loaded again (404, 422)."""
AGAIN_S = 10.0
"""How often it is tried then."""
_ANSWER_LIMIT = 2000
"""Bytes; of a longer answer only that is kept which is read later."""
_READ_LATER = ("left", "carried", "data")
_PLAIN = "told.plain"


class Ears(NamedTuple):
    """Who has a word before an operation goes, who wants to hear what became of it, and who tries the door."""

    before: Callable[[Operation], Awaitable[Mapping[str, Any] | None]]
    """What was read before it goes, to be kept with it; None for nothing. May raise ClientError: then it is not sent
    now."""
    fit: Callable[[Operation, Features], Fitted]
    """The operation as this service has to be told it; the operation itself where nothing has to be fitted."""
    unsaid: Callable[[Operation], bool]
    """It was confirmed in no words: whether it is looked for before that is believed."""
    confirmed: Callable[[Operation], None]
    refused: Callable[[Operation, Told], None]
    doubted: Callable[[Operation, Told], None]
    is_let_in: Callable[[], Awaitable[bool]]
    is_of_the_link: Callable[[Exception, str], Awaitable[bool]]
    """Whether what ended a read of that list keeps all else from being read, too."""
    restored: Callable[[], None] = lambda: None
    """The service lacks what it confirmed before."""


class Delivery:
    """The sending half of the courier."""

    def __init__(
        self,
        outbox: Outbox,
        client: Client,
        link: Link,
        ears: Ears,
        passes: Passes,
        *,
        clock: Callable[[], float],
        sleep: Sleep,
        roll: Roll,
        care: Care = Care(),  # noqa: B008 - a tuple
        settle_s: Callable[[], float] | None = None,
    ) -> None:
        """`settle_s`: after how many seconds absence is believed, where that was learnt; else as `care` says."""
        self.stopping = False
        """Nothing new is sent."""
        self.alarm = Alarm(sleep)
        self._outbox = outbox
        self._client = client
        self._link = link
        self._ears = ears
        self._passes = passes
        self._clock = clock
        self._roll = roll
        self._care = care
        self._settle_s = settle_s or (lambda: care.settle_s)
        self._looked = 0.0
        """When it was last looked what may go."""
        self._held_s = 0.0
        """The patience of which it was not looked then: asked for twice, it may end in between."""
        self._running: dict[str, asyncio.Task[None]] = {}
        self._postponed: dict[str, int] = {}
        """How often on end what had to be read before an operation could not be."""
        self._waited: dict[str, int] = {}
        """How often on end patience was asked there."""

    @property
    def in_flight(self) -> tuple[str, ...]:
        """The operations whose requests are under way."""
        return tuple(self._running)

    def recover(self) -> None:
        """Takes up what was left in `sending`: what went under a key goes again under it, all else is in doubt."""
        for op in self._outbox.stale_sending():
            if op.op_id in self._running:
                continue
            if op.keyed:
                self._outbox.retry_later(op.op_id, told("told.courier_ended"), self._after_an_end(op))
            else:
                self._doubt(op, told("told.courier_ended"))

    def _after_an_end(self, op: Operation) -> float:
        """At once; later and later where couriers end again and again, or all tries would be used up in a moment."""
        return 0 if op.attempts < _ENDS_AT_ONCE else self._clock() + backoff(op.attempts, self._roll())

    async def run(self) -> None:
        """Delivers for ever; cancelled, it lets go of what is in flight. Raises StorageError."""
        self.recover()
        try:
            while True:
                self.start()
                await self.alarm.wait(self._until_next())
        except asyncio.CancelledError:
            await self._let_go()
            raise
        except Exception:
            await self.landed()  # what is wrong with one is no reason to lose sight of the others
            self._running.clear()
            raise

    async def drain(self) -> None:
        """Delivers until nothing may go any more; what waits for its time or for the link stays."""
        try:
            self.start()
            while self._running:
                await self.alarm.wait(None)
                self.start()
        finally:
            await self._let_go()

    async def landed(self) -> None:
        """Returns when nothing is in flight any more; starts nothing."""
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    def start(self) -> None:
        """Puts in flight what may go, as far as there is room. Raises what ended a flight that should not have."""
        self._reap()
        self._held_s = self._link.held_s
        if self.stopping or self._held_s or not self._link.may_send or len(self._running) >= AT_ONCE:
            return
        self._looked = self._clock()
        room = AT_ONCE - len(self._running)
        for op in self._outbox.sendable(room, self._passes.principals, but=self._running):
            flight = asyncio.create_task(self._deliver(op), name=f"deliver {op.op_id}")
            self._running[op.op_id] = flight
            flight.add_done_callback(lambda _: self.alarm.ring())

    def _reap(self) -> None:
        for op_id, flight in list(self._running.items()):
            if flight.done():
                del self._running[op_id]
                flight.result()

    async def _let_go(self) -> None:
        flights = list(self._running.values())
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)
        self._running.clear()

    def _until_next(self) -> float | None:
        """Seconds until something may go that waits for its time; None when only a ring can change anything."""
        if self._held_s:
            return self._held_s
        due = self._outbox.next_at(self._looked) if self._link.may_send and len(self._running) < AT_ONCE else None
        return None if due is None else due - self._clock()

    async def _deliver(self, op: Operation) -> None:
        features = self._link.features
        if features is None or self._waits_for_keys(op, features) or self._is_for_a_person(op, features):
            return
        if not features.idempotency and is_splittable(op) and self._outbox.split(op.op_id):
            return  # its items go in its place
        ready = await self._readied(op, features)
        if ready is None:
            return
        content, token = ready
        outcome = await self._send(op, features, content, token)
        if token is not None and isinstance(outcome, Answer) and outcome.status == 401:
            self._passes.lose(op.principal, token)  # it says nothing of the store's, and nothing was done
            self._outbox.retry_later(op.op_id, told_of(outcome), 0, never_left=True)
            return
        if isinstance(outcome, Answer) and outcome.status == LACKING and features.known_keys:
            self._outbox.retry_later(op.op_id, told("told.restored"), self._clock() + LOOK_S, never_left=True)
            self._ears.restored()
            return
        if isinstance(outcome, Answer) and outcome.status == 403:
            if await self._ears.is_let_in():
                self._settle(op, features, outcome)
            else:
                self._shut_out(op, outcome)
            return
        self._settle(op, features, outcome)
        if is_a_strangers(outcome, features):
            await self._ears.is_let_in()

    async def _readied(self, op: Operation, features: Features) -> tuple[bytes, str | None] | None:
        """Its bytes, durably on their way from now on, and the token they go with; None where it is not sent now."""
        try:
            evidence = await self._ears.before(op)
            fit = self._ears.fit(op, features)
            afresh = fit.op is not op and not features.idempotency
            frozen = None if afresh else op.frozen
            left = fit.left if frozen is None else op.evidence.get(LEFT, ())  # of the bytes that are sent
            more = {LEFT: left} if left else {}
            if frozen is None and fit.spared is not None:
                more[SPARED] = fit.spared
            if not self._passes.may(op.principal):
                return None  # what was read for it took longer than the token lasts
            token = self._passes.token(op.principal)
            content = self._outbox.begin_sending(
                op.op_id,
                frozen or body_of(fit.op, features, self._care.reference),
                keyed=features.idempotency,
                evidence={**(evidence or {}), **more} if more else evidence,
                afresh=afresh,
            )
            self._postponed.pop(op.op_id, None)
            self._waited.pop(op.op_id, None)
            return None if content is None else (content, token)
        except AnswerError as error:
            self._postpone(op, told_of(error))
        except (ClientError, SettingsError) as error:
            await self._unread(op, error)
        except ContractError as error:
            if isinstance(error, Objection):
                self._refuse(op, error.why, error.evidence)
            else:
                self._refuse(op, told_of(error))
        return None

    async def _unread(self, op: Operation, error: Exception) -> None:
        """What has to be read before it goes could not be: for want of the service, or it alone while all else can."""
        if isinstance(error, RateLimited):
            if not await self._ears.is_of_the_link(error, ORDERS if op.operation == UPDATE else op.operation):
                self._wait(op, error)
            return
        if isinstance(error, StatusError) and not isinstance(error, Unauthorized):
            await self._ears.is_let_in()
        else:
            self._link.failed(error)
        if self._link.may_send:
            self._postpone(op, told_of(error), TRIES if isinstance(error, ServerError) else PLAIN_TRIES)

    def _wait(self, op: Operation, error: RateLimited) -> None:
        """The service asks for patience at what has to be read before it goes: that is given, however often."""
        tries = self._waited[op.op_id] = self._waited.get(op.op_id, 0) + 1
        wait = max(backoff(tries, self._roll()), min(error.retry_after or 0.0, LONGEST_S))
        self._outbox.postpone(op.op_id, told_of(error), self._clock() + wait)

    def _waits_for_keys(self, op: Operation, features: Features) -> bool:
        """What may have arrived under a key is not taken to a person for one answer of a service without keys."""
        sent = op.keyed and op.first_sent_at is not None
        if not sent or features.idempotency or self._clock() - self._link.announced > KEYS_AWAITED_S:
            return False
        self._outbox.postpone(op.op_id, told("told.key_gone"), self._clock() + backoff(op.attempts + 1, self._roll()))
        return True

    def _is_for_a_person(self, op: Operation, features: Features) -> bool:
        """What may have arrived is sent again by a machine only as long as the service is sure to keep its key."""
        if op.first_sent_at is None:
            return False
        tried_s = self._clock() - op.first_sent_at
        if op.attempts >= TRIES or (tried_s >= TRIED_S and op.attempts >= _TRIED):
            why = told("told.tried", count=op.attempts, why=words(op.last_error))
        elif op.keyed and not features.idempotency:
            why = told("told.key_gone")
        elif op.keyed and tried_s >= features.keys_kept_s - KEY_RESERVE_S:
            why = told("told.key_old")
        elif not features.idempotency and op.attempts >= PLAIN_TRIES and is_ours(op.last_error, _PLAIN):
            why = told("told.refused_often", count=op.attempts, why=words(op.last_error))
        else:
            return False
        self._ask(op, why)
        return True

    def _postpone(self, op: Operation, why: Told, most: int = PLAIN_TRIES) -> None:
        """What has to be read before it goes makes no sense: later, and in the end it is for a person."""
        tries = self._postponed[op.op_id] = self._postponed.get(op.op_id, 0) + 1
        if tries < most:
            self._outbox.postpone(op.op_id, why, self._clock() + backoff(tries, self._roll()))
            return
        del self._postponed[op.op_id]
        self._ask(op, told("told.unread_before", count=tries, why=words(why)))

    def _ask(self, op: Operation, why: Told) -> None:
        """From now on it is for a person."""
        with suppress(IllegalTransition):  # somebody has settled it, or said more in its place, while it was read for
            self._outbox.ask_person(op.op_id, why, settle_s=self._settle_s())
            self._ears.doubted(op, why)

    async def _send(self, op: Operation, features: Features, content: bytes, token: str | None) -> Outcome:
        follows = self._outbox.newest_keys(self._clock() - features.keys_kept_s + KEY_RESERVE_S, FOLLOWED)
        headers = headers_of(op, features, self._link.ahead_s, [key for key in follows if key != op.op_id])
        try:
            if is_beyond(op):
                return await send_beyond(self._client, op, headers, content, token)
            return await self._client.request(
                op.operation, path=op.path, query=op.query, headers=headers, body=content, token=token
            )
        except (ClientError, ContractError, SettingsError) as error:
            return error

    def _shut_out(self, op: Operation, answer: Answer) -> None:
        """The token lost the store: that is no judgement of the operation, and a day's work must not be lost to it."""
        self._link.refused(told_of(answer))
        self._outbox.retry_later(op.op_id, told_of(answer), self._clock() + backoff(op.attempts + 1, self._roll()))

    def _settle(self, op: Operation, features: Features, outcome: Outcome) -> None:
        """Writes down what became of it; nothing is awaited between the answer and this."""
        if isinstance(outcome, SettingsError):
            self._link.refused(told_of(outcome))
            self._outbox.retry_later(op.op_id, told_of(outcome), 0)
            return
        fate = classify(outcome)
        if fate in (Fate.ACCEPTED, Fate.REFUSED) and says_nothing(outcome, features):
            fate = Fate.AMBIGUOUS
        why = NOTHING if fate is Fate.ACCEPTED else told_of(outcome)
        if isinstance(outcome, Answer) and is_a_strangers(outcome, features):
            why = told(_PLAIN, status=outcome.status, why=words(why))
        match Fate.WAIT if fate is Fate.REFUSED and is_a_strangers(outcome, features) else fate:
            case Fate.ACCEPTED if is_wordless(outcome, features) and self._ears.unsaid(op):
                evidence = {**self._outbox.get(op.op_id).evidence, UNSAID: True}
                self._outbox.doubt(op.op_id, told("told.unsaid"), settle_s=self._settle_s(), evidence=evidence)
            case Fate.ACCEPTED:
                assert isinstance(outcome, Answer)
                self._outbox.confirm(op.op_id, _kept(outcome), left=left_of(outcome) if features.pick_base else ())
                self._ears.confirmed(op)
            case Fate.REFUSED if self._may_come_yet(op, outcome):
                self._outbox.retry_later(op.op_id, why, self._clock() + AGAIN_S, never_left=True)
            case Fate.REFUSED:
                status = {"status": outcome.status} if isinstance(outcome, Answer) else {}
                self._refuse(op, why, {**self._outbox.get(op.op_id).evidence, **status})
            case Fate.NOT_SENT:
                self._outbox.retry_later(op.op_id, why, 0, never_left=True)
                self._mark(outcome)
            case Fate.WAIT:
                self._outbox.retry_later(op.op_id, why, self._clock() + self._patience(op, outcome))
                self._mark(outcome)
            case Fate.AMBIGUOUS:
                self._ambiguous(op, features, outcome, why)

    def _may_come_yet(self, op: Operation, outcome: Outcome) -> bool:
        """Whether what was confirmed before a restore may only wait for what others have to say or to load first."""
        if op.replayed_at is None or not isinstance(outcome, Answer):
            return False
        return 0 <= self._clock() - op.replayed_at < _MAY_COME_S.get(outcome.status, 0.0)

    def _ambiguous(self, op: Operation, features: Features, outcome: Outcome, why: Told) -> None:
        if features.idempotency:
            self._outbox.retry_later(op.op_id, why, self._clock() + backoff(op.attempts + 1, self._roll()))
        else:
            self._doubt(op, why)
        self._mark(outcome)

    def _refuse(self, op: Operation, why: Told, evidence: Mapping[str, Any] | None = None) -> None:
        with suppress(IllegalTransition):  # the same
            self._outbox.reject(op.op_id, why, evidence)
            self._ears.refused(op, why)

    def _doubt(self, op: Operation, why: Told) -> None:
        self._outbox.doubt(op.op_id, why, settle_s=self._settle_s(), look_s=LOOK_S)
        self._ears.doubted(op, why)

    def _patience(self, op: Operation, outcome: Outcome) -> float:
        """Seconds: what the service asks for, else as after any failure."""
        asked = None
        if isinstance(outcome, Answer):
            asked = read_retry_after(outcome.headers.get("retry-after"), self._clock())
        if isinstance(outcome, Answer) and outcome.status == 429:
            self._link.hold(asked)
        return backoff(op.attempts + 1, self._roll()) if asked is None else min(asked, LONGEST_S)

    def _mark(self, outcome: Outcome) -> None:
        """Tells the link of an error; answers it has heard itself."""
        if isinstance(outcome, ClientError) and not isinstance(outcome, StatusError):
            self._link.failed(outcome)


def _kept(answer: Answer) -> str:
    """The answer's text as the outbox keeps it, whole or what is read of it later: a text that is cut says nothing."""
    if len(answer.content) <= _ANSWER_LIMIT:
        return answer.content.decode("utf-8", "replace")
    said = answer.json()
    return json.dumps({name: said[name] for name in _READ_LATER if name in said})
