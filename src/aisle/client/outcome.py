"""Outcome of a write: whether a failed request was carried out, was not, or is in doubt."""

from __future__ import annotations

from enum import Enum

from aisle.client.errors import InvalidResponse, NotSent, StatusError, UnsuccessfulResult
from aisle.client.response_and_json_limits import Response
from aisle.errors import ContractError

NOT_IMPLEMENTED = (501, 505)
"""Statuses 5xx by which a service refuses a request."""


class Outcome(Enum):
    """Outcome of a request."""

    NOT_SENT = "not sent"
    """The request never reached the service; it may be sent again."""
    UNKNOWN = "ambiguous"
    """The request may have been carried out. With keys it is resent under its key; without, it is read back."""
    REFUSED = "refused"
    """The service refused the request, and nothing was done. A person decides."""
    RETRY_LATER = "wait"
    """Nothing was done for now: the token has to be renewed, there is a rate limit, or a proxy refused."""
    ACCEPTED = "accepted"
    """The request was carried out."""


def outcome_of(result: BaseException | Response) -> Outcome:
    """Return the outcome of a request that ended in this error or response.

    What this table does not know is `UNKNOWN`: assuming that nothing happened would double stock. A refusal is final,
    so it must come from the service itself; one that is no JSON object is a gateway's, and is retried later.
    """
    if isinstance(result, Response):
        return _outcome_of_response(result)
    if isinstance(result, StatusError):
        outcome = _outcome_of_status(result.status, result.retry_after is not None)
        return _distrust_intermediary(outcome, Response(result.status, {}, result.content))
    return _outcome_of_error(result)


def _outcome_of_response(response: Response) -> Outcome:
    if not response.is_success:
        return _distrust_intermediary(_outcome_of_status(response.status, "retry-after" in response.headers), response)
    if response.status == 204:
        return Outcome.ACCEPTED
    try:
        body = response.json()
    except (ValueError, RecursionError):
        return Outcome.UNKNOWN  # cut off, or not from the service at all
    if not isinstance(body, dict):
        return Outcome.UNKNOWN  # every response to a write is an object
    success = body.get("success")
    if success is None or success is True:
        return Outcome.ACCEPTED
    return Outcome.REFUSED if success is False else Outcome.UNKNOWN


def _distrust_intermediary(outcome: Outcome, response: Response) -> Outcome:
    return Outcome.RETRY_LATER if outcome is Outcome.REFUSED and not response.is_json_object else outcome


def _outcome_of_status(status: int, retry_after: bool) -> Outcome:
    if 200 <= status < 300:
        return Outcome.ACCEPTED
    if status in (401, 407, 425, 429):
        return Outcome.RETRY_LATER
    if status == 409 and retry_after:
        return Outcome.RETRY_LATER  # another request with the same key is still running
    if status == 408:
        return Outcome.UNKNOWN
    return Outcome.REFUSED if 400 <= status < 500 or status in NOT_IMPLEMENTED else Outcome.UNKNOWN


def _outcome_of_error(error: BaseException) -> Outcome:
    if isinstance(error, NotSent):
        return Outcome.NOT_SENT
    if isinstance(error, UnsuccessfulResult):
        return Outcome.REFUSED
    if isinstance(error, ContractError) and not isinstance(error, InvalidResponse):
        return Outcome.REFUSED  # the request itself does not fit the interface and never left
    return Outcome.UNKNOWN  # cancelled, timed out, or a 2xx that could not be read
