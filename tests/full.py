"""`python -m tests.full [api] [PATHS…]`: the long runs that the default test run leaves out."""

from __future__ import annotations

import os
import sys

import pytest

NAMED = {"api": ["-s", "tests/service/test_fuzz.py"], "faults": ["-m", "full", "tests/faults"]}
"""Long runs with a name: tests that are short in the default run."""


def main(arguments: list[str]) -> int:
    """Runs the named tests, else those marked `full`; the exit status of pytest."""
    os.environ["AISLE_FULL"] = "1"
    if arguments and arguments[0] in NAMED:
        return int(pytest.main([*NAMED[arguments[0]], *arguments[1:]]))
    return int(pytest.main(["-m", "full", *arguments]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
