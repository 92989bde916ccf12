"""Starting the courier: a process of its own that outlives the terminal, and that nobody waits for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aisle.lifeline import lifeline_fd
from aisle.settings.time_zone import host_environ

PATIENCE_S = 0.5
"""What the shell between gets to end; it needs a few milliseconds."""

_BETWEEN = ("/bin/sh", "-c", '"$@" &', "aisle")
"""A shell that starts its arguments and ends, so that the courier is no child of ours, and leads no session."""

_late: list[Any] = []
"""Shells that had not ended in time; they are reaped with the next start."""


def spawn_courier(argv: Sequence[str]) -> None:
    """Starts this command detached: a new session, `/dev/null` for its streams, `/` as its folder, nothing inherited.

    `argv[0]` is the path of the program. This process is never copied, because other threads may hold locks that a
    copy would wait for for ever. A courier that finds another one at work leaves by itself. Raises OSError when no
    process can be made.
    """
    from subprocess import DEVNULL, Popen

    _late[:] = [shell for shell in _late if shell.poll() is None]
    kept = lifeline_fd()
    shell = Popen(  # noqa: S603 - a command line of our own; the shell sees it as arguments alone
        [*_BETWEEN, *argv],
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
        shell.wait(PATIENCE_S)
    except TimeoutExpired:
        _late.append(shell)
