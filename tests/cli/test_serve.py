"""`aisle serve`: which databases get the demo store, and that its help says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aisle.cli import main
from aisle.cli import serve as door

NEW = ("--database", "sqlite:///{folder}/new.db")


@pytest.mark.parametrize(
    ("arguments", "demo"),
    [
        ((), True),
        (("--demo",), True),
        (("--empty",), False),
        (NEW, False),
        ((*NEW, "--empty"), False),
        ((*NEW, "--demo"), True),
    ],
)
def test_a_named_database_gets_the_demo_store_only_where_it_is_asked_for(
    aisle_home: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], demo: bool
) -> None:
    told: list[bool] = []

    def run_server(*_: Any, demo: bool, **__: Any) -> None:
        told.append(demo)

    monkeypatch.setattr(door, "run_server", run_server)
    assert main(("serve", *(each.format(folder=aisle_home) for each in arguments))) == 0
    assert told == [demo]


def test_nobody_asks_for_a_demo_store_and_for_none(aisle_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leave:
        main(("serve", "--demo", "--empty"))
    assert leave.value.code == 2
    assert "not allowed with" in capsys.readouterr().err


def test_the_help_says_which_database_gets_it(aisle_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(("serve", "--help"))
    said = " ".join(capsys.readouterr().out.split())
    assert "--demo put the demo store in where there is no store yet; without --database that is so anyway" in said
    assert "--empty no demo store; with --database that is so anyway" in said


@pytest.mark.parametrize(("named", "place"), [("sqlite:///here.db", "{cwd}/here.db"), ("sqlite:////r/x.db", "/r/x.db")])
def test_a_file_that_is_served_is_named_in_full(
    aisle_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], named: str, place: str
) -> None:
    monkeypatch.setattr(door, "run_server", lambda *_, ready, **__: ready("http://127.0.0.1:1"))
    assert main(("serve", "--database", named)) == 0
    lines = ["aisle serves at http://127.0.0.1:1", f"from {place.format(cwd=Path.cwd())}"]
    assert capsys.readouterr().err.splitlines() == lines
