"""Notifications between processes of a host: datagrams that say that something changed, not what.

A notification names topics: `order/4711`, or `order` if many or unknown ones changed. A session subscribes to the
topics that it shows and is notified of these alone; before it subscribes it is notified of everything
(`matching_topics`). A lost notification does no harm, because every waiter also checks every few seconds.

Sockets lie in the `run` folder of the store. If that path is too long for a socket (107 bytes for AF_UNIX), they lie in
a folder of this account below the temporary one.
"""

from __future__ import annotations

import os
import re
import socket
import stat
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from errno import EADDRINUSE
from pathlib import Path
from urllib.parse import quote, unquote

from aisle.errors import StorageError
from aisle.host.file_locks import lock_folder
from aisle.host.store_and_database_folders import StoreFolder, make_private_folder

MAX_SOCKET_PATH = 107
_SOCKET_NAME_LENGTH = 32
"""Characters reserved for the name of a socket."""
_MAX_DATAGRAM = 8192
_FULL_QUEUE = 8
"""Datagrams at once from which others may have been dropped; by default a socket queues ten."""
_STABLE_NS = 1_000_000_000
"""Nanoseconds without a change after which the modification time of a folder shows every later change."""
_COURIER_SOCKET = "courier.sock"
_FOLDER_RECORD = "run-folder"
"""File of the home with the name of the folder of the sockets, if it is below the temporary one."""
_FOLDER_NAME = re.compile("aisle-[0-9]+-[0-9a-f]{16}")
_MAX_NAMES = 3
_WAKE = "work"
SECRET_PREFIX = "confide "
"""Prefix of a datagram with a secret: a name and the secret follow."""
SUBSCRIBE = "shows"
"""First line of a subscription; the topics follow, one per line."""
ANYTHING = "*"
"""Topic of a page that any change may concern."""
LINK, SYNC = "link", "sync"
"""Topics of every screen: state of the link; progress of a full sync."""
OUTBOX, REFUSAL, WAITING, REQUEST = "outbox", "refusal", "waiting", "ask"
"""Topics beside those of the change feed.

An operation changed its state; one needs a person, or no longer does; nothing waits to be sent any more; a request has
an answer.
"""

_USER_TOKEN_PREFIX = "pass/"


def user_token_name(user: str) -> str:
    """Return the name under which a person's token is sent."""
    return _USER_TOKEN_PREFIX + quote(user, safe="")


def user_of_token_name(name: str) -> str:
    """Return the user of such a name; empty for any other name."""
    return unquote(name.removeprefix(_USER_TOKEN_PREFIX)) if name.startswith(_USER_TOKEN_PREFIX) else ""


def socket_folder(store_folder: StoreFolder) -> Path:
    """Return the folder of the sockets, for this account alone. Raise StorageError if it belongs to another account."""
    folder = store_folder.sockets
    if len(os.fsencode(folder)) + _SOCKET_NAME_LENGTH > MAX_SOCKET_PATH:
        return _temporary_folder(store_folder)
    make_private_folder(folder)
    if not _is_private(folder):
        raise StorageError(f"{folder} is not a folder that only this account can use. Remove it, or set AISLE_HOME.")
    return folder


def _temporary_folder(store_folder: StoreFolder) -> Path:
    """Return the folder below the temporary one. Its random name is recorded in the home.

    Another account may take the name of a folder that is gone; then another name is used. Raise StorageError.
    """
    make_private_folder(store_folder.folder)
    record = store_folder.folder / _FOLDER_RECORD
    try:
        with lock_folder(store_folder.folder):
            for _ in range(_MAX_NAMES):
                folder = Path(tempfile.gettempdir()) / (_read_folder_name(record) or _record_folder_name(record))
                with suppress(FileExistsError):
                    folder.mkdir(mode=0o700)
                if _is_private(folder):
                    return folder
                record.unlink()
    except OSError as error:
        raise StorageError(f"No folder of sockets can be made: {error.strerror}. Check the disk, or TMPDIR.") from error
    raise StorageError(f"{folder} is not a folder that only this account can use. Remove it, or set AISLE_HOME.")


def _record_folder_name(record: Path) -> str:
    name = f"aisle-{os.getuid()}-{os.urandom(8).hex()}"
    fresh = record.with_name(f"{record.name}.new")
    fresh.write_text(name, encoding="ascii")
    fresh.replace(record)
    return name


def _read_folder_name(record: Path) -> str:
    """Return the recorded name of the folder; empty if there is none."""
    try:
        name = record.read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""
    return name if _FOLDER_NAME.fullmatch(name) else ""


def _is_private(folder: Path) -> bool:
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


