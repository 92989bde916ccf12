"""Where client and service meet: the client of the service in the settings, or of the one that aisle brings along."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any

from aisle.client import Client, Response, RetryPolicy
from aisle.client.errors import InvalidResponse, status_error
from aisle.contract.wire import encode_segment
from aisle.courier.push.request import PushSettings
from aisle.courier.service_features import features_of_headers
from aisle.host.store_folder import StoreFolder
from aisle.outbox.archive import Retention
from aisle.settings import EMBEDDED, LoadedSettings, effective_language, load_settings, read_token, service_url

if TYPE_CHECKING:
    from aisle.service.factory import Service

COURIER_TERMINAL = "courier"
"""What stands for the terminal of a process that has none: no section of a device is meant for it."""
EMBEDDED_URL = "http://localhost"
"""The embedded service's address; nothing listens there, it is called in this process."""


def store_folder_of(loaded: LoadedSettings) -> StoreFolder:
    """The home of the store in the settings."""
    return StoreFolder(loaded.data_folder, service_url(loaded.settings), loaded.settings.store)


def preload_client(loaded: LoadedSettings) -> None:
    """Imports what `service_client` and its first call would import."""
    if service_url(loaded.settings) == EMBEDDED:
        import aisle.service.factory
        import aisle.service.http.app  # noqa: F401
    else:
        from aisle.client.transport import preload

        preload()


def client_factory(
    loaded: LoadedSettings,
) -> Callable[[Callable[[Response], None]], AbstractAsyncContextManager[Client]]:
    """Makes the client of the courier; it shows every answer to the function it is given."""
    language = host_language(loaded)
    retry = RetryPolicy(waits_for_rate_limit=False)
    return lambda observe: service_client(loaded, on_response=observe, language=language, retry=retry)


def host_language(loaded: LoadedSettings) -> str:
    """The language that names are asked for, for all terminals: as set for the store or the host, else the system's."""
    return effective_language(
        load_settings({**loaded.command_line_values, "terminal": COURIER_TERMINAL}, strict=False).settings
    )


def push_settings_of(loaded: LoadedSettings) -> PushSettings:
    """The courier's part of the settings."""
    settings = loaded.settings
    days = (settings.keep_operations_days, settings.keep_journal_days, settings.keep_archive_days)
    return PushSettings(float(settings.settle_seconds), settings.client_reference, Retention(*map(float, days)))


@asynccontextmanager
async def service_client(
    loaded: LoadedSettings,
    *,
    demo: bool = True,
    on_response: Callable[[Response], None] | None = None,
    language: str = "",
    retry: RetryPolicy = RetryPolicy(),  # noqa: B008 - a tuple
) -> AsyncIterator[Client]:
    """A client of the service in the settings, closed at the end.

    The embedded service is opened in this process; when it is new, `demo` gives it the demo store. What it is made
    of is loaded for it alone. Names come in `language`, where the service has them so. Raises SettingsError for a token
    or an address that cannot be used.
    """
    settings, url = loaded.settings, service_url(loaded.settings)
    if url != EMBEDDED:
        async with Client(
            url,
            lambda: read_token(settings.token_file) if settings.token_file else "",
            token_header=settings.token_header,
            ca_file=settings.ca_file,
            allow_plain_http=settings.allow_plain_http,
            on_response=on_response,
            language=language,
            retry=retry,
        ) as client:
            yield client
        return
    from aisle.cli.time_zones import service_zones
    from aisle.client.transport import asgi_transport
    from aisle.service.factory import open_service
    from aisle.service.limits import keys_kept

    home = store_folder_of(loaded)
    zones, keys_days = service_zones(loaded), keys_kept(settings.keep_answers_days)

    def opened() -> tuple[Service, str]:
        service = open_service(home.service_db, demo=demo, time_zones=zones, keys_days=keys_days)
        try:
            return service, service.ensure_admin_token(home.embedded_token)
        except BaseException:
            service.close()
            raise

    service, token = await _open_on_thread(opened)
    try:
        transport = asgi_transport(service.app)
        async with Client(
            EMBEDDED_URL, token, transport=transport, on_response=on_response, language=language
        ) as client:
            yield client
    finally:
        service.close()


async def _open_on_thread(open_function: Callable[[], tuple[Service, str]]) -> tuple[Service, str]:
    """What another process may hold up for a minute, done while this loop goes on. Nobody waits for it who leaves."""
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


def extension_path(loaded: LoadedSettings, array: str) -> str:
    """Where our own service keeps such rows of the store in the settings."""
    return f"/aisle/v1/stores/{encode_segment(loaded.settings.store)}/{array}"


async def extension_rows(client: Client, loaded: LoadedSettings, array: str) -> list[dict[str, Any]] | None:
    """A list of the store that only our own service has; None where the service has none. Raises ClientError."""
    answer = await client.request_extension("GET", extension_path(loaded, array))
    if answer.status == 404 or not features_of_headers(answer.headers):
        return None
    if not answer.is_success:
        raise status_error(f"list-{array}", answer, None)
    try:
        return [dict(row) for row in answer.json()[array]]
    except (ValueError, TypeError, KeyError) as error:
        raise InvalidResponse(f"The answer to list-{array} holds no {array}.") from error
