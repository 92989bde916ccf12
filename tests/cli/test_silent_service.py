"""A sync and a service that says nothing: what is said meanwhile, and when it ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import closing
from email.utils import formatdate
from pathlib import Path

import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter, LinkRow, open_cache
from aisle.cli import sync
from aisle.cli.sync import CHECK_S, MAX_SILENCE_S, MESSAGE_S, ResponseTimer, WaitMessages, wait_while_answered
from aisle.client.responses_and_errors import Response
from aisle.errors import AisleError
from aisle.host.store_and_database_folders import StoreFolder
from aisle.outbox.operation_queue import OperationQueue, open_outbox

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


async def _attend(watch: Watch, at: Callable[[ResponseTimer, float], None], until: float = 1e9) -> list[str]:
    """Attends work that ends at a second, while things happen; the lines that were said."""
    said: list[str] = []
    silence = ResponseTimer(watch.clock, lambda: EPOCH + watch.now)
    work: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def happens(now: float) -> None:
        at(silence, now)
        if now >= until and not work.done():
            work.set_result(None)

    watch.at = happens
    try:
        await wait_while_answered(work, silence, WaitMessages(URL, said.append), watch.asleep)
    except AisleError as error:
        said.append(str(error))
        assert work.cancelled(), "it goes on behind"
    return said


async def test_a_service_that_never_answers_is_told_of_and_given_up() -> None:
    watch = Watch()
    *waits, end = await _attend(watch, lambda _silence, _now: None)
    assert watch.now == pytest.approx(MAX_SILENCE_S, abs=2 * CHECK_S)
    assert [line.partition(": no answer")[0] for line in waits] == [f"Waiting for the service at {URL}"] * 2
    assert f"The service at {URL} has not answered" in end
    assert "then sync again" in end


async def test_a_long_sync_is_not_cut_while_something_is_heard() -> None:
    def answers(silence: ResponseTimer, now: float) -> None:
        if now % 10 < CHECK_S:
            silence.record_response(Response(503, {}, b""))
        elif now % 25 < CHECK_S:
            silence.record_progress()

    assert await _attend(Watch(), answers, until=3600.0) == []


async def test_retry_after_is_waited_exactly() -> None:
    watch = Watch()

    def puts_off(silence: ResponseTimer, now: float) -> None:
        if now < CHECK_S + 0.1:
            silence.record_response(Response(503, {"retry-after": formatdate(EPOCH + 100, usegmt=True)}, b""))

    *waits, end = await _attend(watch, puts_off, until=1000.0)
    assert watch.now == pytest.approx(100 + MAX_SILENCE_S, abs=1.0)
    assert len(waits) == 2
    assert f"The service at {URL} has not answered" in end


async def test_own_work_and_requested_waits_are_no_silence() -> None:
    watch = Watch()

    def is_busy(silence: ResponseTimer, now: float) -> None:
        if now < 1:
            watch.now += 300.0  # a long statement: nobody could look
        elif 300 < now < 302:
            silence.record_response(Response(429, {"retry-after": "100"}, b""))

    assert await _attend(watch, is_busy, until=301.0 + 100.0 + MESSAGE_S) == []


def _courier_in_office(home: StoreFolder, state: str, last_ok: float, watch: Watch) -> None:
    """Waits for a courier whose link stands so, and that gets no answer any more."""
    with (
        closing(open_cache(home.folder, writer=True)) as cache,
        closing(open_outbox(home.folder)) as outbox,
        closing(CacheReader(home, outbox)) as reads,
    ):
        kept = CacheWriter(cache, home.store)
        kept.set_link(LinkRow(state=state, last_ok=last_ok))
        desk = sync.SyncStatus(OperationQueue(outbox), kept, reads, watch.began, False)
        sync._wait_for_leader(home, desk, watch.clock, watch.sleep)


@pytest.mark.parametrize(("state", "patient"), [("offline", MAX_SILENCE_S), ("syncing", sync.NO_PROGRESS_S)])
def test_leading_courier_is_not_waited_for_when_service_is_silent(
    aisle_home: Path, capsys: pytest.CaptureFixture[str], state: str, patient: float
) -> None:
    began = time.time()
    watch = Watch(began)
    with pytest.raises(AisleError, match="not answered" if state == "offline" else "no progress"):
        _courier_in_office(StoreFolder(aisle_home, URL, "0001"), state, began - 500, watch)
    assert watch.now - began == pytest.approx(patient, abs=1.0)
    err = capsys.readouterr().err.splitlines()
    assert err[0] == f"Waiting for the service at {URL}: no answer for 15 s."
    assert patient / MESSAGE_S - len(err) in (0, 1)
