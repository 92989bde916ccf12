"""Service in this process: its database, created on first use, its app, and a token for the embedding program."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from aisle.errors import StorageError, UsageError
from aisle.file_ownership import write_private
from aisle.service.app_options_and_limits import DEFAULT_OPTIONS, ServiceOptions
from aisle.service.auth.authorization import authenticate
from aisle.service.auth.tokens_and_pins import create_token
from aisle.service.db import open_database
from aisle.service.db.database_interface import Busy, Database, DatabaseMonitor, Transaction
from aisle.service.demo.seed import has_data, has_demo_store, seed_demo
from aisle.service.domain.quantities_times_and_json import Clock, format_timestamp
from aisle.service.errors import Refusal

if TYPE_CHECKING:
    from aisle.service.http.app import App


_SEED_TIMEOUT_S = 60.0


class Service:
    """Opened service. `app` is an ASGI app; `close` ends its threads and closes the database."""

    def __init__(self, database: Database, options: ServiceOptions = DEFAULT_OPTIONS) -> None:
        self.database = database
        self.options = options

    @cached_property
    def app(self) -> App:
        """ASGI app. Its modules are imported on first use."""
        from aisle.service.http.app import App

        return App(self.database, self.options)

    def ensure_admin_token(self, file: Path) -> str:
        """Return a token with all rights, stored in `file` (0600) for the programs of this account.

        The token is created once, also if several processes ask at the same time, and again if the stored one is no
        longer valid. Raise StorageError if other accounts can read the file.
        """
        with _locked(file):
            secret = _read_private(file)
            if secret is None or not self._is_valid(secret):
                secret = self._create_admin_token()
                write_private(file, f"{secret}\n", is_durable=True)
            return secret

    def close(self) -> None:
        """Finish the running work and close the database."""
        self.database.close()

    def _is_valid(self, secret: str) -> bool:
        async def work(tx: Transaction) -> bool:
            principal = await authenticate(tx, secret, format_timestamp(self.options.clock()))
            return principal.role == "admin" and principal.all_stores

        try:
            return self.database.read_now(work)
        except Refusal:
            return False

    def _create_admin_token(self) -> str:
        now = format_timestamp(self.options.clock())
        try:
            return create_token(self.database, name="embedded", role="admin", store_numbers=None, now=now).secret
        except UsageError:  # The previous token is still valid, but its file is gone.
            name = f"embedded-{secrets.token_hex(4)}"
            return create_token(self.database, name=name, role="admin", store_numbers=None, now=now).secret


def open_service(
    database_address: Path | str,
    options: ServiceOptions = DEFAULT_OPTIONS,
    *,
    demo: bool = False,
    monitor: DatabaseMonitor | None = None,
) -> Service:
    """Open the service over a database and create missing tables; with `demo`, an empty one gets the demo store.

    `database_address` is the path of a SQLite file, or the `postgresql://` address of an existing database. Raise
    StorageError if the database cannot be used (Busy if another process holds it), UsageError if the driver is not
    installed.
    """
    storage = open_database(database_address, monitor)
    try:
        if demo:
            _seed_demo(storage, options.clock)
            options = options._replace(has_demo_store=storage.read_now(has_demo_store))
    except BaseException:
        storage.close()
        raise
    return Service(storage, options)


def _seed_demo(database: Database, clock: Clock) -> None:
    """Fill an empty database with the demo store, or wait for another process that fills it.

    Raise Busy after a timeout.
    """
    until = monotonic() + _SEED_TIMEOUT_S
    while not database.read_now(has_data):
        try:
            database.write_now(lambda tx: seed_demo(tx, clock()))
        except Busy as problem:
            if monotonic() > until:
                raise Busy(
                    f"Another process has been filling the database for {_SEED_TIMEOUT_S:.0f} seconds;"
                    " start again when it is done."
                ) from problem


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Lock the file against other processes. The lock is a separate file, since this one is replaced."""
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
