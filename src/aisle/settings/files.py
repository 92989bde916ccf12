"""What a settings.toml may say: keys at the top, sections for a store and for a device, names for terminals.

    verified = false
    [store]
    number = "0001"             # the same as store = "0001" at the top, which TOML cannot have beside a section of it
    [store."0042"]
    verified = true
    [device."handheld-*"]       # the terminal's name; an exact name beats a pattern, a later pattern an earlier one
    bell_good = true
    [terminals]
    "10.1.2.3" = "handheld-7"   # address of the SSH client

Nobody guesses: what is not known is an error that names the file, the section and the nearest thing that is known.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from aisle.errors import SettingsError
from aisle.own import what_to_do, why_not_own
from aisle.settings import COMMAND_LINE, DEMO_STORE, GONE, Settings, fitting, stamp_of, terminal_name
from aisle.tuples import NamedTuple

NUMBER = "number"
"""The store itself, as a key of the table `[store]`."""

_TABLES = ("store", "device", "terminals")

_OF_THE_HOST = (
    *("base_url", "token_file", "token_header", "ca_file", "allow_plain_http", "time_zone"),
    *(name for name in Settings._fields if name.startswith("keep_")),
)
"""What one courier goes by for all terminals of a host."""

_NOT_IN = {"store": ("store", "terminal"), "device": ("terminal", *_OF_THE_HOST)}
"""Keys that a section must not have: those that say which section it is, and those that are not its to say."""

_MARK = "\ufeff"
"""What some editors put before a text."""

_MEND = "Mend the file or move it away."
_LET_IN = "Let this account read it, and look into the folders above it."


class File(NamedTuple):
    """One settings file, read and checked. Sections by the name in their heads, in the order of the file."""

    path: Path
    top: Mapping[str, Any] = {}
    stores: Mapping[str, Mapping[str, Any]] = {}
    devices: Mapping[str, Mapping[str, Any]] = {}
    terminals: Mapping[str, str] = {}
    problems: tuple[str, ...] = ()
    """What is wrong with it, each a sentence or two; what is right is kept all the same."""


def read(path: Path, *, linked: bool = True) -> File:
    """One settings file; one that cannot be read, or that others may change, is empty and has a problem. With `linked`
    it may be a link to a file that is this account's, or root's."""
    try:
        if why := why_not_own(path.stat() if linked else path.lstat(), or_root=True):
            return File(path, problems=(f"{path} cannot be trusted: {why}. {what_to_do(path, why)}",))
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        return File(path, problems=(f"{path} cannot be read: it is not in UTF-8 (at line {line}). Save it in UTF-8.",))
    except OSError as error:
        advice = _LET_IN if isinstance(error, PermissionError) else _MEND
        return File(path, problems=(f"{path} cannot be read: {error.strerror}. {advice}",))
    return _parsed(path, text)


def right(paths: tuple[Path, ...], root: Path, *, strict: bool) -> tuple[list[File], tuple[str, ...]]:
    """The files that are there, each with an error as it was when it had none; and what is wrong.

    Where nobody knows how it was, raises SettingsError with the first thing that is wrong; not strict, they are as they
    are, without what is wrong, and nothing is told.
    """
    found = zip(paths, stamp_of(paths), strict=True)
    files = [read(path, linked=path.parent != root) for path, stamp in found if stamp != GONE]
    problems = tuple(problem for file in files for problem in file.problems)
    if not problems:
        return files, ()
    from aisle.settings.kept import kept

    texts = kept(root)
    if texts is not None:
        known = {file.path: file for file in (_parsed(Path(path), text) for path, text in texts.items())}
        before = [known.get(file.path, File(file.path)) if file.problems else file for file in files]
        if not any(file.problems for file in before):
            return before, problems
    if strict:
        more = f" ({len(problems) - 1} more: aisle doctor)" if problems[1:] else ""
        raise SettingsError(problems[0] + more)
    return files, ()


def _parsed(path: Path, text: str) -> File:
    try:
        return _checked(path, tomllib.loads(text.removeprefix(_MARK)))
    except tomllib.TOMLDecodeError as error:
        advice = _both_stores(text) or _doubled(text, str(error)) or _MEND
        why = str(error).replace("at end of document", f"at line {len(text.splitlines())}, the last")
        return File(path, problems=(f"{path} cannot be read: {why}. {advice}",))


def _both_stores(text: str) -> str:
    lines = [line.strip() for line in text.splitlines()]
    key = any(line.partition("=")[0].strip() == "store" and "=" in line for line in lines)
    if key and any(line.startswith(("[store]", "[store.")) for line in lines):
        return f'TOML has no room for store = "…" beside [store."…"]: write {NUMBER} = "…" under [store] instead.'
    return ""


def _doubled(text: str, error: str) -> str:
    """The key that stands in one table twice, for which TOML has but the number of a line."""
    found = re.search(r"overwrite a value \(at line (\d+)", error)
    line = text.splitlines()[int(found[1]) - 1] if found else ""
    return f"The key {line.partition('=')[0].strip()} is there twice: keep one of them." if "=" in line else ""


def levels_of(
    files: Sequence[File], above: Mapping[str, Any], environ: Mapping[str, str]
) -> dict[str, Mapping[str, Any]]:
    """What the files say for this store and device, by where it stands, weakest first; `above` is what beats them."""
    top: dict[str, Any] = {key: value for file in files for key, value in file.top.items()}
    named = _named(files, environ)
    terminal = above.get("terminal") or top.get("terminal") or next(iter(named.values()), {}).get("terminal", "")
    devices = _devices(files, str(terminal), environ)
    of_devices = {key: value for level in devices.values() for key, value in level.items()}
    store = above.get("store") or of_devices.get("store") or top.get("store") or DEMO_STORE
    return {
        **named,
        **{str(file.path): file.top for file in files},
        **{_at(file.path, "store", store): file.stores[store] for file in files if store in file.stores},
        **devices,
    }


def _named(files: Iterable[File], environ: Mapping[str, str]) -> dict[str, Mapping[str, Any]]:
    """The name that a file gives to the address of the SSH client."""
    client = environ.get("SSH_CLIENT", "").split(" ")[0]
    found = [file for file in files if client in file.terminals]
    return {f"{file.path} [terminals]": {"terminal": file.terminals[client]} for file in found[-1:]}


def _devices(files: Iterable[File], terminal: str, environ: Mapping[str, str]) -> dict[str, Mapping[str, Any]]:
    """The sections of this device, weakest first; the exact name of each file after its patterns."""
    levels: dict[str, Mapping[str, Any]] = {}
    for file in files:
        if not file.devices:
            continue
        name = terminal_name(Settings(terminal=terminal), environ)
        fit = [pattern for pattern in file.devices if pattern != name and fnmatchcase(name, pattern)]
        if name in file.devices:
            fit.append(name)
        levels |= {_at(file.path, "device", pattern): file.devices[pattern] for pattern in fit}
    return levels


def _at(path: Path, table: str, name: str) -> str:
    return f'{path} [{table}."{name}"]'


# What is right and what is wrong in one file


def _checked(path: Path, table: Mapping[str, Any]) -> File:
    problems: list[str] = []
    plain = {key: value for key, value in table.items() if not (key in _TABLES and isinstance(value, dict))}
    stores, devices, terminals = (table.get(name) for name in _TABLES)
    top = _keys(plain, str(path), (), problems)
    if isinstance(stores, dict) and NUMBER in stores:
        top |= _keys({"store": stores[NUMBER]}, f"{path} [store] {NUMBER}", (), problems)
        stores = {name: section for name, section in stores.items() if name != NUMBER}
    return File(
        path,
        top,
        _sections(path, "store", stores, problems),
        _sections(path, "device", devices, problems),
        _terminals(path, terminals, problems),
        tuple(problems),
    )


def _sections(path: Path, table: str, sections: Any, problems: list[str]) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for name, section in (sections if isinstance(sections, dict) else {}).items():
        if not isinstance(section, dict):
            problems.append(
                f"{path} has {name!r} in [{table}]; keys stand at the top of the file or in "
                f'[{table}."{"0042" if table == "store" else "handheld-7"}"].'
            )
            continue
        found[name] = _keys(section, _at(path, table, name), _NOT_IN[table], problems)
    return found


def _terminals(path: Path, names: Any, problems: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for address, name in (names if isinstance(names, dict) else {}).items():
        if isinstance(name, str) and name:
            found[address] = name
        else:
            problems.append(f'{address!r} in {path} [terminals] is {name!r}; it takes a name: "{address}" = "dock 3".')
    return found


def _keys(table: Mapping[str, Any], where: str, barred: tuple[str, ...], problems: list[str]) -> dict[str, Any]:
    """The known keys of a table with values that fit; for the others a problem each."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        if key in COMMAND_LINE:
            problems.append(f"{key} cannot be set in {where}; it is said on the command line: aisle --{key}")
        elif key in barred:
            problems.append(f"{key} cannot be set in {where}; it belongs at the top of the file.")
        elif key not in Settings._fields and not (key in _TABLES and key != "store"):
            problems.append(f"{where} has the unknown {_kind(value)} {key!r}; {_nearest(key, barred)}")
        else:
            try:
                found[key] = _value(key, value, where)
            except SettingsError as error:
                problems.append(str(error))
    return found


def _value(key: str, value: Any, where: str) -> Any:
    if key not in Settings._fields:
        raise SettingsError(f"{key} in {where} is {value!r}; it is a table: [{key}].")
    return fitting(key, value, where)


def _kind(value: Any) -> str:
    return "section" if isinstance(value, dict) else "key"


def _nearest(key: str, barred: tuple[str, ...]) -> str:
    from difflib import get_close_matches

    known = [field for field in Settings._fields if field not in (*barred, *COMMAND_LINE)]
    known += () if barred else _TABLES[1:]
    near = get_close_matches(key, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}."
