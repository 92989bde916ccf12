"""Checks of the service: access, announced features, lists and clock."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

from aisle.cli.doctor.report import Finding, note, ok, wrong
from aisle.cli.print_rows_and_messages import list_name, reason_text
from aisle.cli.service_client import service_client, store_folder_of
from aisle.client import Client, Response
from aisle.client.responses_and_errors import CERTIFICATE_ERROR, ClientError, NotSent, TransportError, message_of
from aisle.courier.link_state import unread_reason
from aisle.courier.service_features_and_lists import (
    CHECKED_LISTS,
    Features,
    features_of_headers,
    list_error,
    lists_of_service,
    send_one_row_request,
)
from aisle.errors import AisleError
from aisle.settings.setting_definitions import EMBEDDED, service_url
from aisle.settings.settings_files_and_folders import LoadedSettings
from aisle.terminal_text import clean

TIMEOUT_S = 10.0
"""Seconds that the service may take for a minimal request."""

MAX_SKEW_S = 5.0
"""Seconds of clock difference above which scans of several hosts may get into a wrong order."""


SOON_DAYS = 14
"""Days before the end of the certificate from which on it is worth a note."""


class ServiceCheck(NamedTuple):
    """Response with this host's time before and after it, and the errors of lists that cannot be read."""

    response: Response
    began: float
    ended: float
    failed: Mapping[str, ClientError] = MappingProxyType({})
    certificate_until: float | None = None
    """End of the certificate in seconds since 1970; None without TLS."""


def check_service(loaded: LoadedSettings, *, needs_store: bool = True) -> Iterable[Finding]:
    """Request a minimal list of this store once, as `aisle api` would. A service machine needs no store."""
    url = service_url(loaded.settings)
    if url == EMBEDDED and not store_folder_of(loaded).service_db.exists():
        yield note("service", "the embedded store is not there yet", "The first start makes it.")
        return
    shown = url if url == EMBEDDED else _without_credentials(url)
    try:
        check = asyncio.run(_request_service(loaded))
    except TimeoutError:
        yield wrong("service", f"{shown} does not answer", f"No answer within {TIMEOUT_S:.0f} s.", _NETWORK_ADVICE)
        return
    except ClientError as error:
        advice = _CERTIFICATE_ADVICE if CERTIFICATE_ERROR in str(error) else _NETWORK_ADVICE
        yield wrong("service", f"{shown} cannot be reached", str(error), advice)
        return
    except AisleError as error:
        yield wrong("service", f"{shown} cannot be asked", str(error))
        return
    has_store = needs_store or "store" in loaded.sources
    yield from _service_findings(shown, loaded.settings.store if has_store else None, check)


_NETWORK_ADVICE = "Work goes on here and is sent later. Look at network, address (base_url) and service."
_CERTIFICATE_ADVICE = "Work goes on here and is sent later. Renew the service's certificate, or write a new ca_file."


async def _request_service(loaded: LoadedSettings) -> ServiceCheck:
    """Request one order, then one row of each list; return the first response and the errors by list."""
    store = loaded.settings.store
    async with service_client(loaded) as client:
        first = await _first_response(client, store)
        first = first._replace(certificate_until=await _certificate_until(client))
        if first.response.status == 401:
            return first
        names = lists_of_service(features_of_headers(first.response.headers))
        found = await asyncio.gather(*(_list_error_in_time(client, name, store) for name in names))
    return first._replace(failed={name: error for name, error in zip(names, found, strict=True) if error is not None})


async def _certificate_until(client: Client) -> float | None:
    """Return the end of the certificate; None without TLS, or if a further connection failed."""
    try:
        return await client.certificate_until()
    except OSError:
        return None


async def _first_response(client: Client, store: str) -> ServiceCheck:
    """Return the response to a request for one order; if none comes, that of another list."""
    first, *others = CHECKED_LISTS
    try:
        return await _timed_response(client, first, store)
    except NotSent:
        raise
    except (ClientError, TimeoutError):
        requests = (_timed_response(client, name, store) for name in others)
        for found in await asyncio.gather(*requests, return_exceptions=True):
            if isinstance(found, ServiceCheck):
                return found
        raise


async def _timed_response(client: Client, name: str, store: str) -> ServiceCheck:
    async with asyncio.timeout(TIMEOUT_S):
        began = time.time()
        response = await send_one_row_request(client, name, store)
        return ServiceCheck(response, began, time.time())


