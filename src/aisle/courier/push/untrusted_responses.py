"""Judgement of a response: whether a proxy sent it, it lacks the service's mark, it is empty, or about the key."""

from __future__ import annotations

from aisle.client import Outcome, Response, outcome_of
from aisle.client.errors import ClientError
from aisle.courier.service_features import FEATURES_HEADER, Features
from aisle.errors import ContractError, SettingsError

RequestResult = Response | ClientError | ContractError | SettingsError

_RETRYABLE_STATUSES = (401, 407, 408, 425, 429)
"""Statuses of refusals that are not final, and that a proxy may send as well."""


def is_from_intermediary(result: RequestResult, features: Features) -> bool:
    """Return True if a refusal came from a proxy: not JSON, or without the header that our own service always sends."""
    if not isinstance(result, Response) or result.status < 400 or result.status in _RETRYABLE_STATUSES:
        return False
    if result.status >= 500 and outcome_of(result.status) is not Outcome.REFUSED:
        return False
    return not result.is_json_object or (features != Features() and FEATURES_HEADER not in result.headers)


def lacks_service_mark(result: RequestResult, features: Features) -> bool:
    """Return True if a 2xx lacks the header or body of a service with idempotency keys. The same key is then sent
    again.
    """
    if not features.idempotency or not isinstance(result, Response) or not result.is_success:
        return False
    return FEATURES_HEADER not in result.headers or not (result.status == 204 or result.json())


def is_empty_success(result: RequestResult, features: Features) -> bool:
    """Return True if a 2xx of a service without keys has no content: status 204, or an object of nulls only."""
    if features.idempotency or not isinstance(result, Response):
        return False
    return result.status == 204 or all(value is None for value in result.json().values())


def is_about_key(result: RequestResult) -> bool:
    """Return True if a refusal is about the request's key: the service knows it from an earlier try.

    It may have carried that one out, although this one differs from it, for instance in headers of other features.
    """
    if not isinstance(result, Response) or result.status not in (409, 422):
        return False
    try:
        return bool(result.json()["errors"][0]["field"] == "Idempotency-Key")
    except (ValueError, LookupError, TypeError, RecursionError):
        return False
