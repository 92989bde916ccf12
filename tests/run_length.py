"""How many examples a test tries in the default and in the long run."""

from __future__ import annotations

import os

IS_FULL = os.environ.get("AISLE_FULL") == "1"
"""True in the long runs, read before a test clears the variables of aisle."""


def tries(few: int, many: int) -> int:
    """`few` in the default run, `many` in the long ones (`python -m tests.full`)."""
    return many if IS_FULL else few
