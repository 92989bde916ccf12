"""`aisle serve` with several workers, as a process of its own."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from time import monotonic, sleep

SECONDS = 120
"""Longer than anything here takes on a busy machine."""


def until(done: Callable[[], object]) -> None:
    """Wait for it."""
    end = monotonic() + SECONDS
    while not done():
        assert monotonic() < end
        sleep(0.02)


class Served:
    """An `aisle serve` at a free port; `limit` is a shell's command before it."""

    def __init__(self, home: Path, *arguments: str, limit: str = "") -> None:
        home.mkdir(mode=0o700)
        command = [sys.executable, "-m", "aisle", "serve", "--port", "0", *arguments]
        line, self._hold = os.pipe()
        own = {"AISLE_HOME": str(home), "AISLE_ALLOW_VOLATILE": "1", "AISLE_LIFELINE_FD": str(line)}
        self._said = home / "said"
        with self._said.open("wb") as said:
            self.process = subprocess.Popen(
                ["/bin/sh", "-c", f'{limit} exec "$@"', "sh", *command],
                stdout=said,
                stderr=said,
                env=os.environ | own,
                pass_fds=(line,),
            )
        os.close(line)

    @property
    def said(self) -> str:
        """What it and its workers wrote."""
        return self._said.read_text(errors="replace")

    @cached_property
    def url(self) -> str:
        """Its address, once it serves."""
        until(lambda: self.process.poll() is not None or re.search(r"serves at \S+\s", self.said))
        found = re.search(r"serves at ([^\s\"]+)", self.said)
        assert found, self.said
        return found[1]

    def cut(self) -> None:
        """Who started it is gone."""
        if self._hold >= 0:
            os.close(self._hold)
            self._hold = -1

    def workers(self) -> list[int]:
        """The processes that answer."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [int(pid) for pid in children if "spawn_main" in command_of(int(pid))]

    def worker(self, dice: random.Random) -> int:
        """One of them; 0 while there is none."""
        workers = self.workers()
        return dice.choice(workers) if workers else 0

    def end(self) -> None:
        """It is told to leave, and does."""
        self.cut()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(SECONDS)
        finally:
            self.process.kill()
            self.process.wait()


def command_of(pid: int) -> str:
    """What a process runs; '' when it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


@contextmanager
def served(url: str, folder: Path, *workers: int) -> Iterator[list[Served]]:
    """Services on one database."""
    with contextlib.ExitStack() as opened:
        services: list[Served] = []
        for number, count in enumerate(workers):
            one = Served(folder / f"home{number}", "--database", url, "--rate", "0", "--workers", str(count))
            opened.callback(one.end)
            services.append(one)
        for one in services:
            assert one.url
        yield services
        for one in services:
            assert "Traceback" not in one.said, one.said
