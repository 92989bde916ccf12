"""The driver at the end of two pipes: the same inputs in the same order, whatever the packets look like."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App

from aisle.browser_addresses_and_packets import (
    MAX_COLUMNS,
    MAX_ROWS,
    PRELUDE,
    InvalidPacket,
    PacketDecoder,
    encode_packet,
    parse_size,
)
from aisle.tui.browser_driver import BrowserDriver, _PacketWriter
from aisle.tui.mouse import MOUSE_ON
from aisle.tui.terminal_output import MAX_UNWRITTEN
from tests.service.serve_process import until
from tests.terminal.harness import python

PACKETS = st.lists(st.tuples(st.sampled_from([b"D", b"M"]), st.binary(max_size=20)), max_size=8)


@given(PACKETS, st.data())
def test_packets_are_whole_wherever_the_stream_is_cut(sent: list[tuple[bytes, bytes]], data: st.DataObject) -> None:
    stream = b"".join(encode_packet(kind, content) for kind, content in sent)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    found, packets = [], PacketDecoder()
    for first, last in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += packets.feed(stream[first:last])
    assert found == sent


@pytest.mark.parametrize("noise", [b"Q\0\0\0\1x", b"D\xff\0\0\0", b"4711\r"])
def test_what_is_no_packet_is_refused(noise: bytes) -> None:
    with pytest.raises(InvalidPacket):
        PacketDecoder().feed(noise)


def test_a_size_is_a_size() -> None:
    assert parse_size({"type": "resize", "width": 80, "height": 24}) == (80, 24)
    assert parse_size({"width": 10**9, "height": 10**9}) == (MAX_COLUMNS, MAX_ROWS)
    sizes: list[object] = [{"width": 0, "height": 1}, {"width": "80", "height": 24}, {"width": 80.5, "height": 24}]
    assert [parse_size(none) for none in ({}, [], *sizes)] == [None] * 5


@pytest.mark.parametrize("size", [0, 5, 48 << 10, 200_000])
async def test_a_file_is_sent_in_pieces_that_fit_together(size: int, tmp_path: Path) -> None:
    driver, content = BrowserDriver(App[None]()), os.urandom(size)
    with (tmp_path / "packets").open("w") as file:
        driver._messages = _PacketWriter(file, lambda: None)
        driver._messages.start()
        driver.offer_file("orders.csv", content)
        driver._messages.finish()
    stream = (tmp_path / "packets").read_bytes()
    pieces = [json.loads(text) for kind, text in PacketDecoder().feed(stream.removeprefix(PRELUDE)) if kind == b"M"]
    assert b"".join(base64.b64decode(piece["content"]) for piece in pieces) == content
    assert [piece["is_last"] for piece in pieces] == [False] * (len(pieces) - 1) + [True]
    assert {piece["name"] for piece in pieces} == {"orders.csv"}
    assert max(len(piece["content"]) for piece in pieces) <= 1 << 16


async def test_files_and_pages_that_nobody_reads_take_little_memory(tmp_path: Path) -> None:
    driver = BrowserDriver(App[None]())
    with (tmp_path / "packets").open("w") as file:
        driver._messages = writer = _PacketWriter(file, lambda: None)
        assert [driver.offer_file("orders.csv", bytes(MAX_UNWRITTEN)) for _ in range(4)] == [True, False, False, False]
        for number in range(1_000):
            driver.report_page(f"/orders/{number}", "Order")
        writer.start()
        until(lambda: writer.has_room)
        driver.report_page("/orders/999", "Order")
        assert driver.offer_file("orders.csv", b"")
        writer.finish()
    sent = [
        json.loads(text)
        for kind, text in PacketDecoder().feed((tmp_path / "packets").read_bytes().removeprefix(PRELUDE))
        if kind == b"M"
    ]
    assert [message["address"] for message in sent if message["type"] == "page"] == ["/orders/999"]
    assert sum(message.get("is_last", False) for message in sent) == 2


async def test_a_slow_browser_gets_the_modes_of_its_terminal(tmp_path: Path) -> None:
    driver = BrowserDriver(App[None]())
    with (tmp_path / "packets").open("w") as file:
        driver._writer = driver._messages = writer = _PacketWriter(file, lambda: None)
        driver._active = True
        for text in ("x" * (MAX_UNWRITTEN + 1), "dropped"):
            driver._send(text)
        driver.report_mouse(True)
        writer.start()
        writer.finish()
    stream = (tmp_path / "packets").read_bytes()
    assert MOUSE_ON.encode() in stream
    assert b"dropped" not in stream


class Rig:
    """The tiny app behind two pipes, and its log."""

    def __init__(self, log: Path, more_ways: str = "") -> None:
        self.log = log
        env = {**os.environ, "DRIVER_LOG": str(log), "DRIVER_WAYS": f"late web {more_ways}", "TERM": "xterm-256color"}
        self.process = subprocess.Popen(
            python("-m", "tests.tui.driver_app"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
        )

    def send(self, kind: bytes, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(encode_packet(kind, data))
        self.process.stdin.flush()

    def tell(self, **said: Any) -> None:
        self.send(b"M", json.dumps(said).encode())

    def output(self) -> bytes:
        """All that came, until the app has left."""
        assert self.process.stdin is not None
        out, _ = self.process.communicate(timeout=30)
        return out

    def entries(self) -> list[list[Any]]:
        text = self.log.read_text("utf-8") if self.log.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def until(self, check: Callable[[list[list[Any]]], bool]) -> None:
        """Waits until the app has written this down."""
        deadline = time.monotonic() + 30
        while not check(self.entries()):
            assert time.monotonic() < deadline, self.entries()
            time.sleep(0.02)


@pytest.fixture
def rig(aisle_home: Path, tmp_path: Path) -> Iterator[Rig]:
    rig = Rig(tmp_path / "log")
    yield rig
    rig.process.kill()
    rig.process.communicate()


def test_input_before_first_paint_is_kept_in_order_until_end(rig: Rig) -> None:
    codes = [f"{number:013d}" for number in range(100)]
    rig.tell(type="resize", width=60, height=20)
    rig.send(b"D", b"".join(f"{code}\r".encode() for code in codes))
    rig.send(b"M", b"no json")
    rig.tell(type="open_url", url="http://elsewhere.test")
    rig.send(b"D", b"half\xe9 a li")
    rig.send(b"D", b"ne\r\x1b[A")
    rig.log.with_suffix(".go").touch()
    rig.tell(type="resize", width=100, height=30)
    rig.until(lambda entries: ["Key", "up"] in [entry[:2] for entry in entries] and ["Resize", 100, 30] in entries)
    rig.tell(type="quit")
    assert rig.output().startswith(PRELUDE + b"D")
    entries = rig.entries()
    lines = [entry[1] for entry in entries if entry[0] == "Line"]
    assert lines[:-1] == codes
    assert lines[-1].startswith("half")
    assert lines[-1].endswith("a line")
    assert [entry[:2] for entry in entries if entry[0] == "Key"] == [["Key", "up"]]
    assert [entry[1:] for entry in entries if entry[0] == "Resize"][-1] == [100, 30]
    assert [entry for entry in entries if entry[0] == "hang_up"] == [["hang_up"]]
    assert entries[-1] == ["left"]


def test_an_input_is_said_to_be_taken_when_its_line_was(rig: Rig) -> None:
    for number, text in enumerate((b"47", b"11\r", b"4712\r", b"half"), 1):
        rig.send(b"D", text)
        rig.tell(type="mark", number=number)
    rig.tell(type="resize", width=100, height=30)
    rig.log.with_suffix(".go").touch()
    rig.until(lambda entries: [entry[1] for entry in entries if entry[0] == "Line"] == ["4711", "4712"])
    rig.send(b"D", b" a line\r")
    rig.tell(type="mark", number=5)
    rig.until(lambda entries: [entry[1] for entry in entries if entry[0] == "Line"][2:] == ["half a line"])
    rig.tell(type="quit")
    packets = PacketDecoder().feed(rig.output().removeprefix(PRELUDE))
    messages = [json.loads(content) for kind, content in packets if kind == b"M"]
    taken = [message["number"] for message in messages if message["type"] == "taken"]
    assert taken[0] <= 3
    assert taken == sorted(set(taken))
    assert taken[-1] >= 3


@pytest.mark.parametrize("noise", [b"", b"no packet"])
def test_a_server_that_is_gone_or_none_is_a_hang_up(rig: Rig, noise: bytes) -> None:
    assert rig.process.stdin is not None
    rig.process.stdin.write(noise)
    out = rig.output()
    assert out.startswith(PRELUDE)
    assert rig.entries().count(["hang_up"]) == 1
    assert rig.entries()[-1] == ["left"]
    assert rig.process.returncode == 0


def test_a_page_that_takes_over_gets_the_modes_and_the_whole_screen(rig: Rig) -> None:
    rig.log.with_suffix(".go").touch()
    rig.tell(type="resize", width=100, height=30)
    rig.until(lambda entries: ["Resize", 100, 30] in entries)
    rig.tell(type="attach", width=100, height=30)
    rig.until(lambda entries: entries.count(["Resize", 100, 30]) == 2)
    rig.tell(type="quit")
    assert rig.output().count(b"\x1b[?7l") == 2
