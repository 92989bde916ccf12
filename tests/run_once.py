"""Files made once for a whole test run, shared by all workers."""

from __future__ import annotations

import fcntl
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

T = TypeVar("T")


def shared(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], T]) -> T:
    """What `make` answers, having filled the folder it is given, which lasts as long as the run.

    The others wait for it, and get a copy by way of pickle; where it fails, the next one tries in a folder of its own.
    Groups of pytest-xdist 3.8 would do, but pytest 9.2 does not hear of them any more.
    """
    base = factory.getbasetemp()
    run = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    kept = run / f"{name}.made"
    with open(run / f"{name}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if kept.exists():
            made: T = pickle.loads(kept.read_bytes())
            return made
        made = make(factory.mktemp(name))
        kept.write_bytes(pickle.dumps(made))
        return made
