"""`aisle audit`: listed, exported, and made safe for spreadsheets."""

from __future__ import annotations

import csv
import io
import json

import pytest

from tests.cli.test_command_line import api, run

pytestmark = pytest.mark.usefixtures("aisle_home")


def test_the_audit_is_listed_and_exported(capsys: pytest.CaptureFixture[str]) -> None:
    api(capsys, "list-stores")
    assert run(capsys, "people", "set", "B9", "--user-name", "U9", "--name", "=1+1")[0] == 0
    status, out, _err = run(capsys, "audit", "--subject", "person")
    assert status == 0
    assert "\tperson\tB9\tname\t\t=1+1\n" in out
    table = list(csv.DictReader(io.StringIO(run(capsys, "audit", "--csv")[1])))
    assert [row["after"] for row in table if row["key"] == "B9"] == ["U9", "'=1+1", "staff"]
    listed = [json.loads(line) for line in run(capsys, "audit", "--json")[1].splitlines()]
    [entry] = [entry for entry in listed if entry["key"] == "B9"]
    assert (entry["subject"], entry["before"]) == ("person", {})
    status, _out, err = run(capsys, "token", "add", "dock", "--stores", "*")
    assert status == 0, err
    status, out, _err = run(capsys, "audit", "--chain", "--subject", "token")
    assert status == 0
    assert "\tcommand line\t\ttoken\t" in out


def test_stores_of_a_token_may_have_blanks_between(capsys: pytest.CaptureFixture[str]) -> None:
    api(capsys, "list-stores")
    status, _, err = run(capsys, "token", "add", "dock", "--stores", " 0001, 0001")
    assert status == 0, err
    assert "  0001  in force" in run(capsys, "token", "list")[1]
