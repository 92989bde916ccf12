"""Where client and service meet: the client of the service in the settings, or of the one that aisle brings along."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any

from aisle.client import Answer, Client, RetryPolicy
from aisle.client.errors import AnswerError, status_error
from aisle.contract.wire import encode_segment
from aisle.courier.care import Care
from aisle.courier.features import read_features
from aisle.local.host.home import Home
from aisle.local.outbox.archive import Kept
from aisle.settings import EMBEDDED, Loaded, base_url, language_of, load, read_token

if TYPE_CHECKING:
    from aisle.service.factory import Service

COURIER = "courier"
"""What stands for the terminal of a process that has none: no section of a device is meant for it."""
INSIDE = "http://localhost"
"""The embedded service's address; nothing listens there, it is called in this process."""


def home_of(loaded: Loaded) -> Home:
    """The home of the store in the settings."""
    return Home(loaded.root, base_url(loaded.settings), loaded.settings.store)


def load_client(loaded: Loaded) -> None:
    """Imports what `service_client` and its first call would import."""
    if base_url(loaded.settings) == EMBEDDED:
        import aisle.service.app
        import aisle.service.factory  # noqa: F401
    else:
        from aisle.client.http import load_all

        load_all()


def connector(loaded: Loaded) -> Callable[[Callable[[Answer], None]], AbstractAsyncContextManager[Client]]:
    """Makes the client of the courier; it shows every answer to the function it is given."""
    language = language_of_host(loaded)
    retry = RetryPolicy(waits_out=False)
    return lambda observe: service_client(loaded, observe=observe, language=language, retry=retry)


def language_of_host(loaded: Loaded) -> str:
    """The language that names are asked for, for all terminals: as set for the store or the host, else the system's."""
    return language_of(load({**loaded.given, "terminal": COURIER}, strict=False).settings)


def care_of(loaded: Loaded) -> Care:
    """The courier's part of the settings."""
    settings = loaded.settings
    days = (settings.keep_operations_days, settings.keep_journal_days, settings.keep_archive_days)
    return Care(float(settings.settle_seconds), settings.client_reference, Kept(*map(float, days)))


@asynccontextmanager
async def service_client(
    loaded: Loaded,
    *,
    demo: bool = True,
    observe: Callable[[Answer], None] | None = None,
    language: str = "",
    retry: RetryPolicy = RetryPolicy(),  # noqa: B008 - a tuple
) -> AsyncIterator[Client]:
    """A client of the service in the settings, closed at the end.

    The embedded service is opened in this process; when it is new, `demo` gives it the demo store. What it is made
    of is loaded for it alone. Names come in `language`, where the service has them so. Raises SettingsError for a token
    or an address that cannot be used.
    """
    settings, url = loaded.settings, base_url(loaded.settings)
    if url != EMBEDDED:
        async with Client(
            url,
            lambda: read_token(settings.token_file) if settings.token_file else "",
            token_header=settings.token_header,
            ca_file=settings.ca_file,
            allow_plain_http=settings.allow_plain_http,
            observe=observe,
            language=language,
            retry=retry,
        ) as client:
            yield client
        return
    from aisle.cli.zones import zones_of
    from aisle.client.http import asgi_transport
    from aisle.service.factory import open_service
    from aisle.service.limits import keys_kept

    home = home_of(loaded)
    zones, keys_days = zones_of(loaded), keys_kept(settings.keep_answers_days)

    def opened() -> tuple[Service, str]:
        service = open_service(home.service_db, demo=demo, zones=zones, keys_days=keys_days)
        try:
            return service, service.admin_token(home.token)
        except BaseException:
            service.close()
            raise

    service, token = await _beside(opened)
    try:
        transport = asgi_transport(service.app)
        async with Client(INSIDE, token, transport=transport, observe=observe, language=language) as client:
            yield client
    finally:
        service.close()


async def _beside(opened: Callable[[], tuple[Service, str]]) -> tuple[Service, str]:
    """What another process may hold up for a minute, done while this loop goes on. Nobody waits for it who leaves."""
    answer: Future[tuple[Service, str]] = Future()

    def work() -> None:
        if not answer.set_running_or_notify_cancel():
            return
        try:
            answer.set_result(opened())
        except BaseException as problem:
            answer.set_exception(problem)

    Thread(target=work, name="aisle-open", daemon=True).start()
    try:
        return await asyncio.wrap_future(answer)
    except asyncio.CancelledError:
        answer.add_done_callback(_close)
        raise


def _close(late: Future[tuple[Service, str]]) -> None:
    if not late.cancelled() and late.exception() is None:
        late.result()[0].close()


def store_path(loaded: Loaded, array: str) -> str:
    """Where our own service keeps such rows of the store in the settings."""
    return f"/aisle/v1/stores/{encode_segment(loaded.settings.store)}/{array}"


async def rows_of_ours(client: Client, loaded: Loaded, array: str) -> list[dict[str, Any]] | None:
    """A list of the store that only our own service has; None where the service has none. Raises ClientError."""
    answer = await client.extension("GET", store_path(loaded, array))
    if answer.status == 404 or not read_features(answer.headers):
        return None
    if not answer.is_success:
        raise status_error(f"list-{array}", answer, None)
    try:
        return [dict(row) for row in answer.json()[array]]
    except (ValueError, TypeError, KeyError) as error:
        raise AnswerError(f"The answer to list-{array} holds no {array}.") from error
