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
from aisle.local.host.disk import private_folder
from aisle.local.host.home import Home, short_hash

LONGEST = 107
_NAME = 32
"""Room for the name of a socket."""
_DATAGRAM = 8192
_CROWD = 8
"""So many letters at once may have kept others out: by default a box holds ten."""
_SETTLED_NS = 1_000_000_000
"""A folder that has not changed for so long shows in its time whatever changes from then on."""
_COURIER = "courier.sock"
_WORK = "work"
CONFIDE = "confide "
"""Begins what is told by word of mouth: a name and a secret follow."""
SHOWS = "shows"
"""The first line of what a session says of its page: what is shown there follows, a line each."""
ANYTHING = "*"
"""Shown by a page of which nobody knows what would change it."""
LINK, SYNC = "link", "sync"
"""What every screen shows: the state of the link; how far a full sync has come."""
OUTBOX, REFUSAL, WAITING, ASK = "outbox", "refusal", "waiting", "ask"
"""Topics beside those of the change feed: an operation has another state; one needs a person, or does not any more;
none waits to be sent any more; something that was asked has an answer."""

_OF_PERSON = "pass/"


def passed_by(user: str) -> str:
    """The name under which a person's own token is told."""
    return _OF_PERSON + quote(user, safe="")


def passes_of(name: str) -> str:
    """Whose token it is that was told under this name; empty for what is none."""
    return unquote(name.removeprefix(_OF_PERSON)) if name.startswith(_OF_PERSON) else ""


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
        """The topics that were rung for since the last time; with `link`, after which all is looked at, where more of
        them may have found no room."""
        letters = list(_letters(self._socket))
        missed = (LINK,) if len(letters) >= _CROWD else ()
        return {*missed, *(topic for text, _ in letters for topic in text.split("\n"))}

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
            _send(self._socket, self._folder / _COURIER, _WORK)

    def show(self, topics: Collection[str]) -> bool:
        """Tells the courier what is shown here from now on, `waiting` for once; whether it heard it."""
        with suppress(ConnectionRefusedError):
            return _send(self._socket, self._folder / _COURIER, _text((SHOWS, *_fitting(topics))))
        return False

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
        self._shown: dict[str, frozenset[str]] = {}
        """What sessions have said that they show, by the names of their doorbells."""
        self._turned: set[str] = set()
        """Those that have said so, have come or have gone since somebody asked for these."""
        self._there: list[str] = []
        self._listed: int | None = None
        """When the folder had changed last as it was listed; None where it has to be listed anew."""
        self._waiting: set[str] = set()
        """Those that show that something waits to be sent, and have not been rung since for that nothing does."""

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
        """What was rung for since the last time; empty for nothing. What sessions show is noted, and is no ring."""
        letters = list(_letters(self._socket))
        said = {_WORK} if len(letters) >= _CROWD else set()  # a ring may have found no room
        for text, sender in letters:
            (first, *rest), name = text.split("\n"), os.path.basename(sender)
            if first == _WORK or WAITING in rest:
                self._waiting.add(name)
            if first == SHOWS:
                self._shown[name] = frozenset(rest) - {WAITING}
                self._turned.add(name)
            else:
                said.update((first, *rest))
        return said

    def sessions(self) -> int:
        """How many doorbells of sessions hang there; those of the dead are taken down when somebody rings or looks."""
        return len(self._names())

    def shown(self) -> dict[str, frozenset[str] | None]:
        """What each session shows, by the name of its doorbell; None for one that has not said it."""
        names = self._present()
        if len(self._shown) > len(names):
            self._shown = {name: self._shown[name] for name in names if name in self._shown}
        return {name: self._shown.get(name) for name in names}

    def take_turned(self) -> set[str]:
        """The sessions that may show something else than when this was asked last, or are not there any more."""
        self._present()
        turned, self._turned = self._turned, set()
        return turned

    def _present(self) -> list[str]:
        """The doorbells that hang there. The folder is listed anew when it has changed: a change in the very moment of
        a listing may not show in its time, so that only one that is older is believed."""
        try:
            changed = self._folder.stat().st_mtime_ns
        except OSError:
            changed = None
        if changed is None or changed != self._listed:
            before, self._there = self._there, self._names()
            self._turned.update(set(before) ^ set(self._there))
            self._listed = changed if changed is not None and time.time_ns() - changed > _SETTLED_NS else None
        return self._there

    def take_waiting(self) -> set[str]:
        """The sessions that show that something waits, each once until it says so again: they are rung for `waiting`
        when nothing does any more."""
        waiting, self._waiting = self._waiting, set()
        return waiting

    def ring(self, name: str, topics: Iterable[str]) -> bool:
        """Rings at one session; whether it heard it. A doorbell that nobody holds any more is taken down."""
        path = self._folder / name
        try:
            return _send(self._socket, path, _text(_fitting(topics)))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
            return False

    def take_down_dead(self) -> None:
        """Takes down the doorbells that nobody holds any more, and wakes nobody for it."""
        for name in self._names():
            with _socket() as visitor:
                try:
                    visitor.connect(os.fspath(self._folder / name))
                except ConnectionRefusedError:
                    (self._folder / name).unlink(missing_ok=True)
                except OSError:  # gone by itself
                    continue

    def _names(self) -> list[str]:
        try:
            return [name for name in os.listdir(self._folder) if name.startswith("s-") and name.endswith(".sock")]
        except OSError:
            return []

    def close(self) -> None:
        """Takes the doorbell down; may be called twice."""
        if self._socket.fileno() >= 0:
            self._socket.close()
            if self.hangs:  # else it is the next courier's
                self._path.unlink(missing_ok=True)
            _leave_folder(self._folder)


