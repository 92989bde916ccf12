"""Doorbells between the processes of a host: datagrams that say that there is something to look at, no more.

A ring names what changed: `order/4711`, or `order` where it is many or nobody knows which. A session says what it shows
in the same words, and is rung for that alone; until it has said so it is rung for everything (`concerning`).
A lost ring harms nobody: whoever waits looks by himself every few seconds. Sockets lie in the home's `run` folder, or,
where its path is too long for one (AF_UNIX ends at 107 bytes), in a folder of this account below the temporary one.
"""

from __future__ import annotations

import os
import socket
import stat
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from errno import EADDRINUSE
from pathlib import Path
from urllib.parse import quote, unquote

from aisle.errors import StorageError
from aisle.host.file_system import make_private_folder
from aisle.host.store_folder import StoreFolder, short_hash

MAX_SOCKET_PATH = 107
_SOCKET_NAME_LENGTH = 32
"""Room for the name of a socket."""
_MAX_DATAGRAM = 8192
_FULL_QUEUE = 8
"""So many letters at once may have kept others out: by default a box holds ten."""
_STABLE_NS = 1_000_000_000
"""A folder that has not changed for so long shows in its time whatever changes from then on."""
_COURIER_SOCKET = "courier.sock"
_WAKE = "work"
SECRET_PREFIX = "confide "
"""Begins what is told by word of mouth: a name and a secret follow."""
SUBSCRIBE = "shows"
"""The first line of what a session says of its page: what is shown there follows, a line each."""
ANYTHING = "*"
"""Shown by a page of which nobody knows what would change it."""
LINK, SYNC = "link", "sync"
"""What every screen shows: the state of the link; how far a full sync has come."""
OUTBOX, REFUSAL, WAITING, REQUEST = "outbox", "refusal", "waiting", "ask"
"""Topics beside those of the change feed: an operation has another state; one needs a person, or does not any more;
none waits to be sent any more; something that was asked has an answer."""

_USER_TOKEN_PREFIX = "pass/"


def user_token_name(user: str) -> str:
    """The name under which a person's own token is told."""
    return _USER_TOKEN_PREFIX + quote(user, safe="")


def user_of_token_name(name: str) -> str:
    """Whose token it is that was told under this name; empty for what is none."""
    return unquote(name.removeprefix(_USER_TOKEN_PREFIX)) if name.startswith(_USER_TOKEN_PREFIX) else ""


def socket_folder(store_folder: StoreFolder) -> Path:
    """The folder of the sockets, for this account alone. Raises StorageError when somebody else's is in its place."""
    folder = store_folder.sockets
    if len(os.fsencode(folder)) + _SOCKET_NAME_LENGTH > MAX_SOCKET_PATH:
        import tempfile

        folder = Path(tempfile.gettempdir()) / f"aisle-{os.getuid()}-{short_hash(os.fsencode(folder))}"
    make_private_folder(folder)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise StorageError(f"{folder} is not a folder that only this account can use. Remove it, or set AISLE_HOME.")
    return folder


class SessionSocket:
    """The doorbell of a session."""

    def __init__(self, store_folder: StoreFolder) -> None:
        self.store_folder = store_folder
        self._folder = socket_folder(store_folder)
        self._socket = _open_socket()
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
        """The topics that were rung for since the last time; with `link`, after which all is looked at, where more of
        them may have found no room."""
        letters = list(_receive_all(self._socket))
        missed = (LINK,) if len(letters) >= _FULL_QUEUE else ()
        return {*missed, *(topic for text, _ in letters for topic in text.split("\n"))}

    def is_courier_listening(self) -> bool:
        """Whether a courier's doorbell hangs here; asks without waking it."""
        with _open_socket() as visitor:
            try:
                visitor.connect(os.fspath(self._folder / _COURIER_SOCKET))
            except OSError:
                return False
        return True

    def wake_courier(self) -> None:
        """There is something to send or to fetch. A doorbell that nobody answers is left to the next courier."""
        with suppress(ConnectionRefusedError):
            _send(self._socket, self._folder / _COURIER_SOCKET, _WAKE)

    def subscribe(self, topics: Collection[str]) -> bool:
        """Tells the courier what is shown here from now on, `waiting` for once; whether it heard it."""
        with suppress(ConnectionRefusedError):
            return _send(self._socket, self._folder / _COURIER_SOCKET, _join_lines((SUBSCRIBE, *_fit_topics(topics))))
        return False

    def send_secret(self, name: str, secret: str) -> None:
        """Tells the courier what no file may hold, for what was asked under this name."""
        with suppress(ConnectionRefusedError):
            _send(self._socket, self._folder / _COURIER_SOCKET, f"{SECRET_PREFIX}{name} {secret}")

    def close(self) -> None:
        """Takes the doorbell down; may be called twice."""
        self._socket.close()
        self._path.unlink(missing_ok=True)
        _remove_temporary_folder(self._folder)


