"""Whether a process that once wrote its id is still that process."""

from __future__ import annotations

from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def birth(pid: int) -> str:
    """What tells a process from all others that had or get its id, across restarts of the host; empty if it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        boot = _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()  # the name in parentheses may hold anything
    return "" if fields[0] in "ZX" else f"{boot}/{fields[19]}"


def runs(pid: int, born: str) -> bool:
    """True while the process that was born so still runs."""
    return bool(born) and birth(pid) == born
