"""Doorbells between the processes of a host: datagrams that say that there is something to look at, no more.

A lost ring harms nobody: whoever waits looks by himself every few seconds. Sockets lie in the home's `run` folder, or,
where its path is too long for one (AF_UNIX ends at 107 bytes), in a folder of this account below the temporary one.
"""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterable
from contextlib import suppress
from errno import EADDRINUSE
from pathlib import Path

from aisle.errors import StorageError
from aisle.local.disk import private_folder
from aisle.local.home import Home, short_hash

LONGEST = 107
_NAME = 32
"""Room for the name of a socket."""
_DATAGRAM = 8192
_COURIER = "courier.sock"
CONFIDE = "confide "
"""Begins what is told by word of mouth: a name and a secret follow."""


def socket_folder(home: Home) -> Path:
    """The folder of the sockets, for this account alone. Raises StorageError when somebody else's is in its place."""
    folder = home.run
    if len(os.fsencode(folder)) + _NAME > LONGEST:
        import tempfile

        folder = Path(tempfile.gettempdir()) / f"aisle-{os.getuid()}-{short_hash(os.fsencode(folder))}"
    private_folder(folder)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise StorageError(f"{folder} is not a folder that only this account can use. Remove it, or set AISLE_HOME.")
    return folder


class Bell:
    """The doorbell of a session."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._folder = socket_folder(home)
        self._socket = _socket()
        self._path = self._bind()

    def _bind(self) -> Path:
        number = 0
        while True:
            path = self._folder / f"s-{os.getpid()}-{number}.sock"
            try:
                self._socket.bind(os.fspath(path))
                return path
            except OSError as error:
                if error.errno != EADDRINUSE:
                    self._socket.close()
                    raise StorageError(f"{path} cannot be made: {error.strerror}. Check the folder's disk.") from error
                number += 1

    def fileno(self) -> int:
        """Becomes readable when somebody has rung."""
        return self._socket.fileno()

    def drain(self) -> set[str]:
        """The topics that were rung for since the last time."""
        return _drained(self._socket)

    def courier_there(self) -> bool:
        """Whether a courier's doorbell hangs here; asks without waking it."""
        with _socket() as visitor:
            try:
                visitor.connect(os.fspath(self._folder / _COURIER))
            except OSError:
                return False
        return True

    def ring_courier(self) -> None:
        """There is something to send or to fetch. A doorbell that nobody answers is left to the next courier."""
        with suppress(ConnectionRefusedError):
            _send(self._socket, self._folder / _COURIER, "work")

    def confide(self, name: str, secret: str) -> None:
        """Tells the courier what no file may hold, for what was asked under this name."""
        with suppress(ConnectionRefusedError):
            _send(self._socket, self._folder / _COURIER, f"{CONFIDE}{name} {secret}")

    def close(self) -> None:
        """Takes the doorbell down; may be called twice."""
        self._socket.close()
        self._path.unlink(missing_ok=True)
        _leave_folder(self._folder)


class CourierSocket:
    """The courier's doorbell, and its way to ring at all sessions; only whoever won the election may have it."""

    def __init__(self, home: Home) -> None:
        self._folder = socket_folder(home)
        self._path = self._folder / _COURIER
        self._socket, self._mine = _hung(self._path)

    @property
    def hangs(self) -> bool:
        """Whether whoever rings at the courier's door rings here: somebody may have cleaned the folder up."""
        try:
            found = self._path.lstat()
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self._mine

    def hang_again(self) -> None:
        """Makes the doorbell anew, with another `fileno`. Raises OSError when the folder cannot be used."""
        private_folder(self._folder)
        before = self._socket
        self._socket, self._mine = _hung(self._path)
        before.close()

    def fileno(self) -> int:
        """Becomes readable when a session has rung."""
        return self._socket.fileno()

    def drain(self) -> set[str]:
        """What was rung for since the last time; empty for nothing."""
        return _drained(self._socket)

    def sessions(self) -> int:
        """How many doorbells of sessions hang there; those of the dead are taken down when they are rung."""
        return sum(1 for _ in self._folder.glob("s-*.sock"))

    def tell_sessions(self, topics: Iterable[str]) -> int:
        """Rings at every session; how many heard it. Doorbells that nobody holds any more are taken down."""
        text = "\n".join(sorted(set(topics)))
        heard = 0
        for path in self._folder.glob("s-*.sock"):
            try:
                heard += _send(self._socket, path, text)
            except ConnectionRefusedError:
                path.unlink(missing_ok=True)
        return heard

    def close(self) -> None:
        """Takes the doorbell down; may be called twice."""
        if self._socket.fileno() >= 0:
            self._socket.close()
            self._path.unlink(missing_ok=True)
            _leave_folder(self._folder)


LEAVE = "leave "
"""Begins what a newer program says to the courier in office; its own version follows."""


def ask_to_leave(home: Home, version: str) -> None:
    """Tells the courier in office that a program of this version would like to take over; it decides by itself."""
    with _socket() as anybody, suppress(ConnectionRefusedError):
        _send(anybody, socket_folder(home) / _COURIER, LEAVE + version)


def _leave_folder(folder: Path) -> None:
    """A folder outside the home goes with the last doorbell in it."""
    if folder.name != "run":
        with suppress(OSError):
            folder.rmdir()


def _socket() -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
    made.setblocking(False)
    return made


def _hung(path: Path) -> tuple[socket.socket, tuple[int, int]]:
    """A socket at this path, in the place of whatever was there, and what tells its file from any other."""
    made = _socket()
    try:
        path.unlink(missing_ok=True)
        made.bind(os.fspath(path))
        found = path.lstat()
    except OSError:
        made.close()
        raise
    return made, (found.st_dev, found.st_ino)


def _drained(bell: socket.socket) -> set[str]:
    topics: set[str] = set()
    with suppress(BlockingIOError):
        while True:
            topics.update(bell.recv(_DATAGRAM).decode(errors="replace").split("\n"))
    return topics


def _send(bell: socket.socket, path: Path, text: str) -> bool:
    """Whether it was heard. Raises ConnectionRefusedError when the one who hung the doorbell is gone."""
    try:
        bell.sendto(text.encode()[:_DATAGRAM], os.fspath(path))
    except ConnectionRefusedError:
        raise
    except OSError:  # nobody there, or its queue is full: then it knows already
        return False
    return True
