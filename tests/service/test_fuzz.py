"""What schemathesis makes of the OpenAPI page is answered as the page says, and no refusal moves any goods."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.run_length import tries
from tests.service.postgres import Server

ROOT = Path(__file__).parents[2]


def run(cases: int, *more: str) -> None:
    """So many cases in a process of their own."""
    command = [sys.executable, "-m", "tests.service.fuzz", str(cases), "1", *more]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"PYTHONHASHSEED": "0"}, capture_output=True, text=True, timeout=3600
    )
    print(done.stdout)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-4000:]}"


def test_the_service_keeps_what_its_page_promises() -> None:
    """Default: 60 cases, the same each time. Long: 20,000 (`python -m tests.full api`)."""
    run(tries(60, 20_000))


@pytest.mark.full
def test_it_does_over_postgresql(server: Server) -> None:
    run(3000, "--database", server.fresh())


@pytest.mark.full
@pytest.mark.parametrize("role", ["staff", "supervisor", "integration"])
def test_it_does_to_other_roles(role: str, server: Server) -> None:
    run(1000, "--role", role)
    run(1000, "--role", role, "--database", server.fresh())
