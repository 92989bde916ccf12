"""`aisle doctor`: looks at everything that work on this host stands on, changes nothing, and says what it found."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from aisle.cli.doctor.report import WRONG, Finding, print_findings, wrong
from aisle.errors import AisleError, SettingsError
from aisle.settings import LoadedSettings, Settings, find_data_folder, load_settings, settings_files

Check = Callable[[LoadedSettings], Iterable[Finding]]


def run(arguments: argparse.Namespace) -> int:
    """Prints a verdict a line and a sentence at the end; 1 when something is wrong."""
    loaded, findings = _settings_from_arguments(arguments)
    if arguments.settings:
        from aisle.cli.doctor import settings
        from aisle.cli.doctor.settings import print_settings

        findings += [
            finding for finding in _run_check("settings", settings.check_settings, loaded) if finding.verdict == WRONG
        ]
        print_settings(loaded, findings, as_json=arguments.json)
        return int(bool(findings))
    for name, check in checks(_named(arguments.database) if arguments.database else None):
        findings += _run_check(name, check, loaded)
    print_findings(findings, as_json=arguments.json)
    return int(any(finding.verdict == WRONG for finding in findings))


def _named(database: str) -> Path | str:
    from aisle.service.db import parse_database_url

    return parse_database_url(database)


def checks(database: Path | str | None = None) -> tuple[tuple[str, Check], ...]:
    """What is looked at, in this order, and what looks at it; of a `database` of a service, how large it is."""
    from aisle.cli.doctor import host, service, settings, sizes, store

    return (
        ("python", host.check_python),
        ("sqlite", host.check_sqlite),
        ("home", host.check_home),
        ("disk", host.check_disk),
        ("settings", settings.check_settings),
        ("token", settings.check_token),
        ("service", service.check_service),
        ("courier", store.check_courier),
        ("link", store.check_link),
        ("cache", store.check_cache),
        ("outbox", store.check_outbox),
        ("journal", store.check_journal),
        ("sizes", sizes.sizes),
        *((("sizes", lambda _: sizes.database(database)),) if database else ()),
        ("sessions", store.check_sessions),
        ("terminal", host.check_terminal),
        ("scanner", host.check_scanner),
    )


def _settings_from_arguments(arguments: argparse.Namespace) -> tuple[LoadedSettings, list[Finding]]:
    """The settings in force. Of files that are wrong, what is right in them; a wrong variable is told here."""
    given = {key: value for key, value in vars(arguments).items() if key in Settings._fields}
    try:
        return load_settings(given, strict=False), []
    except SettingsError as error:
        said = {key: value for key, value in given.items() if value is not None}
        sources = dict.fromkeys(said, "the command line")
        loaded = LoadedSettings(Settings(**said), find_data_folder(os.environ), sources, settings_files(os.environ))
        return loaded, [wrong("settings", str(error), "Variables and files are left out of all that follows.")]


def _run_check(name: str, check: Check, loaded: LoadedSettings) -> list[Finding]:
    """What a check finds; one that fails itself is a finding too, so that the others are still made."""
    try:
        return list(check(loaded))
    except AisleError as error:
        return [wrong(name, "cannot be used", str(error))]
    except Exception as error:  # whatever is broken here is what the doctor was called for
        return [wrong(name, "cannot be looked at", f"{type(error).__name__}: {error}")]
