"""`aisle web` on the command line: what it refuses to serve, and what a session is told."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from aisle.cli import main
from aisle.cli.web import _session_options, _session_start
from aisle.web.sign_ins import Person
from aisle.web.windows import Opening


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--host", "0.0.0.0"), "give a certificate, or allow plain HTTP"),
        (("--host", "store.example"), "give a certificate, or allow plain HTTP"),
        (("--port", "70000"), "70000 is not in the range"),
        (("--certificate", "c.pem"), "belong together"),
        (("--certificate", "c.pem", "--private-key", "k.pem"), "cannot be used for TLS"),
        (("--proxy", "10.0.0.1", "--proxy", "gate.example"), "--proxy: 'gate.example' does not appear to be"),
        (("--origin", "store.example"), "it looks like https://store.example"),
        (("--origin", "https://store.example/aisle"), "it looks like https://store.example"),
    ],
)
def test_what_is_not_safe_is_not_served(
    aisle_home: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str
) -> None:
    assert main(["web", *arguments]) == 2
    assert says in capsys.readouterr().err


def test_without_the_extra_it_says_what_to_install(
    aisle_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "websockets", None)
    assert main(["web"]) == 1
    assert "pip install 'aisle[web]'" in capsys.readouterr().err


def test_a_session_is_told_who_and_where_and_no_secret(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AISLE_LIFELINE_FD", raising=False)
    settings = {"store": "0042", "user": "somebody", "base_url": None, "token_file": "t", "language": None}
    opening = Opening(Person("U 9", "-Zoë", "secret", 9.0), 2, "/orders/4104")
    start = _session_start(_session_options(settings), {"LANG": "C.UTF-8", "AISLE_LIFELINE_FD": "77"}, opening)
    assert list(start.argv)[-6:] == [
        "--store=0042",
        f"--token-file={tmp_path / 't'}",
        "--user=U 9",
        "--called=-Zoë",
        "--terminal=web-U 9-2",
        "--address=/orders/4104",
    ]
    assert (start.environ, start.fds) == ({"LANG": "C.UTF-8"}, ())
    assert (start.token, start.until) == ("secret", 9.0), "which goes by the pipe"
