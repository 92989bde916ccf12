"""Embedded service: opened in this process, and called without a network."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from threading import Thread

import aisle.service.http.app  # noqa: F401 - what `Service.app` imports
from aisle.cli.time_zones_of_host_and_stores import service_zones
from aisle.client.transport import Transport, asgi_transport
from aisle.host.store_and_database_folders import StoreFolder
from aisle.service.app_options_and_limits import ServiceOptions, keys_kept
from aisle.service.db.database_interface import DatabaseMonitor
from aisle.service.open_service_and_admin_token import Service, open_service
from aisle.settings.settings_files_and_folders import LoadedSettings


@asynccontextmanager
async def open_embedded(
    loaded: LoadedSettings, store_folder: StoreFolder, *, demo: bool
) -> AsyncIterator[tuple[Transport, str]]:
    """Open the service and yield a transport to it with a token for all stores; close it at the end.

    A new one gets the demo store if `demo` is True.
    """
    zones, keys_days = service_zones(loaded), keys_kept(loaded.settings.keep_answers_days)

    def opened() -> tuple[Service, str]:
        database, options = store_folder.service_db, ServiceOptions(time_zones=zones, keys_days=keys_days)
        service = open_service(database, options, demo=demo, monitor=_monitor_of(database))
        try:
            return service, service.ensure_admin_token(store_folder.embedded_token)
        except BaseException:
            service.close()
            raise

    service, token = await _open_on_thread(opened)
    try:
        yield asgi_transport(service.app), token
    finally:
        service.close()


@cache
def _monitor_of(database: Path) -> DatabaseMonitor:
    """Return the monitor of a database, the same for all its openings: what was lost is logged once."""
    return DatabaseMonitor()


async def _open_on_thread(open_function: Callable[[], tuple[Service, str]]) -> tuple[Service, str]:
    """Open the service on a thread, because another process may hold its database for a minute.

    If the caller is cancelled, the service is closed as soon as it is open.
    """
    answer: Future[tuple[Service, str]] = Future()

    def work() -> None:
        if not answer.set_running_or_notify_cancel():
            return
        try:
            answer.set_result(open_function())
        except BaseException as problem:
            answer.set_exception(problem)

    Thread(target=work, name="aisle-open", daemon=True).start()
    try:
        return await asyncio.wrap_future(answer)
    except asyncio.CancelledError:
        answer.add_done_callback(_close_late)
        raise


def _close_late(late: Future[tuple[Service, str]]) -> None:
    if not late.cancelled() and late.exception() is None:
        late.result()[0].close()
