"""The folder of one store at one service: paths of all files of this host."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

LOCK_FILE, LOG_FILE = "courier.lock", "courier.log"


class StoreFolder(NamedTuple):
    """Layout of one store's data, made of the data root, the service's address and the store number."""

    root: Path
    base_url: str
    store: str

    @property
    def name(self) -> str:
        """Short unique name for the pair of address and store: 16 hexadecimal digits."""
        return short_hash(f"{self.base_url.rstrip('/')}\n{self.store}".encode("utf-8", "surrogateescape"))

    @property
    def folder(self) -> Path:
        """The store's folder; `open_outbox`, `open_cache`, `LeaderLock` and the sockets create it (0700)."""
        return self.root / self.name

    @property
    def cache(self) -> Path:
        """cache.db: data of the service; can be rebuilt."""
        return self.folder / "cache.db"

    @property
    def outbox(self) -> Path:
        """outbox.db: journal and outbox; must not be lost."""
        return self.folder / "outbox.db"

    @property
    def lock(self) -> Path:
        """Lock file, held by the one courier of this store on this host."""
        return self.folder / LOCK_FILE

    @property
    def sockets(self) -> Path:
        """Folder of the sockets."""
        return self.folder / "run"

    @property
    def courier_log(self) -> Path:
        """Log file of the courier."""
        return self.folder / LOG_FILE

    @property
    def service_db(self) -> Path:
        """Database of the embedded service, one for all stores of this root."""
        return self.root / "service.db"

    @property
    def embedded_token(self) -> Path:
        """Generated token of the embedded service (0600); no token of another service has this name."""
        return self.root / "embedded.token"


def short_hash(data: bytes) -> str:
    """Return a hash in 16 hexadecimal digits, for file names."""
    return sha256(data).hexdigest()[:16]
