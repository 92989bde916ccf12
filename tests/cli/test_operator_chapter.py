"""The chapter for operators names commands, options, settings, files, metrics and log lines that are there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import aisle
from aisle.cli import main
from aisle.service.http.metrics import Metrics
from aisle.settings.setting_definitions import Settings
from tests.cli.command_tree import all_commands, option_names, parse

SOURCE = Path(aisle.__file__).parent
CHAPTER = SOURCE / "service" / "OPERATIONS.md"
DEPLOY = SOURCE / "service" / "deploy"
MOST_WORDS = 1_500
GIVEN = {"${DATABASE}": "postgresql:///aisle", "${BALANCER}": "127.0.0.1", "%i": "8481", "%I": "tty1"}
"""What systemd puts into a unit."""


def _text() -> str:
    return CHAPTER.read_text(encoding="utf-8")


def _blocks(kind: str) -> str:
    return "\n".join(re.findall(rf"^```{kind}\n(.*?)^```$", _text(), re.MULTILINE | re.DOTALL))


def _inline() -> list[str]:
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", _text(), flags=re.MULTILINE | re.DOTALL))


def _commands() -> Iterator[list[str]]:
    """What comes behind `aisle` in the chapter's commands and in the units."""
    for line in _blocks("sh").splitlines():
        words = shlex.split(line)
        if words[:1] == ["aisle"]:
            yield words[1 : words.index(">") if ">" in words else None]
    for unit in sorted(DEPLOY.glob("*.service")):
        text = unit.read_text(encoding="utf-8").replace("\\\n", "")
        for said, given in GIVEN.items():
            text = text.replace(said, given)
        for line in re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE):
            yield shlex.split(re.sub(r"^\S+(/aisle| -I -m aisle) ", "", line))


def test_the_chapter_is_short() -> None:
    assert len(_text().split()) < MOST_WORDS


@pytest.mark.parametrize("words", list(_commands()), ids=" ".join)
def test_commands_are_those_that_there_are(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    path, values = parse(*words)
    if path == "load" and values["columns"] is not None:
        assert main(words) == 0
        assert "required" in capsys.readouterr().out


def test_secrets_are_written_to_files_of_their_owner() -> None:
    """A umask would stay: programs that are installed in the same shell after it are closed to their account."""
    lines = _blocks("sh").splitlines()
    assert not [line for line in lines if line.startswith("umask")]
    written = [(line, before) for before, line in pairwise(lines) if re.search(r" > \S+\.(token|dump)$", line)]
    assert len(written) >= 4
    for line, before in written:
        assert before == f"install -m 600 /dev/null {line.split()[-1]}"


def test_options_and_settings_in_the_text_are_those_that_there_are() -> None:
    options = option_names([command for _, command in all_commands()])
    said = {option for code in _inline() for option in re.findall(r"--[a-z-]+", code)}
    assert said
    assert said - options == set()
    settings = {*re.findall(r"^(\w+) =", _blocks("toml") + _blocks("sh"), re.MULTILINE)}
    settings |= {code for code in _inline() if re.fullmatch(r"keep_[a-z]+_days|ca_file|token_file", code)}
    assert settings - set(Settings._fields) == set()


def test_all_files_of_the_folder_are_told_and_there() -> None:
    text = _text()
    told = set(re.findall(r"src/aisle/service/deploy/(\S+)", _blocks("sh")))
    found = {path for name in told for path in DEPLOY.glob(name)}
    assert found == set(DEPLOY.iterdir())
    assert all(list(DEPLOY.glob(name)) for name in told)
    for unit in re.findall(r"(aisle-?[a-z]*)@?[\w]*", " ".join(re.findall(r"^systemctl .*$", text, re.MULTILINE))):
        assert unit in {path.stem.rstrip("@") for path in DEPLOY.glob("aisle*.*")}


def test_metrics_are_those_that_there_are() -> None:
    metrics = Metrics()
    metrics.set_certificate_expiry(1.0)
    there = set(re.findall(r"^(?:# TYPE )?(\w+)", metrics.render(1).decode(), re.MULTILINE))
    there |= {f"{name}_bucket" for name in there} | {f"{name}_total" for name in there}
    alerts = (DEPLOY / "alerts.yml").read_text(encoding="utf-8")
    said = set(re.findall(r"\b(?:aisle|process)_\w+", alerts))
    assert "process_start_time_seconds" in said, "an instance that is back between two scrapes is always `up`"
    said |= {code for code in _inline() if code.startswith("aisle_")}
    assert len(re.findall(r"alert:", alerts)) in range(5, 9)
    assert said - there == set()


def test_log_lines_are_those_that_there_are() -> None:
    source = "\n".join(
        path.read_text(encoding="utf-8")
        for part in ("service", "server", "web")
        for path in (SOURCE / part).rglob("*.py")
    )
    table = [row.split("|")[1] for row in _text().splitlines() if row.startswith("| ")]
    lines = [
        code
        for cell in table
        if not cell.strip().startswith("courier")
        for code in re.findall(r"`([^`]+)`", cell)
        if " " in code
    ]
    assert len(lines) >= 6
    for line in lines:
        pattern = re.sub(r"\bN\b", r"[%{].{1,12}", re.escape(line.rstrip(" …")).replace("…", ".*"))
        assert re.search(pattern, source), line


def _runbook() -> list[list[str]]:
    """Return what comes behind `aisle` in the commands of the runbook for a restore, and options named alone."""
    text = (SOURCE / "service" / "SERVING.md").read_text(encoding="utf-8")
    runbook = text.partition("## Runbook: after a restore")[2].partition("\n## ")[0]
    said = [shlex.split(each) for each in re.findall(r"`(aisle [^`]+|--[^`]+)`", runbook)]
    return [words[1:] if words[0] == "aisle" else ["outbox", "replay", *words] for words in said]


def test_the_runbook_for_a_restore_names_what_there_is() -> None:
    commands = _runbook()
    assert {" ".join(words[:2]) for words in commands} >= {"token add", "doctor", "outbox", "outbox replay"}
    known = {path for path, _ in all_commands()}
    for words in commands:
        assert " ".join(words[:2]) in known or words[0] in known, words
    assert any("--since" in words for words in commands)
    parse("outbox", "replay", "--since", "2026-11-26T18:00")
