"""Errors between the client and the service.

`message` is the service's own text, raw; `str()` of every error is clean enough for a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from aisle.client.response_and_json_limits import Response
from aisle.errors import AisleError, ContractError
from aisle.safe_text import clean, end_sentence

CERTIFICATE_ERROR = "CERTIFICATE_VERIFY_FAILED"
"""Error code of OpenSSL for a certificate that is not trusted or has expired."""
MAX_MESSAGE_LENGTH = 2000
_TAG = re.compile(r"(?is)<(script|style)\b.*?(?:</\1\s*>|\Z)|<[^>]*(?:>|\Z)")


class ClientError(AisleError):
    """Base of all errors that the client raises for a well-formed request."""


class TransportError(ClientError):
    """No usable response came from the service."""


class NotSent(TransportError):
    """The service cannot have received the request, so it may be sent again safely."""


class OutcomeUnknown(TransportError):
    """The request may have been carried out; only a read, or a resend under its key, can tell."""


class ResponseTooSlow(OutcomeUnknown):
    """Response that began, and did not end within `Timeouts.total`. Sending the same again takes as long."""


class StatusError(ClientError):
    """Response that is not a 2xx: `status`, raw `message` of the service, `content`, and `retry_after` in seconds."""

    def __init__(self, operation: str, response: Response, retry_after: float | None = None) -> None:
        self.status = response.status
        self.message = message_of(response)
        self.content = response.content
        self.retry_after = retry_after
        message = clean(self.message)
        super().__init__(_sentence(f"The service answered {operation} with status {self.status}", message))


class Unauthorized(StatusError):
    """Status 401. Check the token."""


class Forbidden(StatusError):
    """Status 403. The token lacks the role or the store."""


class NotFound(StatusError):
    """Status 404."""


class Conflict(StatusError):
    """Status 409 or 412: the service's state is not what the request assumed. Read again before deciding."""


class RateLimited(StatusError):
    """Status 429. Wait `retry_after` seconds if it is given."""


class ServerError(StatusError):
    """Status 5xx, 408 or unexpected: a write may have been carried out."""


class InvalidRequest(StatusError):
    """Any other 4xx. Sending the same again cannot help."""


class UnsuccessfulResult(ClientError):
    """Response 2xx with `success: false`; `message` is its raw text."""

    def __init__(self, operation: str, response: Response) -> None:
        self.message = message_of(response)
        self.content = response.content
        message = clean(self.message)
        super().__init__(_sentence(f"The service did not carry out {operation}", message))


class InvalidResponse(ClientError, ContractError):
    """Response 2xx with a body that does not fit the interface."""


class ResponseTooLong(InvalidResponse):
    """Response that is too long to be read, or whose JSON would need too much memory."""


class TooManyRows(InvalidResponse):
    """List with more rows than are read; those of its last page are not returned."""


class PagingLoop(InvalidResponse):
    """Pages that repeat or do not advance. The last page could be read: its `rows` have been yielded."""

    def __init__(self, message: str, rows: Sequence[dict[str, object]]) -> None:
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
    """Return one sentence of what happened and the service's message, with one full stop."""
    return end_sentence(f"{text}: {message}" if message else text)


def status_error(operation: str, response: Response, retry_after: float | None = None) -> StatusError:
    """Return the error for a response that is not a 2xx."""
    other = InvalidRequest if 400 <= response.status < 500 else ServerError
    return _BY_STATUS.get(response.status, other)(operation, response, retry_after)


def message_of(response: Response) -> str:
    """Return the service's message, raw: `message`, or RFC 9457 `detail` or `title`, or the start of the body.

    Of an HTML page it is the text.
    """
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
    """Return the text of an HTML page, such as that of a load balancer."""
    if not text.startswith("<"):
        return text
    return " ".join(_TAG.sub(" ", text).split())
