"""Shells complete commands, options and values, and the help of the program names every command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from aisle.cli import COMPLETE_VARIABLE, main
from aisle.cli.commands import COMMANDS, EPILOG, aisle_command
from aisle.contract.operations import OPERATIONS
from tests.cli.command_tree import all_commands

ASKED = """
source {script}
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_aisle_completion aisle
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def completed(*words: str) -> list[str]:
    """Return what a shell offers for the last of these words; `file` and `dir` stand for names of files."""
    shell = ShellComplete(aisle_command, {}, "aisle", COMPLETE_VARIABLE)
    found = shell.get_completions(list(words[1:-1]), words[-1])
    return [item.value if item.type == "plain" else item.type for item in found]


def test_commands_options_and_values_are_completed() -> None:
    assert completed("aisle", "do") == ["doctor"]
    assert set(COMMANDS) <= set(completed("aisle", ""))
    assert completed("aisle", "--ver") == ["--verified", "--version"]
    assert completed("aisle", "--theme", "") == ["light", "dark", "contrast"]
    assert completed("aisle", "--trace", "x") == ["file"]
    assert completed("aisle", "--home", "x") == ["dir"]
    assert completed("aisle", "api", "list-store-products") == ["list-store-products-stock"]
    assert set(completed("aisle", "api", "")) >= {"list", *OPERATIONS}
    assert completed("aisle", "api", "x", "--body", "") == ["file"]
    assert completed("aisle", "token", "re") == ["revoke"]
    assert completed("aisle", "token", "add", "x", "--role", "su") == ["supervisor"]
    assert completed("aisle", "completion", "f") == ["fish"]
    assert completed("aisle", "outbox", "resolve", "x", "by") == ["by-hand"]
    assert completed("aisle", "load", "") == ["dir"]
    assert completed("aisle", "backup", "") == ["file"]


def test_bash_asks_the_program(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["completion", "bash"]) == 0
    (tmp_path / "script").write_text(capsys.readouterr().out, encoding="utf-8")
    program = tmp_path / "aisle"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m aisle "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    environ = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    for words, offered in (("aisle do", ["doctor"]), ("aisle outbox rep", ["replay"])):
        text = ASKED.format(script=tmp_path / "script", words=words)
        done = subprocess.run(
            ["bash", "--norc"], input=text, env=environ, capture_output=True, text=True, check=True
        )  # fmt: skip
        assert (done.stdout.split(), done.stderr) == (offered, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_right_for_its_shell(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    assert f"{COMPLETE_VARIABLE}={shell}_complete" in text
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=text, capture_output=True, text=True, check=True)


def test_completing_a_command_imports_no_other() -> None:
    program = (
        "import sys; from click.shell_completion import ShellComplete; from aisle.cli.commands import aisle_command;"
        "shell = ShellComplete(aisle_command, {}, 'aisle', '_AISLE_COMPLETE');"
        "assert len(shell.get_completions([], '')) > 9; assert shell.get_completions([], '--st');"
        "print([name for name in sys.modules if name.startswith(('aisle.service', 'aisle.client', 'aisle.cli.s'))])"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout == b"[]\n"


def test_every_command_has_its_name_and_help() -> None:
    for path, command in all_commands():
        assert command.help, path
        assert command.name == (path or "aisle").rpartition(" ")[2]
        assert all(getattr(each, "help", "") for each in command.params if each.param_type_name == "option"), path


def test_help_is_in_groups_and_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    told = capsys.readouterr().out
    listed = EPILOG.partition("Examples:")[0].replace(",", " ").split()
    assert set(COMMANDS) <= set(listed)
    assert all(part in told for part in ("Options:", "Commands, each with --help:", "Examples:", "aisle [OPTIONS]"))
    assert max(map(len, told.splitlines())) <= 100
