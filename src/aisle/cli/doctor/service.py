"""The service: whether it answers and lets us in, what it announces, and what its clock says."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from urllib.parse import urlsplit, urlunsplit

from aisle.cli.compose import home_of, service_client
from aisle.cli.doctor.report import Finding, note, ok, wrong
from aisle.cli.words import called, in_words
from aisle.client import Answer, Client
from aisle.client.errors import ClientError, TransportError, message_of
from aisle.courier.features import Features, read_features
from aisle.courier.pull.lists import ONE_ROW_QUERIES, PROBED_LISTS, why_not
from aisle.courier.telling import why_unread
from aisle.errors import AisleError
from aisle.settings import EMBEDDED, Loaded, base_url
from aisle.text import clean
from aisle.tuples import NamedTuple

PATIENCE_S = 10.0
"""How long the service may take for next to nothing."""

DRIFT_S = 5.0
"""Clocks that are further apart than this put scans into a wrong order."""


class Asked(NamedTuple):
    """One answer, and this host's clock around it; and of the lists that cannot be read why."""

    answer: Answer
    began: float
    ended: float
    failed: Mapping[str, ClientError] = MappingProxyType({})


def service(loaded: Loaded) -> Iterable[Finding]:
    """Asks for next to nothing of this store, once, as `aisle api` would."""
    url = base_url(loaded.settings)
    if url == EMBEDDED and not home_of(loaded).service_db.exists():
        yield note("service", "the embedded store is not there yet", "The first start makes it.")
        return
    shown = url if url == EMBEDDED else _shown(url)
    try:
        asked = asyncio.run(_ask(loaded))
    except TimeoutError:
        yield wrong("service", f"{shown} does not answer", f"Nothing came within {PATIENCE_S:.0f} s.", _CABLE)
        return
    except ClientError as error:
        yield wrong("service", f"{shown} cannot be reached", str(error), _CABLE)
        return
    except AisleError as error:
        yield wrong("service", f"{shown} cannot be asked", str(error))
        return
    yield from _judged(shown, loaded.settings.store, asked)


_CABLE = "Work goes on here and is sent later. Look at network, address (base_url) and service."


async def _ask(loaded: Loaded) -> Asked:
    """The first list that answers well; where none does, what the list of orders answered."""
    store, failed = loaded.settings.store, dict[str, ClientError]()
    async with service_client(loaded) as client:
        async with asyncio.timeout(PATIENCE_S):
            began = time.time()
            first = await client.request("list-customer-orders", path={"store_number": store}, query={"page_size": 1})
            ended = time.time()
        if first.status == 401:
            return Asked(first, began, ended, failed)
        names = tuple(ONE_ROW_QUERIES)
        found = await asyncio.gather(*(_asked_for(client, name, store) for name in names))
        failed = {name: error for name, error in zip(names, found, strict=True) if error is not None}
    return Asked(first, began, ended, failed)


async def _asked_for(client: Client, name: str, store: str) -> ClientError | None:
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await why_not(client, name, store)
    except TimeoutError:
        return TransportError(f"Nothing came within {PATIENCE_S:.0f} s.")


def _judged(shown: str, store: str, asked: Asked) -> Iterable[Finding]:
    status, took = asked.answer.status, (asked.ended - asked.began) * 1000
    well = asked.answer.is_success and asked.answer.is_worded
    none = not well and (not asked.failed or all(name in asked.failed for name in PROBED_LISTS))
    if status == 401:
        yield wrong("service", f"{shown} refuses the token", "", "Ask for a new one, and write it into token_file.")
    elif status == 403 and none:
        said = clean(message_of(asked.answer))
        yield wrong("service", f"{shown} does not let this token into store {store}", said, "Set store, or token_file.")
    elif none:
        yield wrong("service", f"{shown} answers {status}", "That is no answer of a Store Operations Service.", _CABLE)
    else:
        yield ok("service", f"{shown} answers in {took:.0f} ms", ms=round(took))
        yield level(read_features(asked.answer.headers))
        yield clock(asked)
        yield from _lists(asked.failed)


def _lists(failed: Mapping[str, ClientError]) -> Iterable[Finding]:
    """Each list that the service does not let be read, though it answers others."""
    for name, error in failed.items():
        why = in_words(why_unread(error))
        yield wrong("service", f"{called(name)} cannot be read", why, "All other lists are read.", list=called(name))


def level(features: Features | None) -> Finding:
    """How sure writes are: only a service that keeps keys carries each of them out exactly once."""
    if features is not None and features.idempotency:
        return ok("writes", f"exactly once; it announces {features.text}", level="exactly once", features=features.text)
    text = features.text if features else ""
    what = f"checked; it announces {text}" if text else "checked; it announces nothing"
    why = "Writes are read back; where that proves nothing, a person is asked."
    return note("writes", what, why, level="checked", features=text)


def clock(asked: Asked) -> Finding:
    """How far the service's clock is from this host's."""
    theirs = _moment(asked.answer)
    if theirs is None:
        return note("clock", "the service does not say what time it is")
    offset = theirs - (asked.began + asked.ended) / 2
    what = f"{abs(offset):.1f} s {'ahead of' if offset > 0 else 'behind'} this host's"
    if abs(offset) <= DRIFT_S:
        return ok("clock", f"the service's is {what}", offset_s=round(offset, 1))
    features = read_features(asked.answer.headers)
    if features is not None and features.clock_ahead:
        why = "Scans carry this host's time; the service is told of the difference, and reckons with it."
    else:
        why = "Scans carry this host's time: counts and movements of several hosts may settle in a wrong order."
    return note("clock", f"the service's is {what}", why, "Let both be set by NTP.", offset_s=round(offset, 1))


def _moment(answer: Answer) -> float | None:
    """The time in the answer, else that of its header, which has no fractions."""
    try:
        said = datetime.fromisoformat(str(answer.json().get("server_time")))
    except (ValueError, AttributeError):
        pass
    else:
        return (said if said.tzinfo else said.replace(tzinfo=UTC)).timestamp()
    try:
        return parsedate_to_datetime(answer.headers["date"]).timestamp() + 0.5
    except (KeyError, ValueError, TypeError):
        return None


def _shown(url: str) -> str:
    """An address without a name and password that may stand in it."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
