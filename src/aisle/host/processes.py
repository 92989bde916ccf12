"""Whether a process that once wrote its id is still that process."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aisle.parent_pipe import parent_pipe_fd
from aisle.settings.time_zone import host_environ

_BOOT_ID_FILE = Path("/proc/sys/kernel/random/boot_id")


STOPPED_STATES = ("T", "t")
"""States of a process that does nothing until somebody lets it go on."""


def process_state(pid: int) -> str:
    """The letter of what a process is at (proc(5)); empty if it is not there."""
    fields = _read_stat(pid)
    return fields[0] if fields else ""


def process_start_id(pid: int) -> str:
    """What tells a process from all others that had or get its id, across restarts of the host; empty if it is gone."""
    fields = _read_stat(pid)
    try:
        boot = _BOOT_ID_FILE.read_text(encoding="ascii").strip()
    except OSError:
        return ""
    return "" if not fields or fields[0] in "ZX" else f"{boot}/{fields[19]}"


def _read_stat(pid: int) -> list[str]:
    """What the kernel says of a process behind its name; nothing if it is not there."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return stat.rpartition(")")[2].split()  # the name in parentheses may hold anything


def is_running(pid: int, start_id: str) -> bool:
    """True while the process that was born so still runs."""
    return bool(start_id) and process_start_id(pid) == start_id


SHELL_TIMEOUT_S = 0.5
"""What the shell between gets to end; it needs a few milliseconds."""

_DETACHING_SHELL = ("/bin/sh", "-c", '"$@" &', "aisle")
"""A shell that starts its arguments and ends, so that the courier is no child of ours, and leads no session."""

_unreaped_shells: list[Any] = []
"""Shells that had not ended in time; they are reaped with the next start."""


def start_courier(argv: Sequence[str]) -> None:
    """Starts this command detached: a new session, `/dev/null` for its streams, `/` as its folder, nothing inherited.

    `argv[0]` is the path of the program. This process is never copied, because other threads may hold locks that a
    copy would wait for for ever. A courier that finds another one at work leaves by itself. Raises OSError when no
    process can be made.
    """
    from subprocess import DEVNULL, Popen

    _unreaped_shells[:] = [shell for shell in _unreaped_shells if shell.poll() is None]
    kept = parent_pipe_fd()
    shell = Popen(  # noqa: S603 - a command line of our own; the shell sees it as arguments alone
        [*_DETACHING_SHELL, *argv],
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=DEVNULL,
        cwd="/",
        umask=0o077,
        start_new_session=True,
        pass_fds=() if kept < 0 else (kept,),
        env={"MALLOC_ARENA_MAX": "1", **host_environ()},  # else the embedded service's threads cost 10 MB of heaps
    )
    _reap(shell)


def _reap(shell: Any) -> None:
    from subprocess import TimeoutExpired

    try:
        shell.wait(SHELL_TIMEOUT_S)
    except TimeoutExpired:
        _unreaped_shells.append(shell)


def freeze_gc() -> None:
    """Spares the collector of cycles the modules: with every few pages it would look through them again."""
    gc.collect()
    gc.freeze()
