"""What all tests of sessions have: little patience with a locked file."""

from __future__ import annotations

import pytest

from aisle.host import database


@pytest.fixture(autouse=True)
def _locked_files_are_given_up_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody unlocks them meanwhile: five seconds are waited in vain."""
    monkeypatch.setattr(database, "BUSY_TIMEOUT_S", 0.3)
