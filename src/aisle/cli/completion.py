"""`aisle completion`: prints a completion script for a shell, generated from the argument parsers.

The script has one table: the words that may follow each command, and the values of each option. It does not run aisle.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

from aisle.cli.options import add_app_options
from aisle.contract.wire import OPERATIONS

PATH_METAVARS = ("FILE", "DIR")
"""Metavars, or their endings, of paths."""


class Completion(NamedTuple):
    """Completion word and its description."""

    text: str
    help: str


class CommandNode(NamedTuple):
    """Command, or command and action, with the words that may follow."""

    path: str
    """Words of the command path, separated by blanks; empty for the top level."""
    commands: tuple[Completion, ...]
    options: tuple[Completion, ...]
    values: tuple[str, ...]
    """Possible values of positional arguments."""
    option_values: tuple[tuple[str, tuple[str, ...] | None], ...]
    """Options with a value, and their possible values; None for a path."""


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    print(completion_script(arguments.shell), end="")
    return 0


def completion_script(shell: str) -> str:
    """Return the completion script of a shell: bash, zsh or fish."""
    nodes = command_nodes()
    if shell == "fish":
        return _fish_script(nodes)
    preamble = "autoload -Uz compinit bashcompinit\ncompinit\nbashcompinit\n" if shell == "zsh" else ""
    return f"# aisle, completed by {shell}\n{preamble}{_bash_script(nodes)}"


def command_nodes() -> list[CommandNode]:
    """Return all commands of the argument parsers."""
    from aisle.cli.parser import create_parser

    parser = create_parser()
    add_app_options(parser)
    return list(_command_nodes("", parser))


def _command_nodes(at: str, parser: argparse.ArgumentParser) -> Iterator[CommandNode]:
    commands: list[Completion] = []
    options: list[Completion] = []
    values: list[str] = []
    takes: list[tuple[str, tuple[str, ...] | None]] = []
    below: list[CommandNode] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            help_texts = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, each in action.choices.items():
                commands.append(Completion(name, help_texts.get(name, "")))
                below += _command_nodes(f"{at} {name}".strip(), each)
        elif not action.option_strings:
            values += OPERATIONS if action.dest == "operation" else [str(choice) for choice in action.choices or ()]
        else:
            options += [Completion(option, _help_text(action.help)) for option in action.option_strings]
            if action.nargs != 0:
                choices = tuple(str(choice) for choice in action.choices or ())
                path = None if str(action.metavar or "").endswith(PATH_METAVARS) else choices
                takes += [(option, path) for option in action.option_strings]
    yield CommandNode(at, tuple(commands), tuple(options), tuple(values), tuple(takes))
    yield from below


def _help_text(text: str | None) -> str:
    """Return a help text in the form that a shell shows."""
    return (text or "").replace("%(default)s", "…").replace("%%", "%")


_BASH = """\
_aisle() {{
    local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}" at="" i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$at ${{COMP_WORDS[i]}}" in
            {steps}) at="${{at:+$at }}${{COMP_WORDS[i]}}" ;;
        esac
    done
    COMPREPLY=()
    case "$at:$prev" in
{takes}
    esac
    case "$at" in
{words}
    esac
}}
complete -o bashdefault -o default -F _aisle aisle
"""


def _bash_script(found: list[CommandNode]) -> str:
    steps = "|".join(f'"{node.path if " " in node.path else f" {node.path}"}"' for node in found if node.path)
    takes = [
        f'        "{node.path}:{option}") COMPREPLY=($({_bash_values(values)} -- "$cur")); return ;;'
        for node in found
        for option, values in node.option_values
    ]
    words = [
        f'        "{node.path}") COMPREPLY=($(compgen -W "{" ".join(_all_words(node))}" -- "$cur")) ;;'
        for node in found
    ]
    return _BASH.format(steps=steps, takes="\n".join(takes), words="\n".join(words))


def _bash_values(values: tuple[str, ...] | None) -> str:
    return "compgen -f" if values is None else f'compgen -W "{" ".join(values)}"'


def _all_words(node: CommandNode) -> list[str]:
    return [*(word.text for word in (*node.commands, *node.options)), *node.values]


_FISH = """\
# aisle, completed by fish
function __aisle_at
    set -l words (commandline -opc)
    set -l at ""
    for word in $words[2..]
        switch "$at $word"
            case {steps}
                set at (string trim "$at $word")
        end
    end
    test "$at" = "$argv[1]"
end
complete -c aisle -f
{lines}
"""


def _fish_script(found: list[CommandNode]) -> str:
    steps = " ".join(_quote_for_fish(node.path if " " in node.path else f" {node.path}") for node in found if node.path)
    lines = []
    for node in found:
        start = f"complete -c aisle -n {_quote_for_fish(f'__aisle_at {_quote_for_fish(node.path)}')}"
        takes = dict(node.option_values)
        lines += [f"{start} -a {_quote_for_fish(word.text)} -d {_quote_for_fish(word.help)}" for word in node.commands]
        lines += [f"{start} -a {_quote_for_fish(value)}" for value in node.values]
        for option in node.options:
            values = takes.get(option.text, ())
            kind = "-l" if option.text.startswith("--") else "-s"
            need = (
                " -r -F"
                if values is None
                else f" -x -a {_quote_for_fish(' '.join(values))}"
                if option.text in takes
                else ""
            )
            lines.append(f"{start} {kind} {option.text.lstrip('-')}{need} -d {_quote_for_fish(option.help)}")
    return _FISH.format(steps=steps, lines="\n".join(lines))


def _quote_for_fish(text: str) -> str:
    """Return a word quoted for fish."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
