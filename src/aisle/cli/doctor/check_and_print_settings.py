"""Checks of the settings files and the token."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from aisle.cli.doctor.report import Finding, format_count, ok, wrong
from aisle.client.token_file import read_token
from aisle.errors import SettingsError
from aisle.safe_text import clean
from aisle.session.profile_from_settings import profile_from_settings
from aisle.settings.parse_settings_file import read_settings_file
from aisle.settings.setting_definitions import EMBEDDED, Settings, service_url
from aisle.settings.settings_files_and_folders import MISSING_FILE, LoadedSettings, file_stamps
from aisle.settings.terminal_name import terminal_name
from aisle.text_cells import width


def check_settings(loaded: LoadedSettings) -> Iterable[Finding]:
    """Check each settings file, then the settings as a whole."""
    stamped = zip(loaded.files, file_stamps(loaded.files), strict=True)
    existing = [path for path, stamp in stamped if stamp != MISSING_FILE]
    for path in existing:
        file = read_settings_file(path, linked=path.parent != loaded.data_folder)
        for problem in file.problems:
            yield wrong("settings", problem, "What the file said before is in force." * (problem in loaded.problems))
        if not file.problems:
            sections = format_count(len(file.stores) + len(file.devices), "section")
            yield ok("settings", f"{path}, {sections}", file=str(path))
    if not existing:
        yield ok("settings", f"no file: {', '.join(str(path) for path in loaded.files) or 'none is looked for'}")
    try:
        profile_from_settings(loaded.settings, loaded.sources)
    except SettingsError as error:
        yield wrong("settings", str(error))


def check_token(loaded: LoadedSettings) -> Iterable[Finding]:
    """Check the token file without showing its content."""
    path = loaded.settings.token_file
    if service_url(loaded.settings) == EMBEDDED:
        yield ok("token", "the embedded store makes its own")
    elif not path:
        yield wrong("token", "there is none", "The service asks for one.", "Set token_file to a file of mode 0600.")
    else:
        try:
            read_token(path)
        except SettingsError as error:
            yield wrong("token", str(error), file=path)
        else:
            yield ok("token", f"{path}, for this account alone", file=path)


DEFAULT = "default"


def print_settings(loaded: LoadedSettings, findings: Sequence[Finding], *, as_json: bool) -> None:
    """Print one line per key: its value and its source (file and section, variable, command line or default)."""
    rows = {name: (_shown_value(name, loaded.settings), loaded.sources.get(name, DEFAULT)) for name in Settings._fields}
    if as_json:
        settings = {name: {"value": value, "from": source} for name, (value, source) in rows.items()}
        print(
            json.dumps(
                {"settings": settings, "wrong": [finding.what for finding in findings]}, indent=1, default=_json_value
            )
        )
        return
    print(clean(f"Store {loaded.settings.store}, terminal {terminal_name(loaded.settings)}"))
    shown = [(name, clean(_format_value(value)), clean(source)) for name, (value, source) in rows.items()]
    widths = [max(width(row[column]) for row in shown) for column in (0, 1)]
    for name, value, source in shown:
        print(f"{name:{widths[0]}}  {value}{' ' * (min(40, widths[1]) - width(value))}  {source}")
    for finding in findings:
        print(clean(f"wrong: {finding.what}"))


def _shown_value(name: str, settings: Settings) -> Any:
    """Return a setting for display, without secrets."""
    value = getattr(settings, name)
    if name == "token_header" and value != Settings._field_defaults[name]:
        return "(set)"
    if name == "base_url" and "@" in value:
        parts = urlsplit(value)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    return value


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return " | ".join(value) or "-"
    return str(value) or "-"


def _json_value(value: object) -> object:
    return float(value) if isinstance(value, Decimal) else str(value)