class CourierSocket:
    """The courier's doorbell, and its way to ring at all sessions; only whoever won the election may have it."""

    def __init__(self, store_folder: StoreFolder) -> None:
        self._folder = socket_folder(store_folder)
        self._path = self._folder / _COURIER_SOCKET
        self._socket, self._file_id = _bind_courier_socket(self._path)
        self._subscriptions: dict[str, frozenset[str]] = {}
        """What sessions have said that they show, by the names of their doorbells."""
        self._changed_sessions: set[str] = set()
        """Those that have said so, have come or have gone since somebody asked for these."""
        self._session_sockets: list[str] = []
        self._listed_at: int | None = None
        """When the folder had changed last as it was listed; None where it has to be listed anew."""
        self._waiting_sessions: set[str] = set()
        """Those that show that something waits to be sent, and have not been rung since for that nothing does."""

    @property
    def is_bound(self) -> bool:
        """Whether whoever rings at the courier's door rings here: somebody may have cleaned the folder up."""
        try:
            found = self._path.lstat()
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self._file_id

    def rebind(self) -> None:
        """Makes the doorbell anew, with another `fileno`. Raises OSError when the folder cannot be used."""
        make_private_folder(self._folder)
        before = self._socket
        self._socket, self._file_id = _bind_courier_socket(self._path)
        before.close()

    def fileno(self) -> int:
        """Becomes readable when a session has rung."""
        return self._socket.fileno()

    def drain(self) -> set[str]:
        """What was rung for since the last time; empty for nothing. What sessions show is noted, and is no ring."""
        letters = list(_receive_all(self._socket))
        said = {_WAKE} if len(letters) >= _FULL_QUEUE else set()  # a ring may have found no room
        for text, sender in letters:
            (first, *rest), name = text.split("\n"), os.path.basename(sender)
            if first == _WAKE or WAITING in rest:
                self._waiting_sessions.add(name)
            if first == SUBSCRIBE:
                self._subscriptions[name] = frozenset(rest) - {WAITING}
                self._changed_sessions.add(name)
            else:
                said.update((first, *rest))
        return said

    def count_sessions(self) -> int:
        """How many doorbells of sessions hang there; those of the dead are taken down when somebody rings or looks."""
        return len(self._list_sockets())

    def subscriptions(self) -> dict[str, frozenset[str] | None]:
        """What each session shows, by the name of its doorbell; None for one that has not said it."""
        names = self._refresh_sockets()
        if len(self._subscriptions) > len(names):
            self._subscriptions = {name: self._subscriptions[name] for name in names if name in self._subscriptions}
        return {name: self._subscriptions.get(name) for name in names}

    def take_changed_sessions(self) -> set[str]:
        """The sessions that may show something else than when this was asked last, or are not there any more."""
        self._refresh_sockets()
        turned, self._changed_sessions = self._changed_sessions, set()
        return turned

    def _refresh_sockets(self) -> list[str]:
        """The doorbells that hang there. The folder is listed anew when it has changed: a change in the very moment of
        a listing may not show in its time, so that only one that is older is believed."""
        try:
            changed = self._folder.stat().st_mtime_ns
        except OSError:
            changed = None
        if changed is None or changed != self._listed_at:
            before, self._session_sockets = self._session_sockets, self._list_sockets()
            self._changed_sessions.update(set(before) ^ set(self._session_sockets))
            self._listed_at = changed if changed is not None and time.time_ns() - changed > _STABLE_NS else None
        return self._session_sockets

    def take_waiting_sessions(self) -> set[str]:
        """The sessions that show that something waits, each once until it says so again: they are rung for `waiting`
        when nothing does any more."""
        waiting, self._waiting_sessions = self._waiting_sessions, set()
        return waiting

    def notify(self, session: str, topics: Iterable[str]) -> bool:
        """Rings at one session; whether it heard it. A doorbell that nobody holds any more is taken down."""
        path = self._folder / session
        try:
            return _send(self._socket, path, _join_lines(_fit_topics(topics)))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
            return False

    def remove_dead_sockets(self) -> None:
        """Takes down the doorbells that nobody holds any more, and wakes nobody for it."""
        for name in self._list_sockets():
            with _open_socket() as visitor:
                try:
                    visitor.connect(os.fspath(self._folder / name))
                except ConnectionRefusedError:
                    (self._folder / name).unlink(missing_ok=True)
                except OSError:  # gone by itself
                    continue

    def _list_sockets(self) -> list[str]:
        try:
            return [name for name in os.listdir(self._folder) if name.startswith("s-") and name.endswith(".sock")]
        except OSError:
            return []

    def close(self) -> None:
        """Takes the doorbell down; may be called twice."""
        if self._socket.fileno() >= 0:
            self._socket.close()
            if self.is_bound:  # else it is the next courier's
                self._path.unlink(missing_ok=True)
            _remove_temporary_folder(self._folder)


