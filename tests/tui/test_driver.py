"""The driver in a real terminal: nothing that is sent is lost, merged or doubled, and nothing is left behind."""

from __future__ import annotations

import json
import random
import signal
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aisle.browser_addresses_and_packets import MAX_COLUMNS, MAX_ROWS
from aisle.host.processes import process_state
from aisle.scan.escape_sequences import parse_key
from aisle.scan.inputs_and_line_grouping import Key, Line, OpenLine
from aisle.tui import driver
from tests.terminal.harness import Terminal, python

pytestmark = pytest.mark.pty

Entry = list[Any]


class Rig:
    """A terminal with the tiny app on it, and the app's log."""

    def __init__(self, start: Callable[..., Terminal], folder: Path) -> None:
        self.log = folder / "log"
        self._start = start

    def run(self, ways: str = "", **options: Any) -> Terminal:
        env = {"DRIVER_LOG": str(self.log), "DRIVER_WAYS": ways}
        return self._start(python("-m", "tests.tui.driver_app"), env=env, **options)

    def entries(self, *kinds: str) -> list[Entry]:
        """What the app wrote down, all of it or these kinds."""
        text = self.log.read_text("utf-8") if self.log.exists() else ""
        whole = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
        return [entry for entry in whole if not kinds or entry[0] in kinds]

    def lines(self) -> list[str]:
        return [entry[1] for entry in self.entries("Line")]

    def ready(self, terminal: Terminal) -> None:
        terminal.wait_for(lambda _: ["ready"] in self.entries())


@pytest.fixture
def rig(terminal: Callable[..., Terminal], tmp_path: Path) -> Rig:
    return Rig(terminal, tmp_path)


def test_a_burst_is_taken_whole_and_in_order(rig: Rig) -> None:
    codes = [f"{random.Random(number).randrange(10**13):013d}" for number in range(100)]
    with rig.run() as terminal:
        rig.ready(terminal)
        for end in ("\r", "\n", "\r\n", "\t"):
            terminal.write("".join(code + end for code in codes).encode())
        terminal.write(("\x1b[200~" + "\n".join(codes) + "\x1b[201~").encode())
        terminal.wait_for(lambda _: len(rig.lines()) == 500)
        assert rig.lines() == codes * 5
        terminal.wait_for(codes[-1])
        assert not rig.entries("Key")


def test_a_digit_of_a_scanner_has_its_pace_though_the_machine_is_busy(rig: Rig) -> None:
    with rig.run("busy") as terminal:
        rig.ready(terminal)
        for digit in "123":
            while _seconds_between(terminal, digit.encode()) > 0.01:
                terminal.wait_quiet(50)  # this test was held up, and the digit came as slowly as a person types
            terminal.wait_for(lambda _, digit=digit: rig.entries("Pace")[-1:] == [["Pace", digit, True]])  # type: ignore[misc]


def _seconds_between(terminal: Terminal, digit: bytes) -> float:
    """Write a digit and its CR as a scanner does. Return the seconds between them."""
    at = terminal.write(digit)
    time.sleep(0.005)
    terminal.write(b"\r")
    return time.perf_counter() - at


def test_a_letter_typed_for_another_page_is_no_part_of_the_next_line(rig: Rig) -> None:
    with rig.run("other_page") as terminal:
        rig.ready(terminal)
        terminal.write(b"y")
        terminal.wait_for(lambda _: ["OpenLine", "y"] in rig.entries())
        terminal.write(b"\x1b[19~")
        terminal.wait_for(lambda _: ["Key", "f8"] in rig.entries())
        terminal.write(b"4\r")
        terminal.wait_for(lambda _: rig.lines() == ["4"])


def test_a_silence_ends_a_scan_and_is_told_once(rig: Rig) -> None:
    with rig.run() as terminal:
        rig.ready(terminal)
        for scan in (1, 2):
            terminal.write(b"A\rB\r")
            terminal.wait_for(lambda _, scan=scan: len(rig.entries("Quiet")) == scan)  # type: ignore[misc]
        assert rig.entries("Quiet") == [["Quiet", 1, True], ["Quiet", 2, True]]
        assert rig.lines() == ["A", "B"] * 2


def test_input_before_first_paint_survives(rig: Rig) -> None:
    with rig.run("late") as terminal:
        terminal.write(b"4006381333931\r")  # the program has not even been loaded
        terminal.wait_for(b"\x1b[?2004h")
        terminal.write(b"8712000000014\r\x1b[A")
        rig.log.with_suffix(".go").touch()
        terminal.wait_for(lambda _: len(rig.entries("Line", "Key")) == 3)
        assert [entry[:2] for entry in rig.entries("Line", "Key", "ready")] == [
            ["Line", "4006381333931"],
            ["Line", "8712000000014"],
            ["Key", "up"],
            ["ready"],
        ]


