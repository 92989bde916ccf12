"""`aisle completion`: prints the script by which a shell completes commands, options and values."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from aisle.cli import COMPLETE_VARIABLE


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(context: click.Context, shell: str) -> int:
    """Print a script by which SHELL completes commands, options, operations and files."""
    root, shell_class = context.find_root(), get_completion_class(shell)
    assert shell_class is not None
    print(shell_class(root.command, {}, "aisle", COMPLETE_VARIABLE).source())
    return 0
