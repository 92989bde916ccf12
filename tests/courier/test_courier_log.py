"""The courier's log loses no line while two processes rename it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aisle.host.courier_log import MAX_LOG_BYTES, append_line


@pytest.mark.parametrize("moment", ["before it is renamed", "after it was opened"])
def test_two_processes_that_rename_a_long_log_keep_it(
    moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, long = tmp_path / "courier.log", "x" * MAX_LOG_BYTES + "\n"
    path.write_text(long, encoding="utf-8")
    rename, open_log, others = Path.replace, os.open, ["the other's\n"]

    def other() -> None:
        if others:
            append_line(path, others.pop())

    def replace(source: Path, target: Path) -> Path:
        if moment == "before it is renamed":
            other()
        return rename(source, target)

    def opened(name: Path, flags: int, mode: int) -> int:
        handle = open_log(name, flags, mode)
        if moment == "after it was opened":
            other()
        return handle

    monkeypatch.setattr(Path, "replace", replace)
    monkeypatch.setattr(os, "open", opened)
    append_line(path, "mine\n")
    monkeypatch.undo()
    kept = path.with_suffix(".log.1").read_text(encoding="utf-8")
    assert kept.startswith(long)
    assert sorted((kept + path.read_text(encoding="utf-8")).splitlines()[1:]) == ["mine", "the other's"]