def concerning(topics: Iterable[str], shown: Collection[str] | None) -> tuple[list[str], bool]:
    """Those of the topics that concern whoever shows this, and whether one of them is shown by its name; None for
    somebody of whom that is not known. What every screen shows concerns everybody."""
    found, named = [], False
    for topic in topics:
        whole, _, key = topic.partition("/")
        if topic == LINK or (shown and key and topic in shown):
            found.append(topic)
            named = True
        elif topic == SYNC or shown is None or ANYTHING in shown or whole in shown:
            found.append(topic)
        elif not key and any(each.startswith(f"{whole}/") for each in shown):
            found.append(topic)
            named = True
    return found, named


def topic_of(name: str, key: str) -> str:
    """How one thing is called in a ring; what no line can hold is called by the whole topic."""
    return f"{name}/{key}" if key and "\n" not in key else name


LEAVE = "leave "
"""Begins what a newer program says to the courier in office; its own version follows."""


OFFER = "offer "
"""Begins what a courier says to the one in office that nobody lets in, to try another token: its own version and the
path of its token's file follow."""


def offer_token(home: Home, version: str, path: str) -> None:
    """Tells the courier in office that another would try the token in this file; it decides by itself."""
    with _socket() as anybody, suppress(ConnectionRefusedError):
        _send(anybody, socket_folder(home) / _COURIER, f"{OFFER}{version} {path}")


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


def _letters(bell: socket.socket) -> Iterator[tuple[str, str]]:
    """What lies in the box, and the path of who sent it; empty for one without a doorbell."""
    with suppress(BlockingIOError):
        while True:
            content, sender = bell.recvfrom(_DATAGRAM)
            yield content.decode(errors="replace"), sender or ""


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines)


def _fitting(topics: Iterable[str]) -> list[str]:
    """In order, each once; whole topics, where the names would not find room."""
    named = sorted(set(topics))
    if sum(len(topic.encode()) + 1 for topic in named) < _DATAGRAM - len(SHOWS):
        return named
    return sorted({topic.partition("/")[0] for topic in named})


def _send(bell: socket.socket, path: Path, text: str) -> bool:
    """Whether it was heard. Raises ConnectionRefusedError when the one who hung the doorbell is gone."""
    try:
        bell.sendto(text.encode()[:_DATAGRAM], os.fspath(path))
    except ConnectionRefusedError:
        raise
    except OSError:  # nobody there, or its queue is full: then it knows already
        return False
    return True
