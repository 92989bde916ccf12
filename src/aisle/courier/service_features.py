"""What a service announces beyond the interface, by the answer header `Aisle-Features`.

`Aisle-Features: idempotency=30d, occurred-at, clock-ahead, app-user, pick-place, pick-base, line-reasons, claims,
changes, people, receipt-line`.
A service that only implements the interface announces nothing, and nothing beyond the interface is then sent to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

FEATURES_HEADER = "aisle-features"
DEFAULT_KEY_LIFETIME_S = 30 * 86400.0
"""Seconds that keys are kept by a service that does not say."""

_UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class Features(NamedTuple):
    """The announced extensions."""

    idempotency: bool = False
    """A write is carried out once for its `Idempotency-Key`, however often it is sent."""
    key_lifetime_s: float = DEFAULT_KEY_LIFETIME_S
    """Seconds after which a key may be forgotten."""
    occurred_at: bool = False
    clock_skew: bool = False
    """How far this host's clock is ahead may be said, and moments are held against that."""
    app_user: bool = False
    pick_location: bool = False
    """`preferred_location_code` and `stock_pool` of an update line name where the goods were taken."""
    pick_base: bool = False
    """`base_picked_quantity` of an update line says what its picker found; the difference is done to the line."""
    line_reasons: bool = False
    """An update line may say why it is short; the order's lines say it again."""
    claims: bool = False
    """Whose `is_claimed` is, from whom and which terminal it came."""
    changes: bool = False
    """The change cursor, `/aisle/v1/stores/{store}/changes`."""
    people: bool = False
    sign_in: bool = False
    """A person gets a token of his own for his PIN."""
    reviews: bool = False
    """Entries of the log that want to be reviewed can be."""
    recounts: bool = False
    """Counts can be ordered, and a count closes them."""
    assignments: bool = False
    """What clearances want moved can be listed."""
    line_rejection: bool = False
    """Lines of an order can be rejected for themselves, and taken up again."""
    receipt_line: bool = False
    """An entry that comes from a receipt may name the line of its delivery."""

    named_orders: bool = False
    """Several orders are read in one request, by their numbers."""
    known_keys: bool = False
    """What a restore has lost can be asked for by its keys, and is told apart from what is new."""

    @property
    def header_value(self) -> str:
        """As a header says it."""
        words = {
            f"idempotency={self.key_lifetime_s:.0f}s": self.idempotency,
            "occurred-at": self.occurred_at,
            "clock-ahead": self.clock_skew,
            "app-user": self.app_user,
            "pick-place": self.pick_location,
            "pick-base": self.pick_base,
            "line-reasons": self.line_reasons,
            "claims": self.claims,
            "changes": self.changes,
            "people": self.people,
            "sign-in": self.sign_in,
            "reviews": self.reviews,
            "recounts": self.recounts,
            "assignments": self.assignments,
            "receipt-line": self.receipt_line,
            "line-rejection": self.line_rejection,
            "named-orders": self.named_orders,
            "known-keys": self.known_keys,
        }
        return ", ".join(word for word, said in words.items() if said)


def features_of_headers(headers: Mapping[str, str]) -> Features | None:
    """The features in the headers of an answer (names in lower case); None where nothing is announced."""
    value = headers.get(FEATURES_HEADER)
    return None if value is None else parse_features(value)


@lru_cache(maxsize=8)  # every answer says it again
def parse_features(text: str) -> Features:
    """The features that a header value announces; words that are not known are left alone."""
    said: dict[str, str] = {}
    for part in text.split(","):
        name, _, value = part.strip().partition("=")
        said[name.strip().lower()] = value.strip().strip('"')
    return Features(
        idempotency="idempotency" in said,
        key_lifetime_s=_parse_duration(said.get("idempotency", "")),
        occurred_at="occurred-at" in said,
        clock_skew="clock-ahead" in said,
        app_user="app-user" in said,
        pick_location="pick-place" in said,
        pick_base="pick-base" in said,
        line_reasons="line-reasons" in said,
        claims="claims" in said,
        changes="changes" in said,
        people="people" in said,
        sign_in="sign-in" in said,
        reviews="reviews" in said,
        recounts="recounts" in said,
        assignments="assignments" in said,
        receipt_line="receipt-line" in said,
        line_rejection="line-rejection" in said,
        named_orders="named-orders" in said,
        known_keys="known-keys" in said,
    )


def _parse_duration(text: str) -> float:
    number, unit = text[:-1], text[-1:].lower()
    return (
        float(int(number) * _UNIT_SECONDS[unit])
        if number.isascii() and number.isdigit() and unit in _UNIT_SECONDS
        else DEFAULT_KEY_LIFETIME_S
    )
