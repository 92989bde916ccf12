"""Terminals and browsers that send without end, or read nothing: the session takes little memory and loses no scan."""

from __future__ import annotations

import json
import os
import select
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from textual.app import App

from aisle.browser_addresses_and_packets import PRELUDE, encode_packet
from aisle.scan.inputs_and_line_grouping import DecodedInput, Key, Line
from aisle.tui.browser_driver import BrowserDriver
from aisle.tui.driver import BATCH_S, MAX_PENDING
from aisle.tui.terminal_output import MAX_UNWRITTEN, TerminalWriter
from tests.run_length import tries
from tests.service.serve_process import until
from tests.tui.test_browser_driver import Rig

SECONDS = 30
PIPE_BYTES = 64 << 10


@pytest.fixture
def rig(aisle_home: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Rig]:
    """The tiny app, which has begun and is not ready for input; with a parameter it has further ways."""
    rig = Rig(tmp_path / "log", getattr(request, "param", ""))
    assert rig.process.stdout is not None
    assert rig.process.stdout.readline() == PRELUDE
    with rig.process:
        yield rig
        rig.process.kill()


def fill(rig: Rig, packets: bytes) -> bytes:
    """Send until the app takes no more for a moment; what is left."""
    assert rig.process.stdin is not None
    pipe = rig.process.stdin.fileno()
    os.set_blocking(pipe, False)
    while packets and select.select([], [pipe], [], 0.1)[1]:
        packets = packets[os.write(pipe, packets) :]
    os.set_blocking(pipe, True)
    return packets


def test_scans_faster_than_the_app_takes_them_wait_and_none_is_lost(rig: Rig) -> None:
    sent = "".join(f"{number:047d}\r" for number in range(tries(5_700, 300_000))).encode()
    packets = b"".join(encode_packet(b"D", sent[start : start + 5_000]) for start in range(0, len(sent), 5_000))
    left = fill(rig, packets)
    assert len(packets) - len(left) < 4 * PIPE_BYTES < len(packets)
    rig.log.with_suffix(".go").touch()
    assert rig.process.stdin is not None
    rig.process.stdin.write(left)
    rig.tell(type="quit")
    rig.output()
    lines = [entry[1] for entry in rig.entries() if entry[0] == "Line"]
    assert lines == sent.decode().split()


def test_opened_addresses_wait_as_scans_do(rig: Rig) -> None:
    packets = [
        encode_packet(b"M", json.dumps({"type": "open", "address": f"/{n:<4000}"}).encode()) for n in range(2_000)
    ]
    left = fill(rig, b"".join(packets))
    assert len(b"".join(packets)) - len(left) < (MAX_PENDING + 40) * len(packets[0]) < len(b"".join(packets))
    rig.log.with_suffix(".go").touch()
    assert rig.process.stdin is not None
    rig.process.stdin.write(left)
    rig.tell(type="quit")
    rig.output()
    assert sum(entry[0] == "Key" for entry in rig.entries()) == len(packets)


def test_a_program_whose_app_takes_nothing_still_ends(rig: Rig) -> None:
    assert fill(rig, encode_packet(b"D", b"1\r" * 2_500) * 100)
    rig.process.terminate()
    assert rig.process.wait(SECONDS) == 0


def test_a_terminal_that_reads_nothing_takes_little_memory_and_is_painted_again() -> None:
    reader, writer = os.pipe()
    repaints: list[int] = []
    with closing(os.fdopen(reader, "rb")) as glass, closing(os.fdopen(writer, "w", encoding="utf-8")) as file:
        output = TerminalWriter(file, lambda: repaints.append(1))
        output.start()
        for _ in range(tries(30, 300)):
            output.write("x" * 100_000)
        output.write("the end", always=True)
        assert output._unwritten <= MAX_UNWRITTEN + 100_007
        seen = b""
        while not seen.endswith(b"the end"):
            seen += os.read(glass.fileno(), 1 << 16)
        until(lambda: bool(repaints))
        output.write("y")
        assert os.read(glass.fileno(), 10) == b"y"
        output.finish()
    assert repaints == [1]
    assert len(seen) <= MAX_UNWRITTEN + 200_007


