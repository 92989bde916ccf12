"""The line between a courier and a service in one process, and everything that can happen on it.

A fault is said for each request by a `Plan`. Seconds are those of the simulated clock; nothing here waits really.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random
from typing import NamedTuple

import httpx

from aisle.courier.pauses_and_wake_event import Sleep
from tests.faults.inline_storage import Crash

NONE = "none"
UNREACHED = "unreached"
"""No connection: not a byte leaves."""
LOST_BEFORE = "lost before"
"""The request is lost on its way; its sender only sees that no answer comes."""
LOST_AFTER = "lost after"
"""It is carried out, and the answer is lost."""
LATE = "late"
"""Its sender has given up when it arrives."""
DOUBLED = "doubled"
"""It is delivered, and some time later once more."""
CUT = "cut"
"""It is carried out, and half of the answer comes."""
GATEWAY_BEFORE = "gateway before"
"""Somebody on the way says 503 in the service's stead."""
GATEWAY_AFTER = "gateway after"
"""The same, when it has been carried out."""
LIMITED = "limited"
"""429, later please."""
CRASH = "crash"
"""The service's process ends between two statements, and is started again."""
CANCEL_BEFORE = "cancel before"
"""The courier's process ends after it sent; the request is lost with it."""
CANCEL_AFTER = "cancel after"
"""The courier's process ends when it has been carried out, before it hears of it."""
SLOW = "slow"
"""The answer comes, after a while."""

KINDS = (
    UNREACHED, LOST_BEFORE, LOST_AFTER, LATE, DOUBLED, CUT, GATEWAY_BEFORE, GATEWAY_AFTER, LIMITED, CRASH,
    CANCEL_BEFORE, CANCEL_AFTER, SLOW,
)  # fmt: skip

_GATEWAY = b"<html>Service unavailable</html>"


class Copy(NamedTuple):
    """The same bytes once more, so many seconds later; the service may end at one of its statements then (0: not)."""

    seconds: float
    statements: int = 0


class Fault(NamedTuple):
    """What happens to one request. `seconds`: late, doubled, slow; `statements`: those before a crash."""

    kind: str = NONE
    seconds: float = 0.0
    statements: int = 1
    copies: tuple[Copy, ...] = ()
    """Arrive beside all that; each is a fault of its own."""


Plan = Callable[[httpx.Request], Fault]


def calm(_: httpx.Request) -> Fault:
    """Nothing happens to anything."""
    return Fault()


class Chaos:
    """A plan by dice: `rate` of the requests meet a fault of `kinds`, all of the same chance."""

    def __init__(self, random: Random, rate: float, kinds: Sequence[str] = KINDS, *, tail_s: float = 20.0) -> None:
        self._random = random
        self._rate = rate
        self._kinds = tuple(kinds)
        self._tail_s = tail_s

    def __call__(self, request: httpx.Request) -> Fault:
        if self._random.random() >= self._rate:
            return Fault()
        seconds = self._random.expovariate(1 / self._tail_s)
        return Fault(self._random.choice(self._kinds), seconds, self._random.randint(1, 60))


class Line(httpx.AsyncBaseTransport):
    """A transport before another one that is the service. One for each courier; all lead to the same."""

    def __init__(self, inner: httpx.AsyncBaseTransport, sleep: Sleep, crash_in: Callable[[int | None], None]) -> None:
        self.plan: Plan = calm
        self.cut_off = False
        """Nothing gets through in either direction."""
        self.faults: Counter[str] = Counter()
        """What happened, by kind."""
        self.requests = 0
        self.busy = 0
        """Requests that the service is at work on at this moment."""
        self.courier_ends: Callable[[], None] = lambda: None
        """Called when the courier's process is to end; its requests are then cancelled."""
        self._inner = inner
        self._sleep = sleep
        self._crash_in = crash_in
        self._stray: set[asyncio.Task[None]] = set()
        self._waiting: set[asyncio.Future[None]] = set()

    @property
    def stray(self) -> int:
        """Requests that will arrive some day, though nobody waits for their answers."""
        return len(self._stray)

    def still(self) -> None:
        """From now on nothing happens to anything; what is on its way stays so."""
        self.plan, self.cut_off = calm, False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """One request, and what becomes of it."""
        self.requests += 1
        fault = Fault(UNREACHED) if self.cut_off else self.plan(request)
        if fault.kind != NONE:
            self.faults[fault.kind] += 1
        for copy in fault.copies:
            self.faults[DOUBLED] += 1
            self._strays(request, copy.seconds, copy.statements)
        return await self._met(request, fault)

    async def _met(self, request: httpx.Request, fault: Fault) -> httpx.Response:
        match fault.kind:
            case "unreached":
                raise httpx.ConnectError("refused", request=request)
            case "lost before":
                raise httpx.ReadTimeout("lost", request=request)
            case "lost after":
                await self._deliver(request)
                raise httpx.ReadTimeout("lost", request=request)
            case "late":
                self._strays(request, fault.seconds)
                raise httpx.ReadTimeout("late", request=request)
            case "doubled":
                self._strays(request, fault.seconds)
                return await self._deliver(request)
            case "cut":
                answer = await self._deliver(request)
                half = answer.content[: len(answer.content) // 2]
                return httpx.Response(answer.status_code, headers=_kept(answer), content=half, request=request)
            case "gateway before":
                return httpx.Response(503, content=_GATEWAY, request=request)
            case "gateway after":
                await self._deliver(request)
                return httpx.Response(504, content=_GATEWAY, request=request)
            case "limited":
                return httpx.Response(429, headers={"Retry-After": "2"}, content=b"", request=request)
            case "crash":
                self._crash_in(fault.statements)
                return await self._deliver(request)
            case "cancel before":
                return await self._ended()
            case "cancel after":
                await self._deliver(request)
                return await self._ended()
            case "slow":
                answer = await self._deliver(request)
                await self._sleep(min(fault.seconds, 9.0))
                return answer
        return await self._deliver(request)

    async def _deliver(self, request: httpx.Request) -> httpx.Response:
        """The service hears it. A crash of the service is a connection that ends."""
        self.busy += 1
        try:
            answer = await self._inner.handle_async_request(request)
            await answer.aread()
        except Crash:
            raise httpx.ReadError("reset", request=request) from None
        finally:
            self._crash_in(None)
            self.busy -= 1
        return answer

    async def _ended(self) -> httpx.Response:
        """The courier's process ends while it waits."""
        self.courier_ends()
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.add(waiting)
        try:
            await waiting
        finally:
            self._waiting.discard(waiting)
        raise httpx.ReadError("nobody is there any more")

    def hang_up(self) -> None:
        """The process is gone, and with it whatever in it still waited for an answer."""
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)

    def _strays(self, request: httpx.Request, seconds: float, statements: int = 0) -> None:
        """The same bytes arrive once more, or at last."""
        task = asyncio.create_task(self._arrive(request, seconds, statements))
        self._stray.add(task)
        task.add_done_callback(self._stray.discard)

    async def _arrive(self, request: httpx.Request, seconds: float, statements: int = 0) -> None:
        await self._sleep(seconds)
        if statements:
            self._crash_in(statements)
        with suppress(httpx.ReadError):
            await self._deliver(request)

    async def close(self) -> None:
        """Whatever is still on its way never arrives."""
        for task in self._stray:
            task.cancel()
        await asyncio.gather(*self._stray, return_exceptions=True)


def _kept(answer: httpx.Response) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in answer.headers.raw if name.lower() != b"content-length"]