INPUTS = {
    "an answer of the terminal is no key": (
        b"A\r\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1bP>|xterm(390)\x1b\\\x1b_Gi=1;OK\x1b\\\x1b]11;rgb:0/0/0\x07\x1b[AB\r",
        "A up B",
    ),
    "a sequence that nobody can take apart": (b"A\r\x1b[1:2Q\r\x1b[AB\r", "A enter up B"),
    "one with a number beyond all": (b"A\r\x1b[99999999999;48P\r\x1b[AB\r", "A enter up B"),
    "one with a number that is no character": (b"A\r\x1b[1114112;200A\r\x1b[AB\r", "A enter up B"),
    "keys keep their place among scans": (
        b"A\r\x1b[AB\r\x1bOQ\x1b[20~C\r\x1b[5~\x1b[3~\x1b[?9999;1zD\r\x1b[<0;1;1M\x1bOr\x1bOM\r\x7f\x1b",
        "A up B f2 C pageup other D 2 enter back back",
    ),
}
"""What is sent to one program after the other, and the lines and keys that it takes."""


def test_what_is_sent_is_taken_in_order_and_as_it_is_meant(rig: Rig) -> None:
    with rig.run() as terminal:
        rig.ready(terminal)
        seen = 0
        for name, (data, wanted) in INPUTS.items():
            until = seen + len(wanted.split())
            terminal.write(data)
            terminal.wait_for(lambda _, until=until: len(rig.entries("Line", "Key")) >= until)  # type: ignore[misc]
            assert [entry[1] for entry in rig.entries("Line", "Key")[seen:]] == wanted.split(), name
            seen = until


def test_no_byte_does_harm(rig: Rig) -> None:
    everything = bytes(range(0x80, 0x100)) + b"\x00\x1b\x9b\xe9"
    with rig.run() as terminal:
        rig.ready(terminal)
        terminal.write(everything + b"\rcaf\xe9\r\xff\xfe\r4006381333931\r")
        terminal.wait_for("4006381333931")
        assert rig.lines()[1:] == ["café", "ÿþ", "4006381333931"]


def test_a_resize_in_the_middle_of_a_scan_breaks_nothing(rig: Rig) -> None:
    with rig.run() as terminal:
        rig.ready(terminal)
        terminal.write(b"400638")
        terminal.wait_for("400638")
        terminal.resize(20, 16)
        terminal.wait_for(lambda _: ["Resize", 20, 16] in rig.entries())
        terminal.write(b"1333931\r")
        terminal.wait_for(lambda _: rig.lines() == ["4006381333931"])
        assert rig.entries("Resize") == [["Resize", 80, 24], ["Resize", 20, 16]]


def test_no_size_is_beyond_all_screens_or_out_of_the_input(rig: Rig) -> None:
    with rig.run() as terminal:
        rig.ready(terminal)
        terminal.write(b"\x1b[48;4;10;1;1t\x1b[I\x1b[?2026;2$y4006381333931\r")
        terminal.wait_for(lambda _: rig.lines() == ["4006381333931"])
        terminal.wait_for("4006381333931")
        for asked, size in (((60, 20), [60, 20]), ((65535, 65535), [MAX_COLUMNS, MAX_ROWS]), ((61, 21), [61, 21])):
            terminal.resize(*asked)
            terminal.wait_for(lambda _, size=size: rig.entries("Resize")[-1][1:] == size)  # type: ignore[misc]
        assert len(rig.entries("Resize")) == 4


@pytest.mark.parametrize(
    ("number", "ways"),
    [(signal.SIGHUP, ""), (signal.SIGQUIT, ""), (signal.SIGTERM, ""), (signal.SIGTERM, "words")],
)
def test_a_signal_ends_the_program_in_order(rig: Rig, number: signal.Signals, ways: str) -> None:
    with rig.run(ways) as terminal:
        rig.ready(terminal)
        terminal.kill(number)
        assert terminal.wait_exit() == 0
        assert rig.entries("hang_up", "left") == [["hang_up"], ["left"]]
        assert terminal.raw.endswith(b"\x1b[?2004l\x1b[?7h\x1b[m\x1b[?1049l\x1b[?25h")


def test_a_signal_before_the_app_is_ready_ends_the_program_too(rig: Rig) -> None:
    with rig.run("late") as terminal:
        terminal.wait_for(b"starting")
        terminal.kill(signal.SIGTERM)
        assert terminal.wait_exit() == 0


def test_stopped_program_restores_terminal_when_continued(rig: Rig) -> None:
    """A shell has set it in its own way meanwhile, and written on it; what is given back at the end is as it was."""
    with rig.run() as terminal:
        pty = terminal._master
        before = termios.tcgetattr(pty)
        rig.ready(terminal)
        terminal.wait_for(lambda _: termios.tcgetattr(pty) != before)
        raw = termios.tcgetattr(pty)
        terminal.kill(signal.SIGSTOP)
        terminal.wait_for(lambda _: process_state(terminal.pid) == "T")
        termios.tcsetattr(pty, termios.TCSANOW, before)
        mark = terminal.mark()
        terminal.kill(signal.SIGCONT)
        terminal.wait_for(lambda _: termios.tcgetattr(pty) == raw)
        terminal.wait_for(lambda _: b"ready" in terminal.since(mark))
        terminal.write(b"4006381333931\r")
        terminal.wait_for(lambda _: rig.lines() == ["4006381333931"])
        terminal.kill(signal.SIGTERM)
        terminal.wait_for(lambda _: termios.tcgetattr(pty) == before)
        assert terminal.wait_exit() == 0


