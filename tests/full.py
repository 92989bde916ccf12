"""Long runs of the tests: `python -m tests.full [api | faults | restores | scans | killed] [PATHS…]`."""

from __future__ import annotations

import os
import sys

import pytest

KILLED = ["tests/session/test_killed_session.py", "tests/faults/test_killed_courier.py", "tests/service/test_killed.py"]
"""Each process in its turn dies a thousand times: a session, the courier, the service."""
NAMED = {
    "api": ["-s", "tests/service/test_fuzz.py"],
    "faults": ["-m", "full", "tests/faults", KILLED[0], KILLED[2]],
    "restores": ["tests/faults/test_restores.py"],
    "scans": ["-m", "full", "tests/session/test_multi_line_scans.py", "tests/session/test_unknown_codes.py"],
    "killed": ["-m", "full", "-k", "in_the_middle or between", *KILLED],
}
"""Long runs with a name: tests that are short in the default run."""


def main(arguments: list[str]) -> int:
    """Run the named tests, all tests of the paths, or those marked `full`. Return the exit status of pytest."""
    os.environ["AISLE_FULL"] = "1"
    if arguments and arguments[0] in NAMED:
        return int(pytest.main([*NAMED[arguments[0]], *arguments[1:]]))
    has_paths = any(not argument.startswith("-") for argument in arguments)
    return int(pytest.main([*([] if has_paths else ["-m", "full"]), *arguments]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
