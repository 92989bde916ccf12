"""Files and folders of settings, and the type of the settings that are loaded from them.

Files are where platformdirs puts them; `AISLE_HOME` moves everything into one folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from aisle.errors import SettingsError
from aisle.file_ownership import untrusted_error
from aisle.settings.setting_definitions import Settings

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
    stores: tuple[str, ...] = ()
    """Stores with sections of their own in the files in force."""


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
