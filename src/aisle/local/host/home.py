"""The home folder of one store at one service: where each file of this host lies."""

from __future__ import annotations

from pathlib import Path

from aisle.tuples import NamedTuple

TERMINALS, VISITED = "terminals", "visited"
"""Folders beside the homes: where terminals work that were changed to another store (`local.session.whereabouts`)."""

LOCK, LOG = "courier.lock", "courier.log"


class Home(NamedTuple):
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
        return self.folder / LOCK

    @property
    def run(self) -> Path:
        """The folder of the sockets."""
        return self.folder / "run"

    @property
    def courier_log(self) -> Path:
        """What the courier says while nobody watches."""
        return self.folder / LOG

    @property
    def service_db(self) -> Path:
        """The embedded service's database, one for all stores of this root."""
        return self.root / "service.db"

    @property
    def token(self) -> Path:
        """The embedded service's generated token (0600), by a name that nobody gives to one of another service."""
        return self.root / "embedded.token"


def short_hash(data: bytes) -> str:
    """FNV-1a in 16 hexadecimal digits, for names of files; hashlib would cost a session 1.4 ms of its start."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"
