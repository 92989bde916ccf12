"""`aisle doctor`: checks everything that aisle needs on this host, and changes nothing.

Each module has checks of one area, each of which yields findings (`report.py`). A failed check is itself a finding.
Start with `checks`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import click

from aisle.cli.doctor import host_settings_and_terminal, service, store_files_and_courier
from aisle.cli.doctor.report import WRONG, Finding, print_findings, wrong
from aisle.cli.options import SettingValues, setting_options
from aisle.errors import AisleError, SettingsError
from aisle.service.db import parse_database_url
from aisle.settings.load_settings import load_settings
from aisle.settings.setting_definitions import settings_from_values
from aisle.settings.settings_files_and_folders import LoadedSettings, find_data_folder, settings_files

Check = Callable[[LoadedSettings], Iterable[Finding]]


@click.command()
@click.option("--settings", "show_settings", is_flag=True, help="Print the settings in force and their sources.")
@click.option("--database", metavar="URL", help="Print the sizes of this service database, too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for programs.")
@click.option("--terminal", help="Check with the settings of this terminal.")
@setting_options
def doctor(
    show_settings: bool, database: str | None, as_json: bool, terminal: str | None, setting_values: SettingValues
) -> int:
    """Check what aisle needs on this host, and change nothing.

    Each line has a verdict. The exit status is 1 if something is wrong.
    """
    loaded, findings = _load_settings({**setting_values, "terminal": terminal})
    if show_settings:
        findings += [
            finding
            for finding in _run_check("settings", host_settings_and_terminal.check_settings, loaded)
            if finding.verdict == WRONG
        ]
        host_settings_and_terminal.print_settings(loaded, findings, as_json=as_json)
        return int(bool(findings))
    for name, check in checks(_named(database) if database else None):
        findings += _run_check(name, check, loaded)
    print_findings(findings, as_json=as_json)
    return int(any(finding.verdict == WRONG for finding in findings))


def _named(database: str) -> Path | str:
    return parse_database_url(database)


def checks(database: Path | str | None = None) -> tuple[tuple[str, Check], ...]:
    """Return the checks in order, with their names; with `database`, also the sizes of that service database."""
    return (
        ("python", host_settings_and_terminal.check_python),
        ("sqlite", host_settings_and_terminal.check_sqlite),
        ("home", host_settings_and_terminal.check_home),
        ("disk", host_settings_and_terminal.check_disk),
        ("settings", host_settings_and_terminal.check_settings),
        ("token", host_settings_and_terminal.check_token),
        ("service", partial(service.check_service, needs_store=database is None)),
        ("courier", store_files_and_courier.check_courier),
        ("link", store_files_and_courier.check_link),
        ("cache", store_files_and_courier.check_cache),
        ("outbox", store_files_and_courier.check_outbox),
        ("journal", store_files_and_courier.check_journal),
        ("sizes", host_settings_and_terminal.sizes),
        *((("sizes", lambda _: host_settings_and_terminal.database(database)),) if database else ()),
        ("sessions", store_files_and_courier.check_sessions),
        ("terminal", host_settings_and_terminal.check_terminal),
        ("scanner", host_settings_and_terminal.check_scanner),
    )


def _load_settings(setting_values: SettingValues) -> tuple[LoadedSettings, list[Finding]]:
    """Return the settings in force, using valid parts of invalid files; report a wrong variable here."""
    try:
        return load_settings(setting_values, strict=False), []
    except SettingsError as error:
        command_line_values = {key: value for key, value in setting_values.items() if value is not None}
        sources = dict.fromkeys(command_line_values, "the command line")
        loaded = LoadedSettings(
            settings_from_values(command_line_values),
            find_data_folder(os.environ),
            sources,
            settings_files(os.environ),
        )
        return loaded, [wrong("settings", str(error), "The checks below ignore variables and files.")]


def _run_check(name: str, check: Check, loaded: LoadedSettings) -> list[Finding]:
    """Return the findings of a check; if it fails, that is a finding, so that the others still run."""
    try:
        return list(check(loaded))
    except AisleError as error:
        return [wrong(name, "cannot be used", str(error))]
    except Exception as error:  # any failure here is worth a finding
        return [wrong(name, "cannot be checked", f"{type(error).__name__}: {error}")]
