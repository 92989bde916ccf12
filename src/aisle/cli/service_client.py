"""Client of the configured service, or of the embedded service opened in this process.

It reads the token of the host anew for each request (`client/sign_in_and_token_file`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from aisle.client import Client, Response, RetryPolicy
from aisle.client.responses_and_errors import status_error
from aisle.client.sign_in_and_token_file import read_token
from aisle.contract.request_encoding import encode_segment
from aisle.courier.push.outgoing_request import PushSettings
from aisle.courier.service_features_and_lists import features_of_headers
from aisle.host.store_and_database_folders import StoreFolder
from aisle.outbox.retention_and_archive import Retention
from aisle.settings.load_settings import load_settings
from aisle.settings.setting_definitions import EMBEDDED, effective_language, service_url
from aisle.settings.settings_files_and_folders import LoadedSettings

if TYPE_CHECKING:
    from aisle.client.paging import Row


COURIER_TERMINAL = "courier"
"""Terminal name for processes without a terminal; no device section matches it."""
EMBEDDED_URL = "http://localhost"
"""Base URL of the embedded service, which is called in process; nothing listens there."""


def store_folder_of(loaded: LoadedSettings) -> StoreFolder:
    """Return the folder of the store in the settings."""
    return StoreFolder(loaded.data_folder, service_url(loaded.settings), loaded.settings.store)


def preload_client(loaded: LoadedSettings) -> None:
    """Import what `service_client` and its first request would import."""
    if service_url(loaded.settings) == EMBEDDED:
        import aisle.cli.embedded_service  # noqa: F401
    else:
        from aisle.client.transport import preload

        preload()


def client_factory(
    loaded: LoadedSettings,
) -> Callable[[Callable[[Response], None]], AbstractAsyncContextManager[Client]]:
    """Return a function that opens the courier's client; it passes every response to the given function."""
    language = host_language(loaded)
    retry = RetryPolicy(waits_for_rate_limit=False)
    return lambda observe: service_client(loaded, on_response=observe, language=language, retry=retry)


def host_language(loaded: LoadedSettings) -> str:
    """Return the language of names for all terminals: that of the store or host in the settings, else the
    environment's.
    """
    return effective_language(
        load_settings({**loaded.command_line_values, "terminal": COURIER_TERMINAL}, strict=False).settings
    )


def push_settings_of(loaded: LoadedSettings) -> PushSettings:
    """Return the settings of the courier's push."""
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
    """Open a client of the configured service, closed at the end.

    The embedded service is opened in this process, and its modules are loaded only then; a new one gets the demo store
    if `demo` is True. Names are in `language` if the service has them. Raise SettingsError for an invalid token or
    address.
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
    from aisle.cli.embedded_service import open_embedded

    async with open_embedded(loaded, store_folder_of(loaded), demo=demo) as (transport, token):
        client = Client(EMBEDDED_URL, token, transport=transport, on_response=on_response, language=language)
        async with client:
            yield client


def extension_path(loaded: LoadedSettings, array: str) -> str:
    """Return the path of a list of the store in the extension of aisle's own service."""
    return f"/aisle/v1/stores/{encode_segment(loaded.settings.store)}/{array}"


def _is_of_our_service(answer: Response) -> bool:
    return answer.is_success and features_of_headers(answer.headers) is not None


async def extension_rows(client: Client, loaded: LoadedSettings, array: str) -> list[Row] | None:
    """Return a list of the store that only aisle's own service has; None if the service has none. Raise ClientError."""
    answer, rows = await client.extension_list(extension_path(loaded, array), array, _is_of_our_service)
    if answer.status == 404 or not features_of_headers(answer.headers):
        return None
    if not answer.is_success:
        raise status_error(f"list-{array}", answer, None)
    return rows
