"""`aisle purge`: a moment is said, and nothing that is young goes."""

from __future__ import annotations

import pytest

from tests.cli.test_doors import api, run

pytestmark = pytest.mark.usefixtures("aisle_home")


def test_what_is_old_goes(capsys: pytest.CaptureFixture[str]) -> None:
    nowhere = ("--database", "sqlite:////nowhere/none.db")
    assert run(capsys, "purge", "--before", "400d", *nowhere)[0] == 2
    api(capsys, "list-stores")
    status, _out, err = run(capsys, "purge", "--before", "400d")
    assert (status, err) == (0, "Gone: 0 rows of the ledger, 0 of the log, 0 of the audit.\n")
    for before in ("3d", "yesterday", "-5d", "2999-01-01"):
        assert run(capsys, "purge", f"--before={before}")[0] == 2
