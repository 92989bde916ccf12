"""Responses of the service, memory limits of their JSON, errors, and the outcome of a write that failed.

`message` is the service's own text, raw; `str()` of every error is clean enough for a terminal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple, NoReturn

from aisle.errors import AisleError, ContractError
from aisle.terminal_text import clean, end_sentence

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


MAX_JSON_MEMORY = 64 << 20
"""Bytes of memory that the text and the values of a body may need."""
_SMALL = 1 << 20
"""Bytes of a body whose values need not be counted."""
_VALUE_BYTES = 64
"""Bytes of memory of a value beside its text."""
_FIELD_BYTES = 100
"""The same of a field, whose name may occur once only."""
_CONTINUATION_BYTES = bytes(range(0x80, 0xC0))
_BEYOND_LATIN, _BEYOND_BASIC = re.compile(rb"[\xc4-\xf4]"), re.compile(rb"[\xf0-\xf4]")
_ESCAPED, _ESCAPED_SURROGATE = re.compile(rb"\\u"), re.compile(rb"\\u[dD][89abAB]")


class TooMuchMemory(ValueError):
    """The values of a body would need more than `MAX_JSON_MEMORY`."""


MAX_INT64 = (1 << 63) - 1


class Response(NamedTuple):
    """HTTP response. Header names are in lower case; the bytes are as the service sent them."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def is_success(self) -> bool:
        """True if the status is a 2xx; the body may still have `success: false`."""
        return 200 <= self.status < 300

    @property
    def is_json_object(self) -> bool:
        """True if the body is a JSON object, as the service always sends; a gateway sends HTML."""
        try:
            return isinstance(self.json(), dict)
        except (ValueError, RecursionError):
            return False

    def json(self) -> Any:
        """Return the body as JSON.

        Raise ValueError if it is none or contains NaN or Infinity, TooMuchMemory if it needs too much.
        """
        check_memory(self.content)
        if self.content[:1] in (b"{", b"[") and self.content[1:2] != b"\0":  # UTF-8, as nearly always
            return _DECODER.decode(self.content.decode("utf-8", "surrogatepass"))
        return json.loads(self.content, parse_constant=_refuse_constant)


def check_memory(content: bytes) -> None:
    """Raise TooMuchMemory if JSON needs more than `MAX_JSON_MEMORY`."""
    if len(content) > _SMALL and memory_needed(content) > MAX_JSON_MEMORY:
        raise TooMuchMemory(f"it would need more than {MAX_JSON_MEMORY >> 20} MiB of memory")


def memory_needed(content: bytes) -> int:
    """Estimate the bytes of memory of JSON as a text and as values.

    One character beyond the basic ones makes all characters of its text take four bytes, and a short one several.
    Colons in texts count as fields.
    """
    width = 4 if _BEYOND_BASIC.search(content) else 2 if _BEYOND_LATIN.search(content) else 1
    escaped = 4 if _ESCAPED_SURROGATE.search(content) else 2 if _ESCAPED.search(content) else 1
    characters = len(content) if content.isascii() else len(content.translate(None, _CONTINUATION_BYTES))
    values = content.count(b"[") + content.count(b"{") + content.count(b",")
    fields = content.count(b":")
    return characters * (width + max(width, escaped)) + values * _VALUE_BYTES + fields * _FIELD_BYTES


def to_int64(value: Any) -> int | None:
    """Return a number or its text as an integer; None if it is none, or more than databases hold."""
    try:
        number = None if value is None or isinstance(value, bool) else int(value)
    except (ValueError, TypeError, OverflowError):
        return None
    return number if number is not None and -MAX_INT64 <= number <= MAX_INT64 else None


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
