"""Whether a process that once wrote its id is still that process."""

from __future__ import annotations

from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")


STOPPED = ("T", "t")
"""States of a process that does nothing until somebody lets it go on."""


def state(pid: int) -> str:
    """The letter of what a process is at (proc(5)); empty if it is not there."""
    fields = _fields(pid)
    return fields[0] if fields else ""


def birth(pid: int) -> str:
    """What tells a process from all others that had or get its id, across restarts of the host; empty if it is gone."""
    fields = _fields(pid)
    try:
        boot = _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""
    return "" if not fields or fields[0] in "ZX" else f"{boot}/{fields[19]}"


def _fields(pid: int) -> list[str]:
    """What the kernel says of a process behind its name; nothing if it is not there."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return stat.rpartition(")")[2].split()  # the name in parentheses may hold anything


def runs(pid: int, born: str) -> bool:
    """True while the process that was born so still runs."""
    return bool(born) and birth(pid) == born
