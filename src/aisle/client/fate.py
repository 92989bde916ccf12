"""What became of a request: one pure judgement of answers and errors, for whoever has to decide what to do next."""

from __future__ import annotations

from enum import Enum

from aisle.client.answer import Answer
from aisle.client.errors import AnswerError, NotSent, Rejected, StatusError
from aisle.errors import ContractError


class Fate(Enum):
    """The five things that can have become of a request."""

    NOT_SENT = "not sent"
    """It never reached the service; send it again freely."""
    AMBIGUOUS = "ambiguous"
    """It may have been carried out. A keyed service takes it again under the same key; elsewhere it is read back."""
    REFUSED = "refused"
    """The service understood and said no; nothing was done. A person decides."""
    WAIT = "wait"
    """Not now: the token has to be renewed, the service asked for patience, or somebody on the way said no in its
    stead. Nothing was done."""
    ACCEPTED = "accepted"
    """Done."""


_NOT_IMPLEMENTED = (501, 505)


def classify(outcome: BaseException | Answer | int, *, retry_after: bool = False) -> Fate:
    """The fate of a request that ended in this error, answer or bare status.

    `retry_after` says whether the answer had that header; it is taken from an Answer or StatusError itself. Whatever
    this table does not know is ambiguous, because believing that nothing happened is the mistake that doubles stock.
    A refusal is final, so it has to be the service's own: one without its words is a gateway's, and tried again later.
    """
    if isinstance(outcome, Answer):
        return _of_answer(outcome)
    if isinstance(outcome, int):
        return _of_status(outcome, retry_after)
    if isinstance(outcome, StatusError):
        fate = _of_status(outcome.status, outcome.retry_after is not None)
        return _believed(fate, Answer(outcome.status, {}, outcome.content))
    return _of_error(outcome)


def _of_answer(answer: Answer) -> Fate:
    if not answer.is_success:
        return _believed(_of_status(answer.status, "retry-after" in answer.headers), answer)
    if answer.status == 204:
        return Fate.ACCEPTED
    try:
        body = answer.json()
    except (ValueError, RecursionError):
        return Fate.AMBIGUOUS  # cut off, or not from the service at all
    if not isinstance(body, dict):
        return Fate.AMBIGUOUS  # every answer to a write is an object
    said = body.get("success")
    if said is None or said is True:
        return Fate.ACCEPTED
    return Fate.REFUSED if said is False else Fate.AMBIGUOUS


def _believed(fate: Fate, answer: Answer) -> Fate:
    return Fate.WAIT if fate is Fate.REFUSED and not answer.is_worded else fate


def _of_status(status: int, retry_after: bool) -> Fate:
    if 200 <= status < 300:
        return Fate.ACCEPTED
    if status in (401, 407, 425, 429):
        return Fate.WAIT
    if status == 409 and retry_after:
        return Fate.WAIT  # another request with the same key is still running
    if status == 408:
        return Fate.AMBIGUOUS
    return Fate.REFUSED if 400 <= status < 500 or status in _NOT_IMPLEMENTED else Fate.AMBIGUOUS


def _of_error(error: BaseException) -> Fate:
    if isinstance(error, NotSent):
        return Fate.NOT_SENT
    if isinstance(error, Rejected):
        return Fate.REFUSED
    if isinstance(error, ContractError) and not isinstance(error, AnswerError):
        return Fate.REFUSED  # the request itself does not fit the interface and never left
    return Fate.AMBIGUOUS  # cancelled, timed out, or a 2xx that could not be read
