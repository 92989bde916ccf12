"""`aisle serve` with several workers, as a process of its own."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

SECONDS = 120
"""Longer than anything here takes on a busy machine."""


class Served:
    """An `aisle serve` of some workers."""

    def __init__(self, url: str, workers: int, home: Path) -> None:
        home.mkdir(mode=0o700)
        command = [sys.executable, "-m", "aisle", "serve", "--database", url, "--port", "0", "--rate", "0"]
        self._line, hold = os.pipe()
        environ = os.environ | {
            "AISLE_HOME": str(home),
            "AISLE_ALLOW_VOLATILE": "1",
            "AISLE_LIFELINE_FD": str(self._line),
        }
        self._hold = hold
        self._said = home / "said"
        with self._said.open("wb") as said:
            self.process = subprocess.Popen(
                [*command, "--workers", str(workers)], stderr=said, env=environ, pass_fds=(self._line,)
            )
        os.close(self._line)
        self.url = self._ready()

    @property
    def said(self) -> str:
        """What it and its workers wrote to the standard error."""
        return self._said.read_text(errors="replace")

    def _ready(self) -> str:
        until = monotonic() + SECONDS
        while "serves at " not in self.said or "\n" not in self.said.split("serves at ")[1]:
            assert self.process.poll() is None, self.said
            assert monotonic() < until, self.said
            sleep(0.05)
        return self.said.split("serves at ")[1].split()[0]

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
        os.close(self._hold)
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
            one = Served(url, count, folder / f"home{number}")
            opened.callback(one.end)
            services.append(one)
        yield services
        for one in services:
            assert "Traceback" not in one.said, one.said
