"""A sync and a service that says nothing: what is said meanwhile, and when it ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import closing
from email.utils import formatdate
from pathlib import Path

import pytest

from aisle.cli import courier
from aisle.cli.patience import LOOK_S, SAY_S, SILENT_S, Patience, Silence, attended
from aisle.client.answer import Answer
from aisle.errors import AisleError
from aisle.local.cache.writer import Cache, Sync, open_cache
from aisle.local.host.home import Home
from aisle.local.outbox.outbox import Outbox, open_outbox
from aisle.local.reads.reads import Reads

URL = "http://shop.example"
EPOCH = 1_795_176_000.0
"""What Unix time is when a watch is at 0."""


class Watch:
    """A clock that goes on by sleeping alone; `at` is what happens at which second."""

    def __init__(self, began: float = 0.0) -> None:
        self.began = self.now = began
        self.at: Callable[[float], None] = lambda _now: None

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.at(self.now - self.began)

    async def asleep(self, seconds: float) -> None:
        self.sleep(seconds)
        await asyncio.sleep(0)


async def _attend(watch: Watch, at: Callable[[Silence, float], None], until: float = 1e9) -> list[str]:
    """Attends work that ends at a second, while things happen; the lines that were said."""
    said: list[str] = []
    silence = Silence(watch.clock, lambda: EPOCH + watch.now)
    work: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def happens(now: float) -> None:
        at(silence, now)
        if now >= until and not work.done():
            work.set_result(None)

    watch.at = happens
    try:
        await attended(work, silence, Patience(URL, said.append), watch.asleep)
    except AisleError as error:
        said.append(str(error))
        assert work.cancelled(), "it goes on behind"
    return said


async def test_a_service_that_never_answers_is_told_of_and_given_up() -> None:
    watch = Watch()
    *waits, end = await _attend(watch, lambda _silence, _now: None)
    assert watch.now == pytest.approx(SILENT_S, abs=2 * LOOK_S)
    assert [line.partition(": no answer")[0] for line in waits] == [f"Waiting for the service at {URL}"] * 2
    assert f"The service at {URL} has not answered" in end
    assert "then sync again" in end


async def test_a_long_sync_is_not_cut_while_something_is_heard() -> None:
    def answers(silence: Silence, now: float) -> None:
        if now % 10 < LOOK_S:
            silence.heard(Answer(503, {}, b""))
        elif now % 25 < LOOK_S:
            silence.moved()

    assert await _attend(Watch(), answers, until=3600.0) == []


async def test_a_service_that_says_until_when_to_wait_is_waited_for_until_then_and_no_longer() -> None:
    watch = Watch()

    def puts_off(silence: Silence, now: float) -> None:
        if now < LOOK_S + 0.1:
            silence.heard(Answer(503, {"retry-after": formatdate(EPOCH + 100, usegmt=True)}, b""))

    *waits, end = await _attend(watch, puts_off, until=1000.0)
    assert watch.now == pytest.approx(100 + SILENT_S, abs=1.0)
    assert len(waits) == 2
    assert f"The service at {URL} has not answered" in end


async def test_what_the_process_does_itself_and_what_it_was_asked_to_wait_is_no_silence() -> None:
    watch = Watch()

    def is_busy(silence: Silence, now: float) -> None:
        if now < 1:
            watch.now += 300.0  # a long statement: nobody could look
        elif 300 < now < 302:
            silence.heard(Answer(429, {"retry-after": "100"}, b""))

    assert await _attend(watch, is_busy, until=301.0 + 100.0 + SAY_S) == []


def _courier_in_office(home: Home, state: str, last_ok: float, watch: Watch) -> None:
    """Waits for a courier whose link stands so, and that gets no answer any more."""
    with (
        closing(open_cache(home.folder, writer=True)) as cache,
        closing(open_outbox(home.folder)) as outbox,
        closing(Reads(home, outbox)) as reads,
    ):
        kept = Cache(cache, home.store)
        kept.set_link(Sync(state=state, last_ok=last_ok))
        desk = courier._Desk(Outbox(outbox), kept, reads, watch.began, False)
        courier._wait(home, desk, watch.clock, watch.sleep)


@pytest.mark.parametrize(("state", "patient"), [("offline", SILENT_S), ("syncing", courier.PATIENCE_S)])
def test_the_courier_in_office_is_not_waited_for_when_the_service_is_silent(
    aisle_home: Path, capsys: pytest.CaptureFixture[str], state: str, patient: float
) -> None:
    began = time.time()
    watch = Watch(began)
    with pytest.raises(AisleError, match="not answered" if state == "offline" else "no progress"):
        _courier_in_office(Home(aisle_home, URL, "0001"), state, began - 500, watch)
    assert watch.now - began == pytest.approx(patient, abs=1.0)
    err = capsys.readouterr().err.splitlines()
    assert err[0] == f"Waiting for the service at {URL}: no answer for 15 s."
    assert patient / SAY_S - len(err) in (0, 1)