def matching_topics(topics: Iterable[str], subscription: Collection[str] | None) -> tuple[list[str], bool]:
    """Those of the topics that concern whoever shows this, and whether one of them is shown by its name; None for
    somebody of whom that is not known. What every screen shows concerns everybody."""
    found, named = [], False
    for topic in topics:
        whole, _, key = topic.partition("/")
        if topic == LINK or (subscription and key and topic in subscription):
            found.append(topic)
            named = True
        elif topic == SYNC or subscription is None or ANYTHING in subscription or whole in subscription:
            found.append(topic)
        elif not key and any(each.startswith(f"{whole}/") for each in subscription):
            found.append(topic)
            named = True
    return found, named


def format_topic(name: str, key: str) -> str:
    """How one thing is called in a ring; what no line can hold is called by the whole topic."""
    return f"{name}/{key}" if key and "\n" not in key else name


STEP_DOWN_PREFIX = "leave "
"""Begins what a newer program says to the courier in office; its own version follows."""


OFFER_TOKEN_PREFIX = "offer "
"""Begins what a courier says to the one in office that nobody lets in, to try another token: its own version and the
path of its token's file follow."""


def offer_token(store_folder: StoreFolder, version: str, path: str) -> None:
    """Tells the courier in office that another would try the token in this file; it decides by itself."""
    with _open_socket() as anybody, suppress(ConnectionRefusedError):
        _send(anybody, socket_folder(store_folder) / _COURIER_SOCKET, f"{OFFER_TOKEN_PREFIX}{version} {path}")


def ask_to_step_down(store_folder: StoreFolder, version: str) -> None:
    """Tells the courier in office that a program of this version would like to take over; it decides by itself."""
    with _open_socket() as anybody, suppress(ConnectionRefusedError):
        _send(anybody, socket_folder(store_folder) / _COURIER_SOCKET, STEP_DOWN_PREFIX + version)


def _remove_temporary_folder(folder: Path) -> None:
    """A folder outside the home goes with the last doorbell in it."""
    if folder.name != "run":
        with suppress(OSError):
            folder.rmdir()


def _open_socket() -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
    made.setblocking(False)
    return made


def _bind_courier_socket(path: Path) -> tuple[socket.socket, tuple[int, int]]:
    """A socket at this path, in the place of whatever was there, and what tells its file from any other."""
    made = _open_socket()
    try:
        path.unlink(missing_ok=True)
        made.bind(os.fspath(path))
        found = path.lstat()
    except OSError:
        made.close()
        raise
    return made, (found.st_dev, found.st_ino)


def _receive_all(receiver: socket.socket) -> Iterator[tuple[str, str]]:
    """What lies in the box, and the path of who sent it; empty for one without a doorbell."""
    with suppress(BlockingIOError):
        while True:
            content, sender = receiver.recvfrom(_MAX_DATAGRAM)
            yield content.decode(errors="replace"), sender or ""


def _join_lines(lines: Iterable[str]) -> str:
    return "\n".join(lines)


def _fit_topics(topics: Iterable[str]) -> list[str]:
    """In order, each once; whole topics, where the names would not find room."""
    named = sorted(set(topics))
    if sum(len(topic.encode()) + 1 for topic in named) < _MAX_DATAGRAM - len(SUBSCRIBE):
        return named
    return sorted({topic.partition("/")[0] for topic in named})


def _send(sender: socket.socket, path: Path, text: str) -> bool:
    """Whether it was heard. Raises ConnectionRefusedError when the one who hung the doorbell is gone."""
    try:
        sender.sendto(text.encode()[:_MAX_DATAGRAM], os.fspath(path))
    except ConnectionRefusedError:
        raise
    except OSError:  # nobody there, or its queue is full: then it knows already
        return False
    return True