class SessionSocket:
    """Socket of a session."""

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
        """Return the descriptor, which becomes readable with a notification."""
        return self._socket.fileno()

    def drain(self) -> set[str]:
        """Return the topics notified since the last call.

        If some may be lost, `link` is among them, for which everything is checked.
        """
        datagrams = list(_receive_all(self._socket))
        missed = (LINK,) if len(datagrams) >= _FULL_QUEUE else ()
        return {*missed, *(topic for text, _ in datagrams for topic in text.split("\n"))}

    def is_courier_listening(self) -> bool:
        """Return True if a courier has its socket here, without waking it."""
        with _open_socket() as probe:
            try:
                probe.connect(os.fspath(self._folder / _COURIER_SOCKET))
            except OSError:
                return False
        return True

    def wake_courier(self) -> None:
        """Tell the courier that there is something to send or to read."""
        self._tell_courier(_WAKE)

    def subscribe(self, topics: Collection[str]) -> bool:
        """Tell the courier the topics shown from now on (`waiting` for one notification). Return True if delivered."""
        return self._tell_courier(_join_lines((SUBSCRIBE, *_fit_topics(topics))))

    def send_secret(self, name: str, secret: str) -> None:
        """Send the courier a secret, which no file may contain, for the request of this name."""
        self._tell_courier(f"{SECRET_PREFIX}{name} {secret}")

    def _tell_courier(self, text: str) -> bool:
        """Return True if delivered. A socket without a listener is left to the next courier."""
        with suppress(ConnectionRefusedError):
            return _send(self._socket, self._folder / _COURIER_SOCKET, text)
        return False

    def close(self) -> None:
        """Close and delete the socket; may be called twice."""
        self._socket.close()
        self._path.unlink(missing_ok=True)
        _remove_temporary_folder(self._folder)


class CourierSocket:
    """Socket of the courier, with which it notifies all sessions; only the leader may have it."""

    def __init__(self, store_folder: StoreFolder) -> None:
        self._folder = socket_folder(store_folder)
        self._path = self._folder / _COURIER_SOCKET
        self._socket, self._file_id = _bind_courier_socket(self._path)
        self._subscriptions: dict[str, frozenset[str]] = {}
        """Topics of sessions by the name of their socket."""
        self._changed_sessions: set[str] = set()
        """Sessions that subscribed, appeared or disappeared since `take_changed_sessions`."""
        self._session_sockets: list[str] = []
        self._listed_at: int | None = None
        """Modification time of the folder at the last listing, in nanoseconds; None if it has to be listed again."""
        self._waiting_sessions: set[str] = set()
        """Sessions that show waiting operations and were not notified since that nothing waits."""

    @property
    def is_bound(self) -> bool:
        """True if the socket at the path is this one; somebody may have deleted it."""
        try:
            found = self._path.lstat()
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self._file_id

    def rebind(self) -> None:
        """Create the socket again, with another `fileno`. Raise OSError if the folder cannot be used."""
        make_private_folder(self._folder)
        before = self._socket
        self._socket, self._file_id = _bind_courier_socket(self._path)
        before.close()

    def fileno(self) -> int:
        """Return the descriptor, which becomes readable with a datagram of a session."""
        return self._socket.fileno()

    def drain(self) -> set[str]:
        """Return what was sent since the last call. Subscriptions are stored and not returned."""
        datagrams = list(_receive_all(self._socket))
        received = {_WAKE} if len(datagrams) >= _FULL_QUEUE else set()  # a datagram may have been dropped
        for text, sender in datagrams:
            (first, *rest), name = text.split("\n"), os.path.basename(sender)
            if first == _WAKE or WAITING in rest:
                self._waiting_sessions.add(name)
            if first == SUBSCRIBE:
                self._subscriptions[name] = frozenset(rest) - {WAITING}
                self._changed_sessions.add(name)
            else:
                received.update((first, *rest))
        return received

    def count_sessions(self) -> int:
        """Return the number of session sockets.

        Those of dead sessions are deleted by `notify` and `remove_dead_sockets`.
        """
        return len(self._list_sockets())

    def subscriptions(self) -> dict[str, frozenset[str] | None]:
        """Return the topics of each session by the name of its socket; None for a session without a subscription."""
        names = self._refresh_sockets()
        if len(self._subscriptions) > len(names):
            self._subscriptions = {name: self._subscriptions[name] for name in names if name in self._subscriptions}
        return {name: self._subscriptions.get(name) for name in names}

    def take_changed_sessions(self) -> set[str]:
        """Return the sessions that changed their subscription, appeared or disappeared since the last call."""
        self._refresh_sockets()
        changed, self._changed_sessions = self._changed_sessions, set()
        return changed

    def _refresh_sockets(self) -> list[str]:
        """Return the session sockets, listing the folder only if it has changed.

        A change at the time of a listing may not show in the modification time, so only an older time is trusted.
        """
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
        """Return the sessions that show waiting operations, each once per report.

        They are notified of `waiting` when nothing waits any more.
        """
        waiting, self._waiting_sessions = self._waiting_sessions, set()
        return waiting

    def notify(self, session: str, topics: Iterable[str]) -> bool:
        """Notify one session. Return True if it was delivered; delete the socket if nobody listens."""
        path = self._folder / session
        try:
            return _send(self._socket, path, _join_lines(_fit_topics(topics)))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
            return False

    def remove_dead_sockets(self) -> None:
        """Delete session sockets without a listener, without waking any session."""
        for name in self._list_sockets():
            with _open_socket() as probe:
                try:
                    probe.connect(os.fspath(self._folder / name))
                except ConnectionRefusedError:
                    (self._folder / name).unlink(missing_ok=True)
                except OSError:  # deleted meanwhile
                    continue

    def _list_sockets(self) -> list[str]:
        try:
            return [name for name in os.listdir(self._folder) if name.startswith("s-") and name.endswith(".sock")]
        except OSError:
            return []

    def close(self) -> None:
        """Close and delete the socket; may be called twice."""
        if self._socket.fileno() >= 0:
            self._socket.close()
            if self.is_bound:  # otherwise it belongs to the next courier
                self._path.unlink(missing_ok=True)
            _remove_temporary_folder(self._folder)


