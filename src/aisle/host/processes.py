"""Processes of this host: identity across reuse of ids, state, and the start of a detached courier."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path
from subprocess import DEVNULL, Popen, TimeoutExpired
from typing import Any

from aisle.parent_pipe import parent_pipe_fd
from aisle.settings.process_time_zone import host_environ

_BOOT_ID_FILE = Path("/proc/sys/kernel/random/boot_id")


STOPPED_STATES = ("T", "t")
"""States of a stopped process."""


def process_state(pid: int) -> str:
    """Return the state letter of a process (proc(5)); empty if there is none."""
    fields = _read_stat(pid)
    return fields[0] if fields else ""


def process_start_id(pid: int) -> str:
    """Return the identity of a process, unique across reuse of its id and restarts of the host; empty if it ended."""
    fields = _read_stat(pid)
    try:
        boot = _BOOT_ID_FILE.read_text(encoding="ascii").strip()
    except OSError:
        return ""
    return "" if not fields or fields[0] in "ZX" else f"{boot}/{fields[19]}"


def _read_stat(pid: int) -> list[str]:
    """Return the fields of /proc/<pid>/stat after the name; none if there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return stat.rpartition(")")[2].split()  # the name in parentheses may contain anything


def is_running(pid: int, start_id: str) -> bool:
    """Return True while the process with this identity runs."""
    return bool(start_id) and process_start_id(pid) == start_id


SHELL_TIMEOUT_S = 0.5
"""Seconds for the detaching shell to end; it needs a few milliseconds."""

_DETACHING_SHELL = ("/bin/sh", "-c", '"$@" &', "aisle")
"""Shell that starts its arguments and ends, so that the courier is neither our child nor a session leader."""

_unreaped_shells: list[Any] = []
"""Shells that had not ended in time; the next start reaps them."""


def start_courier(argv: Sequence[str]) -> None:
    """Start this command detached: a new session, `/dev/null` for its streams, `/` as its folder, nothing inherited.

    `argv[0]` is the path of the program. This process is never forked, because a copy could wait forever for a lock of
    another thread. A courier that finds another one leading exits. Raise OSError if no process can be created.
    """
    _unreaped_shells[:] = [shell for shell in _unreaped_shells if shell.poll() is None]
    kept_fd = parent_pipe_fd()
    shell = Popen(  # noqa: S603 - a command line of our own; the shell sees it as arguments alone
        [*_DETACHING_SHELL, *argv],
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=DEVNULL,
        cwd="/",
        umask=0o077,
        start_new_session=True,
        pass_fds=() if kept_fd < 0 else (kept_fd,),
        env={
            "MALLOC_ARENA_MAX": "1",
            **host_environ(),
        },  # otherwise threads of the embedded service cost 10 MB of heaps
    )
    _reap(shell)


def _reap(shell: Any) -> None:
    try:
        shell.wait(SHELL_TIMEOUT_S)
    except TimeoutExpired:
        _unreaped_shells.append(shell)


def freeze_gc() -> None:
    """Exclude all objects so far, mostly modules, from garbage collection, which would scan them again and again."""
    gc.collect()
    gc.freeze()
