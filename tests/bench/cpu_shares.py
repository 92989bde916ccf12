"""Two halves of a machine's time, one for services and one for people, as systemd gives them to its slices.

Without them the kernel makes a group of each session, and a service on which all wait, or each connection of its
database, weighs as much as one of two hundred. Where this process may make no groups it says so, and nothing happens.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

_BASES = (Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup"))


class Halves(NamedTuple):
    """The groups that processes are put into; what they start is in the same one."""

    services: Path
    people: Path


@contextlib.contextmanager
def halves() -> Iterator[Halves | None]:
    """Both groups while the block runs; None where they cannot be made. Nobody is in them afterwards."""
    base = next((base for base in _BASES if (base / "cgroup.procs").exists()), None)
    made: list[Path] = []
    try:
        yield _made(base, made) if base else None
    finally:
        for group in made:
            join(base, _members(group))
            with contextlib.suppress(OSError):  # where something of it still runs, it stays
                group.rmdir()


def _made(base: Path, made: list[Path]) -> Halves | None:
    try:
        with contextlib.suppress(FileNotFoundError):  # the older kind of groups has no such file
            if "cpu" not in (base / "cgroup.subtree_control").read_text().split():
                (base / "cgroup.subtree_control").write_text("+cpu")
        for name in ("services", "people"):
            group = base / f"aisle-{name}-{os.getpid()}"
            group.mkdir()
            made.append(group)
    except OSError:
        return None
    return Halves(*made)


def join(group: Path | None, pids: Iterable[int]) -> None:
    """Puts processes, with all that they have started, into a group; those that are gone are no matter."""
    if group is None:
        return
    for pid in with_children(pids):
        with contextlib.suppress(OSError):
            (group / "cgroup.procs").write_text(str(pid))


def _members(group: Path) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(pid) for pid in (group / "cgroup.procs").read_text().split()]
    return []


def with_children(pids: Iterable[int]) -> list[int]:
    """These processes and what they have started, and so on."""
    parents = dict(_parents())
    found = list(pids)
    for pid in found:  # which grows meanwhile
        found += [child for child, parent in parents.items() if parent == pid and child not in found]
    return found


def _parents() -> Iterator[tuple[int, int]]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                said = Path("/proc", name, "stat").read_text(encoding="utf-8", errors="replace")
                yield int(name), int(said.rpartition(")")[2].split()[1])