def matching_topics(topics: Iterable[str], subscription: Collection[str] | None) -> tuple[list[str], bool]:
    """Return the topics that concern a subscription, and True if one of them is subscribed by its key.

    None means an unknown subscription, which everything concerns. Topics of every screen concern all.
    """
    found, is_named = [], False
    for topic in topics:
        topic_name, _, key = topic.partition("/")
        if topic == LINK or (subscription and key and topic in subscription):
            found.append(topic)
            is_named = True
        elif topic == SYNC or subscription is None or ANYTHING in subscription or topic_name in subscription:
            found.append(topic)
        elif not key and any(each.startswith(f"{topic_name}/") for each in subscription):
            found.append(topic)
            is_named = True
    return found, is_named


def format_topic(name: str, key: str) -> str:
    """Return the topic of one object; the whole topic for a key that no line can contain."""
    return f"{name}/{key}" if key and "\n" not in key else name


STEP_DOWN_PREFIX = "leave "
"""Prefix of a newer program's message to the courier; its version follows."""


OFFER_TOKEN_PREFIX = "offer "
"""Prefix of a message to a courier whose token is refused: try another token.

Version and path of the token file follow.
"""


def send_to_courier(store_folder: StoreFolder, message: str) -> None:
    """Send the leading courier a message; it decides what to do."""
    with _open_socket() as sender, suppress(ConnectionRefusedError):
        _send(sender, socket_folder(store_folder) / _COURIER_SOCKET, message)


def _remove_temporary_folder(folder: Path) -> None:
    """Delete a folder outside the home with its last socket."""
    if folder.name != "run":
        with suppress(OSError):
            folder.rmdir()


def _open_socket() -> socket.socket:
    new_socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
    new_socket.setblocking(False)
    return new_socket


def _bind_courier_socket(path: Path) -> tuple[socket.socket, tuple[int, int]]:
    """Return a socket bound to this path, replacing what was there, and the identity of its file."""
    new_socket = _open_socket()
    try:
        path.unlink(missing_ok=True)
        new_socket.bind(os.fspath(path))
        found = path.lstat()
    except OSError:
        new_socket.close()
        raise
    return new_socket, (found.st_dev, found.st_ino)


def _receive_all(receiver: socket.socket) -> Iterator[tuple[str, str]]:
    """Yield the received datagrams with the sender's path; empty for a sender without a socket."""
    with suppress(BlockingIOError):
        while True:
            content, sender = receiver.recvfrom(_MAX_DATAGRAM)
            yield content.decode(errors="replace"), sender or ""


def _join_lines(lines: Iterable[str]) -> str:
    return "\n".join(lines)


def _fit_topics(topics: Iterable[str]) -> list[str]:
    """Return the topics sorted and without repeats; whole topics if the keys do not fit into a datagram."""
    named = sorted(set(topics))
    if sum(len(topic.encode()) + 1 for topic in named) < _MAX_DATAGRAM - len(SUBSCRIBE):
        return named
    return sorted({topic.partition("/")[0] for topic in named})


def _send(sender: socket.socket, path: Path, text: str) -> bool:
    """Send a datagram. Return True if it was delivered. Raise ConnectionRefusedError if nobody listens any more."""
    try:
        sender.sendto(text.encode()[:_MAX_DATAGRAM], os.fspath(path))
    except ConnectionRefusedError:
        raise
    except OSError:  # no socket, or its queue is full and it will check anyway
        return False
    return True
