"""What schemathesis makes of the OpenAPI page is answered as the page says, and no refusal moves any goods."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.lengths import tries

ROOT = Path(__file__).parents[2]


def test_the_service_keeps_what_its_page_promises() -> None:
    """Default: 1,000 cases, the same each time. Long: 20,000 (`python -m tests.full api`)."""
    command = [sys.executable, "-m", "tests.service.fuzz", str(tries(1000, 20_000)), "1"]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"PYTHONHASHSEED": "0"}, capture_output=True, text=True, timeout=3600
    )
    print(done.stdout)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-4000:]}"
