"""Loading of settings: which value is in force.

Precedence: command line, AISLE_* variables, sections of the device, sections of the store, top level of settings.toml.
On each level the user's file overrides the site's. `parse_settings_file` orders several sections of one device.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.errors import SettingsError
from aisle.settings.setting_definitions import (
    COMMAND_LINE_ONLY,
    Settings,
    setting_type,
    settings_from_values,
    validate_setting,
)
from aisle.settings.settings_files_and_folders import (
    MISSING_FILE,
    LoadedSettings,
    file_stamps,
    find_data_folder,
    settings_files,
    trusted_data_folder,
)


def load_settings(
    command_line_values: Mapping[str, object], environ: Mapping[str, str] = os.environ, *, strict: bool = True
) -> LoadedSettings:
    """Return the settings in force; `command_line_values` has the values of the command line.

    A file with an error has no effect: its last valid version is in force. Without one, raise SettingsError with the
    file, the section and the key; if `strict` is False, ignore invalid values instead. Also raise it for an invalid
    variable, and for a data folder that other accounts may change.
    """
    files = settings_files(environ)
    if strict:
        trusted_data_folder(environ)
    stamps = file_stamps(files)
    given = {key: value for key, value in command_line_values.items() if value is not None}
    if "store" in given:
        validate_setting("store", given["store"], "the command line")
    from_command_line = {"the command line": given}
    variables = _settings_from_environ(environ)
    levels: dict[str, Mapping[str, object]] = {}
    problems: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()
    if any(found != MISSING_FILE for found in stamps):
        from aisle.settings.parse_settings_file import read_valid_files, setting_levels

        valid_files, problems = read_valid_files(files, find_data_folder(environ), strict=strict)
        levels = setting_levels(valid_files, {**variables, **given}, environ)
        stores = tuple(sorted({store for file in valid_files for store in file.stores}))
    levels |= {_variable_name(key): {key: value} for key, value in variables.items()} | from_command_line
    values: dict[str, object] = {}
    sources: dict[str, str] = {}
    for source, level in levels.items():
        values.update(level)
        sources.update(dict.fromkeys(level, source))
    return LoadedSettings(
        settings_from_values(values), find_data_folder(environ), sources, files, stamps, given, problems, stores
    )


def _settings_from_environ(environ: Mapping[str, str]) -> dict[str, object]:
    values: dict[str, object] = {}
    for key in Settings._fields:
        name = _variable_name(key)
        text = environ.get(name)
        if text and key not in COMMAND_LINE_ONLY:
            values[key] = validate_setting(key, _parse_variable(setting_type(key), text, name), name)
    return values


def _variable_name(key: str) -> str:
    return f"AISLE_{key.upper()}"


def _parse_variable(setting_type: Any, text: str, where: str) -> Any:
    if setting_type is bool:
        yes, no = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
        if text.casefold() not in yes + no:
            raise SettingsError(f"{where} is {text!r}; it takes true or false.")
        return text.casefold() in yes
    if setting_type is Decimal:
        try:
            return Decimal(text)
        except ArithmeticError:
            raise SettingsError(f"{where} is {text!r}; it takes a number.") from None
    return text if setting_type is str else tuple(part for part in text.split("|") if part)
