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
from typing import Any

from aisle.client.answer import Answer
from aisle.errors import AisleError, ContractError
from aisle.text import clean, ended

MESSAGE_LIMIT = 2000
_TAG = re.compile(r"(?is)<(script|style)\b.*?(?:</\1\s*>|\Z)|<[^>]*(?:>|\Z)")


class ClientError(AisleError):
    """Base of everything the client raises once a request was well formed."""


class TransportError(ClientError):
    """No usable answer came from the service."""


class NotSent(TransportError):
    """The service cannot have seen the request: it may be sent again without any doubt."""


class Ambiguous(TransportError):
    """The request may have been carried out; only reading back, or the service's own key, can tell."""


class StatusError(ClientError):
    """An answer that is not a 2xx: `status`, the service's raw `message`, its `content`, and how long to wait."""

    def __init__(self, what: str, answer: Answer, retry_after: float | None = None) -> None:
        self.status = answer.status
        self.message = message_of(answer)
        self.content = answer.content
        self.retry_after = retry_after
        said = clean(self.message)
        super().__init__(_sentence(f"The service answered {what} with status {self.status}", said))


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


class Refused(StatusError):
    """Any other 4xx. Sending the same again cannot help."""


class Rejected(ClientError):
    """The service answered 2xx and `success: false`; `message` is its raw text."""

    def __init__(self, what: str, answer: Answer) -> None:
        self.message = message_of(answer)
        self.content = answer.content
        said = clean(self.message)
        super().__init__(_sentence(f"The service did not carry out {what}", said))


class AnswerError(ClientError, ContractError):
    """A 2xx whose body does not fit the interface."""


class TooLong(AnswerError):
    """An answer that was given up on the way, because it is too long."""


class Endless(AnswerError):
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


def _sentence(what: str, said: str) -> str:
    """One sentence of what happened and what the service said of it, with one full stop."""
    return ended(f"{what}: {said}" if said else what)


def status_error(what: str, answer: Answer, retry_after: float | None = None) -> StatusError:
    """The error for an answer that is not a 2xx; `what` names the operation."""
    other = Refused if 400 <= answer.status < 500 else ServerError
    return _BY_STATUS.get(answer.status, other)(what, answer, retry_after)


def message_of(answer: Answer) -> str:
    """The service's own words: `message`, else RFC 9457 `detail` or `title`, else the start of the body, of a page its
    text. Raw."""
    try:
        body = answer.json()
    except (ValueError, RecursionError):
        return _without_tags(answer.content[:MESSAGE_LIMIT].decode("utf-8", "replace").strip())
    fields = body if isinstance(body, dict) else {}
    for name in ("message", "detail", "title"):
        if isinstance(fields.get(name), str):
            return str(fields[name])[:MESSAGE_LIMIT]
    return ""


def _without_tags(text: str) -> str:
    """What a page says, such as that of a balancer."""
    if not text.startswith("<"):
        return text
    return " ".join(_TAG.sub(" ", text).split())
