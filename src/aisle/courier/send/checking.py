"""Settles doubts at a service that keeps no keys: looks until it is known, and gives to a person what cannot be known.

Looks follow a doubt after 2, 10 and 30 seconds and at its settling time. What is found is done. What is absent is
believed to be so only by a look that began after the settling time; then it, or what is missing of it, is sent again
under the same name. What cannot be looked for was sent at most once, and a person is shown what stood there before and
what stands there now.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from aisle.client.errors import ClientError, RateLimited, TransportError, Unauthorized
from aisle.courier.alarm import Alarm, Sleep
from aisle.courier.care import Care
from aisle.courier.link import TROUBLE, Link
from aisle.courier.rests import LOOKS, Rests
from aisle.courier.send.judging import (
    ABSENT,
    BY_LOG,
    BY_ORDER,
    BY_PRODUCT,
    CHANGED,
    FOUND,
    NOT_AT_ALL,
    PARTLY,
    SPARED,
    STANDS,
    UNREADABLE,
    UNSAID,
    Judgement,
    Seen,
    is_believed_wordless,
    is_denied,
    judge,
    sent_order,
    state_of,
    way_of,
)
from aisle.courier.send.looking import Looker, readback_of
from aisle.courier.send.marks import marks
from aisle.courier.topics import Topic, touched
from aisle.errors import ContractError
from aisle.local.outbox.operation import LOGS, MOVEMENT, UPDATE, Operation
from aisle.local.outbox.outbox import Outbox
from aisle.local.outbox.probes import NO, OMITTED_LINES, SETTLE_S, YES, Probes
from aisle.local.outbox.state import IN_DOUBT, IllegalTransition
from aisle.local.told import Told, told
from aisle.tuples import NamedTuple

LOOKS_S = (2.0, 10.0, 30.0)
"""Looks before the settling time, in seconds after the doubt."""
LATE_S = 60.0
"""Between two looks after it."""
_BLIND_LOOKS = 5
"""Looks after it that could not read anything before a person is asked."""
STILL_S, STILL_FOR_S = 900.0, 86400.0
"""How often, and how long, what a person was asked about is still looked for."""
_LONGEST_SETTLE_S = 3600.0
_DENIALS = 3
"""So often the service may confirm what it then does not show; then a person is asked."""


class Heard(NamedTuple):
    """Who wants to know what came of it."""

    confirmed: Callable[[Operation], None]
    asked: Callable[[Operation, Told], None]
    denied: Callable[[Operation, Told], None]
    """What was confirmed is not there."""
    again: Callable[[], None]
    """Something may be sent, now or again."""
    want: Callable[[Iterable[Topic]], None]
    learnt: Callable[[str], None]
    """Something that an operator should know of the service."""


class _Trial(NamedTuple):
    """A first success that is looked for, to learn whether the service can be read back at all."""

    op: Operation
    began: float
    tries: int = 0


class Checker:
    """The doubting part of the courier."""

    def __init__(
        self,
        looker: Looker,
        outbox: Outbox,
        probes: Probes,
        link: Link,
        heard: Heard,
        *,
        care: Care,
        floor: Callable[[], int],
        rests: Rests,
        clock: Callable[[], float],
        sleep: Sleep,
    ) -> None:
        """`floor` is the last id of the store's log that is known here."""
        self.alarm = Alarm(sleep)
        self._looker = looker
        self._outbox = outbox
        self._probes = probes
        self._link = link
        self._heard = heard
        self._care = care
        self._floor = floor
        self._rests = rests
        self._clock = clock
        self._trials: dict[str, _Trial] = {}
        """By the name of what is to be learnt."""
        self._spared: tuple[str, float] = ("", 0.0)
        """Which update left a line out to see whether it stays, and when."""
        self._tried: set[str] = set()
        self._told: set[str] = set()

    @property
    def settle_s(self) -> float:
        """Seconds after a doubt in which what is late may still come."""
        learnt = self._probes.get(SETTLE_S)
        return max(self._care.settle_s, float(learnt) if learnt else 0.0)

    async def run(self) -> None:
        """Looks for ever."""
        while True:
            await self.round()
            await self.alarm.wait(self._until_next())

    async def round(self) -> None:
        """One look at everything that is due."""
        self._tell_settled()
        for op in self._outbox.doubted():
            if not self._may_look:
                return
            await self._look(op)
        for name, trial in list(self._trials.items()):
            if self._may_look and self._clock() >= trial.began + self._delay(trial.tries):
                await self._try(name, trial)

    @property
    def _held_s(self) -> float:
        """Seconds of patience that the service asked for, of everything or of what is looked for here."""
        return max(self._link.held_s, self._rests.until(LOOKS) - self._clock(), 0.0)

    @property
    def _may_look(self) -> bool:
        return self._link.is_up and not self._held_s

    def _until_next(self) -> float | None:
        held_s = self._held_s  # once: patience that ends between two looks at it would be waited for without end
        if held_s or not self._link.is_up:
            return held_s or None
        moments = [trial.began + self._delay(trial.tries) for trial in self._trials.values()]
        due = self._outbox.next_look()
        moments += [] if due is None else [due]
        return max(0.0, min(moments) - self._clock()) if moments else None

    def _tell_settled(self) -> None:
        """What a person said has arrived has to be read back like anything else."""
        for op in self._outbox.settled_by_hand():
            if op.op_id not in self._told:
                self._told.add(op.op_id)
                self._heard.confirmed(op)

    # Before and after a sending

    async def before(self, op: Operation, orders: Sequence[Mapping[str, Any]] | None = None) -> dict[str, Any]:
        """What has to be known before its first byte leaves; `orders` is its order, where that has just been read.

        Raises ClientError that is the link's.
        """
        if orders is not None and op.operation == UPDATE:
            return {"before": {"order": state_of(orders[0])} if orders else {}}
        if op.operation in (LOGS, MOVEMENT):
            # a floor that was kept before an earlier try stays: that try may be above it, and below the one of today
            known = {"floor": floor} if (floor := op.evidence.get("floor") or self._floor()) else {}
            if self._probes.get(readback_of(op)) == YES:
                return known
        else:
            known = {}
        try:
            return {**known, "before": await self._looker.before(op)}
        except (TransportError, Unauthorized, RateLimited):
            raise
        except (ClientError, ContractError):
            return known  # there is nothing to be read: less evidence, and no reason not to send it

    async def settings_before(self, op: Operation) -> dict[str, Any]:
        """What the store says of a product, whatever the service is able to do. Raises ClientError."""
        return {"before": await self._looker.before(op)}

    def succeeded(self, op: Operation) -> None:
        """The service confirmed it: the first time, that is looked for too."""
        if self._outbox.is_keyed(op.op_id):
            return
        sent = self._outbox.get(op.op_id)
        if op.operation == UPDATE and not self._probes.get(OMITTED_LINES) and _unnamed(sent):
            self._trials.setdefault(OMITTED_LINES, _Trial(sent, self._clock()))
            self.alarm.ring()
        if op.operation not in (LOGS, MOVEMENT) or not marks(sent):
            return
        name = readback_of(op)
        if self._probes.get(name) != YES and name not in self._tried:
            self._tried.add(name)
            self._trials[name] = _Trial(sent, self._clock())
            self.alarm.ring()

    def may_spare(self, op: Operation) -> bool:
        """Whether this update may leave out a line that nobody has touched, to see whether the service forgets it: one
        at a time, so that no more than one line has to be said again."""
        last, at = self._spared
        now = self._clock()
        if last not in ("", op.op_id) and abs(now - at) < LATE_S:
            return False
        self._spared = op.op_id, now
        return True

    def is_unsaid(self, op: Operation) -> bool:
        """Whether it has to be looked for, because the service confirmed it in no words; then that is done at once."""
        sent = self._outbox.get(op.op_id)
        if is_believed_wordless(sent, self._probes.get(readback_of(sent)) == YES):
            return False
        self.alarm.ring()
        return True

    def read_back(
        self, number: str, orders: Sequence[Mapping[str, Any]], spoken_for: Collection[str] | None = None
    ) -> None:
        """Holds what was last confirmed of an order against what was read of it since (None: whatever it is).

        What is not there is in doubt: looked for again, sent again once that has settled, and in the end a person's.
        """
        op = self._outbox.told_of(f"order/{number}")
        if op is None or op.operation != UPDATE or (spoken_for is not None and op.op_id not in spoken_for):
            return
        if orders and SPARED in op.evidence:
            self._learn_omitted(op, orders[0])
        if not orders or not is_denied(op, orders[0]):
            return
        times = int(op.evidence.get("denied") or 0) + 1
        evidence = {**op.evidence, "after": {"order": state_of(orders[0])}, "denied": times}
        why = told("told.denied")
        if self._outbox.deny(op.op_id, why, evidence, settle_s=self.settle_s, look_s=LOOKS_S[0]):
            self._heard.denied(op, why)

    def _delay(self, tries: int) -> float:
        return (*LOOKS_S, self.settle_s)[tries]

    async def _try(self, name: str, trial: _Trial) -> None:
        try:
            if name == OMITTED_LINES:
                found = await self._looker.orders(str(sent_order(trial.op)["order_number"]))
            else:
                found = await self._looker.log(trial.op)
            self._rests.end(LOOKS)
            if found:
                del self._trials[name]
                await self._learn(name, trial.op, found)
                return
        except TROUBLE as error:
            self._trouble(error)
            if not self._may_look:
                return
        if trial.tries < len(LOOKS_S):
            self._trials[name] = trial._replace(tries=trial.tries + 1)
            return
        del self._trials[name]
        if name != OMITTED_LINES:
            self._probes.learn(name, NO)

    async def _learn(self, name: str, op: Operation, found: list[dict[str, Any]]) -> None:
        """What the first success of its kind shows."""
        if name != OMITTED_LINES:
            await self._looker.learn_filter(op)
            return
        self._learn_omitted(op, found[0])

    def _learn_omitted(self, op: Operation, order: Mapping[str, Any]) -> None:
        """What became of the lines that an update left out. A line that is gone is said again at once."""
        unnamed = _unnamed(op)
        if self._probes.get(OMITTED_LINES) == NO or not unnamed:
            return
        gone = unnamed - state_of(order)["lines"].keys()
        self._probes.learn(OMITTED_LINES, NO if gone else YES)
        if not gone:
            return
        self._heard.learnt(
            f"The service forgets lines that an update does not name: {', '.join(sorted(gone))} of order "
            f"{order.get('order_number')}. From now on every update names all of them."
        )
        spared = op.evidence.get(SPARED)
        if spared and str(spared["line_number"]) in gone:
            self._outbox.say_line_again(op, spared)
            self._heard.again()

    # One doubt

    async def _look(self, op: Operation) -> None:
        began = self._clock()
        seen, after = Seen(), {}
        try:
            seen = await self._looker.seen(op)
            self._rests.end(LOOKS)
        except TROUBLE as error:
            self._trouble(error)
        try:  # also where nothing else can be read: it is what a person is shown
            after = await self._evidence(op, seen) if self._may_look else {}
        except TROUBLE as error:
            self._trouble(error)
        judgement = judge(op, seen)
        evidence = {
            **op.evidence,
            "looks": int(op.evidence.get("looks") or 0) + 1,
            "looked_at": began,
            "verdict": judgement.verdict,
            **({"after": after} if after else {}),
        }
        with suppress(IllegalTransition):  # somebody settled it while it was looked for
            self._act(op, judgement, evidence, began, blind=seen == Seen())

    def _trouble(self, error: Exception) -> None:
        if isinstance(error, RateLimited) and self._rests.is_alone(LOOKS, error.retry_after, self._clock()):
            return
        if not isinstance(error, ClientError) or isinstance(error, TransportError | Unauthorized | RateLimited):
            self._link.failed(error)

    async def _evidence(self, op: Operation, seen: Seen) -> dict[str, Any]:
        if seen.orders and way_of(op) == BY_ORDER:
            return {"order": state_of(seen.orders[0])}
        if seen.products is not None:
            return {"product": seen.products}
        if judge(op, seen).verdict == FOUND:
            return {}
        return await self._looker.stock(op)

    def _act(self, op: Operation, judgement: Judgement, evidence: dict[str, Any], began: float, *, blind: bool) -> None:
        has_settled = began >= (op.settles_at or 0)
        if judgement.verdict == FOUND or (judgement.verdict == STANDS and has_settled):
            self._found(op, evidence, began)
        elif op.state != IN_DOUBT:
            old = began - (op.doubted_at or 0) >= STILL_FOR_S
            self._outbox.looked(op.op_id, evidence, 0 if old else began + STILL_S)
        elif not has_settled:
            self._outbox.looked(op.op_id, evidence, self._next_look(op, began))
        elif judgement.verdict in (ABSENT, PARTLY) and _may_go_again(op):
            why, as_sent = told("told.absent" if judgement.verdict == ABSENT else "told.partly"), None
            if judgement.verdict == PARTLY and op.operation == UPDATE:
                # fitted anew, what a picker adds would be added a second time to the lines that have arrived
                as_sent = {**op.body, "orders": _own(op)}
            self._outbox.send_again(op.op_id, why, evidence, judgement.missing, as_sent)
            self._heard.want(touched(op))
            self._heard.again()
        elif blind and way_of(op) != NOT_AT_ALL and int(evidence.get("blind") or 0) < _BLIND_LOOKS:
            evidence["blind"] = int(evidence.get("blind") or 0) + 1
            self._outbox.looked(op.op_id, evidence, began + LATE_S)
        else:
            self._ask(op, judgement, evidence)

    def _found(self, op: Operation, evidence: dict[str, Any], began: float) -> None:
        if op.evidence.get("verdict") in (ABSENT, PARTLY) and op.doubted_at is not None:
            late = began - op.doubted_at + float(op.evidence["looked_at"]) - op.doubted_at  # twice the middle
            if late > self.settle_s:
                self._probes.learn(SETTLE_S, f"{min(late, _LONGEST_SETTLE_S):.0f}")
        self._outbox.confirm(op.op_id, "found", evidence)
        self._heard.confirmed(op)
        self._heard.again()  # its lanes are free

    def _ask(self, op: Operation, judgement: Judgement, evidence: dict[str, Any]) -> None:
        way = way_of(op)
        if op.evidence.get(UNSAID) and judgement.verdict in (ABSENT, PARTLY):
            why = told("told.wordless")
        elif op.evidence.get("denied") and judgement.verdict in (ABSENT, PARTLY):
            why = told("told.denied_often", count=int(op.evidence["denied"]))
        elif judgement.verdict == CHANGED:
            why = told("told.changed_product" if way == BY_PRODUCT else "told.changed_order")
        elif way == BY_LOG and judgement.verdict == UNREADABLE:
            why = told("told.not_in_log")
        else:
            why = told("told.unaskable")
        self._outbox.ask_person(op.op_id, why, evidence=evidence, look_s=0 if way == NOT_AT_ALL else STILL_S)
        self._heard.asked(op, why)

    def _next_look(self, op: Operation, began: float) -> float:
        doubted, settles = op.doubted_at or began, op.settles_at or began
        return min((doubted + s for s in LOOKS_S if doubted + s > began), default=settles)


def _may_go_again(op: Operation) -> bool:
    """Whether what is settled and not there is sent again by the machine: nobody has said yes to it too often."""
    return not op.evidence.get(UNSAID) and int(op.evidence.get("denied") or 0) < _DENIALS


def _own(op: Operation) -> dict[str, Any]:
    """The order of an update as it was sent, without the lines that were only said again as they stood."""
    order = dict(sent_order(op))
    if "order_lines" in op.body["orders"]:
        own = {line["line_number"] for line in op.body["orders"]["order_lines"]}
        order["order_lines"] = [line for line in order["order_lines"] if line["line_number"] in own]
    else:
        order.pop("order_lines", None)
    return order


def _unnamed(op: Operation) -> set[str]:
    """The lines that stood on the order before, and that the update did not name."""
    named = {str(line.get("line_number")) for line in sent_order(op).get("order_lines") or ()}
    before = (op.evidence.get("before") or {}).get("order") or {}
    return set(before.get("lines") or {}) - named