async def test_of_many_sizes_at_once_only_the_last_one_counts() -> None:
    driver, posted, calls = BrowserDriver(App[None]()), list[tuple[int, int]](), list[Callable[[], None]]()
    driver._receiver = SimpleNamespace(change_size=lambda *size: posted.append(size))
    driver._call_on_loop = calls.append  # type: ignore[assignment, method-assign]
    sizes = count(1)
    for batch in (1, 2):
        for number in sizes:
            driver._handle_message(b'{"type": "resize", "width": %d, "height": 7}' % (number % 400 + 1), 0.0)
            if not number % 1_000:
                break
        [call] = calls
        calls.clear()
        call()
        assert len(posted) == batch
        assert posted[-1] == (number % 400 + 1, 7)


async def test_between_parts_of_a_flood_the_event_loop_has_a_turn() -> None:
    driver, calls, taken = BrowserDriver(App[None]()), list[Callable[[], None]](), list[list[DecodedInput]]()
    driver._call_on_loop = calls.append  # type: ignore[assignment, method-assign]
    driver._receiver = SimpleNamespace(ready_for_input=True, take=lambda items, at: taken.append(items))
    sent = [Line(str(number), "cr", 0.0, 0.0, 0.0) for number in range(600)]
    pressed = [Key("up")] * 60
    for items in (sent, pressed):
        driver._queue_inputs(list(items), 1.0)
    while calls:
        calls.pop(0)()
    assert [item for batch in taken for item in batch] == [*sent, *pressed]
    assert [len(batch) for batch in taken] == [250, 250, 115, 25, 20]


class SlowApp:
    """An app that takes 30 ms for each input, by its own clock."""

    ready_for_input = True

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.sizes: list[int] = []
        self.ended_after: int | None = None
        self.calls: list[Callable[[], None]] = []
        monkeypatch.setattr("aisle.tui.driver.time", SimpleNamespace(monotonic=lambda: self.now))

    def take(self, items: list[DecodedInput], read_at: float) -> None:
        self.sizes.append(len(items))
        self.now += 0.03 * len(items)

    def hang_up(self) -> None:
        self.ended_after = len(self.sizes)

    def flooded(self) -> BrowserDriver:
        """A driver in which lines of a paste wait for this app."""
        driver = BrowserDriver(App[None]())
        driver._receiver = self  # type: ignore[assignment]
        driver._call_on_loop = self.calls.append  # type: ignore[assignment, method-assign]
        for _ in range(20):
            driver._queue_inputs([Line("110022", "cr", 0.0, 0.0, 0.0)] * 100, 0.0)
        return driver


async def test_a_flood_does_not_keep_a_program_from_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    app = SlowApp(monkeypatch)
    driver = app.flooded()
    app.calls.pop(0)()
    driver._leave()
    taken = len(app.sizes)
    while app.calls:
        app.calls.pop(0)()
    assert app.ended_after == taken == len(app.sizes), "nothing is taken after the end"


async def test_parts_of_a_slow_flood_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    app = SlowApp(monkeypatch)
    app.flooded()
    while app.calls:
        app.calls.pop(0)()
    assert sum(app.sizes) == 2_000
    assert 0.03 * max(app.sizes[1:]) <= BATCH_S


@pytest.mark.parametrize("rig", ["hasty"], indirect=True)
def test_a_server_that_dies_in_a_flood_ends_the_session_soon(rig: Rig) -> None:
    assert fill(rig, encode_packet(b"D", b"1\r" * 2_500) * 100)
    assert rig.process.stdin is not None
    rig.process.stdin.close()
    assert rig.process.wait(SECONDS) == 0
