"""How many examples a test tries in the default and in the long run."""

from __future__ import annotations

import os


def tries(few: int, many: int) -> int:
    """`few` in the default run, `many` in the long ones (`python -m tests.full`)."""
    return many if os.environ.get("AISLE_FULL") == "1" else few
