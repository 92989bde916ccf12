"""On what the figures were found."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("textual", "rich", "apsw", "httpx", "pydantic", "starlette")


def machine() -> dict[str, str]:
    """Processor, cores, memory, load, system and versions, as text."""
    return {
        "processor": _first("/proc/cpuinfo", "model name") or platform.machine(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": _first("/proc/meminfo", "MemTotal"),
        "load": " ".join(f"{load:.2f}" for load in os.getloadavg()),
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
    }


def _first(path: str, name: str) -> str:
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if line.startswith(name):
            return " ".join(line.partition(":")[2].split())
    return ""
