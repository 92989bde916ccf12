"""`aisle --kiosk`: what it forgets before anything can read it."""

from __future__ import annotations

import os
import pwd
import re
import subprocess
import sys
from pathlib import Path

import pytest

from aisle.cli import main
from aisle.cli.open_app import kiosk_environment
from aisle.errors import SettingsError
from aisle.settings.load_settings import load_settings
from aisle.settings.setting_definitions import Settings, effective_language

HOSTILE = {
    "TEXTUAL": "devtools",
    "TEXTUAL_DRIVER": "os:system",
    "TEXTUAL_LOG": "/dev/full",
    "TEXTUAL_PRESS": "q",
    "TEXTUAL_ALLOW_SIGNALS": "1",
    "TEXTUAL_SCREENSHOT": "1",
    "AISLE_BASE_URL": "http://elsewhere.test",
    "AISLE_HOME": "/nowhere/at/all",
    "AISLE_KIOSK": "false",
    "AISLE_STORE": "9999",
    "AISLE_TOKEN_FILE": "/etc/passwd",
    "AISLE_TRACE": "/nowhere/trace",
    "COLUMNS": "7",
    "HOME": "/nowhere",
    "HTTPS_PROXY": "http://elsewhere.test",
    "LD_PRELOAD_": "x.so",
    "LESSOPEN": "|sh",
    "NO_COLOR": "1",
    "PATH": "/nowhere",
    "PYTHONINSPECT": "1",
    "PYTHONPATH": "/nowhere",
    "SSL_CERT_FILE": "/nowhere",
    "SHELL": "/bin/sh",
    "XDG_CONFIG_HOME": "/nowhere",
    "XDG_DATA_HOME": "/nowhere",
}
TERMINAL = {"TERM": "xterm-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "SSH_CLIENT": "10.0.0.1 1 22"}
KEPT = TERMINAL | {"AISLE_LIFELINE_FD": "7"}


def test_kiosk_keeps_only_terminal_variables() -> None:
    account = pwd.getpwuid(os.getuid())
    mine = {"HOME": account.pw_dir, "USER": account.pw_name, "LOGNAME": account.pw_name, "PATH": "/usr/bin:/bin"}
    assert kiosk_environment(HOSTILE | KEPT) == KEPT | mine
    assert kiosk_environment(HOSTILE | TERMINAL, "/data")["AISLE_HOME"] == "/data"


def test_a_kiosk_speaks_the_language_of_whoever_connects() -> None:
    assert effective_language(Settings(), kiosk_environment(HOSTILE | TERMINAL)) == ""
    heard = kiosk_environment(HOSTILE | {"TERM": "vt220", "LANG": "C.UTF-8", "LC_MESSAGES": "de_DE.UTF-8"})
    assert effective_language(Settings(), heard) == "de"
    assert effective_language(Settings(), kiosk_environment({"LANG": "nl_NL.UTF-8"})) == "nl"


def test_the_readme_names_each_variable_that_is_heard() -> None:
    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    _, section = text.split("\n## Kiosk\n", 1)
    named = set(re.findall(r"`([A-Z_]+\*?)`", section.split("\n```", 1)[0]))
    assert {re.sub(r"^(SSH_|LC_).*", r"\1*", name) for name in (*KEPT, "TZ")} == named


@pytest.mark.parametrize("term", ["x" * 65, "../../x", "xterm\x1b[0m", "x y", ""])
def test_a_terminal_s_name_is_a_name(term: str) -> None:
    assert kiosk_environment({"TERM": term})["TERM"] == ("" if term == "" else "dumb")


def test_settings_are_the_command_line_s_and_those_of_its_home(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text('store = "0042"\n')
    code = (
        "import os; from aisle.cli import main, open_app\n"
        "def shown(loaded):\n"
        "    s = loaded.settings\n"
        "    print(s.kiosk, s.store, s.base_url, repr(s.trace), loaded.data_folder,"
        " sorted(n for n in os.environ if 'AISLE' in n))\n"
        "open_app.open_app = shown\n"
        "main()"
    )
    command = [sys.executable, "-c", code, "--kiosk", "--home", str(tmp_path)]
    told = subprocess.run(
        command,
        env={**{name: text for name, text in HOSTILE.items() if not name.startswith("PYTHON")}, **TERMINAL},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == f"True 0042 embedded '' {tmp_path} ['AISLE_HOME']\n"


def test_what_follows_it_is_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--kiosk", "token", "list"]) == 2
    assert "Options before a command belong to the app." in capsys.readouterr().err


def test_neither_a_variable_nor_a_file_says_it(aisle_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AISLE_KIOSK", "false")
    assert load_settings({"kiosk": True}).settings.kiosk
    monkeypatch.setenv("AISLE_KIOSK", "true")
    assert not load_settings({}).settings.kiosk
    aisle_home.mkdir(exist_ok=True)
    (aisle_home / "settings.toml").write_text("kiosk = false\n")
    with pytest.raises(SettingsError, match="aisle --kiosk"):
        load_settings({"kiosk": True})
