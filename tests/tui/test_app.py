"""The app in a real terminal, on a desk of the tests' own: what goes in, what is written, how it ends."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aisle.jobs.view import Frame
from aisle.tui.app import AisleApp
from aisle.tui.layout.screen import layout_screen
from aisle.tui.layout.styled_lines_and_page_parts import plain_lines
from tests.run_length import tries
from tests.samples.registry import SAMPLES
from tests.terminal.harness import Terminal
from tests.tui.test_screens import HOSTILE, SIZES

pytestmark = pytest.mark.pty

PICK = next(index for index, sample in enumerate(SAMPLES) if sample.state == "taken")
DESK_APP = Path(__file__).with_name("scripted_app.py")
ROOT = Path(__file__).parents[2]

# All that may reach a terminal: text, colours, places, erasing, the modes that are set at the start, bells.
_ALLOWED = re.compile(
    r"\x1b\[[\d;]*m|\x1b\[\d+;\d+H|\x1b\[[K]|\x1b\[2J|\x1b\[H|\x1b>|\x1b\[\?(?:1049|25|7|2004|1000|1006)[hl]|\x07|\r\n"
)

EACH = tries(20, 1)
"""Of so many samples one is shown; the other sizes and flags show the others."""


class Bench:
    """The app in a terminal, and what its desk noted."""

    def __init__(self, terminal: Terminal, log: Path) -> None:
        self.terminal = terminal
        self.log = log
        self._entries: defaultdict[str, list[list[Any]]] = defaultdict(list)
        self._read = 0

    def noted(self, kind: str) -> list[list[Any]]:
        """All entries of a kind so far; of the log only what is new is read."""
        if self.log.exists():
            with self.log.open("rb") as log:
                log.seek(self._read)
                whole = log.read().rpartition(b"\n")[0]
            self._read += len(whole) + bool(whole)
            for entry in map(json.loads, whole.splitlines()):
                self._entries[entry[0]].append(entry[1:])
        return list(self._entries[kind])

    def type(self, text: str) -> None:
        self.terminal.write(text.encode())

    def enter(self, text: str) -> None:
        """A line, and the wait until the desk has taken it."""
        before = len(self.noted("take"))
        self.type(text + "\r")
        self.terminal.wait_for(lambda _: len(self.noted("take")) > before)

    def painted(self) -> list[int]:
        """The scans whose answers were painted."""
        return [serial for serials, _ in self.noted("painted") for serial in serials]

    def shows(self, frame: Frame, columns: int, rows: int, *, ascii_only: bool = False) -> None:
        """Waits until the screen is the frame, in every cell."""
        wanted = plain_lines(layout_screen(frame, columns, rows, is_ascii=ascii_only))
        self.terminal.wait_for(lambda _: [row.rstrip() for row in self.terminal.screen] == wanted)


@pytest.fixture
def bench(terminal: Callable[..., Terminal], tmp_path: Path) -> Callable[..., Bench]:
    """Starts the app and waits for its first screen."""

    def start(columns: int = 40, rows: int = 20, *flags: str, term: str = "xterm-256color", **env: str | None) -> Bench:
        log = tmp_path / "desk.log"
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        variables = {"LANG": "C.UTF-8", "PYTHONPATH": path, "DESK_LOG": str(log), **env}
        glass = terminal([sys.executable, str(DESK_APP), *flags], columns, rows, env=variables, term=term)
        glass.wait_for(lambda _: "first paint" in log.read_text(encoding="utf-8") if log.exists() else False)
        return Bench(glass, log)

    return start


def test_from_the_first_screen_to_the_end(bench: Callable[..., Bench]) -> None:
    app = bench()
    first_screen_comes_in_one_piece_and_before_anything_else(app)
    each_scan_costs_few_bytes(app)
    a_resize_while_typing_loses_nothing(app)
    after_a_stop_everything_is_drawn_again(app)
    app.type("leave\r")
    assert app.terminal.wait_exit() == 0
    assert app.noted("close") == [[]]


def first_screen_comes_in_one_piece_and_before_anything_else(app: Bench) -> None:
    """As the desk noted it."""
    app.shows(SAMPLES[PICK].build("")._replace(scan_serial=0, verdict=None), 40, 20)
    entries = [json.loads(line)[0] for line in app.log.read_text(encoding="utf-8").splitlines()]
    assert entries[0] == "start"
    assert entries.index("first paint") <= 2
    assert app.terminal.raw.count(b"Pick 100042") == 1


def each_scan_costs_few_bytes(app: Bench) -> None:
    """Many in a row."""
    for number in range(1, 12):
        before = app.terminal.mark()
        app.enter(f"87100000{number:05}")
        app.terminal.wait_for(f"{number} of 999")
        assert app.terminal.count_since(before) < 260


def a_resize_while_typing_loses_nothing(app: Bench) -> None:
    """What is typed stays on the line."""
    app.type("87123")
    app.terminal.wait_for("› 87123")
    app.terminal.resize(20, 16)
    app.terminal.wait_for(lambda glass: len(glass.screen) == 16 and "› 87123" in glass.text)
    app.type("45678901\r")
    app.terminal.wait_for(lambda glass: " OK " in glass.text and "› 8712" not in glass.text)
    assert [taken for taken, _ in app.noted("take") if taken][-1] == ["8712345678901"]


def after_a_stop_everything_is_drawn_again(app: Bench) -> None:
    """Ctrl+Z of a shell, and `fg`."""
    app.terminal.kill(signal.SIGTSTP)
    app.terminal.wait_for(
        lambda glass: Path(f"/proc/{glass.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    )
    before = app.terminal.mark()
    app.terminal.kill(signal.SIGCONT)
    app.terminal.wait_for(lambda glass: b"Pick 100042" in glass.since(before))
    app.enter("8710000000042")
    app.terminal.wait_for(" OK ")


def test_typing_bells_and_news_in_an_app_that_no_key_quits(bench: Callable[..., Bench]) -> None:
    app = bench()
    app.type("co")
    app.terminal.wait_for("› co")
    app.type("la\x7f")
    app.terminal.wait_for("› col")
    app.type("\r")
    app.terminal.wait_for(lambda glass: "›" in glass.text and "› col" not in glass.text)
    app.type("ring\r")
    app.terminal.wait_for(" i rung")
    assert app.noted("poll")
    app.type("wrong\r")
    app.terminal.wait_for(lambda glass: glass.bells == 3)
    app.type("\x11\x13\x03\x10\x1b[21~\x1b[20~")
    app.type("8710000000042\r")
    app.terminal.wait_for("of 999 · 8710000000042")
    assert app.terminal.bells == 3
    assert AisleApp.BINDINGS == []
    # tmux and screen send a window signal when somebody attaches: what stood there may be gone
    before = app.terminal.mark()
    app.terminal.kill(signal.SIGWINCH)
    app.terminal.wait_for(lambda glass: b"Pick 100042" in glass.since(before))


def test_every_sample_at_every_size_stands_on_the_glass(bench: Callable[..., Bench]) -> None:
    app = bench()
    for at, (columns, rows) in enumerate(SIZES):
        app.terminal.resize(columns, rows)
        for number, sample in [*enumerate(SAMPLES)][at % EACH :: EACH]:
            app.type(f"sample {number}\r")
            app.shows(sample.build(""), columns, rows)
    told = [tuple(size) for size in app.noted("resize")]
    assert told[0] == (40, 20)
    assert told[1:] == list(SIZES)


def test_scans_among_clicks_keys_and_resizes_are_taken_once_and_in_order(bench: Callable[..., Bench]) -> None:
    app = bench(120, 40)
    chance = random.Random(7)
    sent: list[str] = []
    for number in range(tries(200, 10_000)):
        match chance.randrange(6):
            case 0:
                app.type(f"\x1b[<{chance.choice((0, 2, 64, 65))};{chance.randint(1, 130)};{chance.randint(1, 45)}M")
            case 1:
                app.type(chance.choice(("\x1b[A", "\x1b[B", "\x1b[6~", "\x1bOP", "\x1b[1;5C", "\x1b[<0;5;5m")))
            case 2:
                app.terminal.resize(chance.choice((20, 40, 120, 200)), chance.choice((16, 20, 40, 50)))
            case _:
                sent.append(f"87100{number:08}")
                app.type(sent[-1] + "\r")
        if number % 50 == 49:  # a terminal holds 4095 unread bytes
            app.terminal.wait_for(lambda _: sum(len(taken) for taken, _ in app.noted("take")) >= len(sent), 60.0)
    app.terminal.wait_for(lambda _: sum(len(taken) for taken, _ in app.noted("take")) >= len(sent), 60.0)
    taken = [text for lines, _ in app.noted("take") for text in lines]
    assert [text for text in taken if text.startswith("87100")] == sent


@pytest.mark.parametrize("flags", [(), ("--rich",)])
def test_hostile_text_never_reaches_the_terminal(bench: Callable[..., Bench], flags: tuple[str, ...]) -> None:
    app, every = bench(40, 20, *flags), tries(4, 1)
    for number, sample in [*enumerate(SAMPLES)][len(flags) % EACH :: EACH]:
        for text in [*HOSTILE.values()][number // EACH % every :: every]:
            app.enter(f"sample {number} {json.dumps(text)}")
        app.type(f"sample {number}\r")
        app.shows(sample.build(""), 40, 20)
    rest = _ALLOWED.sub("", app.terminal.raw.decode())
    assert {char for char in rest if not char.isprintable()} == set()
    assert "52;c" in rest


def test_a_terminal_without_utf8_gets_plain_ascii(bench: Callable[..., Bench]) -> None:
    app = bench(40, 20, term="vt220", LANG="C", LC_ALL=None, LC_CTYPE=None)
    for number, sample in [*enumerate(SAMPLES)][::EACH]:
        app.type(f"sample {number}\r")
        app.shows(sample.build(""), 40, 20, ascii_only=True)
    assert app.terminal.raw.isascii()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("term", ["vt220", "linux", "xterm", "dumb"])
def test_colours_are_the_sixteen_of_the_terminal(bench: Callable[..., Bench], term: str) -> None:
    app = bench(40, 20, term=term, COLORTERM="truecolor")
    app.type("8710000000042\r")
    app.terminal.wait_for(" OK ")
    assert not re.search(rb"\x1b\[[\d;]*[34]8;[25];", app.terminal.raw)


def test_a_desk_that_breaks_ends_the_program_and_says_why(bench: Callable[..., Bench]) -> None:
    app = bench()
    app.type("fail\r")
    assert app.terminal.wait_exit() == 1
    assert b"the disk is gone" in app.terminal.raw
    assert b"\x1b[?1049l" in app.terminal.raw
    assert app.noted("close") == [[]]


def test_the_environment_cannot_pick_another_driver_or_size() -> None:
    hostile = {
        "TEXTUAL_DRIVER": "os:system", "TEXTUAL_LOG": "/dev/full", "TEXTUAL_PRESS": "q", "TEXTUAL": "devtools",
        "COLUMNS": "7", "LINES": "7", "NO_COLOR": "1", "FORCE_COLOR": "1",
    }  # fmt: skip
    code = (
        "from aisle.tui import prepare_environment; prepare_environment(); import os, textual.constants as c;"
        "print(c.DRIVER, c.LOG_FILE, c.PRESS == '', c.COLOR_SYSTEM, [n for n in os.environ if n in {'COLUMNS',"
        "'LINES', 'NO_COLOR', 'FORCE_COLOR', 'TEXTUAL'}])"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **hostile}, capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == ["None", "None", "True", "256", "[]"]
