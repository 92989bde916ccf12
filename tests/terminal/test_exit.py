"""The end of the program, whatever ends it: nothing spins, nothing stays, the terminal is as it was before."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.terminal.harness import python
from tests.terminal.lifeline import left_over, processes_under
from tests.terminal.picker import START_S, Picker
from tests.terminal.shop import Shop

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]

ROOT = Path(__file__).parents[2]
SHELL = 'stty -g; "$@"; echo "status $?"; stty -g; echo end; read end'
"""A shell that says how the terminal was set before the program and after it."""

RESTORED = (b"\x1b[?2004l", b"\x1b[?7h", b"\x1b[?1049l", b"\x1b[?25h")


def child_of(pid: int) -> int:
    """The one child of a process; 0 while there is none."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(children[0]) if len(children) == 1 else 0


@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGHUP, marks=pytest.mark.full), signal.SIGTERM], ids=["SIGHUP", "SIGTERM"]
)
def test_a_signal_ends_it_and_the_terminal_is_as_it_was(demo_home: Path, picker: Pick, number: int) -> None:
    """By default SIGTERM: the terminals that are closed below send the other one."""
    app = picker(argv=("sh", "-c", SHELL, "sh", *python("-m", "aisle")))
    app.sign_in()
    app.enter("4113")
    app.shows("Scan the product")
    mark = app.terminal.mark()
    os.kill(child_of(app.terminal.pid), number)
    app.terminal.wait_for(b"\r\nend\r\n")
    last, _, told = app.terminal.since(mark).partition(b"status 0\r\n")
    assert told.split(b"\r\n")[0] == app.terminal.raw.split(b"\r\n")[0]
    assert [mode for mode in RESTORED if mode not in last] == []
    app = picker()
    app.shows("Scan the product", "Back where you left off")


def test_a_closed_terminal_ends_it_with_all_that_was_said(demo_home: Path, shop: Shop, picker: Pick) -> None:
    """The line drops in the middle of a burst: what comes after it is what the journal has.

    The courier stays for a while after the last session; it waits for work and does not look for it.
    """
    shop.add_product("MANY", "Very many", "", "A-01-1")
    shop.add_order("MANY-1", [("MANY", 5000)])
    app = picker()
    app.sign_in()
    app.shows("MANY-1")
    app.enter("MANY-1")
    app.enter("MANY")
    app.terminal.write(b"MANY\r" * 50)
    app.terminal.close_pty()
    assert app.terminal.wait_exit() == 0
    answered = len(app.seen()) - 2
    stayed = processes_under(demo_home.parent)
    assert stayed
    assert all(any(rests(process) for _ in range(20)) for process in stayed), "the courier, and its heir"
    app = picker()
    app.shows("Very many", f"{answered} of 5000")
    app.terminal.wait_for(lambda _: shop.picked("MANY-1")[1] == answered, START_S)


def busy_s(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rests(pid: int) -> bool:
    """Whether a process hardly used the processor during half a second; one that spins never does."""
    used, until = busy_s(pid), time.monotonic() + 0.5
    while (left := until - time.monotonic()) > 0:
        time.sleep(left)
    return busy_s(pid) - used <= 0.05


RUN = """
import signal
from tests.terminal.picker import Picker
from tests.terminal.service_process import plain_service

def test_run(aisle_home, picker):
    with plain_service() as service:
        token = str(aisle_home / "embedded.token")
        embedded, remote = picker(), picker("--base-url", service.url, "--token-file", token)
        for app in (embedded, remote):
            app.sign_in()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started all this may have it ignored
        print("ready", flush=True)
        signal.pause()
"""


@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGINT, marks=pytest.mark.full), signal.SIGKILL], ids=["SIGINT", "SIGKILL"]
)
def test_interrupted_test_run_leaves_no_process(tmp_path: Path, number: int) -> None:
    """Two terminals, two couriers and a service, and then the run itself is gone."""
    test = tmp_path / "test_run.py"
    test.write_text(RUN, encoding="utf-8")
    fixtures = ("-p", "pytest_asyncio.plugin", "-p", "tests.conftest", "-p", "tests.terminal.conftest")
    options = ("-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider", f"--basetemp={tmp_path}/inner")
    command = python("-m", "pytest", "-q", "-s", *fixtures, *options, str(test))
    lean = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, cwd=ROOT, env=lean, **pipes) as run:
        try:
            assert run.stdout is not None
            said = ""
            while "ready" not in said:
                line = run.stdout.readline()
                assert line, said
                said += line
            until = time.monotonic() + START_S
            while len(processes_under(tmp_path)) < 5:  # the couriers come a moment after the first screens, then heirs
                assert time.monotonic() < until
                time.sleep(0.02)
            run.send_signal(number)
            run.wait(180)
        finally:
            run.kill()
    assert left_over(tmp_path) == {}
