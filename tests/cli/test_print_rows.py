"""Rows that commands print: whatever they hold, nothing of it controls a terminal."""

from __future__ import annotations

import json

import pytest

from aisle.cli.print_rows_and_messages import print_json_rows, print_table

WILD = "a\x1b[2J\u009b2J\u202eb\x7f箱"


def test_rows_of_json_keep_their_text_without_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    print_json_rows([{"name": WILD}, {"name": "Ann"}])
    out = capsys.readouterr().out
    assert [json.loads(line)["name"] for line in out.splitlines()] == [WILD, "Ann"]
    assert all(char.isprintable() or char == "\n" for char in out)


def test_columns_of_a_table_are_as_wide_as_their_text_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("NAME", "N"), [("箱箱箱", "1"), (WILD[-1], "2")])
    print_table(("NAME",), [], none="Nothing to move.")
    assert capsys.readouterr().out.splitlines() == ["NAME    N", "箱箱箱  1", "箱      2", "Nothing to move."]
