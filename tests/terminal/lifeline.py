"""Keeps processes from outliving whoever started them: a lifeline they hang on, and a search for those that stay."""

import contextlib
import os
import select
import signal
import sys
import time
from pathlib import Path
from typing import Any

GRACE_S = 60.0
"""How long the processes of a home may take to leave."""

_STARTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn"}
_started = [0]

_FOREIGN = ("AISLE_", "TEXTUAL_", "XDG_")
_FOREIGN_NAMES = {"COLORTERM", "NO_COLOR", "TERM", "COLUMNS", "LINES"}
_PROXIES = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "FTP_PROXY"}


def foreign_names() -> list[str]:
    """The names in this environment that would make the program behave otherwise than on a fresh host."""
    return [
        name for name in os.environ if name.startswith(_FOREIGN) or name in _FOREIGN_NAMES or name.upper() in _PROXIES
    ]


def _count_starts(event: str, _: tuple[Any, ...]) -> None:
    if event in _STARTS:
        _started[0] += 1


sys.addaudithook(_count_starts)


def processes_started() -> int:
    """Return how many processes this one has started; those that others start are not counted."""
    return _started[0]


class Lifeline:
    """A pipe whose end ends the processes that inherit it: courier and service watch `fd` and leave at its EOF.

    `fd` is named by AISLE_LIFELINE_FD; `Terminal` hands it on, `subprocess` needs `pass_fds=[lifeline.fd]`. When this
    process dies, however it dies, the kernel cuts the line.
    """

    def __init__(self) -> None:
        self.fd, self._held = os.pipe()
        os.set_inheritable(self.fd, True)

    def cut(self) -> None:
        """Lets go of the held end: whoever watches the line leaves."""
        if self._held >= 0:
            os.close(self._held)
            self._held = -1

    def close(self) -> None:
        """Cuts the line and frees the end that children inherit."""
        self.cut()
        os.close(self.fd)


def processes_under(folder: Path) -> dict[int, str]:
    """The living processes, other than this one, whose AISLE_HOME lies in that folder: id and command line."""
    wanted = b"\0AISLE_HOME=" + os.fsencode(folder) + b"/"
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                if wanted in b"\0" + _environment_of(f"/proc/{name}"):
                    found[int(name)] = os.fsdecode(_whole(f"/proc/{name}/cmdline").replace(b"\0", b" ")).strip()
    found.pop(os.getpid(), None)
    return found


def _environment_of(process: str) -> bytes:
    """The environment a process began with; in the middle of an exec it is empty for a moment."""
    for _ in range(50):
        environment = _whole(f"{process}/environ")
        if environment or not os.readlink(f"{process}/exe"):
            break
        os.sched_yield()
    return environment


def _whole(file: str) -> bytes:
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = [os.read(descriptor, 1 << 20)]
        while parts[-1]:
            parts.append(os.read(descriptor, 1 << 20))
    finally:
        os.close(descriptor)
    return b"".join(parts)


def left_over(folder: Path, grace_s: float = GRACE_S) -> dict[int, str]:
    """Waits for the processes of the homes in that folder to leave; those that stay are killed and named."""
    deadline = time.monotonic() + grace_s
    while (alive := processes_under(folder)) and time.monotonic() < deadline:
        _wait_for_one(alive, deadline - time.monotonic())
    for pid in alive:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return alive


def _wait_for_one(pids: dict[int, str], timeout_s: float) -> None:
    """Waits until one of these processes has ended."""
    with contextlib.ExitStack() as opened:
        poll = select.poll()
        for pid in pids:
            try:
                descriptor = os.pidfd_open(pid)
            except ProcessLookupError:
                return
            opened.callback(os.close, descriptor)
            poll.register(descriptor, select.POLLIN)
        poll.poll(max(timeout_s, 0) * 1000)