async def _list_error_in_time(client: Client, name: str, store: str) -> ClientError | None:
    try:
        async with asyncio.timeout(TIMEOUT_S):
            return await list_error(client, name, store)
    except TimeoutError:
        return TransportError(f"No answer within {TIMEOUT_S:.0f} s.")


def _service_findings(shown: str, store: str | None, check: ServiceCheck) -> Iterable[Finding]:
    status, took = check.response.status, (check.ended - check.began) * 1000
    well = check.response.is_success and check.response.is_json_object
    none = not well and (not check.failed or all(name in check.failed for name in CHECKED_LISTS))
    if status == 401:
        yield wrong("service", f"{shown} refuses the token", "", "Ask for a new one, and write it into token_file.")
    elif status == 403 and none and store is None:
        yield note("service", f"{shown} answers", "No store is set.", "A service machine needs none; a host does.")
    elif status == 403 and none:
        said = clean(message_of(check.response))
        advice = "Set store, or token_file; on a service machine add --database URL."
        yield wrong("service", f"{shown} refuses this token for store {store}", said, advice)
    elif none:
        yield wrong("service", f"{shown} answers {status}", "This is not a Store Operations Service.", _NETWORK_ADVICE)
    else:
        yield ok("service", f"{shown} answers in {took:.0f} ms", ms=round(took))
        if check.certificate_until is not None:
            yield check_certificate(check.certificate_until, check.ended)
        yield check_write_safety(features_of_headers(check.response.headers))
        yield check_clock(check)
        yield from _list_findings(check.failed)


def _list_findings(failed: Mapping[str, ClientError]) -> Iterable[Finding]:
    """Report each list that cannot be read although others can."""
    for name, error in failed.items():
        why = reason_text(unread_reason(error))
        yield wrong(
            "service", f"{list_name(name)} cannot be read", why, "All other lists are read.", list=list_name(name)
        )


def check_write_safety(features: Features | None) -> Finding:
    """Report how safe writes are: only a service with idempotency keys executes each exactly once."""
    if features is not None and features.idempotency:
        return ok(
            "writes",
            f"exactly once; it announces {features.header_value}",
            level="exactly once",
            features=features.header_value,
        )
    text = features.header_value if features else ""
    what = f"checked; it announces {text}" if text else "checked; it announces nothing"
    why = "Writes are checked by reading back; if that is unclear, a person decides."
    return note("writes", what, why, level="checked", features=text)


def check_certificate(until: float, now: float) -> Finding:
    """Report how long the certificate is good that this host sees: that of the service, or of a balancer before it."""
    days = (until - now) / 86400
    what = f"the service's certificate is good for {days:.0f} days"
    if days > SOON_DAYS:
        return ok("tls", what, certificate_until=until)
    todo = "Renew it, then reload the service, or the balancer in front of it."
    return note("tls", what, "After that this host no longer trusts the service.", todo, certificate_until=until)


def check_clock(check: ServiceCheck) -> Finding:
    """Report the difference between the clocks of service and host."""
    theirs = _server_time(check.response)
    if theirs is None:
        return note("clock", "the service does not say what time it is")
    offset = theirs - (check.began + check.ended) / 2
    what = f"{abs(offset):.1f} s {'ahead of' if offset > 0 else 'behind'} this host's"
    if abs(offset) <= MAX_SKEW_S:
        return ok("clock", f"the service's is {what}", offset_s=round(offset, 1))
    features = features_of_headers(check.response.headers)
    if features is not None and features.clock_skew:
        why = "Scans carry this host's time; the service is told of the difference and corrects it."
    else:
        why = "Scans carry this host's time: counts and movements of several hosts may be booked in the wrong order."
    return note("clock", f"the service's is {what}", why, "Set both by NTP.", offset_s=round(offset, 1))


def _server_time(response: Response) -> float | None:
    """Return the time in the response, else that of its Date header, which has whole seconds."""
    try:
        parsed = datetime.fromisoformat(str(response.json().get("server_time")))
    except (ValueError, AttributeError):
        pass
    else:
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    try:
        return parsedate_to_datetime(response.headers["date"]).timestamp() + 0.5
    except (KeyError, ValueError, TypeError):
        return None


def _without_credentials(url: str) -> str:
    """Return the URL without a user name and password."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
