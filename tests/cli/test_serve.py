"""`aisle serve`: which databases get the demo store, and that its help says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aisle.cli import main
from aisle.cli import serve as door
from aisle.service.app_options_and_limits import RateLimits, ServiceOptions
from aisle.service.db.database_interface import Database
from aisle.service.domain.quantities_times_and_json import TimeZones
from aisle.service.http import run_server
from aisle.service.http.run_server import ServerOptions
from aisle.service.open_service_and_admin_token import Service

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


def test_demo_and_empty_exclude_each_other(aisle_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("serve", "--demo", "--empty")) == 2
    assert "--demo and --empty exclude each other" in capsys.readouterr().err


def test_the_help_says_which_database_gets_it(aisle_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("serve", "--help")) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "--demo Add the demo store to a database without stores; this is the default without --database." in said
    assert "--empty Add no demo store; this is the default with --database." in said


@pytest.mark.parametrize(("named", "place"), [("sqlite:///here.db", "{cwd}/here.db"), ("sqlite:////r/x.db", "/r/x.db")])
def test_a_file_that_is_served_is_named_in_full(
    aisle_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], named: str, place: str
) -> None:
    monkeypatch.setattr(door, "run_server", lambda *_, ready, **__: ready("http://127.0.0.1:1"))
    assert main(("serve", "--database", named)) == 0
    lines = ["aisle serves at http://127.0.0.1:1", f"from {place.format(cwd=Path.cwd())}"]
    assert capsys.readouterr().err.splitlines() == lines


def test_the_budget_of_bytes_is_said_in_bytes_a_second(
    aisle_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told: list[float] = []
    kept: list[int] = []

    def run_server(options: ServerOptions, **_: Any) -> None:
        told.append(options.rate_limits.token_bytes)
        kept.append(options.keys_days)

    monkeypatch.setattr(door, "run_server", run_server)
    for said in ((), ("--rate-bytes", "1000"), ("--rate-bytes", "0")):
        assert main(("serve", *said)) == 0
    assert told == [RateLimits().token_bytes, 1000.0, 0.0]
    (aisle_home / "settings.toml").write_text("keep_answers_days = 90\n", encoding="utf-8")
    assert main(("serve",)) == 0
    assert kept == [30, 30, 30, 90]
    for wrong in ("-1", "inf", "nan"):
        assert main(("serve", "--rate-bytes", wrong)) == 2
    assert "'--rate-bytes': nan is not finite" in capsys.readouterr().err


def test_the_budgets_reach_who_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[RateLimits] = []

    class Told(Service):
        def __init__(self, database: Database, options: ServiceOptions) -> None:
            told.append(options.rate_limits)
            raise KeyboardInterrupt

    monkeypatch.setattr(run_server, "Service", Told)
    with pytest.raises(KeyboardInterrupt):
        run_server.run_server(
            ServerOptions(f"sqlite:///{tmp_path / 'service.db'}", port=0, rate_limits=RateLimits(7, token_bytes=1000))
        )
    assert told == [RateLimits(7, token_bytes=1000)]


def test_settings_with_an_error_leave_the_last_valid_zones_in_force(
    aisle_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    zones: list[TimeZones] = []
    monkeypatch.setattr(door, "run_server", lambda options, **_: zones.append(options.time_zones))
    file = aisle_home / "settings.toml"
    sections = '[store."0042"]\ntime_zone = "Asia/Tokyo"\n'
    file.write_text(f"theme =\n{sections}", encoding="utf-8")
    assert main(("serve",)) == 2
    assert f"{file} cannot be read" in capsys.readouterr().err
    for text in (sections, f"theme =\n{sections}"):
        file.write_text(text, encoding="utf-8")
        assert main(("serve",)) == 0
        assert str(zones[-1].zone_of("0042")) == "Asia/Tokyo"
