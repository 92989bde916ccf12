"""`aisle`: the root command, whose options belong to the app, and the table of all other commands.

A command is declared by decorators beside its function. Its module is imported when it runs.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

import click
from click.shell_completion import CompletionItem, get_completion_class

from aisle import __version__
from aisle.cli import COMPLETE_VARIABLE, start_app
from aisle.cli.options import FOLDER, SettingValues, app_options
from aisle.terminal_text import clean

COMMANDS = {
    "serve": "serve:serve",
    "token": "token:token",
    "backup": "backup:backup",
    "restore": "backup:restore_backup",
    "load": "load:load_files",
    "api": "api:api",
    "assignments": "goods_to_move_for_clearance:assignments",
    "people": "people:people",
    "audit": "audit:audit",
    "purge": "purge:purge_data",
    "sync": "sync:sync",
    "courier": "courier:courier",
    "outbox": "outbox:outbox",
    "journal": "outbox:journal",
    "doctor": "doctor:doctor",
    "sheet": "barcode_sheet:print_barcodes",
    "web": "web:web",
    "completion": "commands:completion",
}
"""Commands, and where each is declared: a module of this package, and a function."""

EPILOG = """
\b
Commands, each with --help:
  a store to work in   load, people, token, sheet
  the service          serve, backup, restore, purge
  this host            sync, courier, doctor, completion
  what was done        outbox, journal, assignments, audit
  beyond the terminal  web, api

\b
Examples:
  aisle                                      opens the demo store; sign in as anna
  aisle --store 0042 --base-url https://store.example --token-file token
  aisle doctor --settings                    prints the settings and their sources
  aisle api list-store-products-stock --query page_size=5
  aisle completion bash >> ~/.bashrc         completes commands, options and operations

In the app: h and Enter is help on any page, . and Enter lists all commands.
"""


def run_command(command: click.Command, arguments: Sequence[str]) -> int:
    """Run a command and return the exit status. Print wrong usage with a pointer to the help."""
    try:
        status = command.main(list(arguments), prog_name="aisle", standalone_mode=False)
    except click.UsageError as error:
        message = clean(" ".join(error.format_message().split()))
        message += "" if message.endswith((".", "?")) else "."
        path = error.ctx.command_path if error.ctx else "aisle"
        print(f"aisle: {message}\nTry '{path} --help'.", file=sys.stderr)
        return error.exit_code
    except click.Abort:
        return 1
    return status or 0


class LazyGroup(click.Group):
    """Group that imports the module of a command when the command runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of this name, or None."""
        if cmd_name not in COMMANDS:
            return None
        module, _, function = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(f"aisle.cli.{module}"), function)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write no list of commands, which would import all of them; the epilogue names them."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands and options that begin so, without importing a command."""
        names = [CompletionItem(name) for name in COMMANDS if name.startswith(incomplete)]
        return names + click.Command.shell_complete(self, ctx, incomplete)


@click.group(
    "aisle",
    cls=LazyGroup,
    invoke_without_command=True,
    epilog=EPILOG,
    subcommand_metavar="[COMMAND ...]",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True},
)
@app_options
@click.option("--home", type=FOLDER, metavar="DIR", help="Folder of settings and data, in place of AISLE_HOME.")
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def aisle_command(context: click.Context, setting_values: SettingValues, home: str | None) -> int | None:
    """Open the app on this terminal."""
    if context.invoked_subcommand is None:
        return start_app(setting_values, home)
    if any(value is not None for value in (home, *setting_values.values())):
        raise click.UsageError("Options before a command belong to the app. Write those of the command after its name.")
    return None


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(context: click.Context, shell: str) -> int:
    """Print a script by which SHELL completes commands, options, operations and files."""
    root, shell_class = context.find_root(), get_completion_class(shell)
    assert shell_class is not None
    print(shell_class(root.command, {}, "aisle", COMPLETE_VARIABLE).source())
    return 0
