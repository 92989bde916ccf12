"""The home folder of one store at one service: where each file of this host lies."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

TERMINALS_FOLDER, VISITED_FOLDER = "terminals", "visited"
"""Folders beside the homes: where terminals work that were changed to another store (`local.session.whereabouts`)."""

LOCK_FILE, LOG_FILE = "courier.lock", "courier.log"


class StoreFolder(NamedTuple):
    """Layout of one store's data; made of the data root, the service's address and the store number."""

    root: Path
    base_url: str
    store: str

    @property
    def name(self) -> str:
        """A short name of its own for each pair of address and store: 16 hexadecimal digits."""
        return short_hash(f"{self.base_url.rstrip('/')}\n{self.store}".encode("utf-8", "surrogateescape"))

    @property
    def folder(self) -> Path:
        """The store's folder; `open_outbox`, `open_cache`, `Election` and the sockets make it (0700)."""
        return self.root / self.name

    @property
    def cache(self) -> Path:
        """cache.db: what the service says; can be rebuilt."""
        return self.folder / "cache.db"

    @property
    def outbox(self) -> Path:
        """outbox.db: journal and outbox; precious."""
        return self.folder / "outbox.db"

    @property
    def lock(self) -> Path:
        """Held by the one courier of this store on this host."""
        return self.folder / LOCK_FILE

    @property
    def sockets(self) -> Path:
        """The folder of the sockets."""
        return self.folder / "run"

    @property
    def courier_log(self) -> Path:
        """What the courier says while nobody watches."""
        return self.folder / LOG_FILE

    @property
    def service_db(self) -> Path:
        """The embedded service's database, one for all stores of this root."""
        return self.root / "service.db"

    @property
    def embedded_token(self) -> Path:
        """The embedded service's generated token (0600), by a name that nobody gives to one of another service."""
        return self.root / "embedded.token"


def short_hash(data: bytes) -> str:
    """FNV-1a in 16 hexadecimal digits, for names of files; hashlib would cost a session 1.4 ms of its start."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


class TerminalStore(NamedTuple):
    """Where a terminal works."""

    configured_store: str
    """The store of its settings when it was changed; with others the note has no meaning any more."""
    store: str
    user: str
    """Who changed it."""


def save_terminal_store(root: Path, terminal: str, terminal_store: TerminalStore) -> None:
    """Notes that a terminal works elsewhere; forgets it where it is back. Raises OSError."""
    if terminal_store.configured_store in ("", terminal_store.store):
        _terminal_file(root, terminal).unlink(missing_ok=True)
    else:
        _write_json(_terminal_file(root, terminal), terminal_store._asdict())


def load_terminal_store(root: Path, terminal: str, configured_store: str = "") -> TerminalStore | None:
    """Where a terminal works, if it is not in the store of its settings; `settled` is that store, where it is known."""
    said = _read_json(_terminal_file(root, terminal))
    try:
        found = TerminalStore(*(str(said[name]) for name in TerminalStore._fields)) if said else None
    except KeyError:
        return None
    return found if found and configured_store in ("", found.configured_store) else None


def mark_visited(store_folder: StoreFolder) -> None:
    """Notes that a terminal of this host has worked in this store. Raises OSError."""
    path = store_folder.root / VISITED_FOLDER / store_folder.name
    if not path.exists():
        _write_json(path, {"base_url": store_folder.base_url, "store": store_folder.store})


def visited_stores(root: Path, base_url: str) -> tuple[StoreFolder, ...]:
    """The stores of this service that terminals of this host were changed to or from."""
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
    """In one step, so that nobody reads half of it."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    half = path.with_name(f"{path.name}.{os.getpid()}.new")
    half.write_text(json.dumps(content), encoding="utf-8")
    half.replace(path)


def _read_json(path: Path) -> dict[str, str]:
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}
