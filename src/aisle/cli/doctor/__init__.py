"""`aisle doctor`: looks at everything that work on this host stands on, changes nothing, and says what it found."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from aisle.cli.doctor.report import WRONG, Finding, printed, wrong
from aisle.errors import AisleError, SettingsError
from aisle.settings import Loaded, Settings, data_root, load, settings_files

Check = Callable[[Loaded], Iterable[Finding]]


def run(arguments: argparse.Namespace) -> int:
    """Prints a verdict a line and a sentence at the end; 1 when something is wrong."""
    loaded, findings = _settings(arguments)
    if arguments.settings:
        from aisle.cli.doctor import files
        from aisle.cli.doctor.in_force import print_settings

        findings += [finding for finding in _looked("settings", files.settings, loaded) if finding.verdict == WRONG]
        print_settings(loaded, findings, as_json=arguments.json)
        return int(bool(findings))
    for name, check in checks(_named(arguments.database) if arguments.database else None):
        findings += _looked(name, check, loaded)
    printed(findings, as_json=arguments.json)
    return int(any(finding.verdict == WRONG for finding in findings))


def _named(database: str) -> Path | str:
    from aisle.service.storage.engine import named_database

    return named_database(database)


def checks(database: Path | str | None = None) -> tuple[tuple[str, Check], ...]:
    """What is looked at, in this order, and what looks at it; of a `database` of a service, how large it is."""
    from aisle.cli.doctor import files, host, service, sizes, store, terminal

    return (
        ("python", host.python),
        ("sqlite", host.sqlite),
        ("home", host.home),
        ("disk", host.disk),
        ("settings", files.settings),
        ("token", files.token),
        ("service", service.service),
        ("courier", store.courier),
        ("link", store.link),
        ("cache", store.cache),
        ("outbox", store.outbox),
        ("journal", store.journal),
        ("sizes", sizes.sizes),
        *((("sizes", lambda _: sizes.database(database)),) if database else ()),
        ("sessions", store.sessions),
        ("terminal", terminal.terminal),
        ("scanner", terminal.scanner),
    )


def _settings(arguments: argparse.Namespace) -> tuple[Loaded, list[Finding]]:
    """The settings in force. Of files that are wrong, what is right in them; a wrong variable is told here."""
    given = {key: value for key, value in vars(arguments).items() if key in Settings._fields}
    try:
        return load(given, strict=False), []
    except SettingsError as error:
        said = {key: value for key, value in given.items() if value is not None}
        sources = dict.fromkeys(said, "the command line")
        loaded = Loaded(Settings(**said), data_root(os.environ), sources, settings_files(os.environ))
        return loaded, [wrong("settings", str(error), "Variables and files are left out of all that follows.")]


def _looked(name: str, check: Check, loaded: Loaded) -> list[Finding]:
    """What a check finds; one that fails itself is a finding too, so that the others are still made."""
    try:
        return list(check(loaded))
    except AisleError as error:
        return [wrong(name, "cannot be used", str(error))]
    except Exception as error:  # whatever is broken here is what the doctor was called for
        return [wrong(name, "cannot be looked at", f"{type(error).__name__}: {error}")]
