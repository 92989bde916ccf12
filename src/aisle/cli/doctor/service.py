"""The service: whether it answers and lets us in, what it announces, and what its clock says."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit, urlunsplit

from aisle.cli.compose import home_of, service_client
from aisle.cli.doctor.report import Finding, note, ok, wrong
from aisle.client import Answer
from aisle.client.errors import ClientError, message_of
from aisle.courier.features import Features, read_features
from aisle.errors import AisleError
from aisle.settings import EMBEDDED, Loaded, base_url
from aisle.text import clean
from aisle.tuples import NamedTuple

PATIENCE_S = 10.0
"""How long the service may take for next to nothing."""

DRIFT_S = 5.0
"""Clocks that are further apart than this put scans into a wrong order."""


class Asked(NamedTuple):
    """One answer, and this host's clock around it."""

    answer: Answer
    began: float
    ended: float


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
    async with asyncio.timeout(PATIENCE_S), service_client(loaded) as client:
        began = time.time()
        answer = await client.request(
            "list-customer-orders", path={"store_number": loaded.settings.store}, query={"page_size": 1}
        )
        return Asked(answer, began, time.time())


def _judged(shown: str, store: str, asked: Asked) -> Iterable[Finding]:
    status, took = asked.answer.status, (asked.ended - asked.began) * 1000
    if status == 401:
        yield wrong("service", f"{shown} refuses the token", "", "Ask for a new one, and write it into token_file.")
    elif status == 403:
        said = clean(message_of(asked.answer))
        yield wrong("service", f"{shown} does not let this token into store {store}", said, "Set store, or token_file.")
    elif not asked.answer.is_success or not asked.answer.is_worded:
        yield wrong("service", f"{shown} answers {status}", "That is no answer of a Store Operations Service.", _CABLE)
    else:
        yield ok("service", f"{shown} answers in {took:.0f} ms", ms=round(took))
        yield level(read_features(asked.answer.headers))
        yield clock(asked)


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
