"""A service opened in this process: the database made on first use, its app, and a token for whoever embeds it."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from functools import cached_property
from pathlib import Path
from time import monotonic, time
from typing import TYPE_CHECKING

from aisle.errors import StorageError, UsageError
from aisle.service.access import Access
from aisle.service.answers import Refusal
from aisle.service.limits import KEYS_KEPT_DAYS, Rates
from aisle.service.seed import is_filled, seed
from aisle.service.storage import Busy, Storage, Tx, open_storage
from aisle.service.times import Clock, moment
from aisle.service.tokens import authenticate, create_token
from aisle.service.zones import HOST, Zones

if TYPE_CHECKING:
    from aisle.service.app import App
    from aisle.service.metrics import Metrics


_FILLING_S = 60.0


class Service:
    """An opened service. `app` is an ASGI app; `close` ends its threads and lets go of the database."""

    def __init__(
        self,
        storage: Storage,
        clock: Clock,
        rates: Rates | None = None,
        access: Access | None = None,
        metrics: Metrics | None = None,
        zones: Zones = HOST,
        *,
        lenient: bool = False,
        keys_days: int = KEYS_KEPT_DAYS,
    ) -> None:
        self.storage = storage
        self.clock = clock
        self.rates = rates or Rates()
        self.access = access
        self.metrics = metrics
        self.zones = zones
        self.lenient = lenient
        self.keys_days = keys_days

    @cached_property
    def app(self) -> App:
        """The app; what it needs is imported when it is asked for."""
        from aisle.service.app import App

        return App(
            self.storage,
            clock=self.clock,
            rates=self.rates,
            access=self.access,
            metrics=self.metrics,
            zones=self.zones,
            lenient=self.lenient,
            keys_days=self.keys_days,
        )

    def admin_token(self, file: Path) -> str:
        """A token with every right, kept in `file` (0600) for the programs of this account.

        Made once, also when several processes ask at the same moment; made anew when the one in the file is no longer
        good. Raises StorageError when the file is not this account's alone.
        """
        with _locked(file):
            secret = _read_private(file)
            if secret is None or not self._good(secret):
                secret = self._new_token()
                _write_private(file, secret)
            return secret

    def close(self) -> None:
        """Finish what runs and close the database."""
        self.storage.close()

    def _good(self, secret: str) -> bool:
        async def work(tx: Tx) -> bool:
            principal = await authenticate(tx, secret, moment(self.clock()))
            return principal.role == "admin" and principal.all_stores

        try:
            return self.storage.read_now(work)
        except Refusal:
            return False

    def _new_token(self) -> str:
        now = moment(self.clock())
        try:
            return create_token(self.storage, name="embedded", role="admin", store_numbers=None, now=now).secret
        except UsageError:  # the one before is in force, and its file is gone
            name = f"embedded-{secrets.token_hex(4)}"
            return create_token(self.storage, name=name, role="admin", store_numbers=None, now=now).secret


def open_service(
    database: Path | str,
    *,
    demo: bool = False,
    clock: Clock = time,
    rates: Rates | None = None,
    access: Access | None = None,
    zones: Zones = HOST,
    keys_days: int = KEYS_KEPT_DAYS,
) -> Service:
    """The service over a database, its tables made when there are none; with `demo`, a new one holds the demo store.
    Dates and times that name no time zone are read by `zones`. Answers under keys are kept for `keys_days`.

    `database` is a SQLite file's path, or the `postgresql://` address of a database that is there. Raises StorageError
    when it cannot be used (Busy where another process does not come to an end with it), UsageError when the driver is
    not installed.
    """
    storage = open_storage(database)
    try:
        if demo:
            _fill(storage, clock)
    except BaseException:
        storage.close()
        raise
    return Service(storage, clock, rates, access, zones=zones, keys_days=keys_days)


def _fill(storage: Storage, clock: Clock) -> None:
    """The demo store is there then, or what somebody else has put there: whoever fills it at the moment is waited for.

    Raises Busy when that takes too long.
    """
    until = monotonic() + _FILLING_S
    while not storage.read_now(is_filled):
        try:
            storage.write_now(lambda tx: seed(tx, clock()))
        except Busy as problem:
            if monotonic() > until:
                raise Busy(
                    f"Another process has been filling the database for {_FILLING_S:.0f} seconds;"
                    " start again when it is done."
                ) from problem


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Alone among the processes that use this file; the lock is a file of its own, for this one is replaced."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(file.with_name(file.name + ".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        flock(handle, LOCK_EX)
        yield
    finally:
        os.close(handle)


def _read_private(file: Path) -> str | None:
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise StorageError(f"{file} cannot be read: {problem.strerror}.") from problem
    with os.fdopen(handle, encoding="utf-8") as stream:
        mode = os.fstat(stream.fileno()).st_mode
        if not stat.S_ISREG(mode):
            raise StorageError(f"{file} is a pipe or a device, not a file.")
        if mode & 0o077:
            raise StorageError(f"{file} can be read by others; its mode has to be 0600.")
        return stream.read().strip()


def _write_private(file: Path, secret: str) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    handle = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(secret + "\n")
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(fresh, file)
