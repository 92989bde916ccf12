"""All commands of the program, and what a command line sets, without running it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any
from unittest.mock import patch

import click

from aisle.cli.commands import aisle_command, run_command


def all_commands(command: click.Command = aisle_command, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield each command and action with its path, which is empty for `aisle` itself."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from all_commands(below, f"{path} {name}".strip())


def parse(*words: str) -> tuple[str, dict[str, Any]]:
    """Return the path of the command that the words run, and the values of its options and arguments."""
    calls: list[tuple[str, dict[str, Any]]] = []

    def record(path: str, **values: Any) -> int:
        calls.append((path, values))
        return 0

    with ExitStack() as stack:
        for path, command in all_commands():
            stack.enter_context(patch.object(command, "callback", partial(record, path)))
        status = run_command(aisle_command, words)
    assert status == 0, words
    return calls[-1]


def option_names(commands: Sequence[click.Command]) -> set[str]:
    """Return the names of all options."""
    return {name for command in commands for option in command.params for name in option.opts}
