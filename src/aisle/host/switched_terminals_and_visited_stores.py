"""Store that each terminal of this host works in after a switch, and the stores that were visited.

The configured store is a setting; `session/switch_store` switches.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from aisle.errors import StorageError
from aisle.file_ownership import ownership_error, untrusted_error, write_private
from aisle.host.store_and_database_folders import StoreFolder, short_hash

TERMINALS_FOLDER, VISITED_FOLDER = "terminals", "visited"
"""Folders beside the store folders: terminals switched to another store, and stores visited so."""


class TerminalStore(NamedTuple):
    """Store that a terminal works in after a switch."""

    configured_store: str
    """Store of its settings when it was switched; the note is invalid with other settings."""
    store: str
    user: str
    """Person who switched it."""


def check_note_folders(root: Path) -> None:
    """Raise StorageError if other accounts may change the folders of terminals and visited stores."""
    for name in (TERMINALS_FOLDER, VISITED_FOLDER):
        if why := untrusted_error(root / name, folder=True):
            raise StorageError(why, kind="shut")


def save_terminal_store(root: Path, terminal: str, terminal_store: TerminalStore) -> None:
    """Record that a terminal works in another store; delete the record if it is back.

    Raise OSError if that fails, StorageError if other accounts may change the folder.
    """
    check_note_folders(root)
    if terminal_store.configured_store in ("", terminal_store.store):
        _terminal_file(root, terminal).unlink(missing_ok=True)
    else:
        _write_json(_terminal_file(root, terminal), terminal_store._asdict())


def load_terminal_store(root: Path, terminal: str, configured_store: str = "") -> TerminalStore | None:
    """Return the record of a terminal that works in another store; None if it is at its own.

    `configured_store`: store of its current settings, if known.
    """
    record = _read_json(_terminal_file(root, terminal))
    try:
        found = TerminalStore(*(str(record[name]) for name in TerminalStore._fields)) if record else None
    except KeyError:
        return None
    return found if found and configured_store in ("", found.configured_store) else None


def mark_visited(store_folder: StoreFolder) -> None:
    """Record that a terminal of this host has worked in this store.

    Raise OSError if that fails, StorageError if other accounts may change the folder.
    """
    check_note_folders(store_folder.root)
    path = store_folder.root / VISITED_FOLDER / store_folder.name
    if not path.exists():
        _write_json(path, {"base_url": store_folder.base_url, "store": store_folder.store})


def visited_stores(root: Path, base_url: str) -> tuple[StoreFolder, ...]:
    """Return the stores of this service that terminals of this host were switched to or from."""
    try:
        names = sorted(os.listdir(root / VISITED_FOLDER))
    except OSError:
        return ()
    notes = [_read_json(root / VISITED_FOLDER / name) for name in names]
    return tuple(
        StoreFolder(root, base_url, str(note["store"])) for note in notes if note and note.get("base_url") == base_url
    )


def _terminal_file(root: Path, terminal: str) -> Path:
    return root / TERMINALS_FOLDER / short_hash(os.fsencode(terminal))


def _write_json(path: Path, content: dict[str, str]) -> None:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    write_private(path, json.dumps(content))


def _read_json(path: Path) -> dict[str, str]:
    """Return the content of a file; nothing if it cannot be read, or if other accounts may have written it."""
    if untrusted_error(path.parent, folder=True):
        return {}
    with suppress(OSError, ValueError):
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, encoding="utf-8") as stream:
            content = json.load(stream) if not ownership_error(os.fstat(handle)) else {}
            return content if isinstance(content, dict) else {}
    return {}
