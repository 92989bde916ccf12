"""Shells complete what the parsers know, and the help of the program names every command."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from aisle.cli import COMMANDS
from aisle.cli.completion import command_nodes, completion_script
from aisle.cli.options import EPILOG, create_app_parser
from aisle.contract.wire import OPERATIONS

ASKED = """
{script}
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_aisle
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def completed(*words: str) -> list[str]:
    """What bash would offer for the last of these words."""
    said = " ".join(f"'{word}'" for word in words)
    text = ASKED.format(script=completion_script("bash"), words=said)
    done = subprocess.run(["bash", "--norc"], input=text, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_bash_completes_commands_options_and_operations() -> None:
    assert completed("aisle", "do") == ["doctor"]
    assert set(COMMANDS) <= set(completed("aisle", ""))
    assert completed("aisle", "--ver") == ["--verified", "--version"]
    assert completed("aisle", "--theme", "") == ["light", "dark", "contrast"]
    assert completed("aisle", "api", "list-store-products") == ["list-store-products-stock"]
    assert set(completed("aisle", "api", "")) >= set(OPERATIONS)
    assert completed("aisle", "token", "re") == ["revoke"]
    assert completed("aisle", "token", "add", "x", "--role", "su") == ["supervisor"]
    assert completed("aisle", "completion", "f") == ["fish"]
    assert completed("aisle", "outbox", "settle", "x", "by") == ["by-hand"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_right_for_its_shell(shell: str) -> None:
    text = completion_script(shell)
    assert all(name in text for name in (*COMMANDS, *OPERATIONS))
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=text, capture_output=True, text=True, check=True)


def test_every_command_has_its_place() -> None:
    assert {place.path for place in command_nodes() if place.path and " " not in place.path} == set(COMMANDS)


def test_help_is_in_groups_and_names_every_command() -> None:
    told = create_app_parser().format_help()
    listed = EPILOG.partition("examples:")[0].replace(",", " ").split()
    assert set(COMMANDS) <= set(listed)
    assert all(part in told for part in ("where it works:", "how it works and looks:", "examples:", "aisle COMMAND"))
    assert max(map(len, told.splitlines())) <= 100