@pytest.mark.parametrize("ways", ["", "flood"])
def test_a_terminal_that_is_gone_ends_the_program_once(rig: Rig, ways: str) -> None:
    with rig.run(ways) as terminal:
        rig.ready(terminal)
        terminal.close_pty()
        assert terminal.wait_exit() == 0
        assert rig.entries("hang_up", "left") == [["hang_up"], ["left"]]


def test_a_scan_and_then_the_end_of_the_terminal(rig: Rig) -> None:
    with rig.run() as terminal:
        rig.ready(terminal)
        terminal.write(b"4006381333931\r")
        terminal.wait_for(lambda _: rig.lines())
        terminal.close_pty()
        assert terminal.wait_exit() == 0
        assert [entry[0] for entry in rig.entries("Line", "hang_up", "left")] == ["Line", "hang_up", "left"]


def test_a_stalled_terminal_holds_up_neither_scans_nor_the_end(rig: Rig) -> None:
    """A megabyte waits to be shown and nobody reads it, as when a radio link stalls."""
    with rig.run("flood") as terminal:
        unread(lambda: ["ready"] in rig.entries())
        terminal.write(b"4006381333931\r")
        unread(lambda: rig.lines() == ["4006381333931"])
        terminal.kill(signal.SIGTERM)
        unread(lambda: ["left"] in rig.entries())


def unread(condition: Callable[[], bool]) -> None:
    """Waits for something that the log tells, while nobody reads what the program writes."""
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_an_app_that_fails_says_so_and_leaves(rig: Rig) -> None:
    with rig.run("fail") as terminal:
        rig.ready(terminal)
        terminal.write(b"A\r")
        assert terminal.wait_exit() == 1
        assert b"cannot take this" in terminal.raw


@pytest.mark.sampled(2)
@pytest.mark.parametrize("term", ["xterm-256color", "vt220", "linux", "dumb"])
def test_a_terminal_is_asked_for_little_and_given_back(rig: Rig, term: str) -> None:
    with rig.run(term=term) as terminal:
        rig.ready(terminal)
        terminal.wait_for("ready")
        terminal.kill(signal.SIGTERM)
        terminal.wait_exit()
        raw = terminal.raw
    alternate = term.startswith("xterm")
    assert (b"\x1b[?1049h" in raw, b"\x1b[?1049l" in raw) == (alternate, alternate)
    assert (b"\x1b[?2004h" in raw, b"\x1b[?2004l" in raw) == ((False, False) if term == "dumb" else (True, True))
    assert raw.count(b"\x1b[?25l") == raw.count(b"\x1b[?25h") == 1
    for mode in (b"[?1000", b"[?1003", b"[?1004", b"[?1006", b"[?2048", b"[?2026", b"[>", b"[<u", b"[c"):
        assert b"\x1b" + mode not in raw


def test_only_the_last_echo_counts() -> None:
    up, line = Key("up"), Line("87", "cr", 0.0, 0.0, 0.0)
    items: list[driver.TerminalInput] = [
        OpenLine("8"),
        OpenLine("87"),
        line,
        OpenLine("1"),
        up,
        OpenLine("12"),
        OpenLine("123"),
    ]
    assert driver._drop_outdated_typed_text(items) == [line, OpenLine("1"), up, OpenLine("123")]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("\x1b[A", "up"),
        ("\x1bOB", "down"),
        ("\x1b[H", "home"),
        ("\x1bOF", "end"),
        ("\x1b[1~", "home"),
        ("\x1b[8~", "end"),
        ("\x1b[6~", "pagedown"),
        ("\x1bOP", "f1"),
        ("\x1b[11~", "f1"),
        ("\x1b[[A", "f1"),
        ("\x1b[17~", "f6"),
        ("\x1b[20~", "f9"),
        ("\x1b[21~", "f10"),
        ("\x1b[24~", "f12"),
        ("\x1b[C", "right"),
        ("\x1b[1;5C", "ctrl+right"),
        ("\x1b[1;5D", "ctrl+left"),
        ("\x1b[1;2A", "shift+up"),
        ("\x1b[1;2C", "other"),
        ("\x1b[1;3C", "other"),
        ("\x1b[3~", "other"),
        ("\x1b[Z", "other"),
        ("\x1bx", "other"),
        ("\x1b[12;40R", None),
        ("\x1b[48;4;10;1;1t", None),
        ("\x1b[I", None),
        ("\x1b]11;rgb:0/0/0\x07", None),
        ("\x1bP>|xterm(390)\x1b\\", None),
    ],
)
def test_keys_of_escape_sequences(data: str, name: str | None) -> None:
    assert parse_key(data) == name
