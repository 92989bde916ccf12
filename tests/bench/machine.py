"""On what the figures were found."""

import os
import platform
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from statistics import median, quantiles

PACKAGES = ("textual", "rich", "apsw", "httpx", "pydantic", "starlette")


def machine() -> dict[str, str]:
    """Processor, cores, memory, load, time of a commit to disk, system and versions, as text."""
    return {
        "processor": _first("/proc/cpuinfo", "model name") or platform.machine(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": _first("/proc/meminfo", "MemTotal"),
        "load": " ".join(f"{load:.2f}" for load in os.getloadavg()),
        "fdatasync of 8 KiB": _fdatasync_time(),
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
    }


def _fdatasync_time() -> str:
    """Return how long the disk of the temporary folder takes to keep 8 KiB: each scan waits for that once."""
    taken: list[float] = []
    with tempfile.TemporaryFile(buffering=0) as file:
        for _ in range(50):
            file.write(bytes(8192))
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            taken.append((time.perf_counter() - began) * 1000)
    return f"{median(taken):.2f} ms median, {quantiles(taken, n=10)[-1]:.2f} ms p90"


def _first(path: str, name: str) -> str:
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if line.startswith(name):
            return " ".join(line.partition(":")[2].split())
    return ""
