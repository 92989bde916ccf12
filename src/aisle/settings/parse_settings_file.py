"""Parser of settings.toml: keys at the top, sections for a store and for a device, names of terminals.

    verified = false
    [store]
    number = "0001"             # the same as store = "0001" at the top, which TOML forbids beside a section of it
    [store."0042"]
    verified = true
    [device."handheld-*"]       # the terminal's name; an exact name overrides a pattern, a later pattern an earlier one
    bell_good = true
    [terminals]
    "10.1.2.3" = "handheld-7"   # address of the SSH client

A file with an error is replaced by its last valid content (`read_valid_files`). An unknown key is an error; its message
has the file, the section and the most similar known key. Precedence over variables and the command line:
`load_settings`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from aisle.errors import SettingsError
from aisle.file_ownership import ownership_advice, ownership_error, write_private
from aisle.settings.setting_definitions import COMMAND_LINE_ONLY, DEMO_STORE, Settings, validate_setting
from aisle.settings.settings_files_and_folders import MISSING_FILE, LoadedSettings, file_stamps
from aisle.settings.terminal_name import terminal_name

STORE_NUMBER_KEY = "number"
"""Key of the store itself in the table `[store]`."""

_TABLES = ("store", "device", "terminals")

_HOST_KEYS = (
    *("base_url", "token_file", "token_header", "ca_file", "allow_plain_http", "time_zone"),
    *(name for name in Settings._fields if name.startswith("keep_")),
)
"""Settings that one courier, or `aisle purge`, uses for the whole host."""

_FORBIDDEN_KEYS = {"store": ("store", "terminal"), "device": ("terminal", *_HOST_KEYS)}
"""Keys that a section must not have: those that select the section, and those of the whole host."""

_BYTE_ORDER_MARK = "\ufeff"
"""Byte order mark that some editors write at the start."""

_REPAIR_ADVICE = "Mend the file or move it away."
_ACCESS_ADVICE = "Let this account read it, and look into the folders above it."


class SettingsFile(NamedTuple):
    """One settings file, parsed and checked. Sections by name, in the order of the file."""

    path: Path
    top: Mapping[str, object] = {}
    stores: Mapping[str, Mapping[str, object]] = {}
    devices: Mapping[str, Mapping[str, object]] = {}
    terminals: Mapping[str, str] = {}
    problems: tuple[str, ...] = ()
    """Errors in the file, one or two sentences each; valid values are kept."""


def read_settings_file(path: Path, *, linked: bool = True) -> SettingsFile:
    """Return one settings file.

    If it is unreadable, or other accounts may change it, it is empty and has a problem. If `linked` is True, it may be
    a link to a file of this account or of root.
    """
    try:
        if why := ownership_error(path.stat() if linked else path.lstat(), or_root=True):
            return SettingsFile(path, problems=(f"{path} cannot be trusted: {why}. {ownership_advice(path, why)}",))
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        return SettingsFile(
            path, problems=(f"{path} cannot be read: it is not in UTF-8 (at line {line}). Save it in UTF-8.",)
        )
    except OSError as error:
        advice = _ACCESS_ADVICE if isinstance(error, PermissionError) else _REPAIR_ADVICE
        return SettingsFile(path, problems=(f"{path} cannot be read: {error.strerror}. {advice}",))
    return _parse_file(path, text)


def read_valid_files(
    paths: tuple[Path, ...], root: Path, *, strict: bool
) -> tuple[list[SettingsFile], tuple[str, ...]]:
    """Return the files that exist, and their errors; a file with errors has its last valid content.

    Without a last valid content raise SettingsError with the first error. If `strict` is False, return the valid parts
    and no errors instead.
    """
    candidates = zip(paths, file_stamps(paths), strict=True)
    files = [
        read_settings_file(path, linked=path.parent != root) for path, stamp in candidates if stamp != MISSING_FILE
    ]
    problems = tuple(problem for file in files for problem in file.problems)
    if not problems:
        return files, ()

    texts = load_last_valid(root)
    if texts is not None:
        last_valid = {file.path: file for file in (_parse_file(Path(path), text) for path, text in texts.items())}
        usable = [last_valid.get(file.path, SettingsFile(file.path)) if file.problems else file for file in files]
        if not any(file.problems for file in usable):
            return usable, problems
    if strict:
        more = f" ({len(problems) - 1} more: aisle doctor)" if problems[1:] else ""
        raise SettingsError(problems[0] + more)
    return files, ()


def _parse_file(path: Path, text: str) -> SettingsFile:
    try:
        return _check_file(path, tomllib.loads(text.removeprefix(_BYTE_ORDER_MARK)))
    except tomllib.TOMLDecodeError as error:
        advice = _store_key_advice(text) or _repeated_key_advice(text, str(error)) or _REPAIR_ADVICE
        why = str(error).replace("at end of document", f"at line {len(text.splitlines())}, the last")
        return SettingsFile(path, problems=(f"{path} cannot be read: {why}. {advice}",))


def _store_key_advice(text: str) -> str:
    lines = [line.strip() for line in text.splitlines()]
    key = any(line.partition("=")[0].strip() == "store" and "=" in line for line in lines)
    if key and any(line.startswith(("[store]", "[store.")) for line in lines):
        return (
            f'TOML has no room for store = "…" beside [store."…"]:'
            f' write {STORE_NUMBER_KEY} = "…" under [store] instead.'
        )
    return ""


def _repeated_key_advice(text: str, error: str) -> str:
    """Return advice about a repeated key, because the TOML error has only its line number."""
    found = re.search(r"overwrite a value \(at line (\d+)", error)
    line = text.splitlines()[int(found[1]) - 1] if found else ""
    return f"The key {line.partition('=')[0].strip()} is there twice: keep one of them." if "=" in line else ""


def setting_levels(
    files: Sequence[SettingsFile], stronger: Mapping[str, object], environ: Mapping[str, str]
) -> dict[str, Mapping[str, object]]:
    """Return the values of the files for this store and device, by source, in ascending precedence.

    `stronger` has the values that override them.
    """
    top = {key: value for file in files for key, value in file.top.items()}
    named = _terminal_levels(files, environ)
    terminal = stronger.get("terminal") or top.get("terminal") or next(iter(named.values()), {}).get("terminal", "")
    devices = _device_levels(files, str(terminal), environ)
    of_devices = {key: value for level in devices.values() for key, value in level.items()}
    store = str(stronger.get("store") or of_devices.get("store") or top.get("store") or DEMO_STORE)
    return {
        **named,
        **{str(file.path): file.top for file in files},
        **{_section_name(file.path, "store", store): file.stores[store] for file in files if store in file.stores},
        **devices,
    }


def _terminal_levels(files: Iterable[SettingsFile], environ: Mapping[str, str]) -> dict[str, Mapping[str, object]]:
    """Return the terminal name that a file assigns to the address of the SSH client."""
    client = environ.get("SSH_CLIENT", "").split(" ")[0]
    found = [file for file in files if client in file.terminals]
    return {f"{file.path} [terminals]": {"terminal": file.terminals[client]} for file in found[-1:]}


def _device_levels(
    files: Iterable[SettingsFile], terminal: str, environ: Mapping[str, str]
) -> dict[str, Mapping[str, object]]:
    """Return the sections of this device in ascending precedence; in each file the exact name after the patterns."""
    levels: dict[str, Mapping[str, object]] = {}
    for file in files:
        if not file.devices:
            continue
        name = terminal_name(Settings(terminal=terminal), environ)
        matching = [pattern for pattern in file.devices if pattern != name and fnmatchcase(name, pattern)]
        if name in file.devices:
            matching.append(name)
        levels |= {_section_name(file.path, "device", pattern): file.devices[pattern] for pattern in matching}
    return levels


def _section_name(path: Path, table: str, name: str) -> str:
    return f'{path} [{table}."{name}"]'


# Checks of one file


def _check_file(path: Path, table: Mapping[str, object]) -> SettingsFile:
    problems: list[str] = []
    plain = {key: value for key, value in table.items() if not (key in _TABLES and isinstance(value, dict))}
    stores, devices, terminals = (table.get(name) for name in _TABLES)
    top = _check_keys(plain, str(path), (), problems)
    if isinstance(stores, dict) and STORE_NUMBER_KEY in stores:
        top |= _check_keys({"store": stores[STORE_NUMBER_KEY]}, f"{path} [store] {STORE_NUMBER_KEY}", (), problems)
        stores = {name: section for name, section in stores.items() if name != STORE_NUMBER_KEY}
    return SettingsFile(
        path,
        top,
        _check_sections(path, "store", stores, problems),
        _check_sections(path, "device", devices, problems),
        _check_terminals(path, terminals, problems),
        tuple(problems),
    )


def _check_sections(path: Path, table: str, sections: Any, problems: list[str]) -> dict[str, Mapping[str, object]]:
    found: dict[str, Mapping[str, object]] = {}
    for name, section in (sections if isinstance(sections, dict) else {}).items():
        if not isinstance(section, dict):
            problems.append(
                f"{path} has {name!r} in [{table}]; keys stand at the top of the file or in "
                f'[{table}."{"0042" if table == "store" else "handheld-7"}"].'
            )
            continue
        found[name] = _check_keys(section, _section_name(path, table, name), _FORBIDDEN_KEYS[table], problems)
    return found


def _check_terminals(path: Path, names: Any, problems: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for address, name in (names if isinstance(names, dict) else {}).items():
        if isinstance(name, str) and name:
            found[address] = name
        else:
            problems.append(f'{address!r} in {path} [terminals] is {name!r}; it takes a name: "{address}" = "dock 3".')
    return found


def _check_keys(
    table: Mapping[str, object], where: str, forbidden: tuple[str, ...], problems: list[str]
) -> dict[str, object]:
    """Return the known keys of a table with valid values; add a problem for each of the others."""
    values: dict[str, object] = {}
    for key, value in table.items():
        if key in COMMAND_LINE_ONLY:
            problems.append(f"{key} cannot be set in {where}; it is said on the command line: aisle --{key}")
        elif key in forbidden:
            problems.append(f"{key} cannot be set in {where}; it belongs at the top of the file.")
        elif key not in Settings._fields and not (key in _TABLES and key != "store"):
            problems.append(f"{where} has the unknown {_value_kind(value)} {key!r}; {_nearest(key, forbidden)}")
        else:
            try:
                values[key] = _check_value(key, value, where)
            except SettingsError as error:
                problems.append(str(error))
    return values


def _check_value(key: str, value: Any, where: str) -> Any:
    if key not in Settings._fields:
        raise SettingsError(f"{key} in {where} is {value!r}; it is a table: [{key}].")
    return validate_setting(key, value, where)


def _value_kind(value: Any) -> str:
    return "section" if isinstance(value, dict) else "key"


def _nearest(key: str, forbidden: tuple[str, ...]) -> str:
    known = [field for field in Settings._fields if field not in (*forbidden, *COMMAND_LINE_ONLY)]
    known += () if forbidden else _TABLES[1:]
    near = get_close_matches(key, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}."


LAST_VALID_FILE = "settings.kept"
"""File in the data folder, readable by this account only: the text of each settings file by path."""


def load_last_valid(root: Path) -> Mapping[str, str] | None:
    """Return the texts of the last valid files; None if no session has started yet or they are unreadable."""
    file = root / LAST_VALID_FILE
    try:
        if not file.is_file():  # reading a pipe would block
            return None
        found = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None
    is_ours = isinstance(found, dict) and all(isinstance(text, str) for text in found.values())
    return found if is_ours else None


def save_last_valid(loaded: LoadedSettings) -> None:
    """Store the texts that these settings were read from, unless they have an error or have changed since.

    Write errors are ignored: a full disk is reported by data that must be stored.
    """
    if loaded.problems:
        return
    try:
        texts = {str(path): path.read_text(encoding="utf-8") for path in loaded.files if path.is_file()}
    except (OSError, UnicodeDecodeError):
        return
    if file_stamps(loaded.files) == loaded.stamps and load_last_valid(loaded.data_folder) != texts:
        with suppress(OSError):
            write_private(loaded.data_folder / LAST_VALID_FILE, json.dumps(texts))
