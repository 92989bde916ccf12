"""Loading of settings: which value is in force, and the folders and files that they come from.

Precedence: command line, AISLE_* variables, sections of the device, sections of the store, top level of settings.toml.
On each level the user's file overrides the site's. Files are where platformdirs puts them; `AISLE_HOME` moves
everything into one folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from aisle.errors import SettingsError
from aisle.settings.setting_definitions import (
    COMMAND_LINE_ONLY,
    Settings,
    setting_type,
    settings_from_values,
    validate_setting,
)
from aisle.untrusted_files import untrusted_error

_HOME_ADVICE = "Set AISLE_HOME to a folder, from / on."


FileStamps = tuple[tuple[int, int, int], ...]
"""State of the settings files, to notice changes; an absent file has `MISSING_FILE`."""

MISSING_FILE = (0, 0, 0)
UNREADABLE_FILE = (0, 0, 1)
"""State of a file that this account cannot access: it may exist, with any content."""


class LoadedSettings(NamedTuple):
    """Settings with their sources, and the data folder of this host."""

    settings: Settings
    data_folder: Path
    """Folder of databases, locks and sockets."""
    sources: Mapping[str, str] = {}
    """Source of each key without its default: a file and section, a variable, or the command line."""
    files: tuple[Path, ...] = ()
    """Settings files, present or not, in ascending precedence."""
    stamps: FileStamps = ()
    """State of the files before they were read."""
    command_line_values: Mapping[str, object] = {}
    """Values from the command line."""
    problems: tuple[str, ...] = ()
    """Errors in the files; for those files the last valid version is in force."""


def find_data_folder(environ: Mapping[str, str]) -> Path:
    """Return the data folder of this host: AISLE_HOME, else the user's data folder. Raise SettingsError if there is
    none.
    """
    if home := environ.get("AISLE_HOME"):
        try:
            return Path(home).expanduser().absolute()
        except (RuntimeError, OSError) as error:  # unknown user in the path, or the working directory was deleted
            raise SettingsError(f"AISLE_HOME is {home!r}, and nobody knows where that is. {_HOME_ADVICE}") from error
    return _account_folder(_platform_folders().user_data_path)


def trusted_data_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the data folder of this host. Raise SettingsError if there is none, or if other accounts may change it."""
    folder = find_data_folder(environ)
    if why := untrusted_error(folder, folder=True):
        raise SettingsError(why)
    return folder


def _platform_folders() -> ModuleType:
    import platformdirs  # loads much, and AISLE_HOME or a command may do without

    return platformdirs


def _account_folder(find: Callable[..., Path]) -> Path:
    """Return a folder of this account.

    Raise SettingsError if the account has no home; a relative path would differ between processes.
    """
    try:
        folder = find("aisle", appauthor=False)
    except RuntimeError:
        folder = Path()
    if not folder.is_absolute():
        raise SettingsError(f"This account has no home for its settings and its data. {_HOME_ADVICE}")
    return folder


def settings_files(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the settings files in ascending precedence."""
    if environ.get("AISLE_HOME"):
        return (find_data_folder(environ) / "settings.toml",)
    platform = _platform_folders()
    folders = (platform.site_config_path("aisle", appauthor=False), _account_folder(platform.user_config_path))
    return tuple(folder / "settings.toml" for folder in folders)


def file_stamps(files: tuple[Path, ...]) -> FileStamps:
    """Return the state of the settings files; none of them is opened."""
    return tuple(map(_file_stamp, files))


def _file_stamp(path: Path) -> tuple[int, int, int]:
    try:
        status = os.stat(path)
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError | NotADirectoryError) and not path.is_symlink()
        return MISSING_FILE if is_missing else UNREADABLE_FILE
    return status.st_mtime_ns, status.st_size, status.st_ino


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
    if any(found != MISSING_FILE for found in stamps):
        from aisle.settings.parse_settings_file import read_valid_files, setting_levels

        valid_files, problems = read_valid_files(files, find_data_folder(environ), strict=strict)
        levels = setting_levels(valid_files, {**variables, **given}, environ)
    levels |= {_variable_name(key): {key: value} for key, value in variables.items()} | from_command_line
    values: dict[str, object] = {}
    sources: dict[str, str] = {}
    for source, level in levels.items():
        values.update(level)
        sources.update(dict.fromkeys(level, source))
    return LoadedSettings(
        settings_from_values(values), find_data_folder(environ), sources, files, stamps, given, problems
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
