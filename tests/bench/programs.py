"""The two programs that are compared: the frozen floor, and aisle in the middle of an order."""

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.bench.session import Program

_ECHOED = re.compile(r"^got 40(\d{11})$", re.MULTILINE)


def floor(env: Mapping[str, str | None]) -> Program:
    """The floor app; each scan is another code, so that its echo tells which one it was."""
    return Program(
        name="floor app",
        argv=(sys.executable, str(Path(__file__).with_name("floor_app.py"))),
        env=env,
        ready=lambda text: "Scan" in text,
        code=lambda number: b"40%011d" % number,
        answered=_echoed,
    )


def _echoed(text: str) -> int:
    found = _ECHOED.search("\n".join(row.rstrip() for row in text.splitlines()))
    return int(found.group(1)) if found else -1
