"""What can go wrong between the client and the service.

ClientError (AisleError)
├── TransportError           no answer that could be used
│   ├── NotSent              not one byte of the request reached the service
│   └── Ambiguous            it may have arrived, may have been carried out, and no answer tells
├── StatusError              the service answered with a status that is not 2xx
│   ├── Unauthorized         401: the token is missing, wrong or no longer valid
│   ├── Forbidden            403: the token may not do this, or not in this store
│   ├── NotFound             404
│   ├── Conflict             409, 412: the service's state is not what the request assumed
│   ├── RateLimited          429: too many requests; `retry_after` says how long to wait
│   ├── ServerError          5xx, 408 and anything unforeseen: the request may have been carried out
│   └── Refused              every other 4xx: the request is wrong as it stands
├── Rejected                 2xx, and the standard result says `success: false`
└── AnswerError              2xx, and the body is not what the interface promises (also a ContractError)
    ├── TooLong              it is longer than anybody reads
    └── Endless              the pages of a list do not lead to an end; `rows` were on the last one

`message` is the service's own text, raw; `str()` of every error is clean enough for a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from aisle.client.response import Response
from aisle.errors import AisleError, ContractError
from aisle.text import clean, end_sentence

MAX_MESSAGE_LENGTH = 2000
_TAG = re.compile(r"(?is)<(script|style)\b.*?(?:</\1\s*>|\Z)|<[^>]*(?:>|\Z)")


class ClientError(AisleError):
    """Base of everything the client raises once a request was well formed."""


class TransportError(ClientError):
    """No usable answer came from the service."""


class NotSent(TransportError):
    """The service cannot have seen the request: it may be sent again without any doubt."""


class OutcomeUnknown(TransportError):
    """The request may have been carried out; only reading back, or the service's own key, can tell."""


class StatusError(ClientError):
    """An answer that is not a 2xx: `status`, the service's raw `message`, its `content`, and how long to wait."""

    def __init__(self, operation: str, response: Response, retry_after: float | None = None) -> None:
        self.status = response.status
        self.message = message_of(response)
        self.content = response.content
        self.retry_after = retry_after
        said = clean(self.message)
        super().__init__(_sentence(f"The service answered {operation} with status {self.status}", said))


class Unauthorized(StatusError):
    """401. Check the token."""


class Forbidden(StatusError):
    """403. The token lacks the role or the store."""


class NotFound(StatusError):
    """404."""


class Conflict(StatusError):
    """409 or 412. Read again before deciding."""


class RateLimited(StatusError):
    """429. Wait `retry_after` seconds, where it is given."""


class ServerError(StatusError):
    """5xx, 408 or an unforeseen status: of a write, nobody knows whether it was carried out."""


class InvalidRequest(StatusError):
    """Any other 4xx. Sending the same again cannot help."""


class UnsuccessfulResult(ClientError):
    """The service answered 2xx and `success: false`; `message` is its raw text."""

    def __init__(self, operation: str, response: Response) -> None:
        self.message = message_of(response)
        self.content = response.content
        said = clean(self.message)
        super().__init__(_sentence(f"The service did not carry out {operation}", said))


class InvalidResponse(ClientError, ContractError):
    """A 2xx whose body does not fit the interface."""


class ResponseTooLong(InvalidResponse):
    """An answer that was given up on the way, because it is too long."""


class PagingLoop(InvalidResponse):
    """Pages that lead in a circle, or nowhere. The page itself could be read: its `rows` have been handed out."""

    def __init__(self, message: str, rows: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(message)
        self.rows = rows


_BY_STATUS: dict[int, type[StatusError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    408: ServerError,
    409: Conflict,
    412: Conflict,
    429: RateLimited,
}


def _sentence(text: str, message: str) -> str:
    """One sentence of what happened and what the service said of it, with one full stop."""
    return end_sentence(f"{text}: {message}" if message else text)


def status_error(operation: str, response: Response, retry_after: float | None = None) -> StatusError:
    """The error for an answer that is not a 2xx; `what` names the operation."""
    other = InvalidRequest if 400 <= response.status < 500 else ServerError
    return _BY_STATUS.get(response.status, other)(operation, response, retry_after)


def message_of(response: Response) -> str:
    """The service's own words: `message`, else RFC 9457 `detail` or `title`, else the start of the body, of a page its
    text. Raw."""
    try:
        body = response.json()
    except (ValueError, RecursionError):
        return _without_tags(response.content[:MAX_MESSAGE_LENGTH].decode("utf-8", "replace").strip())
    fields = body if isinstance(body, dict) else {}
    for name in ("message", "detail", "title"):
        if isinstance(fields.get(name), str):
            return str(fields[name])[:MAX_MESSAGE_LENGTH]
    return ""


def _without_tags(text: str) -> str:
    """What a page says, such as that of a balancer."""
    if not text.startswith("<"):
        return text
    return " ".join(_TAG.sub(" ", text).split())


class Outcome(Enum):
    """The five things that can have become of a request."""

    NOT_SENT = "not sent"
    """It never reached the service; send it again freely."""
    UNKNOWN = "ambiguous"
    """It may have been carried out. A keyed service takes it again under the same key; elsewhere it is read back."""
    REFUSED = "refused"
    """The service understood and said no; nothing was done. A person decides."""
    RETRY_LATER = "wait"
    """Not now: the token has to be renewed, the service asked for patience, or somebody on the way said no in its
    stead. Nothing was done."""
    ACCEPTED = "accepted"
    """Done."""


_NOT_IMPLEMENTED = (501, 505)


def outcome_of(result: BaseException | Response | int, *, retry_after: bool = False) -> Outcome:
    """The fate of a request that ended in this error, answer or bare status.

    `retry_after` says whether the answer had that header; it is taken from an Answer or StatusError itself. Whatever
    this table does not know is ambiguous, because believing that nothing happened is the mistake that doubles stock.
    A refusal is final, so it has to be the service's own: one without its words is a gateway's, and tried again later.
    """
    if isinstance(result, Response):
        return _outcome_of_response(result)
    if isinstance(result, int):
        return _outcome_of_status(result, retry_after)
    if isinstance(result, StatusError):
        fate = _outcome_of_status(result.status, result.retry_after is not None)
        return _distrust_intermediary(fate, Response(result.status, {}, result.content))
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
        return Outcome.UNKNOWN  # every answer to a write is an object
    said = body.get("success")
    if said is None or said is True:
        return Outcome.ACCEPTED
    return Outcome.REFUSED if said is False else Outcome.UNKNOWN


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
    return Outcome.REFUSED if 400 <= status < 500 or status in _NOT_IMPLEMENTED else Outcome.UNKNOWN


def _outcome_of_error(error: BaseException) -> Outcome:
    if isinstance(error, NotSent):
        return Outcome.NOT_SENT
    if isinstance(error, UnsuccessfulResult):
        return Outcome.REFUSED
    if isinstance(error, ContractError) and not isinstance(error, InvalidResponse):
        return Outcome.REFUSED  # the request itself does not fit the interface and never left
    return Outcome.UNKNOWN  # cancelled, timed out, or a 2xx that could not be read
