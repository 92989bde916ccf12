"""Whether a read is tried again, and after how long: a pure decision. Writes are never retried by the client."""

from __future__ import annotations

from email.utils import parsedate_to_datetime

from aisle.client.errors import ClientError, RateLimited, StatusError, TransportError
from aisle.tuples import NamedTuple

_PASSING = frozenset({408, 429, 502, 503, 504})


class RetryPolicy(NamedTuple):
    """How patient a read is; times in seconds."""

    tries: int = 3
    first_wait: float = 0.5
    longest_wait: float = 8.0
    longest_retry_after: float = 120.0
    waits_out: bool = True
    """Whether patience that the service asks for (429) is given here; False where the caller has other things to do."""


def wait_before_retry(error: ClientError, tries: int, roll: float, policy: RetryPolicy) -> float | None:
    """Seconds to wait before the next try, or None to give up.

    `tries` were made so far; `roll` is a random number in [0, 1): full jitter, so that many clients do not come back
    together. A service's Retry-After is the least that is waited; one beyond the policy is left to the caller.
    """
    passing = isinstance(error, TransportError) or (isinstance(error, StatusError) and error.status in _PASSING)
    if not passing or tries >= policy.tries or (isinstance(error, RateLimited) and not policy.waits_out):
        return None
    jitter = roll * min(policy.longest_wait, policy.first_wait * 2.0 ** (tries - 1))
    asked = error.retry_after if isinstance(error, StatusError) else None
    if asked is None:
        return jitter
    return asked + jitter if asked <= policy.longest_retry_after else None


def read_retry_after(value: str | None, now: float) -> float | None:
    """A Retry-After header as seconds from `now` (Unix time): a number of seconds or an HTTP date; None if neither."""
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None
