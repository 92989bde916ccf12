"""Features that a service announces beyond the interface, by the header `Aisle-Features`, and reads that need them.

`Aisle-Features: idempotency=30d, occurred-at, clock-ahead, app-user, pick-place, pick-base, line-reasons, claims,
changes, people, receipt-line, taken-time, undone-time, expiry-dates`.

A service that only implements the interface announces nothing, and is sent nothing beyond the interface.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from aisle.client import Client
from aisle.client.errors import InvalidResponse, status_error
from aisle.client.paging import Row
from aisle.contract.request_encoding import QueryValue

T = TypeVar("T")

FEATURES_HEADER = "aisle-features"
DEFAULT_KEY_LIFETIME_S = 30 * 86400.0
"""Seconds that a service keeps keys if it does not announce a time."""
_MIN_KEY_LIFETIME_S = 2 * 86400.0
"""Seconds below which keys are not relied on: an operation may have to be sent again a day later."""

_MAX_DIGITS = 9
"""Digits of a duration that are read; a longer one is no duration."""
_UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class Features(NamedTuple):
    """Announced extensions."""

    idempotency: bool = False
    """A write is carried out once for its `Idempotency-Key`, however often it is sent."""
    key_lifetime_s: float = DEFAULT_KEY_LIFETIME_S
    """Seconds after which the service may forget a key."""
    occurred_at: bool = False
    clock_skew: bool = False
    """Requests may state the offset of this host's clock, and the service corrects times by it."""
    app_user: bool = False
    pick_location: bool = False
    """`preferred_location_code` and `stock_pool` of an update line name where the goods were picked."""
    pick_base: bool = False
    """`base_picked_quantity` of an update line is the figure its picker started from; the difference is applied."""
    line_reasons: bool = False
    """An update line may give a reason for a shortage; the order's lines return it."""
    claims: bool = False
    """`is_claimed` comes with the person and the terminal that claimed the order."""
    changes: bool = False
    """The change cursor, `/aisle/v1/stores/{store}/changes`."""
    people: bool = False
    sign_in: bool = False
    """A person gets a user token for a PIN."""
    reviews: bool = False
    """Entries of the log that need a review can be reviewed."""
    recounts: bool = False
    """Counts can be ordered, and a count closes them."""
    assignments: bool = False
    """Moves that clearances require can be listed."""
    line_rejection: bool = False
    """Single lines of an order can be rejected and reopened."""
    receipt_line: bool = False
    """An entry that comes from a receipt may name the line of its delivery."""
    taken_time: bool = False
    """`taken_datetime` of a movement's item is when the goods left their location, before they arrived."""
    undone_time: bool = False
    """`undone_datetime` of a movement's item is when the movement was that it undoes."""
    expiry_dates: bool = False
    """The service keeps the dates that people give at the expiry checks of a product, and the nearest one stands."""
    named_orders: bool = False
    """Several orders can be read in one request, by their numbers."""
    audit: bool = False
    """The service lists who changed an order."""
    known_keys: bool = False
    """The service lists the keys it does not know, so that operations lost in a restore can be found."""
    demo_store: bool = False
    """The service has the demo store, whose people the sign-in page names."""

    @property
    def header_value(self) -> str:
        """Value of the header that announces these features."""
        announced = self._asdict()
        words = [word for field, word in _WORD_BY_FIELD.items() if announced[field]]
        return ", ".join(f"{word}={self.key_lifetime_s:.0f}s" if word == "idempotency" else word for word in words)


_WORD_BY_FIELD = {
    **{field: field.replace("_", "-") for field in Features._fields if field != "key_lifetime_s"},
    "clock_skew": "clock-ahead",
    "pick_location": "pick-place",
}
"""Words of the header by the field that they set."""


def features_of_headers(headers: Mapping[str, str]) -> Features | None:
    """Return the features in the headers of a response (names in lower case); None if there is no such header."""
    value = headers.get(FEATURES_HEADER)
    return None if value is None else parse_features(value)


@lru_cache(maxsize=8)  # every response repeats it
def parse_features(text: str) -> Features:
    """Return the features that a header value announces; unknown words are ignored."""
    values: dict[str, str] = {}
    for part in text.split(","):
        name, _, value = part.strip().partition("=")
        values[name.strip().lower()] = value.strip().strip('"')
    lifetime_s = _parse_duration(values.get("idempotency", ""))
    if lifetime_s < _MIN_KEY_LIFETIME_S:
        values.pop("idempotency")
        lifetime_s = DEFAULT_KEY_LIFETIME_S
    announced = {field: word in values for field, word in _WORD_BY_FIELD.items()}
    return Features(**announced)._replace(key_lifetime_s=lifetime_s)


def _parse_duration(text: str) -> float:
    number, unit = text[:-1], text[-1:].lower()
    return (
        float(int(number) * _UNIT_SECONDS[unit])
        if number.isascii() and number.isdigit() and len(number) <= _MAX_DIGITS and unit in _UNIT_SECONDS
        else DEFAULT_KEY_LIFETIME_S
    )


async def read_extension_list(client: Client, path: str, name: str) -> list[Row]:
    """Return all rows of a list of our own service. Raise ClientError."""
    response, rows = await client.extension_list(path, name)
    if not response.is_success:
        raise status_error(f"list-{name}", response)
    return rows


async def read_extension(
    client: Client, name: str, path: str, parse: Callable[[Any], T], query: Mapping[str, QueryValue] | None = None
) -> T:
    """Return what `parse` makes of the response to an extension of our own service.

    Raise ClientError; InvalidResponse if it is no JSON, or if `parse` raises ValueError, TypeError or LookupError.
    """
    response = await client.request_extension("GET", path, query=query)
    if not response.is_success:
        raise status_error(name, response)
    try:
        return parse(response.json())
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise InvalidResponse(f"The answer to {name} cannot be read: {error!r}.") from error
