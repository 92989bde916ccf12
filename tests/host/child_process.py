"""Forked processes that report their progress and can be killed at any moment."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator


class Child:
    """A forked process that tells what it was told; read until it has told enough, then killed."""

    def __init__(self, work: Callable[[Callable[[str], None]], None]) -> None:
        self._read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            self._run(work, write)
        os.close(write)
        self.lines: list[str] = []
        self._rest = b""

    def _run(self, work: Callable[[Callable[[str], None]], None], write: int) -> None:
        try:
            work(lambda line: (os.write(write, line.encode() + b"\n"), None)[1])
        except BaseException as error:
            os.write(2, f"{error!r}\n".encode())
        finally:
            os._exit(0)

    def hear(self, count: int) -> bool:
        """Reads until it has told `count` lines; False when it ended before."""
        while len(self.lines) < count:
            part = os.read(self._read, 65536)
            if not part:
                return False
            *lines, self._rest = (self._rest + part).split(b"\n")
            self.lines += [line.decode() for line in lines]
        return True

    def kill(self) -> list[str]:
        """Ends it at once; all that it told."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        while self.hear(len(self.lines) + 1):
            pass
        os.close(self._read)
        return self.lines


@contextlib.contextmanager
def running(*children: Child) -> Iterator[None]:
    """Whatever happens, none of them outlives the test."""
    try:
        yield
    finally:
        for child in children:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(child.pid, signal.SIGKILL)
                os.waitpid(child.pid, 0)
