"""Work that a service without keys confirmed, and does not show any more: it was put back from an earlier copy.

Nobody there can be asked for keys. What was confirmed last and could be found in the log is looked for now and then;
when it is gone, and older work is still there, all that was confirmed in between is in doubt: it is looked for, sent
again where it is sure to be absent, and else given to a person. Where nothing at all is found any more only that is
said.
"""

from __future__ import annotations

from collections.abc import Callable

from aisle.client.errors import ClientError
from aisle.courier.alarm import Alarm, Sleep
from aisle.courier.features import Features
from aisle.courier.link import Link
from aisle.courier.send.judging import FOUND, judge
from aisle.courier.send.looking import Looker, readback_of
from aisle.errors import ContractError
from aisle.local.outbox.operation import LOGS, MOVEMENT, Operation
from aisle.local.outbox.outbox import Outbox
from aisle.local.outbox.probes import YES, Probes
from aisle.local.outbox.replays import UNKEYED_DAYS
from aisle.local.outbox.restores import NOTICED

PAUSE_S = 900.0
"""Seconds between two looks."""
SURE_S = 60.0
"""Seconds after which what was not found is looked for once more, before that is believed."""
MOST = 30
"""So many operations are looked for, from the last one back."""


class Vanished:
    """Looks for what was confirmed last. `notice` hears what an operator should know; `again` is called when there is
    something to look for or to send."""

    def __init__(
        self,
        looker: Looker,
        outbox: Outbox,
        probes: Probes,
        link: Link,
        *,
        notice: Callable[[str], None],
        again: Callable[[], None],
        clock: Callable[[], float],
        sleep: Sleep,
    ) -> None:
        self.alarm = Alarm(sleep)
        self._looker = looker
        self._outbox = outbox
        self._probes = probes
        self._link = link
        self._notice = notice
        self._again = again
        self._clock = clock
        self._missed = ""
        """The operation that was not found at the last look."""
        self._seen = ""
        """The youngest operation of the last look that found all."""

    async def run(self) -> None:
        """Looks for ever."""
        while True:
            await self.alarm.wait(SURE_S if self._missed else PAUSE_S)
            await self.round()

    async def round(self) -> None:
        """One look, where there is something that has to be there."""
        features = self._link.features or Features(idempotency=True)
        if features.idempotency or not self._link.is_up or self._link.held_s:
            return
        work = self._findable()
        try:
            missing = await self._missing(work)
            if not missing:
                self._missed, self._seen = "", work[0].op_id if work else ""
            elif self._missed != missing[0].op_id:
                self._missed = missing[0].op_id  # once more in a minute
            else:
                await self._go_back(missing)
        except (ClientError, ContractError):
            return  # what cannot be read proves nothing

    async def _missing(self, work: list[Operation]) -> list[Operation]:
        """The youngest operation that is not there of those confirmed since the last look, and all before it; younger
        work may be there, done after a restore."""
        for at, op in enumerate(work):
            if not await self._is_there(op):
                return work[at:]
            if op.op_id == self._seen:
                break
        return []

    def _findable(self) -> list[Operation]:
        """What was confirmed last, and shows in the log of this service, youngest first."""
        ops = self._outbox.confirmed_unkeyed((LOGS, MOVEMENT), self._clock() - UNKEYED_DAYS * 86400, MOST)
        return [op for op in ops if self._probes.get(readback_of(op)) == YES]

    async def _is_there(self, op: Operation) -> bool:
        return judge(op, await self._looker.seen(op)).verdict == FOUND

    async def _go_back(self, work: list[Operation]) -> None:
        """Finds the last work that is still there: what was confirmed since it was sent is in doubt."""
        self._missed = ""
        for op in work[1:]:
            if await self._is_there(op):
                # what was confirmed before it may have been done after it, but not before it was sent
                count = self._outbox.doubt_unkeyed(op.first_sent_at or op.confirmed_at or 0.0, NOTICED)
                self._notice(f"The service was put back from an earlier copy: {count} operations are looked for.")
                self._again()
                return
        self._notice(
            f"The service shows none of the last {len(work)} operations that it confirmed. If it was put back from an"
            " earlier copy, say: aisle outbox replay"
        )
